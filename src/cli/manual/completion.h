/* completion.h - scripts for shells that complete our command line, from the tables. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_MANUAL_COMPLETION_H
#define CLI_MANUAL_COMPLETION_H

#include "base/bytes/output.h"

void tw_completion_bash(struct tw_output *out);
void tw_completion_zsh(struct tw_output *out);

#endif
