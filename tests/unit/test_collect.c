/* test_collect.c - what the collector knows of instructions. Opcodes and their texts are those of GNU's assembler. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/opcode.h"

#include "suite.h"

static const struct {
	const char *text;
	uint32_t word;
	uint8_t kind;
	uint8_t size, count, total;
	bool is_load, is_vector, is_structure;
} cases[] = {
    {"nop", 0xd503201f, OP_PLAIN, 0, 0, 0, false, false, false},
    {"hint #9", 0xd503213f, OP_MARK, 0, 0, 0, false, false, false},
    {"b .", 0x14000000, OP_PLAIN, 0, 0, 0, false, false, false},
    {"ret", 0xd65f03c0, OP_BRANCH_REGISTER, 0, 0, 0, false, false, false},
    {"svc #0", 0xd4000001, OP_SVC, 0, 0, 0, false, false, false},
    {"brk #0", 0xd4200000, OP_TRAP, 0, 0, 0, false, false, false},
    {"udf #0", 0x00000000, OP_TRAP, 0, 0, 0, false, false, false},
    {"mrs x0, tpidr_el0", 0xd53bd040, OP_MRS, 0, 0, 0, false, false, false},
    {"mrs x0, rndr", 0xd53b2400, OP_RANDOM, 0, 0, 0, false, false, false},
    {"msr tpidr_el0, x0", 0xd51bd040, OP_MSR, 0, 0, 0, false, false, false},
    {"csel x0, x1, x2, eq", 0x9a820020, OP_SELECT, 0, 0, 0, false, false, false},
    {"dc zva, x0", 0xd50b7420, OP_ZERO, 0, 0, 0, false, false, false},
    {"dc civac, x0", 0xd50b7e20, OP_PLAIN, 0, 0, 0, false, false, false},
    {"ld1d {z0.d}, p0/z, [x1]", 0xa5e0a020, OP_SCALABLE, 0, 0, 0, false, false, false},
    {"str p0, [x1]", 0xe5800020, OP_SCALABLE, 0, 0, 0, false, false, false},
    {"ld1b {za0h.b[w12, 0]}, p0/z, [x1, x2]", 0xe0020020, OP_PLAIN, 0, 0, 0, false, false, false},
    {"prfm pldl1keep, [x1]", 0xf9800020, OP_PLAIN, 0, 0, 0, false, false, false},
    {"ldr x0, [x1, #8]", 0xf9400420, OP_ACCESS, 8, 1, 8, true, false, false},
    {"strb w0, [x1]", 0x39000020, OP_ACCESS, 1, 1, 1, false, false, false},
    {"ldrsw x0, [x1]", 0xb9800020, OP_ACCESS, 4, 1, 4, true, false, false},
    {"ldr q0, [x1]", 0x3dc00020, OP_ACCESS, 16, 1, 16, true, true, false},
    {"ldp x0, x1, [sp], #32", 0xa8c207e0, OP_ACCESS, 8, 2, 16, true, false, false},
    {"ldpsw x0, x1, [x2]", 0x69400440, OP_ACCESS, 4, 2, 8, true, false, false},
    {"stp q0, q1, [x2]", 0xad000440, OP_ACCESS, 16, 2, 32, false, true, false},
    {"ldr x0, .+8", 0x58000040, OP_ACCESS, 8, 1, 8, true, false, false},
    {"ld1 {v0.16b, v1.16b}, [x1]", 0x4c40a020, OP_ACCESS, 16, 1, 32, true, true, true},
    {"ld4 {v0.16b-v3.16b}, [x1]", 0x4c400020, OP_ACCESS, 16, 1, 64, true, true, true},
    {"st1 {v0.h}[3], [x1]", 0x0d005820, OP_ACCESS, 16, 1, 2, false, true, true},
    {"ldxr x0, [x1]", 0xc85f7c20, OP_ACCESS, 8, 1, 8, true, false, false},
    {"ldaxp x0, x2, [x1]", 0xc87f8820, OP_ACCESS, 8, 2, 16, true, false, false},
    {"ldar x0, [x1]", 0xc8dffc20, OP_ACCESS, 8, 1, 8, true, false, false},
    {"stxr w2, x0, [x1]", 0xc8027c20, OP_STXR, 8, 1, 8, false, false, false},
    {"stlxp w3, w0, w2, [x1]", 0x88238820, OP_STXR, 4, 2, 8, false, false, false},
    {"cas x0, x1, [x2]", 0xc8a07c41, OP_CAS, 8, 1, 8, false, false, false},
    {"casp x0, x1, x2, x3, [x4]", 0x48207c82, OP_CAS, 8, 2, 16, false, false, false},
    {".inst 0x483f7c82", 0x483f7c82, OP_TRAP, 8, 2, 16, false, false, false}, /* casp xzr, ... */
    {".inst 0x48227ca1", 0x48227ca1, OP_TRAP, 8, 2, 16, false, false, false}, /* casp x2, x3, x1, x2, [x5] */
    {"ldadd w0, w1, [x2]", 0xb8200041, OP_ATOMIC, 4, 1, 4, false, false, false},
    {"swp x0, x1, [x2]", 0xf8208041, OP_ATOMIC, 8, 1, 8, false, false, false},
    {"ldapr x0, [x1]", 0xf8bfc020, OP_ACCESS, 8, 1, 8, true, false, false},
};

