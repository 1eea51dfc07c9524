/* completion_bash.c - what bash needs to complete our command line. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/manual/completion.h"
#include "cli/manual/usage.h"

/* Numbers, times and texts: nothing can be offered. */
static bool takes_anything(const struct tw_option *option)
{
	return option->kind != TW_OPTION_FLAG && option->kind != TW_OPTION_FILE && option->kind != TW_OPTION_FILES &&
	       option->kind != TW_OPTION_CHOICE;
}

static const char bash_begin[] =
    "# Completes the command line of trackway in bash; made by 'trackway completion bash'.\n"
    "_trackway()\n"
    "{\n"
    "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words=\n"
    "\tlocal command=${COMP_WORDS[1]}\n"
    "\tCOMPREPLY=()\n"
    "\t# bash makes a word of the = between an option and its value.\n"
    "\tif [[ $cur == = ]]; then\n"
    "\t\tcur=\n"
    "\telif [[ $prev == = ]]; then\n"
    "\t\tprev=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "\tfi\n"
    "\tif ((COMP_CWORD == 1)); then\n"
    "\t\tCOMPREPLY=($(compgen -W \"";

static const char bash_end[] = "\tesac\n"
			       "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
			       "}\n"
			       "complete -o default -F _trackway trackway\n";

/* A line of the case over "command:option before". */
static void put_bash_value(struct tw_output *out, const struct tw_command *command, const struct tw_option *option)
{
	if (option->kind == TW_OPTION_FLAG)
		return;
	tw_putf(out, "\t%s:--%s", command->name, option->name);
	if (option->letter)
		tw_putf(out, " | %s:-%c", command->name, option->letter);
	tw_put_text(out, ")\n");
	if (option->kind == TW_OPTION_CHOICE) {
		tw_put_text(out, "\t\tCOMPREPLY=($(compgen -W \"");
		tw_put_choices(out, option, " ");
		tw_put_text(out, "\" -- \"$cur\"))\n");
	}
	if (takes_anything(option))
		tw_put_text(out, "\t\tcompopt +o default 2>/dev/null\n");
	tw_put_text(out, "\t\treturn\n\t\t;;\n");
}

static void put_bash_values(struct tw_output *out)
{
	const struct tw_command *command;
	const struct tw_option *option;
	tw_put_text(out, "\tcase $command:$prev in\n");
	for (size_t i = 0; (command = tw_command_at(i)); i++)
		for (size_t k = 0; (option = tw_option_at(command, k)); k++)
			put_bash_value(out, command, option);
	tw_put_text(out, "\tesac\n");
}

/* A line of the case over "command:current word": options, or the words that are operands. Other operands are files,
 * which bash completes itself. */
static void put_bash_words(struct tw_output *out, const struct tw_command *command)
{
	const struct tw_option *option;
	tw_putf(out, "\t%s:-*) words=\"", command->name);
	for (size_t k = 0; (option = tw_option_at(command, k)); k++)
		tw_putf(out, "%s--%s", k ? " " : "", option->name);
	tw_put_text(out, "\" ;;\n");
	if (!command->word)
		return;
	tw_putf(out, "\t%s:*) words=\"", command->name);
	tw_put_words(out, command->word);
	tw_put_text(out, "\" ;;\n");
}

void tw_completion_bash(struct tw_output *out)
{
	const struct tw_command *command;
	tw_put_text(out, bash_begin);
	tw_put_words(out, tw_command_name);
	tw_put_text(out, " --help --version\" -- \"$cur\"))\n\t\treturn\n\tfi\n");
	put_bash_values(out);
	tw_put_text(out, "\tcase $command:$cur in\n");
	for (size_t i = 0; (command = tw_command_at(i)); i++)
		put_bash_words(out, command);
	tw_put_text(out, bash_end);
}
