/* threads.c - the runtime's threads. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "coreprofiler/profiler.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Atomic(struct profiler_thread *) first;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of who becomes whose */
static uint32_t next_iid;
_Thread_local struct profiler_own profiler_own;

struct profiler_thread *profiler_threads(void)
{
	return atomic_load_explicit(&first, memory_order_acquire);
}

void profiler_wait_for(struct profiler_thread *thread)
{
	while (!profiler_try(thread))
		sched_yield();
}

bool profiler_take_soon(struct profiler_thread *thread)
{
	enum { TRIES = 200, PAUSE_NS = 1000000 };
	for (unsigned i = 0; i < TRIES; i++) {
		if (profiler_try(thread))
			return true;
		nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
	}
	return false;
}

uint32_t profiler_system_thread(void)
{
	if (!profiler_own.system)
		profiler_own.system = (uint32_t)syscall(SYS_gettid);
	return profiler_own.system;
}

struct profiler_thread *profiler_thread_find(uint64_t id)
{
	struct profiler_thread *thread = profiler_threads();
	while (thread && atomic_load_explicit(&thread->id, memory_order_acquire) != id)
		thread = thread->next;
	return thread;
}

static struct profiler_thread *make(void)
{
	struct profiler_thread *thread = profiler_thread_find(0);
	if (thread)
		return thread;
	thread = calloc(1, sizeof *thread);
	if (!thread)
		return NULL;
	thread->next = profiler_threads();
	atomic_store_explicit(&first, thread, memory_order_release);
	return thread;
}

static void write_thread(const struct profiler_thread *thread, uint64_t id)
{
	struct text line;
	text_begin(&line, "thr crt ");
	text_pointer(&line, id);
	text_char(&line, ' ');
	text_id(&line, thread->iid);
	profiler_send(&line);
}

/* The thread of an id, made if there is none; NULL: no memory. */
static struct profiler_thread *thread_of(uint64_t id)
{
	pthread_mutex_lock(&mutex);
	struct profiler_thread *thread = profiler_thread_find(id), *made = NULL;
	if (!thread)
		thread = made = make();
	if (made) {
		made->iid = next_iid++;
		made->logged.depth = made->cpu_us = 0;
		made->has_old_places = true;
		made->stands = false;
		made->ms = 0;
		made->calls.depth = made->calls.logged = made->calls.lowest = 0;
		made->calls.beat = atomic_load_explicit(&profiler.beats, memory_order_relaxed) - 1;
		atomic_store_explicit(&made->system, 0, memory_order_relaxed);
		write_thread(made, id);
		atomic_store_explicit(&made->id, id, memory_order_release);
	}
	pthread_mutex_unlock(&mutex);
	return thread;
}

static void assign(struct profiler_thread *thread, uint32_t system)
{
	if (atomic_exchange_explicit(&thread->system, system, memory_order_relaxed) == system)
		return;
	struct text line;
	text_begin(&line, "thr aos ");
	text_id(&line, thread->iid);
	text_char(&line, ' ');
	text_decimal(&line, system);
	profiler_send(&line);
}

struct profiler_thread *profiler_find_own_thread(void)
{
	const uint32_t system = profiler_system_thread();
	uint64_t id = 0;
	if (COM_CALL(profiler.info, current_thread, &id) < 0 || !id)
		return NULL;
	struct profiler_thread *own = profiler_own.thread = thread_of(id);
	if (own)
		assign(own, system);
	return own;
}

void profiler_thread_created(uint64_t id)
{
	thread_of(id);
}

void profiler_thread_assigned(uint64_t id, uint32_t system)
{
	struct profiler_thread *thread = thread_of(id);
	if (thread && system)
		assign(thread, system);
}

/* Takes the thread first: lines of others about it stand before its end. */
void profiler_thread_destroyed(uint64_t id)
{
	struct profiler_thread *thread = profiler_thread_find(id);
	if (!thread)
		return;
	profiler_take(thread);
	pthread_mutex_lock(&mutex);
	if (thread->id == id) {
		struct text line;
		text_begin(&line, "thr dst ");
		text_id(&line, thread->iid);
		profiler_send(&line);
		atomic_store_explicit(&thread->id, 0, memory_order_release);
	}
	pthread_mutex_unlock(&mutex);
	profiler_give(thread);
}

void profiler_add_thread(struct text *line)
{
	if (!profiler.options.old) {
		text_decimal(line, profiler_system_thread());
		return;
	}
	const struct profiler_thread *thread = profiler_own_thread();
	text_id(line, thread ? thread->iid : TEXT_NO_ID);
}
