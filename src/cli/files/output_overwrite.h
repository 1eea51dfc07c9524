/* output_overwrite.h - output that would go over what is read. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_FILES_OUTPUT_OVERWRITE_H
#define CLI_FILES_OUTPUT_OVERWRITE_H

#include "cli/command.h"

/* Returns 0, or TW_EXIT_FAILED after saying which of the files that are read, operands and options, is the file that is
 * to be written, by whatever name. */
int tw_refuse_overwrite(const struct tw_command *command, const struct tw_common *options, char **operands,
                        size_t count);

/* The same for files that are written beside the output or in it: its name and one of these endings, NULL behind the
 * last; NULL: there are none. */
int tw_refuse_overwrite_beside(const struct tw_command *command, const struct tw_common *options, char **operands,
                               size_t count, const char *const *endings);

#endif
