/* stacks.c - stacks of threads, and what they allocate. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "coreprofiler/profiler.h"

#include <stdlib.h>
#include <string.h>

/* ---- Walking. ---- */

bool profiler_make_room(struct profiler_stack *stack, size_t depth)
{
	enum { LEAST = 64 };
	if (depth <= stack->room)
		return true;
	const size_t room = depth < LEAST ? LEAST : 2 * depth;
	struct profiler_frame *frames = realloc(stack->frames, room * sizeof *frames);
	if (!frames)
		return false;
	stack->frames = frames;
	stack->room = room;
	return true;
}

/* Source: CONTEXT of the runtime's pal.h for x86-64. */
static uint64_t stack_pointer(const uint8_t *registers, uint32_t size)
{
	uint64_t sp = 0;
#if defined(__x86_64__)
	enum { RSP = 0x98 };
	if (registers && size >= RSP + sizeof sp)
		memcpy(&sp, registers + RSP, sizeof sp);
#endif
	return sp;
}

static int32_t take_frame(uint64_t function, uint64_t ip, uint64_t frame, uint32_t size, uint8_t *registers,
                          void *context)
{
	struct profiler_stack *stack = context;
	if (!profiler_make_room(stack, stack->depth + 1)) {
		stack->failed = true;
		return COM_FAILED; /* no further */
	}
	stack->frames[stack->depth++] =
	    (struct profiler_frame){.function = function, .ip = ip, .sp = stack_pointer(registers, size)};
	return COM_OK;
}

static void reverse(struct profiler_stack *stack)
{
	for (size_t i = 0, k = stack->depth; i + 1 < k; i++) {
		const struct profiler_frame frame = stack->frames[--k];
		stack->frames[k] = stack->frames[i];
		stack->frames[i] = frame;
	}
}

bool profiler_walk(struct profiler_stack *stack, uint64_t id)
{
	enum { WITH_REGISTERS = 1 };
	stack->depth = 0;
	stack->failed = false;
	const int32_t status =
	    COM_CALL(profiler.info, snapshot, id, take_frame, id ? 0 : WITH_REGISTERS, stack, NULL, 0);
	reverse(stack);
	return !stack->failed && (status >= 0 || stack->depth);
}

/* ---- Functions that stacks show: of those that were compiled before the program ran bodies are logged late. ---- */

static struct ids shown = IDS_BEGIN(0);
static pthread_mutex_t seen_mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t *seen;
static size_t seen_count, seen_room;

static void see(uint64_t function)
{
	if (!ids_write(&shown, function, NULL, NULL))
		return;
	pthread_mutex_lock(&seen_mutex);
	if (seen_count == seen_room) {
		const size_t room = seen_room ? 2 * seen_room : 64;
		uint64_t *more = realloc(seen, room * sizeof *more);
		seen = more ? more : seen;
		seen_room = more ? room : seen_room;
	}
	if (seen_count < seen_room)
		seen[seen_count++] = function;
	pthread_mutex_unlock(&seen_mutex);
}

void profiler_write_frames(struct profiler_stack *stack)
{
	for (size_t i = 0; i < stack->depth; i++) {
		struct profiler_frame *frame = &stack->frames[i];
		bool logged;
		if (!frame->function || frame->iid)
			continue;
		frame->iid = ids_look(&profiler.functions, frame->function, &logged);
		if (!logged)
			profiler_write_function(frame->function);
		see(frame->function);
	}
}

void profiler_forget_function(uint64_t id)
{
	pthread_mutex_lock(&seen_mutex);
	for (size_t i = 0; i < seen_count; i++)
		if (seen[i] == id)
			seen[i] = seen[--seen_count];
	pthread_mutex_unlock(&seen_mutex);
	ids_forget(&shown, id);
	ids_forget(&profiler.functions, id);
}

void profiler_write_seen(void)
{
	pthread_mutex_lock(&seen_mutex);
	uint64_t *list = seen;
	const size_t count = seen_count;
	seen = NULL;
	seen_count = seen_room = 0;
	pthread_mutex_unlock(&seen_mutex);
	for (size_t i = 0; i < count; i++)
		profiler_write_function(list[i]);
	free(list);
}

/* ---- Stacks as lines. ---- */

static bool line_trace(void)
{
	return profiler.options.line_trace;
}

/* How many frames are as they were: of the last of them another place may be logged. */
static size_t same_frames(const struct profiler_stack *logged, const struct profiler_stack *now)
{
	const size_t most = logged->depth < now->depth ? logged->depth : now->depth;
	size_t same = 0;
	while (same < most && logged->frames[same].iid == now->frames[same].iid) {
		same++;
		if (line_trace() && logged->frames[same - 1].ip != now->frames[same - 1].ip)
			break;
	}
	return same;
}

static void add_ip(struct text *line, uint64_t ip)
{
	text_char(line, ':');
	if (ip)
		text_pointer(line, ip);
	else
		text_char(line, '?');
}

static void add_frame(struct text *line, const struct profiler_frame *frame)
{
	text_char(line, ' ');
	text_short_id(line, frame->iid);
	if (line_trace() && frame->function && frame->ip)
		add_ip(line, frame->ip);
}

void profiler_begin_stack(struct text *line, const struct profiler_thread *thread, uint64_t ms, uint32_t ticks)
{
	text_begin(line, "sam str ");
	text_id(line, thread->iid);
	text_char(line, ' ');
	text_decimal(line, ms);
	text_char(line, ' ');
	text_decimal(line, ticks);
	text_char(line, ' ');
}

void profiler_write_stack(struct profiler_thread *thread, struct profiler_stack *now, uint32_t ticks, uint64_t ms)
{
	profiler_write_frames(now);
	struct profiler_stack *logged = &thread->logged;
	const size_t same = same_frames(logged, now);
	const bool moved = line_trace() && same && logged->frames[same - 1].ip != now->frames[same - 1].ip;
	const bool is_logged = thread->stands && !moved && same == logged->depth && same == now->depth;
	if ((!ticks && is_logged) || !profiler_make_room(logged, now->depth))
		return;
	thread->stands = true;
	thread->ms = ms > thread->ms ? ms : thread->ms;
	struct text line;
	profiler_begin_stack(&line, thread, thread->ms, ticks);
	text_decimal(&line, same);
	text_char(&line, ':');
	text_decimal(&line, logged->depth);
	if (moved)
		add_ip(&line, now->frames[same - 1].ip);
	for (size_t i = same; i < now->depth; i++)
		add_frame(&line, &now->frames[i]);
	profiler_send(&line);
	if (now->depth)
		memcpy(logged->frames, now->frames, now->depth * sizeof *now->frames);
	logged->depth = now->depth;
}
