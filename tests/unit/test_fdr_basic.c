/* test_fdr_basic.c - every record of basic XRay logs, both ways, with bytes from the format's tables. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fdr_bytes.h"
#include "suite.h"

#include <trackway/fdr.h>
#include <trackway/trackway.h>

static const struct basic_case {
	const char *what;
	unsigned first, last;
	bool big;
	const char *hex;
	struct tw_basic_record record;
} basics[] = {
    {"enter",
     1,
     2,
     false,
     "0000 ff 00 01000000 e803000000000000 65000000 00000000 0000000000000000",
     {.cpu = 255, .function_id = 1, .tsc = 1000, .thread = 101}},
    {"enter, with process",
     3,
     3,
     false,
     "0000 03 00 01000000 e803000000000080 65000000 64000000 0000000000000000",
     {.cpu = 3, .function_id = 1, .tsc = 0x80000000000003e8, .thread = 101, .process = 100}},
    {"exit",
     3,
     3,
     false,
     "0000 03 01 feffffff e803000000000000 ffffffff 64000000 0000000000000000",
     {.cpu = 3, .kind = TW_FDR_EXIT, .function_id = -2, .tsc = 1000, .thread = UINT32_MAX, .process = 100}},
    {"tail exit",
     2,
     2,
     false,
     "0000 03 02 03000000 4605000000000000 65000000 00000000 0000000000000000",
     {.cpu = 3, .kind = TW_FDR_TAIL_EXIT, .function_id = 3, .tsc = 1350, .thread = 101}},
    {"tail exit, with process",
     3,
     3,
     false,
     "0000 03 02 03000000 4605000000000000 65000000 64000000 0000000000000000",
     {.cpu = 3, .kind = TW_FDR_TAIL_EXIT, .function_id = 3, .tsc = 1350, .thread = 101, .process = 100}},
    {"enter with arguments",
     3,
     3,
     false,
     "0000 03 03 02000000 4c04000000000000 65000000 64000000 0000000000000000",
     {.cpu = 3, .kind = TW_FDR_ENTER_ARGS, .function_id = 2, .tsc = 1100, .thread = 101, .process = 100}},
    {"argument",
     1,
     3,
     false,
     "0100 0000 02000000 65000000 64000000 0df0fecaefbeadde 0000000000000000",
     {.record_type = 1, .function_id = 2, .thread = 101, .process = 100, .argument = 0xdeadbeefcafef00d}},
    {"enter, big",
     1,
     2,
     true,
     "0000 03 00 00000001 00000000000003e8 00000065 00000000 0000000000000000",
     {.cpu = 3, .function_id = 1, .tsc = 1000, .thread = 101}},
    {"tail exit, big",
     2,
     2,
     true,
     "0000 03 02 00000003 0000000000000546 00000065 00000000 0000000000000000",
     {.cpu = 3, .kind = TW_FDR_TAIL_EXIT, .function_id = 3, .tsc = 1350, .thread = 101}},
    {"exit, big",
     3,
     3,
     true,
     "0000 03 01 00000001 00000000000003e8 00000065 00000064 0000000000000000",
     {.cpu = 3, .kind = TW_FDR_EXIT, .function_id = 1, .tsc = 1000, .thread = 101, .process = 100}},
    {"argument, big",
     1,
     3,
     true,
     "0001 0000 00000002 00000065 00000064 deadbeefcafef00d 0000000000000000",
     {.record_type = 1, .function_id = 2, .thread = 101, .process = 100, .argument = 0xdeadbeefcafef00d}},
};

static void basic_there_and_back(const struct basic_case *c, unsigned version, enum tw_fdr_layout layout,
                                 const uint8_t *bytes, const uint8_t *clean, bool padded)
{
	const struct tw_basic_record *wanted = &c->record;
	struct tw_basic_record found;
	uint8_t again[TW_BASIC_RECORD_SIZE];
	assert_int_equal(tw_basic_decode(bytes, (uint16_t)version, layout, &found), 0);
	bool same = found.record_type == wanted->record_type && found.cpu == wanted->cpu &&
	            found.kind == wanted->kind && found.function_id == wanted->function_id &&
	            found.tsc == wanted->tsc && found.thread == wanted->thread && found.process == wanted->process &&
	            found.argument == wanted->argument && found.padded == padded;
	if (!same)
		fail_msg("%s: some field is wrong (padded: %d)", c->what, found.padded);
	assert_int_equal(tw_basic_encode(&found, (uint16_t)version, layout, again), 0);
	expect_bytes(c->what, again, clean, sizeof again);
}

static void test_basic_records(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof basics / sizeof *basics; i++)
		for (unsigned version = basics[i].first; version <= basics[i].last; version++) {
			uint8_t bytes[TW_BASIC_RECORD_SIZE];
			assert_int_equal(from_hex(basics[i].hex, bytes, sizeof bytes), sizeof bytes);
			if (!basics[i].big)
				basic_there_and_back(&basics[i], version, TW_FDR_LITTLE, bytes, bytes, false);
			for (unsigned layout = TW_FDR_BIG_MSB; basics[i].big && layout <= TW_FDR_BIG_LSB; layout++)
				basic_there_and_back(&basics[i], version, (enum tw_fdr_layout)layout, bytes, bytes,
				                     false);
		}
}

static void test_basic_padding(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof basics / sizeof *basics; i++)
		for (size_t at = 0; at < TW_BASIC_RECORD_SIZE; at++) {
			const struct basic_case *c = &basics[i];
			uint8_t clean[TW_BASIC_RECORD_SIZE], bytes[TW_BASIC_RECORD_SIZE];
			enum tw_fdr_layout layout = c->big ? TW_FDR_BIG_MSB : TW_FDR_LITTLE;
			size_t process_end = c->last >= 3 ? 24 : 20;
			bool unused = c->record.record_type ? at == 2 || at == 3 || at >= 24 : at >= process_end;
			if (!unused)
				continue;
			from_hex(c->hex, clean, sizeof clean);
			memcpy(bytes, clean, sizeof bytes);
			bytes[at] = 1;
			basic_there_and_back(c, c->last, layout, bytes, clean, true);
		}
}

static void test_basic_failures(void **state)
{
	uint8_t bytes[TW_BASIC_RECORD_SIZE] = {0};
	struct tw_basic_record record = {.kind = TW_FDR_TAIL_EXIT};
	(void)state;
	assert_int_equal(tw_basic_encode(&record, 1, TW_FDR_LITTLE, bytes), TW_ERR_VALUE);
	assert_int_equal(tw_basic_encode(&record, 2, TW_FDR_LITTLE, bytes), 0);
	assert_int_equal(tw_basic_decode(bytes, 1, TW_FDR_LITTLE, &record), 0); /* read in every version */
	record = (struct tw_basic_record){.kind = 4};
	assert_int_equal(tw_basic_encode(&record, 3, TW_FDR_LITTLE, bytes), TW_ERR_VALUE);
	record = (struct tw_basic_record){.record_type = 2};
	assert_int_equal(tw_basic_encode(&record, 3, TW_FDR_LITTLE, bytes), TW_ERR_VALUE);
	memset(bytes, 0, sizeof bytes);
	for (unsigned kind = 4; kind < 256; kind++) {
		bytes[3] = (uint8_t)kind;
		assert_int_equal(tw_basic_decode(bytes, 3, TW_FDR_LITTLE, &record), TW_ERR_VALUE);
	}
	bytes[0] = 2;
	assert_int_equal(tw_basic_decode(bytes, 3, TW_FDR_LITTLE, &record), TW_ERR_FORMAT);
	bytes[0] = 1; /* 0x0100 in big endian */
	assert_int_equal(tw_basic_decode(bytes, 3, TW_FDR_BIG_MSB, &record), TW_ERR_FORMAT);
}

