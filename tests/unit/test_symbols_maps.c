/* test_symbols_maps.c - names of what lists say is loaded where. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "scratch.h"
#include "suite.h"

#include <trackway/symbols.h>

#include <limits.h>
#include <stdint.h>
#include <string.h>

/* ---- Lists of what is loaded where. ---- */

/* How far apart the places of the lists are. */
static const uint64_t distance = UINT64_C(1) << 40;

/* What of the test program itself is loaded where, as the system tells it. */
struct own_lines {
	char path[PATH_MAX];
	struct {
		uint64_t start, end, offset;
		char access[5];
	} lines[32];
	size_t count;
};

static void read_own_lines(struct own_lines *own)
{
	char line[PATH_MAX + 128];
	ssize_t length = readlink("/proc/self/exe", own->path, sizeof own->path - 1);
	assert_true(length > 0);
	own->path[length] = '\0';
	own->count = 0;
	FILE *maps = fopen("/proc/self/maps", "r");
	assert_non_null(maps);
	while (fgets(line, sizeof line, maps) && own->count < 32) {
		char *path = strchr(line, '/'), *at;
		line[strcspn(line, "\n")] = '\0';
		if (!path || strcmp(path, own->path) != 0)
			continue;
		own->lines[own->count].start = strtoull(line, &at, 16);
		own->lines[own->count].end = strtoull(at + 1, &at, 16);
		memcpy(own->lines[own->count].access, at + 1, 4);
		own->lines[own->count++].offset = strtoull(at + 5, NULL, 16);
	}
	fclose(maps);
	assert_true(own->count > 1);
}

/* Appends the lines of a place, the last first where `reversed`. */
static void put_own_lines(FILE *list, const struct own_lines *own, uint64_t place, bool reversed, const char *path)
{
	for (size_t n = 0; n < own->count; n++) {
		size_t i = reversed ? own->count - 1 - n : n;
		unsigned long long start = own->lines[i].start + place * distance;
		unsigned long long end = own->lines[i].end + place * distance, offset = own->lines[i].offset;
		fprintf(list, "%llx-%llx %s %08llx 00:00 0 %s\n", start, end, own->lines[i].access, offset, path);
	}
}

/* Whether a function of this file has its name at a place. */
static bool is_named(struct tw_symbols *program, uint64_t place)
{
	const struct tw_namer *namer = tw_symbols_namer(program);
	uint64_t address = (uint64_t)(uintptr_t)read_own_lines + place * distance;
	struct tw_name name;
	struct tw_range range;
	if (!namer->address(namer->context, address, &name, &range))
		return false;
	assert_string_equal(name.text, "read_own_lines");
	assert_int_equal(range.start, address);
	return true;
}

static FILE *begin_list(const struct scratch *scratch)
{
	FILE *list = fopen(scratch->path, "w");
	assert_non_null(list);
	return list;
}

static void names_a_library_wherever_it_was_loaded(void **state)
{
	const struct scratch *scratch = *state;
	static const uint64_t places[] = {3, 1, 2, 7};
	struct own_lines own = {0};
	struct tw_symbols *program;
	read_own_lines(&own);
	FILE *list = begin_list(scratch);
	for (size_t i = 0; i < 4; i++)
		put_own_lines(list, &own, places[i], false, own.path);
	put_own_lines(list, &own, 1, false, own.path);
	fclose(list);
	assert_int_equal(tw_symbols_new(&program), 0);
	assert_int_equal(tw_symbols_add_maps(program, scratch->path), 0);
	for (size_t i = 0; i < 4; i++)
		assert_true(is_named(program, places[i]));
	assert_false(is_named(program, 0));
	assert_false(is_named(program, 4));
	tw_symbols_close(program);
}

static void names_a_library_whose_lines_stand_in_any_order(void **state)
{
	const struct scratch *scratch = *state;
	struct own_lines own = {0};
	struct tw_symbols *program;
	read_own_lines(&own);
	FILE *list = begin_list(scratch);
	put_own_lines(list, &own, 0, true, own.path);
	unsigned long long start = own.lines[0].start + 5 * distance;
	fprintf(list, "%llx %s\n", start, own.path);
	fclose(list);
	assert_int_equal(tw_symbols_new(&program), 0);
	assert_int_equal(tw_symbols_add_maps(program, scratch->path), 0);
	assert_true(is_named(program, 0) && is_named(program, 5));
	tw_symbols_close(program);
}

static void names_nothing_where_two_files_are_at_one_place(void **state)
{
	const struct scratch *scratch = *state;
	struct own_lines own = {0};
	struct tw_symbols *program;
	read_own_lines(&own);
	FILE *list = begin_list(scratch);
	for (uint64_t place = 1; place < 4; place++)
		put_own_lines(list, &own, place, false, own.path);
	put_own_lines(list, &own, 2, false, "/proc/self/exe");
	put_own_lines(list, &own, 4, false, "/proc/self/exe");
	fclose(list);
	assert_int_equal(tw_symbols_new(&program), 0);
	assert_int_equal(tw_symbols_add_maps(program, scratch->path), 2);
	assert_non_null(strstr(tw_symbols_error(program), "/proc/self/exe: "));
	assert_true(is_named(program, 1) && is_named(program, 3) && is_named(program, 4));
	assert_false(is_named(program, 2));
	tw_symbols_close(program);
}

