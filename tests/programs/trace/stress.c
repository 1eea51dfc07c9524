/* stress.c - programs that count what they have committed, until they are killed or end: trace_tests.py reads both.
 *
 * stress commit TRUTH THREADS   threads count events until they are killed; word N of TRUTH: those of thread N
 * stress signals TRUTH          the same in a handler that comes at any moment
 * stress forks TRUTH PROCESSES  processes fork while their threads count
 * stress children FILE COUNT    an event, and when the file is there so many processes, one after the other, with one each
 * stress storm THREADS          threads that write one event each
 * stress strings COUNT          so many names
 * stress library FILE ROUNDS    a library with sites is loaded and unloaded
 * stress alerts TRUTH           counts, and gives an alert at the count of 20,000
 * stress switches ROUNDS        threads sleep, wake each other and share a CPU, and say how often they left it
 * stress signalled TRUTH       counts the signals that come: word N of TRUTH those of number N; SIGRTMIN ends it
 * stress closed                 closes all it has not opened, opens others, and fails where one of those is touched
 * stress handled                open scopes, left by longjmp(); the last is open at the end, by _exit() */
/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <trackway/trace.h>

enum { TRUTHS = 1024, PAUSE = 500 };

static _Atomic uint64_t *truth;
static _Atomic bool ending; /* nothing is recorded any more */

static void open_truth(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, TRUTHS * sizeof *truth) < 0)
		exit(1);
	truth = mmap(NULL, TRUTHS * sizeof *truth, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (truth == MAP_FAILED)
		exit(1);
}

static void *count(void *context)
{
	uint32_t place = (uint32_t)(uintptr_t)context;
	TW_TRACE_DURATION("stress", "thread");
	for (uint64_t i = 1;; i++) {
		{
			TW_TRACE_DURATION("stress", "step");
			TW_TRACE_INSTANT("stress", "tick", TW_SCOPE_THREAD, TW_U32("place", place), TW_U64("value", i));
		}
		if (!ending)
			truth[place] = i;
		if (i % PAUSE == 0)
			usleep(100);
	}
	return NULL;
}

static void start_threads(uint32_t first, uint32_t threads)
{
	pthread_t thread;
	for (uint32_t i = 0; i < threads; i++)
		if (pthread_create(&thread, NULL, count, (void *)(uintptr_t)(first + i)) != 0)
			exit(1);
}

static int commit(char **words)
{
	open_truth(words[0]);
	start_threads(1, (uint32_t)atoi(words[1]) - 1);
	count(NULL);
	return 0;
}

static void handle(int number)
{
	static uint64_t i;
	(void)number;
	TW_TRACE_DURATION("stress", "handler");
	TW_TRACE_INSTANT("stress", "signal", TW_SCOPE_THREAD, TW_U64("value", ++i));
	truth[1] = i;
}

static int signals(char **words)
{
	const struct itimerval often = {{0, 50}, {0, 50}};
	open_truth(words[0]);
	signal(SIGALRM, handle);
	setitimer(ITIMER_REAL, &often, NULL);
	count(NULL);
	return 0;
}

/* The sanitizer's locks are held by threads that begin, and stay so in a child. */
static void let_threads_begin(void)
{
#ifdef __has_feature
#if __has_feature(address_sanitizer)
	while (!truth[0] || !truth[1])
		usleep(1000);
	usleep(100000); /* and the recorder's own */
#endif
#endif
}

static int forks(char **words)
{
	int processes = atoi(words[1]);
	open_truth(words[0]);
	start_threads(0, 2);
	let_threads_begin();
	for (int i = 1; i < processes; i++) {
		if (fork() == 0) {
			start_threads((uint32_t)i * 2, 2);
			for (int left = 1000; left && (!truth[i * 2] || !truth[i * 2 + 1]); left--)
				usleep(1000);
			usleep(20000);
			_exit(0);
		}
		usleep(1000);
	}
	while (wait(NULL) > 0)
		;
	ending = true;
	tw_trace_stop();
	_exit(0);
}

