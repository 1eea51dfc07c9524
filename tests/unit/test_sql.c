/* test_sql.c - the virtual tables against rows computed by hand from the listing beside the archive. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql_archives.h"
#include "sql_scene.h"
#include "suite.h"

#include <unistd.h>

/* ---- Rows. ---- */

struct example {
	const char *query, *rows;
};

static void expect_all(const char *first, const char *second, const struct example *examples, size_t count)
{
	struct scene scene;
	set_up(&scene, first, second);
	for (size_t i = 0; i < count; i++)
		expect(&scene, examples[i].query, examples[i].rows);
	tear_down(&scene);
}

/* The clock has 24 ticks a microsecond; the first event is at tick 5000. So tick 1,000,400 is at 41,475,000 ns. */
static void test_fxt_rows(void **state)
{
	(void)state;
	static const struct example examples[] = {
	    {"select name, category, ts, dur, depth, end_kind, args from slice order by ts",
	     "8 bytes!|inline category|16667|4166|0|ended|{\"an inline argument name\":\"and an inline value\"}\n"
	     "scope|cat|41475000|4167|0|ended|{\"k\":9}\n"
	     "be|cat|41483333|8334|0|ended|{\"a\":1,\"b\":2}\n"
	     "step|cat|41495833|12500|0|ended|\n"},
	    {"select tid, t.name, pid, p.name from thread t join process p using (upid) where pid = 1000 order by tid",
	     "1001|main-thread|1000|proc-name\n1002|other thread|1000|proc-name\n1003|worker|1000|proc-name\n"},
	    {"select c.ts, c.value, t.name, t.series, t.counter_id from counter c join counter_track t on t.id = c.track_id "
	     "order by c.id",
	     "41470833|42|counter|x|555\n41470833|2.25|counter|y|555\n41470833|-7|counter|z|555\n"},
	    {"select f.ts_out, f.ts, a.name, b.name, f.trace_id from flow f left join slice a on a.id = slice_out "
	     "left join slice b on b.id = slice_in order by f.ts",
	     "41487500|41500000|be|step|1234605616436508552\n41500000|41504167|step|step|1234605616436508552\n"},
	    {"select name, ts, dur from async_slice", "async|41512500|8333\n"},
	    {"select msg, ts, tid from log join thread using (utid) order by ts",
	     "This is a log message|8333|1002\n12345678|12500|2001\n"},
	    {"select s.cpu, s.ts, s.dur, tid from sched s join thread using (utid) order by s.ts",
	     "3|0|-1|2001\n255|4167|-1|0\n"},
	    {"select name, scope from instant where name like 'instant%' order by ts",
	     "instant_thread|thread\ninstant_process|process\ninstant_global|global\n"},
	    {"select key, value_type, int_value, real_value, string_value from args join instant i using (arg_set_id) "
	     "where i.name = 'instant_global' order by args.id",
	     "n|null|||\ni32|int|-2147483648||\nu32|uint|4294967295||\ni64|int|-9223372036854775808||\n"
	     "u64|uint|-1||\nf|real||-1.5|\ns|string|||dynamic \xc3\xa9\nlit|string|||literal\n"
	     "p|pointer|3735928559||\nk|koid|77||\nbt|bool|1||\nbf|bool|0||\ne|string|||\n"},
	    /* The arguments of a slice's end are the slice's. */
	    {"select key, int_value from args join slice using (arg_set_id) where name = 'be' order by key",
	     "a|1\nb|2\n"},
	    /* Everything leads to its arguments. */
	    {"select value, int_value, real_value from counter join args using (arg_set_id) where key = series order by counter.id",
	     "42|42|\n2.25||2.25\n-7|-7|\n"},
	    {"select msg, string_value, args from log join args using (arg_set_id) where utid = 2",
	     "This is a log message|This is a log message|{\"message\":\"This is a log message\"}\n"},
	    {"select cpu, int_value from sched join args using (arg_set_id) where key = 'incoming_priority' order by 1",
	     "3|20\n255|0\n"},
	    {"select args ->> 'i32', args ->> 's', args ->> 'bt', args -> 'n' from instant where name = 'instant_global'",
	     "-2147483648|dynamic \xc3\xa9|1|null\n"},
	    {"select count(*), count(args), count(arg_set_id) from instant where name = 'instant_thread'", "1|0|0\n"},
	    {"select kind, count(*) from fxt_record where kind like 'event.duration%' group by kind",
	     "event.duration-begin|3\nevent.duration-complete|1\nevent.duration-end|3\n"},
	    {"select fields ->> 'name', size from fxt_record r join slice s on s.id = r.id where s.name = 'scope'",
	     "scope|32\n"},
	    {"select format, bytes, start_ts, end_ts from trace", "fxt|66832|208333|41733333\n"},
	    {"select count(*) from fdr_record", "0\n"},
	    {"select severity, rule from finding order by record limit 1", "warning|fxt.flow-without-begin\n"},
	};
	expect_all("fxt/oneshot_all.fxt", NULL, examples, sizeof examples / sizeof *examples);
}

