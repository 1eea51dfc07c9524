/* test_scalable.c - which memory SVE's loads and stores access. Opcodes and their texts are those of GNU's assembler,
 * addresses are worked out by hand. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "collect/scalable/scalable.h"

#include "suite.h"

/* Vectors of 256 bits. As 64 bits: 0x10, 0xfffffff8, 0x20, 0x100000030; as words the even ones are addressed. */
static const uint8_t vector[32] = {0x10, 0, 0, 0, 0, 0, 0, 0, 0xf8, 0xff, 0xff, 0xff, 0, 0, 0, 0,
                                   0x20, 0, 0, 0, 0, 0, 0, 0, 0x30, 0,    0,    0,    1, 0, 0, 0};

/* Bytes 0, 8, and 24: doubles 0, 1, 3; words 0, 2, 6; halves 0, 4, 12. */
static const uint8_t predicate[4] = {1, 1, 0, 1};

/* FFR when the second double was not there. */
static const uint8_t faults[4] = {0xff, 0, 0, 0};

static const struct scalable_registers registers = {32, 0xab00000000010000, 3, vector, predicate, faults};

/* The accesses: all, or the first of them. */
static const struct {
	const char *text;
	uint32_t word;
	size_t count;
	struct scalable_access first[5];
} cases[] = {
    {"ldr z1, [x1, #-1, mul vl]", 0x85bf5c21, 1, {{0xffe0, 32, 0, 0}}},
    {"ldr p1, [x1, #7, mul vl]", 0x85801c21, 1, {{0x1001c, 4, 0, 0}}},
    {"str z1, [x1, #255, mul vl]", 0xe59f5c21, 1, {{0x11fe0, 32, 0, 0}}},
    {"str p1, [x1, #-256, mul vl]", 0xe5a00021, 1, {{0xfc00, 4, 0, 0}}},
    {"ld1b {z0.b}, p0/z, [x1, x2]", 0xa4024020, 3, {{0x10003, 1, 0, 0}, {0x1000b, 1, 0, 8}, {0x1001b, 1, 0, 24}}},
    {"ld1b {z0.h}, p0/z, [x1, x2]", 0xa4224020, 3, {{0x10003, 1, 0, 0}, {0x10007, 1, 0, 8}, {0x1000f, 1, 0, 24}}},
    {"ld1sb {z0.s}, p0/z, [x1, x2]", 0xa5a24020, 3, {{0x10003, 1, 0, 0}, {0x10005, 1, 0, 8}, {0x10009, 1, 0, 24}}},
    {"ld1b {z0.d}, p0/z, [x1, x2]", 0xa4624020, 3, {{0x10003, 1, 0, 0}, {0x10004, 1, 0, 8}, {0x10006, 1, 0, 24}}},
    {"ld1h {z0.h}, p0/z, [x1, x2, lsl #1]",
     0xa4a24020,
     3,
     {{0x10006, 2, 0, 0}, {0x1000e, 2, 0, 8}, {0x1001e, 2, 0, 24}}},
    {"ld1h {z0.s}, p0/z, [x1, x2, lsl #1]",
     0xa4c24020,
     3,
     {{0x10006, 2, 0, 0}, {0x1000a, 2, 0, 8}, {0x10012, 2, 0, 24}}},
    {"ld1sh {z0.d}, p0/z, [x1, x2, lsl #1]",
     0xa5024020,
     3,
     {{0x10006, 2, 0, 0}, {0x10008, 2, 0, 8}, {0x1000c, 2, 0, 24}}},
    {"ld1w {z0.s}, p0/z, [x1, x2, lsl #2]",
     0xa5424020,
     3,
     {{0x1000c, 4, 0, 0}, {0x10014, 4, 0, 8}, {0x10024, 4, 0, 24}}},
    {"ld1sw {z0.d}, p0/z, [x1, x2, lsl #2]",
     0xa4824020,
     3,
     {{0x1000c, 4, 0, 0}, {0x10010, 4, 0, 8}, {0x10018, 4, 0, 24}}},
    {"ld1d {z0.d}, p0/z, [x1, x2, lsl #3]",
     0xa5e24020,
     3,
     {{0x10018, 8, 0, 0}, {0x10020, 8, 0, 8}, {0x10030, 8, 0, 24}}},
    {"ld1d {z0.d}, p0/z, [x1, #-8, mul vl]", 0xa5e8a020, 3, {{0xff00, 8, 0, 0}, {0xff08, 8, 0, 8}, {0xff18, 8, 0, 24}}},
    {"ld1b {z0.d}, p0/z, [x1, #7, mul vl]",
     0xa467a020,
     3,
     {{0x1001c, 1, 0, 0}, {0x1001d, 1, 0, 8}, {0x1001f, 1, 0, 24}}},
    {"ldff1d {z0.d}, p0/z, [x1, x2, lsl #3]", 0xa5e26020, 1, {{0x10018, 8, 0, 0}}},
    {"ldff1sh {z0.d}, p0/z, [x1, z2.d, lsl #1]", 0xc4e2a020, 1, {{0x10020, 2, 0, 0}}},
    {"ldff1b {z0.s}, p0/z, [z2.s, #31]", 0x843fe040, 1, {{0x2f, 1, 0, 0}}},
    {"ldnf1d {z0.d}, p0/z, [x1, #1, mul vl]", 0xa5f1a020, 1, {{0x10020, 8, 0, 0}}},
    {"ldnt1b {z0.b}, p0/z, [x1, x2]", 0xa402c020, 3, {{0x10003, 1, 0, 0}, {0x1000b, 1, 0, 8}, {0x1001b, 1, 0, 24}}},
    {"ldnt1d {z0.d}, p0/z, [x1, #2, mul vl]",
     0xa582e020,
     3,
     {{0x10040, 8, 0, 0}, {0x10048, 8, 0, 8}, {0x10058, 8, 0, 24}}},
    {"ld2d {z0.d, z1.d}, p0/z, [x1, #-2, mul vl]",
     0xa5afe020,
     6,
     {{0xffc0, 8, 0, 0}, {0xffc8, 8, 1, 0}, {0xffd0, 8, 0, 8}}},
    {"ld3w {z0.s, z1.s, z2.s}, p0/z, [x1, x2, lsl #2]",
     0xa542c020,
     9,
     {{0x1000c, 4, 0, 0}, {0x10010, 4, 1, 0}, {0x10014, 4, 2, 0}, {0x10024, 4, 0, 8}}},
    {"ld4h {z0.h-z3.h}, p0/z, [x1, #4, mul vl]",
     0xa4e1e020,
     12,
     {{0x10080, 2, 0, 0}, {0x10082, 2, 1, 0}, {0x10084, 2, 2, 0}, {0x10086, 2, 3, 0}, {0x100a0, 2, 0, 8}}},
    {"ld1rqb {z0.b}, p0/z, [x1, x2]", 0xa4020020, 2, {{0x10003, 1, 0, 0}, {0x1000b, 1, 0, 8}}},
    {"ld1rqd {z0.d}, p0/z, [x1, #-128]", 0xa5882020, 2, {{0xff80, 8, 0, 0}, {0xff88, 8, 0, 8}}},
    {"ld1row {z0.s}, p0/z, [x1, #32]", 0xa5212020, 3, {{0x10020, 4, 0, 0}, {0x10028, 4, 0, 8}, {0x10038, 4, 0, 24}}},
    {"ld1roh {z0.h}, p0/z, [x1, x2, lsl #1]",
     0xa4a20020,
     3,
     {{0x10006, 2, 0, 0}, {0x1000e, 2, 0, 8}, {0x1001e, 2, 0, 24}}},
    {"ld1rb {z0.d}, p0/z, [x1, #63]", 0x847fe020, 1, {{0x1003f, 1, 0, 0}}},
    {"ld1rsw {z0.d}, p0/z, [x1, #4]", 0x84c18020, 1, {{0x10004, 4, 0, 0}}},
    {"ld1rd {z0.d}, p0/z, [x1, #504]", 0x85ffe020, 1, {{0x101f8, 8, 0, 0}}},
    {"ld1d {z0.d}, p0/z, [x1, z2.d]",
     0xc5c2c020,
     3,
     {{0x10010, 8, 0, 0}, {0x10000fff8, 8, 0, 8}, {0x100010030, 8, 0, 24}}},
    {"ld1d {z0.d}, p0/z, [x1, z2.d, lsl #3]",
     0xc5e2c020,
     3,
     {{0x10080, 8, 0, 0}, {0x80000ffc0, 8, 0, 8}, {0x800010180, 8, 0, 24}}},
    {"ld1d {z0.d}, p0/z, [x1, z2.d, sxtw]",
     0xc5c24020,
     3,
     {{0x10010, 8, 0, 0}, {0xfff8, 8, 0, 8}, {0x10030, 8, 0, 24}}},
    {"ld1d {z0.d}, p0/z, [x1, z2.d, uxtw #3]",
     0xc5a24020,
     3,
     {{0x10080, 8, 0, 0}, {0x80000ffc0, 8, 0, 8}, {0x10180, 8, 0, 24}}},
    {"ld1sb {z0.d}, p0/z, [x1, z2.d, uxtw]",
     0xc4020020,
     3,
     {{0x10010, 1, 0, 0}, {0x10000fff8, 1, 0, 8}, {0x10030, 1, 0, 24}}},
    {"ld1w {z0.s}, p0/z, [x1, z2.s, sxtw]",
     0x85424020,
     3,
     {{0x10010, 4, 0, 0}, {0xfff8, 4, 0, 8}, {0x10030, 4, 0, 24}}},
    {"ld1w {z0.s}, p0/z, [x1, z2.s, uxtw #2]",
     0x85224020,
     3,
     {{0x10040, 4, 0, 0}, {0x40000ffe0, 4, 0, 8}, {0x100c0, 4, 0, 24}}},
    {"ld1h {z0.s}, p0/z, [x1, z2.s, sxtw #1]",
     0x84e24020,
     3,
     {{0x10020, 2, 0, 0}, {0xfff0, 2, 0, 8}, {0x10060, 2, 0, 24}}},
    {"ld1b {z0.s}, p0/z, [z2.s, #31]", 0x843fc040, 3, {{0x2f, 1, 0, 0}, {0x100000017, 1, 0, 8}, {0x4f, 1, 0, 24}}},
    {"ld1d {z0.d}, p0/z, [z2.d, #8]",
     0xc5a1c040,
     3,
     {{0x18, 8, 0, 0}, {0x100000000, 8, 0, 8}, {0x100000038, 8, 0, 24}}},
    {"ldnt1w {z0.s}, p0/z, [z2.s, x2]", 0x8502a040, 3, {{0x13, 4, 0, 0}, {0xfffffffb, 4, 0, 8}, {0x33, 4, 0, 24}}},
    {"ldnt1d {z0.d}, p0/z, [z2.d, x2]",
     0xc582c040,
     3,
     {{0x13, 8, 0, 0}, {0xfffffffb, 8, 0, 8}, {0x100000033, 8, 0, 24}}},
    {"st1b {z0.h}, p0, [x1, x2]", 0xe4224020, 3, {{0x10003, 1, 0, 0}, {0x10007, 1, 0, 8}, {0x1000f, 1, 0, 24}}},
    {"st1w {z0.d}, p0, [x1, #1, mul vl]", 0xe561e020, 3, {{0x10010, 4, 0, 0}, {0x10014, 4, 0, 8}, {0x1001c, 4, 0, 24}}},
    {"st1d {z0.d}, p0, [x1, x2, lsl #3]", 0xe5e24020, 3, {{0x10018, 8, 0, 0}, {0x10020, 8, 0, 8}, {0x10030, 8, 0, 24}}},
    {"stnt1h {z0.h}, p0, [x1, x2, lsl #1]",
     0xe4826020,
     3,
     {{0x10006, 2, 0, 0}, {0x1000e, 2, 0, 8}, {0x1001e, 2, 0, 24}}},
    {"stnt1b {z0.b}, p0, [x1, #-1, mul vl]", 0xe41fe020, 3, {{0xffe0, 1, 0, 0}, {0xffe8, 1, 0, 8}, {0xfff8, 1, 0, 24}}},
    {"st2h {z0.h, z1.h}, p0, [x1, x2, lsl #1]",
     0xe4a26020,
     6,
     {{0x10006, 2, 0, 0}, {0x10008, 2, 1, 0}, {0x10016, 2, 0, 8}}},
    {"st3b {z0.b-z2.b}, p0, [x1, #-24, mul vl]",
     0xe458e020,
     9,
     {{0xfd00, 1, 0, 0}, {0xfd01, 1, 1, 0}, {0xfd02, 1, 2, 0}, {0xfd18, 1, 0, 8}}},
    {"st1w {z0.d}, p0, [x1, z2.d, uxtw]",
     0xe5028020,
     3,
     {{0x10010, 4, 0, 0}, {0x10000fff8, 4, 0, 8}, {0x10030, 4, 0, 24}}},
    {"st1d {z0.d}, p0, [x1, z2.d, sxtw #3]",
     0xe5a2c020,
     3,
     {{0x10080, 8, 0, 0}, {0xffc0, 8, 0, 8}, {0x10180, 8, 0, 24}}},
    {"st1h {z0.s}, p0, [x1, z2.s, sxtw]", 0xe4c2c020, 3, {{0x10010, 2, 0, 0}, {0xfff8, 2, 0, 8}, {0x10030, 2, 0, 24}}},
    {"st1w {z0.s}, p0, [x1, z2.s, sxtw #2]",
     0xe562c020,
     3,
     {{0x10040, 4, 0, 0}, {0xffe0, 4, 0, 8}, {0x100c0, 4, 0, 24}}},
    {"st1d {z0.d}, p0, [x1, z2.d]",
     0xe582a020,
     3,
     {{0x10010, 8, 0, 0}, {0x10000fff8, 8, 0, 8}, {0x100010030, 8, 0, 24}}},
    {"st1h {z0.d}, p0, [x1, z2.d, lsl #1]",
     0xe4a2a020,
     3,
     {{0x10020, 2, 0, 0}, {0x20000fff0, 2, 0, 8}, {0x200010060, 2, 0, 24}}},
    {"st1d {z0.d}, p0, [z2.d, #248]",
     0xe5dfa040,
     3,
     {{0x108, 8, 0, 0}, {0x1000000f0, 8, 0, 8}, {0x100000128, 8, 0, 24}}},
    {"st1w {z0.s}, p0, [z2.s, #124]", 0xe57fa040, 3, {{0x8c, 4, 0, 0}, {0x100000074, 4, 0, 8}, {0xac, 4, 0, 24}}},
    {"stnt1b {z0.s}, p0, [z2.s, x2]", 0xe4422040, 3, {{0x13, 1, 0, 0}, {0xfffffffb, 1, 0, 8}, {0x33, 1, 0, 24}}},
    {"stnt1d {z0.d}, p0, [z2.d, x2]", 0xe5822040, 3, {{0x13, 8, 0, 0}, {0xfffffffb, 8, 0, 8}, {0x100000033, 8, 0, 24}}},
};

