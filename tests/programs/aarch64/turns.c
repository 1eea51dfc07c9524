/* turns.c - threads that take turns at the same memory: no one goes on before the others have. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

enum { THREADS = 3, ROUNDS = 150, WORDS = 8 };

static atomic_long turn;
static long words[WORDS];

static void *work(void *number)
{
	for (long round = 0; round < ROUNDS; round++) {
		while (atomic_load(&turn) != round * THREADS + (long)number)
			sched_yield();
		for (long i = 0; i < WORDS; i++)
			words[i] = words[(i + 3) % WORDS] * 3 + round + i;
		atomic_fetch_add(&turn, 1);
	}
	return number;
}

int main(void)
{
	pthread_t threads[THREADS];
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (long i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%ld\n", words[0]);
	return 0;
}
