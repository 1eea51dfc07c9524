/* chrome_ring.c - events that wait for the end of a slice, and the text that they become. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/chrome.h"

#include <assert.h>
#include <stdlib.h>

enum {
	FIXED_ROOM =
	    192, /* bytes of an event beside its prefix, names and text: separator, phase, two times, keys, brackets */
	SHORT_NAME = 256,
	EVENT_ROOM = FIXED_ROOM + CHROME_PREFIX + 2 * (SHORT_NAME + TW_NAMES_BEHIND)
};

static const struct {
	uint16_t flag;
	const char *text;
} marks[] = {
    {TW_FLAG_TAIL, "\"tail\":true"},
    {TW_FLAG_CLIPPED, "\"clipped\":true"},
    {TW_FLAG_PARTIAL, "\"partial\":true"},
    {TW_FLAG_UNWOUND, "\"unwound\":true"},
};

/* ---- The rings' memory. ---- */

enum { FIRST_SLOTS = 1 << 12, FIRST_TEXT = 1 << 18 }; /* as long as no more wait: then all is in near caches */

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Makes a ring of `count` things of some size out of one of *mask + 1, with those from one number to another. False
 * when there is no memory: it is as it was. */
static bool resize(void *ring, uint64_t *mask, size_t count, size_t size, uint64_t from, uint64_t to)
{
	void **memory = ring;
	char *before = *memory, *after = malloc(count * size);
	if (!after)
		return false;
	for (size_t run; from < to; from += run) {
		size_t at = from & *mask, place = from & (count - 1);
		run = least(to - from, least(*mask + 1 - at, count - place));
		memcpy(after + place * size, before + at * size, run * size);
	}
	free(before);
	*memory = after;
	*mask = count - 1;
	return true;
}

static bool resize_slots(struct chrome *chrome, size_t count)
{
	return resize(&chrome->slots, &chrome->slot_mask, count, sizeof *chrome->slots, chrome->head, chrome->tail);
}

static bool resize_text(struct chrome *chrome, size_t size)
{
	return resize(&chrome->ring, &chrome->ring_mask, size, 1, chrome->text_head, chrome->text_tail);
}

int tw_chrome_ring_new(struct chrome *chrome, size_t slots, size_t text)
{
	chrome->slots_most = slots;
	chrome->text_most = text;
	bool fine = resize_slots(chrome, least(slots, FIRST_SLOTS)) && resize_text(chrome, least(text, FIRST_TEXT));
	return fine ? 0 : TW_ERR_MEMORY;
}

/* ---- The end of an event. ---- */

static void put_members(struct tw_output *out, const char *text, size_t size, bool *comma)
{
	if (size == 0)
		return;
	if (*comma)
		tw_put_char(out, ',');
	tw_put(out, text, size);
	*comma = true;
}

static void put_arguments(const struct chrome *chrome, struct tw_output *out, const struct chrome_slot *slot)
{
	bool comma = false;
	tw_put_text(out, ",\"args\":{");
	put_members(out, chrome->ring + (slot->text & chrome->ring_mask) + slot->root_size,
	            slot->text_size - slot->root_size, &comma);
	if (slot->end_size) {
		put_members(out, "\"end\":{", 7, &comma);
		tw_put(out, chrome->ring + (slot->end_text & chrome->ring_mask), slot->end_size);
		tw_put_char(out, '}');
	}
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		if (slot->flags & marks[i].flag)
			put_members(out, marks[i].text, strlen(marks[i].text), &comma);
	tw_put_char(out, '}');
}

/* Members of the event, and arguments. */
static void put_text(const struct chrome *chrome, struct tw_output *out, const struct chrome_slot *slot)
{
	tw_put(out, chrome->ring + (slot->text & chrome->ring_mask), slot->root_size);
	if (slot->text_size > slot->root_size || slot->end_size || slot->flags)
		put_arguments(chrome, out, slot);
}

/* ---- The head of an event, which most are all of: written into the room of the output without a call. ---- */

/* Copies in steps of some bytes: there is room for so many more behind both. */
static inline char *copy(char *to, const char *from, size_t size)
{
	for (size_t i = 0; i < size; i += TW_NAMES_BEHIND)
		memcpy(to + i, from + i, TW_NAMES_BEHIND);
	return to + size;
}

/* Microseconds with three decimals. Milliseconds are seldom others than those of the time before. */
static inline char *put_time(struct chrome_time *known, char *p, uint64_t ns)
{
	enum { MILLISECOND = 1000000 };
	uint64_t milliseconds = ns / MILLISECOND;
	uint32_t rest = (uint32_t)(ns - milliseconds * MILLISECOND);
	if (milliseconds == 0)
		return tw_decimal(p, ns, 3);
	if (milliseconds != known->milliseconds) {
		known->milliseconds = milliseconds;
		known->size = (size_t)(tw_digits(known->text, milliseconds) - known->text);
	}
	memcpy(p, known->text, sizeof known->text);
	p += known->size;
	const char *middle = tw_digit_pairs + rest / 100 % 100 * 2;
	memcpy(p, tw_digit_pairs + rest / 10000 * 2, 2);
	p[2] = middle[0];
	p[3] = '.';
	p[4] = middle[1];
	memcpy(p + 5, tw_digit_pairs + rest % 100 * 2, 2);
	return p + 7;
}

