/* forms.c - from the text of a field to its value: numbers, pointers, dates, texts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/format/forms.h"

#include <string.h>

enum { PREFIX = 2 }; /* bytes of "0x" */

/* ---- Numbers. ---- */

/* A hexadecimal number as it is written. */
struct hex {
	uint64_t value;
	size_t digits;
	unsigned cases; /* of its digits: TRACELOG_FIGURE, TRACELOG_UPPER, TRACELOG_LOWER */
	bool leading_zero;
};

static const char too_large_32[] = "a number of at most 32 bits", too_large_64[] = "a number of at most 64 bits";

/* Takes hexadecimal digits, one at least. Where the number does not fit 64 bits, the scan stays at its beginning. */
static bool take_digits(struct tracelog_scan *scan, struct hex *hex)
{
	const uint8_t *first = scan->at, *at = first;
	uint64_t value = 0, over = 0;
	unsigned cases = 0;
	for (; at < scan->end && tracelog_hex[*at]; at++) {
		over |= value >> 60;
		cases |= tracelog_hex[*at];
		value = value << 4 | (tracelog_hex[*at] & TRACELOG_NIBBLE);
	}
	*hex = (struct hex){value, (size_t)(at - first), cases, at - first > 1 && *first == '0'};
	if (over)
		scan->expected = too_large_64;
	else
		scan->at = at;
	return !over && at > first;
}

static bool take_prefix(struct tracelog_scan *scan)
{
	bool here = scan->end - scan->at > PREFIX && scan->at[0] == '0' && (scan->at[1] | 0x20) == 'x' &&
	            tracelog_hex[scan->at[PREFIX]];
	if (here) {
		scan->odd |= scan->at[1] == 'X' ? TW_TRACELOG_CASE : 0;
		scan->at += PREFIX;
	}
	return here;
}

static bool take_hex(struct tracelog_scan *scan, struct hex *hex)
{
	return take_prefix(scan) && take_digits(scan, hex);
}

/* A hexadecimal number that is no pointer. */
static bool take_number(struct tracelog_scan *scan, struct hex *hex)
{
	bool good = take_hex(scan, hex);
	if (good)
		scan->cases |= hex->cases;
	return good;
}

/* As take_number(), of 32 bits. */
static bool take_number32(struct tracelog_scan *scan, struct hex *hex)
{
	const uint8_t *first = scan->at;
	if (!take_number(scan, hex))
		return false;
	if (hex->value <= UINT32_MAX)
		return true;
	scan->at = first;
	scan->expected = too_large_32;
	return false;
}

static bool take_unsigned(struct tracelog_scan *scan, uint64_t most, uint64_t *value)
{
	const uint8_t *first = scan->at, *at = first;
	uint64_t sum = 0;
	bool over = false;
	for (; at < scan->end && *at >= '0' && *at <= '9'; at++) {
		uint64_t digit = (uint64_t)*at - '0';
		over |= sum > (most - digit) / 10;
		sum = sum * 10 + digit;
	}
	if (over)
		scan->expected = most > UINT32_MAX ? too_large_64 : too_large_32;
	else
		scan->at = at;
	scan->odd |= at - first > 1 && *first == '0' ? TW_TRACELOG_DIGITS : 0;
	*value = sum;
	return !over && at > first;
}

/* Takes a number that may have a minus sign, as two's complement. most: the largest without one. */
static bool take_signed(struct tracelog_scan *scan, uint64_t most, uint64_t *value, bool *negative)
{
	*negative = scan->at < scan->end && *scan->at == '-';
	if (!*negative)
		return take_unsigned(scan, most, value);
	const uint8_t *first = scan->at++;
	if (!take_unsigned(scan, most / 2 + 1, value)) {
		scan->at = scan->expected ? first : scan->at;
		return false;
	}
	scan->odd |= *value == 0 ? TW_TRACELOG_DIGITS : 0;
	*value = 0 - *value;
	return true;
}

/* ---- Fields. ---- */

