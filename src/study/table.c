/* table.c - tables as they are filled. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "base/memory/order.h"
#include "study/study.h"
#include "xtrace/format/disassemble.h"

#include <stdlib.h>

void study_table_begin(struct study_tables *tables, const char *name, const char *title,
                       const struct tw_study_column *columns, size_t count, bool ranked)
{
	struct study_table *table = &tables->items[tables->count++];
	*table = (struct study_table){
	    .table = {.name = name, .title = title, .columns = columns, .column_count = count, .ranked = ranked}};
}

static void put(struct study_tables *tables, struct tw_study_cell cell)
{
	struct study_table *table = &tables->items[tables->count - 1];
	if (tables->failed || !tw_grow(&table->cells, &table->room, table->cell_count + 1, sizeof *table->cells)) {
		tables->failed = true;
		return;
	}
	table->cells[table->cell_count++] = cell;
	table->table.cells = table->cells;
	table->table.row_count = table->cell_count / table->table.column_count;
}

void study_put_count(struct study_tables *tables, uint64_t number)
{
	put(tables, (struct tw_study_cell){.number = number});
}

void study_put_ratio(struct study_tables *tables, double share)
{
	put(tables, (struct tw_study_cell){.share = share});
}

void study_put_share(struct study_tables *tables, uint64_t part, uint64_t whole)
{
	study_put_ratio(tables, whole ? (double)part / (double)whole : 0);
}

void study_put_text(struct study_tables *tables, const char *text)
{
	uint32_t kept = text ? tw_dictionary_text(tables->texts, text) : 0;
	tables->failed |= kept == UINT32_MAX;
	put(tables, (struct tw_study_cell){
			.text = text && !tables->failed ? tw_dictionary_name(tables->texts, kept)->text : NULL});
}

void study_put_cell(struct study_tables *tables, enum tw_study_unit unit, const struct tw_study_cell *cell)
{
	if (unit >= TW_STUDY_TEXT)
		study_put_text(tables, cell->text);
	else
		put(tables, (struct tw_study_cell){.number = cell->number, .share = cell->share});
}

void study_put_function(struct study_tables *tables, const struct study_part *part, uint32_t name)
{
	const char *text = tw_dictionary_name(part->sites.names, name)->text;
	study_put_text(tables, *text ? text : "(unknown)");
}

void study_put_code(struct study_tables *tables, const struct study_site *site)
{
	char text[XTRACE_TEXT];
	text[xtrace_disassemble(tables->disassembler, site->opcode, site->pc, text)] = '\0';
	study_put_text(tables, text);
}

/* ---- Ranks. ---- */

bool study_rank_add(struct study_ranks *ranks, uint64_t weight, uint32_t number)
{
	if (!tw_grow(&ranks->items, &ranks->room, ranks->count + 1, sizeof *ranks->items))
		return false;
	ranks->items[ranks->count++] = (struct study_rank){weight, number};
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct study_rank *x = a, *y = b;
	int order = tw_compare(y->weight, x->weight);
	return order ? order : tw_compare(x->number, y->number);
}

void study_rank_sort(struct study_ranks *ranks)
{
	if (ranks->count)
		qsort(ranks->items, ranks->count, sizeof *ranks->items, compare);
}
