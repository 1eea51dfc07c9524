/* allocations.c - what threads allocate, by class and stack: counted where it is, written now and then. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "coreprofiler/profiler.h"

#include <stdlib.h>
#include <string.h>

/* A class and a stack. Walking is what costs: a stack whose return addresses all stand where they stood is the same. */
struct profiler_place {
	const void *frame; /* of the profiler's own function, there; NULL: there is no place */
	uint64_t class_id;
	uint32_t iid;  /* of the class */
	uint32_t gone; /* places of another number of what has gone are old */
	bool fixed;    /* all return addresses of the runtime's code are known to be there */
	struct profiler_stack stack;
	uint64_t count, bytes; /* not written yet */
	struct profiler_place *next;
};

enum { SETS = 256, WAYS = 4 };

static _Atomic uint32_t gone;

void profiler_forget_places(void)
{
	atomic_fetch_add_explicit(&gone, 1, memory_order_relaxed);
}

/* ---- Writing. ---- */

static void tell(struct profiler_thread *thread, struct profiler_place *place)
{
	const struct profiler_stack *stack = &place->stack;
	const uint64_t ip = stack->depth ? stack->frames[stack->depth - 1].ip : 0;
	struct text line;
	if (stack->depth)
		profiler_tell_stack(thread, stack, 0, profiler_ms());
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

void profiler_tell_allocated(struct profiler_thread *thread)
{
	for (struct profiler_place *place = thread->places.first; place; place = place->next)
		tell(thread, place);
	thread->places.first = thread->places.last = NULL;
}

void profiler_tell_all_allocated(bool waits)
{
	for (struct profiler_thread *thread = profiler_threads(); thread; thread = thread->next) {
		if (waits)
			profiler_take(thread);
		else if (!thread->id || !profiler_try(thread))
			continue;
		if (thread->id)
			profiler_tell_allocated(thread);
		profiler_give(thread);
	}
}

/* ---- Places. ---- */

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

static bool is_fixed(const struct profiler_stack *stack, const void *frame)
{
	for (size_t i = 0; i < stack->depth; i++)
		if (stack->frames[i].function && stack->frames[i].sp <= (uintptr_t)frame)
			return false;
	return stands(stack);
}

static struct profiler_place *set_of(struct profiler_places *places, const void *frame, uint64_t class_id)
{
	const uint64_t key = ((uintptr_t)frame ^ class_id << 8) * UINT64_C(0x9e3779b97f4a7c15);
	return &places->table[(key >> 40) % SETS * WAYS];
}

static bool is_of(const struct profiler_place *place, const void *frame, uint64_t class_id)
{
	return place->frame == frame && place->class_id == class_id &&
	       place->gone == atomic_load_explicit(&gone, memory_order_relaxed);
}

static struct profiler_place *find(struct profiler_place *set, const void *frame, uint64_t class_id)
{
	for (size_t i = 0; i < WAYS; i++)
		if (is_of(&set[i], frame, class_id) && set[i].fixed && stands(&set[i].stack))
			return &set[i];
	return NULL;
}

static bool are_same(const struct profiler_stack *a, const struct profiler_stack *b)
{
	return a->depth == b->depth &&
	       (a->depth == 0 || memcmp(a->frames, b->frames, a->depth * sizeof *a->frames) == 0);
}

/* By walking. One that is not fixed is found by its stack. */
static struct profiler_place *make(struct profiler_thread *thread, struct profiler_place *set, const void *frame,
                                   uint64_t class_id)
{
	struct profiler_stack *now = &thread->now;
	if (!profiler.options.stacks || !profiler_walk(now, 0))
		now->depth = 0;
	for (size_t i = 0; i < WAYS; i++)
		if (is_of(&set[i], frame, class_id) && are_same(&set[i].stack, now))
			return &set[i];
	struct profiler_place *place = &set[thread->places.turn++ % WAYS];
	if (place->count)
		profiler_tell_allocated(thread);
	const struct profiler_stack old = place->stack;
	*place = (struct profiler_place){.frame = frame, .class_id = class_id, .stack = *now};
	*now = old;
	place->iid = profiler_tell_class(class_id, false, 0);
	profiler_tell_frames(&place->stack);
	place->gone = atomic_load_explicit(&gone, memory_order_relaxed);
	place->fixed = is_fixed(&place->stack, frame);
	return place;
}

static void add(struct profiler_places *places, struct profiler_place *place, const struct profiler_amount *amount)
{
	if (!place->count) {
		place->next = NULL;
		if (places->last)
			places->last->next = place;
		else
			places->first = place;
		places->last = place;
	}
	place->count += amount->count;
	place->bytes += amount->bytes;
}

/* ---- Allocating. ---- */

static bool make_places(struct profiler_places *places)
{
	if (!places->table)
		places->table = calloc((size_t)SETS * WAYS, sizeof *places->table);
	for (size_t i = 0; places->table && places->old && i < SETS * WAYS; i++) {
		places->table[i].frame = NULL;
		places->table[i].count = places->table[i].bytes = 0;
	}
	places->old = false;
	return places->table != NULL;
}

static void add_here(struct profiler_thread *thread, uint64_t class_id, const struct profiler_amount *amount,
                     const void *frame)
{
	struct profiler_places *places = &thread->places;
	if ((!places->table || places->old) && !make_places(places))
		return;
	struct profiler_place *set = set_of(places, frame, class_id), *place = find(set, frame, class_id);
	add(places, place ? place : make(thread, set, frame, class_id), amount);
}

/* The stack is that of the calls, which is written. */
static void add_in_calls(struct profiler_thread *thread, uint64_t class_id, const struct profiler_amount *amount)
{
	struct profiler_place place = {.iid = profiler_tell_class(class_id, false, 0),
	                               .count = amount->count,
	                               .bytes = amount->bytes};
	profiler_tell_calls(thread);
	tell(thread, &place);
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
