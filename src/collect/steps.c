/* steps.c - what instructions do: what is told of each, before it or when it is done. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/steps.h"

#include "base/bytes/bytes.h"
#include "collect/calls.h"
#include "collect/execs.h"
#include "collect/recording.h"
#include "collect/scalable/steps.h"
#include "collect/tokens.h"
#include "collect/windows/detail.h"

#include <string.h>

/* With register 0. */
static const uint32_t read_dczid = 0xd53b00e0, write_tpidr = 0xd51bd040;

struct collect_board *tokens_board;
_Atomic bool tokens_several;
bool tokens_follows;
static _Atomic unsigned zero_block = 64; /* bytes of DC ZVA: as DCZID_EL0 told when the guest read it */

/* ---- Accesses. ---- */

/* Loads and stores by register, each a token; others by as large powers of two as there are. */
void steps_put_accesses(struct guest_thread *thread, const struct insn *insn, bool is_load, const uint8_t *bytes)
{
	tokens_accesses(thread, is_load, thread->access.address, bytes, insn->op.total, insn->op.size);
	thread->access.size = 0;
}

/* The bytes of a register that is loaded or stored. */
static void copy_register(const struct guest_thread *thread, const struct opcode *op, unsigned i, uint8_t *to)
{
	unsigned number = i ? op->rt2 : op->rt;
	uint8_t bytes[MACHINE_VECTOR];
	if (op->is_vector)
		machine_vector(&thread->machine, number, bytes);
	else
		tw_store64(bytes, tokens_operand(thread, number), false);
	memcpy(to, bytes, op->size);
}

/* With several threads the registers are right where memory may have changed. What is loaded to register 31 cannot be
 * known. */
void steps_take_registers(struct guest_thread *thread, const struct opcode *op)
{
	if (op->is_structure)
		return;
	for (unsigned i = 0; i < op->count; i++)
		if (!op->is_load || op->is_vector || (i ? op->rt2 : op->rt) != ZERO_REGISTER)
			copy_register(thread, op, i, thread->access.value + (size_t)i * op->size);
}

static void after_load(struct guest_thread *thread, const struct insn *insn)
{
	if (!thread->is_interrupted || !insn->op.is_vector)
		steps_take_registers(thread, &insn->op);
	steps_put_accesses(thread, insn, true, thread->access.value);
	tokens_order(thread);
}

static void after_exclusive(struct guest_thread *thread, const struct insn *insn)
{
	uint64_t status = tokens_operand(thread, insn->op.rs);
	thread->access.address = tokens_base(thread, insn->op.rn);
	steps_take_registers(thread, &insn->op);
	if (status == 0) {
		steps_put_accesses(thread, insn, false, thread->access.value);
		tokens_order(thread);
	}
	tokens_value(thread, TW_XTRACE_STXR, status);
}

static void after_atomic(struct guest_thread *thread, const struct insn *insn)
{
	uint8_t bytes[8];
	uint64_t old =
	    insn->op.rt == ZERO_REGISTER ? tw_load64(thread->access.old, false) : tokens_operand(thread, insn->op.rt);
	tw_store64(bytes, old, false);
	steps_put_accesses(thread, insn, true, bytes);
	tw_store64(bytes, opcode_atomic(&insn->op, old, thread->access.operands[0]), false);
	steps_put_accesses(thread, insn, false, bytes);
	tokens_order(thread);
}

/* Operands: one or two that are expected, one or two to be stored. */
static void after_compare(struct guest_thread *thread, const struct insn *insn)
{
	uint8_t expected[16], wanted[16], old[16];
	const struct opcode *op = &insn->op;
	for (unsigned i = 0; i < op->count; i++) {
		uint8_t word[8];
		tw_store64(word, thread->access.operands[i], false);
		memcpy(expected + (size_t)i * op->size, word, op->size);
		tw_store64(word, thread->access.operands[2 + i], false);
		memcpy(wanted + (size_t)i * op->size, word, op->size);
		tw_store64(word, tokens_operand(thread, op->rs + i), false);
		memcpy(old + (size_t)i * op->size, op->rs + i == ZERO_REGISTER ? thread->access.old : word, op->size);
	}
	steps_put_accesses(thread, insn, true, old);
	if (memcmp(old, expected, op->total) == 0)
		steps_put_accesses(thread, insn, false, wanted);
	tokens_order(thread);
}

static void after_zero(struct guest_thread *thread, const struct insn *insn)
{
	static const uint8_t zeros[2048];
	unsigned size = atomic_load(&zero_block);
	uint64_t value = tokens_operand(thread, insn->op.rt);
	tokens_value(thread, TW_XTRACE_DC, value);
	tokens_access(thread, false, tw_bits(value, 0, 55) & ~(uint64_t)(size - 1), zeros, size);
	tokens_order(thread);
}

