/* sql_scene.h - files in a session, and queries to it with the rows that they should give. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_SCENE_H
#define SQL_SCENE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sql/tables/tables.h"

struct scene {
	struct sql_session *session;
	sqlite3 *db;
};

static inline char *data_path(const char *name)
{
	char *path = NULL;
	assert_true(asprintf(&path, "%s/%s", getenv("TW_TEST_DATA"), name) > 0);
	return path;
}

static inline void set_up(struct scene *scene, const char *first, const char *second)
{
	const struct tw_read_options options = {.jobs = 1};
	const char *const names[] = {first, second};
	assert_null(sql_sqlite_load());
	scene->session = sql_session_new(&options);
	assert_non_null(scene->session);
	for (size_t i = 0; i < 2; i++) {
		char *path = names[i] ? data_path(names[i]) : NULL;
		assert_true(!path || sql_session_add(scene->session, path) == 0);
		free(path);
	}
	assert_int_equal(sqlite3_open(":memory:", &scene->db), SQLITE_OK);
	assert_int_equal(sql_register(scene->db, scene->session), SQLITE_OK);
}

static inline void tear_down(struct scene *scene)
{
	assert_int_equal(sqlite3_close(scene->db), SQLITE_OK);
	sql_session_free(scene->session);
}

/* The rows of an answer: values with "|" between them, rows with a line end. The caller frees it. */
static inline char *ask(struct scene *scene, const char *query)
{
	sqlite3_stmt *statement = NULL;
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	assert_non_null(file);
	if (sqlite3_prepare_v2(scene->db, query, -1, &statement, NULL) != SQLITE_OK)
		fail_msg("%s: %s", query, sqlite3_errmsg(scene->db));
	int result;
	while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(statement); i++) {
			const char *value = (const char *)sqlite3_column_text(statement, i);
			fprintf(file, "%s%s", i ? "|" : "", value ? value : "");
		}
		putc('\n', file);
	}
	if (result != SQLITE_DONE)
		fail_msg("%s: %s", query, sqlite3_errmsg(scene->db));
	sqlite3_finalize(statement);
	fclose(file);
	return text;
}

static inline void expect(struct scene *scene, const char *query, const char *rows)
{
	char *found = ask(scene, query);
	if (strcmp(found, rows) != 0)
		fail_msg("%s:\nexpected:\n%sfound:\n%s", query, rows, found);
	free(found);
}

/* Two conditions leave the same rows: one that is pushed down, and one with a plus, which keeps SQLite's to itself. */
static inline void expect_same(struct scene *scene, const char *columns, const char *table, const char *pushed,
                               const char *plain)
{
	char *a = sqlite3_mprintf("select %s from %s where %s order by id", columns, table, pushed);
	char *b = sqlite3_mprintf("select %s from %s where %s order by id", columns, table, plain);
	char *rows = ask(scene, b);
	expect(scene, a, rows);
	free(rows);
	sqlite3_free(a);
	sqlite3_free(b);
}

#endif
