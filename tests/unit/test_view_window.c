/* test_view_window.c - the binary form of windows. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "suite.h"
#include "view_scene.h"

static void expect_reals(const uint8_t *bytes, const double *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert_true(real_at(bytes + 8 * i) == values[i]);
}

/* A pixel is 32 us: a and b are in one. */
static void test_window(void **state)
{
	(void)state;
	struct scene scene;
	struct view_answer answer;
	show(&scene, trace);
	ask(&scene, "/api/window?from=0&to=1024000&width=32&names=0&tracks=1", &answer);
	assert_int_equal(answer.status, 200);
	const uint8_t *at = (const uint8_t *)answer.body.bytes;
	assert_memory_equal(at, "TWV1", 4);
	assert_int_equal(tw_load64(at + 16, false), 1024000);
	assert_int_equal(tw_load32(at + 24, false), 3);
	at += 40;
	/* Depth 0: two entries of one slice. */
	assert_memory_equal(at, "\x01\0\0\0\0\0\0\0\0\0\0\0\x02\0\0\0", 16);
	expect_reals(at + 16, (const double[]){0, 1000000, 100000, 1024000, 100000, 24000, 0, 1}, 8);
	assert_memory_equal(at + 80, "\x01\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0", 16);
	at += 96;
	/* Depth 1: one of two, of which b is longer. */
	assert_memory_equal(at, "\x01\0\0\0\0\0\x01\0\0\0\0\0\x01\0\0\0", 16);
	expect_reals(at + 16, (const double[]){10000, 16000, 5000, 1}, 4);
	assert_memory_equal(at + 48, "\x02\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0", 16);
	at += 64;
	/* A point. */
	assert_memory_equal(at, "\x01\0\0\0\xff\xff\0\0\x02\0\0\0\x01\0\0\0", 16);
	expect_reals(at + 16, (const double[]){50000, 50000, 0, 0}, 4);
	at += 64;
	/* outer, b, tick. */
	assert_memory_equal(at, "\x05\0\0\0\x06\0\0\0\x0a\0\0\0\0\0\0\0outerbtick\0\0\0\0\0\0", 32);
	assert_int_equal(at + 32 - (const uint8_t *)answer.body.bytes, answer.body.length);
	view_answer_free(&answer);
	/* The same without what is in others, and without points. */
	ask(&scene, "/api/window?from=0&to=1024000&width=32&names=3&outer=1&tracks=1", &answer);
	at = (const uint8_t *)answer.body.bytes;
	assert_int_equal(answer.body.length, 40 + 96);
	assert_int_equal(tw_load32(at + 24, false), 1);
	assert_memory_equal(at + 40, "\x01\0\0\0\0\0\0\0\0\0\0\0\x02\0\0\0", 16);
	view_answer_free(&answer);
	/* Names are sent once; a slice that is longer than the window is there whole. */
	ask(&scene, "/api/window?from=20000&to=30000&width=100&names=3&tracks=1,77", &answer);
	assert_int_equal(answer.body.length, 40 + 16 + 32 + 16);
	expect_reals((const uint8_t *)answer.body.bytes + 56, (const double[]){-20000, 80000, 100000, 0}, 4);
	view_answer_free(&answer);
	hide(&scene);
}

enum { MANY = 300, MANY_PIXELS = 64, STEP = 7000, PIXEL = 32000 };

struct many_entry {
	double begin, end, busy, item, longest;
	uint32_t count;
};

/* Entries of slices that begin each 7 us and last 0 to 5, in pixels of 32 us, by the words of doc/view.md. */
static size_t many_entries(struct many_entry entries[MANY])
{
	size_t count = 0;
	int before = -1; /* the pixel of the entry before, where another may be in it */
	for (int i = 0; i * STEP < MANY_PIXELS * PIXEL; i++) {
		const int begin = i * STEP, lasts = i * 5 % 6 * 1000, pixel = begin / PIXEL;
		const bool fits = begin + lasts <= (pixel + 1) * PIXEL;
		if (!fits || pixel != before)
			entries[count++] = (struct many_entry){.begin = begin, .item = i, .longest = lasts};
		struct many_entry *entry = &entries[count - 1];
		entry->end = begin + lasts;
		entry->busy += lasts;
		entry->item = lasts > entry->longest ? i : entry->item;
		entry->longest = lasts > entry->longest ? lasts : entry->longest;
		entry->count++;
		before = fits ? pixel : -1;
	}
	return count;
}

