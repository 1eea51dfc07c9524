/* reader.c - folded stacks as samples, as records, and in sum.
 *
 * A line is a stack and what it weighs: "main;parse;read 12". It tells neither times nor threads, so every sample is at
 * time 0 of thread 0. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/sum.h"
#include "core/text/lines.h"
#include "folded/decode.h"
#include "folded/folded.h"
#include "folded/rules.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	ROWS = 256,            /* of a batch */
	LOOK = 1 << 16,        /* bytes at the beginning that tell whether lines have two counts */
	LINE_SHARE = 8,        /* of the memory limit, for one line */
	BYTES_PER_FRAME = 256, /* about what a name, a location or a stack takes in the dictionary beside its text */
	SHOWN = 60             /* bytes of a bad line that its finding shows */
};

enum { KIND_STACK, KIND_COMMENT, KINDS };
enum { FIELD_COUNT_SUM, FIELDS };

/* How often something was met that is reported once, and where first. */
struct finding_count {
	uint64_t count, at, line;
};

struct folded_reader {
	struct tw_text_lines lines;
	struct tw_text_line text;
	struct folded_line line; /* of the text */
	uint64_t lost;           /* bytes of bad lines */
	bool ended;
	struct finding_count tallies[FOLDED_RULES];
	uint32_t track;
	size_t used; /* bytes of the dictionary, about */
	struct tw_event events[ROWS];
	/* With a filter: the samples that it lets through tell which records are wanted. */
	struct tw_reader *wanted;
	struct tw_batch batch;
	size_t taken; /* events of the batch */
	/* Records and sums. */
	struct tw_field fields[3];
	struct tw_kind_count kinds[KINDS];
	struct tw_thread_info thread;
	struct tw_field sums[FIELDS];
};

/* ---- Findings. ---- */

static void report_bad(struct tw_reader *reader, enum folded_rule rule)
{
	const struct tw_text_line *text = &((struct folded_reader *)reader->state)->text;
	size_t size = text->size && text->bytes[text->size - 1] == '\n' ? text->size - 1 : text->size;
	tw_report(reader, &folded_rules[rule], text->offset, text->offset, text->number,
	          "Expected frames with ';' between them, a space and a count, found \"%.*s%s\".",
	          (int)(size < SHOWN ? size : SHOWN), (const char *)text->bytes, size < SHOWN ? "" : "...");
}

static void count(struct folded_reader *folded, enum folded_rule rule)
{
	struct finding_count *tally = &folded->tallies[rule];
	if (tally->count++ == 0) {
		tally->at = folded->text.offset;
		tally->line = folded->text.number;
	}
}

static void judge(struct tw_reader *reader)
{
	struct folded_reader *folded = reader->state;
	for (unsigned rule = 0; folded->line.odd >> rule; rule++) {
		if (!(folded->line.odd >> rule & 1))
			continue;
		if (folded_rules[rule].severity == TW_ERROR)
			report_bad(reader, (enum folded_rule)rule);
		else
			count(folded, (enum folded_rule)rule);
	}
}

static void report_tallies(struct tw_reader *reader)
{
	const struct folded_reader *folded = reader->state;
	uint64_t end = tw_input_size(reader->input);
	for (size_t i = 0; i < FOLDED_RULES; i++) {
		const struct finding_count *tally = &folded->tallies[i];
		if (tally->count == 1)
			tw_report(reader, &folded_rules[i], tally->at, tally->at, tally->line, "%s",
			          folded_rules[i].text);
		else if (tally->count)
			tw_report(reader, &folded_rules[i], tally->at, tally->at, tally->line,
			          "%s It is the first of %" PRIu64 ".", folded_rules[i].text, tally->count);
	}
	if (tw_input_damaged(reader->input))
		tw_report(reader, &folded_rules[FOLDED_COMPRESSION], end, end, 0, "%s", tw_input_damage(reader->input));
}

/* ---- Lines. ---- */

