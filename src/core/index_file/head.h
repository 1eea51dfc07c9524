/* head.h - how a file begins that keeps the index of a trace, beside it: which kind of index, and of which trace. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_INDEX_FILE_HEAD_H
#define CORE_INDEX_FILE_HEAD_H

#include "core/format.h"
#include "core/index_file/stamp.h"
#include "core/index_file/words.h"

enum { TW_INDEX_MAGIC = 8, TW_INDEX_HEAD = TW_INDEX_MAGIC + 5 * 8 }; /* bytes */

/* A kind of index. */
struct tw_index_kind {
	char magic[TW_INDEX_MAGIC];
	uint64_t version;
	const char *suffix; /* of the file, behind the name of the trace */
};

/* A trace as an index knows it. */
struct tw_index_trace {
	uint64_t size, seconds, nanoseconds; /* as in its stamp */
	uint64_t head;                       /* tw_stamp_head() */
};

/* The name of a trace's index; the caller frees it. NULL without memory. */
char *tw_index_path(const struct tw_index_kind *kind, const char *trace);

/* Says what the index of a trace must be of. False where that cannot be read. */
bool tw_index_trace(const char *path, const struct tw_stamp *stamp, struct tw_index_trace *trace);

/* Whether a trace is still what an index is of. */
bool tw_index_is_of(const struct tw_index_trace *a, const struct tw_index_trace *b);

void tw_put_index_head(struct tw_output *out, const struct tw_index_kind *kind, const struct tw_index_trace *trace);

/* Takes the head of an index. Returns NULL, or why it is none of the trace (a constant). */
const char *tw_take_index_head(struct tw_words *words, const struct tw_index_kind *kind,
                               const struct tw_index_trace *trace);

/* A format by its name; NULL, and the words have failed, where no format has it. */
void tw_put_format(struct tw_output *out, const char *name);
const struct tw_format *tw_take_format(struct tw_words *words);

#endif
