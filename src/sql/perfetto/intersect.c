/* intersect.c - what intervals of several tables have in common, as a select.
 *
 * A macro cannot repeat something for each table of a list, so this text is made here. Tables are joined one after the
 * other. Of two intervals that overlap, one begins within the other: so for each interval it is counted where in the
 * order of ts the other side's intervals begin that begin within it, and these are taken one by one. The time it takes
 * grows with the rows and the pairs found, not with the product of the rows. Source: the columns that queries of
 * Perfetto's standard library take from _interval_intersect!. */
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

/* What one step works on: the tables before number `step` have become one, which this is joined to. */
struct making {
	struct tw_text *to;
	const struct pieces *columns;
	size_t step;
};

/* Columns, each behind a comma or each before one, of a table ("_l.") or bare (""). */
static bool add_columns(const struct making *making, const char *before, const char *table, const char *behind)
{
	bool fine = true;
	for (size_t k = 0; k < making->columns->count && fine; k++)
		fine = add(making->to, "%s%s", before, table) && add_piece(making->to, &making->columns->items[k]) &&
		       add(making->to, "%s", behind);
	return fine;
}

static bool add_ids(const struct making *making, size_t count)
{
	bool fine = true;
	for (size_t i = 0; i < count && fine; i++)
		fine = add(making->to, ", id_%zu", i);
	return fine;
}

/* "_ii_0 as (select ts, ts + dur as _till, id as id_0, utid from TABLE)" */
static bool add_table(const struct making *making, size_t i, const struct piece *table)
{
	return add(making->to, "%s_ii_%zu as (select ts, ts + dur as _till, id as id_%zu", i ? ", " : "", i, i) &&
	       add_columns(making, ", ", "", "") && add(making->to, " from ") && add_piece(making->to, table) &&
	       add(making->to, "\n)");
}

/* Both sides with their places in the order of columns and ts. */
static bool add_side(const struct making *making, char side, const char *from, size_t number)
{
	return add(making->to, ", _ii_%c%zu as materialized (select row_number() over (order by ", side,
	           making->step) &&
	       add_columns(making, "", "", ", ") && add(making->to, "ts) as _n, * from %s%zu)", from, number);
}

/* A bound of each interval of a side. */
static bool add_bounds(const struct making *making, int side, const char *bound, int rank, const char *behind)
{
	return add(making->to, "select %d as _side, _n, %s as _at, %d as _rank", side, bound, rank) &&
	       add_columns(making, ", ", "", "") &&
	       add(making->to, " from _ii_%c%zu%s", side ? 'r' : 'l', making->step, behind);
}

/* Ends come before what begins then; of what begins at once, the left side: so at each bound the sums are how many of
 * the other side begin before it. */
static bool add_counts(const struct making *making)
{
	static const char together[] = " union all ";
	return add(making->to, ", _ii_b%zu as (select _side, _n, _rank, iif(_side, sum(_rank = 1) over _w, ",
	           making->step) &&
	       add(making->to, "sum(_rank = 2) over _w) as _before from (") &&
	       add_bounds(making, 0, "ts", 1, together) && add_bounds(making, 0, "_till", 0, together) &&
	       add_bounds(making, 1, "ts", 2, together) &&
	       add_bounds(making, 1, "_till", 0, ") window _w as (order by ") && add_columns(making, "", "", ", ") &&
	       add(making->to, "_at, _rank rows unbounded preceding))");
}

/* Each interval with the places of the other side's that begin within it. */
static bool add_pairs(const struct making *making)
{
	const size_t step = making->step;
	return add(making->to, ", _ii_p%zu(_side, _n, _m, _last) as (select _side, _n, ", step) &&
	       add(making->to, "max(iif(_rank, _before, null)) + 1, max(iif(_rank, null, _before)) from _ii_b%zu",
	           step) &&
	       add(making->to,
	           " group by 1, 2 having max(iif(_rank, _before, null)) < max(iif(_rank, null, _before))") &&
	       add(making->to, " union all select _side, _n, _m + 1, _last from _ii_p%zu where _m < _last)", step);
}

/* What the pairs have in common, as a table like those before it. */
static bool add_common(const struct making *making)
{
	const size_t step = making->step;
	bool fine =
	    add(making->to, ", _ii_c%zu as (select max(_l.ts, _r.ts) as ts, min(_l._till, _r._till) as _till", step) &&
	    add_ids(making, step + 1) && add_columns(making, ", ", "_l.", "") &&
	    add(making->to, " from _ii_p%zu as _p cross join _ii_l%zu as _l", step, step) &&
	    add(making->to, " on _l._n = iif(_p._side, _p._m, _p._n) cross join _ii_r%zu as _r", step) &&
	    add(making->to, " on _r._n = iif(_p._side, _p._n, _p._m) where _l.ts < _r._till and _r.ts < _l._till");
	for (size_t k = 0; k < making->columns->count && fine; k++)
		fine = add(making->to, " and _l.") && add_piece(making->to, &making->columns->items[k]) &&
		       add(making->to, " = _r.") && add_piece(making->to, &making->columns->items[k]);
	return fine && add(making->to, ")");
}

static bool add_step(const struct making *making)
{
	return add_side(making, 'l', making->step > 1 ? "_ii_c" : "_ii_", making->step - 1) &&
	       add_side(making, 'r', "_ii_", making->step) && add_counts(making) && add_pairs(making) &&
	       add_common(making);
}

static bool add_select(const struct making *making, size_t tables)
{
	return add(making->to, " select ts, _till - ts as dur") && add_ids(making, tables) &&
	       add_columns(making, ", ", "", "") &&
	       add(making->to, " from _ii_%s%zu)", tables > 1 ? "c" : "", tables - 1);
}

bool sql_intersect_add(struct tw_text *to, const char *tables, const char *columns, const char **wrong)
{
	struct pieces from = {.count = 0}, alike = {.count = 0};
	*wrong = "_interval_intersect wants up to 16 tables in brackets, and columns in brackets";
	if (!take_list(&from, tables) || !take_list(&alike, columns) || from.count == 0)
		return false;
	*wrong = "out of memory";
	struct making making = {.to = to, .columns = &alike};
	bool fine = add(to, "(with recursive ");
	for (size_t i = 0; i < from.count && fine; i++)
		fine = add_table(&making, i, &from.items[i]);
	for (making.step = 1; making.step < from.count && fine; making.step++)
		fine = add_step(&making);
	return fine && add_select(&making, from.count);
}
