/* completion.c - trackway completion: what a shell needs to complete our command line, from the tables. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/manual/completion.h"

#include "cli/command.h"
#include "cli/output/message.h"
#include "cli/output/screen.h"

#include <string.h>

static const struct {
	const char *name;
	void (*put)(struct tw_output *out);
} shells[] = {{"bash", tw_completion_bash}, {"zsh", tw_completion_zsh}};

static const char *shell_word(size_t i)
{
	return i < sizeof shells / sizeof *shells ? shells[i].name : NULL;
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	(void)common, (void)count;
	struct tw_screen screen = {0};
	size_t i = 0;
	while (shell_word(i) && strcmp(shell_word(i), operands[0]) != 0)
		i++;
	if (!shell_word(i))
		return tw_say_usage(&tw_command_completion, "there is no completion for %s: bash, zsh", operands[0]);
	if (tw_screen_open(&screen, NULL))
		return TW_EXIT_FAILED;
	shells[i].put(&screen.out);
	return tw_screen_close(&screen);
}

static const struct tw_option_group *const groups[] = {&tw_help_options, NULL};

const struct tw_command tw_command_completion = {
    .name = "completion",
    .summary = "a script for the shell that completes commands, options and values",
    .operands = "bash|zsh",
    .description = "Prints a script that teaches a shell to complete the command line of trackway.",
    .examples = "source <(trackway completion bash)\tFor this shell; in ~/.bashrc for all.\n"
		"trackway completion zsh >~/.zfunc/_trackway\tIn a folder that is in fpath.\n",
    .groups = groups,
    .size = sizeof(struct tw_common),
    .least = 1,
    .most = 1,
    .run = run,
    .word = shell_word,
};
