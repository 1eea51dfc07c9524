/* core.h - a core of a whole machine: from the instructions that QEMU tells to tokens. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_SYSTEM_CORE_H
#define COLLECT_SYSTEM_CORE_H

#include "collect/board.h"
#include "collect/opcode.h"

/* An instruction where QEMU has translated it. */
struct system_insn {
	uint64_t pc;
	uint32_t opcode;
	bool is_first; /* of its block: the level may have changed before it */
	struct opcode op;
};

/* The first instructions of a block, which have no calls of their own. */
struct system_passed {
	uint64_t pc;
	unsigned count;
};

/* To be called before any core runs. */
void core_setup(struct collect_board *board);

/* Whether the accesses of an instruction are. */
bool core_wants_accesses(const struct system_insn *insn);

/* QEMU's calls, on the core: an instruction is about to be executed; has made an access; instructions are about to be
 * executed that have no calls of their own. */
void core_executed(unsigned cpu, void *insn);
void core_accessed(unsigned cpu, uint32_t info, uint64_t address, void *insn);
void core_passed(unsigned cpu, void *passed);

#endif
