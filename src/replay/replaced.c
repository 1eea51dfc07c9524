/* replaced.c - what unicorn cannot do as the traced processor did, done from the trace: exclusive stores, compare and
 * swap, DC ZVA, system registers, random numbers, system calls. SVC stands in their places. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "collect/opcode.h"
#include "replay/state.h"

#include <string.h>

static uint32_t hint_of(uint32_t opcode)
{
	return (opcode & 0xfffff01f) == 0xd503201f ? (opcode >> 5 & 0x7f) : UINT32_MAX;
}

bool replay_is_replaced(uint32_t word)
{
	struct opcode op = opcode_of(word);
	uint32_t hint = hint_of(word);
	return op.kind == OP_SVC || op.kind == OP_MRS || op.kind == OP_RANDOM || op.kind == OP_STXR ||
	       op.kind == OP_CAS || op.kind == OP_ZERO || (hint >= 1 && hint <= 5);
}

/* The bytes of the registers that STXR, STXP, CAS and CASP store. */
static void stored_bytes(const struct replay_state *run, const struct opcode *op, uint8_t bytes[16])
{
	for (unsigned i = 0; i < op->count; i++) {
		uint8_t word[8];
		unsigned second = op->kind == OP_CAS ? op->rt + 1u : op->rt2;
		tw_store64(word, replay_operand(run, i ? second : op->rt), false);
		memcpy(bytes + (size_t)i * op->size, word, op->size);
	}
}

/* Compares STORE tokens with bytes. */
static void compare_stores(struct replay_state *run, const struct opcode *op, uint64_t address, const uint8_t *bytes)
{
	for (unsigned done = 0; !run->resume.stopped && run->token.kind == TW_XTRACE_STORE; replay_step(run)) {
		if (run->token.payload_size > op->total - done)
			replay_differ_number(run, "bytes of a store", op->total, done + run->token.payload_size);
		else if (run->token.value != address + done)
			replay_differ_number(run, "address of a store", run->token.value, address + done);
		else if (memcmp(run->token.payload, bytes + done, run->token.payload_size) != 0)
			replay_differ_bytes(run, "value of a store", run->token.payload, bytes + done,
			                    run->token.payload_size);
		if (run->resume.stopped)
			return;
		replay_memory_write(&run->memory, run->token.value, run->token.payload, run->token.payload_size);
		done += run->token.payload_size;
	}
}

static void skip_order(struct replay_state *run)
{
	while (run->token.kind == TW_XTRACE_TIME)
		replay_step(run);
}

static void do_exclusive(struct replay_state *run, const struct opcode *op)
{
	uint8_t bytes[16] = {0};
	stored_bytes(run, op, bytes);
	compare_stores(run, op, replay_base(run, op->rn), bytes);
	skip_order(run);
	if (run->resume.stopped || run->token.kind != TW_XTRACE_STXR)
		return;
	replay_set_operand(run, op->rs, run->token.value);
	replay_step(run);
}

static void do_compare(struct replay_state *run, const struct opcode *op)
{
	uint8_t bytes[16] = {0}, old[16] = {0};
	uint64_t address = replay_base(run, op->rn);
	size_t done = 0;
	stored_bytes(run, op, bytes);
	for (; run->token.kind == TW_XTRACE_LOAD && run->token.payload_size <= op->total - done; replay_step(run)) {
		if (run->token.value != address + done)
			replay_differ_number(run, "address of a load", run->token.value, address + done);
		memcpy(old + done, run->token.payload, run->token.payload_size);
		done += run->token.payload_size;
	}
	compare_stores(run, op, address, bytes);
	for (unsigned i = 0; i < op->count; i++) {
		uint8_t word[8] = {0};
		memcpy(word, old + (size_t)i * op->size, op->size);
		replay_set_operand(run, op->rs + i, tw_load64(word, false));
	}
}

