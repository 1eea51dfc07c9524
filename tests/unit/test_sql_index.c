/* test_sql_index.c - windows of traces long enough for an index, which is kept beside a file, give what all would. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"
#include "sql_archives.h"
#include "sql_scene.h"
#include "suite.h"

#include <inttypes.h>
#include <unistd.h>

#include "base/bytes/bytes.h"
#include "sql/index/keep.h"

/* ---- Windows of all. ---- */

static void expect_windows_of_lines(struct scene *scene, struct archive *archive, unsigned count)
{
	static const char *const tables[] = {"stack_sample", "counter", "slice"};
	for (unsigned i = 0; i < count; i++) {
		char pushed[100], plain[100];
		uint64_t low = UINT64_C(1000000) * draw(archive, LOG_LINES);
		uint64_t high = low + UINT64_C(1000000) * (1 + draw(archive, 900));
		snprintf(pushed, sizeof pushed, "ts between %" PRIu64 " and %" PRIu64, low, high);
		snprintf(plain, sizeof plain, "+ts between %" PRIu64 " and %" PRIu64, low, high);
		for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
			expect_same(scene, "*", tables[t], pushed, plain);
	}
}

static void test_index_of_lines(void **state)
{
	(void)state;
	char path[] = "/tmp/trackway-sql-XXXXXX";
	struct archive archive = {.random = 11};
	struct scene scene;
	assert_true(close(mkstemp(path)) == 0);
	make_lines(&archive);
	write_archive(&archive, path);
	set_up(&scene, NULL, NULL);
	assert_int_equal(sql_session_add(scene.session, path), 0);
	expect_windows_of_lines(&scene, &archive, 12);
	expect(&scene, "select count(*) > 12000, count(distinct callsite_id) > 1000 from stack_sample", "1|1\n");
	assert_true(scene.session->windows > 20);
	tear_down(&scene);
	unlink(path);
	free(archive.bytes);
}

static void expect_windows(void (*make)(struct archive *archive), uint64_t least)
{
	char path[] = "/tmp/trackway-sql-XXXXXX";
	struct archive archive = {.random = 11};
	struct scene scene;
	assert_true(close(mkstemp(path)) == 0);
	make(&archive);
	write_archive(&archive, path);
	set_up(&scene, NULL, NULL);
	assert_int_equal(sql_session_add(scene.session, path), 0);
	for (uint32_t i = 0; i < 60; i++) {
		char pushed[200], plain[200];
		uint32_t low = draw(&archive, 7000000), high = low + draw(&archive, 300000), utid = 1 + i % THREADS;
		const char *and_thread = i % 2 ? " and utid = " : " and 1 + ";
		snprintf(pushed, sizeof pushed, "ts >= %u and ts < %u%s%u", low, high, and_thread, utid);
		snprintf(plain, sizeof plain, "+ts >= %u and +ts < %u%s%u", low, high, and_thread, utid);
		expect_same(&scene, "*", "slice", pushed, plain);
		expect_same(&scene, "*", "instant", pushed, plain);
	}
	expect(&scene, "select count(*) > 10000, max(depth) > 5 from slice", "1|1\n");
	expect(&scene, "select count(*) from finding where severity = 'error'", "0\n");
	assert_true(scene.session->windows > least);
	tear_down(&scene);
	unlink(path);
	free(archive.bytes);
}

static void test_index_of_chunks(void **state)
{
	(void)state;
	expect_windows(make_archive, 30); /* slices overlap: of instants alone */
	expect_windows(make_nesting_archive, 60);
}

static void test_index_of_buffers(void **state)
{
	(void)state;
	expect_windows(make_log, 60);
}

/* ---- What is kept beside a file. ---- */

static const char window_query[] =
    "select count(*), coalesce(sum(dur), 0), sum(depth), sum(id), max(name), max(utid) from slice where ts between "
    "2000000 and 2200000";

