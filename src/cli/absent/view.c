/* view.c - `trackway view` of a build without SQLite. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/options/options.h"

static const struct tw_option_group *const groups[] = TW_OPTION_GROUPS(&tw_output_options);

const struct tw_command tw_command_view = {
    .name = "view",
    .summary = "a timeline in the browser",
    .operands = "FILE...",
    .description = "This trackway is built without SQLite, which it needs.",
    .groups = groups,
    .size = sizeof(struct tw_common),
    .missing = "SQLite",
};
