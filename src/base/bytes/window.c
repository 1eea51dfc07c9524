/* window.c - look-ahead and consume: a view of an input that moves along it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/input.h"
#include "base/memory/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* How many bytes to hold: whole chunks, because a caller may want one more byte each time; no more than there are,
 * where that is known. */
static size_t goal_of(const struct tw_window *window, size_t want)
{
	size_t chunk = window->chunk ? window->chunk : TW_WINDOW_CHUNK, rest = want % chunk;
	size_t goal = rest && want <= SIZE_MAX - chunk ? want - rest + chunk : want;
	uint64_t size = tw_input_size(window->input), left = size > window->offset ? size - window->offset : 0;
	if (tw_input_seekable(window->input) && left < goal)
		goal = (size_t)left;
	return goal > window->used ? goal : window->used + 1;
}

/* Makes room, with the bytes from `skip` on at the front, and reads behind them. */
static int fill(struct tw_window *window, size_t skip, size_t want)
{
	if (skip)
		memmove(window->bytes, window->bytes + skip, window->used - skip);
	window->used -= skip;
	window->offset += skip;
	size_t goal = goal_of(window, want), least = want - window->used, most = goal - window->used;
	if (!tw_extend(&window->bytes, &window->room, goal, 1))
		return tw_input_no_memory(window->input);
	int64_t n =
	    tw_input_read_some(window->input, window->offset + window->used, window->bytes + window->used, least, most);
	if (n < 0)
		return (int)n;
	window->used += (size_t)n;
	window->at_end = (size_t)n < least;
	return 0;
}

/* Moves to an offset that is outside of the bytes held. */
static int move(struct tw_window *window, uint64_t offset)
{
	if (tw_input_seekable(window->input)) {
		window->offset = offset;
		window->used = 0;
		window->at_end = false;
		return 0;
	}
	assert(offset > window->offset);
	while (offset - window->offset > window->used && !window->at_end) {
		int status = fill(window, window->used, 1);
		if (status < 0)
			return status;
	}
	return 0;
}

int tw_window_refill(struct tw_window *window, uint64_t offset, size_t want, const uint8_t **bytes, size_t *have)
{
	int status = 0;
	if (offset < window->offset || offset - window->offset > window->used)
		status = move(window, offset);
	if (status < 0)
		return status;
	size_t skip = offset - window->offset < window->used ? (size_t)(offset - window->offset) : window->used;
	if (window->used - skip < want && !window->at_end) {
		status = fill(window, skip, want);
		if (status < 0)
			return status;
		skip = 0;
	}
	*bytes = window->bytes ? window->bytes + skip : (const uint8_t *)"";
	*have = window->used - skip;
	return 0;
}

int tw_window_exchange(struct tw_window *window, size_t size, uint8_t **bytes, size_t *room)
{
	size_t rest = window->used - size, own_room = window->room;
	uint8_t *own = window->bytes;
	if (!tw_grow(bytes, room, rest, 1))
		return tw_input_no_memory(window->input);
	if (rest)
		memcpy(*bytes, own + size, rest);
	window->bytes = *bytes;
	window->room = *room;
	window->used = rest;
	window->offset += size;
	*bytes = own;
	*room = own_room;
	return 0;
}

void tw_window_free(struct tw_window *window)
{
	free(window->bytes);
	window->bytes = NULL;
	window->room = window->used = 0;
}
