/* steps.c - what SVE's loads and stores do. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/scalable/steps.h"

#include "base/bytes/bytes.h"
#include "collect/tokens.h"

void scalable_before(struct guest_thread *thread, const struct insn *insn)
{
	uint32_t word = tw_load32(thread->block->tokens + block_offset(insn->index + 1u) - 4, false);
	scalable_keep(&thread->scalable, &thread->machine, word);
}

/* In pieces of at most a vector of 128 bits, as others are told. */
static void put_run(void *context, uint64_t address, const uint8_t *bytes, size_t size)
{
	struct guest_thread *thread = context;
	tokens_accesses(thread, !thread->scalable.op.is_store, address, bytes, size, MACHINE_VECTOR);
}

void scalable_after(struct guest_thread *thread, const struct insn *insn)
{
	(void)insn;
	if (scalable_give(&thread->scalable, &thread->machine, put_run, thread))
		tokens_order(thread);
}
