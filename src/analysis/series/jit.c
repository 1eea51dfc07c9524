/* jit.c - what was compiled while the program ran: how long it took, and how large it became. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/series/columns.h"
#include "analysis/series/jit_cpu.h"
#include "analysis/texts.h"
#include "base/memory/order.h"
#include "base/memory/sum.h"
#include "base/options.h"
#include "core/format.h"
#include "core/runtime_names.h"

#include <trackway/jit.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct listed_function {
	struct tw_jit_row row;
	uint32_t about; /* the name of the function, the track, or the number of the body */
	uint64_t id;    /* of the function: others may have its name */
};

enum { DEPTH = 16 /* compilations inside of each other; the time of deeper ones counts as the innermost one's own */ };

struct open {
	uint64_t begin, end;
	uint64_t own;    /* ns that nothing inside of it has taken */
	uint64_t offset; /* in the file: of two that take the same time, the first is around the other */
	uint32_t row;
	bool cached;
};

/* What goes on in a track, the outermost first. */
struct stack {
	struct open items[DEPTH];
	unsigned depth;
	struct tw_compiling_thread cpu;
};

struct tw_jit {
	struct tw_jit_options options;
	struct tw_budget budget;
	const struct tw_dictionary *dictionary; /* of the trace, while it is read */
	struct tw_runtime_names names;          /* of it */
	struct tw_dictionary *texts;
	struct listed_function *rows;
	struct tw_keyed keys; /* of rows, by what they are about */
	struct stack *stacks;
	struct tw_keyed tracks; /* that have one */
	uint64_t end_ns, span_ns;
	uint64_t left_out;
};

/* ---- What an event is. ---- */

/* A number among the arguments; NULL where there is none. */
static const struct tw_argument *argument_of(struct tw_jit *jit, const struct tw_batch *batch,
                                             const struct tw_event *event, enum tw_runtime_name name)
{
	const struct tw_argument *arguments = tw_event_arguments(batch, event);
	for (unsigned i = 0; i < event->argument_count; i++)
		if (arguments[i].type > TW_ARG_NULL && arguments[i].type < TW_ARG_DOUBLE &&
		    tw_runtime_name(&jit->names, arguments[i].name) == name)
			return &arguments[i];
	return NULL;
}

/* 0 where there is none. */
static uint64_t number_of(struct tw_jit *jit, const struct tw_batch *batch, const struct tw_event *event,
                          enum tw_runtime_name name)
{
	const struct tw_argument *argument = argument_of(jit, batch, event, name);
	return argument ? argument->value.u : 0;
}

/* ---- Rows. ---- */

static uint32_t body_of(struct tw_jit *jit, const struct tw_batch *batch, const struct tw_event *event)
{
	uint64_t body = number_of(jit, batch, event, TW_RUNTIME_BODY);
	return body < UINT32_MAX ? (uint32_t)body : 0;
}

/* UINT32_MAX when there is no room. */
static uint32_t find_row(struct tw_jit *jit, const struct tw_batch *batch, const struct tw_event *event)
{
	const enum tw_jit_by by = jit->options.by;
	uint32_t about = by == TW_JIT_BY_THREAD ? event->track
	                 : by == TW_JIT_BY_BODY ? body_of(jit, batch, event)
	                                        : event->name;
	uint32_t row = tw_budget_item(&jit->budget, TW_FOR_ROWS, &jit->keys, about, &jit->rows, sizeof *jit->rows, 0);
	if (row != UINT32_MAX)
		jit->rows[row].about = about;
	return row;
}

