/* state.h - what a reader of XRay FDR logs keeps. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FDR_STATE_H
#define FDR_STATE_H

#include "fdr/fdr.h"

/* Bytes of a basic log in which no records are aligned. Written by basic_runs.c. */
struct fdr_unaligned {
	uint64_t from, to;
};

struct fdr_state {
	struct fdr_log *log;
	bool borrowed;     /* log is that of the whole, of which this is a part */
	bool types_sought; /* notes.c, in TW_ORDER_FILE: the names of types */
	uint32_t *threads; /* indexes into log->threads, to be read in this order */
	size_t thread_count, next_thread;
	const uint32_t *alone; /* the one thread that a part opened now has; NULL: parts share the threads */
	struct fdr_rows rows;
	struct fdr_stream stream;       /* TW_ORDER_TRACK: the thread that is being read; TW_ORDER_FILE: all */
	struct fdr_merge *merge;        /* TW_ORDER_TIME */
	struct fdr_place here;          /* TW_ORDER_FILE: the buffer that is being read */
	struct tw_window borders;       /* TW_ORDER_FILE: where the next one is looked for */
	struct fdr_unaligned unaligned; /* those that were searched last */
	struct fdr_names names;
	struct fdr_words words;
	struct fdr_checker checker;
	struct fdr_records *records; /* tw_read_record() */
	struct fdr_summary *survey;  /* tw_read_info() */
};

/* Sets a stream up, without buffers. chunk: bytes read at a time, 0 for the default. */
void fdr_stream_init(struct fdr_stream *stream, struct tw_reader *reader, size_t chunk);

/* Points a stream at a thread of the index. */
int fdr_stream_thread(struct fdr_stream *stream, struct tw_reader *reader, uint32_t thread);

/* Points a stream at the next buffer of the file whose thread is wanted. Returns 1, 0 at the end, or a negative
 * status. */
int fdr_stream_next_buffer(struct fdr_stream *stream, struct tw_reader *reader);

/* Goes to the next thread, or in file order to the next buffer. Returns 1, 0 when there is none, or a negative
 * status. */
int fdr_next_part(struct tw_reader *reader);

/* ---- outline.c: buffers in parts, each from a record that tells the time. ---- */

int fdr_outline(struct tw_reader *reader, tw_outline_fn put, void *context);
void fdr_borders(const struct tw_reader *reader, void (*put)(void *context, uint64_t offset), void *context);
int fdr_keep(struct tw_reader *reader, const struct tw_piece *pieces, size_t count);

/* Finds the names of types when the first type is met, in TW_ORDER_FILE, where the log was not looked through before.
 * Returns 0 or a negative status. */
int fdr_seek_types(struct tw_reader *reader);

/* ---- merge.c: all threads in one order of time. ---- */

int fdr_merge_open(struct tw_reader *reader);

/* Gives the next events, for which the empty rows have room. Returns 0 or a negative status; no events are the end. */
int fdr_merge_read(struct tw_reader *reader, struct fdr_rows *rows, struct tw_batch *batch);
void fdr_merge_free(struct fdr_merge *merge);

void fdr_records_free(struct fdr_records *records);
void fdr_summary_free(struct fdr_summary *survey);

#endif
