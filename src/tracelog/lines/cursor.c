/* cursor.c - a log from line to line as records, and what is wrong with single lines. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/lines/cursor.h"

#include "base/text/utf8.h"
#include "tracelog/format/layout.h"

#include <inttypes.h>
#include <string.h>

enum {
	LINE_SHARE = 32,              /* of the memory limit, for one line: its frames take several times its bytes */
	LINE_LEAST = TW_WINDOW_CHUNK, /* whatever the memory limit is: what a block may hold */
	LINE_MOST = 1 << 30           /* the same: struct tracelog_fast_line */
};

void tracelog_cursor_init(struct tracelog_cursor *cursor, struct tw_reader *reader)
{
	size_t limit = tw_memory_limit(reader) / LINE_SHARE;
	limit = limit < LINE_LEAST ? LINE_LEAST : limit < LINE_MOST ? limit : LINE_MOST;
	*cursor = (struct tracelog_cursor){.reader = reader};
	cursor->lines = (struct tw_text_lines){.window = reader->window, .limit = limit};
	reader->window = (struct tw_window){.input = reader->input};
}

void tracelog_cursor_free(struct tracelog_cursor *cursor)
{
	tw_text_lines_free(&cursor->lines);
}

/* ---- Findings. ---- */

static void report(const struct tracelog_cursor *cursor, enum tracelog_rule rule, size_t at,
                   const struct tw_tracelog_fault *fault)
{
	const struct tw_text_line *line = &cursor->line;
	bool end = fault->found.size == 0;
	const char *ending = rule == TRACELOG_BAD_ITEM ? "the end of the item" : "the end of the line";
	tw_report(cursor->reader, &tracelog_rules[rule], line->offset, line->offset + at, line->number,
	          "Expected %s, found %s%.*s%s.", fault->expected, end ? ending : "\"", (int)fault->found.size,
	          (const char *)fault->found.bytes, end ? "" : "\"");
}

static void report_surplus(const struct tracelog_cursor *cursor)
{
	enum { SHOWN = 80 };
	const struct tw_text_line *line = &cursor->line;
	const struct tw_tracelog_text surplus = cursor->record.surplus;
	bool cut = surplus.size > SHOWN;
	tw_report(cursor->reader, &tracelog_rules[TRACELOG_SURPLUS], line->offset,
	          line->offset + (size_t)(surplus.bytes - line->bytes), line->number,
	          "Expected the end of the line, found \"%.*s\"%s: the record is taken without it.",
	          (int)(cut ? SHOWN : surplus.size), (const char *)surplus.bytes, cut ? " and more" : "");
}

static void count(struct tracelog_cursor *cursor, enum tracelog_rule rule, size_t at)
{
	const struct tw_text_line *line = &cursor->line;
	struct tracelog_tally *tally = &cursor->tallies[rule];
	if (tally->count++ == 0) {
		tally->record = line->offset;
		tally->at = line->offset + at;
		tally->line = line->number;
	}
}

/* The rule for each of enum tw_tracelog_odd, by bit. */
static const uint8_t odd_rules[] = {
    TRACELOG_CRLF,   TRACELOG_BLANKS, TRACELOG_BOM,         TRACELOG_CUT_LINE,    TRACELOG_CASE,
    TRACELOG_DIGITS, TRACELOG_QUOTES, TRACELOG_NEGATIVE_US, TRACELOG_UNSIGNED_MS,
};

static void count_odd(struct tracelog_cursor *cursor, unsigned odd, size_t at)
{
	for (size_t i = 0; odd >> i; i++) {
		if (odd >> i & 1)
			count(cursor, (enum tracelog_rule)odd_rules[i], at);
	}
}

void tracelog_cursor_end(struct tracelog_cursor *cursor)
{
	struct tw_reader *reader = cursor->reader;
	uint64_t end = tw_input_size(reader->input);
	for (size_t i = 0; i < TRACELOG_RULES; i++) {
		const struct tracelog_tally *tally = &cursor->tallies[i];
		if (tally->count == 1)
			tw_report(reader, &tracelog_rules[i], tally->record, tally->at, tally->line, "%s",
			          tracelog_rules[i].text);
		else if (tally->count)
			tw_report(reader, &tracelog_rules[i], tally->record, tally->at, tally->line,
			          "%s It is the first of %" PRIu64 ".", tracelog_rules[i].text, tally->count);
	}
	if (tw_input_damaged(reader->input))
		tw_report(reader, &tracelog_rules[TRACELOG_COMPRESSION], end, end, 0, "%s",
		          tw_input_damage(reader->input));
}

