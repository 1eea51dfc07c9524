/* samples.c - stacks that threads put down in a signal handler, and who writes them. A handler takes no lock and no
 * memory: it has a ring of its thread. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "monoprofiler/parts.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>

/* A record is its head and its frames. The thread puts it in, another one takes it out. */
struct sample_head {
	uint64_t frames, ticks, ms;
};
struct raw_frame {
	struct mono_method *method; /* NULL: Mono did not know it there */
	uint8_t *start;
	uint64_t offset;
};
enum {
	WORDS = 1 << 16,
	OF_HEAD = sizeof(struct sample_head) / sizeof(uint64_t),
	OF_FRAME = sizeof(struct raw_frame) / sizeof(uint64_t)
};
struct sample_ring {
	struct sample_ring *next;
	_Atomic uint64_t thread; /* 0: it is nobody's */
	_Atomic uint64_t put, taken;
	_Atomic bool busy; /* somebody takes out */
	uint64_t lost;     /* ticks since the last record, which had no room */
	uint64_t words[WORDS];
};
static _Atomic(struct sample_ring *) first;
static _Thread_local struct sample_ring *own_ring __attribute__((tls_model("initial-exec")));

/* ---- In the handler. ---- */

struct sample_walk {
	struct sample_ring *ring;
	uint64_t at, end; /* end: of the room */
	uint64_t frames;
	bool full;
};

static void put_word(struct sample_walk *walk, uint64_t word)
{
	walk->ring->words[walk->at++ % WORDS] = word;
}

static int take_frame(struct mono_method *method, struct mono_domain *domain, void *start, int offset, void *context)
{
	struct sample_walk *walk = context;
	walk->full = walk->end - walk->at < OF_FRAME;
	if (walk->full)
		return 1;
	put_word(walk, (uintptr_t)method);
	put_word(walk, (uintptr_t)start);
	put_word(walk, (uint64_t)offset);
	walk->frames++;
	return 0;
}

/* A thread that runs no managed code, as that of finalizers while it waits, has no samples. */
void mono_sampled(void *own, const void *ip, const void *registers)
{
	struct sample_ring *ring = own_ring;
	if (!ring || profiler.paused || profiler_is_off())
		return;
	const uint64_t begin = atomic_load_explicit(&ring->put, memory_order_relaxed),
		       end = atomic_load_explicit(&ring->taken, memory_order_acquire) + WORDS;
	struct sample_walk walk = {ring, begin + OF_HEAD, end, 0, end - begin < OF_HEAD};
	if (!walk.full)
		mono.stack_walk_async_safe(take_frame, (void *)(uintptr_t)registers, &walk);
	if (!walk.full && walk.frames == 0)
		return;
	ring->lost++;
	if (walk.full)
		return;
	struct sample_walk head = {ring, begin, end, 0, false};
	put_word(&head, walk.frames);
	put_word(&head, ring->lost);
	put_word(&head, profiler_ms());
	ring->lost = 0;
	atomic_store_explicit(&ring->put, walk.at, memory_order_release);
}

/* ---- Taking out. ---- */

/* A copy: what it tells of is looked up without the ring. */
struct copied_sample {
	struct sample_head head;
	struct raw_frame *frames;
	size_t room;
};

static void copy(const struct sample_ring *ring, uint64_t at, uint64_t *words, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		words[i] = ring->words[(at + i) % WORDS];
}

static bool take_record(struct sample_ring *ring, struct copied_sample *sample)
{
	const uint64_t at = atomic_load_explicit(&ring->taken, memory_order_relaxed);
	if (at == atomic_load_explicit(&ring->put, memory_order_acquire))
		return false;
	copy(ring, at, (uint64_t *)&sample->head, OF_HEAD);
	if (sample->head.frames > sample->room) {
		struct raw_frame *more = realloc(sample->frames, 2 * sample->head.frames * sizeof *more);
		sample->frames = more ? more : sample->frames;
		sample->room = more ? 2 * sample->head.frames : sample->room;
	}
	const bool fits = sample->head.frames <= sample->room;
	if (fits)
		copy(ring, at + OF_HEAD, (uint64_t *)sample->frames, sample->head.frames * OF_FRAME);
	atomic_store_explicit(&ring->taken, at + OF_HEAD + sample->head.frames * OF_FRAME, memory_order_release);
	sample->head.frames = fits ? sample->head.frames : 0;
	return true;
}

