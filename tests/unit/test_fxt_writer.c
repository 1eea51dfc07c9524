/* test_fxt_writer.c - events to an FXT archive: the records, clocks and byte orders. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt_writing.h"
#include "suite.h"

static void test_target(void **state)
{
	struct fixture *f = *state;
	assert_string_equal(tw_writer_format_of("a/trace.fxt"), "fxt");
	assert_string_equal(tw_writer_format_of("trace.ftf"), "fxt");
	assert_int_equal(tw_writer_order("fxt"), TW_ORDER_TIME);
	begin(f);
	end(f);
}

static void test_options(void **state)
{
	struct fixture *f = *state;
	tw_discard(f->writer);
	assert_int_equal(tw_create(&f->writer, f->path, "fxt", &(struct tw_write_options){.version = 1}), TW_ERR_VALUE);
	tw_discard(f->writer);
	struct tw_write_options fast = {.ticks_per_second = UINT64_C(1000000000001)};
	assert_int_equal(tw_create(&f->writer, f->path, "fxt", &fast), TW_ERR_VALUE);
}

static void test_slices(void **state)
{
	struct fixture *f = *state;
	PUT(f, .kind = TW_SLICE_BEGIN, .time = 0x100, .track = f->main, .name = f->fib, .category = f->cat);
	PUT(f, .kind = TW_SLICE_END, .time = 0x200, .track = f->main, .name = f->fib);
	PUT(f, .kind = TW_SLICE_COMPLETE, .time = 0x300, .value = 0x44, .track = f->worker, .name = f->fib);
	begin(f);
	NEXT(f, FIB(1), CATEGORY(2), MAIN(1));
	NEXT(f, 0x0001000201020024, 0x100); /* type 4, size 2, event type 2, thread 1, category 2, name 1 */
	NEXT(f, 0x0001000001030024, 0x200);
	NEXT(f, WORKER(2), 0x0001000002040034, 0x300, 0x344); /* size 3, event type 4, thread 2 */
	end(f);
	expect_no_loss(f);
}

static void test_flags_of_slices(void **state)
{
	struct fixture *f = *state;
	PUT(f, .kind = TW_SLICE_END, .time = 1, .track = f->main, .name = f->fib,
	    .flags = TW_FLAG_TAIL | TW_FLAG_CLIPPED);
	begin(f);
	NEXT(f, 0x0000000400010022, 0x000000006c696174); /* "tail" */
	NEXT(f, 0x0000000700020022, 0x0064657070696c63); /* "clipped" */
	NEXT(f, FIB(3), MAIN(1), 0x0003000001230044, 1); /* size 4, event type 3, 2 arguments */
	NEXT(f, 0x0000000100010019, 0x0000000100020019); /* bool, size 1, name, true */
	end(f);
}

/* An entry of a call beside damage. */
static void test_uncertain_slice(void **state)
{
	struct fixture *f = *state;
	PUT(f, .kind = TW_SLICE_BEGIN, .time = 1, .track = f->main, .name = f->fib, .flags = TW_FLAG_UNCERTAIN);
	begin(f);
	NEXT(f, 0x0000000900010032, 0x6961747265636e75, 0x6e); /* "uncertain" */
	NEXT(f, FIB(2), MAIN(1), 0x0002000001120034, 1);       /* size 3, event type 2, 1 argument */
	NEXT(f, 0x0000000100010019);                           /* bool, size 1, name, true */
	end(f);
	expect_no_loss(f);
}

static void test_big_endian(void **state)
{
	static const uint64_t expected[] = {
	    0x0016547846040010,
	    0x0080000000110020,
	    0x747261636b776179, /* "trackway": text stays as it is */
	    0x0000000000000021,
	    1000000000,
	    0x0000000300010022,
	    0x6669620000000000, /* "fib" */
	    0x0000000000010033,
	    7,
	    8,
	    0x0001000001020024,
	    0x102,
	};
	enum { WORDS = sizeof expected / sizeof *expected };
	static const enum tw_byte_order orders[] = {TW_BYTES_BIG, TW_BYTES_BIG_LSB};
	struct fixture *f = *state;
	for (size_t i = 0; i < 2; i++) {
		create(f, &(struct tw_write_options){.byte_order = orders[i]});
		PUT(f, .kind = TW_SLICE_BEGIN, .time = 0x102, .track = f->main, .name = f->fib);
		finish(f);
		assert_int_equal(f->words, WORDS);
		for (size_t at = 0; at < WORDS; at++)
			assert_int_equal(tw_load64(f->bytes + 8 * at, true), expected[at]);
	}
}

