/* decode.c - lines of a log to records. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/layout.h"

#include <string.h>

enum { FOUND_MAX = 32, PREFIX = 2 };

/* A line or an item that is being decoded. */
struct scan {
	const uint8_t *start, *at, *end;
	const char *expected; /* where it is not what the form says */
	struct tw_tracelog_record *record;
	struct tw_tracelog_item *item; /* NULL: the record itself */
	unsigned style, odd;
	unsigned cases;     /* of the letters in numbers that are no pointers */
	bool width_is_told; /* by a pointer before */
};

static bool fault_at(const struct scan *scan, const uint8_t *at, const char *expected, struct tw_tracelog_fault *fault)
{
	size_t size = 0, left = (size_t)(scan->end - at);
	while (size < left && size < FOUND_MAX && !tracelog_blank(at[size]))
		size++;
	*fault = (struct tw_tracelog_fault){(size_t)(at - scan->start), expected, {at, size}};
	return false;
}

/* ---- Numbers. ---- */

/* A hexadecimal number as it is written. */
struct hex {
	uint64_t value;
	size_t digits;
	unsigned cases; /* of its digits: TRACELOG_FIGURE, TRACELOG_UPPER, TRACELOG_LOWER */
	bool leading_zero;
};

static const char too_large_32[] = "a number of at most 32 bits", too_large_64[] = "a number of at most 64 bits";

/* Where the number does not fit, the scan stays at its beginning. */
static bool take_digits(struct scan *scan, struct hex *hex)
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

static bool take_prefix(struct scan *scan)
{
	bool here = scan->end - scan->at > PREFIX && scan->at[0] == '0' && (scan->at[1] | 0x20) == 'x' &&
	            tracelog_hex[scan->at[PREFIX]];
	if (here) {
		scan->odd |= scan->at[1] == 'X' ? TW_TRACELOG_CASE : 0;
		scan->at += PREFIX;
	}
	return here;
}

static bool take_hex(struct scan *scan, struct hex *hex)
{
	return take_prefix(scan) && take_digits(scan, hex);
}

/* A hexadecimal number that is no pointer. */
static bool take_number(struct scan *scan, struct hex *hex)
{
	bool good = take_hex(scan, hex);
	if (good)
		scan->cases |= hex->cases;
	return good;
}

/* The same, of 32 bits. */
static bool take_number32(struct scan *scan, struct hex *hex)
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

static bool take_unsigned(struct scan *scan, uint64_t most, uint64_t *value)
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

/* A number with a minus sign, `most` being the largest without. */
static bool take_signed(struct scan *scan, uint64_t most, uint64_t *value, bool *negative)
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

static bool take_pointer(struct scan *scan, void *member)
{
	struct hex hex;
	if (!take_hex(scan, &hex))
		return false;
	*(uint64_t *)member = hex.value;
	bool narrow = hex.digits == TRACELOG_POINTER_32, usual = narrow || hex.digits == TRACELOG_POINTER_64;
	if (usual && !scan->width_is_told) {
		scan->style |= narrow ? TW_TRACELOG_POINTERS_32 : 0;
		scan->width_is_told = true;
	}
	bool wide = hex.value > UINT32_MAX;
	bool narrow_expected = scan->style & TW_TRACELOG_POINTERS_32 && !(scan->item && wide);
	scan->odd |= usual && narrow == narrow_expected ? 0 : TW_TRACELOG_DIGITS;
	if (wide) {
		scan->style &= ~(unsigned)TW_TRACELOG_POINTERS_32;
		scan->width_is_told = true;
	}
	scan->odd |= hex.cases & TRACELOG_LOWER ? TW_TRACELOG_CASE : 0;
	return true;
}

static bool take_id(struct scan *scan, void *member)
{
	struct hex hex;
	if (!take_number32(scan, &hex))
		return false;
	scan->odd |= hex.digits != TRACELOG_ID_DIGITS ? TW_TRACELOG_DIGITS : 0;
	*(uint32_t *)member = (uint32_t)hex.value;
	return true;
}

static bool take_short_id(struct scan *scan, void *member)
{
	struct hex hex;
	if (!take_number32(scan, &hex))
		return false;
	if (hex.leading_zero && hex.digits == TRACELOG_ID_DIGITS)
		scan->style |= TW_TRACELOG_PADDED_IID;
	else if (hex.leading_zero)
		scan->odd |= TW_TRACELOG_DIGITS;
	*(uint32_t *)member = (uint32_t)hex.value;
	return true;
}

