/* choose.h - which functions are recorded, where not all are. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FLIGHT_CHOOSE_H
#define FLIGHT_CHOOSE_H

#include <stdbool.h>
#include <stdint.h>

/* Takes the patterns: a line each, "+GLOB" for what alone is recorded, "-GLOB" for what is not; "+@FILE" and "-@FILE"
 * for the lines of a file, of which those count that do not begin with '#'. Uses libc: not from a hook. */
void flight_take_patterns(const char *lines);

/* The functions of an object that are recorded: a bit for each byte from `start` on. NULL: all. The object's file names
 * them. From any place. It is never freed. */
const uint8_t *flight_chosen(const char *path, uint64_t load, uint64_t start, uint64_t size);

static inline bool flight_is_chosen(const uint8_t *chosen, uint64_t distance)
{
	return !chosen || chosen[distance / 8] >> distance % 8 & 1;
}

#endif
