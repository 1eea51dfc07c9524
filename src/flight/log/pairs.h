/* pairs.h - the clocks beside each other, now and then. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FLIGHT_PAIRS_H
#define FLIGHT_PAIRS_H

#include <stdint.h>

/* What the clocks said at one moment; ns, but for the first. */
struct flight_clock {
	uint64_t ticks, raw_ns, monotonic_ns, realtime_ns;
};

/* As the custom event "trackway.clocks" has them, aligned: in the order of time, those that are 0 behind them. */
enum { FLIGHT_PAIRS = 64 };

struct flight_pairs {
	struct flight_clock *at; /* FLIGHT_PAIRS of them, which are read meanwhile */
	uint64_t due, step;      /* ticks: when the next one is wanted, and how long behind it another */
	uint32_t count, busy;
};

/* Adds one. Where all places are taken, every second one is given up, and from then on they are twice as far apart. */
void flight_add_pair(struct flight_pairs *pairs, const struct flight_clock *clock);

#endif
