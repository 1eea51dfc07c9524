/* tasks.c - the schedule of cores: which task was executed when, and how much of it was the kernel. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "study/study.h"

#include <stdlib.h>

/* What a task, or a core, executed. */
struct amount {
	uint64_t instructions, kernel;
	uint64_t times; /* of a task: it came to a core; of a core: it went from one task to another */
};

struct task_amount {
	struct xtrace_task is; /* all zero: of task 0, what was executed before the kernel told any */
	struct amount amount;
	uint64_t cores;
};

/* A task on a core without a break. */
struct stay {
	uint64_t core, start;
	struct amount amount;
	uint32_t task;
};

struct task_list {
	struct task_amount *items;
	size_t count, room;
	struct stay *stays;
	size_t stay_count, stay_room;
	struct stay now; /* of a track: goes on; no instructions: there is none */
	struct task_core {
		uint64_t number;
		struct amount amount;
		uint64_t tasks;
	} * cores;
	size_t core_count, core_room;
};

static struct task_list *tasks_of(const struct study_part *part)
{
	return part->state;
}

static int begin(struct study_part *part)
{
	struct task_list *tasks = part->state = calloc(1, sizeof *tasks);
	part->wants.steps = true;
	if (!tasks || !tw_grow(&tasks->items, &tasks->room, 1, sizeof *tasks->items))
		return TW_ERR_MEMORY;
	tasks->count = 1;
	return 0;
}

static void free_tasks(struct study_part *part)
{
	struct task_list *tasks = tasks_of(part);
	if (!tasks)
		return;
	free(tasks->items);
	free(tasks->stays);
	free(tasks->cores);
	free(tasks);
}

static bool is_same(const struct xtrace_task *one, const struct xtrace_task *other)
{
	if (one->pointer || other->pointer)
		return one->pointer == other->pointer;
	return one->tables == other->tables && one->thread == other->thread;
}

/* A new task. Returns its number; 0 where there is no room. */
static uint32_t add_task(struct study_part *part, const struct xtrace_task *task)
{
	struct task_list *tasks = tasks_of(part);
	if (!tw_budget_grow(&part->budget, TW_FOR_ROWS, &tasks->items, &tasks->room, tasks->count + 1,
	                    sizeof *tasks->items)) {
		part->left_out++;
		return 0;
	}
	tasks->items[tasks->count] = (struct task_amount){.is = *task};
	return (uint32_t)tasks->count++;
}

/* The number of a task of a core. What is known of it may have become more. */
static uint32_t task_of(struct study_part *part, const struct study_batch *batch)
{
	struct task_list *tasks = tasks_of(part);
	while (tasks->count <= batch->task_number)
		if (!add_task(part, &batch->task))
			return 0;
	if (batch->task_number)
		tasks->items[batch->task_number].is = batch->task;
	return (uint32_t)batch->task_number;
}

/* The number of a task of all cores. */
static uint32_t find_task(struct study_part *all, const struct xtrace_task *task)
{
	const struct task_list *tasks = tasks_of(all);
	for (uint32_t i = 0; i < tasks->count; i++)
		if (is_same(&tasks->items[i].is, task))
			return i;
	return add_task(all, task);
}

static void add(struct amount *to, const struct amount *from)
{
	to->instructions += from->instructions;
	to->kernel += from->kernel;
	to->times += from->times;
}

static void add_stay(struct study_part *part, const struct stay *stay)
{
	struct task_list *tasks = tasks_of(part);
	if (tw_budget_grow(&part->budget, TW_FOR_COUNTS, &tasks->stays, &tasks->stay_room, tasks->stay_count + 1,
	                   sizeof *tasks->stays))
		tasks->stays[tasks->stay_count++] = *stay;
	else
		part->left_out++;
}

static void end_stay(struct study_part *part)
{
	struct task_list *tasks = tasks_of(part);
	if (!tasks->now.amount.instructions)
		return;
	tasks->now.amount.times = 1;
	add(&tasks->items[tasks->now.task].amount, &tasks->now.amount);
	add_stay(part, &tasks->now);
	tasks->now.amount = (struct amount){0};
}

static int take(struct study_part *part, const struct study_batch *batch)
{
	struct task_list *tasks = tasks_of(part);
	uint32_t task = task_of(part, batch);
	if (!batch->step_count)
		return 0;
	if (task != tasks->now.task || !tasks->now.amount.instructions) {
		end_stay(part);
		tasks->now = (struct stay){.core = part->thread, .start = batch->first, .task = task};
	}
	tasks->now.amount.instructions += batch->step_count;
	for (size_t i = 0; i < batch->step_count; i++)
		tasks->now.amount.kernel += batch->levels[i] > 0;
	return 0;
}

static int end(struct study_part *part)
{
	end_stay(part);
	return 0;
}

/* ---- All cores. ---- */

/* Numbers of a track's tasks by those of all. NULL without memory. */
static uint32_t *map_tasks(struct study_part *all, const struct task_list *from, struct task_core *core)
{
	uint32_t *map = calloc(from->count, sizeof *map);
	for (size_t i = 0; map && i < from->count; i++) {
		const struct task_amount *task = &from->items[i];
		map[i] = find_task(all, &task->is);
		struct task_amount *same = &tasks_of(all)->items[map[i]];
		add(&same->amount, &task->amount);
		same->cores += task->amount.instructions > 0;
		core->tasks += i && task->amount.instructions > 0;
		core->amount.instructions += task->amount.instructions;
		core->amount.kernel += task->amount.kernel;
	}
	return map;
}

