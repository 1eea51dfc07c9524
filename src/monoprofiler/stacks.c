/* stacks.c - the own stack, from here: of what is allocated. Mono's walk costs some microseconds. So it is walked once
 * for each return address: from then on it is known how large a frame is, and the next return address stands at its
 * end (trampolines have copies of it elsewhere). Where Mono's own functions are between methods the rest is known by
 * its place, if all of it stands. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "monoprofiler/steps.h"
#include "monoprofiler/walks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define ID(pointer) ((uint64_t)(uintptr_t)(pointer))

struct stack_frame {
	struct mono_method *method;
	void *start; /* of the body; only where Mono has walked */
	uint64_t ip; /* the return address */
	uint64_t sp; /* of who called; 0: not known */
};
struct frames {
	struct stack_frame *list; /* the innermost first */
	size_t count, room;
};

/* Of a thread. */
enum { OUTERS = 16 };
struct thread_stack {
	struct frames frames;
	struct mono_steps steps;
	struct outer { /* what is around Mono's own functions, of which the innermost has this frame */
		uint64_t ip, sp;
		struct frames frames;
	} outers[OUTERS];
	uint32_t next_outer; /* counts on; the place is its remainder by OUTERS */
	uint32_t gone;       /* how much had gone when the first step was made */
};
static _Thread_local struct thread_stack *own __attribute__((tls_model("initial-exec")));
static _Thread_local const uint64_t *entered __attribute__((tls_model("initial-exec")));

void mono_stack_is(const void *frame)
{
	entered = frame;
}

static bool put(struct frames *frames, const struct stack_frame *frame)
{
	enum { LEAST = 64 };
	if (frames->count == frames->room) {
		const size_t room = frames->room ? 2 * frames->room : LEAST;
		struct stack_frame *more = realloc(frames->list, room * sizeof *more);
		if (!more)
			return false;
		frames->list = more;
		frames->room = room;
	}
	frames->list[frames->count++] = *frame;
	return true;
}

/* ---- Mono's walk. ---- */

struct stack_walk {
	struct frames *frames;
	struct mono_walk by_mono;
};

/* Mono has the address before a call's end, so that it lies in the call. */
static int take_frame(struct mono_method *method, struct mono_domain *in, void *start, int offset, void *context)
{
	struct stack_walk *walk = context;
	const uint64_t ip = ID(start) + (uint64_t)offset + 1;
	const uint64_t sp = mono_walk_sp(&walk->by_mono, __builtin_frame_address(0), ip);
	return !put(walk->frames, &(struct stack_frame){method, start, ip, sp});
}

static void walk_all(struct frames *frames)
{
	ucontext_t registers;
	struct stack_walk walk = {.frames = frames};
	frames->count = 0;
	if (getcontext(&registers) != 0)
		return;
	mono_walk_begin(&walk.by_mono);
	mono.stack_walk_async_safe(take_frame, &registers, &walk);
	mono_walk_end(&walk.by_mono);
}

/* Without the innermost ones, by which what is allocated gets here. What is told of while Mono walks would wait for
 * it. */
static void walk(struct frames *frames)
{
	size_t ways = 0;
	walk_all(frames);
	while (ways < frames->count && frames->list[ways].method && mono_is_way_in(frames->list[ways].method))
		ways++;
	frames->count -= ways;
	if (frames->count)
		memmove(frames->list, frames->list + ways, frames->count * sizeof *frames->list);
	for (size_t i = 0; i < frames->count; i++) {
		struct stack_frame *frame = &frames->list[i];
		frame->method = mono_write_frame(frame->method, frame->start);
	}
}

#if defined(__x86_64__)

static uint64_t word_at(uint64_t address)
{
	return *(const uint64_t *)(uintptr_t)address;
}

enum { WORD = sizeof(uint64_t) };

/* From a frame to that of its caller. False: there is none. */
static bool go_out(const struct mono_step *step, uint64_t *ip, uint64_t *sp, uint64_t end)
{
	if (!step || !step->size || step->size > end - *sp)
		return false;
	*sp += step->size;
	*ip = word_at(*sp - WORD);
	return true;
}

/* ---- What is around Mono's own functions. ---- */

static bool stands(const struct frames *frames)
{
	for (size_t i = 0; i < frames->count; i++)
		if (frames->list[i].sp && word_at(frames->list[i].sp - WORD) != frames->list[i].ip)
			return false;
	return true;
}

