/* clock.h - the clocks of a log: which one counts its times, and what the others say beside it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FLIGHT_CLOCK_H
#define FLIGHT_CLOCK_H

#include "flight/log/log.h"

#include <time.h>

enum { FLIGHT_SECOND = 1000000000 }; /* ns */

/* Whether the counter of the processor runs at one speed and is the same on all processors: the processor must say the
 * one, and the kernel, which has compared them, the other. Uses libc: not from a hook. */
bool flight_ticks_are_sound(void);

/* Nanoseconds. */
uint64_t flight_kernel_time(clockid_t clock);

/* All of them, now. */
struct flight_clock flight_clocks(void);

/* Adds a pair of clocks to the log when one is due. While a thread does so, others go on without. */
void flight_note_pair(struct flight_log *log, uint64_t now);

#endif
