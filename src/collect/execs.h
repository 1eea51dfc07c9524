/* execs.h - programs that the program executes in its place: they are not recorded, and told. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_EXECS_H
#define COLLECT_EXECS_H

#include "collect/machine.h"

struct collect_board;
struct collect_exec;

/* An SVC is about to be executed: notes which program it executes, if it does. NULL otherwise, or where no more can be
 * told. */
struct collect_exec *execs_begin(const struct guest *machine, struct collect_board *board);

/* It has returned, so that the program goes on. */
void execs_end(struct collect_exec *exec);

#endif