static bool add_outer(struct thread_stack *stacks, uint64_t ip, uint64_t sp)
{
	const struct outer *outer = stacks->outers;
	while (outer < stacks->outers + OUTERS && (outer->ip != ip || outer->sp != sp || !stands(&outer->frames)))
		outer++;
	if (outer == stacks->outers + OUTERS)
		return false;
	bool all = true;
	for (size_t i = 0; i < outer->frames.count && all; i++)
		all = put(&stacks->frames, &outer->frames.list[i]);
	return all;
}

static void keep_outer(struct thread_stack *stacks, uint64_t ip, uint64_t sp, size_t first)
{
	struct outer *outer = &stacks->outers[stacks->next_outer++ % OUTERS];
	outer->ip = outer->sp = 0;
	outer->frames.count = 0;
	for (size_t i = first; i < stacks->frames.count; i++)
		if (!put(&outer->frames, &stacks->frames.list[i]))
			return;
	outer->ip = ip;
	outer->sp = sp;
}

/* ---- By steps. ---- */

static bool step_out(struct thread_stack *stacks)
{
	const uint64_t end = mono_stack_end();
	uint64_t ip = entered[1], sp = ID(&entered[2]);
	stacks->frames.count = 0;
	for (;;) {
		const struct mono_step *step = mono_step_find(&stacks->steps, ip);
		if (stacks->frames.count && (!step || !step->method))
			return add_outer(stacks, ip, sp);
		if (step && step->method && !put(&stacks->frames, &(struct stack_frame){step->method, NULL, ip, sp}))
			return false;
		if (!go_out(step, &ip, &sp, end))
			return false;
	}
}

/* ---- Learning, of frames that Mono has walked. ---- */

static uint64_t size_of(const struct mono_body *body)
{
	struct mono_body *known = (struct mono_body *)(uintptr_t)body;
	return mono_frame_size(mono.jit_info_get_code_start(known), (size_t)mono.jit_info_get_code_size(known));
}

static struct mono_body *body_at(uint64_t ip)
{
	struct mono_domain *domain = mono.domain_get();
	return mono.jit_info_table_find(domain ? domain : mono.get_root_domain(), (void *)(uintptr_t)(ip - 1));
}

/* Before the first method. */
static struct mono_step *learn_way_in(struct mono_steps *steps, uint64_t ip)
{
	struct mono_step *known = mono_step_find(steps, ip);
	struct mono_body *body = known ? NULL : body_at(ip);
	if (known)
		return known->method ? NULL : known;
	if (body)
		return mono_is_way_in(mono.jit_info_get_method(body)) ? mono_step_make(steps, ip, NULL, size_of(body))
		                                                      : NULL;
	mono_steps_of_natives(steps);
	return mono_step_find(steps, ip);
}

static struct mono_step *learn_method(struct mono_steps *steps, const struct stack_frame *frame)
{
	struct mono_step *known = mono_step_find(steps, frame->ip);
	struct mono_body *body = known ? NULL : body_at(frame->ip);
	if (known)
		return known->method == frame->method ? known : NULL;
	return body && frame->method ? mono_step_make(steps, frame->ip, frame->method, size_of(body)) : NULL;
}

static bool is_wrapper(struct mono_method *method)
{
	return method && mono.method_get_token(method) == 0;
}

struct learning {
	struct thread_stack *stacks;
	uint64_t ip, sp, end;
	struct own_caller {
		uint64_t ip, sp;
		size_t first;
	} own_callers[OUTERS];
	size_t own_caller_count;
};

/* From Mono's way in to the first method. */
static bool learn_ways_in(struct learning *learning, const struct stack_frame *first)
{
	while (learning->sp < first->sp)
		if (!go_out(learn_way_in(&learning->stacks->steps, learning->ip), &learning->ip, &learning->sp,
		            learning->end))
			return false;
	return learning->sp == first->sp;
}

/* Mono's own functions are around a method: they call wrappers, and handlers of exceptions: false. A handler's frame is
 * elsewhere, and what an exception has left still stands around it. */
static bool is_around(struct learning *learning, const struct stack_frame *frame, size_t next)
{
	const struct frames *frames = &learning->stacks->frames;
	const bool is_below = next == frames->count || learning->sp < frames->list[next].sp;
	if (!is_below || !is_wrapper(frame->method) || body_at(learning->ip))
		return false;
	if (learning->own_caller_count < OUTERS)
		learning->own_callers[learning->own_caller_count++] =
		    (struct own_caller){learning->ip, learning->sp, next};
	return true;
}