static uint64_t greater(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static bool holds(const struct open *around, uint64_t begin, uint64_t end)
{
	return around->begin <= begin && end <= around->end && begin < around->end;
}

/* Whether a slice with the times of another one is around it: its record stands first in the file. */
static bool is_around(const struct open *slice, const struct open *before)
{
	return slice->begin == before->begin && slice->end == before->end && slice->offset < before->offset;
}

/* Takes the time of a slice off the own time of the slice around it. Returns whether a slice around it is of the same
 * row, so that the row has its time already. */
static bool put_inside(struct tw_jit *jit, struct stack *stack, const struct open *slice)
{
	bool counted = false;
	while (stack->depth && !holds(&stack->items[stack->depth - 1], slice->begin, slice->end))
		stack->depth--;
	for (unsigned i = 0; i < stack->depth; i++)
		counted |= stack->items[i].row == slice->row && !stack->items[i].cached;
	if (!stack->depth || stack->depth == DEPTH || stack->items[stack->depth - 1].cached)
		return counted;
	struct open *outer = &stack->items[stack->depth - 1];
	const uint64_t ns = slice->end - slice->begin, taken = ns < outer->own ? ns : outer->own;
	outer->own -= taken;
	jit->rows[outer->row].row.self_ns -= taken;
	return counted;
}

/* NULL when there is no room. */
static struct stack *find_stack(struct tw_jit *jit, uint32_t track)
{
	uint32_t place =
	    tw_budget_item(&jit->budget, TW_FOR_ROWS, &jit->tracks, track, &jit->stacks, sizeof *jit->stacks, 0);
	return place == UINT32_MAX ? NULL : &jit->stacks[place];
}

static void count_slice(struct tw_jit *jit, const struct tw_event *event, uint32_t number, bool cached)
{
	const uint64_t end = tw_event_end(event), ns = end - event->time;
	const struct open slice = {event->time, end, ns, event->offset, number, cached};
	struct tw_jit_row *row = &jit->rows[number].row;
	struct stack *stack = find_stack(jit, event->track);
	const struct tw_compiling compiling = {event->time, end, event->offset, number, cached};
	if (stack)
		(void)tw_compiling_add(&stack->cpu, &jit->budget, &compiling); /* without room there is no estimate */
	const struct open *before = stack && stack->depth ? &stack->items[stack->depth - 1] : NULL;
	bool around = before && is_around(&slice, before);
	bool counted = around ? before->row == number && !before->cached : stack && put_inside(jit, stack, &slice);
	bool deeper = stack && !around && stack->depth == DEPTH;
	if (stack && !around && !deeper)
		stack->items[stack->depth++] = slice;
	row->compiled += !cached;
	row->cached += cached;
	if (cached) {
		row->cached_ns = tw_sum(row->cached_ns, ns);
		return;
	}
	row->compiled_ns = tw_sum(row->compiled_ns, counted ? 0 : ns);
	row->self_ns = tw_sum(row->self_ns, around || deeper ? 0 : ns);
	row->max_ns = greater(row->max_ns, ns);
}

static void give_cpu(void *context, const struct tw_compiling *it, uint64_t ns)
{
	struct tw_jit_row *row = &((struct tw_jit *)context)->rows[it->row].row;
	row->cpu_known |= !it->cached;
	row->cpu_ns = it->cached ? row->cpu_ns : tw_sum(row->cpu_ns, ns);
}

/* What a thread used since it was told before. */
static void take_usage(struct tw_jit *jit, const struct tw_batch *batch, const struct tw_event *event)
{
	enum { NS_IN_US = 1000 };
	const struct tw_argument *us = argument_of(jit, batch, event, TW_RUNTIME_US);
	struct tw_compiling_usage usage = {.time = event->time};
	uint64_t interval_us = number_of(jit, batch, event, TW_RUNTIME_INTERVAL_US);
	struct stack *stack = us ? find_stack(jit, event->track) : NULL;
	if (!stack || tw_runtime_name(&jit->names, event->name) == TW_RUNTIME_PROCESS_CPU)
		return;
	if (__builtin_mul_overflow(us->value.i, NS_IN_US, &usage.ns) ||
	    __builtin_mul_overflow(interval_us, NS_IN_US, &usage.interval_ns))
		return;
	tw_compiling_use(&stack->cpu, &usage, give_cpu, jit);
}

static void take(struct tw_jit *jit, const struct tw_batch *batch, const struct tw_event *event)
{
	enum tw_runtime_name category = tw_runtime_name(&jit->names, event->category);
	if (event->kind == TW_COUNTER && category == TW_RUNTIME_CPU)
		take_usage(jit, batch, event);
	if (category != TW_RUNTIME_JIT && category != TW_RUNTIME_JIT_CACHED)
		return;
	uint64_t code_bytes = number_of(jit, batch, event, TW_RUNTIME_CODE_BYTES);
	if (event->kind == TW_INSTANT && !code_bytes)
		return;
	uint32_t number = find_row(jit, batch, event);
	if (number == UINT32_MAX) {
		jit->left_out++;
		return;
	}
	struct tw_jit_row *row = &jit->rows[number].row;
	/* A compilation that ends with the slice around it has no end of its own. */
	bool open = event->kind == TW_SLICE_BEGIN || (event->flags & TW_FLAG_UNWOUND);
	if (open)
		row->open++;
	else if (event->kind == TW_SLICE_COMPLETE)
		count_slice(jit, event, number, category == TW_RUNTIME_JIT_CACHED);
	row->failed += number_of(jit, batch, event, TW_RUNTIME_STATUS) != 0;
	if (category == TW_RUNTIME_JIT && !open)
		row->code_bytes = tw_sum(row->code_bytes, code_bytes);
}

/* ---- Texts: names are known by now, where the trace tells them. ---- */

static const char *keep(struct tw_jit *jit, uint32_t name)
{
	return tw_texts_keep_name(jit->texts, &jit->budget, jit->dictionary, name);
}

/* NULL where there is none. */
static const char *keep_other(struct tw_jit *jit, uint32_t name)
{
	return tw_dictionary_name(jit->dictionary, name)->length ? keep(jit, name) : NULL;
}

static const char *ordinal(struct tw_jit *jit, uint32_t number)
{
	static const char *const words[] = {"(not told)", "first", "second", "third", "fourth", "fifth"};
	char text[16];
	if (number < sizeof words / sizeof *words)
		return words[number];
	int length = snprintf(text, sizeof text, "number %" PRIu32, number);
	return tw_texts_keep(jit->texts, &jit->budget, text, (size_t)length);
}

static void fill_body(struct tw_jit *jit, struct listed_function *filled)
{
	const char *name = ordinal(jit, filled->about);
	filled->row.name = name ? name : "(other)";
	filled->row.body = filled->about;
}

static void fill_row(struct tw_jit *jit, struct listed_function *filled)
{
	bool thread = jit->options.by == TW_JIT_BY_THREAD;
	const struct tw_track *track = tw_dictionary_track(jit->dictionary, thread ? filled->about : 0);
	const struct tw_name *function = tw_dictionary_name(jit->dictionary, thread ? 0 : filled->about);
	const bool threadless = thread && tw_is_threadless(track);
	const char *name = keep(jit, threadless ? 0 : thread ? track->name : filled->about);
	struct tw_jit_row *row = &filled->row;
	filled->id = function->id;
	row->name = name ? name : "(other)"; /* no room for its name */
	row->owner = keep_other(jit, function->owner);
	row->module = keep_other(jit, function->module);
	if (thread) {
		row->process = track->process;
		row->thread = threadless ? 0 : track->thread;
		row->threadless = threadless;
	}
}

/* Rows of which this is 0 are of the same. */
static int compare(const void *left, const void *right)
{
	const struct listed_function *one = left, *other = right;
	const struct tw_jit_row *a = &one->row, *b = &other->row;
	int order = tw_compare(a->body, b->body);
	order = order ? order : strcmp(a->name, b->name);
	order = order ? order : tw_compare(a->process, b->process);
	order = order ? order : tw_compare(b->threadless, a->threadless);
	order = order ? order : tw_compare(a->thread, b->thread);
	order = order ? order : strcmp(a->module ? a->module : "", b->module ? b->module : "");
	order = order ? order : strcmp(a->owner ? a->owner : "", b->owner ? b->owner : "");
	return order ? order : tw_compare(one->id, other->id);
}

static void join_row(struct tw_jit_row *row, const struct tw_jit_row *other)
{
	row->compiled += other->compiled;
	row->compiled_ns = tw_sum(row->compiled_ns, other->compiled_ns);
	row->self_ns = tw_sum(row->self_ns, other->self_ns);
	row->max_ns = other->max_ns > row->max_ns ? other->max_ns : row->max_ns;
	row->cached += other->cached;
	row->cached_ns = tw_sum(row->cached_ns, other->cached_ns);
	row->failed += other->failed;
	row->open += other->open;
	row->code_bytes = tw_sum(row->code_bytes, other->code_bytes);
	row->cpu_ns = tw_sum(row->cpu_ns, other->cpu_ns);
	row->cpu_known |= other->cpu_known;
}

/* A function that was known by its number and by a pointer before it had a name has two in the dictionary. */
static void join_rows(struct tw_jit *jit)
{
	size_t kept = 0;
	for (size_t i = 0; i < jit->keys.count; i++) {
		if (kept && compare(&jit->rows[kept - 1], &jit->rows[i]) == 0)
			join_row(&jit->rows[kept - 1].row, &jit->rows[i].row);
		else
			jit->rows[kept++] = jit->rows[i];
	}
	jit->keys.count = kept;
}

static void finish(struct tw_jit *jit, const struct tw_reader *reader)
{
	uint64_t start = reader->clock.start_ns;
	uint64_t end = greater(jit->end_ns, greater(reader->clock.end_ns, reader->traits.reach_ns));
	jit->span_ns = tw_times_span(&(struct tw_times){greater(reader->options.from_ns, reader->traits.part_ns),
	                                                reader->options.to_ns},
	                             end > start ? end - start : 0);
	for (size_t i = 0; i < jit->keys.count; i++)
		(jit->options.by == TW_JIT_BY_BODY ? fill_body : fill_row)(jit, &jit->rows[i]);
	if (jit->keys.count)
		qsort(jit->rows, jit->keys.count, sizeof *jit->rows, compare);
	join_rows(jit);
}

/* ---- The handle. ---- */

static struct tw_jit *make(const struct tw_jit_options *options, struct tw_reader *reader)
{
	struct tw_jit *jit = calloc(1, sizeof *jit);
	if (!jit)
		return NULL;
	TW_COPY_OPTIONS(&jit->options, options, struct tw_jit_options);
	size_t limit = jit->options.memory_limit;
	tw_budget_reset(&jit->budget, limit ? limit : TW_DEFAULT_MEMORY, 1);
	jit->dictionary = jit->names.dictionary = tw_reader_dictionary(reader);
	jit->texts = tw_dictionary_new_plain();
	if (jit->texts)
		return jit;
	free(jit);
	return NULL;
}

int tw_jit_read(struct tw_jit **made, struct tw_reader *reader, const struct tw_jit_options *options)
{
	const uint32_t kinds = 1u << TW_SLICE_COMPLETE | 1u << TW_SLICE_BEGIN | 1u << TW_INSTANT | 1u << TW_COUNTER;
	const struct tw_request request = {.kinds = reader->format->traits.has_reach ? kinds : 0};
	struct tw_batch batch;
	int got;
	struct tw_jit *jit = *made = make(options, reader);
	if (!jit)
		return tw_fail(reader, TW_ERR_MEMORY, "out of memory");
	if ((unsigned)jit->options.by > TW_JIT_BY_BODY)
		return tw_fail(reader, TW_ERR_VALUE, "there are no rows by number %u", (unsigned)jit->options.by);
	int status = tw_begin(reader, TW_USE_WHOLE, &request);
	if (status < 0)
		return status;
	while ((got = tw_pull(reader, &batch)) > 0)
		for (size_t i = 0; i < batch.count; i++) {
			jit->end_ns = greater(jit->end_ns, tw_event_end(&batch.events[i]));
			if (kinds >> batch.events[i].kind & 1)
				take(jit, &batch, &batch.events[i]);
		}
	finish(jit, reader);
	status = tw_budget_status(&jit->budget);
	return got == 0 && status < 0 ? tw_fail(reader, status, "out of memory") : got;
}

const struct tw_jit_row *tw_jit_row(const struct tw_jit *jit, size_t i)
{
	return i < jit->keys.count ? &jit->rows[i].row : NULL;
}

uint64_t tw_jit_span_ns(const struct tw_jit *jit)
{
	return jit->span_ns;
}

uint64_t tw_jit_left_out(const struct tw_jit *jit)
{
	return jit->left_out;
}

void tw_jit_free(struct tw_jit *jit)
{
	if (!jit)
		return;
	for (size_t i = 0; i < jit->tracks.count; i++)
		tw_compiling_free(&jit->stacks[i].cpu);
	tw_map_free(&jit->keys.map);
	tw_map_free(&jit->tracks.map);
	free(jit->stacks);
	free(jit->names.found);
	tw_dictionary_free(jit->texts);
	free(jit->rows);
	free(jit);
}
