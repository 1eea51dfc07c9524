/* write.h - what both writers of XRay logs need: ticks per second, and which arguments are numbers. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FDR_WRITE_H
#define FDR_WRITE_H

#include "core/ticks.h"

#include <trackway/writer.h>

/* Ticks per second of a log that is written: as asked for, else the source's, else a tick is a nanosecond. */
static inline uint64_t fdr_frequency_for(const struct tw_write_options *options, const struct tw_clock *clock)
{
	uint64_t frequency = options->ticks_per_second ? options->ticks_per_second : clock->ticks_per_second;
	return frequency ? frequency : TW_NS_PER_SECOND;
}

static inline bool fdr_is_number(const struct tw_argument *argument)
{
	return argument->type == TW_ARG_INT || argument->type == TW_ARG_UINT || argument->type == TW_ARG_POINTER ||
	       argument->type == TW_ARG_KOID || argument->type == TW_ARG_BOOL;
}

#endif
