/* place.h - the bytes of a JSON document at the place where it is read, and the line there. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHROME_PLACE_H
#define CHROME_PLACE_H

#include "chrome/chrome.h"

enum {
	CHROME_KEY_MAX = 1 << 12, /* bytes of the name of a member of the document */
	CHROME_AGAIN = 2          /* the place has changed: go on there */
};

/* How long an event, and text that is kept, may be. */
size_t chrome_event_limit(const struct tw_reader *reader);

/* Bytes at an offset: `want` of them if there are so many. Returns 0 or a negative status. */
int chrome_view(struct tw_reader *reader, struct tw_window *window, uint64_t offset, size_t want, const uint8_t **p,
                size_t *have);

/* The same at the stream's place. */
int chrome_peek(struct chrome_stream *stream, size_t want, const uint8_t **p, size_t *have);

/* Goes on behind bytes that were looked at. */
void chrome_pass(struct chrome_stream *stream, const uint8_t *p, size_t size);

/* The line at the end of bytes that begin at `offset`, in `line`. */
struct tw_line_place chrome_line_behind(struct tw_line_place line, uint64_t offset, const uint8_t *p, size_t size);

#endif
