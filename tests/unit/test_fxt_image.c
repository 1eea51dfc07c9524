/* test_fxt_image.c - images: ticks of any clock become CLOCK_MONOTONIC, within a microsecond; of each thread there is
 * what doc/recording.md says, "Reading what is written". */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes/bytes.h"
#include "image/image.h"

#include "suite.h"

enum { SECOND = 1000000000, MICROSECOND = 1000 };

/* A clock of 2.3 GHz that wanders: ticks at a time in ns. Its speed changes by some 20 millionths over an hour, as that of
 * CLOCK_MONOTONIC does under NTP. */
static uint64_t wandering(uint64_t ns)
{
	double seconds = (double)ns / SECOND, hours = seconds / 3600;
	double drift = hours - (double)(uint64_t)hours; /* a saw, from hour to hour */
	uint64_t base = (uint64_t)hours * 3600 * 2300000000u;
	double within = (seconds - (double)((uint64_t)hours * 3600)) * 2300000000.0;
	return base + (uint64_t)(within * (1 + 20e-6 * (drift - 1)));
}

/* Measured with an error of up to 200 ns, as a thread that waits between two clocks makes. */
static uint64_t noise(uint64_t i)
{
	return i * 2654435761u % 401;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* 24 hours, a pair each 10 s: as chunks that are handed out make them. */
static void a_day(void **state)
{
	enum { DAY = 86400, APART = 10 };
	const uint64_t start = 5000 * (uint64_t)SECOND;
	struct trace_image_times times = {.ticks_per_second = 2290000000};
	(void)state;
	for (uint64_t s = 0; s <= DAY; s += APART) {
		uint64_t ns = s * SECOND;
		const struct image_pair pair = {wandering(ns), start + ns + noise(s) - 200};
		assert_true(trace_image_times_add(&times, pair));
	}
	trace_image_times_fit(&times);
	for (uint64_t s = 1; s < DAY; s += 7) {
		uint64_t ns = s * SECOND + 123456789;
		assert_true(distance(trace_image_time(&times, wandering(ns)), start + ns) < MICROSECOND);
	}
	free(times.pairs);
}

/* Ticks go forward, and so do times, whatever the pairs say. */
static void never_back(void **state)
{
	struct trace_image_times times = {.ticks_per_second = SECOND};
	const struct image_pair pairs[] = {{5000000, 9000000}, {1000000, 5000000},  {6000000, 8000000},
	                                   {1000001, 5000001}, {9000000, 20000000}, {9000000, 1}};
	(void)state;
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		assert_true(trace_image_times_add(&times, pairs[i]));
	trace_image_times_fit(&times);
	for (uint64_t ticks = 0, last = 0; ticks < 12000000; ticks += 1000) {
		uint64_t ns = trace_image_time(&times, ticks);
		assert_true(ns >= last);
		last = ns;
	}
	assert_int_equal(trace_image_time(&times, 1000000), 5000000);
	assert_int_equal(trace_image_time(&times, 3000000), 7000000);
	free(times.pairs);
}

/* One pair, and the speed that was measured at the start; ends of what 64 bits hold. */
static void few_pairs(void **state)
{
	struct trace_image_times times = {.ticks_per_second = 2 * (uint64_t)SECOND};
	(void)state;
	assert_int_equal(trace_image_time(&times, 77), 77);
	assert_true(trace_image_times_add(&times, (struct image_pair){1000, 50000}));
	trace_image_times_fit(&times);
	assert_int_equal(trace_image_time(&times, 3000), 51000);
	assert_int_equal(trace_image_time(&times, 0), 49500);
	assert_true(trace_image_time(&times, UINT64_MAX) > UINT64_MAX / 4);
	times.pairs[0] = (struct image_pair){UINT64_MAX, 10};
	assert_int_equal(trace_image_time(&times, 0), 0);
	times.pairs[0] = (struct image_pair){0, UINT64_MAX - 1};
	assert_int_equal(trace_image_time(&times, 1000), UINT64_MAX);
	times.plain = true;
	assert_int_equal(trace_image_time(&times, 1000), 1000);
	free(times.pairs);
}

/* ---- Which chunks are taken: images by doc/recording.md, in words. ---- */

enum { PAGE = 4096, CHUNKS = 12, INSTANT = 0, OWNER = 16, STREAMING = 0, CIRCULAR = 2, COMPLETE = 2 };

/* What a writer has in a chunk: an owner, and an event at a time. */
struct holding {
	uint32_t thread, which;
	uint64_t number, given, time;
};

struct memory {
	uint8_t bytes[(1 + CHUNKS) * PAGE];
	size_t chunks;
};

static uint8_t *put(uint8_t *to, uint64_t word)
{
	tw_store64(to, word, false);
	return to + sizeof word;
}

static uint64_t first_word(uint64_t kind, uint64_t words, uint64_t number)
{
	return kind | words << 8 | number << 32;
}

/* A chunk of up to two holdings; the last one's is the chunk. */
static void add_chunk(struct memory *memory, const struct holding *holdings, size_t count)
{
	uint8_t *chunk = memory->bytes + (size_t)PAGE * (1 + memory->chunks++), *at = chunk + 64;
	for (size_t i = 0; i < count; i++) {
		const struct holding *one = &holdings[i];
		at = put(at, first_word(OWNER, 3, one->thread));
		at = put(at, one->number | (uint64_t)one->which << 56);
		at = put(at, one->given);
		at = put(at, first_word(INSTANT, 3, 1));
		at = put(at, one->time);
		at = put(at, 0);
	}
	memcpy(chunk, "TWCHUNK\n", 8);
	tw_store64(chunk + 8, PAGE, false);
	tw_store64(chunk + 16, holdings[count - 1].given << 32 | holdings[count - 1].thread, false);
	tw_store64(chunk + 24, (uint64_t)(at - chunk) - 64, false);
}

static void set_header(struct memory *memory, uint64_t mode, uint64_t state, uint64_t given)
{
	memcpy(memory->bytes, "TWIMAGE\n", 8);
	tw_store64(memory->bytes + 8, 1 | mode << 32, false);
	tw_store64(memory->bytes + 168, state, false);
	tw_store64(memory->bytes + 176, memory->chunks * PAGE, false);
	tw_store64(memory->bytes + 240, given, false);
}

/* The times of all events of the archive that an image makes, one behind the other. overwritten: bytes. */
static void read_times(const struct memory *memory, char text[static 200], uint64_t *overwritten)
{
	struct tw_input *input;
	struct trace_image image;
	size_t used = 0;
	assert_int_equal(tw_input_memory(&input, "image", memory->bytes, sizeof memory->bytes), 0);
	assert_int_equal(trace_image_load(&image, input, NULL), 0);
	FILE *file = tmpfile();
	struct tw_output out;
	struct trace_image *const images[] = {&image};
	assert_int_equal(tw_output_fd(&out, dup(fileno(file))), 0);
	assert_int_equal(trace_images_write(images, 1, &out, 1 << 20), 0);
	assert_int_equal(tw_output_close(&out), 0);
	*overwritten = image.header.now.overwritten;
	rewind(file);
	*text = 0;
	/* FXT, "Event Record": type 4 in bits 0-3, size in bits 4-15, then the time. */
	for (uint8_t words[2 * 8]; fread(words, 8, 1, file) == 1;) {
		uint64_t head = tw_load64(words, false), size = tw_bits(head, 4, 15);
		if (tw_bits(head, 0, 3) == 4 && fread(words + 8, 8, 1, file) == 1 && size--)
			used += (size_t)snprintf(text + used, 200 - used, " %d", (int)tw_load64(words + 8, false));
		fseek(file, (long)(size - 1) * 8, SEEK_CUR);
	}
	fclose(file);
	trace_image_free(&image);
	tw_input_close(input);
}

/* Thread 1 has chunks 1 to 4 and 6 to 8: 5 was taken for 9 before it was copied. Thread 2 has ended in the chunk that
 * thread 3 goes on in; what a handler of thread 3 has interrupted is a run of its own. */
static void add_holed(struct memory *memory)
{
	static const struct holding holdings[] = {
	    {1, 0, 6, 26, 60}, {1, 0, 7, 27, 70}, {1, 0, 8, 28, 80},
	    {1, 0, 2, 12, 20}, {1, 0, 3, 13, 30}, {1, 0, 4, 14, 40},
	};
	static const struct holding shared[] = {{2, 0, 3, 20, 35}, {3, 0, 1, 21, 45}};
	static const struct holding beside[] = {{2, 0, 2, 9, 15}, {3, 1, 7, 15, 46}};
	for (size_t i = 0; i < sizeof holdings / sizeof *holdings; i++)
		add_chunk(memory, &holdings[i], 1);
	add_chunk(memory, shared, 2);
	add_chunk(memory, &beside[0], 1);
	add_chunk(memory, &beside[1], 1);
}

static void newest_run(void **state)
{
	static const struct {
		uint64_t mode, state, overwritten;
		const char *times;
	} cases[] = {
	    /* an event is three words of eight bytes */
	    {CIRCULAR, COMPLETE, 3 * 24, " 15 35 45 46 60 70 80"},
	    {CIRCULAR, 1, 3 * 24, " 15 35 45 46 60 70 80"},
	    {STREAMING, COMPLETE, 0, " 15 20 30 35 40 45 46 60 70 80"},
	    {STREAMING, 1, 0, " 15 20 30 35 40 45 46 60 70 80"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct memory *memory = calloc(1, sizeof *memory);
		char times[200];
		uint64_t overwritten;
		assert_non_null(memory);
		add_holed(memory);
		set_header(memory, cases[i].mode, cases[i].state, 28);
		read_times(memory, times, &overwritten);
		assert_string_equal(times, cases[i].times);
		assert_int_equal(overwritten, cases[i].overwritten);
		free(memory);
	}
}

/* A part of a chunk is left out, too: what thread 1 has in the chunk that thread 3 has filled. */
static void part_of_a_chunk(void **state)
{
	static const struct holding shared[] = {{1, 0, 1, 1, 10}, {3, 0, 4, 4, 40}}, last[] = {{1, 0, 3, 6, 60}};
	struct memory *memory = calloc(1, sizeof *memory);
	char times[200];
	uint64_t overwritten;
	(void)state;
	assert_non_null(memory);
	add_chunk(memory, shared, 2);
	add_chunk(memory, last, 1);
	set_header(memory, CIRCULAR, COMPLETE, 6);
	read_times(memory, times, &overwritten);
	assert_string_equal(times, " 40 60");
	assert_int_equal(overwritten, 24);
	free(memory);
}

/* A chunk that is none any more is damage, and not a gap: nothing else goes with it. */
static void damage_is_no_gap(void **state)
{
	struct memory *memory = calloc(1, sizeof *memory);
	char times[200];
	uint64_t overwritten;
	(void)state;
	assert_non_null(memory);
	add_holed(memory);
	memory->bytes[2 * PAGE] = 'X'; /* of 7 */
	set_header(memory, CIRCULAR, COMPLETE, 28);
	read_times(memory, times, &overwritten);
	assert_string_equal(times, " 15 20 30 35 40 45 46 60 80");
	assert_int_equal(overwritten, 0);
	free(memory);
}

/* The numbers of the chunks of one writer, and of those that are taken: `cut` is how many had been given away. */
static void what_came_later(void **state)
{
	static const struct {
		uint64_t mode, cut, first, last;
		struct trace_image_part parts[4];
	} cases[] = {
	    {CIRCULAR, 7, 3, 4, {{1, 4, 7, 8}, {1, 3, 6, 8}, {1, 1, 2, 8}, {1, 5, 8, 8}}},
	    {CIRCULAR, 9, 3, 5, {{1, 4, 7, 8}, {1, 3, 6, 8}, {1, 1, 2, 8}, {1, 5, 8, 8}}},
	    {CIRCULAR, 1, 5, 5, {{1, 4, 7, 8}, {1, 3, 6, 8}, {1, 2, 5, 8}, {1, 5, 8, 8}}},
	    {STREAMING, 7, 1, 4, {{1, 4, 7, 8}, {1, 3, 6, 8}, {1, 1, 2, 8}, {1, 5, 8, 8}}},
	    {STREAMING, 1, 1, 0, {{1, 4, 7, 8}, {1, 3, 6, 8}, {1, 2, 5, 8}, {1, 5, 8, 8}}},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct trace_image image = {.cut = cases[i].cut};
		image.header.mode = (uint32_t)cases[i].mode;
		image.parts.items = calloc(4, sizeof *image.parts.items);
		assert_non_null(image.parts.items);
		memcpy(image.parts.items, cases[i].parts, sizeof cases[i].parts);
		image.parts.count = image.parts.room = 4;
		assert_true(trace_image_runs_find(&image));
		assert_int_equal(image.runs.count, 1);
		assert_int_equal(image.runs.items[0].first, cases[i].first);
		assert_int_equal(image.runs.items[0].last, cases[i].last);
		trace_image_free(&image);
	}
}

SUITE(fxt_image)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_day),           cmocka_unit_test(never_back),      cmocka_unit_test(few_pairs),
	    cmocka_unit_test(newest_run),      cmocka_unit_test(part_of_a_chunk), cmocka_unit_test(damage_is_no_gap),
	    cmocka_unit_test(what_came_later),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
