/* loops.h - the fast loops, each of which a test can switch off: what is done without it must be the same.
 *
 * A fast loop takes what is plain and declines all else; the plain way takes anything. A loop asks once for each piece
 * of its input whether it is switched off, not for each record. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_LOOPS_H
#define BASE_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

/* Each with the name that tests/truth/without.c knows it by. */
#define TW_LOOP_LIST                                                                                                   \
	X(XRAY_CALLS, "xray-calls")         /* fdr/calls.c: entries and exits onto the stacks of a profile */          \
	X(XRAY_EVENTS, "xray-events")       /* fdr/stream.c: calls without arguments to events */                      \
	X(XRAY_COUNT, "xray-count")         /* fdr/info.c: function records, counted */                                \
	X(TRACELOG_LINES, "tracelog-lines") /* tracelog/log/parsed_block.c: samples, allocations and usages */         \
	X(TRACELOG_COUNT, "tracelog-count") /* tracelog/jobs/count.c: the same lines, counted */                       \
	X(CALLS_BY_TRACK,                                                                                              \
	  "calls-by-track")             /* struct tw_format's read_calls and calls_by_track: no events in between */   \
	X(CALLS_NEST, "calls-nest")     /* core/calls/calls.h: calls of a track that nest */                           \
	X(CALLS_ONE, "calls-one")       /* core/calls/calls.h: the same, of any track */                               \
	X(FIREFOX_RUNS, "firefox-runs") /* export/firefox/track_runs.h: events of a track put together */              \
	X(FXT_ROWS, "fxt-rows")         /* fxt/events/plain.c: events and switches to rows */                          \
	X(FXT_CALLS, "fxt-calls")       /* fxt/jobs/calls.c: durations to the calls of a profile */                    \
	X(FXT_CHECK, "fxt-check")       /* fxt/jobs/check_plain.c: records that keep all rules */                      \
	X(FXT_EARLY, "fxt-early")       /* fxt/jobs/check_early.c: an archive checked with one look at it */           \
	X(FXT_COUNT, "fxt-count")       /* fxt/jobs/count.c: records counted */                                        \
	X(FXT_WAIT, "fxt-wait")         /* fxt/events/wait.c: times of a chunk whose rows are made later */

#define X(loop, name) TW_LOOP_##loop,
enum tw_loop { TW_LOOP_LIST TW_LOOPS };
#undef X

/* The loops that are switched off, 1 << loop. 0 but in the program of a test, which sets it before any thread. */
extern uint64_t tw_loops_off __attribute__((visibility("hidden")));

static inline bool tw_loop_is_on(enum tw_loop loop)
{
	return !(tw_loops_off >> loop & 1);
}

#endif
