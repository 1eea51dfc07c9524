/* span_merge.c - two tables of spans of time, put together.
 *
 * Within a partition both are read in the order of time; a span of the answer ends where one of either begins or ends.
 * A table without partitions beside one that has some is kept, and gone through for each of them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/perfetto/span.h"

enum { TS, DUR, PARTITION, FIRST }; /* columns of the statements */

/* ---- Reading a table. ---- */

/* The span of the statement's row. False: it counts for nothing, as it has no duration, time or partition. */
static bool take_span(struct sql_span_side *side)
{
	sqlite3_stmt *statement = side->statement;
	int64_t ts = sqlite3_column_int64(statement, TS), dur = sqlite3_column_int64(statement, DUR);
	side->now = (struct sql_span){.ts = ts,
	                              .end = dur < 0                ? INT64_MAX
	                                     : INT64_MAX - dur < ts ? INT64_MAX
	                                                            : ts + dur};
	if (side->partitioned)
		side->now.partition = sqlite3_column_int64(statement, PARTITION);
	return dur != 0 && sqlite3_column_type(statement, TS) != SQLITE_NULL &&
	       (!side->partitioned || sqlite3_column_type(statement, PARTITION) != SQLITE_NULL);
}

static bool is_text(const struct sql_span_side *side)
{
	int type = sqlite3_column_type(side->statement, PARTITION);
	return side->partitioned && type != SQLITE_INTEGER && type != SQLITE_NULL;
}

/* Goes to the next span of the statement. */
static int step(struct sql_span_merge *merge, size_t i)
{
	struct sql_span_side *side = &merge->sides[i];
	int result;
	merge->at = i;
	while ((result = sqlite3_step(side->statement)) == SQLITE_ROW) {
		merge->text = merge->text || is_text(side);
		if (merge->text)
			return SQLITE_ERROR;
		if (take_span(side))
			break;
	}
	side->there = result == SQLITE_ROW;
	return result == SQLITE_ROW || result == SQLITE_DONE ? SQLITE_OK : result;
}

/* Room in SQLite's memory, which has a limit. */
static bool grow(void *array, size_t *room, size_t need, size_t size)
{
	enum { LEAST = 64 };
	void **items = array;
	size_t more = need < LEAST ? LEAST : 2 * need;
	void *grown = need > *room ? sqlite3_realloc64(*items, more * size) : *items;
	if (!grown)
		return false;
	*room = need > *room ? more : *room;
	*items = grown;
	return true;
}

static bool keep_row(struct sql_span_side *side)
{
	size_t first = side->count * side->width;
	if (!grow((void *)&side->spans, &side->span_room, side->count + 1, sizeof *side->spans) ||
	    !grow((void *)&side->values, &side->value_room, first + side->width + 1, sizeof(sqlite3_value *)))
		return false;
	for (size_t i = 0; i < side->width; i++)
		side->values[first + i] = NULL;
	side->now.row = side->count;
	side->spans[side->count++] = side->now;
	for (size_t i = 0; i < side->width; i++)
		if (!(side->values[first + i] =
		          sqlite3_value_dup(sqlite3_column_value(side->statement, (int)i + FIRST))))
			return false;
	return true;
}

static int keep_all(struct sql_span_merge *merge, size_t i)
{
	struct sql_span_side *side = &merge->sides[i];
	int result = step(merge, i);
	for (; result == SQLITE_OK && side->there; result = step(merge, i))
		if (!keep_row(side))
			return SQLITE_NOMEM;
	return result;
}

/* Goes to a row that is kept; past the last there is none. */
static void go(struct sql_span_side *side, size_t row)
{
	side->there = row < side->count;
	if (side->there)
		side->now = side->spans[row];
}

static int advance(struct sql_span_merge *merge, size_t i)
{
	struct sql_span_side *side = &merge->sides[i];
	if (!side->keeps)
		return step(merge, i);
	go(side, side->now.row + 1);
	return SQLITE_OK;
}

/* ---- Partitions. ---- */

/* Whether a table has a span in the partition that is given. */
static bool is_in(const struct sql_span_merge *merge, size_t i)
{
	const struct sql_span_side *side = &merge->sides[i];
	return side->there && (!side->partitioned || side->now.partition == merge->partition);
}

