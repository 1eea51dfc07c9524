/* test_fdr_notes.c - what a flight recorder says of itself: no event of the program, kept where events are written anew. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fdr_rewrite.h"

/* doc/formats/xray-fdr.md, "Logs of the flight recorder": names of 16 bytes, with the zeros behind them. */
static const char state_name[16] = "trackway.flight", object_name[16] = "trackway.object";
static const char object_text[] = "1 100 1 5000 5000 - /none";
enum { ENDED = 2, STATE = 113, OBJECT = sizeof object_name + sizeof object_text - 1, LEAF = 0x11 };

static void make_state(uint8_t note[STATE])
{
	memset(note, 0, STATE);
	memcpy(note, state_name, sizeof state_name);
	set_number(note + 17, 1, 4);     /* version */
	set_number(note + 21, 7, 4);     /* process */
	set_number(note + 25, ENDED, 8); /* how it ended */
	set_number(note + 33, 5, 8);     /* records that had no room */
}

/* A plain log as `record` leaves it: a buffer of notes, one of a thread, and another of notes, as a dlopen() makes. */
static void make_log(unsigned version)
{
	uint8_t state[STATE];
	char object[OBJECT];
	make_state(state);
	memcpy(object, object_name, sizeof object_name);
	memcpy(object + sizeof object_name, object_text, sizeof object_text - 1);
	add_header(&source, version);
	size_t start = begin_buffer(&source, 0, 10, 2000);
	add_custom(&source, version == 5 ? 0 : 2000, 0, state, STATE);
	end_buffer(&source, start);
	start = begin_buffer(&source, 9, 10, 2100);
	add_call(&source, LEAF);
	add_custom(&source, version == 5 ? 5 : 2130, 0, "mine", 4);
	end_buffer(&source, start);
	start = begin_buffer(&source, 0, 10, 2200);
	add_custom(&source, version == 5 ? 5 : 2205, 0, object, OBJECT);
	end_buffer(&source, start);
}

static unsigned count_bytes(const struct bytes *b, const void *what, size_t size)
{
	unsigned count = 0;
	for (size_t i = 0; i + size <= b->size; i++)
		count += memcmp(b->data + i, what, size) == 0;
	return count;
}

/* Writes the events of the source into the target. */
static void write_events(const struct tw_read_options *reading, const char *format,
                         const struct tw_write_options *writing)
{
	struct tw_reader *reader;
	struct tw_writer *writer = NULL;
	struct tw_batch batch;
	assert_int_equal(tw_open_memory(&reader, "test", source.data, source.size, reading), 0);
	assert_int_equal(tw_create(&writer, path, format, writing), 0);
	int status;
	while ((status = tw_read(reader, &batch)) > 0)
		assert_int_equal(tw_write(writer, reader, &batch), 0);
	assert_int_equal(status, 0);
	assert_int_equal(tw_finish(writer), 0);
	tw_discard(writer);
	tw_close(reader);
	load_target();
}

static void expect_state(const struct bytes *b)
{
	struct tw_reader *reader;
	struct tw_info info;
	unsigned found = 0;
	assert_int_equal(tw_open_memory(&reader, "test", b->data, b->size, NULL), 0);
	assert_int_equal(tw_read_info(reader, 1, &info), 0);
	for (size_t i = 0; i < info.field_count; i++) {
		if (strcmp(info.fields[i].name, "recording") == 0)
			found += strcmp(info.fields[i].value.bytes, "complete") == 0;
		if (strcmp(info.fields[i].name, "lost_records") == 0)
			found += info.fields[i].value.u == 5;
	}
	assert_int_equal(found, 2);
	tw_close(reader);
}

static void test_no_events(void **state)
{
	(void)state;
	make_log(5);
	assert_true(read_events(&source, TW_CHECK_ALL, &before));
	assert_int_equal(before.errors, 0);
	assert_int_equal(before.count, 3); /* entry, exit, "mine" */
	expect_state(&source);
}

/* All of them come before the events, once, whatever passes the filter. */
static void test_kept(void **state)
{
	static const uint64_t thread = 9;
	static const struct tw_read_options filters[] = {
	    {.order = TW_ORDER_TRACK},
	    {.order = TW_ORDER_TRACK, .threads = &thread, .thread_count = 1},
	    {.order = TW_ORDER_TRACK, .to_ns = 60},
	};
	uint8_t first[STATE];
	(void)state;
	make_state(first);
	for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
		make_log(5);
		write_events(&filters[i], "xray-fdr", NULL);
		/* header, BufferExtents, NewBuffer, WallTime, Pid, NewCPUId, the event's own record */
		assert_memory_equal(target.data + 32 + 6 * 16, first, STATE);
		assert_int_equal(count_bytes(&target, object_text, sizeof object_text - 1), 1);
		assert_int_equal(count_bytes(&target, state_name, sizeof state_name), 1);
		expect_state(&target);
		assert_true(read_events(&target, TW_CHECK_ALL, &after));
		assert_int_equal(after.errors, 0);
		assert_true(after.count >= 2);
		assert_int_equal(after.all[0].id, LEAF);
	}
}

static void test_versions(void **state)
{
	(void)state;
	for (unsigned version = 1; version <= 5; version++) {
		make_log(version);
		write_events(&(struct tw_read_options){.order = TW_ORDER_TRACK}, "xray-fdr",
		             &(struct tw_write_options){.version = version});
		assert_int_equal(count_bytes(&target, object_text, sizeof object_text - 1), version >= 3);
		assert_true(read_events(&target, TW_CHECK_ALL, &after));
		assert_int_equal(after.errors, 0);
	}
}

/* A file that ends in a note: what is there is read, and the rest of it is told. */
static void test_cut(void **state)
{
	(void)state;
	make_log(5);
	const size_t whole = source.size;
	for (size_t missing = 1; missing < OBJECT + 16; missing++) {
		source.size = whole - missing;
		assert_true(read_events(&source, TW_CHECK_DAMAGE, &before));
		assert_int_equal(before.all[0].id, LEAF);
		assert_int_equal(before.count - (before.count == 4), 3); /* a note whose name is cut is an event */
		write_events(&(struct tw_read_options){.order = TW_ORDER_TRACK}, "xray-fdr", NULL);
		assert_int_equal(count_bytes(&target, object_text, sizeof object_text - 1), 0);
		assert_int_equal(count_bytes(&target, state_name, sizeof state_name), 1);
	}
}

/* Numbers that were given anew are not those of the programs. */
static void test_not_of_others(void **state)
{
	(void)state;
	make_log(5);
	write_events(NULL, "xray-basic", NULL);
	assert_int_equal(count_bytes(&target, object_name, sizeof object_name), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_no_events), cmocka_unit_test(test_kept),          cmocka_unit_test(test_versions),
	    cmocka_unit_test(test_cut),       cmocka_unit_test(test_not_of_others),
	};
	return cmocka_run_group_tests_name("fdr_notes", tests, set_up, tear_down);
}
