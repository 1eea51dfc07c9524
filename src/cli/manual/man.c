/* man.c - manual pages in roff, from the tables of commands and options. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/manual/man.h"

#include "cli/manual/usage.h"

#include <trackway/trackway.h>

#include <stdio.h>
#include <string.h>

/* Source: groff_man(7), groff_char(7): a hyphen that must stay one, a backslash, and what begins a line as a
 * request. */
void tw_put_roff(struct tw_output *out, const char *text)
{
	bool line_start = true;
	for (; *text; text++) {
		if (text[0] == '\n' && text[1] == '\n') {
			tw_put_text(out, "\n.PP\n");
			text++;
			line_start = true;
			continue;
		}
		if (line_start && (*text == '.' || *text == '\''))
			tw_put_text(out, "\\&");
		if (*text == '\\')
			tw_put_text(out, "\\e");
		else if (*text == '-')
			tw_put_text(out, "\\-");
		else
			tw_put_char(out, *text);
		line_start = *text == '\n';
	}
}

static void put_section(struct tw_output *out, const char *name, const char *text)
{
	tw_putf(out, ".SH %s\n", name);
	tw_put_roff(out, text);
	tw_put_char(out, '\n');
}

static void put_title(struct tw_output *out, const char *page, const char *dashed, const char *summary)
{
	tw_putf(out, ".TH \"%s\" 1 \"\" \"Trackway %s\" \"Trackway\"\n.SH NAME\n", page, TW_VERSION);
	tw_put_roff(out, dashed);
	tw_put_text(out, " \\- ");
	tw_put_roff(out, summary);
	tw_put_char(out, '\n');
}

/* A line may end between two words (groff's "\\:"): of some choices there are more than one line has room for. */
static void put_argument(struct tw_output *out, const struct tw_option *option)
{
	if (option->kind == TW_OPTION_CHOICE)
		tw_put_choices(out, option, "|\\:");
	else
		tw_put_argument(out, option);
}

static void put_option(struct tw_output *out, const struct tw_option *option)
{
	tw_put_text(out, ".TP\n");
	if (option->letter)
		tw_putf(out, "\\fB\\-%c\\fR, ", option->letter);
	tw_put_text(out, "\\fB\\-\\-");
	tw_put_roff(out, option->name);
	tw_put_text(out, "\\fR");
	if (option->kind != TW_OPTION_FLAG) {
		tw_put_text(out, " \\fI");
		put_argument(out, option);
		tw_put_text(out, "\\fR");
	}
	tw_put_char(out, '\n');
	tw_put_roff(out, option->help);
	tw_put_text(out, ".\n");
}

static void put_options(struct tw_output *out, const struct tw_command *command)
{
	tw_put_text(out, ".SH OPTIONS\n");
	for (const struct tw_option_group *const *group = command->groups; *group; group++) {
		tw_putf(out, ".SS %s\n", (*group)->title);
		for (size_t i = 0; i < (*group)->count; i++)
			put_option(out, &(*group)->options[i]);
	}
}

/* Each line is "command\tsentence". */
static void put_examples(struct tw_output *out, const char *examples)
{
	char line[512];
	tw_put_text(out, ".SH EXAMPLES\n");
	while (*examples) {
		size_t command = strcspn(examples, "\t"), whole = strcspn(examples, "\n");
		tw_put_text(out, ".TP\n\\fB");
		snprintf(line, sizeof line, "%.*s", (int)command, examples);
		tw_put_roff(out, line);
		tw_put_text(out, "\\fR\n");
		snprintf(line, sizeof line, "%.*s", (int)(whole - command - 1), examples + command + 1);
		tw_put_roff(out, line);
		tw_put_char(out, '\n');
		examples += whole + (examples[whole] == '\n');
	}
}

