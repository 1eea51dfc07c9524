/* schema.c - the tables that traces are in a database of ClickHouse. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/clickhouse/schema.h"

#include <stdlib.h>

#define X(id, name, type, help) {name, type, help},
static const struct tw_schema_column columns_of_TW_TABLE_SLICE[] = {SLICE_TABLE(X)};
static const struct tw_schema_column columns_of_TW_TABLE_COUNTER[] = {COUNTER_TABLE(X)};
static const struct tw_schema_column columns_of_TW_TABLE_SCHED[] = {SCHED_TABLE(X)};
static const struct tw_schema_column columns_of_TW_TABLE_SAMPLE[] = {SAMPLE_TABLE(X)};
static const struct tw_schema_column columns_of_TW_TABLE_LOG[] = {LOG_TABLE(X)};
static const struct tw_schema_column columns_of_TW_TABLE_ARGUMENT[] = {ARGUMENT_TABLE(X)};
static const struct tw_schema_column columns_of_TW_TABLE_FINDING[] = {FINDING_TABLE(X)};
static const struct tw_schema_column columns_of_TW_TABLE_TRACE[] = {TRACE_TABLE(X)};
#undef X

const struct tw_schema_table tw_schema[TW_TABLES] = {
#define X(id, name, columns, order, help)                                                                              \
	[id] = {name, order, help, columns_of_##id, sizeof columns_of_##id / sizeof *columns_of_##id},
    TW_TABLE_LIST(X)
#undef X
};

void tw_schema_put_create(struct tw_line *line, const struct tw_schema_table *table, const char *engine)
{
	tw_line_text(line, "CREATE TABLE IF NOT EXISTS ");
	tw_line_text(line, table->name);
	for (size_t i = 0; i < table->column_count; i++) {
		tw_line_text(line, i ? ", " : " (");
		tw_line_text(line, table->columns[i].name);
		tw_line_text(line, " ");
		tw_line_text(line, tw_native_types[table->columns[i].type]);
	}
	tw_line_text(line, ") ENGINE = ");
	tw_line_text(line, engine ? engine : "MergeTree()");
	tw_line_text(line, " PARTITION BY day ORDER BY (");
	tw_line_text(line, table->order);
	tw_line_text(line, ")");
}

bool tw_schema_block(struct tw_native_block *block, enum tw_table_id table)
{
	const struct tw_schema_table *of = &tw_schema[table];
	*block = (struct tw_native_block){.columns = calloc(of->column_count, sizeof *block->columns)};
	if (!block->columns)
		return false;
	block->column_count = of->column_count;
	for (size_t i = 0; i < of->column_count; i++) {
		block->columns[i].name = of->columns[i].name;
		block->columns[i].type = of->columns[i].type;
	}
	return true;
}