static bool take_pointer(struct tracelog_scan *scan, void *member)
{
	struct hex hex;
	if (!take_hex(scan, &hex))
		return false;
	*(uint64_t *)member = hex.value;
	bool narrow = hex.digits == TRACELOG_POINTER_32, usual = narrow || hex.digits == TRACELOG_POINTER_64;
	if (usual && !scan->width_is_known) {
		scan->style |= narrow ? TW_TRACELOG_POINTERS_32 : 0;
		scan->width_is_known = true;
	}
	bool wide = hex.value > UINT32_MAX;
	bool narrow_expected = scan->style & TW_TRACELOG_POINTERS_32 && !(scan->item && wide);
	scan->odd |= usual && narrow == narrow_expected ? 0 : TW_TRACELOG_DIGITS;
	if (wide) {
		scan->style &= ~(unsigned)TW_TRACELOG_POINTERS_32;
		scan->width_is_known = true;
	}
	scan->odd |= hex.cases & TRACELOG_LOWER ? TW_TRACELOG_CASE : 0;
	return true;
}

static bool take_id(struct tracelog_scan *scan, void *member)
{
	struct hex hex;
	if (!take_number32(scan, &hex))
		return false;
	scan->odd |= hex.digits != TRACELOG_ID_DIGITS ? TW_TRACELOG_DIGITS : 0;
	*(uint32_t *)member = (uint32_t)hex.value;
	return true;
}

static bool take_question(struct tracelog_scan *scan)
{
	bool here = scan->at < scan->end && *scan->at == '?';
	scan->at += here;
	return here;
}

/* Takes the "?" of an iid that the profiler does not know. */
static bool take_no_iid(struct tracelog_scan *scan, void *member)
{
	if (!take_question(scan))
		return false;
	scan->style |= TW_TRACELOG_NO_IID;
	*(uint32_t *)member = TW_TRACELOG_IID_NONE;
	return true;
}

static bool take_iid(struct tracelog_scan *scan, void *member)
{
	return take_no_iid(scan, member) || take_id(scan, member);
}

static bool take_short_iid(struct tracelog_scan *scan, void *member)
{
	struct hex hex;
	if (take_no_iid(scan, member))
		return true;
	if (!take_number32(scan, &hex))
		return false;
	if (hex.leading_zero && hex.digits == TRACELOG_ID_DIGITS)
		scan->style |= TW_TRACELOG_PADDED_IID;
	else if (hex.leading_zero)
		scan->odd |= TW_TRACELOG_DIGITS;
	*(uint32_t *)member = (uint32_t)hex.value;
	return true;
}

static bool take_hex64(struct tracelog_scan *scan, void *member)
{
	struct hex hex;
	if (!take_number(scan, &hex))
		return false;
	scan->odd |= hex.leading_zero ? TW_TRACELOG_DIGITS : 0;
	*(uint64_t *)member = hex.value;
	return true;
}

static bool take_il(struct tracelog_scan *scan, void *member)
{
	struct hex hex;
	if (!take_number32(scan, &hex))
		return false;
	scan->odd |= hex.leading_zero ? TW_TRACELOG_DIGITS : 0;
	int64_t last = (int64_t)hex.value - UINT32_MAX - 1;
	*(int64_t *)member = last >= TW_TRACELOG_IL_EPILOG ? last : (int64_t)hex.value;
	return true;
}

static bool take_decimal32(struct tracelog_scan *scan, void *member)
{
	uint64_t value;
	if (!take_unsigned(scan, UINT32_MAX, &value))
		return false;
	*(uint32_t *)member = (uint32_t)value;
	return true;
}

static bool take_decimal64(struct tracelog_scan *scan, void *member)
{
	return take_unsigned(scan, UINT64_MAX, member);
}

static bool take_ms(struct tracelog_scan *scan, void *member)
{
	uint64_t value;
	bool negative;
	if (!take_signed(scan, UINT32_MAX, &value, &negative))
		return false;
	scan->odd |= !negative && value > INT32_MAX ? TW_TRACELOG_UNSIGNED_MS : 0;
	*(uint32_t *)member = (uint32_t)value;
	return true;
}

