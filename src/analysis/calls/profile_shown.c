/* profile_shown.c - the rows of a profile as they are shown. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/calls/profile.h"

#include "analysis/series/weight.h"
#include "base/memory/order.h"

#include <stdlib.h>
#include <string.h>

static void show_histogram(const struct tw_profile *profile, const struct tw_tally *row, struct tw_profile_row *shown)
{
	static const unsigned parts[] = {500, 900, 990};
	uint64_t results[3];
	if (!row->ended)
		return;
	shown->min_ns = row->min;
	shown->max_ns = row->max;
	tw_histogram_percentiles(&profile->rows.pool, &row->histogram, row->ended, parts, results, 3);
	uint64_t *shares[] = {&shown->p50_ns, &shown->p90_ns, &shown->p99_ns};
	for (size_t i = 0; i < 3; i++) {
		uint64_t low = results[i] < row->min ? row->min : results[i];
		*shares[i] = low > row->max ? row->max : low;
	}
}

/* NULL where there is none. */
static const char *text_of(const struct tw_profile *profile, uint32_t number)
{
	const struct tw_name *name = tw_dictionary_name(profile->texts, number);
	return name->length ? name->text : NULL;
}

static void show_key(const struct tw_profile *profile, const struct tw_profile_key *key, struct tw_profile_row *shown)
{
	const struct tw_name *name = tw_dictionary_name(profile->texts, key->name);
	shown->name = name->text;
	shown->owner = text_of(profile, name->owner);
	shown->module = text_of(profile, name->module);
	shown->id = name->id;
	shown->file = name->file;
	shown->line = name->line;
	shown->process = key->process;
	shown->thread = key->thread;
	shown->threadless = key->threadless;
	shown->process_name = text_of(profile, key->process_name);
	shown->thread_name = text_of(profile, key->thread_name);
	const struct tw_name *caller = tw_dictionary_name(profile->texts, key->caller);
	if (key->caller != UINT32_MAX && profile->options.by == TW_BY_OBJECT) {
		shown->object = caller->text;
	} else if (key->caller != UINT32_MAX) {
		shown->caller = caller->text;
		shown->caller_id = caller->id;
	}
}

/* The sums of calls that samples tell are weighed: how many they are as samples, their time as wall time. */
static void show_calls(const struct tw_profile *profile, uint32_t i, struct tw_profile_row *shown)
{
	static const struct tw_weighed nothing[TW_WEIGHTS];
	const struct tw_tally *row = &profile->rows.rows[i];
	const struct tw_weighed *sums = i < profile->weighed_room ? profile->weighed[i] : nothing;
	shown->summed = sums[TW_WEIGHT_SAMPLES].self;
	shown->count = row->ended + row->open + (i == TW_ROW_OTHER ? profile->untimed : 0) + shown->summed;
	shown->open = row->open;
	shown->unwound = row->unwound;
	/* Where the clock goes back, a call may last longer than the call of the same function around it, which is the
	 * one that counts for the total. */
	shown->total = row->total > row->self ? row->total : row->self;
	shown->total = tw_sum(shown->total, sums[TW_WEIGHT_WALL].total);
	shown->self = tw_sum(row->self, sums[TW_WEIGHT_WALL].self);
	show_histogram(profile, row, shown);
}

static void show_samples(const struct tw_profile *profile, uint32_t i, struct tw_profile_row *shown)
{
	shown->weighed = profile->weighed[i];
	shown->count = shown->weighed[tw_weight_count(profile->weight)].self;
	shown->total = shown->weighed[profile->weight].total;
	shown->self = shown->weighed[profile->weight].self;
}

static bool is_counted(const struct tw_profile *profile, uint32_t i)
{
	const struct tw_tally *row = &profile->rows.rows[i];
	if (tw_weight_is_sampled(profile->weight))
		return i < profile->weighed_room && profile->weighed[i][profile->weight].total;
	if (i < profile->weighed_room && profile->weighed[i][TW_WEIGHT_SAMPLES].total)
		return true;
	return row->ended || row->open || (i == TW_ROW_OTHER && profile->untimed);
}

static void show(const struct tw_profile *profile, uint32_t i, struct tw_profile_row *shown)
{
	*shown = (struct tw_profile_row){.name = "(other)"};
	if (i != TW_ROW_OTHER)
		show_key(profile, &profile->keys[i], shown);
	if (tw_weight_is_sampled(profile->weight))
		show_samples(profile, i, shown);
	else
		show_calls(profile, i, shown);
}

static int compare_rows(const void *left, const void *right)
{
	const struct tw_profile_row *a = left, *b = right;
	int order = strcmp(a->name, b->name);
	order = order ? order : tw_compare(a->id, b->id);
	order = order ? order : tw_compare(a->caller != NULL, b->caller != NULL);
	order = order || !a->caller ? order : strcmp(a->caller, b->caller);
	order = order ? order : tw_compare(a->caller_id, b->caller_id);
	order = order ? order : tw_compare(a->object != NULL, b->object != NULL);
	order = order || !a->object ? order : strcmp(a->object, b->object);
	order = order ? order : tw_compare(a->process, b->process);
	order = order ? order : tw_compare(b->threadless, a->threadless);
	return order ? order : tw_compare(a->thread, b->thread);
}

int tw_profile_settle(struct tw_profile *profile)
{
	const struct tw_tallies *rows = &profile->rows;
	free(profile->sorted);
	profile->sorted_count = 0;
	profile->sorted = calloc(rows->count, sizeof *profile->sorted);
	if (!profile->sorted) {
		profile->notes.rows_folded = profile->notes.laneless = 0;
		return TW_ERR_MEMORY;
	}
	for (uint32_t i = TW_ROW_OTHER; i < rows->count; i++)
		if (is_counted(profile, i))
			show(profile, i, &profile->sorted[profile->sorted_count++]);
	qsort(profile->sorted, profile->sorted_count, sizeof *profile->sorted, compare_rows);
	int status = tw_budget_status(&profile->reading);
	status = status < 0 ? status : tw_budget_status(&profile->keeping);
	if (status < 0)
		profile->notes.rows_folded = profile->notes.laneless = 0; /* no memory, which the status tells */
	return status;
}
