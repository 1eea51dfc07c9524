/* decode.h - the parts of an xray-profiling log: bytes to structs and back, without memory or I/O. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROFILING_DECODE_H
#define PROFILING_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PROFILING_HEADER_SIZE = 32, /* of the file */
	PROFILING_BLOCK_SIZE = 16,  /* of a block's header */
	PROFILING_ID_SIZE = 4,
	PROFILING_SUMS_SIZE = 16, /* calls and ticks, behind a path's ids and the 0 that ends them */
	PROFILING_VERSION = 0x20180424
};

struct profiling_header {
	uint64_t version;
	uint64_t time_ns; /* since 1970: when the log was written */
	uint64_t process;
	bool big; /* byte order: the writer's */
};

/* The paths of one thread. */
struct profiling_block {
	uint32_t size; /* with this header */
	uint32_t number;
	uint64_t thread;
};

struct profiling_path {
	const uint8_t *ids; /* the function called last comes first; borrowed from the bytes */
	size_t depth;
	uint64_t calls;
	uint64_t ticks; /* with those of the functions that were called */
	bool big;
};

/* Whether the bytes, at least 8, begin as a log does. *big: in which byte order. */
bool profiling_is_log(const uint8_t *bytes, bool *big);

/* From PROFILING_HEADER_SIZE bytes of which profiling_is_log() is true. */
void profiling_header_decode(const uint8_t *bytes, struct profiling_header *header);
void profiling_header_encode(const struct profiling_header *header, uint8_t *bytes);

/* From and to PROFILING_BLOCK_SIZE bytes. */
void profiling_block_decode(const uint8_t *bytes, bool big, struct profiling_block *block);
void profiling_block_encode(const struct profiling_block *block, bool big, uint8_t *bytes);

/* Returns the size of the path in these bytes, 0 where they do not hold all of it. */
size_t profiling_path_decode(const uint8_t *bytes, size_t size, bool big, struct profiling_path *path);

/* Function number i of a path, from the one called last. */
uint32_t profiling_path_id(const struct profiling_path *path, size_t i);

#endif
