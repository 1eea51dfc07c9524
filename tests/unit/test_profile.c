/* test_profile.c - profiles from hand-made events: nesting, recursion, unwinding, percentiles, merging, limits. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/consume.h"
#include "analysis/histogram.h"
#include "core/format.h"

enum { NAMES = 16, EVENTS = 64, TRACKS = 4 };

/* Names are "a", "b", ... with the ids 1, 2, ...; track t is thread 100 + t of process 9. */
struct step {
	char kind; /* B, E, X (complete), I (instant) */
	unsigned track;
	uint64_t time;
	char name;
	uint64_t duration;
};

static struct tw_dictionary *make_dictionary(uint32_t *names, uint32_t *tracks, bool reversed)
{
	struct tw_dictionary *dictionary = tw_dictionary_new();
	for (uint32_t n = 0; n < NAMES; n++) {
		uint32_t i = reversed ? NAMES - 1 - n : n;
		char text[] = {(char)('a' + i), '\0'};
		struct tw_name name = {.text = text, .length = 1, .id = i + 1, .file = "code.c", .line = 10 * (i + 1)};
		names[i] = tw_dictionary_intern(dictionary, &name);
	}
	for (uint32_t i = 0; i < TRACKS; i++)
		tracks[i] = tw_dictionary_add_track(dictionary, &(struct tw_track){.process = 9, .thread = 100 + i});
	return dictionary;
}

static struct tw_event make_event(const struct step *step, const uint32_t *names, const uint32_t *tracks)
{
	static const char letters[] = "BEXI";
	static const enum tw_event_kind kinds[] = {TW_SLICE_BEGIN, TW_SLICE_END, TW_SLICE_COMPLETE, TW_INSTANT};
	return (struct tw_event){
	    .time = step->time,
	    .value = step->duration,
	    .track = tracks[step->track],
	    .name = step->name ? names[step->name - 'a'] : 0,
	    .kind = (uint8_t)kinds[strchr(letters, step->kind) - letters],
	};
}

/* Adds a trace of these steps, in batches of `rows`. */
static void add_steps(struct tw_profile *profile, const struct step *steps, size_t count, size_t rows, bool reversed)
{
	uint32_t names[NAMES], tracks[TRACKS];
	struct tw_event events[EVENTS];
	struct tw_dictionary *dictionary = make_dictionary(names, tracks, reversed);
	assert_true(count <= EVENTS);
	for (size_t i = 0; i < count; i++)
		events[i] = make_event(&steps[i], names, tracks);
	tw_profile_consumer.begin(profile, 1);
	void *part = tw_profile_consumer.open(profile, dictionary);
	assert_non_null(part);
	for (size_t i = 0; i < count; i += rows)
		tw_consume_batch(&tw_profile_consumer, part,
		                 &(struct tw_batch){.events = events + i,
		                                    .count = count - i < rows ? count - i : rows});
	tw_profile_consumer.finish(part);
	assert_int_equal(tw_profile_consumer.merge(profile, part), 0);
	tw_profile_consumer.close(part);
	tw_dictionary_free(dictionary);
	assert_int_equal(tw_profile_consumer.settle(profile), 0);
}

/* What a row should be; the first with a NULL name ends a list. */
struct expected {
	const char *name;
	const char *caller;
	uint64_t thread;
	uint64_t count, open, unwound, total, self, min, p50, max;
};

static void expect_rows(struct tw_profile *profile, const struct expected *expected)
{
	size_t i = 0;
	for (; expected[i].name; i++) {
		const struct expected *e = &expected[i];
		const struct tw_profile_row *row = tw_profile_row(profile, i);
		assert_non_null(row);
		assert_string_equal(row->name, e->name);
		assert_int_equal(row->caller != NULL, e->caller != NULL);
		if (e->caller)
			assert_string_equal(row->caller, e->caller);
		assert_int_equal(row->thread, e->thread);
		assert_int_equal(row->count, e->count);
		assert_int_equal(row->open, e->open);
		assert_int_equal(row->unwound, e->unwound);
		assert_int_equal(row->total, e->total);
		assert_int_equal(row->self, e->self);
		assert_int_equal(row->min_ns, e->min);
		assert_int_equal(row->p50_ns, e->p50);
		assert_int_equal(row->max_ns, e->max);
	}
	assert_null(tw_profile_row(profile, i));
}

