/* follow.h - programs that a recorded one executes in its place are recorded, too. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_FOLLOW_H
#define COLLECT_FOLLOW_H

#include "collect/board.h"
#include "collect/machine.h"

/* When the plugin is loaded: which QEMU this is, and with which options. */
void follow_setup(void);

/* What is to be executed. NULL: it is no AArch64 program, or cannot be found. */
struct followed_program *follow_begin(const struct guest *machine);

/* Executes it by the same QEMU. slot: that of the thread, which ends with its last token; NULL: it has none. Returns
 * where that cannot be done, and frees it. */
void follow_go(struct followed_program *follow, struct collect_board *board, const struct collect_slot *slot);

#endif
