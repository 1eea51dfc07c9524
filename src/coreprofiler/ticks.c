/* ticks.c - the thread that takes samples, measures CPU times, and writes the log out. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "coreprofiler/profiler.h"

#include <signal.h>
#include <time.h>

static pthread_t ticker;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t stopped;
static bool runs, stops;
static _Atomic bool works;

/* ---- CPU times. ---- */

static uint64_t microseconds(clockid_t clock)
{
	struct timespec time;
	return clock_gettime(clock, &time) < 0 ? 0 : (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

/* Source: CPUCLOCK_PERTHREAD and CPUCLOCK_SCHED of linux/posix-timers_types.h: what pthread_getcpuclockid() makes. */
static clockid_t clock_of(uint32_t thread)
{
	return (clockid_t)(~thread << 3 | 6);
}

static void put_cpu(struct text *line, uint64_t ms, uint64_t used)
{
	text_char(line, ' ');
	text_decimal(line, ms);
	text_char(line, ' ');
	text_decimal(line, used);
	profiler_send(line);
}

/* By who has the thread: it has not ended before the line stands. */
static void report_thread_cpu(struct profiler_thread *thread, uint64_t ms)
{
	const uint32_t system = atomic_load_explicit(&thread->system, memory_order_relaxed);
	const uint64_t now = thread->id && system ? microseconds(clock_of(system)) : 0;
	if (now == 0 || now < thread->cpu_us)
		return;
	struct text line;
	text_begin(&line, "thr cpu ");
	text_id(&line, thread->iid);
	put_cpu(&line, ms, now - thread->cpu_us);
	thread->cpu_us = now;
}

static void report_cpu(void)
{
	static uint64_t last;
	const uint64_t ms = profiler_ms();
	if (profiler.options.cpu_process) {
		const uint64_t now = microseconds(CLOCK_PROCESS_CPUTIME_ID);
		struct text line;
		text_begin(&line, "prc cpu");
		put_cpu(&line, ms, now - last);
		last = now;
	}
	for (struct profiler_thread *thread = profiler_threads(); thread && profiler.options.cpu_thread;
	     thread = thread->next) {
		if (!profiler_try(thread))
			continue; /* the next time has all of it */
		report_thread_cpu(thread, ms);
		profiler_give(thread);
	}
}

/* ---- The thread. ---- */

static struct timespec after(struct timespec time, uint32_t ms)
{
	enum { SECOND = 1000000000 };
	const uint64_t ns = (uint64_t)time.tv_nsec + (uint64_t)ms * 1000000;
	time.tv_sec += (time_t)(ns / SECOND);
	time.tv_nsec = (long)(ns % SECOND);
	return time;
}

static bool is_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* Moments that come again and again. */
enum moment_of { OF_SAMPLES, OF_CPU, OF_BEATS, MOMENTS };
struct timer {
	uint32_t every_ms; /* 0: it never comes */
	struct timespec next;
};

static void begin_moments(struct timer moments[MOMENTS])
{
	const struct profiler_options *options = &profiler.options;
	const bool beats = options->method == PROFILER_INSTRUMENTATION && !options->high_granularity;
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	moments[OF_SAMPLES].every_ms = options->sampling_ms;
	moments[OF_CPU].every_ms = options->cpu_process || options->cpu_thread ? options->cpu_ms : 0;
	moments[OF_BEATS].every_ms = beats;
	for (size_t i = 0; i < MOMENTS; i++)
		moments[i].next = after(now, moments[i].every_ms);
}

static const struct timespec *next_of(const struct timer moments[MOMENTS])
{
	const struct timer *first = &moments[OF_SAMPLES];
	for (size_t i = 0; i < MOMENTS; i++)
		if (moments[i].every_ms && is_before(&moments[i].next, &first->next))
			first = &moments[i];
	return &first->next;
}

static bool is_due(struct timer *moment, const struct timespec *now)
{
	if (!moment->every_ms || is_before(now, &moment->next))
		return false;
	moment->next = after(*now, moment->every_ms);
	return true;
}

static void take_samples(void)
{
	profiler_pause_look();
	if (!profiler.paused)
		profiler_sample();
	if (profiler.options.method == PROFILER_INSTRUMENTATION)
		profiler_write_all_calls();
	profiler_write_all_allocated(false);
	profiler_write_seen();
	profiler_write_out();
}

static void do_what_is_due(struct timer moments[MOMENTS])
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (is_due(&moments[OF_BEATS], &now))
		atomic_fetch_add_explicit(&profiler.beats, 1, memory_order_relaxed);
	if (is_due(&moments[OF_SAMPLES], &now))
		take_samples();
	if (is_due(&moments[OF_CPU], &now) && !profiler.paused)
		report_cpu();
}

static void *run(void *context)
{
	struct timer moments[MOMENTS];
	COM_DO(profiler.info, initialize_thread);
	begin_moments(moments);
	pthread_mutex_lock(&mutex);
	while (!stops) {
		pthread_cond_timedwait(&stopped, &mutex, next_of(moments));
		pthread_mutex_unlock(&mutex);
		works = true;
		do_what_is_due(moments);
		works = false;
		pthread_mutex_lock(&mutex);
	}
	pthread_mutex_unlock(&mutex);
	return context;
}

void profiler_ticks_wait(void)
{
	enum { TRIES = 200, PAUSE_NS = 1000000 };
	for (unsigned i = 0; i < TRIES && works; i++)
		nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
}

/* The program's signals are not for this thread. */
bool profiler_ticks_begin(void)
{
	pthread_condattr_t attributes;
	sigset_t all, before;
	if (pthread_condattr_init(&attributes) != 0)
		return false;
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&stopped, &attributes);
	pthread_condattr_destroy(&attributes);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	runs = pthread_create(&ticker, NULL, run, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return runs;
}

void profiler_ticks_end(void)
{
	enum { LONG_ENOUGH = 2 };
	if (!runs)
		return;
	pthread_mutex_lock(&mutex);
	stops = true;
	pthread_cond_signal(&stopped);
	pthread_mutex_unlock(&mutex);
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += LONG_ENOUGH; /* the runtime may have stopped for good what it waits for */
	pthread_timedjoin_np(ticker, NULL, &until);
	runs = false;
}
