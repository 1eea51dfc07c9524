/* write.h - what all that write XRay logs need: the header, ticks, and what of arguments has a place. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FDR_WRITE_H
#define FDR_WRITE_H

#include "core/format.h"
#include "core/ticks.h"
#include "fdr/fdr.h"

#include <trackway/event.h>
#include <trackway/fdr.h>
#include <trackway/writer.h>

#include <string.h>

/* The layout that a byte order asks for. */
enum tw_fdr_layout fdr_layout_for(enum tw_byte_order order);

/* What both kinds of log are written with; the first member of their own struct. */
struct fdr_writing {
	struct tw_fdr_header header;
	const struct tw_dictionary *dictionary; /* of the events that are being written */
	struct fdr_functions functions;
};

/* Makes the state of a writer, of `size` bytes, with the header that is asked for: of version `latest` where no version
 * is. Returns 0, TW_ERR_VALUE for a version above that, or TW_ERR_MEMORY. */
int fdr_writing_open(struct tw_writer *writer, size_t size, uint16_t latest);

/* Writes an event. Returns 0 or a negative status. */
typedef int fdr_put_fn(struct tw_writer *writer, const struct tw_event *event, const struct tw_argument *arguments);

/* Writes a batch, behind the header. */
int fdr_write_batch(struct tw_writer *writer, const struct tw_reader *reader, const struct tw_batch *batch,
                    fdr_put_fn *put);

/* Puts the header before all else, with the ticks per second that are asked for, else the clock's, else a tick is a
 * nanosecond; does nothing where it has been put. clock: NULL where there were no events. */
void fdr_begin_log(struct tw_writer *writer, const struct tw_clock *clock);

/* Puts the notes of the flight recorder, whose functions keep their numbers, behind the header: where the events are of
 * such a log alone. False without memory. */
bool fdr_put_notes(struct tw_output *out, const struct tw_fdr_header *header, const struct tw_reader *reader);

/* The tick of a time: the next one, counted as "time", where the rate has none that reads back as it. */
static inline uint64_t fdr_ticks_of(struct tw_writer *writer, uint64_t ns, uint64_t frequency)
{
	uint64_t ticks = tw_ticks_of(ns, frequency);
	/* Both products may be larger than 64 bits; the difference is less than 10^9. */
	if (frequency < TW_NS_PER_SECOND && ticks * TW_NS_PER_SECOND - ns * frequency >= frequency)
		tw_count_loss(writer, "time", true);
	return ticks;
}

static inline bool fdr_is_number(const struct tw_argument *argument)
{
	return argument->type == TW_ARG_INT || argument->type == TW_ARG_UINT || argument->type == TW_ARG_POINTER ||
	       argument->type == TW_ARG_KOID || argument->type == TW_ARG_BOOL;
}

/* Whether it says that the slice was left by a tail call: what formats without a flag for that have in its place. */
static inline bool fdr_is_tail_mark(const struct tw_dictionary *dictionary, const struct tw_argument *argument)
{
	return argument->type == TW_ARG_BOOL && argument->value.u &&
	       strcmp(tw_dictionary_name(dictionary, argument->name)->text, "tail") == 0;
}

/* Whether an end is a tail exit. */
static inline bool fdr_is_tail(const struct tw_dictionary *dictionary, const struct tw_event *event,
                               const struct tw_argument *arguments)
{
	bool tail = event->flags & TW_FLAG_TAIL;
	for (unsigned i = 0; i < event->argument_count && !tail; i++)
		tail = fdr_is_tail_mark(dictionary, &arguments[i]);
	return tail;
}

#endif
