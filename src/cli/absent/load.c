/* load.c - `trackway load` of a build without libcurl. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/options/options.h"

static const struct tw_option_group *const groups[] = TW_OPTION_GROUPS(&tw_output_options);

const struct tw_command tw_command_load = {
    .name = "load",
    .summary = "traces into a server of ClickHouse",
    .operands = "FILE... --to clickhouse://HOST:PORT/DATABASE",
    .description = "This trackway is built without libcurl, which it needs.",
    .groups = groups,
    .size = sizeof(struct tw_common),
    .missing = "libcurl",
};
