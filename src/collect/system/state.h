/* state.h - where a core of a whole machine is. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_SYSTEM_STATE_H
#define COLLECT_SYSTEM_STATE_H

#include "collect/machine.h"
#include "collect/scalable/state.h"
#include "collect/stream.h"
#include "collect/system/core.h"
#include "collect/windows/windows.h"

enum { CORE_ACCESS_MAX = 64 };

/* The instruction that is executed, and what must be known of it when it is done. */
struct core_step {
	struct system_insn insn;
	bool is_there, is_written;
	uint8_t accessed; /* bytes so far */
	bool has_order;
	uint8_t value[CORE_ACCESS_MAX]; /* of the accesses */
	uint64_t address, order;        /* of the first of them; TIME */
	uint64_t operands[4], flags;    /* registers as they were before; NZCV */
	uint64_t target;                /* of a branch by register, as far as it is known before; else 0 */
	bool returns_to_user;           /* ERET */
	uint8_t old[16];                /* LSE: memory before */
	struct scalable_state scalable;
};

struct guest_core {
	struct stream stream;
	struct window_position part;
	struct guest machine;
	struct core_step step;
	unsigned number, level;
	bool is_live;    /* is recorded at present */
	bool is_planned; /* part.plan is there */
	bool needs_snapshot, needs_pc;
	uint64_t next_pc; /* behind the last one that was written */
	uint64_t task;    /* the kernel's address for what is executed, as it writes it to SP_EL0; 0: none yet */
	uint64_t call;    /* where the system call returns to whose task is not yet told; 0: none */
	uint64_t called;  /* that call's own number */
};

#endif
