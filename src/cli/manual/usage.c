/* usage.c - what --help prints, from the tables of commands and options. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/manual/usage.h"

#include "base/memory/memory.h"

#include <trackway/trackway.h>

#include <stdio.h>
#include <string.h>

enum {
	WIDTH = 80,
	WIDEST = 120,
	NARROW = 60, /* below that the texts of options begin further left */
	OPTION_COLUMN = 26,
	CHOICE_COLUMN = 12,
	COMMAND_COLUMN = 14,
	FORMAT_COLUMN = 17,
};

const char tw_tool_title[] = "execution traces: read, checked, converted and analysed";

const char tw_tool_description[] =
    "Trackway reads the traces that instrumented programs leave behind, also cut off and damaged ones, and tells what "
    "is in them, what is wrong with them and where the time went. The format is found from the bytes; .gz and .zst "
    "files are read through; - is standard input. Work on a trace takes memory that does not grow with its length.\n\n"
    "Damage never stops the work: it is told on standard error with its byte offset and the name of the rule that was "
    "broken, and reading goes on at the next place that can be trusted.";

#define FAILURES                                                                                                       \
	"2 for wrong use, when nothing can be read, or when the output cannot be written. With several files the "     \
	"worst counts."

const char tw_tool_exit_status[] =
    "0 when all is fine; 1 when a trace breaks its format's rules with severity error (the work was done); " FAILURES;

const char tw_strict_exit_status[] =
    "0 when all is fine; 1 when a trace breaks its format's rules with severity error, or --strict finds a loss (the "
    "work was done); " FAILURES;

const struct tw_term tw_tool_options[] = {
    {"-h, --help", "show this help"},
    {"-V, --version", "show the version"},
    {NULL, NULL},
};

const struct tw_term tw_tool_environment[] = {
    {"TRACKWAY_PAGER, PAGER", "what shows long text on a terminal; less otherwise. Empty or cat: nothing does"},
    {"NO_COLOR", "when set and not empty, there is no colour"},
    {"TMPDIR",
     "where pipes and compressed files are kept that must be read in another order, and the events of more files than "
     "merge has open at once; /tmp otherwise"},
    {NULL, NULL},
};

/* ---- Filling lines. ---- */

static void put_spaces(struct tw_output *out, size_t count)
{
	for (size_t i = 0; i < count; i++)
		tw_put_char(out, ' ');
}

/* Where lines end: at the edge of a terminal, unless that is too far to be read. */
static size_t width_of(const struct tw_screen *screen)
{
	return !screen->width ? WIDTH : screen->width < WIDEST ? screen->width : WIDEST;
}

static size_t option_column(const struct tw_screen *screen)
{
	return width_of(screen) < NARROW ? CHOICE_COLUMN : OPTION_COLUMN;
}

/* Writes a word, in several lines where one has no room for it. Returns the column behind it. */
static size_t put_word(struct tw_screen *screen, const char *word, size_t length, size_t indent, size_t column)
{
	while (column + length > width_of(screen)) {
		const size_t room = width_of(screen) - column;
		tw_put(&screen->out, word, room);
		tw_put_char(&screen->out, '\n');
		put_spaces(&screen->out, indent);
		word += room;
		length -= room;
		column = indent;
	}
	tw_put(&screen->out, word, length);
	return column + length;
}

/* One paragraph; returns where it ends: at the end of the text or at an empty line. */
static const char *put_paragraph(struct tw_screen *screen, const char *text, size_t indent, size_t column)
{
	struct tw_output *out = &screen->out;
	bool first = true;
	while (*text && strncmp(text, "\n\n", 2) != 0) {
		size_t length = strcspn(text, " \n");
		if (!first && column + 1 + length > width_of(screen)) {
			tw_put_char(out, '\n');
			put_spaces(out, indent);
			column = indent;
		} else if (!first) {
			tw_put_char(out, ' ');
			column++;
		}
		column = put_word(screen, text, length, indent, column);
		first = false;
		text += length;
		if (*text && strncmp(text, "\n\n", 2) != 0)
			text++;
	}
	tw_put_char(out, '\n');
	return text;
}

