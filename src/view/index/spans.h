/* spans.h - spans of time, and where in a file the events are that happen in them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_INDEX_SPANS_H
#define VIEW_INDEX_SPANS_H

#include "base/bytes/input.h"
#include "base/memory/memory.h"

#include <trackway/reader.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct view_leaves;
struct view_index;
struct view_row;
struct view_slice;
struct view_store;

/* Items of some spans that have been read again: a row in an index of its own. */
struct view_leaf {
	const struct view_row *row;
	const struct view_store *store;
	uint64_t first; /* the number of its first item in the row that is asked about */
};

/* Rows that do not keep their slices (bare.h), and where these are found (leaves.h): for rows, which are what both are
 * made of. */
struct view_again {
	bool (*begin)(struct view_row *row, struct view_store *store);
	bool (*add)(struct view_row *row, struct view_store *store, const struct view_slice *slice);
	struct view_slice (*slice)(const struct view_row *row, const struct view_store *store, uint64_t i);
	uint64_t (*begin_at)(const struct view_row *row, const struct view_store *store, uint64_t from, uint64_t time);
	void (*free)(struct view_row *row, const struct view_store *store);
	bool (*find)(const struct view_store *store, const struct view_row *row, uint64_t first, uint64_t last,
	             struct view_leaf *leaf);
	void (*end)(struct view_leaves *leaves);
};

/* A part of the file, 2^part_shift bytes. */
struct view_part_of_file {
	uint64_t first, last; /* what can be read by itself: of those that begin in it; UINT64_MAX: none does */
	uint64_t least, most; /* times of its events; least is larger where there is none */
};

/* The records that give others their meaning. */
struct view_needed {
	struct tw_piece *items;
	size_t count, room;
};

/* The file as it was when it was read. */
struct view_file_read {
	uint64_t size;
	dev_t device;
	ino_t inode;
	struct timespec changed;
};

struct view_spans {
	uint64_t start;   /* of the first span; written by who takes the first events */
	unsigned shift;   /* a span is 2^shift ns */
	uint64_t most;    /* spans */
	uint32_t *events; /* in each of them, as many as `most` */
	uint64_t taken;   /* events */
	struct view_file_read file;
	unsigned part_shift;
	struct view_part_of_file *parts;
	size_t part_count;
	uint64_t *borders; /* of each part: the first from which runs are found; UINT64_MAX: none. NULL: no runs */
	struct view_needed needed;
	bool failed; /* the trace cannot be read again span by span: what is not kept is lost */
	bool ready;  /* it can be: written by who has taken all and outlined it */
	bool runs;   /* what can be read by itself is a run of records, where it stands; otherwise each record */
	const struct tw_format *format;
	char *path;
	struct tw_read_options options;
	const struct view_index *owner; /* whose rows they are of; written by that */
	const struct view_again *again; /* these two by view_leaves_begin() */
	struct view_leaves *leaves;     /* what has been read again */
};

/* Returns spans for the file of a reader, which is opened again by its path and options; NULL where it cannot be, or
 * without memory. */
struct view_spans *view_spans_new(const struct tw_reader *reader, const char *path,
                                  const struct tw_read_options *options);

/* The same for a file that is not open, of a format and of a size. */
struct view_spans *view_spans_for(const struct tw_format *format, uint64_t size, const char *path,
                                  const struct tw_read_options *options);

/* Takes all events of a batch. */
void view_spans_take(struct view_spans *spans, const struct tw_batch *batch);

/* After the last event: looks at the records of the file. False: it has failed. */
bool view_spans_outline(struct view_spans *spans);

/* Of runs: returns a border from which those at an offset are found. */
uint64_t view_spans_border(const struct view_spans *spans, uint64_t offset);

void view_spans_free(struct view_spans *spans);

/* The trace must be read once more, and all rows keep their items. */
static inline void view_spans_fail(struct view_spans *spans)
{
	if (spans)
		spans->failed = true;
}

static inline uint64_t view_span_of(const struct view_spans *spans, uint64_t time)
{
	return time > spans->start ? (time - spans->start) >> spans->shift : 0;
}

static inline uint64_t view_span_start(const struct view_spans *spans, uint64_t span)
{
	return span ? spans->start + (span << spans->shift) : 0;
}

/* About how many bytes of the file are of events from a span to another one. */
uint64_t view_spans_size(const struct view_spans *spans, uint64_t first, uint64_t last);

#endif
