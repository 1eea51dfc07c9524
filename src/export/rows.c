/* rows.c - events as rows: CSV, and JSON Lines.
 *
 * One table of columns makes both, so that they say the same. Columns stay what they are from release to release; new ones come
 * behind the others. Times are nanoseconds since the start of the trace. What an event has nothing for is an empty cell, or no
 * member. Source: RFC 4180 for CSV, with the line ends of Unix; jsonlines.org. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "core/stack_text.h"
#include "export/args.h"
#include "export/labels.h"
#include "export/targets.h"

enum { STACK_MAX_BYTES = 32 << 10 };

/* What a cell holds. Its text is in `cell`. */
enum cell { NOTHING, NUMBER, TEXT, JSON };

struct rows {
	struct tw_writer *writer;
	const struct tw_dictionary *dictionary;
	const struct tw_batch *batch;
	struct tw_line cell, line;
	uint64_t start;
	bool has_cpu, begun;
};

/* ---- Columns. ---- */

/* Which kinds have a value, an id: TW_EVENT_LIST says "-" of the others. */
static const struct {
	bool value, id;
} has[TW_EVENT_KINDS] = {
#define X(name, text, value, id, other) [name] = {sizeof(value) > 2, sizeof(id) > 2},
    TW_EVENT_LIST(X)
#undef X
};

static enum cell number(struct rows *rows, uint64_t value)
{
	tw_line_u64(&rows->cell, value);
	return NUMBER;
}

static enum cell time_ns(struct rows *rows, const struct tw_event *event)
{
	bool before = event->time < rows->start;
	tw_line_text(&rows->cell, before ? "-" : "");
	return number(rows, before ? rows->start - event->time : event->time - rows->start);
}

static enum cell kind(struct rows *rows, const struct tw_event *event)
{
	tw_line_text(&rows->cell, tw_event_kind_name(event->kind));
	return TEXT;
}

static enum cell process(struct rows *rows, const struct tw_event *event)
{
	return number(rows, tw_dictionary_track(rows->dictionary, event->track)->process);
}

static enum cell thread(struct rows *rows, const struct tw_event *event)
{
	return number(rows, tw_dictionary_track(rows->dictionary, event->track)->thread);
}

static enum cell text(struct rows *rows, uint32_t number)
{
	if (number == 0)
		return NOTHING;
	if (!tw_label_name(&rows->cell, tw_dictionary_name(rows->dictionary, number)))
		tw_count_loss(rows->writer, "long name", true);
	return TEXT;
}

static enum cell track(struct rows *rows, const struct tw_event *event)
{
	return text(rows, tw_dictionary_track(rows->dictionary, event->track)->name);
}

static enum cell name(struct rows *rows, const struct tw_event *event)
{
	return text(rows, event->name);
}

static enum cell category(struct rows *rows, const struct tw_event *event)
{
	return text(rows, event->category);
}

static enum cell value(struct rows *rows, const struct tw_event *event)
{
	return has[event->kind].value ? number(rows, event->value) : NOTHING;
}

static enum cell id(struct rows *rows, const struct tw_event *event)
{
	return has[event->kind].id ? number(rows, event->id) : NOTHING;
}

/* "7/8": a process and a thread. */
static enum cell other(struct rows *rows, const struct tw_event *event)
{
	bool wakeup = event->kind == TW_WAKEUP && event->other;
	if (event->kind != TW_SWITCH && !wakeup)
		return NOTHING;
	const struct tw_track *track = tw_dictionary_track(rows->dictionary, event->other);
	tw_line_u64(&rows->cell, track->process);
	tw_line_text(&rows->cell, "/");
	tw_line_u64(&rows->cell, track->thread);
	return TEXT;
}

static enum cell stack(struct rows *rows, const struct tw_event *event)
{
	if (event->kind < TW_STACK_SAMPLE || event->kind > TW_ALLOCATION_SAMPLE || !event->other)
		return NOTHING;
	enum tw_stack_fit fit = tw_stack_text(&rows->cell.text, rows->dictionary, event->other, STACK_MAX_BYTES);
	if (fit == TW_STACK_NO_MEMORY)
		rows->cell.failed = true;
	if (fit == TW_STACK_CUT)
		tw_count_loss(rows->writer, "long stack", true);
	return TEXT;
}

