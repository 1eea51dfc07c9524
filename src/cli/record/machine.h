/* machine.h - a whole machine as what is recorded: QEMU's options for it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_RECORD_MACHINE_H
#define CLI_RECORD_MACHINE_H

#include "cli/record/record.h"

/* Whether a whole machine is asked for, by --system or --kernel. */
bool tw_machine_asked(const struct tw_record_options *options);

/* Options that make no sense together. Returns 0, or an exit status after saying what is wrong. */
int tw_machine_check(const struct tw_record_options *options, size_t count);

/* Makes QEMU's options of those of --kernel, and of words that the user gives. Returns NULL without memory; *all ends
 * with NULL and is the caller's to free(). */
char **tw_machine_words(const struct tw_record_options *options, char **words, size_t count, size_t *all_count);

/* The model that the last -cpu of QEMU's options names; NULL for none. */
const char *tw_machine_cpu(char **words, size_t count);

#endif
