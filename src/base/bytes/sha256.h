/* sha256.h - the digest by which a trace is known. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_BYTES_SHA256_H
#define BASE_BYTES_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { TW_SHA256_BYTES = 32, TW_SHA256_BLOCK = 64 };

/* A digest that is being made. */
struct tw_sha256 {
	uint32_t state[8];
	uint64_t size; /* bytes so far */
	uint8_t rest[TW_SHA256_BLOCK];
};

void tw_sha256_begin(struct tw_sha256 *sum);
void tw_sha256_add(struct tw_sha256 *sum, const void *bytes, size_t size);
void tw_sha256_end(struct tw_sha256 *sum, uint8_t digest[TW_SHA256_BYTES]);

#endif
