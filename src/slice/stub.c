/* stub.c - what stands in for an instruction of a slice where something happens that it does not do: it counts the
 * executions, does what happens at this one, executes the instruction or leaves it out, and goes back. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "slice/stub.h"

#include "xtrace/format/opcode.h"

/* What an instruction would do if it still stood in its place; LDR gets constants from the literal, whose value is
 * *constant. Returns false where it cannot be moved. */
static bool move(struct a64_code *code, const struct slice_place *place, uint64_t literal, uint64_t *constant)
{
	struct xtrace_operation operation;
	xtrace_operation(place->opcode, &operation);
	uint64_t target = xtrace_target(&operation, place->pc);
	unsigned rn = place->opcode >> 5 & 0x1f;
	*constant = place->pc + A64_WORD;
	if (operation.flow == XTRACE_JUMP) {
		a64_b(code, target);
	} else if (operation.flow == XTRACE_CALL) {
		a64_ldr_literal(code, A64_LINK, literal);
		a64_b(code, target);
	} else if (operation.flow == XTRACE_CALL_TO) {
		a64_ldr_literal(code, A64_LINK, literal);
		a64_br(code, rn);
		return place->opcode >> 10 == 0xd63f0000 >> 10 && rn != A64_LINK; /* not BLRAA */
	} else if (operation.flow == XTRACE_BRANCH) {
		bool tests = (place->opcode & 0x7e000000) == 0x36000000; /* TBZ, TBNZ */
		uint32_t bits = tests ? 14 : 19;
		a64_put(code, (place->opcode & ~a64_field(UINT64_MAX, bits, 5)) | a64_field(2, bits, 5));
		a64_b(code, place->pc + A64_WORD);
		a64_b(code, target);
	} else if ((place->opcode & 0x1f000000) == 0x10000000) { /* ADR, ADRP */
		*constant = target;
		a64_ldr_literal(code, place->opcode & 0x1f, literal);
	} else {
		a64_put(code, place->opcode);
		return !(operation.traits & XTRACE_RELATIVE);
	}
	return true;
}

/* The register that an instruction which is left out sets: X0 for SVC, the status of an exclusive store, or Rt. */
static unsigned result_of(uint32_t opcode)
{
	if ((opcode & 0xffe0001f) == 0xd4000001)
		return 0;
	return (opcode & 0x3f000000) == 0x08000000 ? opcode >> 16 & 0x1f : opcode & 0x1f;
}

/* Restores the registers that the stub uses, but for X30. */
static void put_back(struct a64_code *code)
{
	a64_ldr(code, 25, A64_LINK, STUB_SAVED_25);
	a64_ldp(code, 26, 27, A64_LINK, STUB_SAVED_26);
	a64_ldp(code, 28, 29, A64_LINK, STUB_SAVED_28);
}

/* The beginning of a stub: saves X25 to X30 (X30 first, in TPIDR_EL0, to have a register), counts the execution, and
 * branches where it is not yet that of the next event; returns this branch. From here on X30 is the address of the
 * stub's words, X28 that of the event's record. */
static size_t put_head(struct a64_code *code, uint64_t area)
{
	a64_msr(code, A64_TPIDR_EL0, A64_LINK);
	a64_adr(code, A64_LINK, area);
	a64_stp(code, 28, 29, A64_LINK, STUB_SAVED_28);
	a64_stp(code, 26, 27, A64_LINK, STUB_SAVED_26);
	a64_str(code, 25, A64_LINK, STUB_SAVED_25);
	a64_mrs(code, 28, A64_TPIDR_EL0);
	a64_str(code, 28, A64_LINK, STUB_SAVED_LINK);
	a64_ldr(code, 28, A64_LINK, STUB_THREAD);
	a64_msr(code, A64_TPIDR_EL0, 28);
	a64_ldr(code, 28, A64_LINK, STUB_NEXT_RECORD);
	a64_ldr(code, 29, 28, STUB_RECORD_LEFT);
	a64_sub(code, 29, 29, 1);
	a64_str(code, 29, 28, STUB_RECORD_LEFT);
	return a64_cbnz(code, 29);
}

