/* cursor.h - numbers of a file one after the other. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_PDB_CURSOR_H
#define TRACELOG_PDB_CURSOR_H

#include "base/bytes/bytes.h"
#include "tracelog/pdb/pdb.h"

/* Reads on until the bytes are over: what is asked for then is 0, and `failed` is set. */
struct pdb_cursor {
	const uint8_t *at, *end;
	bool failed;
};

static inline struct pdb_cursor pdb_cursor_of(struct tracelog_pdb_bytes in)
{
	return (struct pdb_cursor){in.bytes, in.bytes + in.size, false};
}

static inline const uint8_t *pdb_take(struct pdb_cursor *cursor, size_t size)
{
	static const uint8_t none[8];
	if ((size_t)(cursor->end - cursor->at) < size) {
		cursor->failed = true;
		return none;
	}
	const uint8_t *taken = cursor->at;
	cursor->at += size;
	return taken;
}

static inline uint32_t pdb_take32(struct pdb_cursor *cursor)
{
	return tw_load32(pdb_take(cursor, 4), false);
}

#endif
