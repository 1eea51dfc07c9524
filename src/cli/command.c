/* command.c - the table of subcommands, and how one is called. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include "cli/files/output_overwrite.h"
#include "cli/files/interrupt.h"
#include "cli/manual/usage.h"
#include "cli/output/message.h"

#include <stdlib.h>
#include <string.h>

static const struct tw_command *const commands[] = {
#define X(name) &tw_command_##name,
    TW_COMMAND_LIST(X)
#undef X
};

const struct tw_command *tw_command_at(size_t i)
{
	return i < sizeof commands / sizeof *commands ? commands[i] : NULL;
}

const char *tw_command_name(size_t i)
{
	const struct tw_command *command = tw_command_at(i);
	return command ? command->name : NULL;
}

const struct tw_command *tw_command_named(const char *name)
{
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

static int show_help(const struct tw_command *command)
{
	struct tw_screen screen = {0};
	if (tw_screen_open(&screen, NULL))
		return TW_EXIT_FAILED;
	tw_help_command(&screen, command);
	return tw_screen_close(&screen);
}

static int run_parsed(const struct tw_command *command, struct tw_common *options, char **operands, size_t count)
{
	if (options->help)
		return show_help(command);
	if (count < command->least)
		return tw_say_usage(command, "%s wants %s", command->name, command->operands);
	if (command->most && count > command->most)
		return tw_say_usage(command, "too many operands: \"%s\" is one more", operands[command->most]);
	if (options->to_time && options->to_time <= options->from_time)
		return tw_say_usage(command, "--to-time must be later than --from-time");
	if (options->load_address.given && !options->binary)
		return tw_say_usage(command, "--load-address is about the program of --binary");
	if (tw_refuse_overwrite(command, options, operands, count))
		return TW_EXIT_FAILED;
	if (options->output)
		tw_clean_when_interrupted(options->output);
	return command->run(options, operands, count);
}

int tw_command_run(const struct tw_command *command, int argc, char **argv)
{
	int first = 0;
	struct tw_common *options = calloc(1, command->size);
	if (!options)
		return tw_say_error("out of memory");
	int status = tw_options_parse(command, argc, argv, options, &first);
	if (status == 0)
		status = run_parsed(command, options, argv + first, (size_t)(argc - first));
	tw_options_free(command, options);
	return status;
}
