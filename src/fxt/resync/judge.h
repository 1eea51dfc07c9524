/* judge.h - what a place is at which the walk sees no record at once, and which records have swallowed others. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_RESYNC_JUDGE_H
#define FXT_RESYNC_JUDGE_H

#include "fxt/resync/evidence.h"

/* What a place that does not look like a record at once turns out to be. */
enum fxt_verdict {
	FXT_IS_RECORD,  /* of that size, with something in it that is not known */
	FXT_IS_BROKEN,  /* of that size, with something in it that does not fit */
	FXT_IS_GARBAGE, /* so many bytes until the next record, or until where more bytes are needed to tell */
	FXT_IS_CUT,     /* the file ends in it */
	FXT_IS_SWAPPED, /* the magic number in the other byte order */
	FXT_WANTS_MORE, /* bytes, to be judged */
	FXT_WANTS_LAST  /* the same, and the record before with them */
};

struct fxt_judgement {
	enum fxt_verdict verdict;
	uint64_t size;
	const char *fault; /* what was expected: a constant */
	bool joins;        /* a record: it is an event of a known thread, or a good record begins where it ends */
};

/* Judges the first bytes of a view. in_garbage: the bytes before are no records. */
struct fxt_judgement fxt_judge(const struct fxt_view *view, bool in_garbage);

/* Whether the first record of a view, metadata that measures right, has a record behind it, and a good name if it has
 * one. Otherwise it must be judged before tables start anew with it, or what follows is taken for another
 * provider's. */
bool fxt_is_turn(const struct fxt_view *view);

/* Looks into the last `size` bytes of a large blob, unless records go on where it ends. Returns what fxt_look_inside()
 * does. */
size_t fxt_look_behind(const struct fxt_view *view, size_t size);

/* ---- inside.c: a record of which bytes are missing has swallowed the beginning of what follows it. ---- */

/* Looks into the first record of a view, of `size` bytes, behind which no record begins. Returns where in it others
 * begin that follow one another across its end; `size` if nowhere. large: it is a large record, or the end of one. */
size_t fxt_look_inside(const struct fxt_view *view, size_t size, bool large);

/* Looks into bytes[0, end), which say that they are records, with bytes between `end` and `next` that are none. Returns
 * where others begin that follow one another to `next`; `end` if nowhere. */
size_t fxt_look_across(const struct fxt_view *view, size_t end, size_t next);

/* Looks into bytes[0, size), the contents of a large record of an unknown type. Returns where so many records follow
 * one another that it must be damage; `size` if nowhere. */
size_t fxt_look_for(const struct fxt_view *view, size_t size);

#endif