static void test_basic_logs(void **state)
{
	static const struct {
		unsigned type, kind, tsc;
		int32_t function;
	} wanted[] = {{0, 0, 1000, 1}, {0, 3, 1100, 2}, {1, 0, 0, 2},    {0, 1, 1200, 2}, {0, 0, 1300, 3},
	              {0, 2, 1350, 3}, {0, 0, 1360, 4}, {0, 1, 1400, 4}, {0, 1, 1500, 1}};
	static const char *const names[] = {"basic-v3.xray", "basic-be-v2.xray"};
	static struct bytes log;
	(void)state;
	for (size_t k = 0; k < 2; k++) {
		struct tw_fdr_header header;
		load_log(&log, names[k]);
		assert_int_equal(tw_fdr_header_decode(log.data, log.size, &header), 0);
		assert_int_equal(header.version, 3 - k);
		assert_int_equal(log.size, 32 * (1 + sizeof wanted / sizeof *wanted));
		for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
			struct tw_basic_record r;
			assert_int_equal(tw_basic_decode(log.data + 32 * (i + 1), header.version, header.layout, &r),
			                 0);
			assert_int_equal(r.record_type, wanted[i].type);
			assert_int_equal(r.kind, wanted[i].kind);
			assert_int_equal(r.tsc, wanted[i].tsc);
			assert_int_equal(r.function_id, wanted[i].function);
			assert_int_equal(r.thread, 101);
			assert_int_equal(r.process, k ? 0 : 100);
			assert_int_equal(r.cpu, wanted[i].type ? 0 : 3);
			assert_true(r.argument == (wanted[i].type ? 0xdeadbeefcafef00d : 0));
		}
	}
}

