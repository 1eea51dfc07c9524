/* helpers.h - QEMU 7.2's calls of plugins. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_HELPERS_H
#define COLLECT_HELPERS_H

#include <stdbool.h>

/* Makes the code that QEMU generates write the guest's registers to memory before it calls a plugin. Returns whether it
 * will. */
bool helpers_write_back(void);

#endif