/* Writes the bytes that something else than the program did, and goes on to the next record. X27: the flags of this
 * one. */
static void put_writes(struct a64_code *code)
{
	a64_ldr(code, 29, 28, STUB_RECORD_COUNT);
	a64_ldr(code, 26, 28, STUB_RECORD_WRITES);
	size_t loop = code->count, done = a64_cbz(code, 29);
	a64_ldp_post(code, 27, 25, 26);
	a64_strb(code, 25, 27);
	a64_sub(code, 29, 29, 1);
	a64_b(code, code->address + A64_WORD * loop);
	a64_land(code, done);
	a64_ldr(code, 29, 28, STUB_RECORD_VALUE);
	a64_str(code, 29, A64_LINK, STUB_VALUE);
	a64_ldr(code, 27, 28, STUB_RECORD_FLAGS);
	a64_add(code, 28, 28, STUB_RECORD);
	a64_str(code, 28, A64_LINK, STUB_NEXT_RECORD);
}

/* DC ZVA as it was where the trace was made; it stands before the registers of the stub are put back. */
static void put_zeros(struct a64_code *code, const struct slice_place *place)
{
	static const unsigned saved[] = {[25] = STUB_SAVED_25, [26] = STUB_SAVED_26,     [27] = STUB_SAVED_26 + 8,
	                                 [28] = STUB_SAVED_28, [29] = STUB_SAVED_28 + 8, [30] = STUB_SAVED_LINK};
	unsigned base = place->opcode & 0x1f, shift = 0;
	while (1u << shift < place->zeros)
		shift++;
	if (base >= 25 && base <= A64_LINK)
		a64_ldr(code, 27, A64_LINK, saved[base]);
	else
		a64_mov(code, 27, base);
	a64_lsr(code, 27, 27, shift);
	a64_lsl(code, 27, 27, shift);
	a64_movz(code, 26, place->zeros / A64_WORD);
	a64_str_word_post(code, A64_ZERO, 27);
	a64_sub(code, 26, 26, 1);
	a64_cbnz_back(code, 26, code->count - 2);
}

static void exit_program(struct a64_code *code)
{
	enum { EXIT_GROUP = 94 };
	a64_hint(code);
	a64_movz(code, 8, EXIT_GROUP);
	a64_movz(code, 0, 0);
	a64_svc(code);
}

bool slice_put_stub(struct a64_code *code, const struct slice_place *place, uint64_t area, uint64_t *constant)
{
	unsigned result = result_of(place->opcode);
	size_t passes = put_head(code, area);
	put_writes(code);
	size_t marks = a64_tbnz(code, 27, STUB_MARKS);
	size_t stops = a64_tbnz(code, 27, STUB_STOPS), skips = a64_tbnz(code, 27, STUB_SKIPS);
	a64_land(code, passes);
	if (place->zeros)
		put_zeros(code, place);
	put_back(code);
	a64_ldr(code, A64_LINK, A64_LINK, STUB_SAVED_LINK);
	*constant = 0;
	bool movable = place->zeros || move(code, place, area + STUB_LITERAL, constant);
	a64_b(code, place->pc + A64_WORD);
	a64_land(code, skips);
	put_back(code);
	if (result < A64_LINK)
		a64_ldr(code, result, A64_LINK, STUB_VALUE);
	a64_ldr(code, A64_LINK, A64_LINK, result == A64_LINK ? STUB_VALUE : STUB_SAVED_LINK);
	a64_b(code, place->pc + A64_WORD);
	a64_land(code, stops);
	exit_program(code);
	a64_land(code, marks);
	a64_hint(code);
	put_back(code);
	a64_ldr(code, A64_LINK, A64_LINK, STUB_SAVED_LINK);
	a64_b(code, place->pc); /* where this stub begins again */
	return movable;
}
