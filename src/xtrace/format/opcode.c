/* opcode.c - what an opcode of AArch64 may do.
 *
 * Source: Arm Architecture Reference Manual for A-profile (DDI 0487), C4.1, "A64 instruction set encoding". Bits are
 * named as there. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "xtrace/format/opcode.h"

#include "xtrace/layout.h"

#include <trackway/xtrace.h>

#include <stddef.h>

enum {
	WORD = 4,
	VECTOR_MOST = 1024, /* four vector registers of 2048 bits */
	ANY = UINT16_MAX    /* memory copies and sets */
};

static unsigned bits(uint32_t opcode, unsigned low, unsigned high)
{
	return (unsigned)tw_bits(opcode, low, high);
}

static bool bit(uint32_t opcode, unsigned i)
{
	return opcode >> i & 1;
}

/* A signed field, in units of `unit`. */
static int64_t offset(uint32_t opcode, unsigned low, unsigned high, unsigned unit)
{
	unsigned shift = 31 - high;
	return (int64_t)((int32_t)(opcode << shift) >> (shift + low)) * unit;
}

/* Accesses all of so many bytes, in one direction. */
static void access(struct xtrace_operation *to, bool loads, unsigned bytes)
{
	if (loads)
		to->load = (uint16_t)bytes;
	else
		to->store = (uint16_t)bytes;
	to->traits |= loads ? XTRACE_LOADS_ALL : XTRACE_STORES_ALL;
}

/* A compare-and-swap, or, if `always`, a swap: loads all bytes, and stores them if the comparison says so. */
static void swap(struct xtrace_operation *to, unsigned bytes, bool always)
{
	access(to, true, bytes);
	to->store = (uint16_t)bytes;
	to->traits |= always ? XTRACE_STORES_ALL : 0;
}

/* Accesses at most so many bytes. */
static void access_some(struct xtrace_operation *to, unsigned loads, unsigned stores)
{
	to->load = (uint16_t)loads;
	to->store = (uint16_t)stores;
	to->traits |= XTRACE_SCATTERED;
}

/* ---- Loads and stores. ---- */

/* "Load/store exclusive pair, exclusive register, ordered; compare and swap (pair)". */
static void exclusive(uint32_t opcode, struct xtrace_operation *to)
{
	bool o2 = bit(opcode, 23), loads = bit(opcode, 22), o1 = bit(opcode, 21);
	unsigned size = bits(opcode, 30, 31);
	if (o2) {
		if (o1)
			swap(to, 1u << size, false); /* CAS */
		else
			access(to, loads, 1u << size); /* LDAR, STLR */
		return;
	}
	if (o1 && size < 2) {
		swap(to, 8u << size, false); /* CASP */
		return;
	}
	access(to, loads, o1 ? 2u << size : 1u << size);
	to->traits |= loads ? XTRACE_LOAD_EXCLUSIVE : XTRACE_STORE_EXCLUSIVE;
	if (!loads)
		to->traits &= (uint16_t)~XTRACE_STORES_ALL;
}

/* "Advanced SIMD load/store multiple structures". */
static void structures(uint32_t opcode, struct xtrace_operation *to)
{
	static const uint8_t registers[16] = {[0] = 4, [2] = 4, [4] = 3, [6] = 3, [7] = 1, [8] = 2, [10] = 2};
	unsigned size = bit(opcode, 30) ? 16 : 8;
	access(to, bit(opcode, 22), registers[bits(opcode, 12, 15)] * size);
}

/* "Advanced SIMD load/store single structure". */
static void single_structure(uint32_t opcode, struct xtrace_operation *to)
{
	unsigned scale = bits(opcode, 14, 15), size = bits(opcode, 10, 11);
	unsigned count = (unsigned)(bit(opcode, 13) << 1 | bit(opcode, 21)) + 1;
	unsigned element = scale == 3 ? 1u << size : scale == 2 && (size & 1) ? 8 : 1u << scale;
	access(to, bit(opcode, 22), count * element);
}

