/* scalable.c - SVE's loads and stores: which memory the active elements access.
 *
 * Encodings are those of the Arm Architecture Reference Manual, "SVE encodings": "SVE Memory - 32-bit Gather and
 * Unsized Contiguous", "- Contiguous Load", "- 64-bit Gather", and the stores. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/scalable/scalable.h"

#include "base/bytes/bytes.h"

#include <string.h>

/* What tells the sizes. */
enum sizes {
	BY_TYPE,      /* dtype, bits 21 to 24 */
	BY_TYPE_HALF, /* dtypeh and dtypel, bits 23, 24, 13, 14 */
	BY_MEMORY,    /* msz, bits 23 and 24, the same in registers */
	BY_BOTH,      /* msz, and bits 21 and 22 for registers */
	TO_WORDS,     /* msz, and elements of 32 bits */
	TO_DOUBLES,   /* of 64 */
	BYTES
};

/* What tells the addresses. */
enum place {
	SCALAR,         /* Rn + Rm */
	IMMEDIATE,      /* Rn + imm4 vectors */
	ELEMENT,        /* Rn + imm6 elements */
	BLOCK,          /* Rn + imm4 blocks */
	WHOLE,          /* Rn + imm9 registers */
	OFFSETS,        /* Rn + Zm */
	OFFSETS_SIGNED, /* the same of 32 bits, with xs in bit 22 */
	OFFSETS_STORE,  /* the same, with xs in bit 14 */
	VECTOR,         /* Zn + Rm */
	VECTOR_ELEMENT, /* Zn + imm5 elements */
	PREFETCH
};

enum {
	STORES = 1,
	FIRST = 2,     /* LDFF1; */
	NONE = 4,      /* LDNF1 */
	FIRST_BIT = 8, /* LDFF1 by bit 13 */
	SEVERAL = 16,  /* registers, by bits 21 and 22 */
	SCALED = 32,   /* offsets */
	QUAD = 64,     /* LD1RQ; */
	OCTO = 128,    /* LD1RO */
	PREDICATES = 256
};

struct sve_encoding {
	uint32_t mask, value;
	uint8_t sizes, place;
	uint16_t traits;
};

