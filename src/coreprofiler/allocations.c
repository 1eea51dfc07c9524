/* allocations.c - what threads allocate, by class and stack: counted where it is, written now and then. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "coreprofiler/places.h"

#include <stdlib.h>

static _Atomic uint32_t gone;

void profiler_forget_places(void)
{
	atomic_fetch_add_explicit(&gone, 1, memory_order_relaxed);
}

uint32_t profiler_gone(void)
{
	return atomic_load_explicit(&gone, memory_order_relaxed);
}

/* ---- Writing. ---- */

/* Also where nothing is on it, or none is asked for: what stands before is another one. Calls are a stack that is
 * written already. */
static bool has_other_stack(const struct profiler_thread *thread, const struct profiler_stack *stack)
{
	return profiler.options.method != PROFILER_INSTRUMENTATION && (stack->depth || thread->logged.depth);
}

static void write_place(struct profiler_thread *thread, struct profiler_place *place)
{
	struct profiler_stack *stack = &place->stack;
	const uint64_t ip = stack->depth ? stack->frames[stack->depth - 1].ip : 0;
	struct text line;
	if (has_other_stack(thread, stack))
		profiler_write_stack(thread, stack, 0, profiler_ms());
	text_begin(&line, "sam mem ");
	text_id(&line, thread->iid);
	text_char(&line, ' ');
	text_decimal(&line, profiler_ms());
	text_char(&line, ' ');
	text_short_id(&line, place->iid);
	text_char(&line, ':');
	text_decimal(&line, place->count);
	text_char(&line, ':');
	text_decimal(&line, place->bytes);
	if (profiler.options.line_trace && ip) {
		text_char(&line, ':');
		text_pointer(&line, ip);
	}
	place->count = place->bytes = 0;
	profiler_send(&line);
}

void profiler_write_allocated(struct profiler_thread *thread)
{
	struct profiler_places *places = thread->places;
	if (!places || thread->has_old_places)
		return;
	for (struct profiler_place *place = places->first; place; place = place->next)
		write_place(thread, place);
	places->first = places->last = NULL;
}

void profiler_write_all_allocated(bool waits)
{
	for (struct profiler_thread *thread = profiler_threads(); thread; thread = thread->next) {
		if (waits)
			profiler_take(thread);
		else if (!thread->id || !profiler_try(thread))
			continue;
		if (thread->id)
			profiler_write_allocated(thread);
		profiler_give(thread);
	}
}

/* ---- Sites. ---- */

/* A call leaves its return address below where the stack pointer of the caller is. */
static const uint64_t *return_address(const struct profiler_frame *frame)
{
	return (const uint64_t *)(uintptr_t)(frame->sp - sizeof(uint64_t));
}

static bool stands(const struct profiler_stack *stack)
{
	for (size_t i = stack->depth; i-- > 0;)
		if (stack->frames[i].function && *return_address(&stack->frames[i]) != stack->frames[i].ip)
			return false;
	return true;
}

/* An empty one may be another's beginning. */
static bool is_fixed(const struct profiler_stack *stack, const void *frame)
{
	if (!stack->depth)
		return !profiler.options.stacks;
	for (size_t i = 0; i < stack->depth; i++)
		if (stack->frames[i].function && stack->frames[i].sp <= (uintptr_t)frame)
			return false;
	return stands(stack);
}

static struct profiler_site *set_of(struct profiler_places *places, const void *frame, uint64_t class_id)
{
	const uint64_t key = ((uintptr_t)frame ^ class_id << 8) * UINT64_C(0x9e3779b97f4a7c15);
	return &places->sites[(key >> 40) % PROFILER_SETS * PROFILER_WAYS];
}

static struct profiler_place *find(const struct profiler_site *set, const void *frame, uint64_t class_id)
{
	for (size_t i = 0; i < PROFILER_WAYS; i++)
		if (set[i].frame == frame && set[i].place->class_id == class_id && stands(&set[i].stack))
			return set[i].place;
	return NULL;
}

