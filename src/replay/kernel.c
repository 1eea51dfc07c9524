/* kernel.c - instructions of a kernel are passed over: the program goes on with the registers that the trace tells. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/state.h"

/* What comes behind an ALLGPR. */
struct passage {
	struct tw_xtrace_token token;
	uint32_t opcode;
	bool is_entered;          /* the kernel executes */
	bool has_registers;       /* the last token is an ALLGPR: */
	size_t registers_at;      /* its place */
	uint64_t pointer, tables; /* SP_EL0 and TTBR0_EL1 as the kernel leaves them; 0: not told */
};

/* As Linux tells its task: an address of its own in SP_EL0. */
static void take_register(struct passage *passage)
{
	enum { TABLES = 0xd5182000u >> 5, STACK = 0xd5184100u >> 5, ADDRESS_BITS = 47, KERNEL = 55 };
	if (passage->opcode >> 5 == TABLES)
		passage->tables = tw_bits(passage->token.value, 0, ADDRESS_BITS);
	else if (passage->opcode >> 5 == STACK && tw_bits(passage->token.value, KERNEL, KERNEL))
		passage->pointer = passage->token.value;
}

static bool is_inst(const struct tw_xtrace_token *token)
{
	return token->kind == TW_XTRACE_INST || token->kind == TW_XTRACE_PCINST;
}

/* Goes to the next instruction of user mode. Returns whether there is one. */
static bool pass(struct replay_state *run, struct passage *passage)
{
	struct tw_xtrace_token *token = &passage->token;
	for (size_t at = run->at; replay_decode(run->part->tokens + at, run->part->size - at, token) == 1;
	     at += token->size) {
		if (is_inst(token) && token->level == 0)
			return true;
		if (is_inst(token)) {
			passage->is_entered = true;
			passage->opcode = token->opcode;
		}
		if (token->kind == TW_XTRACE_MRS && passage->is_entered) {
			take_register(passage);
			run->kernel.task = run->kernel.task ? run->kernel.task : passage->pointer;
		}
		passage->has_registers = token->kind == TW_XTRACE_ALLGPR;
		passage->registers_at = passage->has_registers ? at : passage->registers_at;
	}
	return false;
}

/* Whether it is the task of before, with the tables that it had. */
static bool is_same_task(const struct replay_state *run, const struct passage *passage)
{
	enum { ADDRESS_BITS = 47 };
	uint64_t tables = tw_bits(run->part->start->ttbr0_el1, 0, ADDRESS_BITS);
	return (!passage->pointer || passage->pointer == run->kernel.task) &&
	       (!passage->tables || !tables || passage->tables == tables);
}

void replay_pass_kernel(struct replay_state *run)
{
	struct passage passage = {0};
	bool goes_on = pass(run, &passage);
	if (!passage.is_entered)
		return;
	if (goes_on && passage.has_registers && is_same_task(run, &passage)) {
		run->at = passage.registers_at;
		replay_decode(run->part->tokens + run->at, run->part->size - run->at, &run->token);
		return;
	}
	run->token.kind = TW_XTRACE_UNKNOWN;
	run->result->end = REPLAY_KERNEL;
}