static void tells_kinds_and_sizes(void **state)
{
	unsigned wrong = 0;
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct opcode op = opcode_of(cases[i].word);
		if (op.kind == cases[i].kind && op.size == cases[i].size && op.count == cases[i].count &&
		    op.total == cases[i].total && op.is_load == cases[i].is_load &&
		    op.is_vector == cases[i].is_vector && op.is_structure == cases[i].is_structure)
			continue;
		print_error("%s: kind %u, %u x %u of %u\n", cases[i].text, op.kind, op.count, op.size, op.total);
		wrong++;
	}
	assert_int_equal(wrong, 0);
}

/* What is stored fits what the collector keeps of an access, whatever the opcode is. */
static void stays_in_bounds(void **state)
{
	enum { VECTOR = 16, MOST = 64 };
	uint32_t word = 1;
	(void)state;
	for (unsigned i = 0; i < 4000000; i++) {
		word = word * 1664525 + 1013904223;
		struct opcode op = opcode_of(word ^ word >> 16);
		if (op.kind == OP_ACCESS || op.kind == OP_STXR || op.kind == OP_ATOMIC || op.kind == OP_CAS) {
			assert_true(op.size > 0 && op.size <= VECTOR && op.total <= MOST);
			assert_true(op.is_structure || op.size * op.count == op.total);
		}
	}
}

/* The functions of LSE: old value, operand, what is stored. */
static void computes(void **state)
{
	static const struct {
		uint32_t word;
		uint64_t old, operand, stored;
	} atomics[] = {
	    {0xf8200041, 5, 3, 8},                 /* ldadd x0, x1, [x2] */
	    {0xf8201041, 7, 2, 5},                 /* ldclr */
	    {0xf8202041, 7, 2, 5},                 /* ldeor */
	    {0xf8203041, 5, 2, 7},                 /* ldset */
	    {0x38204041, 0xff, 1, 1},              /* ldsmaxb: -1 and 1 */
	    {0x38205041, 0xff, 1, 0xff},           /* ldsminb */
	    {0x38206041, 0xff, 1, 0xff},           /* ldumaxb */
	    {0x38207041, 0xff, 1, 1},              /* lduminb */
	    {0xf8208041, 5, 3, 3},                 /* swp */
	    {0xf8204041, UINT64_C(1) << 63, 1, 1}, /* ldsmax */
	};
	(void)state;
	for (size_t i = 0; i < sizeof atomics / sizeof *atomics; i++) {
		struct opcode op = opcode_of(atomics[i].word);
		assert_int_equal(op.kind, OP_ATOMIC);
		assert_int_equal(opcode_atomic(&op, atomics[i].old, atomics[i].operand), atomics[i].stored);
	}
}

SUITE(collect)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(tells_kinds_and_sizes),
	    cmocka_unit_test(stays_in_bounds),
	    cmocka_unit_test(computes),
	};
	return cmocka_run_group_tests_name("collect", tests, NULL, NULL);
}
