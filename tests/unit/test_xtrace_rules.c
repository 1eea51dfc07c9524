/* test_xtrace_rules.c - each rule of xtrace about tokens: a stream that breaks it, and where. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "suite.h"
#include "xtrace_bytes.h"

/* Opcodes, as GNU as has them. */
#define NOP 0xd503201fu
#define LDR_X0_X1 0xf9400020u
#define LDP_X0_X1_SP 0xa94007e0u
#define LDR_LITERAL_12 0x58000066u /* ldr x6, . + 12 */
#define LD1D_SVE 0xa5e0a000u
#define LDADD 0xf8200041u
#define CAS 0xc8a07c41u
#define B_8 0x14000002u   /* b . + 8 */
#define B_4 0x14000001u   /* b . + 4 */
#define BEQ_8 0x54000040u /* b.eq . + 8 */
#define RET 0xd65f03c0u
#define BLR_X1 0xd63f0020u
#define SVC 0xd4000001u
#define MRS_FPCR 0xd53b4400u
#define RNDR 0xd53b2400u
#define RNDRRS 0xd53b2420u
#define CSEL 0x9a820020u
#define FCSEL 0x1e620c20u /* fcsel d0, d1, d2, eq */
#define ZVA 0xd50b7420u
#define CIVAC 0xd50b7e20u
#define LDXR 0xc85f7c22u /* ldxr x2, [x1] */
#define STXR_OP 0xc8037c22u

#define PC 0x400000u
#define DATA 0x7000u

#define ARGUMENTS(number) SVCARG(number), SVCARG(1), SVCARG(2), SVCARG(3), SVCARG(4), SVCARG(5), SVCARG(6)

