/* decode.c - bytes to tokens. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "xtrace/layout.h"

#include <trackway/xtrace.h>

const char *tw_xtrace_kind_name(unsigned kind)
{
	static const char *const names[] = {[TW_XTRACE_UNKNOWN] = "unknown",
#define X(name, token, payload, text) [name] = text,
	                                    TW_XTRACE_TOKEN_LIST(X)
#undef X
	};
	return kind < TW_XTRACE_KINDS ? names[kind] : NULL;
}

static const uint16_t fixed_payloads[] = {
#define X(name, token, payload, text) [name] = (payload),
    TW_XTRACE_TOKEN_LIST(X)
#undef X
};

/* What a token byte is. The bits that are a parameter are those of its class. */
static enum tw_xtrace_kind kind_of(uint8_t byte)
{
	switch (byte & xtrace_fixed_bits(byte)) {
#define X(name, token, payload, text)                                                                                  \
	case token:                                                                                                    \
		return name;
		TW_XTRACE_TOKEN_LIST(X)
#undef X
	default:
		return TW_XTRACE_UNKNOWN;
	}
}

bool xtrace_is_token(uint8_t byte)
{
	const enum tw_xtrace_kind kind = kind_of(byte);
	const unsigned size = 1u << tw_bits(byte, 4, 7);
	if (kind == TW_XTRACE_LOAD || kind == TW_XTRACE_STORE)
		return size <= (kind == TW_XTRACE_LOAD ? XTRACE_ACCESS_MOST : XTRACE_ZERO_MOST);
	return kind != TW_XTRACE_UNKNOWN || xtrace_is_reserved(byte);
}

/* Bytes behind the fixed part; SIZE_MAX where the count is absurd. Of a vector the count must be there. */
static size_t extra_payload(const uint8_t *bytes, enum tw_xtrace_kind kind)
{
	if (kind == TW_XTRACE_LOAD || kind == TW_XTRACE_STORE)
		return (size_t)1 << tw_bits(bytes[0], 4, 7);
	if (kind != TW_XTRACE_SYSCALL_VEC)
		return 0;
	uint64_t count = tw_load64(bytes + 1, false);
	return count > TW_XTRACE_VECTORS_MAX ? SIZE_MAX : (size_t)count * XTRACE_VECTOR_SIZE;
}

static void take_instruction(const uint8_t *bytes, struct tw_xtrace_token *token)
{
	bool has_pc = token->kind == TW_XTRACE_PCINST;
	token->level = (uint8_t)tw_bits(bytes[0], 6, 7);
	token->pc = has_pc ? tw_load64(bytes + 1, false) : 0;
	token->opcode = tw_load32(bytes + (has_pc ? 9 : 1), false);
}

int tw_xtrace_decode(const uint8_t *bytes, size_t left, struct tw_xtrace_token *token)
{
	*token = (struct tw_xtrace_token){.size = 1};
	if (left == 0)
		return 0;
	token->kind = kind_of(bytes[0]);
	if (token->kind == TW_XTRACE_UNKNOWN)
		return TW_ERR_FORMAT;
	size_t fixed = 1 + (size_t)fixed_payloads[token->kind];
	token->size = (uint32_t)fixed;
	if (left < fixed)
		return TW_ERR_ROOM;
	size_t extra = extra_payload(bytes, token->kind);
	if (extra == SIZE_MAX)
		return TW_ERR_FORMAT;
	token->size += (uint32_t)extra;
	if (left - fixed < extra)
		return TW_ERR_ROOM;
	if (token->kind == TW_XTRACE_INST || token->kind == TW_XTRACE_PCINST) {
		take_instruction(bytes, token);
	} else if (token->kind == TW_XTRACE_ALLGPR) {
		token->payload = bytes + 1;
		token->payload_size = (uint32_t)(fixed - 1);
	} else {
		token->value = tw_load64(bytes + 1, false);
		token->payload = extra ? bytes + fixed : NULL;
		token->payload_size = (uint32_t)extra;
	}
	return 1;
}

uint64_t tw_xtrace_word(const uint8_t *payload, size_t i)
{
	return tw_load64(payload + 8 * i, false);
}
