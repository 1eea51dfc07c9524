/* cells.c - what each column says of an event. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/events/cells.h"

#include "base/text/digits.h"
#include "core/text/stack_text.h"

enum { STACK_MAX_BYTES = 32 << 10 };

static struct tw_cell number(uint64_t value)
{
	return (struct tw_cell){.form = TW_CELL_NUMBER, .number = value};
}

static const struct tw_cell unknown = {.form = TW_CELL_PLAIN, .bytes = "?", .size = 1};

/* As tw_task_digits() has it. */
static struct tw_cell task(uint64_t id)
{
	if (id == TW_UNKNOWN_TASK)
		return unknown;
	const bool negative = tw_is_negative_task(id);
	return (struct tw_cell){.form = negative ? TW_CELL_NEGATIVE : TW_CELL_NUMBER, .number = negative ? -id : id};
}

static struct tw_cell named(uint32_t name)
{
	return (struct tw_cell){.form = TW_CELL_NAME, .number = name};
}

/* A cell of the text that has just been put together. */
static struct tw_cell text(const struct tw_cells *cells, enum tw_cell_form form)
{
	return (struct tw_cell){.form = form, .bytes = cells->text.text.bytes, .size = cells->text.text.length};
}

/* ---- The columns. ---- */

static struct tw_cell time_ns(struct tw_cells *cells, const struct tw_event *event)
{
	if (event->time >= cells->start)
		return number(event->time - cells->start);
	return (struct tw_cell){.form = TW_CELL_NEGATIVE, .number = cells->start - event->time};
}

static struct tw_cell kind(struct tw_cells *cells, const struct tw_event *event)
{
	static const struct {
		const char *text;
		size_t size;
	} words[TW_EVENT_KINDS] = {
#define X(name, text, value, id, other) [name] = {text, sizeof(text) - 1},
	    TW_EVENT_LIST(X)
#undef X
	};
	(void)cells;
	return (
	    struct tw_cell){.form = TW_CELL_PLAIN, .bytes = words[event->kind].text, .size = words[event->kind].size};
}

static struct tw_cell process(struct tw_cells *cells, const struct tw_event *event)
{
	return task(tw_dictionary_track(cells->dictionary, event->track)->process);
}

static struct tw_cell thread(struct tw_cells *cells, const struct tw_event *event)
{
	return task(tw_dictionary_track(cells->dictionary, event->track)->thread);
}

static struct tw_cell track(struct tw_cells *cells, const struct tw_event *event)
{
	return named(tw_dictionary_track(cells->dictionary, event->track)->name);
}

static struct tw_cell name(struct tw_cells *cells, const struct tw_event *event)
{
	(void)cells;
	return named(event->name);
}

static struct tw_cell category(struct tw_cells *cells, const struct tw_event *event)
{
	(void)cells;
	return named(event->category);
}

static struct tw_cell value(struct tw_cells *cells, const struct tw_event *event)
{
	(void)cells;
	return number(event->value);
}

static struct tw_cell id(struct tw_cells *cells, const struct tw_event *event)
{
	(void)cells;
	return event->id == TW_UNKNOWN_TASK ? unknown : number(event->id);
}

/* "7/8": a process and a thread. */
static struct tw_cell other(struct tw_cells *cells, const struct tw_event *event)
{
	const struct tw_track *track = tw_dictionary_track(cells->dictionary, event->other);
	tw_line_clear(&cells->text);
	tw_line_u64(&cells->text, track->process);
	tw_line_text(&cells->text, "/");
	tw_line_task(&cells->text, track->thread);
	return text(cells, TW_CELL_PLAIN);
}

static struct tw_cell stack(struct tw_cells *cells, const struct tw_event *event)
{
	tw_line_clear(&cells->text);
	enum tw_stack_fit fit = tw_stack_text(&cells->text.text, cells->dictionary, event->other, STACK_MAX_BYTES);
	if (fit == TW_STACK_NO_MEMORY)
		cells->text.failed = true;
	if (fit == TW_STACK_CUT)
		tw_count_loss(cells->writer, "long stack", true);
	return text(cells, TW_CELL_TEXT);
}

static struct tw_cell cpu(struct tw_cells *cells, const struct tw_event *event)
{
	(void)cells;
	return number(event->cpu);
}

static struct tw_cell flags(struct tw_cells *cells, const struct tw_event *event)
{
	static const struct {
		uint16_t flag;
		const char *word, *of_slice; /* of instants, too */
	} words[] = {
	    {TW_FLAG_TAIL, "tail", "tail"},
	    {TW_FLAG_CLIPPED, "clipped", "clipped"},
	    {TW_FLAG_PROCESS, "process", "process"},
	    {TW_FLAG_GLOBAL, "global", "global"},
	    {TW_FLAG_PARTIAL, "partial", "uncertain"},
	    {TW_FLAG_USERSPACE, "userspace", "userspace"},
	    {TW_FLAG_UNWOUND, "unwound", "unwound"},
	    {TW_FLAG_MORE, "more", "more"},
	};
	const bool slice = event->kind <= TW_INSTANT;
	tw_line_clear(&cells->text);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (event->flags & words[i].flag) {
			tw_line_text(&cells->text, cells->text.text.length ? " " : "");
			tw_line_text(&cells->text, slice ? words[i].of_slice : words[i].word);
		}
	return text(cells, TW_CELL_PLAIN);
}