static void after_read(struct guest_thread *thread, const struct insn *insn)
{
	uint64_t value = tokens_operand(thread, insn->op.rt);
	const uint8_t *opcode = thread->block->tokens + block_offset(insn->index + 1u) - 4;
	if ((tw_load32(opcode, false) & ~0x1fu) == read_dczid && tw_bits(value, 0, 3) <= 9)
		atomic_store(&zero_block, 4u << tw_bits(value, 0, 3));
	tokens_value(thread, TW_XTRACE_MRS, value);
	if (insn->op.kind == OP_RANDOM)
		tokens_value(thread, TW_XTRACE_MISC_FLAGS, machine_flags(&thread->machine));
}

static bool ends(uint64_t call)
{
	return call == CALL_EXIT || call == CALL_EXIT_GROUP;
}

static void release_calls(struct guest_thread *thread)
{
	if (thread->part.plan.wants)
		detail_release();
	thread->part.plan.wants = false;
}

static void close_thread(struct guest_thread *thread)
{
	stream_close(&thread->stream, tokens_board);
	release_calls(thread);
}

/* What must be known later, be it recorded or not. */
void steps_notice(struct guest_thread *thread, const struct insn *insn)
{
	const uint8_t *opcode = thread->block->tokens + block_offset(insn->index + 1u) - 4;
	if (insn->op.kind == OP_SVC) {
		execs_end(thread->exec);
		thread->exec = execs_begin(&thread->machine, tokens_board);
	}
	if (insn->op.kind == OP_SVC && calls_notice(&thread->machine))
		atomic_store(&tokens_several, true);
	if (insn->op.kind == OP_SVC && !thread->recording && ends(tokens_operand(thread, 8)))
		close_thread(thread);
	if (insn->op.kind != OP_MSR || (tw_load32(opcode, false) & ~0x1fu) != write_tpidr || tokens_has_several())
		return;
	machine_before_tpidr(&thread->machine);
	thread->tpidr = tokens_operand(thread, insn->op.rt);
	thread->pending |= AFTER_TPIDR;
}

static void before_write(struct guest_thread *thread, const struct insn *insn)
{
	tokens_value(thread, TW_XTRACE_MRS, tokens_operand(thread, insn->op.rt));
}

static void before_select(struct guest_thread *thread, const struct insn *insn)
{
	(void)insn;
	tokens_value(thread, TW_XTRACE_MISC_FLAGS, machine_flags(&thread->machine));
}

static void before_atomic(struct guest_thread *thread, const struct insn *insn)
{
	const struct opcode *op = &insn->op;
	bool is_compare = op->kind == OP_CAS;
	thread->access.address = tokens_base(thread, op->rn);
	for (unsigned i = 0; i < 2; i++) {
		thread->access.operands[i] = tokens_operand(thread, (op->rs + i) & 31u);
		thread->access.operands[2 + i] = tokens_operand(thread, (op->rt + i) & 31u);
	}
	if ((is_compare ? op->rs : op->rt) == ZERO_REGISTER &&
	    !machine_read(&thread->machine, thread->access.address, thread->access.old, op->total))
		memset(thread->access.old, 0, sizeof thread->access.old);
}

static void before_call(struct guest_thread *thread, const struct insn *insn)
{
	(void)insn;
	uint64_t number = tokens_operand(thread, 8);
	calls_enter(&thread->machine, &thread->stream, tokens_board);
	if (number == CALL_CLONE || number == CALL_CLONE3) /* what begins comes after this */
		tokens_value(thread, TW_XTRACE_TIME, tokens_take_order(thread));
	thread->block = NULL;
	thread->pending |= AFTER_CALL;
	if (ends(number))
		close_thread(thread);
}

/* HINT #9 begins and ends: neither is recorded. What is left of the block is. */
static void before_mark(struct guest_thread *thread, const struct insn *insn)
{
	enum { MOST = 100 }; /* beyond, to translate all again would take more time than to pass over it */
	if (thread->recording) {
		thread->recording = false;
		if (++thread->marks < MOST)
			release_calls(thread);
		return;
	}
	if (!thread->part.plan.wants)
		detail_want();
	thread->part.plan.wants = true;
	recording_begin(thread, tokens_board, tokens_are_ordered(thread));
	thread->cursor = (uint16_t)(insn->index + 1);
	thread->needs_pc = true;
	stream_snapshot(&thread->stream, tokens_board, &thread->machine);
}

/* For each kind, what it takes. `before` of a kind without `after` follows its INST at once. */
const struct kind_steps steps[] = {
    [OP_PLAIN] = {NULL, NULL, false},
    [OP_ACCESS] = {NULL, after_load, true},
    [OP_STXR] = {NULL, after_exclusive, false},
    [OP_ATOMIC] = {before_atomic, after_atomic, false},
    [OP_CAS] = {before_atomic, after_compare, false},
    [OP_SCALABLE] = {scalable_before, scalable_after, false},
    [OP_ZERO] = {NULL, after_zero, false},
    [OP_MRS] = {NULL, after_read, false},
    [OP_RANDOM] = {NULL, after_read, false},
    [OP_MSR] = {before_write, NULL, false},
    [OP_SELECT] = {before_select, NULL, false},
    [OP_SVC] = {before_call, NULL, false},
    [OP_MARK] = {before_mark, NULL, false},
    [OP_BRANCH_REGISTER] = {NULL, NULL, false},
    [OP_TRAP] = {NULL, NULL, false},
};
