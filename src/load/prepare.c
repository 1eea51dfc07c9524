/* prepare.c - the database and its tables: made, brought up to date, or told to be others. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "load/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Servers of 2018 want to be told so before they make a column of such a type; later ones take it as it is. */
static const char SETTINGS[] = "&allow_experimental_low_cardinality_type=1";

static int create(struct load_server *server, const struct tw_schema_table *table)
{
	struct tw_line line = {0};
	char engine[4 * LOAD_NAME];
	snprintf(engine, sizeof engine, "ReplicatedMergeTree('/trackway/{shard}/%s/%s', '{replica}')",
	         server->wish->address->database, table->name);
	tw_schema_put_create(&line, table, server->wish->replicated ? engine : NULL);
	const struct load_question question = {.query = line.failed ? "" : line.text.bytes, .settings = SETTINGS};
	int status = load_server_send(server, &question);
	tw_text_free(&line.text);
	return status;
}

static int add_column(struct load_server *server, const struct tw_schema_table *table, size_t column)
{
	return load_server_ask(server, "ALTER TABLE %s ADD COLUMN %s %s AFTER %s", table->name,
	                       table->columns[column].name, tw_native_types[table->columns[column].type],
	                       table->columns[column - 1].name);
}

/* What the server says of the columns of a table. */
struct server_columns {
	bool there[64];
};

static int other_type(struct load_server *server, const struct tw_schema_table *table,
                      const struct tw_schema_column *column, const struct load_cell *type)
{
	snprintf(server->error, sizeof server->error,
	         "table %s of database %s is another: its column %s is %.*s, not %s; name another database",
	         table->name, server->wish->address->database, column->name, (int)(type->size < 64 ? type->size : 64),
	         type->bytes, tw_native_types[column->type]);
	return -1;
}

/* Finds which of the table's columns the server has. Its other columns do not matter. */
static int find_columns(struct load_server *server, const struct tw_schema_table *table, struct server_columns *found)
{
	struct load_cell cells[LOAD_CELLS];
	size_t at = 0;
	if (load_server_ask(server,
	                    "SELECT name, type FROM system.columns WHERE database = '%s' AND table = '%s' "
	                    "FORMAT TabSeparated",
	                    server->wish->address->database, table->name) < 0)
		return -1;
	while (load_server_row(server, &at, 2, cells))
		for (size_t i = 0; i < table->column_count; i++) {
			if (!load_cell_is(&cells[0], table->columns[i].name))
				continue;
			found->there[i] = true;
			if (!load_cell_is(&cells[1], tw_native_types[table->columns[i].type]))
				return other_type(server, table, &table->columns[i], &cells[1]);
		}
	return *server->error ? -1 : 0;
}

/* A table whose rows are of several partitions in one block would not keep a block whole. */
static int check_engine(struct load_server *server, const struct tw_schema_table *table)
{
	struct load_cell cells[LOAD_CELLS];
	size_t at = 0;
	if (load_server_ask(server,
	                    "SELECT engine LIKE '%%MergeTree', engine FROM system.tables WHERE database = '%s' AND "
	                    "name = '%s' FORMAT TabSeparated",
	                    server->wish->address->database, table->name) < 0)
		return -1;
	if (load_server_row(server, &at, 2, cells) && load_cell_is(&cells[0], "1"))
		return 0;
	snprintf(server->error, sizeof server->error,
	         "table %s of database %s is another: no MergeTree; name another database", table->name,
	         server->wish->address->database);
	return -1;
}

static int prepare_table(struct load_server *server, const struct tw_schema_table *table)
{
	struct server_columns found = {0};
	int status = create(server, table);
	status = status ? status : check_engine(server, table);
	status = status ? status : find_columns(server, table, &found);
	for (size_t i = 1; i < table->column_count && status == 0; i++)
		if (!found.there[i])
			status = add_column(server, table, i);
	return status;
}

static int prepare_host(const struct load_wish *wish, unsigned host, char error[LOAD_ERROR])
{
	struct load_server server = {0};
	int status = load_server_open(&server, wish, host, wish->replicated ? 1 : wish->address->host_count - host);
	if (status == 0)
		status = load_server_ask(&server, "CREATE DATABASE IF NOT EXISTS %s", wish->address->database);
	for (size_t i = 0; i < TW_TABLES && status == 0; i++)
		status = prepare_table(&server, &tw_schema[i]);
	snprintf(error, LOAD_ERROR, "%s", server.error);
	load_server_close(&server);
	return status;
}

/* Of replicas one that is down does no harm: it gets its tables by a later command. */
int load_prepare(const struct load_wish *wish, char error[LOAD_ERROR])
{
	unsigned made = 0;
	for (unsigned i = 0; i < wish->address->host_count && (wish->replicated || !made); i++) {
		int status = prepare_host(wish, i, error);
		made += status == 0;
		if (status < 0 && (status != LOAD_NO_HOST || !wish->replicated))
			return -1;
	}
	return made ? 0 : -1;
}
