/* system.h - the plugin in the QEMU of whole machines. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_SYSTEM_H
#define COLLECT_SYSTEM_H

#include "collect/board.h"

/* Has QEMU's translations told, as they are wanted. To be called while the plugin is installed. */
void system_setup(uint64_t id, struct collect_board *board);

#endif