/* More than a block of them. */
static void test_window_of_many(void **state)
{
	(void)state;
	struct many_entry entries[MANY];
	struct tw_text text = {0};
	struct scene scene;
	struct view_answer answer;
	for (int i = 0; i < MANY; i++) {
		char line[128];
		int length = snprintf(line, sizeof line,
		                      "%c{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":%d,\"dur\":%d}",
		                      i ? ',' : '[', i * STEP / 1000, i * 5 % 6);
		assert_true(tw_text_add(&text, line, (size_t)length));
	}
	assert_true(tw_text_add(&text, "]", 1));
	show(&scene, text.bytes);
	tw_text_free(&text);
	ask(&scene, "/api/window?from=0&to=2048000&width=64&names=0&tracks=1", &answer);
	const uint8_t *at = (const uint8_t *)answer.body.bytes + 40;
	const size_t count = many_entries(entries);
	assert_int_equal(tw_load32(at + 12, false), count);
	for (size_t i = 0; i < count; i++) {
		const double found[] = {entries[i].begin, entries[i].end, entries[i].busy, entries[i].item};
		for (size_t k = 0; k < 4; k++)
			assert_true(real_at(at + 16 + 8 * (k * count + i)) == found[k]);
		assert_int_equal(tw_load32(at + 16 + 32 * count + 4 * i, false), entries[i].count);
	}
	view_answer_free(&answer);
	hide(&scene);
}

static void test_counter(void **state)
{
	(void)state;
	struct scene scene;
	struct view_answer answer;
	show(&scene, trace);
	expect_text(&scene, "/api/trace", 200, "\"kind\":\"counter\",\"name\":\"memory\"");
	expect_text(&scene, "/api/trace", 200, "\"series\":[\"used\"]");
	ask(&scene, "/api/window?from=0&to=100000&width=10&names=0&tracks=2", &answer);
	assert_int_equal(answer.body.length, 40 + 16 + 32);
	assert_memory_equal(answer.body.bytes + 40, "\x02\0\0\0\0\0\0\0\x01\0\0\0\x01\0\0\0", 16);
	expect_reals((const uint8_t *)answer.body.bytes + 56, (const double[]){5000, 3, 7, 3}, 4);
	view_answer_free(&answer);
	hide(&scene);
}

/* Series of a counter take turns: few samples, as many as a row of their own is for, a block and more. The value is the
 * number, and grows by half for each series. */
static void test_series(void **state)
{
	(void)state;
	enum { SERIES = 7, MOST = 200, LINE = 80 };
	static const unsigned counts[SERIES] = {1, 2, 7, 8, 9, 70, MOST};
	static char text[SERIES * MOST * LINE] = "[";
	struct scene scene;
	size_t length = 1;
	for (unsigned i = 0; i < MOST; i++)
		for (unsigned k = 0; k < SERIES; k++)
			if (i < counts[k])
				length += (size_t)sprintf(
				    text + length,
				    "%s{\"ph\":\"C\",\"name\":\"c\",\"pid\":1,\"ts\":%u,\"args\":{\"%c\":%u.5}}",
				    i + k ? "," : "", 10 * i + k, (char)('a' + k), i * (k + 1));
	strcpy(text + length, "]");
	show(&scene, text);
	struct view_answer answer;
	ask(&scene, "/api/window?from=0&to=10000000&width=1&names=0&tracks=1", &answer);
	const uint8_t *at = (const uint8_t *)answer.body.bytes;
	assert_int_equal(tw_load32(at + 24, false), SERIES);
	at += 40;
	for (unsigned k = 0; k < SERIES; k++, at += 48) {
		const double last = (counts[k] - 1) * (k + 1) + 0.5;
		assert_int_equal(tw_load32(at + 4, false), k);
		expect_reals(at + 16, (const double[]){1000 * k, 0.5, last, last}, 4);
	}
	view_answer_free(&answer);
	ask(&scene, "/api/window?from=0&to=2000000&width=2000&names=0&tracks=1", &answer);
	at = (const uint8_t *)answer.body.bytes + 40;
	for (unsigned k = 0; k < SERIES; k++) {
		assert_int_equal(tw_load32(at + 12, false), counts[k]);
		at += 16;
		for (unsigned i = 0; i < counts[k]; i++, at += 8)
			assert_true(real_at(at) == 1000 * (10 * i + k) &&
			            real_at(at + 24 * counts[k]) == i * (k + 1) + 0.5);
		at += 24 * counts[k];
	}
	view_answer_free(&answer);
	hide(&scene);
}

