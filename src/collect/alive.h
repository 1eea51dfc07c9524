/* alive.h - whether the tool that began the recording still runs: without it nothing is recorded, nor executed. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_ALIVE_H
#define COLLECT_ALIVE_H

#include "collect/board.h"

/* By the tool: the board names it. */
void alive_name(struct collect_board *board);

/* In a process that begins: whether the tool can be seen from it. A process in a namespace of its own cannot. */
void alive_begin(const struct collect_board *board);

/* Ends the process where the tool has ended. */
void alive_check(const struct collect_board *board);

#endif
