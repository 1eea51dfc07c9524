/* stacks.c - stacks of threads, from what has changed since the last. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "base/memory.h"
#include "tracelog/log.h"

enum {
	STACK_COST = sizeof(struct tw_stack) + 32, /* with its place in a map */
	FRAME_COST = 2 * sizeof(uint32_t)          /* in a thread's stack: arrays double */
};

/* ---- Stacks by number. ---- */

/* The stack that stands for those that there is no memory for; so do those called from it. */
static uint32_t other(struct tracelog_log *log)
{
	if (log->other_stack)
		return log->other_stack;
	const struct tw_location location = {.name = TRACELOG_TEXT(log, "(other)")};
	uint32_t number = tw_dictionary_add_location(log->dictionary, &location);
	log->failed |= number == UINT32_MAX;
	if (log->failed)
		return 0;
	log->other_stack = tw_dictionary_push(log->dictionary, 0, number);
	log->failed |= log->other_stack == UINT32_MAX;
	return log->failed ? 0 : log->other_stack;
}

static bool take_memory(struct tracelog_log *log, size_t bytes)
{
	if (bytes <= log->stack_limit - log->stack_memory) {
		log->stack_memory += bytes;
		return true;
	}
	if (!log->told_stacks)
		tw_report_limit(log->reader, &tracelog_rules[TRACELOG_STACK_LIMIT], log->at.offset, log->at.offset,
		                "stacks take %zu bytes: what comes from here on is shown as (other)",
		                log->stack_memory);
	log->told_stacks = true;
	return false;
}

static uint32_t push(struct tracelog_log *log, uint32_t caller, uint32_t location)
{
	if (location == UINT32_MAX || (caller && caller == log->other_stack))
		return other(log);
	uint32_t found = tw_dictionary_find_push(log->dictionary, caller, location);
	if (found != UINT32_MAX)
		return found;
	if (!take_memory(log, STACK_COST))
		return other(log);
	found = tw_dictionary_push(log->dictionary, caller, location);
	log->failed |= found == UINT32_MAX;
	return found == UINT32_MAX ? 0 : found;
}

/* The same stack with its innermost frame at another instruction. */
static uint32_t move(struct tracelog_log *log, uint32_t stack, uint64_t ip)
{
	const struct tw_stack before = *tw_dictionary_stack(log->dictionary, stack);
	uint32_t function = before.location < log->sources.function_room ? log->sources.functions[before.location] : 0;
	if (!function)
		return stack;
	return push(log, before.caller, tracelog_location(log, function, ip));
}

uint32_t tracelog_stack_at(struct tracelog_log *log, const struct tracelog_thread *thread, uint64_t ip)
{
	uint32_t stack = tracelog_stack(thread);
	return stack && ip ? move(log, stack, ip) : stack;
}

uint32_t tracelog_innermost(const struct tracelog_log *log, uint32_t stack)
{
	uint32_t location = tw_dictionary_stack(log->dictionary, stack)->location;
	return stack ? tw_dictionary_location(log->dictionary, location)->name : 0;
}

/* ---- The stack of a thread. ---- */

/* Makes room for so many frames. False where there is no memory for them. */
static bool reserve(struct tracelog_log *log, struct tracelog_thread *thread, size_t depth)
{
	if (depth <= thread->frame_room)
		return true;
	if (!take_memory(log, (depth - thread->frame_room) * FRAME_COST))
		return false;
	if (tw_grow(&thread->frames, &thread->frame_room, depth, sizeof *thread->frames))
		return true;
	log->failed = true;
	return false;
}

static void append(struct tracelog_thread *thread, uint32_t stack)
{
	thread->frames[thread->depth++] = stack;
}

/* Frames that no record told of. */
static void pad(struct tracelog_log *log, struct tracelog_thread *thread, size_t depth)
{
	if (depth <= thread->depth || !reserve(log, thread, depth))
		return;
	const struct tw_location location = {.name = TRACELOG_TEXT(log, "(unknown)")};
	uint32_t unknown = tw_dictionary_add_location(log->dictionary, &location);
	while (thread->depth < depth && !log->failed)
		append(thread, push(log, tracelog_stack(thread), unknown));
}

/* How many frames stay, by a record that may not fit the stack. */
static size_t kept(struct tracelog_log *log, struct tracelog_thread *thread, const struct tracelog_delta *delta)
{
	if (delta->match > delta->depth)
		tracelog_tell(log, TRACELOG_MATCH_ABOVE_SIZE, "%" PRIu32 " frames of %" PRIu32 " are said to stay",
		              delta->match, delta->depth);
	if (delta->depth != thread->depth)
		tracelog_tell(log, TRACELOG_DEPTH_MISMATCH, "expected a stack of %zu frames, found one of %" PRIu32,
		              thread->depth, delta->depth);
	size_t match = delta->match < delta->depth ? delta->match : delta->depth;
	pad(log, thread, match);
	return match < thread->depth ? match : thread->depth;
}

void tracelog_take_delta(struct tracelog_log *log, struct tracelog_thread *thread, const struct tracelog_delta *delta)
{
	thread->depth = kept(log, thread, delta);
	if (delta->has_ip && thread->depth)
		thread->frames[thread->depth - 1] = move(log, tracelog_stack(thread), delta->ip);
	else if (delta->has_ip)
		tracelog_tell(log, TRACELOG_IP_WITHOUT_FRAME, "no frame stays");
	if (!reserve(log, thread, thread->depth + delta->count)) {
		if (thread->depth < thread->frame_room)
			append(thread, other(log));
		return;
	}
	for (size_t i = 0; i < delta->count && !log->failed; i++) {
		uint32_t function = tracelog_thing_of(log, TRACELOG_FUNCTION, delta->frames[i].iid);
		uint32_t location = tracelog_location(log, function, delta->frames[i].ip);
		append(thread, push(log, tracelog_stack(thread), location));
	}
}