static int merge(struct study_part *all, struct study_part *part, const uint32_t *sites)
{
	struct task_list *to = tasks_of(all), *from = tasks_of(part);
	struct task_core core = {.number = part->thread};
	uint32_t *map = map_tasks(all, from, &core);
	(void)sites;
	if (!map)
		return TW_ERR_MEMORY;
	for (size_t i = 0; i < from->stay_count; i++) {
		struct stay stay = from->stays[i];
		core.amount.times += i && from->stays[i - 1].task && stay.task;
		stay.task = map[stay.task];
		add_stay(all, &stay);
	}
	free(map);
	if (!tw_grow(&to->cores, &to->core_room, to->core_count + 1, sizeof *to->cores))
		return TW_ERR_MEMORY;
	to->cores[to->core_count++] = core;
	return 0;
}

/* ---- Tables. ---- */

static void put_amount(struct study_tables *tables, const struct amount *amount)
{
	study_put_count(tables, amount->instructions);
	study_put_count(tables, amount->kernel);
	study_put_share(tables, amount->kernel, amount->instructions);
}

static void put_cores(const struct task_list *tasks, struct study_tables *out)
{
	static const struct tw_study_column columns[] = {
	    {"core", "CORE", TW_STUDY_ID},
	    {"instructions", "INSTRUCTIONS", TW_STUDY_COUNT},
	    {"kernel", "KERNEL", TW_STUDY_COUNT},
	    {"kernel_share", "SHARE", TW_STUDY_SHARE},
	    {"switches", "SWITCHES", TW_STUDY_COUNT},
	    {"tasks", "TASKS", TW_STUDY_COUNT},
	};
	study_table_begin(out, "core", "Cores", columns, sizeof columns / sizeof *columns, false);
	for (size_t i = 0; i < tasks->core_count; i++) {
		study_put_count(out, tasks->cores[i].number);
		put_amount(out, &tasks->cores[i].amount);
		study_put_count(out, tasks->cores[i].amount.times);
		study_put_count(out, tasks->cores[i].tasks);
	}
}

static int put_tasks(const struct task_list *tasks, struct study_tables *out)
{
	static const struct tw_study_column columns[] = {
	    {"task", "TASK", TW_STUDY_ID},         {"instructions", "INSTRUCTIONS", TW_STUDY_COUNT},
	    {"kernel", "KERNEL", TW_STUDY_COUNT},  {"kernel_share", "SHARE", TW_STUDY_SHARE},
	    {"times", "TIMES", TW_STUDY_COUNT},    {"cores", "CORES", TW_STUDY_COUNT},
	    {"pointer", "SP_EL0", TW_STUDY_HEX},   {"tables", "TTBR0", TW_STUDY_HEX},
	    {"thread", "TPIDR_EL0", TW_STUDY_HEX},
	};
	struct study_ranks ranks = {0};
	bool fine = true;
	for (uint32_t i = 0; fine && i < tasks->count; i++) {
		uint64_t instructions = tasks->items[i].amount.instructions;
		fine = !instructions || study_rank_add(&ranks, instructions, i);
	}
	study_rank_sort(&ranks);
	study_table_begin(out, "task", "Tasks", columns, sizeof columns / sizeof *columns, true);
	for (size_t i = 0; fine && i < ranks.count; i++) {
		const struct task_amount *task = &tasks->items[ranks.items[i].number];
		study_put_count(out, ranks.items[i].number);
		put_amount(out, &task->amount);
		study_put_count(out, task->amount.times);
		study_put_count(out, task->cores);
		study_put_count(out, task->is.pointer);
		study_put_count(out, task->is.tables);
		study_put_count(out, task->is.thread);
	}
	free(ranks.items);
	return fine ? 0 : TW_ERR_MEMORY;
}

static void put_stays(const struct task_list *tasks, struct study_tables *out)
{
	static const struct tw_study_column columns[] = {
	    {"core", "CORE", TW_STUDY_ID},
	    {"start", "FROM INSTRUCTION", TW_STUDY_COUNT},
	    {"instructions", "INSTRUCTIONS", TW_STUDY_COUNT},
	    {"kernel", "KERNEL", TW_STUDY_COUNT},
	    {"kernel_share", "SHARE", TW_STUDY_SHARE},
	    {"task", "TASK", TW_STUDY_ID},
	};
	study_table_begin(out, "schedule", "Schedule", columns, sizeof columns / sizeof *columns, false);
	for (size_t i = 0; i < tasks->stay_count; i++) {
		study_put_count(out, tasks->stays[i].core);
		study_put_count(out, tasks->stays[i].start);
		put_amount(out, &tasks->stays[i].amount);
		study_put_count(out, tasks->stays[i].task);
	}
}

static int make_tables(struct study_part *all, struct study_tables *tables)
{
	put_cores(tasks_of(all), tables);
	int status = put_tasks(tasks_of(all), tables);
	put_stays(tasks_of(all), tables);
	return status;
}

const struct study_job study_tasks = {
    .begin = begin,
    .take = take,
    .end = end,
    .merge = merge,
    .tables = make_tables,
    .free = free_tasks,
};
