/* sample.c - the commonest line of a log, read without the table of fields.
 *
 * Four of five lines of a log are samples of stacks. This takes a third of the time that tracelog_decode_fields()
 * takes for one, which is what `info` needs to keep up with the disk (bench/). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/format/layout.h"

#include <string.h>

static const char head[] = "sam str 0x";

enum { HEAD = sizeof head - 1, LEAST = HEAD + TRACELOG_ID_DIGITS + 9 /* " 0 0 0:0\n" */, DIGITS_MAX = 9 };

/* The iid, which must be in 8 digits; letters in lower case. */
static bool take_iid(const uint8_t *at, uint32_t *iid)
{
	uint32_t value = 0;
	unsigned cases = 0;
	for (size_t i = 0; i < TRACELOG_ID_DIGITS; i++) {
		unsigned digit = tracelog_hex[at[i]];
		cases |= digit ? digit : TRACELOG_UPPER;
		value = value << 4 | (digit & TRACELOG_NIBBLE);
	}
	*iid = value;
	return !(cases & TRACELOG_UPPER);
}

/* A number of few digits, and what stands behind it; NULL for anything that is not plain. */
static const uint8_t *take_number(const uint8_t *at, uint32_t *value)
{
	uint32_t sum = 0;
	const uint8_t *first = at;
	for (; *at >= '0' && *at <= '9'; at++) {
		if (at - first == DIGITS_MAX)
			return NULL;
		sum = sum * 10 + *at - '0';
	}
	*value = sum;
	bool plain = at > first && (*first != '0' || at - first == 1);
	return plain ? at : NULL;
}

static const uint8_t *take_ip(const uint8_t *at, struct tw_tracelog_record *record)
{
	const uint8_t *first = at + 2;
	uint64_t value = 0;
	if (at[0] != '0' || at[1] != 'x')
		return NULL;
	for (at = first; tracelog_hex[*at] && at - first <= TRACELOG_POINTER_64; at++) {
		if (tracelog_hex[*at] & TRACELOG_LOWER)
			return NULL;
		value = value << 4 | (tracelog_hex[*at] & TRACELOG_NIBBLE);
	}
	if (at - first != TRACELOG_POINTER_32 && at - first != TRACELOG_POINTER_64)
		return NULL;
	record->style = TW_TRACELOG_PADDED_IP;
	record->style |= at - first == TRACELOG_POINTER_32 ? TW_TRACELOG_POINTERS_32 : 0;
	record->ip = value;
	record->has_ip = record->ip_known = true;
	return at;
}

/* Bytes are looked at one after the other, and none is plain that is a line end: so the last one ends every loop. */
bool tracelog_decode_sample(const uint8_t *bytes, size_t size, struct tw_tracelog_record *record)
{
	uint32_t iid, ms, count, match, depth;
	if (size < LEAST || memcmp(bytes, head, HEAD) != 0 || bytes[size - 1] != '\n' || bytes[size - 2] <= ' ' ||
	    !take_iid(bytes + HEAD, &iid))
		return false;
	const uint8_t *at = bytes + HEAD + TRACELOG_ID_DIGITS;
	if (*at != ' ' || !(at = take_number(at + 1, &ms)) || *at != ' ' || !(at = take_number(at + 1, &count)) ||
	    *at != ' ' || !(at = take_number(at + 1, &match)) || *at != ':' || !(at = take_number(at + 1, &depth)))
		return false;
	*record = (struct tw_tracelog_record){.kind = TW_TRACELOG_SAM_STR,
	                                      .size = size,
	                                      .thread = iid,
	                                      .ms = ms,
	                                      .count = count,
	                                      .has_count = true,
	                                      .match = match,
	                                      .depth = depth};
	if (*at == ':' && !(at = take_ip(at + 1, record)))
		return false;
	const uint8_t *end = bytes + size - 1;
	if (at < end && (*at != ' ' || tracelog_blank(at[1])))
		return false;
	at += at < end;
	record->list = (struct tw_tracelog_text){at, (size_t)(end - at)};
	return true;
}
