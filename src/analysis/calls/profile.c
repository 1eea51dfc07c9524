/* profile.c - profiles: the rows of all parts and traces, by text. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/calls/profile.h"

#include "analysis/calls/operations.h"
#include "analysis/calls/profile_part.h"
#include "analysis/consume.h"
#include "analysis/series/weight.h"
#include "base/options.h"
#include "core/format.h"

#include <stdlib.h>

/* Bytes: of a row what is here at most, with what arrays and the map grow ahead. */
enum { ROW_COST = 2 * sizeof(struct tw_profile_key) + 3 * sizeof(struct tw_map_slot), PART_COST = 4096 };

/* ---- Rows. ---- */

/* The row of the profile that a row of a part belongs to. */
static uint32_t row_for(struct tw_profile_merge *merge, const struct tw_profile_part *part, uint32_t part_row)
{
	if (part_row == TW_ROW_OTHER)
		return TW_ROW_OTHER;
	struct tw_part_key from = part->keys[part_row];
	struct tw_profile_key key = {.name = tw_profile_keep_name(merge, from.name), .caller = UINT32_MAX};
	if (key.name == UINT32_MAX)
		return TW_ROW_OTHER;
	if (part->by == TW_BY_THREAD) {
		tw_profile_key_thread(merge, from.with, &key);
	} else if (part->by == TW_BY_CALLER && from.with != UINT32_MAX) {
		key.caller = tw_profile_keep_name(merge, from.with);
		if (key.caller == UINT32_MAX)
			return TW_ROW_OTHER;
	} else if (part->by == TW_BY_OBJECT && from.with) {
		key.caller = tw_profile_keep_name(merge, from.with);
		if (key.caller == UINT32_MAX)
			return TW_ROW_OTHER;
	}
	return tw_profile_find_row(merge->profile, &key);
}

static void merge_rows(struct tw_profile_merge *merge, const struct tw_profile_part *part)
{
	struct tw_profile *profile = merge->profile;
	const struct tw_tallies *from = &part->rows;
	for (uint32_t i = TW_ROW_OTHER; i < from->count; i++) {
		uint64_t calls = from->rows[i].ended + from->rows[i].open;
		if (!calls)
			continue;
		uint32_t row = row_for(merge, part, i);
		tw_tallies_merge(&profile->rows, row, from, i);
		if (row == TW_ROW_OTHER)
			profile->notes.rows_folded += calls;
	}
}

/* ---- As a consumer. ---- */

static void begin(void *owner, unsigned parts)
{
	struct tw_profile *profile = owner;
	tw_budget_reset(&profile->reading, profile->keeping.limit, parts);
	for (int use = 0; use < TW_BUDGET_USES; use++)
		profile->promised[use] = 0;
}

/* At most what the names and rows of a part take when it is merged. */
static size_t cost_of(const struct tw_profile_part *part)
{
	size_t cost = PART_COST;
	for (uint32_t i = 0; i < tw_dictionary_names(part->dictionary); i++)
		cost += tw_profile_name_cost(tw_dictionary_name(part->dictionary, i)) + 2 * sizeof(uint32_t);
	return cost + part->rows.count * ROW_COST + tw_tallies_rows_cost(&part->rows);
}

static bool folded(void *owner, const void *state)
{
	struct tw_profile *profile = owner;
	const struct tw_profile_part *part = state;
	profile->promised[TW_FOR_ROWS] += cost_of(part);
	profile->promised[TW_FOR_COUNTS] += tw_tallies_counts_cost(&part->rows);
	return tw_profile_part_folded(part) || !tw_budget_fits_all(&profile->keeping, profile->promised);
}

static void *open_part(void *owner, const struct tw_dictionary *dictionary)
{
	struct tw_profile *profile = owner;
	return tw_profile_part_open(&profile->options, &profile->reading, dictionary);
}

static int merge_part(void *owner, void *state)
{
	struct tw_profile *profile = owner;
	const struct tw_profile_part *part = state;
	struct tw_profile_merge merge = {.profile = profile, .dictionary = part->dictionary};
	merge_rows(&merge, part);
	profile->untimed += part->calls.counts.untimed;
	tw_calls_add_notes(&profile->notes, &part->calls);
	tw_profile_merge_free(&merge);
	return 0;
}

/* ---- The consumer. ---- */

static int settle(void *owner)
{
	return tw_profile_settle(owner);
}

const struct tw_consumer tw_profile_consumer = {
    .light = true,
    .begin = begin,
    .open = open_part,
    .add = tw_profile_part_add,
    .stacks = tw_profile_part_stacks,
    .add_calls = tw_profile_part_add_calls,
    .finish = tw_profile_part_finish,
    .folded = folded,
    .merge = merge_part,
    .close = tw_profile_part_close,
    .settle = settle,
};

/* ---- Calls by object. ---- */

static uint32_t object_of(const struct tw_batch *batch, const struct tw_event *event)
{
	const struct tw_argument *arguments = tw_event_arguments(batch, event);
	for (unsigned i = 0; i < event->argument_count; i++) {
		bool refers = arguments[i].type == TW_ARG_POINTER || arguments[i].type == TW_ARG_KOID;
		if (refers && arguments[i].size)
			return (uint32_t)arguments[i].size;
	}
	return 0;
}

