/* thread.h - a thread's way through its blocks: from what QEMU tells to tokens. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_THREAD_H
#define COLLECT_THREAD_H

#include "collect/block.h"
#include "collect/board.h"

/* Must be called before any thread runs. */
void thread_setup(struct collect_board *board, bool follows);

/* Which calls an instruction wants. */
bool thread_wants_before(const struct insn *insn);
bool thread_wants_after(const struct insn *insn);
bool thread_wants_accesses(const struct insn *insn);

/* Which instructions are looked at where nothing is recorded. */
bool thread_wants_notice(const struct insn *insn);

/* Whether what an instruction does is looked for when it is done. */
bool thread_wants_noticed(const struct insn *insn);

/* QEMU's calls, in the thread: a block begins, with all calls, or with few; an instruction is about to be executed;
 * was executed; has made an access. */
void thread_block(unsigned cpu, void *block);
void thread_passed(unsigned cpu, void *block);

/* Of a block without any: an instruction that thread_wants_notice() is about to be executed; and one behind it. */
void thread_notice(unsigned cpu, void *insn);
void thread_noticed(unsigned cpu, void *unused);

void thread_before(unsigned cpu, void *insn);
void thread_after(unsigned cpu, void *insn);
void thread_accessed(unsigned cpu, uint32_t info, uint64_t address, void *insn);

/* The process ends in good order, in the calling thread. */
void thread_end(void);

#endif
