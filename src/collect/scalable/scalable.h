/* scalable.h - SVE's loads and stores: which memory the active elements access. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_SCALABLE_H
#define COLLECT_SCALABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SCALABLE_VECTOR = 256,   /* bytes of the longest vector */
	SCALABLE_PREDICATE = 32, /* a bit for each byte of it */
	SCALABLE_MOST = 1024     /* accesses of an instruction: bytes of four vectors */
};

enum scalable_faults {
	SCALABLE_FAULTS_ALL,
	SCALABLE_FAULTS_FIRST, /* LDFF1: elements behind the first that is active may be left out */
	SCALABLE_FAULTS_NONE   /* LDNF1: any may */
};

/* An instruction. Sizes and shifts are powers of two. */
struct scalable {
	uint8_t memory, element; /* bytes of an element there, and in its register */
	uint8_t registers;       /* 1 to 4, an element of each after the other */
	uint8_t block;           /* not 0: LD1RQ, LD1RO: bytes that are loaded, and repeated */
	uint8_t faults;          /* enum scalable_faults */
	bool is_store;
	bool is_whole;     /* LDR, STR: no predicate; */
	bool of_predicate; /* of a predicate register */
	bool repeats;      /* LD1R: one element for all */
	struct {
		bool has_base;    /* rn is a general register; otherwise a vector of addresses */
		bool has_offset;  /* rm is a general register, */
		bool has_offsets; /* or a vector of offsets: */
		bool is_word;     /* of the low 32 bits of each, */
		bool is_signed;   /* with a sign */
		uint8_t shift;    /* of offset or offsets */
	} address;
	uint8_t rt, rn, rm, pg;
	int16_t immediate; /* in units of what is accessed in all, or of an element */
	bool by_vector;    /* of what is accessed in all */
};

/* Registers as they were before; those that the instruction has not are not read. */
struct scalable_registers {
	unsigned length;          /* of a vector in bytes: 16, 32, ... 256 */
	uint64_t base, offset;    /* rn, rm as general registers */
	const uint8_t *vector;    /* rn or rm as a vector */
	const uint8_t *predicate; /* pg */
	const uint8_t *faults;    /* FFR as it is afterwards */
};

struct scalable_access {
	uint64_t address;
	uint16_t size;
	uint8_t number; /* of its register, from rt */
	uint8_t at;     /* byte of it */
};

/* Decodes an instruction. Returns whether it is one of SVE that accesses memory: prefetches do not. */
bool scalable_decode(uint32_t word, struct scalable *op);

/* The accesses of the active elements, in their order. Returns how many. */
size_t scalable_accesses(const struct scalable *op, const struct scalable_registers *registers,
                         struct scalable_access accesses[SCALABLE_MOST]);

#endif
