/* sql_queries.c - the ready queries, from share/trackway/queries. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sql/sql_run.h"

#include "sql_queries.h" /* needs the struct */

#include <string.h>

enum { NAME_COLUMN = 22 };

const struct tw_sql_query *tw_sql_query_at(size_t i)
{
	return i < sizeof queries / sizeof *queries ? &queries[i] : NULL;
}

const struct tw_sql_query *tw_sql_query_named(const char *name)
{
	for (size_t i = 0; i < sizeof queries / sizeof *queries; i++)
		if (strcmp(queries[i].name, name) == 0)
			return &queries[i];
	return NULL;
}

/* The first line, without the dashes of its comment. */
static void put_title(struct tw_output *out, const struct tw_sql_query *query)
{
	const char *title = query->text + strspn(query->text, "- ");
	tw_put(out, title, strcspn(title, "\n"));
}

int tw_sql_list_queries(const struct tw_common *common)
{
	struct tw_screen screen = {0};
	if (tw_screen_open(&screen, common->output))
		return TW_EXIT_FAILED;
	for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
		tw_putf(&screen.out, "%-*s", NAME_COLUMN, queries[i].name);
		put_title(&screen.out, &queries[i]);
		tw_put_char(&screen.out, '\n');
	}
	return tw_screen_close(&screen);
}