/* ---- Programs at the same addresses. ---- */

enum { SHIFT = 1 << 12 };

/* The lines of a program that has this file at an address. */
static void put_program_lines(FILE *list, const struct own_lines *own, uint64_t at, const char *program,
                              const char *path)
{
	for (size_t i = 0; i < own->count; i++) {
		unsigned long long start = own->lines[i].start + at, end = own->lines[i].end + at;
		unsigned long long offset = own->lines[i].offset;
		fprintf(list, "%llx-%llx %s %08llx 00:00 %s %s\n", start, end, own->lines[i].access, offset, program,
		        path);
	}
}

/* Whether a function of this file has its name there for a thread. */
static bool is_named_for(struct tw_symbols *program, uint64_t thread, uint64_t at)
{
	const struct tw_thread_namers *namers = tw_symbols_thread_namers(program);
	uint32_t number = 0;
	const struct tw_namer *namer = namers ? namers->find(namers->context, thread, &number) : NULL;
	uint64_t address = (uint64_t)(uintptr_t)read_own_lines + at;
	struct tw_name name;
	struct tw_range range;
	assert_int_equal(namer != NULL, number != 0);
	if (!namer || !namer->address(namer->context, address, &name, &range) || range.start != address ||
	    strcmp(name.text, "read_own_lines") != 0) /* another function may begin there, where the file was moved */
		return false;
	assert_true(name.id == address || name.id == (address | (uint64_t)number << 56));
	return true;
}

static uint32_t number_for(struct tw_symbols *program, uint64_t thread)
{
	const struct tw_thread_namers *namers = tw_symbols_thread_namers(program);
	uint32_t number = 0;
	assert_non_null(namers);
	namers->find(namers->context, thread, &number);
	return number;
}

static void names_each_programs_own_at_one_place(void **state)
{
	const struct scratch *scratch = *state;
	const uint64_t place = 2 * distance;
	struct own_lines own = {0};
	struct tw_symbols *program;
	read_own_lines(&own);
	FILE *list = begin_list(scratch);
	put_program_lines(list, &own, place, "1", own.path);
	fprintf(list, "# thread 11: program 1\n# program 4: as 1 so far\n# thread 14: program 4\n");
	put_program_lines(list, &own, place + SHIFT, "2", "/proc/self/exe");
	put_program_lines(list, &own, place + SHIFT, "3", "/proc/self/exe");
	put_program_lines(list, &own, 5 * distance, "3", own.path);
	fprintf(list, "# thread 12: program 2\n# thread 13: program 3\n# thread 15: program 9\n"
	              "# thread 18446744073709551615: program 2\n");
	fclose(list);
	assert_int_equal(tw_symbols_new(&program), 0);
	assert_int_equal(tw_symbols_add_maps(program, scratch->path), 0);
	assert_false(is_named(program, 2));
	static const struct {
		uint64_t thread;
		uint32_t number;
		bool first, second;
	} cases[] = {{11, 1, true, false},  {12, 2, false, true}, {13, 2, false, true},        {14, 1, true, false},
	             {15, 0, false, false}, {7, 0, false, false}, {UINT64_MAX, 2, false, true}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const uint64_t thread = cases[i].thread;
		assert_int_equal(number_for(program, thread), cases[i].number);
		assert_int_equal(is_named_for(program, thread, place), cases[i].first);
		assert_int_equal(is_named_for(program, thread, place + SHIFT), cases[i].second);
		assert_int_equal(is_named_for(program, thread, 5 * distance), cases[i].number != 0);
	}
	assert_true(is_named(program, 5)); /* where there is one only, it is all programs' */
	tw_symbols_close(program);
}

static void gives_a_child_what_its_parent_had(void **state)
{
	const struct scratch *scratch = *state;
	struct own_lines own = {0};
	struct tw_symbols *program;
	read_own_lines(&own);
	FILE *list = begin_list(scratch);
	put_program_lines(list, &own, 2 * distance, "1", own.path);
	fprintf(list, "# program 2: as 1 so far\n# program 3: as 2 so far\n");
	put_program_lines(list, &own, 4 * distance, "1", own.path);
	put_program_lines(list, &own, 4 * distance + SHIFT, "3", "/proc/self/exe");
	put_program_lines(list, &own, 2 * distance + SHIFT, "4", "/proc/self/exe");
	fprintf(list,
	        "# thread 11: program 1\n# thread 12: program 2\n# thread 13: program 3\n# thread 14: program 4\n");
	fclose(list);
	assert_int_equal(tw_symbols_new(&program), 0);
	assert_int_equal(tw_symbols_add_maps(program, scratch->path), 0);
	static const bool cases[4][4] = {{true, false, true, false},
	                                 {true, false, true, false},
	                                 {true, false, false, true},
	                                 {false, true, false, false}};
	for (uint64_t i = 0; i < 4; i++)
		for (uint64_t at = 0; at < 4; at++)
			assert_int_equal(is_named_for(program, 11 + i, (2 + at / 2 * 2) * distance + at % 2 * SHIFT),
			                 cases[i][at]);
	tw_symbols_close(program);
}