/* The first that fits. */
static const struct sve_encoding rows[] = {
    /* 32-bit gather and unsized contiguous */
    {0xffc0e010, 0x85800000, BYTES, WHOLE, PREDICATES},                     /* LDR (predicate) */
    {0xffc0e000, 0x85804000, BYTES, WHOLE, 0},                              /* LDR (vector) */
    {0xffa08000, 0x84200000, TO_WORDS, PREFETCH, 0},                        /* PRF, 32-bit scaled offsets */
    {0xfe208000, 0x84000000, TO_WORDS, OFFSETS_SIGNED, FIRST_BIT},          /* 32-bit unscaled offsets */
    {0xfe208000, 0x84200000, TO_WORDS, OFFSETS_SIGNED, FIRST_BIT | SCALED}, /* 32-bit scaled offsets */
    {0xfe60c000, 0x84008000, TO_WORDS, VECTOR, 0},                          /* LDNT1, vector plus scalar */
    {0xfe608000, 0x84208000, TO_WORDS, VECTOR_ELEMENT, FIRST_BIT},          /* vector plus immediate */
    {0xfe408000, 0x84408000, BY_TYPE_HALF, ELEMENT, 0},                     /* LD1R */
    /* contiguous load */
    {0xfe60e000, 0xa4000000, BY_MEMORY, SCALAR, QUAD},       /* LD1RQ, scalar plus scalar */
    {0xfe60e000, 0xa4200000, BY_MEMORY, SCALAR, OCTO},       /* LD1RO */
    {0xfe70e000, 0xa4002000, BY_MEMORY, BLOCK, QUAD},        /* LD1RQ, scalar plus immediate */
    {0xfe70e000, 0xa4202000, BY_MEMORY, BLOCK, OCTO},        /* LD1RO */
    {0xfe00e000, 0xa4004000, BY_TYPE, SCALAR, 0},            /* LD1, scalar plus scalar */
    {0xfe00e000, 0xa4006000, BY_TYPE, SCALAR, FIRST},        /* LDFF1 */
    {0xfe10e000, 0xa400a000, BY_TYPE, IMMEDIATE, 0},         /* LD1, scalar plus immediate */
    {0xfe10e000, 0xa410a000, BY_TYPE, IMMEDIATE, NONE},      /* LDNF1 */
    {0xfe00e000, 0xa400c000, BY_MEMORY, SCALAR, SEVERAL},    /* LDNT1, LD2 to LD4 */
    {0xfe10e000, 0xa400e000, BY_MEMORY, IMMEDIATE, SEVERAL}, /* the same, scalar plus immediate */
    /* 64-bit gather */
    {0xffa08000, 0xc4200000, TO_DOUBLES, PREFETCH, 0},                        /* PRF, 32-bit unpacked offsets */
    {0xffe08000, 0xc4608000, TO_DOUBLES, PREFETCH, 0},                        /* PRF, 64-bit scaled offsets */
    {0xfe608000, 0xc4608000, TO_DOUBLES, OFFSETS, FIRST_BIT | SCALED},        /* 64-bit scaled offsets */
    {0xfe608000, 0xc4408000, TO_DOUBLES, OFFSETS, FIRST_BIT},                 /* 64-bit unscaled offsets */
    {0xfe608000, 0xc4208000, TO_DOUBLES, VECTOR_ELEMENT, FIRST_BIT},          /* vector plus immediate */
    {0xfe60a000, 0xc4008000, TO_DOUBLES, VECTOR, 0},                          /* LDNT1, vector plus scalar */
    {0xfe208000, 0xc4200000, TO_DOUBLES, OFFSETS_SIGNED, FIRST_BIT | SCALED}, /* 32-bit unpacked scaled offsets */
    {0xfe208000, 0xc4000000, TO_DOUBLES, OFFSETS_SIGNED, FIRST_BIT},          /* 32-bit unpacked unscaled offsets */
    /* stores */
    {0xffc0e010, 0xe5800000, BYTES, WHOLE, STORES | PREDICATES},          /* STR (predicate) */
    {0xffc0e000, 0xe5804000, BYTES, WHOLE, STORES},                       /* STR (vector) */
    {0xfe00e000, 0xe4004000, BY_BOTH, SCALAR, STORES},                    /* ST1, scalar plus scalar */
    {0xfe00e000, 0xe4006000, BY_MEMORY, SCALAR, STORES | SEVERAL},        /* STNT1, ST2 to ST4 */
    {0xfe60e000, 0xe4002000, TO_DOUBLES, VECTOR, STORES},                 /* STNT1, vector plus scalar */
    {0xfe60e000, 0xe4402000, TO_WORDS, VECTOR, STORES},                   /* the same of 32 bits */
    {0xfe60a000, 0xe4008000, TO_DOUBLES, OFFSETS_STORE, STORES},          /* 32-bit unpacked unscaled offsets */
    {0xfe60a000, 0xe4208000, TO_DOUBLES, OFFSETS_STORE, STORES | SCALED}, /* 32-bit unpacked scaled offsets */
    {0xfe60a000, 0xe4408000, TO_WORDS, OFFSETS_STORE, STORES},            /* 32-bit unscaled offsets */
    {0xfe60a000, 0xe4608000, TO_WORDS, OFFSETS_STORE, STORES | SCALED},   /* 32-bit scaled offsets */
    {0xfe60e000, 0xe400a000, TO_DOUBLES, OFFSETS, STORES},                /* 64-bit unscaled offsets */
    {0xfe60e000, 0xe420a000, TO_DOUBLES, OFFSETS, STORES | SCALED},       /* 64-bit scaled offsets */
    {0xfe60e000, 0xe440a000, TO_DOUBLES, VECTOR_ELEMENT, STORES},         /* vector plus immediate */
    {0xfe60e000, 0xe460a000, TO_WORDS, VECTOR_ELEMENT, STORES},           /* the same of 32 bits */
    {0xfe10e000, 0xe410e000, BY_MEMORY, IMMEDIATE, STORES | SEVERAL},     /* STNT1, ST2 to ST4 */
    {0xfe10e000, 0xe400e000, BY_BOTH, IMMEDIATE, STORES},                 /* ST1, scalar plus immediate */
};

