/* alloc.c - what was allocated: by class, and by who allocated it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/texts.h"
#include "base/memory/order.h"
#include "base/memory/sum.h"
#include "base/options.h"
#include "core/format.h"
#include "core/text/stack_text.h"

#include <trackway/alloc.h>

#include <stdlib.h>
#include <string.h>

enum { STACK_MAX = 1 << 16 }; /* bytes of a stack's text */

/* What is counted, by numbers of the trace's dictionary. */
struct alloc_sum {
	uint32_t name;
	uint32_t with; /* a name, a stack or a track, by what rows are by; otherwise 0 */
	uint64_t count, bytes;
	uint64_t events;
};

struct tw_alloc {
	struct tw_alloc_options options;
	struct tw_budget budget;
	const struct tw_dictionary *dictionary; /* of the trace, while it is read */
	struct tw_dictionary *texts;
	struct alloc_sum *sums;
	struct tw_keyed summed; /* by with << 32 | name */
	struct tw_alloc_row *rows;
	size_t row_count;
	uint64_t left_out;
};

/* ---- Counting. ---- */

static uint32_t function_of(const struct tw_alloc *alloc, const struct tw_event *event)
{
	uint32_t location = tw_dictionary_stack(alloc->dictionary, event->other)->location;
	return tw_dictionary_location(alloc->dictionary, location)->name;
}

static uint32_t with_of(const struct tw_alloc *alloc, const struct tw_event *event)
{
	switch (alloc->options.by) {
	case TW_ALLOC_BY_CLASS:
		break;
	case TW_ALLOC_BY_FUNCTION:
	case TW_ALLOC_BY_MODULE: /* which it is may be told later */
		return function_of(alloc, event);
	case TW_ALLOC_BY_STACK:
		return event->other;
	case TW_ALLOC_BY_THREAD:
		return event->track;
	}
	return 0;
}

/* Returns the number of the sum of a class and what it is counted with; UINT32_MAX when there is no room. */
static uint32_t find_sum(struct tw_alloc *alloc, uint32_t name, uint32_t with)
{
	uint32_t number = tw_budget_item(&alloc->budget, TW_FOR_ROWS, &alloc->summed, (uint64_t)with << 32 | name,
	                                 &alloc->sums, sizeof *alloc->sums, sizeof *alloc->rows);
	if (number != UINT32_MAX) {
		alloc->sums[number].name = name;
		alloc->sums[number].with = with;
	}
	return number;
}

static void take(struct tw_alloc *alloc, const struct tw_event *event)
{
	uint32_t number = find_sum(alloc, event->name, with_of(alloc, event));
	if (number == UINT32_MAX) {
		alloc->left_out++;
		return;
	}
	struct alloc_sum *sum = &alloc->sums[number];
	sum->events++;
	sum->bytes = tw_sum(sum->bytes, event->value);
	sum->count = tw_sum(sum->count, event->id);
}

/* ---- Rows: names are known by now, where the trace tells them. ---- */

static const char *keep_stack(struct tw_alloc *alloc, uint32_t stack)
{
	struct tw_text text = {0};
	const char *kept = NULL;
	if (tw_stack_text(&text, alloc->dictionary, stack, STACK_MAX) != TW_STACK_NO_MEMORY)
		kept = tw_texts_keep(alloc->texts, &alloc->budget, text.bytes, text.length);
	else
		tw_budget_fail(&alloc->budget);
	tw_text_free(&text);
	return kept;
}

/* Of a function: its own, or that of its class; a name of the dictionary. */
static uint32_t module_of(const struct tw_alloc *alloc, uint32_t function)
{
	const struct tw_name *name = tw_dictionary_name(alloc->dictionary, function);
	return name->module ? name->module : tw_dictionary_name(alloc->dictionary, name->owner)->module;
}

/* False when there is no room for a text. */
static bool fill_where(struct tw_alloc *alloc, const struct alloc_sum *sum, struct tw_alloc_row *row)
{
	enum tw_alloc_by by = alloc->options.by;
	const struct tw_track *track = tw_dictionary_track(alloc->dictionary, by == TW_ALLOC_BY_THREAD ? sum->with : 0);
	if (by == TW_ALLOC_BY_CLASS)
		return true;
	if (by == TW_ALLOC_BY_THREAD) {
		row->process = track->process;
		row->thread = track->thread;
	}
	const uint32_t name = by == TW_ALLOC_BY_THREAD   ? track->name
	                      : by == TW_ALLOC_BY_MODULE ? module_of(alloc, sum->with)
	                                                 : sum->with;
	row->where = by == TW_ALLOC_BY_STACK
	                 ? keep_stack(alloc, sum->with)
	                 : tw_texts_keep_name(alloc->texts, &alloc->budget, alloc->dictionary, name);
	bool room = row->where != NULL;
	if (room && !*row->where)
		row->where = NULL;
	return room;
}

