/* profile_part.h - the calls of one part of a trace, by rows with the numbers of its dictionary. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANALYSIS_CALLS_PROFILE_PART_H
#define ANALYSIS_CALLS_PROFILE_PART_H

#include "analysis/calls/tally.h"

#include <trackway/analysis.h>

/* What a row of a part is about. */
struct tw_part_key {
	uint32_t name;
	uint32_t with; /* the caller's name (UINT32_MAX: none) or the track, by what rows are by; otherwise 0 */
};

enum { TW_PART_WAITING = 64 };

struct tw_profile_part {
	struct tw_calls calls; /* first: hooks get this */
	const struct tw_dictionary *dictionary;
	enum tw_profile_by by;
	bool recursive; /* calls that recur are counted alone */
	bool full;      /* no row more will be made, so that a name has the same row for ever */
	struct tw_tallies rows;
	struct tw_part_key *keys; /* by row */
	size_t key_room;
	uint32_t object;  /* TW_BY_OBJECT: the name of that of the call that comes next, 0: it has none */
	uint32_t *row_of; /* TW_BY_FUNCTION: by name */
	size_t row_of_room;
	struct tw_map held;    /* recursive: by row and track, whether the outermost call has held another */
	struct tw_map row_map; /* otherwise: by key */
	struct tw_left_call waiting[TW_PART_WAITING]; /* calls that ended and are not counted yet */
	uint32_t places[TW_PART_WAITING];             /* where in the histograms they will be */
	size_t waiting_count;
};

struct tw_profile_part *tw_profile_part_open(const struct tw_profile_options *options, struct tw_budget *budget,
                                             const struct tw_dictionary *dictionary);
void tw_profile_part_add(void *part, const struct tw_call_run *run);
struct tw_calls *tw_profile_part_stacks(void *part); /* NULL: only events will do */
void tw_profile_part_add_calls(void *part, const struct tw_left_calls *left);
void tw_profile_part_finish(void *part);
bool tw_profile_part_folded(const struct tw_profile_part *part);
void tw_profile_part_close(void *part);

#endif
