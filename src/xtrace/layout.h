/* layout.h - numbers that decoding and encoding of xtrace files share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XTRACE_LAYOUT_H
#define XTRACE_LAYOUT_H

#include "base/bytes/bytes.h"

enum {
	XTRACE_CLASS_INST = 1,
	XTRACE_CLASS_MEM = 2,
	XTRACE_VECTOR_SIZE = 16, /* a part of a SYSCALL_VEC: base, length */
	XTRACE_PCINST = 0x09,
	XTRACE_INST_BITS = 0x3f,
	XTRACE_ACCESS_MOST = 256, /* bytes of a vector register of 2048 bits; no other access of AArch64 has more */
	XTRACE_ZERO_MOST = 2048,  /* bytes that DC ZVA writes at most: DCZID_EL0 */
	XTRACE_MEM_BITS = 0x0f
};

/* The bits of a token byte that tell its kind: the class is in bits 0 to 2; INST has a parameter from bit 6 on, MEM
 * from bit 4 on. */
static inline uint8_t xtrace_fixed_bits(uint8_t byte)
{
	switch (tw_bits(byte, 0, 2)) {
	case XTRACE_CLASS_INST:
		return XTRACE_INST_BITS;
	case XTRACE_CLASS_MEM:
		return XTRACE_MEM_BITS;
	default:
		return 0xff;
	}
}

/* Whether a byte is one of two tokens of the class MISC that the document names, but does not describe. */
static inline bool xtrace_is_reserved(uint8_t byte)
{
	return byte == 0x04 || byte == 0x14;
}

/* Whether a token begins with a byte, one of those two as well; one of an access that is too large to be believed does
 * not. */
bool xtrace_is_token(uint8_t byte);

/* Addresses of user programs and of kernels have 8 bits alike on top: nothing is executed at others. */
static inline bool xtrace_is_canonical(uint64_t pc)
{
	return pc >> 56 == 0 || pc >> 56 == 0xff;
}

/* Whether what looks like an instruction, and is held with the byte behind it, is one by these alone: one without an
 * address has a token behind it, the address of another can be one, and none is zeros. cursor.c judges others. */
static inline bool xtrace_is_instruction(const uint8_t *bytes, size_t size)
{
	enum { PCINST_SIZE = 13 };
	bool sound =
	    size == PCINST_SIZE ? xtrace_is_canonical(tw_load64(bytes + 1, false)) : xtrace_is_token(bytes[size]);
	return sound && tw_load32(bytes + size - 4, false);
}

enum { XTRACE_START = 24 /* where tokens may begin instead of 0 */ };

static inline bool xtrace_is_pcinst(uint8_t byte)
{
	return (byte & XTRACE_INST_BITS) == XTRACE_PCINST;
}

#endif
