/* intersect.c - what intervals of several tables have in common, as a select.
 *
 * A macro cannot repeat something for each table of a list, so this text is made here. Intervals that overlap in pairs
 * all have something in common. Source: the columns that queries of Perfetto's standard library take from
 * _interval_intersect!. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/perfetto/intersect.h"

#include "sql/perfetto/tokens.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { PIECES_MOST = 16 };

struct pieces {
	struct piece {
		const char *at;
		size_t length;
	} items[PIECES_MOST];
	size_t count;
};

/* ---- A list in brackets. ---- */

/* Takes what stands between two places, where that is anything. */
static bool take_piece(struct pieces *pieces, const char *from, const char *end)
{
	const struct sql_token first = sql_token_next(from);
	if (first.at >= end)
		return pieces->count == 0;
	if (pieces->count == PIECES_MOST)
		return false;
	pieces->items[pieces->count++] = (struct piece){first.at, (size_t)(end - first.at)};
	return true;
}

static bool take_list(struct pieces *pieces, const char *text)
{
	struct sql_token token = sql_token_next(text);
	size_t depth = 1;
	if (!sql_token_is(&token, "("))
		return false;
	const char *from = sql_token_end(&token);
	for (token = sql_token_next(from); token.kind; token = sql_token_next(sql_token_end(&token))) {
		depth += sql_token_is(&token, "(");
		depth -= sql_token_is(&token, ")");
		if (depth > (sql_token_is(&token, ",") ? 1 : 0))
			continue;
		if (!take_piece(pieces, from, token.at))
			return false;
		from = sql_token_end(&token);
		if (depth == 0)
			return !sql_token_next(from).kind;
	}
	return false;
}

/* ---- The select. ---- */

static bool add(struct tw_text *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool add(struct tw_text *to, const char *format, ...)
{
	char text[160];
	va_list arguments;
	va_start(arguments, format);
	const int length = vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	return length >= 0 && (size_t)length < sizeof text && tw_text_add(to, text, (size_t)length);
}

static bool add_piece(struct tw_text *to, const struct piece *piece)
{
	return tw_text_add(to, piece->at, piece->length);
}

/* "_ii_0 as materialized (select id, ts, dur, utid from TABLE)" */
static bool add_table(struct tw_text *to, size_t i, const struct piece *table, const struct pieces *columns)
{
	bool fine = add(to, "%s_ii_%zu as materialized (select id, ts, dur", i ? ", " : "", i);
	for (size_t k = 0; k < columns->count && fine; k++)
		fine = add(to, ", ") && add_piece(to, &columns->items[k]);
	return fine && add(to, " from ") && add_piece(to, table) && add(to, "\n)");
}

/* "max(_ii_0.ts, _ii_1.ts)", of one table without the function, which would be another. */
static bool add_bound(struct tw_text *to, const char *function, const char *of, size_t tables)
{
	bool fine = add(to, "%s(", tables > 1 ? function : "");
	for (size_t i = 0; i < tables && fine; i++)
		fine = add(to, "%s_ii_%zu.ts%s", i ? ", " : "", i, *of ? " + " : "") &&
		       (!*of || add(to, "_ii_%zu.%s", i, of));
	return fine && add(to, ")");
}

static bool add_columns(struct tw_text *to, size_t tables, const struct pieces *columns)
{
	bool fine = add(to, " select ") && add_bound(to, "max", "", tables) && add(to, " as ts, ") &&
	            add_bound(to, "min", "dur", tables) && add(to, " - ") && add_bound(to, "max", "", tables) &&
	            add(to, " as dur");
	for (size_t i = 0; i < tables && fine; i++)
		fine = add(to, ", _ii_%zu.id as id_%zu", i, i);
	for (size_t k = 0; k < columns->count && fine; k++)
		fine = add(to, ", _ii_0.") && add_piece(to, &columns->items[k]);
	return fine;
}

/* A table, which is joined to all before it. */
static bool add_join(struct tw_text *to, size_t i, const struct pieces *columns)
{
	bool fine = add(to, i ? " join _ii_%zu" : " from _ii_%zu", i);
	for (size_t k = 0; k < i && fine; k++)
		fine = add(to, " %s _ii_%zu.ts < _ii_%zu.ts + _ii_%zu.dur", k ? "and" : "on", i, k, k) &&
		       add(to, " and _ii_%zu.ts < _ii_%zu.ts + _ii_%zu.dur", k, i, i);
	for (size_t k = 0; k < columns->count && i && fine; k++)
		fine = add(to, " and _ii_%zu.", i) && add_piece(to, &columns->items[k]) && add(to, " = _ii_0.") &&
		       add_piece(to, &columns->items[k]);
	return fine;
}

bool sql_intersect_add(struct tw_text *to, const char *tables, const char *columns, const char **wrong)
{
	struct pieces from = {.count = 0}, alike = {.count = 0};
	*wrong = "_interval_intersect wants up to 16 tables in brackets, and columns in brackets";
	if (!take_list(&from, tables) || !take_list(&alike, columns) || from.count == 0)
		return false;
	*wrong = "out of memory";
	bool fine = add(to, "(with ");
	for (size_t i = 0; i < from.count && fine; i++)
		fine = add_table(to, i, &from.items[i], &alike);
	fine = fine && add_columns(to, from.count, &alike);
	for (size_t i = 0; i < from.count && fine; i++)
		fine = add_join(to, i, &alike);
	return fine && add(to, ")");
}
