/* cells.c - what each column says of an event. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/cells.h"

#include "core/stack_text.h"
#include "export/args.h"
#include "export/labels.h"

enum { STACK_MAX_BYTES = 32 << 10 };

/* Which kinds have a value, an id: TW_EVENT_LIST says "-" of the others. */
static const struct {
	bool value, id;
} has[TW_EVENT_KINDS] = {
#define X(name, text, value, id, other) [name] = {sizeof(value) > 2, sizeof(id) > 2},
    TW_EVENT_LIST(X)
#undef X
};

static enum tw_cell number(struct tw_cells *cells, uint64_t value)
{
	tw_line_u64(&cells->text, value);
	return TW_CELL_NUMBER;
}

static enum tw_cell time_ns(struct tw_cells *cells, const struct tw_event *event)
{
	bool before = event->time < cells->start;
	tw_line_text(&cells->text, before ? "-" : "");
	return number(cells, before ? cells->start - event->time : event->time - cells->start);
}

static enum tw_cell kind(struct tw_cells *cells, const struct tw_event *event)
{
	tw_line_text(&cells->text, tw_event_kind_name(event->kind));
	return TW_CELL_TEXT;
}

static enum tw_cell process(struct tw_cells *cells, const struct tw_event *event)
{
	return number(cells, tw_dictionary_track(cells->dictionary, event->track)->process);
}

static enum tw_cell thread(struct tw_cells *cells, const struct tw_event *event)
{
	return number(cells, tw_dictionary_track(cells->dictionary, event->track)->thread);
}

static enum tw_cell text(struct tw_cells *cells, uint32_t number)
{
	if (number == 0)
		return TW_CELL_NOTHING;
	if (!tw_label_name(&cells->text, tw_dictionary_name(cells->dictionary, number)))
		tw_count_loss(cells->writer, "long name", true);
	return TW_CELL_TEXT;
}

static enum tw_cell track(struct tw_cells *cells, const struct tw_event *event)
{
	return text(cells, tw_dictionary_track(cells->dictionary, event->track)->name);
}

static enum tw_cell name(struct tw_cells *cells, const struct tw_event *event)
{
	return text(cells, event->name);
}

static enum tw_cell category(struct tw_cells *cells, const struct tw_event *event)
{
	return text(cells, event->category);
}

static enum tw_cell value(struct tw_cells *cells, const struct tw_event *event)
{
	return has[event->kind].value ? number(cells, event->value) : TW_CELL_NOTHING;
}

static enum tw_cell id(struct tw_cells *cells, const struct tw_event *event)
{
	return has[event->kind].id ? number(cells, event->id) : TW_CELL_NOTHING;
}

/* "7/8": a process and a thread. */
static enum tw_cell other(struct tw_cells *cells, const struct tw_event *event)
{
	bool wakeup = event->kind == TW_WAKEUP && event->other;
	if (event->kind != TW_SWITCH && !wakeup)
		return TW_CELL_NOTHING;
	const struct tw_track *track = tw_dictionary_track(cells->dictionary, event->other);
	tw_line_u64(&cells->text, track->process);
	tw_line_text(&cells->text, "/");
	tw_line_u64(&cells->text, track->thread);
	return TW_CELL_TEXT;
}

static enum tw_cell stack(struct tw_cells *cells, const struct tw_event *event)
{
	if (event->kind < TW_STACK_SAMPLE || event->kind > TW_ALLOCATION_SAMPLE || !event->other)
		return TW_CELL_NOTHING;
	enum tw_stack_fit fit = tw_stack_text(&cells->text.text, cells->dictionary, event->other, STACK_MAX_BYTES);
	if (fit == TW_STACK_NO_MEMORY)
		cells->text.failed = true;
	if (fit == TW_STACK_CUT)
		tw_count_loss(cells->writer, "long stack", true);
	return TW_CELL_TEXT;
}

static enum tw_cell cpu(struct tw_cells *cells, const struct tw_event *event)
{
	bool scheduling = event->kind == TW_SWITCH || event->kind == TW_WAKEUP;
	return cells->has_cpu || scheduling ? number(cells, event->cpu) : TW_CELL_NOTHING;
}

static enum tw_cell flags(struct tw_cells *cells, const struct tw_event *event)
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
		return TW_CELL_NOTHING;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (event->flags & words[i].flag) {
			tw_line_text(&cells->text, cells->text.text.length ? " " : "");
			tw_line_text(&cells->text, words[i].word);
		}
	return TW_CELL_TEXT;
}

static enum tw_cell args(struct tw_cells *cells, const struct tw_event *event)
{
	if (!event->argument_count)
		return TW_CELL_NOTHING;
	tw_args_add(&cells->text, cells->writer, cells->dictionary, tw_event_arguments(cells->batch, event),
	            event->argument_count);
	return TW_CELL_JSON;
}

const struct tw_column tw_columns[TW_COLUMNS] = {
#define X(id, name) [id] = {#name, name},
    TW_COLUMN_LIST(X)
#undef X
};

void tw_cells_meet(struct tw_cells *cells, const struct tw_reader *reader, const struct tw_batch *batch)
{
	cells->dictionary = tw_reader_dictionary(reader);
	cells->batch = batch;
	cells->has_cpu = tw_reader_clock(reader)->has_cpu;
	if (!cells->begun)
		cells->start = tw_reader_clock(reader)->start_ns;
	cells->begun = true;
}
