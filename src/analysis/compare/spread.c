/* spread.c - what is in a trace beside calls, by name: how often, and how much in all. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/compare/spread.h"

#include "analysis/texts.h"
#include "base/memory/order.h"
#include "base/memory/sum.h"
#include "core/format.h"

#include <trackway/gc.h>
#include <trackway/jit.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PENDING_LEAST = 1024 };

/* A row while the trace is read: numbers of its dictionary, which come to be known. */
struct spread_key {
	uint32_t category, name, series;
	uint64_t last; /* of events: when the one before was */
	bool seen;
};

/* An operation that has begun. */
struct pending {
	uint64_t key, begin;
	bool live;
};

struct tw_spread {
	enum tw_spread_of of;
	struct tw_budget budget;
	struct tw_dictionary *texts;
	struct spread_key *keys;
	struct tw_spread_row *rows;
	size_t count, key_room, row_room;
	struct tw_map map; /* hash of a key to row */
	struct pending *pendings;
	size_t pending_count, pending_room, going;
	struct tw_map pending_map;
	uint64_t left_out;
};

/* ---- Counting. ---- */

static void add_value(struct tw_spread *spread, uint32_t row, double value)
{
	spread->rows[row].sum += value;
	spread->rows[row].values++;
}

static void add_whole(struct tw_spread *spread, uint32_t row, uint64_t value)
{
	spread->rows[row].whole = tw_sum(spread->rows[row].whole, value);
	add_value(spread, row, (double)value);
}

static uint64_t hash_of(const struct spread_key *key)
{
	return tw_hash_two((uint64_t)key->category << 32 | key->name, key->series);
}

/* UINT32_MAX when there is no room. */
static uint32_t find_row(struct tw_spread *spread, const struct spread_key *key)
{
	uint32_t row;
	for (size_t slot = SIZE_MAX; tw_map_next(&spread->map, hash_of(key), &slot, &row);) {
		const struct spread_key *known = &spread->keys[row];
		if (known->category == key->category && known->name == key->name && known->series == key->series)
			return row;
	}
	row = (uint32_t)spread->count;
	if (!tw_budget_grow(&spread->budget, TW_FOR_ROWS, &spread->keys, &spread->key_room, spread->count + 1,
	                    sizeof *spread->keys) ||
	    !tw_budget_grow(&spread->budget, TW_FOR_ROWS, &spread->rows, &spread->row_room, spread->count + 1,
	                    sizeof *spread->rows) ||
	    !tw_budget_map_add(&spread->budget, TW_FOR_ROWS, &spread->map, hash_of(key), row)) {
		spread->left_out++;
		return UINT32_MAX;
	}
	spread->keys[row] = *key;
	spread->rows[row] = (struct tw_spread_row){.number = row};
	spread->count++;
	return row;
}

static uint32_t row_of(struct tw_spread *spread, const struct tw_event *event, uint32_t series)
{
	return find_row(spread,
	                &(struct spread_key){.category = event->category, .name = event->name, .series = series});
}

/* ---- Events. ---- */

static void take_instant(struct tw_spread *spread, const struct tw_event *event)
{
	uint32_t row = row_of(spread, event, 0);
	if (row == UINT32_MAX)
		return;
	struct spread_key *key = &spread->keys[row];
	spread->rows[row].count++;
	if (key->seen && event->time >= key->last)
		add_whole(spread, row, event->time - key->last);
	key->seen = true;
	key->last = event->time;
}

static void take_allocation(struct tw_spread *spread, const struct tw_event *event)
{
	uint32_t row = row_of(spread, event, 0);
	if (row == UINT32_MAX)
		return;
	spread->rows[row].count += event->id;
	add_whole(spread, row, event->value);
}

static bool number_of(const struct tw_argument *argument, double *number)
{
	if (argument->type == TW_ARG_INT)
		*number = (double)argument->value.i;
	else if (argument->type == TW_ARG_UINT)
		*number = (double)argument->value.u;
	else if (argument->type == TW_ARG_DOUBLE)
		*number = argument->value.d;
	else
		return false;
	*number += 0.0; /* -0 is 0 */
	return isfinite(*number);
}

