/* registers.h - system registers and the exception level of a processor in a whole machine. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_SYSTEM_REGISTERS_H
#define COLLECT_SYSTEM_REGISTERS_H

#include "collect/machine.h"

/* By the names that QEMU tells debuggers. */
#define COLLECT_SYSTEM_REGISTER_LIST(X)                                                                                \
	X(TPIDR_EL0)                                                                                                   \
	X(TPIDRRO_EL0)                                                                                                 \
	X(TPIDR_EL1)                                                                                                   \
	X(TTBR0_EL1)                                                                                                   \
	X(SPSR_EL1)                                                                                                    \
	X(ESR_EL1)                                                                                                     \
	X(ELR_EL1)                                                                                                     \
	X(ELR_EL2)                                                                                                     \
	X(ELR_EL3)

enum system_register {
#define X(name) SYSTEM_##name,
	COLLECT_SYSTEM_REGISTER_LIST(X)
#undef X
	    SYSTEM_REGISTERS
};

/* To be called on the processor, when machine_open() has found the others. Returns whether those are there without
 * which no kernel can be recorded. */
bool system_registers_open(const struct guest *machine);

/* 0 for one that this processor does not have. On the processor. */
uint64_t system_register(const struct guest *machine, enum system_register which);

/* The exception level, as bits 2 and 3 of PSTATE tell it. On the processor. */
unsigned system_level(const struct guest *machine);

/* What a snapshot has of a machine beside the registers of programs. On the processor. */
void system_snapshot(const struct guest *machine, struct tw_xtrace_snapshot *snapshot);

#endif