static bool take_us(struct tracelog_scan *scan, void *member)
{
	bool negative;
	if (!take_signed(scan, UINT64_MAX, member, &negative))
		return false;
	scan->odd |= negative ? TW_TRACELOG_NEGATIVE_US : 0;
	return true;
}

static bool take_count(struct tracelog_scan *scan, void *member)
{
	if (take_question(scan))
		return true;
	scan->record->has_count = take_unsigned(scan, UINT64_MAX, member);
	return scan->record->has_count;
}

/* Notes how an ip is written, which is a style of its own: with any number of digits. */
static void style_ip(struct tracelog_scan *scan, const struct hex *hex, bool bare)
{
	scan->style |= bare ? TW_TRACELOG_BARE_IP : 0;
	if (hex->digits == TRACELOG_POINTER_64 || hex->digits == TRACELOG_POINTER_32)
		scan->style |= TW_TRACELOG_PADDED_IP;
	else
		scan->odd |= hex->leading_zero ? TW_TRACELOG_DIGITS : 0;
	if (hex->digits == TRACELOG_POINTER_32)
		scan->style |= TW_TRACELOG_POINTERS_32;
	scan->odd |= hex->cases & TRACELOG_LOWER ? TW_TRACELOG_CASE : 0;
}

static bool take_ip(struct tracelog_scan *scan, void *member)
{
	bool *has = scan->item ? &scan->item->has_ip : &scan->record->has_ip;
	bool *known = scan->item ? &scan->item->ip_known : &scan->record->ip_known;
	*has = true;
	if (take_question(scan))
		return true;
	struct hex hex;
	bool bare = !take_prefix(scan);
	if (!take_digits(scan, &hex))
		return false;
	style_ip(scan, &hex, bare);
	*known = true;
	*(uint64_t *)member = hex.value;
	return true;
}

static bool take_thread(struct tracelog_scan *scan, void *member)
{
	struct tw_tracelog_record *record = scan->record;
	if (take_question(scan)) {
		record->thread_form = TW_TRACELOG_THREAD_NONE;
		return true;
	}
	bool os = scan->end - scan->at < PREFIX || (scan->at[1] | 0x20) != 'x';
	record->thread_form = os ? TW_TRACELOG_THREAD_OS : TW_TRACELOG_THREAD_IID;
	return os ? take_decimal32(scan, member) : take_id(scan, member);
}

static bool take_flags(struct tracelog_scan *scan, void *member)
{
	unsigned flags = 0, count = 0;
	for (; scan->at < scan->end && count < TRACELOG_GENERATIONS; scan->at++, count++) {
		if (*scan->at != 't' && *scan->at != 'f')
			break;
		flags |= (*scan->at == 't' ? 1u : 0u) << count;
	}
	*(uint8_t *)member = (uint8_t)flags;
	scan->record->generation_count = (uint8_t)count;
	return count > 0;
}

/* ---- Dates. ---- */

/* Some digits, and what stands behind them. */
struct figures {
	unsigned digits, least, most;
	char behind; /* 0: anything may follow */
};

static bool take_figures(struct tracelog_scan *scan, const struct figures *figures, unsigned *value)
{
	const uint8_t *first = scan->at;
	unsigned sum = 0, digits = 0;
	for (; digits < figures->digits && scan->at < scan->end; digits++, scan->at++) {
		if (*scan->at < '0' || *scan->at > '9')
			return false;
		sum = sum * 10 + (unsigned)(*scan->at - '0');
	}
	*value = sum;
	if (digits < figures->digits)
		return false;
	if (sum < figures->least || sum > figures->most) {
		scan->at = first;
		return false;
	}
	if (figures->behind == 0)
		return true;
	bool right = scan->at < scan->end && *scan->at == (uint8_t)figures->behind;
	scan->at += right;
	return right;
}

static bool take_all_figures(struct tracelog_scan *scan, const struct figures *figures, size_t count, unsigned *values)
{
	for (size_t i = 0; i < count; i++) {
		if (!take_figures(scan, &figures[i], &values[i]))
			return false;
	}
	return true;
}

