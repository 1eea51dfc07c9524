/* allocations.c - what threads allocate. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "coreprofiler/profiler.h"

#include <string.h>

static bool is_told(const struct profiler_thread *thread)
{
	const struct profiler_stack *told = &thread->told, *now = &thread->now;
	return told->depth == now->depth &&
	       (now->depth == 0 || memcmp(told->frames, now->frames, now->depth * sizeof *now->frames) == 0);
}

/* In the thread that allocates. */
void profiler_allocated(uint64_t object, uint64_t class_id)
{
	struct profiler_thread *thread = profiler.paused ? NULL : profiler_own_thread();
	uint64_t size = 0;
	if (!thread || COM_CALL(profiler.info, object_size, object, &size) < 0)
		return;
	const bool hooked = profiler.options.method == PROFILER_INSTRUMENTATION;
	const bool walked = !hooked && profiler.options.stacks && profiler_walk(thread, 0);
	if (hooked)
		profiler_tell_calls(thread);
	if (thread->allocated.count && (thread->allocated.id != class_id || (walked && !is_told(thread))))
		profiler_tell_allocated(thread);
	profiler_tell_class(class_id, false, 0);
	if (walked)
		profiler_tell_stack(thread, 0);
	thread->allocated.id = class_id;
	thread->allocated.ip = walked && thread->now.depth ? thread->now.frames[thread->now.depth - 1].ip : 0;
	thread->allocated.count++;
	thread->allocated.bytes += size;
}
