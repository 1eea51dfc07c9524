/* span.c - span_join, span_left_join and span_outer_join as virtual tables.
 *
 * Source: "Span join" of Perfetto's documentation. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/perfetto/span.h"

#include "sql/engine/vtab.h"
#include "sql/perfetto/tokens.h"

#include <stdlib.h>
#include <string.h>

/* What a module is registered with. */
struct span_module {
	enum sql_span_kind kind;
	struct sql_calls *calls;
};

/* One of the tables that are joined. */
struct joined_table {
	char *name, *partition; /* NULL: not partitioned */
	struct sql_names columns;
};

struct span_table {
	sqlite3_vtab base;
	const struct span_module *source;
	struct joined_table parts[2];
	bool partitioned;
};

struct span_cursor {
	sqlite3_vtab_cursor base;
	struct sql_span_merge merge;
	sqlite3_int64 row;
};

static const char *partition_of(const struct span_table *table)
{
	return table->parts[0].partition ? table->parts[0].partition : table->parts[1].partition;
}

/* ---- Declaring. ---- */

/* "name" or "name partitioned column". */
static bool take_part(const char *argument, struct joined_table *part, char **error)
{
	struct sql_token name = sql_token_next(argument), word = sql_token_next(sql_token_end(&name));
	struct sql_token column = sql_token_next(sql_token_end(&word)), rest = sql_token_next(sql_token_end(&column));
	bool partitioned = sql_token_is(&word, "partitioned") && sql_token_names(&column) && !rest.kind;
	if (!sql_token_names(&name) || (word.kind && !partitioned)) {
		*error = sqlite3_mprintf("a table is wanted, or TABLE partitioned COLUMN, not %s", argument);
		return false;
	}
	part->name = sql_token_name(&name);
	part->partition = partitioned ? sql_token_name(&column) : NULL;
	return part->name && (!partitioned || part->partition);
}

static bool is_own(const struct span_table *table, const char *column)
{
	const char *partition = partition_of(table);
	return sqlite3_stricmp(column, "ts") == 0 || sqlite3_stricmp(column, "dur") == 0 ||
	       (partition && sqlite3_stricmp(column, partition) == 0);
}

static bool has(const struct sql_names *columns, const char *name)
{
	for (size_t i = 0; i < columns->count; i++)
		if (sqlite3_stricmp(columns->items[i], name) == 0)
			return true;
	return false;
}

/* Takes the columns of a statement over a table. Returns one of SQLite's results. */
static int take_columns(struct span_table *table, size_t i, sqlite3_stmt *statement, char **error)
{
	struct joined_table *part = &table->parts[i];
	bool ts = false, dur = false, partition = !part->partition;
	for (int k = 0; k < sqlite3_column_count(statement); k++) {
		const char *name = sqlite3_column_name(statement, k);
		if (!name)
			return SQLITE_NOMEM;
		ts = ts || sqlite3_stricmp(name, "ts") == 0;
		dur = dur || sqlite3_stricmp(name, "dur") == 0;
		partition = partition || sqlite3_stricmp(name, part->partition) == 0;
		if (is_own(table, name))
			continue;
		if (has(&part->columns, name) || (i == 1 && has(&table->parts[0].columns, name))) {
			*error = sqlite3_mprintf("column %s is there twice", name);
			return SQLITE_ERROR;
		}
		if (!sql_names_add(&part->columns, strdup(name)))
			return SQLITE_NOMEM;
	}
	if (ts && dur && partition)
		return SQLITE_OK;
	*error = sqlite3_mprintf("%s has no column %s", part->name, !ts ? "ts" : !dur ? "dur" : part->partition);
	return SQLITE_ERROR;
}

static int look(sqlite3 *db, struct span_table *table, size_t i, char **error)
{
	sqlite3_stmt *statement = NULL;
	char *text = sqlite3_mprintf("select * from \"%w\"", table->parts[i].name);
	int result = text ? sqlite3_prepare_v2(db, text, -1, &statement, NULL) : SQLITE_NOMEM;
	sqlite3_free(text);
	if (result == SQLITE_OK)
		result = take_columns(table, i, statement, error);
	else
		*error = sqlite3_mprintf("%s", sqlite3_errmsg(db));
	sqlite3_finalize(statement);
	return result;
}

