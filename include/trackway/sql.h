/* sql.h - traces as tables: a query of SQL, and what it answers as columns of numbers and texts. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACKWAY_SQL_H
#define TRACKWAY_SQL_H

#include <trackway/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Traces that are asked: the tables and functions of `trackway sql`, which trackway-sql(7) lists. One handle, one
 * thread at a time. */
struct tw_sql;

/* Opens traces. *sql is set even on failure (NULL only for TW_ERR_MEMORY), so that tw_sql_error() can tell why; close
 * it in any case. options: NULL for the defaults; order, checking, complete_slices and from_start are not looked at.
 * on_finding is called while a query reads, once for each finding of a file; from any thread, by one at a time.
 * SQLite is loaded here: it is needed, in version 3.38 or newer.
 * Returns 0, TW_ERR_UNSUPPORTED (no SQLite), TW_ERR_LIMIT (more than 256 files), or what tw_open() returns for the
 * first that cannot be opened; TW_ERR_SYSTEM also for a pipe: a query may read more than once. */
TW_API int tw_sql_open(struct tw_sql **sql, const char *const *paths, size_t count,
                       const struct tw_read_options *options);

/* Closes; NULL is fine. Results stay. */
TW_API void tw_sql_close(struct tw_sql *sql);

/* One line about the last failure: of a statement "LINE:COLUMN: " and what SQLite says. Never NULL; lives until the
 * next call. */
TW_API const char *tw_sql_error(const struct tw_sql *sql);

enum tw_sql_type { TW_SQL_NULL, TW_SQL_INT, TW_SQL_REAL, TW_SQL_TEXT, TW_SQL_BYTES };

/* A value of a parameter: ":name", "@name" and "$name" by their name without the sign; where name is NULL, the
 * parameter of this place. */
struct tw_sql_parameter {
	const char *name;
	enum tw_sql_type type;
	union {
		int64_t i;
		double d;
		const char *bytes; /* of text and bytes; not terminated */
	} value;
	size_t size; /* of bytes */
};

struct tw_sql_result;

/* Runs statements, one after the other, with ';' between them. They read, and may make temporary tables and views,
 * which stay until the handle is closed; so do functions and macros of Perfetto's statements (doc/sql.md).
 * *result: what the last of them with columns answers, all of it in memory, at most options->memory_limit bytes; of
 * none, a result without columns; free it. NULL after a failure.
 * parameters: a parameter that none is for is NULL.
 * Returns 0; TW_ERR_VALUE for a statement that is wrong, not allowed, or of a file that cannot be read any more;
 * TW_ERR_SYSTEM where SQLite has no room for what it keeps beside; TW_ERR_LIMIT where options->stop ended it or a limit
 * was reached; TW_ERR_MEMORY. The handle may be asked again. */
TW_API int tw_sql_query(struct tw_sql *sql, const char *query, const struct tw_sql_parameter *parameters, size_t count,
                        struct tw_sql_result **result);

/* A column: its values have one type. Whole numbers among real ones are real; numbers among texts are texts, as SQLite
 * writes them; text among bytes is bytes. A column without values has the type of the table's, or else TW_SQL_NULL. */
struct tw_sql_column {
	const char *name; /* terminated */
	enum tw_sql_type type;
	const uint8_t *valid; /* a bit a row, the lowest first: 0 is NULL. NULL: all rows have values */
	uint64_t nulls;
	const int64_t *ints;  /* TW_SQL_INT, by row; 0 where there is no value, as in the next two */
	const double *reals;  /* TW_SQL_REAL, by row */
	const int32_t *codes; /* TW_SQL_TEXT, TW_SQL_BYTES, by row: which of the different values */
	/* Value k of them: bytes from offsets[k] to before offsets[k + 1]. Text is UTF-8: what of it was none is
	 * U+FFFD. */
	const int64_t *offsets;
	const char *bytes;
	size_t values; /* how many; there is at least one where there are rows */
};

/* Returns how many rows and columns there are. */
TW_API size_t tw_sql_rows(const struct tw_sql_result *result);
TW_API size_t tw_sql_columns(const struct tw_sql_result *result);

/* Returns column i (from 0), NULL past the last. Lives until the result is freed. */
TW_API const struct tw_sql_column *tw_sql_column(const struct tw_sql_result *result, size_t i);

/* Frees; NULL is fine. */
TW_API void tw_sql_result_free(struct tw_sql_result *result);

struct ArrowArrayStream;

/* Gives a result as a stream of Arrow's C stream interface, of one batch: whole numbers are int64, real ones float64,
 * texts and bytes dictionaries of large_utf8 and large_binary. The stream refers to the result's memory, which lives
 * until both are gone. stream: anything; its `release` must be called. Returns 0 or TW_ERR_MEMORY. */
TW_API int tw_sql_arrow(struct tw_sql_result *result, struct ArrowArrayStream *stream);

#ifdef __cplusplus
}
#endif

#endif
