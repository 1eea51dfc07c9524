/* callers.c - what callers may do that nobody should: trace_tests.py reads what is recorded.
 *
 * callers odd    arguments, kinds, scopes and tracks that there are not, each before an event that is sound
 * callers late   names of a thread and of tracks that stand before the recording, before a second, and a fork
 * callers forks  a forked process has no descriptors left, and writes an event
 * callers restarts  a thread, and a signal handler, write while recordings begin and end by the hundred
 * callers executes  forks a process that becomes another program, by a shell too, and becomes it itself, when there is
 *                a file "go"
 * callers one    an event
 * callers away   a forked process that stands elsewhere writes an event
 * callers races  threads come, write, are named and go, while recordings begin and end
 * callers drops  threads that drop events end when nothing more fits into the file; says how many events */
/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <trackway/trace.h>

static void write_instant(const char *name, const struct tw_trace_argument *arguments, size_t count)
{
	tw_trace_write(TW_TRACE_KIND_INSTANT, "callers", name, TW_SCOPE_THREAD, arguments, count);
}

/* ---- What there is not. ---- */

static int odd(void)
{
	enum { UNKNOWN = 77, NO_TRACK = 12345 };
	struct tw_trace_argument list[] = {TW_I32("first", 1), TW_I32("odd", 2), TW_TEXT("last", "3")};
	const uint32_t types[] = {TW_TRACE_TYPE_END, UNKNOWN, 15, 16, UINT32_MAX};
	static struct tw_trace_site site = {"callers", "site", 0, 0, {0}};
	struct tw_trace_duration duration;
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		list[1].type = types[i];
		write_instant("type", list, 3);
	}
	tw_trace_object(list, "object", list, 3);
	tw_trace_write(TW_TRACE_KIND_INSTANT, "callers", "scope", 99, NULL, 0);
	if (tw_trace_ask(&site)) {
		const unsigned kinds[] = {TW_TRACE_KIND_FLOW_END + 1, 16, UNKNOWN, 0x100, UINT32_MAX};
		for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
			tw_trace_event(&site, kinds[i], 0, NULL, 0);
			tw_trace_write(kinds[i], "callers", "kind", 0, NULL, 0);
			tw_trace_write_at(0, tw_trace_now(), 0, kinds[i], "callers", "kind at", 0, NULL, 0);
		}
		tw_trace_event(&site, TW_TRACE_KIND_INSTANT, UINT64_MAX, NULL, SIZE_MAX);
		tw_trace_open(&duration, &site, NULL, SIZE_MAX);
		tw_trace_close(&duration);
	}
	tw_trace_write(TW_TRACE_KIND_COMPLETE, "callers", "kind", 0, NULL, 0);
	tw_trace_write_at(0, tw_trace_now(), 1, TW_TRACE_KIND_COMPLETE, "callers", "ends before", 0, NULL, 0);
	tw_trace_write_at(NO_TRACK, tw_trace_now(), 0, TW_TRACE_KIND_INSTANT, "callers", "no track", 0, NULL, 0);
	tw_trace_write_at(UINT32_MAX, tw_trace_now(), 0, TW_TRACE_KIND_INSTANT, "callers", "no track", 0, NULL, 0);
	list[1] = (struct tw_trace_argument){"odd", NULL, UINT64_MAX, TW_TRACE_TYPE_TEXT};
	write_instant("null", list, 3);
	write_instant("sound", list, 1);
	printf("%llu\n", (unsigned long long)tw_trace_dropped());
	return 0;
}

/* ---- Names before a recording. ---- */

static void instant_at(uint32_t track, const char *name)
{
	tw_trace_write_at(track, tw_trace_now(), 0, TW_TRACE_KIND_INSTANT, "callers", name, TW_SCOPE_THREAD, NULL, 0);
}

static void *be_named(void *context)
{
	pthread_barrier_t *barrier = context;
	tw_trace_thread_name("named before");
	pthread_barrier_wait(barrier);
	pthread_barrier_wait(barrier); /* the recording has begun */
	write_instant("of thread", NULL, 0);
	return NULL;
}

static int late(void)
{
	pthread_t thread;
	pthread_barrier_t barrier;
	char file[64];
	pthread_barrier_init(&barrier, NULL, 2);
	if (pthread_create(&thread, NULL, be_named, &barrier) != 0)
		return 1;
	pthread_barrier_wait(&barrier);
	tw_trace_thread_name("main before");
	uint32_t track = tw_trace_track("track before"), known = tw_trace_vthread("known before", 444);
	if (!track || !known || tw_trace_vthread("again", 444) != known)
		return 2;
	for (int i = 0; i < 2; i++) {
		snprintf(file, sizeof file, "late-%d.fxt", i);
		if (tw_trace_start(file, "") != 0)
			return 3;
		if (i == 0)
			pthread_barrier_wait(&barrier);
		if (i == 0)
			pthread_join(thread, NULL);
		write_instant("of main", NULL, 0);
		instant_at(track, "of track");
		instant_at(known, "of known");
		if (i == 1 && fork() == 0) {
			write_instant("of main", NULL, 0);
			instant_at(track, "of track");
			instant_at(tw_trace_vthread("again", 444), "of known");
			tw_trace_stop();
			_exit(0);
		}
		wait(NULL);
		tw_trace_stop();
	}
	return 0;
}

/* ---- Children that cannot record. ---- */

static int forks(void)
{
	const struct rlimit none = {0, 0};
	write_instant("parent", NULL, 0);
	for (int i = 0; i < 2; i++) {
		if (fork() == 0) {
			setrlimit(RLIMIT_NOFILE, &none);
			write_instant("child", NULL, 0);
			write_instant("child", NULL, 0);
			_exit(0);
		}
		wait(NULL);
	}
	write_instant("parent", NULL, 0);
	return 0;
}