static void test_operations_and_their_arguments(void **state)
{
	(void)state;
	static const struct example examples[] = {
	    {"select name, async_id, args from async_slice where name <> 'legacy' order by ts",
	     "URLRequest|31|{\"url\":\"x\"}\nAnimation|10|{\"state\":null}\n"},
	    {"select name, args ->> 'url' from async_slice where ts > 1043000", "Animation|\nlegacy|\n"},
	    {"select name, args from instant where args is not null", "navigationStart|{\"ph\":\"R\"}\n"},
	};
	expect_all("chrome/phases.json", NULL, examples, sizeof examples / sizeof *examples);
}

/* Two files are one after the other, with ids of their own. */
static void test_two_files(void **state)
{
	(void)state;
	static const struct example examples[] = {
	    {"select format, count(*) from trace group by format order by 1", "fxt|1\nxray-fdr|1\n"},
	    {"select count(distinct id), count(*) from (select id from slice union all select id from instant)",
	     "37|37\n"},
	    {"select count(distinct utid) from thread", "8\n"},
	    {"select count(*) from slice s join thread t using (utid) where t.tid = 101 and s.file glob '*v5.xray'",
	     "14\n"},
	    {"select count(*) from slice s join thread t using (utid) where t.tid = 101 and s.file glob '*oneshot*'",
	     "0\n"},
	};
	expect_all("fxt/oneshot_all.fxt", "xray/v5.xray", examples, sizeof examples / sizeof *examples);
}

/* ---- Conditions that are pushed down leave what SQLite itself would leave. ---- */

static void test_conditions(void **state)
{
	(void)state;
	static const struct {
		const char *pushed, *plain;
	} conditions[] = {
	    {"ts >= 41483333 and ts < 41504167", "+ts >= 41483333 and +ts < 41504167"},
	    {"ts > 41483333 and ts <= 41504167", "+ts > 41483333 and +ts <= 41504167"},
	    {"ts = 41495833", "+ts = 41495833"},
	    {"ts > 41483332.5 and ts < 41495833.5", "+ts > 41483332.5 and +ts < 41495833.5"},
	    {"ts > '5'", "+ts > 5"},
	    {"ts < 'a'", "+ts < 'a'"},
	    {"ts > null", "+ts > null"},
	    {"ts > 9223372036854775807", "+ts > 9223372036854775807"},
	    {"ts >= -9223372036854775808", "+ts >= -9223372036854775808"},
	    {"ts < 1e300 and ts > -1e300", "+ts < 1e300 and +ts > -1e300"},
	    {"utid = 1", "+utid = 1"},
	    {"utid = 999", "+utid = 999"},
	    {"utid = -1", "+utid = -1"},
	    {"utid in (1, 2)", "+utid in (1, 2)"},
	    {"utid = 1 or utid = 2", "+utid = 1 or +utid = 2"},
	    {"name = 'be' or ts < 20000", "+name = 'be' or +ts < 20000"},
	    {"name = 'be'", "+name = 'be'"},
	    {"name = 'BE' collate nocase", "+name = 'BE' collate nocase"},
	    {"name glob '*e*'", "+name glob '*e*'"},
	    {"name glob '[sb]*' and category = 'cat'", "+name glob '[sb]*' and +category = 'cat'"},
	    {"category glob 'c*'", "+category glob 'c*'"},
	    {"name is null", "+name is null"},
	    {"name = 5", "+name = 5"},
	    {"utid = 1 and ts > 41480000 and name = 'step'", "+utid = 1 and +ts > 41480000 and +name = 'step'"},
	};
	static const char *const tables[] = {"slice", "instant", "counter", "async_slice", "flow"};
	struct scene scene;
	set_up(&scene, "fxt/oneshot_all.fxt", NULL);
	for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
		for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++)
			expect_same(&scene, "*", tables[t], conditions[i].pushed, conditions[i].plain);
	tear_down(&scene);
}

