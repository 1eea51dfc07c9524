/* listing.h - the files of a directory that have names of xtraces, and which go on where others end. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XTRACE_FILES_LISTING_H
#define XTRACE_FILES_LISTING_H

#include "xtrace/xtrace.h"

/* A file of the directory. */
struct xtrace_listed {
	struct tw_xtrace_name name;
	char *path;
	const char *begin; /* the timestamp at which the files of its number and hint begin that it belongs to */
};

/* By hint, number and start time; of one time the snapshots come first. */
struct xtrace_listing {
	struct xtrace_listed *items;
	size_t count, room;
};

/* Lists the files of a directory. Of a file and a compressed copy of it, the file counts. A data file that has no
 * snapshots of its own time goes on where the one before it with this number and hint ends, if that has some: a
 * snapshot names its data file by number. Returns 0, TW_ERR_SYSTEM with errno, or TW_ERR_MEMORY; free it in any
 * case. */
int xtrace_listing_open(struct xtrace_listing *listing, const char *folder);
void xtrace_listing_free(struct xtrace_listing *listing);

/* The order of start times: of numbers by their value. */
int xtrace_compare_times(const char *first, const char *second);

#endif
