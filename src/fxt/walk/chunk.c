/* chunk.c - a piece of an archive: its memory and its bytes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/walk/chunk.h"

#include "base/memory/memory.h"
#include "core/format.h"
#include "fxt/jobs/calls.h"
#include "fxt/jobs/census.h"

#include <stdlib.h>
#include <string.h>

struct fxt_chunk *fxt_chunk_new(size_t size)
{
	struct fxt_chunk *chunk = calloc(1, sizeof *chunk);
	if (chunk)
		chunk->size = size;
	return chunk;
}

/* Not zeroed: all of it is read into. */
bool fxt_chunk_make_room(struct fxt_chunk *chunk)
{
	if (chunk->bytes)
		return true;
	size_t room = chunk->size + chunk->size / FXT_HEAD;
	chunk->bytes = malloc(room);
	chunk->room = chunk->bytes ? room : 0;
	return chunk->bytes;
}

static void clear(struct fxt_chunk *chunk)
{
	chunk->begin = chunk->end = chunk->walk.place = 0;
	chunk->walk.piece_count = chunk->walk.context_count = chunk->rows.fix_count = chunk->found.note_count = 0;
	chunk->found.lost_bytes = 0;
	chunk->at_end = chunk->failed = chunk->moved = false;
	chunk->decoder = (struct fxt_chunk_decoder){.time = UINT64_MAX, .passed.least = UINT64_MAX};
	chunk->wait = (struct fxt_chunk_wait){0};
	fxt_steps_clear(&chunk->steps);
	tw_slab_clear(&chunk->rows.slab);
}

void fxt_chunk_free(struct fxt_chunk *chunk)
{
	if (!chunk)
		return;
	free(chunk->bytes);
	free(chunk->walk.pieces);
	free(chunk->walk.contexts);
	free(chunk->rows.fixes);
	free(chunk->found.notes);
	fxt_census_free(chunk->census);
	fxt_calls_free(chunk->calls);
	fxt_steps_free(&chunk->steps);
	tw_slab_free(&chunk->rows.slab);
	free(chunk);
}

/* The next bytes of the input; those that were looked at when it was opened come first. */
static int64_t fill(struct tw_reader *reader, uint64_t position, uint8_t *bytes, size_t size)
{
	struct tw_window *window = &reader->window;
	uint64_t at = position - window->offset;
	if (reader->request.merged > 1 && at >= window->used) /* memory for each of many traces */
		tw_window_free(window);
	size_t seen = at < window->used ? window->used - (size_t)at : 0;
	seen = seen < size ? seen : size;
	if (seen)
		memcpy(bytes, window->bytes + at, seen);
	int64_t more = seen < size ? tw_input_read(reader->input, position + seen, bytes + seen, size - seen) : 0;
	return more < 0 ? more : more + (int64_t)seen;
}

int fxt_chunk_read(struct fxt_chunk *chunk, struct tw_reader *reader, uint64_t *position)
{
	clear(chunk);
	if (!fxt_chunk_make_room(chunk))
		return TW_ERR_MEMORY;
	size_t head = chunk->size / FXT_HEAD;
	int64_t got = fill(reader, *position, chunk->bytes + head, chunk->size);
	size_t size = got < 0 ? 0 : (size_t)got;
	chunk->begin = chunk->walk.place = head;
	chunk->end = head + size;
	chunk->base = *position - head;
	chunk->at_end = size < chunk->size;
	*position += size;
	return got < 0 ? (int)got : 0;
}

bool fxt_chunk_carry(struct fxt_chunk *chunk, const struct fxt_chunk *before)
{
	size_t size = before->end - before->walk.place, used = chunk->end - chunk->begin;
	if (size > chunk->begin) {
		if (!tw_grow(&chunk->bytes, &chunk->room, size + used, 1))
			return false;
		memmove(chunk->bytes + size, chunk->bytes + chunk->begin, used);
		chunk->base += chunk->begin - size;
		chunk->begin = size;
		chunk->end = size + used;
	}
	memcpy(chunk->bytes + chunk->begin - size, before->bytes + before->walk.place, size);
	chunk->begin -= size;
	chunk->walk.place = chunk->begin;
	return true;
}

void fxt_scratch_free(struct fxt_scratch *scratch)
{
	if (!scratch)
		return;
	tw_slab_scratch_free(&scratch->sort);
	free(scratch->calls.calls);
	free(scratch->below);
}