/* The same over many windows of a trace with nested slices. */
static void test_windows(void **state)
{
	(void)state;
	static const char *const files[] = {"fxt/streaming.fxt", "xray/v5.xray", "chrome/phases.json"};
	for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
		struct scene scene;
		set_up(&scene, files[f], NULL);
		for (int i = 0; i < 10; i++) {
			char pushed[200], plain[200];
			snprintf(
			    pushed, sizeof pushed,
			    "ts >= (select end_ts - start_ts from trace) / 12 * %d and ts < (select end_ts - start_ts "
			    "from trace) / 12 * %d",
			    i, i + 2);
			snprintf(plain, sizeof plain,
			         "+ts >= (select end_ts - start_ts from trace) / 12 * %d and +ts < (select end_ts - "
			         "start_ts from trace) / 12 * %d",
			         i, i + 2);
			expect_same(&scene, "*", "slice", pushed, plain);
			expect_same(&scene, "*", "instant", pushed, plain);
		}
		tear_down(&scene);
	}
}

/* ---- Joins: the inner table is read now and then, not for each row of the outer one. ---- */

static void test_joins(void **state)
{
	(void)state;
	/* `plain` has SQLite's own tables instead; most: how often the file may be read. */
	static const struct {
		const char *query;
		unsigned most;
	} joins[] = {
	    {"select a.id, count(*), sum(b.dur) from %s a cross join %s b where a.depth = 1 and a.id < 60000 and b.ts between a.ts "
	     "and a.ts + a.dur group by a.id order by a.id",
	     40},
	    {"select a.id, count(*) from %s a cross join %s b where a.depth = 1 and a.id < 60000 and b.utid = a.utid and b.ts > a.ts and "
	     "b.ts <= a.ts + a.dur and b.name glob 'a*' group by a.id order by a.id",
	     40},
	    {"select a.id, b.id from %s a cross join %s b where a.depth = 2 and a.id < 60000 and b.parent_id = a.id and b.ts between a.ts "
	     "and a.ts + a.dur order by 1, 2",
	     40},
	    {"select a.id, count(*) from %s a cross join %s b where a.depth = 0 and a.id < 60000 and b.name = a.name and b.depth > 9 "
	     "group by a.id order by a.id",
	     6},
	    {"select a.id, (select count(*) from %s b where b.ts >= a.ts and b.ts < a.ts + a.dur) from %s a where a.depth = 1 and "
	     "a.id < 90000 order by a.id",
	     70},
	    {"select count(*) from (select id from %s where depth = 0 limit 60) a cross join %s b where b.dur > 2900",
	     4},
	};
	char path[] = "/tmp/trackway-sql-XXXXXX";
	struct archive archive = {.random = 3};
	assert_true(close(mkstemp(path)) == 0);
	make_archive(&archive);
	write_archive(&archive, path);
	for (size_t i = 0; i < sizeof joins / sizeof *joins; i++) {
		struct scene scene;
		char query[400], plain[400];
		set_up(&scene, NULL, NULL);
		assert_int_equal(sql_session_add(scene.session, path), 0);
		free(ask(&scene, "create temp table copy as select * from slice"));
		scene.session->options.memory_limit = 4 << 20; /* only columns that are asked for have room */
		snprintf(query, sizeof query, joins[i].query, "slice", "slice");
		snprintf(plain, sizeof plain, joins[i].query, "copy", "copy");
		char *rows = ask(&scene, plain);
		assert_true(strlen(rows) > 0);
		uint64_t before = scene.session->scans;
		expect(&scene, query, rows);
		if (scene.session->scans - before > joins[i].most)
			fail_msg("%s: the file was read %llu times", query,
			         (unsigned long long)(scene.session->scans - before));
		free(rows);
		tear_down(&scene);
	}
	unlink(path);
	free(archive.bytes);
}

/* ---- Groups and order. ---- */

