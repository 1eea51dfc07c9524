/* begun.h - names of files and directories until they are complete, and what a killed program left under such. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_BYTES_BEGUN_H
#define BASE_BYTES_BEGUN_H

#include <stdbool.h>
#include <stddef.h>

/* The name is that of the place, cut where file systems have no room for more, then TW_BEGUN_MARK and TW_BEGUN_DIGITS
 * hexadecimal digits. Who writes holds a lock (flock) on it: what has none was left by a program that was killed. */
#define TW_BEGUN_MARK ".trackway-"
enum { TW_BEGUN_DIGITS = 6 };

/* How long the part of a name is that tells the place: "out" of "out.trackway-01ab2f". 0: it is no such name. */
size_t tw_begun_place(const char *name, size_t length);

/* Whether a name is that of what was begun for a place, the last name of which is given. */
bool tw_begun_for(const char *name, size_t length, const char *place, size_t place_length);

/* Removes what others left for this place, then tries names until `take` gets one: it returns a descriptor, or below 0
 * and errno, EEXIST for a name that is in use. Returns what `take` does, and the name, which the caller frees. */
int tw_begun_take(const char *place, char **name, int (*take)(const void *context, const char *name),
                  const void *context);

/* Locks what was just begun. False and EEXIST where another program, which took it for left, was first. */
bool tw_begun_lock(int fd);

/* Removes a begun directory with the files in it. fd: what `take` gave for it; it is closed. */
void tw_begun_remove(const char *directory, int fd);

#endif