static int children(char **words)
{
	TW_TRACE_INSTANT("stress", "waits", TW_SCOPE_THREAD);
	while (access(words[0], F_OK) != 0)
		usleep(1000);
	for (int i = 0; i < atoi(words[1]); i++) {
		if (fork() == 0) {
			TW_TRACE_INSTANT("stress", "child", TW_SCOPE_THREAD, TW_I32("value", i));
			exit(0);
		}
		wait(NULL);
	}
	return 0;
}

static void *once(void *context)
{
	TW_TRACE_INSTANT("stress", "once", TW_SCOPE_THREAD, TW_U64("value", (uint64_t)(uintptr_t)context));
	return NULL;
}

/* Some of them at the same time. */
static int storm(char **words)
{
	enum { AT_ONCE = 50 };
	pthread_t threads[AT_ONCE];
	uintptr_t all = (uintptr_t)atoi(words[0]);
	for (uintptr_t i = 0; i < all; i += AT_ONCE) {
		for (uintptr_t k = 0; k < AT_ONCE; k++)
			if (pthread_create(&threads[k], NULL, once, (void *)(i + k)) != 0)
				return 1;
		for (uintptr_t k = 0; k < AT_ONCE; k++)
			pthread_join(threads[k], NULL);
	}
	return tw_trace_dropped() != 0;
}

static int strings(char **words)
{
	char name[32];
	for (int i = 0; i < atoi(words[0]); i++) {
		snprintf(name, sizeof name, "name %d", i);
		tw_trace_write(TW_TRACE_KIND_INSTANT, "stress", name, TW_SCOPE_THREAD, NULL, 0);
	}
	return tw_trace_dropped() != 0;
}

static int library(char **words)
{
	for (int i = 0; i < atoi(words[1]); i++) {
		void *loaded = dlopen(words[0], RTLD_NOW);
		void (*call)(void) = loaded ? (void (*)(void))(uintptr_t)dlsym(loaded, "trace_from_library") : NULL;
		if (!call)
			return 1;
		call();
		dlclose(loaded);
		if (i % 10 == 9) { /* other categories: every site is asked again */
			tw_trace_stop();
			tw_trace_start(NULL, NULL);
		}
	}
	return 0;
}

static int alerts(char **words)
{
	enum { ALERT = 20000 };
	open_truth(words[0]);
	for (uint64_t i = 1;; i++) {
		TW_TRACE_INSTANT("stress", "tick", TW_SCOPE_THREAD, TW_U32("place", 0), TW_U64("value", i));
		truth[0] = i;
		if (i == ALERT)
			TW_TRACE_ALERT("stress", "too late");
		if (i % PAUSE == 0)
			usleep(1000);
	}
	return 0;
}

static jmp_buf back;

static void leave(void)
{
	TW_TRACE_DURATION("stress", "left");
	longjmp(back, 1);
}

static void go_down(void)
{
	TW_TRACE_DURATION("stress", "left");
	leave();
}

static int handled(char **words)
{
	(void)words;
	TW_TRACE_DURATION("stress", "main");
	{
		TW_TRACE_DURATION("stress", "around");
		if (setjmp(back) == 0)
			go_down();
	}
	TW_TRACE_DURATION("stress", "last");
	_exit(0);
}

/* Uses some milliseconds of its thread's time. */
static void work(void)
{
	enum { MS = 1000000, SECOND = 1000 * MS, MOST = 20 * MS };
	struct timespec from, now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while ((now.tv_sec - from.tv_sec) * SECOND + now.tv_nsec - from.tv_nsec < MOST);
}

static int ends[2]; /* of a pipe */

/* Is woken so many times, then works beside the other one. */
static void *answer(void *context)
{
	char byte;
	tw_trace_thread_name("answers");
	for (uintptr_t i = 0; i < (uintptr_t)context && read(ends[0], &byte, 1) == 1; i++)
		TW_TRACE_INSTANT("stress", "woken", TW_SCOPE_THREAD);
	work();
	return NULL;
}