/* ---- Threads that drop, and end. ---- */

static pthread_barrier_t full;

static void *drop(void *context)
{
	enum { EVENTS = 2000 };
	write_instant("drops", NULL, 0);
	pthread_barrier_wait(&full);
	pthread_barrier_wait(&full);
	for (int i = 0; i < EVENTS; i++)
		write_instant("drops", NULL, 0);
	return context;
}

static int drops(void)
{
	enum { THREADS = 8, NAMES = 40000 };
	pthread_t threads[THREADS];
	char name[32];
	pthread_barrier_init(&full, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, drop, NULL) != 0)
			return 1;
	pthread_barrier_wait(&full);
	for (int i = 0; i < NAMES; i++) {
		snprintf(name, sizeof name, "name %d", i);
		write_instant(name, NULL, 0);
	}
	pthread_barrier_wait(&full);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%llu\n", (unsigned long long)tw_trace_dropped());
	return 0;
}

/* ---- Threads that share nothing of the program's. ---- */

static void *write_much(void *context)
{
	enum { EVENTS = 3000 };
	char name[32], text[100];
	memset(text, 't', sizeof text);
	snprintf(name, sizeof name, "thread %lu", (unsigned long)(uintptr_t)context);
	tw_trace_thread_name(name);
	uint32_t track = tw_trace_vthread("shared", 5);
	for (int i = 0; i < EVENTS; i++) {
		const struct tw_trace_argument argument = TW_BYTES("text", text, (size_t)i % sizeof text);
		TW_TRACE_DURATION("callers", "step", TW_TEXT("name", name));
		write_instant(i % 2 ? name : "shared name", &argument, 1);
		instant_at(track, "on track");
		tw_trace_log_text(name);
		tw_trace_object(context, name, &argument, 1);
		tw_trace_blob(name, text, sizeof text);
		if (i % 1000 == 0)
			TW_TRACE_ALERT("callers", "alert");
	}
	return NULL;
}

static int races(void)
{
	enum { ROUNDS = 4, THREADS = 6 };
	pthread_t threads[THREADS];
	for (uintptr_t i = 0; i < ROUNDS; i++) {
		for (uintptr_t k = 0; k < THREADS; k++)
			if (pthread_create(&threads[k], NULL, write_much, (void *)(i * THREADS + k)) != 0)
				return 1;
		if (i % 2) {
			tw_trace_stop();
			tw_trace_start(NULL, NULL);
		}
		for (uintptr_t k = 0; k < THREADS; k++)
			pthread_join(threads[k], NULL);
	}
	return 0;
}

/* ---- Recordings, one after the other. ---- */

static _Atomic bool over;

static void *write_on(void *context)
{
	while (!over)
		TW_TRACE_INSTANT("callers", "on", TW_SCOPE_THREAD);
	return context;
}

static void write_once(int number)
{
	(void)number;
	TW_TRACE_INSTANT("callers", "handler", TW_SCOPE_THREAD);
}

static int restarts(void)
{
	enum { ROUNDS = 500, THREADS = 2, PAUSE_US = 50, ALARM_US = 300 };
	static const char path[] = "restarted.fxt";
	pthread_t threads[THREADS];
	int failed = 0;
	signal(SIGALRM, write_once);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, write_on, NULL) != 0)
			return 1;
	setitimer(ITIMER_REAL, &(struct itimerval){{0, ALARM_US}, {0, ALARM_US}}, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		failed |= tw_trace_start(path, "mode=oneshot,size=64K,control=off") != 0;
		usleep(PAUSE_US);
		tw_trace_stop();
		failed |= unlink(path) != 0;
	}
	setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
	over = true;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return failed;
}

static int away(void)
{
	int status = 0;
	TW_TRACE_INSTANT("callers", "here", TW_SCOPE_THREAD);
	pid_t child = fork();
	if (child == 0) {
		if (chdir("/") < 0)
			_exit(1);
		TW_TRACE_INSTANT("callers", "away", TW_SCOPE_THREAD);
		exit(0);
	}
	return waitpid(child, &status, 0) != child || status != 0;
}

static int one(void)
{
	TW_TRACE_INSTANT("callers", "executed", TW_SCOPE_THREAD);
	return 0;
}

static int executes(void)
{
	static const char program[] = "/proc/self/exe";
	char command[64];
	int status;
	TW_TRACE_INSTANT("callers", "waits", TW_SCOPE_THREAD);
	while (access("go", F_OK) < 0)
		usleep(1000);
	pid_t child = fork();
	if (child == 0) {
		TW_TRACE_INSTANT("callers", "forked", TW_SCOPE_THREAD);
		execl(program, "callers", "one", (char *)NULL);
		_exit(1);
	}
	if (waitpid(child, &status, 0) != child || status != 0)
		return 1;
	snprintf(command, sizeof command, "/proc/%ld/exe one; true", (long)getpid()); /* a shell, and its child */
	if (system(command) != 0)
		return 1;
	execl(program, "callers", "one", (char *)NULL);
	return 1;
}

static const struct {
	const char *name;
	int (*run)(void);
} parts[] = {{"odd", odd},           {"late", late}, {"forks", forks}, {"races", races},      {"drops", drops},
             {"restarts", restarts}, {"away", away}, {"one", one},     {"executes", executes}};

int main(int count_of_words, char **words)
{
	for (size_t i = 0; count_of_words > 1 && i < sizeof parts / sizeof *parts; i++)
		if (strcmp(words[1], parts[i].name) == 0)
			return parts[i].run();
	return 2;
}
