/* threads.c [ROUNDS [TIMES]] - threads that count together: with locks, atomics, and a handler of signals. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long locked, rounds;
static atomic_ulong together, biggest;
static volatile sig_atomic_t signals;

static void take(int number)
{
	signals += number == SIGUSR1;
}

static void *work(void *number)
{
	for (unsigned long i = 0; i < rounds; i++) {
		pthread_mutex_lock(&lock);
		locked += i & 3;
		pthread_mutex_unlock(&lock);
		unsigned long sum = atomic_fetch_add(&together, i & 3), old = atomic_load(&biggest);
		while (sum > old && !atomic_compare_exchange_weak(&biggest, &old, sum))
			;
	}
	return number;
}

static void run_threads(void)
{
	pthread_t threads[THREADS];
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (long i = 0; i < 10; i++)
		raise(SIGUSR1);
	for (long i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	signal(SIGUSR1, take);
	for (unsigned long times = argc > 2 ? strtoul(argv[2], NULL, 10) : 1; times > 0; times--)
		run_threads();
	printf("%lu %lu %d\n", locked, atomic_load(&together), (int)signals);
	return 0;
}