static void test_groups(void **state)
{
	(void)state;
	static const char *const files[] = {"fxt/streaming.fxt", "xray/v5.xray", "chrome/phases.json"};
	for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
		struct scene scene;
		set_up(&scene, files[f], NULL);
		char *rows =
		    ask(&scene, "select +name, count(*), sum(dur), max(ts), min(depth), max(category), max(args) "
		                "from slice group by +name order by 1");
		assert_true(strlen(rows) > 0);
		expect(&scene,
		       "select * from (select name, count(*), sum(dur), max(ts), min(depth), max(category), max(args) "
		       "from slice group by name) order by 1",
		       rows);
		free(rows);
		/* Without a column of the record the calls are dealt by the format, where it can. */
		rows = ask(
		    &scene,
		    "select +name, count(*), sum(dur), sum(self_dur), max(ts), sum(depth), max(end_kind) from slice "
		    "where +ts between 1000 and 1000000000 and id > 0 group by +name order by 1");
		expect(&scene,
		       "select name, count(*), sum(dur), sum(self_dur), max(ts), sum(depth), max(end_kind) from slice "
		       "where ts between 1000 and 1000000000 group by name order by name",
		       rows);
		free(rows);
		rows =
		    ask(&scene, "select +name, sum(dur) from slice where +name glob '*a*' group by +name order by 1");
		expect(&scene, "select name, sum(dur) from slice where name glob '*a*' group by name order by name",
		       rows);
		free(rows);
		rows = ask(&scene, "select distinct +name from slice order by 1");
		expect(&scene, "select * from (select distinct name from slice) order by 1", rows);
		free(rows);
		rows =
		    ask(&scene, "select name, sum(dur) from slice where ts > 100 group by +name order by +name desc");
		expect(&scene, "select name, sum(dur) from slice where ts > 100 group by name order by name desc",
		       rows);
		free(rows);
		rows = ask(&scene, "select name, dur, category from slice order by +name, dur, category");
		expect(&scene, "select name, dur, category from slice order by name, dur, category", rows);
		expect(&scene,
		       "select * from (select name, dur, category from slice order by name limit -1)"
		       " order by name, dur, category",
		       rows);
		free(rows);
		tear_down(&scene);
	}
}

/* Calls that are dealt say the same as those that are made of their records; those that nest are dealt as such. */
static void test_dealt(void **state)
{
	(void)state;
	static const struct {
		const char *columns, *where;
	} queries[] = {
	    {"count(*)", ""},
	    {"count(*), sum(dur)", ""},
	    {"count(*), sum(dur), sum(self_dur), sum(ts), min(utid), max(utid), min(end_kind), max(end_kind)", ""},
	    {"sum(dur), max(dur), sum(self_dur)", ""},
	    {"count(*), sum(dur), min(ts), max(ts)", "and ts between 4000000 and 9000000"},
	    {"sum(self_dur)", "and name > 'b' and dur > 500"},
	};
	static put_turn_fn *const turns[] = {put_turn, put_nesting_turn};
	char path[] = "/tmp/trackway-sql-XXXXXX";
	assert_true(close(mkstemp(path)) == 0);
	for (size_t i = 0; i < 2; i++) {
		struct archive archive = {.random = 5};
		make_archive_of(&archive, turns[i], 150);
		write_archive(&archive, path);
		for (size_t k = 0; k < sizeof queries / sizeof *queries; k++) {
			struct scene scene;
			char query[300];
			set_up(&scene, NULL, NULL);
			assert_int_equal(sql_session_add(scene.session, path), 0);
			snprintf(query, sizeof query, "select +name, %s from slice where id > 0 %s group by +name",
			         queries[k].columns, queries[k].where);
			char *rows = ask(&scene, query);
			assert_true(strlen(rows) > 20);
			snprintf(query, sizeof query, "select name, %s from slice where 1 %s group by name",
			         queries[k].columns, queries[k].where);
			expect(&scene, query, rows);
			free(rows);
			tear_down(&scene);
		}
		free(archive.bytes);
	}
	unlink(path);
}

/* Whoever waits for an answer may end it. */
static void test_stop(void **state)
{
	(void)state;
	static const char *const queries[] = {
	    "select name, sum(dur) from slice group by name", /* dealt */
	    "select name, max(args) from slice group by name",
	    "select count(*) from slice",
	    "select count(*) from thread",
	};
	volatile sig_atomic_t stop = 1;
	for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
		struct scene scene;
		set_up(&scene, "fxt/streaming.fxt", NULL);
		scene.session->hooks.stop = &stop;
		assert_int_equal(sqlite3_exec(scene.db, queries[i], NULL, NULL, NULL), SQLITE_INTERRUPT);
		stop = 0;
		assert_int_equal(sqlite3_exec(scene.db, queries[i], NULL, NULL, NULL), SQLITE_OK);
		stop = 1;
		tear_down(&scene);
	}
}

