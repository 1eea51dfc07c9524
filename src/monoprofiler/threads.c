/* threads.c - Mono's threads: they are known by their pthread_t. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "monoprofiler/parts.h"

static _Thread_local bool gone; /* what it does after its end is nobody's */

uint64_t mono_thread(void)
{
	return gone ? 0 : (uint64_t)pthread_self();
}

void mono_thread_started(void *own, uintptr_t id)
{
	if (id != (uintptr_t)pthread_self())
		return;
	gone = false;
	mono_sampled_begin();
	profiler_own_thread();
}

void mono_thread_stopped(void *own, uintptr_t id)
{
	struct profiler_thread *thread = id == (uintptr_t)pthread_self() ? profiler_thread_find(id) : NULL;
	mono_sampled_end();
	if (thread) {
		profiler_take(thread);
		profiler_tell_calls(thread);
		profiler_tell_allocated(thread);
		profiler_give(thread);
		profiler_thread_destroyed(id);
	}
	gone = true;
}
