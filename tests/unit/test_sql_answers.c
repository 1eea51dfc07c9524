/* test_sql_answers.c - what a query answers as columns: types, NULL, texts, Arrow, and statements that are wrong. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <trackway/trackway.h>

#include "suite.h"

static struct tw_sql *open_log(const struct tw_read_options *options)
{
	char path[512];
	struct tw_sql *sql;
	snprintf(path, sizeof path, "%s/xray/v5.xray", getenv("TW_TEST_DATA"));
	const char *const paths[] = {path};
	assert_int_equal(tw_sql_open(&sql, paths, 1, options), 0);
	return sql;
}

static int set_up(void **state)
{
	*state = open_log(NULL);
	return 0;
}

static int tear_down(void **state)
{
	tw_sql_close(*state);
	return 0;
}

static bool is_there(const struct tw_sql_column *column, size_t row)
{
	return !column->valid || column->valid[row / 8] >> row % 8 & 1;
}

static void print_cell(FILE *out, const struct tw_sql_column *column, size_t row)
{
	if (column->type == TW_SQL_NULL || !is_there(column, row))
		fputs(" -", out);
	else if (column->type == TW_SQL_INT)
		fprintf(out, " %" PRId64, column->ints[row]);
	else if (column->type == TW_SQL_REAL)
		fprintf(out, " %g", column->reals[row]);
	else {
		const int64_t from = column->offsets[column->codes[row]];
		fprintf(out, " %.*s", (int)(column->offsets[column->codes[row] + 1] - from), column->bytes + from);
	}
}

/* "NAME TYPE: CELL CELL", a line a column. */
static void check(struct tw_sql *sql, const char *query, const char *expected)
{
	struct tw_sql_result *result;
	const struct tw_sql_column *column;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	assert_int_equal(tw_sql_query(sql, query, NULL, 0, &result), 0);
	for (size_t i = 0; (column = tw_sql_column(result, i)); i++) {
		fprintf(out, "%s %d:", column->name, column->type);
		for (size_t row = 0; row < tw_sql_rows(result); row++)
			print_cell(out, column, row);
		fputc('\n', out);
	}
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
	tw_sql_result_free(result);
}