static const struct {
	const char *name;
	const uint8_t *bytes;
	size_t size;
	const char *found;
} cases[] = {
    /* Where the PC goes. */
    {"straight on", BYTES(PCINST(PC, NOP), INST(NOP), PCINST(PC + 8, NOP)), ""},
    {"no PC", BYTES(INST(NOP), PCINST(PC, NOP)), "xtrace.pc-unknown@0"},
    {"odd", BYTES(PCINST(PC + 2, NOP)), "xtrace.pc-unaligned@0"},
    {"a jump", BYTES(PCINST(PC, B_8), PCINST(PC + 8, NOP)), ""},
    {"an INST behind a jump", BYTES(PCINST(PC, B_8), INST(NOP)), "xtrace.inst-after-branch@13"},
    {"an INST behind a jump to the next", BYTES(PCINST(PC, B_4), INST(NOP)), ""},
    {"a jump elsewhere", BYTES(PCINST(PC, B_8), PCINST(PC + 12, NOP)), "xtrace.branch-target@13"},
    {"a branch taken", BYTES(PCINST(PC, BEQ_8), PCINST(PC + 8, NOP)), ""},
    {"a branch not taken", BYTES(PCINST(PC, BEQ_8), INST(NOP)), ""},
    {"a branch not taken, with its PC", BYTES(PCINST(PC, BEQ_8), PCINST(PC + 4, NOP)), ""},
    {"a branch elsewhere", BYTES(PCINST(PC, BEQ_8), PCINST(PC + 12, NOP)), "xtrace.branch-target@13"},
    {"a target that faults", BYTES(PCINST(PC, B_8), 0x0c, 1, [270] = 0x09, W64(0x500000), W32(NOP)),
     "xtrace.pc-jump@270"},
    {"a return", BYTES(PCINST(PC, RET), TARGET(0x500000), PCINST(0x500000, NOP)), ""},
    {"a return elsewhere", BYTES(PCINST(PC, RET), TARGET(0x500000), PCINST(0x500004, NOP)), "xtrace.target-differs@22"},
    {"an INST behind a call", BYTES(PCINST(PC, BLR_X1), TARGET(0x500000), INST(NOP)), "xtrace.inst-after-branch@22"},
    {"a return without a target", BYTES(PCINST(PC, RET), PCINST(0x500000, NOP)), "xtrace.value-missing@0"},
    {"a signal", BYTES(PCINST(PC, NOP), PCINST(0x500000, NOP)), "xtrace.pc-jump@13"},
    {"a signal during a load", BYTES(PCINST(PC, LDR_X0_X1), PCINST(0x500000, NOP)), "xtrace.pc-jump@13"},
    {"an interrupt", BYTES(PCINST(PC, LDR_X0_X1), 0x0c, 1, [270] = 0x49, W64(0xffff800010000280), W32(NOP)), ""},
    {"an interrupt without registers", BYTES(PCINST(PC, NOP), PCINST_EL1(0xffff800010000280, NOP)),
     "xtrace.level-registers@13"},
    /* What is accessed. */
    {"a load", BYTES(PCINST(PC, LDR_X0_X1), LOAD8(DATA), INST(NOP)), ""},
    {"a load in two parts", BYTES(PCINST(PC, LDR_X0_X1), LOAD4(DATA), LOAD4(DATA + 4), INST(NOP)), ""},
    {"a pair", BYTES(PCINST(PC, LDP_X0_X1_SP), LOAD8(DATA + 8), LOAD8(DATA), INST(NOP)), ""},
    {"the wrong direction", BYTES(PCINST(PC, LDR_X0_X1), STORE8(DATA), INST(NOP)),
     "xtrace.access-unexpected@13 xtrace.access-missing@0"},
    {"a load of none", BYTES(PCINST(PC, NOP), LOAD8(DATA), INST(NOP)), "xtrace.access-unexpected@13"},
    {"too much", BYTES(PCINST(PC, LDR_X0_X1), LOAD8(DATA), LOAD4(DATA + 8), INST(NOP)), "xtrace.access-size@0"},
    {"too little", BYTES(PCINST(PC, LDR_X0_X1), LOAD4(DATA), INST(NOP)), "xtrace.access-missing@0"},
    {"none, and cut off", BYTES(PCINST(PC, LDR_X0_X1)), ""},
    {"apart", BYTES(PCINST(PC, LDP_X0_X1_SP), LOAD8(DATA), LOAD8(DATA + 16), INST(NOP)), "xtrace.access-base@0"},
    {"apart by a byte", BYTES(PCINST(PC, LDP_X0_X1_SP), LOAD8(DATA), LOAD8(DATA + 9), INST(NOP)),
     "xtrace.access-base@0"},
    {"the literal", BYTES(PCINST(PC, LDR_LITERAL_12), LOAD8(PC + 12), INST(NOP)), ""},
    {"another literal", BYTES(PCINST(PC, LDR_LITERAL_12), LOAD8(PC + 16), INST(NOP)), "xtrace.access-base@0"},
    {"scattered, and less than there could be", BYTES(PCINST(PC, LD1D_SVE), LOAD8(DATA), LOAD8(DATA + 64), INST(NOP)),
     ""},
    {"an atomic", BYTES(PCINST(PC, LDADD), LOAD8(DATA), STORE8(DATA), INST(NOP)), ""},
    {"an atomic without its load", BYTES(PCINST(PC, LDADD), STORE8(DATA), INST(NOP)), "xtrace.access-missing@0"},
    {"an atomic at two places", BYTES(PCINST(PC, LDADD), LOAD8(DATA), STORE8(DATA + 8), INST(NOP)),
     "xtrace.access-base@0"},
    {"a comparison that fails", BYTES(PCINST(PC, CAS), LOAD8(DATA), INST(NOP)), ""},
    /* Registers. */
    {"a register", BYTES(PCINST(PC, MRS_FPCR), MRS(1), INST(NOP)), ""},
    {"none", BYTES(PCINST(PC, MRS_FPCR), INST(NOP)), "xtrace.value-missing@0"},
    {"of another instruction", BYTES(PCINST(PC, NOP), MRS(1), INST(NOP)), "xtrace.value-unexpected@13"},
    {"flags", BYTES(PCINST(PC, CSEL), FLAGS(0xf0000000u), INST(RNDR), MRS(1), FLAGS(0)), ""},
    {"no flags", BYTES(PCINST(PC, CSEL), INST(RNDR), MRS(1), INST(NOP)), "xtrace.flags-missing@0"},
    {"no flags behind FCSEL", BYTES(PCINST(PC, FCSEL), INST(NOP)), "xtrace.flags-missing@0"},
    {"no flags behind RNDRRS", BYTES(PCINST(PC, RNDRRS), MRS(1), INST(NOP)), "xtrace.flags-missing@0"},
    {"a load's status", BYTES(PCINST(PC, LDXR), LOAD8(DATA), STXR(0), INST(NOP)), "xtrace.stxr-load@30"},
    {"flags that are none", BYTES(PCINST(PC, CSEL), FLAGS(1)), "xtrace.flags-reserved@13"},
    {"flags of a nop", BYTES(PCINST(PC, NOP), FLAGS(0)), "xtrace.value-unexpected@13"},
    {"zeroes", BYTES(PCINST(PC, ZVA), DC(DATA), INST(CIVAC), INST(CIVAC), DC(DATA)), ""},
    {"zeroes of nowhere", BYTES(PCINST(PC, ZVA), INST(NOP)), "xtrace.value-missing@0"},
    /* Exclusive pairs. */
    {"a pair", BYTES(PCINST(PC, LDXR), LOAD8(DATA), INST(STXR_OP), STXR(0), STORE8(DATA), INST(NOP)), ""},
    {"one that fails", BYTES(PCINST(PC, LDXR), LOAD8(DATA), INST(STXR_OP), STXR(1), INST(NOP)), ""},
    {"no status", BYTES(PCINST(PC, LDXR), LOAD8(DATA), INST(STXR_OP), STORE8(DATA), INST(NOP)),
     "xtrace.value-missing@30"},
    {"a status of 2", BYTES(PCINST(PC, LDXR), LOAD8(DATA), INST(STXR_OP), STXR(2), INST(NOP)), "xtrace.stxr-value@30"},
    {"a failure that stored", BYTES(PCINST(PC, LDXR), LOAD8(DATA), INST(STXR_OP), STXR(1), STORE8(DATA), INST(NOP)),
     "xtrace.stxr-value@30"},
    {"a success that did not", BYTES(PCINST(PC, LDXR), LOAD8(DATA), INST(STXR_OP), STXR(0), INST(NOP)),
     "xtrace.stxr-value@30"},
    {"no load", BYTES(PCINST(PC, NOP), INST(STXR_OP), STXR(0), STORE8(DATA), INST(NOP)), "xtrace.exclusive-alone@13"},
    {"a load of another place",
     BYTES(PCINST(PC, LDXR), LOAD8(DATA), INST(STXR_OP), STXR(0), STORE8(DATA + 8), INST(NOP)),
     "xtrace.exclusive-alone@30"},
    {"a load that was used up",
     BYTES(PCINST(PC, LDXR), LOAD8(DATA), INST(STXR_OP), STXR(1), INST(STXR_OP), STXR(0), STORE8(DATA), INST(NOP)),
     "xtrace.exclusive-alone@44"},
    {"a success that is cut off", BYTES(PCINST(PC, LDXR), LOAD8(DATA), INST(STXR_OP), STXR(0)), ""},
    /* System calls. */
    {"a call", BYTES(PCINST(PC, SVC), ARGUMENTS(64), SVCRET(1), PCINST(PC + 4, NOP)), ""},
    {"three arguments", BYTES(PCINST(PC, SVC), SVCARG(64), SVCARG(1), SVCARG(2), SVCRET(1), INST(NOP)),
     "xtrace.svc-arguments@0"},
    {"no arguments", BYTES(PCINST(PC, SVC), SVCRET(1), INST(NOP)), "xtrace.value-missing@0"},
    {"no return", BYTES(PCINST(PC, SVC), ARGUMENTS(64), INST(NOP)), "xtrace.svc-return@0"},
    {"exit", BYTES(PCINST(PC, SVC), ARGUMENTS(93)), ""},
    /* Calls that do not come back to where they were made: linux/unistd.h. */
    {"exit_group", BYTES(PCINST(PC, SVC), ARGUMENTS(94), PCINST(0x500000, NOP)), ""},
    {"the return of a signal", BYTES(PCINST(PC, SVC), ARGUMENTS(139), PCINST(0x500000, NOP)), ""},
    {"execve", BYTES(PCINST(PC, SVC), ARGUMENTS(221), PCINST(0x500000, NOP)), ""},
    {"execveat", BYTES(PCINST(PC, SVC), ARGUMENTS(281), PCINST(0x500000, NOP)), ""},
    {"userfaultfd, which comes back", BYTES(PCINST(PC, SVC), ARGUMENTS(282), SVCRET(1), PCINST(0x500000, NOP)),
     "xtrace.pc-jump@85"},
    {"arguments that are cut off", BYTES(PCINST(PC, SVC), SVCARG(64), SVCARG(1)), ""},
    {"a return of none", BYTES(PCINST(PC, NOP), SVCRET(1), INST(NOP)), "xtrace.value-unexpected@13"},
    /* Times. */
    {"times", BYTES(PCINST(PC, LDP_X0_X1_SP), LOAD8(DATA), TIME(5), LOAD8(DATA + 8), TIME(6)), ""},
    {"a time twice", BYTES(PCINST(PC, LDP_X0_X1_SP), LOAD8(DATA), TIME(5), LOAD8(DATA + 8), TIME(5)),
     "xtrace.time-order@56"},
    {"a time of none", BYTES(PCINST(PC, NOP), TIME(5)), "xtrace.time-alone@13"},
};

