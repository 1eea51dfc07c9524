/* man.h - manual pages in roff, from the tables of commands and options. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_MANUAL_MAN_H
#define CLI_MANUAL_MAN_H

#include "base/bytes/output.h"
#include "cli/command.h"

void tw_man_tool(struct tw_output *out);
void tw_man_command(struct tw_output *out, const struct tw_command *command);

/* Writes text in roff: what roff would take for its own is escaped; an empty line begins a paragraph. */
void tw_put_roff(struct tw_output *out, const char *text);

#endif
