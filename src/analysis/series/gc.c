/* gc.c - garbage collections, and what was on the heap after them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pictures/report.h"
#include "analysis/series/counters.h"
#include "analysis/series/gc_heap.h"
#include "analysis/texts.h"
#include "base/memory/memory.h"
#include "base/memory/order.h"
#include "base/memory/sum.h"
#include "base/options.h"
#include "base/text/digits.h"
#include "core/format.h"
#include "core/runtime_names.h"

#include <stdlib.h>
#include <string.h>

/* A class while the trace is read: `row` has its numbers, without texts. */
struct class {
	uint32_t name;
	struct tw_gc_class row;
};

struct generation {
	uint32_t name;
	struct tw_gc_generation row;
};

struct tw_gc {
	struct tw_gc_options options;
	struct tw_budget budget;
	const struct tw_dictionary *dictionary; /* of the trace, while it is read */
	struct tw_runtime_names names;          /* of it */
	const struct tw_clock *clock;
	struct tw_dictionary *texts;
	struct tw_gc_item *collections;
	size_t collection_count, collection_room;
	struct tw_gc_heap *heaps;
	struct tw_keyed processes; /* of `heaps` */
	struct {
		struct class *items;
		struct tw_keyed by_key; /* by the hash of name and id */
	} classes;
	struct {
		struct generation *items;
		size_t count, room;
	} generations;
	struct {
		struct tw_gc_class *classes;
		struct tw_gc_generation *generations;
	} shown;
	struct tw_gc_totals totals;
	struct tw_gc_class heap; /* all classes */
	uint64_t end_ns;         /* of all that was read, on the trace's clock */
	struct {                 /* the look that is going on */
		uint64_t ns;     /* where there is one */
		uint32_t track;  /* the track that told it first */
	} look;
	struct { /* with `plot` */
		struct tw_dictionary *names;
		struct tw_counters *counters; /* with `plot` */
	} charts;
	uint64_t left_out;
};

/* ---- What events tell. ---- */

static const struct tw_argument *argument_of(struct tw_gc *gc, const struct tw_batch *batch,
                                             const struct tw_event *event, enum tw_runtime_name name)
{
	const struct tw_argument *arguments = tw_event_arguments(batch, event);
	for (unsigned i = 0; i < event->argument_count; i++)
		if (tw_runtime_name(&gc->names, arguments[i].name) == name)
			return &arguments[i];
	return NULL;
}

/* Gets a number by the name of its argument. False where there is none, or it makes no sense. */
static bool number_of(struct tw_gc *gc, const struct tw_batch *batch, const struct tw_event *event,
                      enum tw_runtime_name name, uint64_t *value)
{
	const struct tw_argument *argument = argument_of(gc, batch, event, name);
	bool good =
	    argument && (argument->type == TW_ARG_UINT || (argument->type == TW_ARG_INT && argument->value.i >= 0));
	*value = good ? argument->value.u : 0;
	return good;
}

static const char *text_of(struct tw_gc *gc, const struct tw_batch *batch, const struct tw_event *event,
                           enum tw_runtime_name name)
{
	const struct tw_argument *argument = argument_of(gc, batch, event, name);
	if (!argument || argument->type != TW_ARG_TEXT || argument->size > UINT16_MAX)
		return "";
	const char *kept =
	    tw_texts_keep(gc->texts, &gc->budget, (const char *)argument->value.bytes, (size_t)argument->size);
	return kept ? kept : "";
}

static uint64_t time_of(const struct tw_gc *gc, const struct tw_event *event)
{
	uint64_t start = gc->clock->start_ns;
	return event->time > start ? event->time - start : 0;
}

/* ---- Collections. ---- */

/* "background", "induced-background" (doc/formats/tracelog.md). */
static bool is_background(const char *reason)
{
	static const char word[] = "background";
	const size_t length = strlen(reason);
	return length >= sizeof word - 1 && strcmp(reason + length - (sizeof word - 1), word) == 0;
}

/* NULL where there is no room for another one. */
static struct tw_gc_heap *heap_of(struct tw_gc *gc, const struct tw_event *event)
{
	const uint64_t process = tw_dictionary_track(gc->dictionary, event->track)->process;
	const uint32_t number =
	    tw_budget_item(&gc->budget, TW_FOR_ROWS, &gc->processes, process, &gc->heaps, sizeof *gc->heaps, 0);
	return number == UINT32_MAX ? NULL : &gc->heaps[number];
}