static unsigned field(uint32_t word, unsigned low, unsigned high)
{
	return (unsigned)tw_bits(word, low, high);
}

static int16_t as_signed(unsigned value, unsigned bits)
{
	unsigned sign = 1u << (bits - 1);
	return (int16_t)((int)(value ^ sign) - (int)sign);
}

/* ---- Decoding. ---- */

/* "dtype" of contiguous loads and of LD1R. */
static void take_type(unsigned type, struct scalable *op)
{
	static const uint8_t memory[] = {0, 0, 0, 0, 2, 1, 1, 1, 1, 1, 2, 2, 0, 0, 0, 3};
	static const uint8_t element[] = {0, 1, 2, 3, 3, 1, 2, 3, 3, 2, 2, 3, 3, 2, 1, 3};
	op->memory = memory[type];
	op->element = element[type];
}

static void take_sizes(uint32_t word, enum sizes sizes, struct scalable *op)
{
	unsigned memory = field(word, 23, 24);
	op->memory = op->element = (uint8_t)memory;
	switch (sizes) {
	case BY_TYPE:
		take_type(field(word, 21, 24), op);
		return;
	case BY_TYPE_HALF:
		take_type(memory << 2 | field(word, 13, 14), op);
		return;
	case BY_MEMORY:
		return;
	case BY_BOTH:
		op->element = (uint8_t)field(word, 21, 22);
		return;
	case TO_WORDS:
		op->element = 2;
		return;
	case TO_DOUBLES:
		op->element = 3;
		return;
	case BYTES:
		op->memory = op->element = 0;
	}
}

static void take_offsets(uint32_t word, enum place place, bool scaled, struct scalable *op)
{
	unsigned sign = place == OFFSETS_STORE ? 14 : 22;
	op->address.has_offsets = true;
	op->address.is_word = place != OFFSETS;
	op->address.is_signed = op->address.is_word && field(word, sign, sign);
	op->address.shift = scaled ? op->memory : 0;
}

static void take_place(uint32_t word, const struct sve_encoding *row, struct scalable *op)
{
	op->address.has_base = row->place != VECTOR && row->place != VECTOR_ELEMENT;
	switch ((enum place)row->place) {
	case SCALAR:
		op->address.has_offset = true;
		op->address.shift = op->memory;
		return;
	case IMMEDIATE:
		op->by_vector = true;
		op->immediate = as_signed(field(word, 16, 19), 4);
		return;
	case ELEMENT:
		op->repeats = true;
		op->immediate = (int16_t)field(word, 16, 21);
		return;
	case BLOCK:
		op->by_vector = true;
		op->immediate = as_signed(field(word, 16, 19), 4);
		return;
	case WHOLE:
		op->is_whole = op->by_vector = true;
		op->immediate = as_signed(field(word, 16, 21) << 3 | field(word, 10, 12), 9);
		return;
	case VECTOR:
		op->address.has_offset = true;
		return;
	case VECTOR_ELEMENT:
		op->immediate = (int16_t)field(word, 16, 20);
		return;
	case OFFSETS:
	case OFFSETS_SIGNED:
	case OFFSETS_STORE:
		take_offsets(word, row->place, row->traits & SCALED, op);
		return;
	case PREFETCH:
		return;
	}
}

static enum scalable_faults faults_of(uint32_t word, unsigned traits)
{
	if (traits & FIRST || (traits & FIRST_BIT && field(word, 13, 13)))
		return SCALABLE_FAULTS_FIRST;
	return traits & NONE ? SCALABLE_FAULTS_NONE : SCALABLE_FAULTS_ALL;
}

static const struct sve_encoding *find(uint32_t word)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if ((word & rows[i].mask) == rows[i].value)
			return rows[i].place == PREFETCH ? NULL : &rows[i];
	return NULL;
}

