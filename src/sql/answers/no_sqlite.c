/* no_sqlite.c - a build without SQLite: there are no answers, and so no results. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <trackway/sql.h>

#include <stdlib.h>

struct tw_sql {
	char nothing;
};

int tw_sql_open(struct tw_sql **sql, const char *const *paths, size_t count, const struct tw_read_options *options)
{
	(void)paths;
	(void)count;
	(void)options;
	*sql = calloc(1, sizeof **sql);
	return *sql ? TW_ERR_UNSUPPORTED : TW_ERR_MEMORY;
}

void tw_sql_close(struct tw_sql *sql)
{
	free(sql);
}

const char *tw_sql_error(const struct tw_sql *sql)
{
	return sql ? "this trackway is built without SQLite" : tw_status_text(TW_ERR_MEMORY);
}

int tw_sql_query(struct tw_sql *sql, const char *query, const struct tw_sql_parameter *parameters, size_t count,
                 struct tw_sql_result **result)
{
	(void)sql;
	(void)query;
	(void)parameters;
	(void)count;
	*result = NULL;
	return TW_ERR_VALUE;
}

size_t tw_sql_rows(const struct tw_sql_result *result)
{
	(void)result;
	return 0;
}

size_t tw_sql_columns(const struct tw_sql_result *result)
{
	(void)result;
	return 0;
}

const struct tw_sql_column *tw_sql_column(const struct tw_sql_result *result, size_t i)
{
	(void)result;
	(void)i;
	return NULL;
}

void tw_sql_result_free(struct tw_sql_result *result)
{
	(void)result;
}

int tw_sql_arrow(struct tw_sql_result *result, struct ArrowArrayStream *stream)
{
	(void)result;
	(void)stream;
	return TW_ERR_MEMORY;
}
