/* encode.c - records of a log to lines. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/format/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line that is being written. */
struct sink {
	uint8_t *bytes;
	size_t room, used;
	int status; /* the first failure */
	unsigned style;
	const struct tw_tracelog_record *record;
	const struct tw_tracelog_item *item; /* NULL: the record itself */
};

static void fail(struct sink *sink, int status)
{
	if (sink->status == 0)
		sink->status = status;
}

static void put(struct sink *sink, const void *bytes, size_t size)
{
	if (sink->room - sink->used < size) {
		fail(sink, TW_ERR_ROOM);
		return;
	}
	if (size)
		memcpy(sink->bytes + sink->used, bytes, size);
	sink->used += size;
}

static void put_byte(struct sink *sink, char byte)
{
	put(sink, &byte, 1);
}

/* ---- Numbers. ---- */

static void put_digits(struct sink *sink, uint64_t value, unsigned base, unsigned least, bool upper)
{
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	char text[20]; /* 2^64 has 20 decimal digits */
	size_t at = sizeof text;
	for (unsigned count = 0; value || count < least; count++, value /= base)
		text[--at] = digits[value % base];
	put(sink, text + at, sizeof text - at);
}

static void put_decimal(struct sink *sink, uint64_t value, unsigned least)
{
	put_digits(sink, value, 10, least, false);
}

/* Puts a number that is no pointer in hexadecimal, with at least so many digits. */
static void put_hex(struct sink *sink, uint64_t value, unsigned least)
{
	put(sink, "0x", 2);
	put_digits(sink, value, 16, least, sink->style & TW_TRACELOG_UPPER);
}

static unsigned pointer_digits(const struct sink *sink)
{
	return sink->style & TW_TRACELOG_POINTERS_32 ? TRACELOG_POINTER_32 : TRACELOG_POINTER_64;
}

/* ---- Fields. ---- */

static void put_pointer(struct sink *sink, const void *member)
{
	uint64_t value = *(const uint64_t *)member;
	if (sink->style & TW_TRACELOG_POINTERS_32 && value > UINT32_MAX)
		fail(sink, TW_ERR_VALUE);
	put(sink, "0x", 2);
	put_digits(sink, value, 16, pointer_digits(sink), true);
}

static void put_id(struct sink *sink, const void *member)
{
	put_hex(sink, *(const uint32_t *)member, TRACELOG_ID_DIGITS);
}

/* Puts an iid, with at least so many digits. */
static void put_known_iid(struct sink *sink, const void *member, unsigned least)
{
	if (sink->style & TW_TRACELOG_NO_IID)
		put_byte(sink, '?');
	else
		put_hex(sink, *(const uint32_t *)member, least);
}

static void put_iid(struct sink *sink, const void *member)
{
	put_known_iid(sink, member, TRACELOG_ID_DIGITS);
}

static void put_short_iid(struct sink *sink, const void *member)
{
	put_known_iid(sink, member, sink->style & TW_TRACELOG_PADDED_IID ? TRACELOG_ID_DIGITS : 1);
}

static void put_hex64(struct sink *sink, const void *member)
{
	put_hex(sink, *(const uint64_t *)member, 1);
}

static void put_il(struct sink *sink, const void *member)
{
	int64_t value = *(const int64_t *)member;
	if (value < TW_TRACELOG_IL_EPILOG || value > UINT32_MAX)
		fail(sink, TW_ERR_VALUE);
	put_hex(sink, (uint32_t)value, 1);
}

static void put_decimal32(struct sink *sink, const void *member)
{
	put_decimal(sink, *(const uint32_t *)member, 1);
}

static void put_decimal64(struct sink *sink, const void *member)
{
	put_decimal(sink, *(const uint64_t *)member, 1);
}

static void put_ms(struct sink *sink, const void *member)
{
	uint32_t ms = *(const uint32_t *)member;
	bool negative = ms > INT32_MAX;
	if (negative)
		put_byte(sink, '-');
	put_decimal(sink, negative ? 0 - ms : ms, 1);
}

static void put_count(struct sink *sink, const void *member)
{
	if (sink->record->has_count)
		put_decimal64(sink, member);
	else
		put_byte(sink, '?');
}

static void put_ip(struct sink *sink, const void *member)
{
	uint64_t value = *(const uint64_t *)member;
	bool known = sink->item ? sink->item->ip_known : sink->record->ip_known;
	unsigned least = sink->style & TW_TRACELOG_PADDED_IP ? pointer_digits(sink) : 1;
	if (!known) {
		put_byte(sink, '?');
		return;
	}
	if (!(sink->style & TW_TRACELOG_BARE_IP))
		put(sink, "0x", 2);
	put_digits(sink, value, 16, least, true);
}

