/* steps.h - what instructions of a core do. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_SYSTEM_STEPS_H
#define COLLECT_SYSTEM_STEPS_H

#include "collect/system/registers.h"
#include "collect/system/state.h"

/* What an instruction of a kind takes. */
struct core_kind {
	void (*before)(struct guest_core *core), (*after)(struct guest_core *core);
	bool accesses;
};

/* By enum op_kind. */
extern const struct core_kind core_kinds[];

/* Where an exception to each level comes back to. */
extern const enum system_register core_links[];

/* Set before any core runs. */
extern struct collect_board *core_board;

/* There are several: TIMEs are written. */
extern _Atomic bool core_several;

/* The INST or PCINST of the step. */
void core_put_insn(struct guest_core *core);

/* All registers, where the level changes or where there is a gap. */
void core_put_registers(struct guest_core *core);

/* The first access of an instruction, by its core, has the order. */
void core_take_order(struct core_step *step);

/* Whether the value of part i of an access is that of a register. */
bool core_takes_register(const struct opcode *op, unsigned i);

#endif
