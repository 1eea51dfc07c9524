/* state.c - a load or store of SVE that is executed: the registers before it, and its accesses when it is done. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/scalable/state.h"

#include "collect/scalable/registers.h"

#include <string.h>

enum { ZERO_REGISTER = 31, REGISTERS_MOST = 4 };

/* Accesses that lie one behind the other. */
struct joined_accesses {
	uint64_t address;
	size_t size;
	uint8_t bytes[SCALABLE_MOST];
};

bool scalable_keep(struct scalable_state *state, const struct guest *machine, uint32_t word)
{
	const struct scalable *op = &state->op;
	state->length = scalable_length(machine);
	state->accesses = state->length <= SCALABLE_VECTOR && scalable_decode(word, &state->op);
	if (!state->accesses)
		return false;
	bool has_offset = op->address.has_offset && op->rm != ZERO_REGISTER;
	state->base = op->address.has_base ? machine_register(machine, op->rn) : 0;
	state->offset = has_offset ? machine_register(machine, op->rm) : 0;
	if (op->address.has_offsets || !op->address.has_base)
		scalable_vector(machine, op->address.has_offsets ? op->rm : op->rn, state->vector, state->length);
	if (!op->is_whole)
		scalable_predicate(machine, op->pg, state->predicate, state->length / 8);
	return true;
}

static void read_values(const struct scalable_state *state, const struct guest *machine,
                        uint8_t values[REGISTERS_MOST][SCALABLE_VECTOR])
{
	const struct scalable *op = &state->op;
	if (op->of_predicate) {
		scalable_predicate(machine, op->rt % 16u, values[0], state->length / 8);
		return;
	}
	for (unsigned i = 0; i < op->registers; i++)
		scalable_vector(machine, (op->rt + i) % 32u, values[i], state->length);
}

bool scalable_give(const struct scalable_state *state, const struct guest *machine, scalable_taken take, void *context)
{
	uint8_t faults[SCALABLE_PREDICATE], values[REGISTERS_MOST][SCALABLE_VECTOR];
	struct scalable_access accesses[SCALABLE_MOST];
	struct joined_accesses joined = {.size = 0};
	if (!state->accesses)
		return false;
	if (state->op.faults)
		scalable_predicate(machine, SCALABLE_FFR, faults, state->length / 8);
	read_values(state, machine, values);
	const struct scalable_registers registers = {state->length, state->base,      state->offset,
	                                             state->vector, state->predicate, faults};
	size_t count = scalable_accesses(&state->op, &registers, accesses);
	for (size_t i = 0; i < count; i++) {
		const struct scalable_access *access = &accesses[i];
		if (joined.address + joined.size != access->address ||
		    joined.size + access->size > sizeof joined.bytes) {
			if (joined.size)
				take(context, joined.address, joined.bytes, joined.size);
			joined = (struct joined_accesses){.address = access->address};
		}
		memcpy(joined.bytes + joined.size, values[access->number] + access->at, access->size);
		joined.size += access->size;
	}
	if (joined.size)
		take(context, joined.address, joined.bytes, joined.size);
	return count != 0;
}
