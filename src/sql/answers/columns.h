/* columns.h - the answer of a statement, column by column. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_ANSWERS_COLUMNS_H
#define SQL_ANSWERS_COLUMNS_H

#include "base/memory/map.h"
#include "base/memory/memory.h"
#include "sql/engine/sqlite.h"

#include <trackway/sql.h>

#include <stdatomic.h>

struct sql_answer_column {
	struct tw_sql_column finished; /* when all rows are there */
	char *name;
	enum tw_sql_type type;
	uint64_t nulls;
	size_t valid_room, word_room, offset_room;
	uint8_t *valid;
	/* By row: the number, the bits of the real number, or which of the values; at the end int32_t of these. */
	int64_t *words;
	int64_t *offsets; /* one more than there are values */
	size_t values;
	struct tw_text bytes; /* of the values */
	struct tw_map codes;  /* a value's hash to its number */
};

struct tw_sql_result {
	atomic_size_t references; /* the caller's, and Arrow's */
	struct sql_answer_column *columns;
	size_t column_count, rows;
	size_t limit; /* bytes */
};

/* Makes an answer without rows, for the columns of a statement; of NULL, without columns. limit: bytes that it may
 * take. NULL without memory. */
struct tw_sql_result *sql_answer_new(sqlite3_stmt *statement, size_t limit);

/* Adds the row that a statement is at. Returns 0, TW_ERR_MEMORY, or TW_ERR_LIMIT for the limit and for 2^31 values. */
int sql_answer_add(struct tw_sql_result *result, sqlite3_stmt *statement);

/* All rows are there. False without memory. */
bool sql_answer_finish(struct tw_sql_result *result, sqlite3_stmt *statement);

/* One more who frees it. */
struct tw_sql_result *sql_answer_keep(struct tw_sql_result *result);

#endif
