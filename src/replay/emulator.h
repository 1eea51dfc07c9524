/* emulator.h - unicorn, loaded by the first who executes something. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPLAY_EMULATOR_H
#define REPLAY_EMULATOR_H

#include <unicorn/unicorn.h>

#define REPLAY_EMULATOR_LIST(X)                                                                                        \
	X(uc_open)                                                                                                     \
	X(uc_close)                                                                                                    \
	X(uc_ctl)                                                                                                      \
	X(uc_emu_start)                                                                                                \
	X(uc_emu_stop)                                                                                                 \
	X(uc_hook_add)                                                                                                 \
	X(uc_mem_map_ptr)                                                                                              \
	X(uc_reg_read)                                                                                                 \
	X(uc_reg_write)                                                                                                \
	X(uc_strerror)

/* Its functions, by their own names. */
struct replay_emulator {
#define X(name) __typeof__(&(name)) name;
	REPLAY_EMULATOR_LIST(X)
#undef X
};

/* Valid after replay_emulator_load(), for all threads. */
extern struct replay_emulator replay_emulator;

/* Returns NULL, or what is missing, in words. Call it before there are threads. */
const char *replay_emulator_load(void);

#endif
