/* test_lanes.c - slices of a track that overlap without nesting: the tree over its lanes against a look at each. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/calls/lane_tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "suite.h"

enum { NAME = 1, NAMES = 3 };

/* Calls as their owner has them, and what has ended. */
struct owner {
	struct tw_calls calls;
	struct tw_budget budget;
	uint64_t ended, lasted;
};

static uint32_t enter(struct tw_calls *calls, const struct tw_frame *caller, uint32_t name)
{
	(void)calls;
	(void)caller;
	return TW_ROW_FIRST + name;
}

static void leave(struct tw_calls *calls, const struct tw_frame *frame, const struct tw_left_call *call,
                  enum tw_call_end how)
{
	struct owner *owner = (struct owner *)calls;
	(void)frame;
	(void)how;
	owner->ended++;
	owner->lasted += call->duration;
}

static const struct tw_call_hooks hooks = {.enter = enter, .leave = leave};

static void begin(struct owner *owner, bool splits)
{
	*owner = (struct owner){
	    .calls = {.hooks = &hooks, .budget = &owner->budget, .name_limit = SIZE_MAX, .rules.splits = splits}};
	owner->calls.rules.exact = splits;
	tw_budget_reset(&owner->budget, 1 << 26, 1);
	assert_true(tw_calls_init(&owner->calls));
}

static void take(struct owner *owner, enum tw_call_kind kind, uint64_t time, uint64_t duration, uint32_t name)
{
	const struct tw_call_item item = {
	    .time = time,
	    .duration = duration,
	    .name = name,
	    .mark = tw_item_mark(kind, 0),
	};
	tw_calls_take_item(&owner->calls, &item);
}

static uint32_t any(uint32_t below)
{
	static uint64_t seed = 1;
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(seed >> 33) % below;
}

/* The innermost frame of a lane that holds what lasts until a time: none that tells its end ends before. */
static uint32_t holder(const struct tw_call_stack *stack, uint64_t end, uint64_t rounding)
{
	for (size_t i = 0; i < stack->timed_count; i++)
		if (stack->timed[i].end + rounding < end)
			return stack->timed[i].depth - 1;
	return stack->depth;
}

/* What the tree tells, as a look at each lane does. */
static void compare(const struct tw_calls *calls, uint64_t time)
{
	const struct tw_call_stack *own = calls->stack;
	const uint64_t end = time + any(60);
	struct tw_call_place latest = {0}, around = {0}, found;
	uint64_t due = UINT64_MAX, unused;
	uint32_t free = 0, lane = 0;
	bool overlaps = false;
	for (uint32_t i = 0; i <= own->lane_room; i++) {
		const struct tw_call_stack *stack = tw_lane_at(own, i);
		const uint32_t depth = holder(stack, end, calls->rules.exact ? 0 : TW_CALL_ROUNDING);
		tw_lanes_take_later(&latest, own, i, stack->depth);
		tw_lanes_take_later(&around, own, i, depth);
		overlaps |= depth < stack->depth;
		due = stack->timed_count && stack->due < due ? stack->due : due;
		free = i && !stack->depth && !free ? i : free;
		assert_true(i <= own->lane_count || !stack->depth);
	}
	found = tw_lanes_latest(own);
	assert_memory_equal(&found, &latest, sizeof found);
	assert_int_equal(tw_lanes_find_holder(calls, end, &found, &unused), overlaps);
	assert_memory_equal(&found, &around, sizeof found);
	assert_int_equal(tw_lanes_find_due(own, UINT64_MAX - 1, &lane), due != UINT64_MAX);
	assert_true(due == UINT64_MAX || tw_lane_at(own, lane)->due == due);
	assert_int_equal(tw_lane_tree_root(own).free, free);
}

/* The lanes on top of which slices end soon, in their order. */
static void compare_due(const struct tw_call_stack *own, uint64_t until)
{
	uint32_t next = tw_lane_tree_next_due(own, 0, until);
	for (uint32_t i = 1; i <= own->lane_room; i++) {
		const struct tw_call_stack *stack = tw_lane_at(own, i);
		if (!tw_stack_top_is_timed(stack) || stack->due > until)
			continue;
		assert_int_equal(next, i);
		next = tw_lane_tree_next_due(own, i, until);
	}
	assert_int_equal(next, 0);
}

