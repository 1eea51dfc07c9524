/* digest.c - a digest that tells bytes which changed from those that were read before. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/bytes/input.h"

#include <string.h>

static inline uint64_t digest_word(uint64_t sum, uint64_t word)
{
	uint64_t mixed = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return mixed << 23 | mixed >> 41;
}

/* Four sums at once: each has to wait for itself alone. */
uint64_t tw_input_digest(const uint8_t *bytes, size_t size)
{
	enum { WORD = 8, BLOCK = 4 * WORD };
	uint64_t a = size, b = 1, c = 2, d = 3;
	const uint8_t *last = bytes + size / BLOCK * BLOCK;
	uint8_t rest[BLOCK] = {0};
	for (; bytes < last; bytes += BLOCK) {
		a = digest_word(a, tw_load64(bytes, false));
		b = digest_word(b, tw_load64(bytes + WORD, false));
		c = digest_word(c, tw_load64(bytes + (size_t)2 * WORD, false));
		d = digest_word(d, tw_load64(bytes + (size_t)3 * WORD, false));
	}
	memcpy(rest, bytes, size % BLOCK);
	for (size_t at = 0; at < BLOCK; at += WORD)
		a = digest_word(a, tw_load64(rest + at, false));
	return digest_word(digest_word(digest_word(a, b), c), d);
}
