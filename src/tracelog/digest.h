/* digest.h - a stretch of a log with the numbers of its plain lines, found without a look at what is before it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_DIGEST_H
#define TRACELOG_DIGEST_H

#include "tracelog/plain.h"

struct tracelog_digest {
	uint8_t *bytes; /* whole lines, or the only part of one that is there; TRACELOG_SLACK bytes more may be read */
	size_t size, room;
	uint64_t offset; /* in the log */
	bool cut;        /* a line that is too long: only its beginning is here */
	struct tracelog_entry *entries;
	size_t entry_count, entry_room;
	struct tracelog_lists lists;
	bool failed; /* no memory */
};

/* Makes entries of the bytes. */
void tracelog_digest(struct tracelog_digest *digest);

void tracelog_digest_free(struct tracelog_digest *digest);

#endif