static bool next_record(struct sample_ring *ring, struct copied_sample *sample)
{
	while (atomic_exchange_explicit(&ring->busy, true, memory_order_acquire))
		sched_yield();
	const bool any = take_record(ring, sample);
	atomic_store_explicit(&ring->busy, false, memory_order_release);
	return any;
}

/* ---- Writing. ---- */

static bool put_stack(struct profiler_stack *stack, const struct copied_sample *sample)
{
	const uint64_t depth = sample->head.frames;
	if (!profiler_make_room(stack, depth))
		return false;
	stack->depth = depth;
	for (uint64_t i = 0; i < depth; i++) {
		const struct raw_frame *frame = &sample->frames[depth - 1 - i];
		stack->frames[i] = (struct profiler_frame){.function = (uintptr_t)frame->method,
		                                           .ip = (uintptr_t)frame->start + frame->offset};
	}
	return true;
}

static void write_sample(uint64_t id, struct copied_sample *sample)
{
	struct profiler_thread *thread = profiler_thread_find(id);
	for (uint64_t i = 0; i < sample->head.frames; i++)
		sample->frames[i].method = mono_write_frame(sample->frames[i].method, sample->frames[i].start);
	if (!thread)
		return;
	profiler_take(thread);
	if (thread->id == id && put_stack(&thread->now, sample))
		profiler_write_stack(thread, &thread->now, (uint32_t)sample->head.ticks, sample->head.ms);
	profiler_give(thread);
}

static void drain(struct sample_ring *ring, struct copied_sample *sample)
{
	const uint64_t id = atomic_load_explicit(&ring->thread, memory_order_acquire);
	while (id && next_record(ring, sample))
		write_sample(id, sample);
}

static void drain_all(struct copied_sample *sample)
{
	for (struct sample_ring *ring = atomic_load_explicit(&first, memory_order_acquire); ring; ring = ring->next)
		drain(ring, sample);
}

void mono_write_samples(void)
{
	struct copied_sample sample = {.frames = NULL};
	drain_all(&sample);
	free(sample.frames);
}

void profiler_sample(void)
{
	static struct copied_sample sample; /* of one thread */
	mono_write_generations();
	drain_all(&sample);
}

/* ---- Rings. ---- */

static struct sample_ring *free_ring(uint64_t thread)
{
	struct sample_ring *ring = atomic_load_explicit(&first, memory_order_acquire);
	uint64_t nobody = 0;
	while (ring && !atomic_compare_exchange_strong(&ring->thread, &nobody, thread)) {
		nobody = 0;
		ring = ring->next;
	}
	return ring;
}

static struct sample_ring *new_ring(uint64_t thread)
{
	struct sample_ring *ring = mmap(NULL, sizeof *ring, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ring == MAP_FAILED)
		return NULL;
	ring->thread = thread;
	ring->next = atomic_load_explicit(&first, memory_order_relaxed);
	while (!atomic_compare_exchange_weak(&first, &ring->next, ring))
		;
	return ring;
}

void mono_sampled_begin(void)
{
	const uint64_t thread = mono_thread();
	if (own_ring || profiler.off || profiler.options.method != PROFILER_SAMPLING)
		return;
	struct sample_ring *ring = free_ring(thread);
	own_ring = ring ? ring : new_ring(thread);
}

void mono_sampled_end(void)
{
	struct sample_ring *ring = own_ring;
	struct copied_sample sample = {.frames = NULL};
	own_ring = NULL; /* first: the handler */
	if (!ring)
		return;
	drain(ring, &sample);
	free(sample.frames);
	atomic_store_explicit(&ring->thread, 0, memory_order_release);
}
