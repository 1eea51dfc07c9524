/* test_xtrace_records.c - tokens, snapshots and file names of xtrace, byte by byte as the document has them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <trackway/xtrace.h>

#include "base/bytes/bytes.h"

#include "suite.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

/* ---- Tokens. The low three bits of the first byte are the class, the upper five the kind and its parameter. ---- */

static const struct {
	const uint8_t *bytes;
	size_t size;
	struct tw_xtrace_token token;
} tokens[] = {
    /* INST, EL0 and EL1: NOP is d503201f */
    {BYTES(0x01, 0x1f, 0x20, 0x03, 0xd5), {.kind = TW_XTRACE_INST, .opcode = 0xd503201f}},
    {BYTES(0x41, 0x1f, 0x20, 0x03, 0xd5), {.kind = TW_XTRACE_INST, .level = 1, .opcode = 0xd503201f}},
    {BYTES(0xc1, 0, 0, 0, 0), {.kind = TW_XTRACE_INST, .level = 3}},
    /* PCINST: PC, then the opcode */
    {BYTES(0x09, 0x78, 0x56, 0x34, 0x12, 0, 0, 0, 0, 0xc0, 0x03, 0x5f, 0xd6),
     {.kind = TW_XTRACE_PCINST, .pc = 0x12345678, .opcode = 0xd65f03c0}},
    {BYTES(0x49, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0),
     {.kind = TW_XTRACE_PCINST, .level = 1, .pc = 0xffff000000000000}},
    /* LOAD and STORE of 2^k bytes, k in the upper four bits */
    {BYTES(0x02, 1, 0, 0, 0, 0, 0, 0, 0, 0xaa), {.kind = TW_XTRACE_LOAD, .value = 1, .payload_size = 1}},
    {BYTES(0x22, 2, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4), {.kind = TW_XTRACE_LOAD, .value = 2, .payload_size = 4}},
    {BYTES(0x3a, 3, 0, 0, 0, 0, 0, 0, 0x80, 1, 2, 3, 4, 5, 6, 7, 8),
     {.kind = TW_XTRACE_STORE, .value = 0x8000000000000003, .payload_size = 8}},
    {BYTES(0x4a, 4, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16),
     {.kind = TW_XTRACE_STORE, .value = 4, .payload_size = 16}},
    /* VAL: six kinds, numbered from bit 3 */
    {BYTES(0x03, 1, 0, 0, 0, 0, 0, 0, 0), {.kind = TW_XTRACE_STXR, .value = 1}},
    {BYTES(0x0b, 1, 2, 0, 0, 0, 0, 0, 0), {.kind = TW_XTRACE_MRS, .value = 0x201}},
    {BYTES(0x13, 64, 0, 0, 0, 0, 0, 0, 0), {.kind = TW_XTRACE_SVCARG, .value = 64}},
    {BYTES(0x1b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), {.kind = TW_XTRACE_SVCRET, .value = UINT64_MAX}},
    {BYTES(0x23, 0, 0x10, 0, 0, 0, 0, 0, 0), {.kind = TW_XTRACE_DC, .value = 0x1000}},
    {BYTES(0x2b, 0, 0, 0x40, 0, 0, 0, 0, 0), {.kind = TW_XTRACE_TARGET_B, .value = 0x400000}},
    /* MISC: kinds 1, 3 and 4 of five; TIME */
    {BYTES(0x1c, 0, 0, 0, 0x60, 0, 0, 0, 0), {.kind = TW_XTRACE_MISC_FLAGS, .value = 0x60000000}},
    {BYTES(0x24, 0, 0, 0, 0, 0, 0, 0, 0), {.kind = TW_XTRACE_SYSCALL_VEC}},
    {BYTES(0x24, 1, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0, 0),
     {.kind = TW_XTRACE_SYSCALL_VEC, .value = 1, .payload_size = 16}},
    {BYTES(0x07, 9, 0, 0, 0, 0, 0, 0, 0), {.kind = TW_XTRACE_TIME, .value = 9}},
};

