/* sql_missing.c - what a ready query was missing that finds nothing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/files/instead.h"
#include "cli/output/message.h"
#include "cli/sql/sql_run.h"

#include <string.h>

static const struct {
	const char *query, *asks; /* whether there is what the query looks at */
	const char *what;         /* that is */
	const char *otherwise;    /* what is told where there is some */
} needs[] = {
    {"concurrency", "select 1 from slice limit 1", "call", "no call passes"},
    {"critical-path", "select 1 from flow limit 1", "flow", "no flow leads from a call to a call"},
    {"longest-slices", "select 1 from slice limit 1", "call", "no call passes"},
    {"thread-gaps", "select 1 from slice limit 1", "call", "on no thread that was chosen is a time between calls"},
    {"top-functions", "select 1 from slice limit 1", "call", "no call passes"},
};

/* Whether a statement has a row, where :name is a text; NULL: it has no such. */
static bool has_row(const struct tw_sql_run *run, const char *text, const char *name)
{
	sqlite3_stmt *statement = NULL;
	bool some = sqlite3_prepare_v2(run->db, text, -1, &statement, NULL) == SQLITE_OK;
	if (some && name)
		sqlite3_bind_text(statement, 1, name, -1, SQLITE_TRANSIENT);
	some = some && sqlite3_step(statement) == SQLITE_ROW;
	sqlite3_finalize(statement);
	return some;
}

static const char *value_of(const struct tw_sql_run *run, const char *parameter)
{
	const struct tw_list *given = &run->options->parameters;
	const size_t length = strlen(parameter);
	const char *value = NULL;
	for (size_t i = 0; i < given->count; i++)
		if (strncmp(given->items[i], parameter, length) == 0)
			value = given->items[i] + length;
	return value;
}

static void say_latency(const struct tw_sql_run *run)
{
	static const char asks[] =
	    "select 1 from slice where name = ?1 union all select 1 from instant where name = ?1";
	const char *ends[] = {value_of(run, "from="), value_of(run, "to=")};
	bool missing = false;
	for (size_t i = 0; i < 2; i++)
		if (ends[i] && !has_row(run, asks, ends[i])) {
			tw_say("no slice or instant is called %s", ends[i]);
			missing = true;
		}
	if (!missing && ends[0] && ends[1])
		tw_say("no %s comes after a %s", ends[1], ends[0]);
}

void tw_sql_say_missing(const struct tw_sql_run *run, const char *query, char **paths, size_t count)
{
	const struct tw_common *common = &run->options->common;
	if (strcmp(query, "latency") == 0 && run->rows.first == 0)
		say_latency(run);
	for (size_t i = 0; i < sizeof needs / sizeof *needs && run->rows.answered == 0; i++) {
		if (strcmp(needs[i].query, query) != 0)
			continue;
		if (has_row(run, needs[i].asks, NULL))
			tw_say("%s", needs[i].otherwise);
		else
			tw_say_instead(common, needs[i].what, UINT32_MAX, paths, count);
	}
}