static void put_thread(struct sink *sink, const void *member)
{
	switch (sink->record->thread_form) {
	case TW_TRACELOG_THREAD_IID:
		put_id(sink, member);
		return;
	case TW_TRACELOG_THREAD_OS:
		put_decimal32(sink, member);
		return;
	case TW_TRACELOG_THREAD_NONE:
		put_byte(sink, '?');
		return;
	}
	fail(sink, TW_ERR_VALUE);
}

static void put_flags(struct sink *sink, const void *member)
{
	unsigned flags = *(const uint8_t *)member, count = sink->record->generation_count;
	if (count == 0 || count > TRACELOG_GENERATIONS || flags >> count)
		fail(sink, TW_ERR_VALUE);
	for (unsigned i = 0; i < count; i++)
		put_byte(sink, flags >> i & 1 ? 't' : 'f');
}

static void put_figures(struct sink *sink, unsigned value, unsigned most, unsigned digits, char before)
{
	if (value > most)
		fail(sink, TW_ERR_VALUE);
	if (before)
		put_byte(sink, before);
	put_decimal(sink, value, digits);
}

static void put_date(struct sink *sink, const void *member)
{
	const struct tw_tracelog_record *record = sink->record;
	int zone = record->zone_minutes;
	unsigned minutes = (unsigned)(zone < 0 ? -zone : zone);
	(void)member;
	if (record->month == 0 || record->day == 0)
		fail(sink, TW_ERR_VALUE);
	put_figures(sink, record->year, 9999, 4, 0);
	put_figures(sink, record->month, 12, 2, '-');
	put_figures(sink, record->day, 31, 2, '-');
	put_figures(sink, record->hour, 23, 2, ' ');
	put_figures(sink, record->minute, 59, 2, ':');
	put_figures(sink, record->second, 60, 2, ':');
	put_figures(sink, record->millisecond, 999, 3, '.');
	if (!record->has_zone)
		return;
	put_byte(sink, ' ');
	put_figures(sink, minutes / 60, 23, 2, zone < 0 ? '-' : '+');
	put_figures(sink, minutes % 60, 59, 2, ':');
}

/* ---- Texts. ---- */

static void put_text(struct sink *sink, struct tw_tracelog_text text)
{
	if (text.size && memchr(text.bytes, '\n', text.size))
		fail(sink, TW_ERR_VALUE);
	put(sink, text.bytes, text.size);
}

static void put_word(struct sink *sink, const void *member)
{
	const struct tw_tracelog_text *text = member;
	for (size_t i = 0; i < text->size; i++) {
		if (tracelog_blank(text->bytes[i]) || (sink->item && text->bytes[i] == ':'))
			fail(sink, TW_ERR_VALUE);
	}
	if (text->size == 0)
		fail(sink, TW_ERR_VALUE);
	put_text(sink, *text);
}

static void put_reason(struct sink *sink, const void *member)
{
	const struct tw_tracelog_text *reason = member;
	if (reason->size && reason->bytes[0] == '?')
		fail(sink, TW_ERR_VALUE);
	if (reason->size)
		put_word(sink, reason);
	else
		put_byte(sink, '?');
}

/* Puts the rest of a line, unless it begins or ends with what would be taken for the gap before it or for the end of
 * the line. */
static void put_rest(struct sink *sink, const void *member)
{
	const struct tw_tracelog_text *text = member;
	if (text->size == 0 || tracelog_blank(text->bytes[0]) || tracelog_blank(text->bytes[text->size - 1]) ||
	    text->bytes[text->size - 1] == '\r')
		fail(sink, TW_ERR_VALUE);
	put_text(sink, *text);
}

static void put_quoted(struct sink *sink, const void *member)
{
	put_byte(sink, '"');
	put_text(sink, *(const struct tw_tracelog_text *)member);
	put_byte(sink, '"');
}

/* Whether decoding finds the last of the texts in quotes where it begins. */
static bool splits(struct tw_tracelog_text *all, size_t last)
{
	size_t end, begin;
	if (!tracelog_find_gap(*all, &end, &begin) || all->size - begin != last)
		return false;
	all->size = end;
	return true;
}

static void put_names(struct sink *sink, const void *member)
{
	const struct tw_tracelog_record *record = sink->record;
	size_t from = sink->used, end, begin;
	bool one = record->style & TW_TRACELOG_ONE_NAME;
	put_quoted(sink, member);
	if (!one) {
		put_byte(sink, ' ');
		put_quoted(sink, &record->return_type);
		put_byte(sink, ' ');
		put_quoted(sink, &record->signature);
	}
	if (sink->status < 0)
		return;
	struct tw_tracelog_text all = {sink->bytes + from + 1, sink->used - from - 2};
	if (one ? tracelog_find_gap(all, &end, &begin) || tracelog_is_cut(all)
	        : !splits(&all, record->signature.size) || !splits(&all, record->return_type.size))
		fail(sink, TW_ERR_VALUE);
}

/* ---- All fields. ---- */

static void put_list(struct sink *sink, const void *member);

