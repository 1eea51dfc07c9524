/* opcode.c - what the collector must know of an instruction, by a table of encodings. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/opcode.h"

#include "base/bytes.h"

static unsigned field(uint32_t word, unsigned low, unsigned high)
{
	return (unsigned)tw_bits(word, low, high);
}

static void set_size(struct opcode *op, unsigned size, unsigned count)
{
	op->size = (uint8_t)size;
	op->count = (uint8_t)count;
	op->total = (uint8_t)(size * count);
}

/* ---- How the registers and sizes of a group are encoded. ---- */

/* LDXR, LDXP, LDAR, STLR; STXR, STXP. */
static void take_exclusive(uint32_t word, struct opcode *op)
{
	op->is_load = field(word, 22, 22);
	bool pair = field(word, 21, 21) && !field(word, 23, 23);
	set_size(op, 1u << field(word, 30, 31), pair ? 2 : 1);
}

static void take_compare_pair(uint32_t word, struct opcode *op)
{
	set_size(op, 4u << field(word, 30, 30), 2);
}

static void take_atomic(uint32_t word, struct opcode *op)
{
	set_size(op, 1u << field(word, 30, 31), 1);
	op->function = (uint8_t)field(word, 12, 15);
}

static void take_ordered(uint32_t word, struct opcode *op)
{
	set_size(op, 1u << field(word, 30, 31), 1);
	op->is_load = field(word, 22, 23) != 0;
}

static void take_authenticated(uint32_t word, struct opcode *op)
{
	(void)word;
	set_size(op, 8, 1);
	op->is_load = true;
}

static void take_literal(uint32_t word, struct opcode *op)
{
	unsigned opc = field(word, 30, 31);
	op->is_load = true;
	op->is_vector = field(word, 26, 26);
	set_size(op, op->is_vector ? 4u << opc : opc == 1 ? 8 : 4, 1);
}

static void take_pair(uint32_t word, struct opcode *op)
{
	unsigned opc = field(word, 30, 31);
	op->is_load = field(word, 22, 22);
	op->is_vector = field(word, 26, 26);
	/* opc 1 is LDPSW, or STGP, which stores two of eight */
	unsigned general = opc == 0 || (opc == 1 && op->is_load) ? 4 : 8;
	set_size(op, op->is_vector ? 4u << opc : general, 2);
}

static void take_single(uint32_t word, struct opcode *op)
{
	unsigned size = field(word, 30, 31), opc = field(word, 22, 23);
	op->is_vector = field(word, 26, 26);
	op->is_load = op->is_vector ? opc & 1 : opc != 0;
	set_size(op, 1u << (op->is_vector && opc & 2 ? 4 : size), 1);
}

static void take_structures(uint32_t word, struct opcode *op)
{
	static const uint8_t registers[16] = {[0] = 4, [2] = 4, [4] = 3, [6] = 3, [7] = 1, [8] = 2, [10] = 2};
	op->is_load = field(word, 22, 22);
	op->is_vector = op->is_structure = true;
	set_size(op, 16, 1);
	op->total = (uint8_t)(registers[field(word, 12, 15)] * (field(word, 30, 30) ? 16 : 8));
}

static void take_one_structure(uint32_t word, struct opcode *op)
{
	unsigned scale = field(word, 14, 15), size = field(word, 10, 11);
	unsigned elements = (field(word, 13, 13) << 1 | field(word, 21, 21)) + 1;
	if (scale == 3) /* to all lanes */
		scale = size;
	else if (scale == 2)
		scale += size & 1;
	op->is_load = field(word, 22, 22);
	op->is_vector = op->is_structure = true;
	set_size(op, 16, 1);
	op->total = (uint8_t)(elements << scale);
}

/* ---- The table: the first row that matches is taken. ---- */

struct row {
	uint32_t mask, value;
	enum op_kind kind;
	void (*take)(uint32_t word, struct opcode *op);
};

