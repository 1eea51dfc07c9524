/* test_library.c - functions of the public headers that the tool has no use for. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "library.h"
#include "suite.h"
#include "xtrace_bytes.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* ---- The version. ---- */

static void version_is_one_number(void **state)
{
	(void)state;
	unsigned major, minor, patch;
	assert_int_equal(sscanf(TW_VERSION, "%u.%u.%u", &major, &minor, &patch), 3);
	assert_int_equal(TW_VERSION_NUMBER, major << 16 | minor << 8 | patch);
	assert_string_equal(tw_version(), TW_VERSION);
}

/* ---- Numbers that no enumeration has. ---- */

enum { NONE = 77 };

static void no_such_reading(void **state)
{
	(void)state;
	const struct tw_read_options options[] = {{.order = (enum tw_order)NONE},
	                                          {.checking = (enum tw_checking)NONE},
	                                          {.from_ns = 6, .to_ns = 5}};
	for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
		struct tw_reader *reader;
		assert_int_equal(tw_open_memory(&reader, "stacks", stacks, sizeof stacks - 1, &options[i]),
		                 TW_ERR_VALUE);
		tw_close(reader);
	}
	const struct tw_merge_source source = {.path = "-"};
	const struct tw_merge_options merge = {.alignment = (enum tw_alignment)NONE};
	struct tw_reader *merged;
	assert_int_equal(tw_open_merged(&merged, &source, 1, &merge, NULL), TW_ERR_VALUE);
	tw_close(merged);
}

static void no_such_writing(void **state)
{
	(void)state;
	const struct tw_write_options options = {.byte_order = (enum tw_byte_order)NONE};
	for (size_t i = 0; tw_writer_format_name(i); i++) {
		struct tw_writer *writer;
		if (!tw_writer_takes_events(tw_writer_format_name(i)))
			continue;
		assert_int_equal(tw_create(&writer, "-", tw_writer_format_name(i), &options), TW_ERR_VALUE);
		tw_discard(writer);
	}
	struct tw_reader *reader = open_data("xray/v5.xray", NULL);
	struct tw_rewrite_result result;
	assert_int_equal(tw_transcode(reader, "-", &options, &result), TW_ERR_VALUE);
	tw_close(reader);
}

static void no_such_counting(void **state)
{
	(void)state;
	const enum tw_weight weight = (enum tw_weight)NONE;
	assert_null(tw_weight_name(weight));
	assert_int_equal(tw_weight_unit(weight), TW_UNIT_COUNT);
	assert_int_equal(tw_weight_count(weight), TW_WEIGHT_DEFAULT);
	const struct tw_profile_options by[] = {{.weight = weight}, {.by = (enum tw_profile_by)NONE}};
	for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
		struct tw_profile *profile;
		struct tw_diff *diff;
		struct tw_reader *reader = open_stacks();
		assert_int_equal(tw_profile_new(&profile, &by[i]), 0);
		assert_int_equal(tw_profile_add(profile, reader), TW_ERR_VALUE);
		assert_int_equal(tw_diff_new(&diff, profile, profile, (enum tw_diff_by)NONE), TW_ERR_VALUE);
		assert_null(diff);
		tw_profile_free(profile);
		tw_close(reader);
	}
	struct tw_calltree *tree;
	struct tw_reader *reader = open_stacks();
	assert_int_equal(tw_calltree_new(&tree, &(struct tw_calltree_options){.weight = weight}), 0);
	assert_int_equal(tw_calltree_add(tree, reader), TW_ERR_VALUE);
	tw_calltree_free(tree);
	struct tw_study *study;
	const struct tw_study_options options[] = {{.kind = (enum tw_study_kind)NONE},
	                                           {.level_count = TW_STUDY_LEVELS + 1}};
	for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
		assert_int_equal(tw_study_read(&study, reader, &options[i]), TW_ERR_VALUE);
		tw_study_free(study);
	}
	tw_close(reader);
}

