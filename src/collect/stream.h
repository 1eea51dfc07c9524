/* stream.h - a thread's pair of files: tokens by way of a buffer that the tool shares, snapshots at once. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_STREAM_H
#define COLLECT_STREAM_H

#include "base/bytes/bytes.h"
#include "collect/board.h"
#include "collect/machine.h"

#include <stdbool.h>
#include <string.h>

struct stream {
	struct collect_slot *slot; /* NULL: nothing is recorded */
	uint8_t *at, *limit;       /* of its buffer; both NULL without */
	uint64_t base;             /* of the file: where the buffer begins */
	uint64_t snapshots;        /* bytes of that file */
	uint32_t vector;           /* bytes of a vector in them, as at the first */
	uint32_t snapshot_size;    /* bytes of each; 0 before the first */
	uint64_t next_snapshot;    /* instructions */
	uint64_t count;            /* instructions so far */
	uint64_t last_count;       /* the same at the last snapshot */
	uint64_t number;           /* of the thread, as the files' names have it */
	bool ordered;              /* the header says that there are TIMEs */
	bool of_core;              /* the header says that it is a core's */
	bool has_global;           /* the header tells the global snapshot point: */
	uint32_t global;           /* 0 otherwise */
	uint64_t kernel_count;     /* of the instructions so far, those that are not of user mode */
};

/* Makes the two files of the calling thread. Without room or when they cannot be made the stream has no slot. */
void stream_open(struct stream *stream, struct collect_board *board, bool ordered);

/* The same for a core of a whole machine. is_main: the others are told apart by their names. */
void stream_open_core(struct stream *stream, struct collect_board *board, unsigned core, bool is_main, bool ordered);

/* There will be TIMEs: the header tells. */
void stream_order(struct stream *stream, struct collect_board *board);

/* Gives a slot back whose file is complete. */
void stream_release(struct collect_slot *slot);

/* Writes what is in the buffer and gives the slot back. */
void stream_close(struct stream *stream, struct collect_board *board);

/* Writes what is in the buffer. When that fails nothing more is recorded, by no thread. */
void stream_flush(struct stream *stream, struct collect_board *board);

/* Nothing more is recorded by it, and nothing written: in a child process the parent's streams are not its own. */
static inline void stream_abandon(struct stream *stream)
{
	stream->slot = NULL;
	stream->at = stream->limit = NULL;
}

/* Writes a snapshot: the instruction that comes next is the next token. The last one is replaced when no instruction
 * has come since: what came instead stands behind it. */
void stream_snapshot(struct stream *stream, struct collect_board *board, const struct guest *machine);

/* The number of the last snapshot, from 0. */
uint64_t stream_last_snapshot(const struct stream *stream);

/* The last snapshot is where slices of several threads begin together, unless one before it is: the header tells. */
void stream_mark_global(struct stream *stream, struct collect_board *board);

/* Room for some bytes at the end, NULL when there is none; they count when stream_add() says so. */
static inline uint8_t *stream_room(struct stream *stream, struct collect_board *board, size_t size)
{
	if ((size_t)(stream->limit - stream->at) >= size)
		return stream->at;
	stream_flush(stream, board);
	return (size_t)(stream->limit - stream->at) >= size ? stream->at : NULL;
}

/* After this the bytes before `to` are in the trace, even if the process is killed. */
static inline void stream_add(struct stream *stream, uint8_t *to)
{
	stream->at = to;
	atomic_store_explicit(&stream->slot->end, stream->base + (uint64_t)(to - stream->slot->buffer),
	                      memory_order_release);
}

/* Copies a few bytes, faster than memcpy() would: up to 15 behind them are touched on both sides, which have room for
 * it. */
static inline uint8_t *stream_copy(uint8_t *to, const uint8_t *from, size_t size)
{
	enum { STEP = 16 };
	size_t at = 0;
	do
		memcpy(to + at, from + at, STEP);
	while ((at += STEP) < size);
	return to + size;
}

/* One token, by the library's encoder. */
void stream_token(struct stream *stream, struct collect_board *board, const struct tw_xtrace_token *token);

/* A token of 8 bytes, to where there is room. */
static inline uint8_t *stream_value(uint8_t *to, uint8_t token, uint64_t value)
{
	*to = token;
	tw_store64(to + 1, value, false);
	return to + 9;
}

#endif
