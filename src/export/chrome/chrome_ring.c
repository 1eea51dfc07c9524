/* chrome_ring.c - events that wait for the end of a slice, and the text that they become. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/inline.h"
#include "export/chrome/chrome.h"

#include <assert.h>
#include <stdlib.h>

enum {
	STEP = TW_NAMES_BEHIND, /* bytes that are copied at once: so many may be read behind all that is */
	FIXED_ROOM = 256, /* bytes of an event beside its prefix, names and text: phase, two times, keys, brackets */
	SHORT_NAME = 256,
	SHORT_TEXT = 1024,
	EVENT_ROOM = FIXED_ROOM + CHROME_PREFIX + 2 * (SHORT_NAME + STEP) + 3 * (SHORT_TEXT + STEP)
};

static const struct {
	uint16_t flag;
	const char *text, *of_slice; /* of instants, too */
} marks[] = {
    {TW_FLAG_TAIL, "\"tail\":true", "\"tail\":true"},
    {TW_FLAG_CLIPPED, "\"clipped\":true", "\"clipped\":true"},
    {TW_FLAG_PARTIAL, "\"partial\":true", "\"uncertain\":true"},
    {TW_FLAG_UNWOUND, "\"unwound\":true", "\"unwound\":true"},
};

/* ---- The rings' memory. ---- */

enum {
	FIRST_SLOTS = 1 << 12,
	FIRST_TEXT = 1 << 18
}; /* the sizes at first, which stay as long as no more events wait: so all is in near caches */

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Makes a ring of `count` things of some size out of one of *mask + 1, with those from one number to another. False
 * when there is no memory: it is as it was. */
static bool resize(void *ring, uint64_t *mask, size_t count, size_t size, uint64_t from, uint64_t to)
{
	void **memory = ring;
	char *before = *memory, *after = malloc(count * size + STEP);
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
	return resize(&chrome->ring.slots, &chrome->ring.slot_mask, count, sizeof *chrome->ring.slots,
	              chrome->ring.head, chrome->ring.tail);
}

static bool resize_text(struct chrome *chrome, size_t size)
{
	return resize(&chrome->ring.text, &chrome->ring.text_mask, size, 1, chrome->ring.text_head,
	              chrome->ring.text_tail);
}

int tw_chrome_ring_new(struct chrome *chrome, size_t slots, size_t text)
{
	chrome->ring.slots_most = slots;
	chrome->ring.text_most = text;
	bool fine = resize_slots(chrome, least(slots, FIRST_SLOTS)) && resize_text(chrome, least(text, FIRST_TEXT));
	return fine ? 0 : TW_ERR_MEMORY;
}

/* ---- An event: written into the room of the output without a call, where nothing of it is long. ---- */

/* Copies in steps of some bytes: there is room for so many more behind both. */
static inline char *copy(char *to, const char *from, size_t size)
{
	for (size_t i = 0; i < size; i += STEP)
		memcpy(to + i, from + i, STEP);
	return to + size;
}

/* Microseconds with three decimals. Milliseconds are seldom others than those of the time before. */
static inline char *put_time(struct chrome_time *known, char *p, uint64_t ns)
{
	enum { MILLISECOND = 1000000 };
	uint64_t milliseconds = ns / MILLISECOND;
	uint32_t rest = (uint32_t)(ns - milliseconds * MILLISECOND);
	if (milliseconds == 0)
		return tw_microseconds(p, ns);
	if (milliseconds != known->milliseconds) {
		known->milliseconds = milliseconds;
		known->size = (size_t)(tw_digits(known->text, milliseconds) - known->text);
	}
	memcpy(p, known->text, sizeof known->text);
	p += known->size;
	memcpy(p, tw_digit_triples + (size_t)(rest / 1000) * 4, 4);
	memcpy(p + 4, tw_digit_triples + (size_t)(rest % 1000) * 4, 4);
	return p + 7;
}

/* The phase, the track and the times. */
static inline char *put_head(struct chrome *chrome, char *p, const struct chrome_slot *slot)
{
	const struct chrome_track *track = &chrome->tracks.items[slot->track];
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
		p = tw_microseconds(p + 7, slot->duration);
	}
	return p;
}

