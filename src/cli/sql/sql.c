/* sql.c - trackway sql: questions to traces, in SQL. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/input.h"
#include "base/text/nearest.h"
#include "cli/files/single_read.h"
#include "cli/files/spooled_stdin.h"
#include "cli/output/message.h"
#include "cli/sql/sql_run.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is to be run: NULL for a prompt, or a database. */
struct statements {
	const char *name; /* in messages */
	const char *text;
	char *own; /* what is to be freed of it */
};

enum { QUERY_MOST = 1 << 24 };

/* The text of a file, "-" being standard input. */
static int read_text(const char *path, struct statements *question)
{
	struct tw_input *input;
	struct tw_text text = {0};
	char part[4096];
	uint64_t offset = 0;
	int64_t got = 0;
	int status = tw_input_open(&input, path);
	while (status >= 0 && offset < QUERY_MOST && (got = tw_input_read(input, offset, part, sizeof part)) > 0) {
		offset += (uint64_t)got;
		if (!tw_text_add(&text, part, (size_t)got))
			status = TW_ERR_MEMORY;
	}
	if (status < 0 || got < 0)
		status = tw_say_error("%s", input ? tw_input_error(input) : "out of memory");
	else if (offset >= QUERY_MOST)
		status = tw_say_error("%s: more than 16 MiB are no query", path);
	else if (!tw_text_add(&text, "", 0))
		status = tw_say_error("out of memory");
	else if (strlen(text.bytes) < text.length)
		status = tw_say_error("%s: a zero byte is no part of a statement", path);
	tw_input_close(input);
	question->own = text.bytes;
	*question = (struct statements){.name = path, .text = text.bytes, .own = text.bytes};
	return status;
}

/* Whether an operand is a statement, not a file: it has more than one word or is a dot command, and there is no file of
 * that name. */
static bool is_statement(const char *operand)
{
	return (strpbrk(operand, " \t\n;") || tw_sql_is_command(operand)) && access(operand, F_OK) != 0;
}

static const char *query_name(void *context, size_t i)
{
	const struct tw_sql_query *query = tw_sql_query_at(i);
	(void)context;
	return query ? query->name : NULL;
}

static int say_no_query(const char *typed)
{
	const char *near = tw_nearest(typed, query_name, NULL);
	if (near)
		return tw_say_usage(&tw_command_sql, "there is no query %s; did you mean %s?", typed, near);
	return tw_say_usage(&tw_command_sql, "there is no query %s: --queries lists them", typed);
}

static int say_twice(void)
{
	return tw_say_usage(&tw_command_sql, "standard input is a trace: it cannot be statements, too");
}

static bool has_parameter(const char *text, const char *name, size_t length)
{
	for (const char *at = strpbrk(text, ":@$"); at; at = strpbrk(at + 1, ":@$"))
		if (strncmp(at + 1, name, length) == 0 && !isalnum((unsigned char)at[1 + length]) &&
		    at[1 + length] != '_')
			return true;
	return false;
}

/* Whether a value before this one is of the same parameter: only that would count. */
static bool is_given(const struct tw_list *parameters, size_t i, size_t length)
{
	for (size_t k = 0; k < i; k++)
		if (strncmp(parameters->items[k], parameters->items[i], length + 1) == 0)
			return true;
	return false;
}

/* Whether each --param is NAME=VALUE, and a text has the name. Returns 0, or TW_EXIT_FAILED after saying what is
 * wrong. */
static int check_parameters(const struct tw_list *parameters, const char *name, const char *text)
{
	for (size_t i = 0; i < parameters->count; i++) {
		const char *given = parameters->items[i];
		size_t length = strcspn(given, "=");
		if (!given[length] || !length)
			return tw_say_usage(&tw_command_sql, "--param wants NAME=VALUE, not %s", given);
		if (!has_parameter(text, given, length))
			return tw_say_usage(&tw_command_sql, "%s has no parameter %.*s", name, (int)length, given);
		if (is_given(parameters, i, length))
			return tw_say_usage(&tw_command_sql, "--param %.*s was given twice", (int)length, given);
	}
	return 0;
}

/* Finds what is to be run; the last operand may be it. */
static int choose(const struct tw_sql_options *options, char **operands, size_t *count, struct statements *question)
{
	bool last = *count && is_statement(operands[*count - 1]);
	*question = (struct statements){0};
	if (last + !!options->file + !!options->query + tw_sql_is_database(options->common.output) > 1)
		return tw_say_usage(&tw_command_sql,
		                    "one of a query, --file, --query, and -o with the name of a database");
	if (last) {
		*question = (struct statements){.name = "query", .text = operands[--*count]};
		return 0;
	}
	if (options->file && strcmp(options->file, "-") == 0 && tw_reads_stdin(operands, *count))
		return say_twice();
	if (options->file)
		return read_text(options->file, question);
	const struct tw_sql_query *query = options->query ? tw_sql_query_named(options->query) : NULL;
	if (options->query && !query)
		return say_no_query(options->query);
	if (query)
		*question = (struct statements){.name = query->name, .text = query->text};
	return 0;
}

/* Replaces "-" among the traces by a path of the file that holds standard input, because every table opens its traces
 * itself. Returns 0, or TW_EXIT_FAILED after saying why it cannot. */
static int settle_input(const struct tw_sql_options *options, char **operands, size_t count,
                        const struct statements *question)
{
	static char again[] = "/dev/stdin";
	bool asked = question->text || tw_sql_is_database(options->common.output);
	for (size_t i = 0; i < count; i++) {
		if (strcmp(operands[i], "-") != 0)
			continue;
		if (!asked)
			return say_twice();
		if (options->index)
			return tw_say_usage(&tw_command_sql,
			                    "--index: standard input has no place for an index beside it");
		int status = tw_spool_stdin(&operands[i], 1);
		if (status)
			return status;
		operands[i] = again;
	}
	return 0;
}