/* One call after the other: what its arguments lead to is known with its event alone. */
static int read_objects(struct tw_profile_part *part, struct tw_reader *reader)
{
	struct tw_batch batch;
	int got;
	while ((got = tw_pull(reader, &batch)) > 0)
		for (size_t i = 0; i < batch.count; i++) {
			part->object = object_of(&batch, &batch.events[i]);
			tw_consume_batch(&tw_profile_consumer, part, &(struct tw_batch){&batch.events[i], 1, NULL});
		}
	tw_profile_part_finish(part);
	return got;
}

static int add_objects(struct tw_profile *profile, struct tw_reader *reader)
{
	int status = tw_use(reader, TW_USE_WHOLE);
	if (status < 0)
		return status;
	begin(profile, 1);
	struct tw_profile_part *part = open_part(profile, tw_reader_dictionary(reader));
	if (!part)
		return tw_fail(reader, TW_ERR_MEMORY, "out of memory");
	status = read_objects(part, reader);
	merge_part(profile, part);
	tw_profile_part_close(part);
	int settled = settle(profile);
	return status < 0 ? status : settled;
}

/* ---- Asynchronous operations. ---- */

/* One has no callees, and is inside of no other. */
static void take_operation(void *context, const struct tw_operation *operation)
{
	struct tw_profile_merge *merge = context;
	struct tw_profile *profile = merge->profile;
	const bool backwards = operation->end < operation->begin;
	struct tw_left_call call = {.duration = backwards ? 0 : operation->end - operation->begin};
	if (!operation->open && call.duration < profile->options.min_duration_ns)
		return;
	const struct tw_profile_key key = {.name = tw_profile_keep_name(merge, operation->name), .caller = UINT32_MAX};
	call.row = key.name == UINT32_MAX ? TW_ROW_OTHER : tw_profile_find_row(profile, &key);
	profile->notes.time_backwards += backwards;
	profile->notes.rows_folded += call.row == TW_ROW_OTHER;
	tw_tallies_leave(&profile->rows, &call, operation->open ? TW_CALL_OPEN : TW_CALL_ENDED);
}

static int add_operations(struct tw_profile *profile, struct tw_reader *reader)
{
	struct tw_profile_merge merge = {.profile = profile, .dictionary = tw_reader_dictionary(reader)};
	begin(profile, 1);
	int status = tw_read_operations(reader, take_operation, &merge, &profile->notes.exits_without_entry);
	tw_profile_merge_free(&merge);
	int settled = settle(profile);
	return status < 0 ? status : settled;
}

/* ---- The handle. ---- */

int tw_profile_new(struct tw_profile **made, const struct tw_profile_options *options)
{
	*made = NULL;
	struct tw_profile *profile = calloc(1, sizeof *profile);
	if (!profile)
		return TW_ERR_MEMORY;
	TW_COPY_OPTIONS(&profile->options, options, struct tw_profile_options);
	size_t limit = profile->options.memory_limit ? profile->options.memory_limit : TW_DEFAULT_MEMORY;
	profile->reading.limit = profile->keeping.limit = limit / 2;
	profile->texts = tw_dictionary_new_plain();
	if (!tw_tallies_init(&profile->rows, &profile->keeping) || !profile->texts) {
		tw_profile_free(profile);
		return TW_ERR_MEMORY;
	}
	*made = profile;
	return 0;
}

int tw_profile_add(struct tw_profile *profile, struct tw_reader *reader)
{
	bool async = profile->options.by == TW_BY_ASYNC;
	bool choose = profile->options.weight == TW_WEIGHT_DEFAULT && profile->weight == TW_WEIGHT_DEFAULT;
	if (async && profile->options.weight > TW_WEIGHT_CALLS)
		return tw_fail(reader, TW_ERR_VALUE, "asynchronous operations have no weight but their time");
	if (profile->options.weight == TW_WEIGHT_COUNT)
		return tw_fail(reader, TW_ERR_VALUE,
		               "the weight \"count\" is for stacks: functions have their calls beside any weight");
	int status = tw_weight_choose(reader, async ? TW_WEIGHT_CALLS : profile->options.weight, &profile->weight);
	if (status < 0)
		return status;
	if ((unsigned)profile->options.by > TW_BY_ASYNC)
		return tw_fail(reader, TW_ERR_VALUE, "there are no rows by number %u", (unsigned)profile->options.by);
	if (async)
		return add_operations(profile, reader);
	if (tw_weight_is_sampled(profile->weight) || reader->traits.summed)
		return tw_profile_add_samples(profile, reader, choose && !reader->traits.summed);
	if (profile->options.by == TW_BY_OBJECT)
		return add_objects(profile, reader);
	if (profile->options.by > TW_BY_CALLER)
		return tw_fail(reader, TW_ERR_VALUE,
		               "calls have no classes, modules and lines, and no threads as a whole: samples have");
	return tw_consume(reader, profile->options.jobs, &tw_profile_consumer, profile);
}

enum tw_weight tw_profile_weight(const struct tw_profile *profile)
{
	return profile->weight;
}

const struct tw_profile_row *tw_profile_row(struct tw_profile *profile, size_t i)
{
	return i < profile->sorted_count ? &profile->sorted[i] : NULL;
}

const struct tw_profile_notes *tw_profile_notes(const struct tw_profile *profile)
{
	return &profile->notes;
}

void tw_profile_free(struct tw_profile *profile)
{
	if (!profile)
		return;
	tw_tallies_free(&profile->rows);
	tw_map_free(&profile->map);
	tw_dictionary_free(profile->texts);
	free(profile->keys);
	free(profile->weighed);
	free(profile->sorted);
	free(profile);
}
