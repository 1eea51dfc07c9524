/* test_merge.c - several traces as one, asked for in ways that the command does not. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <trackway/reader.h>

#include "core/tool.h"

#include "suite.h"

enum { PATH = 4096, MANY = 300 /* more than are open at once */ };

static const char *path_of(char path[PATH], const char *name)
{
	const char *data = getenv("TW_TEST_DATA");
	assert_non_null(data);
	snprintf(path, PATH, "%s/%s", data, name);
	return path;
}

static unsigned open_files(void)
{
	unsigned count = 0;
	DIR *directory = opendir("/proc/self/fd");
	assert_non_null(directory);
	while (readdir(directory))
		count++;
	closedir(directory);
	return count;
}

/* The last trace does not have the marker that all others have: whoever reads on after that is told the same, and
 * nothing is read again. */
static void test_failed_and_read_on(void **state)
{
	(void)state;
	char with[PATH], without[PATH];
	struct tw_merge_source sources[MANY];
	const struct tw_merge_options how = {.alignment = TW_ALIGN_MARKERS, .markers = {"step"}};
	for (size_t i = 0; i < MANY; i++)
		sources[i] = (struct tw_merge_source){.path = path_of(with, "fxt/oneshot_all.fxt")};
	sources[MANY - 1].path = path_of(without, "fxt/streaming.fxt");
	unsigned before = open_files(), after_one = 0;
	struct tw_reader *reader;
	struct tw_batch batch;
	assert_int_equal(tw_open_merged(&reader, sources, MANY, &how, NULL), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(tw_read(reader, &batch), TW_ERR_VALUE);
		assert_int_equal(batch.count, 0);
		assert_non_null(strstr(tw_reader_error(reader), "streaming.fxt has no event \"step\""));
		after_one = i == 0 ? open_files() : after_one;
		assert_int_equal(open_files(), after_one);
	}
	tw_close(reader);
	assert_int_equal(open_files(), before);
}

/* Rows of one time are those of the first trace, then those of the second. */
static void test_equal_times(void **state)
{
	(void)state;
	char path[PATH];
	const struct tw_merge_source source = {.path = path_of(path, "fxt/oneshot_all.fxt")},
				     sources[] = {source, source};
	struct tw_reader *reader;
	struct tw_batch batch;
	struct tw_track own;
	uint64_t time = 0;
	size_t before = 0, second = 0;
	assert_int_equal(tw_open_merged(&reader, sources, 2, NULL, NULL), 0);
	while (tw_read(reader, &batch) > 0)
		for (size_t i = 0; i < batch.count; i++) {
			const struct tw_event *event = &batch.events[i];
			const struct tw_track *track = tw_dictionary_track(tw_reader_dictionary(reader), event->track);
			size_t from;
			if (!tw_merged_source(reader, track, &from, &own))
				continue;
			assert_true(event->time > time || from >= before);
			time = event->time;
			before = from;
			second += from;
		}
	assert_true(second > 0);
	tw_close(reader);
}

static void assert_unchanged(const struct tw_reader *reader, size_t i)
{
	struct tw_merge_shift shift = {1, 2, 3};
	tw_merged_shift(reader, i, &shift);
	assert_true(shift.shift_ns == 0 && shift.pivot_ns == 0 && shift.scale == 1);
}

/* Asked of a source that is not there, or of a reader that merges nothing. */
static void test_shift_of_none(void **state)
{
	(void)state;
	char path[PATH];
	const struct tw_merge_source source = {.path = path_of(path, "fxt/oneshot_all.fxt"), .offset_ns = 7};
	struct tw_reader *reader;
	struct tw_batch batch;
	struct tw_merge_shift shift;
	assert_int_equal(tw_open_merged(&reader, &source, 1, NULL, NULL), 0);
	assert_true(tw_read(reader, &batch) > 0);
	tw_merged_shift(reader, 0, &shift);
	assert_true(shift.shift_ns != 0 && shift.scale == 1);
	assert_unchanged(reader, 1);
	assert_unchanged(reader, SIZE_MAX);
	tw_close(reader);
	assert_int_equal(tw_open(&reader, path, NULL), 0);
	assert_unchanged(reader, 0);
	tw_close(reader);
}

