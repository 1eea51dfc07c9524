/* lttng.h - tracepoints of LTTng-UST, for bench/trace.c. Included several times by lttng/tracepoint-event.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER trackway_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng.h"

#if !defined(BENCH_LTTNG_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_LTTNG_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(trackway_bench, begin, LTTNG_UST_TP_ARGS(), LTTNG_UST_TP_FIELDS())
LTTNG_UST_TRACEPOINT_EVENT(trackway_bench, end, LTTNG_UST_TP_ARGS(), LTTNG_UST_TP_FIELDS())
LTTNG_UST_TRACEPOINT_EVENT(trackway_bench, off, LTTNG_UST_TP_ARGS(), LTTNG_UST_TP_FIELDS())
LTTNG_UST_TRACEPOINT_EVENT(trackway_bench, argument, LTTNG_UST_TP_ARGS(uint64_t, i),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, i, i)))
LTTNG_UST_TRACEPOINT_EVENT(trackway_bench, arguments, LTTNG_UST_TP_ARGS(uint64_t, i, int, j),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, i, i)
                                                   lttng_ust_field_integer(int, j, j)))

#endif

#include <lttng/tracepoint-event.h>
