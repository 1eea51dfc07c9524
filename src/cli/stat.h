/* stat.h - the rows of trackway stat, and the forms they are written in. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_STAT_H
#define CLI_STAT_H

#include "cli/notes.h"

#include <trackway/analysis.h>

/* The rows of a profile that are shown. */
struct tw_stat_rows {
	const struct tw_profile_row **items;
	size_t count, room;
	size_t shown; /* of them, from the first */
	enum tw_profile_by by;
	enum tw_weight weight;
	uint64_t self; /* of all functions, also those that --function leaves out */
	struct tw_note_counts notes;
};

/* X(member, name in JSON, word of --sort or NULL, whether only calls that ended have it) */
#define TW_STAT_NUMBERS(X)                                                                                             \
	X(id, "id", NULL, false)                                                                                       \
	X(count, "count", "count", false)                                                                              \
	X(open, "open", NULL, false)                                                                                   \
	X(unwound, "unwound", NULL, false)                                                                             \
	X(total, "total_ns", "total", false)                                                                           \
	X(self, "self_ns", "self", false)                                                                              \
	X(min_ns, "min_ns", "min", true)                                                                               \
	X(p50_ns, "p50_ns", "p50", true)                                                                               \
	X(p90_ns, "p90_ns", "p90", true)                                                                               \
	X(p99_ns, "p99_ns", "p99", true)                                                                               \
	X(max_ns, "max_ns", "max", true)

/* Whether a call of a row has ended: the shortest and longest of others are not known. */
static inline bool tw_stat_timed(const struct tw_profile_row *row)
{
	return row->count > row->open;
}

void tw_stat_put_json(struct tw_output *out, const struct tw_stat_rows *rows);

/* A table and notes below it. Returns 0, or TW_EXIT_FAILED after saying that there was no memory. */
int tw_stat_put_text(struct tw_screen *screen, const struct tw_stat_rows *rows, const struct tw_profile_notes *notes);

#endif