/* "Load register (literal)". */
static void literal(uint32_t opcode, struct xtrace_operation *to)
{
	static const uint8_t sizes[2][4] = {{4, 8, 4, 0}, {4, 8, 16, 0}};
	unsigned size = sizes[bit(opcode, 26)][bits(opcode, 30, 31)];
	to->target = offset(opcode, 5, 23, WORD);
	to->traits |= XTRACE_RELATIVE;
	if (!size)
		return; /* a prefetch */
	access(to, true, size);
	to->traits |= XTRACE_LITERAL;
}

/* "Load/store no-allocate pair, register pair". */
static void pair(uint32_t opcode, struct xtrace_operation *to)
{
	static const uint8_t sizes[2][4] = {{4, 4, 8, 0}, {4, 8, 16, 0}};
	unsigned opc = bits(opcode, 30, 31);
	bool vector = bit(opcode, 26), loads = bit(opcode, 22);
	bool tagged = !vector && opc == 1 && !loads; /* STGP */
	access(to, loads, tagged ? 16 : 2u * sizes[vector][opc]);
}

/* "Atomic memory operations". */
static void atomic(uint32_t opcode, struct xtrace_operation *to)
{
	enum { LDAPR = 4, LD64B = 5, LS64_BYTES = 64 };
	unsigned size = bits(opcode, 30, 31), opc = bits(opcode, 12, 14);
	if (!bit(opcode, 15) || opc == 0)
		swap(to, 1u << size, true);
	else if (opc == LDAPR)
		access(to, true, 1u << size);
	else if (size == 3 && opc <= LD64B)
		access(to, opc == LD64B, LS64_BYTES);
}

/* "Load/store register": unscaled, immediate, unprivileged, register offset, unsigned immediate, authenticated. */
static void plain(uint32_t opcode, struct xtrace_operation *to)
{
	bool vector = bit(opcode, 26);
	unsigned size = bits(opcode, 30, 31), opc = bits(opcode, 22, 23), low = bits(opcode, 10, 11);
	bool beyond = !bit(opcode, 24) && bit(opcode, 21); /* not an immediate */
	if (beyond && low == 0 && !vector)
		atomic(opcode, to);
	else if (beyond && low != 2)
		access(to, true, 8); /* LDRAA, LDRAB */
	else if (vector)
		access(to, opc & 1, 1u << ((opc & 2) << 1 | size));
	else if (size != 3 || opc != 2) /* a prefetch */
		access(to, opc != 0, 1u << size);
}

/* "LDAPR/STLR (unscaled immediate), memory copy and memory set, memory tags" and 128-bit atomics. */
static void unscaled(uint32_t opcode, struct xtrace_operation *to)
{
	enum { TAGS = 0xd9, TAGS_MOST = 32, PAIR = 16 };
	unsigned low = bits(opcode, 10, 11), size = bits(opcode, 30, 31), opc = bits(opcode, 22, 23);
	if (low == 1 && !bit(opcode, 21))
		access_some(to, ANY, ANY); /* CPY, SET */
	else if (bits(opcode, 24, 31) == TAGS && bit(opcode, 21))
		access_some(to, PAIR, TAGS_MOST);
	else if (bit(opcode, 21))
		access_some(to, PAIR, PAIR);
	else if (low == 2 && bit(opcode, 26))
		access(to, opc & 1, 1u << ((opc & 2) << 1 | size));
	else if (low == 2)
		access_some(to, PAIR, PAIR); /* LDIAPP, STILP */
	else
		access(to, opc != 0, 1u << size);
}

static void load_store(uint32_t opcode, struct xtrace_operation *to)
{
	unsigned op0 = bits(opcode, 28, 29), vector = bit(opcode, 26), op2 = bits(opcode, 23, 24);
	if (op0 == 0 && !vector)
		exclusive(opcode, to);
	else if (op0 == 0 && op2 < 2)
		structures(opcode, to);
	else if (op0 == 0)
		single_structure(opcode, to);
	else if (op0 == 1 && op2 < 2)
		literal(opcode, to);
	else if (op0 == 1)
		unscaled(opcode, to);
	else if (op0 == 2)
		pair(opcode, to);
	else
		plain(opcode, to);
}

