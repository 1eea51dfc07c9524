/* classify.h - what stands at a place where the walk sees no record at once. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_RESYNC_CLASSIFY_H
#define FXT_RESYNC_CLASSIFY_H

#include "fxt/resync/evidence.h"

enum fxt_place_kind {
	FXT_PLACE_RECORD,      /* a record of that size, with something in it that is not known */
	FXT_PLACE_BROKEN,      /* a record of that size, with something in it that does not fit */
	FXT_PLACE_GARBAGE,     /* so many bytes until the next record, or until where more bytes are needed to tell */
	FXT_PLACE_CUT,         /* a record that the file ends in */
	FXT_PLACE_SWAPPED,     /* the magic number in the other byte order */
	FXT_PLACE_NEEDS_BYTES, /* more bytes are needed to tell */
	FXT_PLACE_NEEDS_LAST   /* the same, and the record before the place with them */
};

struct fxt_place {
	enum fxt_place_kind kind;
	uint64_t size;
	const char *fault; /* what was expected: a constant */
	bool joins;        /* a record: it is an event of a known thread, or a good record begins where it ends */
};

/* Tells what the first bytes of a view are. in_garbage: the bytes before them are no records. */
struct fxt_place fxt_classify(const struct fxt_view *view, bool in_garbage);

/* Whether the first record of a view, metadata that measures right, has a record behind it, and a good name if it has
 * one. If not, it must be classified before tables start anew with it: what follows may be another provider's. */
bool fxt_is_metadata_sure(const struct fxt_view *view);

/* Looks into the last `size` bytes of a large blob, unless records go on where it ends. Returns what
 * fxt_find_swallowed() does. */
size_t fxt_find_in_blob(const struct fxt_view *view, size_t size);

/* ---- swallowed.c: where records begin inside of another one: bytes of that are missing, and its size takes in the
 * beginning of what follows it. ---- */

/* Looks into the first record of a view, of `size` bytes, behind which no record begins. Returns where in it others
 * begin that follow one another across its end; `size` if nowhere. large: it is a large record, or the end of one. */
size_t fxt_find_swallowed(const struct fxt_view *view, size_t size, bool large);

/* Looks into bytes[0, end), which say that they are records, with bytes between `end` and `next` that are none. Returns
 * where others begin that follow one another to `next`; `end` if nowhere. */
size_t fxt_find_swallowed_across(const struct fxt_view *view, size_t end, size_t next);

/* Looks into bytes[0, size), the contents of a large record of an unknown type. Returns where so many records follow
 * one another that it must be damage; `size` if nowhere. */
size_t fxt_find_in_unknown(const struct fxt_view *view, size_t size);

#endif
