/* spans.c - which slices are open on each track, and which of them an end closes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/calls/spans.h"

#include "base/memory/memory.h"

#include <assert.h>
#include <stdlib.h>

enum {
	FIRST_ROOM = 16, /* frames of a new stack */
	NEAR = 32        /* frames that are looked at one by one before the index is made */
};

int tw_spans_tracks(struct tw_spans *spans, size_t tracks)
{
	return tw_grow(&spans->stacks, &spans->stack_room, tracks, sizeof *spans->stacks) ? 0 : TW_ERR_MEMORY;
}

static int grow(struct tw_spans *spans, struct tw_span_stack *stack)
{
	size_t more = stack->room ? stack->room : FIRST_ROOM;
	if (more > spans->limit || spans->frame_room > spans->limit - more)
		return TW_ERR_LIMIT;
	size_t room = stack->room + more;
	struct tw_span *frames = realloc(stack->frames, room * sizeof *frames);
	if (!frames)
		return TW_ERR_MEMORY;
	stack->frames = frames;
	stack->room = room;
	spans->frame_room += more;
	return 0;
}

int tw_spans_make_room(struct tw_spans *spans, struct tw_span_stack *stack)
{
	int status = stack->beyond ? TW_ERR_LIMIT : grow(spans, stack);
	stack->beyond += status == TW_ERR_LIMIT;
	return status;
}

static uint64_t index_key(uint32_t track, uint32_t name)
{
	return (uint64_t)track << 32 | name;
}

/* Sets the value of a key and returns the one before (0 when it was not there). *kept is false when there is no
 * memory. */
static uint32_t exchange(struct tw_map *map, uint64_t key, uint32_t value, bool *kept)
{
	*kept = true;
	if (map->slots)
		for (size_t i = (size_t)tw_hash64(key) & map->mask; map->slots[i].value; i = (i + 1) & map->mask)
			if (map->slots[i].key == key) {
				uint32_t before = map->slots[i].value - 1;
				map->slots[i].value = value + 1;
				return before;
			}
	*kept = tw_map_add(map, key, value);
	return 0;
}

/* Keys stay in the map when their frames are gone. */
static void forget_index(struct tw_spans *spans)
{
	tw_map_free(&spans->index);
	for (size_t i = 0; i < spans->stack_room; i++)
		spans->stacks[i].indexed = 0;
}

/* Each frame enters the index at most once, and only when an end was looked for beneath it: so matching costs nothing
 * while ends fit, and a trace made to be slow is not. */
static bool index_frames(struct tw_spans *spans, uint32_t track)
{
	struct tw_span_stack *stack = &spans->stacks[track];
	if (spans->index.count > spans->limit && spans->index.count - spans->limit > spans->limit)
		forget_index(spans);
	for (bool kept; stack->indexed < stack->depth; stack->indexed++) {
		struct tw_span *frame = &stack->frames[stack->indexed];
		frame->below =
		    exchange(&spans->index, index_key(track, frame->name), (uint32_t)stack->indexed + 1, &kept);
		if (!kept)
			return false;
	}
	return true;
}

static int match_far(struct tw_spans *spans, uint32_t track, uint32_t name, size_t *place)
{
	uint32_t found;
	if (!index_frames(spans, track))
		return TW_ERR_MEMORY;
	if (!tw_map_find(&spans->index, index_key(track, name), &found) || found == 0)
		return 0;
	*place = found - 1;
	return 1;
}

int tw_spans_match(struct tw_spans *spans, uint32_t track, uint32_t name, size_t *place)
{
	struct tw_span_stack *stack = &spans->stacks[track];
	if (stack->beyond) {
		stack->beyond--;
		return TW_ERR_LIMIT;
	}
	size_t low = stack->depth > NEAR ? stack->depth - NEAR : 0;
	for (size_t i = stack->depth; i > low; i--)
		if (name == 0 || stack->frames[i - 1].name == name) {
			*place = i - 1;
			return 1;
		}
	return low ? match_far(spans, track, name, place) : 0;
}

struct tw_span tw_spans_close(struct tw_spans *spans, uint32_t track)
{
	struct tw_span_stack *stack = &spans->stacks[track];
	assert(stack->depth);
	struct tw_span frame = stack->frames[--stack->depth];
	if (stack->depth < stack->indexed) {
		bool kept; /* the key is there: nothing is added */
		exchange(&spans->index, index_key(track, frame.name), frame.below, &kept);
		stack->indexed = stack->depth;
	}
	if (stack->depth == 0 && stack->room > TW_SPANS_KEPT) {
		spans->frame_room -= stack->room;
		free(stack->frames);
		stack->frames = NULL;
		stack->room = 0;
	}
	return frame;
}

void tw_spans_free(struct tw_spans *spans)
{
	for (size_t i = 0; i < spans->stack_room; i++)
		free(spans->stacks[i].frames);
	free(spans->stacks);
	tw_map_free(&spans->index);
	*spans = (struct tw_spans){0};
}