/* What the predicate of a scalable load or store lets through is not known. */
static void scalable(uint32_t opcode, struct xtrace_operation *to)
{
	bool stores = bits(opcode, 29, 31) == 7;
	access_some(to, stores ? 0 : VECTOR_MOST, stores ? VECTOR_MOST : 0);
}

/* ---- Branches and the system. ---- */

static void branch(enum xtrace_flow flow, int64_t target, struct xtrace_operation *to)
{
	to->flow = (uint8_t)flow;
	to->target = target;
	to->traits |= XTRACE_RELATIVE;
}

/* "Unconditional branch (register)". */
static void branch_to(uint32_t opcode, struct xtrace_operation *to)
{
	static const uint8_t flows[16] = {
	    [0] = XTRACE_JUMP_TO,          [1] = XTRACE_CALL_TO, [2] = XTRACE_RETURN,
	    [4] = XTRACE_EXCEPTION_RETURN, [8] = XTRACE_JUMP_TO, [9] = XTRACE_CALL_TO,
	};
	to->flow = flows[bits(opcode, 21, 24)];
}

static void exception(uint32_t opcode, struct xtrace_operation *to)
{
	enum { SVC = 1 };
	bool call = bits(opcode, 21, 23) == 0 && bits(opcode, 0, 4) == SVC;
	to->flow = call ? XTRACE_SYSTEM_CALL : XTRACE_EXCEPTION;
}

/* MRS and MSR of a register; of the system instructions only what has to do with caches. */
static void system(uint32_t opcode, struct xtrace_operation *to)
{
	enum { RNDR = 0x5920, RNDRRS = 0x5921, ZVA = 0x1ba1, GZVA = 0x1ba4, CACHES = 7 };
	bool moves = bit(opcode, 20), reads = bit(opcode, 21);
	unsigned name = bits(opcode, 5, 18), crn = bits(opcode, 12, 15), whole = bits(opcode, 5, 19);
	if (moves) {
		to->traits |= XTRACE_SYSTEM_REGISTER;
		to->traits |= whole == RNDR || whole == RNDRRS ? XTRACE_STATES_FLAGS : 0;
	} else if (bits(opcode, 19, 20) == 1 && crn == CACHES && !reads) {
		to->traits |= XTRACE_CACHE;
		if (name == ZVA || name == GZVA) {
			to->traits |= XTRACE_ZERO;
			to->store = XTRACE_ZERO_MOST;
		}
	}
}

/* ---- All of them. ---- */

static void conditional(uint32_t opcode, struct xtrace_operation *to)
{
	branch(XTRACE_BRANCH, offset(opcode, 5, 23, WORD), to);
}

static void test_bit(uint32_t opcode, struct xtrace_operation *to)
{
	branch(XTRACE_BRANCH, offset(opcode, 5, 18, WORD), to);
}

static void compare(uint32_t opcode, struct xtrace_operation *to)
{
	branch(XTRACE_BRANCH, offset(opcode, 5, 13, WORD), to);
}

static void jump(uint32_t opcode, struct xtrace_operation *to)
{
	branch(bit(opcode, 31) ? XTRACE_CALL : XTRACE_JUMP, offset(opcode, 0, 25, WORD), to);
}

static void address(uint32_t opcode, struct xtrace_operation *to)
{
	int64_t value = offset(opcode, 5, 23, WORD) + bits(opcode, 29, 30);
	bool page = bit(opcode, 31);
	to->target = page ? value * 4096 : value;
	to->traits |= XTRACE_RELATIVE | (page ? XTRACE_PAGE : 0);
}

static void undefined(uint32_t opcode, struct xtrace_operation *to)
{
	(void)opcode;
	to->flow = XTRACE_EXCEPTION;
}

static void selects(uint32_t opcode, struct xtrace_operation *to)
{
	(void)opcode;
	to->traits |= XTRACE_STATES_FLAGS;
}

static void matrix(uint32_t opcode, struct xtrace_operation *to)
{
	(void)opcode;
	access_some(to, VECTOR_MOST, VECTOR_MOST);
}

