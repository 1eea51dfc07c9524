/* operations.h - the asynchronous operations of a trace, each when it ends. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANALYSIS_CALLS_OPERATIONS_H
#define ANALYSIS_CALLS_OPERATIONS_H

#include <trackway/reader.h>

struct tw_operation {
	uint32_t name;       /* of the reader's dictionary */
	uint64_t begin, end; /* of one that has no end, the time of the trace's last event; in the window */
	bool open;
};

typedef void (*tw_operation_fn)(void *context, const struct tw_operation *operation);

/* Reads a whole trace, in TW_ORDER_TIME: an end is that of the newest of its name, category, id and process. Ends
 * without a begin are added to *stray. Returns 0 or a negative status; operations that were open then have been given,
 * too. */
int tw_read_operations(struct tw_reader *reader, tw_operation_fn take, void *context, uint64_t *stray);

#endif