static void test_scopes(void **state)
{
	struct fixture *f = *state;
	PUT(f, .kind = TW_INSTANT, .time = 1, .track = f->main, .name = f->fib);
	PUT(f, .kind = TW_INSTANT, .time = 2, .track = f->main, .name = f->fib, .flags = TW_FLAG_PROCESS);
	PUT(f, .kind = TW_INSTANT, .time = 3, .track = f->main, .name = f->fib, .flags = TW_FLAG_GLOBAL);
	begin(f);
	NEXT(f, FIB(1), MAIN(1));
	NEXT(f, 0x0001000001000034, 1, 0, 0x0001000001000034, 2, 1, 0x0001000001000034, 3, 2);
	end(f);
}

/* Each type once; integers in the smallest form: the document, "Argument types". */
static void test_arguments(void **state)
{
	struct fixture *f = *state;
	static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
	const struct tw_argument arguments[] = {
	    {.name = f->size, .type = TW_ARG_NULL},
	    {.name = f->size, .type = TW_ARG_INT, .value.i = -2},
	    {.name = f->size, .type = TW_ARG_UINT, .value.u = 0xfffffffe},
	    {.name = f->size, .type = TW_ARG_INT, .value.i = -0x80000001LL},
	    {.name = f->size, .type = TW_ARG_UINT, .value.u = 0x100000000},
	    {.name = f->size, .type = TW_ARG_DOUBLE, .value.d = 1.5},
	    text_argument(f->size, "text"),
	    {.name = f->size, .type = TW_ARG_POINTER, .value.u = 0x1122334455667788},
	    {.name = f->size, .type = TW_ARG_KOID, .value.u = 99},
	    {.name = f->size, .type = TW_ARG_BOOL, .value.u = 1},
	    {.name = f->size, .type = TW_ARG_BYTES, .value.bytes = bytes, .size = 9},
	    text_argument(0, ""),
	};
	memcpy(f->arguments, arguments, sizeof arguments);
	PUT(f, .kind = TW_SLICE_BEGIN, .time = 1, .track = f->main, .name = f->fib, .argument_count = 12);
	begin(f);
	NEXT(f, SIZE(1), FIB(2), MAIN(1), 0x0002000001c20164, 1); /* 12 arguments; size 2 + 20 words */
	NEXT(f, 0x0000000000010010);
	NEXT(f, 0xfffffffe00010011);
	NEXT(f, 0xfffffffe00010012);
	NEXT(f, 0x0000000000010023, 0xffffffff7fffffff);
	NEXT(f, 0x0000000000010024, 0x0000000100000000);
	NEXT(f, 0x0000000000010025, 0x3ff8000000000000);
	NEXT(f, 0x0000800400010026, 0x0000000074786574); /* inline, 4 bytes */
	NEXT(f, 0x0000000000010027, 0x1122334455667788);
	NEXT(f, 0x0000000000010028, 99);
	NEXT(f, 0x0000000100010019);
	NEXT(f, 0x000000090001003a, 0x0807060504030201, 0x0000000000000009);
	NEXT(f, 0x0000000000000016); /* the empty string is reference 0 */
	end(f);
	expect_no_loss(f);
}

/* Arguments first, the id last. */
static void test_counter(void **state)
{
	struct fixture *f = *state;
	f->arguments[0] = (struct tw_argument){.name = f->size, .type = TW_ARG_INT, .value.i = 5};
	PUT(f, .kind = TW_COUNTER, .time = 1, .track = f->main, .name = f->fib, .argument_count = 1, .id = 0x77);
	begin(f);
	NEXT(f, SIZE(1), FIB(2), MAIN(1), 0x0002000001110044, 1, 0x0000000500010011, 0x77);
	end(f);
}

static void test_async_and_flows(void **state)
{
	struct fixture *f = *state;
	static const uint8_t kinds[] = {TW_ASYNC_BEGIN, TW_ASYNC_INSTANT, TW_ASYNC_END,
	                                TW_FLOW_BEGIN,  TW_FLOW_STEP,     TW_FLOW_END};
	for (size_t i = 0; i < 6; i++)
		PUT(f, .kind = kinds[i], .time = i, .track = f->main, .name = f->fib, .id = 0xabc);
	begin(f);
	NEXT(f, FIB(1), MAIN(1));
	for (uint64_t i = 0; i < 6; i++)
		NEXT(f, 0x0001000001000034 | (5 + i) << 16, i, 0xabc);
	end(f);
	expect_no_loss(f);
}

