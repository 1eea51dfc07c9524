/* moments.c - a program that asks for what was recorded since a moment, and says how many calls it has made in it.
 *
 * usage: moments COUNTS OUT - for each of eight moments a line, the number of calls since, and a log, OUT-NUMBER.
 *        moments COUNTS - calls until it is killed. In COUNTS, u64: how many calls, then when each began and ended, in ns of
 *        CLOCK_MONOTONIC_RAW. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <trackway/flight.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1 << 20 };
static volatile int sink, over;

#define HERE __attribute__((noinline))

HERE void leaf(int i)
{
	sink = i;
}

HERE void other(int i)
{
	sink = i;
}

static void *work(void *context)
{
	for (int i = 0; !over; i++)
		other(i);
	return context;
}

/* With what lies before it, and beside it, in other threads. */
static int ask(const char *out)
{
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	int status = 0;
	for (int number = 1, calls = 1; number <= 8; number++, calls *= 10) {
		char path[4096];
		const uint64_t begin = tw_flight_moment(0);
		for (int i = 0; i < calls && calls < 1000000; i++)
			leaf(i);
		snprintf(path, sizeof path, "%s-%d", out, number);
		status |= tw_flight_snapshot(begin, path);
		printf("%d\n", calls < 1000000 ? calls : 0);
	}
	over = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return status;
}

static uint64_t now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC_RAW, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void tell(volatile uint64_t *counts)
{
	for (uint64_t i = 0; i < MOST; i++) {
		counts[2 * i + 1] = now();
		leaf((int)i);
		counts[2 * i + 2] = now();
		counts[0] = i + 1;
		nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
	}
}

int main(int count, char **words)
{
	if (!tw_flight_moment)
		return 3;
	if (count > 2)
		return ask(words[2]);
	int file = open(words[1], O_RDWR | O_CREAT, 0600);
	if (file < 0 || ftruncate(file, (2 * MOST + 1) * 8) < 0)
		return 2;
	tell(mmap(NULL, (2 * MOST + 1) * 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
	return 0;
}
