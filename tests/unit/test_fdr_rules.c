/* test_fdr_rules.c - for every rule of XRay logs the smallest log that breaks it, and no other. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fdr_broken_logs.h"
#include "fdr_broken_records.h"
#include "fdr_findings.h"
#include "suite.h"

enum { ANY = 1 << 30 };

/* ---- What they break. Offsets: the first buffer of version 5 has BufferExtents at 32, NewBuffer at 48, WallTime at
 * 64, Pid at 80, NewCPUId at 96 and its other records from 112 on. ---- */

enum {
	LISTED = 1,
	JOINT = 2,
	FILTERED = 4
}; /* needs the index or a whole thread: not in file order; goes with other rules by nature; with a shortest duration */

static const struct rule_case {
	const char *rule;
	enum tw_severity severity;
	void (*make)(struct bytes *);
	uint64_t record, at; /* ANY: not looked at */
	unsigned count;
	unsigned flags;
	size_t memory_limit;
} cases[] = {
    {"xray.header-reserved", TW_NOTE, header_reserved_bits, 0, 4, 1, 0, 0},
    {"xray.header-reserved", TW_NOTE, header_reserved_bytes, 0, 24, 1, 0, 0},
    {"xray.tsc-flags", TW_WARNING, flags_unset, 0, 4, 1, 0, 0},
    {"xray.frequency-zero", TW_WARNING, frequency_zero, 0, 8, 1, 0, 0},
    {"xray.frequency-implausible", TW_WARNING, frequency_low, 0, 8, 1, 0, 0},
    {"xray.frequency-implausible", TW_WARNING, frequency_high, 0, 8, 1, 0, 0},
    {"xray.clock-fallback", TW_NOTE, frequency_of_clock, 0, 8, 1, 0, 0},
    {"xray.another-log", TW_NOTE, two_logs, 128, 128, 1, 0, 0},
    {"xray.another-log", TW_NOTE, two_logs_of_version_1, 112, 112, 1, 0, 0},
    {"xray.another-log", TW_NOTE, two_basic_logs, 96, 96, 1, 0, 0},
    {"xray.foreign-log", TW_NOTE, two_clocks, 128, 128, 1, JOINT, 0},
    {"xray.foreign-log", TW_NOTE, two_kinds, 128, 128, 1, JOINT, 0},
    {"xray.foreign-log", TW_NOTE, two_kinds_basic_first, 96, 96, 1, JOINT, 0},
    {"xray.foreign-log", TW_NOTE, profiling_behind, 128, 128, 1, JOINT, 0},
    {"logs.unreadable", TW_ERROR, profiling_behind, 128, 128, 1, JOINT, 0},
    {"logs.placed", TW_NOTE, two_clocks, 128, 128, 1, LISTED | JOINT, 0},
    {"logs.unplaced", TW_WARNING, two_kinds, 128, 128, 1, LISTED | JOINT, 0},
    {"xray.too-many-logs", TW_ERROR, many_logs, 64 * 128, 64 * 128, 1, JOINT, 0},
    {"xray.compression", TW_ERROR, cut_gzip, 128, 128, 1, 0, 0},
    {"xray.function-id-zero", TW_WARNING, function_zero, 112, 112, 2, 0, 0},
    {"xray.tsc-backwards", TW_WARNING, counter_back, 128, 128, 1, 0, 0},
    {"xray.tsc-backwards", TW_WARNING, counter_back_by_delta, 112, 112, 1, 0, 0},
    {"xray.tsc-backwards", TW_WARNING, basic_counter_back, 64, 72, 1, 0, 0},
    {"xray.exit-without-entry", TW_WARNING, exit_only, 112, 112, 1, LISTED, 0},
    {"xray.exit-without-entry", TW_WARNING, exit_of_zero, 120, 120, 1, LISTED | JOINT, 0},
    {"xray.exit-without-entry", TW_WARNING, basic_exit_only, 32, 32, 1, LISTED, 0},
    {"xray.exit-mismatched", TW_NOTE, exit_below, 128, 128, 1, LISTED, 0},
    {"xray.entry-without-exit", TW_NOTE, entry_only, 112, 112, 1, LISTED, 0},
    {"xray.entry-without-exit", TW_NOTE, basic_open, 32, 32, 1, LISTED, 0},
    {"xray.name-limit", TW_WARNING, many_names, ANY, ANY, 1, 0, 4096},
    {"filter.memory-limit", TW_WARNING, entry_only, 112, 112, 1, FILTERED | JOINT, 1024},
    {"fdr.index-limit", TW_ERROR, empty_buffers, ANY, ANY, 1, LISTED, 1024},
    {"fdr.buffer-size", TW_WARNING, tiny_buffer_size, 0, 16, 1, 0, 0},
    {"fdr.no-buffers", TW_WARNING, nothing, 32, 32, 1, LISTED, 0},
    {"basic.no-records", TW_WARNING, basic_nothing, 32, 32, 1, LISTED, 0},
    {"fdr.junk", TW_ERROR, junk_at_end, 128, 128, 1, 0, 0},
    {"fdr.junk", TW_ERROR, junk_between, 128, 128, 1, 0, 0},
    {"fdr.extents-missing", TW_WARNING, no_extents, 32, 32, 1, 0, 0},
    {"fdr.extents-unexpected", TW_WARNING, extents_in_version_1, 32, 32, 1, 0, 0},
    {"fdr.extents-wrong", TW_ERROR, extents_short, 32, 33, 1, 0, 0},
    {"fdr.extents-wrong", TW_ERROR, extents_long, 32, 33, 1, 0, 0},
    {"fdr.buffer-truncated", TW_ERROR, cut_between_records, 32, 128, 1, 0, 0},
    {"fdr.buffer-truncated", TW_ERROR, cut_in_record, 32, 131, 1, 0, 0},
    {"fdr.buffer-overrun", TW_WARNING, overrun, 32, 33, 1, 0, 0},
    {"fdr.nested-buffer", TW_ERROR, buffer_in_buffer, 32, 128, 1, JOINT, 0},
    {"fdr.nested-buffer", TW_ERROR, new_buffer_again, 32, 64, 1, JOINT, 0},
    {"fdr.extents-wrong", TW_ERROR, extents_over_a_full_buffer, 32, 33, 1, 0, 0},
    {"fdr.new-buffer-missing", TW_ERROR, extents_alone, 32, 48, 1, 0, 0},
    {"fdr.new-buffer-missing", TW_ERROR, new_buffer_smashed, 32, 48, 1, JOINT, 0},
    {"fdr.record-kind", TW_ERROR, new_buffer_smashed, 48, 48, 1, JOINT, 0},
    {"fdr.wall-time-missing", TW_WARNING, no_wall, 32, 64, 1, 0, 0},
    {"fdr.wall-time-missing", TW_WARNING, no_wall_later, 112, 144, 1, 0, 0},
    {"fdr.wall-time-misplaced", TW_WARNING, wall_again, 112, 112, 1, 0, 0},
    {"fdr.microseconds", TW_WARNING, microseconds, 64, 73, 1, 0, 0},
    {"fdr.pid-missing", TW_NOTE, no_pid, 32, 80, 1, 0, 0},
    {"fdr.pid-misplaced", TW_WARNING, pid_early, 80, 80, 1, 0, 0},
    {"fdr.pid-misplaced", TW_WARNING, pid_again, 112, 112, 1, 0, 0},
    {"fdr.cpu-missing", TW_WARNING, no_cpu, 32, 96, 1, 0, 0},
    {"fdr.thread-id", TW_NOTE, thread_of_document, 32, 33, 1, 0, 0},
    {"fdr.end-of-buffer", TW_WARNING, end_in_version_5, 112, 112, 1, 0, 0},
    {"fdr.end-of-buffer-missing", TW_WARNING, no_end, 32, 96, 1, 0, 0},
    {"fdr.record-truncated", TW_ERROR, record_cut, 112, 116, 1, 0, 0},
    {"fdr.record-truncated", TW_ERROR, typed_damaged, 112, 139, 1, 0, 0},
    {"fdr.record-kind", TW_ERROR, kind_10, 112, 112, 1, JOINT, 0},
    {"fdr.function-kind", TW_ERROR, function_kind_4, 112, 112, 1, JOINT, 0},
    {"fdr.doubtful", TW_ERROR, zeros_between, 120, 120, 1, JOINT, 0},
    {"fdr.suspect", TW_NOTE, zeros_between, 112, 112, 1, JOINT, 0},
    {"fdr.time-uncertain", TW_NOTE, zeros_before_calls, 152, 152, 1, JOINT, 0},
    {"fdr.doubtful", TW_ERROR, almost_buffer, 240, 240, 1, JOINT, 0},
    {"fdr.doubtful", TW_ERROR, almost_start, 240, 240, 1, JOINT, 0},
    {"fdr.doubtful", TW_ERROR, almost_start_at_edge, 4308, 4308, 1, JOINT, 0},
    {"fdr.event-size", TW_ERROR, event_of_nothing, 112, 113, 1, JOINT, 0},
    {"fdr.event-size", TW_ERROR, event_negative, 112, 113, 1, JOINT, 0},
    {"fdr.event-too-large", TW_WARNING, event_large, 112, 113, 1, 0, 8192},
    {"fdr.typed-event-extents", TW_ERROR, typed_cut, 32, 133, 1, 0, 0},
    {"fdr.typed-event-extents", TW_ERROR, typed_alone, 32, 112, 1, 0, 0},
    {"fdr.typed-event-extents", TW_ERROR, typed_alone_and_short, 32, 112, 1, 0, 0},
    {"fdr.typed-event-doubt", TW_NOTE, typed_whole, 32, ANY, 1, 0, 0},
    {"fdr.argument-misplaced", TW_WARNING, argument_alone, 128, 128, 1, 0, 0},
    {"fdr.argument-missing", TW_WARNING, no_argument, 112, 120, 1, 0, 0},
    {"fdr.argument-missing", TW_WARNING, no_argument_at_end, 112, 120, 1, 0, 0},
    {"fdr.padding", TW_NOTE, padding, 48, ANY, 1, 0, 0},
    {"fdr.padding", TW_NOTE, garbage_in_fill, 96, 200, 1, 0, 0},
    {"fdr.delta-wide", TW_NOTE, wide_delta, 120, 124, 1, 0, 0},
    {"fdr.buffer-twice", TW_WARNING, twice, 128, 128, 1, LISTED, 0},
    {"fdr.buffer-order", TW_NOTE, wrong_order, 32, 32, 1, LISTED, 0},
    {"fdr.buffer-overlap", TW_WARNING, overlap, 128, 128, 1, LISTED, 0},
    {"basic.size", TW_ERROR, basic_cut, 96, 101, 1, 0, 0},
    {"basic.record-type", TW_ERROR, basic_type_2, 64, 64, 1, 0, 0},
    {"basic.kind", TW_ERROR, basic_kind_4, 64, 67, 1, 0, 0},
    {"basic.doubtful", TW_ERROR, basic_zeros, 64, 64, 1, 0, 0},
    {"basic.doubtful", TW_ERROR, basic_padding_alone, 64, 64, 1, 0, 0},
    {"basic.tail-exit", TW_NOTE, basic_tail_exit, 64, 67, 1, 0, 0},
    {"basic.argument-misplaced", TW_WARNING, basic_argument_alone, 64, 64, 1, 0, 0},
    {"basic.argument-misplaced", TW_WARNING, basic_argument_of_other, 64, 64, 1, 0, 0},
    {"basic.argument-missing", TW_WARNING, basic_no_argument, 32, 64, 1, 0, 0},
    {"basic.padding", TW_NOTE, basic_padding, 64, ANY, 1, 0, 0},
};

