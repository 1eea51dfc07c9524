/* starts.c - where a buffer begins for certain, in bytes that may be anything. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "fdr/known.h"

enum { RECORD = TW_FDR_METADATA_SIZE };

enum { SECONDS = 1, MICROSECONDS = 9 }; /* offsets in a WallTime record */
enum { THREAD_END = 5 };                /* of a NewBuffer record's thread id */

/* Whether what may be a WallTime record tells a time of this millennium or the next two, and what stands before it a
 * thread of Linux, which in version 1 has 2 bytes: other bytes hardly ever do. */
bool fdr_tells_time(const struct fdr_log *log, const uint8_t *wall, size_t have)
{
	bool big = log->header.layout != TW_FDR_LITTLE;
	if (have < MICROSECONDS + sizeof(uint32_t))
		return true;
	bool thread = log->header.version == 1 || tw_load32(wall - RECORD + 1, big) <= FDR_PID_LIMIT;
	static const uint8_t zeros[RECORD - THREAD_END];
	bool clean = !log->clean || memcmp(wall - RECORD + THREAD_END, zeros, sizeof zeros) == 0;
	return thread && clean && tw_load64(wall + SECONDS, big) >> 36 == 0 &&
	       tw_load32(wall + MICROSECONDS, big) < 1000000;
}

/* Where in these bytes, before `limit`, a buffer begins for certain: NewBuffer and WallTime, after BufferExtents if it
 * is there. SIZE_MAX where none does. */
size_t fdr_find_start(const struct fdr_log *log, const uint8_t *bytes, size_t have, size_t limit)
{
	uint8_t extents = fdr_first_byte(log->header.layout, TW_FDR_BUFFER_EXTENTS),
		new_buffer = fdr_first_byte(log->header.layout, TW_FDR_NEW_BUFFER);
	uint8_t wall = fdr_first_byte(log->header.layout, TW_FDR_WALL_TIME);
	for (size_t at = RECORD; at < have; at++) {
		const uint8_t *found = memchr(bytes + at, wall, have - at);
		if (!found)
			break;
		at = (size_t)(found - bytes);
		size_t start = at - RECORD;
		if (bytes[start] != new_buffer || !fdr_tells_time(log, found, have - at))
			continue;
		if (start >= RECORD && bytes[start - RECORD] == extents)
			start -= RECORD;
		return start < limit ? start : SIZE_MAX;
	}
	return SIZE_MAX;
}

size_t fdr_next_start(const struct fdr_log *log, const uint8_t *bytes, size_t have, size_t from)
{
	if (from >= have)
		return have;
	size_t found = fdr_find_start(log, bytes + from, have - from, have - from);
	return found == SIZE_MAX ? have : from + found;
}
