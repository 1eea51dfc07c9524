/* completion_zsh.c - what zsh needs to complete our command line. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/manual/completion.h"
#include "cli/manual/usage.h"

#include <string.h>

/* In single quotes inside a specification of _arguments or _describe. */
static void put_zsh_text(struct tw_output *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("[]:\\", *text))
			tw_put_char(out, '\\');
		if (*text == '\'')
			tw_put_text(out, "'\\''");
		else
			tw_put_char(out, *text);
	}
}

static void put_zsh_value(struct tw_output *out, const struct tw_option *option)
{
	if (option->kind == TW_OPTION_FLAG)
		return;
	tw_put_char(out, ':');
	put_zsh_text(out, option->placeholder ? option->placeholder : option->name);
	tw_put_char(out, ':');
	if (option->kind == TW_OPTION_FILE || option->kind == TW_OPTION_FILES)
		tw_put_text(out, "_files");
	if (option->kind == TW_OPTION_CHOICE) {
		tw_put_char(out, '(');
		tw_put_choices(out, option, " ");
		tw_put_char(out, ')');
	}
}

/* A value may be a word of its own or follow in the same: "-n 5", "-n5", "--top 5", "--top=5". */
static void put_zsh_option(struct tw_output *out, const struct tw_option *option)
{
	bool again = option->kind == TW_OPTION_NUMBERS || option->kind == TW_OPTION_WHO ||
	             option->kind == TW_OPTION_LIST || option->kind == TW_OPTION_FILES ||
	             option->kind == TW_OPTION_NAMED;
	const char *plus = option->kind == TW_OPTION_FLAG ? "" : "+";
	const char *equals = option->kind == TW_OPTION_FLAG ? "" : "=";
	tw_put_text(out, "\t\t\t\t");
	if (option->letter && again)
		tw_putf(out, "'*'{-%c%s,--%s%s}'", option->letter, plus, option->name, equals);
	else if (option->letter)
		tw_putf(out, "'(-%c --%s)'{-%c%s,--%s%s}'", option->letter, option->name, option->letter, plus,
		        option->name, equals);
	else
		tw_putf(out, "'%s--%s%s", again ? "*" : "", option->name, equals);
	tw_put_char(out, '[');
	put_zsh_text(out, option->help);
	tw_put_char(out, ']');
	put_zsh_value(out, option);
	tw_put_text(out, "' \\\n");
}

static void put_zsh_command(struct tw_output *out, const struct tw_command *command)
{
	const struct tw_option *option;
	tw_putf(out, "\t\t%s)\n\t\t\t_arguments -s \\\n", command->name);
	for (size_t k = 0; (option = tw_option_at(command, k)); k++)
		put_zsh_option(out, option);
	if (command->word) {
		tw_put_text(out, "\t\t\t\t'1:word:(");
		tw_put_words(out, command->word);
		tw_put_text(out, ")'\n");
	} else {
		tw_put_text(out, "\t\t\t\t'*:file:_files'\n");
	}
	tw_put_text(out, "\t\t\t;;\n");
}

void tw_completion_zsh(struct tw_output *out)
{
	const struct tw_command *command;
	tw_put_text(out, "#compdef trackway\n"
	                 "# Completes the command line of trackway in zsh; made by 'trackway completion zsh'.\n"
	                 "_trackway()\n{\n"
	                 "\tlocal curcontext=$curcontext state line\n"
	                 "\tlocal -a commands\n"
	                 "\tcommands=(\n");
	for (size_t i = 0; (command = tw_command_at(i)); i++) {
		tw_putf(out, "\t\t'%s:", command->name);
		put_zsh_text(out, command->summary);
		tw_put_text(out, "'\n");
	}
	tw_put_text(out,
	            "\t)\n"
	            "\t_arguments -C '(- *)'{-h,--help}'[show help]' '(- *)'{-V,--version}'[show the version]' \\\n"
	            "\t\t'1:command:->command' '*::argument:->argument'\n"
	            "\tcase $state in\n"
	            "\tcommand)\n\t\t_describe command commands\n\t\t;;\n"
	            "\targument)\n\t\tcase $line[1] in\n");
	for (size_t i = 0; (command = tw_command_at(i)); i++)
		put_zsh_command(out, command);
	tw_put_text(out, "\t\tesac\n\t\t;;\n\tesac\n}\n_trackway \"$@\"\n");
}
