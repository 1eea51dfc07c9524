/* trace.c - a trace into a server, each block once.
 *
 * A server of 2018 keeps a block that is sent twice twice, and of a POST that is cut whole blocks. So a POST is one
 * block of one table, with one day, and every row says of which block it is: a server has a block whole or not at all,
 * and can be asked. What is sent has a query id of the trace. Whoever goes on waits until the server runs none of these
 * any more: then what it has of the trace stays as it is. Before the trace's own row, which comes last, all rows are
 * counted. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/behind.h"
#include "base/memory/map.h"
#include "load/archive.h"
#include "load/server.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PIECES = 3, SETTLE_MS = 100 };

/* Blocks of a table that the server has: number to place in `rows`. */
struct known {
	struct tw_map places;
	uint64_t *rows;
	size_t count, room;
	uint64_t all; /* rows in all */
};

struct load_trace {
	struct load_server server;
	char id[LOAD_NAME], query_id[3 * LOAD_NAME];
	uint32_t day;
	struct known known[TW_TABLES];
	uint64_t sent[TW_TABLES]; /* rows that are of the trace, sent now or there */
	struct load_summary summary;
	struct load_archive archive;
	struct load_block pieces[PIECES];
	struct tw_behind *behind;
	atomic_bool failed;
};

/* ---- What the server has. ---- */

static bool keep(struct load_trace *trace, enum tw_table_id table, uint64_t block, uint64_t rows)
{
	struct known *known = &trace->known[table];
	if (!tw_grow(&known->rows, &known->room, known->count + 1, sizeof *known->rows) ||
	    !tw_map_add(&known->places, block, (uint32_t)known->count))
		return false;
	known->rows[known->count++] = rows;
	known->all += rows;
	trace->summary.there_blocks++;
	trace->summary.there_rows += rows;
	return true;
}

static int ask_known(struct load_trace *trace, enum tw_table_id table)
{
	struct load_server *server = &trace->server;
	struct load_cell cells[LOAD_CELLS];
	uint64_t numbers[3];
	size_t at = 0;
	if (load_server_ask(server,
	                    "SELECT block, count(), toUInt32(min(day)) FROM %s WHERE trace = '%s' GROUP BY block "
	                    "FORMAT TabSeparated",
	                    tw_schema[table].name, trace->id) < 0)
		return -1;
	while (load_server_row(server, &at, 3, cells)) {
		for (size_t i = 0; i < 3; i++)
			if (!load_cell_number(&cells[i], &numbers[i]))
				return load_server_nonsense(server);
		if (!keep(trace, table, numbers[0], numbers[1])) {
			snprintf(server->error, sizeof server->error, "out of memory");
			return -1;
		}
		trace->day = numbers[2] <= UINT16_MAX ? (uint32_t)numbers[2] : 0;
	}
	return *server->error ? -1 : 0;
}

/* The one number that a query gives. */
static int ask_number(struct load_trace *trace, uint64_t *number)
{
	struct load_cell cells[LOAD_CELLS];
	size_t at = 0;
	if (!load_server_row(&trace->server, &at, 1, cells) || !load_cell_number(&cells[0], number))
		return load_server_nonsense(&trace->server);
	return 0;
}

/* How many queries the server runs that send blocks of the trace. */
static int count_running(struct load_trace *trace, uint64_t *running)
{
	if (load_server_ask(&trace->server,
	                    "SELECT count() FROM system.processes WHERE position(query_id, '%s') = 1 FORMAT "
	                    "TabSeparated",
	                    trace->query_id) < 0)
		return -1;
	return ask_number(trace, running);
}

/* How many blocks the server lacks that another replica has taken: in its queue, or in a log that it has not read. None
 * of them can be sent again, for the replicas know them. */
