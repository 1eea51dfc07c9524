/* entry_points.c - the places in a log where reading can begin, and reading of no more than some of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/memory/memory.h"
#include "base/memory/order.h"
#include "fdr/state.h"

#include <stdlib.h>

/* A time that does not count from the record before. */
static bool has_counter(enum tw_fdr_kind kind)
{
	return kind == TW_FDR_NEW_CPU_ID || kind == TW_FDR_TSC_WRAP;
}

/* Goes over calls without a look at them. Returns 0 or a negative status. */
static int skip_calls(struct fdr_cursor *cursor)
{
	const uint8_t metadata = cursor->log->header.layout == TW_FDR_BIG_MSB ? 0x80 : 1;
	const uint8_t *bytes;
	size_t size, done = 0;
	int status = fdr_cursor_bytes(cursor, &bytes, &size);
	while (size - done >= TW_FDR_FUNCTION_SIZE && !(bytes[done] & metadata))
		done += TW_FDR_FUNCTION_SIZE;
	cursor->at += done;
	return status;
}

/* The units of one buffer. Returns 1, 0 when no more is wanted, or a negative status. */
static int outline_buffer(struct fdr_cursor *cursor, const struct fdr_buffer *buffer, bool needed, tw_outline_fn put,
                          void *context)
{
	const struct fdr_place place = fdr_place_of(buffer);
	struct fdr_item item;
	uint64_t unit = buffer->offset;
	int status;
	fdr_cursor_enter(cursor, &place);
	for (;;) {
		status = skip_calls(cursor);
		if (status >= 0)
			status = fdr_cursor_next(cursor, &item);
		if (status <= 0)
			break;
		if (!has_counter(item.record.kind) || item.offset == unit)
			continue;
		if (!put(context, unit, item.offset - unit, needed))
			return 0;
		unit = item.offset;
	}
	if (status < 0 || cursor->buffer.damaged || cursor->gaps.bytes)
		return status < 0 ? status : TW_ERR_UNSUPPORTED;
	return put(context, unit, buffer->next - unit, needed);
}

/* A flight recorder's notes name what is in all buffers. */
static bool has_notes(const struct fdr_log *log, const struct fdr_buffer *buffer)
{
	const struct fdr_thread *notes = log->recorded ? fdr_notes_thread(log) : NULL;
	return notes && buffer->thread == notes->thread && buffer->process == notes->process;
}

int fdr_outline(struct tw_reader *reader, tw_outline_fn put, void *context)
{
	struct fdr_state *state = reader->state;
	struct fdr_buffer buffer = {.next = TW_FDR_HEADER_SIZE};
	struct fdr_cursor cursor;
	int status = 1;
	fdr_cursor_init(&cursor, reader, state->log, 0);
	while (status > 0) {
		status = fdr_find_buffer(reader, state->log, &state->borders, buffer.next, &buffer);
		if (status > 0)
			status = outline_buffer(&cursor, &buffer, has_notes(state->log, &buffer), put, context);
	}
	fdr_cursor_free(&cursor);
	return status;
}

void fdr_borders(const struct tw_reader *reader, void (*put)(void *context, uint64_t offset), void *context)
{
	const struct fdr_log *log = ((const struct fdr_state *)reader->state)->log;
	for (size_t i = 0; i < log->place_count; i++)
		put(context, log->places[i].offset);
}

/* ---- Parts of buffers are buffers to those that read. ---- */

struct cut {
	struct fdr_place *places;
	size_t count, room;
};

static bool add_part(struct cut *cut, const struct fdr_place *place, const struct tw_piece *piece)
{
	uint64_t from = piece->offset > place->offset ? piece->offset : place->offset;
	uint64_t to = piece->offset + piece->size < place->next ? piece->offset + piece->size : place->next;
	uint64_t end = to < place->end ? to : place->end;
	if (from >= end)
		return true;
	if (!tw_grow(&cut->places, &cut->room, cut->count + 1, sizeof *cut->places))
		return false;
	struct fdr_place *part = &cut->places[cut->count++];
	*part = *place;
	part->offset = from;
	part->end = end;
	part->next = end == place->end ? place->next : end;
	part->filled = place->filled && end == place->end;
	return true;
}

static bool add_parts(struct cut *cut, const struct fdr_place *place, const struct tw_piece *pieces, size_t count)
{
	size_t i = tw_count_up_to(pieces, count, TW_KEY(struct tw_piece, offset), place->offset);
	for (i -= i > 0; i < count && pieces[i].offset < place->end; i++)
		if (!add_part(cut, place, &pieces[i]))
			return false;
	return true;
}

int fdr_keep(struct tw_reader *reader, const struct tw_piece *pieces, size_t count)
{
	struct fdr_log *log = ((struct fdr_state *)reader->state)->log;
	struct cut cut = {0};
	for (size_t i = 0, first; i < log->thread_count; i++) {
		struct fdr_thread *thread = &log->threads[i];
		first = cut.count;
		for (size_t k = 0; k < thread->count; k++)
			if (!add_parts(&cut, &log->places[thread->first + k], pieces, count)) {
				free(cut.places);
				return tw_fail_memory(reader);
			}
		thread->first = first;
		thread->count = cut.count - first;
	}
	free(log->places);
	log->places = cut.places;
	log->place_count = cut.count;
	log->place_room = cut.room;
	return 0;
}
