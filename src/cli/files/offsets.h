/* offsets.h - by how much later each of several files begins: --offset FILE=TIME. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_FILES_OFFSETS_H
#define CLI_FILES_OFFSETS_H

#include "cli/command.h"

/* Takes the values of --offset, each for one of the sources. Returns 0, or TW_EXIT_FAILED after saying what is wrong.
 */
int tw_take_offsets(const struct tw_command *command, struct tw_merge_source *sources, size_t count,
                    const struct tw_list *offsets);

#endif
