/* test_press.c - compression by several threads: zlib reads one member of gzip, zstd one frame, with all that was put. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include <cmocka.h>

#include "base/bytes/press.h"

#include "suite.h"

enum { BLOCK = 1 << 18, MOST = 20 * BLOCK };

static void keep(void *context, const char *bytes, size_t size)
{
	assert_true(tw_text_add(context, bytes, size));
}

/* Numbers that repeat, and do not. */
static char *make_bytes(void)
{
	char *bytes = malloc(MOST);
	uint32_t state = 1;
	for (size_t i = 0; i < MOST; i++) {
		state = state * 1664525 + 1013904223;
		bytes[i] = (char)(i % 3 ? i / 1000 : state >> 24);
	}
	return bytes;
}

/* In parts of that many bytes. */
static struct tw_text compress_parts(const char *ending, const char *bytes, size_t size, size_t part)
{
	struct tw_text out = {0};
	const struct tw_pack_sink sink = {keep, &out};
	struct tw_press *press = tw_press_new(tw_packer_of(ending), TW_PACK_LESS, &sink);
	assert_non_null(press);
	for (size_t at = 0; at < size; at += part)
		tw_press_put(press, bytes + at, size - at < part ? size - at : part);
	assert_true(tw_press_end(press));
	tw_press_free(press);
	return out;
}

static size_t read_gzip(const struct tw_text *in, void *out, size_t room)
{
	z_stream z = {.next_in = (Bytef *)in->bytes,
	              .avail_in = (uInt)in->length,
	              .next_out = out,
	              .avail_out = (uInt)room};
	assert_int_equal(inflateInit2(&z, MAX_WBITS + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.avail_in, 0);
	inflateEnd(&z);
	return room - z.avail_out;
}

static size_t read_zstd(const struct tw_text *in, void *out, size_t room)
{
	assert_int_equal(ZSTD_findFrameCompressedSize(in->bytes, in->length), in->length);
	return ZSTD_decompress(out, room, in->bytes, in->length);
}

static void expect_whole(const char *ending, size_t (*read)(const struct tw_text *, void *, size_t))
{
	static const size_t sizes[] = {0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 9 * BLOCK, MOST};
	char *bytes = make_bytes(), *again = malloc(MOST + 1);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct tw_text out = compress_parts(ending, bytes, sizes[i], MOST);
		assert_int_equal(read(&out, again, MOST + 1), sizes[i]);
		assert_memory_equal(again, bytes, sizes[i]);
		struct tw_text parts = compress_parts(ending, bytes, sizes[i], 65521);
		assert_int_equal(parts.length, out.length);
		assert_memory_equal(parts.bytes, out.bytes, out.length);
		tw_text_free(&out);
		tw_text_free(&parts);
	}
	free(bytes);
	free(again);
}

static void test_gzip(void **state)
{
	(void)state;
	expect_whole("x.gz", read_gzip);
}

static void test_zstd(void **state)
{
	(void)state;
	expect_whole("x.zst", read_zstd);
}

static void test_freed_before_the_end(void **state)
{
	struct tw_text out = {0};
	const struct tw_pack_sink sink = {keep, &out};
	char *bytes = make_bytes();
	(void)state;
	struct tw_press *press = tw_press_new(tw_packer_of("x.gz"), TW_PACK_USUAL, &sink);
	tw_press_put(press, bytes, MOST);
	tw_press_free(press);
	tw_press_free(NULL);
	tw_text_free(&out);
	free(bytes);
}

SUITE(press)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_gzip),
	    cmocka_unit_test(test_zstd),
	    cmocka_unit_test(test_freed_before_the_end),
	};
	return cmocka_run_group_tests_name("press", tests, NULL, NULL);
}
