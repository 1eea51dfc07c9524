/* stacks.c - the own stack, from here: of what is allocated. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "monoprofiler/parts.h"

#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define ID(pointer) ((uint64_t)(uintptr_t)(pointer))

/* Kept: it is walked often. */
static _Thread_local struct frames {
	struct frame {
		struct mono_method *method;
		void *start;
		uint64_t offset, sp; /* sp: of who called it; 0: not known */
	} * list;
	size_t count, room;
} frames;

static int take_frame(struct mono_method *method, struct mono_domain *in, void *start, int offset, void *context)
{
	enum { LEAST = 64 };
	if (frames.count == frames.room) {
		const size_t room = frames.room ? 2 * frames.room : LEAST;
		struct frame *more = realloc(frames.list, room * sizeof *more);
		if (!more)
			return 1;
		frames.list = more;
		frames.room = room;
	}
	frames.list[frames.count++] = (struct frame){method, start, (uint64_t)offset, 0};
	return 0;
}

/* The innermost ones, by which what is allocated gets here. */
static size_t own_frames(void)
{
	size_t i = 0;
	while (i < frames.count && frames.list[i].method && mono_is_way_in(frames.list[i].method))
		i++;
	return i;
}

/* ---- Return addresses: where they stand tells without a walk whether a stack is the same. ---- */

#if defined(__x86_64__)

/* Mono has the address before a call's end, so that it lies in the call. */
static bool is_return_to(uint64_t word, const struct frame *frame)
{
	return word == ID(frame->start) + frame->offset + 1;
}

static bool is_any(uint64_t word, size_t first)
{
	size_t i = first;
	while (i < frames.count && !is_return_to(word, &frames.list[i]))
		i++;
	return i < frames.count;
}

static const uint64_t *end_of_stack(void)
{
	static _Thread_local const uint64_t *end;
	pthread_attr_t attributes;
	void *lowest = NULL;
	size_t size = 0;
	if (end || pthread_getattr_np(pthread_self(), &attributes) != 0)
		return end;
	if (pthread_attr_getstack(&attributes, &lowest, &size) == 0)
		end = (const uint64_t *)lowest + size / sizeof *end;
	pthread_attr_destroy(&attributes);
	return end;
}

/* They are found where all words that are one of them stand in the order of the frames: a word that is left over would
 * be one too many. Then each frame knows the stack pointer of who called. */
static void find_returns(const uint64_t *at, size_t first)
{
	const uint64_t *end = end_of_stack();
	size_t found = first;
	uint64_t least = UINT64_MAX, most = 0;
	for (size_t i = first; i < frames.count; i++) {
		const uint64_t ip = ID(frames.list[i].start) + frames.list[i].offset;
		least = ip < least ? ip : least;
		most = ip > most ? ip : most;
	}
	for (; at < end && found < frames.count; at++) {
		if (*at <= least || *at > most + 1)
			continue;
		if (is_return_to(*at, &frames.list[found]))
			frames.list[found++].sp = ID(at + 1);
		else if (is_any(*at, first))
			break;
	}
	if (found < frames.count)
		for (size_t i = first; i < frames.count; i++)
			frames.list[i].sp = 0;
}

#else

static void find_returns(const uint64_t *at, size_t first)
{
}

#endif

static int32_t give(const struct frame *frame, com_frame *take, void *context)
{
	enum { RSP = 0x98 }; /* in CoreCLR's CONTEXT for x86-64 */
	uint8_t registers[RSP + sizeof frame->sp] = {0};
	const struct mono_method *method = mono_tell_frame(frame->method, frame->start);
	const uint64_t ip = ID(frame->start) + frame->offset;
	memcpy(registers + RSP, &frame->sp, sizeof frame->sp);
	return take(ID(method), frame->sp ? ip + 1 : ip, 0, sizeof registers, registers, context);
}

/* What is told of while Mono walks would wait for it. */
int32_t mono_snapshot(struct com *own, uint64_t id, com_frame *take, uint32_t flags, void *context, uint8_t *state,
                      uint32_t size)
{
	ucontext_t registers;
	frames.count = 0;
	if (getcontext(&registers) < 0)
		return COM_FAILED;
	mono.stack_walk_async_safe(take_frame, &registers, NULL);
	const size_t first = own_frames();
	find_returns(__builtin_frame_address(0), first);
	for (size_t i = first; i < frames.count; i++)
		if (give(&frames.list[i], take, context) < 0)
			return COM_FAILED;
	return COM_OK;
}
