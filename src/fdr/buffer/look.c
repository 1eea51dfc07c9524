/* look.c - what stands at an offset of a log. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fdr/buffer/finder.h"

/* How many bytes at the start of a buffer are looked at: BufferExtents, NewBuffer, WallTime, Pid, NewCPUId and some
 * more. */
enum { LEAD = 8 * TW_FDR_METADATA_SIZE };

static void judge(const struct fdr_log *log, struct fdr_look *look)
{
	if (fdr_is_foreign(log, look->bytes, look->have)) {
		look->other = look->follows = look->strong = look->weak = look->sure = true;
		return;
	}
	const size_t header = fdr_is_header(log, look->bytes, look->have) ? TW_FDR_HEADER_SIZE : 0;
	const uint8_t *p = look->bytes + header;
	size_t have = look->have - header;
	look->extents = have && p[0] == fdr_first_byte_of(log, TW_FDR_BUFFER_EXTENTS);
	size_t at = look->extents ? FDR_RECORD : 0;
	bool new_buffer = have > at && p[at] == fdr_first_byte_of(log, TW_FDR_NEW_BUFFER);
	bool wall = have > at + FDR_RECORD && p[at + FDR_RECORD] == fdr_first_byte_of(log, TW_FDR_WALL_TIME);
	bool cut = have <= at;
	look->follows = look->extents && new_buffer;
	look->strong = new_buffer && wall;
	bool impossible = have - at >= FDR_RECORD && !look->extents && !wall && !fdr_is_new_buffer(log, p + at);
	look->weak = (new_buffer && !impossible) || (look->extents && (wall || cut));
	bool timed = look->strong && fdr_is_wall_time(log, p + at + FDR_RECORD, have - at - FDR_RECORD);
	look->sure = timed || (look->extents && (new_buffer || wall));
}

int fdr_look_at(struct fdr_finder *f, uint64_t at, struct fdr_look *look)
{
	*look = (struct fdr_look){0};
	int status = tw_window_view(f->window, at, LEAD, &look->bytes, &look->have);
	if (status < 0)
		return tw_fail(f->reader, status, "%s", tw_input_error(f->reader->input));
	judge(f->log, look);
	return 0;
}

int fdr_scan(struct fdr_finder *f, uint64_t at, uint64_t to, uint64_t *found)
{
	enum { STEP = 1 << 16, FIRST = 1 << 12, LEAST = 5 * FDR_RECORD };
	*found = to;
	for (size_t step = FIRST; at < to; step = step < STEP ? 2 * step : step) {
		size_t have, want = to - at < step - LEAST ? (size_t)(to - at) + LEAST : step;
		const uint8_t *bytes;
		int status = tw_window_view(f->window, at, want, &bytes, &have);
		if (status < 0)
			return tw_fail(f->reader, status, "%s", tw_input_error(f->reader->input));
		have = have < want ? have : want;
		size_t limit = have == step ? step - (LEAST - 1) : step; /* whole, where more bytes follow */
		limit = to - at < limit ? (size_t)(to - at) : limit;
		const size_t other = fdr_find_foreign(f->log, bytes, have, limit);
		size_t start = fdr_find_start(f->log, bytes, have, limit);
		start = other < start ? other : start;
		if (start != SIZE_MAX) {
			*found = at + start;
			return 0;
		}
		if (have < want)
			break;
		at += want - (LEAST - 1);
	}
	return 0;
}

/* ---- Buffers inside of payloads. ---- */

/* NewBuffer, and WallTime up to its microseconds, which must make sense: random bytes do so once in 2^28. */
enum { HELD = FDR_RECORD + FDR_WALL_MICROSECONDS + 4 };

static bool holds_start(const uint8_t *bytes, size_t have, enum tw_fdr_layout layout)
{
	uint8_t new_buffer = fdr_first_byte(layout, TW_FDR_NEW_BUFFER), wall = fdr_first_byte(layout, TW_FDR_WALL_TIME);
	for (size_t at = FDR_RECORD; at + HELD - FDR_RECORD <= have; at++) {
		const uint8_t *found = memchr(bytes + at, wall, have - at - (HELD - FDR_RECORD - 1));
		if (!found)
			return false;
		at = (size_t)(found - bytes);
		if (found[-FDR_RECORD] == new_buffer &&
		    tw_load32(found + FDR_WALL_MICROSECONDS, layout != TW_FDR_LITTLE) < 1000000)
			return true;
	}
	return false;
}

int fdr_holds_buffer(struct tw_reader *reader, struct tw_window *window, enum tw_fdr_layout layout, uint64_t from,
                     uint64_t to, bool *holds)
{
	enum { STEP = 1 << 16 };
	*holds = false;
	while (!*holds && to - from >= HELD) {
		size_t have, want = to - from < STEP ? (size_t)(to - from) : STEP;
		const uint8_t *bytes;
		int status = tw_window_view(window, from, want, &bytes, &have);
		if (status < 0)
			return tw_fail(reader, status, "%s", tw_input_error(reader->input));
		if (have < want)
			return 0;
		*holds = holds_start(bytes, want, layout);
		from += want - (HELD - 1);
	}
	return 0;
}