static struct tw_cell args(struct tw_cells *cells, const struct tw_event *event)
{
	tw_line_clear(&cells->text);
	tw_args_add(&cells->args, &cells->text, cells->dictionary, tw_event_arguments(cells->batch, event),
	            event->argument_count);
	return text(cells, TW_CELL_JSON);
}

/* Where the innermost frame is. */
static struct tw_cell file(struct tw_cells *cells, const struct tw_event *event)
{
	const struct tw_source source = tw_source_of_stack(cells->dictionary, event->other);
	bool cut = source.length > ARGS_VALUE_MAX;
	if (cut)
		tw_count_loss(cells->writer, "long argument", true);
	return (
	    struct tw_cell){.form = TW_CELL_TEXT, .bytes = source.file, .size = cut ? ARGS_VALUE_MAX : source.length};
}

static struct tw_cell line(struct tw_cells *cells, const struct tw_event *event)
{
	return number(tw_source_of_stack(cells->dictionary, event->other).line);
}

const struct tw_column tw_columns[TW_COLUMNS] = {
#define X(id, name) [id] = {#name, name},
    TW_COLUMN_LIST(X)
#undef X
};

/* ---- All of them. ---- */

enum {
	ALWAYS = 1 << TW_COLUMN_TIME | 1 << TW_COLUMN_KIND | 1 << TW_COLUMN_PROCESS | 1 << TW_COLUMN_THREAD,
	VALUE = 1 << TW_COLUMN_VALUE,
	ID = 1 << TW_COLUMN_ID
};

/* Whether a kind has a value, an id: TW_EVENT_LIST says "-" of the others. */
const uint32_t tw_cells_of_kind[TW_EVENT_KINDS] = {
#define X(name, text, value, id, other) [name] = ALWAYS | (sizeof(value) > 2 ? VALUE : 0) | (sizeof(id) > 2 ? ID : 0),
    TW_EVENT_LIST(X)
#undef X
};

static uint32_t bit(enum tw_column_id column, bool filled)
{
	return (uint32_t)filled << column;
}

static uint32_t filled_of_stack(const struct tw_cells *cells, uint32_t stack)
{
	const struct tw_source source = tw_source_of_stack(cells->dictionary, stack);
	return bit(TW_COLUMN_STACK, true) | bit(TW_COLUMN_FILE, source.file) | bit(TW_COLUMN_LINE, source.line);
}

uint32_t tw_cells_of_others(const struct tw_cells *cells, const struct tw_event *event)
{
	bool change = event->kind == TW_SWITCH, wakeup = event->kind == TW_WAKEUP;
	bool known = (wakeup || event->kind == TW_OBJECT) && event->other;
	bool sample = event->kind >= TW_STACK_SAMPLE && event->kind <= TW_ALLOCATION_SAMPLE;
	if (sample && event->other)
		return filled_of_stack(cells, event->other);
	return bit(TW_COLUMN_OTHER, change || known) | bit(TW_COLUMN_CPU, change || wakeup);
}

void tw_cells_add_name(struct tw_cells *cells, struct tw_line *line, const struct tw_cell *cell)
{
	const struct tw_rendered *piece = tw_names_find(&cells->names, cells->dictionary, (uint32_t)cell->number);
	if (piece->cut)
		tw_count_loss(cells->writer, "long name", true);
	tw_line_add(line, tw_names_bytes(&cells->names, piece), piece->size);
}

void tw_cells_init(struct tw_cells *cells, struct tw_writer *writer, tw_render_fn *render)
{
	cells->writer = writer;
	tw_names_init(&cells->names, render);
	tw_args_init(&cells->args, writer);
}

void tw_cells_free(struct tw_cells *cells)
{
	tw_names_free(&cells->names);
	tw_args_free(&cells->args);
	tw_text_free(&cells->text.text);
}

static void begin(struct tw_cells *cells, const struct tw_reader *reader)
{
	cells->start = tw_reader_clock(reader)->start_ns;
	tw_names_bound(&cells->names, tw_memory_limit(reader));
	tw_names_bound(&cells->args.names, tw_memory_limit(reader));
}

void tw_cells_meet(struct tw_cells *cells, const struct tw_reader *reader, const struct tw_batch *batch)
{
	cells->dictionary = tw_reader_dictionary(reader);
	cells->batch = batch;
	cells->has_cpu = tw_reader_clock(reader)->has_cpu;
	tw_names_meet(&cells->names, cells->dictionary);
	tw_names_meet(&cells->args.names, cells->dictionary);
	if (!cells->begun)
		begin(cells, reader);
	cells->begun = true;
}

bool tw_cells_failed(const struct tw_cells *cells)
{
	return cells->text.failed || cells->names.text.failed || cells->args.names.text.failed;
}