static void take_sample(struct tw_gc *gc, const struct tw_event *event)
{
	struct tw_gc_heap *heap = heap_of(gc, event);
	if (heap)
		tw_gc_heap_sample(heap, &gc->budget, event, gc->collections);
}

static void take_collection(struct tw_gc *gc, const struct tw_batch *batch, const struct tw_event *event)
{
	const struct tw_track *track = tw_dictionary_track(gc->dictionary, event->track);
	bool open = event->kind == TW_SLICE_BEGIN;
	if (!tw_budget_grow(&gc->budget, TW_FOR_ROWS, &gc->collections, &gc->collection_room, gc->collection_count + 1,
	                    sizeof *gc->collections)) {
		gc->left_out++;
		return;
	}
	const char *reason = text_of(gc, batch, event, TW_RUNTIME_REASON);
	gc->collections[gc->collection_count] = (struct tw_gc_item){
	    .offset = event->offset,
	    .row = {.time_ns = time_of(gc, event),
	            .pause_ns = open ? 0 : event->value,
	            .open = open,
	            .threadless = tw_is_threadless(track),
	            .process = track->process,
	            .thread = track->thread,
	            .reason = reason,
	            .generations = text_of(gc, batch, event, TW_RUNTIME_GENERATIONS),
	            .background = is_background(reason)},
	};
	struct tw_gc_heap *heap = heap_of(gc, event);
	if (heap)
		tw_gc_heap_begin(heap, &gc->budget, event, gc->collections, gc->collection_count);
	gc->collection_count++;
}

/* ---- Charts. ---- */

/* A sample of two numbers for the charts, whose names are few and their own. */
static int draw(struct tw_gc *gc, const struct tw_event *event, const char *name, const char *const series[2],
                uint64_t first, uint64_t second)
{
	const struct tw_argument arguments[] = {
	    {.name = tw_dictionary_text(gc->charts.names, series[0]), .type = TW_ARG_UINT, .value.u = first},
	    {.name = tw_dictionary_text(gc->charts.names, series[1]), .type = TW_ARG_UINT, .value.u = second},
	};
	const struct tw_track process = {
	    .process = tw_dictionary_track(gc->dictionary, event->track)->process,
	    .kind = TW_TRACK_PROCESS,
	};
	const struct tw_event row = {
	    .kind = TW_COUNTER,
	    .time = event->time,
	    .track = tw_dictionary_add_track(gc->charts.names, &process),
	    .name = tw_dictionary_text(gc->charts.names, name),
	    .argument_count = 2,
	};
	return tw_counters_take(gc->charts.counters, &(struct tw_batch){&row, 1, arguments});
}

/* Completes the charts at the end of the trace, when processes have their names. */
static int end_charts(struct tw_gc *gc, uint64_t reach_ns)
{
	for (uint32_t i = 0; i < tw_dictionary_tracks(gc->charts.names); i++) {
		uint64_t process = tw_dictionary_track(gc->charts.names, i)->process;
		const char *name = tw_dictionary_process_name(gc->dictionary, process)->text;
		tw_dictionary_name_track(gc->charts.names, i, tw_dictionary_text(gc->charts.names, name));
	}
	gc->charts.counters->reach_ns = reach_ns;
	return tw_counters_end(gc->charts.counters);
}

/* ---- Classes. ---- */