static void take_counter(struct tw_spread *spread, const struct tw_event *event, const struct tw_argument *arguments)
{
	for (unsigned i = 0; i < event->argument_count; i++) {
		double number;
		uint32_t row =
		    number_of(&arguments[i], &number) ? row_of(spread, event, arguments[i].name) : UINT32_MAX;
		if (row == UINT32_MAX)
			continue;
		spread->rows[row].count++;
		add_value(spread, row, number);
	}
}

/* ---- Operations. ---- */

/* Takes operations that are over out of the map, all at once: a map has no removal of one. */
static bool tidy(struct tw_spread *spread)
{
	size_t kept = 0;
	tw_budget_give(&spread->budget, TW_FOR_STACKS, tw_budget_map_size(&spread->pending_map));
	tw_map_free(&spread->pending_map);
	spread->pending_map = (struct tw_map){0};
	for (size_t i = 0; i < spread->pending_count; i++)
		if (spread->pendings[i].live)
			spread->pendings[kept++] = spread->pendings[i];
	spread->pending_count = kept;
	bool fine = true;
	for (uint32_t i = 0; i < kept && fine; i++)
		fine =
		    tw_budget_map_add(&spread->budget, TW_FOR_STACKS, &spread->pending_map, spread->pendings[i].key, i);
	return fine;
}

static uint64_t operation_of(const struct tw_dictionary *dictionary, const struct tw_event *event)
{
	uint64_t names = (uint64_t)event->name << 32 | event->category;
	bool global = event->flags & TW_FLAG_GLOBAL;
	uint64_t process = global ? 0 : tw_dictionary_track(dictionary, event->track)->process;
	return tw_hash_two(tw_hash_two(names, event->id), process);
}

/* A begin with the same id ends what has not ended: nothing is known of that. */
static void begin_operation(struct tw_spread *spread, uint64_t key, uint64_t time)
{
	uint32_t number;
	if (tw_map_find(&spread->pending_map, key, &number)) {
		spread->going += !spread->pendings[number].live;
		spread->pendings[number] = (struct pending){key, time, true};
		return;
	}
	bool fine = spread->pending_count < 2 * spread->going + PENDING_LEAST || tidy(spread);
	number = (uint32_t)spread->pending_count;
	if (!fine ||
	    !tw_budget_grow(&spread->budget, TW_FOR_STACKS, &spread->pendings, &spread->pending_room,
	                    spread->pending_count + 1, sizeof *spread->pendings) ||
	    !tw_budget_map_add(&spread->budget, TW_FOR_STACKS, &spread->pending_map, key, number)) {
		spread->left_out++;
		return;
	}
	spread->pendings[spread->pending_count++] = (struct pending){key, time, true};
	spread->going++;
}

static void end_operation(struct tw_spread *spread, uint64_t key, const struct tw_event *event)
{
	uint32_t number;
	if (!tw_map_find(&spread->pending_map, key, &number) || !spread->pendings[number].live ||
	    event->time < spread->pendings[number].begin)
		return;
	spread->pendings[number].live = false;
	spread->going--;
	uint32_t row = row_of(spread, event, 0);
	if (row == UINT32_MAX)
		return;
	spread->rows[row].count++;
	add_whole(spread, row, event->time - spread->pendings[number].begin);
}

/* ---- The trace. ---- */

static const uint32_t kinds[] = {
    [TW_SPREAD_EVENTS] = 1u << TW_INSTANT,
    [TW_SPREAD_ASYNC] = 1u << TW_ASYNC_BEGIN | 1u << TW_ASYNC_END,
    [TW_SPREAD_COUNTERS] = 1u << TW_COUNTER,
    [TW_SPREAD_GC] = 0,
    [TW_SPREAD_ALLOCATIONS] = 1u << TW_ALLOCATION_SAMPLE,
    [TW_SPREAD_HEAP] = 0,
    [TW_SPREAD_JIT] = 0,
    [TW_SPREAD_INSTRUCTIONS] = 0,
};

