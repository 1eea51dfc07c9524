/* places.c - a program whose code is in many places: each odd page of a range is a page of a file, with a function. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

int main(int argc, char **argv)
{
	int file = argc > 2 ? open(argv[1], O_RDONLY) : -1;
	size_t count = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	char *range = mmap(NULL, 2 * count * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long sum = 0;
	for (size_t i = 0; i < count; i++) {
		char *page = mmap(range + (2 * i + 1) * PAGE, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
		                  file, (off_t)i * PAGE);
		if (page == MAP_FAILED)
			return 1;
		sum += ((long (*)(void))(uintptr_t)page)();
	}
	printf("%p %ld\n", (void *)range, sum);
	return 0;
}