static bool learn_methods(struct learning *learning)
{
	const struct frames *frames = &learning->stacks->frames;
	for (size_t i = 0; i < frames->count; i++) {
		const struct stack_frame *frame = &frames->list[i];
		struct mono_step *step = learn_method(&learning->stacks->steps, frame);
		learning->sp = frame->sp;
		if (!frame->sp || !go_out(step, &learning->ip, &learning->sp, learning->end))
			return false;
		if (i + 1 < frames->count && learning->sp == frames->list[i + 1].sp)
			continue;
		if (!is_around(learning, frame, i + 1)) {
			step->size = 0; /* not always of this size */
			return false;
		}
	}
	return true;
}

/* Where a frame is elsewhere than behind the one before, it does not matter what stands behind that. */
static void forget_places(struct frames *frames)
{
	for (size_t i = 0; i < frames->count; i++)
		frames->list[i].sp = 0;
}

static void learn(struct thread_stack *stacks)
{
	struct learning learning = {.stacks = stacks, .ip = entered[1], .sp = ID(&entered[2]), .end = mono_stack_end()};
	struct frames *frames = &stacks->frames;
	if (!frames->count || !learn_ways_in(&learning, frames->list) || !learn_methods(&learning)) {
		forget_places(frames);
		return;
	}
	for (size_t i = 0; i < learning.own_caller_count; i++)
		keep_outer(stacks, learning.own_callers[i].ip, learning.own_callers[i].sp,
		           learning.own_callers[i].first);
}

#else

static bool step_out(struct thread_stack *stacks)
{
	return false;
}

static void learn(struct thread_stack *stacks)
{
}

#endif

/* ---- For tests: TRACKWAY_TRACELOG_CHECK_STACKS=1 has Mono walk each stack, too. ---- */

static _Atomic uint64_t stepped, walked;

void mono_stacks_write(void)
{
	if (profiler.options.check)
		fprintf(stderr, "trackway: stacks: %" PRIu64 " by steps, %" PRIu64 " by Mono, %" PRIu64 " differ\n",
		        stepped, walked, profiler.wrong);
}

static bool are_same(const struct frames *a, const struct frames *b)
{
	bool same = a->count == b->count;
	for (size_t i = 0; i < a->count && same; i++)
		same = a->list[i].method == b->list[i].method && a->list[i].ip == b->list[i].ip;
	return same;
}

static void check(const struct frames *frames)
{
	struct frames by_mono = {NULL, 0, 0};
	walk(&by_mono);
	if (!are_same(frames, &by_mono))
		atomic_fetch_add(&profiler.wrong, 1);
	free(by_mono.list);
	atomic_fetch_add(&stepped, 1);
}

/* ---- As CoreCLR walks it. ---- */

static struct thread_stack *own_stacks(void)
{
	if (!own)
		own = calloc(1, sizeof *own);
	if (own && own->gone != profiler_gone()) {
		mono_steps_clear(&own->steps);
		for (size_t i = 0; i < OUTERS; i++)
			own->outers[i].ip = 0;
		own->gone = profiler_gone();
	}
	return own;
}

int32_t mono_snapshot(struct com *com, uint64_t id, com_frame *take, uint32_t flags, void *context, uint8_t *state,
                      uint32_t size)
{
	enum { RSP = 0x98 }; /* in CoreCLR's CONTEXT for x86-64 */
	uint8_t registers[RSP + sizeof(uint64_t)] = {0};
	struct thread_stack *stacks = own_stacks();
	if (!stacks)
		return COM_FAILED;
	if (!step_out(stacks)) {
		walk(&stacks->frames);
		learn(stacks);
		if (profiler.options.check)
			atomic_fetch_add(&walked, 1);
	} else if (profiler.options.check)
		check(&stacks->frames);
	for (size_t i = 0; i < stacks->frames.count; i++) {
		const struct stack_frame *frame = &stacks->frames.list[i];
		memcpy(registers + RSP, &frame->sp, sizeof frame->sp);
		if (take(ID(frame->method), frame->ip, 0, sizeof registers, registers, context) < 0)
			return COM_FAILED;
	}
	return COM_OK;
}

void mono_stacks_end(void)
{
	if (!own)
		return;
	mono_steps_clear(&own->steps);
	for (size_t i = 0; i < OUTERS; i++)
		free(own->outers[i].frames.list);
	free(own->frames.list);
	free(own);
	own = NULL;
}