/* Writes paragraphs of text, filled to the width of the screen, 80 columns in a file, each line after `indent` spaces;
 * the text begins at `column`. Ends with a line end. */
static void put_filled(struct tw_screen *screen, const char *text, size_t indent, size_t column)
{
	struct tw_output *out = &screen->out;
	text = put_paragraph(screen, text, indent, column);
	while (*text) {
		tw_put_char(out, '\n');
		put_spaces(out, indent);
		text = put_paragraph(screen, text + 2, indent, indent);
	}
}

/* ---- Options. ---- */

void tw_put_words(struct tw_output *out, const char *(*word)(size_t i))
{
	for (size_t i = 0; word(i); i++)
		tw_putf(out, "%s%s", i ? " " : "", word(i));
}

void tw_put_choices(struct tw_output *out, const struct tw_option *option, const char *between)
{
	const char *word;
	for (size_t i = 0; (word = tw_option_word(option, i)); i++)
		tw_putf(out, "%s%s", i ? between : "", word);
}

void tw_put_argument(struct tw_output *out, const struct tw_option *option)
{
	if (option->kind == TW_OPTION_CHOICE)
		tw_put_choices(out, option, "|");
	else
		tw_put_text(out, option->placeholder ? option->placeholder : "");
}

/* Choices from a column on, in as many lines as they need. Returns the column behind them. */
static size_t put_choices(struct tw_screen *screen, const struct tw_option *option, size_t column)
{
	struct tw_output *out = &screen->out;
	const char *word, *next = tw_option_word(option, 0);
	for (size_t i = 1; (word = next); i++) {
		next = tw_option_word(option, i);
		size_t length = strlen(word) + (next != NULL);
		if (column + length > width_of(screen)) {
			tw_put_char(out, '\n');
			put_spaces(out, CHOICE_COLUMN);
			column = CHOICE_COLUMN;
		}
		tw_put_text(out, word);
		tw_put_text(out, next ? "|" : "");
		column += length;
	}
	return column;
}

/* What an option or a variable means, behind its name, which ends at `column`. */
static void put_help(struct tw_screen *screen, const char *help, size_t column)
{
	const size_t begin = option_column(screen);
	if (column + 2 > begin) {
		tw_put_char(&screen->out, '\n');
		column = 0;
	}
	put_spaces(&screen->out, begin - column);
	put_filled(screen, help, begin, begin);
}

static void put_option(struct tw_screen *screen, const struct tw_option *option)
{
	struct tw_output *out = &screen->out;
	uint64_t begin = tw_output_position(out);
	if (option->letter)
		tw_putf(out, "  -%c, --%s", option->letter, option->name);
	else
		tw_putf(out, "      --%s", option->name);
	tw_put_text(out, option->kind == TW_OPTION_FLAG ? "" : " ");
	size_t column = (size_t)(tw_output_position(out) - begin);
	if (option->kind == TW_OPTION_CHOICE) {
		column = put_choices(screen, option, column);
	} else {
		tw_put_argument(out, option);
		column = (size_t)(tw_output_position(out) - begin);
	}
	put_help(screen, option->help, column);
}

static void put_heading(struct tw_screen *screen, const char *heading)
{
	tw_put_char(&screen->out, '\n');
	tw_screen_bold(screen);
	tw_putf(&screen->out, "%s:", heading);
	tw_screen_plain(screen);
	tw_put_char(&screen->out, '\n');
}

/* A line of an example: whole in a file, in as many lines as it needs on a terminal. */
static void put_example(struct tw_screen *screen, const char *line, size_t size, size_t column)
{
	struct tw_text text = {0};
	put_spaces(&screen->out, column);
	if (!screen->width || !tw_text_add(&text, line, size))
		tw_putf(&screen->out, "%.*s\n", (int)size, line);
	else
		put_filled(screen, text.bytes, column + 2, column);
	tw_text_free(&text);
}

