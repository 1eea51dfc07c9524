/* profile_part.c - the calls of one part of a trace, by rows with the numbers of its dictionary. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/calls/profile_part.h"

#include "base/inline.h"

#include <stdlib.h>

static struct tw_profile_part *part_of(struct tw_calls *calls)
{
	return (struct tw_profile_part *)calls;
}

static uint64_t packed(uint32_t name, uint32_t with)
{
	return (uint64_t)with << 32 | name;
}

/* ---- Finding rows: fast. ---- */

static inline uint32_t find_function(struct tw_calls *calls, const struct tw_frame *caller, uint32_t name)
{
	const struct tw_profile_part *part = part_of(calls);
	(void)caller;
	return part->row_of[name];
}

static inline uint32_t find_thread(struct tw_calls *calls, const struct tw_frame *caller, uint32_t name)
{
	uint32_t row;
	(void)caller;
	return tw_map_find(&part_of(calls)->row_map, packed(name, calls->track), &row) ? row : TW_ROW_NONE;
}

static inline uint32_t find_caller(struct tw_calls *calls, const struct tw_frame *caller, uint32_t name)
{
	uint32_t row;
	return tw_map_find(&part_of(calls)->row_map, packed(name, caller->name), &row) ? row : TW_ROW_NONE;
}

static inline uint32_t find_object(struct tw_calls *calls, const struct tw_frame *caller, uint32_t name)
{
	const struct tw_profile_part *part = part_of(calls);
	uint32_t row;
	(void)caller;
	return tw_map_find(&part->row_map, packed(name, part->object), &row) ? row : TW_ROW_NONE;
}

/* Finds where calls are counted, and asks for it: the places are seldom in a near cache, and the processor can only
 * wait for many at once where nothing else stands between. `make bench` measures stat of FXT.
 * It must be inlined: gcc 12 takes out calls of functions that do nothing but prefetch. */
TW_INLINE void look_ahead(const struct tw_tallies *rows, uint16_t **places, const struct tw_left_call *calls,
                          size_t count)
{
	for (size_t i = 0; i < count; i++) {
		places[i] = tw_histogram_place(&rows->pool, &rows->rows[calls[i].row].histogram, calls[i].duration);
		__builtin_prefetch(places[i], 1);
	}
}

/* Counts up to one whose place is full. Returns how many. */
static size_t count_placed(struct tw_tally *rows, uint16_t *const *places, const struct tw_left_call *calls,
                           size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!++*places[i]) {
			--*places[i];
			return i;
		}
		tw_tally_end(&rows[calls[i].row], &calls[i]);
	}
	return count;
}

/* Where there are so few counts that they stay in the second-level cache, looking ahead costs more than it brings. */
enum { NEAR_CHUNKS = (1 << 19) / sizeof(struct tw_histogram_chunk) };

/* As look_ahead() and count_placed() in one. */
static size_t count_near(const struct tw_tallies *rows, const struct tw_left_call *calls, size_t count)
{
	struct tw_tally *const first = rows->rows;
	const struct tw_histogram_pool pool = rows->pool;
	const struct tw_left_call *call = calls, *const end = calls + count;
	for (; call < end; call++) {
		struct tw_tally *row = &first[call->row];
		uint16_t *place = tw_histogram_place(&pool, &row->histogram, call->duration);
		if (!++*place) {
			--*place;
			break;
		}
		tw_tally_end(row, call);
	}
	return (size_t)(call - calls);
}

/* The same for any counts. */
static size_t count_far(const struct tw_tallies *rows, const struct tw_left_call *calls, size_t count)
{
	uint16_t *places[TW_PART_WAITING];
	count = count < TW_PART_WAITING ? count : TW_PART_WAITING;
	look_ahead(rows, places, calls, count);
	return count_placed(rows->rows, places, calls, count);
}

void tw_profile_part_add_calls(void *state, const struct tw_left_calls *left)
{
	struct tw_tallies *rows = &((struct tw_profile_part *)state)->rows;
	for (size_t i = 0; i < left->count;) {
		bool near = rows->pool.chunk_count < NEAR_CHUNKS;
		i += (near ? count_near : count_far)(rows, left->calls + i, left->count - i);
		if (i < left->count)
			tw_tallies_leave(rows, &left->calls[i++], TW_CALL_ENDED);
	}
}

/* Counts the calls that wait, in the order of their counts. A call that waited for a count which is full by now is
 * counted through tw_tallies_leave(), as one whose count is not yet there. */
