/* opcode.h - what the collector must know of an instruction: which registers and which memory. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_OPCODE_H
#define COLLECT_OPCODE_H

#include <stdbool.h>
#include <stdint.h>

enum op_kind {
	OP_PLAIN,    /* neither registers nor memory are of interest */
	OP_ACCESS,   /* loads or stores, reported by QEMU access by access */
	OP_STXR,     /* exclusive store: to be told from the status register whether it stored */
	OP_ATOMIC,   /* LSE: loads, computes, stores */
	OP_CAS,      /* LSE: loads, stores if it is what was expected */
	OP_SCALABLE, /* SVE: loads, stores and prefetches */
	OP_ZERO,     /* DC ZVA, DC GZVA */
	OP_MRS,
	OP_RANDOM, /* MRS of RNDR and RNDRRS: NZCV tells whether it failed */
	OP_MSR,
	OP_SELECT, /* by NZCV */
	OP_SVC,
	OP_MARK,            /* HINT #9 */
	OP_BRANCH_REGISTER, /* BR, BLR, RET, ERET */
	OP_TRAP             /* never completes */
};

struct opcode {
	uint8_t kind; /* enum op_kind */
	uint8_t rt, rt2, rn, rs;
	uint8_t size;  /* of memory: bytes for a register, or of an element's run for structures */
	uint8_t count; /* registers that are loaded or stored: 1 or 2 */
	uint8_t total; /* bytes in all */
	bool is_load, is_vector;
	bool is_structure; /* LD1 to LD4, ST1 to ST4: bytes do not lie as in registers */
	uint8_t function;  /* LSE: o3 and opc, bits 12 to 15 of the instruction */
};

struct opcode opcode_of(uint32_t word);

/* Whether an instruction is recorded only after it was executed, with what follows from it. */
bool opcode_stops(const struct opcode *op, bool marks);

/* What LDADD, SWP and the like store, from what they loaded and from Rs. */
uint64_t opcode_atomic(const struct opcode *op, uint64_t old, uint64_t operand);

#endif