static int count_lacking(struct load_trace *trace, uint64_t *lacking)
{
	if (load_server_ask(&trace->server,
	                    "SELECT sum(inserts_in_queue) + sum(log_max_index > 0 AND log_max_index >= log_pointer) "
	                    "FROM system.replicas WHERE database = '%s' FORMAT TabSeparated",
	                    trace->server.wish->address->database) < 0)
		return -1;
	return ask_number(trace, lacking);
}

/* What keeps a server from telling all it has of a trace. */
static const struct wait {
	int (*count)(struct load_trace *trace, uint64_t *left);
	const char *why;
} running = {count_running, "another load of the same trace goes on: it can be tried again when that has ended"},
  lacking = {
      count_lacking,
      "this replica lacks blocks that another has, which does not answer: it can be tried again when that is back"};

static int wait_for(struct load_trace *trace, const struct wait *wait)
{
	const struct load_server *server = &trace->server;
	const struct timespec pause = {.tv_nsec = SETTLE_MS * 1000000};
	uint64_t left = 1, tries = (uint64_t)server->wish->timeout * 1000 / SETTLE_MS + 1;
	while (tries--) {
		if (wait->count(trace, &left) < 0)
			return -1;
		if (left == 0)
			return 0;
		nanosleep(&pause, NULL);
	}
	snprintf(trace->server.error, sizeof trace->server.error, "%s: %s", server->wish->address->hosts[server->host],
	         wait->why);
	return -1;
}

/* Waits for what another loader has sent, which may have been killed, to this replica or another. */
static int settle(struct load_trace *trace)
{
	int status = wait_for(trace, &running);
	return status ? status : wait_for(trace, &lacking);
}

static int look(struct load_trace *trace)
{
	int status = settle(trace);
	for (unsigned i = 0; i < TW_TABLES && status == 0; i++)
		status = ask_known(trace, (enum tw_table_id)i);
	trace->summary.complete = trace->known[TW_TABLE_TRACE].count > 0;
	return status;
}

/* ---- Blocks. ---- */

static int fail(struct load_trace *trace, const char *error)
{
	snprintf(trace->server.error, sizeof trace->server.error, "%s", error);
	atomic_store(&trace->failed, true);
	return -1;
}

static int fail_rows(struct load_trace *trace, const struct load_block *block, uint64_t there)
{
	char error[LOAD_ERROR];
	snprintf(
	    error, sizeof error,
	    "block %llu of table %s has %llu rows on the server and %llu here: it was loaded with other options, or "
	    "by another version; ALTER TABLE ... DELETE WHERE trace = '%s' takes it away",
	    (unsigned long long)block->number, tw_schema[block->table].name, (unsigned long long)there,
	    (unsigned long long)block->rows, trace->id);
	return fail(trace, error);
}

/* Whether the rows on the server are those that were sent: nobody else has sent some at the same time. */
static int verify(struct load_trace *trace)
{
	if (wait_for(trace, &lacking) < 0)
		return -1;
	for (unsigned i = 0; i < TW_TABLE_TRACE; i++) {
		uint64_t rows = 0;
		char error[LOAD_ERROR];
		if (load_server_ask(&trace->server, "SELECT count() FROM %s WHERE trace = '%s' FORMAT TabSeparated",
		                    tw_schema[i].name, trace->id) < 0)
			return -1;
		if (ask_number(trace, &rows) < 0)
			return -1;
		if (rows == trace->sent[i])
			continue;
		snprintf(error, sizeof error,
		         "table %s has %llu rows of the trace, not %llu: somebody else has loaded it at the same time; "
		         "ALTER TABLE ... DELETE WHERE trace = '%s' takes them away",
		         tw_schema[i].name, (unsigned long long)rows, (unsigned long long)trace->sent[i], trace->id);
		return fail(trace, error);
	}
	return 0;
}

