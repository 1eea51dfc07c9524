/* pager.h - long text on a terminal, page by page. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_OUTPUT_PAGER_H
#define CLI_OUTPUT_PAGER_H

#include <stdbool.h>
#include <sys/types.h>

/* Starts $TRACKWAY_PAGER, $PAGER or less. Returns its process and *fd to write to, or 0 when there is none to be had
 * (or it is "cat"): the text then goes straight to the terminal. */
pid_t tw_pager_start(int *fd);

/* Waits for it, when all has been written and the descriptor closed. False where the shell could not run it. */
bool tw_pager_wait(pid_t pager);

#endif