static bool take_hex64(struct scan *scan, void *member)
{
	struct hex hex;
	if (!take_number(scan, &hex))
		return false;
	scan->odd |= hex.leading_zero ? TW_TRACELOG_DIGITS : 0;
	*(uint64_t *)member = hex.value;
	return true;
}

static bool take_il(struct scan *scan, void *member)
{
	struct hex hex;
	if (!take_number32(scan, &hex))
		return false;
	scan->odd |= hex.leading_zero ? TW_TRACELOG_DIGITS : 0;
	int64_t last = (int64_t)hex.value - UINT32_MAX - 1;
	*(int64_t *)member = last >= TW_TRACELOG_IL_EPILOG ? last : (int64_t)hex.value;
	return true;
}

static bool take_decimal32(struct scan *scan, void *member)
{
	uint64_t value;
	if (!take_unsigned(scan, UINT32_MAX, &value))
		return false;
	*(uint32_t *)member = (uint32_t)value;
	return true;
}

static bool take_decimal64(struct scan *scan, void *member)
{
	return take_unsigned(scan, UINT64_MAX, member);
}

static bool take_ms(struct scan *scan, void *member)
{
	uint64_t value;
	bool negative;
	if (!take_signed(scan, UINT32_MAX, &value, &negative))
		return false;
	scan->odd |= !negative && value > INT32_MAX ? TW_TRACELOG_UNSIGNED_MS : 0;
	*(uint32_t *)member = (uint32_t)value;
	return true;
}

static bool take_us(struct scan *scan, void *member)
{
	bool negative;
	if (!take_signed(scan, UINT64_MAX, member, &negative))
		return false;
	scan->odd |= negative ? TW_TRACELOG_NEGATIVE_US : 0;
	return true;
}

static bool take_question(struct scan *scan)
{
	bool here = scan->at < scan->end && *scan->at == '?';
	scan->at += here;
	return here;
}

static bool take_count(struct scan *scan, void *member)
{
	if (take_question(scan))
		return true;
	scan->record->has_count = take_unsigned(scan, UINT64_MAX, member);
	return scan->record->has_count;
}

/* The style of an ip is its own: any number of digits is right. */
static void style_ip(struct scan *scan, const struct hex *hex, bool bare)
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

static bool take_ip(struct scan *scan, void *member)
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

static bool take_thread(struct scan *scan, void *member)
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

static bool take_reason(struct scan *scan, void *member)
{
	static const char induced[] = "induced";
	size_t size = sizeof induced - 1;
	if (take_question(scan))
		return true;
	if ((size_t)(scan->end - scan->at) < size || memcmp(scan->at, induced, size) != 0)
		return false;
	scan->at += size;
	*(bool *)member = true;
	return true;
}

static bool take_flags(struct scan *scan, void *member)
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
	char behind; /* 0: nothing that is asked for */
};

static bool take_figures(struct scan *scan, const struct figures *figures, unsigned *value)
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

static bool take_all_figures(struct scan *scan, const struct figures *figures, size_t count, unsigned *values)
{
	for (size_t i = 0; i < count; i++) {
		if (!take_figures(scan, &figures[i], &values[i]))
			return false;
	}
	return true;
}

static bool skip_blanks(struct scan *scan)
{
	const uint8_t *first = scan->at;
	while (scan->at < scan->end && tracelog_blank(*scan->at))
		scan->at++;
	if (scan->at > first && (scan->at - first > 1 || *first != ' '))
		scan->odd |= TW_TRACELOG_BLANKS;
	return scan->at > first;
}

/* " +09:00" */
static bool take_zone(struct scan *scan)
{
	static const struct figures zone[] = {{2, 0, 23, ':'}, {2, 0, 59, 0}};
	unsigned values[2];
	if (!skip_blanks(scan) || scan->at == scan->end)
		return scan->at == scan->end;
	bool west = *scan->at == '-';
	if (!west && *scan->at != '+')
		return false;
	scan->at++;
	if (!take_all_figures(scan, zone, 2, values))
		return false;
	int minutes = (int)(values[0] * 60 + values[1]);
	scan->record->has_zone = true;
	scan->record->zone_minutes = (int16_t)(west ? -minutes : minutes);
	scan->odd |= west && minutes == 0 ? TW_TRACELOG_DIGITS : 0;
	return true;
}

