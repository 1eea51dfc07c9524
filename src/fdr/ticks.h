/* ticks.h - what both writers of XRay logs need: nanoseconds to ticks, and which arguments are numbers. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FDR_TICKS_H
#define FDR_TICKS_H

#include "fdr/clock.h"

#include <trackway/writer.h>

/* The least tick count whose time, rounded down as fdr_ns() does, is not before ns. */
static inline uint64_t fdr_ticks_of(uint64_t ns, uint64_t frequency)
{
	__extension__ typedef unsigned __int128 wide;
	wide ticks = ((wide)ns * frequency + FDR_NS_PER_SECOND - 1) / FDR_NS_PER_SECOND;
	return ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
}

/* Ticks per second of a log that is written: as asked for, else the source's, else a tick is a nanosecond. */
static inline uint64_t fdr_frequency_for(const struct tw_write_options *options, const struct tw_clock *clock)
{
	uint64_t frequency = options->ticks_per_second ? options->ticks_per_second : clock->ticks_per_second;
	return frequency ? frequency : FDR_NS_PER_SECOND;
}

static inline bool fdr_is_number(const struct tw_argument *argument)
{
	return argument->type == TW_ARG_INT || argument->type == TW_ARG_UINT || argument->type == TW_ARG_POINTER ||
	       argument->type == TW_ARG_KOID || argument->type == TW_ARG_BOOL;
}

#endif
