/* counts.h - how often each function was called, from what the flight recorder has counted. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_RECORD_COUNTS_H
#define CLI_RECORD_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero to begin. */
struct tw_call_totals {
	struct tw_counted {
		char *name;
		bool is_known; /* it is a function's name, and no number or address */
		uint64_t calls;
	} * items;
	size_t count, room;
	uint64_t calls; /* of all */
};

/* Adds what the log of a process has counted. Returns 0, or TW_EXIT_FAILED after saying why it cannot. */
int tw_counts_take(struct tw_call_totals *counts, const char *log);

/* Writes a list, the functions with most calls first, as --not-function takes it. Returns 0, or TW_EXIT_FAILED after
 * saying why it cannot. */
int tw_counts_write(struct tw_call_totals *counts, const char *path);

void tw_counts_free(struct tw_call_totals *counts);

#endif
