/* late.c - a program whose handlers are installed, and whose thread is begun, before the mark that begins a trace. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int step;
static volatile sig_atomic_t signals;

static void take(int number)
{
	signals += number == SIGUSR1;
}

static void mark(void)
{
	__asm__ volatile("hint #9" ::: "memory");
}

/* Waits for the other thread, changes memory, waits again. */
static void *work(void *data)
{
	while (atomic_load(&step) != 1)
		;
	mark();
	for (int i = 0; i < 100; i++)
		atomic_fetch_add(&step, 1);
	mark();
	return data;
}

int main(void)
{
	pthread_t thread;
	signal(SIGUSR1, take);
	pthread_create(&thread, NULL, work, NULL);
	mark();
	atomic_store(&step, 1);
	raise(SIGUSR1);
	mark();
	pthread_join(thread, NULL);
	printf("%d %d\n", (int)signals, atomic_load(&step));
	return 0;
}
