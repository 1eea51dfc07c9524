/* spans.h - which slices are open on each track, and which of them an end closes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_CALLS_SPANS_H
#define CORE_CALLS_SPANS_H

#include "base/memory/map.h"

#include <trackway/status.h>

/* An open slice. */
struct tw_span {
	uint32_t name;
	uint32_t below; /* once indexed: 1 + the place of the next frame of this name further down, or 0 */
	uint64_t slot;  /* the user's own */
};

struct tw_span_stack {
	struct tw_span *frames;
	size_t depth, room;
	size_t indexed;  /* frames below this are in the index */
	uint64_t beyond; /* slices open above these for which there was no room */
};

/* All zero but `limit` to begin. */
struct tw_spans {
	struct tw_span_stack *stacks; /* by track */
	size_t stack_room;
	size_t frame_room;   /* of all stacks together */
	size_t limit;        /* that it keeps to: frames */
	struct tw_map index; /* track and name to 1 + the place of the topmost indexed frame, 0 for none */
};

/* Makes room for tracks of numbers below `tracks`. Returns 0 or TW_ERR_MEMORY. */
int tw_spans_tracks(struct tw_spans *spans, size_t tracks);

/* Makes room for a slice; tw_spans_open() is what to call. */
int tw_spans_make_room(struct tw_spans *spans, struct tw_span_stack *stack);

/* Opens a slice. Returns 0, TW_ERR_MEMORY, or TW_ERR_LIMIT: it is not kept, but as many ends as there were such slices
 * will be taken for theirs. */
static inline int tw_spans_open(struct tw_spans *spans, uint32_t track, uint32_t name, uint64_t slot)
{
	struct tw_span_stack *stack = &spans->stacks[track];
	int status = stack->beyond || stack->depth == stack->room ? tw_spans_make_room(spans, stack) : 0;
	if (!status)
		stack->frames[stack->depth++] = (struct tw_span){.name = name, .slot = slot};
	return status;
}

/* Finds the slice that an end closes: the topmost of that name, or the topmost at all for name 0. What stands above it
 * is closed by it too. *place is its place from the bottom. Returns 1, 0 when there is none, TW_ERR_LIMIT for the end
 * of a slice that was not kept, or TW_ERR_MEMORY. The cost does not depend on the depth (amortised). */
int tw_spans_match(struct tw_spans *spans, uint32_t track, uint32_t name, size_t *place);

/* Takes the topmost slice off; there must be one. */
struct tw_span tw_spans_close(struct tw_spans *spans, uint32_t track);

enum { TW_SPANS_KEPT = 1024 }; /* frames that an empty stack may keep */

/* The two in one, for nearly all ends: takes off the topmost slice if it is the one that an end closes and nothing else
 * is to be done. False: tw_spans_match() knows. `make bench` measures convert. */
static inline bool tw_spans_take(struct tw_spans *spans, uint32_t track, uint32_t name, struct tw_span *taken)
{
	struct tw_span_stack *stack = &spans->stacks[track];
	if (stack->depth <= stack->indexed || stack->beyond || stack->room > TW_SPANS_KEPT)
		return false;
	*taken = stack->frames[stack->depth - 1];
	bool fits = name == 0 || taken->name == name;
	stack->depth -= fits;
	return fits;
}

void tw_spans_free(struct tw_spans *spans);

#endif
