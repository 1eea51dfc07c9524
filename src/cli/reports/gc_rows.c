/* gc_rows.c - the rows of trackway gc as tables, as JSON Lines and as CSV. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/cells.h"
#include "cli/reports/gc.h"

#include <stdio.h>

#define OF(type, member) offsetof(struct type, member)

static const struct tw_number class_numbers[] = {
    {OF(tw_gc_class, bytes), "bytes", "BYTES", "bytes", tw_show_size},
    {OF(tw_gc_class, count), "count", "OBJECTS", "count", tw_show_count},
    {OF(tw_gc_class, most_bytes), "most_bytes", "MOST BYTES", "most-bytes", tw_show_size},
    {OF(tw_gc_class, most_count), "most_count", "MOST OBJECTS", "most-count", tw_show_count},
};

static const struct tw_number diff_numbers[] = {
    {OF(tw_gc_class, from_bytes), "from_bytes", "BYTES FROM", NULL, tw_show_size},
    {OF(tw_gc_class, to_bytes), "to_bytes", "BYTES TO", "bytes", tw_show_size},
    {OF(tw_gc_class, from_count), "from_count", "OBJECTS FROM", NULL, tw_show_count},
    {OF(tw_gc_class, to_count), "to_count", "OBJECTS TO", "count", tw_show_count},
};

/* By the size of the change: it has a sign, and is shown on its own. */
static const struct tw_number growth_number = {OF(tw_gc_growth, growth), NULL, NULL, "growth", NULL};

static const struct tw_number generation_numbers[] = {
    {OF(tw_gc_generation, allocated), "allocated", "ALLOCATED", NULL, tw_show_size},
    {OF(tw_gc_generation, reserved), "reserved", "RESERVED", NULL, tw_show_size},
    {OF(tw_gc_generation, most_allocated), "most_allocated", "MOST ALLOCATED", NULL, tw_show_size},
    {OF(tw_gc_generation, most_reserved), "most_reserved", "MOST RESERVED", NULL, tw_show_size},
    {OF(tw_gc_generation, samples), "samples", "SAMPLES", NULL, tw_show_count},
};

