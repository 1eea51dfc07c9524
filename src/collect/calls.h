/* calls.h - system calls and signals, as far as a trace must tell of them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_CALLS_H
#define COLLECT_CALLS_H

#include "collect/machine.h"
#include "collect/stream.h"

/* System calls of AArch64 Linux that begin or end something. */
enum {
	CALL_EXIT = 93,
	CALL_EXIT_GROUP = 94,
	CALL_ACTION = 134,
	CALL_SIGRETURN = 139,
	CALL_CLONE = 220,
	CALL_EXECVE = 221,
	CALL_EXECVEAT = 281,
	CALL_CLONE3 = 435
};

/* Where a thread was when a signal came. */
struct interrupted {
	uint64_t x[TW_XTRACE_REGISTERS];
	uint64_t pc;
};

/* An SVC is about to be executed, whether it is recorded or not: handlers of signals are remembered. Returns whether it
 * begins a thread. */
bool calls_notice(const struct guest *machine);

/* An SVC is about to be executed: writes its seven arguments, and the vector of calls that have one. */
void calls_enter(const struct guest *machine, struct stream *stream, struct collect_board *board);

/* The signal handlers that there have been, 64 kinds of address: whether pc may be one's. */
extern _Atomic uint64_t calls_handlers;

static inline uint64_t calls_handler_bit(uint64_t pc)
{
	return 1ull << tw_bits(pc, 2, 7);
}

static inline bool calls_any_handler(uint64_t pc)
{
	return atomic_load_explicit(&calls_handlers, memory_order_relaxed) & calls_handler_bit(pc);
}

/* Whether the block at pc is a signal handler that the kernel has just begun. */
bool calls_interrupted(const struct guest *machine, uint64_t pc, struct interrupted *where);

#endif