static void same_token(const struct tw_xtrace_token *a, const struct tw_xtrace_token *b)
{
	assert_string_equal(tw_xtrace_kind_name(a->kind), tw_xtrace_kind_name(b->kind));
	assert_int_equal(a->level, b->level);
	assert_int_equal(a->opcode, b->opcode);
	assert_int_equal(a->pc, b->pc);
	assert_int_equal(a->value, b->value);
	assert_int_equal(a->payload_size, b->payload_size);
}

static void test_tokens(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(tokens); i++) {
		struct tw_xtrace_token token;
		uint8_t again[64];
		size_t size;
		assert_int_equal(tw_xtrace_decode(tokens[i].bytes, tokens[i].size, &token), 1);
		assert_int_equal(token.size, tokens[i].size);
		same_token(&token, &tokens[i].token);
		if (token.payload_size)
			assert_ptr_equal(token.payload, tokens[i].bytes + tokens[i].size - token.payload_size);
		assert_int_equal(tw_xtrace_encode(&token, again, sizeof again, &size), 0);
		assert_int_equal(size, tokens[i].size);
		assert_memory_equal(again, tokens[i].bytes, size);
		assert_int_equal(tw_xtrace_encode(&token, again, size - 1, &size), TW_ERR_ROOM);
		assert_int_equal(size, tokens[i].size);
	}
}

static void test_tokens_cut(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(tokens); i++)
		for (size_t left = 1; left < tokens[i].size; left++) {
			struct tw_xtrace_token token;
			assert_int_equal(tw_xtrace_decode(tokens[i].bytes, left, &token), TW_ERR_ROOM);
			assert_true(token.size > left && token.size <= tokens[i].size);
		}
	struct tw_xtrace_token token;
	assert_int_equal(tw_xtrace_decode(NULL, 0, &token), 0);
}

static void test_all_registers(void **state)
{
	(void)state;
	uint8_t bytes[257] = {0x0c}, again[257];
	for (unsigned i = 0; i < TW_XTRACE_REGISTERS; i++)
		bytes[1 + 8 * i] = (uint8_t)(i + 1);
	struct tw_xtrace_token token;
	size_t size;
	assert_int_equal(tw_xtrace_decode(bytes, sizeof bytes, &token), 1);
	assert_int_equal(token.size, sizeof bytes);
	assert_int_equal(tw_xtrace_word(token.payload, 0), 1);
	assert_int_equal(tw_xtrace_word(token.payload, 31), 32);
	assert_int_equal(tw_xtrace_encode(&token, again, sizeof again, &size), 0);
	assert_memory_equal(bytes, again, sizeof bytes);
}

static void test_large_access(void **state)
{
	(void)state;
	static uint8_t bytes[9 + TW_XTRACE_ACCESS_MAX] = {0xf2, [sizeof bytes - 1] = 7};
	struct tw_xtrace_token token;
	assert_int_equal(tw_xtrace_decode(bytes, sizeof bytes - 1, &token), TW_ERR_ROOM);
	assert_int_equal(token.size, sizeof bytes);
	assert_int_equal(tw_xtrace_decode(bytes, sizeof bytes, &token), 1);
	assert_int_equal(token.payload[TW_XTRACE_ACCESS_MAX - 1], 7);
}

/* The classes 0, 5 and 6, what is reserved of the others, and a vector that cannot be. */
static void test_no_tokens(void **state)
{
	(void)state;
	static const uint8_t none[] = {0x00, 0x05, 0x06, 0x0f, 0x11, 0x19, 0x33, 0x04, 0x14, 0x2c, 0x83, 0xff};
	struct tw_xtrace_token token;
	for (size_t i = 0; i < COUNT(none); i++) {
		uint8_t bytes[32] = {none[i]};
		assert_int_equal(tw_xtrace_decode(bytes, sizeof bytes, &token), TW_ERR_FORMAT);
		assert_int_equal(token.kind, TW_XTRACE_UNKNOWN);
		assert_int_equal(token.size, 1);
	}
	const uint8_t vectors[32] = {0x24, 1, 0, 0x10}; /* 2^20 + 1 */
	assert_int_equal(tw_xtrace_decode(vectors, sizeof vectors, &token), TW_ERR_FORMAT);
	assert_int_equal(token.kind, TW_XTRACE_SYSCALL_VEC);
}

