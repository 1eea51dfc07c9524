/* calls.c - calls and returns out of where instructions go. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "xtrace/calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"

enum {
	WORD = 4,
	SEARCHED = 256,   /* frames that a return may leave at once */
	NAME_COST = 256,  /* bytes that a name takes in all tables, about */
	FRAMES_SHARE = 8, /* of the memory limit */
	TEXT = 24
};

void xtrace_calls_begin(struct xtrace_calls *calls)
{
	calls->count = 0;
	calls->operation = NULL;
	calls->has_pc = false;
}

void xtrace_calls_free(struct xtrace_calls *calls)
{
	free(calls->frames);
	free(calls->functions);
	tw_map_free(&calls->known);
}

/* ---- Functions. ---- */

static void tell_limit(struct xtrace_calls *calls, uint64_t offset)
{
	if (!calls->told)
		tw_report_limit(calls->reader, &xtrace_rules[XTRACE_MEMORY_LIMIT], offset, offset,
		                "%zu functions, %zu calls inside each other: the rest is not told apart",
		                calls->known.count, calls->count);
	calls->told = true;
}

/* Fills in the function of an address, which is named by its address where nothing names it. */
static bool look_up(struct tw_reader *reader, uint64_t address, struct xtrace_function *function)
{
	char text[TEXT];
	struct tw_name name = {.id = address};
	const struct tw_namer *namer = reader->options.namer;
	function->range = (struct tw_range){0};
	if (!namer || !namer->address || !namer->address(namer->context, address, &name, &function->range)) {
		name.text = text;
		name.length = (size_t)snprintf(text, sizeof text, "0x%" PRIx64, address);
	}
	function->name = tw_dictionary_intern(reader->dictionary, &name);
	return function->name != UINT32_MAX;
}

static bool is_full(const struct xtrace_calls *calls)
{
	size_t most = tw_memory_limit(calls->reader) / NAME_COST;
	return calls->known.count >= most || tw_dictionary_names(calls->reader->dictionary) >= most;
}

/* The number of the function at an address; UINT32_MAX when there is no memory. */
static uint32_t function_of(struct xtrace_calls *calls, uint64_t address, uint64_t offset)
{
	struct xtrace_function function = {.name = UINT32_MAX};
	uint32_t number;
	if (tw_map_find(&calls->known, address, &number))
		return number;
	if (is_full(calls)) {
		tell_limit(calls, offset);
		address = UINT64_MAX; /* no instruction is there */
		if (tw_map_find(&calls->known, address, &number))
			return number;
		function.name = tw_dictionary_text(calls->reader->dictionary, "(other functions)");
	} else if (!look_up(calls->reader, address, &function)) {
		return UINT32_MAX;
	}
	number = (uint32_t)calls->function_count;
	if (function.name == UINT32_MAX ||
	    !tw_grow(&calls->functions, &calls->function_room, calls->function_count + 1, sizeof *calls->functions) ||
	    !tw_map_add(&calls->known, address, number))
		return UINT32_MAX;
	calls->functions[calls->function_count++] = function;
	return number;
}

/* ---- The stack. ---- */

static int push(struct xtrace_calls *calls, uint64_t pc, uint64_t back, uint64_t offset, struct xtrace_turn *turn)
{
	size_t most = tw_memory_limit(calls->reader) / FRAMES_SHARE / sizeof *calls->frames;
	if (calls->count >= most) {
		tell_limit(calls, offset);
		return 0;
	}
	uint32_t function = function_of(calls, pc, offset);
	if (function == UINT32_MAX || !tw_grow(&calls->frames, &calls->room, calls->count + 1, sizeof *calls->frames))
		return xtrace_no_memory(calls->reader);
	calls->frames[calls->count++] = (struct xtrace_frame){back, function};
	turn->begins = true;
	turn->name = calls->functions[function].name;
	return 0;
}

/* Leaves the calls that come back to a PC: a return may leave several at once, as longjmp does. */
static void pop(struct xtrace_calls *calls, uint64_t pc, struct xtrace_turn *turn)
{
	for (size_t i = 1; i <= calls->count && i <= SEARCHED; i++) {
		if (calls->frames[calls->count - i].back == pc) {
			calls->count -= i;
			turn->ends = (unsigned)i;
			return;
		}
	}
}

static bool is_call(const struct xtrace_operation *operation)
{
	return operation->flow == XTRACE_CALL || operation->flow == XTRACE_CALL_TO;
}

/* Whether calls may end here: behind what may go to anywhere. */
static bool may_return(const struct xtrace_operation *operation)
{
	return operation->flow == XTRACE_RETURN || operation->flow == XTRACE_JUMP_TO;
}

/* Whether a jump or branch leads to the beginning of another function: only symbols tell. */
static bool is_tail_call(struct xtrace_calls *calls, uint64_t pc, uint64_t offset)
{
	static const unsigned jumps = 1 << XTRACE_JUMP | 1 << XTRACE_BRANCH | 1 << XTRACE_JUMP_TO;
	const struct tw_namer *namer = calls->reader->options.namer;
	if (!namer || !namer->address || calls->count == 0 || !(jumps >> calls->operation->flow & 1))
		return false;
	const struct tw_range *own = &calls->functions[calls->frames[calls->count - 1].function].range;
	if (pc >= own->start && pc < own->end)
		return false;
	uint32_t function = function_of(calls, pc, offset);
	return function != UINT32_MAX && calls->functions[function].range.end &&
	       calls->functions[function].range.start == pc;
}

static int replace(struct xtrace_calls *calls, uint64_t pc, uint64_t offset, struct xtrace_turn *turn)
{
	turn->ends = 1;
	turn->tail = true;
	return push(calls, pc, calls->frames[--calls->count].back, offset, turn);
}

int xtrace_calls_take(struct xtrace_calls *calls, const struct tw_xtrace_token *token, uint64_t offset,
                      struct xtrace_turn *turn)
{
	const struct xtrace_operation *before = calls->operation;
	bool told = token->kind == TW_XTRACE_PCINST, first = !before && calls->count == 0;
	uint64_t back = calls->pc + WORD;
	int status = 0;
	*turn = (struct xtrace_turn){0};
	calls->pc = told ? token->pc : back;
	calls->has_pc |= told;
	if (told && first)
		status = push(calls, token->pc, UINT64_MAX, offset, turn);
	else if (told && before && is_call(before))
		status = push(calls, token->pc, back, offset, turn);
	else if (told && before && may_return(before))
		pop(calls, token->pc, turn);
	if (told && before && !turn->ends && !turn->begins && is_tail_call(calls, token->pc, offset))
		status = replace(calls, token->pc, offset, turn);
	calls->operation = xtrace_find_operation(&calls->operations, token->opcode);
	return status;
}

/* What the last instruction was is not known behind a gap. */
void xtrace_calls_lose(struct xtrace_calls *calls)
{
	calls->operation = NULL;
}
