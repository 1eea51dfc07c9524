/* flight.c - the gaps in logs of Trackway's flight recorder, which stand as the program left them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "fdr/fdr.h"

/* Source: doc/formats/xray-fdr.md, "Logs of the flight recorder": a log is made of chunks, each a buffer with its size
 * in front and with room behind it. */
enum { PAGE = 1 << 12, LARGEST = 1 << 24, ZEROS_AT = 12, EXTENTS_AT = 15, RECORD = TW_FDR_METADATA_SIZE };

/* Whether these bytes, at the beginning of a chunk, are its size. Where bytes were put in or are missing, chunks begin
 * at other places, one behind the other. */
static bool is_size(uint64_t chunk, uint64_t size)
{
	const uint64_t before = chunk == TW_FDR_HEADER_SIZE ? TW_FDR_HEADER_SIZE : 0;
	return size >= PAGE / 2 && size <= LARGEST && (before + size) % PAGE == 0;
}

/* Whether a chunk of a size that can be has nothing committed: then its BufferExtents says 0, or is not there yet. */
static bool is_unbegun(const uint8_t *bytes)
{
	const uint8_t tag = fdr_first_byte(TW_FDR_LITTLE, TW_FDR_BUFFER_EXTENTS);
	return (!bytes[EXTENTS_AT] || bytes[EXTENTS_AT] == tag) &&
	       !tw_any_set(bytes + ZEROS_AT, EXTENTS_AT - ZEROS_AT) && !tw_any_set(bytes + EXTENTS_AT + 1, RECORD - 1);
}

/* Whether all of the page, or what the file has of it, is zeros: of a chunk that was handed out, and not begun. */
static int is_empty(struct tw_reader *reader, struct tw_window *window, uint64_t chunk, uint64_t next, bool *empty)
{
	const size_t want = (size_t)(next - chunk);
	const uint8_t *bytes;
	size_t have;
	int status = tw_window_view(window, chunk, want, &bytes, &have);
	if (status < 0)
		return tw_fail(reader, status, "%s", tw_input_error(reader->input));
	*empty = !tw_any_set(bytes, have < want ? have : want);
	return 0;
}

/* Goes on from a place where a chunk may begin to the first that has something committed, or is none. One that was
 * handed out, and not begun, has no size yet. */
static int seek(struct tw_reader *reader, const struct fdr_log *log, struct tw_window *window, uint64_t chunk,
                uint64_t *offset)
{
	const uint64_t end = tw_input_size(reader->input);
	bool empty = true;
	for (;;) {
		chunk = chunk < end ? chunk : end; /* a full disk may end within a page */
		const uint8_t *bytes;
		size_t have;
		int status = tw_window_view(window, chunk, FDR_FOREIGN, &bytes, &have);
		if (status < 0)
			return tw_fail(reader, status, "%s", tw_input_error(reader->input));
		*offset = chunk + (have < EXTENTS_AT ? have : EXTENTS_AT);
		if (have < 2 * RECORD)
			return 0;
		if (chunk > TW_FDR_HEADER_SIZE && fdr_is_foreign(log, bytes, have)) {
			*offset = chunk;
			return 0;
		}
		const uint64_t size = tw_load32(bytes, false);
		const bool begun = bytes[EXTENTS_AT] == fdr_first_byte(TW_FDR_LITTLE, TW_FDR_BUFFER_EXTENTS);
		if (begun && tw_load64(bytes + EXTENTS_AT + 1, false))
			return 0;
		const bool sized = is_size(chunk, size) && is_unbegun(bytes);
		const uint64_t page = chunk == TW_FDR_HEADER_SIZE ? PAGE : chunk + PAGE;
		status = sized ? 0 : is_empty(reader, window, chunk, page, &empty);
		if (status < 0 || !empty)
			return status;
		chunk = sized ? chunk + size : page;
	}
}

int fdr_flight_first(struct tw_reader *reader, const struct fdr_log *log, struct tw_window *window, uint64_t *offset)
{
	return *offset == TW_FDR_HEADER_SIZE ? seek(reader, log, window, *offset, offset) : 0;
}

int fdr_flight_next(struct tw_reader *reader, const struct fdr_log *log, struct tw_window *window, uint64_t buffer,
                    uint64_t *next)
{
	const uint64_t chunk = buffer - EXTENTS_AT;
	const uint8_t *bytes;
	size_t have;
	int status = tw_window_view(window, chunk, EXTENTS_AT, &bytes, &have);
	if (status < 0)
		return tw_fail(reader, status, "%s", tw_input_error(reader->input));
	const uint64_t size =
	    have < EXTENTS_AT || tw_any_set(bytes + ZEROS_AT, EXTENTS_AT - ZEROS_AT) ? 0 : tw_load32(bytes, false);
	return is_size(chunk, size) && chunk + size >= *next ? seek(reader, log, window, chunk + size, next) : 0;
}
