/* help.c - trackway help: what the tool or a command does. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/nearest.h"
#include "cli/manual/man.h"
#include "cli/manual/usage.h"
#include "cli/output/message.h"

struct help_options {
	struct tw_common common;
	bool man;
};

static const struct tw_option own_options[] = {
    {"man", 0, TW_OPTION_FLAG, offsetof(struct help_options, man), .help = "write the manual page, for man(1)"},
};
static const struct tw_option_group *const groups[] = TW_OPTION_GROUPS(TW_OPTIONS("Output", own_options));

static const char *name_at(void *context, size_t i)
{
	(void)context;
	return tw_command_name(i);
}

static int unknown(const char *typed)
{
	const char *near = tw_nearest(typed, name_at, NULL);
	if (near)
		return tw_say_usage(NULL, "there is no command %s; did you mean %s?", typed, near);
	return tw_say_usage(NULL, "there is no command %s", typed);
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	const struct help_options *options = (const struct help_options *)common;
	const struct tw_command *command = count ? tw_command_named(operands[0]) : NULL;
	struct tw_screen screen = {0};
	if (count && !command)
		return unknown(operands[0]);
	if (tw_screen_open(&screen, NULL))
		return TW_EXIT_FAILED;
	if (options->man && command)
		tw_man_command(&screen.out, command);
	else if (options->man)
		tw_man_tool(&screen.out);
	else
		tw_help(&screen, command);
	return tw_screen_close(&screen);
}

const struct tw_command tw_command_help = {
    .name = "help",
    .summary = "what the tool or a command does",
    .operands = "[COMMAND]",
    .description = "Shows what the tool or one of its commands does, with all options.",
    .groups = groups,
    .size = sizeof(struct help_options),
    .most = 1,
    .run = run,
    .word = tw_command_name,
};