static const struct {
	uint32_t mask, value;
	void (*take)(uint32_t opcode, struct xtrace_operation *to);
} groups[] = {
    {0xfe000000, 0xe0000000, matrix},      /* SME memory */
    {0x9e000000, 0x84000000, scalable},    /* SVE memory */
    {0x0a000000, 0x08000000, load_store},  /* loads and stores */
    {0x7c000000, 0x14000000, jump},        /* B, BL */
    {0xfe000000, 0x54000000, conditional}, /* B.cond, BC.cond */
    {0x7e000000, 0x34000000, conditional}, /* CBZ, CBNZ */
    {0x7e000000, 0x36000000, test_bit},    /* TBZ, TBNZ */
    {0x7e000000, 0x74000000, compare},     /* CB */
    {0xfe000000, 0xd6000000, branch_to},   /* BR, BLR, RET, ERET */
    {0xff000000, 0xd4000000, exception},   /* SVC, HVC, SMC, BRK, HLT */
    {0xffc00000, 0xd5000000, system},      /* MSR, MRS, SYS */
    {0x1f000000, 0x10000000, address},     /* ADR, ADRP */
    {0x1fe00000, 0x1a800000, selects},     /* CSEL and its like */
    {0xff200c00, 0x1e200c00, selects},     /* FCSEL */
    {0xffff0000, 0x00000000, undefined},   /* UDF */
};

/* ---- The tokens that tell of it. ---- */

static const struct {
	uint16_t trait;
	uint8_t kind;
	bool needed;
} trait_tokens[] = {
    {XTRACE_STORE_EXCLUSIVE, TW_XTRACE_STXR, true},
    {XTRACE_SYSTEM_REGISTER, TW_XTRACE_MRS, true},
    {XTRACE_ZERO, TW_XTRACE_DC, true},
    {XTRACE_CACHE, TW_XTRACE_DC, false},
    {XTRACE_STATES_FLAGS, TW_XTRACE_MISC_FLAGS, false},
};

static uint16_t flow_tokens(enum xtrace_flow flow)
{
	switch (flow) {
	case XTRACE_JUMP_TO:
	case XTRACE_CALL_TO:
	case XTRACE_RETURN:
	case XTRACE_EXCEPTION_RETURN:
		return 1 << TW_XTRACE_TARGET_B;
	case XTRACE_SYSTEM_CALL:
		return 1 << TW_XTRACE_SVCARG;
	default:
		return 0;
	}
}

static void add_tokens(struct xtrace_operation *to)
{
	to->needs = flow_tokens(to->flow);
	to->may = 1 << TW_XTRACE_ALLGPR;
	to->may |= to->load ? 1 << TW_XTRACE_LOAD : 0;
	to->may |= to->store ? 1 << TW_XTRACE_STORE : 0;
	to->may |= to->load || to->store ? 1 << TW_XTRACE_TIME : 0;
	if (to->flow == XTRACE_SYSTEM_CALL)
		to->may |= 1 << TW_XTRACE_SYSCALL_VEC | 1 << TW_XTRACE_SVCRET;
	if (to->flow == XTRACE_EXCEPTION_RETURN)
		to->may |= 1 << TW_XTRACE_SVCRET;
	for (size_t i = 0; i < sizeof trait_tokens / sizeof *trait_tokens; i++) {
		uint16_t kind = to->traits & trait_tokens[i].trait ? (uint16_t)(1 << trait_tokens[i].kind) : 0;
		to->may |= kind;
		to->needs |= trait_tokens[i].needed ? kind : 0;
	}
	to->may |= to->needs;
	to->simple = !to->needs && !(to->traits & (XTRACE_LITERAL | XTRACE_LOAD_EXCLUSIVE | XTRACE_STATES_FLAGS));
}

void xtrace_operation(uint32_t opcode, struct xtrace_operation *operation)
{
	*operation = (struct xtrace_operation){.opcode = opcode};
	for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
		if ((opcode & groups[i].mask) == groups[i].value) {
			groups[i].take(opcode, operation);
			break;
		}
	}
	add_tokens(operation);
}
