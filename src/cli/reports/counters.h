/* counters.h - the rows of trackway counters as a table, as JSON Lines, and their samples as CSV. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_REPORTS_COUNTERS_H
#define CLI_REPORTS_COUNTERS_H

#include "cli/output/numbers.h"
#include "cli/output/screen.h"

#include <trackway/counters.h>

/* Word number i of --sort; NULL past the last. */
const char *tw_counters_sort_word(size_t i);

/* Sorts rows by a word ("name": they stay as they are), and chooses the first `top` of them. */
void tw_counters_sort(struct tw_list_rows *rows, const char *word, uint64_t top);

/* paths: of the traces, by number; told where there is more than one. The text returns 0 or TW_EXIT_FAILED. */
int tw_counters_put_text(struct tw_screen *screen, const struct tw_list_rows *rows, char **paths, size_t count);
void tw_counters_put_json(struct tw_output *out, const struct tw_list_rows *rows, char **paths);

void tw_counters_put_csv_head(struct tw_output *out);
void tw_counters_put_csv(struct tw_output *out, const struct tw_counter_sample *sample);

#endif
