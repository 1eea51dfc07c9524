/* protobuf.h - fields of protobuf messages in memory. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_PERFETTO_PROTOBUF_H
#define EXPORT_PERFETTO_PROTOBUF_H

#include "base/bytes/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Messages that grow; all zero to begin. `failed` says that there was no memory once, and stays. Source: the protobuf
 * document, "Encoding". */
struct tw_proto {
	uint8_t *bytes;
	size_t length, room;
	bool failed;
};

enum {
	TW_PROTO_VARINT_MAX = 10,
	TW_PROTO_FIELD_MAX = 2 * TW_PROTO_VARINT_MAX, /* of a number and its tag */
	TW_PROTO_FIXED64 = 1,
	TW_PROTO_DELIMITED = 2,
	TW_PROTO_PACKED_SIZE = 56 /* the bit from which on a packed field has its size */
};                                /* FIXED64, DELIMITED: types of fields, beside varints */

/* Makes room for more bytes; false when there is no memory. */
bool tw_proto_reserve(struct tw_proto *proto, size_t more);

static inline bool tw_proto_room(struct tw_proto *proto, size_t more)
{
	return proto->room - proto->length >= more || tw_proto_reserve(proto, more);
}

/* Groups of 7 bits, each to a byte: of the first 8. */
static inline uint64_t tw_proto_spread(uint64_t value)
{
	value = (value & UINT64_C(0x0fffffff)) | (value & UINT64_C(0x00fffffff0000000)) << 4;
	value = (value & UINT64_C(0x00003fff00003fff)) | (value & UINT64_C(0x0fffc0000fffc000)) << 2;
	return (value & UINT64_C(0x007f007f007f007f)) | (value & UINT64_C(0x3f803f803f803f80)) << 1;
}

/* Writes a varint and returns the place after it. There is room for TW_PROTO_VARINT_MAX bytes, any of which may be
 * written: how many there will be is not a matter of branches. `make bench` measures convert. */
static inline uint8_t *tw_proto_digits(uint8_t *p, uint64_t value)
{
	enum { GROUP = 7, BYTE = 8, WORD = 64 };
	const uint64_t more = UINT64_C(0x8080808080808080); /* another byte follows */
	if (value < 0x80) {
		*p = (uint8_t)value;
		return p + 1;
	}
	unsigned count = (unsigned)(WORD - __builtin_clzll(value) + GROUP - 1) / GROUP;
	if (count <= BYTE) {
		tw_store64(p, tw_proto_spread(value) | more >> (WORD - BYTE * (count - 1)), false);
		return p + count;
	}
	tw_store64(p, tw_proto_spread(value) | more, false);
	for (p += BYTE, value >>= BYTE * GROUP; value >= 0x80; value >>= GROUP)
		*p++ = (uint8_t)(value | 0x80);
	*p++ = (uint8_t)value;
	return p;
}

/* Writes a number with its tag and returns the place after it. There is room for TW_PROTO_FIELD_MAX bytes. */
static inline uint8_t *tw_proto_put_uint(uint8_t *p, unsigned field, uint64_t value)
{
	return tw_proto_digits(tw_proto_digits(p, (uint64_t)field << 3), value);
}

/* A field of type uint64 as it is written, in the low bytes, and in the highest how many: for what is written time and
 * again. The number of the field is less than 16, the value less than 2^42. There is room for eight bytes. */
static inline uint64_t tw_proto_pack(unsigned field, uint64_t value)
{
	uint8_t bytes[1 + TW_PROTO_VARINT_MAX] = {(uint8_t)(field << 3)};
	uint64_t size = (uint64_t)(tw_proto_digits(bytes + 1, value) - bytes);
	return (tw_load64(bytes, false) & UINT64_MAX >> 8) | size << TW_PROTO_PACKED_SIZE;
}

static inline uint8_t *tw_proto_put_packed(uint8_t *p, uint64_t packed)
{
	tw_store64(p, packed, false);
	return p + (packed >> TW_PROTO_PACKED_SIZE);
}

static inline void tw_proto_varint(struct tw_proto *proto, uint64_t value)
{
	if (tw_proto_room(proto, TW_PROTO_VARINT_MAX))
		proto->length = (size_t)(tw_proto_digits(proto->bytes + proto->length, value) - proto->bytes);
}

/* A field of type uint64, uint32, bool or enum; of int64 or int32 where the value is cast. */
static inline void tw_proto_uint(struct tw_proto *proto, unsigned field, uint64_t value)
{
	if (!tw_proto_room(proto, 2 * TW_PROTO_VARINT_MAX))
		return;
	uint8_t *p = tw_proto_digits(proto->bytes + proto->length, (uint64_t)field << 3);
	proto->length = (size_t)(tw_proto_digits(p, value) - proto->bytes);
}

void tw_proto_fixed64(struct tw_proto *proto, unsigned field, uint64_t value);
void tw_proto_double(struct tw_proto *proto, unsigned field, double value);

/* A string field: what is not UTF-8 becomes U+FFFD, one a byte. */
void tw_proto_string(struct tw_proto *proto, unsigned field, const char *bytes, size_t size);
void tw_proto_text(struct tw_proto *proto, unsigned field, const char *text);

/* Fields that are there already. */
static inline void tw_proto_append(struct tw_proto *proto, const void *bytes, size_t size)
{
	if (!size || !tw_proto_room(proto, size))
		return;
	memcpy(proto->bytes + proto->length, bytes, size);
	proto->length += size;
}

/* A field that is a message: its fields follow, then tw_proto_end() with what this returned. Most messages are short:
 * one byte is left for the length. `make bench` measures convert. */
static inline size_t tw_proto_begin(struct tw_proto *proto, unsigned field)
{
	if (!tw_proto_room(proto, 2 * TW_PROTO_VARINT_MAX))
		return proto->length;
	uint8_t *p = tw_proto_digits(proto->bytes + proto->length, (uint64_t)field << 3 | TW_PROTO_DELIMITED);
	return proto->length = (size_t)(p + 1 - proto->bytes);
}

/* Where that is not enough: what follows moves on. */
void tw_proto_end_long(struct tw_proto *proto, size_t begin);

static inline void tw_proto_end(struct tw_proto *proto, size_t begin)
{
	size_t size = proto->length - begin;
	if (size < 0x80 && !proto->failed)
		proto->bytes[begin - 1] = (uint8_t)size;
	else
		tw_proto_end_long(proto, begin);
}

/* Forgets the messages and keeps the memory. */
static inline void tw_proto_clear(struct tw_proto *proto)
{
	proto->length = 0;
}

void tw_proto_free(struct tw_proto *proto);

#endif