/* Of collections that ended. */
static const struct tw_number pause_numbers[] = {
    {OF(tw_gc_totals, min_ns), "min_ns", NULL, NULL, NULL}, {OF(tw_gc_totals, p50_ns), "p50_ns", NULL, NULL, NULL},
    {OF(tw_gc_totals, p90_ns), "p90_ns", NULL, NULL, NULL}, {OF(tw_gc_totals, p99_ns), "p99_ns", NULL, NULL, NULL},
    {OF(tw_gc_totals, max_ns), "max_ns", NULL, NULL, NULL},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

const char *const tw_gc_sort_words[] = {"bytes", "count", "most-bytes", "most-count", "growth", "name", NULL};

void tw_gc_sort(struct tw_gc_listing *gc, const char *word, uint64_t top)
{
	struct tw_list_rows *rows = &gc->listing.rows;
	const char *by = word ? word : gc->diff ? "growth" : "bytes";
	if (gc->diff)
		tw_rows_sort(rows, &growth_number, 1, by, top);
	if (gc->diff)
		tw_rows_sort(rows, diff_numbers, COUNT(diff_numbers), by, top);
	else
		tw_rows_sort(rows, class_numbers, COUNT(class_numbers), by, top);
}

static const struct tw_gc_listing *gc_of(const struct tw_listing *listing)
{
	return (const struct tw_gc_listing *)(const void *)listing;
}

static int64_t change(uint64_t from, uint64_t to)
{
	uint64_t size = from > to ? from - to : to - from;
	int64_t limited = size > INT64_MAX ? INT64_MAX : (int64_t)size;
	return from > to ? -limited : limited;
}

static struct tw_shown show_change(uint64_t from, uint64_t to, struct tw_shown (*show)(uint64_t))
{
	return tw_show_change(change(from, to), show(from > to ? from - to : to - from));
}

/* ---- JSON. ---- */

/* What is told of the heap at a collection. */
static const struct {
	size_t bytes, known;
	const char *name, *title;
} heap_numbers[] = {
    {OF(tw_gc_collection, before_bytes), OF(tw_gc_collection, before_known), "before_bytes", "BEFORE"},
    {OF(tw_gc_collection, after_bytes), OF(tw_gc_collection, after_known), "after_bytes", "AFTER"},
    {OF(tw_gc_collection, allocated_bytes), OF(tw_gc_collection, allocated_known), "allocated_bytes", "ALLOCATED"},
    {OF(tw_gc_collection, promoted_bytes), OF(tw_gc_collection, promoted_known), "promoted_bytes", "PROMOTED"},
};

static uint64_t heap_bytes(const struct tw_gc_collection *row, size_t i)
{
	return *(const uint64_t *)(const void *)((const char *)row + heap_numbers[i].bytes);
}

static bool heap_is_known(const struct tw_gc_collection *row, size_t i)
{
	return *(const bool *)((const char *)row + heap_numbers[i].known);
}

static void put_collection(struct tw_json *json, const struct tw_gc_collection *row)
{
	tw_json_u64(json, "time_ns", row->time_ns);
	if (row->open)
		tw_json_text(json, "pause_ns", NULL);
	else
		tw_json_u64(json, "pause_ns", row->pause_ns);
	tw_json_task(json, "process", row->process);
	tw_json_known_task(json, "thread", row->thread, !row->threadless);
	tw_json_text(json, "reason", row->reason);
	tw_json_bool(json, "background", row->background);
	tw_json_text(json, "generations", row->generations);
	for (size_t i = 0; i < COUNT(heap_numbers); i++)
		tw_json_known(json, heap_numbers[i].name, heap_bytes(row, i), heap_is_known(row, i));
	tw_json_text(json, "function", row->function);
}

static void put_class(struct tw_json *json, const struct tw_gc_class *row, bool diff)
{
	tw_json_text(json, "name", row->name);
	tw_json_text(json, "module", row->module);
	if (!diff) {
		tw_numbers_json(json, row, class_numbers, COUNT(class_numbers));
		return;
	}
	tw_numbers_json(json, row, diff_numbers, COUNT(diff_numbers));
	tw_json_i64(json, "bytes_change", change(row->from_bytes, row->to_bytes));
	tw_json_i64(json, "count_change", change(row->from_count, row->to_count));
}

static void put_totals(struct tw_json *json, const struct tw_gc_totals *totals)
{
	tw_json_u64(json, "collections", totals->collections);
	tw_json_u64(json, "ended", totals->ended);
	tw_json_u64(json, "pause_ns", totals->pause_ns);
	tw_json_u64(json, "covered_ns", totals->covered_ns);
	tw_json_u64(json, "span_ns", totals->span_ns);
	tw_numbers_json(json, totals->ended ? totals : NULL, pause_numbers, COUNT(pause_numbers));
	tw_json_u64(json, "background", totals->background);
	tw_json_u64(json, "background_ns", totals->background_ns);
}

void tw_gc_put_json(struct tw_json *json, const struct tw_listing *listing, const void *row)
{
	static const char *const types[] = {"collection", "class", "generation"};
	tw_json_text(json, "type", types[gc_of(listing)->by]);
	switch (gc_of(listing)->by) {
	case TW_GC_BY_COLLECTION:
		put_collection(json, row);
		break;
	case TW_GC_BY_CLASS:
		put_class(json, row, gc_of(listing)->diff);
		break;
	case TW_GC_BY_GENERATION:
		tw_json_text(json, "name", ((const struct tw_gc_generation *)row)->name);
		tw_numbers_json(json, row, generation_numbers, COUNT(generation_numbers));
		break;
	}
}

void tw_gc_end_json(struct tw_json *json, const struct tw_listing *listing)
{
	if (gc_of(listing)->by != TW_GC_BY_COLLECTION)
		return;
	tw_json_object(json, NULL);
	tw_json_text(json, "type", "totals");
	put_totals(json, tw_gc_totals(gc_of(listing)->gc));
	tw_json_object_line_end(json);
}

/* ---- Text. ---- */

/* Columns that there are for some collections. */
struct gc_columns {
	bool heap[COUNT(heap_numbers)], function;
};

static struct gc_columns present_columns(const struct tw_list_rows *rows)
{
	struct gc_columns present = {.function = false};
	for (size_t i = 0; i < rows->count; i++) {
		const struct tw_gc_collection *row = rows->items[i];
		for (size_t number = 0; number < COUNT(heap_numbers); number++)
			present.heap[number] |= heap_is_known(row, number);
		present.function |= row->function != NULL;
	}
	return present;
}

static void add_collection(struct tw_table *table, const struct gc_columns *present, const struct tw_gc_collection *row)
{
	tw_table_add(table, tw_show_duration(row->time_ns).text);
	tw_table_add(table, row->open ? "-" : tw_show_duration(row->pause_ns).text);
	for (size_t i = 0; i < COUNT(heap_numbers); i++)
		if (present->heap[i])
			tw_table_add(table, heap_is_known(row, i) ? tw_show_size(heap_bytes(row, i)).text : "-");
	tw_table_add(table, row->threadless ? "-" : tw_show_task(row->thread).text);
	tw_table_add(table, *row->generations ? row->generations : "-");
	tw_table_add(table, *row->reason ? row->reason : "-");
	if (present->function)
		tw_table_add(table, row->function ? row->function : "-");
}

static void put_totals_text(struct tw_screen *screen, const struct tw_gc_totals *totals)
{
	const uint64_t known = totals->ended + totals->background;
	tw_putf(&screen->out, "\n%s: %s, %s of the time\n", tw_show_plural(totals->collections, "collection").text,
	        tw_show_duration(totals->covered_ns).text, tw_show_percent(totals->covered_ns, totals->span_ns).text);
	if (totals->ended)
		tw_putf(&screen->out, "pauses: min %s, p50 %s, p90 %s, p99 %s, max %s\n",
		        tw_show_duration(totals->min_ns).text, tw_show_duration(totals->p50_ns).text,
		        tw_show_duration(totals->p90_ns).text, tw_show_duration(totals->p99_ns).text,
		        tw_show_duration(totals->max_ns).text);
	if (totals->background)
		tw_putf(&screen->out,
		        "%s in the background, while the program went on: %s, %s of the time; no pauses\n",
		        tw_show_plural(totals->background, "collection").text,
		        tw_show_duration(totals->background_ns).text,
		        tw_show_percent(totals->background_ns, totals->span_ns).text);
	if (known < totals->collections)
		tw_putf(&screen->out, "%s not known to end: without a pause\n",
		        tw_show_plural(totals->collections - known, "collection").text);
}

static int put_collections(struct tw_screen *screen, const struct tw_gc_listing *gc)
{
	struct tw_table_column columns[TW_TABLE_COLUMNS] = {{"TIME", true}, {"PAUSE", true}};
	struct tw_table table = {.columns = columns, .column_count = 2};
	const struct tw_gc_totals *totals = tw_gc_totals(gc->gc);
	const struct gc_columns present = present_columns(&gc->listing.rows);
	for (size_t i = 0; i < COUNT(heap_numbers); i++)
		if (present.heap[i])
			columns[table.column_count++] = (struct tw_table_column){heap_numbers[i].title, true};
	columns[table.column_count++] = (struct tw_table_column){"THREAD", true};
	columns[table.column_count++] = (struct tw_table_column){"GENERATIONS", false};
	columns[table.column_count++] = (struct tw_table_column){"REASON", false};
	if (present.function)
		columns[table.column_count++] = (struct tw_table_column){"FUNCTION", false};
	for (size_t i = 0; i < gc->listing.rows.shown; i++)
		add_collection(&table, &present, gc->listing.rows.items[i]);
	int status = tw_table_put(&table, screen);
	tw_rows_put_more(screen, &gc->listing.rows);
	if (totals->collections == 0)
		return status;
	put_totals_text(screen, totals);
	return status;
}

static void add_class(struct tw_table *table, const struct tw_gc_class *row, bool diff)
{
	if (diff) {
		tw_table_add(table, show_change(row->from_bytes, row->to_bytes, tw_show_size).text);
		tw_table_add(table, show_change(row->from_count, row->to_count, tw_show_count).text);
		tw_numbers_cells(table, row, diff_numbers, COUNT(diff_numbers));
	} else {
		tw_numbers_cells(table, row, class_numbers, COUNT(class_numbers));
	}
	tw_table_add(table, row->name);
}

static void put_heap(struct tw_screen *screen, const struct tw_gc_listing *gc)
{
	const struct tw_gc_class *heap = tw_gc_heap(gc->gc);
	uint64_t looks = tw_gc_totals(gc->gc)->looks;
	if (gc->diff && looks)
		tw_putf(&screen->out, "\nall classes: %s, %s objects\n",
		        show_change(heap->from_bytes, heap->to_bytes, tw_show_size).text,
		        show_change(heap->from_count, heap->to_count, tw_show_count).text);
	else if (looks)
		tw_putf(&screen->out, "\nall classes: %s in %s; at most %s; %s at the heap\n",
		        tw_show_size(heap->bytes).text, tw_show_plural(heap->count, "object").text,
		        tw_show_size(heap->most_bytes).text, tw_show_plural(looks, "look").text);
}

static int put_classes(struct tw_screen *screen, const struct tw_gc_listing *gc)
{
	struct tw_table_column columns[TW_TABLE_COLUMNS] = {{"BYTES", true}, {"OBJECTS", true}};
	struct tw_table table = {.columns = columns, .column_count = gc->diff ? 2 : 0};
	if (gc->diff)
		tw_numbers_titles(columns, &table.column_count, diff_numbers, COUNT(diff_numbers));
	else
		tw_numbers_titles(columns, &table.column_count, class_numbers, COUNT(class_numbers));
	columns[table.column_count++] = (struct tw_table_column){"CLASS", false};
	for (size_t i = 0; i < gc->listing.rows.shown; i++)
		add_class(&table, gc->listing.rows.items[i], gc->diff);
	int status = tw_table_put(&table, screen);
	tw_rows_put_more(screen, &gc->listing.rows);
	put_heap(screen, gc);
	return status;
}

static int put_generations(struct tw_screen *screen, const struct tw_gc_listing *gc)
{
	struct tw_table_column columns[TW_TABLE_COLUMNS];
	struct tw_table table = {.columns = columns};
	tw_numbers_titles(columns, &table.column_count, generation_numbers, COUNT(generation_numbers));
	columns[table.column_count++] = (struct tw_table_column){"GENERATION", false};
	for (size_t i = 0; i < gc->listing.rows.shown; i++) {
		const struct tw_gc_generation *row = gc->listing.rows.items[i];
		tw_numbers_cells(&table, row, generation_numbers, COUNT(generation_numbers));
		tw_table_add(&table, row->name);
	}
	return tw_table_put(&table, screen);
}

int tw_gc_put_text(struct tw_listing *listing)
{
	static int (*const puts[])(struct tw_screen * screen, const struct tw_gc_listing *gc) = {
	    [TW_GC_BY_COLLECTION] = put_collections,
	    [TW_GC_BY_CLASS] = put_classes,
	    [TW_GC_BY_GENERATION] = put_generations,
	};
	return listing->rows.count ? puts[gc_of(listing)->by](&listing->screen, gc_of(listing)) : 0;
}

/* ---- Folded. ---- */

/* Namespaces have points between them; what is in brackets are arguments. */
static void put_parts(struct tw_output *out, const char *name)
{
	size_t depth = 0;
	for (const char *p = name; *p; p++) {
		const bool inside = depth > 0 || p == name || !p[1];
		depth += *p == '<';
		depth -= *p == '>' && depth > 0;
		if (*p == '.' && !inside)
			tw_put_char(out, ';');
		else if (*p == ';' || (unsigned char)*p < ' ')
			tw_put_char(out, *p == ';' ? ':' : ' ');
		else
			tw_put_char(out, *p);
	}
}

void tw_gc_put_folded(struct tw_listing *listing)
{
	for (size_t i = 0; i < listing->rows.shown; i++) {
		const struct tw_gc_class *row = listing->rows.items[i];
		if (!row->bytes)
			continue;
		put_parts(&listing->screen.out, *row->name ? row->name : "(no name)");
		tw_put_char(&listing->screen.out, ' ');
		tw_put_u64(&listing->screen.out, row->bytes);
		tw_put_char(&listing->screen.out, '\n');
	}
}

/* ---- CSV. ---- */

const char *tw_gc_csv_head(enum tw_gc_by by)
{
	static const char collections[] = "time_ns,pause_ns,process,thread,generations,reason,background,"
					  "before_bytes,after_bytes,allocated_bytes,promoted_bytes,function\n";
	static const char *const heads[] = {
	    [TW_GC_BY_COLLECTION] = collections,
	    [TW_GC_BY_CLASS] = "time_ns,class,count,bytes\n",
	    [TW_GC_BY_GENERATION] = "time_ns,generation,allocated,reserved\n",
	};
	return heads[by];
}

void tw_gc_put_sample(struct tw_output *out, const struct tw_gc_sample *sample, bool safe)
{
	tw_put_u64(out, sample->time);
	tw_put_char(out, ',');
	tw_put_csv(out, sample->name, strlen(sample->name), safe);
	tw_put_char(out, ',');
	tw_put_u64(out, sample->first);
	tw_put_char(out, ',');
	tw_put_u64(out, sample->second);
	tw_put_char(out, '\n');
}

static void put_csv_row(struct tw_output *out, const struct tw_gc_collection *row, bool safe)
{
	tw_put_u64(out, row->time_ns);
	tw_put_char(out, ',');
	if (!row->open)
		tw_put_u64(out, row->pause_ns);
	tw_put_char(out, ',');
	tw_put_task(out, row->process);
	tw_put_char(out, ',');
	if (!row->threadless)
		tw_put_task(out, row->thread);
	tw_put_char(out, ',');
	tw_put_csv(out, row->generations, strlen(row->generations), false);
	tw_put_char(out, ',');
	tw_put_csv(out, row->reason, strlen(row->reason), safe);
	tw_put_text(out, row->background ? ",true," : ",false,");
	for (size_t i = 0; i < COUNT(heap_numbers); i++) {
		if (heap_is_known(row, i))
			tw_put_u64(out, heap_bytes(row, i));
		tw_put_char(out, ',');
	}
	if (row->function)
		tw_put_csv(out, row->function, strlen(row->function), safe);
	tw_put_char(out, '\n');
}

void tw_gc_put_csv(struct tw_listing *listing)
{
	const struct tw_gc_collection *row;
	for (size_t i = 0; gc_of(listing)->by == TW_GC_BY_COLLECTION && (row = tw_gc_collection(gc_of(listing)->gc, i));
	     i++)
		put_csv_row(&listing->screen.out, row, listing->common->forms.csv_safe);
}
