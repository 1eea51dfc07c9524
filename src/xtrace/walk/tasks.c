/* tasks.c - the tasks of a core, each with a stack of its own. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/memory/memory.h"
#include "xtrace/walk/calls.h"

#include <stdlib.h>

enum { TASKS_MOST = 4096, ADDRESS_BITS = 48, ERETS = 0xd69f0 /* ERET, ERETAA, ERETAB: bits 12 to 31 */ };

static bool is_kernel(uint64_t address)
{
	return address >> ADDRESS_BITS == 0xffff;
}

static bool differs(uint64_t a, uint64_t b)
{
	return a && b && a != b;
}

/* Where the kernel has its task in SP_EL0, that tells all tasks apart, also its own. */
bool xtrace_tasks_differ(const struct xtrace_task *a, const struct xtrace_task *b)
{
	if (a->pointer || b->pointer)
		return differs(a->pointer, b->pointer);
	return differs(a->tables, b->tables) || differs(a->thread, b->thread);
}

static bool is_same(const struct xtrace_task *a, const struct xtrace_task *b)
{
	return a->pointer ? a->pointer == b->pointer : a->tables == b->tables && a->thread == b->thread;
}

/* The number of a task, new or known; TASKS_MOST where there are too many. SIZE_MAX: no memory. */
static size_t find_task(struct xtrace_tasks *tasks, const struct xtrace_task *task)
{
	for (size_t i = 0; i < tasks->count; i++)
		if (is_same(&tasks->items[i].task, task))
			return i;
	if (tasks->count >= TASKS_MOST)
		return TASKS_MOST;
	if (!tw_grow(&tasks->items, &tasks->room, tasks->count + 1, sizeof *tasks->items))
		return SIZE_MAX;
	tasks->items[tasks->count] = (struct xtrace_waiting){.task = *task};
	return tasks->count++;
}

/* Has the stack that of another task. */
static void switch_stack(struct xtrace_stack *stack, size_t number)
{
	struct xtrace_waiting *last = &stack->tasks.items[stack->tasks.now], *next = &stack->tasks.items[number];
	*last = (struct xtrace_waiting){last->task, stack->frames, stack->count, stack->room};
	stack->frames = next->frames;
	stack->count = next->count;
	stack->room = next->room;
	next->frames = NULL;
	next->count = next->room = 0;
	stack->tasks.now = number;
}

/* Finds out whether another task is executed now, and changes to its stack. */
static int settle(struct xtrace_stack *stack, struct xtrace_task_change *change)
{
	struct xtrace_tasks *tasks = &stack->tasks;
	if (tasks->count == 0)
		return find_task(tasks, &tasks->set) == SIZE_MAX ? TW_ERR_MEMORY : 0;
	if (!xtrace_tasks_differ(&tasks->items[tasks->now].task, &tasks->set)) {
		tasks->items[tasks->now].task = tasks->set;
		return 0;
	}
	size_t number = find_task(tasks, &tasks->set);
	if (number == SIZE_MAX)
		return TW_ERR_MEMORY;
	if (number == TASKS_MOST || stack->count > XTRACE_TASK_FRAMES)
		return 0;
	*change = (struct xtrace_task_change){true, (unsigned)stack->count};
	switch_stack(stack, number);
	return 0;
}

bool xtrace_task_set(struct xtrace_task *task, uint32_t opcode, const struct tw_xtrace_token *token)
{
	enum { TABLES = 0xd5182000u >> 5, STACK = 0xd5184100u >> 5, THREAD = 0xd51bd040u >> 5 };
	if (token->kind != TW_XTRACE_MRS)
		return false;
	if (opcode >> 5 == TABLES)
		task->tables = tw_bits(token->value, 0, ADDRESS_BITS - 1);
	if (opcode >> 5 == THREAD)
		task->thread = token->value;
	if (opcode >> 5 != STACK || !is_kernel(token->value))
		return false;
	task->pointer = token->value;
	return true;
}

int xtrace_stack_set(struct xtrace_stack *stack, uint32_t opcode, uint8_t level, const struct tw_xtrace_token *token,
                     struct xtrace_task_change *change)
{
	bool returns = token->kind == TW_XTRACE_TARGET_B && opcode >> 12 == ERETS;
	*change = (struct xtrace_task_change){0};
	if (level == 0)
		return 0;
	if (returns)
		return is_kernel(token->value) ? 0 : settle(stack, change);
	return xtrace_task_set(&stack->tasks.set, opcode, token) ? settle(stack, change) : 0;
}

size_t xtrace_stack_frames(const struct xtrace_stack *stack)
{
	size_t all = stack->count;
	for (size_t i = 0; i < stack->tasks.count; i++)
		all += stack->tasks.items[i].count;
	return all;
}

void xtrace_stack_free(struct xtrace_stack *stack)
{
	for (size_t i = 0; i < stack->tasks.count; i++)
		free(stack->tasks.items[i].frames);
	free(stack->tasks.items);
	free(stack->frames);
	*stack = (struct xtrace_stack){0};
}
