/* test_xtrace_opcode.c - what instructions of AArch64 do, against what Arm's manual says of them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "xtrace/format/opcode.h"

#include "suite.h"

/* The opcodes are GNU as's; the rest is by the manual. */
static const struct {
	uint32_t opcode;
	const char *text;
	unsigned flow, load, store, traits;
} cases[] = {
    {0xb9400020, "ldr w0, [x1]", XTRACE_NEXT, 4, 0, XTRACE_LOADS_ALL},
    {0xf8408c20, "ldr x0, [x1, #8]!", XTRACE_NEXT, 8, 0, XTRACE_LOADS_ALL},
    {0x38401420, "ldrb w0, [x1], #1", XTRACE_NEXT, 1, 0, XTRACE_LOADS_ALL},
    {0xb8a26820, "ldrsw x0, [x1, x2]", XTRACE_NEXT, 4, 0, XTRACE_LOADS_ALL},
    {0x79400020, "ldrh w0, [x1]", XTRACE_NEXT, 2, 0, XTRACE_LOADS_ALL},
    {0x39800020, "ldrsb x0, [x1]", XTRACE_NEXT, 1, 0, XTRACE_LOADS_ALL},
    {0xf9000020, "str x0, [x1]", XTRACE_NEXT, 0, 8, XTRACE_STORES_ALL},
    {0x38226820, "strb w0, [x1, x2]", XTRACE_NEXT, 0, 1, XTRACE_STORES_ALL},
    {0xb81fc020, "stur w0, [x1, #-4]", XTRACE_NEXT, 0, 4, XTRACE_STORES_ALL},
    {0x781fd020, "sturh w0, [x1, #-3]", XTRACE_NEXT, 0, 2, XTRACE_STORES_ALL},
    {0xf8400820, "ldtr x0, [x1]", XTRACE_NEXT, 8, 0, XTRACE_LOADS_ALL},
    {0x3dc00020, "ldr q0, [x1]", XTRACE_NEXT, 16, 0, XTRACE_LOADS_ALL},
    {0x3ca26820, "str q0, [x1, x2]", XTRACE_NEXT, 0, 16, XTRACE_STORES_ALL},
    {0x3d400020, "ldr b0, [x1]", XTRACE_NEXT, 1, 0, XTRACE_LOADS_ALL},
    {0x7d000020, "str h0, [x1]", XTRACE_NEXT, 0, 2, XTRACE_STORES_ALL},
    {0xfd400020, "ldr d0, [x1]", XTRACE_NEXT, 8, 0, XTRACE_LOADS_ALL},
    {0xbd400020, "ldr s0, [x1]", XTRACE_NEXT, 4, 0, XTRACE_LOADS_ALL},
    {0xa8c107e0, "ldp x0, x1, [sp], #16", XTRACE_NEXT, 16, 0, XTRACE_LOADS_ALL},
    {0x294007e0, "ldp w0, w1, [sp]", XTRACE_NEXT, 8, 0, XTRACE_LOADS_ALL},
    {0x694007e0, "ldpsw x0, x1, [sp]", XTRACE_NEXT, 8, 0, XTRACE_LOADS_ALL},
    {0xadbf07e0, "stp q0, q1, [sp, #-32]!", XTRACE_NEXT, 0, 32, XTRACE_STORES_ALL},
    {0x2d0007e0, "stp s0, s1, [sp]", XTRACE_NEXT, 0, 8, XTRACE_STORES_ALL},
    {0x6c4007e0, "ldnp d0, d1, [sp]", XTRACE_NEXT, 16, 0, XTRACE_LOADS_ALL},
    {0x690007e0, "stgp x0, x1, [sp]", XTRACE_NEXT, 0, 16, XTRACE_STORES_ALL},
    {0xf9800000, "prfm pldl1keep, [x0]", XTRACE_NEXT, 0, 0, 0},
    {0xf8a16800, "prfm pldl1keep, [x0, x1]", XTRACE_NEXT, 0, 0, 0},
    {0xf89fd000, "prfum pldl1keep, [x0, #-3]", XTRACE_NEXT, 0, 0, 0},
    {0x885f7c20, "ldxr w0, [x1]", XTRACE_NEXT, 4, 0, XTRACE_LOADS_ALL | XTRACE_LOAD_EXCLUSIVE},
    {0x085ffc20, "ldaxrb w0, [x1]", XTRACE_NEXT, 1, 0, XTRACE_LOADS_ALL | XTRACE_LOAD_EXCLUSIVE},
    {0xc8027c20, "stxr w2, x0, [x1]", XTRACE_NEXT, 0, 8, XTRACE_STORE_EXCLUSIVE},
    {0x4802fc20, "stlxrh w2, w0, [x1]", XTRACE_NEXT, 0, 2, XTRACE_STORE_EXCLUSIVE},
    {0xc87f0820, "ldxp x0, x2, [x1]", XTRACE_NEXT, 16, 0, XTRACE_LOADS_ALL | XTRACE_LOAD_EXCLUSIVE},
    {0x88230820, "stxp w3, w0, w2, [x1]", XTRACE_NEXT, 0, 8, XTRACE_STORE_EXCLUSIVE},
    {0xc8dffc20, "ldar x0, [x1]", XTRACE_NEXT, 8, 0, XTRACE_LOADS_ALL},
    {0x889ffc20, "stlr w0, [x1]", XTRACE_NEXT, 0, 4, XTRACE_STORES_ALL},
    {0xc8a07c41, "cas x0, x1, [x2]", XTRACE_NEXT, 8, 8, XTRACE_LOADS_ALL},
    {0x08e07c41, "casab w0, w1, [x2]", XTRACE_NEXT, 1, 1, XTRACE_LOADS_ALL},
    {0x48207c82, "casp x0, x1, x2, x3, [x4]", XTRACE_NEXT, 16, 16, XTRACE_LOADS_ALL},
    {0x08207c82, "casp w0, w1, w2, w3, [x4]", XTRACE_NEXT, 8, 8, XTRACE_LOADS_ALL},
    {0xf8200041, "ldadd x0, x1, [x2]", XTRACE_NEXT, 8, 8, XTRACE_LOADS_ALL | XTRACE_STORES_ALL},
    {0xb820005f, "stadd w0, [x2]", XTRACE_NEXT, 4, 4, XTRACE_LOADS_ALL | XTRACE_STORES_ALL},
    {0x38208041, "swpb w0, w1, [x2]", XTRACE_NEXT, 1, 1, XTRACE_LOADS_ALL | XTRACE_STORES_ALL},
    {0xf8bfc020, "ldapr x0, [x1]", XTRACE_NEXT, 8, 0, XTRACE_LOADS_ALL},
    {0x99404020, "ldapur w0, [x1, #4]", XTRACE_NEXT, 4, 0, XTRACE_LOADS_ALL},
    {0x19000020, "stlurb w0, [x1]", XTRACE_NEXT, 0, 1, XTRACE_STORES_ALL},
    {0xf8200420, "ldraa x0, [x1]", XTRACE_NEXT, 8, 0, XTRACE_LOADS_ALL},
    {0xf83fd020, "ld64b x0, [x1]", XTRACE_NEXT, 64, 0, XTRACE_LOADS_ALL},
    {0xf83f9020, "st64b x0, [x1]", XTRACE_NEXT, 0, 64, XTRACE_STORES_ALL},
    {0x4c407000, "ld1 {v0.16b}, [x0]", XTRACE_NEXT, 16, 0, XTRACE_LOADS_ALL},
    {0x0c402000, "ld1 {v0.8b-v3.8b}, [x0]", XTRACE_NEXT, 32, 0, XTRACE_LOADS_ALL},
    {0x4c400800, "ld4 {v0.4s-v3.4s}, [x0]", XTRACE_NEXT, 64, 0, XTRACE_LOADS_ALL},
    {0x0c9f4000, "st3 {v0.8b-v2.8b}, [x0], #24", XTRACE_NEXT, 0, 24, XTRACE_STORES_ALL},
    {0x4c408c00, "ld2 {v0.2d, v1.2d}, [x0]", XTRACE_NEXT, 32, 0, XTRACE_LOADS_ALL},
    {0x0d400c00, "ld1 {v0.b}[3], [x0]", XTRACE_NEXT, 1, 0, XTRACE_LOADS_ALL},
    {0x4d408400, "ld1 {v0.d}[1], [x0]", XTRACE_NEXT, 8, 0, XTRACE_LOADS_ALL},
    {0x0d009000, "st1 {v0.s}[1], [x0]", XTRACE_NEXT, 0, 4, XTRACE_STORES_ALL},
    {0x4d40c400, "ld1r {v0.8h}, [x0]", XTRACE_NEXT, 2, 0, XTRACE_LOADS_ALL},
    {0x4d60ec00, "ld4r {v0.2d-v3.2d}, [x0]", XTRACE_NEXT, 32, 0, XTRACE_LOADS_ALL},
    {0x0d205000, "st2 {v0.h, v1.h}[2], [x0]", XTRACE_NEXT, 0, 4, XTRACE_STORES_ALL},
    {0xd920081f, "stg sp, [x0]", XTRACE_NEXT, 16, 32, XTRACE_SCATTERED},
    {0xd9e0081f, "stz2g sp, [x0]", XTRACE_NEXT, 16, 32, XTRACE_SCATTERED},
    {0xd9600020, "ldg x0, [x1]", XTRACE_NEXT, 16, 32, XTRACE_SCATTERED},
    {0xa5e0a000, "ld1d {z0.d}, p0/z, [x0]", XTRACE_NEXT, 1024, 0, XTRACE_SCATTERED},
    {0xe540e000, "st1w {z0.s}, p0, [x0]", XTRACE_NEXT, 0, 1024, XTRACE_SCATTERED},
    {0x85804000, "ldr z0, [x0]", XTRACE_NEXT, 1024, 0, XTRACE_SCATTERED},
    {0x8b020020, "add x0, x1, x2", XTRACE_NEXT, 0, 0, 0},
    {0x1e622820, "fadd d0, d1, d2", XTRACE_NEXT, 0, 0, 0},
    {0x04e20020, "add z0.d, z1.d, z2.d", XTRACE_NEXT, 0, 0, 0},
    {0xd503201f, "nop", XTRACE_NEXT, 0, 0, 0},
    {0x9a820020, "csel x0, x1, x2, eq", XTRACE_NEXT, 0, 0, XTRACE_STATES_FLAGS},
    {0x1e621c20, "fcsel d0, d1, d2, ne", XTRACE_NEXT, 0, 0, XTRACE_STATES_FLAGS},
    {0xfa410000, "ccmp x0, x1, #0x0, eq", XTRACE_NEXT, 0, 0, 0},
    {0xd53b4400, "mrs x0, fpcr", XTRACE_NEXT, 0, 0, XTRACE_SYSTEM_REGISTER},
    {0xd51b4400, "msr fpcr, x0", XTRACE_NEXT, 0, 0, XTRACE_SYSTEM_REGISTER},
    {0xd53b2400, "mrs x0, rndr", XTRACE_NEXT, 0, 0, XTRACE_SYSTEM_REGISTER | XTRACE_STATES_FLAGS},
    {0xd50342df, "msr daifset, #0x2", XTRACE_NEXT, 0, 0, 0},
    {0xd50b7420, "dc zva, x0", XTRACE_NEXT, 0, 2048, XTRACE_CACHE | XTRACE_ZERO},
    {0xd50b7e20, "dc civac, x0", XTRACE_NEXT, 0, 0, XTRACE_CACHE},
    {0xd50b7520, "ic ivau, x0", XTRACE_NEXT, 0, 0, XTRACE_CACHE},
    {0xd61f0000, "br x0", XTRACE_JUMP_TO, 0, 0, 0},
    {0xd63f0020, "blr x1", XTRACE_CALL_TO, 0, 0, 0},
    {0xd65f03c0, "ret", XTRACE_RETURN, 0, 0, 0},
    {0xd65f0bff, "retaa", XTRACE_RETURN, 0, 0, 0},
    {0xd71f0801, "braa x0, x1", XTRACE_JUMP_TO, 0, 0, 0},
    {0xd63f081f, "blraaz x0", XTRACE_CALL_TO, 0, 0, 0},
    {0xd69f03e0, "eret", XTRACE_EXCEPTION_RETURN, 0, 0, 0},
    {0xd4000001, "svc #0", XTRACE_SYSTEM_CALL, 0, 0, 0},
    {0xd4000002, "hvc #0", XTRACE_EXCEPTION, 0, 0, 0},
    {0xd4200020, "brk #1", XTRACE_EXCEPTION, 0, 0, 0},
    {0x00000000, "udf #0", XTRACE_EXCEPTION, 0, 0, 0},
    {0xd5033bbf, "dmb ish", XTRACE_NEXT, 0, 0, 0},
};