static void tells_the_accesses_of_active_elements(void **state)
{
	unsigned wrong = 0;
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct scalable op = {0};
		struct scalable_access accesses[SCALABLE_MOST];
		bool known = scalable_decode(cases[i].word, &op);
		size_t count = known ? scalable_accesses(&op, &registers, accesses) : 0;
		bool right = known && count == cases[i].count && op.is_store == (strncmp(cases[i].text, "st", 2) == 0);
		for (size_t k = 0; right && k < count && k < 5 && cases[i].first[k].size; k++)
			right = accesses[k].address == cases[i].first[k].address &&
			        accesses[k].size == cases[i].first[k].size &&
			        accesses[k].number == cases[i].first[k].number &&
			        accesses[k].at == cases[i].first[k].at;
		if (!right)
			print_message("%s: %zu accesses, the first at 0x%llx\n", cases[i].text, count,
			              count ? (unsigned long long)accesses[0].address : 0);
		wrong += !right;
	}
	assert_int_equal(wrong, 0);
}

static const struct {
	const char *text;
	uint32_t word;
} others[] = {
    {"prfb pldl1keep, p0, [x1, x2]", 0x8402c020},
    {"prfd pldl1keep, p0, [x1, #1, mul vl]", 0x85c16020},
    {"prfw pldl1keep, p0, [x1, z2.s, uxtw #2]", 0x84224020},
    {"prfb pldl1keep, p0, [x1, z2.d]", 0xc4628020},
    {"prfh pldl1keep, p0, [x1, z2.d, sxtw #1]", 0xc4622020},
    {"prfd pldl1keep, p0, [x1, z2.d, lsl #3]", 0xc462e020},
    {"prfb pldl1keep, p0, [z2.s, #1]", 0x8401e040},
    {"prfb pldl1keep, p0, [z2.d, #1]", 0xc401e040},
    {"add z0.d, z1.d, z2.d", 0x04e20020},
    {"ldr q0, [x1]", 0x3dc00020},
};