/* Each has what all before it had, and its number is not asked of all of them: that took minutes. */
static void gives_children_of_children_what_all_had(void **state)
{
	enum { CHILDREN = 60, FAR = 1 << 30, MORE = 4000 };
	const struct scratch *scratch = *state;
	struct own_lines own = {0};
	struct tw_symbols *program;
	read_own_lines(&own);
	FILE *list = begin_list(scratch);
	put_program_lines(list, &own, 2 * distance + SHIFT, "9999", "/proc/self/exe");
	put_program_lines(list, &own, 2 * distance, "1", own.path);
	for (unsigned i = 1; i < MORE; i++) {
		fprintf(list, "# program %u: as %u so far\n# thread %u: program %u\n", i + 1, i, 10 + i, i);
		fprintf(list, "%x-%x r-xp 00000000 00:00 %u /nowhere\n", FAR + (i << 12), FAR + ((i + 1) << 12), i + 1);
	}
	fclose(list);
	assert_int_equal(tw_symbols_new(&program), 0);
	assert_true(tw_symbols_add_maps(program, scratch->path) >= 0);
	for (uint64_t i = 1; i < CHILDREN; i++) {
		assert_true(is_named_for(program, 10 + i, 2 * distance));
		assert_false(is_named_for(program, 10 + i, 2 * distance + SHIFT));
	}
	tw_symbols_close(program);
}

/* What is no number, and what tells nothing new, is for people. */
static void takes_no_programs_from_bad_lines(void **state)
{
	static const struct {
		const char *program, *lines;
		int missing;
	} cases[] = {
	    {"2", "", 2},
	    {"2", "# thread\n# thread x: program 1\n# thread 1: program\n# thread 1: program 0\n#thread 1: program 1\n",
	     2},
	    {"2", "# thread 18446744073709551616: program 1\n# thread 1: program 4294967296\n# thread 1: program 1x\n",
	     2},
	    {"2", "# thread -1: program 1\n# thread 1: program -1\n# program 1: as 1 so far\n# program\n", 2},
	    {"0", "# thread 1: program 1\n", 1},
	    {"4294967296", "# thread 1: program 1\n", 1},
	    {"1", "# thread 1: program 1\n", 2},
	    {"2", "# thread 1: program 1\n# thread 1: program 2\n# thread 1: program 1\n", 0},
	    {"2",
	     "# program 2: as 1 so far\n# program 1: as 2 so far\n# program 2: as 2 so far\n# thread 1: program 3\n",
	     2},
	    {"2", "# program 0: as 1 so far\n# program 7: as 0 so far\n# program 7: as 2\n# thread 1: program 7\n", 0},
	};
	const struct scratch *scratch = *state;
	struct own_lines own = {0};
	struct tw_symbols *program;
	read_own_lines(&own);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		FILE *list = begin_list(scratch);
		put_program_lines(list, &own, 2 * distance, "1", own.path);
		fputs(cases[i].lines, list);
		put_program_lines(list, &own, 2 * distance, cases[i].program, "/proc/self/exe");
		put_program_lines(list, &own, 3 * distance, cases[i].program, own.path);
		fclose(list);
		assert_int_equal(tw_symbols_new(&program), 0);
		assert_int_equal(tw_symbols_add_maps(program, scratch->path), cases[i].missing);
		assert_true(is_named(program, 3));
		assert_false(is_named(program, 2));
		assert_false(is_named_for(program, 1, 2 * distance) && cases[i].missing != 1);
		tw_symbols_close(program);
	}
}

SUITE(symbols_maps)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(names_a_library_wherever_it_was_loaded, scratch_set_up, scratch_tear_down),
	    cmocka_unit_test_setup_teardown(names_a_library_whose_lines_stand_in_any_order, scratch_set_up,
	                                    scratch_tear_down),
	    cmocka_unit_test_setup_teardown(names_nothing_where_two_files_are_at_one_place, scratch_set_up,
	                                    scratch_tear_down),
	    cmocka_unit_test_setup_teardown(names_each_programs_own_at_one_place, scratch_set_up, scratch_tear_down),
	    cmocka_unit_test_setup_teardown(gives_a_child_what_its_parent_had, scratch_set_up, scratch_tear_down),
	    cmocka_unit_test_setup_teardown(gives_children_of_children_what_all_had, scratch_set_up, scratch_tear_down),
	    cmocka_unit_test_setup_teardown(takes_no_programs_from_bad_lines, scratch_set_up, scratch_tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
