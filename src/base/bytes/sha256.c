/* sha256.c - the digest by which a trace is known. Source: FIPS 180-4, "SHA-256". */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/sha256.h"

#include "base/bytes/bytes.h"

#include <string.h>

enum { ROUNDS = 64, WORDS = 8 };

/* The first bits of the fractions of the square roots of the first primes, and of their cube roots. */
static const uint32_t initial[WORDS] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};
static const uint32_t constants[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static inline uint32_t rotate(uint32_t word, unsigned bits)
{
	return word >> bits | word << (32 - bits);
}

/* The schedule of a block: its words, and what follows from them. */
static void schedule(uint32_t words[ROUNDS], const uint8_t block[TW_SHA256_BLOCK])
{
	enum { GIVEN = 16 };
	for (unsigned i = 0; i < GIVEN; i++)
		words[i] = tw_load32(block + (size_t)i * sizeof *words, true);
	for (unsigned i = GIVEN; i < ROUNDS; i++) {
		uint32_t a = words[i - 15], b = words[i - 2];
		uint32_t first = rotate(a, 7) ^ rotate(a, 18) ^ a >> 3,
			 second = rotate(b, 17) ^ rotate(b, 19) ^ b >> 10;
		words[i] = words[i - 16] + first + words[i - 7] + second;
	}
}

static void add_block(uint32_t state[WORDS], const uint8_t block[TW_SHA256_BLOCK])
{
	uint32_t words[ROUNDS], s[WORDS];
	schedule(words, block);
	memcpy(s, state, sizeof s);
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
		uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
		uint32_t first =
		    s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) + choice + constants[i] + words[i];
		uint32_t second = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) + majority;
		memmove(s + 1, s, sizeof s - sizeof *s);
		s[4] += first;
		s[0] = first + second;
	}
	for (unsigned i = 0; i < WORDS; i++)
		state[i] += s[i];
}

void tw_sha256_begin(struct tw_sha256 *sum)
{
	*sum = (struct tw_sha256){0};
	memcpy(sum->state, initial, sizeof initial);
}

void tw_sha256_add(struct tw_sha256 *sum, const void *bytes, size_t size)
{
	const uint8_t *from = bytes;
	while (size) {
		size_t used = sum->size % TW_SHA256_BLOCK, part = TW_SHA256_BLOCK - used;
		part = part < size ? part : size;
		if (part == TW_SHA256_BLOCK)
			add_block(sum->state, from);
		else
			memcpy(sum->rest + used, from, part);
		sum->size += part;
		if (part < TW_SHA256_BLOCK && used + part == TW_SHA256_BLOCK)
			add_block(sum->state, sum->rest);
		from += part;
		size -= part;
	}
}

void tw_sha256_end(struct tw_sha256 *sum, uint8_t digest[TW_SHA256_BYTES])
{
	static const uint8_t padding[TW_SHA256_BLOCK] = {0x80};
	uint8_t bits[sizeof(uint64_t)];
	size_t used = sum->size % TW_SHA256_BLOCK, room = TW_SHA256_BLOCK - sizeof bits;
	tw_store64(bits, sum->size * 8, true);
	tw_sha256_add(sum, padding, used < room ? room - used : TW_SHA256_BLOCK + room - used);
	tw_sha256_add(sum, bits, sizeof bits);
	for (unsigned i = 0; i < WORDS; i++)
		tw_store32(digest + (size_t)i * sizeof *sum->state, sum->state[i], true);
}