/* The answer of a session of its own that keeps what it finds; NULL when it fails. */
static char *ask_kept(const char *path, uint64_t *windows, bool *refused)
{
	struct scene scene;
	char *text = NULL;
	set_up(&scene, NULL, NULL);
	scene.session->keep_index = true;
	assert_int_equal(sql_session_add(scene.session, path), 0);
	const char *why = NULL;
	struct sql_survey *kept = sql_file_check(scene.session, 0) == 0 ? sql_keep_load(scene.session, 0, &why) : NULL;
	*refused = why != NULL;
	sql_survey_free(kept);
	sqlite3_stmt *statement = NULL;
	if (sqlite3_prepare_v2(scene.db, window_query, -1, &statement, NULL) == SQLITE_OK &&
	    sqlite3_step(statement) == SQLITE_ROW)
		text = strdup((const char *)sqlite3_column_text(statement, 1));
	sqlite3_finalize(statement);
	*windows = scene.session->windows;
	tear_down(&scene);
	return text;
}

enum { HEAD_SIZE = 56, HASH_PLACE = 48, VERSION = 3 };

static void write_file(const char *path, const uint8_t *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

static void expect_kept(const char *path, const char *expected, bool refused)
{
	uint64_t windows;
	bool found;
	char *text = ask_kept(path, &windows, &found);
	assert_non_null(text);
	assert_string_equal(text, expected);
	assert_int_equal(found, refused);
	assert_int_equal(windows, 1);
	free(text);
}

static void expect_kept_index(void (*make)(struct archive *archive))
{
	enum { ROOM = 1 << 22 };
	char folder[] = "/tmp/trackway-sql-XXXXXX", path[48], kept[64];
	struct archive archive = {.random = 5};
	uint8_t *bytes = malloc(ROOM), *changed = malloc(ROOM);
	uint64_t windows;
	bool refused;
	assert_true(bytes && changed && mkdtemp(folder));
	snprintf(path, sizeof path, "%s/trace", folder);
	snprintf(kept, sizeof kept, "%s.twindex", path);
	make(&archive);
	write_archive(&archive, path);
	char *expected = ask_kept(path, &windows, &refused);
	assert_true(expected && !refused && windows == 1);
	expect_kept(path, expected, false);
	size_t size = read_file(kept, bytes, ROOM);
	assert_true(size > HEAD_SIZE && size < ROOM);

	/* One that is cut, or of another file, is not used, and made anew. */
	write_file(kept, bytes, size - 8);
	expect_kept(path, expected, true);
	expect_kept(path, expected, false);
	memcpy(changed, bytes, size);
	changed[40] ^= 1; /* the hash of the file's first bytes */
	write_file(kept, changed, size);
	expect_kept(path, expected, true);

	/* One that lies gives wrong answers or is refused, but is never believed about what is where in memory. */
	for (int i = 0; i < 100; i++) {
		memcpy(changed, bytes, size);
		size_t word = HEAD_SIZE + 8 * (draw(&archive, (uint32_t)(size - HEAD_SIZE) / 8));
		int byte = draw(&archive, 2) ? 0xff : (int)draw(&archive, 256);
		memset(changed + word, byte, 1 + draw(&archive, 8));
		uint64_t hash = tw_hash_bytes(changed + HEAD_SIZE, size - HEAD_SIZE, VERSION);
		tw_store64(changed + HASH_PLACE, hash, false);
		write_file(kept, changed, size);
		free(ask_kept(path, &windows, &refused));
	}
	unlink(kept);
	unlink(path);
	rmdir(folder);
	free(expected);
	free(bytes);
	free(changed);
	free(archive.bytes);
}

static void test_kept_index(void **state)
{
	(void)state;
	expect_kept_index(make_nesting_archive);
}

static void test_kept_index_of_buffers(void **state)
{
	(void)state;
	expect_kept_index(make_log);
}

SUITE(sql_index)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_index_of_chunks),       cmocka_unit_test(test_index_of_buffers),
	    cmocka_unit_test(test_index_of_lines),        cmocka_unit_test(test_kept_index),
	    cmocka_unit_test(test_kept_index_of_buffers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
