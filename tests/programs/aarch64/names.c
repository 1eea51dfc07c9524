/* names.c - functions whose names, calls and places are known: for symbols of static and position independent programs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As a C++ compiler would name it. */
__attribute__((noinline)) long area(long a, long b) __asm__("_ZN3geo4areaEll");

long area(long a, long b)
{
	__asm__ volatile("");
	return a * b;
}

/* Its call is its last step: with -O2 a jump. */
__attribute__((noinline)) long last(long a)
{
	__asm__ volatile("");
	return area(a, a + 1);
}

__attribute__((noinline, noclone)) static long outer(long n)
{
	long sum = 0;
	for (long i = 0; i < n; i++)
		sum += area(i, 2);
	return sum + last(n);
}

/* Tells where it is itself, and what was loaded with it. */
static void tell_maps(const char *path)
{
	char line[4096];
	FILE *maps = fopen("/proc/self/maps", "r"), *to = fopen(path, "w");
	if (!maps || !to)
		exit(1);
	while (fgets(line, sizeof line, maps))
		fputs(line, to);
	fclose(maps);
	fclose(to);
}

int main(int count, char **words)
{
	if (count > 1)
		tell_maps(words[1]);
	printf("%p %ld\n", (void *)main, outer(5));
	return 0;
}