enum { CASES = sizeof cases / sizeof *cases };

/* ---- Tests. ---- */

static void expect_rule(const struct rule_case *c, enum tw_order order)
{
	static struct bytes b;
	struct findings f;
	const struct tw_finding *first = NULL;
	unsigned count = 0;
	c->make(&b);
	check_log(&b, order, c->memory_limit, c->flags & FILTERED ? 1000 : 0, &f);
	for (size_t i = 0; i < f.count && i < FOUND_MAX; i++)
		if (strcmp(f.all[i].rule, c->rule) == 0) {
			first = first ? first : &f.all[i];
			count++;
		}
	bool right = count == c->count && (f.count == count || c->flags & JOINT) && first &&
	             first->severity == c->severity && (c->record == ANY || first->record == c->record) &&
	             (c->at == ANY || first->at == c->at);
	if (!right) {
		list(&f);
		fail_msg("case %zu, order %d: expected %s %u times, record 0x%llx, at 0x%llx", (size_t)(c - cases),
		         order, c->rule, c->count, (unsigned long long)c->record, (unsigned long long)c->at);
	}
}

static void test_each_rule(void **state)
{
	(void)state;
	for (size_t i = 0; i < CASES; i++)
		expect_rule(&cases[i], TW_ORDER_TRACK);
}

