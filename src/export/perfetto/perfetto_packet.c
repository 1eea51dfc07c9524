/* perfetto_packet.c - packets of Perfetto's traces: their time, flags, interned data and event. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/perfetto/perfetto.h"

#include <string.h>

static uint8_t *put_tag(uint8_t *p, unsigned field)
{
	return tw_proto_digits(p, (uint64_t)field << 3 | TW_PROTO_DELIMITED);
}

static uint8_t *put_size(uint8_t *p, unsigned field, size_t size)
{
	return tw_proto_digits(put_tag(p, field), size);
}

static uint8_t *put_flags(struct perfetto *perfetto, uint8_t *p)
{
	bool cleared = perfetto->said_reset != perfetto->reset;
	p = tw_proto_put_uint(p, PACKET_SEQUENCE_ID, PERFETTO_SEQUENCE);
	p = tw_proto_put_uint(p, PACKET_SEQUENCE_FLAGS,
	                      cleared ? FLAG_STATE_CLEARED | FLAG_NEEDS_STATE : FLAG_NEEDS_STATE);
	if (perfetto->said_reset == 0)
		p = tw_proto_put_uint(p, PACKET_FIRST_ON_SEQUENCE, true);
	perfetto->said_reset = perfetto->reset;
	return p;
}

/* Puts what a packet begins with: its time, its flags, and the size of its interned data. */
static uint8_t *put_head(struct perfetto *perfetto, uint8_t *p, const uint64_t *time)
{
	if (time)
		p = tw_proto_put_uint(p, PACKET_TIMESTAMP, *time);
	p = put_flags(perfetto, p);
	return perfetto->interned.length ? put_size(p, PACKET_INTERNED_DATA, perfetto->interned.length) : p;
}

enum { FIELDS = 5, SMALL_EVENT = 64 };

/* The sizes of all parts are known, so that each is copied once. */
static void write_packet(struct perfetto *perfetto, unsigned field, const uint64_t *time)
{
	const struct tw_proto *event = &perfetto->event, *interned = &perfetto->interned;
	struct tw_output *out = &perfetto->writer->out;
	uint8_t head[FIELDS * TW_PROTO_FIELD_MAX], tail[TW_PROTO_FIELD_MAX], packet[TW_PROTO_FIELD_MAX];
	size_t head_size = (size_t)(put_head(perfetto, head, time) - head);
	size_t tail_size = (size_t)(put_size(tail, field, event->length) - tail);
	size_t size = head_size + interned->length + tail_size + event->length;
	tw_put(out, packet, (size_t)(put_size(packet, TRACE_PACKET, size) - packet));
	tw_put(out, head, head_size);
	tw_put(out, interned->bytes, interned->length);
	tw_put(out, tail, tail_size);
	tw_put(out, event->bytes, event->length);
}

/* ---- Packets of less than 128 bytes, as most are, whose size is a byte. They are made where they go out. `make bench`
 * measures convert. ---- */

/* Begins one with an event of up to SMALL_EVENT bytes: returns the place of the event's own size, which it follows. */
static inline uint8_t *begin_small(struct perfetto *perfetto, unsigned field, const uint64_t *time)
{
	struct tw_output *out = &perfetto->writer->out;
	uint8_t *start = (uint8_t *)tw_output_room(out, PERFETTO_BODY_AT + FIELDS * TW_PROTO_FIELD_MAX + SMALL_EVENT);
	start[0] = TRACE_PACKET << 3 | TW_PROTO_DELIMITED;
	return put_tag(put_head(perfetto, start + PERFETTO_BODY_AT, time), field);
}

static inline void end_small(struct perfetto *perfetto, uint8_t *event, const uint8_t *end)
{
	struct tw_output *out = &perfetto->writer->out;
	uint8_t *start = (uint8_t *)tw_output_room(out, 0);
	*event = (uint8_t)(end - event - 1);
	start[PERFETTO_SIZE_AT] = (uint8_t)(end - start - PERFETTO_BODY_AT);
	tw_output_took(out, (size_t)(end - start));
}

static void write_small(struct perfetto *perfetto, unsigned field, const uint64_t *time)
{
	uint8_t *event = begin_small(perfetto, field, time);
	memcpy(event + 1, perfetto->event.bytes, SMALL_EVENT);
	end_small(perfetto, event, event + 1 + perfetto->event.length);
}

/* Whether packet and event fit into 128 bytes: the head takes less than half, and the event is copied whole, with what
 * is behind it in its room. */
static bool is_small(const struct perfetto *perfetto)
{
	const struct tw_proto *event = &perfetto->event;
	return event->length <= SMALL_EVENT && event->room >= SMALL_EVENT && !perfetto->interned.length;
}

void tw_perfetto_put_packet(struct perfetto *perfetto, unsigned field, const uint64_t *time)
{
	perfetto->failed |= perfetto->event.failed || perfetto->interned.failed;
	if (!perfetto->failed)
		(is_small(perfetto) ? write_small : write_packet)(perfetto, field, time);
	tw_proto_clear(&perfetto->event);
	tw_proto_clear(&perfetto->interned);
}
