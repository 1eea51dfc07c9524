/* qemu72.h - QEMU 7.2, whose plugin interface shows no registers: found in the processor's memory and tried out. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_QEMU_QEMU72_H
#define COLLECT_QEMU_QEMU72_H

#include "collect/machine.h"

/* Finds the functions; makes QEMU write the registers back before it calls a plugin. Returns whether all is there. */
bool qemu72_setup(void);

/* Where the processor of the calling thread is kept, by QEMU for programs and by the one for machines. */
void **qemu72_processor(void);

/* Finds the registers of the calling thread's processor. */
bool qemu72_open(struct guest *machine);

/* Bytes of a processor that are known to be there. */
enum { QEMU72_WHOLE = 0xe000 };

/* The environment, as QEMU calls it, in a processor. */
void *qemu72_environment(const struct guest *machine);

/* Where the vectors are, from the processor's first byte. */
size_t qemu72_vectors(void);

uint64_t qemu72_flags(const struct guest *machine);
void qemu72_vector(const struct guest *machine, unsigned number, uint8_t bytes[MACHINE_VECTOR]);
void qemu72_system(const struct guest *machine, struct tw_xtrace_snapshot *snapshot);
void qemu72_before_tpidr(const struct guest *machine);
void qemu72_after_tpidr(const struct guest *machine, uint64_t value);

#endif