/* Takes the next line. Returns 1, 0 at the end, or a negative status. */
/* The bytes of a byte order mark at the beginning. */
static size_t folded_mark(const uint8_t *bytes, size_t size)
{
	return size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

static int take_line(struct tw_reader *reader)
{
	struct folded_reader *folded = reader->state;
	int status = tw_text_lines_next(&folded->lines, &folded->text);
	if (status < 0)
		return tw_fail(reader, status, "%s", tw_input_error(reader->input));
	if (status == 0)
		return 0;
	size_t mark = folded->text.offset ? 0 : folded_mark(folded->text.bytes, folded->text.size);
	folded_decode(folded->text.bytes + mark, folded->text.size - mark, reader->traits.two_counts, &folded->line);
	if (folded->text.cut)
		folded->line = (struct folded_line){.kind = FOLDED_BAD, .odd = 1U << FOLDED_LINE_TOO_LONG};
	judge(reader);
	if (folded->line.kind == FOLDED_BAD)
		folded->lost += folded->text.size;
	if (reader->traits.two_counts && reader->options.counts == TW_COUNTS_DEFAULT &&
	    !folded->tallies[FOLDED_TWO_COUNTS].count)
		count(folded, FOLDED_TWO_COUNTS);
	return 1;
}

/* Reads the next line that is not empty. */
static int next_line(struct tw_reader *reader)
{
	struct folded_reader *folded = reader->state;
	int status;
	if (folded->ended)
		return 0;
	do
		status = take_line(reader);
	while (status > 0 && folded->line.kind == FOLDED_EMPTY);
	folded->ended = status == 0;
	if (folded->ended)
		report_tallies(reader);
	return status;
}

/* ---- Events. ---- */

/* The stack with one more frame in it; UINT32_MAX when there is no memory, `caller` when the limit is reached. */
static uint32_t push(struct tw_reader *reader, uint32_t caller, const uint8_t *frame, size_t size)
{
	struct folded_reader *folded = reader->state;
	struct tw_dictionary *dictionary = reader->dictionary;
	const struct tw_name name = {.text = (const char *)frame, .length = size};
	uint32_t before = tw_dictionary_names(dictionary) + tw_dictionary_stacks(dictionary);
	if (folded->used >= tw_memory_limit(reader) / 2) {
		uint32_t known = tw_dictionary_find(dictionary, &name);
		uint32_t location = known == UINT32_MAX
		                        ? known
		                        : tw_dictionary_find_location(dictionary, &(struct tw_location){.name = known});
		return location == UINT32_MAX ? location : tw_dictionary_find_push(dictionary, caller, location);
	}
	uint32_t number = tw_dictionary_intern(dictionary, &name);
	if (number == UINT32_MAX)
		return number;
	uint32_t location = tw_dictionary_add_location(dictionary, &(struct tw_location){.name = number});
	uint32_t stack = location == UINT32_MAX ? location : tw_dictionary_push(dictionary, caller, location);
	if (tw_dictionary_names(dictionary) + tw_dictionary_stacks(dictionary) != before)
		folded->used += BYTES_PER_FRAME + size;
	return stack;
}

static int add_row(struct tw_reader *reader, struct tw_event *row)
{
	struct folded_reader *folded = reader->state;
	const uint8_t *left = folded->line.stack;
	size_t rest = folded->line.size ? folded->line.size : SIZE_MAX, size;
	uint32_t stack = 0;
	for (const uint8_t *frame; frame = folded_next_frame(&left, &rest, &size), size != SIZE_MAX;) {
		uint32_t inner = push(reader, stack, frame, size);
		if (inner == UINT32_MAX && folded->used < tw_memory_limit(reader) / 2)
			return tw_fail_memory(reader);
		if (inner == UINT32_MAX) {
			count(folded, FOLDED_NAME_LIMIT);
			break;
		}
		stack = inner;
	}
	*row = (struct tw_event){
	    .kind = TW_STACK_SAMPLE,
	    .offset = folded->text.offset,
	    .value = reader->options.counts == TW_COUNTS_BEFORE ? folded->line.before : folded->line.count,
	    .other = stack,
	    .track = folded->track,
	};
	return 0;
}

static void add_gap(struct tw_reader *reader, struct tw_event *row)
{
	const struct folded_reader *folded = reader->state;
	*row = (struct tw_event){.kind = TW_LOST, .offset = folded->text.offset, .value = folded->text.size};
}

static int folded_read(struct tw_reader *reader, struct tw_batch *batch)
{
	struct folded_reader *folded = reader->state;
	bool wanted = tw_thread_wanted(&reader->options, 0);
	size_t rows = 0;
	int status = 1;
	while (rows < ROWS && status > 0 && (status = next_line(reader)) > 0) {
		if (folded->line.kind == FOLDED_BAD)
			add_gap(reader, &folded->events[rows++]);
		else if (folded->line.kind == FOLDED_STACK && wanted)
			status = add_row(reader, &folded->events[rows++]) < 0 ? TW_ERR_MEMORY : 1;
	}
	*batch = (struct tw_batch){folded->events, rows, NULL};
	return status < 0 ? status : (int)rows;
}

/* ---- Records. ---- */

static const char *const kinds[KINDS] = {[KIND_STACK] = "stack", [KIND_COMMENT] = "comment"};

static int open_wanted(struct tw_reader *reader)
{
	struct folded_reader *folded = reader->state;
	if (!reader->filtering.filter || folded->wanted)
		return 0;
	int status = tw_input_spool(reader->input, reader->options.temporary_directory);
	return status < 0 ? tw_fail(reader, status, "%s", tw_input_error(reader->input))
	                  : tw_open_again(&folded->wanted, reader);
}

/* Whether the filter lets the line through: samples come in the order of lines. Returns 1, 0 or a negative status. */
static int is_wanted(struct folded_reader *folded)
{
	const uint64_t offset = folded->text.offset;
	for (;; folded->taken++) {
		if (folded->taken == folded->batch.count) {
			int status = tw_pull(folded->wanted, &folded->batch);
			if (status <= 0)
				return status;
			folded->taken = 0;
		}
		if (folded->batch.events[folded->taken].offset >= offset)
			return folded->batch.events[folded->taken].offset == offset;
	}
}

/* The next line that makes a record. */
static int next_record(struct tw_reader *reader)
{
	struct folded_reader *folded = reader->state;
	int status = open_wanted(reader), wanted = 1;
	while (status >= 0 && (status = next_line(reader)) > 0) {
		if (folded->line.kind == FOLDED_BAD)
			continue;
		if (folded->wanted)
			wanted = is_wanted(folded);
		if (wanted)
			return wanted;
	}
	return status;
}

static int folded_read_record(struct tw_reader *reader, struct tw_record *record)
{
	struct folded_reader *folded = reader->state;
	const struct folded_line *line = &folded->line;
	int status = next_record(reader);
	if (status <= 0)
		return status;
	folded->fields[0] = (struct tw_field){.name = line->kind == FOLDED_STACK ? "stack" : "text",
	                                      .type = TW_FIELD_TEXT,
	                                      .value.bytes = (const char *)line->stack,
	                                      .size = line->size};
	const bool two = reader->traits.two_counts;
	folded->fields[1] = (struct tw_field){.name = "before", .type = TW_FIELD_UINT, .value.u = line->before};
	folded->fields[1 + two] =
	    (struct tw_field){.name = two ? "after" : "count", .type = TW_FIELD_UINT, .value.u = line->count};
	*record = (struct tw_record){
	    .kind = kinds[line->kind == FOLDED_STACK ? KIND_STACK : KIND_COMMENT],
	    .offset = folded->text.offset,
	    .size = folded->text.size,
	    .fields = folded->fields,
	    .field_count = line->kind == FOLDED_STACK ? (two ? 3 : 2) : 1,
	};
	return 1;
}

/* ---- In sum. ---- */

static int count_lines(struct tw_reader *reader, uint64_t counts[KINDS], uint64_t *sum)
{
	const struct folded_line *line = &((struct folded_reader *)reader->state)->line;
	int status;
	while ((status = next_line(reader)) > 0) {
		counts[KIND_STACK] += line->kind == FOLDED_STACK;
		counts[KIND_COMMENT] += line->kind == FOLDED_COMMENT;
		*sum = tw_sum(*sum, line->kind == FOLDED_STACK ? line->count : 0);
	}
	return status;
}

static int folded_info(struct tw_reader *reader, unsigned jobs, struct tw_info *info)
{
	struct folded_reader *folded = reader->state;
	uint64_t counts[KINDS] = {0}, sum = 0;
	(void)jobs;
	int status = count_lines(reader, counts, &sum);
	if (status < 0)
		return status;
	for (size_t i = 0; i < KINDS; i++)
		if (counts[i])
			folded->kinds[info->kind_count++] = (struct tw_kind_count){kinds[i], counts[i]};
	folded->sums[FIELD_COUNT_SUM] = (struct tw_field){.name = "total", .type = TW_FIELD_UINT, .value.u = sum};
	folded->thread = (struct tw_thread_info){.records = counts[KIND_STACK]};
	info->kinds = folded->kinds;
	info->bytes = tw_input_size(reader->input);
	info->records = counts[KIND_STACK] + counts[KIND_COMMENT];
	info->events = counts[KIND_STACK];
	info->lost_bytes = folded->lost;
	info->fields = folded->sums;
	info->field_count = FIELDS;
	return 0;
}

/* ---- The entry. ---- */

/* Looks at what is at hand of the beginning. */
static int look_at_counts(struct tw_reader *reader)
{
	const uint8_t *p;
	size_t have;
	int status = tw_window_view(&reader->window, 0, TW_PROBE_SIZE, &p, &have);
	if (status < 0)
		return tw_fail(reader, status, "%s", tw_input_error(reader->input));
	size_t mark = folded_mark(p, have), size = have < LOOK ? have : LOOK;
	reader->traits.two_counts = folded_has_two_counts(p + mark, size - mark, have < TW_PROBE_SIZE);
	return 0;
}

static int folded_open(struct tw_reader *reader)
{
	struct folded_reader *folded = calloc(1, sizeof *folded);
	reader->state = folded;
	if (!folded)
		return tw_fail_memory(reader);
	int status = look_at_counts(reader);
	if (status < 0)
		return status;
	reader->traits.unitless = true;
	folded->lines = (struct tw_text_lines){.window = reader->window, .limit = tw_memory_limit(reader) / LINE_SHARE};
	reader->window = (struct tw_window){.input = reader->input};
	folded->track = tw_dictionary_add_track(reader->dictionary, &(struct tw_track){.kind = TW_TRACK_THREAD});
	return folded->track == UINT32_MAX ? tw_fail_memory(reader) : 0;
}

static void folded_close(struct tw_reader *reader)
{
	struct folded_reader *folded = reader->state;
	tw_close(folded->wanted);
	tw_text_lines_free(&folded->lines);
	free(folded);
}

/* What lines there are of the beginning of a file. */
struct line_counts {
	unsigned bad, shallow, deep; /* lines that are no stack, of one frame, of several */
	bool binary;
};

static struct line_counts look_at(const uint8_t *bytes, size_t size, bool whole)
{
	struct line_counts look = {0};
	while (size) {
		struct folded_line line;
		const uint8_t *end = memchr(bytes, '\n', size);
		size_t length = end ? (size_t)(end - bytes) + 1 : size;
		look.binary |= memchr(bytes, 0, length) != NULL;
		if (!end && !whole)
			break;
		folded_decode(bytes, length, false, &line);
		bool has_frames = line.kind == FOLDED_STACK && memchr(line.stack, ';', line.size);
		look.deep += has_frames;
		look.shallow += line.kind == FOLDED_STACK && !has_frames;
		look.bad += line.kind == FOLDED_BAD;
		bytes += length;
		size -= length;
	}
	return look;
}

/* Text of any kind may end in a number: most whole lines here must, and some must have a ';'. Where the first lines are
 * of one frame each, or longer than what is looked at, further ones tell. */
static int probe(const uint8_t *bytes, size_t size)
{
	size_t mark = folded_mark(bytes, size), most = size > TW_PROBE_SIZE ? TW_PROBE_MOST : TW_PROBE_SIZE;
	struct line_counts look = look_at(bytes + mark, size - mark, size < most);
	if (look.binary || (size > mark && strchr("{[<", bytes[mark])))
		return 0;
	if (look.deep && 2 * look.bad <= look.deep)
		return 30;
	return size == TW_PROBE_SIZE && 2 * look.bad <= look.shallow ? TW_PROBE_MORE : 0;
}

const struct tw_format tw_format_folded = {
    .name = "folded",
    .title = "folded stacks, as flame graphs are drawn from",
    .rules = folded_rules,
    .rule_count = FOLDED_RULES,
    .traits =
	{
	    .copy_order = TW_ORDER_FILE,
	    .sampled = true,
	    .timeless = true,
	},
    .files =
	{
	    .probe = probe,
	},
    .reading =
	{
	    .open = folded_open,
	    .read = folded_read,
	    .read_record = folded_read_record,
	    .close = folded_close,
	},
    .survey =
	{
	    .info = folded_info,
	},
};