static enum cell cpu(struct rows *rows, const struct tw_event *event)
{
	bool scheduling = event->kind == TW_SWITCH || event->kind == TW_WAKEUP;
	return rows->has_cpu || scheduling ? number(rows, event->cpu) : NOTHING;
}

static enum cell flags(struct rows *rows, const struct tw_event *event)
{
	static const struct {
		uint16_t flag;
		const char *word;
	} words[] = {
	    {TW_FLAG_TAIL, "tail"},       {TW_FLAG_CLIPPED, "clipped"}, {TW_FLAG_PROCESS, "process"},
	    {TW_FLAG_GLOBAL, "global"},   {TW_FLAG_PARTIAL, "partial"}, {TW_FLAG_USERSPACE, "userspace"},
	    {TW_FLAG_UNWOUND, "unwound"},
	};
	if (!event->flags)
		return NOTHING;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (event->flags & words[i].flag) {
			tw_line_text(&rows->cell, rows->cell.text.length ? " " : "");
			tw_line_text(&rows->cell, words[i].word);
		}
	return TEXT;
}

static enum cell args(struct rows *rows, const struct tw_event *event)
{
	if (!event->argument_count)
		return NOTHING;
	tw_args_add(&rows->cell, rows->writer, rows->dictionary, tw_event_arguments(rows->batch, event),
	            event->argument_count);
	return JSON;
}

static const struct column {
	const char *name;
	enum cell (*add)(struct rows *rows, const struct tw_event *event);
} columns[] = {
    {"time_ns", time_ns}, {"kind", kind},         {"process", process}, {"thread", thread}, {"track", track},
    {"name", name},       {"category", category}, {"value", value},     {"id", id},         {"other", other},
    {"stack", stack},     {"cpu", cpu},           {"flags", flags},     {"args", args},
};

enum { COLUMNS = sizeof columns / sizeof *columns };

/* ---- CSV. ---- */

static bool needs_quotes(const struct tw_text *text)
{
	for (size_t i = 0; i < text->length; i++)
		if (text->bytes[i] == ',' || text->bytes[i] == '"' || (unsigned char)text->bytes[i] < ' ')
			return true;
	return text->length && (text->bytes[0] == ' ' || text->bytes[text->length - 1] == ' ');
}

/* Bytes of a character that stands in a cell as it is; 0: it is a quote, or no UTF-8. */
static size_t plain(const char *bytes, size_t size)
{
	return *bytes == '"' ? 0 : tw_utf8_length(bytes, size);
}

/* A quote is two of them; what is not UTF-8 is U+FFFD, one a byte. */
static void add_csv_cell(struct rows *rows)
{
	const char *bytes = rows->cell.text.bytes;
	size_t left = rows->cell.text.length;
	const char *quote = needs_quotes(&rows->cell.text) ? "\"" : "";
	tw_line_text(&rows->line, quote);
	while (left) {
		size_t length = 0, step = plain(bytes, left);
		while (step) {
			length += step;
			step = length < left ? plain(bytes + length, left - length) : 0;
		}
		tw_line_add(&rows->line, bytes, length);
		if (length < left)
			tw_line_text(&rows->line, bytes[length] == '"' ? "\"\"" : "\xef\xbf\xbd");
		length += length < left;
		bytes += length;
		left -= length;
	}
	tw_line_text(&rows->line, quote);
}

static void add_csv(struct rows *rows, const struct tw_event *event)
{
	for (size_t i = 0; i < COLUMNS; i++) {
		tw_line_clear(&rows->cell);
		columns[i].add(rows, event);
		if (i)
			tw_line_text(&rows->line, ",");
		add_csv_cell(rows);
	}
}

static void put_csv_head(struct tw_output *out)
{
	for (size_t i = 0; i < COLUMNS; i++)
		tw_putf(out, "%s%s", i ? "," : "", columns[i].name);
	tw_put_char(out, '\n');
}

/* ---- JSON Lines. ---- */

