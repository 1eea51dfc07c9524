/* chrome_ring.c - events that wait for the end of a slice, and the text that they become. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/chrome.h"

#include <assert.h>
#include <stdlib.h>

/* Bytes of an event beside its prefix, name, category and text: separator, phase, two times, brackets. */
enum { FIXED_ROOM = 128 };

static const struct {
	uint16_t flag;
	const char *text;
} marks[] = {
    {TW_FLAG_TAIL, "\"tail\":true"},
    {TW_FLAG_CLIPPED, "\"clipped\":true"},
    {TW_FLAG_PARTIAL, "\"partial\":true"},
    {TW_FLAG_UNWOUND, "\"unwound\":true"},
};

int tw_chrome_ring_new(struct chrome *chrome, size_t slots, size_t text)
{
	free(chrome->slots);
	free(chrome->ring);
	chrome->slots = malloc(slots * sizeof *chrome->slots);
	chrome->ring = malloc(text);
	chrome->slot_mask = slots - 1;
	chrome->ring_mask = text - 1;
	return chrome->slots && chrome->ring ? 0 : TW_ERR_MEMORY;
}

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

/* What kinds that never have a name are called. */
static const char *unnamed(uint8_t kind)
{
	return kind <= TW_FLOW_END ? "" : tw_event_kind_name(kind);
}

static void put_name(const struct chrome *chrome, struct tw_output *out, const struct chrome_slot *slot)
{
	const struct tw_names *names = &chrome->names;
	tw_put(out, ",\"name\":", 8);
	if (slot->name) {
		const struct tw_rendered *piece = &names->pieces[slot->name];
		tw_put(out, tw_names_bytes(names, piece), piece->size);
		return;
	}
	tw_put_char(out, '"');
	tw_put_text(out, unnamed(slot->kind));
	tw_put_char(out, '"');
}

static void put_category(const struct chrome *chrome, struct tw_output *out, const struct chrome_slot *slot)
{
	const struct tw_rendered *piece = &chrome->names.pieces[slot->category];
	tw_put(out, ",\"cat\":", 7);
	tw_put(out, tw_names_bytes(&chrome->names, piece), piece->part);
}

/* The phase, the track and the times: in every event, and written without a call. */
static void put_head(const struct chrome *chrome, struct tw_output *out, const struct chrome_slot *slot)
{
	const struct chrome_track *track = &chrome->tracks[slot->track];
	char *start = tw_output_room(out, FIXED_ROOM + CHROME_PREFIX), *p = start;
	memcpy(p, ",\n{\"ph\":\" \"", 11);
	p[9] = slot->phase;
	memcpy(p += 11, track->prefix, CHROME_PREFIX);
	p += track->prefix_size;
	bool before = slot->time < chrome->start;
	*p = '-';
	p = tw_decimal(p + before, before ? chrome->start - slot->time : slot->time - chrome->start, 3);
	if (slot->phase == 'X') {
		memcpy(p, ",\"dur\":", 7);
		p = tw_decimal(p + 7, slot->duration, 3);
	}
	tw_output_took(out, (size_t)(p - start));
}

static void put_slot(const struct chrome *chrome, struct tw_output *out, const struct chrome_slot *slot)
{
	put_head(chrome, out, slot);
	if (!slot->named)
		put_name(chrome, out, slot);
	if (slot->category)
		put_category(chrome, out, slot);
	if (slot->root_size)
		tw_put(out, chrome->ring + (slot->text & chrome->ring_mask), slot->root_size);
	if (slot->text_size > slot->root_size || slot->end_size || slot->flags)
		put_arguments(chrome, out, slot);
	tw_put_char(out, '}');
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

/* The position at which `size` bytes lie in one piece. */
static uint64_t place_for(const struct chrome *chrome, size_t size)
{
	uint64_t left = chrome->ring_mask + 1 - (chrome->text_tail & chrome->ring_mask);
	return chrome->text_tail + (left < size ? left : 0);
}

uint64_t tw_chrome_ring_text(struct chrome *chrome, struct tw_output *out, const char *bytes, size_t size)
{
	if (size == 0)
		return chrome->text_tail;
	assert(size <= chrome->ring_mask);
	while (place_for(chrome, size) + size - chrome->text_head > chrome->ring_mask + 1)
		drain(chrome, out);
	uint64_t at = place_for(chrome, size);
	memcpy(chrome->ring + (at & chrome->ring_mask), bytes, size);
	chrome->text_tail = at + size;
	return at;
}

uint64_t tw_chrome_ring_add(struct chrome *chrome, struct tw_output *out, const struct chrome_slot *slot)
{
	chrome->slots[chrome->tail & chrome->slot_mask] = *slot;
	uint64_t number = chrome->tail++;
	if (chrome->tail - chrome->head > chrome->slot_mask)
		drain(chrome, out);
	return number;
}

void tw_chrome_ring_flush(struct chrome *chrome, struct tw_output *out)
{
	while (chrome->head < chrome->tail)
		put_first(chrome, out);
	free_text(chrome);
}