static void no_such_report(void **state)
{
	(void)state;
	struct tw_alloc *alloc;
	struct tw_jit *jit;
	struct tw_calltree *tree;
	struct tw_profile *profile;
	struct tw_reader *reader = open_data("tracelog/kinds.log", NULL);
	const struct tw_alloc_options by = {.by = (enum tw_alloc_by)NONE};
	assert_int_equal(tw_alloc_read(&alloc, reader, &by), TW_ERR_VALUE);
	assert_null(tw_alloc_row(alloc, 0));
	tw_alloc_free(alloc);
	tw_close(reader);
	reader = open_data("tracelog/kinds.log", NULL);
	assert_int_equal(tw_jit_read(&jit, reader, &(struct tw_jit_options){.by = (enum tw_jit_by)NONE}), TW_ERR_VALUE);
	assert_null(tw_jit_row(jit, 0));
	tw_jit_free(jit);
	tw_close(reader);
	assert_int_equal(tw_calltree_new(&tree, NULL), 0);
	const struct tw_flame_options flame = {.form = (enum tw_flame_form)NONE};
	assert_int_equal(tw_flame_write(tree, "/dev/null", &flame), TW_ERR_VALUE);
	tw_calltree_free(tree);
	assert_int_equal(tw_profile_new(&profile, NULL), 0);
	const struct tw_graph_options graph = {.form = (enum tw_graph_form)NONE};
	assert_int_equal(tw_graph_write(profile, profile, "/dev/null", &graph), TW_ERR_VALUE);
	tw_profile_free(profile);
}

static void no_such_record(void **state)
{
	(void)state;
	uint8_t bytes[512];
	size_t size;
	const struct tw_fdr_record fdr = {.kind = (enum tw_fdr_kind)NONE};
	assert_int_equal(tw_fdr_encode(&fdr, 5, TW_FDR_LITTLE, bytes, sizeof bytes), TW_ERR_VALUE);
	const struct tw_fdr_record enter = {.kind = TW_FDR_ENTER, .function_id = 1};
	const struct tw_basic_record first = {.kind = TW_FDR_ENTER, .function_id = 1};
	assert_int_equal(tw_fdr_encode(&enter, 5, TW_FDR_LITTLE, bytes, sizeof bytes), 8);
	assert_int_equal(tw_fdr_encode(&enter, 0, TW_FDR_LITTLE, bytes, sizeof bytes), TW_ERR_VALUE);
	assert_int_equal(tw_fdr_encode(&enter, 6, TW_FDR_LITTLE, bytes, sizeof bytes), TW_ERR_VALUE);
	assert_int_equal(tw_fdr_encode(&enter, 5, (enum tw_fdr_layout)NONE, bytes, sizeof bytes), TW_ERR_VALUE);
	assert_int_equal(tw_basic_encode(&first, 3, TW_FDR_LITTLE, bytes), 0);
	assert_int_equal(tw_basic_encode(&first, 4, TW_FDR_LITTLE, bytes), TW_ERR_VALUE);
	assert_int_equal(tw_basic_encode(&first, 3, (enum tw_fdr_layout)NONE, bytes), TW_ERR_VALUE);
	struct tw_fdr_record buffer = {.kind = TW_FDR_NEW_BUFFER, .value = UINT64_C(0xffffffff80000000)};
	assert_int_equal(tw_fdr_encode(&buffer, 5, TW_FDR_LITTLE, bytes, sizeof bytes), 16);
	buffer.value--;
	assert_int_equal(tw_fdr_encode(&buffer, 5, TW_FDR_LITTLE, bytes, sizeof bytes), TW_ERR_VALUE);
	buffer.value = UINT64_C(1) << 32;
	assert_int_equal(tw_fdr_encode(&buffer, 5, TW_FDR_LITTLE, bytes, sizeof bytes), TW_ERR_VALUE);
	const struct tw_fxt_record fxt = {.kind = (enum tw_fxt_kind)NONE};
	assert_int_equal(tw_fxt_encode(&fxt, false, bytes, sizeof bytes, &size), TW_ERR_VALUE);
	const struct tw_xtrace_token token = {.kind = (enum tw_xtrace_kind)NONE};
	assert_int_equal(tw_xtrace_encode(&token, bytes, sizeof bytes, &size), TW_ERR_VALUE);
	const struct tw_tracelog_record line = {.kind = (enum tw_tracelog_kind)NONE};
	assert_int_equal(tw_tracelog_encode(&line, bytes, sizeof bytes), TW_ERR_VALUE);
	assert_int_equal(tw_tracelog_dialects(&line), 0);
	const struct tw_tracelog_record thread = {.kind = TW_TRACELOG_JIT_CMS,
	                                          .thread_form = (enum tw_tracelog_thread_form)NONE};
	assert_int_equal(tw_tracelog_encode(&thread, bytes, sizeof bytes), TW_ERR_VALUE);
	assert_int_equal(tw_tracelog_dialects(&thread), 0);
}

