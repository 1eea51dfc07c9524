/* single_read.h - operands that are files of one trace: it is read once. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_FILES_SINGLE_READ_H
#define CLI_FILES_SINGLE_READ_H

#include "cli/options/options.h"

/* Moves paths behind the others that are of the same trace as one before, because any file of it stands for all, and
 * says so. Returns how many are left. */
size_t tw_drop_same_traces(const struct tw_common *common, char **paths, size_t count);

#endif
