/* registers.h - SVE's registers: by the plugin interface, or as QEMU 7.2 keeps them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_SCALABLE_REGISTERS_H
#define COLLECT_SCALABLE_REGISTERS_H

#include "collect/machine.h"
#include "collect/scalable/scalable.h"

enum { SCALABLE_FFR = 16 }; /* among predicates */

/* Room for the registers of a snapshot. */
struct scalable_room {
	uint8_t z[32 * SCALABLE_VECTOR], p[16 * SCALABLE_PREDICATE], ffr[SCALABLE_PREDICATE];
};

/* Before any thread runs: the processor has SVE. Returns whether QEMU has the functions. */
bool scalable_setup(void);

/* Finds the predicates, when the vectors are found. */
bool scalable_open(struct guest *machine);

/* Bytes of a vector, as they are now: MACHINE_VECTOR without SVE. */
unsigned scalable_length(const struct guest *machine);

/* The most that it can be on this processor. */
unsigned scalable_longest(const struct guest *machine);

/* The first bytes of Z0 to Z31; of P0 to P15 and FFR. */
void scalable_vector(const struct guest *machine, unsigned number, uint8_t *bytes, size_t size);
void scalable_predicate(const struct guest *machine, unsigned number, uint8_t *bytes, size_t size);

/* Adds vectors of so many bytes and predicates to a snapshot, which are in `room`; nothing without SVE. */
void scalable_snapshot(const struct guest *machine, unsigned length, struct tw_xtrace_snapshot *snapshot,
                       struct scalable_room *room);

#endif