static bool take_date(struct scan *scan, void *member)
{
	static const struct figures day[] = {{4, 0, 9999, '-'}, {2, 1, 12, '-'}, {2, 1, 31, 0}};
	static const struct figures time[] = {{2, 0, 23, ':'}, {2, 0, 59, ':'}, {2, 0, 60, '.'}, {3, 0, 999, 0}};
	unsigned days[3], times[4];
	(void)member;
	if (!take_all_figures(scan, day, 3, days) || !skip_blanks(scan) || !take_all_figures(scan, time, 4, times))
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

static bool take_word(struct scan *scan, void *member)
{
	const uint8_t *first = scan->at;
	while (scan->at < scan->end && !tracelog_blank(*scan->at) && !(scan->item && *scan->at == ':'))
		scan->at++;
	*(struct tw_tracelog_text *)member = (struct tw_tracelog_text){first, (size_t)(scan->at - first)};
	return scan->at > first;
}

static bool take_rest(struct scan *scan, void *member)
{
	*(struct tw_tracelog_text *)member = (struct tw_tracelog_text){scan->at, (size_t)(scan->end - scan->at)};
	bool some = scan->at < scan->end;
	scan->at = scan->end;
	return some;
}

static bool take_outer_quotes(struct scan *scan, struct tw_tracelog_text *text)
{
	if (scan->at == scan->end || *scan->at != '"')
		return false;
	size_t size = (size_t)(scan->end - scan->at);
	if (size < 2 || scan->end[-1] != '"') {
		scan->at = scan->end;
		scan->expected = "a quote that ends the text";
		return false;
	}
	*text = (struct tw_tracelog_text){scan->at + 1, size - 2};
	scan->at = scan->end;
	return true;
}

static void look_for_quotes(struct scan *scan, struct tw_tracelog_text text)
{
	if (text.size && memchr(text.bytes, '"', text.size))
		scan->odd |= TW_TRACELOG_QUOTES;
}

static bool take_quoted(struct scan *scan, void *member)
{
	struct tw_tracelog_text *text = member;
	bool good = take_outer_quotes(scan, text);
	if (good)
		look_for_quotes(scan, *text);
	return good;
}

/* Splits the last text off. */
static bool split(struct scan *scan, struct tw_tracelog_text *text, struct tw_tracelog_text *last)
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

static bool take_names(struct scan *scan, void *member)
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

static bool take_list(struct scan *scan, void *member)
{
	*(struct tw_tracelog_text *)member = (struct tw_tracelog_text){scan->at, (size_t)(scan->end - scan->at)};
	scan->at = scan->end;
	return true;
}

static const struct {
	bool (*take)(struct scan *scan, void *member);
	const char *expected;
} forms[TRACELOG_FORMS] = {
    [TRACELOG_POINTER] = {take_pointer, "a pointer in hexadecimal"},
    [TRACELOG_ID] = {take_id, "a number in hexadecimal"},
    [TRACELOG_CLASS_IID] = {take_id, "a number in hexadecimal"},
    [TRACELOG_SHORT_ID] = {take_short_id, "a number in hexadecimal"},
    [TRACELOG_HEX] = {take_hex64, "a number in hexadecimal"},
    [TRACELOG_IL] = {take_il, "an IL offset in hexadecimal"},
    [TRACELOG_DECIMAL32] = {take_decimal32, "a decimal number"},
    [TRACELOG_DECIMAL64] = {take_decimal64, "a decimal number"},
    [TRACELOG_MS] = {take_ms, "a time in milliseconds"},
    [TRACELOG_US] = {take_us, "a time in microseconds"},
    [TRACELOG_COUNT] = {take_count, "a number of ticks"},
    [TRACELOG_IP] = {take_ip, "an instruction pointer in hexadecimal"},
    [TRACELOG_THREAD] = {take_thread, "a number of a thread"},
    [TRACELOG_REASON] = {take_reason, "\"induced\" or \"?\""},
    [TRACELOG_FLAGS] = {take_flags, "\"t\" or \"f\" for each of at most 8 generations"},
    [TRACELOG_DATE] = {take_date, "YYYY-MM-DD hh:mm:ss.mmm, perhaps with +hh:mm"},
    [TRACELOG_WORD] = {take_word, "a word"},
    [TRACELOG_REST] = {take_rest, "a value"},
    [TRACELOG_QUOTED] = {take_quoted, "a text in quotes"},
    [TRACELOG_NAMES] = {take_names, "a text in quotes"},
    [TRACELOG_LIST] = {take_list, "a list"},
};

/* ---- All fields. ---- */

static bool ends_here(const struct scan *scan)
{
	return scan->at == scan->end || tracelog_blank(*scan->at) || *scan->at == ':';
}

/* What stands between a field and the one before it. */
static bool take_gap(struct scan *scan, const struct tracelog_field *field)
{
	if (!field->colon)
		return scan->at == scan->end || skip_blanks(scan);
	bool here = scan->at < scan->end && *scan->at == ':';
	scan->at += here;
	return here;
}

/* Words up to the end. */
static unsigned count_words(const struct scan *scan)
{
	unsigned words = 0;
	bool inside = false;
	for (const uint8_t *at = scan->at; at < scan->end; at++) {
		bool blank = tracelog_blank(*at);
		words += !blank && !inside;
		inside = !blank;
	}
	return words;
}

/* Whether a field is not there that need not be. */
static bool is_missing(struct scan *scan, const struct tracelog_field *field)
{
	enum { CLASS_IID_AND_REST = 4 }; /* iid, module, token, status */
	if (field->form == TRACELOG_IP)
		return scan->at == scan->end || *scan->at != ':';
	if (field->form != TRACELOG_CLASS_IID || count_words(scan) >= CLASS_IID_AND_REST)
		return false;
	scan->style |= TW_TRACELOG_NO_CLASS_IID;
	return true;
}

static bool take_field(struct scan *scan, const struct tracelog_field *field, struct tw_tracelog_fault *fault)
{
	uint8_t *base = scan->item ? (uint8_t *)scan->item : (uint8_t *)scan->record;
	scan->expected = NULL;
	if (!forms[field->form].take(scan, base + field->offset) || !ends_here(scan))
		return fault_at(scan, scan->at, scan->expected ? scan->expected : forms[field->form].expected, fault);
	return true;
}

/* The scan is behind the two words of a record, or at the beginning of an item. */
static bool take_fields(struct scan *scan, const struct tracelog_layout *layout, struct tw_tracelog_fault *fault)
{
	const struct tracelog_field *field = layout->fields, *last = field + TRACELOG_FIELDS_MAX;
	for (; field < last && field->form != TRACELOG_END; field++) {
		bool at_start = scan->item && field == layout->fields;
		if (is_missing(scan, field))
			continue;
		if (!at_start && !take_gap(scan, field))
			return fault_at(scan, scan->at, field->colon ? "a colon" : "a space", fault);
		if (!take_field(scan, field, fault))
			return false;
	}
	return scan->at == scan->end ||
	       fault_at(scan, scan->at, scan->item ? "the end of the item" : "the end of the line", fault);
}

/* What the cases of all numbers come to. */
static void judge_cases(struct scan *scan)
{
	if (scan->cases & TRACELOG_UPPER && scan->cases & TRACELOG_LOWER)
		scan->odd |= TW_TRACELOG_CASE;
	else if (scan->cases & TRACELOG_UPPER)
		scan->style |= TW_TRACELOG_UPPER;
}

/* ---- Lines. ---- */

/* Of the second and third letters of both words: another number for each kind, or the compiler would tell. */
#define SLOT(b, c, e, f) (((b)*11 + (c)*10 + (e)*11 + (f)*14) & 127)

static const uint8_t slots[128] = {
    [SLOT('r', 'f', 't', 'm')] = TW_TRACELOG_PRF_STM, [SLOT('r', 'f', 'f', 'g')] = TW_TRACELOG_PRF_CFG,
    [SLOT('r', 'f', 'p', 's')] = TW_TRACELOG_PRF_TPS, [SLOT('r', 'f', 'r', 's')] = TW_TRACELOG_PRF_TRS,
    [SLOT('r', 'c', 'p', 'u')] = TW_TRACELOG_PRC_CPU, [SLOT('h', 'r', 'r', 't')] = TW_TRACELOG_THR_CRT,
    [SLOT('h', 'r', 'o', 's')] = TW_TRACELOG_THR_AOS, [SLOT('h', 'r', 's', 't')] = TW_TRACELOG_THR_DST,
    [SLOT('h', 'r', 'p', 'u')] = TW_TRACELOG_THR_CPU, [SLOT('o', 'd', 'd', 'f')] = TW_TRACELOG_MOD_LDF,
    [SLOT('o', 'd', 't', 'a')] = TW_TRACELOG_MOD_ATA, [SLOT('s', 'm', 'd', 'f')] = TW_TRACELOG_ASM_LDF,
    [SLOT('p', 'd', 'r', 'f')] = TW_TRACELOG_APD_CRF, [SLOT('l', 's', 'd', 'f')] = TW_TRACELOG_CLS_LDF,
    [SLOT('l', 's', 'a', 'm')] = TW_TRACELOG_CLS_NAM, [SLOT('u', 'n', 'n', 'f')] = TW_TRACELOG_FUN_INF,
    [SLOT('u', 'n', 'm', 'f')] = TW_TRACELOG_FUN_CMF, [SLOT('u', 'n', 's', 'f')] = TW_TRACELOG_FUN_CSF,
    [SLOT('u', 'n', 'a', 'm')] = TW_TRACELOG_FUN_NAM, [SLOT('i', 't', 'm', 's')] = TW_TRACELOG_JIT_CMS,
    [SLOT('i', 't', 'm', 'f')] = TW_TRACELOG_JIT_CMF, [SLOT('i', 't', 's', 's')] = TW_TRACELOG_JIT_CSS,
    [SLOT('i', 't', 's', 'f')] = TW_TRACELOG_JIT_CSF, [SLOT('c', 'h', 'c', 's')] = TW_TRACELOG_GCH_GCS,
    [SLOT('c', 'h', 'c', 'f')] = TW_TRACELOG_GCH_GCF, [SLOT('c', 'h', 'l', 't')] = TW_TRACELOG_GCH_ALT,
    [SLOT('c', 'h', 'e', 'n')] = TW_TRACELOG_GCH_GEN, [SLOT('a', 'm', 't', 'r')] = TW_TRACELOG_SAM_STR,
    [SLOT('t', 'r', 'a', 'm')] = TW_TRACELOG_STR_SAM, [SLOT('a', 'm', 'e', 'm')] = TW_TRACELOG_SAM_MEM,
    [SLOT('i', 'n', 'r', 'c')] = TW_TRACELOG_LIN_SRC, [SLOT('i', 'l', 'r', 'c')] = TW_TRACELOG_FIL_SRC,
};

static enum tw_tracelog_kind kind_of(const uint8_t words[TRACELOG_WORDS])
{
	unsigned kind = slots[SLOT(words[1], words[2], words[5], words[6])];
	bool same = kind != TW_TRACELOG_UNKNOWN && memcmp(words, tracelog_words[kind], TRACELOG_WORDS) == 0;
	return same ? (enum tw_tracelog_kind)kind : TW_TRACELOG_UNKNOWN;
}

/* Takes what is not the line proper from both ends. */
static void trim(struct scan *scan)
{
	static const uint8_t bom[] = {0xEF, 0xBB, 0xBF};
	if ((size_t)(scan->end - scan->at) >= sizeof bom && memcmp(scan->at, bom, sizeof bom) == 0) {
		scan->odd |= TW_TRACELOG_BOM;
		scan->at += sizeof bom;
	}
	const uint8_t *first = scan->at, *end = scan->end;
	while (scan->at < scan->end && tracelog_blank(*scan->at))
		scan->at++;
	while (scan->end > scan->at && tracelog_blank(scan->end[-1]))
		scan->end--;
	scan->odd |= scan->at > first || scan->end < end ? TW_TRACELOG_BLANKS : 0;
}

/* Takes the two words, between which there may be more than a space. */
static enum tw_tracelog_kind take_kind(struct scan *scan)
{
	enum { WORD = 3 };
	uint8_t words[TRACELOG_WORDS] = "       ";
	size_t left = (size_t)(scan->end - scan->at);
	if (left < TRACELOG_WORDS)
		return TW_TRACELOG_UNKNOWN;
	memcpy(words, scan->at, WORD);
	scan->at += WORD;
	if (!skip_blanks(scan) || scan->end - scan->at < WORD)
		return TW_TRACELOG_UNKNOWN;
	memcpy(words + WORD + 1, scan->at, WORD);
	scan->at += WORD;
	bool ends = scan->at == scan->end || tracelog_blank(*scan->at);
	return ends ? kind_of(words) : TW_TRACELOG_UNKNOWN;
}

/* The line without its end. */
static size_t strip_end(const uint8_t *bytes, size_t size, unsigned *odd)
{
	bool ends = size && bytes[size - 1] == '\n';
	size -= ends;
	bool returns = size && bytes[size - 1] == '\r';
	*odd = (ends ? 0 : TW_TRACELOG_NO_END) | (returns ? TW_TRACELOG_CRLF : 0);
	return size - returns;
}

int tracelog_decode_fields(const uint8_t *bytes, size_t size, struct tw_tracelog_record *record,
                           struct tw_tracelog_fault *fault)
{
	unsigned end_odd;
	size_t length = strip_end(bytes, size, &end_odd);
	*record = (struct tw_tracelog_record){.size = size, .odd = end_odd, .list = {bytes, length}};
	struct scan scan = {.start = bytes, .at = bytes, .end = bytes + length, .record = record};
	trim(&scan);
	const uint8_t *first = scan.at;
	record->kind = take_kind(&scan);
	if (record->kind == TW_TRACELOG_UNKNOWN) {
		fault_at(&scan, first, "two words that a record begins with", fault);
		return TW_ERR_FORMAT;
	}
	record->list = (struct tw_tracelog_text){scan.end, 0};
	bool good = take_fields(&scan, &tracelog_layouts[record->kind], fault);
	judge_cases(&scan);
	record->style = scan.style;
	record->odd |= scan.odd;
	return good ? 0 : TW_ERR_FORMAT;
}

int tw_tracelog_decode(const uint8_t *bytes, size_t size, struct tw_tracelog_record *record,
                       struct tw_tracelog_fault *fault)
{
	return tracelog_decode_sample(bytes, size, record) ? 0 : tracelog_decode_fields(bytes, size, record, fault);
}

/* ---- Lists. ---- */

/* What the items of a kind are. Functions have maps too, which have a colon more. */
static const uint8_t list_items[TW_TRACELOG_KINDS] = {
    [TW_TRACELOG_FUN_INF] = TW_TRACELOG_CODE,  [TW_TRACELOG_FUN_CMF] = TW_TRACELOG_CODE,
    [TW_TRACELOG_FUN_CSF] = TW_TRACELOG_CODE,  [TW_TRACELOG_SAM_STR] = TW_TRACELOG_FRAME,
    [TW_TRACELOG_STR_SAM] = TW_TRACELOG_FRAME, [TW_TRACELOG_SAM_MEM] = TW_TRACELOG_CLASS,
    [TW_TRACELOG_GCH_ALT] = TW_TRACELOG_CLASS, [TW_TRACELOG_GCH_GEN] = TW_TRACELOG_HEAP,
};

static bool is_map(const uint8_t *at, const uint8_t *end)
{
	const uint8_t *colon = memchr(at, ':', (size_t)(end - at));
	return colon && memchr(colon + 1, ':', (size_t)(end - colon - 1));
}

/* Maps stand behind all code: a word of two numbers behind one is a map that was cut. */
static bool is_behind_map(const struct tw_tracelog_record *record, const uint8_t *at)
{
	const uint8_t *start = record->list.bytes;
	while (at > start && tracelog_blank(at[-1]))
		at--;
	const uint8_t *end = at;
	while (at > start && !tracelog_blank(at[-1]))
		at--;
	return is_map(at, end);
}

int tw_tracelog_next(const struct tw_tracelog_record *record, struct tw_tracelog_text *list,
                     struct tw_tracelog_item *item, struct tw_tracelog_fault *fault)
{
	struct scan scan = {.start = list->bytes,
	                    .at = list->bytes,
	                    .end = list->bytes + list->size,
	                    .item = item,
	                    .width_is_told = true};
	*item = (struct tw_tracelog_item){.kind = (enum tw_tracelog_item_kind)list_items[record->kind]};
	if (record->kind == TW_TRACELOG_UNKNOWN)
		return 0;
	skip_blanks(&scan);
	const uint8_t *end = scan.at;
	while (end < scan.end && !tracelog_blank(*end))
		end++;
	if (scan.at == end)
		return 0;
	*list = (struct tw_tracelog_text){end, (size_t)(scan.end - end)};
	scan.end = end;
	if (item->kind == TW_TRACELOG_CODE && (is_map(scan.at, end) || is_behind_map(record, scan.at)))
		item->kind = TW_TRACELOG_MAP;
	if (item->kind == TW_TRACELOG_CODE)
		scan.style = record->style & TW_TRACELOG_POINTERS_32;
	bool good = take_fields(&scan, &tracelog_items[item->kind], fault);
	judge_cases(&scan);
	item->style = scan.style;
	item->odd = scan.odd;
	return good ? 1 : TW_ERR_FORMAT;
}