static void test_in_file_order(void **state)
{
	(void)state;
	for (size_t i = 0; i < CASES; i++)
		if (!(cases[i].flags & LISTED))
			expect_rule(&cases[i], TW_ORDER_FILE);
}

static void test_in_order_of_time(void **state)
{
	(void)state;
	for (size_t i = 0; i < CASES; i++)
		expect_rule(&cases[i], TW_ORDER_TIME);
}

static void test_every_rule_has_a_case(void **state)
{
	const struct tw_rule *rule;
	(void)state;
	assert_non_null(tw_format_rule("xray-fdr", 0));
	for (size_t i = 0; (rule = tw_format_rule("xray-fdr", i)); i++) {
		size_t k = 0;
		while (k < CASES && strcmp(cases[k].rule, rule->name) != 0)
			k++;
		if (k == CASES)
			fail_msg("no case for the rule %s", rule->name);
		assert_int_equal(cases[k].severity, rule->severity);
		assert_true(strlen(rule->text) > 0);
	}
}

static void test_every_case_has_a_rule(void **state)
{
	const struct tw_rule *rule;
	(void)state;
	for (size_t k = 0; k < CASES; k++) {
		size_t i = 0;
		if (strncmp(cases[k].rule, "logs.", 5) == 0) /* of several logs */
			continue;
		while ((rule = tw_format_rule("xray-basic", i)) && strcmp(rule->name, cases[k].rule) != 0)
			i++;
		assert_non_null(rule);
	}
}