/* The phase, the track and the times. */
static inline char *put_head(struct chrome *chrome, char *p, const struct chrome_slot *slot)
{
	const struct chrome_track *track = &chrome->tracks[slot->track];
	memcpy(p, ",\n{\"ph\":\" \"", 11);
	p[9] = slot->phase;
	memcpy(p += 11, track->prefix, CHROME_PREFIX);
	p += track->prefix_size;
	if (slot->time < chrome->start) {
		*p++ = '-';
		p = tw_decimal(p, chrome->start - slot->time, 3);
	} else {
		p = put_time(&chrome->time, p, slot->time - chrome->start);
	}
	if (slot->phase == 'X') {
		memcpy(p, ",\"dur\":", 7);
		p = tw_decimal(p + 7, slot->duration, 3);
	}
	return p;
}

/* What has been written of the event so far, up to `p`, is taken. */
static inline void take_until(struct tw_output *out, const char *p)
{
	tw_output_took(out, (size_t)(p - (out->buffer + out->used)));
}

/* A part of a name that is kept; there is room for it where it is short. */
static inline char *put_piece(const struct chrome *chrome, struct tw_output *out, char *p,
                              const struct tw_rendered *piece, size_t size)
{
	const char *bytes = tw_names_bytes(&chrome->names, piece);
	if (__builtin_expect(size <= SHORT_NAME, 1))
		return copy(p, bytes, size);
	take_until(out, p);
	tw_put(out, bytes, size);
	return tw_output_room(out, EVENT_ROOM);
}

/* What kinds that never have a name are called. */
static const char *unnamed(uint8_t kind)
{
	return kind <= TW_FLOW_END ? "" : tw_event_kind_name(kind);
}

static inline char *put_names(const struct chrome *chrome, struct tw_output *out, char *p,
                              const struct chrome_slot *slot)
{
	const struct tw_rendered *pieces = chrome->names.pieces;
	if (slot->name) {
		memcpy(p, ",\"name\":", 8);
		p = put_piece(chrome, out, p + 8, &pieces[slot->name], pieces[slot->name].size);
	} else if (!slot->named) {
		p = stpcpy(stpcpy(stpcpy(p, ",\"name\":\""), unnamed(slot->kind)), "\"");
	}
	if (slot->category) {
		memcpy(p, ",\"cat\":", 7);
		p = put_piece(chrome, out, p + 7, &pieces[slot->category], pieces[slot->category].part);
	}
	return p;
}

static void put_slot(struct chrome *chrome, struct tw_output *out, const struct chrome_slot *slot)
{
	char *p = put_head(chrome, tw_output_room(out, EVENT_ROOM), slot);
	p = put_names(chrome, out, p, slot);
	if (slot->text_size || slot->end_size || slot->flags) {
		take_until(out, p);
		put_text(chrome, out, slot);
		p = tw_output_room(out, 1);
	}
	*p++ = '}';
	take_until(out, p);
}

static void put_first(struct chrome *chrome, struct tw_output *out)
{
	struct chrome_slot *slot = &chrome->slots[chrome->head & chrome->slot_mask];
	if (slot->open)
		slot->phase = 'B';
	put_slot(chrome, out, slot);
	chrome->head++;
}

/* Text belongs to slots in order, but for that of ends, which lies further on and goes with what stands around it. */
static void free_text(struct chrome *chrome)
{
	if (chrome->head == chrome->tail)
		chrome->text_head = chrome->text_tail = 0;
	else
		chrome->text_head = chrome->slots[chrome->head & chrome->slot_mask].text;
}

/* Writes the first event that waits, and all complete ones after it. */
static void drain(struct chrome *chrome, struct tw_output *out)
{
	do
		put_first(chrome, out);
	while (chrome->head < chrome->tail && !chrome->slots[chrome->head & chrome->slot_mask].open);
	free_text(chrome);
}

static bool waits_for_end(const struct chrome *chrome)
{
	return chrome->head < chrome->tail && chrome->slots[chrome->head & chrome->slot_mask].open;
}

void tw_chrome_ring_make_room(struct chrome *chrome, struct tw_output *out)
{
	size_t count = (size_t)chrome->slot_mask + 1;
	if (count < chrome->slots_most && waits_for_end(chrome)) {
		chrome->line.failed |= !resize_slots(chrome, count * 2);
		if (!chrome->line.failed)
			return;
	}
	drain(chrome, out);
	if (count > FIRST_SLOTS && chrome->tail - chrome->head < count / 4)
		resize_slots(chrome, count / 2);
}

/* The position at which `size` bytes lie in one piece. */
static uint64_t place_for(const struct chrome *chrome, size_t size)
{
	uint64_t left = chrome->ring_mask + 1 - (chrome->text_tail & chrome->ring_mask);
	return chrome->text_tail + (left < size ? left : 0);
}

static void make_room_for_text(struct chrome *chrome, struct tw_output *out, size_t size)
{
	size_t room = (size_t)chrome->ring_mask + 1;
	bool grows = room < chrome->text_most && (waits_for_end(chrome) || room <= size);
	if (!grows || !resize_text(chrome, room * 2))
		drain(chrome, out);
}

uint64_t tw_chrome_ring_text(struct chrome *chrome, struct tw_output *out, const char *bytes, size_t size)
{
	assert(size && size < chrome->text_most);
	while (place_for(chrome, size) + size - chrome->text_head > chrome->ring_mask + 1)
		make_room_for_text(chrome, out, size);
	uint64_t at = place_for(chrome, size);
	memcpy(chrome->ring + (at & chrome->ring_mask), bytes, size);
	chrome->text_tail = at + size;
	return at;
}

void tw_chrome_ring_flush(struct chrome *chrome, struct tw_output *out)
{
	while (chrome->head < chrome->tail)
		put_first(chrome, out);
	free_text(chrome);
}