static int answer(struct tw_sql_run *run, const struct statements *question)
{
	const struct tw_sql_options *options = run->options;
	int status;
	if (question->text && tw_sql_is_command(question->text))
		status = tw_sql_command(run, question->text);
	else if (question->text)
		status = tw_sql_statements(run, question->name, question->text);
	else if (tw_sql_is_database(options->common.output))
		status = tw_sql_save(run, options->common.output);
	else
		status = tw_sql_prompt(run);
	/* Half an answer gets no name. What could not be written is told when the screen is closed. */
	if (status && run->screen.open && options->common.output && !run->screen.out.error) {
		tw_screen_discard(&run->screen);
	}
	return status;
}

static int run_question(const struct tw_sql_options *options, char **operands, size_t count)
{
	struct statements question;
	struct tw_sql_run run;
	int status = choose(options, operands, &count, &question);
	if (status == 0 && count == 0)
		status = tw_say_usage(&tw_command_sql, "sql wants FILE... [QUERY]");
	count = tw_drop_same_traces(&options->common, operands, count);
	if (status == 0 && question.text)
		status = check_parameters(&options->parameters, question.name, question.text);
	if (status == 0)
		status = settle_input(options, operands, count, &question);
	if (status == 0) {
		status = tw_sql_open(&run, options, operands, count);
		status = status ? status : answer(&run, &question);
		if (status == 0 && options->query)
			tw_sql_say_missing(&run, options->query, operands, count);
		if (run.session && run.findings && tw_sql_say_findings(&run))
			status = TW_EXIT_FAILED;
		status = tw_sql_close(&run, status);
	}
	free(question.own);
	return status;
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	struct tw_sql_options *options = (struct tw_sql_options *)common;
	bool form = common->forms.csv || common->forms.csv_safe || common->forms.markdown || common->forms.json,
	     asks = options->file || options->query;
	if (options->queries && (count || asks || form || options->index || options->parameters.count))
		return tw_say_usage(&tw_command_sql, "--queries lists the ready queries, and does nothing else");
	if (options->queries)
		return tw_sql_list_queries(common);
	if (tw_sql_is_database(common->output) && (form || options->parameters.count))
		return tw_say_usage(&tw_command_sql,
		                    "--csv, --json, --markdown and --param are about answers: a database has none");
	return run_question(options, operands, count);
}

static const struct tw_option own_options[] = {
    {"file", 'f', TW_OPTION_FILE, offsetof(struct tw_sql_options, file), .placeholder = "FILE",
     .help = "run the statements in FILE"},
    {"query", 'q', TW_OPTION_TEXT, offsetof(struct tw_sql_options, query), .placeholder = "NAME",
     .help = "run a ready query"},
    {"queries", 0, TW_OPTION_FLAG, offsetof(struct tw_sql_options, queries), .help = "list the ready queries"},
    {"param", 'p', TW_OPTION_LIST, offsetof(struct tw_sql_options, parameters), .placeholder = "NAME=VALUE",
     .help = "what :NAME in a query stands for, or @NAME, which may be left out and is NULL then; may be repeated"},
    {"index", 0, TW_OPTION_FLAG, offsetof(struct tw_sql_options, index),
     .help =
         "keep the index that a condition with both ends of a time makes, \"ts between 0 and 1e6\", in FILE.twindex "
         "beside FILE, and use it if it is of the file as it is"},
};
static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(TW_OPTIONS("Questions", own_options), &tw_input_options, &tw_jobs_options, &tw_output_options);

const struct tw_command tw_command_sql = {
    .name = "sql",
    .summary = "questions in SQL, without an import",
    .operands = "FILE... [QUERY]",
    .description =
	"Answers SQL (SQLite's) over the traces. Slices, threads, counters, flows, scheduling, samples, logs and the "
	"format's own records, of an xtrace instructions and their accesses, are tables, named as in Perfetto's trace "
	"processor where it has them; .schema tells their columns. Nothing is imported: each question reads the "
	"files, and what it says of ts, utid, name and category is looked at while reading. Perfetto's own statements "
	"(create perfetto table, view, function, macro; include perfetto module; span_join) and functions "
	"(ancestor_slice, following_flow) are understood; what is made is temporary.\n\n"
	"Without a query there is a prompt; where standard input is no terminal, statements are read from it. Several "
	"files are one after the other in every table, each with its own clock, from 0; the column file tells "
	"which.\n\n"
	"With -o and a name that ends in .db, .sqlite or .sqlite3 all tables are written to a plain SQLite database "
	"with indexes, but without the format's records.",
    .examples = "trackway sql app.fxt 'select name, sum(dur) from slice group by name'\tTime by name.\n"
		"trackway sql app.fxt 'select a.name from slice s, ancestor_slice(s.id) a'\tAs Perfetto's users ask.\n"
		"trackway sql app.fxt\tA prompt; .help lists what it knows.\n"
		"trackway sql -q latency -p from=send -p to=receive app.fxt\tA ready query.\n"
		"trackway sql app.fxt -o app.db\tA database for other tools.\n",
    .groups = groups,
    .size = sizeof(struct tw_sql_options),
    .forms =
	1u << TW_FORM_TEXT | 1u << TW_FORM_JSON | 1u << TW_FORM_CSV | 1u << TW_FORM_MARKDOWN | 1u << TW_FORM_DATABASE,
    .run = run,
};
