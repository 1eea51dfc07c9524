/* fuzz_profiling_decode.c - any bytes as the parts of an xray-profiling log: what decodes encodes to the same bytes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "profiling/decode.h"

#include <string.h>

static void header(const uint8_t *bytes, size_t size)
{
	struct profiling_header header;
	uint8_t again[PROFILING_HEADER_SIZE];
	bool big;
	if (size < PROFILING_HEADER_SIZE || !profiling_is_log(bytes, &big))
		return;
	profiling_header_decode(bytes, &header);
	profiling_header_encode(&header, again);
	fuzz_require(header.big == big && memcmp(bytes, again, sizeof again) == 0, "a header is encoded as it was");
}

static void block(const uint8_t *bytes, size_t size, bool big)
{
	struct profiling_block block;
	uint8_t again[PROFILING_BLOCK_SIZE];
	if (size < PROFILING_BLOCK_SIZE)
		return;
	profiling_block_decode(bytes, big, &block);
	profiling_block_encode(&block, big, again);
	fuzz_require(memcmp(bytes, again, sizeof again) == 0, "a block's header is encoded as it was");
}

static void paths(const uint8_t *bytes, size_t size, bool big)
{
	struct profiling_path path;
	for (size_t took; (took = profiling_path_decode(bytes, size, big, &path)) > 0; bytes += took, size -= took) {
		fuzz_require(took <= size && path.ids == bytes && path.big == big, "a path is in its bytes");
		fuzz_require(took == path.depth * PROFILING_ID_SIZE + PROFILING_ID_SIZE + PROFILING_SUMS_SIZE,
		             "its size is that of its functions and sums");
		for (size_t i = 0; i < path.depth; i++)
			fuzz_require(profiling_path_id(&path, i) != 0, "function 0 ends a path");
		fuzz_require(profiling_path_decode(bytes, took - 1, big, &path) == 0, "a byte less is too few");
	}
}

FUZZ_TARGET(profiling_decode, const uint8_t *bytes, size_t size)
{
	if (size < 1)
		return 0;
	bool big = bytes[0] & 1;
	bytes++;
	size--;
	header(bytes, size);
	for (size_t at = 0; at <= size && at <= PROFILING_HEADER_SIZE; at += PROFILING_BLOCK_SIZE) {
		block(bytes + at, size - at, big);
		paths(bytes + at, size - at, big);
	}
	return 0;
}