static void count_waiting(struct tw_profile_part *part)
{
	struct tw_tallies *rows = &part->rows;
	size_t count = part->waiting_count;
	for (size_t i = 0; i < count; i++) {
		const struct tw_left_call *call = &part->waiting[i];
		uint16_t *place = tw_histogram_counts(&rows->pool) + part->places[i];
		if (__builtin_expect(!++*place, 0)) {
			--*place;
			tw_tallies_leave(rows, call, TW_CALL_ENDED);
		} else {
			tw_tally_end(&rows->rows[call->row], call);
		}
	}
	part->waiting_count = 0;
}

/* Calls wait until there are many: counting one looks at three places that are seldom in the first-level cache, and the
 * processor can only wait for several at once when nothing else stands between. `make bench` measures stat of FXT. */
TW_INLINE void let_wait(struct tw_profile_part *part, const struct tw_left_call *call)
{
	if (__builtin_expect(part->waiting_count == TW_PART_WAITING, 0))
		count_waiting(part);
	const struct tw_tallies *rows = &part->rows;
	uint32_t place = tw_histogram_number(&rows->pool, &rows->rows[call->row].histogram, call->duration);
	__builtin_prefetch(tw_histogram_counts(&rows->pool) + place, 1);
	size_t i = part->waiting_count++;
	part->places[i] = place;
	part->waiting[i] = *call;
}

static inline void leave(struct tw_calls *calls, const struct tw_frame *frame, const struct tw_left_call *call,
                         enum tw_call_end how)
{
	struct tw_profile_part *part = part_of(calls);
	(void)frame;
	if (how == TW_CALL_ENDED)
		let_wait(part, call);
	else
		tw_tallies_leave(&part->rows, call, how);
}

/* ---- Calls that recur. ---- */

/* Calls inside come first: the outermost one recurs where one of its row has ended since it began. */
static bool recurs(struct tw_calls *calls, const struct tw_left_call *call)
{
	enum { HELD_NONE, HELD_ANOTHER };
	struct tw_map *held = &part_of(calls)->held;
	const uint64_t key = packed(call->row, calls->track);
	const uint32_t value = call->below ? HELD_ANOTHER : HELD_NONE;
	uint32_t *stored = tw_map_stored(held, key);
	const bool held_another = stored && *stored == HELD_ANOTHER + 1;
	if (stored)
		*stored = value + 1;
	else if (value)
		tw_budget_map_add(calls->budget, TW_FOR_ROWS, held, key, value);
	return call->below || held_another;
}

static inline void leave_recursive(struct tw_calls *calls, const struct tw_frame *frame,
                                   const struct tw_left_call *call, enum tw_call_end how)
{
	(void)frame;
	if (recurs(calls, call))
		tw_tallies_leave(&part_of(calls)->rows, call, how);
}

/* ---- And making them. ---- */

static uint32_t new_row(struct tw_profile_part *part, struct tw_part_key key)
{
	uint32_t row = tw_tallies_add(&part->rows, &part->keys, &part->key_room, sizeof *part->keys);
	if (row != TW_ROW_OTHER)
		part->keys[row] = key;
	return row;
}

static uint32_t add_function(struct tw_profile_part *part, struct tw_part_key key)
{
	if (!tw_budget_grow(part->calls.budget, TW_FOR_ROWS, &part->row_of, &part->row_of_room, key.name + (size_t)1,
	                    sizeof *part->row_of))
		return TW_ROW_OTHER;
	part->calls.name_limit = part->row_of_room;
	part->calls.row_of = part->row_of;
	return part->row_of[key.name] = new_row(part, key);
}

static uint32_t add_keyed(struct tw_profile_part *part, struct tw_part_key key)
{
	uint32_t row = new_row(part, key);
	bool kept = row != TW_ROW_OTHER &&
	            tw_budget_map_add(part->calls.budget, TW_FOR_ROWS, &part->row_map, packed(key.name, key.with), row);
	return kept ? row : TW_ROW_OTHER;
}

/* What is particular to each enum tw_profile_by. */
static const struct {
	uint32_t (*find)(struct tw_calls *calls, const struct tw_frame *caller, uint32_t name);
	uint32_t (*add)(struct tw_profile_part *part, struct tw_part_key key);
} ways[] = {
    [TW_BY_FUNCTION] = {find_function, add_function},
    [TW_BY_THREAD] = {find_thread, add_keyed},
    [TW_BY_CALLER] = {find_caller, add_keyed},
    [TW_BY_OBJECT] = {find_object, add_keyed},
};

