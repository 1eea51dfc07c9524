/* state.h - a replay: where it is in the trace, and where the emulator is. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPLAY_STATE_H
#define REPLAY_STATE_H

#include "base/bytes/bytes.h"
#include "replay/memory.h"
#include "replay/replay.h"
#include "replay/signals.h"

struct replay_state {
	const struct replay_part *part;
	struct replay_result *result;
	uc_engine *engine;
	struct replay_memory memory;
	size_t at;                    /* the next token */
	struct tw_xtrace_token token; /* decoded at `at`; of unknown kind at the end */
	uint32_t used;                /* bytes of it, an access, that were compared */
	uint64_t pc, end;             /* of the block that the emulator is in: what is not yet compared */
	uint64_t last_pc;             /* of the instruction that was compared last, for INST */
	size_t inst_at;               /* its token */
	uint32_t opcode;
	struct {
		uint64_t at; /* where to go on when the emulator was stopped */
		bool stopped;
		bool needed;
		bool renews; /* at `resume` another instruction than that of the trace is in memory */
	} resume;
	bool finished;
	struct replay_extra {
		unsigned reads; /* that the emulator makes again in parts */
		uint64_t address;
	} extra;
	struct replay_return {
		bool pending; /* from a signal's handler */
		uint64_t sp;  /* of its frame */
	} returns;
	struct replay_signals signals;
	struct replay_task {
		uint64_t task; /* SP_EL0, as the kernel first told it; 0: not yet */
	} kernel;
};

/* Decodes a token. Most are INST of user mode: they are told apart first. `make bench` measures it (replay). */
static inline int replay_decode(const uint8_t *bytes, size_t left, struct tw_xtrace_token *token)
{
	enum { INST = 0x01, INST_SIZE = 5 };
	if (left < INST_SIZE || bytes[0] != INST)
		return tw_xtrace_decode(bytes, left, token);
	*token =
	    (struct tw_xtrace_token){.kind = TW_XTRACE_INST, .opcode = tw_load32(bytes + 1, false), .size = INST_SIZE};
	return 1;
}

/* kernel.c: at the token before what the kernel executes. Goes to the ALLGPR behind it; where another task comes then,
 * or none, the part ends (REPLAY_KERNEL). */
void replay_pass_kernel(struct replay_state *run);

/* Decodes the token at run->at. */
static inline void replay_look(struct replay_state *run)
{
	size_t left = run->part->size - run->at;
	int status = replay_decode(run->part->tokens + run->at, left, &run->token);
	run->used = 0;
	if (status != 1)
		run->token.kind = TW_XTRACE_UNKNOWN;
	else if (run->token.kind == TW_XTRACE_ALLGPR || run->token.level)
		replay_pass_kernel(run);
}

/* Goes on to the next token. */
static inline void replay_step(struct replay_state *run)
{
	run->at += run->token.size;
	replay_look(run);
}

/* ---- state.c ---- */

/* Passes over tokens that belong to the instruction before and are not its accesses. */
void replay_skip_rest(struct replay_state *run);

/* Takes the next instruction of the trace, which must be where the emulator is. Returns whether it is; if not, the
 * emulator is stopped. */
bool replay_take(struct replay_state *run);

/* Stops the emulator because the trace ends. */
void replay_end(struct replay_state *run);

/* Stops the emulator because an exception came: it goes on with the registers of the ALLGPR that is next. */
void replay_interrupt(struct replay_state *run);

/* Stops the emulator because another instruction is in memory than the trace has: it goes on with this one. */
void replay_renew(struct replay_state *run);

/* Each stops the emulator because trace and emulator differ, and tells in the result by what: as text, in numbers, or
 * as bytes, of which the first 16 that differ are shown. Nothing where it is stopped already. */
void replay_differ(struct replay_state *run, const char *what, const char *expected, const char *found);
void replay_differ_number(struct replay_state *run, const char *what, uint64_t expected, uint64_t found);
void replay_differ_bytes(struct replay_state *run, const char *what, const uint8_t *expected, const uint8_t *found,
                         size_t size);

/* Compares NZCV with what the token at hand says. */
void replay_compare_flags(struct replay_state *run);

/* A register as an operand: number 31 is XZR. */
uint64_t replay_operand(const struct replay_state *run, unsigned number);
void replay_set_operand(const struct replay_state *run, unsigned number, uint64_t value);

/* A register as a base of an address: number 31 is SP. */
uint64_t replay_base(const struct replay_state *run, unsigned number);

/* Sets X0 to X30 and SP. */
void replay_set_registers(const struct replay_state *run, const uint64_t *x);

/* ---- replaced.c ---- */

/* Whether an instruction is done from the trace: an SVC stands in its place. */
bool replay_is_replaced(uint32_t opcode);

/* Unicorn's hook of exceptions: does what the instruction would have done. `context` is the replay. */
void replay_on_replaced(uc_engine *engine, uint32_t number, void *context);

#endif
