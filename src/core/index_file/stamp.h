/* stamp.h - what a trace is known by: whether it is still what it was, and whether an index is of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_INDEX_FILE_STAMP_H
#define CORE_INDEX_FILE_STAMP_H

#include <stdbool.h>
#include <stdint.h>

struct tw_stamp {
	uint64_t size;                 /* bytes of all its files */
	uint64_t seconds, nanoseconds; /* when the last of them changed */
	uint64_t identity;             /* which files they are */
	bool stream;                   /* a pipe or a device, which can be read once */
};

/* Looks at a file, or at all files of the set that a path names. Returns 0 or an error number. */
int tw_stamp_take(const char *path, struct tw_stamp *stamp);

bool tw_stamp_same(const struct tw_stamp *a, const struct tw_stamp *b);

/* A number made of the first bytes of the file, or of those of the set. False when one cannot be read. */
bool tw_stamp_head(const char *path, uint64_t *head);

#endif
