/* pause.c - signals that pause the profiler, and let it go on. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "coreprofiler/profiler.h"

#include <signal.h>

/* As CoreProfiler has them. SIGRTMIN itself is the runtime's. */
enum { PAUSE, RESUME, SIGNALS };

static struct sigaction before[SIGNALS]; /* what the program had */
static _Atomic bool wanted;

static int number_of(int which)
{
	enum { FIRST = 7 };
	return SIGRTMIN + FIRST + which;
}

/* Only what a handler may do. The program's own handler comes behind it. */
static void take(int number, siginfo_t *info, void *context)
{
	const int which = number == number_of(PAUSE) ? PAUSE : RESUME;
	const struct sigaction *other = &before[which];
	atomic_store_explicit(&wanted, which == PAUSE, memory_order_relaxed);
	if (other->sa_flags & SA_SIGINFO)
		other->sa_sigaction(number, info, context);
	else if (other->sa_handler != SIG_DFL && other->sa_handler != SIG_IGN)
		other->sa_handler(number);
}

void profiler_pause_begin(bool paused)
{
	struct sigaction own = {.sa_sigaction = take, .sa_flags = SA_SIGINFO | SA_RESTART};
	sigfillset(&own.sa_mask);
	wanted = profiler.paused = paused;
	for (int i = 0; i < SIGNALS; i++)
		sigaction(number_of(i), &own, &before[i]);
}

void profiler_pause_look(void)
{
	const bool pause = atomic_load_explicit(&wanted, memory_order_relaxed);
	if (pause == profiler.paused)
		return;
	if (!pause)
		profiler_resume_calls();
	else if (profiler.options.method == PROFILER_INSTRUMENTATION)
		profiler_write_all_calls();
	profiler.paused = pause; /* before the line: who has read it knows */
	if (pause)
		profiler_write_all_allocated(
		    true); /* what came before it; no thread is in the middle of anything then */
	struct text line;
	text_begin(&line, pause ? "prf tps " : "prf trs ");
	text_decimal(&line, profiler_ms());
	profiler_send(&line);
}
