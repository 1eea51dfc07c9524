/* opcode.c - what the collector must know of an instruction, out of what it may do. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/opcode.h"

#include "base/bytes/bytes.h"
#include "xtrace/format/opcode.h"

enum { VECTOR = 16 };

static unsigned field(uint32_t word, unsigned low, unsigned high)
{
	return (unsigned)tw_bits(word, low, high);
}

/* ---- Kinds. ---- */

static enum op_kind kind_of_flow(enum xtrace_flow flow)
{
	switch (flow) {
	case XTRACE_JUMP_TO:
	case XTRACE_CALL_TO:
	case XTRACE_RETURN:
	case XTRACE_EXCEPTION_RETURN:
		return OP_BRANCH_REGISTER;
	case XTRACE_SYSTEM_CALL:
		return OP_SVC;
	case XTRACE_EXCEPTION:
		return OP_TRAP;
	case XTRACE_NEXT:
	case XTRACE_JUMP:
	case XTRACE_CALL:
	case XTRACE_BRANCH:
		break;
	}
	return OP_PLAIN;
}

/* CAS and CASP store only if a comparison says so, LDADD and SWP always; an exclusive store is told by its status. */
static enum op_kind kind_of_access(const struct xtrace_operation *operation)
{
	enum { MOST = 64 }; /* bytes of four vectors; what may access more is newer than what QEMU knows */
	unsigned total = operation->load > operation->store ? operation->load : operation->store;
	bool both = operation->load && operation->store;
	if (operation->traits & XTRACE_STORE_EXCLUSIVE)
		return OP_STXR;
	if ((operation->opcode & 0x9e000000) == 0x84000000)
		return OP_SCALABLE;
	if (!total || total > MOST || operation->traits & XTRACE_SCATTERED)
		return OP_PLAIN;
	if (both)
		return operation->traits & XTRACE_STORES_ALL ? OP_ATOMIC : OP_CAS;
	return OP_ACCESS;
}

static enum op_kind kind_of(const struct xtrace_operation *operation)
{
	static const uint32_t mark = 0xd503213f;
	bool states_flags = operation->traits & XTRACE_STATES_FLAGS;
	if (operation->opcode == mark)
		return OP_MARK;
	if (operation->traits & XTRACE_ZERO)
		return OP_ZERO;
	if (operation->traits & XTRACE_SYSTEM_REGISTER && !field(operation->opcode, 21, 21))
		return OP_MSR;
	if (operation->traits & XTRACE_SYSTEM_REGISTER)
		return states_flags ? OP_RANDOM : OP_MRS;
	if (states_flags)
		return OP_SELECT;
	return operation->flow == XTRACE_NEXT ? kind_of_access(operation) : kind_of_flow(operation->flow);
}

/* ---- Registers and sizes. ---- */

/* Bits 28 and 29 of loads and stores: 0 exclusive and structures, 1 literals, 2 pairs, 3 others. */
static void take_sizes(const struct xtrace_operation *operation, struct opcode *op)
{
	enum { PAIRS = 2 };
	uint32_t word = operation->opcode;
	unsigned group = field(word, 28, 29);
	bool compares = op->kind == OP_CAS, exclusive = group == 0 && !field(word, 26, 26);
	bool pair = group == PAIRS || (exclusive && field(word, 21, 21) && !field(word, 23, 23));
	op->is_load = operation->load && !operation->store;
	op->is_vector = field(word, 26, 26);
	op->is_structure = op->is_vector && group == 0;
	op->total = (uint8_t)(operation->load ? operation->load : operation->store);
	op->count = pair ? 2 : 1;
	op->size = op->is_structure ? VECTOR : op->total / op->count;
	op->function = (uint8_t)(compares || exclusive ? 0 : field(word, 12, 15));
}

struct opcode opcode_of(uint32_t word)
{
	struct opcode op = {
	    .rt = (uint8_t)field(word, 0, 4),
	    .rn = (uint8_t)field(word, 5, 9),
	    .rt2 = (uint8_t)field(word, 10, 14),
	    .rs = (uint8_t)field(word, 16, 20),
	};
	struct xtrace_operation operation;
	xtrace_operation(word, &operation);
	op.kind = (uint8_t)kind_of(&operation);
	if (op.kind == OP_ACCESS || op.kind == OP_STXR || op.kind == OP_ATOMIC || op.kind == OP_CAS)
		take_sizes(&operation, &op);
	if (op.size > VECTOR) /* no such instruction */
		op.kind = OP_PLAIN;
	if (op.kind == OP_CAS && op.count == 2 && (op.rs | op.rt) % 2) /* CASP: pairs begin with an even register */
		op.kind = OP_TRAP;
	return op;
}

bool opcode_stops(const struct opcode *op, bool marks)
{
	return op->kind == OP_MARK ? marks : op->kind != OP_PLAIN && op->kind != OP_BRANCH_REGISTER;
}

/* ---- LSE. ---- */

static int64_t as_signed(uint64_t value, unsigned size)
{
	unsigned shift = 64 - 8 * size;
	return (int64_t)(value << shift) >> shift;
}

static uint64_t as_unsigned(uint64_t value, unsigned size)
{
	return size == 8 ? value : value & ((1ull << 8 * size) - 1);
}

uint64_t opcode_atomic(const struct opcode *op, uint64_t old, uint64_t operand)
{
	enum { ADD, CLEAR, XOR, SET, SMAX, SMIN, UMAX, UMIN, SWAP };
	bool less = as_signed(old, op->size) < as_signed(operand, op->size);
	bool below = as_unsigned(old, op->size) < as_unsigned(operand, op->size);
	switch (op->function) {
	case ADD:
		return old + operand;
	case CLEAR:
		return old & ~operand;
	case XOR:
		return old ^ operand;
	case SET:
		return old | operand;
	case SMAX:
		return less ? operand : old;
	case SMIN:
		return less ? old : operand;
	case UMAX:
		return below ? operand : old;
	case UMIN:
		return below ? old : operand;
	case SWAP:
	default:
		return operand;
	}
}
