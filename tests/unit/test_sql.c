/* test_sql.c - the virtual tables against rows computed by hand from the listing beside the archive. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "sql/keep.h"
#include "sql/tables.h"

/* ---- Asking. ---- */

struct scene {
	struct sql_session *session;
	sqlite3 *db;
};

static char *data_path(const char *name)
{
	char *path = NULL;
	assert_true(asprintf(&path, "%s/%s", getenv("TW_TEST_DATA"), name) > 0);
	return path;
}

static void set_up(struct scene *scene, const char *first, const char *second)
{
	const struct tw_read_options options = {.jobs = 1};
	const char *const names[] = {first, second};
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

static void tear_down(struct scene *scene)
{
	assert_int_equal(sqlite3_close(scene->db), SQLITE_OK);
	sql_session_free(scene->session);
}

/* The rows of an answer: values with "|" between them, rows with a line end. The caller frees it. */
static char *ask(struct scene *scene, const char *query)
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

static void expect(struct scene *scene, const char *query, const char *rows)
{
	char *found = ask(scene, query);
	if (strcmp(found, rows) != 0)
		fail_msg("%s:\nexpected:\n%sfound:\n%s", query, rows, found);
	free(found);
}

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

/* ---- Conditions that are pushed down leave what SQLite itself would leave: a plus keeps SQLite's to itself. ---- */

static void expect_same(struct scene *scene, const char *columns, const char *table, const char *pushed,
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

/* ---- The index: an archive whose threads take turns of hundreds of records, so that a block has times of its own.
 * ---- */

struct archive {
	uint8_t *bytes;
	size_t size, room;
	uint32_t random;
};

static uint32_t draw(struct archive *archive, uint32_t below)
{
	archive->random = archive->random * 1664525 + 1013904223;
	return (archive->random >> 8) % below;
}

static void put_word(struct archive *archive, uint64_t word)
{
	if (archive->size + 8 > archive->room) {
		archive->room = archive->room ? 2 * archive->room : 1 << 16;
		archive->bytes = realloc(archive->bytes, archive->room);
		assert_non_null(archive->bytes);
	}
	for (int i = 0; i < 8; i++)
		archive->bytes[archive->size++] = (uint8_t)(word >> (8 * i));
}

static void put_string(struct archive *archive, uint64_t index, char letter)
{
	put_word(archive, 2 | 2 << 4 | index << 16 | UINT64_C(1) << 32);
	put_word(archive, (uint8_t)letter);
}

enum { THREADS = 3, NAMES = 5, INSTANT = 0, BEGIN = 2, END = 3, COMPLETE = 4 };

static void put_event(struct archive *archive, uint64_t kind, uint64_t thread, uint64_t name, uint64_t time,
                      uint64_t end)
{
	put_word(archive,
	         4 | (kind == COMPLETE ? 3u : 2u) << 4 | kind << 16 | thread << 24 | UINT64_C(1) << 32 | name << 48);
	put_word(archive, time);
	if (kind == COMPLETE)
		put_word(archive, end);
}

/* Some hundred records of a thread; times only grow. Some slices have no end, and some ends none to end. */
static void put_turn(struct archive *archive, uint64_t thread, uint64_t *time, uint64_t stack[], unsigned *depth)
{
	for (int i = 0; i < 300; i++) {
		uint64_t name = 1 + draw(archive, NAMES);
		*time += 1 + draw(archive, 900);
		uint32_t what = draw(archive, 100);
		if (what < 35 && *depth < 12) {
			put_event(archive, BEGIN, thread, name, *time, 0);
			stack[(*depth)++] = name;
		} else if (what < 70 && *depth) {
			put_event(archive, END, thread, stack[--*depth], *time, 0);
		} else if (what < 72) {
			put_event(archive, END, thread, name, *time, 0);
			*depth = *depth > 3 ? *depth - 1 : *depth;
		} else if (what < 90) {
			put_event(archive, COMPLETE, thread, name, *time, *time + draw(archive, 3000));
		} else {
			put_event(archive, INSTANT, thread, name, *time, 0);
		}
	}
}

static void make_archive(struct archive *archive)
{
	uint64_t times[THREADS] = {1000, 1001, 1002}, stacks[THREADS][16];
	unsigned depths[THREADS] = {0};
	put_word(archive, UINT64_C(0x0016547846040010));
	put_word(archive, 1 | 2 << 4);
	put_word(archive, 1000000000);
	for (uint64_t i = 1; i <= NAMES; i++)
		put_string(archive, i, (char)('a' + i - 1));
	for (uint64_t i = 1; i <= THREADS; i++) {
		put_word(archive, 3 | 3 << 4 | i << 16);
		put_word(archive, 7);
		put_word(archive, 70 + i);
	}
	for (int turn = 0; turn < 150; turn++)
		put_turn(archive, 1 + (uint64_t)turn % THREADS, &times[turn % THREADS], stacks[turn % THREADS],
		         &depths[turn % THREADS]);
}

static void write_archive(const struct archive *archive, const char *path)
{
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(archive->bytes, 1, archive->size, file), archive->size);
	fclose(file);
}

/* ---- The same of an XRay log (version 5, little-endian): metadata of 16 bytes, kind << 1 | 1 first; calls of 8.
 * ---- */

enum { NEW_BUFFER, NEW_CPU = 2, WRAP, WALL, CUSTOM, ARGUMENT, EXTENTS, PID = 9, ENTER = 0, EXIT = 1, ENTER_ARGS = 3 };

/* A metadata record: 15 bytes after the kind, of two words. */
static void put_metadata(struct archive *archive, unsigned kind, uint64_t first, uint64_t second)
{
	put_word(archive, kind << 1 | 1 | first << 8);
	put_word(archive, first >> 56 | second << 8);
}

static void put_call(struct archive *archive, unsigned action, uint32_t function, uint32_t delta)
{
	put_word(archive, function << 4 | action << 1 | (uint64_t)delta << 32);
}

struct xray_thread {
	uint64_t number, tsc;
	uint32_t stack[16];
	unsigned depth;
};

/* A record that is no call. */
static void put_other(struct archive *archive, struct xray_thread *thread, uint32_t what)
{
	thread->tsc += 7;
	if (what == 0)
		put_metadata(archive, NEW_CPU, draw(archive, 8) | thread->tsc << 16, thread->tsc >> 48);
	else if (what == 1)
		put_metadata(archive, WRAP, thread->tsc, 0);
	else
		put_metadata(archive, CUSTOM, 8 | (uint64_t)7 << 32, 0);
	if (what == 2)
		put_word(archive, 0x0807060504030201);
}

static void put_calls(struct archive *archive, struct xray_thread *thread)
{
	for (int i = 0; i < 400; i++) {
		uint32_t what = draw(archive, 100), delta = 1 + draw(archive, 900), name = 1 + draw(archive, NAMES);
		if (what < 3) {
			put_other(archive, thread, what);
			continue;
		}
		thread->tsc += delta;
		if (what >= 50 || thread->depth == 12) {
			put_call(archive, EXIT, thread->depth ? thread->stack[--thread->depth] : name, delta);
			continue;
		}
		thread->stack[thread->depth++] = name;
		put_call(archive, what < 6 ? ENTER_ARGS : ENTER, name, delta);
		if (what < 6)
			put_metadata(archive, ARGUMENT, 1, 0);
	}
}

static void put_buffer(struct archive *archive, struct xray_thread *thread, uint64_t turn)
{
	size_t extents = archive->size;
	put_metadata(archive, EXTENTS, 0, 0);
	put_metadata(archive, NEW_BUFFER, thread->number, 0);
	put_metadata(archive, WALL, 1000, turn);
	put_metadata(archive, PID, 7, 0);
	put_metadata(archive, NEW_CPU, 1 | thread->tsc << 16, thread->tsc >> 48);
	put_calls(archive, thread);
	tw_store64(archive->bytes + extents + 1, archive->size - extents - 16, false);
}

static void make_log(struct archive *archive)
{
	struct xray_thread threads[THREADS] = {{.number = 71, .tsc = 3000},
	                                       {.number = 72, .tsc = 2000},
	                                       {.number = 73, .tsc = 4000}};
	put_word(archive, 5u | 1u << 16 | UINT64_C(3) << 32);
	put_word(archive, 1000000000);
	put_word(archive, 1 << 16);
	put_word(archive, 0);
	for (uint64_t turn = 0; turn < 150; turn++)
		put_buffer(archive, &threads[turn % THREADS], turn);
}

/* ---- The same for a TraceLog, whose lines say what has changed. ---- */

enum { LOG_THREADS = 5, LOG_FUNCTIONS = 40, LOG_LINES = 20000 };

struct lines {
	struct archive *archive;
	unsigned ms;
	unsigned depths[LOG_THREADS];
	unsigned known; /* functions that have a name; others get one behind their first samples */
	unsigned compiling;
	bool collecting;
};

static void put_line(struct lines *lines, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put_line(struct lines *lines, const char *format, ...)
{
	char line[1024];
	struct archive *archive = lines->archive;
	va_list arguments;
	va_start(arguments, format);
	int size = vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	assert_true(size > 0 && size < (int)sizeof line);
	for (int i = 0; i <= size; i++) {
		if (archive->size % 8 == 0) /* makes room */
			put_word(archive, 0), archive->size -= 8;
		archive->bytes[archive->size++] = (uint8_t)(i < size ? line[i] : '\n');
	}
}

static void put_stack(struct lines *lines, unsigned thread)
{
	char frames[256] = "", at[32] = "";
	struct archive *archive = lines->archive;
	unsigned depth = lines->depths[thread], least = depth < 4 || draw(archive, 900) == 0 ? 0 : 4;
	unsigned match = least + draw(archive, depth - least + 1), more = draw(archive, 4);
	for (unsigned i = 0; i < more; i++) {
		size_t used = strlen(frames);
		unsigned function = draw(archive, lines->known + 1 < LOG_FUNCTIONS ? lines->known + 1 : LOG_FUNCTIONS);
		snprintf(frames + used, sizeof frames - used, draw(archive, 2) ? " 0x%x:0xB20000%02X" : " 0x%x",
		         function, 16 + draw(archive, 4) * 16);
	}
	if (match && draw(archive, 2))
		snprintf(at, sizeof at, ":0xB20001%02X", 16 + draw(archive, 3));
	put_line(lines, "sam str 0x%08x %u %u %u:%u%s%s", thread, lines->ms, draw(archive, 4), match, depth, at,
	         frames);
	lines->depths[thread] = match + more > 14 ? match : match + more;
	if (match + more > 14) /* it becomes too deep: all but what stayed is gone again */
		put_line(lines, "sam str 0x%08x %u 1 %u:%u", thread, lines->ms, match, match + more);
}

static void put_work(struct lines *lines, unsigned thread)
{
	if (lines->collecting)
		put_line(lines, "gch gcf %u %u", 4200 + thread, lines->ms);
	else
		put_line(lines, "gch gcs %u %u ? tfff", 4200 + thread, lines->ms);
	lines->collecting = !lines->collecting;
	if (lines->known == LOG_FUNCTIONS)
		return;
	put_line(lines, "jit cms 4200 %u 0xB6E0%04X", lines->ms, lines->known);
	put_line(lines, "fun inf 0x%08x 0xB6E0%04X 0xB6D00000 0xB6B00000 0x06000001 0xB2000000:0x200", lines->known,
	         lines->known);
	put_line(lines, "fun nam 0x%08x \"F%u\" \"void\" \"()\"", lines->known, lines->known);
	put_line(lines, "jit cmf 4200 %u 0xB6E0%04X 0x00000000", lines->ms + 2, lines->known);
	lines->known++;
}

static void put_any(struct lines *lines)
{
	struct archive *archive = lines->archive;
	unsigned thread = draw(archive, LOG_THREADS), what = draw(archive, 1000);
	lines->ms += draw(archive, 3);
	if (thread + 1 == LOG_THREADS && draw(archive, 400)) /* it seldom does anything */
		thread = 0;
	if (what < 600)
		put_stack(lines, thread);
	else if (what < 780)
		put_line(lines, "thr cpu 0x%08x %u %" PRIu64, thread, lines->ms,
		         draw(archive, 300) ? (uint64_t)draw(archive, 3000) : UINT64_MAX - draw(archive, 900000));
	else if (what < 850)
		put_line(lines, "prc cpu %u %u", lines->ms, draw(archive, 9000));
	else if (what < 996)
		put_line(lines, "sam mem 0x%08x %u 0x%x:1:%u", thread, lines->ms, draw(archive, 3),
		         8 + draw(archive, 99));
	else if (what < 998)
		put_line(lines, "gch alt %u 0x%x:2:%u", lines->ms, draw(archive, 3), 16 + draw(archive, 999));
	else
		put_work(lines, thread);
}

static void make_lines(struct archive *archive)
{
	struct lines lines = {.archive = archive, .ms = 100};
	put_line(&lines, "prf stm 2018-06-25 07:24:28.049 +09:00");
	put_line(&lines, "prf cfg CollectionMethod Sampling");
	put_line(&lines, "prf cfg CpuTraceTimeoutMs 10");
	for (unsigned i = 0; i < 3; i++)
		put_line(&lines, "cls nam 0x%08x \"C%u\"", i, i);
	for (unsigned i = 0; i < LOG_THREADS; i++) {
		put_line(&lines, "thr crt 0xB6A0%04X 0x%08x", 4096 * i, i);
		put_line(&lines, "thr aos 0x%08x %u", i, 4200 + i);
	}
	for (unsigned i = 0; i < LOG_LINES; i++)
		put_any(&lines);
}

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

static void expect_windows(void (*make)(struct archive *archive))
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
	assert_true(scene.session->windows > 60);
	tear_down(&scene);
	unlink(path);
	free(archive.bytes);
}

static void test_index(void **state)
{
	(void)state;
	expect_windows(make_archive);
}

static void test_index_of_buffers(void **state)
{
	(void)state;
	expect_windows(make_log);
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

static size_t read_file(const char *path, uint8_t *bytes, size_t room)
{
	FILE *file = fopen(path, "rb");
	assert_non_null(file);
	size_t size = fread(bytes, 1, room, file);
	fclose(file);
	return size;
}

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
	char path[] = "/tmp/trackway-sql-XXXXXX", kept[64];
	struct archive archive = {.random = 5};
	uint8_t *bytes = malloc(ROOM), *changed = malloc(ROOM);
	uint64_t windows;
	bool refused;
	assert_true(bytes && changed && close(mkstemp(path)) == 0);
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
	free(expected);
	free(bytes);
	free(changed);
	free(archive.bytes);
}

static void test_kept_index(void **state)
{
	(void)state;
	expect_kept_index(make_archive);
}

static void test_kept_index_of_buffers(void **state)
{
	(void)state;
	expect_kept_index(make_log);
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
	assert_non_null(strstr(sqlite3_errmsg(scene.db), "temporary file: No such file"));
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

static void test_no_trace(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_fxt_rows),
	    cmocka_unit_test(test_two_files),
	    cmocka_unit_test(test_conditions),
	    cmocka_unit_test(test_windows),
	    cmocka_unit_test(test_index),
	    cmocka_unit_test(test_index_of_buffers),
	    cmocka_unit_test(test_index_of_lines),
	    cmocka_unit_test(test_kept_index),
	    cmocka_unit_test(test_kept_index_of_buffers),
	    cmocka_unit_test(test_joins),
	    cmocka_unit_test(test_groups),
	    cmocka_unit_test(test_order),
	    cmocka_unit_test(test_groups_in_file),
	    cmocka_unit_test(test_changed_file),
	    cmocka_unit_test(test_no_trace),
	    cmocka_unit_test(test_own_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
