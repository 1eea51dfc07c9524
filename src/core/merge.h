/* merge.h - several readers as one, in time order. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_MERGE_H
#define CORE_MERGE_H

#include "base/map.h"
#include "core/format.h"

enum { TW_MERGE_SOURCES = 256, TW_MERGE_BATCH = 256 };

__extension__ typedef __int128 tw_wide;

/* How the times of a trace change: (time - pivot) * to / from + pivot + shift. */
struct tw_merge_time {
	uint64_t pivot;
	uint64_t from, to; /* the same without drift */
	tw_wide shift;     /* ns */
};

/* One of the traces. */
struct tw_merge_input {
	struct tw_reader *reader;
	struct tw_batch batch;
	size_t next;   /* rows of the batch before this one are delivered */
	uint64_t head; /* time of that row in the merged trace */
	bool some;     /* it has had a row */
	bool ended;
	struct tw_merge_time time;
	uint32_t *names; /* by number of its dictionary: that of the merged one, 0 while not asked for */
	size_t name_room;
	uint32_t *tracks; /* the same */
	size_t track_room;
	uint32_t *stacks; /* by number: that of the merged one, for the first stack_count */
	size_t stack_count, stack_room;
	struct tw_map processes; /* hash of its process to the place of the merged one in `merged` */
	uint64_t *merged;
	size_t merged_room;
};

struct tw_merge {
	struct tw_merge_input inputs[TW_MERGE_SOURCES];
	size_t count;
	uint32_t heap[TW_MERGE_SOURCES]; /* numbers of those that have rows, the first one on top */
	size_t heap_count;
	int64_t offsets[TW_MERGE_SOURCES];
	struct tw_merge_options options;
	struct tw_map owners; /* process of the merged trace to the input that it is of */
	bool started;
	struct tw_event events[TW_MERGE_BATCH];
	struct tw_argument *arguments;
	size_t argument_room;
};

/* What a time becomes; it may be beyond what there is. */
static inline tw_wide tw_merge_moved(const struct tw_merge_time *how, uint64_t time)
{
	tw_wide away = (tw_wide)time - how->pivot;
	if (how->from != how->to)
		away = away / how->from * how->to + away % how->from * how->to / how->from;
	return away + how->pivot + how->shift;
}

static inline uint64_t tw_merge_time(const struct tw_merge_time *how, uint64_t time)
{
	uint64_t later;
	if (how->from == how->to && how->shift >= 0 && how->shift <= UINT64_MAX &&
	    !__builtin_add_overflow(time, (uint64_t)how->shift, &later))
		return later;
	tw_wide at = tw_merge_moved(how, time);
	return at < 0 ? 0 : at > UINT64_MAX ? UINT64_MAX : (uint64_t)at;
}

/* What went from merged traces to a writer. */
struct tw_passed {
	uint64_t events; /* gaps not counted */
	uint64_t lost_bytes;
	int written; /* 0, or the writer's negative status */
};

/* Whether several traces are merged, all of this format, and nothing of them is left out. */
bool tw_merge_is_all(const struct tw_reader *reader, const char *format);

/* ---- For a target that takes the rows of all inputs itself. ---- */

/* Brings the clocks together, once it is known which inputs have `some`. Returns 0 or a negative status. */
int tw_merge_align(struct tw_reader *merged);

/* Turns a row of an input, but for its time, and its arguments into those of the merged trace. False when there is no
 * memory. */
bool tw_merge_map(struct tw_reader *merged, struct tw_merge_input *input, struct tw_event *event,
                  struct tw_argument *arguments);

/* An input has no more rows: takes the names that its tracks got. Returns 0 or a negative status. */
int tw_merge_end(struct tw_reader *merged, struct tw_merge_input *input);

/* Sums up what was found wrong in the inputs. */
void tw_merge_count_findings(struct tw_reader *merged);

/* markers.c: finds how the times of all inputs change so that the events of `options` meet. Returns 0 or a negative
 * status. */
int tw_merge_find_markers(struct tw_reader *merged, const struct tw_merge_source *sources);

#endif