static void count_error(void *context, const struct tw_finding *finding)
{
	unsigned *count = context;
	*count += finding->severity == TW_ERROR;
}

/* Undamaged logs of records that could also be read, shifted by some bytes, as others: they are read as they stand. */
static void test_basic_in_place(void **state)
{
	enum { RECORDS_MAX = 4 };
	static const struct {
		uint32_t thread, process;
		uint64_t tsc;
		size_t count;
		struct {
			uint8_t kind;
			int32_t function;
		} records[RECORDS_MAX];
	} logs[] = {
	    {7, 1, 1010, 4, {{0, 0}, {0, 1}, {1, 1}, {1, 0}}}, /* function 0 first, behind it too few to be sure */
	    {7, 1, 0, 4, {{0, 0}, {0, 0}, {1, 0}, {1, 0}}},    /* no other function, a counter of 0 */
	    {300, 1, 1, 4, {{0, 1}, {0, 0}, {1, 0}, {1, 1}}},  /* in between */
	    {0, 5, 1000, 3, {{0, 1}, {0, 2}, {0, 3}}},         /* thread 0 */
	    {7, 1, 10, 1, {{0, 0}}},                           /* alone */
	};
	(void)state;
	for (size_t k = 0; k < sizeof logs / sizeof *logs; k++) {
		uint8_t bytes[TW_BASIC_RECORD_SIZE * (1 + RECORDS_MAX)] = {3, 0, 0, 0, 3}; /* version, type, constant */
		bytes[9] = 0x94, bytes[10] = 0x35, bytes[11] = 0x77;                       /* cycles a second */
		for (size_t i = 0; i < logs[k].count; i++) {
			struct tw_basic_record record = {.kind = logs[k].records[i].kind,
			                                 .function_id = logs[k].records[i].function,
			                                 .tsc = logs[k].tsc + 10 * i,
			                                 .thread = logs[k].thread,
			                                 .process = logs[k].process};
			assert_int_equal(tw_basic_encode(&record, 3, TW_FDR_LITTLE,
			                                 bytes + TW_BASIC_RECORD_SIZE * (i + 1)),
			                 0);
		}
		unsigned errors = 0;
		struct tw_read_options options = {.order = TW_ORDER_FILE,
		                                  .on_finding = count_error,
		                                  .finding_context = &errors};
		struct tw_reader *reader;
		struct tw_batch batch;
		size_t count = 0;
		int status =
		    tw_open_memory(&reader, "made", bytes, TW_BASIC_RECORD_SIZE * (logs[k].count + 1), &options);
		while (status >= 0 && (status = tw_read(reader, &batch)) > 0)
			for (size_t i = 0; i < batch.count; i++, count++) {
				assert_int_not_equal(batch.events[i].kind, TW_LOST);
				assert_int_equal(batch.events[i].offset, TW_BASIC_RECORD_SIZE * (count + 1));
			}
		assert_int_equal(status, 0);
		tw_close(reader);
		assert_int_equal(errors, 0);
		assert_int_equal(count, logs[k].count);
	}
}

static size_t count_events(const struct bytes *b)
{
	const struct tw_read_options options = {.order = TW_ORDER_TIME};
	struct tw_reader *reader;
	struct tw_batch batch;
	size_t count = 0;
	int status = tw_open_memory(&reader, "made", b->data, b->size, &options);
	while (status >= 0 && (status = tw_read(reader, &batch)) > 0)
		count += batch.count;
	assert_int_equal(status, 0);
	tw_close(reader);
	return count;
}

static void add_basic_call(struct bytes *b, uint32_t id, uint64_t begins, uint64_t ends, uint32_t thread)
{
	add_basic(b, 0, id, begins, thread);
	add_basic(b, 1, id, ends, thread);
}

/* A child writes its parent's buffer again, right behind what the parent wrote of it, and so does its own child. A clock
 * that stands still is none: calls at one time are calls. */
static void test_fork(void **state)
{
	static struct bytes b;
	(void)state;
	add_basic_header(&b, 3);
	add_basic_call(&b, 1, 100, 110, 7);
	add_basic_call(&b, 1, 120, 130, 7);
	add_basic_call(&b, 1, 100, 110, 7);
	add_basic_call(&b, 2, 140, 150, 8);
	add_basic_call(&b, 1, 100, 110, 7);
	add_basic_call(&b, 1, 100, 110, 7);
	assert_int_equal(count_events(&b), 6);
	add_basic_header(&b, 3);
	for (unsigned i = 0; i < 3; i++)
		add_basic_call(&b, 1, 100, 100, 7);
	assert_int_equal(count_events(&b), 6);
}