/* " +09:00" */
static bool take_zone(struct tracelog_scan *scan)
{
	static const struct figures zone[] = {{2, 0, 23, ':'}, {2, 0, 59, 0}};
	unsigned values[2];
	const uint8_t *first = scan->at;
	if (!tracelog_skip_blanks(scan) || scan->at == scan->end)
		return scan->at == scan->end;
	bool west = *scan->at == '-';
	if (!west && *scan->at != '+') {
		scan->at = first; /* it is no zone */
		return true;
	}
	scan->at++;
	if (!take_all_figures(scan, zone, 2, values))
		return false;
	int minutes = (int)(values[0] * 60 + values[1]);
	scan->record->has_zone = true;
	scan->record->zone_minutes = (int16_t)(west ? -minutes : minutes);
	scan->odd |= west && minutes == 0 ? TW_TRACELOG_DIGITS : 0;
	return true;
}

static bool take_date(struct tracelog_scan *scan, void *member)
{
	static const struct figures day[] = {{4, 0, 9999, '-'}, {2, 1, 12, '-'}, {2, 1, 31, 0}};
	static const struct figures time[] = {{2, 0, 23, ':'}, {2, 0, 59, ':'}, {2, 0, 60, '.'}, {3, 0, 999, 0}};
	unsigned days[3], times[4];
	(void)member;
	if (!take_all_figures(scan, day, 3, days) || !tracelog_skip_blanks(scan) ||
	    !take_all_figures(scan, time, 4, times))
		return false;
	struct tw_tracelog_record *record = scan->record;
	record->year = (uint16_t)days[0];
	record->month = (uint8_t)days[1];
	record->day = (uint8_t)days[2];
	record->hour = (uint8_t)times[0];
	record->minute = (uint8_t)times[1];
	record->second = (uint8_t)times[2];
	record->millisecond = (uint16_t)times[3];
	return take_zone(scan);
}

/* ---- Texts. ---- */

static bool take_word(struct tracelog_scan *scan, void *member)
{
	const uint8_t *first = scan->at;
	while (scan->at < scan->end && !tracelog_blank(*scan->at) && !(scan->item && *scan->at == ':'))
		scan->at++;
	*(struct tw_tracelog_text *)member = (struct tw_tracelog_text){first, (size_t)(scan->at - first)};
	return scan->at > first;
}

/* Of other words than "induced" no profiler is known: they stay as they are. */
static bool take_reason(struct tracelog_scan *scan, void *member)
{
	static const char induced[] = "induced";
	struct tw_tracelog_text *reason = member;
	if (take_question(scan))
		return true;
	bool some = take_word(scan, reason);
	scan->record->induced = reason->size == sizeof induced - 1 && memcmp(reason->bytes, induced, reason->size) == 0;
	return some;
}

static bool take_rest(struct tracelog_scan *scan, void *member)
{
	*(struct tw_tracelog_text *)member = (struct tw_tracelog_text){scan->at, (size_t)(scan->end - scan->at)};
	bool some = scan->at < scan->end;
	scan->at = scan->end;
	return some;
}

/* What is behind the last quote of the line, where that may end a text: it ends the line, or something else follows
 * behind blanks. NULL where there is none. A line that is cut off may have been cut in a text. */
static const uint8_t *behind_last_quote(const struct tracelog_scan *scan)
{
	const uint8_t *first = scan->at + 1, *last = memrchr(first, '"', (size_t)(scan->end - first));
	if (!last)
		return NULL;
	bool ends = last + 1 == scan->end;
	return ends || (tracelog_blank(last[1]) && !(scan->record->odd & TW_TRACELOG_NO_END)) ? last + 1 : NULL;
}

static bool take_outer_quotes(struct tracelog_scan *scan, struct tw_tracelog_text *text)
{
	if (scan->at == scan->end || *scan->at != '"')
		return false;
	const uint8_t *end = behind_last_quote(scan);
	if (!end) {
		scan->at = scan->end;
		scan->expected = "a quote that ends the text";
		return false;
	}
	*text = (struct tw_tracelog_text){scan->at + 1, (size_t)(end - scan->at) - 2};
	scan->at = end;
	return true;
}

