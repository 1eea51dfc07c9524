/* tarmac.c - an xtrace as Tarmac, the text of Arm's models: a line for each instruction, access and register that is
 * told.
 *
 * Source: what Arm's Tarmac Trace Utilities read of Fast Models' output. Times are numbers of instructions. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "export/instructions/steps.h"
#include "export/targets.h"
#include "xtrace/format/disassemble.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEP = 8 /* bytes of an access in a line */ };

struct tarmac {
	struct tw_steps steps;
	struct xtrace_snapshots snapshots;
	bool has_snapshot;
	struct xtrace_disassembler *disassembler;
	struct tw_output *out;
	uint64_t held_index, held_pc; /* a conditional branch, which is not written yet: */
	const struct xtrace_operation *held;
	uint8_t held_level;
};

/* ---- Lines. ---- */

static void put_instruction(struct tarmac *tarmac, const char *kind, uint64_t index, uint64_t pc, uint32_t opcode,
                            unsigned level)
{
	char text[XTRACE_TEXT + 1];
	text[xtrace_disassemble(tarmac->disassembler, opcode, pc, text)] = '\0';
	tw_putf(tarmac->out, "%" PRIu64 " clk %s (%" PRIu64 ") %08" PRIx64 " %08" PRIx32 " O EL%u%c_n : %s\n", index,
	        kind, index, pc, opcode, level, level ? 'h' : 't', text);
}

/* At most eight bytes, as a number in words. */
static void put_access(struct tarmac *tarmac, uint64_t address, const uint8_t *bytes, size_t size)
{
	uint64_t index = tarmac->steps.index, value = 0;
	char kind = tarmac->steps.token.kind == TW_XTRACE_LOAD ? 'R' : 'W';
	for (size_t i = size; i-- > 0;)
		value = value << 8 | bytes[i];
	tw_putf(tarmac->out, "%" PRIu64 " clk M%c%zu %08" PRIx64 ":%012" PRIx64 " ", index, kind, size, address,
	        address);
	if (size > 4)
		tw_putf(tarmac->out, "%08" PRIx64 "_%08" PRIx64 "\n", value >> 32, value & UINT32_MAX);
	else
		tw_putf(tarmac->out, "%0*" PRIx64 "\n", (int)(2 * size), value);
}

static void put_accesses(struct tarmac *tarmac)
{
	const struct tw_xtrace_token *token = &tarmac->steps.token;
	for (size_t at = 0; at < token->payload_size; at += STEP) {
		size_t left = token->payload_size - at;
		put_access(tarmac, token->value + at, token->payload + at, left < STEP ? left : STEP);
	}
}

static void put_register(struct tarmac *tarmac, unsigned number, uint64_t value)
{
	enum { SP = 31 };
	char name[8] = "SP_EL0";
	if (number < SP)
		snprintf(name, sizeof name, "X%u", number);
	tw_putf(tarmac->out, "%" PRIu64 " clk R %s %016" PRIX64 "\n", tarmac->steps.index, name, value);
}

static void put_flags(struct tarmac *tarmac, uint64_t flags)
{
	tw_putf(tarmac->out, "%" PRIu64 " clk R cpsr %08" PRIx64 "\n", tarmac->steps.index, flags & 0xf0000000);
}

static void put_snapshot(struct tarmac *tarmac)
{
	const struct tw_xtrace_snapshot *snapshot = &tarmac->snapshots.last;
	size_t size = (size_t)(snapshot->vector_bits / 8);
	put_flags(tarmac, snapshot->nzcv);
	for (unsigned i = 0; i < TW_XTRACE_REGISTERS; i++)
		put_register(tarmac, i, snapshot->x[i]);
	for (unsigned i = 0; i < TW_XTRACE_REGISTERS; i++) {
		const uint8_t *z = snapshot->z + i * size;
		tw_putf(tarmac->out, "%" PRIu64 " clk R q%u %016" PRIx64 "%016" PRIx64 "\n", tarmac->steps.index, i,
		        tw_load64(z + 8, false), tw_load64(z, false));
	}
}

/* ---- Tokens. ---- */

static int pass_snapshots(struct tarmac *tarmac)
{
	const struct tw_steps *steps = &tarmac->steps;
	uint64_t at = steps->files.layout.counts_index ? steps->index : steps->cursor.offset;
	int status = 0;
	while (status >= 0 && tarmac->has_snapshot && tarmac->snapshots.last.index <= at) {
		if (tarmac->snapshots.last.index == at)
			put_snapshot(tarmac);
		status = xtrace_snapshots_next(&tarmac->snapshots);
		tarmac->has_snapshot = status > 0;
	}
	return status < 0 ? status : 0;
}

