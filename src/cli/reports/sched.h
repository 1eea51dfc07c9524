/* sched.h - the rows of trackway sched as tables and as JSON Lines. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_REPORTS_SCHED_H
#define CLI_REPORTS_SCHED_H

#include "cli/files/listing.h"

#include <trackway/sched.h>

struct tw_sched_listing {
	struct tw_listing listing; /* first; its rows are struct tw_sched_thread or struct tw_sched_cpu */
	struct tw_sched *sched;
	bool by_cpu;
};

/* Whether threads, or CPUs, have a number of that word for --sort. */
bool tw_sched_sorts_by(bool by_cpu, const char *word);

/* Sorts rows by what a word of tw_sched_sorts_by() says, the largest first; NULL: leaves their order. Keeps the first
 * `top` (0: all). */
void tw_sched_sort(struct tw_sched_listing *sched, const char *word, uint64_t top);

/* Functions of the listing. */
int tw_sched_put_text(struct tw_listing *listing);
void tw_sched_put_json(struct tw_json *json, const struct tw_listing *listing, const void *row);

#endif
