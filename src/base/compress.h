/* compress.h - gzip and zstd, chosen by the ending of a file's name and written piece by piece. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_COMPRESS_H
#define BASE_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>

/* One compression. */
struct tw_packer;

/* What a file's name asks for: ".gz" or ".zst" at its end. NULL when nothing. */
const struct tw_packer *tw_packer_of(const char *path);

/* Whether a name ends so, not counting the ending that asks for compression: "x.json.gz" ends with ".json", and so does
 * "X.JSON". */
bool tw_name_ends_with(const char *path, const char *ending);

struct tw_pack;

/* How hard it is tried: less takes two thirds of the time and a fourteenth more room (gzip, on a profile). */
enum tw_pack_effort { TW_PACK_USUAL, TW_PACK_LESS };

/* Starts. NULL when there is no memory. */
struct tw_pack *tw_pack_new(const struct tw_packer *packer, enum tw_pack_effort effort);

/* Where compressed bytes go. */
struct tw_pack_sink {
	void (*put)(void *context, const char *bytes, size_t size);
	void *context;
};

/* Compresses bytes; end: these are the last. False when there is no memory. */
bool tw_pack_write(struct tw_pack *pack, const struct tw_pack_sink *sink, const char *bytes, size_t size, bool end);

/* Frees; NULL is fine. */
void tw_pack_free(struct tw_pack *pack);

#endif
