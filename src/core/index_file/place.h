/* place.h - whether what lies under the name of an index may be read, and may be replaced. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_INDEX_FILE_PLACE_H
#define CORE_INDEX_FILE_PLACE_H

#include "core/index_file/head.h"

/* Opens an index, which must be a regular file of the user, of root, or of the trace's owner; no link is followed.
 * Returns a descriptor, or -1: then *why says what is wrong (a constant), NULL where nothing is there. */
int tw_index_open(const char *path, const char *trace, const char **why);

/* Says why no index may be written under a name; NULL where it may: in a directory of the user, in which others
 * cannot rename files, where nothing has the name, or an index of this kind. */
const char *tw_index_refusal(const struct tw_index_kind *kind, const char *path, const char *trace);

#endif