/* Counters with some series each, a sample of each: the value is its number among all. */
static void show_counters(struct scene *scene, unsigned counters, unsigned series)
{
	struct tw_text text = {0};
	char line[96];
	assert_true(tw_text_add(&text, "[", 1));
	for (unsigned i = 0; i < counters * series; i++) {
		const int length =
		    snprintf(line, sizeof line,
		             "%s{\"ph\":\"C\",\"name\":\"c%u\",\"pid\":1,\"ts\":%u,\"args\":{\"s%u\":%u}}",
		             i ? "," : "", i / series, i, i % series, i);
		assert_true(tw_text_add(&text, line, (size_t)length));
	}
	assert_true(tw_text_add(&text, "]", 1));
	show(scene, text.bytes);
	tw_text_free(&text);
}

/* The one entry of the row of a track that is asked for in one pixel. */
static void expect_entry(const struct scene *scene, unsigned track, const double values[static 4])
{
	char address[96];
	struct view_answer answer;
	snprintf(address, sizeof address, "/api/window?from=0&to=1000000000&width=1&names=0&tracks=%u", track);
	ask(scene, address, &answer);
	assert_int_equal(tw_load32((const uint8_t *)answer.body.bytes + 24, false), 1);
	expect_reals((const uint8_t *)answer.body.bytes + 56, values, 4);
	view_answer_free(&answer);
}

/* 32,768 series are told apart, and of each counter the first four: the others are one track of their process. Of counters
 * as many are as half of all tracks, of which the process is one. */
static void test_many_series(void **state)
{
	(void)state;
	enum { SERIES = 1000, COUNTERS = 34, APART = 1 << 15, FIRST_OTHER = APART, TRACKS = 1 << 16 };
	struct scene scene;
	show_counters(&scene, COUNTERS, SERIES);
	/* The process, 33 counters, the others, and one more counter. */
	expect_text(&scene, "/api/trace", 200,
	            "{\"id\":34,\"parent\":0,\"kind\":\"counter\",\"name\":\"other series of counters\"");
	expect_text(&scene, "/api/trace", 200,
	            "\"series\":[\"s0\",\"s1\",\"s2\",\"s3\"],\"points\":false,\"slices\":\"4\"");
	expect_text(&scene, "/api/trace", 200, "\"left\":\"0\"");
	expect_entry(&scene, 34,
	             (const double[]){1000.0 * FIRST_OTHER, FIRST_OTHER, COUNTERS * SERIES - 1, COUNTERS * SERIES - 1});
	hide(&scene);
	show_counters(&scene, TRACKS + 1, 1);
	expect_text(&scene, "/api/trace", 200, "\"left\":\"0\"");
	expect_entry(&scene, TRACKS, (const double[]){1000.0 * (TRACKS - 1), TRACKS - 1, TRACKS, TRACKS});
	hide(&scene);
}

SUITE(view_window)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_window), cmocka_unit_test(test_window_of_many), cmocka_unit_test(test_counter),
	    cmocka_unit_test(test_series), cmocka_unit_test(test_many_series),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
