/* champsim.c - an xtrace as ChampSim's input: 64 bytes an instruction.
 *
 * ChampSim tells kinds of branches by the registers that they read and write: the instruction pointer, the stack
 * pointer and the flags have fixed numbers. Source: ChampSim, inc/trace_instruction.h and inc/instruction.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "export/instructions/operands.h"
#include "export/instructions/steps.h"
#include "export/targets.h"

#include <stdlib.h>

/* Numbers of registers; 0 is none. */
enum { STACK_POINTER = 6, FLAGS = 25, INSTRUCTION_POINTER = 26, GENERAL = 64, EXCEPTION_LINK = 95, VECTOR = 96 };

enum {
	DESTINATIONS = 2,
	SOURCES = 4,
	RECORD = 64,
	AT_BRANCH = 8,
	AT_REGISTERS = 10,
	AT_DESTINATION_MEMORY = 16,
	AT_SOURCE_MEMORY = 32,
	LINE = 64, /* bytes that are accessed as one */
	KEPT_BITS = 13,
	KEPT = 1 << KEPT_BITS
};

/* What an opcode reads and writes. */
struct registers {
	uint32_t opcode;
	bool known, more; /* more: it has more registers than there is room for */
	uint8_t written[DESTINATIONS], read[SOURCES];
};

/* Where the record has addresses of loads, or of stores, and where the last access ended. */
struct address_slots {
	unsigned at, count, most;
	uint64_t end;
};

struct champsim {
	struct tw_steps steps;
	struct registers kept[KEPT];
	uint8_t record[RECORD];
	bool open; /* the record holds an instruction that is not written yet: */
	bool more; /* it has more registers or addresses than there is room for */
	const struct xtrace_operation *operation;
	struct address_slots stores, loads;
};

/* ---- Registers. ---- */

static void add(uint8_t *numbers, unsigned most, unsigned number, bool *more)
{
	for (unsigned i = 0; i < most; i++) {
		if (numbers[i] == number)
			return;
		if (!numbers[i]) {
			numbers[i] = (uint8_t)number;
			return;
		}
	}
	*more = true;
}

static unsigned number_of(unsigned operand)
{
	switch (operand) {
	case TW_OPERAND_SP:
		return STACK_POINTER;
	case TW_OPERAND_FLAGS:
		return FLAGS;
	default:
		return operand < TW_OPERAND_VECTOR ? GENERAL + operand : VECTOR + operand - TW_OPERAND_VECTOR;
	}
}

static void take_plain(struct registers *to)
{
	struct tw_operands operands;
	tw_operands_of(to->opcode, &operands);
	for (unsigned i = 0; i < operands.read_count; i++)
		add(to->read, SOURCES, number_of(operands.read[i]), &to->more);
	for (unsigned i = 0; i < operands.written_count; i++)
		add(to->written, DESTINATIONS, number_of(operands.written[i]), &to->more);
}

/* The register that a branch depends on: bits 5 to 9 of BR, BLR and RET, 0 to 4 of CBZ and TBZ; the flags of B.cond. */
static unsigned condition(uint32_t opcode)
{
	enum { ZERO = 31 };
	bool by_flags = tw_bits(opcode, 25, 31) == 0x2a;
	unsigned number = (unsigned)tw_bits(opcode, 0, 4);
	return by_flags || number == ZERO ? FLAGS : GENERAL + number;
}

static void take_branch(const struct xtrace_operation *operation, struct registers *to)
{
	unsigned to_register = GENERAL + (unsigned)tw_bits(to->opcode, 5, 9);
	bool calls = operation->flow == XTRACE_CALL || operation->flow == XTRACE_CALL_TO;
	add(to->written, DESTINATIONS, INSTRUCTION_POINTER, &to->more);
	if (calls || operation->flow == XTRACE_BRANCH)
		add(to->read, SOURCES, INSTRUCTION_POINTER, &to->more);
	if (calls || operation->flow == XTRACE_RETURN) {
		add(to->read, SOURCES, STACK_POINTER, &to->more);
		add(to->written, DESTINATIONS, STACK_POINTER, &to->more);
	}
	if (operation->flow == XTRACE_BRANCH)
		add(to->read, SOURCES, condition(to->opcode), &to->more);
	if (operation->flow == XTRACE_CALL_TO || operation->flow == XTRACE_JUMP_TO)
		add(to->read, SOURCES, to_register, &to->more);
	if (operation->flow == XTRACE_EXCEPTION_RETURN)
		add(to->read, SOURCES, EXCEPTION_LINK, &to->more);
}