static void no_text_is_lost(void **state)
{
	(void)state;
	enum { INLINE = TW_FXT_STRING_INLINE };
	static const uint8_t text[] = "name";
	static const struct {
		struct tw_fxt_string string;
		int status;
	} cases[] = {
	    {{0, 0, NULL}, 0},
	    {{7, 0, NULL}, 0},
	    {{INLINE, 4, text}, 0},
	    {{INLINE | 4, 4, text}, 0},
	    {{INLINE, 0, NULL}, TW_ERR_VALUE},
	    {{INLINE, 0, text}, TW_ERR_VALUE},
	    {{INLINE | 4, 0, text}, TW_ERR_VALUE},
	    {{INLINE | 3, 4, text}, TW_ERR_VALUE},
	    {{INLINE, 4, NULL}, TW_ERR_VALUE},
	    {{0, 4, text}, TW_ERR_VALUE},
	    {{7, 4, NULL}, TW_ERR_VALUE},
	    {{7, 0, text}, 0}, /* nothing is lost */
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct tw_fxt_string string = cases[i].string;
		const struct tw_fxt_argument argument = {.type = TW_FXT_ARG_STRING,
		                                         .name = {INLINE, 4, text},
		                                         .text = string};
		const struct tw_fxt_record records[] = {
		    {.kind = TW_FXT_INSTANT, .name = string},
		    {.kind = TW_FXT_INSTANT, .category = string},
		    {.kind = TW_FXT_BLOB, .name = string},
		    {.kind = TW_FXT_INSTANT, .argument_count = 1, .arguments = {argument}},
		    {.kind = TW_FXT_INSTANT, .argument_count = 1, .arguments = {{.name = string}}},
		};
		for (size_t k = 0; k < sizeof records / sizeof *records; k++) {
			uint8_t bytes[128];
			size_t size;
			assert_int_equal(tw_fxt_encode(&records[k], false, bytes, sizeof bytes, &size),
			                 cases[i].status);
		}
	}
}

/* A record of one's own is held to what readers of the format expect; one that was found is written back. */
static void only_found_records_are_wrong(void **state)
{
	(void)state;
	struct tw_fxt_record empty = {.kind = TW_FXT_INSTANT, .name = {.reference = TW_FXT_STRING_INLINE}};
	struct tw_fxt_record back = {.kind = TW_FXT_DURATION_COMPLETE, .time = 7, .end = 6};
	struct tw_fxt_record at_once = {.kind = TW_FXT_DURATION_COMPLETE, .time = 7, .end = 7}, found;
	struct tw_fxt_record *wrong[] = {&empty, &back};
	uint8_t bytes[64], again[64];
	size_t size, took;
	assert_int_equal(tw_fxt_encode(&at_once, false, bytes, sizeof bytes, &size), 0);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		assert_int_equal(tw_fxt_encode(wrong[i], false, bytes, sizeof bytes, &size), TW_ERR_VALUE);
		wrong[i]->as_found = true;
		assert_int_equal(tw_fxt_encode(wrong[i], false, bytes, sizeof bytes, &size), 0);
		struct tw_fxt_decoder decoder = {.bytes = bytes, .left = size};
		assert_int_equal(tw_fxt_next(&decoder, &found), 1);
		assert_int_equal(tw_fxt_encode(&found, false, again, sizeof again, &took), 0);
		assert_int_equal(took, size);
		assert_memory_equal(again, bytes, size);
	}
}

