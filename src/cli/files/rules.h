/* rules.h - the rules of all formats, for check --rules and its manual page. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_FILES_RULES_H
#define CLI_FILES_RULES_H

#include "cli/options/options.h"
#include "cli/output/screen.h"

/* Opens the screen and lists them. Returns 0 or TW_EXIT_FAILED. */
int tw_put_rules(struct tw_screen *screen, const struct tw_common *common);

/* Writes a section in roff. */
void tw_put_rules_manual(struct tw_output *out);

#endif
