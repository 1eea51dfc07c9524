/* sched.h - the rows of trackway sched as tables and as JSON Lines. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_REPORTS_SCHED_H
#define CLI_REPORTS_SCHED_H

#include "cli/files/listing.h"

#include <trackway/sched.h>

enum tw_sched_by { TW_SCHED_BY_THREAD, TW_SCHED_BY_PROCESS, TW_SCHED_BY_CPU };

/* The sums of the chosen threads of a process. */
struct tw_sched_process {
	uint64_t process;
	const char *name; /* NULL where there is none */
	uint64_t threads;
	uint64_t running_ns, runnable_ns, switches, wakeups;
};

struct tw_sched_listing {
	struct tw_listing listing; /* first; its rows are struct tw_sched_thread, tw_sched_process or tw_sched_cpu */
	struct tw_sched *sched;
	enum tw_sched_by by;
	struct tw_sched_process *processes;
	size_t process_count, process_room;
};

/* Whether rows of a kind have a number of that word for --sort. */
bool tw_sched_sorts_by(enum tw_sched_by by, const char *word);

/* Sorts rows by what a word of tw_sched_sorts_by() says, the largest first; NULL: leaves their order. Keeps the first
 * `top` (0: all). */
void tw_sched_sort(struct tw_sched_listing *sched, const char *word, uint64_t top);

/* Functions of the listing. */
int tw_sched_put_text(struct tw_listing *listing);
void tw_sched_put_json(struct tw_json *json, const struct tw_listing *listing, const void *row);

#endif