static void test_scheduling(void **state)
{
	struct fixture *f = *state;
	f->arguments[0] = (struct tw_argument){.name = name(f, "weight"), .type = TW_ARG_INT, .value.i = -1};
	PUT(f, .kind = TW_SWITCH, .time = 1, .track = f->main, .other = f->worker, .value = 3, .cpu = 0x1234);
	PUT(f, .kind = TW_WAKEUP, .time = 2, .track = f->worker, .other = f->main, .cpu = 5, .argument_count = 1);
	PUT(f, .kind = TW_WAKEUP, .time = 3, .track = f->worker, .cpu = 5);
	begin(f);
	NEXT(f, MAIN(1), WORKER(2), 0x1000003123400048, 1, 8, 9); /* type 1, state 3, CPU, no arguments, size 4 */
	NEXT(f, 0x0000000600010022, 0x0000746867696577);          /* "weight" */
	NEXT(f, 0x0000000500020022, 0x00000072656b6177);          /* "waker" */
	NEXT(f, 0x2000000000520068, 2, 9, 0xffffffff00010011, 0x0000000000020028, 8);
	NEXT(f, 0x2000000000500038, 3, 9);
	end(f);
	expect_no_loss(f);
}

static void test_scheduling_keeps_its_waker(void **state)
{
	struct fixture *f = *state;
	f->arguments[0] = (struct tw_argument){.name = name(f, "waker"), .type = TW_ARG_KOID, .value.u = 8};
	PUT(f, .kind = TW_WAKEUP, .time = 2, .track = f->worker, .other = f->main, .argument_count = 1);
	PUT(f, .kind = TW_SWITCH, .time = 3, .track = f->worker, .value = 16);
	begin(f);
	NEXT(f, 0x0000000500010022, 0x00000072656b6177, WORKER(1), MAIN(2));
	NEXT(f, 0x2000000000010058, 2, 9, 0x0000000000010028, 8);
	NEXT(f, 0x100000f000000048, 3, 9, 0);
	end(f);
	expect_loss(f, "thread state", 1, 0);
}

/* Type 0: CPU from bit 16, state, threads, priorities; what does not fit is a switch of today. */
static void test_legacy_switch(void **state)
{
	struct fixture *f = *state;
	f->arguments[0] =
	    (struct tw_argument){.name = name(f, "outgoing_priority"), .type = TW_ARG_UINT, .value.u = 10};
	f->arguments[1] =
	    (struct tw_argument){.name = name(f, "incoming_priority"), .type = TW_ARG_UINT, .value.u = 20};
	PUT(f, .kind = TW_SWITCH, .time = 1, .track = f->main, .other = f->worker, .value = 2, .cpu = 3,
	    .argument_count = 2);
	PUT(f, .kind = TW_SWITCH, .time = 2, .track = f->main, .value = 2, .cpu = 256, .argument_count = 2);
	f->arguments[1].value.u = 256;
	PUT(f, .kind = TW_SWITCH, .time = 3, .track = f->main, .value = 2, .cpu = 3, .argument_count = 2);
	begin(f);
	NEXT(f, MAIN(1), WORKER(2), 0x0140a02012030028, 1);
	NEXT(f, 0x0000001100010042, 0x676e696f6774756f, 0x7469726f6972705f, 0x0000000000000079);
	NEXT(f, 0x0000001100020042, 0x676e696d6f636e69, 0x7469726f6972705f, 0x0000000000000079);
	NEXT(f, 0x1000002010020068, 2, 8, 0, 0x0000000a00010012, 0x0000001400020012);
	NEXT(f, 0x1000002000320068, 3, 8, 0, 0x0000000a00010012, 0x0000010000020012);
	end(f);
	expect_no_loss(f);
}

static void test_log(void **state)
{
	struct fixture *f = *state;
	f->arguments[0] = text_argument(0, "all is well");
	PUT(f, .kind = TW_LOG, .time = 1, .track = f->main, .argument_count = 1);
	PUT(f, .kind = TW_LOG, .time = 2, .track = f->main, .name = f->fib, .value = 4);
	begin(f);
	NEXT(f, MAIN(1), 0x00000001000b0049, 1, 0x77207369206c6c61, 0x00000000006c6c65); /* 11 bytes, thread 1 */
	NEXT(f, 0x0000000100030039, 2, 0x0000000000626966); /* the name, where there is no message */
	end(f);
	expect_loss(f, "severity", 0, 1);
}

