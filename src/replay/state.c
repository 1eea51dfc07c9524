/* state.c - what differs between trace and emulator, and the emulator's registers. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/state.h"

#include <stdio.h>
#include <string.h>

enum { ZERO_REGISTER = 31, INSTRUCTION_SIZE = 4 };

/* ---- Registers. ---- */

static int register_of(unsigned number)
{
	return number < 29    ? UC_ARM64_REG_X0 + (int)number
	       : number == 29 ? UC_ARM64_REG_X29
	       : number == 30 ? UC_ARM64_REG_X30
	                      : UC_ARM64_REG_SP;
}

uint64_t replay_operand(const struct replay_state *run, unsigned number)
{
	uint64_t value = 0;
	if (number != ZERO_REGISTER)
		replay_emulator.uc_reg_read(run->engine, register_of(number), &value);
	return value;
}

void replay_set_operand(const struct replay_state *run, unsigned number, uint64_t value)
{
	if (number != ZERO_REGISTER)
		replay_emulator.uc_reg_write(run->engine, register_of(number), &value);
}

uint64_t replay_base(const struct replay_state *run, unsigned number)
{
	uint64_t value = 0;
	replay_emulator.uc_reg_read(run->engine, register_of(number), &value);
	return tw_bits(value, 0, 55);
}

void replay_set_registers(const struct replay_state *run, const uint64_t *x)
{
	for (unsigned i = 0; i < TW_XTRACE_REGISTERS; i++)
		replay_emulator.uc_reg_write(run->engine, register_of(i), &x[i]);
}

/* ---- Where it ends. ---- */

static void stop(struct replay_state *run)
{
	run->resume.stopped = true;
	replay_emulator.uc_emu_stop(run->engine);
}

void replay_end(struct replay_state *run)
{
	run->finished = true;
	stop(run);
}

void replay_interrupt(struct replay_state *run)
{
	run->resume.needed = true;
	stop(run);
}

void replay_renew(struct replay_state *run)
{
	run->resume.renews = true;
	run->resume.at = run->pc;
	stop(run);
}

void replay_differ(struct replay_state *run, const char *what, const char *expected, const char *found)
{
	struct replay_result *result = run->result;
	if (run->resume.stopped)
		return;
	result->end = REPLAY_DIFFERENT;
	result->offset = run->part->offset + run->inst_at;
	result->pc = run->last_pc;
	result->opcode = run->opcode;
	snprintf(result->what, sizeof result->what, "%s", what);
	snprintf(result->expected, sizeof result->expected, "%s", expected);
	snprintf(result->found, sizeof result->found, "%s", found);
	for (unsigned i = 0; i < TW_XTRACE_REGISTERS; i++)
		replay_emulator.uc_reg_read(run->engine, register_of(i), &result->x[i]);
	replay_end(run);
}

void replay_differ_number(struct replay_state *run, const char *what, uint64_t expected, uint64_t found)
{
	char left[32], right[32];
	snprintf(left, sizeof left, "0x%llx", (unsigned long long)expected);
	snprintf(right, sizeof right, "0x%llx", (unsigned long long)found);
	replay_differ(run, what, left, right);
}

void replay_differ_bytes(struct replay_state *run, const char *what, const uint8_t *expected, const uint8_t *found,
                         size_t size)
{
	enum { SHOWN = 16 };
	char left[2 * SHOWN + 1] = "", right[2 * SHOWN + 1] = "";
	for (; size > SHOWN && memcmp(expected, found, SHOWN) == 0; size -= SHOWN, expected += SHOWN)
		found += SHOWN;
	for (size_t i = 0; i < size && i < SHOWN; i++) {
		snprintf(left + 2 * i, 3, "%02x", expected[i]);
		snprintf(right + 2 * i, 3, "%02x", found[i]);
	}
	replay_differ(run, what, left, right);
}

void replay_compare_flags(struct replay_state *run)
{
	const uint64_t nzcv = 0xf0000000;
	uint64_t flags = 0;
	replay_emulator.uc_reg_read(run->engine, UC_ARM64_REG_NZCV, &flags);
	if ((flags & nzcv) != (run->token.value & nzcv))
		replay_differ_number(run, "NZCV", run->token.value, flags & nzcv);
}

/* ---- The trace. ---- */

void replay_skip_rest(struct replay_state *run)
{
	while (!run->resume.stopped &&
	       (run->token.kind == TW_XTRACE_MISC_FLAGS || run->token.kind == TW_XTRACE_TARGET_B ||
	        run->token.kind == TW_XTRACE_MRS || run->token.kind == TW_XTRACE_TIME))
		replay_step(run);
}

bool replay_take(struct replay_state *run)
{
	replay_skip_rest(run);
	switch (run->token.kind) {
	case TW_XTRACE_INST:
	case TW_XTRACE_PCINST:
		break;
	case TW_XTRACE_UNKNOWN:
		replay_end(run);
		return false;
	case TW_XTRACE_ALLGPR: /* an exception came: the emulator goes no further here */
		replay_interrupt(run);
		return false;
	default:
		replay_differ(run, "recorded but not executed", tw_xtrace_kind_name(run->token.kind), "nothing");
		return false;
	}
	uint64_t pc = run->token.kind == TW_XTRACE_PCINST ? run->token.pc : run->last_pc + INSTRUCTION_SIZE;
	if (pc != run->pc) {
		replay_differ_number(run, "next PC", pc, run->pc);
		return false;
	}
	run->last_pc = pc;
	run->inst_at = run->at;
	run->opcode = run->token.opcode;
	run->pc += INSTRUCTION_SIZE;
	run->result->instructions++;
	replay_step(run);
	return true;
}
