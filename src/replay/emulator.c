/* emulator.c - unicorn, loaded by the first who executes something. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/emulator.h"

#include "base/load.h"

struct replay_emulator replay_emulator;

TW_DLOPEN_NOTE(TW_UNICORN, "replay", "Instructions executed again", "suggested")

static const struct tw_loaded functions[] = {
#define X(name) {#name, offsetof(struct replay_emulator, name)},
    REPLAY_EMULATOR_LIST(X)
#undef X
};

const char *replay_emulator_load(void)
{
	return tw_load(TW_UNICORN, &replay_emulator, functions, sizeof functions / sizeof *functions);
}
