/* sql_prompt.c - statements and dot commands from a person or a pipe. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/nearest.h"
#include "cli/output/message.h"
#include "cli/sql/editor.h"
#include "cli/sql/sql_run.h"
#include "sql/tables/views.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HISTORY = 1000 };

/* Where statements come from. */
struct line_source {
	bool person;
	struct tw_editor editor; /* of a person */
	char *line;              /* the last one */
	size_t room;
	bool zero; /* there is a zero byte in it */
	bool over; /* .quit */
};

/* ---- Ctrl-C ends what runs, not the tool. ---- */

static volatile sig_atomic_t interrupted;
static sqlite3 *running;

/* Ctrl-C between two reads of the terminal ends neither: the alarm ends the next. */
static void interrupt(int number)
{
	interrupted = 1;
	if (running)
		sqlite3_interrupt(running);
	else if (number == SIGINT)
		alarm(1);
}

/* ---- Dot commands. ---- */

static void put_line(struct tw_sql_run *run, const char *name, const char *summary)
{
	tw_putf(&run->screen.out, "%-26s%s\n", name, summary);
}

static int put_tables(struct tw_sql_run *run, const char *argument)
{
	(void)argument;
	for (size_t i = 0; sql_tables[i]; i++)
		put_line(run, sql_tables[i]->name, sql_tables[i]->summary);
	for (const struct sql_alias *view = sql_aliases; view->name; view++)
		put_line(run, view->name, view->summary);
	return 0;
}

static bool put_view_schema(struct tw_output *out, const char *argument)
{
	bool any = false;
	for (const struct sql_alias *view = sql_aliases; view->name; view++) {
		if (*argument && sqlite3_stricmp(argument, view->name) != 0)
			continue;
		any = true;
		tw_putf(out, "create view %s as -- %s\n  %s;\n", view->name, view->summary, view->select);
	}
	return any;
}

static int put_schema(struct tw_sql_run *run, const char *argument)
{
	struct tw_output *out = &run->screen.out;
	bool any = false;
	for (size_t i = 0; sql_tables[i]; i++) {
		const struct sql_table *table = sql_tables[i];
		if (*argument && sqlite3_stricmp(argument, table->name) != 0)
			continue;
		any = true;
		tw_putf(out, "create table %s ( -- %s\n", table->name, table->summary);
		for (size_t k = 0; k < table->column_count; k++)
			tw_putf(out, "  %s%s%s%s -- %s\n", table->columns[k].name, *table->columns[k].type ? " " : "",
			        table->columns[k].type, k + 1 < table->column_count ? "," : "", table->columns[k].help);
		tw_put_text(out, ");\n");
	}
	any |= put_view_schema(out, argument);
	return any ? 0 : tw_say_error("there is no table %s", argument);
}

static int set_timer(struct tw_sql_run *run, const char *argument)
{
	bool on = strcmp(argument, "on") == 0;
	if (!on && strcmp(argument, "off") != 0)
		return tw_say_error(".timer wants on or off");
	run->timer = on;
	return 0;
}

static int set_mode(struct tw_sql_run *run, const char *argument)
{
	const struct tw_sql_form *form = tw_sql_form_named(argument);
	if (!form)
		return tw_say_error(".mode wants text, csv, json or markdown");
	run->rows.form = form;
	return 0;
}

static int run_query(struct tw_sql_run *run, const char *argument)
{
	const struct tw_sql_query *query = tw_sql_query_named(argument);
	const char *end = query ? "" : *argument ? argument : "";
	for (size_t i = 0; !*end && !query && (tw_sql_query_at(i)); i++)
		tw_putf(&run->screen.out, "%s\n", tw_sql_query_at(i)->name);
	if (*end)
		return tw_say_error("there is no query %s", argument);
	return query ? tw_sql_statements(run, query->name, query->text) : 0;
}

static int put_help(struct tw_sql_run *run, const char *argument);

