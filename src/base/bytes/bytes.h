/* bytes.h - numbers in bytes of either order, and bit fields by the numbers of a specification. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_BYTES_BYTES_H
#define BASE_BYTES_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Swaps where the order asked for is not the machine's. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define TW_HOST_IS_BIG false
#else
#define TW_HOST_IS_BIG true
#endif

static inline uint16_t tw_load16(const uint8_t *p, bool big)
{
	uint16_t v;
	memcpy(&v, p, sizeof v);
	return big == TW_HOST_IS_BIG ? v : __builtin_bswap16(v);
}

static inline uint32_t tw_load32(const uint8_t *p, bool big)
{
	uint32_t v;
	memcpy(&v, p, sizeof v);
	return big == TW_HOST_IS_BIG ? v : __builtin_bswap32(v);
}

static inline uint64_t tw_load64(const uint8_t *p, bool big)
{
	uint64_t v;
	memcpy(&v, p, sizeof v);
	return big == TW_HOST_IS_BIG ? v : __builtin_bswap64(v);
}

static inline void tw_store16(uint8_t *p, uint16_t v, bool big)
{
	v = big == TW_HOST_IS_BIG ? v : __builtin_bswap16(v);
	memcpy(p, &v, sizeof v);
}

static inline void tw_store32(uint8_t *p, uint32_t v, bool big)
{
	v = big == TW_HOST_IS_BIG ? v : __builtin_bswap32(v);
	memcpy(p, &v, sizeof v);
}

static inline void tw_store64(uint8_t *p, uint64_t v, bool big)
{
	v = big == TW_HOST_IS_BIG ? v : __builtin_bswap64(v);
	memcpy(p, &v, sizeof v);
}

/* Bits low to high (both in) of a word, bit 0 the least significant. */
static inline uint64_t tw_bits(uint64_t word, unsigned low, unsigned high)
{
	return (word >> low) & (UINT64_MAX >> (63 - (high - low)));
}

/* Whether any of n bytes is not 0. */
static inline bool tw_any_set(const uint8_t *p, size_t n)
{
	uint8_t all = 0;
	for (size_t i = 0; i < n; i++)
		all |= p[i];
	return all != 0;
}

#endif
