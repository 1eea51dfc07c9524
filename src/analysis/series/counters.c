/* counters.c - the series of numbers that counters of a trace make. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/series/counters.h"

#include "analysis/texts.h"
#include "base/memory/memory.h"
#include "base/memory/order.h"
#include "base/options.h"
#include "core/format.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Integers are added exactly: 2^63 of 64 bits would be needed for more than this holds. */
__extension__ typedef __int128 wide;

struct tw_series_sum {
	wide integers;
	long double doubles;
};

enum { WANTED = 1, UNWANTED = 2 };

/* ---- Texts. ---- */

/* A name of the trace in our own dictionary; NULL when there is no room. */
static const char *keep_text(struct tw_counters *counters, const struct tw_name *name)
{
	return tw_texts_keep(counters->texts, &counters->budget, name->text, name->length);
}

static const char *keep_name(struct tw_counters *counters, uint32_t number)
{
	return keep_text(counters, tw_dictionary_name(counters->dictionary, number));
}

/* ---- Series. ---- */

struct counter_key {
	uint64_t process, id;
	uint32_t category, name, series;
};

static bool is_series(const struct tw_series *series, const struct counter_key *key)
{
	return series->row.process == key->process && series->row.id == key->id && series->category == key->category &&
	       series->name == key->name && series->series == key->series;
}

static void merge_columns(void *into, const void *from)
{
	struct tw_chart_column *a = into;
	const struct tw_chart_column *b = from;
	if (!a->used) {
		*a = *b;
	} else if (b->used) {
		a->last = b->last;
		a->min = b->min < a->min ? b->min : a->min;
		a->max = b->max > a->max ? b->max : a->max;
	}
}

static bool make_chart(struct tw_counters *counters, struct tw_columns *chart)
{
	const size_t size = sizeof(struct tw_chart_column);
	*chart = (struct tw_columns){.size = size, .merge = merge_columns};
	if (!counters->options.plot)
		return true;
	if (!tw_budget_take(&counters->budget, TW_FOR_ROWS, TW_COLUMNS * size))
		return false;
	chart->items = calloc(TW_COLUMNS, size);
	return chart->items || tw_budget_fail(&counters->budget);
}

/* A new series at the end; false when there is no room. */
static bool add_series(struct tw_counters *counters, const struct counter_key *key, uint64_t hash)
{
	struct tw_series series = {.category = key->category, .name = key->name, .series = key->series};
	series.row = (struct tw_counter_row){.process = key->process, .id = key->id, .trace = counters->traces};
	series.row.category = keep_name(counters, key->category);
	series.row.name = keep_name(counters, key->name);
	series.row.series = keep_name(counters, key->series);
	if (!series.row.category || !series.row.name || !series.row.series || counters->count >= UINT32_MAX - 1 ||
	    !tw_budget_grow(&counters->budget, TW_FOR_ROWS, &counters->all, &counters->room, counters->count + 1,
	                    sizeof *counters->all) ||
	    !tw_budget_grow(&counters->budget, TW_FOR_ROWS, &counters->sums, &counters->sum_room, counters->count + 1,
	                    sizeof *counters->sums) ||
	    !make_chart(counters, &series.chart))
		return false;
	if (!tw_budget_map_add(&counters->budget, TW_FOR_ROWS, &counters->map, hash, (uint32_t)counters->count)) {
		free(series.chart.items);
		return false;
	}
	counters->sums[counters->count] = (struct tw_series_sum){0};
	counters->all[counters->count++] = series;
	return true;
}

/* The number of a series, UINT32_MAX when there is no room for it. */
static uint32_t find_series(struct tw_counters *counters, const struct counter_key *key)
{
	uint64_t names = tw_hash_two((uint64_t)key->category << 32 | key->name, key->series);
	uint64_t hash = tw_hash_two(tw_hash_two(names, key->process), key->id);
	uint32_t number;
	for (size_t slot = SIZE_MAX; tw_map_next(&counters->map, hash, &slot, &number);)
		if (is_series(&counters->all[number], key))
			return number;
	return add_series(counters, key, hash) ? (uint32_t)counters->count - 1 : UINT32_MAX;
}

/* ---- Samples. ---- */

static bool is_number(const struct tw_argument *argument)
{
	return argument->type == TW_ARG_INT || argument->type == TW_ARG_UINT ||
	       (argument->type == TW_ARG_DOUBLE && isfinite(argument->value.d));
}