static void put_examples(struct tw_screen *screen, const char *examples)
{
	enum { EXAMPLE = 2, BEHIND = 6 };
	put_heading(screen, "Examples");
	for (const char *line = examples; *line;) {
		size_t command = strcspn(line, "\t"), whole = strcspn(line, "\n");
		put_example(screen, line, command, EXAMPLE);
		put_example(screen, line + command + 1, whole - command - 1, BEHIND);
		line += whole + (line[whole] == '\n');
	}
}

static void put_usage(struct tw_screen *screen, const char *usage)
{
	static const char head[] = "Usage:";
	tw_screen_bold(screen);
	tw_put_text(&screen->out, head);
	tw_screen_plain(screen);
	tw_put_char(&screen->out, ' ');
	if (screen->width)
		put_filled(screen, usage, sizeof head, sizeof head);
	else
		tw_putf(&screen->out, "%s\n", usage);
	tw_put_char(&screen->out, '\n');
}

static void help_command(struct tw_screen *screen, const struct tw_command *command)
{
	char usage[512];
	snprintf(usage, sizeof usage, "trackway %s [OPTION]...%s%s", command->name, *command->operands ? " " : "",
	         command->operands);
	put_usage(screen, usage);
	put_filled(screen, command->description, 0, 0);
	for (const struct tw_option_group *const *group = command->groups; *group; group++) {
		put_heading(screen, (*group)->title);
		for (size_t i = 0; i < (*group)->count; i++)
			put_option(screen, &(*group)->options[i]);
	}
	if (command->examples)
		put_examples(screen, command->examples);
}

/* ---- The tool. ---- */

static void put_formats(struct tw_screen *screen)
{
	const char *name;
	put_heading(screen, "Formats");
	for (size_t i = 0; (name = tw_format_name(i)); i++) {
		tw_putf(&screen->out, "  %-*s", FORMAT_COLUMN - 2, name);
		put_filled(screen, tw_format_title(name), FORMAT_COLUMN, FORMAT_COLUMN);
	}
	tw_putf(&screen->out, "  %-*s", FORMAT_COLUMN - 2, "written:");
	struct tw_text list = {0};
	bool fine = true;
	for (size_t i = 0; fine && (name = tw_writer_format_name(i)); i++)
		fine = tw_text_add(&list, ", ", i ? 2 : 0) && tw_text_add(&list, name, strlen(name));
	put_filled(screen, fine ? list.bytes : "", FORMAT_COLUMN, FORMAT_COLUMN);
	tw_text_free(&list);
}

static void put_terms(struct tw_screen *screen, const char *heading, const struct tw_term *term)
{
	put_heading(screen, heading);
	for (; term->name; term++) {
		tw_putf(&screen->out, "  %s", term->name);
		put_help(screen, term->text, 2 + strlen(term->name));
	}
}

static void help_tool(struct tw_screen *screen)
{
	const struct tw_command *command;
	struct tw_output *out = &screen->out;
	put_usage(screen, "trackway COMMAND [OPTION]... [FILE]...");
	put_filled(screen, tw_tool_description, 0, 0);
	put_heading(screen, "Commands");
	for (size_t i = 0; (command = tw_command_at(i)); i++) {
		tw_putf(out, "  %-*s", COMMAND_COLUMN - 2, command->name);
		put_filled(screen, command->summary, COMMAND_COLUMN, COMMAND_COLUMN);
	}
	put_terms(screen, "Options", tw_tool_options);
	put_formats(screen);
	put_terms(screen, "Environment", tw_tool_environment);
	put_heading(screen, "Exit status");
	tw_put_text(out, "  ");
	put_filled(screen, tw_strict_exit_status, 2, 2);
	tw_put_char(out, '\n');
	put_filled(screen, "'trackway COMMAND --help' tells the options of a command.", 0, 0);
}

void tw_help(struct tw_screen *screen, const struct tw_command *command)
{
	if (command)
		help_command(screen, command);
	else
		help_tool(screen);
}
