/* temporary.h - files without a name. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_BYTES_TEMPORARY_H
#define BASE_BYTES_TEMPORARY_H

/* Opens a file without a name in a directory (NULL: /tmp), to be written and read. Returns its descriptor, or -1 and
 * errno. */
int tw_temporary_open(const char *directory);

/* Returns the directory that this takes, for messages. */
const char *tw_temporary_place(const char *directory);

#endif