static struct tw_counter_value value_of(const struct tw_argument *argument)
{
	struct tw_counter_value value = {.type = (enum tw_argument_type)argument->type};
	if (value.type == TW_ARG_DOUBLE)
		value.value.d = argument->value.d;
	else
		value.value.u = argument->value.u;
	return value;
}

static void add_to_chart(const struct tw_counters *counters, struct tw_columns *chart, uint64_t time, double value)
{
	struct tw_chart_column *columns = chart->items;
	uint64_t left = counters->window.from_ns;
	if (columns)
		merge_columns(&columns[tw_columns_reach(chart, time > left ? time - left : 0)],
		              &(struct tw_chart_column){value, value, value, value, true});
}

static void add_sample(struct tw_series *series, struct tw_series_sum *sum, uint64_t time,
                       const struct tw_counter_value *value)
{
	struct tw_counter_row *row = &series->row;
	long double number = tw_counter_number(value);
	if (row->count++ == 0) {
		row->first = row->min = row->max = *value;
		row->first_ns = time;
	}
	if (number < tw_counter_number(&row->min))
		row->min = *value;
	if (number > tw_counter_number(&row->max))
		row->max = *value;
	row->last = *value;
	row->last_ns = time;
	if (value->type == TW_ARG_DOUBLE)
		sum->doubles += number;
	else
		sum->integers += value->type == TW_ARG_INT ? (wide)value->value.i : (wide)value->value.u;
}

static int report_sample(const struct tw_counters *counters, const struct tw_series *series,
                         const struct tw_event *event, uint64_t time, const struct tw_counter_value *value)
{
	const struct tw_counter_row *row = &series->row;
	const struct tw_counter_sample sample = {
	    .time = time,
	    .process = row->process,
	    .thread = tw_dictionary_track(counters->dictionary, event->track)->thread,
	    .id = row->id,
	    .category = row->category,
	    .name = row->name,
	    .series = row->series,
	    .value = *value,
	};
	return counters->options.on_sample ? counters->options.on_sample(counters->options.context, &sample) : 0;
}

static int take_argument(struct tw_counters *counters, const struct tw_event *event, const struct tw_argument *argument)
{
	const struct counter_key key = {
	    .process = tw_dictionary_track(counters->dictionary, event->track)->process,
	    .id = event->id,
	    .category = event->category,
	    .name = event->name,
	    .series = argument->name,
	};
	uint64_t start = counters->clock->start_ns, time = event->time > start ? event->time - start : 0;
	uint32_t number = find_series(counters, &key);
	if (number == UINT32_MAX) {
		counters->left_out++;
		return 0;
	}
	struct tw_series *series = &counters->all[number];
	if (!is_number(argument)) {
		series->row.not_numbers++;
		return 0;
	}
	const struct tw_counter_value value = value_of(argument);
	add_sample(series, &counters->sums[number], time, &value);
	add_to_chart(counters, &series->chart, time, (double)tw_counter_number(&value));
	return report_sample(counters, series, event, time, &value);
}

/* Whether the glob lets a name through, asked once for each: names are few, and samples many. */
static int is_wanted(struct tw_counters *counters, uint32_t name)
{
	const char *glob = counters->options.counter;
	if (!glob)
		return WANTED;
	if (!tw_grow(&counters->wanted, &counters->wanted_room, name + (size_t)1, sizeof *counters->wanted))
		return TW_ERR_MEMORY;
	uint8_t *wanted = &counters->wanted[name];
	if (!*wanted)
		*wanted =
		    fnmatch(glob, tw_dictionary_name(counters->dictionary, name)->text, 0) == 0 ? WANTED : UNWANTED;
	return *wanted;
}

static int take(struct tw_counters *counters, const struct tw_event *event, const struct tw_argument *arguments)
{
	int wanted = is_wanted(counters, event->name), status = wanted < 0 ? wanted : 0;
	for (size_t i = 0; i < event->argument_count && status == 0 && wanted == WANTED; i++)
		status = take_argument(counters, event, &arguments[i]);
	return status;
}

/* ---- A trace. ---- */

void tw_counters_begin(struct tw_counters *counters, const struct tw_dictionary *dictionary,
                       const struct tw_clock *clock)
{
	counters->dictionary = dictionary;
	counters->clock = clock;
	counters->begun = counters->count;
}

