/* filter.h - leaving out events: by time window, by duration, by name and category. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_FILTER_FILTER_H
#define CORE_FILTER_FILTER_H

#include <trackway/reader.h>

#include <stdatomic.h>
#include <stdbool.h>

struct tw_filter;

/* A flag of events that some readers keep (keeps_made): a begin or an end that was made at the edge of a time window,
 * whose record is outside of it. TW_FLAG_CLIPPED does not say so: a file may hold it, and a complete slice is one
 * record. It is one that slices do not have otherwise: tw_is_made(). */
enum { TW_FLAG_MADE = TW_FLAG_USERSPACE };

static inline bool tw_is_made(const struct tw_event *event)
{
	return event->kind <= TW_SLICE_COMPLETE && event->flags & TW_FLAG_MADE;
}

/* Whether these options leave out anything that a filter decides (threads are the format's job). */
bool tw_filter_needed(const struct tw_read_options *options);

/* Whether they leave out anything by times: then each track's events must come in the order of time. */
bool tw_filter_needs_time(const struct tw_read_options *options);

/* A filter of the events of one reader. options, dictionary and clock are the reader's and must outlive it; used: what
 * the filters of all parts of the trace hold. NULL when there is no memory. */
struct tw_filter *tw_filter_new(const struct tw_read_options *options, const struct tw_dictionary *dictionary,
                                const struct tw_clock *clock, atomic_size_t *used);

/* Gives the next batch, with the results of tw_read(), out of the batches that the reader's format gives. Each track's
 * events stay in their order, and with TW_ORDER_TIME all do. Slices still open when a track ends are let through as
 * begins. */
int tw_filter_read(struct tw_filter *filter, struct tw_reader *reader, struct tw_batch *batch);

/* Rules that are not a format's: number i, NULL past the last. */
const struct tw_rule *tw_filter_rule(size_t i);

/* Frees; NULL is fine. */
void tw_filter_free(struct tw_filter *filter);

#endif
