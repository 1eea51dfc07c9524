/* counters.h - the rows of trackway counters as a table, as JSON Lines, and their samples as CSV. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_REPORTS_COUNTERS_H
#define CLI_REPORTS_COUNTERS_H

#include "cli/files/listing.h"

#include <trackway/counters.h>

/* A series tells its file by a number: its place among `paths`, the files that could be read. */
struct tw_counters_listing {
	struct tw_listing listing; /* first */
	struct tw_counters *counters;
	const char **paths;
	size_t path_count;
	bool several; /* files were asked for: the table tells them */
};

/* Word number i of --sort; NULL past the last. */
const char *tw_counters_sort_word(size_t i);

/* Sorts rows by a word ("name": they stay as they are), and chooses the first `top` of them. */
void tw_counters_sort(struct tw_list_rows *rows, const char *word, uint64_t top);

/* Functions of the listing. */
int tw_counters_put_text(struct tw_listing *listing);
void tw_counters_put_json(struct tw_json *json, const struct tw_listing *listing, const void *row);

extern const char tw_counters_csv_head[];
void tw_counters_put_sample(struct tw_output *out, const struct tw_counter_sample *sample, bool safe);

#endif
