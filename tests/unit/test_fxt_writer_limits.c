/* test_fxt_writer_limits.c - events to an FXT archive where its tables are full, or texts and records are too long. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt_writing.h"
#include "suite.h"

static void test_sixteen_arguments(void **state)
{
	struct fixture *f = *state;
	for (unsigned i = 0; i < 16; i++)
		f->arguments[i] = (struct tw_argument){.type = TW_ARG_UINT, .value.u = i};
	PUT(f, .kind = TW_SLICE_BEGIN, .time = 1, .track = f->main, .argument_count = 16, .flags = TW_FLAG_CLIPPED);
	begin(f);
	NEXT(f, MAIN(1), 0x0000000001f20114, 1); /* 15 arguments, 17 words */
	for (uint64_t i = 0; i < 15; i++)
		NEXT(f, 0x0000000000000012 | i << 32);
	end(f);
	expect_loss(f, "argument", 0, 2); /* one of them the flag */
}

static void test_long_log(void **state)
{
	struct fixture *f = *state;
	char *text = malloc(40000);
	assert_non_null(text);
	memset(text, 'a', 40000);
	f->arguments[0] = (struct tw_argument){.type = TW_ARG_TEXT, .value.bytes = (uint8_t *)text, .size = 40000};
	PUT(f, .kind = TW_LOG, .time = 1, .track = f->main, .argument_count = 1);
	free(text);
	begin(f);
	NEXT(f, MAIN(1), 0x000000017d00fa29, 1); /* 4,002 words, 32,000 bytes */
	assert_int_equal(f->words, 5 + 3 + 4002);
	expect_loss(f, "long string", 1, 0);
}

/* A stack that needs more than the 32,000 bytes of a text keeps its innermost functions: "..." and 7,999 of 9,000
 * ";fib". */
static void test_deep_stack(void **state)
{
	struct fixture *f = *state;
	uint32_t stack = 0;
	for (int i = 0; i < 9000; i++)
		stack = push(f, stack, f->fib);
	PUT(f, .kind = TW_CPU_SAMPLE, .time = 1, .track = f->main, .name = f->fib, .value = 2, .other = stack);
	finish(f);
	const char *text = memmem(f->bytes, f->words * 8, "...;fib;fib", 11);
	assert_non_null(text);
	assert_memory_equal(text + 3 + 4 * 7999 - 4, ";fib\0", 5);
	assert_int_equal(loss_of(f, "long stack")->approximated, 1);
}

static void test_full_thread_table(void **state)
{
	struct fixture *f = *state;
	uint32_t last = 0;
	for (unsigned i = 1; i <= 256; i++) {
		last = track(f, TW_TRACK_THREAD, 100, 1000 + i);
		PUT(f, .kind = TW_SLICE_BEGIN, .time = i, .track = last);
	}
	f->arguments[0] = text_argument(0, "bad");
	PUT(f, .kind = TW_LOG, .time = 1, .track = last, .argument_count = 1);
	PUT(f, .kind = TW_OBJECT, .id = 0x66, .track = last, .flags = TW_FLAG_USERSPACE);
	PUT(f, .kind = TW_SLICE_END, .time = 2, .track = last - 1);
	begin(f);
	for (uint64_t i = 1; i <= 255; i++)
		NEXT(f, 0x0000000000000033 | i << 16, 100, 1000 + i, 0x0000000000020024 | i << 24, i);
	NEXT(f, 0x0000000000020044, 256, 100, 1256);
	NEXT(f, 0x0000000000030059, 1, 100, 1256, 0x0000000000646162);
	NEXT(f, 0x0000000000000036, 0x66, 100); /* of an object, the process alone */
	NEXT(f, 0x00000000ff030024, 2);
	end(f);
	expect_no_loss(f);
}

static void test_full_string_table(void **state)
{
	struct fixture *f = *state;
	uint32_t last = 0;
	for (unsigned i = 1; i <= 32768; i++) {
		char text[16];
		snprintf(text, sizeof text, "n%u", i);
		last = name(f, text);
		PUT(f, .kind = TW_SLICE_BEGIN, .time = i, .track = f->main, .name = last);
	}
	PUT(f, .kind = TW_SLICE_END, .time = 2, .track = f->main, .name = last - 1, .category = last,
	    .flags = TW_FLAG_TAIL);
	begin(f);
	f->next = f->words - 12;
	NEXT(f, 0x000000067fff0022, 0x00003736373233 << 8 | 'n'); /* "n32767": the last index */
	NEXT(f, 0x7fff000001020024, 32767);
	NEXT(f, 0x8006000001020034, 32768, 0x00003836373233 << 8 | 'n'); /* inline, 6 bytes */
	NEXT(f, 0x7fff800601130054, 2, 0x00003836373233 << 8 | 'n', 0x0000000180040029, 0x000000006c696174);
	end(f);
	expect_no_loss(f);
}

