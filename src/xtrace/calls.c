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
	tw_map_free(&calls->names);
}

/* ---- Names. ---- */

static void tell_limit(struct xtrace_calls *calls, uint64_t offset)
{
	if (!calls->told)
		tw_report_limit(calls->reader, &xtrace_rules[XTRACE_MEMORY_LIMIT], offset, offset,
		                "%zu functions, %zu calls inside each other: the rest is not told apart",
		                calls->names.count, calls->count);
	calls->told = true;
}

static uint32_t intern(struct tw_reader *reader, uint64_t address)
{
	char text[TEXT];
	struct tw_name name = {.id = address};
	const struct tw_namer *namer = reader->options.namer;
	if (!namer || !namer->name(namer->context, address, &name) || !name.length) {
		name.text = text;
		name.length = (size_t)snprintf(text, sizeof text, "0x%" PRIx64, address);
	}
	return tw_dictionary_intern(reader->dictionary, &name);
}

/* The name of the function that begins at an address; UINT32_MAX when there is no memory. */
static uint32_t name_of(struct xtrace_calls *calls, uint64_t address, uint64_t offset)
{
	struct tw_reader *reader = calls->reader;
	uint32_t name;
	if (tw_map_find(&calls->names, address, &name))
		return name;
	if (tw_dictionary_names(reader->dictionary) >= tw_memory_limit(reader) / NAME_COST) {
		tell_limit(calls, offset);
		return tw_dictionary_text(reader->dictionary, "(other functions)");
	}
	name = intern(reader, address);
	return name == UINT32_MAX || !tw_map_add(&calls->names, address, name) ? UINT32_MAX : name;
}

/* ---- The stack. ---- */

static int push(struct xtrace_calls *calls, uint64_t pc, uint64_t back, uint64_t offset, struct xtrace_turn *turn)
{
	size_t most = tw_memory_limit(calls->reader) / FRAMES_SHARE / sizeof *calls->frames;
	if (calls->count >= most) {
		tell_limit(calls, offset);
		return 0;
	}
	uint32_t name = name_of(calls, pc, offset);
	if (name == UINT32_MAX || !tw_grow(&calls->frames, &calls->room, calls->count + 1, sizeof *calls->frames))
		return xtrace_no_memory(calls->reader);
	calls->frames[calls->count++] = (struct xtrace_frame){back, name};
	turn->begins = true;
	turn->name = name;
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
	calls->operation = xtrace_find_operation(&calls->operations, token->opcode);
	return status;
}

/* What the last instruction was is not known behind a gap. */
void xtrace_calls_lose(struct xtrace_calls *calls)
{
	calls->operation = NULL;
}
