/* record.h - recording in XRay's FDR mode, and counting one's own calls: shared by the recorded programs. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_H
#define RECORD_H

#include <cstdio>
#include <cstdlib>

#include <xray/xray_interface.h>
#include <xray/xray_log_interface.h>

/* Never instrumented: what records and counts must not be in the log itself. */
#define UNSEEN [[clang::xray_never_instrument]]
#define NOINLINE [[gnu::noinline]]

/* How often a function was called, by the program's own account. */
struct counter {
	const char *name; /* as the symbols give it, demangled */
	unsigned long calls;
	counter *next;
};

static counter *counters;

/* The first call puts the counter on the list. Lock-free: threads call this. */
UNSEEN [[gnu::always_inline]] static inline void count(counter *c)
{
	if (__atomic_fetch_add(&c->calls, 1, __ATOMIC_RELAXED))
		return;
	c->next = __atomic_load_n(&counters, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&counters, &c->next, c, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

/* Counts a call of the function that this stands in. */
#define CALLED(name)                                                                                                   \
	static counter own_calls = {name, 0, nullptr};                                                                 \
	count(&own_calls)

UNSEEN static inline void must(bool good, const char *what)
{
	if (good)
		return;
	std::fprintf(stderr, "%s failed\n", what);
	std::exit(1);
}

/* Starts to record. Without a threshold, or calls shorter than it would be missing. */
UNSEEN static inline void start_recording(const char *options)
{
	must(__xray_log_select_mode("xray-fdr") == XRAY_REGISTRATION_OK, "__xray_log_select_mode");
	must(__xray_log_init_mode("xray-fdr", options) == XRAY_LOG_INITIALIZED, "__xray_log_init_mode");
	must(__xray_patch() == SUCCESS, "__xray_patch");
}

/* Ends the recording, writes the log and prints the counters as one JSON object. */
UNSEEN static inline void finish_recording(void)
{
	must(__xray_unpatch() == SUCCESS, "__xray_unpatch");
	must(__xray_log_finalize() == XRAY_LOG_FINALIZED, "__xray_log_finalize");
	must(__xray_log_flushLog() == XRAY_LOG_FLUSHED, "__xray_log_flushLog");
	std::printf("{");
	for (const counter *c = counters; c; c = c->next)
		std::printf("%s\n  \"%s\": %lu", c == counters ? "" : ",", c->name, c->calls);
	std::printf("\n}\n");
}

/* Where results go, so that no call is optimised away. */
static volatile unsigned long sink;

#endif
