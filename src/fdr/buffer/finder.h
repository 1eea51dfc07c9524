/* finder.h - where the buffers of a log begin and end. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FDR_BUFFER_FINDER_H
#define FDR_BUFFER_FINDER_H

#include "base/bytes/bytes.h"
#include "base/text/plural.h"
#include "fdr/known.h"

#include <inttypes.h>

enum { FDR_RECORD = TW_FDR_METADATA_SIZE, FDR_WALL_MICROSECONDS = 9 /* their offset in a WallTime record */ };

#define FDR_NO_LIMIT UINT64_MAX

/* Looks for records in one place of the log. */
struct fdr_finder {
	struct tw_reader *reader;
	const struct fdr_log *log;
	struct tw_window *window;
	uint64_t size; /* of the input */
};

static inline uint8_t fdr_first_byte_of(const struct fdr_log *log, enum tw_fdr_kind kind)
{
	return fdr_first_byte(log->header.layout, kind);
}

/* ---- look.c: what stands at an offset. ---- */

struct fdr_look {
	const uint8_t *bytes;
	size_t have;
	bool extents; /* a BufferExtents record comes first */
	bool follows; /* BufferExtents and NewBuffer: this is a buffer where the extents of the last one lead */
	bool strong;  /* NewBuffer and WallTime where they belong: this is a buffer wherever it is met */
	bool weak;    /* enough of them where a buffer is expected */
	bool other;   /* a log of another kind, clock or program begins: the rest is set, too */
	bool sure; /* as strong with a time that can be, or one of both behind BufferExtents: where records are, too */
};

/* Returns 0 or a negative status, as all here. */
int fdr_look_at(struct fdr_finder *f, uint64_t at, struct fdr_look *look);

/* Finds the next place, from an offset on and before `to`, where a buffer, or another log, begins for certain; `to`
 * where none does. */
int fdr_scan(struct fdr_finder *f, uint64_t at, uint64_t to, uint64_t *found);

/* ---- walk.c: from record to record, where the sizes cannot be trusted. ---- */

enum fdr_stop { FDR_STOP_NOT, FDR_STOP_START, FDR_STOP_PASSED, FDR_STOP_DAMAGE, FDR_STOP_END_OF_BUFFER, FDR_STOP_END };

struct fdr_walk {
	uint64_t at; /* where it stopped: after the last good record */
	enum fdr_stop why;
	bool met_mark;  /* a record ended exactly at the mark */
	bool doubtful;  /* the finder stopped at an EndOfBuffer that may be no such record */
	uint64_t tsc;   /* the counter here; 0: no record has stated it */
	bool went_back; /* a record's counter is behind what was counted, by more than those of processors differ */
};

/* Goes on with a walk that began at `from`, up to a record that is at another place or goes beyond it: FDR_STOP_NOT. */
int fdr_walk_on(struct fdr_finder *f, uint64_t from, uint64_t mark, uint64_t until, struct fdr_walk *walk);

/* After a damaged size, or where bytes are missing, records may be decoded across the beginning of the next buffer:
 * where it begins for certain in the bytes `from` to `to` of a walk, that ends. by_extents: only a size before it that
 * may be makes it certain. */
int fdr_stop_at_swallowed(struct fdr_finder *f, uint64_t from, uint64_t to, bool by_extents, struct fdr_walk *walk);

/* ---- extents.c, walking.c: the end of a buffer, with a size and without. 1, or a negative status. ---- */

int fdr_find_by_extents(struct fdr_finder *f, struct fdr_buffer *buffer);
int fdr_find_by_walking(struct fdr_finder *f, struct fdr_buffer *buffer);

/* Bytes up to the next certain buffer belong to none. */
int fdr_find_junk(struct fdr_finder *f, struct fdr_buffer *buffer);

#endif