static int quit(struct tw_sql_run *run, const char *argument)
{
	(void)run, (void)argument;
	return 0;
}

static const struct {
	const char *name;
	const char *help;
	int (*run)(struct tw_sql_run *run, const char *argument);
} commands[] = {
    {".tables", "the tables", put_tables},
    {".schema", "[TABLE]: the columns of a table, or of all", put_schema},
    {".mode", "text, csv, json or markdown: how answers look", set_mode},
    {".timer", "on or off: how long each statement takes", set_timer},
    {".query", "[NAME]: runs a ready query, or lists them", run_query},
    {".help", "this list", put_help},
    {".quit", "ends; so does Ctrl-D", quit},
    {".exit", "the same", quit},
};

static int put_help(struct tw_sql_run *run, const char *argument)
{
	(void)argument;
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		tw_putf(&run->screen.out, "%-16s%s\n", commands[i].name, commands[i].help);
	tw_put_text(&run->screen.out, "A statement ends with a semicolon; Ctrl-C ends one that runs or is typed.\n");
	return 0;
}

static const char *command_name(void *context, size_t i)
{
	(void)context;
	return i < sizeof commands / sizeof *commands ? commands[i].name : NULL;
}

static int run_command(struct tw_sql_run *run, struct line_source *source, char *line)
{
	size_t length = strcspn(line, " \t\r\n;");
	char *argument = line + length + strspn(line + length, " \t\r\n;");
	argument[strcspn(argument, " \t\r\n;")] = '\0';
	line[length] = '\0';
	if (tw_screen_open(&run->screen, run->options->common.output))
		return TW_EXIT_FAILED;
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		if (strcmp(commands[i].name, line) == 0) {
			source->over = commands[i].run == quit;
			return commands[i].run(run, argument);
		}
	const char *near = tw_nearest(line, command_name, NULL);
	return near ? tw_say_error("there is no %s; did you mean %s?", line, near)
	            : tw_say_error("there is no %s; .help lists what there is", line);
}

bool tw_sql_is_command(const char *text)
{
	size_t length = strcspn(text, " \t\r\n;");
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		if (strlen(commands[i].name) == length && strncmp(commands[i].name, text, length) == 0)
			return true;
	return false;
}

int tw_sql_command(struct tw_sql_run *run, const char *text)
{
	struct line_source source = {0};
	char *line = strdup(text);
	int status = line ? run_command(run, &source, line) : tw_say_error("out of memory");
	free(line);
	return status;
}

/* ---- Lines. ---- */

/* NULL at the end, and after Ctrl-C. It lives until the next. */
static char *next_line(struct line_source *source, bool more)
{
	if (source->person) {
		free(source->line);
		interrupted = 0;
		source->line = source->editor.readline(more ? "     ...> " : "trackway> ");
		alarm(0);
		return source->line;
	}
	ssize_t length = getline(&source->line, &source->room, stdin);
	source->zero = length > 0 && strlen(source->line) < (size_t)length;
	if (length > 0 && source->line[length - 1] == '\n')
		source->line[length - 1] = '\0';
	return length < 0 ? NULL : source->line;
}

/* $XDG_STATE_HOME/trackway/sql_history, made if need be; false where there is no place for it. */
static bool history_path(char *path, size_t room)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int length = state && *state == '/' ? snprintf(path, room, "%s/trackway", state)
	             : home && *home        ? snprintf(path, room, "%s/.local/state/trackway", home)
	                                    : -1;
	enum { NAME = 16 };
	if (length < 0 || (size_t)length + NAME > room)
		return false;
	for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return false;
	strcpy(path + length, "/sql_history");
	return true;
}

/* ---- The loop. ---- */

static bool is_blank(const char *text)
{
	return text[strspn(text, " \t\r\n;")] == '\0';
}

