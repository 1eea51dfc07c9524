/* place.h - whether what lies under the name of an index may be read, and may be replaced. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_INDEX_PLACE_H
#define SQL_INDEX_PLACE_H

/* Opens an index, which must be a regular file of the user, of root, or of the trace's owner; no link is followed.
 * Returns a descriptor, or -1: then *why says what is wrong (a constant), NULL where nothing is there. */
int sql_place_open(const char *path, const char *trace, const char **why);

/* Says why no index may be written under a name; NULL where it may: in a directory of the user, in which others
 * cannot rename files, where nothing has the name, or a file that begins with `magic` of `size` bytes. */
const char *sql_place_refusal(const char *path, const char *trace, const char *magic, unsigned size);

#endif
