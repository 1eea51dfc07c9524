/* zeroes.c - what DC ZVA stores where a token DC is all that tells of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "xtrace/walk/zeroes.h"

#include "xtrace/format/opcode.h"
#include "xtrace/layout.h"

enum { BLOCK = 64 /* bytes: of most processors */, HEAD = 9, STORE = 0x0a };

static const uint8_t zeros[XTRACE_ZERO_MOST];

static uint32_t block_of(const struct xtrace_zeroes *zeroes, const struct xtrace_cursor *cursor)
{
	uint32_t block = cursor->files->layout.zero_block;
	if (block)
		return block;
	return zeroes->block ? zeroes->block : BLOCK;
}

/* MRS of DCZID_EL0: the bits 0 to 3 are the power of 2 of the block's words. Source: Arm's DDI 0487, DCZID_EL0. */
static void take_register(struct xtrace_zeroes *zeroes, uint64_t value)
{
	enum { DCZID = 0xd53b00e0u >> 5, WORD = 4, POWER_MOST = 9, POWER_BITS = 0xf };
	unsigned power = (unsigned)value & POWER_BITS;
	if (zeroes->opcode >> 5 == DCZID && power <= POWER_MOST)
		zeroes->block = (uint32_t)WORD << power;
}

static void take_cache(struct xtrace_zeroes *zeroes, struct xtrace_cursor *cursor, uint64_t value)
{
	struct xtrace_operation operation;
	xtrace_operation(zeroes->opcode, &operation);
	int next = zeroes->stored ? STORE : xtrace_cursor_peek(cursor);
	zeroes->pending = operation.traits & XTRACE_ZERO && !(next >= 0 && (next & XTRACE_MEM_BITS) == STORE);
	zeroes->address = value & ~(uint64_t)(block_of(zeroes, cursor) - 1);
}

static void give_store(struct xtrace_zeroes *zeroes, const struct xtrace_cursor *cursor, struct tw_xtrace_token *token)
{
	uint32_t block = block_of(zeroes, cursor);
	zeroes->pending = false;
	*token = (struct tw_xtrace_token){
	    .kind = TW_XTRACE_STORE,
	    .value = zeroes->address,
	    .size = HEAD + block,
	    .payload_size = block,
	    .payload = zeros,
	};
}

int xtrace_zeroes_next(struct xtrace_zeroes *zeroes, struct xtrace_cursor *cursor, struct tw_xtrace_token *token)
{
	if (zeroes->pending) {
		give_store(zeroes, cursor, token);
		return 1;
	}
	int status = xtrace_cursor_next(cursor, token);
	if (status <= 0)
		return status;
	switch ((unsigned)token->kind) {
	case TW_XTRACE_INST:
	case TW_XTRACE_PCINST:
	case TW_XTRACE_UNKNOWN:
		zeroes->opcode = token->opcode;
		zeroes->stored = false;
		break;
	case TW_XTRACE_STORE:
		zeroes->stored = true;
		break;
	case TW_XTRACE_MRS:
		take_register(zeroes, token->value);
		break;
	case TW_XTRACE_DC:
		take_cache(zeroes, cursor, token->value);
		break;
	}
	return status;
}