/* Ends at `p` what the output has of the event so far. */
static inline void take_until(struct tw_output *out, const char *p)
{
	tw_output_took(out, (size_t)(p - (out->buffer + out->used)));
}

TW_NOINLINE char *put_long(struct tw_output *out, const char *p, const char *bytes, size_t size)
{
	take_until(out, p);
	tw_put(out, bytes, size);
	return tw_output_room(out, EVENT_ROOM);
}

/* A part of a name that is kept. */
static inline char *put_piece(const struct chrome *chrome, struct tw_output *out, char *p,
                              const struct tw_rendered *piece, size_t size)
{
	const char *bytes = tw_names_bytes(&chrome->names, piece);
	return __builtin_expect(size <= SHORT_NAME, 1) ? copy(p, bytes, size) : put_long(out, p, bytes, size);
}

static inline char *put_names(const struct chrome *chrome, struct tw_output *out, char *p,
                              const struct chrome_slot *slot)
{
	const struct tw_rendered *pieces = chrome->names.pieces;
	const struct chrome_kind *kind = &chrome->kinds[slot->kind];
	if (slot->name) {
		memcpy(p, ",\"name\":", 8);
		p = put_piece(chrome, out, p + 8, &pieces[slot->name], pieces[slot->name].size);
	} else if (!slot->named) {
		p = copy(p, kind->name, kind->name_size);
	}
	if (slot->category) {
		memcpy(p, ",\"cat\":", 7);
		p = put_piece(chrome, out, p + 7, &pieces[slot->category], pieces[slot->category].part);
	} else if (slot->of_kind) {
		p = copy(p, kind->category, kind->category_size);
	}
	if (slot->scope) {
		memcpy(p, ",\"s\":\" \"", 8);
		p[6] = slot->scope;
		p += 8;
	}
	return p;
}

static inline char *put_text(const struct chrome *chrome, struct tw_output *out, char *p, uint64_t text, size_t size)
{
	const char *bytes = chrome->ring.text + (text & chrome->ring.text_mask);
	return __builtin_expect(size <= SHORT_TEXT, 1) ? copy(p, bytes, size) : put_long(out, p, bytes, size);
}

/* Puts what few events have in their arguments: what the end of the slice told, and marks. some: there are arguments
 * before. */
TW_NOINLINE char *put_ending(const struct chrome *chrome, struct tw_output *out, char *p,
                             const struct chrome_slot *slot, bool some)
{
	if (slot->end_size) {
		p = stpcpy(p, some ? ",\"end\":{" : "\"end\":{");
		p = put_text(chrome, out, p, slot->end_text, slot->end_size);
		*p++ = '}';
		some = true;
	}
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		if (slot->flags & marks[i].flag) {
			p = stpcpy(p, some ? "," : "");
			p = stpcpy(p, slot->kind <= TW_INSTANT ? marks[i].of_slice : marks[i].text);
			some = true;
		}
	return p;
}

static inline char *put_arguments(const struct chrome *chrome, struct tw_output *out, char *p,
                                  const struct chrome_slot *slot)
{
	size_t size = slot->text_size - slot->root_size;
	bool has_ending = slot->end_size || slot->flags;
	if (!size && !has_ending)
		return p;
	memcpy(p, ",\"args\":{", 9);
	p = put_text(chrome, out, p + 9, slot->text + slot->root_size, size);
	if (__builtin_expect(has_ending, 0))
		p = put_ending(chrome, out, p, slot, size);
	*p = '}';
	return p + 1;
}

static void put_as_read(struct chrome *chrome, struct tw_output *out, const struct chrome_slot *slot)
{
	char *p = stpcpy(tw_output_room(out, EVENT_ROOM), chrome->some ? ",\n" : "\n");
	chrome->some = true;
	take_until(out, put_text(chrome, out, p, slot->text, slot->text_size));
}

