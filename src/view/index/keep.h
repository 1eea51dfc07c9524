/* keep.h - an index that has been made as bytes of a file, and back. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_INDEX_KEEP_H
#define VIEW_INDEX_KEEP_H

#include "core/index_file/words.h"
#include "view/index/index.h"

/* Zeroes behind the store in its file: what is read of a packed block never reaches beyond them. */
enum { VIEW_KEPT_BEHIND = 1 << 13 };

/* A number that is another one where records of the store are laid out in another way. */
uint64_t view_keep_layout(void);

/* Bytes of the store that are of this run alone: addresses, and what pages know. */
struct view_own_bytes {
	uint64_t place, size;
};

struct view_own {
	struct view_own_bytes *items; /* by place */
	size_t count, room;
};

/* Finds them. False without memory; free the items in any case. */
bool view_keep_own(const struct view_index *index, struct view_own *own);

/* Writes all of an index that is not in its store. */
void view_keep_put(struct tw_output *out, const struct view_index *index);

/* The file that slices are read from which the index does not have. */
struct view_kept_from {
	const char *path;
	const struct tw_format *format;
	const struct tw_read_options *options;
	uint64_t size;
	uint64_t start; /* of the first span of time */
};

/* Takes what was written, for a store that is in place: index->store. All is looked at, and nothing believed that could
 * lead outside of the store or of memory: but for the numbers in packed blocks, any of which may be read. False where
 * something is wrong (words->failed), or without memory. Free the index in any case. */
bool view_keep_get(struct tw_words *words, struct view_index *index, const struct view_kept_from *from);

#endif