static bool is_branch(const struct xtrace_operation *operation)
{
	return operation->flow >= XTRACE_JUMP && operation->flow <= XTRACE_EXCEPTION_RETURN;
}

static const struct registers *registers_of(struct champsim *champsim, const struct xtrace_operation *operation)
{
	uint32_t opcode = operation->opcode;
	struct registers *found = &champsim->kept[opcode * 0x9e3779b1u >> (32 - KEPT_BITS)];
	if (found->known && found->opcode == opcode)
		return found;
	*found = (struct registers){.opcode = opcode, .known = true};
	if (is_branch(operation))
		take_branch(operation, found);
	else
		take_plain(found);
	return found;
}

/* ---- Records. ---- */

static void begin(struct champsim *champsim)
{
	const struct tw_steps *steps = &champsim->steps;
	const struct registers *registers = registers_of(champsim, steps->operation);
	memset(champsim->record, 0, RECORD);
	tw_store64(champsim->record, steps->pc, false);
	champsim->record[AT_BRANCH] = is_branch(steps->operation);
	champsim->record[AT_BRANCH + 1] = is_branch(steps->operation) && steps->operation->flow != XTRACE_BRANCH;
	memcpy(champsim->record + AT_REGISTERS, registers->written, DESTINATIONS);
	memcpy(champsim->record + AT_REGISTERS + DESTINATIONS, registers->read, SOURCES);
	champsim->operation = steps->operation;
	champsim->open = true;
	champsim->more = registers->more;
	champsim->stores = (struct address_slots){.at = AT_DESTINATION_MEMORY, .most = DESTINATIONS};
	champsim->loads = (struct address_slots){.at = AT_SOURCE_MEMORY, .most = SOURCES};
}

/* Adds an access. One that goes on where the last ended, in the same cache line, is part of that. */
static void take_access(struct champsim *champsim, struct address_slots *side)
{
	const struct tw_xtrace_token *token = &champsim->steps.token;
	bool goes_on = side->count && token->value == side->end && token->value % LINE;
	side->end = token->value + token->payload_size;
	if (goes_on)
		return;
	if (side->count < side->most)
		tw_store64(champsim->record + side->at + (size_t)8 * side->count++, token->value, false);
	else
		champsim->more = true;
}

/* Writes the instruction, which has all its tokens. Whether a branch was taken is told by the next instruction, unless
 * the trace ends or has a gap there. */
static void end(struct champsim *champsim, struct tw_output *out, struct tw_rewrite_result *result)
{
	const struct tw_steps *steps = &champsim->steps;
	if (!champsim->open)
		return;
	if (champsim->operation->flow == XTRACE_BRANCH && steps->follows)
		champsim->record[AT_BRANCH + 1] = steps->pc == xtrace_target(champsim->operation, steps->before);
	tw_put(out, champsim->record, RECORD);
	result->records_out++;
	result->records_changed += champsim->more;
	champsim->open = false;
}

static void take(struct champsim *champsim, struct tw_output *out, struct tw_rewrite_result *result)
{
	const struct tw_steps *steps = &champsim->steps;
	if (steps->begins || steps->token.kind == TW_XTRACE_UNKNOWN)
		end(champsim, out, result);
	if (steps->begins) {
		result->records_in++;
		result->records_dropped += !steps->has_pc;
		if (steps->has_pc)
			begin(champsim);
	}
	if (champsim->open && steps->token.kind == TW_XTRACE_LOAD)
		take_access(champsim, &champsim->loads);
	if (champsim->open && steps->token.kind == TW_XTRACE_STORE)
		take_access(champsim, &champsim->stores);
}

/* ---- The target. ---- */

static int transcode(struct tw_reader *reader, struct tw_output *out, struct tw_rewrite_result *result)
{
	struct champsim *champsim = calloc(1, sizeof *champsim);
	if (!champsim)
		return tw_fail_memory(reader);
	int status = tw_steps_open(&champsim->steps, reader);
	while (status >= 0 && (status = tw_steps_next(&champsim->steps)) > 0)
		take(champsim, out, result);
	end(champsim, out, result);
	result->lost_bytes = champsim->steps.cursor.lost_bytes;
	tw_steps_close(&champsim->steps);
	free(champsim);
	return status;
}

static const char *const extensions[] = {".champsimtrace", ".champsim", NULL};

const struct tw_target tw_target_champsim = {
    .name = "champsim",
    .extensions = extensions,
    .source = "xtrace",
    .transcode = transcode,
};
