/* index_parts.h - what an index is made of: for what makes it, what looks up a window in it, and what keeps it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_INDEX_INDEX_PARTS_H
#define SQL_INDEX_INDEX_PARTS_H

#include "core/format.h"
#include "sql/index/index.h"

enum {
	SQL_INDEX_SPANS = 1024,
	SQL_INDEX_PLACES = 512, /* at most */
	SQL_INDEX_TRACKS = 64   /* that are told apart in a block: those beyond share the last bit */
};

/* A unit is what can be read by itself: a record, or a run of records (sql_index.runs). */

/* A block of the file: 2^block_shift bytes. */
struct sql_index_block {
	uint64_t first, last; /* offset of the first and the last unit that begins in it; UINT64_MAX: none does */
	uint64_t least, most; /* times of its events; least is larger where there is none */
	uint64_t tracks;      /* of its events: sql_index_track_bit() */
};

/* A slice's begin, and the unit that it is in. */
struct sql_index_begin {
	uint64_t offset, unit, size;
};

/* A place in the file, and what of the records before it those behind it depend on. */
struct sql_index_place {
	uint64_t offset;
	size_t first, count; /* of sql_index.live */
};

/* A span of time: 2^span_shift ns. */
struct sql_index_span {
	uint64_t *open; /* offsets of the begins of what is open at its start */
	size_t count;
	uint64_t latest; /* end of a slice that begins in it; UINT64_MAX: never */
};

struct sql_index_pieces {
	struct tw_piece *items;
	size_t count, room;
};

struct sql_index_places {
	struct sql_index_place *items; /* by offset */
	size_t count, room;
};

struct sql_index {
	uint64_t start, size; /* time of the first event; of the file in bytes */
	bool runs;            /* units are runs of records; otherwise each is one record */
	bool overlaps;        /* slices overlap: which lane one is on depends on those before */
	bool depends;         /* records depend on those before them: there are places */
	unsigned span_shift, block_shift;
	size_t span_count; /* spans that have been begun */
	struct sql_index_span spans[SQL_INDEX_SPANS];
	struct sql_index_block *blocks;
	size_t block_count;
	struct sql_index_begin *begins; /* in order, each once */
	size_t begin_count;
	struct sql_index_pieces needed; /* what every window needs: records that give others their meaning */
	struct sql_index_places places;
	struct sql_index_pieces live; /* the records that places depend on, of all places */
};

/* The bit of a track in sql_index_block.tracks. */
static inline uint64_t sql_index_track_bit(uint32_t track)
{
	return UINT64_C(1) << (track < SQL_INDEX_TRACKS ? track : SQL_INDEX_TRACKS - 1);
}

/* Compares two begins by offset, for qsort(). */
int sql_index_compare_begins(const void *left, const void *right);

/* Returns the begin of that offset; NULL when the index has none. */
const struct sql_index_begin *sql_index_begin_at(const struct sql_index *index, uint64_t offset);

#endif
