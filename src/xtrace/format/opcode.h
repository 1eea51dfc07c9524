/* opcode.h - what an instruction of AArch64 may do: where it goes, what it accesses, which values are told of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XTRACE_FORMAT_OPCODE_H
#define XTRACE_FORMAT_OPCODE_H

#include <stdbool.h>
#include <stdint.h>

/* Where an instruction goes. */
enum xtrace_flow {
	XTRACE_NEXT,    /* to the next one */
	XTRACE_JUMP,    /* B */
	XTRACE_CALL,    /* BL */
	XTRACE_BRANCH,  /* conditional: to its target or the next one */
	XTRACE_JUMP_TO, /* BR: where a register says */
	XTRACE_CALL_TO, /* BLR */
	XTRACE_RETURN,  /* RET */
	XTRACE_EXCEPTION_RETURN,
	XTRACE_SYSTEM_CALL, /* SVC */
	XTRACE_EXCEPTION    /* HVC, SMC, BRK, HLT, UDF */
};

/* What else is to be known of an instruction. */
enum xtrace_trait {
	XTRACE_LOADS_ALL = 1,        /* loads just so many bytes, if it is not interrupted */
	XTRACE_STORES_ALL = 2,       /* the same of stores */
	XTRACE_LOAD_EXCLUSIVE = 4,   /* opens an exclusive pair */
	XTRACE_STORE_EXCLUSIVE = 8,  /* ends one: STXR tells whether it stored */
	XTRACE_SYSTEM_REGISTER = 16, /* MRS, MSR: MRS tells the register */
	XTRACE_CACHE = 32,           /* DC and its like: DC may tell the address */
	XTRACE_ZERO = 64,            /* DC ZVA, GZVA: DC tells the address */
	XTRACE_STATES_FLAGS = 128,   /* conditional selects and MRS RNDR: MISC_FLAGS may state NZCV */
	XTRACE_LITERAL = 256,        /* loads from `target` */
	XTRACE_RELATIVE = 512,       /* its last operand is relative to the PC: `target`, of its page for ADRP */
	XTRACE_PAGE = 1024,          /* ADRP */
	XTRACE_SCATTERED = 2048      /* its accesses need not be one behind the other */
};

struct xtrace_operation {
	uint32_t opcode;
	uint8_t flow;         /* enum xtrace_flow */
	uint16_t load, store; /* bytes at most */
	uint16_t needs, may;  /* kinds of token that must follow, and that may: 1 << enum tw_xtrace_kind */
	bool simple;          /* needs no token, and is not looked at but for its bytes and where it goes */
	uint16_t traits;      /* enum xtrace_trait */
	int64_t target;       /* direct branches, literals, ADR, ADRP: from the PC, or its page */
};

/* Whether it is of SVE, be it memory or not. */
static inline bool xtrace_is_scalable(uint32_t opcode)
{
	return (opcode & 0x1e000000) == 0x04000000;
}

/* Tells what an opcode may do. Extensions newer than Armv9.4 are unknown to it: they go to the next and access
 * nothing. */
void xtrace_operation(uint32_t opcode, struct xtrace_operation *operation);

/* Where a direct branch at pc goes, or what a literal or address operand there means. */
static inline uint64_t xtrace_target(const struct xtrace_operation *operation, uint64_t pc)
{
	uint64_t base = operation->traits & XTRACE_PAGE ? pc & ~UINT64_C(0xfff) : pc;
	return base + (uint64_t)operation->target;
}

enum { XTRACE_OPERATIONS = 1 << 13 };

/* The operations that were met lately. All zero to begin. */
struct xtrace_operations {
	struct xtrace_operation cached[XTRACE_OPERATIONS];
};

static inline const struct xtrace_operation *xtrace_find_operation(struct xtrace_operations *operations,
                                                                   uint32_t opcode)
{
	enum { SHIFT = 32 - 13 };
	struct xtrace_operation *found = &operations->cached[opcode * 0x9e3779b1u >> SHIFT];
	if (found->opcode != opcode || !opcode)
		xtrace_operation(opcode, found);
	return found;
}

#endif
