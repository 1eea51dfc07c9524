/* samples.c - the stacks of all threads, while the runtime is suspended. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "coreprofiler/profiler.h"

void profiler_sample(void)
{
	if (profiler.options.method != PROFILER_SAMPLING || COM_DO(profiler.info, suspend) < 0)
		return; /* the runtime is not there yet, or no longer */
	for (struct profiler_thread *thread = profiler_threads(); thread; thread = thread->next) {
		const uint64_t id = atomic_load_explicit(&thread->id, memory_order_acquire);
		if (!id || !profiler_try(thread))
			continue;
		profiler_tell_allocated(thread);
		if (profiler_walk(&thread->now, id))
			profiler_tell_stack(thread, &thread->now, 1, profiler_ms());
		profiler_give(thread);
	}
	COM_DO(profiler.info, resume);
	profiler_tell_seen();
}