static void add_row(struct tw_alloc *alloc, const struct alloc_sum *sum)
{
	struct tw_alloc_row row = {.count = sum->count, .bytes = sum->bytes};
	row.name = tw_texts_keep_name(alloc->texts, &alloc->budget, alloc->dictionary, sum->name);
	if (row.name && fill_where(alloc, sum, &row))
		alloc->rows[alloc->row_count++] = row;
	else
		alloc->left_out += sum->events;
}

static int compare(const void *left, const void *right)
{
	const struct tw_alloc_row *a = left, *b = right;
	int order = strcmp(a->name, b->name);
	order = order ? order : strcmp(a->where ? a->where : "", b->where ? b->where : "");
	order = order ? order : tw_compare(a->process, b->process);
	return order ? order : tw_compare(a->thread, b->thread);
}

/* Several classes, functions and stacks of a trace may have the same names: one row. */
static void join_rows(struct tw_alloc *alloc)
{
	size_t kept = 0;
	for (size_t i = 0; i < alloc->row_count; i++) {
		struct tw_alloc_row *last = kept ? &alloc->rows[kept - 1] : NULL;
		if (!last || compare(last, &alloc->rows[i]) != 0) {
			alloc->rows[kept++] = alloc->rows[i];
			continue;
		}
		last->count = tw_sum(last->count, alloc->rows[i].count);
		last->bytes = tw_sum(last->bytes, alloc->rows[i].bytes);
	}
	alloc->row_count = kept;
}

static int finish(struct tw_alloc *alloc)
{
	alloc->rows = calloc(alloc->summed.count + 1, sizeof *alloc->rows);
	if (!alloc->rows)
		return TW_ERR_MEMORY;
	for (size_t i = 0; i < alloc->summed.count; i++)
		add_row(alloc, &alloc->sums[i]);
	qsort(alloc->rows, alloc->row_count, sizeof *alloc->rows, compare);
	join_rows(alloc);
	return tw_budget_status(&alloc->budget);
}

/* ---- The handle. ---- */

static struct tw_alloc *make(const struct tw_alloc_options *options, struct tw_reader *reader)
{
	struct tw_alloc *alloc = calloc(1, sizeof *alloc);
	if (!alloc)
		return NULL;
	TW_COPY_OPTIONS(&alloc->options, options, struct tw_alloc_options);
	size_t limit = alloc->options.memory_limit;
	tw_budget_reset(&alloc->budget, limit ? limit : TW_DEFAULT_MEMORY, 1);
	alloc->dictionary = tw_reader_dictionary(reader);
	alloc->texts = tw_dictionary_new_plain();
	if (alloc->texts)
		return alloc;
	free(alloc);
	return NULL;
}

int tw_alloc_read(struct tw_alloc **made, struct tw_reader *reader, const struct tw_alloc_options *options)
{
	struct tw_batch batch;
	int got;
	struct tw_alloc *alloc = *made = make(options, reader);
	if (!alloc)
		return tw_fail(reader, TW_ERR_MEMORY, "out of memory");
	if ((unsigned)alloc->options.by > TW_ALLOC_BY_MODULE)
		return tw_fail(reader, TW_ERR_VALUE, "there are no rows by number %u", (unsigned)alloc->options.by);
	int status = tw_begin(reader, TW_USE_WHOLE, &(struct tw_request){.kinds = 1u << TW_ALLOCATION_SAMPLE});
	if (status < 0)
		return status;
	while ((got = tw_pull(reader, &batch)) > 0)
		for (size_t i = 0; i < batch.count; i++)
			if (batch.events[i].kind == TW_ALLOCATION_SAMPLE)
				take(alloc, &batch.events[i]);
	status = finish(alloc);
	return got == 0 && status < 0 ? tw_fail(reader, status, "out of memory") : got;
}

const struct tw_alloc_row *tw_alloc_row(const struct tw_alloc *alloc, size_t i)
{
	return i < alloc->row_count ? &alloc->rows[i] : NULL;
}

uint64_t tw_alloc_left_out(const struct tw_alloc *alloc)
{
	return alloc->left_out;
}

void tw_alloc_free(struct tw_alloc *alloc)
{
	if (!alloc)
		return;
	tw_map_free(&alloc->summed.map);
	tw_dictionary_free(alloc->texts);
	free(alloc->sums);
	free(alloc->rows);
	free(alloc);
}