static void the_tree_tells_what_lanes_have(void **state)
{
	(void)state;
	for (uint32_t round = 0; round < 40; round++) {
		const uint32_t step = 1 + any(6), longest = 1 + any(200);
		struct owner owner;
		begin(&owner, round % 4 == 0);
		uint64_t time = 1000;
		for (uint32_t i = 0; i < 400; i++) {
			time += any(step);
			const uint32_t kind = any(4);
			take(&owner, kind < 2 ? (enum tw_call_kind)kind : TW_CALL_COMPLETE, time, 1 + any(longest),
			     NAME + any(NAMES));
			compare(&owner.calls, time);
			compare_due(owner.calls.stack, time + any(40));
		}
		tw_calls_finish(&owner.calls);
		assert_int_equal(owner.calls.counts.untimed, 0);
	}
}

/* Slices that each begin 1 ns later and end 1 ns later than the one before: one is on the track's own stack, 1,024 are
 * on further lanes, and no memory is missing for the rest. */
static void lanes_are_bounded(void **state)
{
	enum { MORE = 5, LASTS = 10000 };
	struct owner owner;
	(void)state;
	begin(&owner, false);
	for (uint32_t i = 0; i < 1 + TW_LANES_MOST + MORE; i++)
		take(&owner, TW_CALL_COMPLETE, 2 * i, LASTS, NAME);
	assert_int_equal(owner.calls.counts.untimed, MORE);
	assert_int_equal(owner.calls.counts.beyond, MORE);
	tw_calls_finish(&owner.calls);
	assert_int_equal(owner.ended, 1 + TW_LANES_MOST);
	assert_int_equal(owner.lasted, (1 + TW_LANES_MOST) * LASTS);
}

/* The same of a begin: what is open ends so soon after it that it is not inside. What is inside of it, and the ends of
 * both, belong to it. */
static void begins_without_a_lane_are_counted(void **state)
{
	enum { LASTS = 100000, SOON = 5000 };
	struct owner owner;
	(void)state;
	begin(&owner, true);
	owner.calls.rules.rounding = SOON;
	for (uint32_t i = 0; i < 1 + TW_LANES_MOST; i++)
		take(&owner, TW_CALL_COMPLETE, 2 * i, LASTS, NAME);
	assert_int_equal(owner.calls.counts.untimed, 0);
	for (uint32_t i = 1; i <= 2; i++) {
		take(&owner, TW_CALL_BEGIN, LASTS - 2, 0, NAME + 1);
		assert_int_equal(owner.calls.counts.untimed, i);
		assert_int_equal(owner.calls.counts.beyond, i);
	}
	take(&owner, TW_CALL_END, LASTS - 1, 0, NAME + 1);
	take(&owner, TW_CALL_END, LASTS - 1, 0, NAME + 1);
	assert_int_equal(owner.calls.counts.exits_without_entry, 0);
	tw_calls_finish(&owner.calls);
	assert_int_equal(owner.ended, 1 + TW_LANES_MOST);
}

/* All that is on a lane is cut, and goes on there: nothing of it lasts longer than it says. */
static void what_is_cut_stays_on_its_lane(void **state)
{
	struct owner owner;
	(void)state;
	begin(&owner, true);
	for (uint32_t i = 0; i < 2000; i++) {
		take(&owner, i % 3 ? TW_CALL_COMPLETE : TW_CALL_BEGIN, 10 * i, 15 + any(40), NAME);
		compare(&owner.calls, 10 * i);
		if (i % 3 == 2)
			take(&owner, TW_CALL_END, 10 * i + 1, 0, NAME);
	}
	tw_calls_finish(&owner.calls);
}

SUITE(lanes)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_tree_tells_what_lanes_have),
	    cmocka_unit_test(lanes_are_bounded),
	    cmocka_unit_test(begins_without_a_lane_are_counted),
	    cmocka_unit_test(what_is_cut_stays_on_its_lane),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