static void look_for_quotes(struct tracelog_scan *scan, struct tw_tracelog_text text)
{
	if (text.size && memchr(text.bytes, '"', text.size))
		scan->odd |= TW_TRACELOG_QUOTES;
}

static bool take_quoted(struct tracelog_scan *scan, void *member)
{
	struct tw_tracelog_text *text = member;
	bool good = take_outer_quotes(scan, text);
	if (good)
		look_for_quotes(scan, *text);
	return good;
}

/* Splits the last text off. False where there is only one. */
static bool split(struct tracelog_scan *scan, struct tw_tracelog_text *text, struct tw_tracelog_text *last)
{
	size_t end, begin;
	if (!tracelog_find_gap(*text, &end, &begin))
		return false;
	*last = (struct tw_tracelog_text){text->bytes + begin, text->size - begin};
	bool plain = begin - end == 3 && text->bytes[end + 1] == ' '; /* quote, space, quote */
	scan->odd |= plain ? 0 : TW_TRACELOG_BLANKS;
	text->size = end;
	return true;
}

static bool take_names(struct tracelog_scan *scan, void *member)
{
	struct tw_tracelog_record *record = scan->record;
	struct tw_tracelog_text *name = member;
	if (!take_outer_quotes(scan, name))
		return false;
	if (!split(scan, name, &record->signature)) {
		if (tracelog_is_cut(*name)) {
			scan->expected = "a return type in quotes";
			return false;
		}
		scan->style |= TW_TRACELOG_ONE_NAME;
		record->return_type = record->signature = (struct tw_tracelog_text){name->bytes + name->size, 0};
	} else if (!split(scan, name, &record->return_type)) {
		scan->expected = "a signature in quotes";
		return false;
	}
	look_for_quotes(scan, *name);
	look_for_quotes(scan, record->return_type);
	look_for_quotes(scan, record->signature);
	return true;
}

static bool take_list(struct tracelog_scan *scan, void *member)
{
	*(struct tw_tracelog_text *)member = (struct tw_tracelog_text){scan->at, (size_t)(scan->end - scan->at)};
	scan->at = scan->end;
	return true;
}

const struct tracelog_form_taker tracelog_forms[TRACELOG_FORMS] = {
    [TRACELOG_POINTER] = {take_pointer, "a pointer in hexadecimal"},
    [TRACELOG_ID] = {take_id, "a number in hexadecimal"},
    [TRACELOG_IID] = {take_iid, "a number in hexadecimal"},
    [TRACELOG_CLASS_IID] = {take_iid, "a number in hexadecimal"},
    [TRACELOG_SHORT_IID] = {take_short_iid, "a number in hexadecimal"},
    [TRACELOG_HEX] = {take_hex64, "a number in hexadecimal"},
    [TRACELOG_IL] = {take_il, "an IL offset in hexadecimal"},
    [TRACELOG_DECIMAL32] = {take_decimal32, "a decimal number"},
    [TRACELOG_DECIMAL64] = {take_decimal64, "a decimal number"},
    [TRACELOG_MS] = {take_ms, "a time in milliseconds"},
    [TRACELOG_US] = {take_us, "a time in microseconds"},
    [TRACELOG_COUNT] = {take_count, "a number of ticks"},
    [TRACELOG_IP] = {take_ip, "an instruction pointer in hexadecimal"},
    [TRACELOG_THREAD] = {take_thread, "a number of a thread"},
    [TRACELOG_REASON] = {take_reason, "a reason"},
    [TRACELOG_FLAGS] = {take_flags, "\"t\" or \"f\" for each of at most 8 generations"},
    [TRACELOG_DATE] = {take_date, "YYYY-MM-DD hh:mm:ss.mmm, perhaps with +hh:mm"},
    [TRACELOG_WORD] = {take_word, "a word"},
    [TRACELOG_REST] = {take_rest, "a value"},
    [TRACELOG_QUOTED] = {take_quoted, "a text in quotes"},
    [TRACELOG_NAMES] = {take_names, "a text in quotes"},
    [TRACELOG_LIST] = {take_list, "a list"},
};
