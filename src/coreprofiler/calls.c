/* calls.c - stacks by enter and leave: what hooked functions tell, as changes of a stack. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "coreprofiler/profiler.h"

#include <stdlib.h>

/* ---- A thread's stack: of the thread itself, and of the one that writes what stands for long. ---- */

static bool has_changed(const struct profiler_calls *calls)
{
	return calls->lowest < calls->logged || calls->lowest < calls->depth;
}

/* Without ticks: the time since the line before was spent in the stack of that line. */
static void write_sample(struct profiler_thread *thread)
{
	struct profiler_calls *calls = &thread->calls;
	if (!has_changed(calls) || profiler.paused)
		return;
	struct text line;
	profiler_begin_stack(&line, thread, calls->ms, 0);
	text_decimal(&line, calls->lowest);
	text_char(&line, ':');
	text_decimal(&line, calls->logged);
	for (size_t i = calls->lowest; i < calls->depth; i++) {
		text_char(&line, ' ');
		text_short_id(&line, calls->frames[i].iid);
	}
	profiler_send(&line);
	calls->lowest = calls->logged = calls->depth;
}

/* A look at the clock costs as much as all else of a call: between two beats of another thread there is none. That
 * thread may have to wait for a processor, so that a look also comes after some changes. */
static inline uint64_t ms_of_change(struct profiler_calls *calls)
{
	enum { CHANGES = 64 };
	const uint32_t beat = atomic_load_explicit(&profiler.beats, memory_order_relaxed);
	if (!profiler.options.high_granularity && calls->beat == beat && ++calls->changes < CHANGES)
		return calls->ms;
	calls->beat = beat;
	calls->changes = 0;
	return profiler_ms();
}

/* The line of a change has one time. */
static inline void begin_change(struct profiler_thread *thread)
{
	struct profiler_calls *calls = &thread->calls;
	const uint64_t ms = ms_of_change(calls);
	if (calls->ms != ms)
		write_sample(thread);
	if (!profiler.paused)
		calls->ms = ms;
}

static bool push(struct profiler_calls *calls, struct profiler_call call)
{
	enum { LEAST = 256 };
	if (calls->depth == calls->room) {
		const size_t room = calls->room ? 2 * calls->room : LEAST;
		struct profiler_call *more = realloc(calls->frames, room * sizeof *more);
		if (!more)
			return false;
		calls->frames = more;
		calls->room = room;
	}
	calls->frames[calls->depth++] = call;
	return true;
}

/* A call that begins and ends within a line is one that nobody would see: the line ends before. */
static void pop(struct profiler_thread *thread)
{
	struct profiler_calls *calls = &thread->calls;
	if (profiler.options.high_granularity && calls->lowest < calls->depth)
		write_sample(thread);
	calls->depth--;
	if (calls->lowest > calls->depth)
		calls->lowest = calls->depth;
}

/* Frames that an exception has taken away without a word: a stack grows to lower addresses. */
static void pop_below(struct profiler_thread *thread, uint64_t sp)
{
	const struct profiler_calls *calls = &thread->calls;
	while (calls->depth && calls->frames[calls->depth - 1].sp < sp)
		pop(thread);
}

static inline struct profiler_thread *begin_own(void)
{
	struct profiler_thread *thread = profiler_is_off() ? NULL : profiler_own_thread();
	if (thread)
		profiler_take(thread);
	return thread;
}

/* ---- What the hooks call (hooks.S). ---- */

void profiler_entered(uint64_t iid, uint64_t sp)
{
	struct profiler_thread *thread = begin_own();
	if (!thread)
		return;
	begin_change(thread);
	pop_below(thread, sp + 1);
	push(&thread->calls, (struct profiler_call){.iid = (uint32_t)iid, .sp = sp});
	profiler_give(thread);
}

static bool is_called(const struct profiler_calls *calls, uint32_t iid)
{
	size_t i = calls->depth;
	while (i && calls->frames[i - 1].iid != iid)
		i--;
	return i > 0;
}

/* Where stack pointers are not known, what is above it has ended without a word. */
static void leave(struct profiler_thread *thread, uint32_t iid, uint64_t sp)
{
	const struct profiler_calls *calls = &thread->calls;
	if (sp == PROFILER_NO_SP && is_called(calls, iid))
		while (calls->frames[calls->depth - 1].iid != iid)
			pop(thread);
	if (calls->depth && calls->frames[calls->depth - 1].iid == iid)
		pop(thread);
}

void profiler_left(uint64_t iid, uint64_t sp)
{
	struct profiler_thread *thread = begin_own();
	if (!thread)
		return;
	begin_change(thread);
	pop_below(thread, sp);
	leave(thread, (uint32_t)iid, sp);
	profiler_give(thread);
}

/* ---- Exceptions: the runtime names the function once, before. ---- */

void profiler_unwinds(uint64_t function)
{
	struct profiler_thread *thread = begin_own();
	if (!thread)
		return;
	thread->calls.unwound = ids_of(&profiler.functions, function);
	profiler_give(thread);
}

void profiler_unwound(void)
{
	struct profiler_thread *thread = begin_own();
	if (!thread)
		return;
	begin_change(thread);
	leave(thread, thread->calls.unwound, 0);
	profiler_give(thread);
}

/* ---- Others. ---- */

void profiler_write_calls(struct profiler_thread *thread)
{
	write_sample(thread);
}

void profiler_write_all_calls(void)
{
	const uint64_t ms = profiler_ms();
	for (struct profiler_thread *thread = profiler_threads(); thread; thread = thread->next) {
		profiler_take(thread);
		if (thread->id && thread->calls.ms < ms)
			write_sample(thread);
		profiler_give(thread);
	}
}

void profiler_resume_calls(void)
{
	const uint64_t ms = profiler_ms();
	for (struct profiler_thread *thread = profiler_threads(); thread; thread = thread->next) {
		profiler_take(thread);
		thread->calls.ms = ms;
		profiler_give(thread);
	}
}