static void test_markers_of_none(void **state)
{
	(void)state;
	char path[PATH];
	const struct tw_merge_source source = {.path = path_of(path, "fxt/oneshot_all.fxt")};
	const struct tw_merge_options how = {.alignment = TW_ALIGN_MARKERS};
	struct tw_reader *reader;
	assert_int_equal(tw_open_merged(&reader, &source, 1, &how, NULL), TW_ERR_VALUE);
	assert_non_null(strstr(tw_reader_error(reader), "there is no marker"));
	tw_close(reader);
}

/* Each log is read twice, once for its marker; what that took is given back, which a sanitizer sees. */
static void test_markers_of_xray(void **state)
{
	(void)state;
	char first[PATH], second[PATH];
	const struct tw_merge_source sources[] = {{.path = path_of(first, "xray/v5.xray")},
	                                          {.path = path_of(second, "xray/v4.xray")}};
	const struct tw_merge_options there = {.alignment = TW_ALIGN_MARKERS, .markers = {"#2"}},
				      missing = {.alignment = TW_ALIGN_MARKERS, .markers = {"none"}};
	struct tw_reader *reader;
	assert_int_equal(tw_open_merged(&reader, sources, 2, &there, NULL), 0);
	tw_close(reader);
	assert_int_equal(tw_open_merged(&reader, sources, 2, &missing, NULL), TW_ERR_VALUE);
	assert_non_null(strstr(tw_reader_error(reader), "has no event \"none\""));
	tw_close(reader);
}

enum { EVENTS = 1 << 16, EVENTS_AT = 64, EVENT_SIZE = 16 };

/* Makes an archive of 1 MB, four chunks: a clock, a string, a thread, and an instant each microsecond. */
static void make_archive(const char *path)
{
	static const uint64_t start[] = {
	    0x0016547846040010, 0x21,     1000000000, /* the magic number, the clock */
	    0x0000000300010022, 0x656e6f,             /* string 1 */
	    0x0000000000010033, 7,        8,          /* thread 1 */
	};
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(start, sizeof start, 1, file), 1);
	for (uint64_t i = 0; i < EVENTS; i++)
		assert_int_equal(fwrite((const uint64_t[]){0x1000101000024, 1000 * i}, EVENT_SIZE, 1, file), 1);
	assert_int_equal(fclose(file), 0);
}

/* Gives an event another time. */
static void change_archive(const char *path, long event)
{
	FILE *file = fopen(path, "r+b");
	assert_non_null(file);
	assert_int_equal(fseek(file, EVENTS_AT + event * EVENT_SIZE + 8, SEEK_SET), 0);
	assert_int_equal(fwrite((const uint64_t[]){1}, 8, 1, file), 1);
	assert_int_equal(fclose(file), 0);
}

/* Chunks of three archives wait in the file: nothing is made of one that is another when its time has come. Those of two
 * stay in memory. */
static void test_changed_archive(void **state)
{
	(void)state;
	char paths[3][32] = {"/tmp/merge_a_XXXXXX", "/tmp/merge_b_XXXXXX", "/tmp/merge_c_XXXXXX"};
	for (int i = 0; i < 3; i++) {
		const int descriptor = mkstemp(paths[i]);
		assert_true(descriptor >= 0);
		close(descriptor);
		make_archive(paths[i]);
	}
	const struct tw_merge_source sources[] = {{.path = paths[0]}, {.path = paths[1]}, {.path = paths[2]}};
	for (size_t archives = 2, changes = 0; archives <= 3; archives += changes, changes = !changes) {
		const bool fails = changes && archives > 2;
		struct tw_reader *reader;
		struct tw_batch batch;
		size_t count = 0;
		int status;
		make_archive(paths[1]);
		assert_int_equal(tw_open_merged(&reader, sources, archives, NULL, NULL), 0);
		while ((status = tw_read(reader, &batch)) > 0) {
			if (changes && count == 0)
				change_archive(paths[1], EVENTS - 9);
			count += batch.count;
		}
		assert_int_equal(status, fails ? TW_ERR_SYSTEM : 0);
		assert_true(fails ? count < archives * EVENTS : count == archives * EVENTS);
		if (fails)
			assert_non_null(strstr(tw_reader_error(reader), ": changed while it was read"));
		tw_close(reader);
	}
	for (int i = 0; i < 3; i++)
		remove(paths[i]);
}

SUITE(merge)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_failed_and_read_on), cmocka_unit_test(test_equal_times),
	    cmocka_unit_test(test_shift_of_none),      cmocka_unit_test(test_markers_of_none),
	    cmocka_unit_test(test_markers_of_xray),    cmocka_unit_test(test_changed_archive),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
