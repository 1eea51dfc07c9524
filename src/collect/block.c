/* block.c - blocks of instructions, with their tokens made in advance. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/block.h"

#include <trackway/xtrace.h>

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct translated_block *young, *old;

static bool encode(struct translated_block *block, uint64_t pc, const uint32_t *opcodes)
{
	for (size_t i = 0; i < block->count; i++) {
		const struct tw_xtrace_token token = {.kind = i ? TW_XTRACE_INST : TW_XTRACE_PCINST,
		                                      .pc = i ? 0 : pc,
		                                      .opcode = opcodes[i]};
		size_t at = block_offset(i), size;
		if (tw_xtrace_encode(&token, block->tokens + at, block_offset(block->count) - at, &size) < 0)
			return false;
	}
	return true;
}

struct translated_block *block_make(uint64_t pc, const uint32_t *opcodes, size_t count, bool marks)
{
	size_t fixed = sizeof(struct translated_block) + count * sizeof(struct insn);
	struct translated_block *block =
	    count < UINT16_MAX ? calloc(1, fixed + block_offset(count) + BLOCK_SLACK) : NULL;
	if (!block)
		return NULL;
	block->pc = pc;
	block->count = block->first = (uint16_t)count;
	block->tokens = (uint8_t *)block + fixed;
	for (size_t i = count; i-- > 0;) {
		block->insns[i] =
		    (struct insn){.op = opcode_of(opcodes[i]), .index = (uint16_t)i, .next = block->first};
		if (opcode_stops(&block->insns[i].op, marks))
			block->first = (uint16_t)i;
	}
	block->by_register = block->insns[count - 1].op.kind == OP_BRANCH_REGISTER;
	if (!encode(block, pc, opcodes))
		return free(block), NULL;
	pthread_mutex_lock(&lock);
	block->older = young;
	young = block;
	pthread_mutex_unlock(&lock);
	return block;
}

void block_forget(void)
{
	pthread_mutex_lock(&lock);
	for (struct translated_block *next; old; old = next) {
		next = old->older;
		free(old);
	}
	old = young;
	young = NULL;
	pthread_mutex_unlock(&lock);
}
