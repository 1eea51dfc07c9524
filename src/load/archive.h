/* archive.h - the blocks of a trace, out of the archive that they are written in, as it comes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOAD_ARCHIVE_H
#define LOAD_ARCHIVE_H

#include "base/memory/memory.h"
#include "base/text/digits.h"
#include "export/clickhouse/schema.h"

/* A block. */
struct load_block {
	enum tw_table_id table;
	uint64_t number, rows;
	struct tw_text bytes;
};

/* Takes a block that is whole; it may take the text out of it. Returns 0 or an errno. */
typedef int load_block_fn(void *context, struct load_block *block);

/* All zero but the first two to begin. */
struct load_archive {
	load_block_fn *take;
	void *context;
	char head[512];
	size_t head_size;
	uint64_t left, padding; /* bytes of the entry that are still to come */
	bool wanted;            /* the entry is a block */
	struct load_block block;
};

/* A sink of bytes: struct tw_sink. */
int load_archive_write(void *archive, const void *bytes, size_t size);

void load_archive_free(struct load_archive *archive);

#endif
