/* columns.h - a line of time in a bounded number of columns, which become wider as it becomes longer. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANALYSIS_SERIES_COLUMNS_H
#define ANALYSIS_SERIES_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

enum { TW_COLUMNS = 1024 };

/* The columns of one line: an array of TW_COLUMNS elements, all zero while there is nothing in them. */
struct tw_columns {
	void *items;                                 /* the owner's */
	size_t size;                                 /* of an element */
	unsigned shift;                              /* a column is 1 << shift nanoseconds */
	void (*merge)(void *into, const void *from); /* adds the later of two neighbours to the earlier */
};

/* What is shown of a trace: nanoseconds since its start; to_ns 0: to its end. */
struct tw_times {
	uint64_t from_ns, to_ns;
};

/* How much of a trace of this length is in the window. */
uint64_t tw_times_span(const struct tw_times *window, uint64_t length_ns);

/* Makes columns so wide that there is one for this time; returns its number. */
size_t tw_columns_reach(struct tw_columns *columns, uint64_t time);

#endif
