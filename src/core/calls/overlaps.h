/* overlaps.h - whether complete slices of a track overlap without nesting, for checks that make no calls. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_CALLS_OVERLAPS_H
#define CORE_CALLS_OVERLAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tw_overlap_track;

/* All zero to begin. */
struct tw_overlaps {
	struct tw_overlap_track *tracks;
	size_t room;
};

/* Takes a complete slice. Those of a track come in the order of their begins or of their ends; of others, and of more
 * than 64 that may still matter, some are not looked at. Returns by how many ns the later of two slices ends behind the
 * one that it begins in, by more than rounding, the first time on its track; otherwise 0. *failed is set without
 * memory. */
uint64_t tw_overlaps_take(struct tw_overlaps *overlaps, uint32_t track, uint64_t begin, uint64_t end, bool *failed);

/* Take the begin and the end of a slice that has a record for each; the latter returns as tw_overlaps_take() does.
 * name: a number, 0 for an end of whatever began last. Of more than 64 that are open, and of ends that have no begin,
 * nothing is looked at. */
void tw_overlaps_begin(struct tw_overlaps *overlaps, uint32_t track, uint32_t name, uint64_t time, bool *failed);
uint64_t tw_overlaps_end(struct tw_overlaps *overlaps, uint32_t track, uint32_t name, uint64_t time, bool *failed);

void tw_overlaps_free(struct tw_overlaps *overlaps);

#endif