static void put_slot(struct chrome *chrome, struct tw_output *out, const struct chrome_slot *slot)
{
	char *begin = tw_output_room(out, EVENT_ROOM), *p = put_head(chrome, begin, slot);
	if (__builtin_expect(!chrome->some, 0)) { /* without the comma */
		memmove(begin, begin + 1, (size_t)(--p - begin));
		chrome->some = true;
	}
	p = put_names(chrome, out, p, slot);
	p = put_text(chrome, out, p, slot->text, slot->root_size);
	p = put_arguments(chrome, out, p, slot);
	*p++ = '}';
	take_until(out, p);
}

static void put_first(struct chrome *chrome, struct tw_output *out)
{
	enum { SLOTS_AHEAD = 4 };
	struct chrome_slot *slot = &chrome->ring.slots[chrome->ring.head & chrome->ring.slot_mask];
	__builtin_prefetch(
	    &chrome->ring.slots[(chrome->ring.head + SLOTS_AHEAD) & chrome->ring.slot_mask]); /* `make bench` */
	if (slot->open)
		slot->phase = 'B';
	(slot->phase ? put_slot : put_as_read)(chrome, out, slot);
	chrome->ring.head++;
}

/* Frees the text in front of the first slot's. The texts of slots lie in their order; those of ends lie further on,
 * between others, and are freed with these. */
static void free_text(struct chrome *chrome)
{
	if (chrome->ring.head == chrome->ring.tail)
		chrome->ring.text_head = chrome->ring.text_tail = 0;
	else
		chrome->ring.text_head = chrome->ring.slots[chrome->ring.head & chrome->ring.slot_mask].text;
}

/* Writes the first event that waits, and all complete ones after it. */
static void drain(struct chrome *chrome, struct tw_output *out)
{
	do
		put_first(chrome, out);
	while (chrome->ring.head < chrome->ring.tail &&
	       !chrome->ring.slots[chrome->ring.head & chrome->ring.slot_mask].open);
	free_text(chrome);
}

/* Whether a ring may grow instead of writing something. Until its full size is reached nothing is written, so that the
 * names of most tracks stand before all events. */
static bool grows(const struct chrome *chrome)
{
	return chrome->ring.head == 0 || chrome->ring.slots[chrome->ring.head & chrome->ring.slot_mask].open;
}

void tw_chrome_ring_make_room(struct chrome *chrome, struct tw_output *out)
{
	enum { FEW = 64 }; /* of the slots: a ring that shrinks sooner grows again at once. `make bench` */
	size_t count = (size_t)chrome->ring.slot_mask + 1;
	if (count < chrome->ring.slots_most && grows(chrome)) {
		chrome->line.failed |= !resize_slots(chrome, count * 2);
		if (!chrome->line.failed)
			return;
	}
	drain(chrome, out);
	if (count > FIRST_SLOTS && chrome->ring.tail - chrome->ring.head < count / FEW)
		resize_slots(chrome, count / 2);
}

/* The position at which `size` bytes lie in one piece. */
static uint64_t place_for(const struct chrome *chrome, size_t size)
{
	uint64_t left = chrome->ring.text_mask + 1 - (chrome->ring.text_tail & chrome->ring.text_mask);
	return chrome->ring.text_tail + (left < size ? left : 0);
}

static void make_room_for_text(struct chrome *chrome, struct tw_output *out, size_t size)
{
	size_t room = (size_t)chrome->ring.text_mask + 1;
	bool may_grow =
	    room < chrome->ring.text_most && (room <= size || (chrome->ring.head < chrome->ring.tail && grows(chrome)));
	if (!may_grow || !resize_text(chrome, room * 2))
		drain(chrome, out);
}

uint64_t tw_chrome_ring_text(struct chrome *chrome, struct tw_output *out, const char *bytes, size_t size)
{
	assert(size && size < chrome->ring.text_most);
	while (place_for(chrome, size) + size - chrome->ring.text_head > chrome->ring.text_mask + 1)
		make_room_for_text(chrome, out, size);
	uint64_t at = place_for(chrome, size);
	memcpy(chrome->ring.text + (at & chrome->ring.text_mask), bytes, size);
	chrome->ring.text_tail = at + size;
	return at;
}

void tw_chrome_ring_flush(struct chrome *chrome, struct tw_output *out)
{
	while (chrome->ring.head < chrome->ring.tail)
		drain(chrome, out);
}