static struct profiler_place *place_of(struct profiler_thread *thread, uint64_t class_id, struct profiler_stack *stack)
{
	struct profiler_place *place = profiler_place_find(thread->places, class_id, stack);
	if (place)
		return place;
	const uint32_t iid = profiler_write_class(class_id, false, 0);
	profiler_write_frames(stack);
	place = profiler_place_make(thread->places, class_id, stack);
	if (!place) {
		profiler_write_allocated(thread);
		profiler_places_clear(thread->places);
		place = profiler_place_make(thread->places, class_id, stack);
	}
	if (place)
		place->iid = iid;
	return place;
}

/* By walking. */
static struct profiler_place *make(struct profiler_thread *thread, struct profiler_site *set, const void *frame,
                                   uint64_t class_id)
{
	struct profiler_stack *now = &thread->now;
	if (!profiler.options.stacks || !profiler_walk(now, 0))
		now->depth = 0;
	struct profiler_place *place = place_of(thread, class_id, now);
	if (place && is_fixed(now, frame)) {
		struct profiler_site *site = &set[thread->places->replaced++ % PROFILER_WAYS];
		const struct profiler_stack old = site->stack;
		*site = (struct profiler_site){.frame = frame, .stack = *now, .place = place};
		*now = old;
	}
	return place;
}

/* ---- Allocating. ---- */

/* What has gone has been written: its ids are those of others. */
static bool make_places(struct profiler_thread *thread)
{
	const uint32_t now = profiler_gone();
	if (!thread->places)
		thread->places = calloc(1, sizeof *thread->places);
	else if (thread->has_old_places || thread->places->gone != now) {
		profiler_write_allocated(thread);
		profiler_places_clear(thread->places);
	}
	thread->has_old_places = false;
	if (thread->places)
		thread->places->gone = now;
	return thread->places != NULL;
}

static void add_here(struct profiler_thread *thread, uint64_t class_id, const struct profiler_amount *amount,
                     const void *frame)
{
	if (!make_places(thread))
		return;
	struct profiler_site *set = set_of(thread->places, frame, class_id);
	struct profiler_place *known = find(set, frame, class_id);
	struct profiler_place *place = known && !profiler.options.check ? known : make(thread, set, frame, class_id);
	if (known && known != place)
		atomic_fetch_add_explicit(&profiler.wrong, 1, memory_order_relaxed);
	if (place)
		profiler_place_add(thread->places, place, amount);
}

/* The stack is that of the calls, which is written. */
static void add_in_calls(struct profiler_thread *thread, uint64_t class_id, const struct profiler_amount *amount)
{
	struct profiler_place place = {.iid = profiler_write_class(class_id, false, 0),
	                               .count = amount->count,
	                               .bytes = amount->bytes};
	profiler_write_calls(thread);
	write_place(thread, &place);
}

static void take(struct profiler_thread *thread, uint64_t class_id, const struct profiler_amount *amount,
                 const void *frame)
{
	profiler_take(thread);
	if (profiler.paused) { /* by now */
		profiler_give(thread);
		return;
	}
	if (profiler.options.method == PROFILER_INSTRUMENTATION)
		add_in_calls(thread, class_id, amount);
	else
		add_here(thread, class_id, amount, profiler.options.stacks ? frame : thread);
	profiler_give(thread);
}

static struct profiler_thread *allocating_thread(void)
{
	return profiler.paused || profiler_is_off() ? NULL : profiler_own_thread();
}

void profiler_allocated(uint64_t object, uint64_t class_id)
{
	struct profiler_thread *thread = allocating_thread();
	const uint64_t every = profiler.options.alloc_bytes;
	struct profiler_amount amount = {.count = 1};
	if (!thread || COM_CALL(profiler.info, object_size, object, &amount.bytes) < 0)
		return;
	if (!every || profiler_is_sample(&thread->chance, amount.bytes, every, &amount))
		take(thread, class_id, &amount, __builtin_frame_address(0));
}

void profiler_ticked(uint64_t class_id, uint64_t size, uint64_t bytes)
{
	struct profiler_thread *thread = allocating_thread();
	if (!thread)
		return;
	const uint64_t count = profiler_objects_in(&thread->chance, bytes, size);
	const struct profiler_amount amount = {count, size ? count * size : bytes};
	take(thread, class_id, &amount, __builtin_frame_address(0));
}
