/* sched.h - the rows of trackway sched as tables and as JSON Lines. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_REPORTS_SCHED_H
#define CLI_REPORTS_SCHED_H

#include "cli/output/numbers.h"

#include <trackway/sched.h>

/* What is shown. */
struct tw_sched_rows {
	struct tw_list_rows list; /* struct tw_sched_thread or struct tw_sched_cpu */
	bool by_cpu;
};

/* Whether threads, or CPUs, have a number of that word for --sort. */
bool tw_sched_sorts_by(bool by_cpu, const char *word);

/* Sorts rows by what a word of tw_sched_sorts_by() says, the largest first; NULL: leaves their order. Keeps the first
 * `top` (0: all). */
void tw_sched_sort(struct tw_sched_rows *rows, const char *word, uint64_t top);

/* The text returns 0 or TW_EXIT_FAILED. */
int tw_sched_put_text(struct tw_screen *screen, const struct tw_sched_rows *rows, const struct tw_sched_notes *notes);
void tw_sched_put_json(struct tw_output *out, const struct tw_sched_rows *rows);

#endif
