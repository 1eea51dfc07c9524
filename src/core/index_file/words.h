/* words.h - numbers and texts of an index file: 64-bit words, little endian. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_INDEX_FILE_WORDS_H
#define CORE_INDEX_FILE_WORDS_H

#include "base/bytes/bytes.h"
#include "base/bytes/output.h"

/* What is left to be read. */
struct tw_words {
	const uint8_t *bytes;
	size_t left;
	bool failed; /* there was less than it should be */
};

static inline void tw_put_word(struct tw_output *out, uint64_t word)
{
	uint8_t bytes[8];
	tw_store64(bytes, word, false);
	tw_put(out, bytes, sizeof bytes);
}

/* 0 where there is none. */
static inline uint64_t tw_take_word(struct tw_words *words)
{
	if (words->left < 8) {
		words->failed = true;
		return 0;
	}
	uint64_t word = tw_load64(words->bytes, false);
	words->bytes += 8;
	words->left -= 8;
	return word;
}

/* A number below a limit. */
static inline uint64_t tw_take_below(struct tw_words *words, uint64_t limit)
{
	uint64_t word = tw_take_word(words);
	if (word < limit)
		return word;
	words->failed = true;
	return 0;
}

/* How many items of so many words follow. */
static inline size_t tw_take_count(struct tw_words *words, size_t each)
{
	return (size_t)tw_take_below(words, words->left / (8 * each) + 1);
}

static inline void tw_put_padded(struct tw_output *out, const char *text, size_t length)
{
	static const char zeros[8];
	tw_put_word(out, length);
	tw_put(out, text, length);
	tw_put(out, zeros, (8 - length % 8) % 8);
}

/* Not terminated. */
static inline const char *tw_take_padded(struct tw_words *words, size_t *length)
{
	*length = (size_t)tw_take_below(words, words->left + 1);
	size_t padded = (*length + 7) / 8 * 8;
	if (words->failed || padded > words->left) {
		words->failed = true;
		*length = 0;
		return "";
	}
	const char *text = (const char *)words->bytes;
	words->bytes += padded;
	words->left -= padded;
	return text;
}

#endif
