/* test_library_files.c - public functions that write files, and readers of several. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"
#include "library.h"
#include "suite.h"
#include "xtrace_bytes.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { TRACKS = 16 };

/* ---- Pictures and lists as files. ---- */

static char *path_of(const char *ending)
{
	static char path[64];
	snprintf(path, sizeof path, "/tmp/test_library.%d%s", (int)getpid(), ending);
	return path;
}

/* Returns the text of a file, which is removed; the caller frees it. */
static char *take_text(const char *path)
{
	size_t size;
	char *text = read_text(path, &size);
	unlink(path);
	return text;
}

static struct tw_calltree *read_tree(void)
{
	struct tw_calltree *tree;
	struct tw_reader *reader = open_stacks();
	assert_int_equal(tw_calltree_new(&tree, NULL), 0);
	assert_int_equal(tw_calltree_add(tree, reader), 0);
	tw_close(reader);
	return tree;
}

static struct tw_profile *read_profile(enum tw_profile_by by)
{
	const struct tw_profile_options options = {.by = by};
	struct tw_profile *profile;
	struct tw_reader *reader = open_stacks();
	assert_int_equal(tw_profile_new(&profile, &options), 0);
	assert_int_equal(tw_profile_add(profile, reader), 0);
	tw_close(reader);
	return profile;
}

static void test_folded(void **state)
{
	(void)state;
	struct tw_calltree *tree = read_tree();
	const char *path = path_of(".folded");
	assert_int_equal(tw_folded_write(tree, path), 0);
	char *text = take_text(path);
	assert_string_equal(text, "main;a 3\nmain;a;c 2\nmain;b 5\n");
	free(text);
	tw_calltree_free(tree);
}

static void test_flame(void **state)
{
	(void)state;
	struct tw_calltree *tree = read_tree();
	const struct tw_flame_options options = {.title = "Ten samples"};
	static const char *const endings[] = {".svg", ".html"}, *const begins[] = {"<?xml", "<!DOCTYPE html>"};
	for (size_t i = 0; i < 2; i++) {
		const char *path = path_of(endings[i]);
		assert_int_equal(tw_flame_write(tree, path, &options), 0);
		char *text = take_text(path);
		assert_int_equal(strncmp(text, begins[i], strlen(begins[i])), 0);
		assert_non_null(strstr(text, "Ten samples"));
		assert_non_null(strstr(text, "10 samples in 4 frames"));
		assert_non_null(strstr(text, ">main</text>"));
		free(text);
	}
	assert_int_equal(tw_flame_write(tree, "/nonexistent/flame.svg", NULL), TW_ERR_SYSTEM);
	tw_calltree_free(tree);
}

static void test_graph(void **state)
{
	(void)state;
	struct tw_profile *functions = read_profile(TW_BY_FUNCTION), *callers = read_profile(TW_BY_CALLER);
	const struct tw_graph_options options = {.form = TW_GRAPH_JSON};
	const char *path = path_of(".json");
	assert_int_equal(tw_graph_write(functions, callers, path, &options), 0);
	char *text = take_text(path);
	static const char *const expected[] = {
	    "\"id\":0,\"name\":\"a\"",         "\"id\":1,\"name\":\"b\"",         "\"id\":2,\"name\":\"c\"",
	    "\"id\":3,\"name\":\"main\"",      "\"from\":3,\"to\":0,\"count\":3", "\"from\":3,\"to\":1,\"count\":5",
	    "\"from\":0,\"to\":2,\"count\":2",
	};
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
		if (!strstr(text, expected[i]))
			fail_msg("no %s in %s", expected[i], text);
	free(text);
	tw_profile_free(functions);
	tw_profile_free(callers);
}

/* ---- Readers. ---- */

/* Adds the events of each track, by its thread. */
static void count_events(struct tw_reader *reader, uint64_t threads[TRACKS], size_t counts[TRACKS])
{
	struct tw_batch batch;
	int status;
	while ((status = tw_read(reader, &batch)) > 0) {
		for (size_t i = 0; i < batch.count; i++) {
			const struct tw_dictionary *dictionary = tw_reader_dictionary(reader);
			uint64_t thread = tw_dictionary_track(dictionary, batch.events[i].track)->thread;
			size_t at = 0;
			while (counts[at] && threads[at] != thread)
				at++;
			assert_true(at < TRACKS - 1);
			threads[at] = thread;
			counts[at]++;
		}
	}
	assert_int_equal(status, 0);
}