/* ---- Handles at the wrong time. ---- */

/* What was written stays as it was. */
static void write_when_finished(void **state)
{
	(void)state;
	for (size_t i = 0; tw_writer_format_name(i); i++) {
		const char *format = tw_writer_format_name(i);
		if (!tw_writer_takes_events(format) || strcmp(format, "ctf") == 0 || strcmp(format, "uftrace") == 0)
			continue; /* directories */
		struct tw_reader *reader =
		    open_data("xray/v5.xray", &(struct tw_read_options){.order = tw_writer_order(format)});
		struct tw_writer *writer;
		struct tw_batch batch;
		assert_int_equal(tw_create(&writer, "/dev/null", format, NULL), 0);
		assert_true(tw_read(reader, &batch) > 0);
		assert_int_equal(tw_write(writer, reader, &batch), 0);
		assert_int_equal(tw_finish(writer), 0);
		assert_int_equal(tw_write(writer, reader, &batch), TW_ERR_VALUE);
		assert_int_equal(tw_finish(writer), TW_ERR_VALUE);
		tw_discard(writer);
		tw_close(reader);
	}
	struct tw_writer *writer;
	const struct tw_batch batch = {0};
	struct tw_reader *reader = open_stacks();
	assert_int_equal(tw_create(&writer, "/dev/null", "no-format", NULL), TW_ERR_FORMAT);
	assert_int_equal(tw_write(writer, reader, &batch), TW_ERR_VALUE);
	assert_int_equal(tw_finish(writer), TW_ERR_VALUE);
	tw_discard(writer);
	tw_close(reader);
}

/* Ways to read a trace: the status, above 0 as 0. */
static int read_events(struct tw_reader *reader)
{
	struct tw_batch batch;
	int status = tw_read(reader, &batch);
	return status > 0 ? 0 : status;
}

static int read_records(struct tw_reader *reader)
{
	struct tw_record record;
	int status = tw_read_record(reader, &record);
	return status > 0 ? 0 : status;
}

static int read_info(struct tw_reader *reader)
{
	struct tw_info info;
	return tw_read_info(reader, 1, &info);
}

static int repair(struct tw_reader *reader)
{
	struct tw_rewrite_result result;
	return tw_repair(reader, "/dev/null", &result);
}

static int transcode(struct tw_reader *reader)
{
	struct tw_rewrite_result result;
	return tw_transcode(reader, "/dev/null", NULL, &result);
}

static int profile(struct tw_reader *reader)
{
	struct tw_profile *all;
	assert_int_equal(tw_profile_new(&all, &(struct tw_profile_options){.jobs = 2}), 0);
	int status = tw_profile_add(all, reader);
	tw_profile_free(all);
	return status;
}

static int find_calls(struct tw_reader *reader)
{
	struct tw_calltree *tree;
	assert_int_equal(tw_calltree_new(&tree, NULL), 0);
	int status = tw_calltree_add(tree, reader);
	tw_calltree_free(tree);
	return status;
}

static int count(struct tw_reader *reader)
{
	struct tw_counters *counters;
	assert_int_equal(tw_counters_new(&counters, NULL), 0);
	int status = tw_counters_add(counters, reader);
	tw_counters_free(counters);
	return status;
}

static int schedule(struct tw_reader *reader)
{
	struct tw_sched *sched;
	int status = tw_sched_read(&sched, reader, NULL);
	tw_sched_free(sched);
	return status;
}

static int collect(struct tw_reader *reader)
{
	struct tw_gc *gc;
	int status = tw_gc_read(&gc, reader, NULL);
	tw_gc_free(gc);
	return status;
}