static void put_see_also(struct tw_output *out, const struct tw_command *but)
{
	const struct tw_command *command;
	const char *comma = but ? ",\n" : "";
	tw_put_text(out, ".SH SEE ALSO\n");
	tw_put_text(out, but ? "\\fBtrackway\\fR(1)" : "");
	for (size_t i = 0; (command = tw_command_at(i)); i++) {
		if (command == but)
			continue;
		tw_putf(out, "%s\\fBtrackway\\-%s\\fR(1)", comma, command->name);
		comma = ",\n";
	}
	tw_put_text(out, but ? "\n"
	                     : ",\n\\fBtrackway\\fR(3),\n\\fBtrackway\\-formats\\fR(5),\n\\fBtrackway\\-sql\\fR(7)\n");
}

static bool has_strict(const struct tw_command *command)
{
	const struct tw_option *option;
	for (size_t i = 0; (option = tw_option_at(command, i)); i++)
		if (strcmp(option->name, "strict") == 0)
			return true;
	return false;
}

static const char *exit_status_of(const struct tw_command *command)
{
	if (command->exit_status)
		return command->exit_status;
	return has_strict(command) ? tw_strict_exit_status : tw_tool_exit_status;
}

void tw_man_command(struct tw_output *out, const struct tw_command *command)
{
	char page[64];
	snprintf(page, sizeof page, "trackway-%s", command->name);
	put_title(out, page, page, command->summary);
	tw_putf(out, ".SH SYNOPSIS\n\\fBtrackway %s\\fR [\\fIOPTION\\fR]... ", command->name);
	tw_put_text(out, "\\fI");
	tw_put_roff(out, command->operands);
	tw_put_text(out, "\\fR\n");
	put_section(out, "DESCRIPTION", command->description);
	put_options(out, command);
	if (command->manual)
		command->manual(out);
	put_section(out, "EXIT STATUS", exit_status_of(command));
	if (command->examples)
		put_examples(out, command->examples);
	put_see_also(out, command);
}

static void put_commands(struct tw_output *out)
{
	const struct tw_command *command;
	tw_put_text(out, ".SH COMMANDS\n");
	for (size_t i = 0; (command = tw_command_at(i)); i++) {
		tw_putf(out, ".TP\n\\fB%s\\fR ", command->name);
		tw_put_roff(out, command->operands);
		tw_put_char(out, '\n');
		tw_put_roff(out, command->summary);
		tw_put_text(out, ".\n");
	}
}

static void put_formats(struct tw_output *out)
{
	const char *name;
	tw_put_text(out, ".SH FORMATS\n");
	for (size_t i = 0; (name = tw_format_name(i)); i++) {
		tw_put_text(out, ".TP\n\\fB");
		tw_put_roff(out, name);
		tw_put_text(out, "\\fR\n");
		tw_put_roff(out, tw_format_title(name));
		tw_put_char(out, '\n');
	}
	tw_put_text(out, ".PP\nWritten:\n");
	for (size_t i = 0; (name = tw_writer_format_name(i)); i++) {
		tw_put_roff(out, name);
		tw_put_text(out, tw_writer_format_name(i + 1) ? ",\n" : ".\n");
	}
}

static void put_terms(struct tw_output *out, const char *section, const struct tw_term *term)
{
	tw_putf(out, ".SH %s\n", section);
	for (; term->name; term++) {
		tw_put_text(out, ".TP\n\\fB");
		tw_put_roff(out, term->name);
		tw_put_text(out, "\\fR\n");
		tw_put_roff(out, term->text);
		tw_put_text(out, ".\n");
	}
}

void tw_man_tool(struct tw_output *out)
{
	put_title(out, "trackway", "trackway", tw_tool_title);
	tw_put_text(out, ".SH SYNOPSIS\n\\fBtrackway\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIFILE\\fR]...\n");
	put_section(out, "DESCRIPTION", tw_tool_description);
	put_terms(out, "OPTIONS", tw_tool_options);
	put_commands(out);
	put_formats(out);
	put_section(out, "EXIT STATUS", tw_strict_exit_status);
	put_terms(out, "ENVIRONMENT", tw_tool_environment);
	put_see_also(out, NULL);
}