/* A track is in one of the parts, whole; together they hold all. */
static void test_shards(void **state)
{
	(void)state;
	const struct tw_read_options options = {.order = TW_ORDER_TRACK};
	uint64_t threads[TRACKS] = {0}, of_part[2][TRACKS] = {{0}};
	size_t counts[TRACKS] = {0}, in_part[2][TRACKS] = {{0}}, found = 0;
	struct tw_reader *whole = open_data("xray/v5.xray", &options);
	count_events(whole, threads, counts);
	tw_close(whole);
	whole = open_data("xray/v5.xray", &options);
	for (unsigned i = 0; i < 2; i++) {
		struct tw_reader *part;
		assert_int_equal(tw_open_shard(&part, whole, i, 2), 0);
		count_events(part, of_part[i], in_part[i]);
		assert_true(in_part[i][0] > 0);
		tw_close(part);
	}
	for (size_t i = 0; i < TRACKS; i++)
		for (size_t k = 0; counts[i] && k < 2 * TRACKS; k++)
			if (in_part[k / TRACKS][k % TRACKS] && of_part[k / TRACKS][k % TRACKS] == threads[i]) {
				assert_int_equal(in_part[k / TRACKS][k % TRACKS], counts[i]);
				found++;
			}
	assert_int_equal(found, 2);
	tw_close(whole);
}

/* The order of the file goes from track to track: it cannot be parted. */
static void test_order_without_shards(void **state)
{
	(void)state;
	const struct tw_read_options options = {.order = TW_ORDER_FILE};
	struct tw_reader *whole = open_data("xray/v5.xray", &options), *part;
	assert_int_equal(tw_open_shard(&part, whole, 0, 2), TW_ERR_UNSUPPORTED);
	tw_close(part);
	tw_close(whole);
}

/* What oneshot_all.expected.txt, which the archive's writer made, says of its provider. */
static void test_providers(void **state)
{
	(void)state;
	struct tw_reader *reader = open_data("fxt/oneshot_all.fxt", NULL);
	const struct tw_dictionary *dictionary = tw_reader_dictionary(reader);
	struct tw_batch batch;
	while (tw_read(reader, &batch) > 0)
		continue;
	assert_int_equal(tw_dictionary_providers(dictionary), 2);
	const struct tw_provider *provider = tw_dictionary_provider(dictionary, 1);
	assert_int_equal(provider->id, 1);
	assert_int_equal(provider->ticks_per_second, 24000000);
	assert_string_equal(tw_dictionary_name(dictionary, provider->name)->text, "shim-engine");
	assert_int_equal(tw_dictionary_provider(dictionary, 2)->name, 0);
	tw_close(reader);
}

/* What is read in order of time waits in a window; records do not. */
static void test_records_in_any_order(void **state)
{
	(void)state;
	static const char trace[] = "[{\"ph\":\"B\",\"ts\":1,\"pid\":1,\"tid\":1,\"name\":\"a\"},"
				    "{\"ph\":\"E\",\"ts\":2,\"pid\":1,\"tid\":1}]";
	for (int order = TW_ORDER_TRACK; order <= TW_ORDER_COPY; order++) {
		const struct tw_read_options options = {.order = (enum tw_order)order};
		struct tw_reader *reader;
		struct tw_record record;
		assert_int_equal(tw_open_memory(&reader, "chrome", trace, sizeof trace - 1, &options), 0);
		assert_int_equal(tw_read_record(reader, &record), 1);
		assert_int_equal(record.offset, 1);
		assert_int_equal(tw_read_record(reader, &record), 1);
		assert_int_equal(record.offset, 46);
		assert_int_equal(tw_read_record(reader, &record), 0);
		tw_close(reader);
	}
}

static const char *path_of_thread(const char *directory, unsigned thread)
{
	static char path[128];
	snprintf(path, sizeof path, "%s/xtrace.1.%u.hint9.xinsndata.bin", directory, thread);
	return path;
}

