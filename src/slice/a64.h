/* a64.h - AArch64 instructions put one behind the other: what a slice's stubs and loader are made of.
 *
 * A function puts the instruction that its name is. Registers are numbers, 0 to 30; 31 is SP where an instruction has a
 * base or adds, and XZR elsewhere. The order of the bits is Arm's (DDI 0487), C6.2. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SLICE_A64_H
#define SLICE_A64_H

#include <stddef.h>
#include <stdint.h>

enum {
	A64_WORD = 4,
	A64_MOST = 128, /* instructions that there is room for */
	A64_LINK = 30,
	A64_SP = 31,
	A64_ZERO = 31
};

struct a64_code {
	uint64_t address; /* of words[0] */
	uint32_t words[A64_MOST];
	size_t count;
};

/* System registers as MSR and MRS have them, bits 5 to 20. */
enum a64_register { A64_NZCV = 0x1b4200, A64_FPCR = 0x1b4400, A64_FPSR = 0x1b4420, A64_TPIDR_EL0 = 0x1bd040 };

static inline void a64_put(struct a64_code *code, uint32_t word)
{
	code->words[code->count++] = word;
}

/* Where the next instruction comes to stand. */
static inline uint64_t a64_here(const struct a64_code *code)
{
	return code->address + A64_WORD * code->count;
}

/* The low bits of a value, moved to bit `at` of an instruction. */
static inline uint32_t a64_field(uint64_t value, unsigned bits, unsigned at)
{
	return (uint32_t)(value & ((UINT64_C(1) << bits) - 1)) << at;
}

/* ---- Loads and stores of 8 bytes: to or from [base, #offset]. ---- */

static inline void a64_ldr(struct a64_code *code, unsigned to, unsigned base, unsigned offset)
{
	a64_put(code, 0xf9400000 | a64_field(offset / 8, 12, 10) | base << 5 | to);
}

static inline void a64_str(struct a64_code *code, unsigned from, unsigned base, unsigned offset)
{
	a64_put(code, 0xf9000000 | a64_field(offset / 8, 12, 10) | base << 5 | from);
}

static inline void a64_ldp(struct a64_code *code, unsigned first, unsigned second, unsigned base, unsigned offset)
{
	a64_put(code, 0xa9400000 | a64_field(offset / 8, 7, 15) | second << 10 | base << 5 | first);
}

static inline void a64_stp(struct a64_code *code, unsigned first, unsigned second, unsigned base, unsigned offset)
{
	a64_put(code, 0xa9000000 | a64_field(offset / 8, 7, 15) | second << 10 | base << 5 | first);
}

/* LDP first, second, [base], #16. */
static inline void a64_ldp_post(struct a64_code *code, unsigned first, unsigned second, unsigned base)
{
	a64_put(code, 0xa8c00000 | a64_field(2, 7, 15) | second << 10 | base << 5 | first);
}

static inline void a64_ldr_literal(struct a64_code *code, unsigned to, uint64_t address)
{
	a64_put(code, 0x58000000 | a64_field((address - a64_here(code)) / A64_WORD, 19, 5) | to);
}

/* ---- Others. ---- */

/* STRB W from, [base]. */
static inline void a64_strb(struct a64_code *code, unsigned from, unsigned base)
{
	a64_put(code, 0x39000000 | base << 5 | from);
}

/* STR W from, [base], #4. */
static inline void a64_str_word_post(struct a64_code *code, unsigned from, unsigned base)
{
	a64_put(code, 0xb8000400 | A64_WORD << 12 | base << 5 | from);
}

/* LDR Q to, [base, #offset]: 16 bytes. */
static inline void a64_ldr_vector(struct a64_code *code, unsigned to, unsigned base, unsigned offset)
{
	a64_put(code, 0x3dc00000 | a64_field(offset / 16, 12, 10) | base << 5 | to);
}

static inline void a64_adr(struct a64_code *code, unsigned to, uint64_t address)
{
	uint64_t offset = address - a64_here(code);
	a64_put(code, 0x10000000 | a64_field(offset, 2, 29) | a64_field(offset >> 2, 19, 5) | to);
}

