/* test_slice_stub.c - which register a stub sets in place of an instruction that is left out. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "slice/a64.h"
#include "slice/slice.h"
#include "slice/stub.h"

#include "suite.h"

enum { PC = 0x400000, STUB = 0x500000, AREA = 0x500200, NO_REGISTER = 31 };

/* Opcodes and loads as GNU's assembler has them. */
static const struct {
	const char *text;
	uint32_t opcode;
	unsigned sets;
} rows[] = {
    {"svc #0", 0xd4000001, 0},
    {"stxr w2, x3, [x4]", 0xc8027c83, 2},
    {"stlxrb w7, w3, [x4]", 0x0807fc83, 7},
    {"stxp w2, x3, x5, [x4]", 0xc8221483, 2},
    {"stxr wzr, x3, [x4]", 0xc81f7c83, NO_REGISTER},
    {"mrs x5, cntvct_el0", 0xd53be045, 5},
    {"mrs x30, cntvct_el0", 0xd53be05e, 30},
    {"mrs xzr, cntvct_el0", 0xd53be05f, NO_REGISTER},
};

/* Counts "ldr xN, [x30, #56]", which gets the value. */
static unsigned count_loads(const struct a64_code *code, unsigned number)
{
	unsigned count = 0;
	for (size_t i = 0; i < code->count; i++)
		count += code->words[i] == (0xf9401fc0 | number);
	return count;
}

static void test_register_that_is_set(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct slice_place place = {.pc = PC, .opcode = rows[i].opcode, .stub = STUB};
		struct a64_code code = {.address = STUB};
		uint64_t constant;
		slice_put_stub(&code, &place, AREA, &constant);
		for (unsigned number = 0; number <= NO_REGISTER; number++)
			if (count_loads(&code, number) != (number == rows[i].sets && number != NO_REGISTER))
				fail_msg("%s: x%u is loaded %u times", rows[i].text, number,
				         count_loads(&code, number));
	}
}

SUITE(slice_stub)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_register_that_is_set)};
	return cmocka_run_group_tests_name("slice stub", tests, NULL, NULL);
}
