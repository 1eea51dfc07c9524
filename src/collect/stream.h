/* stream.h - a thread's pair of files: tokens by way of a buffer that the tool shares, snapshots at once. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_STREAM_H
#define COLLECT_STREAM_H

#include "collect/board.h"
#include "collect/machine.h"

#include <string.h>

struct stream {
	struct collect_slot *slot; /* NULL: nothing is recorded */
	uint64_t snapshots;        /* bytes of that file */
	uint64_t next_snapshot;    /* instructions */
	uint64_t count;            /* instructions so far */
};

/* Makes the two files of the calling thread. Without room or when they cannot be made the stream has no slot. */
void stream_open(struct stream *stream, struct collect_board *board);

/* Writes what is in the buffer and gives the slot back. */
void stream_close(struct stream *stream, struct collect_board *board);

/* Writes what is in the buffer. When that fails nothing more is recorded, by no thread. */
void stream_flush(struct stream *stream, struct collect_board *board);

/* A child process has its parent's streams in its memory: they are not its own. */
static inline void stream_abandon(struct stream *stream)
{
	stream->slot = NULL;
}

/* Writes a snapshot: the instruction that comes next is the next token. */
void stream_snapshot(struct stream *stream, struct collect_board *board, const struct machine *machine);

/* Room for some bytes at the end, NULL when there is none; they count when stream_add() says so. */
static inline uint8_t *stream_room(struct stream *stream, struct collect_board *board, size_t size)
{
	struct collect_slot *slot = stream->slot;
	if (!slot)
		return NULL;
	uint64_t start = atomic_load_explicit(&slot->start, memory_order_relaxed);
	uint64_t end = atomic_load_explicit(&slot->end, memory_order_relaxed);
	if (COLLECT_BUFFER - (end - start) >= size)
		return slot->buffer + (end - start);
	stream_flush(stream, board);
	return stream->slot && size <= COLLECT_BUFFER ? slot->buffer : NULL;
}

/* After this the bytes are in the trace, even if the process is killed. */
static inline void stream_add(struct stream *stream, size_t size)
{
	uint64_t end = atomic_load_explicit(&stream->slot->end, memory_order_relaxed);
	atomic_store_explicit(&stream->slot->end, end + size, memory_order_release);
}

/* Whole tokens. */
static inline void stream_put(struct stream *stream, struct collect_board *board, const void *bytes, size_t size)
{
	uint8_t *to = stream_room(stream, board, size);
	if (!to)
		return;
	memcpy(to, bytes, size);
	stream_add(stream, size);
}

/* One token, by the library's encoder. */
void stream_token(struct stream *stream, struct collect_board *board, const struct tw_xtrace_token *token);

/* A token of 8 bytes. */
void stream_value(struct stream *stream, struct collect_board *board, enum tw_xtrace_kind kind, uint64_t value);

#endif
