/* encode.c - tokens to bytes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "xtrace/layout.h"

#include <trackway/xtrace.h>

static const struct {
	uint8_t token;
	uint16_t payload;
} forms[] = {
#define X(name, token, payload, text) [name] = {token, payload},
    TW_XTRACE_TOKEN_LIST(X)
#undef X
};

/* Whether the payload can follow the fixed part. */
static bool fits(const struct tw_xtrace_token *token)
{
	uint32_t size = token->payload_size;
	if (size && !token->payload)
		return false;
	switch (token->kind) {
	case TW_XTRACE_LOAD:
	case TW_XTRACE_STORE:
		return size && size <= TW_XTRACE_ACCESS_MAX && (size & (size - 1)) == 0;
	case TW_XTRACE_SYSCALL_VEC:
		return token->value <= TW_XTRACE_VECTORS_MAX && size == token->value * XTRACE_VECTOR_SIZE;
	case TW_XTRACE_ALLGPR:
		return size == forms[TW_XTRACE_ALLGPR].payload;
	default:
		return size == 0 && token->level <= 3;
	}
}

static uint8_t token_byte(const struct tw_xtrace_token *token)
{
	uint8_t byte = forms[token->kind].token;
	if (token->kind == TW_XTRACE_INST || token->kind == TW_XTRACE_PCINST)
		return (uint8_t)(byte | token->level << 6);
	if (token->kind == TW_XTRACE_LOAD || token->kind == TW_XTRACE_STORE)
		return (uint8_t)(byte | __builtin_ctz(token->payload_size) << 4);
	return byte;
}

static uint8_t *put64(uint8_t *out, uint64_t value)
{
	tw_store64(out, value, false);
	return out + 8;
}

static uint8_t *put_payload(uint8_t *out, const struct tw_xtrace_token *token)
{
	if (token->payload_size)
		memcpy(out, token->payload, token->payload_size);
	return out + token->payload_size;
}

static void put(uint8_t *out, const struct tw_xtrace_token *token)
{
	*out++ = token_byte(token);
	switch (token->kind) {
	case TW_XTRACE_PCINST:
		out = put64(out, token->pc);
		tw_store32(out, token->opcode, false);
		return;
	case TW_XTRACE_INST:
		tw_store32(out, token->opcode, false);
		return;
	case TW_XTRACE_ALLGPR:
		put_payload(out, token);
		return;
	default:
		put_payload(put64(out, token->value), token);
	}
}

int tw_xtrace_encode(const struct tw_xtrace_token *token, uint8_t *out, size_t room, size_t *size)
{
	*size = 0;
	if (token->kind == TW_XTRACE_UNKNOWN || token->kind >= TW_XTRACE_KINDS || !fits(token))
		return TW_ERR_VALUE;
	*size = 1 + (size_t)forms[token->kind].payload;
	*size += token->kind == TW_XTRACE_ALLGPR ? 0 : token->payload_size;
	if (room < *size)
		return TW_ERR_ROOM;
	put(out, token);
	return 0;
}