static int declare(sqlite3 *db, const struct span_table *table)
{
	sqlite3_str *text = sqlite3_str_new(db);
	sqlite3_str_appendall(text, "create table x(ts integer, dur integer");
	if (table->partitioned)
		sqlite3_str_appendf(text, ", \"%w\" integer", partition_of(table));
	for (size_t i = 0; i < 2; i++)
		for (size_t k = 0; k < table->parts[i].columns.count; k++)
			sqlite3_str_appendf(text, ", \"%w\"", table->parts[i].columns.items[k]);
	sqlite3_str_appendall(text, ")");
	char *create = sqlite3_str_finish(text);
	int result = create ? sqlite3_declare_vtab(db, create) : SQLITE_NOMEM;
	sqlite3_free(create);
	return result;
}

static int make(sqlite3 *db, struct span_table *table, int argc, const char *const *argv, char **error)
{
	enum { FIRST = 3 };
	if (argc != FIRST + 2) {
		*error = sqlite3_mprintf("%s wants two tables", argv[0]);
		return SQLITE_ERROR;
	}
	for (size_t i = 0; i < 2; i++)
		if (!take_part(argv[FIRST + i], &table->parts[i], error))
			return *error ? SQLITE_ERROR : SQLITE_NOMEM;
	const char *left = table->parts[0].partition, *right = table->parts[1].partition;
	table->partitioned = left || right;
	if (left && right && sqlite3_stricmp(left, right) != 0) {
		*error = sqlite3_mprintf("both tables must be partitioned by a column of one name, not %s and %s", left,
		                         right);
		return SQLITE_ERROR;
	}
	int result = look(db, table, 0, error);
	result = result == SQLITE_OK ? look(db, table, 1, error) : result;
	return result == SQLITE_OK ? declare(db, table) : result;
}

static int disconnect(sqlite3_vtab *base)
{
	struct span_table *table = (struct span_table *)base;
	for (size_t i = 0; i < 2; i++) {
		free(table->parts[i].name);
		free(table->parts[i].partition);
		sql_names_free(&table->parts[i].columns);
	}
	sqlite3_free(table);
	return SQLITE_OK;
}

static int connect(sqlite3 *db, void *context, int argc, const char *const *argv, sqlite3_vtab **made, char **error)
{
	struct span_table *table = sqlite3_malloc(sizeof *table);
	if (!table)
		return SQLITE_NOMEM;
	*table = (struct span_table){.source = context};
	int result = make(db, table, argc, argv, error);
	if (result != SQLITE_OK) {
		disconnect(&table->base);
		return result;
	}
	*made = &table->base;
	return SQLITE_OK;
}

/* One partition is asked for by its number; all else SQLite looks at. */
static int plan(sqlite3_vtab *base, sqlite3_index_info *info)
{
	enum { PARTITION = 2, COST = 1000000, ROWS = 10000, SHARE = 100 };
	const struct span_table *table = (const struct span_table *)base;
	bool one = false;
	for (int i = 0; i < info->nConstraint && table->partitioned && !one; i++) {
		one = info->aConstraint[i].iColumn == PARTITION && info->aConstraint[i].usable &&
		      info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ;
		if (one)
			info->aConstraintUsage[i].argvIndex = 1;
	}
	info->idxNum = one;
	info->estimatedCost = one ? COST / SHARE : COST;
	info->estimatedRows = one ? ROWS / SHARE : ROWS;
	return SQLITE_OK;
}

/* ---- Rows. ---- */

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **made)
{
	(void)base;
	return sql_vtab_open(made, sizeof(struct span_cursor));
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	sql_span_end(&((struct span_cursor *)base)->merge);
	sqlite3_free(base);
	return SQLITE_OK;
}

static int result_of(struct span_cursor *cursor, int result)
{
	const struct span_table *table = (const struct span_table *)cursor->base.pVtab;
	if (result == SQLITE_OK || result == SQLITE_NOMEM || result == SQLITE_INTERRUPT)
		return result;
	if (cursor->merge.text)
		return sql_vtab_fail(cursor->base.pVtab,
		                     sqlite3_mprintf("partition %s of %s is no whole number", partition_of(table),
		                                     table->parts[cursor->merge.at].name));
	return sql_vtab_fail(cursor->base.pVtab, sqlite3_mprintf("%s", sqlite3_errmsg(table->source->calls->db)));
}

/* ts, dur, partition, and the columns that are only this table's. */
static char *select_of(const struct joined_table *part, bool one)
{
	sqlite3_str *text = sqlite3_str_new(NULL);
	sqlite3_str_appendall(text, "select ts, dur, ");
	sqlite3_str_appendf(text, part->partition ? "\"%w\"" : "null", part->partition);
	for (size_t k = 0; k < part->columns.count; k++)
		sqlite3_str_appendf(text, ", \"%w\"", part->columns.items[k]);
	sqlite3_str_appendf(text, " from \"%w\"", part->name);
	if (one && part->partition)
		sqlite3_str_appendf(text, " where \"%w\" = ?1", part->partition);
	sqlite3_str_appendall(text, " order by 3, 1");
	return sqlite3_str_finish(text);
}

