/* completion.h - scripts for shells that complete our command line, from the tables. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_COMMANDS_COMPLETION_H
#define CLI_COMMANDS_COMPLETION_H

#include "base/bytes/output.h"

void tw_completion_bash(struct tw_output *out);
void tw_completion_zsh(struct tw_output *out);

/* Writes the words of a list, with a space between them. word: number i, NULL past the last. */
void tw_put_words(struct tw_output *out, const char *(*word)(size_t i));

#endif
