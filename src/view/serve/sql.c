/* sql.c - the answer to a question in SQL. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/perfetto/script.h"
#include "view/serve/tables.h"

#include <stdlib.h>
#include <string.h>

enum {
	ROWS = 1000,          /* unless told */
	BYTES_MOST = 8 << 20, /* of an answer: no more rows come then */
	EXACT = 53            /* bits of whole numbers that a page can tell apart */
};

/* The type of a column: that of its values, which SQLite numbers from 1. */
enum type { NONE, INTEGER, REAL, TEXT, BLOB, NULLS, ANY };
static const char *const type_names[] = {"null", "integer", "real", "text", "blob", "null", "any"};

struct asking {
	sqlite3 *db;
	struct sql_script *script;
	struct view_question *question;
	struct view_answer *answer;
	struct tw_output out;
	struct tw_json json;
	uint64_t limit;
	unsigned char *types; /* by column */
};

/* ---- Values. ---- */

static void put_whole(struct tw_json *json, int64_t value)
{
	if (value < (int64_t)1 << EXACT && value > -((int64_t)1 << EXACT))
		tw_json_i64(json, NULL, value);
	else if (value < 0) {
		char text[24];
		sqlite3_snprintf(sizeof text, text, "%lld", (long long)value);
		tw_json_text(json, NULL, text);
	} else
		view_json_digits(json, NULL, (uint64_t)value);
}

static void put_bytes(struct tw_json *json, sqlite3_stmt *statement, int column)
{
	const void *bytes = sqlite3_column_blob(statement, column);
	tw_json_object(json, NULL);
	tw_json_hex(json, "blob", bytes, (size_t)sqlite3_column_bytes(statement, column));
	tw_json_object_end(json);
}

static void put_value(struct asking *asking, sqlite3_stmt *statement, int column)
{
	struct tw_json *json = &asking->json;
	const char *text;
	int type = sqlite3_column_type(statement, column);
	unsigned char *known = &asking->types[column];
	if (type != SQLITE_NULL)
		*known = *known == NONE || *known == type ? (unsigned char)type : ANY;
	switch (type) {
	case SQLITE_INTEGER:
		put_whole(json, sqlite3_column_int64(statement, column));
		break;
	case SQLITE_FLOAT:
		tw_json_double(json, NULL, sqlite3_column_double(statement, column));
		break;
	case SQLITE_NULL:
		tw_json_text(json, NULL, NULL);
		break;
	case SQLITE_BLOB:
		put_bytes(json, statement, column);
		break;
	default:
		text = (const char *)sqlite3_column_text(statement, column);
		tw_json_bytes(json, NULL, text ? text : "", (size_t)sqlite3_column_bytes(statement, column));
	}
}

/* ---- Rows. ---- */

static void put_row(struct asking *asking, sqlite3_stmt *statement)
{
	tw_json_array(&asking->json, NULL);
	for (int i = 0; i < sqlite3_column_count(statement); i++)
		put_value(asking, statement, i);
	tw_json_array_end(&asking->json);
	tw_output_flush(&asking->out);
}

static void put_columns(struct asking *asking, sqlite3_stmt *statement)
{
	struct tw_json *json = &asking->json;
	tw_json_array(json, "columns");
	for (int i = 0; i < sqlite3_column_count(statement); i++) {
		const char *name = sqlite3_column_name(statement, i);
		tw_json_object(json, NULL);
		tw_json_text(json, "name", name ? name : "");
		tw_json_text(json, "type", type_names[asking->types[i]]);
		tw_json_object_end(json);
	}
	tw_json_array_end(json);
}

static uint64_t elapsed(const struct view_question *question)
{
	return (uint64_t)(view_now() - question->since);
}

