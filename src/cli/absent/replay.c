/* replay.c - `trackway replay` of a build without unicorn. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/options/options.h"

static const struct tw_option_group *const groups[] = TW_OPTION_GROUPS(&tw_output_options);

const struct tw_command tw_command_replay = {
    .name = "replay",
    .summary = "execute a trace's instructions again, and compare",
    .operands = "DIR...",
    .description = "This trackway is built without unicorn, which it needs.",
    .groups = groups,
    .size = sizeof(struct tw_common),
    .missing = "unicorn",
};
