/* calls.c - calls and returns out of where instructions go. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "xtrace/walk/calls.h"

#include "base/memory/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	WORD = 4,
	SEARCHED = 256,   /* frames that a return may leave at once */
	NAME_COST = 256,  /* bytes that a name takes in all tables, about */
	FRAMES_SHARE = 8, /* of the memory limit */
	TEXT = 24
};

void xtrace_calls_free(struct xtrace_calls *calls)
{
	free(calls->functions);
	tw_map_free(&calls->known);
}

/* ---- Functions. ---- */

static void report_limit(struct xtrace_calls *calls, uint64_t offset)
{
	if (!calls->reported)
		tw_report_limit(calls->reader, &xtrace_rules[XTRACE_MEMORY_LIMIT], offset, offset,
		                "%zu functions, %zu calls inside each other: the rest is not told apart",
		                calls->known.count, calls->frames);
	calls->reported = true;
}

/* Fills in the function of an address, which is named by its address where nothing names it. */
static bool look_up(struct tw_reader *reader, const struct tw_namer *namer, struct xtrace_function *function)
{
	char text[TEXT];
	const uint64_t address = function->address;
	struct tw_name name = {.id = address};
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

static uint64_t key_of(const struct xtrace_function *function)
{
	return tw_hash_two(function->address, function->program);
}

static bool find_known(const struct xtrace_calls *calls, const struct xtrace_function *function, uint32_t *number)
{
	size_t slot = SIZE_MAX;
	while (tw_map_next(&calls->known, key_of(function), &slot, number))
		if (calls->functions[*number].address == function->address &&
		    calls->functions[*number].program == function->program)
			return true;
	return false;
}

/* The number of the function at an address; UINT32_MAX when there is no memory. */
static uint32_t find_function(struct xtrace_calls *calls, const struct xtrace_names *names, uint64_t address,
                              uint64_t offset)
{
	struct xtrace_function function = {.address = address, .program = names->program, .name = UINT32_MAX};
	uint32_t number;
	if (find_known(calls, &function, &number))
		return number;
	if (is_full(calls)) {
		report_limit(calls, offset);
		function.address = UINT64_MAX; /* an address where no instruction is */
		function.program = 0;
		if (find_known(calls, &function, &number))
			return number;
		function.name = tw_dictionary_text(calls->reader->dictionary, "(other functions)");
	} else if (!look_up(calls->reader, names->namer, &function)) {
		return UINT32_MAX;
	}
	number = (uint32_t)calls->function_count;
	if (function.name == UINT32_MAX ||
	    !tw_grow(&calls->functions, &calls->function_room, calls->function_count + 1, sizeof *calls->functions) ||
	    !tw_map_add(&calls->known, key_of(&function), number))
		return UINT32_MAX;
	calls->functions[calls->function_count++] = function;
	return number;
}

/* Of the PC of a stack. */
static inline uint32_t function_of(struct xtrace_calls *calls, const struct xtrace_stack *stack, uint64_t offset)
{
	const struct xtrace_names *names = &stack->names;
	const uint64_t address = stack->pc;
	struct xtrace_near *near = &calls->near[address / WORD % XTRACE_NEAR];
	if (near->address != address || near->program != names->program || !near->function)
		*near = (struct xtrace_near){address, names->program, find_function(calls, names, address, offset) + 1};
	return near->function - 1;
}

/* ---- The stack. ---- */

/* The word that has the bit of a place. */
static uint64_t *backs_of(struct xtrace_calls *calls, uint64_t back, uint64_t *bit)
{
	enum { BITS = 64 };
	uint64_t number = back / WORD;
	*bit = UINT64_C(1) << number % BITS;
	return &calls->backs[number / BITS % XTRACE_BACKS];
}

/* Begins a frame of the function at the stack's PC. Returns 1, 0 where there is no room, or a negative status. */
static int push_frame(struct xtrace_calls *calls, struct xtrace_stack *stack, struct xtrace_frame frame,
                      uint64_t offset, uint32_t *name)
{
	size_t most = tw_memory_limit(calls->reader) / FRAMES_SHARE / sizeof *stack->frames;
	if (calls->frames >= most) {
		report_limit(calls, offset);
		return 0;
	}
	const uint32_t function = frame.function = function_of(calls, stack, offset);
	if (function == UINT32_MAX || (stack->count == stack->room &&
	                               !tw_grow(&stack->frames, &stack->room, stack->count + 1, sizeof *stack->frames)))
		return tw_fail_memory(calls->reader);
	uint64_t bit, *bits = backs_of(calls, frame.back, &bit);
	*bits |= bit;
	stack->frames[stack->count++] = frame;
	calls->frames++;
	*name = calls->functions[function].name;
	return 1;
}

static int push(struct xtrace_calls *calls, struct xtrace_stack *stack, uint64_t back, uint64_t offset,
                struct xtrace_call_change *change)
{
	const struct xtrace_frame frame = {.back = back, .level = stack->level};
	int status = push_frame(calls, stack, frame, offset, &change->name);
	change->begins = status > 0;
	return status < 0 ? status : 0;
}

static void leave(struct xtrace_calls *calls, struct xtrace_stack *stack, size_t frames,
                  struct xtrace_call_change *change)
{
	stack->count -= frames;
	calls->frames -= frames;
	change->ends = (unsigned)frames;
}

/* Leaves the calls that come back to the PC: a return may leave several at once, as longjmp does, but no exception. */
static void pop(struct xtrace_calls *calls, struct xtrace_stack *stack, struct xtrace_call_change *change)
{
	uint64_t bit;
	if (!(*backs_of(calls, stack->pc, &bit) & bit))
		return;
	for (size_t i = 1; i <= stack->count && i <= SEARCHED; i++)
		if (stack->frames[stack->count - i].exception) {
			return;
		} else if (stack->frames[stack->count - i].back == stack->pc) {
			leave(calls, stack, i, change);
			return;
		}
}

/* Leaves the frames of levels above the stack's. */
static void leave_levels(struct xtrace_calls *calls, struct xtrace_stack *stack, struct xtrace_call_change *change)
{
	size_t count = 0;
	while (count < stack->count && count < SEARCHED && stack->frames[stack->count - 1 - count].level > stack->level)
		count++;
	leave(calls, stack, count, change);
}

/* ERET at a level: leaves the exception that it ends, with all that was called since. One that came before the trace
 * began leaves the frames of its level, if it leads to a lower one. */
static void leave_exception(struct xtrace_calls *calls, struct xtrace_stack *stack, uint8_t level,
                            struct xtrace_call_change *change)
{
	for (size_t i = 1; i <= stack->count && i <= SEARCHED; i++) {
		const struct xtrace_frame *frame = &stack->frames[stack->count - i];
		if (frame->exception && frame->level == level) {
			leave(calls, stack, i, change);
			return;
		}
	}
	leave_levels(calls, stack, change);
}

/* Returns 1 where a jump or branch to the PC leads to the beginning of another function, which only symbols tell; 0, or
 * a negative status. */
static int is_tail_call(struct xtrace_calls *calls, const struct xtrace_stack *stack, uint64_t offset)
{
	static const unsigned jumps = 1 << XTRACE_JUMP | 1 << XTRACE_BRANCH | 1 << XTRACE_JUMP_TO;
	const struct tw_namer *namer = stack->names.namer;
	if (!namer || !namer->address || stack->count == 0 || !(jumps >> stack->flow & 1))
		return 0;
	const struct tw_range *own = &calls->functions[stack->frames[stack->count - 1].function].range;
	if (stack->pc >= own->start && stack->pc < own->end)
		return 0;
	uint32_t function = function_of(calls, stack, offset);
	if (function == UINT32_MAX)
		return tw_fail_memory(calls->reader);
	return calls->functions[function].range.end && calls->functions[function].range.start == stack->pc;
}

/* Takes the begin of a block: calls end or begin by the flow of the instruction before it. */
static int take_block(struct xtrace_calls *calls, struct xtrace_stack *stack, uint64_t back, uint64_t offset,
                      struct xtrace_call_change *change)
{
	static const unsigned called = 1 << XTRACE_CALL | 1 << XTRACE_CALL_TO;
	static const unsigned returned = 1 << XTRACE_RETURN | 1 << XTRACE_JUMP_TO; /* which may go anywhere */
	if (!stack->known)
		leave_levels(calls, stack, change);
	if (stack->count == 0) /* nothing is known of what called it */
		return push(calls, stack, UINT64_MAX, offset, change);
	if (!stack->known)
		return 0;
	if (called >> stack->flow & 1)
		return push(calls, stack, back, offset, change);
	if (returned >> stack->flow & 1)
		pop(calls, stack, change);
	int tail = change->ends ? 0 : is_tail_call(calls, stack, offset);
	if (tail <= 0)
		return tail;
	back = stack->frames[stack->count - 1].back;
	leave(calls, stack, 1, change);
	change->tail = true;
	return push(calls, stack, back, offset, change);
}

/* Where a direct branch leads that a PC comes behind: there, unless a signal came first. */
static uint64_t direct(struct xtrace_calls *calls, const struct xtrace_stack *stack, uint64_t pc)
{
	uint64_t next = stack->pc + WORD;
	uint64_t target = xtrace_target(xtrace_find_operation(&calls->operations, stack->opcode), stack->pc);
	return stack->flow == XTRACE_BRANCH && pc != target ? next : target;
}

/* Where the last instruction leads. Where the PC behind it is another, that is of a signal's handler: what it leads to
 * is executed when the handler has returned. */
static uint64_t destination(struct xtrace_calls *calls, const struct xtrace_stack *stack, uint64_t pc)
{
	if (!stack->known)
		return pc;
	switch ((enum xtrace_flow)stack->flow) {
	case XTRACE_JUMP:
	case XTRACE_CALL:
	case XTRACE_BRANCH:
		return direct(calls, stack, pc);
	case XTRACE_JUMP_TO:
	case XTRACE_CALL_TO:
	case XTRACE_RETURN:
	case XTRACE_EXCEPTION_RETURN:
		if (stack->has_target && stack->target_at == stack->pc && !xtrace_leads_to(stack->target, pc))
			return stack->target;
		return pc;
	case XTRACE_NEXT:
	case XTRACE_SYSTEM_CALL:
	case XTRACE_EXCEPTION:
		return pc;
	}
	return pc;
}

/* Whether the last instruction leads to a PC, as far as that is known. */
static bool leads(struct xtrace_calls *calls, const struct xtrace_stack *stack, uint64_t pc)
{
	switch ((enum xtrace_flow)stack->flow) {
	case XTRACE_NEXT:
	case XTRACE_SYSTEM_CALL:
	case XTRACE_EXCEPTION:
		return pc == stack->pc + WORD;
	default:
		return destination(calls, stack, pc) == pc;
	}
}

/* Whether an exception comes between the last instruction and one at a PC and a level. */
static bool is_exception(struct xtrace_calls *calls, const struct xtrace_stack *stack, uint64_t pc, uint8_t level)
{
	if (!stack->known)
		return false;
	return level > stack->level ||
	       (level == stack->level && xtrace_is_vector(pc, level) && !leads(calls, stack, pc));
}

/* Whether an ERET leads to a lower level, where an exception comes before any instruction: a page is not there. */
static bool falls_back(struct xtrace_calls *calls, const struct xtrace_stack *stack, uint64_t pc, uint8_t level)
{
	return stack->known && stack->flow == XTRACE_EXCEPTION_RETURN && level == stack->level &&
	       xtrace_is_lower_vector(pc, level) && !leads(calls, stack, pc);
}

static int enter(struct xtrace_calls *calls, struct xtrace_stack *stack, uint64_t offset,
                 struct xtrace_call_change *change)
{
	const struct xtrace_frame frame = {.back = UINT64_MAX, .level = stack->level, .exception = true};
	int status = push_frame(calls, stack, frame, offset, &change->entered);
	change->enters = status > 0;
	return status < 0 ? status : 0;
}

/* Takes where the last instruction leads, though an exception may come before what is there. */
static int take_target(struct xtrace_calls *calls, struct xtrace_stack *stack, uint64_t pc, bool excepted,
                       uint64_t offset, struct xtrace_call_change *change)
{
	static const unsigned indirect = 1 << XTRACE_JUMP_TO | 1 << XTRACE_CALL_TO | 1 << XTRACE_RETURN;
	uint64_t back = stack->pc + WORD;
	stack->pc = destination(calls, stack, pc);
	bool unknown = excepted && stack->pc == pc && indirect >> stack->flow & 1;
	return unknown ? 0 : take_block(calls, stack, back, offset, change);
}

int xtrace_calls_go(struct xtrace_calls *calls, struct xtrace_stack *stack, uint64_t pc, uint8_t level, uint64_t offset,
                    struct xtrace_call_change *change)
{
	bool excepted = is_exception(calls, stack, pc, level), falls = falls_back(calls, stack, pc, level);
	uint8_t before = stack->level;
	*change = (struct xtrace_call_change){0};
	if (!excepted)
		stack->level = level;
	if (stack->known && stack->flow == XTRACE_EXCEPTION_RETURN && !excepted)
		leave_exception(calls, stack, before, change);
	int status = take_target(calls, stack, pc, excepted, offset, change);
	stack->level = level;
	stack->pc = pc;
	if ((excepted || falls) && status >= 0)
		status = enter(calls, stack, offset, change);
	stack->has_target = false;
	return status;
}

int xtrace_calls_take(struct xtrace_calls *calls, struct xtrace_stack *stack, const struct tw_xtrace_token *token,
                      uint64_t offset, struct xtrace_call_change *change)
{
	bool states_pc = token->kind == TW_XTRACE_PCINST;
	int status = 0;
	*change = (struct xtrace_call_change){0};
	if (states_pc)
		status = xtrace_calls_go(calls, stack, token->pc, token->level, offset, change);
	else
		stack->pc += WORD;
	stack->flow = xtrace_find_operation(&calls->operations, token->opcode)->flow;
	stack->opcode = token->opcode;
	stack->known |= states_pc; /* the PC of what comes before the first PCINST is not known */
	return status;
}
