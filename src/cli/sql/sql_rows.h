/* sql_rows.h - the rows of an answer, in one of several forms. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_SQL_SQL_ROWS_H
#define CLI_SQL_SQL_ROWS_H

#include "base/memory/memory.h"
#include "cli/output/screen.h"
#include "sql/engine/sqlite.h"

/* All zero but screen and form to begin; what is held is of the answer that is being written. */
struct tw_sql_rows {
	struct tw_screen *screen;
	const struct tw_sql_form *form;
	/* Terminated texts: of text, rows held until the columns' widths are known; of JSON, the columns' names. */
	struct tw_text cells;
	size_t held;       /* how many rows */
	uint64_t answered; /* rows of all answers */
	int64_t first;     /* number in the first column of the last of them */
	bool *right;       /* columns of which all values so far are numbers */
	size_t *widths;    /* on a terminal SIZE_MAX: there is no room for the column */
	size_t width_room, right_room;
	bool safe;    /* CSV is for a spreadsheet */
	bool flowing; /* the widths are settled: nothing is held any more */
	bool failed;  /* there was no memory */
};

struct tw_sql_form {
	const char *name;
	void (*begin)(struct tw_sql_rows *rows, sqlite3_stmt *statement);
	void (*row)(struct tw_sql_rows *rows, sqlite3_stmt *statement);
	void (*end)(struct tw_sql_rows *rows, sqlite3_stmt *statement);
};

/* "text", "csv", "json" or "markdown"; NULL where it is another word. */
const struct tw_sql_form *tw_sql_form_named(const char *name);

/* Frees what is held. */
void tw_sql_rows_free(struct tw_sql_rows *rows);

#endif