static void write_tokens(const char *directory, unsigned thread, const uint8_t *tokens, size_t size)
{
	FILE *file = fopen(path_of_thread(directory, thread), "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(tokens, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

/* Writes `nop` at two addresses as all that a thread of an xtrace executes. */
static void write_thread(const char *directory, unsigned thread)
{
	write_tokens(directory, thread, BYTES(PCINST(0x1000, 0xd503201f), INST(0xd503201f)));
}

/* `bl` to a function whose first instruction loads: 4 bytes by an `ldr` of 8. Begins of calls as "THREAD@TIME ". */
static void read_calls(const char *directory, enum tw_order order, enum tw_checking checking, char *calls,
                       struct found *found)
{
	const struct tw_read_options options = {.order = order,
	                                        .checking = checking,
	                                        .on_finding = note_finding,
	                                        .finding_context = found};
	struct tw_reader *reader;
	struct tw_batch batch;
	int status;
	assert_int_equal(tw_open(&reader, directory, &options), 0);
	while ((status = tw_read(reader, &batch)) > 0) {
		for (size_t i = 0; i < batch.count; i++) {
			const struct tw_event *event = &batch.events[i];
			if (event->kind == TW_SLICE_BEGIN)
				calls += sprintf(
				    calls, "%d@%d ",
				    (int)tw_dictionary_track(tw_reader_dictionary(reader), event->track)->thread,
				    (int)event->time);
		}
	}
	assert_int_equal(status, 0);
	tw_close(reader);
}

/* The first access of all is thread 2's: thread 1 begins when that is done, two instructions later. */
static void test_clock_of_threads_that_are_checked(void **state)
{
	(void)state;
	char directory[] = "/tmp/test_library.XXXXXX";
	assert_non_null(mkdtemp(directory));
	write_tokens(directory, 1,
	             BYTES(PCINST(0x1000, 0x94000040), PCINST(0x1100, 0xf9400001), LOAD4(64), TIME(5),
	                   INST(0xd503201f)));
	write_tokens(directory, 2, BYTES(PCINST(0x2000, 0x94000040), PCINST(0x2100, 0xf9400001), LOAD8(64), TIME(2)));
	for (unsigned order = TW_ORDER_TRACK; order <= TW_ORDER_COPY; order++) {
		for (unsigned checking = TW_CHECK_DAMAGE; checking <= TW_CHECK_ALL; checking++) {
			struct found found = {""};
			char calls[64] = "";
			read_calls(directory, order, checking, calls, &found);
			assert_string_equal(calls, "2@0 2@1 1@2 1@3 ");
			assert_int_equal(strstr(found.text, "xtrace.access-missing@13") != NULL,
			                 checking == TW_CHECK_ALL);
		}
	}
	unlink(path_of_thread(directory, 1));
	unlink(path_of_thread(directory, 2));
	rmdir(directory);
}

static void count_limits(void *context, const struct tw_finding *finding)
{
	*(unsigned *)context += strcmp(finding->rule, "xtrace.memory-limit") == 0;
}

/* Functions that call one another, more than fit into 64 KiB. That is told once. */
static void test_limit_of_threads_that_are_checked(void **state)
{
	enum { CALLS = 1000, SIZE = 13 };
	uint8_t tokens[CALLS * SIZE];
	(void)state;
	char directory[] = "/tmp/test_library.XXXXXX";
	assert_non_null(mkdtemp(directory));
	for (uint64_t i = 0; i < CALLS; i++) {
		const uint8_t token[SIZE] = {PCINST(0x10000 + 0x100 * i, 0x94000040)};
		memcpy(tokens + i * SIZE, token, SIZE);
	}
	write_tokens(directory, 1, tokens, sizeof tokens);
	write_thread(directory, 2);
	for (unsigned checking = TW_CHECK_DAMAGE; checking <= TW_CHECK_ALL; checking++) {
		unsigned limits = 0;
		const struct tw_read_options options = {.checking = checking,
		                                        .memory_limit = 1 << 16,
		                                        .on_finding = count_limits,
		                                        .finding_context = &limits};
		struct tw_reader *reader;
		struct tw_batch batch;
		assert_int_equal(tw_open(&reader, directory, &options), 0);
		while (tw_read(reader, &batch) > 0)
			;
		tw_close(reader);
		assert_int_equal(limits, 1);
	}
	unlink(path_of_thread(directory, 1));
	unlink(path_of_thread(directory, 2));
	rmdir(directory);
}

/* The caller's path may go when a directory is open, though each of its threads is opened later. */
static void test_path_of_directory(void **state)
{
	(void)state;
	char directory[] = "/tmp/test_library.XXXXXX", path[64];
	assert_non_null(mkdtemp(directory));
	write_thread(directory, 1);
	write_thread(directory, 2);
	const struct tw_study_options options = {.kind = TW_STUDY_INSNS, .jobs = 2};
	struct tw_reader *reader;
	struct tw_study *study;
	strcpy(path, directory);
	assert_int_equal(tw_open(&reader, path, NULL), 0);
	memset(path, 'x', strlen(path));
	assert_int_equal(tw_study_read(&study, reader, &options), 0);
	assert_int_equal(tw_study_instructions(study), 4);
	tw_study_free(study);
	tw_close(reader);
	unlink(path_of_thread(directory, 1));
	unlink(path_of_thread(directory, 2));
	assert_int_equal(rmdir(directory), 0);
}

/* A million lines of a simulated cache are 8 MB. */
static void test_study_without_room(void **state)
{
	(void)state;
	char directory[] = "/tmp/test_library.XXXXXX";
	assert_non_null(mkdtemp(directory));
	write_thread(directory, 1);
	const struct tw_study_options options = {
	    .kind = TW_STUDY_CACHE,
	    .memory_limit = 1 << 20,
	    .levels = {{.size = 1 << 26, .ways = 16, .line = 64}},
	    .level_count = 1,
	};
	struct tw_reader *reader;
	struct tw_study *study;
	assert_int_equal(tw_open(&reader, directory, NULL), 0);
	assert_int_equal(tw_study_read(&study, reader, &options), TW_ERR_LIMIT);
	assert_string_equal(tw_reader_error(reader), "the memory limit was reached");
	tw_study_free(study);
	tw_close(reader);
	unlink(path_of_thread(directory, 1));
	assert_int_equal(rmdir(directory), 0);
}

static int stop_at_second(void *context, const struct tw_counter_sample *sample)
{
	(void)sample;
	return ++*(unsigned *)context == 2 ? 42 : 0;
}

/* Whoever looks at samples ends it by any number that is not 0, and gets it back. */
static void test_stopped_counters(void **state)
{
	(void)state;
	unsigned seen = 0;
	const struct tw_read_options by_time = {.order = TW_ORDER_TIME};
	const struct tw_counters_options options = {.on_sample = stop_at_second, .context = &seen};
	struct tw_reader *reader = open_data("chrome/phases.json", &by_time);
	struct tw_counters *counters;
	assert_int_equal(tw_counters_new(&counters, &options), 0);
	assert_int_equal(tw_counters_add(counters, reader), 42);
	assert_int_equal(seen, 2);
	tw_counters_free(counters);
	tw_close(reader);
}

/* An archive is no source of Chrome's JSON record by record: nothing is written, and its events can be read. */
static void test_transcode_to_another_format(void **state)
{
	(void)state;
	const struct tw_write_options options = {.format = "chrome"};
	const char *path = path_of(".json");
	struct tw_reader *reader = open_data("fxt/oneshot_all.fxt", NULL);
	struct tw_rewrite_result result;
	struct tw_batch batch;
	assert_int_equal(tw_transcode(reader, path, &options, &result), TW_ERR_UNSUPPORTED);
	assert_int_equal(access(path, F_OK), -1);
	assert_true(tw_read(reader, &batch) > 0);
	tw_close(reader);
}

/* Four archives, one behind the other, of which a half is gone before the second is looked at. */
static void test_survey_of_a_file_that_is_cut(void **state)
{
	(void)state;
	char source[512];
	char *path = path_of(".fxt");
	size_t size;
	struct tw_reader *reader;
	struct tw_info info;
	snprintf(source, sizeof source, "%s/fxt/streaming.fxt", getenv("TW_TEST_DATA"));
	char *bytes = read_text(source, &size);
	FILE *file = fopen(path, "wb");
	for (int i = 0; i < 4; i++)
		assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
	assert_int_equal(tw_open(&reader, path, NULL), 0);
	assert_int_equal(truncate(path, (off_t)(2 * size)), 0);
	assert_int_equal(tw_read_info(reader, 1, &info), TW_ERR_SYSTEM);
	assert_non_null(strstr(tw_reader_error(reader), "was cut while it was read"));
	tw_close(reader);
	unlink(path);
	free(bytes);
}

SUITE(library_files)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_folded),
	    cmocka_unit_test(test_flame),
	    cmocka_unit_test(test_graph),
	    cmocka_unit_test(test_shards),
	    cmocka_unit_test(test_order_without_shards),
	    cmocka_unit_test(test_providers),
	    cmocka_unit_test(test_records_in_any_order),
	    cmocka_unit_test(test_clock_of_threads_that_are_checked),
	    cmocka_unit_test(test_limit_of_threads_that_are_checked),
	    cmocka_unit_test(test_path_of_directory),
	    cmocka_unit_test(test_study_without_room),
	    cmocka_unit_test(test_stopped_counters),
	    cmocka_unit_test(test_transcode_to_another_format),
	    cmocka_unit_test(test_survey_of_a_file_that_is_cut),
	};
	return cmocka_run_group_tests_name("library_files", tests, NULL, NULL);
}
