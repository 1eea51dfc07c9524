/* thread.c - the threads of a recording: where each of them writes, and how deep it is inside. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/session.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ARENA = 1 << 16, SLOTS_CHUNK = 1 << 14, PAUSE = 63 };

static struct trace_session *const session = &trace_session;

static __thread struct trace_thread *self __attribute__((tls_model("initial-exec")));
static pthread_key_t key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static bool has_key;

/* Threads that have ended, to be used again, and the pages of those to come. */
static struct trace_thread *unused, *arena, *arena_end;

void trace_drop(struct trace_thread *thread)
{
	if (thread && thread->slot)
		atomic_fetch_add_explicit(&thread->slot->dropped, 1, memory_order_relaxed);
	else
		atomic_fetch_add_explicit(&session->losses.dropped, 1, memory_order_relaxed);
	if (!(thread && thread->slot) && trace_lock())
		trace_unlock(); /* now the header has it, too */
}

/* ---- Slots. Locked. ---- */

static struct image_slot *new_slot(void)
{
	if (session->slots.free_count)
		return session->slots.free[--session->slots.free_count];
	if (session->slots.end - session->slots.at < (ptrdiff_t)sizeof(struct image_slot)) {
		struct image_chunk *chunk = trace_chunk_new(SLOTS_CHUNK);
		if (!chunk)
			return NULL;
		uint64_t owner = trace_next_given() << 32 | IMAGE_SLOTS;
		atomic_store_explicit(&chunk->owner, owner, memory_order_release);
		session->slots.at = (uint8_t *)chunk + IMAGE_CHUNK_HEAD;
		session->slots.end = (uint8_t *)chunk + SLOTS_CHUNK;
		atomic_store_explicit(&chunk->committed, SLOTS_CHUNK - IMAGE_CHUNK_HEAD, memory_order_release);
	}
	struct image_slot *slot = (struct image_slot *)session->slots.at;
	session->slots.at += sizeof *slot;
	return slot;
}

static void take_slot(struct trace_thread *thread)
{
	thread->slot = new_slot();
	if (!thread->slot)
		return;
	atomic_store_explicit(&thread->slot->depth, 0, memory_order_relaxed);
	atomic_store_explicit(&thread->slot->dropped, 0, memory_order_relaxed);
	atomic_store_explicit(&thread->slot->thread, thread->number, memory_order_release);
}

static void leave_slot(struct trace_thread *thread)
{
	struct image_slot *slot = thread->slot;
	if (!slot)
		return;
	uint64_t dropped = atomic_load_explicit(&slot->dropped, memory_order_relaxed);
	if (dropped && trace_put_drops(thread->number, dropped))
		session->losses.gone += dropped;
	else /* the header has room where no chunk has */
		atomic_fetch_add_explicit(&session->losses.dropped, dropped, memory_order_relaxed);
	atomic_store_explicit(&slot->thread, 0, memory_order_release);
	atomic_store_explicit(&slot->dropped, 0, memory_order_relaxed);
	if (session->slots.free_count < sizeof session->slots.free / sizeof *session->slots.free)
		session->slots.free[session->slots.free_count++] = slot;
	thread->slot = NULL;
}

/* ---- Coming and going. ---- */

static void detach(struct trace_thread *thread)
{
	struct trace_thread **at = &session->all;
	while (*at && *at != thread)
		at = &(*at)->next;
	if (*at)
		*at = thread->next;
	for (int i = 0; i < TRACE_NESTED; i++) {
		session->losses.gone_written += atomic_load_explicit(&thread->writers[i].events, memory_order_relaxed);
		trace_chunk_leave(&thread->writers[i]);
	}
	leave_slot(thread);
}

/* Runs when a thread ends. */
static void end_thread(void *ended)
{
	struct trace_thread *thread = ended;
	self = NULL;
	if (!trace_lock())
		return;
	trace_forget_name();
	uint32_t state = atomic_load_explicit(&session->state, memory_order_relaxed);
	state = state ? state : session->ending;
	if (state && atomic_load_explicit(&thread->state, memory_order_relaxed) == state)
		detach(thread);
	memset((void *)thread, 0, sizeof *thread);
	thread->next = unused;
	unused = thread;
	trace_unlock();
}

static void make_key(void)
{
	has_key = pthread_key_create(&key, end_thread) == 0;
}

static struct trace_thread *new_thread(void)
{
	struct trace_thread *thread = unused;
	if (thread) {
		unused = thread->next;
		thread->next = NULL;
		return thread;
	}
	if (arena == arena_end) {
		arena = trace_map(ARENA);
		arena_end = arena ? arena + ARENA / sizeof *arena : NULL;
		if (arena)
			madvise(arena, ARENA, MADV_WIPEONFORK);
	}
	return arena ? arena++ : NULL;
}