/* Writes the conditional branch that waited for the next instruction, which tells whether it was taken ("IT") or not
 * ("IS", an instruction whose condition failed). */
static void put_held(struct tarmac *tarmac)
{
	const struct tw_steps *steps = &tarmac->steps;
	if (!tarmac->held)
		return;
	bool taken = !steps->begins || !steps->follows || steps->pc == xtrace_target(tarmac->held, tarmac->held_pc);
	put_instruction(tarmac, taken ? "IT" : "IS", tarmac->held_index, tarmac->held_pc, tarmac->held->opcode,
	                tarmac->held_level);
	tarmac->held = NULL;
}

static int take_instruction(struct tarmac *tarmac, struct tw_rewrite_result *result)
{
	const struct tw_steps *steps = &tarmac->steps;
	int status = pass_snapshots(tarmac);
	result->records_in++;
	result->records_dropped += !steps->has_pc;
	result->records_out += steps->has_pc;
	if (!steps->has_pc || status < 0)
		return status;
	if (steps->operation->flow == XTRACE_BRANCH) {
		tarmac->held = steps->operation;
		tarmac->held_index = steps->index;
		tarmac->held_pc = steps->pc;
		tarmac->held_level = steps->token.level;
		return 0;
	}
	put_instruction(tarmac, "IT", steps->index, steps->pc, steps->token.opcode, steps->token.level);
	return 0;
}

/* Registers that tokens tell the new value of. */
static void take_registers(struct tarmac *tarmac)
{
	enum { READS = 0xd53, ZERO = 31 };
	const struct tw_xtrace_token *token = &tarmac->steps.token;
	uint32_t opcode = tarmac->steps.operation->opcode;
	unsigned target = (unsigned)tw_bits(opcode, 0, 4), status = (unsigned)tw_bits(opcode, 16, 20);
	if (token->kind == TW_XTRACE_ALLGPR)
		for (unsigned i = 0; i < TW_XTRACE_REGISTERS; i++)
			put_register(tarmac, i, tw_xtrace_word(token->payload, i));
	if (token->kind == TW_XTRACE_MRS && opcode >> 20 == READS && target != ZERO)
		put_register(tarmac, target, token->value);
	if (token->kind == TW_XTRACE_STXR && status != ZERO)
		put_register(tarmac, status, token->value);
}

static int take(struct tarmac *tarmac, struct tw_rewrite_result *result)
{
	const struct tw_steps *steps = &tarmac->steps;
	unsigned kind = steps->token.kind;
	if (steps->begins || kind == TW_XTRACE_UNKNOWN)
		put_held(tarmac);
	if (steps->begins)
		return take_instruction(tarmac, result);
	if (!steps->has_pc)
		return 0;
	if (kind == TW_XTRACE_LOAD || kind == TW_XTRACE_STORE)
		put_accesses(tarmac);
	else
		take_registers(tarmac);
	return 0;
}

/* ---- The target. ---- */

static int open_tarmac(struct tarmac *tarmac, struct tw_reader *reader, struct tw_output *out)
{
	tarmac->out = out;
	tarmac->disassembler = xtrace_disassembler_new();
	if (!tarmac->disassembler)
		return tw_fail_memory(reader);
	int status = tw_steps_open(&tarmac->steps, reader);
	if (status < 0)
		return status;
	xtrace_snapshots_init(&tarmac->snapshots, &tarmac->steps.files);
	status = xtrace_snapshots_next(&tarmac->snapshots);
	tarmac->has_snapshot = status > 0;
	return status < 0 ? status : 0;
}

static int transcode(struct tw_reader *reader, struct tw_output *out, struct tw_rewrite_result *result)
{
	struct tarmac *tarmac = calloc(1, sizeof *tarmac);
	if (!tarmac)
		return tw_fail_memory(reader);
	int status = open_tarmac(tarmac, reader, out);
	while (status >= 0 && (status = tw_steps_next(&tarmac->steps)) > 0)
		status = take(tarmac, result);
	put_held(tarmac);
	result->lost_bytes = tarmac->steps.cursor.lost_bytes;
	tw_steps_close(&tarmac->steps);
	xtrace_disassembler_free(tarmac->disassembler);
	free(tarmac);
	return status;
}

static const char *const extensions[] = {".tarmac", NULL};

const struct tw_target tw_target_tarmac = {
    .name = "tarmac",
    .extensions = extensions,
    .source = "xtrace",
    .transcode = transcode,
};