static void test_no_bytes(void **state)
{
	(void)state;
	static const uint8_t payload[32] = {0};
	static const struct tw_xtrace_token wrong[] = {
	    {.kind = TW_XTRACE_UNKNOWN},
	    {.kind = TW_XTRACE_KINDS},
	    {.kind = TW_XTRACE_INST, .level = 4},
	    {.kind = TW_XTRACE_LOAD},
	    {.kind = TW_XTRACE_LOAD, .payload = payload, .payload_size = 3},
	    {.kind = TW_XTRACE_STORE, .payload = payload, .payload_size = 2 * TW_XTRACE_ACCESS_MAX},
	    {.kind = TW_XTRACE_STORE, .payload_size = 8},
	    {.kind = TW_XTRACE_MRS, .payload = payload, .payload_size = 8},
	    {.kind = TW_XTRACE_ALLGPR, .payload = payload, .payload_size = 32},
	    {.kind = TW_XTRACE_SYSCALL_VEC, .value = 1, .payload = payload, .payload_size = 32},
	    {.kind = TW_XTRACE_SYSCALL_VEC, .value = UINT64_MAX / 16 + 2, .payload = payload, .payload_size = 16},
	};
	for (size_t i = 0; i < COUNT(wrong); i++) {
		uint8_t out[64];
		size_t size = 1;
		assert_int_equal(tw_xtrace_encode(&wrong[i], out, sizeof out, &size), TW_ERR_VALUE);
		assert_int_equal(size, 0);
	}
}

/* ---- Snapshots. ---- */

static void test_snapshot_sizes(void **state)
{
	(void)state;
	static const struct {
		uint16_t bits;
		size_t with, without;
	} sizes[] = {{128, 1424, 1168},   {256, 2704, 1680},  {384, 4496, 2192},  {512, 6800, 2704},
	             {640, 9616, 3216},   {768, 12944, 3728}, {896, 16784, 4240}, {1024, 21136, 4752},
	             {1152, 26272, 5536}, {2048, 74656, 9120}};
	for (size_t i = 0; i < COUNT(sizes); i++) {
		struct tw_xtrace_layout layout = {.has_za = true, .vector_bits = sizes[i].bits};
		assert_int_equal(tw_xtrace_snapshot_size(&layout), sizes[i].with);
		layout.has_za = false;
		assert_int_equal(tw_xtrace_snapshot_size(&layout), sizes[i].without);
	}
	assert_int_equal(tw_xtrace_snapshot_size(&(struct tw_xtrace_layout){.vector_bits = 320}), 0);
	assert_int_equal(tw_xtrace_snapshot_size(&(struct tw_xtrace_layout){.vector_bits = 2176}), 0);
	assert_int_equal(tw_xtrace_snapshot_size(&(struct tw_xtrace_layout){.vector_bits = 64}), 0);
}

/* Vectors of 128 bits: four counters, 32 registers, 32 vectors from 288, 16 predicates of 16 bytes from 800, FFR at
 * 1056, the matrix from 1072, eleven system registers from 1328, the length at 1416. */
static void fill_snapshot(uint8_t bytes[1424], uint64_t count)
{
	memset(bytes, 0, 1424);
	tw_store64(bytes, 1, false);
	tw_store64(bytes + 8, 0x1234, false);
	tw_store64(bytes + 16, count, false);
	tw_store64(bytes + 24, count + 5, false);
	for (unsigned i = 0; i < 32; i++)
		tw_store64(bytes + 32 + 8 * i, 100 + i, false);
	bytes[288] = 0x5a;
	bytes[800] = 0x50;
	bytes[1056] = 0xff;
	bytes[1072] = 0x2a;
	for (unsigned i = 0; i < 11; i++)
		tw_store64(bytes + 1328 + 8 * i, 200 + i, false);
	tw_store64(bytes + 1416, 128, false);
}