static void compare_zeros(struct replay_state *run, uint64_t address)
{
	static const uint8_t zeros[2048];
	const struct tw_xtrace_token *token = &run->token;
	if (token->value != address)
		replay_differ_number(run, "address of a store", token->value, address);
	else if (token->payload_size > sizeof zeros || memcmp(token->payload, zeros, token->payload_size) != 0)
		replay_differ_bytes(run, "value of a store", token->payload, zeros, token->payload_size);
	if (!run->resume.stopped)
		replay_memory_write(&run->memory, token->value, token->payload, token->payload_size);
}

/* DC ZVA: how large its blocks are is what it stores. */
static void do_zero(struct replay_state *run, const struct opcode *op)
{
	uint64_t address = replay_operand(run, op->rt), first = 0, size = 0;
	if (run->token.kind == TW_XTRACE_DC && run->token.value != address)
		replay_differ_number(run, "address of DC ZVA", run->token.value, address);
	if (run->token.kind == TW_XTRACE_DC)
		replay_step(run);
	for (; !run->resume.stopped && run->token.kind == TW_XTRACE_STORE; replay_step(run)) {
		first = size ? first : run->token.value;
		compare_zeros(run, first + size);
		size += run->token.payload_size;
	}
	uint64_t block = size ? tw_bits(address, 0, 55) & ~(size - 1) : 0;
	bool is_block = size && (size & (size - 1)) == 0;
	if (is_block && block != first)
		replay_differ_number(run, "address of a store", first, block);
}

static void do_read(struct replay_state *run, const struct opcode *op)
{
	const uint32_t read_nzcv = 0xd53b4200;
	if (run->token.kind != TW_XTRACE_MRS)
		return;
	if ((run->opcode & ~0x1fu) == read_nzcv)
		replay_compare_flags(run);
	replay_set_operand(run, op->rt, run->token.value);
	replay_step(run);
	if (op->kind == OP_RANDOM && run->token.kind == TW_XTRACE_MISC_FLAGS)
		replay_emulator.uc_reg_write(run->engine, UC_ARM64_REG_NZCV, &run->token.value);
}

/* Arguments are compared; what the kernel did comes with ALLGPR. */
static void do_call(struct replay_state *run)
{
	enum { SIGRETURN = 139 };
	static const uint8_t registers[] = {8, 0, 1, 2, 3, 4, 5};
	run->returns.pending = replay_operand(run, 8) == SIGRETURN;
	replay_emulator.uc_reg_read(run->engine, UC_ARM64_REG_SP, &run->returns.sp);
	for (size_t i = 0; run->token.kind == TW_XTRACE_SVCARG && i < sizeof registers; i++) {
		uint64_t value = replay_operand(run, registers[i]);
		if (run->token.value != value)
			replay_differ_number(run, "argument of a system call", run->token.value, value);
		if (run->resume.stopped)
			return;
		replay_step(run);
	}
	while (run->token.kind == TW_XTRACE_SYSCALL_VEC || run->token.kind == TW_XTRACE_SVCRET ||
	       run->token.kind == TW_XTRACE_TIME)
		replay_step(run);
	if (run->token.kind == TW_XTRACE_ALLGPR)
		replay_interrupt(run);
}

void replay_on_replaced(uc_engine *engine, uint32_t number, void *context)
{
	struct replay_state *run = context;
	(void)engine;
	(void)number;
	do
		if (run->resume.stopped || !replay_take(run))
			return;
	while (!replay_is_replaced(run->opcode));
	struct opcode op = opcode_of(run->opcode);
	switch ((enum op_kind)op.kind) {
	case OP_STXR:
		do_exclusive(run, &op);
		return;
	case OP_CAS:
		do_compare(run, &op);
		return;
	case OP_ZERO:
		do_zero(run, &op);
		return;
	case OP_MRS:
	case OP_RANDOM:
		do_read(run, &op);
		return;
	case OP_SVC:
		do_call(run);
		return;
	default: /* a hint */
		return;
	}
}