bool scalable_decode(uint32_t word, struct scalable *op)
{
	const struct sve_encoding *row = find(word);
	if (!row)
		return false;
	*op = (struct scalable){
	    .registers = (uint8_t)(row->traits & SEVERAL ? field(word, 21, 22) + 1 : 1),
	    .block = row->traits & QUAD   ? 16
	             : row->traits & OCTO ? 32
	                                  : 0,
	    .faults = (uint8_t)faults_of(word, row->traits),
	    .is_store = row->traits & STORES,
	    .of_predicate = row->traits & PREDICATES,
	    .rt = (uint8_t)field(word, 0, 4),
	    .rn = (uint8_t)field(word, 5, 9),
	    .rm = (uint8_t)field(word, 16, 20),
	    .pg = (uint8_t)field(word, 10, 12),
	};
	take_sizes(word, row->sizes, op);
	take_place(word, row, op);
	return op->memory <= op->element;
}

/* ---- Addresses. ---- */

static bool bit_of(const uint8_t *predicate, size_t at)
{
	return predicate[at / 8] >> at % 8 & 1;
}

/* Bytes that are accessed when all elements are active. */
static unsigned extent(const struct scalable *op, unsigned length)
{
	if (op->is_whole)
		return op->of_predicate ? length / 8 : length;
	return op->block ? op->block : (length >> op->element << op->memory) * op->registers;
}

/* Of one of the addresses or offsets in a vector. */
static uint64_t take_element(const struct scalable *op, const uint8_t *vector, size_t i)
{
	const uint8_t *from = vector + (i << op->element);
	uint64_t value = op->element == 3 && !op->address.is_word ? tw_load64(from, false) : tw_load32(from, false);
	return op->address.is_signed ? (uint64_t)(int64_t)(int32_t)value : value;
}

/* Where the element is, from the first address of all. */
static uint64_t distance(const struct scalable *op, const struct scalable_registers *registers, size_t i)
{
	if (op->address.has_offsets)
		return take_element(op, registers->vector, i) << op->address.shift;
	if (!op->address.has_base)
		return take_element(op, registers->vector, i);
	return op->repeats ? 0 : i * op->registers << op->memory;
}

static uint64_t first_address(const struct scalable *op, const struct scalable_registers *registers)
{
	uint64_t unit = op->by_vector ? extent(op, registers->length) : 1u << op->memory;
	uint64_t start = (uint64_t)(int64_t)op->immediate * unit;
	start += op->address.has_base ? registers->base : 0;
	return start + (op->address.has_offset ? registers->offset << op->address.shift : 0);
}

static bool is_left_out(const struct scalable *op, const struct scalable_registers *registers, size_t at, bool is_first)
{
	if (op->faults == SCALABLE_FAULTS_ALL || (op->faults == SCALABLE_FAULTS_FIRST && is_first))
		return false;
	return !bit_of(registers->faults, at);
}

/* Tags are no part of an address: those of a kernel have ones on top. */
static uint64_t without_tag(uint64_t address)
{
	enum { KERNEL = 55 };
	uint64_t rest = tw_bits(address, 0, KERNEL);
	return tw_bits(address, KERNEL, KERNEL) ? rest | ~UINT64_C(0) << KERNEL : rest;
}

size_t scalable_accesses(const struct scalable *op, const struct scalable_registers *registers,
                         struct scalable_access accesses[SCALABLE_MOST])
{
	uint64_t start = first_address(op, registers);
	unsigned size = op->block ? op->block : registers->length;
	size_t count = 0;
	if (op->is_whole) {
		*accesses = (struct scalable_access){without_tag(start), (uint16_t)extent(op, size), 0, 0};
		return 1;
	}
	for (size_t i = 0; size <= registers->length && i < size >> op->element; i++) {
		size_t at = i << op->element;
		if (!bit_of(registers->predicate, at) || is_left_out(op, registers, at, count == 0))
			continue;
		uint64_t address = start + distance(op, registers, i);
		for (unsigned number = 0; number < op->registers; number++)
			accesses[count++] = (struct scalable_access){
			    .address = without_tag(address + ((uint64_t)number << op->memory)),
			    .size = (uint16_t)(1u << op->memory),
			    .number = (uint8_t)number,
			    .at = (uint8_t)at,
			};
		if (op->repeats)
			break;
	}
	return count;
}
