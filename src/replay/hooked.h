/* hooked.h - places in a program that are looked at before they are executed. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPLAY_HOOKED_H
#define REPLAY_HOOKED_H

#include "replay/state.h"

/* Unicorn asks all hooks before each instruction that has one. Where that takes longer than a single hook of all
 * instructions, this stands for them. */
enum { REPLAY_HOOKS_MOST = 512, REPLAY_HOOKED_BITS = 16 };

/* Begins with `call` and `run`, otherwise zeros. */
struct replay_hooked {
	uc_cb_hookcode_t
	    call; /* with `run`: before a place is executed, beyond REPLAY_HOOKS_MOST also before some others */
	struct replay_state *run;
	uint64_t places[REPLAY_HOOKS_MOST];
	size_t count;
	bool crowded; /* there are more */
	uint8_t marked[(1 << REPLAY_HOOKED_BITS) / 8];
};

void replay_hooked_add(struct replay_hooked *hooked, uint64_t pc);

/* Hooks all places; `hooked` stays where it is while the emulator is executed. */
void replay_hooked_set(struct replay_hooked *hooked);

#endif