/* What has been collected is run when it is complete, or when no more comes. */
static int run_statement(struct tw_sql_run *run, const struct line_source *source, struct tw_text *statement)
{
	interrupted = 0;
	running = run->db;
	if (source->person)
		source->editor.add_history(statement->bytes);
	int status = tw_sql_statements(run, "query", statement->bytes);
	running = NULL;
	statement->length = 0;
	return status;
}

/* Whether a line can end what has been collected: many lines are not looked through again and again. */
static bool may_end(const char *line)
{
	return strchr(line, ';') || strstr(line, "*/");
}

static int take_line(struct tw_sql_run *run, struct line_source *source, struct tw_text *statement, char *line)
{
	if (source->zero)
		return tw_say_error("standard input: a zero byte is no part of a statement");
	if (statement->length == 0 && *line == '.') {
		if (source->person)
			source->editor.add_history(line);
		return run_command(run, source, line);
	}
	if (statement->length == 0 && is_blank(line))
		return 0;
	if (!tw_text_add(statement, line, strlen(line)) || !tw_text_add(statement, "\n", 1))
		return tw_say_error("out of memory");
	return may_end(line) && sqlite3_complete(statement->bytes) ? run_statement(run, source, statement) : 0;
}

/* Ctrl-C while a statement is typed: it is dropped. */
static bool drop_statement(struct tw_sql_run *run, struct tw_text *statement)
{
	if (!interrupted)
		return false;
	statement->length = 0;
	tw_put_char(&run->screen.out, '\n');
	tw_output_flush(&run->screen.out);
	return true;
}

/* A person goes on after an error, a script does not. */
static int read_all(struct tw_sql_run *run, struct line_source *source)
{
	struct tw_text statement = {0};
	int status = 0;
	while (!source->over && (status == 0 || source->person)) {
		char *line = next_line(source, statement.length > 0);
		if (!line && drop_statement(run, &statement))
			continue;
		if (!line)
			break;
		status = take_line(run, source, &statement, line);
		if (source->person) {
			tw_output_flush(&run->screen.out);
			tw_sql_say_findings(run);
		}
	}
	if (statement.length && !source->person && status == 0)
		status = run_statement(run, source, &statement);
	tw_text_free(&statement);
	free(source->line);
	return source->person ? 0 : status;
}

/* Answers to a person go straight to the terminal: no pager between question and question. */
static int open_screen(struct tw_sql_run *run)
{
	if (!tw_goes_to_terminal(run->options->common.output))
		return tw_screen_open(&run->screen, run->options->common.output);
	run->screen.terminal = run->screen.open = true;
	run->screen.color = tw_color_wanted(STDOUT_FILENO);
	return tw_output_fd(&run->screen.out, STDOUT_FILENO) ? tw_say_error("out of memory") : 0;
}

int tw_sql_prompt(struct tw_sql_run *run)
{
	struct line_source source = {.person = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)};
	struct sigaction action = {.sa_handler = interrupt}, before, alarm_before;
	char path[4096];
	if (!source.person)
		return read_all(run, &source);
	const char *missing = tw_editor_load(&source.editor);
	if (missing)
		return tw_say_error("the line editor libedit is needed, Debian's package libedit2: %s", missing);
	if (open_screen(run))
		return TW_EXIT_FAILED;
	bool kept = history_path(path, sizeof path);
	source.editor.using_history();
	source.editor.stifle_history(HISTORY);
	if (kept)
		source.editor.read_history(path);
	run->session->hooks.stop = &interrupted;
	sigaction(SIGINT, &action, &before);
	sigaction(SIGALRM, &action, &alarm_before);
	tw_putf(&run->screen.out, "%zu file%s; .tables lists the tables, .help the commands\n", run->session->count,
	        run->session->count == 1 ? "" : "s");
	tw_output_flush(&run->screen.out);
	int status = read_all(run, &source);
	sigaction(SIGINT, &before, NULL);
	sigaction(SIGALRM, &alarm_before, NULL);
	if (kept)
		source.editor.write_history(path);
	return status;
}
