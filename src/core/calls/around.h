/* around.h - complete slices of a track that are not over: what begins inside of one ends with it at the latest. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_CALLS_AROUND_H
#define CORE_CALLS_AROUND_H

#include "base/memory/memory.h"

#include <stdint.h>
#include <stdlib.h>

/* Of slices inside of so many the outermost of these are known: memory does not grow with how deep they are. */
enum { TW_AROUND_DEPTH = 256 };

#define TW_NONE_AROUND UINT64_MAX

/* All zero to begin. Times are those of the track's events, which must come in their order. */
struct tw_around {
	uint64_t *ends; /* the outermost slice's first; none is later than the one before. ends[0] never comes */
	size_t count, room;
	uint64_t *until;   /* by the depth of a frame: when a slice around it is over, or TW_NONE_AROUND */
	size_t until_room; /* frames beyond are in no slice */
};

/* When the innermost slice ends that is going on at a time; TW_NONE_AROUND where there is none. The processor cannot
 * predict whether one is over: no jump depends on it, since more than two at once are rare. `make bench` measures
 * convert. */
static inline uint64_t tw_around_until(struct tw_around *around, uint64_t time)
{
	if (!around->count)
		return TW_NONE_AROUND;
	const uint64_t *ends = around->ends, now = time < TW_NONE_AROUND ? time : TW_NONE_AROUND - 1;
	size_t last = around->count - 1;
	last -= ends[last] <= now;
	last -= ends[last] <= now;
	while (__builtin_expect(ends[last] <= now, 0))
		last--;
	around->count = last + 1;
	return ends[last];
}

/* Takes a slice. False when there is no memory. */
static inline bool tw_around_add(struct tw_around *around, uint64_t begin, uint64_t end)
{
	const uint64_t until = tw_around_until(around, begin);
	if (around->count + 1 >= around->room) {
		if (!tw_grow(&around->ends, &around->room, around->count + 2, sizeof *around->ends))
			return false;
		around->ends[0] = TW_NONE_AROUND;
		around->count += !around->count;
	}
	around->ends[around->count] = end;
	around->count += (end > begin) & (end < until) & (around->count <= TW_AROUND_DEPTH);
	return true;
}

/* Takes a frame that begins at a time, at a depth. False when there is no memory. */
static inline bool tw_around_enter(struct tw_around *around, size_t depth, uint64_t time)
{
	size_t before = around->until_room;
	const uint64_t until = tw_around_until(around, time);
	if (depth >= before && until == TW_NONE_AROUND)
		return true;
	if (!tw_extend(&around->until, &around->until_room, depth + 1, sizeof *around->until))
		return false;
	for (size_t i = before; i < around->until_room; i++)
		around->until[i] = TW_NONE_AROUND;
	around->until[depth] = until;
	return true;
}

/* When what is around the frame at a depth is over. */
static inline uint64_t tw_around_frame(const struct tw_around *around, size_t depth)
{
	return depth < around->until_room ? around->until[depth] : TW_NONE_AROUND;
}

/* Bytes of memory that it has. */
static inline size_t tw_around_size(const struct tw_around *around)
{
	return (around->room + around->until_room) * sizeof *around->ends;
}

static inline void tw_around_free(struct tw_around *around)
{
	free(around->until);
	free(around->ends);
	*around = (struct tw_around){0};
}

#endif