/* Reads a log in the order of its file; marks where its calls are. */
static void find_calls(const struct bytes *b, bool *found)
{
	const struct tw_read_options options = {.order = TW_ORDER_FILE};
	struct tw_reader *reader;
	struct tw_batch batch;
	memset(found, 0, b->size);
	int status = tw_open_memory(&reader, "made", b->data, b->size, &options);
	while (status >= 0 && (status = tw_read(reader, &batch)) > 0)
		for (size_t i = 0; i < batch.count; i++)
			found[batch.events[i].offset] |= batch.events[i].kind != TW_LOST;
	assert_int_equal(status, 0);
	tw_close(reader);
}

static void replace(struct bytes *b, size_t at, size_t length, const char *hex)
{
	uint8_t bytes[TW_BASIC_RECORD_SIZE];
	size_t count = from_hex(hex, bytes, sizeof bytes);
	memmove(b->data + at + count, b->data + at + length, b->size - at - length);
	memcpy(b->data + at, bytes, count);
	b->size += count - length;
}

/* Within 200 bytes four too many, forty missing and eight too many: where records stood, three parts of records could be
 * read as calls, of threads that cannot be, with bytes that belong to nobody, and of process 0 in a log of another. None
 * of them is told, and all calls outside are. */
static void test_near_damages(void **state)
{
	enum { BEFORE = 20, WITHIN = 6, RECORDS = 40, RECORD = TW_BASIC_RECORD_SIZE };
	static const struct tw_basic_record within[WITHIN] = {
	    {.kind = 1, .function_id = 0x11, .tsc = 0xe8d4bb0b15},
	    {.kind = 1, .function_id = 0x28, .tsc = 0xe8d4bb0d71},
	    {.kind = 1, .function_id = 0x11, .tsc = 0xe8d4bb1726},
	    {.kind = 0, .function_id = 0x16, .tsc = 0xe8d4bb1e01},
	    {.kind = 0, .function_id = 0x0c, .tsc = 0xe8d4bb2102},
	    {.kind = 0, .function_id = 0x2f, .tsc = 0xe8d4bb26ee},
	};
	static const struct tw_fdr_header header = {.version = 3,
	                                            .constant_tsc = true,
	                                            .nonstop_tsc = true,
	                                            .cycle_frequency = 3000000000,
	                                            .layout = TW_FDR_BIG_LSB};
	static struct bytes b;
	static bool found[RECORD * (RECORDS + 2)];
	(void)state;
	tw_fdr_header_encode(&header, b.data);
	b.size = TW_FDR_HEADER_SIZE;
	for (unsigned i = 0; i < RECORDS; i++, b.size += RECORD) {
		bool is_within = i - BEFORE < WITHIN;
		struct tw_basic_record record =
		    is_within ? within[i - BEFORE]
			      : (struct tw_basic_record){.function_id = 0x3c, .tsc = 0xe8d4bae000 + 0x800 * i};
		record.thread = record.process = 4000;
		assert_int_equal(tw_basic_encode(&record, 3, header.layout, b.data + b.size), 0);
	}
	const size_t from = TW_FDR_HEADER_SIZE + RECORD * BEFORE, to = from + RECORD * WITHIN;
	find_calls(&b, found);
	for (size_t at = TW_FDR_HEADER_SIZE; at < b.size; at += RECORD)
		assert_true(found[at]);
	replace(&b, from + 177, 0, "240de6829c9343ee");
	replace(&b, from + 72, 40, "");
	replace(&b, from + 8, 0, "7e653717");
	const size_t missing = 40 - 8 - 4;
	find_calls(&b, found);
	for (size_t at = TW_FDR_HEADER_SIZE; at < from; at += RECORD)
		assert_true(found[at]);
	for (size_t at = from; at < to - missing; at++)
		assert_true(!found[at] || at == from + 36 || at == from + 92);
	for (size_t at = to - missing + RECORD; at < b.size; at += RECORD)
		assert_true(found[at]);
}

/* A thread of a number that Linux has not, in a log of others: each of its calls has another one beside it. */
static void test_large_thread(void **state)
{
	static struct bytes b;
	(void)state;
	add_basic_header(&b, 3);
	for (unsigned i = 0; i < 10; i++)
		add_basic_call(&b, 1, 100 + 20 * i, 110 + 20 * i, 7);
	add_basic_call(&b, 2, 400, 410, UINT32_MAX);
	add_basic_call(&b, 3, 420, 430, UINT32_MAX - 1);
	assert_int_equal(count_events(&b), 24);
}

SUITE(fdr_basic)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_basic_records),  cmocka_unit_test(test_basic_padding),
	    cmocka_unit_test(test_basic_failures), cmocka_unit_test(test_basic_logs),
	    cmocka_unit_test(test_basic_in_place), cmocka_unit_test(test_fork),
	    cmocka_unit_test(test_near_damages),   cmocka_unit_test(test_large_thread),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
