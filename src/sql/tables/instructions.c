/* instructions.c - the tables of what an xtrace recorded: instructions, and the memory that they access. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "sql/tables/tables.h"
#include "xtrace/format/disassemble.h"
#include "xtrace/walk/calls.h"
#include "xtrace/walk/walk.h"

#include <stdlib.h>

/* How many tokens one pull reads at most, and how many rows it makes. */
enum { TURN = 1 << 14, TURN_ROWS = 256 };

struct state {
	struct xtrace_walk walk;
	struct xtrace_calls *calls;               /* NULL: nobody asks for functions */
	struct xtrace_stack stack;                /* of the track that the walk is at */
	struct xtrace_disassembler *disassembler; /* made when the first text is asked for */
};

/* ---- A file. ---- */

static int begin(struct sql_cursor *cursor)
{
	struct state *state = cursor->state;
	state->walk.reader = cursor->scan.reader;
	return 0;
}

static void end(struct sql_cursor *cursor)
{
	struct state *state = cursor->state;
	xtrace_walk_close(&state->walk);
	xtrace_disassembler_free(state->disassembler);
	xtrace_stack_free(&state->stack);
	if (state->calls)
		xtrace_calls_free(state->calls);
	free(state->calls);
	*state = (struct state){0};
}

static bool follow_calls(struct sql_cursor *cursor)
{
	struct state *state = cursor->state;
	state->calls = state->calls ? state->calls : calloc(1, sizeof *state->calls);
	if (state->calls)
		state->calls->reader = cursor->scan.reader;
	return state->calls != NULL;
}

static void begin_stack(struct state *state)
{
	state->calls->frames -= xtrace_stack_frames(&state->stack);
	xtrace_stack_free(&state->stack);
	state->stack.names = xtrace_names_of(state->walk.reader, state->walk.track);
}

/* Keeps the stack of calls up to what comes now. Returns 0 or a negative status. */
static int take_call(struct state *state, const struct tw_xtrace_token *token)
{
	struct xtrace_task_change task;
	struct xtrace_call_change change;
	if (!state->calls)
		return 0;
	if (token->kind == TW_XTRACE_UNKNOWN)
		xtrace_stack_lose(&state->stack);
	if (token->kind == TW_XTRACE_TARGET_B)
		xtrace_stack_set_target(&state->stack, state->stack.pc, token->value);
	if (!xtrace_is_instruction(token))
		return xtrace_stack_set(&state->stack, state->stack.opcode, state->stack.level, token, &task);
	return xtrace_calls_take(state->calls, &state->stack, token, state->walk.offset, &change);
}

/* Reads the next token, up to the last one that can be wanted. Returns as xtrace_walk_next(). */
static int next_token(struct sql_cursor *cursor, bool functions, struct tw_xtrace_token *token)
{
	enum { FIRST = 2 };
	struct state *state = cursor->state;
	struct xtrace_walk *walk = &state->walk;
	if (walk->open && walk->begun && (int64_t)walk->index > cursor->query.ts.high)
		xtrace_walk_skip(walk);
	int got = xtrace_walk_next(walk, token);
	if (got <= 0)
		return sql_scan_ended(&cursor->scan, got);
	if (functions && !follow_calls(cursor))
		return sql_no_memory(cursor);
	if (got == FIRST && state->calls)
		begin_stack(state);
	return take_call(state, token) < 0 ? sql_no_memory(cursor) : got;
}

/* Whether the instruction that the walk is at meets the conditions. */
static bool wants(const struct sql_cursor *cursor, const struct xtrace_walk *walk)
{
	int64_t index = (int64_t)walk->index;
	if (!walk->begun || index < cursor->query.ts.low || index > cursor->query.ts.high)
		return false;
	return sql_is_any(&cursor->query.pc) || (walk->has_pc && sql_is_between(&cursor->query.pc, walk->pc));
}

static uint32_t function_of(const struct state *state)
{
	const struct xtrace_stack *stack = &state->stack;
	return stack->count ? state->calls->functions[stack->frames[stack->count - 1].function].name : 0;
}

static struct sql_any pc_of(const struct xtrace_walk *walk)
{
	return (struct sql_any){.type = walk->has_pc ? SQL_ANY_NUMBER : SQL_ANY_NULL, .value.i = (int64_t)walk->pc};
}

/* ---- Instructions. ---- */

struct instruction {
	uint64_t id, tid, index;
	uint32_t track, level, opcode, function;
	struct sql_any pc;
	struct sql_text text;
};

