/* test_fxt_writer_blobs.c - blobs to an FXT archive: small and large ones, whole and in parts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt_writing.h"
#include "suite.h"

static const uint8_t nine[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

static void test_blob(void **state)
{
	struct fixture *f = *state;
	f->arguments[0] = (struct tw_argument){.type = TW_ARG_BYTES, .value.bytes = nine, .size = 9};
	PUT(f, .kind = TW_BLOB, .name = f->fib, .value = 9, .id = 1, .argument_count = 1);
	PUT(f, .kind = TW_BLOB, .name = f->fib, .id = 2);
	begin(f);
	NEXT(f, FIB(1), 0x0001000900010035, 0x0807060504030201, 0x0000000000000009); /* type 1, 9 bytes, name 1 */
	NEXT(f, 0x0002000000010015);
	end(f);
	expect_no_loss(f);
}

static void test_blob_in_pieces(void **state)
{
	struct fixture *f = *state;
	uint8_t *bytes = malloc(40000);
	assert_non_null(bytes);
	for (size_t i = 0; i < 40000; i++)
		bytes[i] = (uint8_t)(i % 251);
	f->arguments[0] = (struct tw_argument){.type = TW_ARG_BYTES, .value.bytes = bytes, .size = 40000};
	PUT(f, .kind = TW_BLOB, .name = f->fib, .value = 40000, .id = 1, .argument_count = 1);
	begin(f);
	NEXT(f, FIB(1), 0x00017ff00001fff5); /* 4,095 words, 32,752 bytes */
	assert_memory_equal(f->bytes + 8 * f->next, bytes, 32752);
	f->next += 4094;
	NEXT(f, 0x00011c50000138b5); /* 907 words, 7,248 bytes */
	assert_memory_equal(f->bytes + 8 * f->next, bytes + 32752, 7248);
	f->next += 906;
	end(f);
	free(bytes);
	expect_no_loss(f);
}

/* Format 0: category, name, number of arguments, thread; time; arguments; size; bytes. Format 1: without most of
 * that. */
static void test_large_blobs(void **state)
{
	struct fixture *f = *state;
	f->arguments[0] = (struct tw_argument){.type = TW_ARG_BYTES, .value.bytes = nine, .size = 9};
	f->arguments[1] = (struct tw_argument){.name = f->size, .type = TW_ARG_INT, .value.i = 5};
	PUT(f, .kind = TW_BLOB, .time = 5, .track = f->main, .category = f->cat, .name = f->fib, .argument_count = 2);
	PUT(f, .kind = TW_BLOB, .category = f->cat, .name = f->fib, .argument_count = 1, .id = 3);
	begin(f);
	NEXT(f, SIZE(1), CATEGORY(2), FIB(3), MAIN(1), 0x000000000000007f, 0x0000001100030002, 5);
	NEXT(f, 0x0000000500010011, 9, 0x0807060504030201, 0x0000000000000009);
	NEXT(f, 0x000001000000005f, 0x0000000000030002, 9, 0x0807060504030201, 0x0000000000000009);
	end(f);
	expect_loss(f, "blob type", 0, 1);
}

/* One that was a large record, which has no type, stays one, whatever it lacks. */
static void test_large_blob_without_category(void **state)
{
	struct fixture *f = *state;
	f->arguments[0] = (struct tw_argument){.type = TW_ARG_BYTES, .value.bytes = nine, .size = 9};
	PUT(f, .kind = TW_BLOB, .name = f->fib, .argument_count = 1);
	begin(f);
	NEXT(f, FIB(1), 0x000001000000005f, 0x0000000000010000, 9, 0x0807060504030201, 0x0000000000000009);
	end(f);
	expect_no_loss(f);
}

/* Parts of a blob append to each other by their name; the last of them does not say that it is one. */
static void test_partial_blob(void **state)
{
	struct fixture *f = *state;
	f->arguments[0] = (struct tw_argument){.type = TW_ARG_BYTES, .value.bytes = nine, .size = 8};
	for (unsigned i = 0; i < 2; i++)
		PUT(f, .kind = TW_BLOB, .time = 5, .category = f->cat, .name = f->fib, .argument_count = 1,
		    .flags = i ? 0 : TW_FLAG_PARTIAL);
	begin(f);
	NEXT(f, FIB(1), 0x0000000800010025, 0x0807060504030201, 0x0000000800010025, 0x0807060504030201);
	end(f);
	expect_loss(f, "blob", 2, 0);
}

/* Where all parts are there they are one large record; what comes between them stands behind it. */
static void test_large_blob_in_parts(void **state)
{
	struct fixture *f = *state;
	f->arguments[0] = (struct tw_argument){.type = TW_ARG_BYTES, .value.bytes = nine, .size = 8};
	PUT(f, .kind = TW_BLOB, .time = 5, .category = f->cat, .name = f->fib, .argument_count = 1, .value = 17,
	    .flags = TW_FLAG_PARTIAL, .other = TW_BLOB_FIRST_PART);
	PUT(f, .kind = TW_INSTANT, .time = 6, .track = f->main, .name = f->fib);
	PUT(f, .kind = TW_BLOB, .time = 4, .name = f->fib, .argument_count = 1, .value = 8, .id = 1);
	f->arguments[0].size = 9;
	PUT(f, .kind = TW_BLOB, .time = 5, .category = f->cat, .name = f->fib, .argument_count = 1, .value = 17,
	    .other = TW_BLOB_LATER_PART);
	begin(f);
	NEXT(f, CATEGORY(1), FIB(2), 0x000001000000006f, 0x0000000000020001, 17);
	NEXT(f, 0x0807060504030201, 0x0807060504030201, 0x0000000000000009);
	NEXT(f, MAIN(1), 0x0002000001000034, 6, 0);
	NEXT(f, 0x0001000800020025, 0x0807060504030201);
	end(f);
	expect_no_loss(f);
}

/* The file has become shorter since: zeros, so that what follows is found. */
static void test_large_blob_without_its_end(void **state)
{
	struct fixture *f = *state;
	f->arguments[0] = (struct tw_argument){.type = TW_ARG_BYTES, .value.bytes = nine, .size = 8};
	PUT(f, .kind = TW_BLOB, .time = 5, .category = f->cat, .name = f->fib, .argument_count = 1, .value = 17,
	    .flags = TW_FLAG_PARTIAL, .other = TW_BLOB_FIRST_PART);
	PUT(f, .kind = TW_INSTANT, .time = 6, .track = f->main, .name = f->fib);
	begin(f);
	NEXT(f, CATEGORY(1), FIB(2), 0x000001000000006f, 0x0000000000020001, 17, 0x0807060504030201, 0, 0);
	NEXT(f, MAIN(1), 0x0002000001000034, 6, 0);
	end(f);
	expect_loss(f, "blob", 1, 0);
}

SUITE(fxt_writer_blobs)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
	    TEST(test_blob),
	    TEST(test_blob_in_pieces),
	    TEST(test_large_blobs),
	    TEST(test_large_blob_without_category),
	    TEST(test_partial_blob),
	    TEST(test_large_blob_in_parts),
	    TEST(test_large_blob_without_its_end),
	};
#undef TEST
	return cmocka_run_group_tests_name("fxt writer: blobs", tests, NULL, NULL);
}