/* ---- Texts. ---- */

static void judge_text(struct tracelog_cursor *cursor, struct tw_tracelog_text text)
{
	if (text.size == 0)
		return;
	const uint8_t *nul = memchr(text.bytes, 0, text.size);
	if (nul)
		count(cursor, TRACELOG_NUL, (size_t)(nul - cursor->line.bytes));
	if (!tw_is_utf8(text.bytes, text.size))
		count(cursor, TRACELOG_UTF8, (size_t)(text.bytes - cursor->line.bytes));
}

static void judge_record(struct tracelog_cursor *cursor)
{
	const struct tw_tracelog_record *record = &cursor->record;
	if (record->odd & TW_TRACELOG_SURPLUS)
		report_surplus(cursor);
	if (record->odd & ~(unsigned)TW_TRACELOG_SURPLUS)
		count_odd(cursor, record->odd & ~(unsigned)TW_TRACELOG_SURPLUS, 0);
	judge_text(cursor, record->name);
	judge_text(cursor, record->value);
	judge_text(cursor, record->return_type);
	judge_text(cursor, record->signature);
}

/* ---- Lines. ---- */

static void judge_unreadable(struct tracelog_cursor *cursor, const struct tw_tracelog_fault *fault)
{
	const struct tw_tracelog_record *record = &cursor->record;
	cursor->of_unknown_kind = record->kind == TW_TRACELOG_UNKNOWN && tracelog_looks_like_kind(record->list);
	if (record->odd & TW_TRACELOG_NO_END)
		count(cursor, TRACELOG_CUT_LINE, record->size);
	else if (record->kind != TW_TRACELOG_UNKNOWN)
		report(cursor, TRACELOG_BAD_FIELD, fault->at, fault);
	else if (cursor->of_unknown_kind)
		count(cursor, TRACELOG_UNKNOWN_KIND, 0);
	else
		report(cursor, TRACELOG_NO_RECORD, fault->at, fault);
	cursor->lost_bytes += cursor->line.size;
}

static void judge_long_line(struct tracelog_cursor *cursor)
{
	const struct tw_text_line *line = &cursor->line;
	tw_report(cursor->reader, &tracelog_rules[TRACELOG_LONG_LINE], line->offset, line->offset + line->size,
	          line->number, "The line has more than %zu bytes: more than the memory limit allows for one.",
	          line->size);
	cursor->lost_bytes += line->size;
}

static bool is_empty(const struct tw_tracelog_record *record)
{
	if (record->kind != TW_TRACELOG_UNKNOWN)
		return false;
	for (size_t i = 0; i < record->list.size; i++) {
		if (!tracelog_blank(record->list.bytes[i]))
			return false;
	}
	return true;
}

bool tracelog_cursor_take(struct tracelog_cursor *cursor, const struct tw_text_line *line)
{
	struct tw_tracelog_fault fault;
	cursor->line = *line;
	cursor->of_unknown_kind = false;
	int status = tw_tracelog_decode(line->bytes, line->size, &cursor->record, &fault);
	cursor->readable = status == 0 && !line->cut;
	if (line->cut) {
		judge_long_line(cursor);
	} else if (status == 0) {
		judge_record(cursor);
	} else if (is_empty(&cursor->record)) {
		count(cursor, TRACELOG_EMPTY_LINE, 0);
		return false;
	} else {
		judge_unreadable(cursor, &fault);
	}
	return true;
}

int tracelog_cursor_next(struct tracelog_cursor *cursor)
{
	struct tw_reader *reader = cursor->reader;
	struct tw_text_line line;
	int status;
	do
		status = tw_text_lines_next(&cursor->lines, &line);
	while (status > 0 && !tracelog_cursor_take(cursor, &line));
	if (status < 0)
		return tw_fail(reader, status, "%s", tw_input_error(reader->input));
	return status;
}

bool tracelog_cursor_item(struct tracelog_cursor *cursor, struct tw_tracelog_text *list, struct tw_tracelog_item *item)
{
	struct tw_tracelog_fault fault;
	for (;;) {
		size_t at = (size_t)(list->bytes - cursor->line.bytes);
		int status = tw_tracelog_next(&cursor->record, list, item, &fault);
		if (status > 0 && item->odd)
			count_odd(cursor, item->odd, at);
		if (status >= 0)
			return status > 0;
		if (!(cursor->record.odd & TW_TRACELOG_NO_END))
			report(cursor, TRACELOG_BAD_ITEM, at + fault.at, &fault);
	}
}