static int insert(struct load_trace *trace, const struct load_block *block)
{
	char query[LOAD_NAME], id[4 * LOAD_NAME];
	struct load_server *server = &trace->server;
	snprintf(query, sizeof query, "INSERT INTO %s FORMAT Native", tw_schema[block->table].name);
	snprintf(id, sizeof id, "%s%s-%llu", trace->query_id, tw_schema[block->table].name,
	         (unsigned long long)block->number);
	const struct load_question question = {.query = query,
	                                       .id = id,
	                                       .body = block->bytes.bytes,
	                                       .size = block->bytes.length};
	return load_server_send(server, &question);
}

static void send_block(struct load_trace *trace, const struct load_block *block)
{
	struct known *known = &trace->known[block->table];
	uint32_t place;
	trace->sent[block->table] += block->rows;
	if (tw_map_find(&known->places, block->number, &place)) {
		if (known->rows[place] != block->rows)
			fail_rows(trace, block, known->rows[place]);
		return;
	}
	if ((block->table == TW_TABLE_TRACE && verify(trace) < 0) || insert(trace, block) < 0) {
		atomic_store(&trace->failed, true);
		return;
	}
	trace->summary.blocks++;
	trace->summary.rows += block->rows;
}

/* Of the thread that sends. */
static void send_piece(void *context, void *piece)
{
	struct load_trace *trace = context;
	if (!atomic_load(&trace->failed))
		send_block(trace, piece);
}

/* Of the thread that writes: the block's text and the piece's change places. */
static int take_block(void *context, struct load_block *block)
{
	struct load_trace *trace = context;
	if (atomic_load(&trace->failed))
		return EIO;
	struct load_block *piece = tw_behind_piece(trace->behind);
	struct tw_text text = piece->bytes;
	*piece = *block;
	block->bytes = text;
	tw_behind_put(trace->behind);
	return 0;
}

/* ---- The handle. ---- */

static int start(struct load_trace *trace)
{
	void *pieces[PIECES];
	for (size_t i = 0; i < PIECES; i++)
		pieces[i] = &trace->pieces[i];
	trace->archive = (struct load_archive){.take = take_block, .context = trace};
	trace->behind = tw_behind_new(send_piece, trace, pieces, PIECES);
	return trace->behind ? 0 : fail(trace, "out of memory");
}

int load_trace_open(struct load_trace **trace, const struct load_wish *wish, const char *id)
{
	struct load_trace *made = *trace = calloc(1, sizeof *made);
	assert(load_is_id(id));
	if (!made)
		return -1;
	snprintf(made->id, sizeof made->id, "%s", id);
	snprintf(made->query_id, sizeof made->query_id, "trackway-%s-%s-", wish->address->database, id);
	int status = load_server_open(&made->server, wish, 0, wish->address->host_count);
	if (status == 0)
		*made->server.error = '\0';
	status = status ? status : look(made);
	return status ? -1 : start(made);
}

uint32_t load_trace_day(const struct load_trace *trace)
{
	return trace->day;
}

struct tw_sink load_trace_sink(struct load_trace *trace)
{
	return (struct tw_sink){.name = trace->server.wish->address->database,
	                        .write = load_archive_write,
	                        .context = &trace->archive};
}

int load_trace_finish(struct load_trace *trace)
{
	tw_behind_end(trace->behind);
	return atomic_load(&trace->failed) ? -1 : 0;
}

const struct load_summary *load_trace_summary(const struct load_trace *trace)
{
	return &trace->summary;
}

const char *load_trace_error(const struct load_trace *trace)
{
	return trace ? trace->server.error : "out of memory";
}

void load_trace_close(struct load_trace *trace)
{
	if (!trace)
		return;
	tw_behind_free(trace->behind);
	load_archive_free(&trace->archive);
	for (size_t i = 0; i < PIECES; i++)
		tw_text_free(&trace->pieces[i].bytes);
	for (size_t i = 0; i < TW_TABLES; i++) {
		tw_map_free(&trace->known[i].places);
		free(trace->known[i].rows);
	}
	load_server_close(&trace->server);
	free(trace);
}