static void test_objects(void **state)
{
	struct fixture *f = *state;
	f->arguments[0] = (struct tw_argument){.name = f->size, .type = TW_ARG_INT, .value.i = 5};
	PUT(f, .kind = TW_OBJECT, .name = f->fib, .value = 17, .id = 0x55, .argument_count = 1);
	PUT(f, .kind = TW_OBJECT, .name = f->fib, .id = 0x66, .argument_count = 1, .track = f->main,
	    .flags = TW_FLAG_USERSPACE);
	begin(f);
	NEXT(f, SIZE(1), FIB(2), 0x0000010002110037, 0x55, 0x0000000500010011); /* type 17, name 2, 1 argument */
	NEXT(f, MAIN(1), 0x0000010002010036, 0x66, 0x0000000500010011);         /* process of thread 1 */
	end(f);
	expect_no_loss(f);
}

/* What a pointer or a koid refers to is described once, before the first record with it. */
static void test_objects_of_arguments(void **state)
{
	struct fixture *f = *state;
	f->arguments[0] =
	    (struct tw_argument){.name = f->size, .type = TW_ARG_POINTER, .value.u = 0x66, .size = f->fib};
	f->arguments[1] = (struct tw_argument){.name = f->size, .type = TW_ARG_KOID, .value.u = 0x55, .size = f->fib};
	f->arguments[2] = (struct tw_argument){.name = f->size, .type = TW_ARG_KOID, .value.u = 0x44};
	PUT(f, .kind = TW_SLICE_BEGIN, .time = 1, .track = f->main, .argument_count = 3);
	PUT(f, .kind = TW_SLICE_BEGIN, .time = 2, .track = f->main, .argument_count = 3);
	f->arguments[1].size = f->cat;
	PUT(f, .kind = TW_SLICE_BEGIN, .time = 3, .track = f->main, .argument_count = 3);
	begin(f);
	NEXT(f, FIB(1), 0x0000000001000036, 0x66, 7, SIZE(2), 0x0000000001000027, 0x55);
	NEXT(f, MAIN(1), 0x0000000001320084, 1, 0x0000000000020027, 0x66, 0x0000000000020028, 0x55, 0x0000000000020028,
	     0x44);
	NEXT(f, 0x0000000001320084, 2, 0x0000000000020027, 0x66, 0x0000000000020028, 0x55, 0x0000000000020028, 0x44);
	NEXT(f, CATEGORY(3), 0x0000000003000027, 0x55);
	NEXT(f, 0x0000000001320084, 3, 0x0000000000020027, 0x66, 0x0000000000020028, 0x55, 0x0000000000020028, 0x44);
	end(f);
	expect_no_loss(f);
}

/* Without room to know of more than two pointers, the first of three is described again. */
static void test_more_objects_than_memory(void **state)
{
	struct fixture *f = *state;
	static const uint64_t pointers[] = {1, 2, 2, 3, 1};
	f->reader.options.memory_limit = 512;
	for (size_t i = 0; i < sizeof pointers / sizeof *pointers; i++) {
		f->arguments[0] = (struct tw_argument){.type = TW_ARG_POINTER, .value.u = pointers[i], .size = f->fib};
		PUT(f, .kind = TW_SLICE_BEGIN, .time = i, .track = f->main, .argument_count = 1);
	}
	begin(f);
	NEXT(f, FIB(1), 0x0000000001000036, 1, 7, MAIN(1), 0x0000000001120044, 0, 0x0000000000000027, 1);
	NEXT(f, 0x0000000001000036, 2, 7, 0x0000000001120044, 1, 0x0000000000000027, 2);
	NEXT(f, 0x0000000001120044, 2, 0x0000000000000027, 2);
	NEXT(f, 0x0000000001000036, 3, 7, 0x0000000001120044, 3, 0x0000000000000027, 3);
	NEXT(f, 0x0000000001000036, 1, 7, 0x0000000001120044, 4, 0x0000000000000027, 1);
	end(f);
	expect_no_loss(f);
}

static void test_described_objects(void **state)
{
	struct fixture *f = *state;
	f->arguments[0] =
	    (struct tw_argument){.name = f->size, .type = TW_ARG_POINTER, .value.u = 0x66, .size = f->fib};
	PUT(f, .kind = TW_OBJECT, .name = f->fib, .id = 0x66, .track = f->main, .flags = TW_FLAG_USERSPACE);
	PUT(f, .kind = TW_SLICE_BEGIN, .time = 1, .track = f->worker, .argument_count = 1);
	begin(f);
	NEXT(f, FIB(1), MAIN(1), 0x0000000001010026, 0x66);
	NEXT(f, SIZE(2), WORKER(2), 0x0000000002120044, 1, 0x0000000000020027, 0x66);
	end(f);
	expect_no_loss(f);
}