int tw_counters_take(struct tw_counters *counters, const struct tw_batch *batch)
{
	int status = 0;
	for (size_t i = 0; i < batch->count && status == 0; i++)
		if (batch->events[i].kind == TW_COUNTER)
			status = take(counters, &batch->events[i], tw_event_arguments(batch, &batch->events[i]));
	return status;
}

static int compare(const void *left, const void *right)
{
	const struct tw_counter_row *a = &((const struct tw_series *)left)->row;
	const struct tw_counter_row *b = &((const struct tw_series *)right)->row;
	int order = tw_compare(a->trace, b->trace);
	order = order ? order : tw_compare(a->process, b->process);
	order = order ? order : strcmp(a->category, b->category);
	order = order ? order : strcmp(a->name, b->name);
	order = order ? order : tw_compare(a->id, b->id);
	return order ? order : strcmp(a->series, b->series);
}

/* Completes a row at the end of the trace, when processes have their names. */
static void finish_row(struct tw_counters *counters, struct tw_counter_row *row, const struct tw_series_sum *sum)
{
	const struct tw_name *process = tw_dictionary_process_name(counters->dictionary, row->process);
	long double total = (long double)sum->integers + sum->doubles;
	row->mean = row->count ? (double)(total / (long double)row->count) : 0;
	row->process_name = process->length ? keep_text(counters, process) : NULL;
}

int tw_counters_end(struct tw_counters *counters)
{
	const struct tw_clock *clock = counters->clock;
	uint64_t end = clock->end_ns > counters->reach_ns ? clock->end_ns : counters->reach_ns;
	uint64_t length = end > clock->start_ns ? end - clock->start_ns : 0;
	for (size_t i = counters->begun; i < counters->count; i++)
		finish_row(counters, &counters->all[i].row, &counters->sums[i]);
	if (counters->count)
		qsort(counters->all, counters->count, sizeof *counters->all, compare);
	counters->end_ns = length > counters->end_ns ? length : counters->end_ns;
	tw_budget_give(&counters->budget, TW_FOR_ROWS, tw_budget_map_size(&counters->map));
	tw_map_free(&counters->map);
	free(counters->wanted);
	counters->wanted = NULL;
	counters->wanted_room = 0;
	counters->traces++;
	return tw_budget_status(&counters->budget);
}

/* ---- The handle. ---- */

int tw_counters_new(struct tw_counters **made, const struct tw_counters_options *options)
{
	*made = NULL;
	struct tw_counters *counters = calloc(1, sizeof *counters);
	if (!counters)
		return TW_ERR_MEMORY;
	TW_COPY_OPTIONS(&counters->options, options, struct tw_counters_options);
	size_t limit = counters->options.memory_limit ? counters->options.memory_limit : TW_DEFAULT_MEMORY;
	tw_budget_reset(&counters->budget, limit, 1);
	counters->texts = tw_dictionary_new_plain();
	if (!counters->texts) {
		free(counters);
		return TW_ERR_MEMORY;
	}
	*made = counters;
	return 0;
}

int tw_counters_add(struct tw_counters *counters, struct tw_reader *reader)
{
	const struct tw_request request = {.kinds = tw_kinds_beside_clock(reader, 1u << TW_COUNTER)};
	struct tw_batch batch;
	int got, status = tw_begin(reader, TW_USE_WHOLE, &request);
	tw_counters_begin(counters, tw_reader_dictionary(reader), tw_reader_clock(reader));
	counters->window = (struct tw_times){reader->options.from_ns, reader->options.to_ns};
	while (status == 0 && (got = tw_pull(reader, &batch)) != 0)
		status = got < 0 ? got : tw_counters_take(counters, &batch);
	int ended = tw_counters_end(counters);
	return status ? status : ended;
}

const struct tw_counter_row *tw_counters_row(const struct tw_counters *counters, size_t i)
{
	return i < counters->count ? &counters->all[i].row : NULL;
}

uint64_t tw_counters_left_out(const struct tw_counters *counters)
{
	return counters->left_out;
}

void tw_counters_free(struct tw_counters *counters)
{
	if (!counters)
		return;
	for (size_t i = 0; i < counters->count; i++)
		free(counters->all[i].chart.items);
	free(counters->all);
	free(counters->sums);
	tw_map_free(&counters->map);
	free(counters->wanted);
	tw_dictionary_free(counters->texts);
	free(counters);
}
