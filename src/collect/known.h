/* known.h - QEMU 7.2, whose plugin interface shows no registers: found in the processor's memory and tried out. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_KNOWN_H
#define COLLECT_KNOWN_H

#include "collect/machine.h"

/* Finds the functions; makes QEMU write the registers back before it calls a plugin. Returns whether all is there. */
bool known_setup(void);

/* Finds the registers of the calling thread's processor. */
bool known_open(struct machine *machine);

uint64_t known_flags(const struct machine *machine);
void known_vector(const struct machine *machine, unsigned number, uint8_t bytes[MACHINE_VECTOR]);
void known_system(const struct machine *machine, struct tw_xtrace_snapshot *snapshot);
void known_before_tpidr(const struct machine *machine);
void known_after_tpidr(const struct machine *machine, uint64_t value);

#endif