static void test_snapshot(void **state)
{
	(void)state;
	const struct tw_xtrace_layout layout = {.has_za = true, .vector_bits = 128};
	struct tw_xtrace_snapshot snapshot;
	uint8_t bytes[1424], again[1424];
	fill_snapshot(bytes, 1000000);
	assert_int_equal(tw_xtrace_snapshot_decode(bytes, &layout, &snapshot), 0);
	assert_int_equal(snapshot.file, 1);
	assert_int_equal(snapshot.index, 0x1234);
	assert_int_equal(snapshot.user_count, 1000000);
	assert_int_equal(snapshot.count, 1000005);
	assert_int_equal(snapshot.x[0], 100);
	assert_int_equal(snapshot.x[31], 131);
	assert_int_equal(*snapshot.z, 0x5a);
	assert_int_equal(*snapshot.p, 0x50);
	assert_int_equal(*snapshot.ffr, 0xff);
	assert_int_equal(*snapshot.za, 0x2a);
	assert_int_equal(snapshot.fpcr, 200);
	assert_int_equal(snapshot.nzcv, 202);
	assert_int_equal(snapshot.ttbr0_el1, 205);
	assert_int_equal(snapshot.daif, 210);
	assert_int_equal(snapshot.vector_bits, 128);
	memset(again, 0xee, sizeof again);
	tw_xtrace_snapshot_encode(&snapshot, &layout, again);
	assert_memory_equal(bytes, again, sizeof bytes);
	bytes[1416] = 127;
	assert_int_equal(tw_xtrace_snapshot_decode(bytes, &layout, &snapshot), TW_ERR_VALUE);
}

static void test_snapshot_without_vectors(void **state)
{
	(void)state;
	const struct tw_xtrace_layout layout = {.has_za = true, .vector_bits = 128};
	const struct tw_xtrace_snapshot snapshot = {.vector_bits = 128};
	uint8_t bytes[1424];
	memset(bytes, 0xee, sizeof bytes);
	tw_xtrace_snapshot_encode(&snapshot, &layout, bytes);
	assert_false(tw_any_set(bytes, 1416));
}

static void test_header(void **state)
{
	(void)state;
	static const uint8_t bytes[24] = {1, 2, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 5, 6, 7};
	const struct tw_xtrace_layout layout = {.header_size = 24, .vector_bits = 128};
	struct tw_xtrace_header header;
	uint8_t again[24];
	tw_xtrace_header_decode(bytes, &layout, &header);
	assert_int_equal(header.identification, 0x201);
	assert_int_equal(header.global_snapshot, 3);
	assert_int_equal(header.version, 4);
	assert_int_equal(header.division, 5);
	assert_int_equal(header.stream, 6);
	assert_int_equal(header.has_order, 7);
	memset(again, 0xee, sizeof again);
	tw_xtrace_header_encode(&header, &layout, again);
	assert_memory_equal(bytes, again, sizeof bytes);
}

/* Files of three snapshots with each layout; the counters grow, as they must. */
static void test_layouts(void **state)
{
	(void)state;
	static const uint8_t headers[] = {0, 19, 20, 24, 32};
	for (unsigned i = 0; i < COUNT(headers); i++)
		for (unsigned bits = 128; bits <= 2048; bits += 128)
			for (int za = 0; za <= 1; za++) {
				const struct tw_xtrace_layout layout = {.header_size = headers[i],
				                                        .has_za = za,
				                                        .vector_bits = (uint16_t)bits};
				size_t step = tw_xtrace_snapshot_size(&layout), size = headers[i] + 3 * step;
				uint8_t *bytes = calloc(1, size);
				assert_non_null(bytes);
				tw_xtrace_header_encode(&(struct tw_xtrace_header){.version = 1}, &layout, bytes);
				for (unsigned k = 0; k < 3; k++) {
					const struct tw_xtrace_snapshot snapshot = {.index = k * 12800000ul,
					                                            .user_count = k * 1000000ul,
					                                            .count = k * 1000000ul,
					                                            .x = {[31] = 0x7ff000},
					                                            .vector_bits = bits};
					tw_xtrace_snapshot_encode(&snapshot, &layout, bytes + headers[i] + k * step);
				}
				struct tw_xtrace_layout found = {0};
				assert_int_equal(tw_xtrace_layout_guess(bytes, size, size, 0, &found), 0);
				assert_int_equal(found.vector_bits, bits);
				assert_int_equal(found.has_za, za);
				assert_int_equal(found.header_size, headers[i]);
				free(bytes);
			}
}

