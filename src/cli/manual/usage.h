/* usage.h - what --help prints, from the tables of commands and options. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_MANUAL_USAGE_H
#define CLI_MANUAL_USAGE_H

#include "cli/command.h"
#include "cli/output/screen.h"

/* What the tool is, in one sentence and in a paragraph: also of the manual. */
extern const char tw_tool_title[];
extern const char tw_tool_description[];
extern const char tw_tool_exit_status[];
extern const char tw_strict_exit_status[]; /* of commands with --strict, and of the tool */

/* A word and what it means; the last of a list is all NULL. */
struct tw_term {
	const char *name, *text;
};
extern const struct tw_term tw_tool_options[];
extern const struct tw_term tw_tool_environment[];

/* Writes the help of a command, or of the tool (NULL). */
void tw_help(struct tw_screen *screen, const struct tw_command *command);

/* Writes what stands for an option's value: "FILE", "a|b|c"; nothing for flags. */
void tw_put_argument(struct tw_output *out, const struct tw_option *option);

/* Writes the words of a list, with a space between them. word: number i, NULL past the last. */
void tw_put_words(struct tw_output *out, const char *(*word)(size_t i));

/* The words of a choice, with something between them. */
void tw_put_choices(struct tw_output *out, const struct tw_option *option, const char *between);

#endif
