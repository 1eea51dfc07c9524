/* compress.h - gzip and zstd, chosen by the ending of a file's name and written piece by piece. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_BYTES_COMPRESS_H
#define BASE_BYTES_COMPRESS_H

#include "base/memory/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One compression. */
struct tw_packer;

/* What a file's name asks for: ".gz" or ".zst" at its end. NULL when nothing. */
const struct tw_packer *tw_packer_of(const char *path);

/* Whether a name ends so, not counting the ending that asks for compression: "x.json.gz" ends with ".json", and so does
 * "X.JSON". */
bool tw_name_ends_with(const char *path, const char *ending);

/* Whether blocks are to be compressed one after the other, by one struct tw_pack: zstd's are. Those of gzip need
 * nothing but themselves. */
bool tw_packer_goes_in_order(const struct tw_packer *packer);

struct tw_pack;

/* How hard it is tried: less takes two thirds of the time and a fourteenth more room (gzip, on a profile). */
enum tw_pack_effort { TW_PACK_USUAL, TW_PACK_LESS };

/* Starts. NULL when there is no memory. */
struct tw_pack *tw_pack_new(const struct tw_packer *packer, enum tw_pack_effort effort);

/* What became of a block; all zero to begin, the text to be freed. */
struct tw_packed {
	struct tw_text text;
	size_t size;  /* of the block */
	uint32_t sum; /* of its bytes, where the format has one */
};

/* Compresses a block; last: there is none behind it. False when there is no memory. */
bool tw_pack_block(struct tw_pack *pack, const char *bytes, size_t size, bool last, struct tw_packed *packed);

/* Where compressed bytes go. */
struct tw_pack_sink {
	void (*put)(void *context, const char *bytes, size_t size);
	void *context;
};

/* What stands before all blocks. */
void tw_pack_put_head(const struct tw_packer *packer, const struct tw_pack_sink *sink);

/* A block; total: of all so far, in their order. */
void tw_pack_put(const struct tw_packed *packed, struct tw_packed *total, const struct tw_pack_sink *sink);

/* What stands behind them. */
void tw_pack_put_tail(const struct tw_packer *packer, const struct tw_packed *total, const struct tw_pack_sink *sink);

/* Frees; NULL is fine. */
void tw_pack_free(struct tw_pack *pack);

#endif
