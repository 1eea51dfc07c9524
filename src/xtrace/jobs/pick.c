/* pick.c - which instructions a part has: of functions, an exception level, addresses. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "xtrace/jobs/pick.h"

#include "base/memory/memory.h"
#include "xtrace/walk/walk.h"

#include <fnmatch.h>
#include <stdlib.h>

enum answer { NOT_ASKED, YES, NO };

bool xtrace_picks(const struct tw_reader *reader)
{
	const struct tw_xtrace_read_options *xtrace = xtrace_options(reader);
	return reader->options.function || xtrace->levels || xtrace->from_address || xtrace->to_address;
}

/* Keeps the stack of calls up to what comes now. */
static int take_call(struct xtrace_pick *pick, const struct tw_xtrace_token *token, uint64_t offset)
{
	struct xtrace_task_change task;
	struct xtrace_call_change change;
	if (token->kind == TW_XTRACE_UNKNOWN)
		xtrace_stack_lose(&pick->stack);
	if (token->kind == TW_XTRACE_TARGET_B)
		xtrace_stack_set_target(&pick->stack, pick->stack.pc, token->value);
	if (!xtrace_is_instruction(token))
		return xtrace_stack_set(&pick->stack, pick->stack.opcode, pick->stack.level, token, &task);
	return xtrace_calls_take(&pick->calls, &pick->stack, token, offset, &change);
}

/* Whether the function that is executed is wanted. Returns 1, 0, or TW_ERR_MEMORY. */
static int ask_function(struct xtrace_pick *pick)
{
	const struct xtrace_stack *stack = &pick->stack;
	const struct tw_reader *reader = pick->calls.reader;
	uint32_t name = stack->count ? pick->calls.functions[stack->frames[stack->count - 1].function].name : 0;
	if (!tw_grow(&pick->functions, &pick->function_room, (size_t)name + 1, sizeof *pick->functions))
		return TW_ERR_MEMORY;
	uint8_t *answer = &pick->functions[name];
	if (*answer == NOT_ASKED) {
		const char *text = tw_dictionary_name(reader->dictionary, name)->text;
		*answer = fnmatch(reader->options.function, *text ? text : "(unknown)", 0) == 0 ? YES : NO;
	}
	return *answer == YES;
}

int xtrace_pick_take(struct xtrace_pick *pick, const struct tw_xtrace_token *token, uint64_t offset, uint64_t pc)
{
	const struct tw_reader *reader = pick->calls.reader;
	const struct tw_xtrace_read_options *xtrace = xtrace_options(reader);
	int status = reader->options.function ? take_call(pick, token, offset) : 0;
	if (status < 0 || !xtrace_is_instruction(token))
		return status < 0 ? status : 0;
	bool inside = pc >= xtrace->from_address && (!xtrace->to_address || pc < xtrace->to_address) &&
	              (!xtrace->levels || xtrace->levels >> token->level & 1);
	return !inside ? 0 : reader->options.function ? ask_function(pick) : 1;
}

void xtrace_pick_free(struct xtrace_pick *pick)
{
	xtrace_stack_free(&pick->stack);
	xtrace_calls_free(&pick->calls);
	free(pick->functions);
}
