/* user.c - an analysis that is not ours: it is given the instructions of each thread, and gives a table. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "study/study.h"

#include <stdlib.h>
#include <string.h>

struct user {
	void *state; /* the tool's; NULL: not begun */
	struct tw_study_step steps[STUDY_STEPS];
	struct tw_study_access accesses[STUDY_ACCESSES];
};

static struct user *user_of(const struct study_part *part)
{
	return part->state;
}

static int begin(struct study_part *part)
{
	part->state = calloc(1, sizeof(struct user));
	part->wants = (struct study_wants){.steps = true, .times = true};
	return part->state ? 0 : TW_ERR_MEMORY;
}

static void free_user(struct study_part *part)
{
	struct user *user = user_of(part);
	if (user && user->state)
		part->options->tool->free(user->state);
	free(user);
}

/* Where the tool refused. */
static int answer(struct study_part *part, int answer, const char *what)
{
	if (answer == 0)
		return 0;
	part->refused = what;
	return TW_ERR_VALUE;
}

static void take_accesses(struct user *user, const struct study_batch *batch)
{
	for (size_t i = 0; i < batch->access_count; i++) {
		const struct study_access *from = &batch->accesses[i];
		user->accesses[i] = (struct tw_study_access){
		    .address = from->address,
		    .time = batch->times[i],
		    .size = from->size & STUDY_SIZE,
		    .stores = from->size & STUDY_STORE,
		};
	}
}

static void take_step(const struct study_part *part, const struct study_batch *batch, size_t i, size_t *access)
{
	const struct study_site *site = &part->sites.items[batch->sites[i]];
	size_t first = *access;
	while (*access < batch->access_count && batch->accesses[*access].step == i)
		++*access;
	user_of(part)->steps[i] = (struct tw_study_step){
	    .index = batch->first + i,
	    .pc = site->pc,
	    .function = tw_dictionary_name(part->sites.names, site->function)->text,
	    .accesses = &user_of(part)->accesses[first],
	    .access_count = *access - first,
	    .opcode = site->opcode,
	    .level = batch->levels[i],
	};
}

static int take(struct study_part *part, const struct study_batch *batch)
{
	const struct tw_study_tool *tool = part->options->tool;
	struct user *user = user_of(part);
	size_t access = 0;
	user->state = user->state ? user->state : tool->begin(part->thread);
	if (!user->state)
		return TW_ERR_MEMORY;
	take_accesses(user, batch);
	for (size_t i = 0; i < batch->step_count; i++)
		take_step(part, batch, i, &access);
	part->left_out += batch->access_count - access; /* more than an instruction can have */
	return batch->step_count ? answer(part, tool->take(user->state, user->steps, batch->step_count), "instructions")
	                         : 0;
}

/* The first thread's state is that of all. */
static int merge(struct study_part *all, struct study_part *part, const uint32_t *map)
{
	struct user *to = user_of(all), *from = user_of(part);
	(void)map;
	if (!from->state)
		return 0;
	if (to->state)
		return answer(all, all->options->tool->merge(to->state, from->state), "to merge threads");
	to->state = from->state;
	from->state = NULL;
	return 0;
}

/* ---- The table. ---- */

struct putting {
	struct study_part *all;
	struct study_tables *tables;
};

/* A row that there is no room for is left out. */
static void put_row(void *context, const struct tw_study_cell *cells)
{
	const struct putting *putting = context;
	struct study_tables *tables = putting->tables;
	const struct tw_study_table *table = &tables->items[tables->count - 1].table;
	size_t size = table->column_count * sizeof *cells;
	for (size_t i = 0; i < table->column_count; i++)
		size += table->columns[i].unit >= TW_STUDY_TEXT && cells[i].text ? strlen(cells[i].text) : 0;
	if (!tw_budget_take(&putting->all->budget, TW_FOR_ROWS, size)) {
		putting->all->left_out++;
		return;
	}
	for (size_t i = 0; i < table->column_count; i++)
		study_put_cell(tables, table->columns[i].unit, &cells[i]);
}

static int make_tables(struct study_part *all, struct study_tables *tables)
{
	const struct tw_study_tool *tool = all->options->tool;
	study_table_begin(tables, tool->name, tool->title, tool->columns, tool->column_count, false);
	struct putting putting = {all, tables};
	void *state = user_of(all)->state;
	return state ? answer(all, tool->rows(state, put_row, &putting), "to give its rows") : 0;
}

const struct study_job study_user = {
    .begin = begin,
    .take = take,
    .merge = merge,
    .tables = make_tables,
    .free = free_user,
};
