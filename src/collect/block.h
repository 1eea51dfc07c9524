/* block.h - blocks of instructions as QEMU translates them, with their tokens made in advance. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_BLOCK_H
#define COLLECT_BLOCK_H

#include "collect/opcode.h"

#include <stddef.h>

struct insn {
	struct opcode op;
	uint16_t index; /* in its block */
	uint16_t next;  /* the first after it that opcode_stops(); else the block's count */
	bool after;     /* a call comes when it is done: its tokens are written then */
};

struct translated_block {
	struct translated_block *older; /* in the list of all */
	uint64_t pc;
	uint16_t count;
	uint16_t first;   /* the first that stops; else count */
	bool by_register; /* it ends with BR, BLR, RET or ERET */
	bool full;        /* it has all calls */
	uint8_t *tokens;  /* a PCINST, then INSTs; and a little room behind */
	struct insn insns[];
};

enum { BLOCK_PCINST = 13, BLOCK_INST = 5, BLOCK_SLACK = 16 };

/* The block that an instruction is in. */
static inline const struct translated_block *block_of(const struct insn *insn)
{
	const void *first = (const char *)(insn - insn->index) - offsetof(struct translated_block, insns);
	return first;
}

/* Where the token of an instruction is; of the last + 1: the size of all. */
static inline size_t block_offset(size_t i)
{
	return i ? BLOCK_PCINST + BLOCK_INST * (i - 1) : 0;
}

/* Makes a block. Returns NULL without memory. marks: HINT #9 stops. */
struct translated_block *block_make(uint64_t pc, const uint32_t *opcodes, size_t count, bool marks);

/* QEMU forgot its translations. A block may still be the last of a thread that is just waking up, so that those made
 * before the last call are freed, the others at the next. */
void block_forget(void);

#endif
