/* crashes.c - no samples while Mono looks at a crash: its handlers, and those of samples, end the program where they
 * meet. So the handlers stand behind one that stops the samples. What is no crash goes on with them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "monoprofiler/parts.h"

#include <signal.h>

static const int crashes[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
enum { CRASHES = sizeof crashes / sizeof *crashes };
static struct sigaction before[CRASHES]; /* Mono's */
static struct mono_handle *handle;
static uint32_t hertz;

static size_t index_of(int number)
{
	size_t i = 0;
	while (crashes[i] != number)
		i++;
	return i;
}

static void take(int number, siginfo_t *info, void *context)
{
	mono.profiler_set_sample_mode(handle, MONO_SAMPLE_NONE, hertz);
	before[index_of(number)].sa_sigaction(number, info, context);
	mono.profiler_set_sample_mode(handle, MONO_SAMPLE_WALL, hertz);
}

bool mono_sample_begin(struct mono_handle *own, uint32_t ms)
{
	enum { SECOND = 1000 };
	handle = own;
	hertz = ms < SECOND ? SECOND / ms : 1;
	return mono.profiler_enable_sampling(handle) && mono.profiler_set_sample_mode(handle, MONO_SAMPLE_WALL, hertz);
}

/* A sample that is on its way has to wait: it is among the real-time signals. */
void mono_sample_not_in_crashes(void)
{
	for (size_t i = 0; i < CRASHES && handle; i++) {
		if (sigaction(crashes[i], NULL, &before[i]) < 0 || !(before[i].sa_flags & SA_SIGINFO))
			continue;
		struct sigaction own = before[i];
		own.sa_sigaction = take;
		sigaddset(&own.sa_mask, SIGPROF);
		for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
			sigaddset(&own.sa_mask, number);
		sigaction(crashes[i], &own, NULL);
	}
}