static void test_records_dropped(void **state)
{
	struct fixture *f = *state;
	PUT(f, .kind = TW_LOST, .name = name(f, "records dropped"));
	begin(f);
	NEXT(f, 0x0000000000130010); /* metadata type 3, provider 1, event 0 */
	end(f);
	expect_no_loss(f);
}

static void test_lost_bytes(void **state)
{
	struct fixture *f = *state;
	PUT(f, .kind = TW_LOST, .time = 1, .track = f->main, .name = f->fib, .value = 100);
	begin(f);
	NEXT(f, 0x0000000500010022, 0x0000007365747962); /* "bytes" */
	NEXT(f, 0x0000000400020022, 0x0000000074736f6c); /* "lost" */
	NEXT(f, MAIN(1), 0x0002000001100044, 1, 0x0000006400010012, 0);
	end(f);
	expect_loss(f, "lost", 1, 0);
}

/* Type 10, kind 2, thread from bit 20, count from bit 28. */
static void test_backtrace(void **state)
{
	struct fixture *f = *state;
	f->arguments[0] = (struct tw_argument){.type = TW_ARG_POINTER, .value.u = 0xa};
	f->arguments[1] = (struct tw_argument){.type = TW_ARG_POINTER, .value.u = 0xb};
	PUT(f, .kind = TW_STACK_SAMPLE, .time = 1, .track = f->main, .argument_count = 2);
	begin(f);
	NEXT(f, MAIN(1), 0x000000002012004a, 1, 0xa, 0xb);
	end(f);
	expect_no_loss(f);
}

static void test_backtrace_with_flags(void **state)
{
	struct fixture *f = *state;
	f->arguments[0] = (struct tw_argument){.type = TW_ARG_POINTER, .value.u = 0xa};
	f->arguments[1] = (struct tw_argument){.name = name(f, "flags"), .type = TW_ARG_UINT, .value.u = 9};
	PUT(f, .kind = TW_STACK_SAMPLE, .time = 1, .track = f->main, .argument_count = 2);
	begin(f);
	NEXT(f, MAIN(1), 0x000000901012003a, 1, 0xa);
	end(f);
	expect_no_loss(f);
}

/* Type 10, kinds 0 and 1: thread from bit 20, module from bit 28, then sizes of name and build id, or flags. */
static void test_modules(void **state)
{
	struct fixture *f = *state;
	static const uint8_t build_id[] = {1, 2};
	f->arguments[0] = (struct tw_argument){.name = name(f, "module_id"), .type = TW_ARG_UINT, .value.u = 7};
	f->arguments[1] = (struct tw_argument){.name = name(f, "build_id"),
	                                       .type = TW_ARG_BYTES,
	                                       .value.bytes = build_id,
	                                       .size = sizeof build_id};
	PUT(f, .kind = TW_METADATA, .time = 1, .track = f->main, .name = f->fib, .argument_count = 2);
	f->arguments[1] = (struct tw_argument){.name = name(f, "start"), .type = TW_ARG_POINTER, .value.u = 1};
	f->arguments[2] = (struct tw_argument){.name = name(f, "range"), .type = TW_ARG_POINTER, .value.u = 2};
	f->arguments[3] = (struct tw_argument){.name = name(f, "vaddr"), .type = TW_ARG_POINTER, .value.u = 3};
	f->arguments[4] = (struct tw_argument){.name = name(f, "flags"), .type = TW_ARG_UINT, .value.u = 5};
	PUT(f, .kind = TW_METADATA, .time = 2, .track = f->main, .argument_count = 5);
	begin(f);
	NEXT(f, MAIN(1), 0x002030007010004a, 1, 0x0000000000626966, 0x0000000000000201);
	NEXT(f, 0x000050007011005a, 2, 1, 2, 3);
	end(f);
	expect_no_loss(f);
}

/* What is like it and does not fit stays an instant, and is told. */
static void test_modules_that_do_not_fit(void **state)
{
	struct fixture *f = *state;
	f->arguments[0] = (struct tw_argument){.name = name(f, "module_id"), .type = TW_ARG_UINT, .value.u = 1 << 16};
	f->arguments[1] = (struct tw_argument){.name = name(f, "build_id"), .type = TW_ARG_BYTES};
	PUT(f, .kind = TW_METADATA, .track = f->main, .argument_count = 2);
	f->arguments[0].value.u = 1;
	f->arguments[1].name = f->size;
	PUT(f, .kind = TW_METADATA, .track = f->main, .argument_count = 2);
	PUT(f, .kind = TW_METADATA, .track = f->main, .argument_count = 1);
	finish(f);
	expect_loss(f, "metadata", 3, 0);
}