/* Goes to the next partition that is there; without any there is one. False: there is none any more. */
static bool find_partition(struct sql_span_merge *merge)
{
	bool found = false;
	for (size_t i = 0; i < 2; i++) {
		const struct sql_span_side *side = &merge->sides[i];
		if (!side->there || side->keeps || (found && side->now.partition >= merge->partition))
			continue;
		merge->partition = side->now.partition;
		found = true;
	}
	for (size_t i = 0; found && i < 2; i++)
		if (merge->sides[i].keeps)
			go(&merge->sides[i], 0);
	merge->from = INT64_MIN;
	return found;
}

/* ---- Spans. ---- */

/* Passes by what is over; finds a partition that has spans. */
static int settle(struct sql_span_merge *merge)
{
	for (;;) {
		for (size_t i = 0; i < 2; i++)
			while (is_in(merge, i) && merge->sides[i].now.end <= merge->from) {
				int result = advance(merge, i);
				if (result != SQLITE_OK)
					return result;
			}
		bool left = false; /* spans of what makes partitions */
		for (size_t i = 0; i < 2; i++)
			left = left || is_in(merge, i);
		if (left)
			return SQLITE_OK;
		merge->over = !find_partition(merge);
		if (merge->over)
			return SQLITE_OK;
	}
}

/* The next span in which the same spans of both go on. */
static void cut(struct sql_span_merge *merge)
{
	int64_t starts[2];
	merge->ts = merge->end = INT64_MAX;
	for (size_t i = 0; i < 2; i++) {
		starts[i] = merge->sides[i].now.ts > merge->from ? merge->sides[i].now.ts : merge->from;
		if (is_in(merge, i) && starts[i] < merge->ts)
			merge->ts = starts[i];
	}
	for (size_t i = 0; i < 2; i++) {
		bool in = is_in(merge, i);
		merge->active[i] = in && starts[i] == merge->ts;
		int64_t end = merge->active[i] ? merge->sides[i].now.end : starts[i];
		if (in && end < merge->end)
			merge->end = end;
	}
}

static bool is_wanted(const struct sql_span_merge *merge)
{
	if (merge->kind == SQL_SPAN_INNER)
		return merge->active[0] && merge->active[1];
	return merge->active[0] || merge->kind == SQL_SPAN_OUTER;
}

int sql_span_next(struct sql_span_merge *merge)
{
	do {
		if (merge->ts != INT64_MIN)
			merge->from = merge->end;
		int result = settle(merge);
		if (result != SQLITE_OK || merge->over)
			return result;
		cut(merge);
	} while (!is_wanted(merge));
	return SQLITE_OK;
}

int sql_span_begin(struct sql_span_merge *merge)
{
	bool mixed = merge->sides[0].partitioned != merge->sides[1].partitioned;
	int result = SQLITE_OK;
	merge->ts = merge->from = INT64_MIN;
	merge->over = false;
	for (size_t i = 0; i < 2 && result == SQLITE_OK; i++) {
		merge->sides[i].keeps = mixed && !merge->sides[i].partitioned;
		result = merge->sides[i].keeps ? keep_all(merge, i) : step(merge, i);
	}
	if (result == SQLITE_OK && !find_partition(merge))
		merge->over = true;
	return result == SQLITE_OK && !merge->over ? sql_span_next(merge) : result;
}

void sql_span_value(const struct sql_span_merge *merge, size_t i, size_t column, sqlite3_context *context)
{
	const struct sql_span_side *side = &merge->sides[i];
	if (!merge->active[i])
		return;
	if (side->keeps)
		sqlite3_result_value(context, side->values[side->now.row * side->width + column]);
	else
		sqlite3_result_value(context, sqlite3_column_value(side->statement, (int)column + FIRST));
}

void sql_span_end(struct sql_span_merge *merge)
{
	for (size_t i = 0; i < 2; i++) {
		struct sql_span_side *side = &merge->sides[i];
		for (size_t k = 0; k < side->count * side->width; k++)
			sqlite3_value_free(side->values[k]);
		sqlite3_free(side->spans);
		sqlite3_free((void *)side->values);
		sqlite3_finalize(side->statement);
		*side = (struct sql_span_side){0};
	}
}