static void take(struct tw_spread *spread, const struct tw_dictionary *dictionary, const struct tw_batch *batch,
                 const struct tw_event *event)
{
	if (!(kinds[spread->of] >> event->kind & 1))
		return;
	if (spread->of == TW_SPREAD_EVENTS)
		take_instant(spread, event);
	else if (spread->of == TW_SPREAD_COUNTERS)
		take_counter(spread, event, tw_event_arguments(batch, event));
	else if (spread->of == TW_SPREAD_ALLOCATIONS)
		take_allocation(spread, event);
	else if (event->kind == TW_ASYNC_BEGIN)
		begin_operation(spread, operation_of(dictionary, event), event->time);
	else
		end_operation(spread, operation_of(dictionary, event), event);
}

/* Names are known by now, where the trace tells them. */
static bool name_rows(struct tw_spread *spread, const struct tw_dictionary *dictionary)
{
	for (size_t i = 0; i < spread->count; i++) {
		const struct spread_key *key = &spread->keys[i];
		struct tw_spread_row *row = &spread->rows[i];
		row->category = tw_texts_keep_name(spread->texts, &spread->budget, dictionary, key->category);
		row->name = tw_texts_keep_name(spread->texts, &spread->budget, dictionary, key->name);
		row->series = tw_texts_keep_name(spread->texts, &spread->budget, dictionary, key->series);
		if (!row->category || !row->name || !row->series)
			return false;
	}
	return true;
}

static int by_texts(const void *left, const void *right)
{
	const struct tw_spread_row *a = left, *b = right;
	int order = strcmp(a->category, b->category);
	order = order ? order : strcmp(a->name, b->name);
	return order ? order : strcmp(a->series, b->series);
}

static void sort(struct tw_spread *spread)
{
	if (spread->count)
		qsort(spread->rows, spread->count, sizeof *spread->rows, by_texts);
}

static int read_events(struct tw_spread *spread, struct tw_reader *reader)
{
	const struct tw_dictionary *dictionary = tw_reader_dictionary(reader);
	struct tw_batch batch;
	int got, status = tw_begin(reader, TW_USE_WHOLE, &(struct tw_request){.kinds = kinds[spread->of]});
	if (status < 0)
		return status;
	while ((got = tw_pull(reader, &batch)) > 0)
		for (size_t i = 0; i < batch.count; i++)
			take(spread, dictionary, &batch, &batch.events[i]);
	return got == 0 && !name_rows(spread, dictionary) ? tw_fail(reader, TW_ERR_MEMORY, "out of memory") : got;
}

/* ---- What other analyses have found: collections, the heap, compilations. ---- */

/* The row of a name that is not of the trace's dictionary; UINT32_MAX when there is no room. */
static uint32_t find_named(struct tw_spread *spread, const char *name)
{
	struct spread_key key = {.name = tw_dictionary_text(spread->texts, name)};
	if (key.name != UINT32_MAX)
		return find_row(spread, &key);
	tw_budget_fail(&spread->budget);
	return UINT32_MAX;
}

/* Ends what was read by another analysis. */
static int end_named(struct tw_spread *spread, struct tw_reader *reader, int status)
{
	bool named = status != 0 || name_rows(spread, spread->texts);
	return named ? status : tw_fail(reader, TW_ERR_MEMORY, "out of memory");
}

static void add_pause(struct tw_spread *spread, const char *generations, const struct tw_gc_collection *collection)
{
	uint32_t row = find_named(spread, generations);
	if (row == UINT32_MAX)
		return;
	spread->rows[row].count++;
	if (!collection->open)
		add_whole(spread, row, collection->pause_ns);
}

static int read_collections(struct tw_spread *spread, struct tw_reader *reader)
{
	const struct tw_gc_options options = {.memory_limit = spread->budget.limit / 2};
	const struct tw_gc_collection *collection;
	struct tw_gc *gc;
	int status = tw_gc_read(&gc, reader, &options);
	for (size_t i = 0; gc && (collection = tw_gc_collection(gc, i)); i++) {
		add_pause(spread, "(all)", collection);
		if (*collection->generations)
			add_pause(spread, collection->generations, collection);
	}
	spread->left_out += gc ? tw_gc_left_out(gc) : 0;
	tw_gc_free(gc);
	return end_named(spread, reader, status);
}

