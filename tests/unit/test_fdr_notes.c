/* test_fdr_notes.c - what a flight recorder says of itself: no event of the program, kept where events are written anew. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fdr_rewrite.h"
#include "suite.h"

/* doc/formats/xray-fdr.md, "Logs of the flight recorder": names of 16 bytes, with the zeros behind them. */
static const char state_name[16] = "trackway.flight", object_name[16] = "trackway.object";
static const char object_text[] = "1 100 1 5000 5000 - /none";
enum {
	ENDED = 2,
	STATE = 113,
	CLOCKS = 16 + 2048,
	LOSSES = 16 + 24,
	OBJECT = sizeof object_name + sizeof object_text - 1,
	LEAF = 0x11
};

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
	uint8_t state[STATE], clocks[CLOCKS] = "trackway.clocks", losses[LOSSES] = "trackway.losses";
	char object[OBJECT];
	make_state(state);
	set_number(losses + 16, 2, 8);  /* records of handlers */
	set_number(losses + 24, 3, 8);  /* children */
	set_number(losses + 32, 24, 8); /* EMFILE */
	memcpy(object, object_name, sizeof object_name);
	memcpy(object + sizeof object_name, object_text, sizeof object_text - 1);
	add_header(&source, version);
	size_t start = begin_buffer(&source, 0, 10, 2000);
	add_custom(&source, version == 5 ? 0 : 2000, 0, state, STATE);
	add_custom(&source, version == 5 ? 0 : 2000, 0, clocks, CLOCKS);
	add_custom(&source, version == 5 ? 0 : 2000, 0, losses, LOSSES);
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
	static const struct {
		const char *name;
		uint64_t value;
	} numbers[] = {{"lost_records", 5},
	               {"lost_in_handlers", 2},
	               {"children_without_log", 3},
	               {"children_errno", 24}};
	unsigned found = 0;
	assert_int_equal(tw_open_memory(&reader, "test", b->data, b->size, NULL), 0);
	assert_int_equal(tw_read_info(reader, 1, &info), 0);
	for (size_t i = 0; i < info.field_count; i++) {
		if (strcmp(info.fields[i].name, "recording") == 0)
			found += strcmp(info.fields[i].value.bytes, "complete") == 0;
		for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++)
			found += strcmp(info.fields[i].name, numbers[n].name) == 0 &&
			         info.fields[i].value.u == numbers[n].value;
	}
	assert_int_equal(found, 5);
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

/* ---- Names of types. ---- */

static void add_type(const char *text, size_t size)
{
	char note[64] = "trackway.event";
	memcpy(note + 16, text, size);
	add_custom(&source, 0, 0, note, (uint32_t)(16 + size));
}

#define TEXT(text) text, sizeof text - 1

/* Events of all types below TYPES before the notes that name some. */
enum { TYPES = 0x10 };
static void make_types(void)
{
	uint8_t note[STATE];
	make_state(note);
	add_header(&source, 5);
	size_t start = begin_buffer(&source, 0, 10, 2000);
	add_custom(&source, 0, 0, note, STATE);
	end_buffer(&source, start);
	start = begin_buffer(&source, 9, 10, 2100);
	for (unsigned type = 0; type < TYPES; type++)
		add_typed(&source, 1, type, "mine", 4);
	add_typed(&source, 1, UINT16_MAX, "mine", 4);
	end_buffer(&source, start);
	start = begin_buffer(&source, 0, 10, 2200);
	add_type(TEXT("0001 a request"));
	add_type(TEXT("2 \xc3\xa4"));
	add_type(TEXT("3 not\ttext"));
	add_type(TEXT("3 text"));
	add_type(TEXT("3 another"));
	add_type(TEXT("4"));
	add_type(TEXT("5 "));
	add_type(TEXT("6x no number"));
	add_type(TEXT(" no number"));
	add_type(TEXT("10007 too large a number"));
	add_type(TEXT("FFFFFFFFFFFFFFFF8 neither"));
	add_type(TEXT("9 \xff"));
	add_type(TEXT("a the option's"));
	add_type(TEXT("ffff last"));
	end_buffer(&source, start);
}

static void expect_types(enum tw_order order, const struct tw_read_options *named)
{
	static const char *const names[TYPES] = {[1] = "a request", [2] = "\xc3\xa4", [3] = "text", [10] = "mine"};
	struct tw_read_options options = *named;
	struct tw_reader *reader;
	struct tw_batch batch;
	unsigned type = 0;
	options.order = order;
	assert_int_equal(tw_open_memory(&reader, "test", source.data, source.size, &options), 0);
	while (tw_read(reader, &batch) > 0)
		for (size_t i = 0; i < batch.count; i++, type++) {
			const char *name = tw_dictionary_name(tw_reader_dictionary(reader), batch.events[i].name)->text;
			const char *wanted = type < TYPES ? names[type] : "last";
			assert_string_equal(name, wanted ? wanted : "typed event");
		}
	assert_int_equal(type, TYPES + 1);
	tw_close(reader);
}

static void test_types(void **state)
{
	static const struct tw_event_name name = {.type = 10, .name = "mine"};
	(void)state;
	make_types();
	for (unsigned order = TW_ORDER_TIME; order <= TW_ORDER_FILE; order++)
		expect_types((enum tw_order)order,
		             &(struct tw_read_options){.event_names = &name, .event_name_count = 1});
}

/* Records, too, in the order of the file, in which names come behind; and what is written anew has them. */
static void test_types_of_records(void **state)
{
	struct tw_reader *reader;
	struct tw_record record;
	unsigned found = 0;
	(void)state;
	make_types();
	write_events(&(struct tw_read_options){.order = TW_ORDER_TRACK}, "xray-fdr", NULL);
	for (unsigned i = 0; i < 2; i++) {
		const struct bytes *log = i ? &target : &source;
		assert_int_equal(tw_open_memory(&reader, "test", log->data, log->size,
		                                &(struct tw_read_options){.order = TW_ORDER_FILE}),
		                 0);
		while (tw_read_record(reader, &record) > 0)
			for (size_t k = 0; k < record.field_count; k++)
				if (strcmp(record.fields[k].name, "event_name") == 0)
					found += memcmp(record.fields[k].value.bytes, "a request", 9) == 0;
		tw_close(reader);
	}
	assert_int_equal(found, 2);
}

SUITE(fdr_notes)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_no_events),        cmocka_unit_test(test_kept),
	    cmocka_unit_test(test_versions),         cmocka_unit_test(test_cut),
	    cmocka_unit_test(test_not_of_others),    cmocka_unit_test(test_types),
	    cmocka_unit_test(test_types_of_records),
	};
	return cmocka_run_group_tests_name("fdr_notes", tests, set_up, tear_down);
}
