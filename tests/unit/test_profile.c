/* test_profile.c - profiles from hand-made events: nesting, recursion, unwinding. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "profile_steps.h"
#include "suite.h"

enum { EVENTS = 64 };

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
     {{"a", NULL, 0, 1, 0, 0, 60, 40, 60, 60, 60},
      {"b", NULL, 0, 1, 0, 0, 20, 20, 20, 20, 20},
      {"c", NULL, 0, 1, 0, 0, 30, 30, 30, 30, 30}},
     {.exits = 1}},
    {"complete slices that overlap last as long as they say, and none is inside of another",
     {0},
     {{'X', 0, 0, 'a', 100}, {'X', 0, 90, 'b', 100}, {'X', 0, 150, 'd', 20}, {'X', 0, 185, 'c', 65}},
     {{"a", NULL, 0, 1, 0, 0, 100, 100, 100, 100, 100},
      {"b", NULL, 0, 1, 0, 0, 100, 80, 100, 100, 100},
      {"c", NULL, 0, 1, 0, 0, 65, 65, 65, 65, 65},
      {"d", NULL, 0, 1, 0, 0, 20, 20, 20, 20, 20}},
     {0}},
    {"self is without the union of what is directly inside; one of a name beside another is no recursion",
     {0},
     {{'X', 0, 0, 'p', 1000},
      {'X', 0, 100, 'a', 400},
      {'X', 0, 300, 'a', 400},
      {'X', 0, 600, 'a', 300},
      {'X', 0, 650, 'p', 10}},
     {{"a", NULL, 0, 3, 0, 0, 1100, 1090, 300, 400, 400}, {"p", NULL, 0, 2, 0, 0, 1000, 210, 10, 10, 1000}},
     {0}},
    {"an overhang of a nanosecond is rounding",
     {0},
     {{'X', 0, 0, 'p', 1000}, {'X', 0, 0, 'a', 401}, {'X', 0, 400, 'b', 100}, {'X', 0, 900, 'c', 101}},
     {{"a", NULL, 0, 1, 0, 0, 401, 401, 401, 401, 401},
      {"b", NULL, 0, 1, 0, 0, 100, 100, 100, 100, 100},
      {"c", NULL, 0, 1, 0, 0, 101, 101, 101, 101, 101},
      {"p", NULL, 0, 1, 0, 0, 1000, 400, 1000, 1000, 1000}},
     {0}},
    {"a begin inside of a complete slice ends at its end",
     {0},
     {{'B', 0, 0, 'p', 0}, {'X', 0, 0, 'a', 100}, {'B', 0, 50, 'b', 0}, {'E', 0, 150, 'b', 0}, {'E', 0, 200, 'p', 0}},
     {{"a", NULL, 0, 1, 0, 0, 100, 100, 100, 100, 100},
      {"b", NULL, 0, 1, 0, 0, 100, 100, 100, 100, 100},
      {"p", NULL, 0, 1, 0, 0, 200, 50, 200, 200, 200}},
     {0}},
    {"what ends with the complete slice around it is inside of it, also where another one begins just then",
     {0},
     {{'X', 0, 0, 'a', 20}, {'B', 0, 10, 'b', 0}, {'X', 0, 20, 'c', 50}, {'E', 0, 20, 'b', 0}},
     {{"a", NULL, 0, 1, 0, 0, 20, 10, 20, 20, 20},
      {"b", NULL, 0, 1, 0, 0, 10, 10, 10, 10, 10},
      {"c", NULL, 0, 1, 0, 0, 50, 50, 50, 50, 50}},
     {0}},
    {"what ends later than the complete slice around it is beside it, and around another one that begins just then",
     {0},
     {{'X', 0, 0, 'a', 20}, {'B', 0, 10, 'b', 0}, {'X', 0, 20, 'c', 50}, {'E', 0, 80, 'b', 0}},
     {{"a", NULL, 0, 1, 0, 0, 20, 20, 20, 20, 20},
      {"b", NULL, 0, 1, 0, 0, 70, 20, 70, 70, 70},
      {"c", NULL, 0, 1, 0, 0, 50, 50, 50, 50, 50}},
     {0}},
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
    {"short calls do not exist, but those that are open",
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
     {{"a", NULL, 0, 1, 0, 0, 100, 90, 100, 100, 100},
      {"b", NULL, 0, 1, 0, 0, 10, 10, 10, 10, 10},
      {"f", NULL, 0, 1, 1, 0, 0, 0, 0, 0, 0}},
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
    {"what begins in a complete slice may end after it, and a complete slice after what it begins in",
     {0},
     {{'X', 0, 0, 'b', 8},
      {'B', 0, 2, 'c', 0},
      {'E', 0, 9, 'c', 0},
      {'B', 0, 10, 'a', 0},
      {'X', 0, 11, 'b', 100},
      {'E', 0, 20, 'a', 0}},
     {{"a", NULL, 0, 1, 0, 0, 10, 10, 10, 10, 10},
      {"b", NULL, 0, 2, 0, 0, 108, 108, 8, 8, 100},
      {"c", NULL, 0, 1, 0, 0, 7, 7, 7, 7, 7}},
     {0}},
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
      {"b", NULL, 0, 1, 0, 0, 10, 10, 10, 10, 10},
      {"c", NULL, 0, 1, 0, 0, 100, 100, 100, 100, 100}},
     {.exits = 2}},
    {"an end with a name ends no complete slice of that name",
     {0},
     {{'X', 0, 0, 'a', 8},
      {'E', 0, 5, 'a', 0},
      {'B', 0, 10, 'b', 0},
      {'X', 0, 20, 'b', 100},
      {'E', 0, 50, 'b', 0},
      {'I', 0, 60, 'd', 0}},
     {{"a", NULL, 0, 1, 0, 0, 8, 8, 8, 8, 8}, {"b", NULL, 0, 2, 0, 0, 140, 140, 40, 40, 100}},
     {.exits = 1}},
    {"complete slices that last beyond the last event",
     {0},
     {{'B', 0, 0, 'a', 0}, {'X', 0, 10, 'b', 90}, {'B', 0, 20, 'c', 0}, {'I', 0, 30, 'd', 0}},
     {{"a", NULL, 0, 1, 1, 0, 100, 10, 0, 0, 0},
      {"b", NULL, 0, 1, 0, 0, 90, 10, 90, 90, 90},
      {"c", NULL, 0, 1, 1, 0, 80, 80, 0, 0, 0}},
     {0}},
    {"what has no end is open until the last event, though a complete slice around it is over",
     {0},
     {{'X', 0, 10, 'a', 10}, {'B', 0, 12, 'b', 0}, {'I', 0, 50, 'd', 0}},
     {{"a", NULL, 0, 1, 0, 0, 10, 10, 10, 10, 10}, {"b", NULL, 0, 1, 1, 0, 38, 38, 0, 0, 0}},
     {0}},
    {"of complete slices that overlap, the second lasts as long as it says, though nothing follows",
     {0},
     {{'X', 0, 0, 'a', 10}, {'X', 0, 5, 'b', 20}},
     {{"a", NULL, 0, 1, 0, 0, 10, 10, 10, 10, 10}, {"b", NULL, 0, 1, 0, 0, 20, 20, 20, 20, 20}},
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

static void test_rows_of_each_scene(void **state)
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

SUITE(profile)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_rows_of_each_scene),
	    cmocka_unit_test(test_totals_stay_at_the_end),
	    cmocka_unit_test(test_row_tells_the_function),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