/* Metadata type 3: provider from bit 20, event from bit 52. */
static void test_provider_event(void **state)
{
	struct fixture *f = *state;
	f->arguments[0] = (struct tw_argument){.name = name(f, "provider_id"), .type = TW_ARG_UINT, .value.u = 3};
	f->arguments[1] = (struct tw_argument){.name = name(f, "event"), .type = TW_ARG_UINT, .value.u = 2};
	PUT(f, .kind = TW_METADATA, .argument_count = 2);
	f->format.name = "fxt"; /* otherwise numbers are of another archive */
	PUT(f, .kind = TW_METADATA, .argument_count = 2);
	begin(f);
	NEXT(f, 0x0020000000130010, 0x0020000000330010);
	end(f);
	expect_no_loss(f);
}

static void test_sample_without_addresses(void **state)
{
	struct fixture *f = *state;
	uint32_t stack = push(f, push(f, 0, f->fib), f->size);
	PUT(f, .kind = TW_STACK_SAMPLE, .time = 1, .track = f->main, .name = f->fib, .value = 2, .id = 20,
	    .other = stack);
	begin(f);
	NEXT(f, 0x0000000600010022, 0x0000746867696577);                             /* "weight" */
	NEXT(f, 0x0000000700020022, 0x00736e5f6c6c6177);                             /* "wall_ns" */
	NEXT(f, 0x0000000500030022, 0x0000006b63617473);                             /* "stack" */
	NEXT(f, FIB(4), 0x0000000c00050032, 0x61732d6b63617473, 0x00000000656c706d); /* "stack-sample" */
	NEXT(f, MAIN(1), 0x0004000501300074, 1, 0x0000000200010012, 0x0000001400020012);
	NEXT(f, 0x0000800800030026, 0x657a69733b626966, 0); /* "fib;size" */
	end(f);
	expect_loss(f, "stack-sample", 1, 0);
}

/* Nothing is told of what is not known: no wall time, no stack. */
static void test_sample_alone(void **state)
{
	struct fixture *f = *state;
	PUT(f, .kind = TW_STACK_SAMPLE, .time = 1, .track = f->main, .name = f->fib, .value = 2);
	begin(f);
	NEXT(f, 0x0000000600010022, 0x0000746867696577);                             /* "weight" */
	NEXT(f, FIB(2), 0x0000000c00030032, 0x61732d6b63617473, 0x00000000656c706d); /* "stack-sample" */
	NEXT(f, MAIN(1), 0x0002000301100044, 1, 0x0000000200010012, 0);
	end(f);
	expect_loss(f, "stack-sample", 1, 0);
}

/* ---- Tracks. ---- */

#define PROCESS(index) 0x0000000700000022 | (index) << 16, 0x00737365636f7270 /* the string */

static void test_thread_name(void **state)
{
	struct fixture *f = *state;
	tw_dictionary_name_track(f->reader.dictionary, f->main, f->fib);
	PUT(f, .kind = TW_SLICE_BEGIN, .time = 1, .track = f->main);
	PUT(f, .kind = TW_SLICE_BEGIN, .time = 2, .track = f->main);
	begin(f);
	NEXT(f, MAIN(1), FIB(1), PROCESS(2));
	NEXT(f, 0x0000010001020047, 8, 0x0000000000020028, 7); /* kernel object: type 2, name 1, argument "process" */
	NEXT(f, 0x0000000001020024, 1, 0x0000000001020024, 2);
	end(f);
}

static void test_late_names(void **state)
{
	struct fixture *f = *state;
	PUT(f, .kind = TW_SLICE_BEGIN, .time = 1, .track = f->main);
	tw_dictionary_name_track(f->reader.dictionary, f->main, f->fib);
	tw_dictionary_name_track(f->reader.dictionary, f->worker, f->fib); /* nothing happened there */
	begin(f);
	NEXT(f, MAIN(1), 0x0000000001020024, 1);
	NEXT(f, FIB(1), PROCESS(2), 0x0000010001020047, 8, 0x0000000000020028, 7);
	end(f);
}