/* Writes the answer of a statement, in place of that of the one before. Returns the last of SQLite's results. */
static int put_answer(struct asking *asking, sqlite3_stmt *statement)
{
	int result = sqlite3_step(statement), columns = sqlite3_column_count(statement);
	uint64_t rows = 0;
	if (columns == 0)
		return result;
	free(asking->types);
	asking->types = calloc((size_t)columns, 1);
	if (!asking->types)
		return SQLITE_NOMEM;
	tw_output_flush(&asking->out);
	asking->answer->body.length = 0;
	asking->json = (struct tw_json){.out = &asking->out};
	tw_json_object(&asking->json, NULL);
	tw_json_array(&asking->json, "rows");
	for (; result == SQLITE_ROW && rows < asking->limit && asking->answer->body.length < BYTES_MOST; rows++) {
		put_row(asking, statement);
		result = sqlite3_step(statement);
	}
	tw_json_array_end(&asking->json);
	tw_json_bool(&asking->json, "more", result == SQLITE_ROW);
	tw_json_u64(&asking->json, "limit", asking->limit);
	put_columns(asking, statement);
	view_json_digits(&asking->json, "elapsed", elapsed(asking->question));
	tw_json_object_end(&asking->json);
	return result;
}

/* ---- What is wrong. ---- */

/* Line and column count from 1; the column is in bytes. */
static void refuse(struct asking *asking, const char *text, const char *at, struct sql_fault *fault)
{
	const char *line = text;
	unsigned number = 1;
	for (const char *p = text; p < at; p++)
		if (*p == '\n') {
			number++;
			line = p + 1;
		}
	asking->answer->status = 400;
	tw_output_flush(&asking->out);
	asking->answer->body.length = 0;
	asking->json = (struct tw_json){.out = &asking->out};
	tw_json_object(&asking->json, NULL);
	sql_hint(asking->script, fault);
	tw_json_text(&asking->json, "error", fault->text);
	if (at) {
		tw_json_u64(&asking->json, "line", number);
		tw_json_u64(&asking->json, "column", (uint64_t)(at - line) + 1);
	}
	tw_json_object_end(&asking->json);
}

static bool run_one(struct asking *asking, const char *text, const char *begin, const char **end)
{
	sqlite3_stmt *statement = NULL;
	struct sql_fault fault;
	if (sql_script_prepare(asking->script, begin, &statement, end, &fault) != SQLITE_OK) {
		refuse(asking, text, fault.placed ? begin + fault.offset : NULL, &fault);
		return false;
	}
	int result = statement ? put_answer(asking, statement) : SQLITE_DONE;
	bool fine = result == SQLITE_OK || result == SQLITE_ROW || result == SQLITE_DONE;
	if (!fine) {
		sql_script_fault(asking->script, 0, &fault);
		refuse(asking, text, NULL, &fault);
	}
	sqlite3_finalize(statement);
	return fine;
}

static void run_all(struct asking *asking, const char *text)
{
	for (const char *begin = text, *end = text; *begin; begin = end)
		if (!run_one(asking, text, begin, &end))
			return;
}

static void put_nothing(struct asking *asking)
{
	asking->json = (struct tw_json){.out = &asking->out};
	tw_json_object(&asking->json, NULL);
	tw_json_array(&asking->json, "rows");
	tw_json_array_end(&asking->json);
	tw_json_bool(&asking->json, "more", false);
	tw_json_u64(&asking->json, "limit", asking->limit);
	tw_json_array(&asking->json, "columns");
	tw_json_array_end(&asking->json);
	view_json_digits(&asking->json, "elapsed", elapsed(asking->question));
	tw_json_object_end(&asking->json);
}

void view_answer_sql(struct view *view, const struct view_request *request, struct view_answer *answer)
{
	const char *query = view_request_text(request, "query");
	struct asking asking = {.question = request->question, .answer = answer, .limit = ROWS};
	(void)view_request_number(request, "limit", UINT64_MAX, &asking.limit);
	asking.db = view_tables_open(view, VIEW_FOR_PEOPLE, request->question, answer);
	if (!asking.db)
		return;
	asking.script = sql_script_new(asking.db, view_tables_session(view, VIEW_FOR_PEOPLE), true);
	if (!asking.script)
		view_refuse(answer, 500, "out of memory");
	else if (view_tables_restrict(view, asking.db, request, answer) &&
	         view_json_begin(&asking.json, &asking.out, answer)) {
		run_all(&asking, query);
		tw_output_flush(&asking.out);
		if (answer->status == 200 && !answer->body.length)
			put_nothing(&asking);
		view_json_end(&asking.out, answer);
	}
	free(asking.types);
	sql_script_close(asking.script);
	view_tables_close(view, VIEW_FOR_PEOPLE, asking.db);
	sql_script_free(asking.script);
}