enum { TEXT = 7, FUNCTION = 8 };

#define AT(member) offsetof(struct instruction, member)
static const struct sql_column columns[] = {
    {"id", "INTEGER", SQL_RECORD, AT(id), SQL_PLAIN, "the byte offset of its token"},
    {"utid", "INTEGER", SQL_THREAD, AT(track), SQL_IS_TRACK, "its thread: thread.utid; NULL where it is of a core"},
    {"tid", "INTEGER", SQL_UNSIGNED, AT(tid), SQL_IS_TID, "the number of its thread or core"},
    {"idx", "INTEGER", SQL_UNSIGNED, AT(index), SQL_IS_INDEX,
     "instructions of its thread before it: what ts of slices is"},
    {"pc", "INTEGER", SQL_ANY, AT(pc), SQL_IS_PC, "where it is; NULL where not known"},
    {"level", "INTEGER", SQL_SMALL, AT(level), SQL_PLAIN, "the exception level: 0 is user mode"},
    {"opcode", "INTEGER", SQL_SMALL, AT(opcode), SQL_PLAIN, "its 32 bits"},
    [TEXT] = {"disassembly", "TEXT", SQL_TEXT, AT(text), SQL_IS_COSTLY, "its text, as dump has it"},
    [FUNCTION] = {"function", "TEXT", SQL_NAME, AT(function), SQL_PLAIN,
                  "what was called and has not returned: slice.name"},
    {"file", "TEXT", SQL_FILE, 0, SQL_IS_HIDDEN, "the file that it is of"},
};
#undef AT

static bool disassemble(struct sql_cursor *cursor, struct instruction *row)
{
	struct state *state = cursor->state;
	char text[XTRACE_TEXT];
	if (!state->disassembler)
		state->disassembler = xtrace_disassembler_new();
	if (!state->disassembler)
		return false;
	size_t size = xtrace_disassemble(state->disassembler, row->opcode, state->walk.pc, text);
	return sql_keep_text(cursor, text, size, &row->text);
}

static int add_instruction(struct sql_cursor *cursor)
{
	const struct state *state = cursor->state;
	const struct xtrace_walk *walk = &state->walk;
	struct instruction *row = sql_add_row(cursor);
	if (!row)
		return sql_no_memory(cursor);
	*row = (struct instruction){
	    .id = sql_member_offset(walk->next - 1, walk->offset),
	    .tid = walk->track->name.number,
	    .index = walk->index,
	    .track = walk->number,
	    .level = walk->instruction.level,
	    .opcode = walk->instruction.opcode,
	    .function = function_of(state),
	    .pc = pc_of(walk),
	};
	return !sql_uses(cursor, TEXT) || disassemble(cursor, row) ? 1 : sql_no_memory(cursor);
}

static int pull_instructions(struct sql_cursor *cursor)
{
	struct state *state = cursor->state;
	struct tw_xtrace_token token;
	size_t most = cursor->made.count + TURN_ROWS;
	int status = 1;
	for (unsigned i = 0; i < TURN && cursor->made.count < most && status > 0; i++) {
		status = next_token(cursor, sql_uses(cursor, FUNCTION), &token);
		if (status > 0 && xtrace_is_instruction(&token) && wants(cursor, &state->walk))
			status = add_instruction(cursor);
	}
	return status;
}

const struct sql_table sql_table_xtrace_insn = {
    .name = "xtrace_insn",
    .summary = "the instructions of an xtrace, thread after thread",
    SQL_COLUMNS(columns),
    .row_size = sizeof(struct instruction),
    .format = "xtrace",
    .state_size = sizeof(struct state),
    .begin = begin,
    .pull = pull_instructions,
    .end = end,
};

/* ---- Memory. ---- */

struct access {
	uint64_t id, insn, tid, index, address;
	uint32_t track, size, function;
	const char *kind;
	struct sql_any pc, value;
};

enum { VALUE = 9, ACCESS_FUNCTION = 10 };

