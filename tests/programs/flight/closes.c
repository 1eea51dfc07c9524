/* closes.c - a program that closes all descriptors, as daemons do, and has files of its own at their numbers.
 *
 * usage: closes COUNTS DIRECTORY [limit] - COUNTS is a file with a counter, u64, of calls. The files in DIRECTORY hold "kept".
 * With "limit", no file may be larger than 4 MiB after the first calls, of which a log has 3. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { CALLS = 200000, FILES = 32, LIMIT = 4 << 20 };

static volatile double sink;

__attribute__((noinline)) double leaf(double x, int i)
{
	return x + i;
}

static void call(volatile uint64_t *count)
{
	for (int i = 0; i < CALLS; i++) {
		sink = leaf(1.5, i);
		++*count;
	}
}

/* Whether the lowest numbers are free, which such programs count on. */
static int take_numbers(void)
{
	char name[16];
	for (int i = 0; i < FILES; i++) {
		snprintf(name, sizeof name, "%d", i);
		if (open(name, O_RDWR | O_CREAT, 0600) != i || write(i, "kept", 4) != 4)
			return -1;
	}
	return 0;
}

int main(int count, char **words)
{
	const int file = count >= 3 ? open(words[1], O_RDWR) : -1;
	volatile uint64_t *calls = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (calls == MAP_FAILED || chdir(words[2]) < 0)
		return 2;
	call(calls);
	if (count > 3 && setrlimit(RLIMIT_FSIZE, &(struct rlimit){LIMIT, LIMIT}) < 0)
		return 4;
	for (int i = 0; i < 1024; i++)
		close(i);
	call(calls);
	if (take_numbers() < 0)
		return 3;
	call(calls);
	return 0;
}