/* 32,000 bytes at most, and no character cut in two. */
static void test_long_names(void **state)
{
	struct fixture *f = *state;
	char *text = malloc(32003);
	assert_non_null(text);
	memset(text, 'a', 32002);
	text[32002] = '\0';
	uint32_t plain = name(f, text);
	memcpy(text + 31999, "\xe2\x82\xac", 3); /* one character */
	uint32_t cut = name(f, text);
	free(text);
	PUT(f, .kind = TW_SLICE_BEGIN, .time = 1, .track = f->main, .name = plain);
	PUT(f, .kind = TW_SLICE_BEGIN, .time = 1, .track = f->main, .name = cut);
	begin(f);
	NEXT(f, 0x00007d000001fa12); /* 4,001 words, 32,000 bytes */
	f->next += 4000;
	NEXT(f, MAIN(1), 0x0001000001020024, 1);
	NEXT(f, 0x00007cff0002fa12); /* 31,999 bytes */
	f->next += 3999;
	NEXT(f, 0x0061616161616161, 0x0002000001020024, 1);
	end(f);
	expect_loss(f, "long string", 2, 0);
}

static void test_cut_text(void **state)
{
	(void)state;
	assert_int_equal(fxt_cut_text("abc", 3, 3), 3);
	assert_int_equal(fxt_cut_text("abcd", 4, 3), 3);
	assert_int_equal(fxt_cut_text("a\xc3\xa9", 3, 2), 1);
	assert_int_equal(fxt_cut_text("a\xf0\x9f\x98\x80", 5, 4), 1);
	assert_int_equal(fxt_cut_text("\x80\x80\x80\x80\x80\x80", 6, 5), 5); /* no UTF-8: cut anywhere */
	assert_int_equal(fxt_cut_text("\x80\x80", 2, 0), 0);
}

/* A record has 4,095 words: what does not fit is cut, then left out, and the id still stands at the end. */
static void test_full_record(void **state)
{
	struct fixture *f = *state;
	char *text = malloc(40000);
	assert_non_null(text);
	memset(text, 'a', 40000);
	for (unsigned i = 0; i < 2; i++)
		f->arguments[i] =
		    (struct tw_argument){.type = TW_ARG_TEXT, .value.bytes = (uint8_t *)text, .size = 40000};
	f->arguments[2] = (struct tw_argument){.type = TW_ARG_UINT, .value.u = 1};
	PUT(f, .kind = TW_COUNTER, .time = 1, .track = f->main, .argument_count = 3, .id = 0x77);
	free(text);
	begin(f);
	NEXT(f, MAIN(1), 0x000000000121fff4, 1, 0x0000fd000000fa16); /* 2 arguments; 32,000 bytes */
	f->next += 4000;
	NEXT(f, 0x000082d0000005b6); /* 90 words, 720 bytes */
	f->next += 90;
	NEXT(f, 0x77);
	end(f);
	assert_int_equal(loss_of(f, "long string")->approximated, 2);
	assert_int_equal(loss_of(f, "argument")->left_out, 1);
}

static void test_full_record_of_bytes(void **state)
{
	struct fixture *f = *state;
	uint8_t *bytes = calloc(1, 40000);
	assert_non_null(bytes);
	f->arguments[0] = (struct tw_argument){.type = TW_ARG_BYTES, .value.bytes = bytes, .size = 40000};
	PUT(f, .kind = TW_SLICE_BEGIN, .time = 1, .track = f->main, .argument_count = 1);
	free(bytes);
	begin(f);
	NEXT(f, MAIN(1), 0x000000000112fff4, 1, 0x00007fe00000ffda); /* 4,093 words, 32,736 bytes */
	assert_int_equal(f->words, 5 + 3 + 4095);
	expect_loss(f, "long argument", 1, 0);
}

SUITE(fxt_writer_limits)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
	    TEST(test_sixteen_arguments), TEST(test_long_log),          TEST(test_deep_stack),
	    TEST(test_full_thread_table), TEST(test_full_string_table), TEST(test_long_names),
	    TEST(test_cut_text),          TEST(test_full_record),       TEST(test_full_record_of_bytes),
	};
#undef TEST
	return cmocka_run_group_tests_name("fxt writer: limits", tests, NULL, NULL);
}
