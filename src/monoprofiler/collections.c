/* collections.c - collections: while one goes on all other threads are stopped, whatever they have locked. So it is
 * kept, and written when they go on. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "monoprofiler/parts.h"

/* What happened, in a ring: whoever collects, which is one at a time, puts it in; whoever comes out of a collection
 * takes it out. */
struct happened {
	uint64_t ms;
	uint32_t thread, generation;
	bool ends;
};
enum { MOST = 64 };
static struct happened ring[MOST];
static _Atomic uint32_t put, taken;
static pthread_mutex_t taking = PTHREAD_MUTEX_INITIALIZER;

static bool collected;             /* the world stands, and something was collected */
static _Atomic bool over;          /* the program has ended */
static bool logged;                /* the last beginning */
static _Atomic uint64_t walked_ms; /* when what lives was walked, which is not written yet; 0: it was not */
static _Atomic bool ended;         /* there was a collection, and nobody has asked what is left */
static _Thread_local uint32_t collector;

static void keep(bool ends, uint32_t generation)
{
	const uint32_t at = atomic_load_explicit(&put, memory_order_relaxed);
	if (profiler.paused || at - atomic_load_explicit(&taken, memory_order_acquire) == MOST)
		return;
	ring[at % MOST] = (struct happened){profiler_ms(), collector, generation, ends};
	atomic_store_explicit(&put, at + 1, memory_order_release);
}

/* ---- Writing. ---- */

static void write_collection(const struct happened *happened)
{
	struct text line;
	text_begin(&line, happened->ends ? "gch gcf " : "gch gcs ");
	if (profiler.options.old)
		text_id(&line, happened->thread);
	else
		text_decimal(&line, happened->thread);
	text_char(&line, ' ');
	text_decimal(&line, happened->ms);
	if (!happened->ends)
		text_string(&line, happened->generation ? " ? ttft" : " ? tfff");
	profiler_send(&line);
}

/* Writes what lived at the last walk of the heap, if that was before a time. */
static void write_heap_until(uint64_t ms)
{
	const uint64_t walked = atomic_load_explicit(&walked_ms, memory_order_acquire);
	if (!walked || walked - 1 >= ms)
		return;
	profiler_write_heap(walked - 1);
	atomic_store_explicit(&walked_ms, 0, memory_order_release);
}

static void write_those(void)
{
	bool any = false;
	for (uint32_t at = taken; at != atomic_load_explicit(&put, memory_order_acquire); at++) {
		write_heap_until(ring[at % MOST].ms);
		write_collection(&ring[at % MOST]);
		any |= ring[at % MOST].ends;
		atomic_store_explicit(&taken, at + 1, memory_order_release);
	}
	write_heap_until(UINT64_MAX);
	if (any)
		atomic_store_explicit(&ended, true, memory_order_release);
}

static bool is_any(void)
{
	return atomic_load_explicit(&put, memory_order_acquire) != atomic_load_explicit(&taken, memory_order_acquire) ||
	       atomic_load_explicit(&walked_ms, memory_order_acquire);
}

/* Nobody waits for another: who waits is stopped by no collection, and so the next one would not begin. */
static void write_all(void)
{
	while (is_any() && pthread_mutex_trylock(&taking) == 0) {
		write_those();
		pthread_mutex_unlock(&taking);
	}
}

/* Whoever has collected still has a lock that Mono takes for the answer: another thread asks. Mono may collect until it
 * answers, and what it tells of that stands before: no line may come between the look at the clock and the one here. */
void mono_write_generations(void)
{
	struct profiler_generations left;
	if (profiler.options.old || !atomic_exchange_explicit(&ended, false, memory_order_acquire) ||
	    !profiler_look_at_generations(&left))
		return;
	if (pthread_mutex_trylock(&taking) != 0) {
		atomic_store_explicit(&ended, true, memory_order_release);
		return;
	}
	profiler_write_generations(&left, profiler_ms());
	pthread_mutex_unlock(&taking);
	write_all();
}

/* ---- What lives. ---- */

/* Large ones come in pieces, of which the first has the size. */
static int add(struct mono_object *object, struct mono_class *class_of, uintptr_t size, uintptr_t count,
               struct mono_object **references, uintptr_t *offsets, void *context)
{
	if (size)
		profiler_heap_add((uintptr_t)class_of, size);
	return 0;
}

static void walk(void)
{
	if (!collected || !profiler.options.live_heap || profiler.paused ||
	    atomic_load_explicit(&walked_ms, memory_order_acquire))
		return;
	mono.gc_walk_heap(0, add, NULL);
	atomic_store_explicit(&walked_ms, profiler_ms() + 1, memory_order_release);
}

/* ---- What Mono tells. ---- */

/* Mono collects once more: nobody is there any longer who asks what is left. */
void mono_collections_end(void)
{
	over = true;
}

/* Before the world stands: what needs locks. */
static void prepare(void)
{
	const struct profiler_thread *thread = profiler_own_thread();
	collector = !profiler.options.old ? profiler_system_thread() : thread ? thread->iid : TEXT_NO_ID;
	if (!profiler.paused)
		profiler_write_all_allocated(false);
}

void mono_gc_happens(void *own, int event, uint32_t generation, int serial)
{
	if (profiler_is_off())
		return;
	switch (event) {
	case MONO_GC_STOPS_WORLD:
		prepare();
		break;
	case MONO_GC_START:
		logged = !over;
		if (logged)
			keep(false, generation);
		break;
	case MONO_GC_END:
		if (logged)
			keep(true, generation);
		collected = logged;
		break;
	case MONO_GC_STARTS_WORLD:
		walk();
		collected = false;
		break;
	case MONO_GC_UNLOCKED:
		write_all();
		break;
	default:
		break;
	}
}
