/* profile.h - profiles: rows by text, which calls and samples are added to. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANALYSIS_CALLS_PROFILE_H
#define ANALYSIS_CALLS_PROFILE_H

#include "analysis/calls/tally.h"
#include "core/dictionary.h"

#include <trackway/analysis.h>

/* What a row is about: numbers of the profile's own texts. */
struct tw_profile_key {
	uint32_t name;
	uint32_t caller; /* UINT32_MAX: none */
	uint64_t process, thread;
	bool threadless;
	uint32_t process_name, thread_name; /* 0 where not known; rows are not told apart by them */
};

struct tw_profile {
	struct tw_profile_options options;
	enum tw_weight weight;             /* TW_WEIGHT_DEFAULT until a trace is added */
	struct tw_budget reading, keeping; /* of the parts, and of what is here: half the limit each */
	size_t promised[TW_BUDGET_USES];   /* bytes of `keeping` for parts that will be merged */
	struct tw_dictionary *texts;
	struct tw_tallies rows;      /* what calls are counted in */
	struct tw_profile_key *keys; /* by row */
	size_t key_room;
	struct tw_weighed (*weighed)[TW_WEIGHTS]; /* by row: what samples are counted in */
	size_t weighed_room;
	struct tw_map map; /* hash of a key to row */
	uint64_t untimed;  /* calls of TW_ROW_OTHER that no time is known of */
	struct tw_profile_notes notes;
	struct tw_profile_row *sorted;
	size_t sorted_count;
};

/* A dictionary whose names are being brought into a profile. */
struct tw_profile_merge {
	struct tw_profile *profile;
	const struct tw_dictionary *dictionary;
	uint32_t *texts; /* by name of the dictionary: its number in the profile plus 1, or 0 */
	size_t text_room;
};

/* The number of a name in the profile, UINT32_MAX when there is no room. */
uint32_t tw_profile_keep_name(struct tw_profile_merge *merge, uint32_t number);
void tw_profile_merge_free(struct tw_profile_merge *merge);

/* Makes a key one of the thread of a track. */
void tw_profile_key_thread(struct tw_profile_merge *merge, uint32_t track, struct tw_profile_key *key);

/* The same for a name of no dictionary, whose file, owner and module are the profile's own. */
uint32_t tw_profile_keep_text(struct tw_profile *profile, const struct tw_name *name);

/* Bytes that a name takes when it is kept, about. */
size_t tw_profile_name_cost(const struct tw_name *name);

/* The row of a key: the one it has, or a new one; TW_ROW_OTHER when there is no room. */
uint32_t tw_profile_find_row(struct tw_profile *profile, const struct tw_profile_key *key);

/* Reads the samples of a trace into the profile. choose: they tell what is counted. Returns 0 or a negative status. */
int tw_profile_add_samples(struct tw_profile *profile, struct tw_reader *reader, bool choose);

/* Makes the rows that are shown. Returns 0 or TW_ERR_MEMORY. */
int tw_profile_settle(struct tw_profile *profile);

#endif
