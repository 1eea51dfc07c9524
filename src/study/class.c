/* class.c - the kinds of instruction that a mix is told by.
 *
 * Source: Arm Architecture Reference Manual for A-profile (DDI 0487), C4.1, "A64 instruction set encoding". */
/* SPDX-License-Identifier: Apache-2.0 */
#include "study/class.h"

#include "xtrace/format/opcode.h"

#include <stdbool.h>
#include <stddef.h>

const char *study_class_name(enum study_class class)
{
	static const char *const names[] = {
#define X(id, name) [id] = name,
	    STUDY_CLASS_LIST(X)
#undef X
	};
	return names[class];
}

/* The first that fits. */
static const struct {
	uint32_t mask, value;
	uint8_t class;
} groups[] = {
    {0x9e000000, 0x00000000, STUDY_OTHER},      /* reserved, SME */
    {0x1e000000, 0x04000000, STUDY_VECTOR},     /* SVE */
    {0x1f000000, 0x10000000, STUDY_ARITHMETIC}, /* ADR, ADRP */
    {0x1f800000, 0x13000000, STUDY_SHIFT},      /* bit fields: SXTW, LSR #n */
    {0x1f800000, 0x13800000, STUDY_SHIFT},      /* EXTR */
    {0x1c000000, 0x10000000, STUDY_ARITHMETIC}, /* immediates */
    {0x1fe00000, 0x1a400000, STUDY_SELECT},     /* CCMP, CCMN */
    {0x1fe00000, 0x1a800000, STUDY_SELECT},     /* CSEL, CSINC */
    {0x5fe0f800, 0x1ac00800, STUDY_MULTIPLY},   /* UDIV, SDIV */
    {0x5fe0f000, 0x1ac02000, STUDY_SHIFT},      /* LSLV, RORV */
    {0x5fe00000, 0x5ac00000, STUDY_SHIFT},      /* RBIT, REV, CLZ */
    {0x1f000000, 0x1b000000, STUDY_MULTIPLY},   /* MADD, UMULH */
    {0x0e000000, 0x0a000000, STUDY_ARITHMETIC}, /* registers */
    {0x5f000000, 0x1e000000, STUDY_FLOAT},      /* scalar */
    {0x5f000000, 0x1f000000, STUDY_FLOAT},      /* FMADD */
    {0x0e000000, 0x0e000000, STUDY_VECTOR},     /* Advanced SIMD */
};

static enum study_class computes(uint32_t opcode)
{
	for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
		if ((opcode & groups[i].mask) == groups[i].value)
			return groups[i].class;
	return STUDY_SYSTEM;
}

/* Exclusive, acquire and release, compare and swap, atomic memory operations. */
static bool is_atomic(uint32_t opcode, const struct xtrace_operation *operation)
{
	bool ordered = (opcode & 0x3f000000) == 0x08000000 || (opcode & 0x3f200c00) == 0x19000000;
	bool both = operation->load && operation->store && !(operation->traits & XTRACE_SCATTERED);
	bool rcpc = (opcode & 0x3ffffc00) == 0x38bfc000; /* LDAPR */
	return ordered || both || rcpc;
}

enum study_class study_class_of(uint32_t opcode)
{
	static const uint8_t flows[] = {
	    [XTRACE_JUMP] = STUDY_JUMP,
	    [XTRACE_CALL] = STUDY_CALL,
	    [XTRACE_BRANCH] = STUDY_CONDITIONAL,
	    [XTRACE_JUMP_TO] = STUDY_JUMP,
	    [XTRACE_CALL_TO] = STUDY_CALL,
	    [XTRACE_RETURN] = STUDY_RETURN,
	    [XTRACE_EXCEPTION_RETURN] = STUDY_RETURN,
	    [XTRACE_SYSTEM_CALL] = STUDY_SYSTEM,
	    [XTRACE_EXCEPTION] = STUDY_SYSTEM,
	};
	struct xtrace_operation operation;
	xtrace_operation(opcode, &operation);
	if (operation.flow != XTRACE_NEXT)
		return flows[operation.flow];
	if (operation.traits & XTRACE_CACHE)
		return STUDY_SYSTEM;
	if (is_atomic(opcode, &operation))
		return STUDY_ATOMIC;
	if (operation.load || operation.store)
		return operation.load ? STUDY_LOAD : STUDY_STORE_CLASS;
	return (opcode & 0x0a000000) == 0x08000000 ? STUDY_OTHER : computes(opcode);
}