static void test_operations(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct xtrace_operation operation;
		xtrace_operation(cases[i].opcode, &operation);
		print_message("# %s\n", cases[i].text);
		assert_int_equal(operation.flow, cases[i].flow);
		assert_int_equal(operation.load, cases[i].load);
		assert_int_equal(operation.store, cases[i].store);
		assert_int_equal(operation.traits, cases[i].traits);
	}
}

/* At 0x400100: where each of these goes, or points to. */
static const struct {
	uint32_t opcode;
	const char *text;
	uint64_t target;
	unsigned flow, load;
} targets[] = {
    {0x14000040, "b 0x400200", 0x400200, XTRACE_JUMP, 0},
    {0x17ffffff, "b 0x4000fc", 0x4000fc, XTRACE_JUMP, 0},
    {0x94000001, "bl 0x400104", 0x400104, XTRACE_CALL, 0},
    {0x96000000, "bl -128 MiB", 0x400100 - (UINT64_C(1) << 27), XTRACE_CALL, 0},
    {0x54000040, "b.eq 0x400108", 0x400108, XTRACE_BRANCH, 0},
    {0x54ffffe1, "b.ne 0x4000fc", 0x4000fc, XTRACE_BRANCH, 0},
    {0xb4000080, "cbz x0, 0x400110", 0x400110, XTRACE_BRANCH, 0},
    {0x35ffffc3, "cbnz w3, 0x4000f8", 0x4000f8, XTRACE_BRANCH, 0},
    {0x36000041, "tbz w1, #0, 0x400108", 0x400108, XTRACE_BRANCH, 0},
    {0xb7fffff0, "tbnz x16, #62, 0x4000fc", 0x4000fc, XTRACE_BRANCH, 0},
    {0x10000041, "adr x1, 0x400108", 0x400108, XTRACE_NEXT, 0},
    {0x70ffffe0, "adr x0, 0x4000ff", 0x4000ff, XTRACE_NEXT, 0},
    {0xb0000000, "adrp x0, 0x401000", 0x401000, XTRACE_NEXT, 0},
    {0xf0ffffe0, "adrp x0, 0x3ff000", 0x3ff000, XTRACE_NEXT, 0},
    {0x58000066, "ldr x6, 0x40010c", 0x40010c, XTRACE_NEXT, 8},
    {0x18ffffe0, "ldr w0, 0x4000fc", 0x4000fc, XTRACE_NEXT, 4},
    {0x9c000040, "ldr q0, 0x400108", 0x400108, XTRACE_NEXT, 16},
    {0x98000040, "ldrsw x0, 0x400108", 0x400108, XTRACE_NEXT, 4},
    {0xd8000040, "prfm pldl1keep, 0x400108", 0x400108, XTRACE_NEXT, 0},
};

static void test_targets(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
		struct xtrace_operation operation;
		xtrace_operation(targets[i].opcode, &operation);
		print_message("# %s\n", targets[i].text);
		assert_true(operation.traits & XTRACE_RELATIVE);
		assert_int_equal(operation.flow, targets[i].flow);
		assert_int_equal(operation.load, targets[i].load);
		assert_int_equal(xtrace_target(&operation, 0x400100), targets[i].target);
	}
}

SUITE(xtrace_opcode)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_operations),
	    cmocka_unit_test(test_targets),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