static int read_heap(struct tw_spread *spread, struct tw_reader *reader)
{
	const struct tw_gc_options options = {.memory_limit = spread->budget.limit / 2};
	const struct tw_gc_class *class;
	struct tw_gc *gc;
	int status = tw_gc_read(&gc, reader, &options);
	for (size_t i = 0; gc && (class = tw_gc_class(gc, i)); i++) {
		uint32_t row = find_named(spread, class->name);
		if (row == UINT32_MAX)
			continue;
		spread->rows[row].count += class->count;
		add_whole(spread, row, class->bytes);
	}
	spread->left_out += gc ? tw_gc_left_out(gc) : 0;
	tw_gc_free(gc);
	return end_named(spread, reader, status);
}

static int read_compilations(struct tw_spread *spread, struct tw_reader *reader)
{
	const struct tw_jit_options options = {.memory_limit = spread->budget.limit / 2};
	const struct tw_jit_row *function;
	struct tw_jit *jit;
	int status = tw_jit_read(&jit, reader, &options);
	for (size_t i = 0; jit && (function = tw_jit_row(jit, i)); i++) {
		uint32_t row = function->compiled ? find_named(spread, function->name) : UINT32_MAX;
		if (row == UINT32_MAX)
			continue;
		spread->rows[row].count += function->compiled;
		add_whole(spread, row, function->compiled_ns);
	}
	spread->left_out += jit ? tw_jit_left_out(jit) : 0;
	tw_jit_free(jit);
	return end_named(spread, reader, status);
}

/* ---- What is no event. ---- */

uint32_t tw_spread_find(struct tw_spread *spread, const char *category, const char *name, size_t length)
{
	const struct tw_name text = {.text = name, .length = length};
	struct spread_key key = {.category = *category ? tw_dictionary_text(spread->texts, category) : 0,
	                         .name = tw_dictionary_intern(spread->texts, &text)};
	if (key.category != UINT32_MAX && key.name != UINT32_MAX)
		return find_row(spread, &key);
	spread->left_out++;
	return UINT32_MAX;
}

void tw_spread_add(struct tw_spread *spread, uint32_t row, uint64_t count)
{
	spread->rows[row].count += count;
}

void tw_spread_finish(struct tw_spread *spread)
{
	if (!name_rows(spread, spread->texts))
		spread->count = 0;
	sort(spread);
}

/* ---- The handle. ---- */

struct tw_spread *tw_spread_new(enum tw_spread_of of, size_t memory_limit)
{
	struct tw_spread *spread = calloc(1, sizeof *spread);
	if (!spread)
		return NULL;
	spread->of = of;
	tw_budget_reset(&spread->budget, memory_limit ? memory_limit : TW_DEFAULT_MEMORY, 1);
	spread->texts = tw_dictionary_new_plain();
	if (spread->texts)
		return spread;
	free(spread);
	return NULL;
}

int tw_spread_read(struct tw_spread *spread, struct tw_reader *reader)
{
	static int (*const ways[])(struct tw_spread *, struct tw_reader *) = {
	    [TW_SPREAD_GC] = read_collections,
	    [TW_SPREAD_HEAP] = read_heap,
	    [TW_SPREAD_JIT] = read_compilations,
	    [TW_SPREAD_INSTRUCTIONS] = NULL,
	};
	int status = ways[spread->of] ? ways[spread->of](spread, reader) : read_events(spread, reader);
	if (status == 0 && tw_budget_status(&spread->budget) < 0)
		status = tw_fail(reader, TW_ERR_MEMORY, "out of memory");
	if (status < 0)
		spread->count = 0; /* rows may have no names */
	sort(spread);
	return status;
}

const struct tw_spread_row *tw_spread_row(const struct tw_spread *spread, size_t i)
{
	return i < spread->count ? &spread->rows[i] : NULL;
}

uint64_t tw_spread_left_out(const struct tw_spread *spread)
{
	return spread->left_out;
}

void tw_spread_free(struct tw_spread *spread)
{
	if (!spread)
		return;
	tw_map_free(&spread->map);
	tw_map_free(&spread->pending_map);
	tw_dictionary_free(spread->texts);
	free(spread->keys);
	free(spread->rows);
	free(spread->pendings);
	free(spread);
}
