/* stacks.c - stacks of threads, from what has changed since the last. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/log/stacks.h"

#include "base/inline.h"
#include "base/memory/memory.h"
#include "tracelog/log/log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	STACK_COST = sizeof(struct tw_stack) + 64,           /* with its place in a map: both double */
	FRAME_COST = 2 * sizeof(struct tracelog_stack_frame) /* in a thread's stack: arrays double */
};

bool tracelog_stacks_init(struct tracelog_stacks *stacks, size_t limit)
{
	const size_t size = TRACELOG_PUSH_SETS * sizeof *stacks->recent;
	*stacks = (struct tracelog_stacks){.limit = limit,
	                                   .recent = aligned_alloc(_Alignof(struct tracelog_recent_pushes), size)};
	if (stacks->recent)
		tracelog_forget_pushes(stacks);
	return stacks->recent;
}

void tracelog_forget_pushes(struct tracelog_stacks *stacks)
{
	memset(stacks->recent, 0, TRACELOG_PUSH_SETS * sizeof *stacks->recent);
}

/* ---- Stacks by number. ---- */

uint32_t tracelog_other_stack(struct tracelog_log *log)
{
	if (log->stacks.other)
		return log->stacks.other;
	const struct tw_location location = {.name = TRACELOG_TEXT(log, "(other)")};
	uint32_t number = tw_dictionary_add_location(log->dictionary, &location);
	log->failed |= number == UINT32_MAX;
	if (log->failed)
		return 0;
	log->stacks.other = tw_dictionary_push(log->dictionary, 0, number);
	log->failed |= log->stacks.other == UINT32_MAX;
	return log->failed ? 0 : log->stacks.other;
}

/* Takes bytes from what stacks may have. False when they are not there, which is told once; a deep stack may find no
 * room where others still do. */
static bool take_memory(struct tracelog_log *log, size_t bytes)
{
	if (bytes <= log->stacks.limit - log->stacks.used) {
		log->stacks.used += bytes;
		return true;
	}
	if (!log->stacks.reported)
		tw_report_limit(log->reader, &tracelog_rules[TRACELOG_STACK_LIMIT], log->line.at.offset,
		                log->line.at.offset,
		                "stacks take %zu bytes, and this one %zu more: what there is no room for is shown as "
		                "(other)",
		                log->stacks.used, bytes);
	log->stacks.reported = true;
	return false;
}

static uint32_t find_or_add(struct tracelog_log *log, uint32_t caller, uint32_t location)
{
	if (location == UINT32_MAX || (caller && caller == log->stacks.other))
		return tracelog_other_stack(log);
	uint32_t found = tw_dictionary_find_push(log->dictionary, caller, location);
	if (found != UINT32_MAX)
		return found;
	if (!take_memory(log, STACK_COST))
		return tracelog_other_stack(log);
	found = tw_dictionary_push(log->dictionary, caller, location);
	log->failed |= found == UINT32_MAX;
	return found == UINT32_MAX ? 0 : found;
}

uint32_t tracelog_innermost(const struct tracelog_log *log, uint32_t stack)
{
	if (!stack || log->request.adds_up)
		return 0;
	uint32_t location = tw_dictionary_stack(log->dictionary, stack)->location;
	return tw_dictionary_location(log->dictionary, location)->name;
}

/* The compiler's function, which the profiler gives a number where it is a frame of stacks. False: it has none. */
static bool find_compiler(struct tracelog_log *log, uint32_t *function)
{
	enum { JIT_IID = 1 };
	static const char *const names[] = {"<JIT>", "JIT"};
	if (!tw_map_find(&log->objects[TRACELOG_FUNCTION].by_iid, JIT_IID, function))
		return false;
	const struct tracelog_object *object = tracelog_object(log, TRACELOG_FUNCTION, *function);
	const char *text = tw_dictionary_name(log->dictionary, object->name)->text;
	return object->named && (strcmp(text, names[0]) == 0 || strcmp(text, names[1]) == 0);
}

/* What was told before the function got its name is no matter: a window of the log may begin behind that. */
uint32_t tracelog_jit_stack(struct tracelog_log *log)
{
	uint32_t function;
	if (find_compiler(log, &function))
		return find_or_add(log, 0, tracelog_location(log, function, 0));
	const struct tw_location location = {.name = TRACELOG_TEXT(log, "<JIT>")};
	if (!log->stacks.jit)
		log->stacks.jit = find_or_add(log, 0, tw_dictionary_add_location(log->dictionary, &location));
	return log->stacks.jit;
}

static inline uint32_t hash(uint32_t path, const struct tracelog_frame *frame)
{
	uint64_t key = (uint64_t)frame->iid << 32 | path;
	return (uint32_t)((frame->ip * UINT64_C(0x9e3779b97f4a7c15) ^ key * UINT64_C(0xc2b2ae3d27d4eb4f)) >> 32);
}

static inline struct tracelog_stack_frame stack_frame_of(const struct tracelog_log *log, uint32_t stack, uint32_t iid,
                                                         uint32_t path)
{
	return (struct tracelog_stack_frame){.stack = stack,
	                                     .iid = iid,
	                                     .path = path,
	                                     .is_function = stack != log->stacks.other};
}

