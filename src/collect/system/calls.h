/* calls.h - system calls that the kernel has not yet returned from, by the tasks that made them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_SYSTEM_CALLS_H
#define COLLECT_SYSTEM_CALLS_H

#include <stdbool.h>
#include <stdint.h>

/* A task has made a call that returns to pc. The oldest calls of all are forgotten where there are very many. */
void system_calls_enter(uint64_t task, uint64_t number, uint64_t pc);

/* A task goes on at pc in user mode, with X0: whether a system call leads there. It returns, or is made again; its
 * program is a new one; a child of it begins; or the handler of a signal does, before it returns. Calls that the task
 * has made since one that returns do not return. */
bool system_calls_leave(uint64_t task, uint64_t pc, uint64_t x0);

#endif
