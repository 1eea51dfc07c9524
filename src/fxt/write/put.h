/* put.h - an FXT record written word by word into the buffer of an output.
 *
 * The size of a record is known when its last word is there, so the header is written last: fxt_put_begin() leaves its
 * place, fxt_put_end() fills it. Nothing else may be written to the output in between. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_WRITE_PUT_H
#define FXT_WRITE_PUT_H

#include "base/bytes/output.h"
#include "fxt/format/layout.h"

#include <trackway/event.h>
#include <trackway/fxt.h>

/* A record that is being written. Whoever puts a word or a stream knows that it fits. */
struct fxt_put {
	uint8_t *start, *at;
	bool big;
};

/* A reference to a string, and the text where it is inline. */
struct fxt_label {
	uint16_t reference;
	const char *text;
};

static inline struct fxt_put fxt_put_begin(struct tw_output *out, bool big)
{
	uint8_t *start = (uint8_t *)tw_output_room(out, (size_t)TW_FXT_RECORD_MAX * TW_FXT_WORD);
	return (struct fxt_put){.start = start, .at = start + TW_FXT_WORD, .big = big};
}

/* Words that have been put, with the header. */
static inline size_t fxt_put_words(const struct fxt_put *put)
{
	return (size_t)(put->at - put->start) / TW_FXT_WORD;
}

/* Words that the record may still take. */
static inline size_t fxt_put_left(const struct fxt_put *put)
{
	return TW_FXT_RECORD_MAX - fxt_put_words(put);
}

static inline void fxt_put_word(struct fxt_put *put, uint64_t word)
{
	tw_store64(put->at, word, put->big);
	put->at += TW_FXT_WORD;
}

static inline void fxt_put_stream(struct fxt_put *put, const void *bytes, size_t size)
{
	if (size == 0)
		return;
	size_t padded = (size_t)fxt_words(size) * TW_FXT_WORD;
	memset(put->at + padded - TW_FXT_WORD, 0, TW_FXT_WORD);
	memcpy(put->at, bytes, size);
	put->at += padded;
}

/* Bytes of a label that stand in the record. */
static inline size_t fxt_label_size(const struct fxt_label *label)
{
	return label->reference & TW_FXT_STRING_INLINE ? label->reference ^ TW_FXT_STRING_INLINE : 0u;
}

/* Puts the text of a label that is inline. */
static inline void fxt_put_label(struct fxt_put *put, const struct fxt_label *label)
{
	if (label->text) /* none for an index */
		fxt_put_stream(put, label->text, fxt_label_size(label));
}

static inline void fxt_put_end(struct tw_output *out, const struct fxt_put *put, uint64_t header)
{
	tw_store64(put->start, header | (uint64_t)fxt_put_words(put) << 4, put->big);
	tw_output_took(out, (size_t)(put->at - put->start));
}

/* What became of an argument. */
enum fxt_fit { FXT_FITS, FXT_CUT_SHORT, FXT_NO_ROOM };

/* Puts an argument, but leaves room for `reserved` words after it. A text or bytes that do not fit are cut. */
enum fxt_fit fxt_put_argument(struct fxt_put *put, const struct fxt_label *name, const struct tw_argument *argument,
                              size_t reserved);

/* Puts an argument whose value is the text of a string record. */
enum fxt_fit fxt_put_reference(struct fxt_put *put, const struct fxt_label *name, uint16_t text, size_t reserved);

/* How many of the first `limit` bytes of a text to keep, so that no character of UTF-8 is cut in two. */
size_t fxt_cut_text(const char *text, size_t size, size_t limit);

#endif
