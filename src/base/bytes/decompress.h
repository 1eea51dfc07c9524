/* decompress.h - gzip and zstd, recognised by content and unpacked piece by piece. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_BYTES_DECOMPRESS_H
#define BASE_BYTES_DECOMPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many bytes at the front tell the compression, and the largest zstd window that is accepted: 128 MiB. */
enum { TW_PACKED_MAGIC = 4, TW_ZSTD_WINDOW_LOG = 27 };

/* Where packed bytes come from. `more` is called when none are left: it sets bytes and left (0 at the end) and returns
 * 0 or a negative status. */
struct tw_raw_bytes {
	const uint8_t *bytes;
	size_t left;
	int (*more)(struct tw_raw_bytes *raw);
	void *context;
};

struct tw_unpack;

/* Whether these first bytes of a file are packed; size may be anything. */
bool tw_unpack_known(const uint8_t *bytes, size_t size);

/* Whether an open file is packed, and how many bytes it says that it has at least, unpacked: those of a gzip file's
 * last member, of a zstd file's first frame; 0: it does not say, or cannot be. Does not move the file's position. */
bool tw_packed_file(int fd, uint64_t *least);

/* Starts to unpack what begins at raw->bytes, which tw_unpack_known() was true for. NULL when there is no memory. */
struct tw_unpack *tw_unpack_new(struct tw_raw_bytes *raw);

/* Gives the next bytes; fewer than size only at the end, which damage may bring early. Returns the count,
 * the negative status of `more`, or TW_ERR_MEMORY. */
int64_t tw_unpack_read(struct tw_unpack *unpack, void *bytes, size_t size);

/* What is wrong with the packed data, in a few words; NULL while nothing is. Lives until free. */
const char *tw_unpack_problem(const struct tw_unpack *unpack);

/* Frees; NULL is fine. */
void tw_unpack_free(struct tw_unpack *unpack);

#endif