/* The same name in several files is one group; what is of one file alone SQLite sorts. */
static void test_groups_of_files(void **state)
{
	(void)state;
	static const struct {
		const char *columns, *tail;
	} queries[] = {
	    {"name, count(*)", "group by name order by name"},
	    {"name, count(*), sum(dur), sum(self_dur), max(depth), min(end_kind)", "group by name order by name desc"},
	    {"name, sum(dur)", "where name glob '*a*' and dur > 10 group by name order by name"},
	    {"category, count(*)", "group by category order by category"},
	    {"name, count(*), min(ts), count(distinct utid), max(file)", "group by name order by name"},
	    {"utid, count(*), sum(dur)", "group by utid order by utid"},
	    {"track_id, count(*), sum(self_dur), max(depth)", "group by track_id order by track_id desc"},
	    {"utid, count(*), sum(dur)", "where name glob '*a*' group by utid order by utid desc"},
	    {"utid, count(*), min(name)", "where name = 'step' or dur > 1000 group by utid order by utid"},
	};
	static const char *const pairs[][2] = {
	    {"fxt/streaming.fxt", "fxt/oneshot_all.fxt"},
	    {"chrome/phases.json", "fxt/streaming.fxt"},
	    {"fxt/streaming.fxt", "fxt/streaming.fxt"},
	};
	for (size_t f = 0; f < sizeof pairs / sizeof *pairs; f++) {
		for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
			struct scene scene;
			char query[300];
			set_up(&scene, pairs[f][0], pairs[f][1]);
			free(ask(&scene, "create temp table copy as select *, file from slice"));
			snprintf(query, sizeof query, "select %s from copy %s", queries[i].columns, queries[i].tail);
			char *rows = ask(&scene, query);
			assert_true(strlen(rows) > 0);
			snprintf(query, sizeof query, "select %s from slice %s", queries[i].columns, queries[i].tail);
			expect(&scene, query, rows);
			scene.session->options.memory_limit = 1 << 16;
			expect(&scene, query, rows);
			free(rows);
			tear_down(&scene);
		}
	}
}

/* Of one file threads are put together while it is read: SQLite sorts nothing. */
static void test_groups_of_threads(void **state)
{
	(void)state;
	static const char *const queries[][2] = {
	    {"select %s, count(*), sum(dur), min(name), max(depth) from slice group by %s order by 1", "utid"},
	    {"select %s, count(*), sum(dur), sum(self_dur) from slice group by %s order by 1 desc", "track_id"},
	    {"select %s, count(*), sum(dur) from slice where name glob '*a*' group by %s order by 1", "utid"},
	    {"select %s, count(*), max(ts) from instant where ts > 100 group by %s order by 1", "utid"},
	};
	static const char *const files[] = {"fxt/streaming.fxt", "xray/v5.xray", "chrome/phases.json"};
	for (size_t f = 0; f < sizeof files / sizeof *files; f++)
		for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
			struct scene scene;
			char query[300], plain[32];
			set_up(&scene, files[f], NULL);
			snprintf(plain, sizeof plain, "+%s", queries[i][1]);
			snprintf(query, sizeof query, queries[i][0], plain, plain);
			char *rows = ask(&scene, query);
			snprintf(query, sizeof query, queries[i][0], queries[i][1], queries[i][1]);
			expect(&scene, query, rows);
			scene.session->options.memory_limit = 1 << 18;
			expect(&scene, query, rows);
			free(rows);
			char explained[320];
			snprintf(explained, sizeof explained, "explain query plan %s", query);
			char *plan = ask(&scene, explained);
			assert_null(strstr(plan, "TEMP B-TREE"));
			free(plan);
			tear_down(&scene);
		}
}

/* What a small limit has no room for goes through a file. */
static void test_groups_in_file(void **state)
{
	(void)state;
	struct scene scene;
	set_up(&scene, "fxt/streaming.fxt", NULL);
	char *rows = ask(&scene, "select name, count(*), sum(dur), sum(id), sum(ts) from slice group by +name");
	scene.session->options.memory_limit = 1 << 18;
	expect(&scene, "select name, count(*), sum(dur), sum(id), sum(ts) from slice group by name", rows);
	scene.session->options.temporary_directory = "/nonexistent";
	assert_int_not_equal(sqlite3_exec(scene.db, "select name, sum(ts), sum(dur) from slice group by name", NULL,
	                                  NULL, NULL),
	                     SQLITE_OK);
	assert_non_null(strstr(sqlite3_errmsg(scene.db), "temporary file in /nonexistent: No such file"));
	free(rows);
	tear_down(&scene);
}

