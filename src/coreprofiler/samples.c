/* samples.c - the stacks of all threads, while the runtime is suspended. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "coreprofiler/profiler.h"

#include <stdlib.h>
#include <string.h>

/* What was found then, and is written when the runtime goes on: functions are logged before. */
static struct thread_sample {
	struct profiler_thread *thread;
	uint64_t id, ms;
	struct profiler_stack stack;
} * sampled;
static size_t count, room;

static struct thread_sample *next_sampled(void)
{
	enum { LEAST = 16 };
	if (count == room) {
		const size_t more_room = room ? 2 * room : LEAST;
		struct thread_sample *more = realloc(sampled, more_room * sizeof *more);
		if (!more)
			return NULL;
		memset(more + room, 0, (more_room - room) * sizeof *more);
		sampled = more;
		room = more_room;
	}
	return &sampled[count];
}

static void take(struct profiler_thread *thread)
{
	const uint64_t id = atomic_load_explicit(&thread->id, memory_order_acquire);
	struct thread_sample *next = id ? next_sampled() : NULL;
	if (!next || !profiler_walk(&next->stack, id))
		return;
	next->thread = thread;
	next->id = id;
	next->ms = profiler_ms();
	count++;
}

static void write_sample(struct thread_sample *sample)
{
	struct profiler_thread *thread = sample->thread;
	profiler_write_frames(&sample->stack);
	if (!profiler_take_soon(thread))
		return;
	if (thread->id == sample->id) {
		profiler_write_allocated(thread);
		profiler_write_stack(thread, &sample->stack, 1, sample->ms);
	}
	profiler_give(thread);
}

void profiler_sample(void)
{
	if (profiler.options.method != PROFILER_SAMPLING || COM_DO(profiler.info, suspend) < 0)
		return; /* the runtime is not there yet, or no longer */
	count = 0;
	for (struct profiler_thread *thread = profiler_threads(); thread; thread = thread->next)
		take(thread);
	COM_DO(profiler.info, resume);
	for (size_t i = 0; i < count; i++)
		write_sample(&sampled[i]);
	profiler_write_seen();
}
