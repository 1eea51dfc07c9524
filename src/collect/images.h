/* images.h - which files the program's code is of: a list beside the trace. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_IMAGES_H
#define COLLECT_IMAGES_H

#include "collect/board.h"

/* The code at pc, which lies at `host` here (0: not known), is about to run: the file that it is of gets into the list
 * when it is new. A list that cannot be written is the board's error. */
void images_see(struct collect_board *board, uint64_t pc, uintptr_t host);

/* A process begins to execute a program, which gets a number: files are listed with it. */
void images_begin(struct collect_board *board);

/* The calling process is a child: its program has another number, and what its parent's has had so far. */
void images_fork(struct collect_board *board);

/* A thread of this process has files of this number. */
void images_thread(struct collect_board *board, uint64_t number);

#endif