#define AT(member) offsetof(struct access, member)
static const struct sql_column access_columns[] = {
    {"id", "INTEGER", SQL_RECORD, AT(id), SQL_PLAIN, "the byte offset of its token"},
    {"insn_id", "INTEGER", SQL_RECORD, AT(insn), SQL_PLAIN, "the instruction: xtrace_insn.id"},
    {"utid", "INTEGER", SQL_THREAD, AT(track), SQL_IS_TRACK, "its thread: thread.utid; NULL where it is of a core"},
    {"tid", "INTEGER", SQL_UNSIGNED, AT(tid), SQL_IS_TID, "the number of its thread or core"},
    {"idx", "INTEGER", SQL_UNSIGNED, AT(index), SQL_IS_INDEX,
     "instructions of its thread before its own: xtrace_insn.idx"},
    {"pc", "INTEGER", SQL_ANY, AT(pc), SQL_IS_PC, "where the instruction is; NULL where not known"},
    {"address", "INTEGER", SQL_UNSIGNED, AT(address), SQL_IS_ADDRESS, "the first byte that it accesses"},
    {"size", "INTEGER", SQL_SMALL, AT(size), SQL_PLAIN, "how many bytes"},
    {"kind", "TEXT", SQL_WORD, AT(kind), SQL_PLAIN, "'load' or 'store'"},
    [VALUE] = {"value", "", SQL_ANY, AT(value), SQL_IS_COSTLY,
               "what was loaded or stored: a number up to 8 bytes; beyond, the bytes as hexadecimal digits"},
    [ACCESS_FUNCTION] = {"function", "TEXT", SQL_NAME, AT(function), SQL_PLAIN,
                         "what was called and has not returned: slice.name"},
    {"file", "TEXT", SQL_FILE, 0, SQL_IS_HIDDEN, "the file that it is of"},
};
#undef AT

static bool keep_hex(struct sql_cursor *cursor, const uint8_t *bytes, size_t size, struct sql_text *text)
{
	static const char digits[] = "0123456789abcdef";
	size_t place = cursor->made.text.length;
	for (size_t i = 0; i < size; i++) {
		const char pair[] = {digits[bytes[i] >> 4], digits[bytes[i] & 15]};
		if (!tw_text_add(&cursor->made.text, pair, sizeof pair))
			return false;
	}
	*text = sql_text_from(cursor, place);
	return true;
}

static bool keep_value(struct sql_cursor *cursor, const struct tw_xtrace_token *token, struct sql_any *value)
{
	uint64_t number = 0;
	if (token->payload_size > sizeof number) {
		value->type = SQL_ANY_TEXT;
		return keep_hex(cursor, token->payload, token->payload_size, &value->value.text);
	}
	for (size_t i = token->payload_size; i-- > 0;)
		number = number << 8 | token->payload[i];
	*value = (struct sql_any){.type = SQL_ANY_NUMBER, .value.i = (int64_t)number};
	return true;
}

static int add_access(struct sql_cursor *cursor, const struct tw_xtrace_token *token)
{
	const struct state *state = cursor->state;
	const struct xtrace_walk *walk = &state->walk;
	struct access *row = sql_add_row(cursor);
	if (!row)
		return sql_no_memory(cursor);
	*row = (struct access){
	    .id = sql_member_offset(walk->next - 1, walk->cursor.offset),
	    .insn = sql_member_offset(walk->next - 1, walk->offset),
	    .tid = walk->track->name.number,
	    .index = walk->index,
	    .address = token->value,
	    .track = walk->number,
	    .size = token->payload_size,
	    .function = function_of(state),
	    .kind = tw_xtrace_kind_name(token->kind),
	    .pc = pc_of(walk),
	    .value.type = SQL_ANY_NULL,
	};
	return !sql_uses(cursor, VALUE) || keep_value(cursor, token, &row->value) ? 1 : sql_no_memory(cursor);
}

static bool is_access(const struct tw_xtrace_token *token)
{
	return token->kind == TW_XTRACE_LOAD || token->kind == TW_XTRACE_STORE;
}

static int pull_accesses(struct sql_cursor *cursor)
{
	struct state *state = cursor->state;
	struct tw_xtrace_token token;
	size_t most = cursor->made.count + TURN_ROWS;
	int status = 1;
	for (unsigned i = 0; i < TURN && cursor->made.count < most && status > 0; i++) {
		status = next_token(cursor, sql_uses(cursor, ACCESS_FUNCTION), &token);
		if (status > 0 && is_access(&token) && wants(cursor, &state->walk) &&
		    sql_is_between(&cursor->query.address, token.value))
			status = add_access(cursor, &token);
	}
	return status;
}

const struct sql_table sql_table_xtrace_mem = {
    .name = "xtrace_mem",
    .summary = "the loads and stores of an xtrace, thread after thread",
    SQL_COLUMNS(access_columns),
    .row_size = sizeof(struct access),
    .format = "xtrace",
    .state_size = sizeof(struct state),
    .begin = begin,
    .pull = pull_accesses,
    .end = end,
};