/* An instruction has at least 5 bytes (INST): an index that grows by less for each counts instructions. */
static void test_index(void **state)
{
	(void)state;
	static const struct {
		uint64_t index;
		bool counts;
	} after[] = {{100, true}, {499, true}, {500, false}, {1300, false}}; /* of 100 instructions */
	const struct tw_xtrace_layout layout = {.header_size = 24, .has_za = true, .vector_bits = 128};
	size_t step = tw_xtrace_snapshot_size(&layout), size = 24 + 3 * step;
	uint8_t *bytes = calloc(1, size);
	assert_non_null(bytes);
	tw_xtrace_header_encode(&(struct tw_xtrace_header){.version = 1}, &layout, bytes);
	for (size_t i = 0; i < COUNT(after); i++) {
		for (uint64_t k = 0; k < 3; k++) {
			const struct tw_xtrace_snapshot snapshot = {.index = k * after[i].index,
			                                            .count = k * 100,
			                                            .vector_bits = 128};
			tw_xtrace_snapshot_encode(&snapshot, &layout, bytes + 24 + k * step);
		}
		struct tw_xtrace_layout found = {0};
		assert_int_equal(tw_xtrace_layout_guess(bytes, size, size, 0, &found), 0);
		assert_int_equal(found.header_size, 24);
		assert_int_equal(found.counts_index, after[i].counts);
	}
	free(bytes);
}

static void test_no_layout(void **state)
{
	(void)state;
	uint8_t bytes[3000];
	struct tw_xtrace_layout layout;
	memset(bytes, 0, sizeof bytes);
	assert_int_equal(tw_xtrace_layout_guess(bytes, sizeof bytes, sizeof bytes, 0, &layout), TW_ERR_FORMAT);
	assert_int_equal(tw_xtrace_layout_guess(bytes, 10, 10, 0, &layout), TW_ERR_FORMAT);
	fill_snapshot(bytes, 2000000); /* more of user mode than of all */
	tw_store64(bytes + 24, 1999999, false);
	assert_int_equal(tw_xtrace_layout_guess(bytes, 2848, 2848, 0, &layout), TW_ERR_FORMAT);
}

/* A layout that the first snapshot tells stands, whatever is behind; one that is told in full needs none. */
static void test_layout_of_damage(void **state)
{
	(void)state;
	static uint8_t bytes[3 * 1424];
	const unsigned all = TW_XTRACE_KNOWN_HEADER | TW_XTRACE_KNOWN_ZA | TW_XTRACE_KNOWN_BITS;
	struct tw_xtrace_layout layout = {.header_size = 24};
	for (unsigned i = 0; i < 3; i++)
		fill_snapshot(bytes + 1424 * i, 1000000 * (i + 1));
	bytes[2 * 1424 - 8] = 1;
	assert_int_equal(tw_xtrace_layout_guess(bytes, sizeof bytes, sizeof bytes, 0, &layout), 0);
	assert_int_equal(layout.header_size, 0);
	assert_int_equal(layout.vector_bits, 128);
	assert_true(layout.has_za);
	layout = (struct tw_xtrace_layout){.header_size = 24, .vector_bits = 256};
	assert_int_equal(tw_xtrace_layout_guess(bytes, 100, 100, all, &layout), 0);
	assert_int_equal(layout.header_size, 24);
	assert_int_equal(layout.vector_bits, 256);
}

