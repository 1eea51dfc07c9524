/* protobuf.c - fields of protobuf messages in memory. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/perfetto/protobuf.h"

#include "base/memory/memory.h"
#include "base/text/utf8.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 256 };

bool tw_proto_reserve(struct tw_proto *proto, size_t more)
{
	size_t need = proto->length + (more > FIRST_ROOM ? more : FIRST_ROOM);
	if (!tw_grow(&proto->bytes, &proto->room, need, 1))
		proto->failed = true;
	return proto->room - proto->length >= more;
}

static void put_tag(struct tw_proto *proto, unsigned field, unsigned type)
{
	tw_proto_varint(proto, (uint64_t)field << 3 | type);
}

void tw_proto_fixed64(struct tw_proto *proto, unsigned field, uint64_t value)
{
	uint8_t bytes[sizeof value];
	tw_store64(bytes, value, false);
	put_tag(proto, field, TW_PROTO_FIXED64);
	tw_proto_append(proto, bytes, sizeof bytes);
}

void tw_proto_double(struct tw_proto *proto, unsigned field, double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	tw_proto_fixed64(proto, field, bits);
}

static void put_bytes(struct tw_proto *proto, unsigned field, const void *bytes, size_t size)
{
	put_tag(proto, field, TW_PROTO_DELIMITED);
	tw_proto_varint(proto, size);
	tw_proto_append(proto, bytes, size);
}

/* How many bytes at the front are ASCII, by words of 8. */
static size_t plain(const char *bytes, size_t size)
{
	size_t good = 0;
	for (uint64_t word; good + sizeof word <= size; good += sizeof word) {
		memcpy(&word, bytes + good, sizeof word);
		if (word & UINT64_C(0x8080808080808080))
			break;
	}
	return good;
}

/* How many bytes at the front are UTF-8. */
static size_t well_formed(const char *bytes, size_t size)
{
	size_t good = plain(bytes, size);
	for (size_t step; good < size; good += step) {
		step = (signed char)bytes[good] >= 0 ? 1 : tw_utf8_length(bytes + good, size - good);
		if (step == 0)
			break;
	}
	return good;
}

void tw_proto_string(struct tw_proto *proto, unsigned field, const char *bytes, size_t size)
{
	size_t good = well_formed(bytes, size);
	if (good == size) {
		put_bytes(proto, field, bytes, size);
		return;
	}
	size_t begin = tw_proto_begin(proto, field);
	for (; size; good = well_formed(bytes, size)) {
		tw_proto_append(proto, bytes, good);
		if (good == size)
			break;
		tw_proto_append(proto, "\xef\xbf\xbd", 3);
		bytes += good + 1;
		size -= good + 1;
	}
	tw_proto_end(proto, begin);
}

void tw_proto_text(struct tw_proto *proto, unsigned field, const char *text)
{
	tw_proto_string(proto, field, text, strlen(text));
}

void tw_proto_end_long(struct tw_proto *proto, size_t begin)
{
	uint8_t digits[TW_PROTO_VARINT_MAX];
	if (proto->failed || !tw_proto_room(proto, sizeof digits))
		return;
	size_t size = proto->length - begin, count = (size_t)(tw_proto_digits(digits, size) - digits);
	memmove(proto->bytes + begin - 1 + count, proto->bytes + begin, size);
	memcpy(proto->bytes + begin - 1, digits, count);
	proto->length += count - 1;
}

void tw_proto_free(struct tw_proto *proto)
{
	free(proto->bytes);
	*proto = (struct tw_proto){0};
}