/* The calling thread becomes one of the recording. Locked, but for the key. */
static void attach(struct trace_thread *thread, uint32_t state)
{
	char name[17] = "";
	const char *kept = trace_kept_name();
	memset((void *)thread->writers, 0, sizeof thread->writers);
	thread->waiting = 0;
	thread->number = ++session->tables.threads;
	prctl(PR_GET_NAME, name);
	trace_put_thread(thread->number, (uint64_t)getpid(), (uint64_t)syscall(SYS_gettid), kept ? kept : name);
	take_slot(thread);
	thread->next = session->all;
	session->all = thread;
	atomic_store_explicit(&thread->state, state, memory_order_relaxed);
}

/* The calling thread is known from now on, and is one of the recording where there is one. */
static bool join(void)
{
	pthread_once(&key_once, make_key);
	if (!trace_lock())
		return false;
	uint32_t state = atomic_load_explicit(&session->state, memory_order_relaxed);
	bool is_new = !self;
	struct trace_thread *thread = is_new ? new_thread() : self;
	/* a signal handler may have done so since it was looked at */
	if (thread && state && atomic_load_explicit(&thread->state, memory_order_relaxed) != state)
		attach(thread, state);
	self = thread;
	trace_unlock();
	if (is_new && thread && has_key)
		pthread_setspecific(key, thread);
	return thread && state;
}

/* ---- Writing. ---- */

static struct trace_thread *enter_slow(struct trace_writer **writer)
{
	trace_look_around();
	if (!atomic_load_explicit(&session->state, memory_order_acquire))
		return NULL;
	if (self && atomic_load_explicit(&self->busy, memory_order_relaxed)) /* deeper than there are writers */
		trace_drop(self);
	else if (join())
		return trace_enter(writer);
	else
		trace_drop(NULL);
	return NULL;
}

struct trace_thread *trace_enter(struct trace_writer **writer)
{
	struct trace_thread *thread = self;
	if (__builtin_expect(!thread, 0))
		return enter_slow(writer);
	uint32_t depth = atomic_load_explicit(&thread->busy, memory_order_relaxed);
	if (__builtin_expect(depth >= TRACE_NESTED, 0))
		return enter_slow(writer);
	atomic_store_explicit(&thread->busy, depth + 1, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst); /* who stops makes it a barrier: trace_barrier() */
	uint32_t state = atomic_load_explicit(&session->state, memory_order_relaxed);
	if (__builtin_expect(atomic_load_explicit(&thread->state, memory_order_relaxed) != state || !state, 0)) {
		trace_leave(thread);
		return enter_slow(writer);
	}
	*writer = &thread->writers[depth];
	return thread;
}

static bool is_own(const struct trace_writer *writer)
{
	return writer->chunk && atomic_load_explicit(&writer->chunk->owner, memory_order_relaxed) == writer->owner;
}

/* Locked: whether a thread is in the recording that goes on. It may have waited for the lock until there is another. */
static bool is_in(const struct trace_thread *thread)
{
	return atomic_load_explicit(&thread->state, memory_order_relaxed) ==
	       atomic_load_explicit(&session->state, memory_order_relaxed);
}

bool trace_room_slow(struct trace_thread *thread, struct trace_writer *writer, uint64_t bytes)
{
	bool found = false;
	if (thread->waiting) {
		thread->waiting--;
	} else if (trace_lock()) {
		found = is_in(thread) && ((is_own(writer) && (uint64_t)(writer->end - writer->at) >= bytes) ||
		                          trace_chunk_take(thread, writer, bytes));
		thread->waiting = found ? 0 : PAUSE; /* asking each time is dear where nothing is left */
		trace_unlock();
	}
	if (found && writer->fresh)
		trace_make_pages(writer);
	if (!found)
		trace_drop(thread);
	return found;
}

void trace_name_thread(const char *name)
{
	struct trace_writer *writer;
	struct trace_thread *thread = NULL;
	trace_look_around();
	if (!self) /* whose end would not be seen */
		join();
	if (atomic_load_explicit(&session->state, memory_order_acquire))
		thread = trace_enter(&writer);
	bool kept = trace_lock();
	if (kept) {
		kept = self && trace_keep_name(name);
		if (thread && is_in(thread))
			trace_put_thread_name(thread->number, trace_text(name));
		trace_unlock();
	}
	if (!kept)
		trace_drop(thread);
	if (thread)
		trace_leave(thread);
}

/* ---- For the recording. ---- */

bool trace_threads_idle(void)
{
	for (struct trace_thread *thread = session->all; thread; thread = thread->next)
		if (atomic_load_explicit(&thread->busy, memory_order_acquire))
			return false;
	return true;
}

void trace_threads_forget(void)
{
	session->all = NULL;
}

/* Their pages are zero, and only the thread that has forked is left. */
void trace_threads_forked(void)
{
	self = NULL;
	session->all = unused = arena = arena_end = NULL;
	if (has_key)
		pthread_setspecific(key, NULL);
}