static void test_process_name(void **state)
{
	struct fixture *f = *state;
	tw_dictionary_name_track(f->reader.dictionary, track(f, TW_TRACK_PROCESS, 7, 0), f->fib);
	PUT(f, .kind = TW_SLICE_BEGIN, .time = 1, .track = f->main);
	begin(f);
	NEXT(f, FIB(1), 0x0000000001010027, 7); /* kernel object: type 1, name 1 */
	NEXT(f, MAIN(1), 0x0000000001020024, 1);
	end(f);
}

static void test_cpu_track(void **state)
{
	struct fixture *f = *state;
	uint32_t cpu = track(f, TW_TRACK_CPU, 0, 6);
	PUT(f, .kind = TW_SLICE_BEGIN, .time = 1, .track = cpu);
	begin(f);
	assert_int_equal(cpu, 3);
	NEXT(f, 0x0000000000010033, 0, 0xc000000000000003, PROCESS(1));
	NEXT(f, 0x0000018005020057, 0xc000000000000003, 0x0000003620555043, 0x0000000000010028, 0); /* "CPU 6" */
	NEXT(f, 0x0000000001020024, 1);
	end(f);
	expect_loss(f, "track that is no thread", 1, 0);
}

static void test_unknown_track(void **state)
{
	struct fixture *f = *state;
	PUT(f, .kind = TW_SLICE_BEGIN, .time = 1, .track = 1000);
	begin(f);
	NEXT(f, 0x0000000000010033, 0, 0, 0x0000000001020024, 1);
	end(f);
}

/* ---- Times. ---- */

static void test_source_clock(void **state)
{
	struct fixture *f = *state;
	f->reader.clock.ticks_per_second = UINT64_C(3000000000);
	PUT(f, .kind = TW_SLICE_COMPLETE, .time = 1, .value = 1, .track = f->main);
	finish(f);
	NEXT(f, HEAD(3000000000), MAIN(1), 0x0000000001040034, 3, 6);
	end(f);
	expect_no_loss(f);
}

/* 24 MHz: tick 1 is at 41 ns, tick 2 at 83. */
static void test_times_between_ticks(void **state)
{
	struct fixture *f = *state;
	create(f, &(struct tw_write_options){.ticks_per_second = 24000000});
	PUT(f, .kind = TW_SLICE_BEGIN, .time = 41, .track = f->main);
	PUT(f, .kind = TW_SLICE_BEGIN, .time = 83, .track = f->main);
	PUT(f, .kind = TW_SLICE_BEGIN, .time = 42, .track = f->main);
	finish(f);
	NEXT(f, HEAD(24000000), MAIN(1), 0x0000000001020024, 1, 0x0000000001020024, 2, 0x0000000001020024, 2);
	end(f);
	expect_loss(f, "time", 1, 0);
}

/* 2^64 - 1 ns is tick 442,721,857,769,029,238.76 of 24 MHz; the times after it are their own. */
static void test_time_after_the_last(void **state)
{
	struct fixture *f = *state;
	create(f, &(struct tw_write_options){.ticks_per_second = 24000000});
	PUT(f, .kind = TW_SLICE_BEGIN, .time = UINT64_MAX, .track = f->main);
	PUT(f, .kind = TW_SLICE_BEGIN, .time = 1000, .track = f->main);
	PUT(f, .kind = TW_SLICE_BEGIN, .time = UINT64_MAX, .track = f->main);
	PUT(f, .kind = TW_SLICE_BEGIN, .time = 0, .track = f->main);
	finish(f);
	NEXT(f, HEAD(24000000), MAIN(1), 0x0000000001020024, 442721857769029239, 0x0000000001020024, 24,
	     0x0000000001020024, 442721857769029239, 0x0000000001020024, 0);
	end(f);
}

/* Any time, in any order, is the tick that 128 bits give. */
static void test_all_rates(void **state)
{
	static const uint64_t rates[] = {1, 1000, 24000000, 1000000000, 2399987654, 3000000000, 1000000000000};
	struct fixture *f = *state;
	__extension__ typedef unsigned __int128 wide;
	for (size_t k = 0; k < sizeof rates / sizeof *rates; k++) {
		create(f, &(struct tw_write_options){.ticks_per_second = rates[k]});
		uint64_t times[200], seed = 1;
		for (size_t i = 0; i < 200; i++) {
			seed = seed * 6364136223846793005 + 1442695040888963407;
			times[i] = seed >> (i % 7 * 9);
			PUT(f, .kind = TW_SLICE_BEGIN, .time = times[i], .track = f->main);
		}
		finish(f);
		for (size_t i = 0; i < 200; i++) {
			wide ticks = ((wide)times[i] * rates[k] + 999999999) / 1000000000;
			uint64_t expected = ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
			if (word(f, 5 + 3 + 2 * i + 1) != expected)
				fail_msg("%llu ns at %llu ticks a second is %llu, not %llu",
				         (unsigned long long)times[i], (unsigned long long)rates[k],
				         (unsigned long long)word(f, 5 + 3 + 2 * i + 1), (unsigned long long)expected);
		}
	}
}

