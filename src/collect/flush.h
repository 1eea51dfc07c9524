/* flush.h - the tool's side of a collection: the board, and what is still in it when QEMU has ended. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_FLUSH_H
#define COLLECT_FLUSH_H

#include "collect/alive.h"
#include "collect/board.h"
#include "collect/ranges.h"
#include "collect/windows/regions.h"

/* Makes a board in memory that a child process can have as descriptor *fd. Returns NULL and errno. */
struct collect_board *collect_board_make(int *fd);

void collect_board_free(struct collect_board *board, int fd);

/* Writes what threads have left behind, and cuts the files behind their last whole token and snapshot. No process may
 * use the board any more. Returns 0 or the first errno. */
int collect_flush(struct collect_board *board);

#endif