static int begin(struct span_cursor *cursor, sqlite3_value *one)
{
	const struct span_table *table = (const struct span_table *)cursor->base.pVtab;
	sqlite3 *db = table->source->calls->db;
	int result = SQLITE_OK;
	sql_span_end(&cursor->merge);
	cursor->merge = (struct sql_span_merge){.kind = table->source->kind};
	for (size_t i = 0; i < 2 && result == SQLITE_OK; i++) {
		const struct joined_table *part = &table->parts[i];
		struct sql_span_side *side = &cursor->merge.sides[i];
		char *text = select_of(part, one != NULL);
		side->partitioned = part->partition;
		side->width = part->columns.count;
		result = text ? sqlite3_prepare_v2(db, text, -1, &side->statement, NULL) : SQLITE_NOMEM;
		sqlite3_free(text);
		if (result == SQLITE_OK && one && part->partition)
			result = sqlite3_bind_value(side->statement, 1, one);
	}
	cursor->row = 0;
	return result == SQLITE_OK ? sql_span_begin(&cursor->merge) : result;
}

/* A view over the join may be one of the tables that are joined. */
static bool enter(struct span_table *table)
{
	return table->source->calls->depth < SQL_CALLS_DEEPEST && ++table->source->calls->depth;
}

static int refuse(struct span_table *table)
{
	return sql_vtab_fail(&table->base, sqlite3_mprintf("span joins are more than %d deep", SQL_CALLS_DEEPEST));
}

static int filter(sqlite3_vtab_cursor *base, int one, const char *text, int argc, sqlite3_value **argv)
{
	struct span_cursor *cursor = (struct span_cursor *)base;
	struct span_table *table = (struct span_table *)base->pVtab;
	(void)text, (void)argc;
	if (!enter(table))
		return refuse(table);
	int result = begin(cursor, one ? argv[0] : NULL);
	table->source->calls->depth--;
	return result_of(cursor, result);
}

static int next(sqlite3_vtab_cursor *base)
{
	struct span_cursor *cursor = (struct span_cursor *)base;
	struct span_table *table = (struct span_table *)base->pVtab;
	if (!enter(table))
		return refuse(table);
	int result = sql_span_next(&cursor->merge);
	table->source->calls->depth--;
	cursor->row++;
	return result_of(cursor, result);
}

static int at_end(sqlite3_vtab_cursor *base)
{
	return ((struct span_cursor *)base)->merge.over;
}

/* What has no end in either table has the duration -1. */
static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int i)
{
	const struct span_table *table = (const struct span_table *)base->pVtab;
	const struct sql_span_merge *merge = &((struct span_cursor *)base)->merge;
	size_t own = table->partitioned ? 3 : 2, number = (size_t)i - own, left = table->parts[0].columns.count;
	if (i == 0)
		sqlite3_result_int64(context, merge->ts);
	else if (i == 1)
		sqlite3_result_int64(context, merge->end == INT64_MAX ? -1 : merge->end - merge->ts);
	else if ((size_t)i < own)
		sqlite3_result_int64(context, merge->partition);
	else if (number < left)
		sql_span_value(merge, 0, number, context);
	else
		sql_span_value(merge, 1, number - left, context);
	return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
	*id = ((struct span_cursor *)base)->row;
	return SQLITE_OK;
}

static const sqlite3_module module = {
    .xCreate = connect,
    .xConnect = connect,
    .xBestIndex = plan,
    .xDisconnect = disconnect,
    .xDestroy = disconnect,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = next,
    .xEof = at_end,
    .xColumn = column,
    .xRowid = rowid,
};

int sql_span_register(struct sql_calls *calls)
{
	static const struct {
		const char *name;
		enum sql_span_kind kind;
	} kinds[] = {
	    {"span_join", SQL_SPAN_INNER},
	    {"span_left_join", SQL_SPAN_LEFT},
	    {"span_outer_join", SQL_SPAN_OUTER},
	};
	int result = SQLITE_OK;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds && result == SQLITE_OK; i++) {
		struct span_module *source = sqlite3_malloc(sizeof *source);
		if (!source)
			return SQLITE_NOMEM;
		*source = (struct span_module){kinds[i].kind, calls};
		result = sqlite3_create_module_v2(calls->db, kinds[i].name, &module, source, sqlite3_free);
	}
	return result;
}