static void test_cpu_is_counted_once(void **state)
{
	struct fixture *f = *state;
	f->reader.clock.has_cpu = true;
	PUT(f, .kind = TW_SLICE_BEGIN, .time = 1, .track = f->main, .cpu = 3);
	PUT(f, .kind = TW_SLICE_END, .time = 1, .track = f->main, .cpu = 4);
	finish(f);
	expect_loss(f, "cpu", 0, 1);
}

/* Every kind, with arguments of every type, is a record that decodes with nothing to remark, and encodes to the
 * same. */
static void test_records_are_valid(void **state)
{
	static const uint8_t nine[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
	struct fixture *f = *state;
	f->arguments[0] = (struct tw_argument){.type = TW_ARG_BYTES, .value.bytes = nine, .size = 9};
	f->arguments[1] = text_argument(f->size, "nine");
	f->arguments[2] = (struct tw_argument){.name = f->fib, .type = TW_ARG_DOUBLE, .value.d = 9};
	for (uint8_t kind = 0; kind < TW_EVENT_KINDS; kind++)
		for (unsigned count = 0; count <= 3; count++)
			PUT(f, .kind = kind, .time = kind, .track = f->main, .other = f->worker, .name = f->fib,
			    .category = f->cat, .argument_count = (uint8_t)count, .value = 300, .id = 300);
	finish(f);
	struct tw_fxt_decoder decoder = {.bytes = f->bytes, .left = 8 * f->words};
	struct tw_fxt_record record;
	static uint8_t again[TW_FXT_RECORD_MAX * TW_FXT_WORD];
	unsigned seen[TW_FXT_KINDS] = {0};
	for (;;) {
		const uint8_t *start = decoder.bytes;
		size_t size;
		int status = tw_fxt_next(&decoder, &record);
		assert_true(status >= 0);
		if (status == 0)
			break;
		seen[record.kind]++;
		assert_false(record.reserved || record.padded || record.trailing_size);
		assert_int_equal(tw_fxt_encode(&record, false, again, sizeof again, &size), 0);
		assert_int_equal(size, record.size);
		assert_memory_equal(start, again, size);
	}
	assert_int_equal(seen[TW_FXT_UNKNOWN], 0);
	for (unsigned kind = TW_FXT_INSTANT; kind <= TW_FXT_FLOW_END; kind++)
		assert_true(seen[kind] >= 4);
	assert_int_equal(seen[TW_FXT_LOG], 4);
	assert_int_equal(seen[TW_FXT_CONTEXT_SWITCH], 4);
	assert_int_equal(seen[TW_FXT_LARGE_BLOB], 3);
}

SUITE(fxt_writer)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
	    TEST(test_target),
	    TEST(test_options),
	    TEST(test_slices),
	    TEST(test_flags_of_slices),
	    TEST(test_uncertain_slice),
	    TEST(test_big_endian),
	    TEST(test_scopes),
	    TEST(test_arguments),
	    TEST(test_counter),
	    TEST(test_async_and_flows),
	    TEST(test_scheduling),
	    TEST(test_scheduling_keeps_its_waker),
	    TEST(test_legacy_switch),
	    TEST(test_log),
	    TEST(test_objects),
	    TEST(test_objects_of_arguments),
	    TEST(test_more_objects_than_memory),
	    TEST(test_described_objects),
	    TEST(test_records_dropped),
	    TEST(test_lost_bytes),
	    TEST(test_backtrace),
	    TEST(test_backtrace_with_flags),
	    TEST(test_modules),
	    TEST(test_modules_that_do_not_fit),
	    TEST(test_provider_event),
	    TEST(test_sample_without_addresses),
	    TEST(test_sample_alone),
	    TEST(test_thread_name),
	    TEST(test_late_names),
	    TEST(test_process_name),
	    TEST(test_cpu_track),
	    TEST(test_unknown_track),
	    TEST(test_source_clock),
	    TEST(test_times_between_ticks),
	    TEST(test_time_after_the_last),
	    TEST(test_all_rates),
	    TEST(test_cpu_is_counted_once),
	    TEST(test_records_are_valid),
	};
#undef TEST
	return cmocka_run_group_tests_name("fxt writer", tests, NULL, NULL);
}