/* Logs behind each other are repaired one by one, whatever order they were opened in. */
static void test_repair_of_several(void **state)
{
	static struct bytes b;
	static const enum tw_order orders[] = {TW_ORDER_FILE, TW_ORDER_TIME, TW_ORDER_TRACK};
	(void)state;
	two_kinds(&b);
	for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
		const struct tw_read_options options = {.order = orders[i]};
		struct tw_rewrite_result result;
		struct tw_reader *reader;
		assert_int_equal(tw_open_memory(&reader, "made", b.data, b.size, &options), 0);
		assert_int_equal(tw_repair(reader, "/dev/null", &result), 0);
		assert_int_equal(result.bytes_out, b.size);
		assert_int_equal(result.records_in, result.records_out);
		tw_close(reader);
	}
}

/* Without TW_CHECK_ALL a log that breaks rules, but can be read, is read in silence. */
static void test_damage_only(void **state)
{
	static struct bytes b;
	static void (*const made[])(
	    struct bytes *) = {header_reserved_bits, frequency_of_clock, function_zero, counter_back, exit_only,
	                       wall_again,           no_argument,        padding,       wide_delta,   wrong_order};
	(void)state;
	for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
		struct tw_reader *reader;
		struct tw_batch batch;
		made[i](&b);
		assert_int_equal(tw_open_memory(&reader, "made", b.data, b.size, NULL), 0);
		while (tw_read(reader, &batch) > 0)
			continue;
		for (unsigned severity = TW_NOTE; severity <= TW_ERROR; severity++)
			assert_int_equal(tw_reader_findings(reader, (enum tw_severity)severity), 0);
		tw_close(reader);
	}
}

SUITE(fdr_rules)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_each_rule),
	    cmocka_unit_test(test_in_file_order),
	    cmocka_unit_test(test_every_rule_has_a_case),
	    cmocka_unit_test(test_every_case_has_a_rule),
	    cmocka_unit_test(test_repair_of_several),
	    cmocka_unit_test(test_in_order_of_time),
	    cmocka_unit_test(test_damage_only),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