static void (*const forms[TRACELOG_FORMS])(struct sink *sink, const void *member) = {
    [TRACELOG_POINTER] = put_pointer,
    [TRACELOG_ID] = put_id,
    [TRACELOG_IID] = put_iid,
    [TRACELOG_CLASS_IID] = put_iid,
    [TRACELOG_SHORT_IID] = put_short_iid,
    [TRACELOG_HEX] = put_hex64,
    [TRACELOG_IL] = put_il,
    [TRACELOG_DECIMAL32] = put_decimal32,
    [TRACELOG_DECIMAL64] = put_decimal64,
    [TRACELOG_MS] = put_ms,
    [TRACELOG_US] = put_decimal64,
    [TRACELOG_COUNT] = put_count,
    [TRACELOG_IP] = put_ip,
    [TRACELOG_THREAD] = put_thread,
    [TRACELOG_REASON] = put_reason,
    [TRACELOG_FLAGS] = put_flags,
    [TRACELOG_DATE] = put_date,
    [TRACELOG_WORD] = put_word,
    [TRACELOG_REST] = put_rest,
    [TRACELOG_QUOTED] = put_quoted,
    [TRACELOG_NAMES] = put_names,
    [TRACELOG_LIST] = put_list,
};

static bool is_left_out(const struct sink *sink, const struct tracelog_field *field)
{
	if (field->form == TRACELOG_IP)
		return sink->item ? !sink->item->has_ip : !sink->record->has_ip;
	return field->form == TRACELOG_CLASS_IID && sink->style & TW_TRACELOG_NO_CLASS_IID;
}

static void put_fields(struct sink *sink, const struct tracelog_layout *layout, const void *base)
{
	const struct tracelog_field *field = layout->fields, *last = field + TRACELOG_FIELDS_MAX;
	for (; field < last && field->form != TRACELOG_END; field++) {
		if (is_left_out(sink, field))
			continue;
		if (field->colon)
			put_byte(sink, ':');
		else if (!sink->item && field->form != TRACELOG_LIST)
			put_byte(sink, ' ');
		forms[field->form](sink, (const uint8_t *)base + field->offset);
	}
}

static void put_item(struct sink *sink, const struct tw_tracelog_item *item)
{
	unsigned style = sink->style;
	if (!(style & TW_TRACELOG_RESTYLE))
		sink->style = item->style;
	sink->style = (sink->style & ~(unsigned)TW_TRACELOG_NO_IID) | (item->style & TW_TRACELOG_NO_IID);
	sink->item = item;
	put_byte(sink, ' ');
	put_fields(sink, &tracelog_items[item->kind], item);
	sink->item = NULL;
	sink->style = style;
}

static void put_list(struct sink *sink, const void *member)
{
	struct tw_tracelog_text list = *(const struct tw_tracelog_text *)member;
	struct tw_tracelog_item item;
	struct tw_tracelog_fault fault;
	int status;
	while (sink->status == 0 && (status = tw_tracelog_next(sink->record, &list, &item, &fault)) != 0) {
		if (status < 0)
			fail(sink, TW_ERR_VALUE);
		else
			put_item(sink, &item);
	}
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the sink writes there */
int64_t tracelog_encode_item(const struct tw_tracelog_item *item, uint8_t *bytes, size_t room)
{
	struct sink sink = {.bytes = bytes, .room = room};
	put_item(&sink, item);
	return sink.status < 0 ? sink.status : (int64_t)sink.used;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the sink writes there */
int64_t tw_tracelog_encode(const struct tw_tracelog_record *record, uint8_t *bytes, size_t room)
{
	struct sink sink = {.bytes = bytes, .room = room, .style = record->style, .record = record};
	if ((unsigned)record->kind >= TW_TRACELOG_KINDS)
		return TW_ERR_VALUE;
	if (record->kind == TW_TRACELOG_UNKNOWN) {
		put_text(&sink, record->list);
	} else {
		put(&sink, tracelog_words[record->kind], TRACELOG_WORDS);
		put_fields(&sink, &tracelog_layouts[record->kind], record);
	}
	put_byte(&sink, '\n');
	return sink.status < 0 ? sink.status : (int64_t)sink.used;
}

/* ---- Dates as texts. ---- */

const char *tracelog_date_text(const struct tw_tracelog_record *record, char text[TRACELOG_DATE_TEXT])
{
	snprintf(text, TRACELOG_DATE_TEXT, "%04u-%02u-%02u %02u:%02u:%02u.%03u", record->year, record->month,
	         record->day, record->hour, record->minute, record->second, record->millisecond);
	return text;
}

const char *tracelog_zone_text(const struct tw_tracelog_record *record, char text[TRACELOG_ZONE_TEXT])
{
	unsigned zone = (unsigned)abs(record->zone_minutes);
	*text = '\0';
	if (record->has_zone)
		snprintf(text, TRACELOG_ZONE_TEXT, "%c%02u:%02u", record->zone_minutes < 0 ? '-' : '+', zone / 60,
		         zone % 60);
	return text;
}
