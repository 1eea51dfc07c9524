/* starts.c - where a buffer begins for certain, in bytes that may be anything. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "fdr/known.h"

enum { RECORD = TW_FDR_METADATA_SIZE };

enum { SECONDS = 1, MICROSECONDS = 9 }; /* offsets in a WallTime record */
enum { THREAD_END = 5 };                /* of a NewBuffer record's thread id */

uint32_t fdr_thread_of(const struct tw_fdr_header *header, uint64_t value)
{
	uint32_t id = (uint32_t)value;
	if (header->version != 1 || id <= FDR_PID_LIMIT)
		return id;
	return header->layout == TW_FDR_LITTLE ? id & 0xffff : id >> 16;
}

uint32_t fdr_thread_for(const struct tw_fdr_header *header, uint32_t id)
{
	return fdr_thread_of(header, id) == id ? id : id & (FDR_PID_LIMIT - 1);
}

/* Whether bytes are a NewBuffer record: of a thread of Linux, which in version 1 has 2 bytes. */
bool fdr_is_new_buffer(const struct fdr_log *log, const uint8_t *new_buffer)
{
	bool big = log->header.layout != TW_FDR_LITTLE;
	bool thread = log->header.version == 1 || tw_load32(new_buffer + 1, big) <= FDR_PID_LIMIT;
	static const uint8_t zeros[RECORD - THREAD_END];
	return thread && (!log->clean || memcmp(new_buffer + THREAD_END, zeros, sizeof zeros) == 0);
}

/* Whether what may be a WallTime record tells a time of this millennium or the next two, and what stands before it a
 * thread: other bytes hardly ever do. */
bool fdr_is_wall_time(const struct fdr_log *log, const uint8_t *wall, size_t have)
{
	bool big = log->header.layout != TW_FDR_LITTLE, thread = fdr_is_new_buffer(log, wall - RECORD);
	if (have < MICROSECONDS + sizeof(uint32_t))
		return thread;
	return thread && tw_load64(wall + SECONDS, big) >> 36 == 0 && tw_load32(wall + MICROSECONDS, big) < 1000000;
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
		if (bytes[start] != new_buffer || !fdr_is_wall_time(log, found, have - at))
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
