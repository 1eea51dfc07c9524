/* fuzz_lines.c - any bytes as an image of a profiler for .NET: its lines are among the bytes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <string.h>

#include "coreprofiler/lines.h"

struct memory {
	const uint8_t *bytes;
	size_t size;
};

static bool read_memory(void *context, uint64_t offset, void *bytes, size_t size)
{
	const struct memory *memory = context;
	fuzz_require(offset <= memory->size && size <= memory->size - offset, "only what is there is read");
	memcpy(bytes, memory->bytes + offset, size);
	return true;
}

static bool take(void *context, const char *text, size_t size)
{
	uint64_t *left = context;
	fuzz_require(size != 0, "a line is not empty");
	fuzz_touch((const uint8_t *)text, size);
	if (*left == 0)
		return false;
	--*left;
	return true;
}

/* The first byte limits how many lines are taken: 0 for all. */
FUZZ_TARGET(lines, const uint8_t *bytes, size_t size)
{
	if (size < 1)
		return 0;
	struct memory memory = {bytes + 1, size - 1};
	const struct lines_source source = {read_memory, &memory, memory.size};
	struct lines_summary summary;
	const uint64_t most = bytes[0] ? bytes[0] : UINT64_MAX;
	uint64_t left = most;
	lines_collect(&source, take, &left, &summary);
	fuzz_require(summary.lines <= most, "no line is taken after the last");
	fuzz_require(summary.bytes <= memory.size, "no byte is in two lines");
	return 0;
}
