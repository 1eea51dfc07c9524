/* decode.c - lines of a log to records, and the lists in them to items. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/loops.h"
#include "tracelog/format/forms.h"

#include <string.h>

enum { FOUND_MAX = 32 }; /* bytes of what was found, in a fault */

static bool fault_at(const struct tracelog_scan *scan, const uint8_t *at, const char *expected,
                     struct tw_tracelog_fault *fault)
{
	size_t left = (size_t)(scan->end - at), size = left && tracelog_blank(*at);
	while (size < left && size < FOUND_MAX && !tracelog_blank(at[0]) && !tracelog_blank(at[size]))
		size++;
	*fault = (struct tw_tracelog_fault){(size_t)(at - scan->start), expected, {at, size}};
	return false;
}

/* ---- Fields. ---- */

static bool ends_here(const struct tracelog_scan *scan)
{
	return scan->at == scan->end || tracelog_blank(*scan->at) || *scan->at == ':';
}

/* Takes what stands between a field and the one before it: blanks, or a colon. */
static bool take_gap(struct tracelog_scan *scan, const struct tracelog_field *field)
{
	if (!field->colon)
		return scan->at == scan->end || tracelog_skip_blanks(scan);
	bool here = scan->at < scan->end && *scan->at == ':';
	scan->at += here;
	return here;
}

/* Returns how many words there are up to the end. */
static unsigned count_words(const struct tracelog_scan *scan)
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

/* Whether a field is left out that may be: an instruction pointer, or the class's number, which dialect d0 does not
 * have. */
static bool is_missing(struct tracelog_scan *scan, const struct tracelog_field *field)
{
	enum { CLASS_IID_AND_REST = 4 }; /* iid, module, token, status */
	if (field->form == TRACELOG_IP)
		return scan->at == scan->end || *scan->at != ':';
	if (field->form != TRACELOG_CLASS_IID || count_words(scan) >= CLASS_IID_AND_REST)
		return false;
	scan->style |= TW_TRACELOG_NO_CLASS_IID;
	return true;
}

static bool take_field(struct tracelog_scan *scan, const struct tracelog_field *field, struct tw_tracelog_fault *fault)
{
	uint8_t *base = scan->item ? (uint8_t *)scan->item : (uint8_t *)scan->record;
	scan->expected = NULL;
	if (!tracelog_forms[field->form].take(scan, base + field->offset) || !ends_here(scan))
		return fault_at(scan, scan->at, scan->expected ? scan->expected : tracelog_forms[field->form].expected,
		                fault);
	return true;
}

/* Takes what stands behind the last field of a record, and blanks. Where the line is cut off, it may be anything. */
static bool take_surplus(struct tracelog_scan *scan)
{
	if (scan->item || scan->record->odd & TW_TRACELOG_NO_END || !tracelog_skip_blanks(scan))
		return false;
	scan->odd |= TW_TRACELOG_SURPLUS;
	scan->record->surplus = (struct tw_tracelog_text){scan->at, (size_t)(scan->end - scan->at)};
	scan->at = scan->end;
	return true;
}

/* Takes all fields of a record, behind its two words, or of an item, from its beginning on. */
static bool take_fields(struct tracelog_scan *scan, const struct tracelog_layout *layout,
                        struct tw_tracelog_fault *fault)
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
	return scan->at == scan->end || take_surplus(scan) ||
	       fault_at(scan, scan->at, scan->item ? "the end of the item" : "the end of the line", fault);
}

/* Notes in which case the letters of numbers are: all alike is style, both is odd. */
static void judge_cases(struct tracelog_scan *scan)
{
	if (scan->cases & TRACELOG_UPPER && scan->cases & TRACELOG_LOWER)
		scan->odd |= TW_TRACELOG_CASE;
	else if (scan->cases & TRACELOG_UPPER)
		scan->style |= TW_TRACELOG_UPPER;
}

/* ---- Lines. ---- */

/* A number made of the second and third letters of both words, another for each kind: the compiler refuses a place of
 * the table that is set twice. */
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

/* Leaves out what is not the line proper: a byte order mark, and blanks at both ends. */
static void trim(struct tracelog_scan *scan)
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
static enum tw_tracelog_kind take_kind(struct tracelog_scan *scan)
{
	enum { WORD = 3 };
	uint8_t words[TRACELOG_WORDS] = "       ";
	size_t left = (size_t)(scan->end - scan->at);
	if (left < TRACELOG_WORDS)
		return TW_TRACELOG_UNKNOWN;
	memcpy(words, scan->at, WORD);
	scan->at += WORD;
	if (!tracelog_skip_blanks(scan) || scan->end - scan->at < WORD)
		return TW_TRACELOG_UNKNOWN;
	memcpy(words + WORD + 1, scan->at, WORD);
	scan->at += WORD;
	bool ends = scan->at == scan->end || tracelog_blank(*scan->at);
	return ends ? kind_of(words) : TW_TRACELOG_UNKNOWN;
}

/* Returns the size of the line without its end. */
static size_t strip_end(const uint8_t *bytes, size_t size, unsigned *odd)
{
	bool ends = size && bytes[size - 1] == '\n';
	size -= ends;
	bool returns = size && bytes[size - 1] == '\r';
	*odd = (ends ? 0 : TW_TRACELOG_NO_END) | (returns ? TW_TRACELOG_CRLF : 0);
	return size - returns;
}

int tw_tracelog_decode(const uint8_t *bytes, size_t size, struct tw_tracelog_record *record,
                       struct tw_tracelog_fault *fault)
{
	unsigned end_odd;
	size_t length = strip_end(bytes, size, &end_odd);
	*record = (struct tw_tracelog_record){.size = size, .odd = end_odd, .list = {bytes, length}};
	struct tracelog_scan scan = {.start = bytes, .at = bytes, .end = bytes + length, .record = record};
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

/* Whether the word before `at` is a map. Maps stand behind all code, so that a word of two numbers behind one is a map
 * that was cut. */
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
	struct tracelog_scan scan = {.start = list->bytes,
	                             .at = list->bytes,
	                             .end = list->bytes + list->size,
	                             .item = item,
	                             .width_is_known = true};
	*item = (struct tw_tracelog_item){.kind = (enum tw_tracelog_item_kind)list_items[record->kind]};
	if (record->kind == TW_TRACELOG_UNKNOWN)
		return 0;
	tracelog_skip_blanks(&scan);
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