static void test_order(void **state)
{
	(void)state;
	struct scene scene;
	set_up(&scene, "fxt/streaming.fxt", NULL);
	free(ask(&scene, "select * from trace")); /* from now on it is known to be in order */
	char *rows = ask(&scene, "select * from instant order by +ts, id");
	expect(&scene, "select * from (select * from instant order by ts limit -1) order by ts, id", rows);
	free(rows);
	expect(&scene,
	       "select count(*) from (select ts, lag(ts) over (rows 1 preceding) as before from "
	       "(select ts from slice order by ts limit -1)) where ts < before",
	       "0\n");
	tear_down(&scene);
}

/* ---- What goes wrong. ---- */

static void expect_failure(struct scene *scene, const char *query, const char *text)
{
	int result = sqlite3_exec(scene->db, query, NULL, NULL, NULL);
	assert_int_not_equal(result, SQLITE_OK);
	if (!strstr(sqlite3_errmsg(scene->db), text))
		fail_msg("%s: expected \"%s\", found \"%s\"", query, text, sqlite3_errmsg(scene->db));
}

static void copy_file(const char *from, const char *to, size_t least)
{
	FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
	assert_true(in && out);
	for (int c; (c = getc(in)) != EOF;)
		putc(c, out);
	for (size_t i = 0; i < least; i++)
		putc(0, out);
	fclose(in);
	fclose(out);
}

static void test_changed_file(void **state)
{
	(void)state;
	char folder[] = "/tmp/trackway-sql-XXXXXX", path[64];
	char *from = data_path("fxt/oneshot_all.fxt");
	struct scene scene;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/a.fxt", folder);
	copy_file(from, path, 0);
	set_up(&scene, NULL, NULL);
	assert_int_equal(sql_session_add(scene.session, path), 0);
	expect(&scene, "select count(*) from slice", "4\n");
	copy_file(from, path, 8);
	expect_failure(&scene, "select count(*) from slice", "the file has changed since it was first read");
	unlink(path);
	expect_failure(&scene, "select count(*) from slice", "No such file");
	tear_down(&scene);
	rmdir(folder);
	free(from);
}

static void test_file_that_is_no_trace(void **state)
{
	(void)state;
	struct scene scene;
	set_up(&scene, "fxt/oneshot_all.expected.txt", NULL);
	expect_failure(&scene, "select * from slice", "expected the header of a trace");
	expect_failure(&scene, "create virtual table t using trackway('x.fxt', 'nonsense')",
	               "there is no table nonsense");
	tear_down(&scene);
	set_up(&scene, NULL, NULL);
	expect_failure(&scene, "select * from slice", "no trace is open");
	tear_down(&scene);
}

static void test_own_table(void **state)
{
	(void)state;
	struct scene scene;
	char *path = data_path("fxt/oneshot_all.fxt"), *create;
	set_up(&scene, NULL, NULL);
	create =
	    sqlite3_mprintf("create virtual table a using trackway(%Q); create virtual table b using trackway(%Q, log)",
	                    path, path);
	assert_int_equal(sqlite3_exec(scene.db, create, NULL, NULL, NULL), SQLITE_OK);
	expect(&scene, "select count(*) from a", "4\n");
	expect(&scene, "select count(*) from b", "2\n");
	sqlite3_free(create);
	free(path);
	tear_down(&scene);
}

SUITE(sql)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_fxt_rows),
	    cmocka_unit_test(test_operations_and_their_arguments),
	    cmocka_unit_test(test_two_files),
	    cmocka_unit_test(test_conditions),
	    cmocka_unit_test(test_windows),
	    cmocka_unit_test(test_joins),
	    cmocka_unit_test(test_groups),
	    cmocka_unit_test(test_order),
	    cmocka_unit_test(test_groups_of_threads),
	    cmocka_unit_test(test_groups_in_file),
	    cmocka_unit_test(test_groups_of_files),
	    cmocka_unit_test(test_stop),
	    cmocka_unit_test(test_dealt),
	    cmocka_unit_test(test_changed_file),
	    cmocka_unit_test(test_file_that_is_no_trace),
	    cmocka_unit_test(test_own_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
