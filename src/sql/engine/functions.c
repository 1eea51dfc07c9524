/* functions.c - X regexp Y, an extended regular expression of POSIX that fits anywhere in X; percentile(Y, P), which
 * lies between two values where the place is no whole number. Source: sqlite.org, "The percentile extension". */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/engine/functions.h"

#include <math.h>
#include <regex.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- regexp(pattern, text) ---- */

static void free_pattern(void *pattern)
{
	regfree(pattern);
	sqlite3_free(pattern);
}

/* Tells why a pattern is none. */
static void refuse_pattern(sqlite3_context *context, int error)
{
	char text[96] = "regexp: ";
	const size_t length = strlen(text);
	regerror(error, NULL, text + length, sizeof text - length);
	sqlite3_result_error(context, text, -1);
}

/* The pattern of a call, which SQLite keeps where it is the same in all rows. NULL: the result is set. */
static const regex_t *pattern_of(sqlite3_context *context, sqlite3_value *given)
{
	regex_t *pattern = sqlite3_get_auxdata(context, 0);
	const char *text = (const char *)sqlite3_value_text(given);
	if (pattern || !text)
		return pattern;
	pattern = sqlite3_malloc64(sizeof *pattern);
	if (!pattern) {
		sqlite3_result_error_nomem(context);
		return NULL;
	}
	const int error = regcomp(pattern, text, REG_EXTENDED | REG_NOSUB);
	if (error) {
		sqlite3_free(pattern);
		refuse_pattern(context, error);
		return NULL;
	}
	sqlite3_set_auxdata(context, 0, pattern, free_pattern);
	return sqlite3_get_auxdata(context, 0);
}

static void match(sqlite3_context *context, int count, sqlite3_value **values)
{
	const char *text = (const char *)sqlite3_value_text(values[1]);
	const regex_t *pattern = text ? pattern_of(context, values[0]) : NULL;
	(void)count;
	if (pattern)
		sqlite3_result_int(context, regexec(pattern, text, 0, NULL, 0) == 0);
}

/* ---- percentile(value, percent) ---- */

struct percentile {
	double *values; /* SQLite's memory, so that its limit holds */
	size_t count, room;
	double percent;
};

static bool make_room(struct percentile *sample)
{
	enum { FIRST = 64 };
	if (sample->count < sample->room)
		return true;
	const size_t room = sample->room ? 2 * sample->room : FIRST;
	double *more = sqlite3_realloc64(sample->values, room * sizeof *more);
	if (!more)
		return false;
	sample->values = more;
	sample->room = room;
	return true;
}

static bool is_number(sqlite3_value *value)
{
	const int type = sqlite3_value_numeric_type(value);
	return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

static void take_value(sqlite3_context *context, int count, sqlite3_value **values)
{
	struct percentile *sample = sqlite3_aggregate_context(context, sizeof *sample);
	const double percent = sqlite3_value_double(values[1]);
	(void)count;
	if (!sample)
		sqlite3_result_error_nomem(context);
	else if (!is_number(values[1]) || !(percent >= 0 && percent <= 100))
		sqlite3_result_error(context, "percentile wants a percentage from 0 to 100", -1);
	else if (sample->count && percent != sample->percent)
		sqlite3_result_error(context, "percentile wants one percentage for all rows", -1);
	else if (sqlite3_value_type(values[0]) == SQLITE_NULL)
		return;
	else if (!is_number(values[0]))
		sqlite3_result_error(context, "percentile wants numbers", -1);
	else if (!make_room(sample))
		sqlite3_result_error_nomem(context);
	else {
		sample->percent = percent;
		sample->values[sample->count++] = sqlite3_value_double(values[0]);
	}
}

static int compare(const void *a, const void *b)
{
	const double left = *(const double *)a, right = *(const double *)b;
	return (left > right) - (left < right);
}

/* SQLite calls it also to tidy up after a failure. */
static void report_percentile(sqlite3_context *context)
{
	struct percentile *sample = sqlite3_aggregate_context(context, 0);
	if (!sample || !sample->count)
		return;
	qsort(sample->values, sample->count, sizeof *sample->values, compare);
	const double place = sample->percent / 100 * (double)(sample->count - 1), below = floor(place);
	const size_t at = (size_t)below, next = at + 1 < sample->count ? at + 1 : at;
	const double value = sample->values[at];
	sqlite3_result_double(context, value + (sample->values[next] - value) * (place - below));
	sqlite3_free(sample->values);
	*sample = (struct percentile){0};
}

int sql_functions_register(sqlite3 *db)
{
	enum { FLAGS = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS };
	const int result = sqlite3_create_function_v2(db, "regexp", 2, FLAGS, NULL, match, NULL, NULL, NULL);
	return result != SQLITE_OK ? result
	                           : sqlite3_create_function_v2(db, "percentile", 2, FLAGS, NULL, NULL, take_value,
	                                                        report_percentile, NULL);
}
