/* narrow.c - tables with Perfetto's columns alone.
 *
 * `select utid from slice join thread_track ...` is right where slice has no utid of its own. Source: "PerfettoSQL
 * Prelude" of Perfetto's documentation. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/perfetto/narrow.h"

#include "base/memory/memory.h"
#include "sql/perfetto/tokens.h"

#include <string.h>

static const char slice[] = "(select id, ts, dur, track_id, category, name, depth, parent_id, arg_set_id, thread_ts, "
			    "thread_dur, slice_id, stack_id from slice)";
static const char counter[] = "(select id, ts, track_id, value, arg_set_id from counter)";
static const char flow[] = "(select id, slice_out, slice_in, trace_id, arg_set_id from flow)";

static const struct {
	const char *name, *select;
} tables[] = {
    {"slice", slice}, {"slices", slice}, {"counter", counter}, {"counters", counter}, {"flow", flow},
};

bool sql_is_ambiguous(sqlite3 *db)
{
	static const char words[] = "ambiguous column name: ";
	return strncmp(sqlite3_errmsg(db), words, strlen(words)) == 0;
}

static const char *select_of(const struct sql_token *token)
{
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		if (sql_token_is(token, tables[i].name))
			return tables[i].select;
	return NULL;
}

/* Whether a table is named behind a token. */
static bool comes_table(const struct sql_token *before)
{
	return sql_token_is(before, "from") || sql_token_is(before, "join") || sql_token_is(before, ",");
}

/* Whether a token is an alias of the table before it. */
static bool is_alias(const struct sql_token *token)
{
	static const char *const words[] = {"join",  "left",  "right",  "inner",  "cross",     "natural",
	                                    "full",  "where", "group",  "order",  "limit",     "on",
	                                    "using", "union", "except", "having", "intersect", "window"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (sql_token_is(token, words[i]))
			return false;
	return sql_token_names(token);
}

static bool add_table(struct tw_text *text, const struct sql_token *table, const char *select)
{
	struct sql_token after = sql_token_next(sql_token_end(table));
	bool fine = tw_text_add(text, select, strlen(select));
	if (is_alias(&after))
		return fine;
	return fine && tw_text_add(text, " as ", strlen(" as ")) && tw_text_add(text, table->at, table->length);
}

char *sql_narrow(const char *text)
{
	struct tw_text narrow = {0};
	struct sql_token before = {.at = text};
	bool fine = true, any = false;
	for (struct sql_token token = sql_token_at(text); token.kind && fine;
	     token = sql_token_at(sql_token_end(&token))) {
		struct sql_token after = sql_token_next(sql_token_end(&token));
		const char *select = comes_table(&before) && !sql_token_is(&after, ".") && !sql_token_is(&after, "(")
		                         ? select_of(&token)
		                         : NULL;
		any = any || select;
		fine = select ? add_table(&narrow, &token, select) : tw_text_add(&narrow, token.at, token.length);
		if (token.kind != SQL_TOKEN_SPACE)
			before = token;
	}
	if (fine && any)
		return narrow.bytes;
	tw_text_free(&narrow);
	return NULL;
}