/* A number only if a double holds it, as in all JSON of ours. */
static void add_json_number(struct tw_line *line, const struct tw_text *digits)
{
	static const char most[] = "9007199254740992"; /* 2^53 */
	size_t length = digits->length, exact = sizeof most - 1;
	bool large = length > exact || (length == exact && strcmp(digits->bytes, most) > 0);
	const char *quote = large ? "\"" : "";
	tw_line_text(line, quote);
	tw_line_add(line, digits->bytes, digits->length);
	tw_line_text(line, quote);
}

static void add_json_cell(struct rows *rows, enum cell cell)
{
	const struct tw_text *text = &rows->cell.text;
	if (cell == NUMBER)
		add_json_number(&rows->line, text);
	else if (cell == TEXT)
		tw_line_string(&rows->line, text->bytes, text->length);
	else
		tw_line_add(&rows->line, text->bytes, text->length);
}

static void add_jsonl(struct rows *rows, const struct tw_event *event)
{
	for (size_t i = 0; i < COLUMNS; i++) {
		tw_line_clear(&rows->cell);
		enum cell cell = columns[i].add(rows, event);
		if (cell == NOTHING)
			continue;
		tw_line_text(&rows->line, i ? ",\"" : "{\"");
		tw_line_text(&rows->line, columns[i].name);
		tw_line_text(&rows->line, "\":");
		add_json_cell(rows, cell);
	}
	tw_line_text(&rows->line, "}");
}

/* ---- The file. ---- */

static int open_rows(struct tw_writer *writer)
{
	struct rows *rows = calloc(1, sizeof *rows);
	writer->state = rows;
	if (!rows)
		return tw_writer_fail(writer, TW_ERR_MEMORY, "out of memory");
	rows->writer = writer;
	return 0;
}

static int open_csv(struct tw_writer *writer)
{
	put_csv_head(&writer->out);
	return open_rows(writer);
}

static int write_rows(struct tw_writer *writer, const struct tw_reader *reader, const struct tw_batch *batch,
                      void (*add)(struct rows *rows, const struct tw_event *event))
{
	struct rows *rows = writer->state;
	rows->dictionary = tw_reader_dictionary(reader);
	rows->batch = batch;
	rows->has_cpu = tw_reader_clock(reader)->has_cpu;
	if (!rows->begun)
		rows->start = tw_reader_clock(reader)->start_ns;
	rows->begun = true;
	for (size_t i = 0; i < batch->count; i++) {
		tw_line_clear(&rows->line);
		add(rows, &batch->events[i]);
		tw_line_text(&rows->line, "\n");
		tw_put(&writer->out, rows->line.text.bytes, rows->line.text.length);
	}
	bool failed = rows->line.failed || rows->cell.failed;
	return failed ? tw_writer_fail(writer, TW_ERR_MEMORY, "out of memory") : 0;
}

static int write_csv(struct tw_writer *writer, const struct tw_reader *reader, const struct tw_batch *batch)
{
	return write_rows(writer, reader, batch, add_csv);
}

static int write_jsonl(struct tw_writer *writer, const struct tw_reader *reader, const struct tw_batch *batch)
{
	return write_rows(writer, reader, batch, add_jsonl);
}

static int finish_rows(struct tw_writer *writer)
{
	(void)writer;
	return 0;
}

static void close_rows(struct tw_writer *writer)
{
	struct rows *rows = writer->state;
	tw_text_free(&rows->cell.text);
	tw_text_free(&rows->line.text);
	free(rows);
	writer->state = NULL;
}

static const char *const csv_extensions[] = {".csv", NULL};
static const char *const jsonl_extensions[] = {".jsonl", ".ndjson", NULL};

const struct tw_target tw_target_csv = {
    .name = "csv",
    .title = "events as CSV, a row each",
    .extensions = csv_extensions,
    .order = TW_ORDER_TIME,
    .open = open_csv,
    .write = write_csv,
    .finish = finish_rows,
    .close = close_rows,
};

const struct tw_target tw_target_jsonl = {
    .name = "jsonl",
    .title = "events as JSON Lines, an object each",
    .extensions = jsonl_extensions,
    .order = TW_ORDER_TIME,
    .open = open_rows,
    .write = write_jsonl,
    .finish = finish_rows,
    .close = close_rows,
};
