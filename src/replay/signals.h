/* signals.h - what the handlers of signals that run interrupted, beside the registers that the trace tells. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPLAY_SIGNALS_H
#define REPLAY_SIGNALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unicorn/unicorn.h>

enum { REPLAY_SIGNALS = 16 /* inside each other */ };

struct replay_signal {
	uint64_t sp; /* of the frame: where the handler begins and returns */
	uint64_t pc; /* where it returns to */
	uint8_t vectors[32][16];
	uint64_t nzcv, fpcr, fpsr;
};

/* All zero to begin. */
struct replay_signals {
	struct replay_signal all[REPLAY_SIGNALS];
	size_t count;
};

/* A handler begins with this SP, before the instruction at pc. More than there is room for push out the oldest. */
void replay_signals_begin(struct replay_signals *signals, uc_engine *engine, uint64_t sp, uint64_t pc);

/* A handler returns with this SP: what it interrupted is restored, and *pc is where that goes on. False where its
 * beginning was not seen. */
bool replay_signals_return(struct replay_signals *signals, uc_engine *engine, uint64_t sp, uint64_t *pc);

#endif
