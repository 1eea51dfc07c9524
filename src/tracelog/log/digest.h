/* digest.h - a stretch of a log with the numbers of its plain lines, found without a look at what is before it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_LOG_DIGEST_H
#define TRACELOG_LOG_DIGEST_H

#include "tracelog/format/plain.h"
#include "tracelog/log/stretch.h"

struct tracelog_digest {
	struct tracelog_stretch stretch;
	unsigned unwanted; /* kinds of plain lines that are only looked at for threads and times, bits 1 << plain */
	struct tracelog_entry *entries;
	size_t entry_count, entry_room;
	uint32_t lines; /* how many there are */
	struct tracelog_lists lists;
	bool failed; /* no memory */
};

/* Makes entries of the bytes, but for unwanted lines that tell nothing new. What a single line says is left to who
 * takes it: lists of one may be long. */
void tracelog_digest(struct tracelog_digest *digest);

void tracelog_digest_free(struct tracelog_digest *digest);

#endif
