/* command.c - the table of subcommands. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

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
