/* test_operands.c - which registers instructions read and write. Opcodes and their texts are those of GNU's
 * assembler. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "export/instructions/operands.h"

#include "suite.h"

static const struct {
	const char *text;
	uint32_t opcode;
	const char *written, *read;
} cases[] = {
    {"adrp x0, .", 0x90000000, "x0", ""},
    {"add x0, sp, #16", 0x910043e0, "x0", "sp"},
    {"sub sp, sp, #32", 0xd10083ff, "sp", "sp"},
    {"cmp x1, #3", 0xf1000c3f, "f", "x1"},
    {"mov x1, x2", 0xaa0203e1, "x1", "x2"},
    {"movz x0, #1", 0xd2800020, "x0", ""},
    {"movk x0, #1", 0xf2800020, "x0", "x0"},
    {"and sp, x1, #-16", 0x927cec3f, "sp", "x1"},
    {"tst x1, #1", 0xf240003f, "f", "x1"},
    {"bfi x0, x1, #4, #8", 0xb37c1c20, "x0", "x0 x1"},
    {"ubfx x0, x1, #4, #8", 0xd3442c20, "x0", "x1"},
    {"add x0, x1, x2", 0x8b020020, "x0", "x2 x1"},
    {"add sp, sp, x2", 0x8b2263ff, "sp", "x2 sp"},
    {"subs x0, x1, x2", 0xeb020020, "x0 f", "x2 x1"},
    {"adc x0, x1, x2", 0x9a020020, "x0", "x2 x1 f"},
    {"ccmp x1, x2, #0, eq", 0xfa420020, "f", "x2 x1 f"},
    {"csel x0, x1, x2, eq", 0x9a820020, "x0", "x2 x1 f"},
    {"udiv x0, x1, x2", 0x9ac20820, "x0", "x2 x1"},
    {"clz x0, x1", 0xdac01020, "x0", "x1"},
    {"madd x0, x1, x2, x3", 0x9b020c20, "x0", "x3 x2 x1"},
    {"mul x0, x1, x2", 0x9b027c20, "x0", "x2 x1"},
    {"fmov x0, d1", 0x9e660020, "x0", "v1"},
    {"fmov d0, x1", 0x9e670020, "v0", "x1"},
    {"scvtf d0, x1", 0x9e620020, "v0", "x1"},
    {"fcvtzs x0, d1", 0x9e780020, "x0", "v1"},
    {"fcmp d1, d2", 0x1e622020, "f", "v2 v1"},
    {"fadd d0, d1, d2", 0x1e622820, "v0", "v2 v1"},
    {"fmadd d0, d1, d2, d3", 0x1f420c20, "v0", "v3 v2 v1"},
    {"fabs d0, d1", 0x1e60c020, "v0", "v1"},
    {"dup v0.16b, w1", 0x4e010c20, "v0", "x1"},
    {"umov w0, v1.b[0]", 0x0e013c20, "x0", "v1"},
    {"movi v0.2d, #0", 0x6f00e400, "v0", ""},
    {"add v0.16b, v1.16b, v2.16b", 0x4e228420, "v0", "v2 v1"},
    {"addv b0, v1.16b", 0x4e31b820, "v0", "v1"},
    {"shl v0.2d, v1.2d, #1", 0x4f415420, "v0", "v1"},
    {"ldr x0, [x1, #8]", 0xf9400420, "x0", "x1"},
    {"str x0, [sp, #8]", 0xf90007e0, "", "x0 sp"},
    {"ldr x0, [x1], #8", 0xf8408420, "x0 x1", "x1"},
    {"str x0, [sp, #-16]!", 0xf81f0fe0, "sp", "x0 sp"},
    {"ldrb w0, [x1, x2]", 0x38626820, "x0", "x2 x1"},
    {"str q0, [x1, x2]", 0x3ca26820, "", "v0 x2 x1"},
    {"ldr q0, [x1]", 0x3dc00020, "v0", "x1"},
    {"ldp x0, x1, [sp], #32", 0xa8c207e0, "x0 x1 sp", "sp"},
    {"stp x29, x30, [sp, #-32]!", 0xa9be7bfd, "sp", "x29 x30 sp"},
    {"stp q0, q1, [x2]", 0xad000440, "", "v0 v1 x2"},
    {"str xzr, [x1]", 0xf900003f, "", "x1"},
    {"prfm pldl1keep, [x1]", 0xf9800020, "", "x1"},
    {"ldxr x0, [x1]", 0xc85f7c20, "x0", "x1"},
    {"stxr w2, x0, [x1]", 0xc8027c20, "x2", "x0 x1"},
    {"ldaxp x0, x2, [x1]", 0xc87f8820, "x0 x2", "x1"},
    {"stlxp w3, x0, x2, [x1]", 0xc8238820, "x3", "x0 x2 x1"},
    {"ldar x0, [x1]", 0xc8dffc20, "x0", "x1"},
    {"cas x0, x1, [x2]", 0xc8a07c41, "x0", "x1 x0 x2"},
    {"ldadd x0, x1, [x2]", 0xf8200041, "x1", "x0 x2"},
    {"ld1 {v0.16b}, [x1], #16", 0x4cdf7020, "v0 x1", "x1"},
    {"mrs x0, tpidr_el0", 0xd53bd040, "x0", ""},
    {"msr tpidr_el0, x0", 0xd51bd040, "", "x0"},
    {"msr nzcv, x0", 0xd51b4200, "f", "x0"},
    {"dc zva, x0", 0xd50b7420, "", "x0"},
    {"nop", 0xd503201f, "", ""},
};

static void put(char text[64], const uint8_t *numbers, unsigned count)
{
	text[0] = '\0';
	for (unsigned i = 0; i < count; i++) {
		size_t used = strlen(text);
		unsigned number = numbers[i];
		if (number == TW_OPERAND_SP || number == TW_OPERAND_FLAGS)
			snprintf(text + used, 64 - used, "%s%s", i ? " " : "", number == TW_OPERAND_SP ? "sp" : "f");
		else
			snprintf(text + used, 64 - used, "%s%c%u", i ? " " : "", number < TW_OPERAND_VECTOR ? 'x' : 'v',
			         number < TW_OPERAND_VECTOR ? number : number - TW_OPERAND_VECTOR);
	}
}

static void test_operands(void **state)
{
	unsigned wrong = 0;
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tw_operands operands;
		char written[64], read[64];
		tw_operands_of(cases[i].opcode, &operands);
		put(written, operands.written, operands.written_count);
		put(read, operands.read, operands.read_count);
		if (strcmp(written, cases[i].written) == 0 && strcmp(read, cases[i].read) == 0)
			continue;
		print_error("%s: writes \"%s\", reads \"%s\"\n", cases[i].text, written, read);
		wrong++;
	}
	assert_int_equal(wrong, 0);
}

SUITE(operands)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_operands)};
	return cmocka_run_group_tests_name("operands", tests, NULL, NULL);
}