static void a_column_has_one_type(void **state)
{
	static const struct {
		const char *query, *expected;
	} cases[] = {
	    {"select 1 a union all select -2 union all select null", "a 1: 1 -2 -\n"},
	    {"select 1 a union all select null union all select 2.5", "a 2: 1 - 2.5\n"},
	    {"select null a union all select 3 union all select 'x' union all select 3", "a 3: - 3 x 3\n"},
	    {"select 2.5 a union all select 'x' union all select 2.5", "a 3: 2.5 x 2.5\n"},
	    {"select 'x' a union all select x'7978' union all select 'x'", "a 4: x yx x\n"},
	    {"select 7 a union all select x'7978'", "a 4: 7 yx\n"},
	    {"select null a", "a 0: -\n"},
	    {"select '' a, 1 b", "a 3: \nb 1: 1\n"},
	    {"select 9223372036854775807 a union all select -9223372036854775807-1",
	     "a 1: 9223372036854775807 -9223372036854775808\n"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		check(*state, cases[i].query, cases[i].expected);
}

/* llvm-xray convert tells 21 entries in tests/data/xray/v5.xray. */
static void columns_of_tables(void **state)
{
	check(*state, "select name, ts from slice where 0", "name 3:\nts 1:\n");
	check(*state, "select count(*) n from slice", "n 1: 21\n");
	check(*state, "", "");
	check(*state, "create temp view v as select 7 z; select z from v; drop view v", "z 1: 7\n");
}

static void more_rows_than_a_byte_has_bits(void **state)
{
	struct tw_sql_result *result;
	const char *query = "with recursive n(i) as (select 0 union all select i + 1 from n where i < 999) "
			    "select i, nullif(i % 3, 0) m, 'text ' || (i % 7) t from n";
	assert_int_equal(tw_sql_query(*state, query, NULL, 0, &result), 0);
	assert_int_equal(tw_sql_rows(result), 1000);
	assert_int_equal(tw_sql_columns(result), 3);
	const struct tw_sql_column *i = tw_sql_column(result, 0), *m = tw_sql_column(result, 1),
				   *t = tw_sql_column(result, 2);
	assert_int_equal(m->nulls, 334);
	assert_int_equal(t->values, 7);
	for (size_t row = 0; row < 1000; row++) {
		assert_int_equal(i->ints[row], row);
		assert_int_equal(is_there(m, row), row % 3 != 0);
		assert_int_equal(m->ints[row], row % 3);
		assert_int_equal(t->bytes[t->offsets[t->codes[row]] + 5], '0' + row % 7);
	}
	tw_sql_result_free(result);
}

static void what_is_no_text_is_reported(void **state)
{
	check(*state, "select cast(x'61ff62' as text) a",
	      "a 3: a\xef\xbf\xbd"
	      "b\n");
}

static void parameters_have_names_and_places(void **state)
{
	static const struct tw_sql_parameter parameters[] = {
	    {.name = "a", .type = TW_SQL_INT, .value = {.i = 5}},
	    {.type = TW_SQL_TEXT, .value = {.bytes = "xyz"}, .size = 2},
	    {.name = "r", .type = TW_SQL_REAL, .value = {.d = 0.5}},
	};
	struct tw_sql_result *result;
	assert_int_equal(tw_sql_query(*state, "select :a, ?2, @r, $none", parameters, 3, &result), 0);
	assert_int_equal(tw_sql_column(result, 0)->ints[0], 5);
	assert_memory_equal(tw_sql_column(result, 1)->bytes, "xy", 2);
	assert_int_equal(tw_sql_column(result, 1)->offsets[1], 2);
	assert_true(tw_sql_column(result, 2)->reals[0] > 0.4);
	assert_int_equal(tw_sql_column(result, 3)->nulls, 1);
	tw_sql_result_free(result);
}

#define TEMPORARY "a statement may only read, and make what is temporary (create temp table)"

static void wrong_statements_have_a_place(void **state)
{
	static const struct {
		const char *query, *error;
		int status;
	} cases[] = {
	    {"selec", "1:1: near \"selec\": syntax error", TW_ERR_VALUE},
	    {"select 1;\nselect foo from slice", "2:8: no such column: foo", TW_ERR_VALUE},
	    {"select * from slise", "1:1: no such table: slise; did you mean slice?", TW_ERR_VALUE},
	    {"select nmae from slice", "1:8: no such column: nmae; did you mean name?", TW_ERR_VALUE},
	    {"create temp table own_rows(first_own); select * from own_row",
	     "1:39: no such table: own_row; did you mean own_rows?", TW_ERR_VALUE},
	    {"select first_own_ from own_rows", "1:8: no such column: first_own_; did you mean first_own?",
	     TW_ERR_VALUE},
	    {"select trace_dru()", "1:8: no such function: trace_dru; did you mean trace_dur?", TW_ERR_VALUE},
	    {"select time_to_ms(1)",
	     "1:8: no such function: time_to_ms; include perfetto module time.conversion makes it", TW_ERR_VALUE},
	    {"include perfetto module time.conversions",
	     "1:25: no such module: time.conversions; did you mean time.conversion?", TW_ERR_VALUE},
	    {"include perfetto module qq.qqqq\ninclude perfetto module zz.zzzz;",
	     "1:25: no such module: qq.qqqq include perfetto module zz.zzzz", TW_ERR_VALUE},
	    {"select * from \"a\nb\"", "1:1: no such table: a b", TW_ERR_VALUE},
	    {"create table x(a)", "1:1: not authorized: " TEMPORARY, TW_ERR_VALUE},
	    {"attach '/tmp/x' as y", "1:1: not authorized: " TEMPORARY, TW_ERR_VALUE},
	    {"select zeroblob(2000000000)", "1:1: string or blob too big", TW_ERR_LIMIT},
	};
	struct tw_sql_result *result;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(tw_sql_query(*state, cases[i].query, NULL, 0, &result), cases[i].status);
		assert_string_equal(tw_sql_error(*state), cases[i].error);
		assert_null(result);
	}
	check(*state, "select 1 a", "a 1: 1\n");
}

/* doc/sql.md, "Perfetto's statements". */
static void perfettos_statements(void **state)
{
	struct tw_sql_result *result;
	check(*state, "include perfetto module time.conversion; select time_from_us(3) a", "a 1: 3000\n");
	check(*state, "create perfetto macro m(a Expr) returns Expr as $a * 2; select m!(4) a", "a 1: 8\n");
	check(*state, "select count(*) n from slice s, ancestor_slice(s.id) a where a.id = s.id", "n 1: 0\n");
	assert_int_equal(tw_sql_query(*state, "select 1;\n  n!()", NULL, 0, &result), TW_ERR_VALUE);
	assert_string_equal(tw_sql_error(*state), "2:3: no such macro: n");
}

static void another_thread_stops_it(void **state)
{
	const volatile int stop = 1;
	struct tw_sql *sql = open_log(&(struct tw_read_options){.stop = NULL});
	struct tw_sql_result *result;
	(void)state;
	tw_sql_close(sql);
	static const char *const none[] = {"/none/such"};
	assert_int_equal(tw_sql_open(&sql, none, 1, NULL), TW_ERR_SYSTEM);
	assert_non_null(strstr(tw_sql_error(sql), "/none/such"));
	assert_int_equal(tw_sql_query(sql, "select 1", NULL, 0, &result), TW_ERR_VALUE);
	tw_sql_close(sql);
	assert_int_equal(tw_sql_open(&sql, NULL, 0, &(struct tw_read_options){.stop = &stop}), 0);
	const char *endless = "with recursive n(i) as (select 0 union all select i + 1 from n) select count(*) from n";
	assert_int_equal(tw_sql_query(sql, endless, NULL, 0, &result), TW_ERR_LIMIT);
	tw_sql_close(sql);
	tw_sql_close(NULL);
}

#define NUMBERS "with recursive n(i) as (select 1 union all select i + 1 from n) "

/* A number takes 8 bytes, and a bit; arrays double: 65,536 numbers take 512 KiB and 8 KiB. */
static void an_answer_has_a_limit(void **state)
{
	struct tw_sql *sql = open_log(&(struct tw_read_options){.memory_limit = 1 << 20});
	static const char *const much[] = {NUMBERS "select i from n", NUMBERS "select 'text ' || i from n",
	                                   "select zeroblob(1100000)"};
	struct tw_sql_result *result;
	(void)state;
	for (size_t i = 0; i < sizeof much / sizeof *much; i++) {
		assert_int_equal(tw_sql_query(sql, much[i], NULL, 0, &result), TW_ERR_LIMIT);
		assert_string_equal(
		    tw_sql_error(sql),
		    "the answer takes more than the memory limit, 1048576 bytes: ask for less, or set it");
		assert_null(result);
	}
	assert_int_equal(tw_sql_query(sql, NUMBERS "select i from n limit 65536", NULL, 0, &result), 0);
	assert_int_equal(tw_sql_rows(result), 65536);
	tw_sql_result_free(result);
	assert_int_equal(tw_sql_query(sql, NUMBERS "select i from n limit 65537", NULL, 0, &result), TW_ERR_LIMIT);
	tw_sql_close(sql);
}

/* As the document of Arrow's C data interface has them. */
struct ArrowSchema {
	const char *format, *name, *metadata;
	int64_t flags, n_children;
	struct ArrowSchema **children, *dictionary;
	void (*release)(struct ArrowSchema *schema);
	void *private_data;
};
struct ArrowArray {
	int64_t length, null_count, offset, n_buffers, n_children;
	const void **buffers;
	struct ArrowArray **children, *dictionary;
	void (*release)(struct ArrowArray *array);
	void *private_data;
};
struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *stream, struct ArrowSchema *schema);
	int (*get_next)(struct ArrowArrayStream *stream, struct ArrowArray *array);
	const char *(*get_last_error)(struct ArrowArrayStream *stream);
	void (*release)(struct ArrowArrayStream *stream);
	void *private_data;
};