static void test_layout_words(void **state)
{
	(void)state;
	static const char *const wrong[] = {"",          "header",           "header=21", "bits=100",
	                                    "bits=4096", "za=true",          "index=no",  "start=256",
	                                    "start=",    "header=24,,za=no", "header=24 "};
	struct tw_xtrace_layout layout;
	unsigned known;
	assert_int_equal(tw_xtrace_layout_parse("header=19,za=no,bits=512,index=count,start=24", &layout, &known), 0);
	assert_int_equal(known, 31);
	assert_int_equal(layout.header_size, 19);
	assert_false(layout.has_za);
	assert_int_equal(layout.vector_bits, 512);
	assert_true(layout.counts_index);
	assert_int_equal(layout.data_start, 24);
	assert_int_equal(tw_xtrace_layout_parse("za=yes", &layout, &known), 0);
	assert_int_equal(known, TW_XTRACE_KNOWN_ZA);
	for (size_t i = 0; i < COUNT(wrong); i++)
		assert_int_equal(tw_xtrace_layout_parse(wrong[i], &layout, &known), TW_ERR_FORMAT);
}

/* ---- Names. ---- */

static void test_names(void **state)
{
	(void)state;
	static const char data[] = "xtrace.1718000000.4242.hint9.xinsndata.bin";
	static const char core[] = "xtrace.20250610-120000.3.hint13.xsnapshot.bin";
	struct tw_xtrace_name name;
	char text[TW_XTRACE_NAME_SIZE];
	assert_int_equal(tw_xtrace_name_parse(data, &name), 0);
	assert_string_equal(name.timestamp, "1718000000");
	assert_int_equal(name.number, 4242);
	assert_int_equal(name.hint, 9);
	assert_false(name.snapshots);
	tw_xtrace_name_format(&name, text);
	assert_string_equal(text, data);
	assert_int_equal(tw_xtrace_name_parse(core, &name), 0);
	assert_int_equal(name.hint, 13);
	assert_true(name.snapshots);
	tw_xtrace_name_format(&name, text);
	assert_string_equal(text, core);
}

static void test_no_names(void **state)
{
	(void)state;
	static const char *const wrong[] = {
	    "",
	    "xtrace",
	    "xtrace.1.2.hint9.xinsndata",
	    "xtrace.1.2.hint9.xinsndata.bin.gz",
	    "xtrace.1.2.hint10.xinsndata.bin",
	    "xtrace..2.hint9.xinsndata.bin",
	    "xtrace.1..hint9.xinsndata.bin",
	    "xtrace.1.x.hint9.xinsndata.bin",
	    "xtrace.1.18446744073709551616.hint9.xinsndata.bin",
	    "xtrace.1/1.2.hint9.xinsndata.bin",
	    "xtrace.0123456789012345678901234567890123456789.2.hint9.xinsndata.bin",
	};
	struct tw_xtrace_name name;
	for (size_t i = 0; i < COUNT(wrong); i++)
		assert_int_equal(tw_xtrace_name_parse(wrong[i], &name), TW_ERR_FORMAT);
}

SUITE(xtrace_records)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_tokens),
	    cmocka_unit_test(test_tokens_cut),
	    cmocka_unit_test(test_all_registers),
	    cmocka_unit_test(test_large_access),
	    cmocka_unit_test(test_no_tokens),
	    cmocka_unit_test(test_no_bytes),
	    cmocka_unit_test(test_snapshot_sizes),
	    cmocka_unit_test(test_snapshot),
	    cmocka_unit_test(test_snapshot_without_vectors),
	    cmocka_unit_test(test_header),
	    cmocka_unit_test(test_layouts),
	    cmocka_unit_test(test_index),
	    cmocka_unit_test(test_no_layout),
	    cmocka_unit_test(test_layout_of_damage),
	    cmocka_unit_test(test_layout_words),
	    cmocka_unit_test(test_names),
	    cmocka_unit_test(test_no_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