static void test_rules(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct found found;
		print_message("# %s\n", cases[i].name);
		check_stream(cases[i].bytes, cases[i].size, &found);
		assert_string_equal(found.text, cases[i].found);
	}
}

/* Notes are told where the track ends. */
static bool begins_with_note(const char *found)
{
	return strstr(found, "xtrace.pc-jump") == found || strstr(found, "xtrace.level-registers") == found ||
	       strstr(found, "xtrace.flags-") == found || strstr(found, "xtrace.stxr-load") == found;
}

/* The same with enough behind them that tokens are taken the fast way: a token that the document does
 * not describe ends them as the end does. */
static void test_rules_fast(void **state)
{
	(void)state;
	enum { BEHIND = 300, ROOM = 1024, RESERVED = 0x04 };
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint8_t bytes[ROOM] = {0};
		char expected[RULES_TEXT], reserved[64];
		const char *space = *cases[i].found ? " " : "";
		bool is_note = begins_with_note(cases[i].found);
		struct found found;
		assert_true(cases[i].size + BEHIND <= ROOM);
		memcpy(bytes, cases[i].bytes, cases[i].size);
		bytes[cases[i].size] = RESERVED;
		snprintf(reserved, sizeof reserved, "xtrace.reserved-token@%zu", cases[i].size);
		snprintf(expected, sizeof expected, "%s%s%s", is_note ? reserved : cases[i].found, space,
		         is_note ? cases[i].found : reserved);
		print_message("# %s\n", cases[i].name);
		check_stream(bytes, cases[i].size + BEHIND, &found);
		assert_string_equal(found.text, expected);
	}
}

SUITE(xtrace_rules)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_rules),
	    cmocka_unit_test(test_rules_fast),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
