/* clickhouse.h - options for the rows of a trace in a database of ClickHouse. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACKWAY_CLICKHOUSE_H
#define TRACKWAY_CLICKHOUSE_H

#include <stddef.h>
#include <stdint.h>

#include <trackway/finding.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The day of a trace's rows, known once its first event is written. */
struct tw_clickhouse_day {
	uint32_t day;         /* of its rows, in days since 1970 */
	const char *day_from; /* where that is from, a constant: "given", "clock", "file", "nowhere" */
};

/* For tw_write_options.clickhouse. All zero is the default for every member. What the pointers point to must live until
 * the writer is discarded. */
struct tw_clickhouse_options {
	size_t struct_size; /* trackway/status.h */
	const char *trace;  /* how the trace is known, in each row; NULL: the empty text */
	const char *path;   /* the file that it comes from; NULL: the empty text */
	uint64_t bytes;     /* size of the file */
	uint32_t day;       /* the partition, in days since 1970; 0: the day on which the trace began */
	uint32_t file_day;  /* the same where the trace does not tell that; 0: 1970-01-01 */
	uint32_t loaded;    /* when, in seconds since 1970 */
	const char *const *label_keys, *const *label_values;
	size_t label_count;
	/* Tells the findings of the reader, after its last event; NULL: none are told. */
	void (*findings)(void *context, tw_finding_fn put, void *to);
	void *context;
	struct tw_clickhouse_day *chosen_day; /* the writer fills it in; NULL: nobody asks */
};

#ifdef __cplusplus
}
#endif

#endif