/* A child that was moved away lives longer than the batch, the stream, the result and the handle. */
static void arrow_has_the_same(void **state)
{
	struct tw_sql *sql = open_log(NULL);
	struct tw_sql_result *result;
	struct ArrowArrayStream stream;
	struct ArrowSchema schema;
	struct ArrowArray batch, end, text;
	(void)state;
	const char *query = "select 4 i, 0.5 r, 'word' t, null n union all select null, 1.5, 'word', null";
	assert_int_equal(tw_sql_query(sql, query, NULL, 0, &result), 0);
	assert_int_equal(tw_sql_arrow(result, &stream), 0);
	tw_sql_result_free(result);
	tw_sql_close(sql);
	assert_int_equal(stream.get_schema(&stream, &schema), 0);
	assert_string_equal(schema.format, "+s");
	assert_int_equal(schema.n_children, 4);
	assert_string_equal(schema.children[0]->format, "l");
	assert_string_equal(schema.children[0]->name, "i");
	assert_string_equal(schema.children[1]->format, "g");
	assert_string_equal(schema.children[2]->format, "i");
	assert_string_equal(schema.children[2]->dictionary->format, "U");
	assert_string_equal(schema.children[3]->format, "n");
	assert_int_equal(stream.get_next(&stream, &batch), 0);
	assert_int_equal(batch.length, 2);
	assert_int_equal(batch.children[0]->null_count, 1);
	assert_int_equal(((const uint8_t *)batch.children[0]->buffers[0])[0], 1);
	assert_int_equal(((const int64_t *)batch.children[0]->buffers[1])[0], 4);
	assert_int_equal(batch.children[3]->null_count, 2);
	text = *batch.children[2];
	batch.children[2]->release = NULL;
	assert_int_equal(stream.get_next(&stream, &end), 0);
	assert_null(end.release);
	batch.release(&batch);
	schema.release(&schema);
	stream.release(&stream);
	assert_int_equal(text.dictionary->length, 1);
	assert_memory_equal(text.dictionary->buffers[2], "word", 4);
	assert_int_equal(((const int32_t *)text.buffers[1])[1], 0);
	text.release(&text);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

SUITE(sql_answers)
{
	const struct CMUnitTest tests[] = {
	    TEST(a_column_has_one_type),
	    TEST(columns_of_tables),
	    TEST(more_rows_than_a_byte_has_bits),
	    TEST(what_is_no_text_is_reported),
	    TEST(parameters_have_names_and_places),
	    TEST(wrong_statements_have_a_place),
	    TEST(perfettos_statements),
	    cmocka_unit_test(another_thread_stops_it),
	    cmocka_unit_test(an_answer_has_a_limit),
	    cmocka_unit_test(arrow_has_the_same),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
