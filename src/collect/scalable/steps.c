/* steps.c - what SVE's loads and stores do. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/scalable/steps.h"

#include "base/bytes/bytes.h"
#include "collect/scalable/registers.h"
#include "collect/tokens.h"

#include <string.h>

/* Accesses that lie one behind the other. */
struct run {
	uint64_t address;
	size_t size;
	uint8_t bytes[SCALABLE_MOST];
};

static uint32_t word_of(const struct guest_thread *thread, const struct insn *insn)
{
	return tw_load32(thread->block->tokens + block_offset(insn->index + 1u) - 4, false);
}

void scalable_before(struct guest_thread *thread, const struct insn *insn)
{
	struct scalable_state *state = &thread->scalable;
	const struct scalable *op = &state->op;
	state->length = scalable_length(&thread->machine);
	state->accesses = state->length <= SCALABLE_VECTOR && scalable_decode(word_of(thread, insn), &state->op);
	if (!state->accesses)
		return;
	state->base = op->has_base ? tokens_base(thread, op->rn) : 0;
	state->offset = op->has_offset ? tokens_operand(thread, op->rm) : 0;
	if (op->has_offsets || !op->has_base)
		scalable_vector(&thread->machine, op->has_offsets ? op->rm : op->rn, state->vector, state->length);
	if (!op->is_whole)
		scalable_predicate(&thread->machine, op->pg, state->predicate, state->length / 8);
}

/* In pieces of at most a vector of 128 bits, as others are told. */
static void put_run(struct guest_thread *thread, const struct run *run)
{
	if (run->size)
		tokens_accesses(thread, !thread->scalable.op.is_store, run->address, run->bytes, run->size,
		                MACHINE_VECTOR);
}

static void copy_value(const struct guest_thread *thread, const struct scalable_access *access, uint8_t *to)
{
	const struct scalable *op = &thread->scalable.op;
	uint8_t bytes[SCALABLE_VECTOR];
	size_t end = (size_t)access->at + access->size;
	if (op->of_predicate)
		scalable_predicate(&thread->machine, op->rt % 16u, bytes, end);
	else
		scalable_vector(&thread->machine, (op->rt + access->number) % 32u, bytes, end);
	memcpy(to, bytes + access->at, access->size);
}

void scalable_after(struct guest_thread *thread, const struct insn *insn)
{
	const struct scalable_state *state = &thread->scalable;
	uint8_t faults[SCALABLE_PREDICATE];
	struct scalable_access accesses[SCALABLE_MOST];
	struct run run = {.size = 0};
	(void)insn;
	if (!state->accesses)
		return;
	if (state->op.faults)
		scalable_predicate(&thread->machine, SCALABLE_FFR, faults, state->length / 8);
	const struct scalable_registers registers = {state->length, state->base,      state->offset,
	                                             state->vector, state->predicate, faults};
	size_t count = scalable_accesses(&state->op, &registers, accesses);
	for (size_t i = 0; i < count; i++) {
		const struct scalable_access *access = &accesses[i];
		if (run.address + run.size != access->address || run.size + access->size > sizeof run.bytes) {
			put_run(thread, &run);
			run = (struct run){.address = access->address};
		}
		copy_value(thread, access, run.bytes + run.size);
		run.size += access->size;
	}
	put_run(thread, &run);
	if (count)
		tokens_order(thread);
}