static const struct row system_rows[] = {
    {0xffffffff, 0xd503213f, OP_MARK, NULL},
    {0xffe0001f, 0xd4000001, OP_SVC, NULL},
    {0xffffffe0, 0xd50b7420, OP_ZERO, NULL},   /* DC ZVA */
    {0xffffffe0, 0xd50b7480, OP_ZERO, NULL},   /* DC GZVA */
    {0xffffffc0, 0xd53b2400, OP_RANDOM, NULL}, /* RNDR, RNDRRS */
    {0xfff00000, 0xd5300000, OP_MRS, NULL},
    {0xfff00000, 0xd5100000, OP_MSR, NULL},
    {0xfe000000, 0xd6000000, OP_BRANCH_REGISTER, NULL},
    {0xff000000, 0xd4000000, OP_TRAP, NULL}, /* BRK, HLT, HVC, SMC */
};

static const struct row access_rows[] = {
    {0xbfa07c00, 0x08207c00, OP_CAS, take_compare_pair},
    {0x3fa07c00, 0x08a07c00, OP_CAS, take_atomic},
    {0x3fc00000, 0x08000000, OP_STXR, take_exclusive},
    {0x3f000000, 0x08000000, OP_ACCESS, take_exclusive},
    {0x3ffffc00, 0x38bfc000, OP_ACCESS, take_ordered}, /* LDAPR */
    {0x3f200c00, 0x38200000, OP_ATOMIC, take_atomic},
    {0xff200400, 0xf8200400, OP_ACCESS, take_authenticated}, /* LDRAA, LDRAB */
    {0x3f200c00, 0x19000000, OP_ACCESS, take_ordered},       /* STLUR, LDAPUR */
    {0xff000000, 0xd8000000, OP_PLAIN, NULL},                /* PRFM */
    {0x3b000000, 0x18000000, OP_ACCESS, take_literal},
    {0x3a000000, 0x28000000, OP_ACCESS, take_pair},
    {0xfec00000, 0xf8800000, OP_PLAIN, NULL}, /* PRFM, PRFUM */
    {0x3a000000, 0x38000000, OP_ACCESS, take_single},
    {0xbf000000, 0x0c000000, OP_ACCESS, take_structures},
    {0xbf000000, 0x0d000000, OP_ACCESS, take_one_structure},
};

static const struct row other_rows[] = {
    {0x3fe00800, 0x1a800000, OP_SELECT, NULL}, /* CSEL, CSINC, CSINV, CSNEG */
    {0xff200c00, 0x1e200c00, OP_SELECT, NULL}, /* FCSEL */
    {0xffff0000, 0x00000000, OP_TRAP, NULL},   /* UDF */
};

static const struct row *find(const struct row *rows, unsigned count, uint32_t word)
{
	for (unsigned i = 0; i < count; i++)
		if ((word & rows[i].mask) == rows[i].value)
			return &rows[i];
	return NULL;
}

#define FIND(rows, word) find(rows, sizeof(rows) / sizeof *(rows), word)

/* Bits 25 to 28 tell the groups apart: branches and system 101x, memory x1x0. */
static const struct row *row_of(uint32_t word)
{
	if (field(word, 26, 28) == 5)
		return FIND(system_rows, word);
	if (field(word, 27, 27) && !field(word, 25, 25))
		return FIND(access_rows, word);
	return FIND(other_rows, word);
}

struct opcode opcode_of(uint32_t word)
{
	struct opcode op = {
	    .rt = (uint8_t)field(word, 0, 4),
	    .rn = (uint8_t)field(word, 5, 9),
	    .rt2 = (uint8_t)field(word, 10, 14),
	    .rs = (uint8_t)field(word, 16, 20),
	};
	const struct row *row = row_of(word);
	op.kind = (uint8_t)(row ? row->kind : OP_PLAIN);
	if (row && row->take)
		row->take(word, &op);
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
