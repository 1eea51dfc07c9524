/* calls.h - system calls that the kernel has not yet returned from, by the tasks that made them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_SYSTEM_CALLS_H
#define COLLECT_SYSTEM_CALLS_H

#include <stdbool.h>
#include <stdint.h>

/* A task has made a call that returns to pc. The oldest calls of all are forgotten where there are very many. */
void system_calls_enter(uint64_t task, uint64_t pc);

/* A task goes on at pc in user mode: whether a call returns so. Calls that it has made since then do not return. */
bool system_calls_leave(uint64_t task, uint64_t pc);

#endif
