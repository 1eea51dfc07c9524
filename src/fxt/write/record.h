/* record.h - an FXT record that is written word by word into the buffer of an output.
 *
 * The size of a record is known when its last word is there, so the header is written last: fxt_record_begin() leaves
 * its place, fxt_record_end() fills it. Nothing else may be written to the output in between. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_WRITE_RECORD_H
#define FXT_WRITE_RECORD_H

#include "base/bytes/output.h"
#include "fxt/format/layout.h"

#include <trackway/event.h>
#include <trackway/fxt.h>

/* Who puts a word or a stream knows that it fits. */
struct fxt_new_record {
	uint8_t *start, *at;
	bool big;
};

/* A reference to a string, and the text where it is inline; otherwise NULL. */
struct fxt_string_ref {
	uint16_t reference;
	const char *text;
};

/* Begins a record in memory that has room for any. */
static inline struct fxt_new_record fxt_record_at(uint8_t *start, bool big)
{
	return (struct fxt_new_record){.start = start, .at = start + TW_FXT_WORD, .big = big};
}

static inline struct fxt_new_record fxt_record_begin(struct tw_output *out, bool big)
{
	return fxt_record_at((uint8_t *)tw_output_room(out, (size_t)TW_FXT_RECORD_MAX * TW_FXT_WORD), big);
}

/* Words that have been put, with the header. */
static inline size_t fxt_record_words(const struct fxt_new_record *record)
{
	return (size_t)(record->at - record->start) / TW_FXT_WORD;
}

/* Words that the record may still take. */
static inline size_t fxt_record_left(const struct fxt_new_record *record)
{
	return TW_FXT_RECORD_MAX - fxt_record_words(record);
}

static inline void fxt_put_word(struct fxt_new_record *record, uint64_t word)
{
	tw_store64(record->at, word, record->big);
	record->at += TW_FXT_WORD;
}

static inline void fxt_put_stream(struct fxt_new_record *record, const void *bytes, size_t size)
{
	if (size == 0)
		return;
	size_t padded = (size_t)fxt_words(size) * TW_FXT_WORD;
	memset(record->at + padded - TW_FXT_WORD, 0, TW_FXT_WORD);
	memcpy(record->at, bytes, size);
	record->at += padded;
}

/* Puts the text of a string that is inline. */
static inline void fxt_put_text(struct fxt_new_record *record, const struct fxt_string_ref *string)
{
	if (string->text)
		fxt_put_stream(record, string->text, string->reference ^ TW_FXT_STRING_INLINE);
}

/* Fills in the header; its size is added. */
static inline void fxt_record_end(struct tw_output *out, const struct fxt_new_record *record, uint64_t header)
{
	tw_store64(record->start, header | (uint64_t)fxt_record_words(record) << 4, record->big);
	tw_output_took(out, (size_t)(record->at - record->start));
}

static inline void fxt_put_zeros(struct tw_output *out, uint64_t size)
{
	static const uint8_t zeros[4096];
	for (; size > sizeof zeros && !out->error; size -= sizeof zeros)
		tw_put(out, zeros, sizeof zeros);
	tw_put(out, zeros, size < sizeof zeros ? (size_t)size : sizeof zeros);
}

enum { FXT_LONG_TEXT = 256 }; /* bytes of a text that is registered where a record does not hold all arguments */

/* What became of an argument. */
enum fxt_fit { FXT_FITS, FXT_CUT_SHORT, FXT_NO_ROOM };

/* arguments.c: puts an argument, but leaves room for `reserved` words after it. A text or bytes that do not fit are
 * cut. */
enum fxt_fit fxt_put_argument(struct fxt_new_record *record, const struct fxt_string_ref *name,
                              const struct tw_argument *argument, size_t reserved);

/* tables.c: how many of the first `limit` bytes of a text to keep: no character of UTF-8 is cut in two. */
size_t fxt_cut_text(const char *text, size_t size, size_t limit);

#endif