static void knows_no_accesses_of_others(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		struct scalable op;
		if (scalable_decode(others[i].word, &op))
			fail_msg("%s accesses nothing that is recorded", others[i].text);
	}
}

/* LDFF1 faults at its first active element as others do, so that it was there; LDNF1 may have loaded nothing. */
static void leaves_out_what_was_not_loaded(void **state)
{
	static const uint8_t none[4] = {0};
	static const uint32_t first = 0xa5e06020,
			      all = 0xa5f1a020; /* ldff1d [x1, x0, lsl #3], ldnf1d [x1, #1, mul vl] */
	struct scalable_registers own = registers;
	struct scalable_access accesses[SCALABLE_MOST];
	struct scalable op;
	(void)state;
	own.faults = none;
	assert_true(scalable_decode(first, &op));
	assert_int_equal(scalable_accesses(&op, &own, accesses), 1);
	assert_true(scalable_decode(all, &op));
	assert_int_equal(scalable_accesses(&op, &own, accesses), 0);
	own.predicate = none;
	assert_true(scalable_decode(first, &op));
	assert_int_equal(scalable_accesses(&op, &own, accesses), 0);
}

/* ld4b of 2048 bits: 4 * 256 bytes. ld1rob needs vectors of 256 bits. */
static void goes_as_far_as_vectors_do(void **state)
{
	static const uint32_t four = 0xa460e020, octo = 0xa4200020; /* ld4b [x1], ld1rob [x1, x0] */
	uint8_t all[SCALABLE_PREDICATE];
	struct scalable_registers own = registers;
	struct scalable_access accesses[SCALABLE_MOST];
	struct scalable op;
	(void)state;
	memset(all, 0xff, sizeof all);
	own.predicate = all;
	own.length = SCALABLE_VECTOR;
	assert_true(scalable_decode(four, &op));
	assert_int_equal(scalable_accesses(&op, &own, accesses), SCALABLE_MOST);
	assert_int_equal(accesses[SCALABLE_MOST - 1].address, 0x10000 + 1023);
	assert_true(scalable_decode(octo, &op));
	assert_int_equal(scalable_accesses(&op, &own, accesses), 32);
	own.length = 16;
	assert_int_equal(scalable_accesses(&op, &own, accesses), 0);
}

/* Bit 55 tells whose address it is; the tag above goes. */
static void tells_a_kernels_addresses(void **state)
{
	static const uint32_t store = 0xe5804021; /* str z1, [x1] */
	struct scalable_registers own = registers;
	struct scalable_access accesses[SCALABLE_MOST];
	struct scalable op;
	(void)state;
	own.base = 0x12ff800010200800;
	assert_true(scalable_decode(store, &op));
	assert_int_equal(scalable_accesses(&op, &own, accesses), 1);
	assert_true(accesses[0].address == 0xffff800010200800);
}

SUITE(scalable)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(tells_the_accesses_of_active_elements),
	    cmocka_unit_test(knows_no_accesses_of_others),
	    cmocka_unit_test(leaves_out_what_was_not_loaded),
	    cmocka_unit_test(goes_as_far_as_vectors_do),
	    cmocka_unit_test(tells_a_kernels_addresses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
