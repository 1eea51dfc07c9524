/* test_mono_samples.c - the ring of a thread that a signal handler writes: it is full, its end is passed, it is read
 * while it is written. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "monoprofiler/samples.c" /* NOLINT(bugprone-suspicious-include): what is inside is looked at */

#include "suite.h"

/* ---- What is around it. ---- */

struct mono mono;
static struct lines_header header;
static const uint8_t own_process = 1;
struct profiler profiler = {.options.method = PROFILER_SAMPLING, .lines = {.header = &header, .own = &own_process}};
static _Thread_local uint64_t own_id;
static struct profiler_thread threads[3];

uint64_t mono_thread(void)
{
	return own_id;
}

void mono_write_generations(void)
{
}

struct mono_method *mono_write_frame(struct mono_method *method, void *start)
{
	return method;
}

struct profiler_thread *profiler_thread_find(uint64_t id)
{
	return &threads[id];
}

void profiler_wait_for(struct profiler_thread *thread)
{
	while (!profiler_try(thread))
		sched_yield();
}

bool profiler_make_room(struct profiler_stack *stack, size_t depth)
{
	struct profiler_frame *frames = realloc(stack->frames, (depth + 1) * sizeof *frames);
	stack->frames = frames ? frames : stack->frames;
	return frames != NULL;
}

/* A sample has a number, which is its time; frame i, from the innermost, is at that number and i. */
static _Thread_local uint64_t number, frames_now;

uint64_t profiler_ms(void)
{
	return number;
}

static void walk_frames(mono_take_frame *take, void *registers, void *context)
{
	for (uint64_t i = 0; i < frames_now; i++)
		if (take((struct mono_method *)(uintptr_t)(number + 1), NULL, (void *)(uintptr_t)(number << 20), (int)i,
		         context))
			return;
}

/* What has been told: of whole samples alone. */
static struct seen {
	uint64_t samples, ticks, frames, last_ms, wrong;
} seen[3];

void profiler_write_stack(struct profiler_thread *thread, struct profiler_stack *now, uint32_t ticks, uint64_t ms)
{
	struct seen *of = &seen[thread - threads];
	of->wrong += of->samples && ms <= of->last_ms;
	for (uint64_t i = 0; i < now->depth; i++) {
		const struct profiler_frame *frame = &now->frames[now->depth - 1 - i];
		of->wrong += frame->function != ms + 1 || frame->ip != (ms << 20) + i;
	}
	of->samples++;
	of->ticks += ticks;
	of->frames += now->depth;
	of->last_ms = ms;
}

static void begin(uint64_t id)
{
	own_id = id;
	number = 0;
	seen[id] = (struct seen){0};
	threads[id].id = id;
	mono.stack_walk_async_safe = walk_frames;
	mono_sampled_begin();
	assert_non_null(own_ring);
}

static void take_sample(uint64_t frames)
{
	number++;
	frames_now = frames;
	mono_sampled(NULL, NULL, NULL);
}

static void expect_seen(uint64_t id, uint64_t samples, uint64_t ticks, uint64_t frames)
{
	assert_int_equal(seen[id].samples, samples);
	assert_int_equal(seen[id].ticks, ticks);
	assert_int_equal(seen[id].frames, frames);
	assert_int_equal(seen[id].wrong, 0);
}

/* ---- Tests. A record is 3 words and 3 of each frame; there are 65,536. ---- */

static void a_full_ring_counts_ticks(void **state)
{
	begin(1);
	for (unsigned i = 0; i < 10; i++)
		take_sample(3000); /* 9,003 words: 7 have room, 63,021 */
	take_sample(837);          /* 2,514 of the 2,515 words that are left */
	take_sample(1);            /* 6 of 1 */
	mono_write_samples();
	expect_seen(1, 8, 7 + 4, 7 * 3000 + 837);
	take_sample(1);
	mono_write_samples();
	expect_seen(1, 9, 13, 7 * 3000 + 837 + 1);
	take_sample(21845); /* 3 + 65,535 words */
	take_sample(21844); /* 65,535 */
	mono_write_samples();
	expect_seen(1, 10, 15, 7 * 3000 + 837 + 1 + 21844);
	mono_sampled_end();
}

static void the_end_is_passed(void **state)
{
	enum { ROUNDS = 2000 };
	uint64_t frames = 0;
	begin(1);
	for (uint64_t i = 0; i < ROUNDS; i++) {
		take_sample(i % 97);
		take_sample(i % 1009);
		frames += i % 97 + i % 1009;
		profiler_sample();
	}
	assert_true(own_ring->put > 2 * WORDS);
	/* those without frames: i of 0, 97, ... 1940, and of 0, 1009 */
	const uint64_t expected = 2 * ROUNDS - 21 - 2;
	expect_seen(1, expected, expected, frames);
	mono_sampled_end();
}

static void a_ring_is_used_again(void **state)
{
	begin(1);
	struct sample_ring *ring = own_ring;
	take_sample(5);
	mono_sampled_end(); /* it writes what is there */
	expect_seen(1, 1, 1, 5);
	assert_null(own_ring);
	take_sample(5); /* nobody's */
	begin(2);
	assert_ptr_equal(own_ring, ring);
	profiler.paused = true;
	take_sample(5);
	profiler.paused = false;
	take_sample(7);
	mono_write_samples();
	expect_seen(2, 1, 1, 7);
	mono_sampled_end();
}

enum { MANY = 30000 };

static _Atomic bool written, all_read;

static void *write_many(void *context)
{
	begin(2);
	for (uint64_t i = 0; i < MANY; i++)
		take_sample(1 + i * 7919 % 300);
	written = true;
	while (!all_read)
		sched_yield();
	take_sample(1); /* it has room: what was lost is told */
	mono_sampled_end();
	return context;
}

/* Whole samples, in their order, and all ticks. */
static void it_is_read_while_it_is_written(void **state)
{
	pthread_t writer;
	assert_int_equal(pthread_create(&writer, NULL, write_many, NULL), 0);
	while (!written)
		profiler_sample();
	profiler_sample();
	all_read = true;
	assert_int_equal(pthread_join(writer, NULL), 0);
	assert_int_equal(seen[2].ticks, MANY + 1);
	assert_int_equal(seen[2].wrong, 0);
	assert_true(seen[2].samples > 1);
}

SUITE(mono_samples)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_full_ring_counts_ticks),
	    cmocka_unit_test(the_end_is_passed),
	    cmocka_unit_test(a_ring_is_used_again),
	    cmocka_unit_test(it_is_read_while_it_is_written),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
