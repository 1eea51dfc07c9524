/* stretch.h - copies of chunks that threads are writing to, and of them what is not older than a time. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FLIGHT_STRETCH_H
#define FLIGHT_STRETCH_H

#include <stdbool.h>
#include <stdint.h>

/* Ticks of so many nanoseconds: as many as 64 bits hold, at most. */
static inline uint64_t flight_ticks_of(uint64_t ns, uint64_t frequency)
{
	const uint64_t second = 1000000000, whole = ns / second, part = ns % second * frequency / second;
	return frequency && whole > (UINT64_MAX - part) / frequency ? UINT64_MAX : whole * frequency + part;
}

/* The size of the chunk that begins at `at` of a log of `size` bytes; 0: none does, and the next may be a page on. */
uint64_t flight_chunk_size(const uint8_t *log, uint64_t at, uint64_t size);

/* Where the next chunk may begin. */
uint64_t flight_chunk_next(uint64_t at, uint64_t chunk_size);

/* Copies a chunk as it is between two looks: one that a ring has begun anew meanwhile is copied again. False: it was so
 * each time, or it is none. What is behind its records is not written to. */
bool flight_copy_chunk(uint8_t *to, const uint8_t *chunk, uint64_t size);

/* Leaves in the copy of a chunk what begins `since`, in ticks, or later: its buffer is made anew, with another time of
 * the wall. Notes stay whole. Returns how many bytes the chunk then has; 0: it has no record any more. */
uint64_t flight_keep_since(uint8_t *chunk, uint64_t since, uint64_t frequency);

#endif