/* Two classes of one name may be there: they have ids. UINT32_MAX when there is no room. */
static uint32_t find_class(struct tw_gc *gc, const struct tw_event *event)
{
	uint32_t number =
	    tw_budget_item(&gc->budget, TW_FOR_ROWS, &gc->classes.by_key, tw_hash_two(event->id, event->name),
	                   &gc->classes.items, sizeof *gc->classes.items, sizeof *gc->shown.classes);
	if (number != UINT32_MAX)
		gc->classes.items[number].name = event->name;
	return number;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Sets what is alive of a class, or of all. */
static void set(const struct tw_gc *gc, struct tw_gc_class *row, uint64_t time, uint64_t count, uint64_t bytes)
{
	row->count = count;
	row->bytes = bytes;
	if (time <= gc->options.from_ns) {
		row->from_count = count;
		row->from_bytes = bytes;
	}
	if (time <= gc->options.to_ns) {
		row->to_count = count;
		row->to_bytes = bytes;
	}
}

/* Ends a look at the heap: only then are sums over all classes known, of which the largest are kept. */
static int end_look(struct tw_gc *gc)
{
	static const char *const series[] = {"objects", "bytes"};
	struct tw_gc_class *heap = &gc->heap;
	heap->most_count = most(heap->most_count, heap->count);
	heap->most_bytes = most(heap->most_bytes, heap->bytes);
	const struct tw_event look = {.time = gc->look.ns + gc->clock->start_ns, .track = gc->look.track};
	return gc->charts.counters && gc->totals.looks ? draw(gc, &look, "heap", series, heap->count, heap->bytes) : 0;
}

static int begin_look(struct tw_gc *gc, uint64_t time, uint32_t track)
{
	if (gc->totals.looks && gc->look.ns == time)
		return 0;
	int status = end_look(gc);
	gc->look.track = gc->totals.looks++ ? gc->look.track : track;
	gc->look.ns = time;
	return status;
}

static int give_sample(const struct tw_gc *gc, const struct tw_event *event, bool generation, uint64_t first,
                       uint64_t second)
{
	const struct tw_gc_sample sample = {
	    .time = time_of(gc, event),
	    .generation = generation,
	    .name = tw_dictionary_name(gc->dictionary, event->name)->text,
	    .first = first,
	    .second = second,
	};
	return gc->options.on_sample ? gc->options.on_sample(gc->options.context, &sample) : 0;
}

/* Returns a sum after one part of it has changed. One that was too large for 64 bits stays at UINT64_MAX. */
static uint64_t changed(uint64_t sum, uint64_t before, uint64_t now)
{
	return sum == UINT64_MAX ? sum : tw_sum(sum - before, now);
}

static int take_class(struct tw_gc *gc, const struct tw_batch *batch, const struct tw_event *event)
{
	uint64_t time = time_of(gc, event), count, bytes;
	bool known = number_of(gc, batch, event, TW_RUNTIME_COUNT, &count);
	known |= number_of(gc, batch, event, TW_RUNTIME_BYTES, &bytes);
	uint32_t number = known ? find_class(gc, event) : UINT32_MAX;
	gc->left_out += known && number == UINT32_MAX;
	int status = number == UINT32_MAX ? 0 : begin_look(gc, time, event->track);
	if (number == UINT32_MAX || status)
		return status;
	struct tw_gc_class *row = &gc->classes.items[number].row, *heap = &gc->heap;
	set(gc, heap, time, changed(heap->count, row->count, count), changed(heap->bytes, row->bytes, bytes));
	set(gc, row, time, count, bytes);
	row->most_count = most(row->most_count, count);
	row->most_bytes = most(row->most_bytes, bytes);
	return give_sample(gc, event, false, count, bytes);
}

/* ---- Generations. ---- */

static struct generation *find_generation(struct tw_gc *gc, uint32_t name)
{
	for (size_t i = 0; i < gc->generations.count; i++)
		if (gc->generations.items[i].name == name)
			return &gc->generations.items[i];
	enum { GENERATIONS = 256 }; /* there are four */
	if (gc->generations.count == GENERATIONS || !tw_grow(&gc->generations.items, &gc->generations.room,
	                                                     gc->generations.count + 1, sizeof *gc->generations.items))
		return NULL;
	gc->generations.items[gc->generations.count] = (struct generation){.name = name};
	return &gc->generations.items[gc->generations.count++];
}

static int take_generation(struct tw_gc *gc, const struct tw_batch *batch, const struct tw_event *event)
{
	static const char *const series[] = {"allocated", "reserved"};
	uint64_t allocated, reserved;
	bool known = number_of(gc, batch, event, TW_RUNTIME_ALLOCATED, &allocated);
	known |= number_of(gc, batch, event, TW_RUNTIME_RESERVED, &reserved);
	struct generation *generation = known ? find_generation(gc, event->name) : NULL;
	gc->left_out += known && !generation;
	if (!generation)
		return 0;
	struct tw_gc_generation *row = &generation->row;
	row->samples++;
	row->allocated = allocated;
	row->reserved = reserved;
	row->most_allocated = most(row->most_allocated, allocated);
	row->most_reserved = most(row->most_reserved, reserved);
	const char *name = tw_dictionary_name(gc->dictionary, event->name)->text;
	struct tw_gc_heap *heap = heap_of(gc, event);
	if (heap)
		tw_gc_heap_part(heap, &gc->budget, event, gc->collections, name, allocated);
	int status = gc->charts.counters ? draw(gc, event, name, series, allocated, reserved) : 0;
	return status ? status : give_sample(gc, event, true, allocated, reserved);
}

static int take(struct tw_gc *gc, const struct tw_batch *batch, const struct tw_event *event)
{
	enum tw_runtime_name category = tw_runtime_name(&gc->names, event->category);
	if (event->kind == TW_STACK_SAMPLE || event->kind == TW_ALLOCATION_SAMPLE)
		take_sample(gc, event);
	else if (event->kind != TW_COUNTER && category == TW_RUNTIME_GC)
		take_collection(gc, batch, event);
	if (event->kind != TW_COUNTER)
		return 0;
	return category == TW_RUNTIME_HEAP         ? take_class(gc, batch, event)
	       : category == TW_RUNTIME_GENERATION ? take_generation(gc, batch, event)
	                                           : 0;
}

/* ---- What is shown: names are known by now, where the trace tells them. ---- */

static int compare_collections(const void *left, const void *right)
{
	const struct tw_gc_item *a = left, *b = right;
	int order = tw_compare(a->row.time_ns, b->row.time_ns);
	order = order ? order : tw_compare(a->row.process, b->row.process);
	order = order ? order : tw_compare(a->offset, b->offset);
	order = order ? order : tw_compare(a->row.thread, b->row.thread);
	return order ? order : tw_compare(a->row.pause_ns, b->row.pause_ns);
}

static int compare_classes(const void *left, const void *right)
{
	const struct tw_gc_class *a = left, *b = right;
	int order = strcmp(a->name, b->name);
	order = order ? order : strcmp(a->module ? a->module : "", b->module ? b->module : "");
	order = order ? order : tw_compare(a->most_bytes, b->most_bytes);
	order = order ? order : tw_compare(a->most_count, b->most_count);
	return order ? order : tw_compare(a->bytes, b->bytes);
}

static int compare_generations(const void *left, const void *right)
{
	const struct tw_gc_generation *a = left, *b = right;
	return strcmp(a->name, b->name);
}

/* Returns the least value that so many thousandths of all are not above (nearest rank). */
static uint64_t rank(const uint64_t *pauses, uint64_t count, unsigned thousandths)
{
	uint64_t place = (count * thousandths + 999) / 1000;
	return pauses[place ? place - 1 : 0];
}

/* Collections may be inside others, or go on while others do. They are in the order of time. */
static uint64_t time_covered(const struct tw_gc *gc, bool background)
{
	uint64_t covered = 0, end = 0;
	for (size_t i = 0; i < gc->collection_count; i++) {
		const struct tw_gc_collection *it = &gc->collections[i].row;
		if (it->background != background)
			continue;
		uint64_t from = most(it->time_ns, end);
		end = most(end, tw_sum(it->time_ns, it->pause_ns));
		covered += end > from ? end - from : 0;
	}
	return covered;
}

/* The span of the trace, or of the part of it that the window shows. */
static uint64_t span_of(const struct tw_gc *gc, const struct tw_reader *reader)
{
	uint64_t start = gc->clock->start_ns;
	return tw_times_span(&(struct tw_times){most(reader->options.from_ns, reader->traits.part_ns),
	                                        reader->options.to_ns},
	                     gc->end_ns > start ? gc->end_ns - start : 0);
}

static bool sum_pauses(struct tw_gc *gc)
{
	struct tw_gc_totals *totals = &gc->totals;
	uint64_t *pauses = calloc(gc->collection_count + 1, sizeof *pauses), ended = 0;
	if (!pauses)
		return false;
	for (size_t i = 0; i < gc->collection_count; i++) {
		const struct tw_gc_collection *one = &gc->collections[i].row;
		totals->background += one->background && !one->open;
		if (one->open || one->background)
			continue;
		pauses[ended++] = one->pause_ns;
		totals->pause_ns = tw_sum(totals->pause_ns, one->pause_ns);
	}
	qsort(pauses, ended, sizeof *pauses, tw_compare_u64);
	totals->collections = gc->collection_count;
	totals->ended = ended;
	totals->covered_ns = time_covered(gc, false);
	totals->background_ns = time_covered(gc, true);
	if (ended) {
		totals->min_ns = pauses[0];
		totals->p50_ns = rank(pauses, ended, 500);
		totals->p90_ns = rank(pauses, ended, 900);
		totals->p99_ns = rank(pauses, ended, 990);
		totals->max_ns = pauses[ended - 1];
	}
	free(pauses);
	return true;
}

/* Keeps a name; "(other)" stands for one that there is no room for. */
static const char *keep(struct tw_gc *gc, uint32_t name)
{
	const char *kept = tw_texts_keep_name(gc->texts, &gc->budget, gc->dictionary, name);
	return kept ? kept : "(other)";
}

static bool fill_rows(struct tw_gc *gc)
{
	gc->shown.classes = calloc(gc->classes.by_key.count + 1, sizeof *gc->shown.classes);
	gc->shown.generations = calloc(gc->generations.count + 1, sizeof *gc->shown.generations);
	if (!gc->shown.classes || !gc->shown.generations)
		return false;
	for (size_t i = 0; i < gc->classes.by_key.count; i++) {
		uint32_t module = tw_dictionary_name(gc->dictionary, gc->classes.items[i].name)->module;
		gc->shown.classes[i] = gc->classes.items[i].row;
		gc->shown.classes[i].name = keep(gc, gc->classes.items[i].name);
		gc->shown.classes[i].module = module ? keep(gc, module) : NULL;
	}
	for (size_t i = 0; i < gc->generations.count; i++) {
		gc->shown.generations[i] = gc->generations.items[i].row;
		gc->shown.generations[i].name = keep(gc, gc->generations.items[i].name);
	}
	qsort(gc->shown.classes, gc->classes.by_key.count, sizeof *gc->shown.classes, compare_classes);
	qsort(gc->shown.generations, gc->generations.count, sizeof *gc->shown.generations, compare_generations);
	return true;
}

/* The functions that collections began in: names are known by now. What all unknown threads did is not of one. */
static void name_functions(struct tw_gc *gc)
{
	for (size_t i = 0; i < gc->collection_count; i++) {
		struct tw_gc_item *it = &gc->collections[i];
		const struct tw_stack *stack = tw_dictionary_stack(gc->dictionary, it->stack);
		const struct tw_location *location = tw_dictionary_location(gc->dictionary, stack->location);
		if (it->stack && location->name && it->row.thread != TW_UNKNOWN_TASK)
			it->row.function = keep(gc, location->name);
	}
}

static int finish(struct tw_gc *gc, const struct tw_reader *reader)
{
	for (size_t i = 0; i < gc->processes.count; i++)
		tw_gc_heap_end(&gc->heaps[i], &gc->budget, gc->collections);
	name_functions(gc);
	gc->end_ns = most(gc->end_ns, most(reader->clock.end_ns, reader->traits.reach_ns));
	gc->totals.span_ns = span_of(gc, reader);
	int status = end_look(gc);
	int charted = gc->charts.counters ? end_charts(gc, reader->traits.reach_ns) : 0;
	if (gc->collection_count)
		qsort(gc->collections, gc->collection_count, sizeof *gc->collections, compare_collections);
	return status == 0 && charted == 0 && sum_pauses(gc) && fill_rows(gc) ? tw_budget_status(&gc->budget)
	                                                                      : TW_ERR_MEMORY;
}

/* ---- The handle. ---- */

/* Collections, as charts shade them: of those whose end is not known, nothing. */
static bool stretch_of(const void *context, size_t i, struct tw_stretch *stretch)
{
	const struct tw_gc *gc = context;
	if (i >= gc->collection_count)
		return false;
	const struct tw_gc_collection *one = &gc->collections[i].row;
	*stretch = (struct tw_stretch){one->time_ns, one->time_ns + one->pause_ns};
	return true;
}

static bool make_charts(struct tw_gc *gc, const struct tw_reader *reader)
{
	const struct tw_counters_options options = {.plot = true, .memory_limit = gc->options.memory_limit};
	gc->charts.names = tw_dictionary_new();
	if (!gc->charts.names || tw_counters_new(&gc->charts.counters, &options) < 0)
		return false;
	tw_counters_begin(gc->charts.counters, gc->charts.names, gc->clock);
	gc->charts.counters->charting = (struct tw_charting){.compared = true,
	                                                     .stretch = stretch_of,
	                                                     .stretches = "shaded: collections",
	                                                     .context = gc};
	gc->charts.counters->window = (struct tw_times){reader->options.from_ns, reader->options.to_ns};
	return true;
}

static struct tw_gc *make(const struct tw_gc_options *options, struct tw_reader *reader)
{
	struct tw_gc *gc = calloc(1, sizeof *gc);
	if (!gc)
		return NULL;
	TW_COPY_OPTIONS(&gc->options, options, struct tw_gc_options);
	size_t limit = gc->options.memory_limit;
	tw_budget_reset(&gc->budget, limit ? limit : TW_DEFAULT_MEMORY, 1);
	gc->dictionary = gc->names.dictionary = tw_reader_dictionary(reader);
	gc->clock = tw_reader_clock(reader);
	gc->texts = tw_dictionary_new_plain();
	if (gc->texts && (!gc->options.plot || make_charts(gc, reader)))
		return gc;
	tw_gc_free(gc);
	return NULL;
}

int tw_gc_read(struct tw_gc **made, struct tw_reader *reader, const struct tw_gc_options *options)
{
	const uint32_t kinds = 1u << TW_SLICE_COMPLETE | 1u << TW_SLICE_BEGIN | 1u << TW_COUNTER |
	                       1u << TW_STACK_SAMPLE | 1u << TW_ALLOCATION_SAMPLE;
	const struct tw_request request = {.kinds = reader->format->traits.has_reach ? kinds : 0};
	struct tw_batch batch;
	int got = 0, status = tw_begin(reader, TW_USE_WHOLE, &request);
	struct tw_gc *gc = *made = make(options, reader);
	if (!gc)
		return tw_fail(reader, TW_ERR_MEMORY, "out of memory");
	while (status == 0 && (got = tw_pull(reader, &batch)) > 0)
		for (size_t i = 0; i < batch.count && status == 0; i++) {
			gc->end_ns = most(gc->end_ns, tw_event_end(&batch.events[i]));
			if (kinds >> batch.events[i].kind & 1)
				status = take(gc, &batch, &batch.events[i]);
		}
	int finished = finish(gc, reader);
	status = got < 0 ? got : status;
	return status == 0 && finished < 0 ? tw_fail(reader, finished, "out of memory") : status;
}

const struct tw_gc_collection *tw_gc_collection(const struct tw_gc *gc, size_t i)
{
	return i < gc->collection_count ? &gc->collections[i].row : NULL;
}

const struct tw_gc_class *tw_gc_class(const struct tw_gc *gc, size_t i)
{
	return gc->shown.classes && i < gc->classes.by_key.count ? &gc->shown.classes[i] : NULL;
}

const struct tw_gc_generation *tw_gc_generation(const struct tw_gc *gc, size_t i)
{
	return gc->shown.generations && i < gc->generations.count ? &gc->shown.generations[i] : NULL;
}

const struct tw_gc_totals *tw_gc_totals(const struct tw_gc *gc)
{
	return &gc->totals;
}

const struct tw_gc_class *tw_gc_heap(const struct tw_gc *gc)
{
	return &gc->heap;
}

uint64_t tw_gc_left_out(const struct tw_gc *gc)
{
	return gc->left_out;
}

int tw_gc_render(struct tw_output *out, const struct tw_gc *gc, const char *title)
{
	return gc->charts.counters ? tw_counters_render(out, gc->charts.counters, title ? title : "Heap", NULL, 0)
	                           : TW_ERR_UNSUPPORTED;
}

int tw_gc_plot(const struct tw_gc *gc, const char *path, const char *title)
{
	struct tw_output out;
	int status = gc->charts.counters ? tw_report_open(&out, path) : TW_ERR_UNSUPPORTED;
	return status < 0 ? status : tw_report_close(&out, tw_gc_render(&out, gc, title));
}

void tw_gc_free(struct tw_gc *gc)
{
	if (!gc)
		return;
	tw_counters_free(gc->charts.counters);
	free(gc->names.found);
	tw_dictionary_free(gc->charts.names);
	tw_dictionary_free(gc->texts);
	tw_map_free(&gc->classes.by_key.map);
	for (size_t i = 0; i < gc->processes.count; i++)
		tw_gc_heap_free(&gc->heaps[i]);
	tw_map_free(&gc->processes.map);
	free(gc->heaps);
	free(gc->collections);
	free(gc->classes.items);
	free(gc->generations.items);
	free(gc->shown.classes);
	free(gc->shown.generations);
	free(gc);
}