static inline void a64_mov(struct a64_code *code, unsigned to, unsigned from)
{
	a64_put(code, 0xaa0003e0 | from << 16 | to);
}

static inline void a64_movz(struct a64_code *code, unsigned to, unsigned number)
{
	a64_put(code, 0xd2800000 | a64_field(number, 16, 5) | to);
}

/* MOVN to, #number: its bits turned round. */
static inline void a64_movn(struct a64_code *code, unsigned to, unsigned number)
{
	a64_put(code, 0x92800000 | a64_field(number, 16, 5) | to);
}

static inline void a64_add(struct a64_code *code, unsigned to, unsigned from, unsigned number)
{
	a64_put(code, 0x91000000 | a64_field(number, 12, 10) | from << 5 | to);
}

static inline void a64_sub(struct a64_code *code, unsigned to, unsigned from, unsigned number)
{
	a64_put(code, 0xd1000000 | a64_field(number, 12, 10) | from << 5 | to);
}

static inline void a64_lsr(struct a64_code *code, unsigned to, unsigned from, unsigned shift)
{
	a64_put(code, 0xd340fc00 | shift << 16 | from << 5 | to);
}

/* shift: 1 to 63. */
static inline void a64_lsl(struct a64_code *code, unsigned to, unsigned from, unsigned shift)
{
	a64_put(code, 0xd3400000 | (64 - shift) << 16 | (63 - shift) << 10 | from << 5 | to);
}

static inline void a64_msr(struct a64_code *code, enum a64_register to, unsigned from)
{
	a64_put(code, 0xd5000000 | (uint32_t)to | from);
}

static inline void a64_mrs(struct a64_code *code, unsigned to, enum a64_register from)
{
	a64_put(code, 0xd5200000 | (uint32_t)from | to);
}

static inline void a64_svc(struct a64_code *code)
{
	a64_put(code, 0xd4000001);
}

/* HINT #9, by which collectors of traces begin and end. */
static inline void a64_hint(struct a64_code *code)
{
	a64_put(code, 0xd503213f);
}

/* DC CVAU and IC IVAU of the line at an address: what was written there is seen as code. */
static inline void a64_clean_code(struct a64_code *code, unsigned address)
{
	a64_put(code, 0xd50b7b20 | address);
	a64_put(code, 0xd50b7520 | address);
}

/* DSB ISH, ISB: until here that has been done. */
static inline void a64_synchronize(struct a64_code *code)
{
	a64_put(code, 0xd5033b9f);
	a64_put(code, 0xd5033fdf);
}

/* ---- Branches. ---- */

static inline void a64_b(struct a64_code *code, uint64_t to)
{
	a64_put(code, 0x14000000 | a64_field((to - a64_here(code)) / A64_WORD, 26, 0));
}

static inline void a64_br(struct a64_code *code, unsigned to)
{
	a64_put(code, 0xd61f0000 | to << 5);
}

/* CBNZ to words[to], which is there already. */
static inline void a64_cbnz_back(struct a64_code *code, unsigned from, size_t to)
{
	a64_put(code, 0xb5000000 | a64_field(to - code->count, 19, 5) | from);
}

/* These go forward to where a64_land() is called with what they return. */
static inline size_t a64_cbz(struct a64_code *code, unsigned from)
{
	a64_put(code, 0xb4000000 | from);
	return code->count - 1;
}

static inline size_t a64_cbnz(struct a64_code *code, unsigned from)
{
	a64_put(code, 0xb5000000 | from);
	return code->count - 1;
}

/* bit: 0 to 31. */
static inline size_t a64_tbnz(struct a64_code *code, unsigned from, unsigned bit)
{
	a64_put(code, 0x37000000 | bit << 19 | from);
	return code->count - 1;
}

/* The next instruction is the target of a branch forward. */
static inline void a64_land(struct a64_code *code, size_t branch)
{
	uint32_t bits = code->words[branch] >> 24 == 0x37 ? 14 : 19;
	code->words[branch] |= a64_field(code->count - branch, bits, 5);
}

#endif