/* What else than the name makes the row. */
static uint32_t with_of(const struct tw_profile_part *part, const struct tw_frame *caller)
{
	if (part->by == TW_BY_THREAD)
		return part->calls.track;
	if (part->by == TW_BY_OBJECT)
		return part->object;
	return part->by == TW_BY_CALLER ? caller->name : 0;
}

static uint32_t enter(struct tw_calls *calls, const struct tw_frame *caller, uint32_t name)
{
	struct tw_profile_part *part = part_of(calls);
	uint32_t row = name < calls->name_limit ? ways[part->by].find(calls, caller, name) : TW_ROW_NONE;
	if (row != TW_ROW_NONE)
		return row;
	const struct tw_part_key key = {.name = name, .with = with_of(part, caller)};
	row = part->full ? TW_ROW_OTHER : ways[part->by].add(part, key);
	part->full = row == TW_ROW_OTHER;
	return row;
}

/* Only callers can be others. */
static uint32_t moved(struct tw_calls *calls, const struct tw_frame *caller, const struct tw_frame *frame)
{
	return part_of(calls)->by == TW_BY_CALLER ? enter(calls, caller, frame->name) : frame->row;
}

static const struct tw_call_hooks hooks = {.enter = enter, .leave = leave, .moved = moved};
static const struct tw_call_hooks recursive_hooks = {.enter = enter, .leave = leave_recursive, .moved = moved};

/* ---- The part. ---- */

struct tw_profile_part *tw_profile_part_open(const struct tw_profile_options *options, struct tw_budget *budget,
                                             const struct tw_dictionary *dictionary)
{
	struct tw_profile_part *part = calloc(1, sizeof *part);
	if (!part)
		return NULL;
	part->calls = (struct tw_calls){
	    .hooks = options->recursive ? &recursive_hooks : &hooks,
	    .budget = budget,
	    .rules.min_duration = options->min_duration_ns,
	    .rules.by_row = options->by == TW_BY_CALLER || options->by == TW_BY_OBJECT,
	    .name_limit = options->by == TW_BY_FUNCTION ? 0 : SIZE_MAX,
	};
	part->dictionary = dictionary;
	part->by = options->by;
	part->recursive = options->recursive;
	bool rows = tw_tallies_init(&part->rows, budget);
	if (tw_calls_init(&part->calls) && rows)
		return part;
	tw_profile_part_close(part);
	return NULL;
}

static inline uint32_t find_any(struct tw_calls *calls, const struct tw_frame *caller, uint32_t name)
{
	return ways[part_of(calls)->by].find(calls, caller, name);
}

static void add_recursive(struct tw_profile_part *part, const struct tw_call_run *run)
{
	if (part->calls.rules.by_row)
		tw_calls_add_run(&part->calls, run, find_any, leave_recursive, true);
	else
		tw_calls_add_run(&part->calls, run, find_any, leave_recursive, false);
}

void tw_profile_part_add(void *state, const struct tw_call_run *run)
{
	struct tw_profile_part *part = state;
	if (part->recursive) {
		add_recursive(part, run);
		return;
	}
	switch (part->by) {
	case TW_BY_FUNCTION:
		tw_calls_add_run(&part->calls, run, find_function, leave, false);
		break;
	case TW_BY_THREAD:
		tw_calls_add_run(&part->calls, run, find_thread, leave, false);
		break;
	case TW_BY_CALLER:
		tw_calls_add_run(&part->calls, run, find_caller, leave, true);
		break;
	case TW_BY_OBJECT:
		tw_calls_add_run(&part->calls, run, find_object, leave, true);
		break;
	case TW_BY_CLASS:
	case TW_BY_MODULE:
	case TW_BY_LINE:
	case TW_BY_WHOLE_THREAD: /* of samples only */
	case TW_BY_ASYNC:        /* no calls */
		break;
	}
}

struct tw_calls *tw_profile_part_stacks(void *state)
{
	struct tw_profile_part *part = state;
	const bool plain = part->by == TW_BY_FUNCTION && !part->calls.rules.min_duration && !part->recursive;
	return plain ? &part->calls : NULL;
}

void tw_profile_part_finish(void *state)
{
	struct tw_profile_part *part = state;
	tw_calls_finish(&part->calls);
	count_waiting(part);
}

bool tw_profile_part_folded(const struct tw_profile_part *part)
{
	return part->calls.counts.untimed || part->full || part->rows.pool.starved;
}

void tw_profile_part_close(void *state)
{
	struct tw_profile_part *part = state;
	tw_calls_free(&part->calls);
	tw_tallies_free(&part->rows);
	tw_map_free(&part->row_map);
	tw_map_free(&part->held);
	free(part->keys);
	free(part->row_of);
	free(part);
}
