/* evidence.h - what speaks for and against a record at a place, where bytes may be damaged.
 *
 * Nothing in an archive marks where a record begins, and every eight bytes are some header. So it takes evidence:
 * - A record *measures* right when what its header says of strings, threads and arguments adds up to its size.
 * - It is *sound* when its header has no reserved bits, and refers to nothing that is not registered.
 * - It stands *alone* when it needs no others around it to be believed: what it refers to is registered, or it holds
 *   text, or zeros that chance does not make.
 * - It is *weak* when an argument or a small number would look like it, *solid* when hardly any argument would.
 * - It is *flawless* when its padding, its texts and its numbers are as a writer makes them.
 * - A record *begins* at a place when it measures right there, is not weak, and stands alone or has others behind
 *   it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_RESYNC_EVIDENCE_H
#define FXT_RESYNC_EVIDENCE_H

#include "base/bytes/bytes.h"
#include "fxt/format/measure.h"
#include "fxt/walk/chunk.h"

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
 * one, and others begin inside of it that end where it does. */
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

#endif
