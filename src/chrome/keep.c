/* keep.c - events that come with their text, to be written as they were read. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/utf8.h"
#include "chrome/chrome.h"

#include <string.h>

/* Whether every backslash begins an escape that stands for something. */
static bool has_good_escapes(const uint8_t *p, const uint8_t *end)
{
	while ((p = memchr(p, '\\', (size_t)(end - p)))) {
		unsigned digits = end - p >= 6 && p[1] == 'u' ? 4 : 0;
		if (end - p < 2 || !memchr("\"\\/bfnrtu", p[1], 9) || (p[1] == 'u' && !digits))
			return false;
		for (unsigned i = 0; i < digits; i++)
			if (!memchr("0123456789abcdefABCDEF", p[2 + i], 22))
				return false;
		p += 2 + digits;
	}
	return true;
}

/* ---- Which events. ---- */

/* Whether an event of the system's list comes as it is written: one that has no other numbers or times now. */
static bool is_listed(const struct chrome_fill *fill)
{
	const struct chrome_state *state = fill->state;
	const bool moves = fill->reader->request.merged || (state->stream.own && state->times.earliest < 0);
	return !state->stream.system || !moves;
}

bool chrome_keeps_text(const struct chrome_fill *fill)
{
	const struct chrome_item *item = fill->item;
	return fill->reader->request.texts && is_listed(fill) && !(item->odd & ~(unsigned)CHROME_ODD_CONSTANT) &&
	       !item->deep && !chrome_is_apart(fill->reader, item) && tw_is_utf8(item->bytes, item->size) &&
	       has_good_escapes(item->bytes, item->bytes + item->size);
}

/* ---- The text. ---- */

/* The size of NaN, Infinity or -Infinity at a byte; 0: there is none. */
static size_t constant_at(const uint8_t *p, const uint8_t *end)
{
	static const char *const words[] = {"NaN", "Infinity", "-Infinity", "-NaN"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		const size_t size = strlen(words[i]);
		if ((size_t)(end - p) >= size && memcmp(p, words[i], size) == 0)
			return size;
	}
	return 0;
}

/* Copies an event with null for what is no number of JSON, each of which is counted. Returns the size. */
static size_t copy_strict(struct chrome_fill *fill, uint8_t *to)
{
	static const char null[] = "null";
	const uint8_t *p = fill->item->bytes, *end = p + fill->item->size;
	uint8_t *begin = to;
	for (bool string = false; p < end;) {
		const size_t constant = string ? 0 : constant_at(p, end);
		if (constant) {
			memcpy(to, null, strlen(null));
			to += strlen(null);
			p += constant;
			fill->reader->traits.altered.members++;
			continue;
		}
		const size_t size = string && *p == '\\' ? 2 : 1;
		string ^= *p == '"';
		memcpy(to, p, size);
		to += size;
		p += size;
	}
	return (size_t)(to - begin);
}

void chrome_add_text(struct chrome_fill *fill, bool has_cpu)
{
	enum { MOST = 2 }; /* times as long: null is longer than NaN */
	const struct chrome_item *item = fill->item;
	size_t size = item->size;
	uint8_t *room = chrome_piece_room(fill->piece, TW_RAW_TEXT_HEAD + (item->odd ? MOST * size : size));
	fill->failed |= !room;
	if (!room)
		return;
	const struct chrome_stream *stream = &fill->state->stream;
	const struct tw_raw_text head = {
	    .base = stream->has_start ? stream->start_ns : fill->state->times.base,
	    .id = fill->event->id,
	    .marks = (stream->system ? CHROME_IN_SYSTEM : 0) | (has_cpu ? CHROME_KNOWS_CPU : 0),
	};
	memcpy(room, &head, sizeof head);
	if (item->odd)
		size = copy_strict(fill, room + TW_RAW_TEXT_HEAD);
	else
		memcpy(room + TW_RAW_TEXT_HEAD, item->bytes, size);
	tw_slab_argument(&fill->piece->slab, &(struct tw_argument){
						 .type = TW_ARG_BYTES,
						 .raw = TW_RAW_TEXT,
						 .value.bytes = room,
						 .size = (uint32_t)(TW_RAW_TEXT_HEAD + size),
					     });
}
