/* place.c - the bytes of a JSON document at the place where it is read, and the line there. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "chrome/place.h"

#include "core/filter/filter.h"

#include <string.h>

enum { LEAST_LIMIT = 1 << 16 }; /* of one event */

size_t chrome_event_limit(const struct tw_reader *reader)
{
	size_t limit = tw_memory_limit(reader) / CHROME_ROWS_OVERHEAD_SHARE;
	return limit > LEAST_LIMIT ? limit : LEAST_LIMIT;
}

int chrome_view(struct tw_reader *reader, struct tw_window *window, uint64_t offset, size_t want, const uint8_t **p,
                size_t *have)
{
	int status = tw_window_view(window, offset, want, p, have);
	return status < 0 ? tw_fail(reader, status, "%s", tw_input_error(reader->input)) : 0;
}

int chrome_peek(struct chrome_stream *stream, size_t want, const uint8_t **p, size_t *have)
{
	return chrome_view(stream->reader, &stream->reader->window, stream->at, want, p, have);
}

struct tw_line_place chrome_line_behind(struct tw_line_place line, uint64_t offset, const uint8_t *p, size_t size)
{
	const uint8_t *start = p, *end = size ? p + size : p;
	while (p < end && (p = memchr(p, '\n', (size_t)(end - p)))) {
		p++;
		line.number++;
		line.start = offset + (uint64_t)(p - start);
	}
	return line;
}

void chrome_pass(struct chrome_stream *stream, const uint8_t *p, size_t size)
{
	stream->line = chrome_line_behind(stream->line, stream->at, p, size);
	stream->at += size;
}
