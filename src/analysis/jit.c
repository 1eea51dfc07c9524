/* jit.c - what was compiled while the program ran: how long it took, and how large it became. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <trackway/jit.h>

#include <stdlib.h>
#include <string.h>

#include "analysis/texts.h"
#include "base/order.h"
#include "base/sum.h"
#include "core/format.h"

struct tw_jit {
	struct tw_jit_options options;
	struct tw_budget budget;
	const struct tw_dictionary *dictionary; /* of the trace, while it is read */
	struct tw_dictionary *texts;
	struct tw_jit_row *rows;
	size_t count, room;
	uint32_t *about; /* by row: the name of the function, or the track */
	size_t about_room;
	struct tw_map map; /* that to row */
	uint64_t left_out;
};

enum category { OTHER, COMPILED, CACHED };

/* ---- What an event is. ---- */

static enum category category_of(const struct tw_jit *jit, const struct tw_event *event)
{
	const char *category = tw_dictionary_name(jit->dictionary, event->category)->text;
	return strcmp(category, "jit") == 0 ? COMPILED : strcmp(category, "jit-cached") == 0 ? CACHED : OTHER;
}

/* A number among the arguments; 0 where there is none. */
static uint64_t number_of(const struct tw_jit *jit, const struct tw_batch *batch, const struct tw_event *event,
                          const char *name)
{
	const struct tw_argument *arguments = tw_event_arguments(batch, event);
	for (unsigned i = 0; i < event->argument_count; i++)
		if (arguments[i].type > TW_ARG_NULL && arguments[i].type < TW_ARG_DOUBLE &&
		    strcmp(tw_dictionary_name(jit->dictionary, arguments[i].name)->text, name) == 0)
			return arguments[i].value.u;
	return 0;
}

/* ---- Rows. ---- */

/* UINT32_MAX when there is no room. */
static uint32_t find_row(struct tw_jit *jit, const struct tw_event *event)
{
	uint32_t about = jit->options.by == TW_JIT_BY_THREAD ? event->track : event->name;
	uint32_t row;
	if (tw_map_find(&jit->map, about, &row))
		return row;
	row = (uint32_t)jit->count;
	if (!tw_budget_grow(&jit->budget, TW_FOR_ROWS, &jit->rows, &jit->room, jit->count + 1, sizeof *jit->rows) ||
	    !tw_budget_grow(&jit->budget, TW_FOR_ROWS, &jit->about, &jit->about_room, jit->count + 1,
	                    sizeof *jit->about) ||
	    !tw_budget_map_add(&jit->budget, TW_FOR_ROWS, &jit->map, about, row))
		return UINT32_MAX;
	jit->about[row] = about;
	jit->count++;
	return row;
}

static void count_slice(struct tw_jit_row *row, bool cached, uint64_t ns)
{
	row->compiled += !cached;
	row->cached += cached;
	if (cached)
		row->cached_ns = tw_sum(row->cached_ns, ns);
	else
		row->compiled_ns = tw_sum(row->compiled_ns, ns);
	if (!cached && ns > row->max_ns)
		row->max_ns = ns;
}

static void take(struct tw_jit *jit, const struct tw_batch *batch, const struct tw_event *event)
{
	enum category category = category_of(jit, event);
	if (category == OTHER)
		return;
	uint64_t code_bytes = number_of(jit, batch, event, "code_bytes");
	if (event->kind == TW_INSTANT && !code_bytes)
		return;
	uint32_t number = find_row(jit, event);
	if (number == UINT32_MAX) {
		jit->left_out++;
		return;
	}
	struct tw_jit_row *row = &jit->rows[number];
	/* What ends with one around it is not known to end. */
	bool open = event->kind == TW_SLICE_BEGIN || (event->flags & TW_FLAG_UNWOUND);
	if (open)
		row->open++;
	else if (event->kind == TW_SLICE_COMPLETE)
		count_slice(row, category == CACHED, event->value);
	row->failed += number_of(jit, batch, event, "status") != 0;
	if (category == COMPILED && !open)
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

static void fill_row(struct tw_jit *jit, struct tw_jit_row *row, uint32_t about)
{
	bool thread = jit->options.by == TW_JIT_BY_THREAD;
	const struct tw_track *track = tw_dictionary_track(jit->dictionary, thread ? about : 0);
	const struct tw_name *function = tw_dictionary_name(jit->dictionary, thread ? 0 : about);
	const bool threadless = thread && tw_is_threadless(track);
	const char *name = keep(jit, threadless ? 0 : thread ? track->name : about);
	row->name = name ? name : "(other)"; /* no room for its name */
	row->owner = keep_other(jit, function->owner);
	row->module = keep_other(jit, function->module);
	if (thread) {
		row->process = track->process;
		row->thread = threadless ? 0 : track->thread;
		row->threadless = threadless;
	}
}

static int compare(const void *left, const void *right)
{
	const struct tw_jit_row *a = left, *b = right;
	int order = strcmp(a->name, b->name);
	order = order ? order : tw_compare(a->process, b->process);
	order = order ? order : tw_compare(b->threadless, a->threadless);
	order = order ? order : tw_compare(a->thread, b->thread);
	order = order ? order : tw_compare(a->compiled_ns, b->compiled_ns);
	order = order ? order : tw_compare(a->cached_ns, b->cached_ns);
	return order ? order : tw_compare(a->code_bytes, b->code_bytes);
}

static void finish(struct tw_jit *jit)
{
	for (size_t i = 0; i < jit->count; i++)
		fill_row(jit, &jit->rows[i], jit->about[i]);
	if (jit->count)
		qsort(jit->rows, jit->count, sizeof *jit->rows, compare);
}

/* ---- The handle. ---- */

static struct tw_jit *make(const struct tw_jit_options *options, struct tw_reader *reader)
{
	struct tw_jit *jit = calloc(1, sizeof *jit);
	if (!jit)
		return NULL;
	if (options)
		jit->options = *options;
	size_t limit = jit->options.memory_limit;
	tw_budget_reset(&jit->budget, limit ? limit : TW_DEFAULT_MEMORY, 1);
	jit->dictionary = tw_reader_dictionary(reader);
	jit->texts = tw_dictionary_new_plain();
	if (jit->texts)
		return jit;
	free(jit);
	return NULL;
}

int tw_jit_read(struct tw_jit **made, struct tw_reader *reader, const struct tw_jit_options *options)
{
	const uint32_t kinds = 1u << TW_SLICE_COMPLETE | 1u << TW_SLICE_BEGIN | 1u << TW_INSTANT;
	struct tw_batch batch;
	int got;
	struct tw_jit *jit = *made = make(options, reader);
	if (!jit)
		return tw_fail(reader, TW_ERR_MEMORY, "out of memory");
	reader->kinds = kinds;
	while ((got = tw_read(reader, &batch)) > 0)
		for (size_t i = 0; i < batch.count; i++)
			if (kinds >> batch.events[i].kind & 1)
				take(jit, &batch, &batch.events[i]);
	finish(jit);
	int status = tw_budget_status(&jit->budget);
	return got == 0 && status < 0 ? tw_fail(reader, status, "out of memory") : got;
}

const struct tw_jit_row *tw_jit_row(const struct tw_jit *jit, size_t i)
{
	return i < jit->count ? &jit->rows[i] : NULL;
}

uint64_t tw_jit_left_out(const struct tw_jit *jit)
{
	return jit->left_out;
}

void tw_jit_free(struct tw_jit *jit)
{
	if (!jit)
		return;
	tw_map_free(&jit->map);
	tw_dictionary_free(jit->texts);
	free(jit->about);
	free(jit->rows);
	free(jit);
}
