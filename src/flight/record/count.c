/* count.c - calls that are counted, and not recorded. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "flight/log/log.h"

/* Places are found by a multiple of the number's: the functions of a program lie behind each other. */
void flight_count(struct flight_log *log, uint32_t id)
{
	enum { SPREAD = 0x9e3779b1u >> 1, TRIES = 256 };
	uint32_t place = id * (2u * SPREAD + 1) >> (32 - FLIGHT_COUNT_BITS);
	for (unsigned i = 0; i < TRIES; i++, place = (place + 1) % FLIGHT_COUNTS) {
		struct flight_count *count = &log->counts[place];
		uint32_t found = __atomic_load_n(&count->id, __ATOMIC_RELAXED);
		if (found == 0 &&
		    __atomic_compare_exchange_n(&count->id, &found, id, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			found = id;
		if (found == id) {
			__atomic_fetch_add(&count->calls, 1, __ATOMIC_RELAXED);
			return;
		}
	}
	flight_lose();
}
