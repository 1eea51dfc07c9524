/* signals.c - what the handlers of signals that run interrupted, beside the registers that the trace tells. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/signals.h"

#include "replay/emulator.h"

#include <string.h>

void replay_signals_begin(struct replay_signals *signals, uc_engine *engine, uint64_t sp, uint64_t pc)
{
	if (signals->count == REPLAY_SIGNALS)
		memmove(signals->all, signals->all + 1, --signals->count * sizeof *signals->all);
	struct replay_signal *one = &signals->all[signals->count++];
	one->sp = sp;
	one->pc = pc;
	for (int i = 0; i < 32; i++)
		replay_emulator.uc_reg_read(engine, UC_ARM64_REG_V0 + i, one->vectors[i]);
	replay_emulator.uc_reg_read(engine, UC_ARM64_REG_NZCV, &one->nzcv);
	replay_emulator.uc_reg_read(engine, UC_ARM64_REG_FPCR, &one->fpcr);
	replay_emulator.uc_reg_read(engine, UC_ARM64_REG_FPSR, &one->fpsr);
}

bool replay_signals_return(struct replay_signals *signals, uc_engine *engine, uint64_t sp, uint64_t *pc)
{
	size_t i = signals->count;
	while (i > 0 && signals->all[i - 1].sp != sp)
		i--;
	if (i == 0)
		return false;
	const struct replay_signal *one = &signals->all[i - 1];
	*pc = one->pc;
	signals->count = i - 1; /* those inside it were left by a jump */
	for (int k = 0; k < 32; k++)
		replay_emulator.uc_reg_write(engine, UC_ARM64_REG_V0 + k, one->vectors[k]);
	replay_emulator.uc_reg_write(engine, UC_ARM64_REG_NZCV, &one->nzcv);
	replay_emulator.uc_reg_write(engine, UC_ARM64_REG_FPCR, &one->fpcr);
	replay_emulator.uc_reg_write(engine, UC_ARM64_REG_FPSR, &one->fpsr);
	return true;
}