/* Adds a frame to a stack, and puts the new stack among the recent ones, in place of the oldest. */
TW_NOINLINE uint32_t push_anew(struct tracelog_log *log, uint32_t caller, const struct tracelog_frame *frame,
                               struct tracelog_recent_pushes *recent)
{
	uint32_t function = tracelog_object_of(log, TRACELOG_FUNCTION, frame->iid);
	uint32_t stack = find_or_add(log, caller, tracelog_location(log, function, frame->ip));
	for (unsigned way = TRACELOG_PUSH_WAYS - 1; way > 0; way--) {
		recent->ip[way] = recent->ip[way - 1];
		recent->iid[way] = recent->iid[way - 1];
		recent->caller[way] = recent->caller[way - 1];
		recent->stack[way] = recent->stack[way - 1];
	}
	recent->ip[0] = frame->ip;
	recent->iid[0] = frame->iid;
	recent->caller[0] = caller;
	recent->stack[0] = stack;
	return stack;
}

/* Without branches but the last: in which way it is found is as good as random. */
static inline struct tracelog_stack_frame push(struct tracelog_log *log, const struct tracelog_stack_frame *caller,
                                               const struct tracelog_frame *frame)
{
	const uint32_t path = hash(caller->path, frame);
	struct tracelog_recent_pushes *recent = &log->stacks.recent[path % TRACELOG_PUSH_SETS];
	uint32_t stack = 0;
	for (unsigned way = 0; way < TRACELOG_PUSH_WAYS; way++) {
		bool same = (recent->ip[way] == frame->ip) & (recent->iid[way] == frame->iid) &
		            (recent->caller[way] == caller->stack);
		stack |= recent->stack[way] & (0u - same);
	}
	if (!stack)
		stack = push_anew(log, caller->stack, frame, recent);
	return stack_frame_of(log, stack, frame->iid, path);
}

/* The innermost frame of a thread at another instruction. */
static struct tracelog_stack_frame move(struct tracelog_log *log, const struct tracelog_thread *thread, uint64_t ip)
{
	static const struct tracelog_stack_frame outermost = {0};
	const struct tracelog_stack_frame held = tracelog_innermost_of(thread);
	const struct tracelog_frame frame = {held.iid, ip};
	return held.is_function
	           ? push(log, thread->stack.depth > 1 ? &thread->stack.frames[thread->stack.depth - 2] : &outermost,
	                  &frame)
	           : held;
}

uint32_t tracelog_stack_at(struct tracelog_log *log, const struct tracelog_thread *thread, uint64_t ip)
{
	return thread->stack.depth && ip ? move(log, thread, ip).stack : tracelog_stack(thread);
}

/* ---- The stack of a thread. ---- */

/* Makes room for so many frames. False where there is no memory for them. */
static bool reserve(struct tracelog_log *log, struct tracelog_thread *thread, size_t depth)
{
	if (depth <= thread->stack.room)
		return true;
	if (!take_memory(log, (depth - thread->stack.room) * FRAME_COST))
		return false;
	if (tw_grow(&thread->stack.frames, &thread->stack.room, depth, sizeof *thread->stack.frames))
		return true;
	log->failed = true;
	return false;
}

static void append(struct tracelog_thread *thread, uint32_t stack)
{
	thread->stack.frames[thread->stack.depth++] = (struct tracelog_stack_frame){.stack = stack};
}

/* Frames that no record told of. */
static void pad(struct tracelog_log *log, struct tracelog_thread *thread, size_t depth)
{
	if (depth <= thread->stack.depth || !reserve(log, thread, depth))
		return;
	const struct tw_location location = {.name = TRACELOG_TEXT(log, "(unknown)")};
	uint32_t unknown = tw_dictionary_add_location(log->dictionary, &location);
	while (thread->stack.depth < depth && !log->failed)
		append(thread, find_or_add(log, tracelog_stack(thread), unknown));
}

/* How many frames stay, by a record that may not fit the stack. */
static size_t kept(struct tracelog_log *log, struct tracelog_thread *thread, const struct tracelog_sample *sample)
{
	if (sample->match > sample->depth)
		tracelog_report(log, TRACELOG_MATCH_ABOVE_SIZE, "%" PRIu32 " frames of %" PRIu32 " are said to stay",
		                sample->match, sample->depth);
	if (sample->depth != thread->stack.depth)
		tracelog_report(log, TRACELOG_DEPTH_MISMATCH, "expected a stack of %zu frames, found one of %" PRIu32,
		                thread->stack.depth, sample->depth);
	size_t match = sample->match < sample->depth ? sample->match : sample->depth;
	pad(log, thread, match);
	return match < thread->stack.depth ? match : thread->stack.depth;
}

size_t tracelog_change_stack(struct tracelog_log *log, struct tracelog_thread *thread,
                             const struct tracelog_sample *sample)
{
	if (thread->other)
		return 0;
	size_t stays = thread->stack.depth = kept(log, thread, sample);
	if (sample->has_ip && thread->stack.depth)
		thread->stack.frames[thread->stack.depth - 1] = move(log, thread, sample->ip);
	else if (sample->has_ip)
		tracelog_report(log, TRACELOG_IP_WITHOUT_FRAME, "no frame stays");
	if (!sample->frame_count)
		return stays;
	if (!reserve(log, thread, thread->stack.depth + sample->frame_count)) {
		if (thread->stack.depth < thread->stack.room)
			append(thread, tracelog_other_stack(log));
		return stays;
	}
	const struct tracelog_frame *frame = sample->frames, *end = frame + sample->frame_count;
	struct tracelog_stack_frame held = tracelog_innermost_of(thread),
				    *to = thread->stack.frames + thread->stack.depth;
	for (; frame < end && !log->failed; frame++)
		*to++ = held = push(log, &held, frame);
	thread->stack.depth = (size_t)(to - thread->stack.frames);
	return stays;
}
