/* objects.h - the numbers of functions: each loaded program and library has a range of the 28 bits that a record has.
 *
 * Functions with XRay sleds have the number that their program's map gives them, behind the numbers of the objects
 * before; functions with hooks are told by address: the number of the object's first byte, and how far the function
 * is behind it. Each range is a note of the log, written before a record has a number of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FLIGHT_OBJECTS_H
#define FLIGHT_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

enum flight_id_kind { FLIGHT_BY_SLED, FLIGHT_BY_ADDRESS };

/* Gives an object a range of `count` numbers: where it lies, and the place of its first byte as its file has it at
 * address 0. Returns the first number; 0: there are none left, or the log cannot be written to. */
uint32_t flight_range(enum flight_id_kind kind, uint32_t count, uint64_t start, uint64_t load, const char *path);

/* The number of a function with hooks; 0: it cannot be told; FLIGHT_NOT_CHOSEN: it is not to be recorded. From any
 * place. */
#define FLIGHT_NOT_CHOSEN UINT32_MAX
uint32_t flight_id_of(const void *function);

/* Looks at the functions of all objects that are loaded, where not all are to be recorded: later it takes longer than
 * other threads wait. Uses libc: not from a hook. */
void flight_look_ahead(void);

/* Tells a log all ranges that were given: that of a forked child, whose functions keep their numbers. */
void flight_note_ranges(void);

#endif