static int switches(char **words)
{
	const uintptr_t rounds = (uintptr_t)atoi(words[0]);
	struct rusage before, after;
	pthread_t other;
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET((unsigned)sched_getcpu(), &one);
	if (pipe(ends) < 0 || sched_setaffinity(0, sizeof one, &one) < 0 ||
	    pthread_create(&other, NULL, answer, (void *)rounds) != 0)
		return 1;
	TW_TRACE_INSTANT("stress", "before", TW_SCOPE_THREAD);
	getrusage(RUSAGE_THREAD, &before);
	TW_TRACE_INSTANT("stress", "begun", TW_SCOPE_THREAD);
	for (uintptr_t i = 0; i < rounds; i++) {
		usleep(1000);
		if (write(ends[1], "x", 1) != 1)
			return 1;
	}
	work();
	TW_TRACE_INSTANT("stress", "ended", TW_SCOPE_THREAD);
	getrusage(RUSAGE_THREAD, &after);
	TW_TRACE_INSTANT("stress", "after", TW_SCOPE_THREAD, TW_I64("blocked", after.ru_nvcsw - before.ru_nvcsw),
	                 TW_I64("preempted", after.ru_nivcsw - before.ru_nivcsw));
	pthread_join(other, NULL);
	return 0;
}

enum { PAIRS = 20, BEHIND_ALL = 256 };

/* Whether nobody has closed one of the sockets, or written into it. */
static bool are_whole(int (*pairs)[2])
{
	char byte;
	for (int i = 0; i < 2 * PAIRS; i++)
		if (recv(pairs[i / 2][i % 2], &byte, 1, MSG_DONTWAIT) >= 0 || errno != EAGAIN)
			return false;
	return true;
}

static int closed(char **words)
{
	int pairs[PAIRS][2], status;
	(void)words;
	TW_TRACE_INSTANT("stress", "before", TW_SCOPE_THREAD);
	usleep(20000); /* the helper thread is there by then */
	for (int fd = STDERR_FILENO + 1; fd < BEHIND_ALL; fd++)
		close(fd);
	for (int i = 0; i < PAIRS; i++)
		if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pairs[i]) < 0)
			return 3;
	TW_TRACE_ALERT("stress", "alert");
	tw_trace_start("out-started.fxt", "control=on");
	TW_TRACE_INSTANT("stress", "after", TW_SCOPE_THREAD);
	pid_t child = fork();
	if (child == 0)
		_exit(are_whole(pairs) ? 0 : 4);
	waitpid(child, &status, 0);
	tw_trace_stop();
	return status ? 5 : are_whole(pairs) ? 0 : 6;
}

static void note_signal(int number)
{
	truth[number]++;
}

static int signalled(char **words)
{
	const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGRTMIN};
	struct sigaction noted = {.sa_handler = note_signal};
	sigset_t none;
	open_truth(words[0]);
	TW_TRACE_INSTANT("stress", "once", TW_SCOPE_THREAD, TW_I32("value", 0));
	sigemptyset(&none);
	sigfillset(&noted.sa_mask);
	sigprocmask(SIG_SETMASK, &noted.sa_mask, NULL);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		sigaction(numbers[i], &noted, NULL);
	truth[0] = 1;
	while (!truth[SIGRTMIN])
		sigsuspend(&none);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(char **words);
	int words;
} parts[] = {{"commit", commit, 2}, {"signals", signals, 1},   {"forks", forks, 2},
             {"storm", storm, 1},   {"strings", strings, 1},   {"library", library, 2},
             {"alerts", alerts, 1}, {"handled", handled, 0},   {"switches", switches, 1},
             {"closed", closed, 0}, {"children", children, 2}, {"signalled", signalled, 1}};

int main(int count_of_words, char **words)
{
	for (size_t i = 0; count_of_words > 1 && i < sizeof parts / sizeof *parts; i++)
		if (strcmp(words[1], parts[i].name) == 0 && count_of_words >= parts[i].words + 2)
			return parts[i].run(words + 2);
	return 2;
}