static int compile(struct tw_reader *reader)
{
	struct tw_jit *jit;
	int status = tw_jit_read(&jit, reader, NULL);
	tw_jit_free(jit);
	return status;
}

static int allocate(struct tw_reader *reader)
{
	struct tw_alloc *alloc;
	int status = tw_alloc_read(&alloc, reader, NULL);
	tw_alloc_free(alloc);
	return status;
}

static int use_cpu(struct tw_reader *reader)
{
	struct tw_cpu *cpu;
	int status = tw_cpu_read(&cpu, reader, NULL);
	tw_cpu_free(cpu);
	return status;
}

/* Ways to read a trace, each as the first of a reader. */
static int (*const ways[])(struct tw_reader *) = {read_events, read_records, read_info, repair,   transcode,
                                                  profile,     find_calls,   count,     schedule, collect,
                                                  compile,     allocate,     use_cpu};
enum { WAYS = sizeof ways / sizeof *ways };

/* No file, no format, options that are wrong when the format is known, a window that is none, no path. */
static void not_open(void **state)
{
	static const struct {
		const char *path;
		struct tw_read_options options;
		const char *error;
	} cases[] = {
	    {"/nowhere/at/all", {0}, "nowhere/at/all: No such file or directory"},
	    {"/dev/null", {0}, "dev/null"},
	    {"xray/v5.xray", {.provider = "x"}, "no providers to choose from"},
	    {"xray/v5.xray", {.from_ns = 2, .to_ns = 1}, "ends before it begins"},
	    {NULL, {0}, "needs a path"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (size_t a = 0; a < WAYS; a++) {
			const char *name = cases[i].path, *folder = name && *name == '/' ? "" : getenv("TW_TEST_DATA");
			struct tw_reader *reader, *part;
			char path[512];
			snprintf(path, sizeof path, "%s/%s", folder, name ? name : "");
			assert_true(tw_open(&reader, name ? path : NULL, &cases[i].options) < 0);
			assert_int_equal(ways[a](reader), TW_ERR_VALUE);
			assert_int_equal(tw_open_shard(&part, reader, 0, 2), TW_ERR_VALUE);
			assert_non_null(strstr(tw_reader_error(reader), cases[i].error));
			tw_close(reader);
		}
}

/* A writer without what it is made of, and one that is given nothing. */
static void nothing_to_write(void **state)
{
	struct tw_writer *writer;
	struct tw_reader *closed, *reader = open_stacks();
	const struct tw_batch batch = {0};
	(void)state;
	assert_int_equal(tw_create(&writer, "/dev/null", NULL, NULL), TW_ERR_VALUE);
	assert_non_null(strstr(tw_writer_error(writer), "a path and a format"));
	tw_discard(writer);
	assert_int_equal(tw_create(&writer, NULL, "chrome", NULL), TW_ERR_VALUE);
	tw_discard(writer);
	assert_int_equal(tw_create_memory(&writer, NULL, NULL), TW_ERR_VALUE);
	tw_discard(writer);
	assert_int_equal(tw_create_memory(&writer, "chrome", NULL), 0);
	assert_int_equal(tw_write(writer, reader, NULL), TW_ERR_VALUE);
	assert_string_equal(tw_writer_error(writer), "output: there is no batch of events");
	assert_int_equal(tw_open(&closed, "/nowhere/at/all", NULL), TW_ERR_SYSTEM);
	assert_int_equal(tw_write(writer, closed, &batch), TW_ERR_VALUE);
	tw_close(closed);
	assert_int_equal(tw_write(writer, reader, &batch), 0);
	assert_int_equal(tw_finish(writer), 0);
	tw_discard(writer);
	tw_close(reader);
}

static void one_way_of_reading(void **state)
{
	(void)state;
	static const char *const names[] = {"fxt/streaming.fxt", "xray/v5.xray", "xray/basic-v3.xray",
	                                    "tracelog/kinds.log"};
	enum { STEPWISE = 2 };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		for (size_t a = 0; a < WAYS; a++)
			for (size_t b = 0; b < WAYS; b++) {
				struct tw_reader *reader = open_data(names[i], NULL);
				assert_int_equal(ways[a](reader), 0);
				assert_int_equal(ways[b](reader), a == b && a < STEPWISE ? 0 : TW_ERR_VALUE);
				tw_close(reader);
			}
}

/* Writes a trace. Returns the status, of what failed first. */
static int write_to(struct tw_writer *writer, const char *format)
{
	const struct tw_read_options options = {.order = tw_writer_order(format)};
	struct tw_reader *reader = open_data("xray/v5.xray", &options);
	struct tw_batch batch;
	int status;
	while ((status = tw_read(reader, &batch)) > 0 && (status = tw_write(writer, reader, &batch)) >= 0)
		;
	status = status < 0 ? status : tw_finish(writer);
	tw_close(reader);
	return status;
}

/* Also where another thread compresses and writes, or something is tidied up behind it. */
static void errno_tells(void **state)
{
	static const struct {
		const char *path;
		int file, directory; /* what is wrong with it for formats that are one */
	} cases[] = {{"/nowhere/at/all", ENOENT, ENOENT}, {"/dev/full", ENOSPC, EEXIST}};
	(void)state;
	for (size_t i = 0; i < 2; i++)
		for (size_t k = 0; tw_writer_format_name(k); k++) {
			const char *format = tw_writer_format_name(k);
			struct tw_writer *writer;
			if (!tw_writer_takes_events(format))
				continue;
			errno = 0;
			int status = tw_create(&writer, cases[i].path, format, NULL);
			if (status == 0)
				status = write_to(writer, format);
			int found = errno;
			assert_int_equal(status, TW_ERR_SYSTEM);
			assert_int_equal(found, strcmp(format, "ctf") == 0 ? cases[i].directory : cases[i].file);
			assert_non_null(strstr(tw_writer_error(writer), strerror(found)));
			tw_discard(writer);
		}
}

/* Where no file could be made nothing was read, and another path is as good as at first. */
static void rewrite_elsewhere(void **state)
{
	(void)state;
	struct tw_rewrite_result result;
	struct tw_reader *reader = open_data("xray/v5.xray", NULL);
	assert_int_equal(tw_repair(reader, "/dev/null/no-place", &result), TW_ERR_SYSTEM);
	assert_int_equal(tw_transcode(reader, "/dev/null/no-place", NULL, &result), TW_ERR_SYSTEM);
	assert_int_equal(repair(reader), 0);
	tw_close(reader);
}

/* ---- Little memory. ---- */

/* A limit may be any number of bytes: where there is no room for a name it is "(other)". */
static void least_memory(void **state)
{
	(void)state;
	static const char *const names[] = {"fxt/streaming.fxt", "xray/v5.xray", "tracelog/kinds.log",
	                                    "chrome/phases.json"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		for (size_t limit = 1; limit < 10000; limit *= 9) {
			const struct tw_read_options options = {.memory_limit = limit};
			struct tw_reader *reader = open_data(names[i], &options);
			struct tw_batch batch;
			int status;
			while ((status = tw_read(reader, &batch)) > 0)
				;
			assert_int_equal(status, 0);
			tw_close(reader);
		}
}

SUITE(library)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(version_is_one_number),
	    cmocka_unit_test(no_such_reading),
	    cmocka_unit_test(no_such_writing),
	    cmocka_unit_test(no_such_counting),
	    cmocka_unit_test(no_such_record),
	    cmocka_unit_test(no_text_is_lost),
	    cmocka_unit_test(only_found_records_are_wrong),
	    cmocka_unit_test(no_such_report),
	    cmocka_unit_test(write_when_finished),
	    cmocka_unit_test(errno_tells),
	    cmocka_unit_test(one_way_of_reading),
	    cmocka_unit_test(not_open),
	    cmocka_unit_test(nothing_to_write),
	    cmocka_unit_test(rewrite_elsewhere),
	    cmocka_unit_test(least_memory),
	};
	return cmocka_run_group_tests_name("library", tests, NULL, NULL);
}
