/* calls.c - threads that call until they are killed, and count what they have done where a death leaves it.
 *
 * usage: calls COUNTS THREADS CALLS WAY [LIBRARY] - COUNTS is a file with a counter, u64, for each thread. CALLS 0: for ever. After
 * them the program ends in the WAY that it is told: return, _exit, quick_exit, abort, segv, kill, exec, throw, fork, or
 * closed: forks that can open no file. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 4096 };
static volatile uint64_t *counts;
static uint64_t calls;
static volatile double sink;

#define HERE __attribute__((noinline))

HERE double leaf(double x, int i)
{
	return x + i;
}

HERE double middle(double x, int i)
{
	return leaf(x, i) * 0.5;
}

HERE void handled(void)
{
	__atomic_fetch_add(&counts[MOST - 1], 1, __ATOMIC_RELAXED);
}

static void *work(void *context)
{
	const uint64_t me = (uint64_t)context;
	for (uint64_t i = 0; !calls || i < calls; i++) {
		sink = middle(1.5, (int)i);
		counts[me]++;
	}
	return NULL;
}

static void on_signal(int number)
{
	(void)number;
	handled();
}

/* flags 0: by fork(). */
static void fork_and_wait(long flags)
{
	for (int i = 0; i < 5; i++) {
		pid_t child = flags ? (pid_t)syscall(SYS_clone, flags, 0, 0, 0, 0) : fork();
		if (child == 0) {
			work((void *)(uintptr_t)(100 + i));
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
}

static void end(const char *way, char **words)
{
	static char done[] = "return";
	if (strcmp(way, "_exit") == 0)
		_exit(3);
	if (strcmp(way, "quick_exit") == 0)
		quick_exit(4);
	if (strcmp(way, "abort") == 0)
		abort();
	if (strcmp(way, "segv") == 0)
		*(volatile int *)16 = 1;
	if (strcmp(way, "kill") == 0)
		kill(getpid(), SIGKILL);
	if (strcmp(way, "fork") == 0)
		fork_and_wait(0);
	if (strcmp(way, "clone") == 0)
		fork_and_wait(SIGCHLD);
	if (strcmp(way, "closed") == 0 && setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, 0}) == 0)
		fork_and_wait(0);
	if (strcmp(way, "exec") == 0) {
		words[4] = done;
		execv("/proc/self/exe", words);
	}
}

static void load(const char *library)
{
	void *handle = dlopen(library, RTLD_NOW);
	double (*plugged)(double) = handle ? (double (*)(double))dlsym(handle, "plugged") : NULL;
	if (!plugged)
		exit(9);
	sink = plugged(2);
	dlclose(handle);
}

/* Three times: libraries that come and go, and commands of the shell, which begin with "!". */
static void load_all(char **words)
{
	for (int i = 0; i < 3; i++)
		for (char **word = words; *word; word++)
			if (**word != '!')
				load(*word);
			else if (system(*word + 1) != 0)
				exit(10);
}

int main(int count, char **words)
{
	if (count < 5)
		return 2;
	int file = open(words[1], O_RDWR | O_CREAT, 0600);
	if (file < 0 || ftruncate(file, MOST * 8) < 0)
		return 2;
	counts = mmap(NULL, MOST * 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	const int threads = atoi(words[2]);
	calls = strtoull(words[3], NULL, 10);
	if (strcmp(words[4], "signals") == 0) {
		struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
		timer_t timer;
		struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
		struct itimerspec often = {{0, 20000}, {0, 20000}};
		sigaction(SIGUSR1, &action, NULL);
		timer_create(CLOCK_MONOTONIC, &event, &timer);
		timer_settime(timer, 0, &often, NULL);
	}
	if (count > 5)
		load_all(words + 5);
	for (int begun = 0; begun < threads; begun += 50) {
		pthread_t ids[50];
		int some = threads - begun < 50 ? threads - begun : 50;
		for (int i = 0; i < some; i++)
			pthread_create(&ids[i], NULL, work, (void *)(uintptr_t)(begun + i));
		for (int i = 0; i < some; i++)
			pthread_join(ids[i], NULL);
	}
	end(words[4], words);
	return 0;
}
