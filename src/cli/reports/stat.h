/* stat.h - the rows of trackway stat, and the forms they are written in. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_REPORTS_STAT_H
#define CLI_REPORTS_STAT_H

#include "cli/output/numbers.h"
#include "cli/reports/call_notes.h"

#include <trackway/analysis.h>

/* The rows of a profile that are shown. */
struct tw_stat_rows {
	struct tw_list_rows list; /* struct tw_profile_row */
	enum tw_profile_by by;
	enum tw_weight weight;
	uint64_t self; /* of all functions, also those that --function leaves out */
	bool counted;  /* the same: they have counts */
	struct tw_note_counts notes;
};

/* The words of --sort, the last NULL; and whether one is about single calls (min, max, percentiles), of which
 * only those that were seen to end count. */
extern const char *const tw_stat_sort_words[];
bool tw_stat_sorts_ended(const char *word);

/* Sorts by the number of that word, the largest first; equal ones, and all for the word "name", stay in the profile's
 * order, which is that of names. Ascending: the other way round, but for names. Then chooses the first `top` of them
 * (0: all). */
void tw_stat_sort(struct tw_stat_rows *rows, const char *word, bool ascending, uint64_t top);

void tw_stat_put_json(struct tw_output *out, const struct tw_stat_rows *rows);

/* A table and notes below it. Returns 0, or TW_EXIT_FAILED after saying that there was no memory. */
int tw_stat_put_text(struct tw_screen *screen, const struct tw_stat_rows *rows, const struct tw_profile_notes *notes);

#endif
