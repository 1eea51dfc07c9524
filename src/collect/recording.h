/* recording.h - where a thread's recording begins, and goes on. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_RECORDING_H
#define COLLECT_RECORDING_H

#include "collect/guest_thread.h"

/* Writes what registers user mode goes on with. */
void recording_put_registers(struct guest_thread *thread, struct collect_board *board);

/* Where nothing was recorded: files are made, or the gap is told by all registers. ordered: there will be TIMEs. */
void recording_begin(struct guest_thread *thread, struct collect_board *board, bool ordered);

#endif
