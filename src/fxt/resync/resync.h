/* resync.h - where the walk sees no record: evidence, and what stands at a place. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_RESYNC_RESYNC_H
#define FXT_RESYNC_RESYNC_H

#include "base/bytes/bytes.h"
#include "fxt/format/layout.h"
#include "fxt/walk/chunk.h"

/* ---- What speaks for and against a record at a place, where bytes may be damaged. ---- */

/* Nothing in an archive marks where a record begins, and every eight bytes are some header. So it takes evidence:
 * - A record *measures* right when what its header says of strings, threads and arguments adds up to its size.
 * - It is *sound* when its header has no reserved bits, and refers to nothing that is not registered.
 * - It stands *alone* when it needs no others around it to be believed: what it refers to is registered, or it holds
 *   text, or zeros that chance does not make.
 * - It is *weak* when an argument or a small number would look like it, *solid* when hardly any argument would.
 * - It is *flawless* when its padding, its texts and its numbers are as a writer makes them.
 * - A record *begins* at a place when it measures right there, is not weak, and stands alone or has others behind
 *   it. */

enum {
	FXT_CHAIN = 3,    /* records in a row that make a place trustworthy */
	FXT_SEARCHED = 16 /* records in a row that are looked at to find solid ones */
};

/* The bytes that are looked at, and what is registered by then. Places in them are `at`. */
struct fxt_view {
	const struct fxt_state *state; /* NULL will do for fxt_measure_at() and fxt_is_flawless() */
	const uint8_t *bytes;
	size_t left;                 /* how many there are */
	bool at_end;                 /* nothing comes after them */
	bool big;                    /* their byte order */
	uint64_t offset;             /* of the first of them in the archive */
	struct fxt_scanned *scanned; /* walk.h; NULL will do */
};

/* The header that eight bytes at a place would be. */
static inline uint64_t fxt_header_at(const struct fxt_view *view, size_t at)
{
	return tw_load64(view->bytes + at, view->big);
}

/* Returns the size in bytes of the record at a place; 0 when none measures right there, or not all of it is here. */
static inline size_t fxt_measure_at(const struct fxt_view *view, size_t at)
{
	size_t left = view->left - at;
	if (left < TW_FXT_WORD)
		return 0;
	return (size_t)fxt_measure(fxt_header_at(view, at), view->bytes + at, left / TW_FXT_WORD, view->big) *
	       TW_FXT_WORD;
}

/* Decodes the record at a place: tw_fxt_next(). */
static inline int fxt_decode_at(const struct fxt_view *view, size_t at, struct tw_fxt_record *record)
{
	struct tw_fxt_decoder decoder = {.bytes = view->bytes + at, .left = view->left - at, .big = view->big};
	return tw_fxt_next(&decoder, record);
}

/* Whether an index of the thread table is registered before the record at a place. */
bool fxt_is_thread_known(const struct fxt_view *view, uint64_t index, size_t at);

/* The same for references of that record; those that need no table are sound, too. */
bool fxt_is_string_sound(const struct fxt_view *view, uint64_t reference, size_t at);
bool fxt_is_thread_sound(const struct fxt_view *view, uint64_t index, size_t at);

/* Whether the record at a place is what the words above say. The first two may be asked of any eight bytes, the others
 * of a record that measures right, whose size fxt_is_weak() and fxt_is_solid() are given. */
bool fxt_is_sound(const struct fxt_view *view, size_t at);
bool fxt_begins(const struct fxt_view *view, size_t at);
bool fxt_is_alone(const struct fxt_view *view, size_t at);
bool fxt_is_weak(const struct fxt_view *view, size_t at, size_t size);
bool fxt_is_solid(const struct fxt_view *view, size_t at, size_t size);
bool fxt_is_flawless(const struct fxt_view *view, size_t at);

/* fxt_begins(), where fewer than FXT_CHAIN records follow one another up to the last byte: at least so many. */
bool fxt_may_begin(const struct fxt_view *view, size_t at, unsigned least);

/* Whether a record begins at a place that the size of another one leads to, though no others follow it: it measures
 * right, is not weak, and is sound. */
bool fxt_goes_on(const struct fxt_view *view, size_t at);

/* Whether bytes look like the beginning of a record that is not all here, as the last ones of nearly every chunk do. */
bool fxt_is_begun(const struct fxt_view *view, size_t at);

/* Whether a large blob begins at a place that does not end in these bytes: chance does not make the sizes in it. */
bool fxt_is_large_begun(const struct fxt_view *view, size_t at);

/* Whether the magic number stands at a place, in the other byte order. */
bool fxt_is_swapped(const struct fxt_view *view, size_t at);

/* Whether chance has made the record at a place of damaged bytes and of those behind them: it shows no sign of being
 * one, and others begin inside of it that end where it does; or it is a single legacy context switch of a thread that
 * nothing registers. */
bool fxt_is_chance(const struct fxt_view *view, size_t at);

/* Whether bytes[at, size), part of what says that it is one record of `size` bytes, are records instead: they follow
 * one another to the end, or FXT_SEARCHED or FXT_CHAIN of them do, and one of them is solid. What comes behind does not
 * matter, nor do the tables: in a repaired archive both are something else. */
bool fxt_others_begin(const struct fxt_view *view, size_t at, size_t size);

/* Whether records follow one another from a place inside of a record of `size` bytes across its end: FXT_CHAIN of them
 * are solid, none ends where it does, and the last ends behind it; or a large blob that is not all here does. */
bool fxt_goes_beyond(const struct fxt_view *view, size_t at, size_t size);

/* Counts the records that follow one another from the beginning of the bytes; returns where they end. */
size_t fxt_chain(const uint8_t *bytes, size_t left, bool big, unsigned *count);

/* ---- What stands at a place where the walk sees no record at once. ---- */

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
