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

enum flight_id_kind { FLIGHT_BY_SLED, FLIGHT_BY_ADDRESS, FLIGHT_GONE /* of an object that was unloaded */ };

/* Gives an object a range of `count` numbers: where it lies, and the place of its first byte as its file has it at
 * address 0. Returns the first number; 0: there are none left, or the log cannot be written to. */
uint32_t flight_range(enum flight_id_kind kind, uint32_t count, uint64_t start, uint64_t load, const char *path);

/* ---- What is loaded changes. ---- */

/* Whoever gives ranges outside of hooks has this lock. False: another thread keeps it for too long. */
bool flight_lock_ranges(void);
void flight_unlock_ranges(void);

/* Whether an object that is loaded there has its range. */
bool flight_has_range(enum flight_id_kind kind, uint64_t load, const char *path);

/* Ranges of objects that are not kept from the one on are dropped by the other: their numbers stay those of their
 * functions, which have them again where the object comes back. */
void flight_doubt_ranges(void);
void flight_keep_ranges(uint64_t load, const char *path);
void flight_drop_ranges(void);

/* The number of a function with hooks; 0: it cannot be told; FLIGHT_NOT_CHOSEN: it is not to be recorded. From any
 * place. */
#define FLIGHT_NOT_CHOSEN UINT32_MAX
uint32_t flight_id_of(const void *function);

/* Gives the object of a function its range, by whoever has the lock. Uses libc: not from a hook. */
void flight_add_object(const void *function);

/* Looks at the functions of all objects that are loaded, where not all are to be recorded: later it takes longer than
 * other threads wait. Uses libc: not from a hook. */
void flight_look_ahead(void);

/* Tells a log all ranges that were given: that of a forked child, whose functions keep their numbers. */
void flight_note_ranges(void);

#endif
