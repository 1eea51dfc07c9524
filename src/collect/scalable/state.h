/* state.h - a load or store of SVE that is executed: the registers before it, and its accesses when it is done. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_SCALABLE_STATE_H
#define COLLECT_SCALABLE_STATE_H

#include "collect/machine.h"
#include "collect/scalable/scalable.h"

/* An instruction before which registers were kept. */
struct scalable_state {
	struct scalable op;
	bool accesses;   /* memory; otherwise the rest is not set */
	unsigned length; /* as of scalable_registers */
	uint64_t base, offset;
	uint8_t vector[SCALABLE_VECTOR], predicate[SCALABLE_PREDICATE];
};

/* Keeps the registers that tell the addresses: the instruction may overwrite them. Returns whether it accesses any. */
bool scalable_keep(struct scalable_state *state, const struct guest *machine, uint32_t word);

/* Takes accesses that lie one behind the other. */
typedef void (*scalable_taken)(void *context, uint64_t address, const uint8_t *bytes, size_t size);

/* Tells the accesses. Values are those of the registers that were loaded or stored. Returns whether there were any. */
bool scalable_give(const struct scalable_state *state, const struct guest *machine, scalable_taken take, void *context);

#endif