struct notes {
	uint64_t exits, backwards, folded;
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

struct scene {
	const char *title;
	struct tw_profile_options options;
	struct step steps[EVENTS];
	struct expected rows[NAMES];
	struct notes notes;
};

static const struct scene scenes[] = {
    {"nothing", {0}, {{0}}, {{0}}, {0}},
    {"nesting",
     {0},
     {{'B', 0, 10, 'a', 0},
      {'B', 0, 20, 'b', 0},
      {'E', 0, 50, 'b', 0},
      {'B', 0, 60, 'b', 0},
      {'E', 0, 70, 'b', 0},
      {'I', 0, 75, 'c', 0},
      {'E', 0, 110, 'a', 0}},
     {{"a", NULL, 0, 1, 0, 0, 100, 60, 100, 100, 100}, {"b", NULL, 0, 2, 0, 0, 40, 40, 10, 10, 30}},
     {0}},
    {"direct recursion: each nanosecond of the total once",
     {0},
     {{'B', 0, 0, 'a', 0},
      {'B', 0, 10, 'a', 0},
      {'B', 0, 20, 'a', 0},
      {'E', 0, 30, 'a', 0},
      {'E', 0, 60, 'a', 0},
      {'E', 0, 100, 'a', 0},
      {'B', 0, 200, 'a', 0},
      {'E', 0, 205, 'a', 0}},
     {{"a", NULL, 0, 4, 0, 0, 105, 105, 5, 10, 100}},
     {0}},
    {"mutual recursion",
     {0},
     {{'B', 0, 0, 'a', 0},
      {'B', 0, 10, 'b', 0},
      {'B', 0, 20, 'a', 0},
      {'B', 0, 30, 'b', 0},
      {'E', 0, 40, 'b', 0},
      {'E', 0, 60, 'a', 0},
      {'E', 0, 90, 'b', 0},
      {'E', 0, 100, 'a', 0}},
     {{"a", NULL, 0, 2, 0, 0, 100, 50, 40, 40, 100}, {"b", NULL, 0, 2, 0, 0, 80, 50, 10, 10, 80}},
     {0}},
    {"an exit further down unwinds",
     {0},
     {{'B', 0, 0, 'a', 0},
      {'B', 0, 10, 'b', 0},
      {'B', 0, 20, 'c', 0},
      {'B', 0, 30, 'b', 0},
      {'B', 0, 35, 'd', 0},
      {'E', 0, 50, 'c', 0},
      {'E', 0, 70, 'b', 0},
      {'E', 0, 100, 'a', 0}},
     {{"a", NULL, 0, 1, 0, 0, 100, 40, 100, 100, 100},
      {"b", NULL, 0, 2, 0, 1, 60, 35, 20, 20, 60},
      {"c", NULL, 0, 1, 0, 0, 30, 10, 30, 30, 30},
      {"d", NULL, 0, 1, 0, 1, 15, 15, 15, 15, 15}},
     {0}},
    {"an exit without a name ends the innermost call that has no end of its own",
     {0},
     {{'E', 0, 0, '\0', 0},
      {'B', 0, 10, 'a', 0},
      {'B', 0, 20, 'b', 0},
      {'E', 0, 40, '\0', 0},
      {'X', 0, 50, 'c', 30},
      {'E', 0, 70, '\0', 0}},
     {{"a", NULL, 0, 1, 0, 0, 60, 20, 60, 60, 60},
      {"b", NULL, 0, 1, 0, 0, 20, 20, 20, 20, 20},
      {"c", NULL, 0, 1, 0, 1, 20, 20, 20, 20, 20}},
     {.exits = 1}},
    {"exits without entry",
     {0},
     {{'E', 0, 5, 'a', 0},
      {'B', 0, 10, 'a', 0},
      {'E', 0, 15, 'b', 0},
      {'E', 0, 30, 'a', 0},
      {'E', 0, 40, 'a', 0},
      {'E', 1, 50, 'p', 0}},
     {{"a", NULL, 0, 1, 0, 0, 20, 20, 20, 20, 20}},
     {.exits = 4}},
    {"open at the end: at the last event of the track, and in no percentile",
     {0},
     {{'B', 0, 0, 'a', 0},
      {'B', 0, 10, 'b', 0},
      {'E', 0, 15, 'b', 0},
      {'B', 0, 20, 'b', 0},
      {'I', 0, 50, 'c', 0},
      {'B', 1, 60, 'd', 0},
      {'I', 1, 500, 'c', 0}},
     {{"a", NULL, 0, 1, 1, 0, 50, 15, 0, 0, 0},
      {"b", NULL, 0, 2, 1, 0, 35, 35, 5, 5, 5},
      {"d", NULL, 0, 1, 1, 0, 440, 440, 0, 0, 0}},
     {0}},
    {"tracks interleave",
     {0},
     {{'B', 0, 0, 'a', 0},
      {'B', 1, 1, 'a', 0},
      {'B', 2, 2, 'b', 0},
      {'B', 0, 3, 'b', 0},
      {'E', 2, 4, 'b', 0},
      {'E', 1, 11, 'a', 0},
      {'B', 2, 12, 'a', 0},
      {'E', 0, 13, 'b', 0},
      {'E', 2, 14, 'a', 0},
      {'E', 0, 20, 'a', 0}},
     {{"a", NULL, 0, 3, 0, 0, 32, 22, 2, 10, 20}, {"b", NULL, 0, 2, 0, 0, 12, 12, 2, 2, 10}},
     {0}},
    {"by thread",
     {.by = TW_BY_THREAD},
     {{'B', 0, 0, 'a', 0},
      {'B', 1, 1, 'a', 0},
      {'B', 1, 2, 'a', 0},
      {'E', 1, 4, 'a', 0},
      {'E', 0, 10, 'a', 0},
      {'E', 1, 21, 'a', 0}},
     {{"a", NULL, 100, 1, 0, 0, 10, 10, 10, 10, 10}, {"a", NULL, 101, 2, 0, 0, 20, 20, 2, 2, 20}},
     {0}},
    {"by caller: a total counts each nanosecond of an edge once",
     {.by = TW_BY_CALLER},
     {{'B', 0, 0, 'a', 0},
      {'B', 0, 10, 'b', 0},
      {'B', 0, 20, 'a', 0},
      {'B', 0, 30, 'b', 0},
      {'E', 0, 40, 'b', 0},
      {'E', 0, 60, 'a', 0},
      {'E', 0, 90, 'b', 0},
      {'E', 0, 100, 'a', 0},
      {'B', 0, 200, 'b', 0},
      {'E', 0, 207, 'b', 0}},
     {{"a", NULL, 0, 1, 0, 0, 100, 20, 100, 100, 100},
      {"a", "b", 0, 1, 0, 0, 40, 30, 40, 40, 40},
      {"b", NULL, 0, 1, 0, 0, 7, 7, 7, 7, 7},
      {"b", "a", 0, 2, 0, 0, 80, 50, 10, 10, 80}},
     {0}},
    {"short calls do not exist",
     {.min_duration_ns = 10},
     {{'B', 0, 0, 'a', 0},
      {'B', 0, 10, 'b', 0},
      {'E', 0, 19, 'b', 0},
      {'B', 0, 20, 'b', 0},
      {'E', 0, 30, 'b', 0},
      {'B', 0, 40, 'c', 0},
      {'B', 0, 42, 'd', 0},
      {'E', 0, 45, 'c', 0},
      {'X', 0, 50, 'e', 9},
      {'E', 0, 100, 'a', 0},
      {'B', 0, 101, 'f', 0}},
     {{"a", NULL, 0, 1, 0, 0, 100, 90, 100, 100, 100}, {"b", NULL, 0, 1, 0, 0, 10, 10, 10, 10, 10}},
     {0}},
    {"complete slices nest with each other",
     {0},
     {{'X', 0, 0, 'a', 100},
      {'X', 0, 10, 'b', 30},
      {'X', 0, 10, 'c', 5},
      {'X', 0, 15, 'c', 25},
      {'X', 0, 40, 'b', 60},
      {'X', 0, 100, 'd', 0},
      {'X', 0, 100, 'd', 7}},
     {{"a", NULL, 0, 1, 0, 0, 100, 10, 100, 100, 100},
      {"b", NULL, 0, 2, 0, 0, 90, 60, 30, 30, 60},
      {"c", NULL, 0, 2, 0, 0, 30, 30, 5, 5, 25},
      {"d", NULL, 0, 2, 0, 0, 7, 7, 0, 0, 7}},
     {0}},
    {"complete slices nest with begins and ends",
     {0},
     {{'B', 0, 0, 'a', 0},
      {'X', 0, 10, 'b', 50},
      {'B', 0, 20, 'c', 0},
      {'E', 0, 30, 'c', 0},
      {'B', 0, 60, 'c', 0},
      {'E', 0, 80, 'c', 0},
      {'E', 0, 100, 'a', 0}},
     {{"a", NULL, 0, 1, 0, 0, 100, 30, 100, 100, 100},
      {"b", NULL, 0, 1, 0, 0, 50, 40, 50, 50, 50},
      {"c", NULL, 0, 2, 0, 0, 30, 30, 10, 10, 20}},
     {0}},
    {"all that ends at the time of an end",
     {0},
     {{'B', 0, 0, 'a', 0},
      {'X', 0, 2, 'a', 18},
      {'B', 0, 5, 'c', 0},
      {'X', 0, 6, 'd', 14},
      {'E', 0, 20, 'c', 0},
      {'E', 0, 20, 'a', 0}},
     {{"a", NULL, 0, 2, 0, 0, 20, 5, 18, 18, 20},
      {"c", NULL, 0, 1, 0, 0, 15, 1, 15, 15, 15},
      {"d", NULL, 0, 1, 0, 0, 14, 14, 14, 14, 14}},
     {0}},
    {"a complete slice that is over unwinds what is open in it; one that is not is unwound by an exit",
     {0},
     {{'X', 0, 0, 'b', 8},
      {'B', 0, 2, 'c', 0},
      {'E', 0, 9, 'c', 0},
      {'B', 0, 10, 'a', 0},
      {'X', 0, 11, 'b', 100},
      {'E', 0, 20, 'a', 0}},
     {{"a", NULL, 0, 1, 0, 0, 10, 1, 10, 10, 10},
      {"b", NULL, 0, 2, 0, 1, 17, 11, 8, 8, 9},
      {"c", NULL, 0, 1, 0, 1, 6, 6, 6, 6, 6}},
     {.exits = 1}},
    {"an end without a name ends the innermost call, not the complete slices in it",
     {0},
     {{'E', 0, 0, 0, 0},
      {'B', 0, 1, 'a', 0},
      {'B', 0, 10, 'b', 0},
      {'X', 0, 15, 'c', 100},
      {'E', 0, 20, 0, 0},
      {'E', 0, 41, 0, 0},
      {'E', 0, 50, 0, 0}},
     {{"a", NULL, 0, 1, 0, 0, 40, 30, 40, 40, 40},
      {"b", NULL, 0, 1, 0, 0, 10, 5, 10, 10, 10},
      {"c", NULL, 0, 1, 0, 1, 5, 5, 5, 5, 5}},
     {.exits = 2}},
    {"complete slices that last beyond the last event",
     {0},
     {{'B', 0, 0, 'a', 0}, {'X', 0, 10, 'b', 90}, {'B', 0, 20, 'c', 0}, {'I', 0, 30, 'd', 0}},
     {{"a", NULL, 0, 1, 1, 0, 100, 10, 0, 0, 0},
      {"b", NULL, 0, 1, 0, 0, 90, 80, 90, 90, 90},
      {"c", NULL, 0, 1, 1, 0, 10, 10, 0, 0, 0}},
     {0}},
    {"time goes backwards",
     {0},
     {{'B', 0, 100, 'a', 0},
      {'E', 0, 90, 'a', 0},
      {'B', 0, 100, 'b', 0},
      {'B', 0, 110, 'a', 0},
      {'E', 0, 130, 'a', 0},
      {'E', 0, 120, 'b', 0}},
     {{"a", NULL, 0, 2, 0, 0, 20, 20, 0, 0, 20}, {"b", NULL, 0, 1, 0, 0, 20, 0, 20, 20, 20}},
     {.backwards = 1}},
};

static size_t count_steps(const struct scene *scene)
{
	size_t count = 0;
	while (scene->steps[count].kind)
		count++;
	return count;
}

static void test_scenes(void **state)
{
	(void)state;
	static const size_t rows[] = {EVENTS, 1, 3};
	for (size_t i = 0; i < COUNT(scenes) * COUNT(rows); i++) {
		const struct scene *scene = &scenes[i / COUNT(rows)];
		struct tw_profile *profile;
		print_message("# %s\n", scene->title);
		assert_int_equal(tw_profile_new(&profile, &scene->options), 0);
		add_steps(profile, scene->steps, count_steps(scene), rows[i % COUNT(rows)], false);
		expect_rows(profile, scene->rows);
		const struct tw_profile_notes *notes = tw_profile_notes(profile);
		assert_int_equal(notes->exits_without_entry, scene->notes.exits);
		assert_int_equal(notes->time_backwards, scene->notes.backwards);
		assert_int_equal(notes->rows_folded, scene->notes.folded);
		tw_profile_free(profile);
	}
}

/* Two calls as long as a clock without sense can make them: more than 64 bits hold. */
static void test_totals_stay_at_the_end(void **state)
{
	(void)state;
	static const struct step steps[] = {{'B', 0, 0, 'a', 0},
	                                    {'E', 0, UINT64_MAX - 1, 'a', 0},
	                                    {'B', 1, 0, 'a', 0},
	                                    {'E', 1, UINT64_MAX - 1, 'a', 0}};
	struct tw_profile *profile;
	assert_int_equal(tw_profile_new(&profile, &(struct tw_profile_options){.by = TW_BY_FUNCTION}), 0);
	for (unsigned traces = 1; traces <= 2; traces++) {
		add_steps(profile, steps, COUNT(steps), EVENTS, false);
		const struct tw_profile_row *row = tw_profile_row(profile, 0);
		assert_non_null(row);
		assert_int_equal(row->count, 2 * traces);
		assert_true(row->total == UINT64_MAX);
		assert_true(row->self == UINT64_MAX);
	}
	tw_profile_free(profile);
}

static void test_row_tells_the_function(void **state)
{
	(void)state;
	static const struct step steps[] = {{'B', 2, 0, 'c', 0}, {'E', 2, 9, 'c', 0}};
	struct tw_profile *profile;
	assert_int_equal(tw_profile_new(&profile, &(struct tw_profile_options){.by = TW_BY_THREAD}), 0);
	assert_null(tw_profile_row(profile, 0));
	add_steps(profile, steps, COUNT(steps), 2, false);
	const struct tw_profile_row *row = tw_profile_row(profile, 0);
	assert_non_null(row);
	assert_int_equal(row->id, 3);
	assert_string_equal(row->file, "code.c");
	assert_int_equal(row->line, 30);
	assert_int_equal(row->process, 9);
	assert_int_equal(row->thread, 102);
	tw_profile_free(profile);
	tw_profile_free(NULL);
}

/* ---- Percentiles against sorted values. ---- */

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static int compare_u64(const void *left, const void *right)
{
	uint64_t l = *(const uint64_t *)left, r = *(const uint64_t *)right;
	return (l > r) - (l < r);
}

/* Nearest rank: the ceil(share * n)-th smallest. */
static uint64_t exact(const uint64_t *sorted, size_t n, size_t percent)
{
	size_t rank = (percent * n + 99) / 100;
	return sorted[rank ? rank - 1 : 0];
}

static void expect_near(uint64_t got, uint64_t want)
{
	uint64_t off = got > want ? got - want : want - got;
	assert_true(off <= want / 128 + (want % 128 != 0));
	assert_true((double)off <= (double)want * 0.01);
}

/* A profile of calls of "a" with these durations, in two traces when cut > 0. */
static struct tw_profile *profile_of(const uint64_t *values, size_t n, size_t cut)
{
	struct tw_profile *profile;
	uint32_t names[NAMES], tracks[TRACKS];
	struct tw_dictionary *dictionary = make_dictionary(names, tracks, false);
	assert_int_equal(tw_profile_new(&profile, NULL), 0);
	for (size_t start = 0, end; start < n; start = end) {
		end = start < cut ? cut : n;
		void *part = tw_profile_consumer.open(profile, dictionary);
		for (size_t i = start; i < end; i++) {
			struct tw_event events[2] = {
			    {.time = 5, .kind = TW_SLICE_BEGIN, .name = names[0]},
			    {.time = 5 + values[i], .kind = TW_SLICE_END, .name = names[0]},
			};
			tw_consume_batch(&tw_profile_consumer, part, &(struct tw_batch){.events = events, .count = 2});
		}
		tw_profile_consumer.finish(part);
		assert_int_equal(tw_profile_consumer.merge(profile, part), 0);
		tw_profile_consumer.close(part);
	}
	assert_int_equal(tw_profile_consumer.settle(profile), 0);
	tw_dictionary_free(dictionary);
	return profile;
}

static void expect_percentiles(uint64_t *values, size_t n, size_t cut)
{
	struct tw_profile *profile = profile_of(values, n, cut);
	const struct tw_profile_row *row = tw_profile_row(profile, 0);
	qsort(values, n, sizeof *values, compare_u64);
	assert_int_equal(row->count, n);
	assert_int_equal(row->min_ns, values[0]);
	assert_int_equal(row->max_ns, values[n - 1]);
	expect_near(row->p50_ns, exact(values, n, 50));
	expect_near(row->p90_ns, exact(values, n, 90));
	expect_near(row->p99_ns, exact(values, n, 99));
	if (n <= TW_RAW_VALUES) {
		assert_int_equal(row->p50_ns, exact(values, n, 50));
		assert_int_equal(row->p99_ns, exact(values, n, 99));
	}
	tw_profile_free(profile);
}

static void test_percentiles(void **state)
{
	(void)state;
	static const size_t sizes[] = {1, 2, 3, 15, 16, 17, 18, 100, 1000, 200000};
	uint64_t seed = 88172645463325252u;
	uint64_t *values = malloc(200000 * sizeof *values);
	for (size_t i = 0; i < COUNT(sizes); i++) {
		for (unsigned spread = 4; spread <= 62; spread += spread < 20 ? 1 : 7) {
			if (sizes[i] > 1000 && spread != 10 && spread != 34)
				continue;
			for (size_t k = 0; k < sizes[i]; k++) /* all sizes of number are as likely */
				values[k] = next_random(&seed) >> (64 - 1 - next_random(&seed) % spread);
			expect_percentiles(values, sizes[i], i % 2 ? sizes[i] / 3 : 0);
		}
	}
	free(values);
}

/* Every bucket: values from first to last stay within 1/128 of its middle, and buckets grow with values. */
static void test_buckets(void **state)
{
	(void)state;
	uint32_t before = 0;
	for (uint64_t value = 0; value < 300000; value++) {
		uint32_t bucket = tw_histogram_bucket(value);
		assert_true(bucket == before || bucket == before + 1 || value == 0);
		before = bucket;
	}
	assert_int_equal(tw_histogram_bucket(63), 63);
	assert_int_equal(tw_histogram_bucket(127), 127);
	assert_int_equal(tw_histogram_bucket(128), tw_histogram_bucket(129));
	assert_int_equal(tw_histogram_bucket(UINT64_MAX), TW_OCTAVES * TW_BUCKETS - 1);
}

/* Adding a histogram to itself doubles it: 16-bit and 32-bit counts overflow on the way. */
static void test_histogram_carries(void **state)
{
	(void)state;
	static const unsigned parts[] = {500, 900, 990};
	struct tw_budget budget = {.limit = 1 << 24};
	struct tw_histogram_pool pool;
	struct tw_histogram histogram;
	uint64_t results[3], values = 0;
	assert_true(tw_histogram_pool_init(&pool, &budget));
	assert_true(tw_histogram_init(&pool, &histogram));
	/* 85 % fives and 15 % nines, more than fit 16 bits of each */
	for (; values < 1000000; values++)
		tw_histogram_add(&pool, &histogram, values, values % 100 < 85 ? 5 : 9);
	for (int i = 0; i < 24; i++, values *= 2)
		tw_histogram_merge(&pool, &histogram, values, &pool, &histogram, values);
	tw_histogram_percentiles(&pool, &histogram, values, parts, results, 3);
	assert_int_equal(results[0], 5);
	assert_int_equal(results[1], 9);
	assert_int_equal(results[2], 9);
	static const unsigned edges[] = {849, 850, 851};
	tw_histogram_percentiles(&pool, &histogram, values, edges, results, 3);
	assert_int_equal(results[0], 5);
	assert_int_equal(results[1], 5);
	assert_int_equal(results[2], 9);
	assert_false(pool.starved);
	tw_histogram_pool_free(&pool);
}

/* ---- Parts: a trace of random calls on three tracks, read whole, in parts, and by a plain model. ---- */

enum { RANDOM_EVENTS = 6000, MODEL_DEPTH = 64 };

struct trace {
	struct step steps[TRACKS][RANDOM_EVENTS];
	size_t counts[TRACKS];
};

/* Calls with exits that are missing (unwound or open) and too many. */
static struct trace *make_trace(uint64_t seed)
{
	struct trace *trace = calloc(1, sizeof *trace);
	for (unsigned t = 0; t < TRACKS - 1; t++) {
		char stack[MODEL_DEPTH];
		size_t depth = 0;
		uint64_t time = 1000 * t;
		for (size_t i = 0; i < RANDOM_EVENTS; i++) {
			uint64_t r = next_random(&seed);
			time += r >> (20 + r % 40) & 0xfffff;
			bool begin = depth == 0 || (depth < 40 && r % 2);
			char name = begin ? (char)('a' + (r >> 8) % NAMES) : stack[depth - 1];
			if (!begin && r % 64 == 2) /* an exit somewhere below, or of nothing */
				name = (char)('a' + (r >> 16) % NAMES);
			trace->steps[t][i] = (struct step){begin ? 'B' : 'E', t, time, name, 0};
			if (begin)
				stack[depth++] = name;
			for (size_t d = depth; !begin && d > 0; d--)
				if (stack[d - 1] == name) {
					depth = d - 1;
					break;
				}
		}
		trace->counts[t] = RANDOM_EVENTS;
	}
	return trace;
}

/* A format whose trace is in memory: track by track, 256 rows a batch. Its parts take every n-th track. */
struct memory_trace {
	const struct trace *trace;
	uint32_t names[NAMES], tracks[TRACKS];
	unsigned track, every;
	size_t next;
	struct tw_event events[256];
	int status_at_end;
	unsigned *opened;
};

static void set_dictionary(struct tw_reader *reader, struct memory_trace *state, bool reversed)
{
	tw_dictionary_free(reader->dictionary);
	reader->dictionary = make_dictionary(state->names, state->tracks, reversed);
	reader->state = state;
}

static int memory_open_shard(struct tw_reader *part, unsigned shard, unsigned shards)
{
	struct memory_trace *state = malloc(sizeof *state);
	*state = *(struct memory_trace *)part->whole->state;
	state->track = shard;
	state->every = shards;
	++*state->opened;
	set_dictionary(part, state, shard % 2);
	return 0;
}

static int memory_read(struct tw_reader *reader, struct tw_batch *batch)
{
	struct memory_trace *state = reader->state;
	size_t count = 0;
	while (state->track < TRACKS && state->next == state->trace->counts[state->track]) {
		state->track += state->every;
		state->next = 0;
	}
	if (state->track >= TRACKS)
		return state->status_at_end ? tw_fail(reader, state->status_at_end, "it broke") : 0;
	for (; count < COUNT(state->events) && state->next < state->trace->counts[state->track]; count++)
		state->events[count] =
		    make_event(&state->trace->steps[state->track][state->next++], state->names, state->tracks);
	*batch = (struct tw_batch){.events = state->events, .count = count};
	return (int)count;
}

static void memory_close(struct tw_reader *reader)
{
	free(reader->state);
}

static const struct tw_format memory_format = {
    .name = "memory",
    .open_shard = memory_open_shard,
    .read = memory_read,
    .close = memory_close,
};

/* Adds a trace; returns how many parts were opened. */
static unsigned add_trace(struct tw_profile *profile, const struct trace *trace, enum tw_order order, int status)
{
	unsigned opened = 0;
	struct tw_reader *reader = calloc(1, sizeof *reader);
	struct memory_trace *state = calloc(1, sizeof *state);
	*state = (struct memory_trace){.trace = trace, .every = 1, .status_at_end = status, .opened = &opened};
	pthread_mutex_init(&reader->lock, NULL);
	reader->format = &memory_format;
	reader->options.order = order;
	set_dictionary(reader, state, false);
	assert_int_equal(tw_profile_add(profile, reader), status);
	if (status < 0)
		assert_string_equal(tw_reader_error(reader), "it broke");
	tw_close(reader);
	return opened;
}

/* A call of the model. */
struct model_call {
	char name;
	uint64_t begin, children;
};

struct model {
	uint64_t count[NAMES], open[NAMES], unwound[NAMES], total[NAMES], self[NAMES];
	uint64_t exits;
	uint64_t *durations[NAMES];
	size_t ended[NAMES];
};

static void model_pop(struct model *model, struct model_call *stack, size_t depth, uint64_t time, bool ended)
{
	struct model_call *call = &stack[depth];
	int n = call->name - 'a';
	uint64_t duration = time - call->begin;
	bool below = false;
	for (size_t i = 0; i < depth; i++)
		below |= stack[i].name == call->name;
	model->count[n]++;
	model->total[n] += below ? 0 : duration;
	model->self[n] += duration - call->children;
	if (depth)
		stack[depth - 1].children += duration;
	if (ended)
		model->durations[n][model->ended[n]++] = duration;
	else
		model->open[n]++;
}

static void model_end(struct model *model, struct model_call *stack, size_t *depth, const struct step *step)
{
	size_t match = *depth;
	while (match > 0 && stack[match - 1].name != step->name)
		match--;
	model->exits += match == 0;
	while (match > 0 && *depth >= match) {
		--*depth;
		model->unwound[stack[*depth].name - 'a'] += *depth >= match;
		model_pop(model, stack, *depth, step->time, true);
	}
}

static struct model *make_model(const struct trace *trace)
{
	struct model *model = calloc(1, sizeof *model);
	for (int n = 0; n < NAMES; n++)
		model->durations[n] = calloc((size_t)TRACKS * RANDOM_EVENTS, sizeof *model->durations[n]);
	for (unsigned t = 0; t < TRACKS; t++) {
		struct model_call stack[MODEL_DEPTH];
		size_t depth = 0;
		for (size_t i = 0; i < trace->counts[t]; i++) {
			const struct step *step = &trace->steps[t][i];
			if (step->kind == 'B')
				stack[depth++] = (struct model_call){.name = step->name, .begin = step->time};
			else
				model_end(model, stack, &depth, step);
		}
		while (depth--)
			model_pop(model, stack, depth, trace->steps[t][trace->counts[t] - 1].time, false);
	}
	return model;
}

static void expect_model(struct tw_profile *profile, struct model *model)
{
	for (int n = 0; n < NAMES; n++) {
		const struct tw_profile_row *row = tw_profile_row(profile, (size_t)n);
		size_t ended = model->ended[n];
		assert_non_null(row);
		assert_int_equal(row->id, n + 1);
		assert_int_equal(row->count, model->count[n]);
		assert_int_equal(row->open, model->open[n]);
		assert_int_equal(row->unwound, model->unwound[n]);
		assert_int_equal(row->total, model->total[n]);
		assert_int_equal(row->self, model->self[n]);
		qsort(model->durations[n], ended, sizeof *model->durations[n], compare_u64);
		assert_int_equal(row->min_ns, model->durations[n][0]);
		assert_int_equal(row->max_ns, model->durations[n][ended - 1]);
		expect_near(row->p50_ns, exact(model->durations[n], ended, 50));
		expect_near(row->p99_ns, exact(model->durations[n], ended, 99));
	}
	assert_null(tw_profile_row(profile, NAMES));
	assert_int_equal(tw_profile_notes(profile)->exits_without_entry, model->exits);
}

static void free_model(struct model *model)
{
	for (int n = 0; n < NAMES; n++)
		free(model->durations[n]);
	free(model);
}

static void expect_same(struct tw_profile *a, struct tw_profile *b)
{
	size_t i = 0;
	for (; tw_profile_row(a, i); i++) {
		struct tw_profile_row x = *tw_profile_row(a, i), y;
		assert_non_null(tw_profile_row(b, i));
		y = *tw_profile_row(b, i);
		assert_string_equal(x.name, y.name);
		assert_int_equal(x.caller != NULL, y.caller != NULL);
		if (x.caller)
			assert_string_equal(x.caller, y.caller);
		x.name = x.caller = x.file = y.name = y.caller = y.file = NULL;
		assert_memory_equal(&x, &y, sizeof x);
	}
	assert_null(tw_profile_row(b, i));
	assert_memory_equal(tw_profile_notes(a), tw_profile_notes(b), sizeof *tw_profile_notes(a));
}

static void test_model_and_jobs(void **state)
{
	(void)state;
	static const enum tw_profile_by ways[] = {TW_BY_FUNCTION, TW_BY_THREAD, TW_BY_CALLER};
	struct trace *trace = make_trace(4711);
	struct model *model = make_model(trace);
	for (size_t i = 0; i < COUNT(ways); i++) {
		struct tw_profile *one;
		assert_int_equal(tw_profile_new(&one, &(struct tw_profile_options){.by = ways[i], .jobs = 1}), 0);
		assert_int_equal(add_trace(one, trace, TW_ORDER_TRACK, 0), 0);
		if (ways[i] == TW_BY_FUNCTION)
			expect_model(one, model);
		for (unsigned jobs = 2; jobs <= 5; jobs++) {
			struct tw_profile *many;
			assert_int_equal(tw_profile_new(&many,
			                                &(struct tw_profile_options){.by = ways[i], .jobs = jobs}),
			                 0);
			assert_int_equal(add_trace(many, trace, TW_ORDER_TRACK, 0), jobs);
			expect_same(one, many);
			tw_profile_free(many);
		}
		tw_profile_free(one);
	}
	free_model(model);
	free(trace);
}

/* In time order there are no parts; and a read that fails leaves what was read before. */
static void test_status(void **state)
{
	(void)state;
	struct trace *trace = make_trace(99);
	struct model *model = make_model(trace);
	for (unsigned jobs = 1; jobs <= 3; jobs++) {
		struct tw_profile *profile;
		assert_int_equal(tw_profile_new(&profile, &(struct tw_profile_options){.jobs = jobs}), 0);
		assert_int_equal(add_trace(profile, trace, TW_ORDER_TIME, TW_ERR_SYSTEM), 0);
		expect_model(profile, model);
		tw_profile_free(profile);
		assert_int_equal(tw_profile_new(&profile, &(struct tw_profile_options){.jobs = jobs}), 0);
		assert_int_equal(add_trace(profile, trace, TW_ORDER_TRACK, TW_ERR_SYSTEM), jobs == 1 ? 0 : jobs);
		expect_model(profile, model);
		tw_profile_free(profile);
	}
	free_model(model);
	free(trace);
}

/* ---- Limits. ---- */

/* A profile of calls of many functions, one after the other or each inside the one before. */
struct hostile {
	struct tw_profile *profile;
	struct tw_dictionary *dictionary;
	void *part;
	uint64_t time;
};

static struct hostile begin_hostile(size_t limit, enum tw_profile_by by)
{
	struct hostile hostile = {.dictionary = tw_dictionary_new()};
	struct tw_profile_options options = {.by = by, .memory_limit = limit};
	assert_int_equal(tw_profile_new(&hostile.profile, &options), 0);
	hostile.part = tw_profile_consumer.open(hostile.profile, hostile.dictionary);
	assert_non_null(hostile.part);
	return hostile;
}

/* An event of function number `id`, a nanosecond after the one before. */
static void feed_hostile(struct hostile *hostile, enum tw_event_kind kind, uint64_t id, uint32_t track)
{
	struct tw_name name = {.text = "", .id = id + 1};
	struct tw_event event = {
	    .time = hostile->time++,
	    .kind = (uint8_t)kind,
	    .name = tw_dictionary_intern(hostile->dictionary, &name),
	    .track = track,
	};
	tw_consume_batch(&tw_profile_consumer, hostile->part, &(struct tw_batch){.events = &event, .count = 1});
}

static struct tw_profile *end_hostile(struct hostile *hostile)
{
	tw_profile_consumer.finish(hostile->part);
	assert_int_equal(tw_profile_consumer.merge(hostile->profile, hostile->part), 0);
	assert_int_equal(tw_profile_consumer.settle(hostile->profile), 0);
	tw_profile_consumer.close(hostile->part);
	tw_dictionary_free(hostile->dictionary);
	return hostile->profile;
}

/* All calls are counted somewhere, those of "(other)" in the notes too, and every exit found its entry. */
static void expect_all(struct tw_profile *profile, uint64_t calls, bool folded)
{
	uint64_t count = 0, other = 0;
	for (size_t i = 0; tw_profile_row(profile, i); i++) {
		const struct tw_profile_row *row = tw_profile_row(profile, i);
		count += row->count;
		if (strcmp(row->name, "(other)") == 0)
			other += row->count;
	}
	assert_int_equal(count, calls);
	assert_int_equal(other, tw_profile_notes(profile)->rows_folded);
	assert_int_equal(tw_profile_notes(profile)->exits_without_entry, 0);
	assert_int_equal(other != 0, folded);
}

static const size_t limits[] = {1, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 0};

static void test_many_functions(void **state)
{
	(void)state;
	enum { CALLS = 30000 };
	for (size_t i = 0; i < COUNT(limits); i++)
		for (int by = TW_BY_FUNCTION; by <= TW_BY_CALLER; by++) {
			struct hostile hostile = begin_hostile(limits[i], (enum tw_profile_by)by);
			for (uint64_t id = 0; id < CALLS; id++) {
				feed_hostile(&hostile, TW_SLICE_BEGIN, id, 0);
				feed_hostile(&hostile, TW_SLICE_END, id, 0);
			}
			struct tw_profile *profile = end_hostile(&hostile);
			expect_all(profile, CALLS, limits[i] != 0);
			tw_profile_free(profile);
		}
}

static void test_many_tracks(void **state)
{
	(void)state;
	enum { CALLS = 30000 };
	for (size_t i = 0; i < COUNT(limits); i++) {
		struct hostile hostile = begin_hostile(limits[i], TW_BY_THREAD);
		for (uint32_t track = 0; track < CALLS; track++)
			feed_hostile(&hostile, TW_SLICE_BEGIN, 0, track);
		for (uint32_t track = 0; track < CALLS; track++)
			feed_hostile(&hostile, TW_SLICE_END, 0, track);
		struct tw_profile *profile = end_hostile(&hostile);
		expect_all(profile, CALLS, limits[i] != 0);
		tw_profile_free(profile);
	}
}

/* Recursion and distinct functions, deeper than there is memory for: the total of the lowest is still that of all. */
static void test_deep_stacks(void **state)
{
	(void)state;
	enum { DEPTH = 100000 };
	for (size_t i = 0; i < 2 * COUNT(limits); i++) {
		size_t limit = limits[i / 2];
		uint64_t each = i % 2;
		struct hostile hostile = begin_hostile(limit, TW_BY_FUNCTION);
		for (uint64_t depth = 0; depth < DEPTH; depth++)
			feed_hostile(&hostile, TW_SLICE_BEGIN, depth * each, 0);
		for (uint64_t depth = DEPTH; depth-- > 0;)
			feed_hostile(&hostile, TW_SLICE_END, depth * each, 0);
		struct tw_profile *profile = end_hostile(&hostile);
		expect_all(profile, DEPTH, limit != 0);
		if (limit == 0 || limit >= 1 << 16) {
			assert_int_equal(tw_profile_row(profile, 0)->id, 1);
			assert_int_equal(tw_profile_row(profile, 0)->total, 2 * DEPTH - 1);
		}
		tw_profile_free(profile);
	}
}

/* Functions under "(other)" nest in each other: their time counts once. */
static void test_other_total(void **state)
{
	(void)state;
	enum { FUNCTIONS = 600, ROUNDS = 20 };
	struct hostile hostile = begin_hostile(1 << 17, TW_BY_FUNCTION);
	for (uint64_t id = 0; id < FUNCTIONS; id++) {
		feed_hostile(&hostile, TW_SLICE_BEGIN, id, 0);
		feed_hostile(&hostile, TW_SLICE_END, id, 0);
	}
	hostile.time = 1000000;
	for (int round = 0; round < ROUNDS; round++) { /* the last functions have no rows of their own */
		feed_hostile(&hostile, TW_SLICE_BEGIN, FUNCTIONS - 2, 0);
		feed_hostile(&hostile, TW_SLICE_BEGIN, FUNCTIONS - 1, 0);
		feed_hostile(&hostile, TW_SLICE_END, FUNCTIONS - 1, 0);
		feed_hostile(&hostile, TW_SLICE_END, FUNCTIONS - 2, 0);
	}
	struct tw_profile *profile = end_hostile(&hostile);
	uint64_t rows = 0;
	while (tw_profile_row(profile, rows))
		rows++;
	uint64_t once = FUNCTIONS - (rows - 1); /* calls of the first loop under "(other)", each a nanosecond */
	const struct tw_profile_row *other = NULL;
	for (size_t i = 0; i < rows; i++)
		if (strcmp(tw_profile_row(profile, i)->name, "(other)") == 0)
			other = tw_profile_row(profile, i);
	assert_non_null(other);
	assert_int_equal(other->count, once + 2 * ROUNDS);
	assert_int_equal(other->total, once + 3 * ROUNDS);
	assert_int_equal(other->self, once + 3 * ROUNDS);
	assert_int_equal(other->max_ns, 3);
	tw_profile_free(profile);
}

/* Where parts have no room the whole is read instead: the same rows are folded as with one thread. */
static void test_limit_and_jobs(void **state)
{
	(void)state;
	struct trace *trace = make_trace(17);
	for (size_t i = 0; i < COUNT(limits); i++) {
		struct tw_profile *one, *three;
		struct tw_profile_options options = {.by = TW_BY_CALLER, .jobs = 1, .memory_limit = limits[i]};
		assert_int_equal(tw_profile_new(&one, &options), 0);
		options.jobs = 3;
		assert_int_equal(tw_profile_new(&three, &options), 0);
		add_trace(one, trace, TW_ORDER_TRACK, 0);
		add_trace(three, trace, TW_ORDER_TRACK, 0);
		expect_same(one, three);
		tw_profile_free(one);
		tw_profile_free(three);
	}
	free(trace);
}

/* ---- Many counts: near and far. ---- */

enum { MANY = 640, OCTAVES = 12, TIMES = 20 };

/* What is known of a function without any of our own counting. */
struct plain {
	uint64_t count, total, min, max;
};

/* Complete slices one after the other: of function f, durations of OCTAVES sizes. */
static void add_many(struct tw_profile *profile, uint32_t functions, struct plain *plain)
{
	struct tw_dictionary *dictionary = tw_dictionary_new();
	uint32_t track = tw_dictionary_add_track(dictionary, &(struct tw_track){.process = 9, .thread = 100});
	tw_profile_consumer.begin(profile, 1);
	void *part = tw_profile_consumer.open(profile, dictionary);
	uint64_t time = 0;
	for (uint32_t i = 0; i < functions * OCTAVES * TIMES; i++) {
		uint32_t f = i % functions;
		char text[16];
		int length = snprintf(text, sizeof text, "f%u", f);
		struct tw_name name = {.text = text, .length = (size_t)length, .id = f + 1};
		uint64_t duration = (UINT64_C(64) << i / functions % OCTAVES) + f % 60;
		const struct tw_event event = {.time = time,
		                               .value = duration,
		                               .track = track,
		                               .name = tw_dictionary_intern(dictionary, &name),
		                               .kind = TW_SLICE_COMPLETE};
		tw_consume_batch(&tw_profile_consumer, part, &(struct tw_batch){.events = &event, .count = 1});
		time += duration;
		plain[f].min = plain[f].count && plain[f].min < duration ? plain[f].min : duration;
		plain[f].max = duration > plain[f].max ? duration : plain[f].max;
		plain[f].total += duration;
		plain[f].count++;
	}
	tw_profile_consumer.finish(part);
	assert_int_equal(tw_profile_consumer.merge(profile, part), 0);
	tw_profile_consumer.close(part);
	tw_dictionary_free(dictionary);
	assert_int_equal(tw_profile_consumer.settle(profile), 0);
}

static void counts_many(uint32_t functions)
{
	static struct plain plain[MANY];
	struct tw_profile *profile;
	memset(plain, 0, sizeof plain);
	assert_int_equal(tw_profile_new(&profile, NULL), 0);
	add_many(profile, functions, plain);
	const struct tw_profile_row *row;
	uint32_t rows = 0;
	for (; (row = tw_profile_row(profile, rows)); rows++) {
		const struct plain *p = &plain[row->id - 1];
		assert_int_equal(row->count, p->count);
		assert_int_equal(row->total, p->total);
		assert_int_equal(row->min_ns, p->min);
		assert_int_equal(row->max_ns, p->max);
		uint64_t middle = (UINT64_C(64) << (OCTAVES / 2 - 1)) + (row->id - 1) % 60; /* half are not longer */
		assert_in_range(row->p50_ns, middle - middle / 100, middle + middle / 100);
	}
	assert_int_equal(rows, functions);
	tw_profile_free(profile);
}

/* 40 functions have 480 chunks of counts, 640 have 7,680: more than are near. */
static void test_many_counts(void **state)
{
	(void)state;
	counts_many(40);
	counts_many(MANY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_scenes),
	    cmocka_unit_test(test_totals_stay_at_the_end),
	    cmocka_unit_test(test_row_tells_the_function),
	    cmocka_unit_test(test_percentiles),
	    cmocka_unit_test(test_buckets),
	    cmocka_unit_test(test_histogram_carries),
	    cmocka_unit_test(test_model_and_jobs),
	    cmocka_unit_test(test_status),
	    cmocka_unit_test(test_many_functions),
	    cmocka_unit_test(test_many_tracks),
	    cmocka_unit_test(test_deep_stacks),
	    cmocka_unit_test(test_other_total),
	    cmocka_unit_test(test_limit_and_jobs),
	    cmocka_unit_test(test_many_counts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
