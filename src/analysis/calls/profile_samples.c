/* profile_samples.c - the samples of a trace to the rows of a profile. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/calls/profile.h"
#include "analysis/series/samples.h"
#include "analysis/tool.h"
#include "base/memory/memory.h"
#include "base/memory/sum.h"
#include "base/text/digits.h"
#include "core/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The samples of a trace on their way into a profile. */
struct fold {
	struct tw_profile_merge merge;
	const struct tw_samples *samples;
	struct tw_sampled *totals; /* by node */
	uint32_t *row;             /* by node */
	uint32_t *child, *next;    /* by node: the first of those it called, and the next with the same caller */
	uint32_t *on_path;         /* by row: nodes from the root to where we are that have it */
};

static const char no_stack[] = "(no stack)", no_class[] = "(no class)", no_module[] = "(no module)";

static uint32_t keep(struct fold *fold, const char *text)
{
	return tw_profile_keep_text(fold->merge.profile, &(struct tw_name){.text = text, .length = strlen(text)});
}

/* ---- What rows are about: a text of the profile for each node; UINT32_MAX when there is no room. ---- */

static const struct tw_location *location_of(const struct fold *fold, uint32_t node)
{
	return tw_dictionary_location(fold->samples->dictionary, fold->samples->nodes[node].location);
}

static const struct tw_name *name_of(const struct fold *fold, uint32_t number)
{
	return tw_dictionary_name(fold->samples->dictionary, number);
}

static uint32_t function_text(struct fold *fold, uint32_t node)
{
	return tw_profile_keep_name(&fold->merge, location_of(fold, node)->name);
}

/* A class is known by its name: of several that have the same, there is one row. */
static uint32_t class_text(struct fold *fold, uint32_t node)
{
	uint32_t number = name_of(fold, location_of(fold, node)->name)->owner;
	struct tw_name owner = *name_of(fold, number);
	if (owner.length == 0)
		return keep(fold, no_class);
	uint32_t kept = tw_profile_keep_name(&fold->merge, number);
	if (kept == UINT32_MAX || owner.id == 0)
		return kept;
	owner = *tw_dictionary_name(fold->merge.profile->texts, kept);
	owner.id = 0;
	return tw_profile_keep_text(fold->merge.profile, &owner);
}

static uint32_t module_text(struct fold *fold, uint32_t node)
{
	const struct tw_name *function = name_of(fold, location_of(fold, node)->name);
	uint32_t module = function->module ? function->module : name_of(fold, function->owner)->module;
	const struct tw_name *name = name_of(fold, module);
	if (name->length == 0)
		return keep(fold, no_module);
	return tw_profile_keep_text(fold->merge.profile, &(struct tw_name){.text = name->text, .length = name->length});
}

static uint32_t known_line(struct fold *fold, const struct tw_location *location, struct tw_text *text)
{
	char line[16];
	const struct tw_name *file = name_of(fold, location->file);
	int length = snprintf(line, sizeof line, ":%" PRIu32, location->line);
	if (!tw_text_add(text, file->text, file->length) || !tw_text_add(text, line, (size_t)length))
		return UINT32_MAX;
	uint32_t kept =
	    tw_profile_keep_text(fold->merge.profile, &(struct tw_name){.text = file->text, .length = file->length});
	if (kept == UINT32_MAX)
		return UINT32_MAX;
	return tw_profile_keep_text(fold->merge.profile,
	                            &(struct tw_name){.text = text->bytes,
	                                              .length = text->length,
	                                              .file =
	                                                  tw_dictionary_name(fold->merge.profile->texts, kept)->text,
	                                              .line = location->line});
}

/* The function, with the place in it that its format tells (f+IL_0007), or the address (f@0x7f0010). */
static uint32_t unknown_line(struct fold *fold, const struct tw_location *location, struct tw_text *text)
{
	char address[32];
	uint32_t function = tw_profile_keep_name(&fold->merge, location->name);
	if (function == UINT32_MAX || location->address == 0)
		return function;
	struct tw_name name = *tw_dictionary_name(fold->merge.profile->texts, function);
	const struct tw_name *place = name_of(fold, location->file);
	snprintf(address, sizeof address, "0x%" PRIx64, location->address);
	const char *where = place->length ? place->text : address;
	if (!tw_text_add(text, name.text, name.length) || !tw_text_add(text, place->length ? "+" : "@", 1) ||
	    !tw_text_add(text, where, strlen(where)))
		return UINT32_MAX;
	name.text = text->bytes;
	name.length = text->length;
	return tw_profile_keep_text(fold->merge.profile, &name);
}

static uint32_t line_text(struct fold *fold, uint32_t node)
{
	struct tw_text text = {0};
	const struct tw_location *location = location_of(fold, node);
	bool known = name_of(fold, location->file)->length && location->line;
	uint32_t kept = (known ? known_line : unknown_line)(fold, location, &text);
	tw_text_free(&text);
	return kept;
}

/* Its name, or "thread 7". */
static uint32_t thread_text(struct fold *fold, uint32_t node)
{
	char text[32];
	const struct tw_track *track = tw_dictionary_track(fold->samples->dictionary, fold->samples->nodes[node].track);
	const struct tw_name *name = name_of(fold, track->name);
	if (name->length)
		return tw_profile_keep_text(fold->merge.profile,
		                            &(struct tw_name){.text = name->text, .length = name->length});
	memcpy(text, "thread ", sizeof "thread ");
	*tw_task_digits(text + strlen(text), track->thread) = '\0';
	return keep(fold, text);
}

static uint32_t (*const texts[])(struct fold *fold, uint32_t node) = {
    [TW_BY_FUNCTION] = function_text, [TW_BY_THREAD] = function_text,     [TW_BY_CALLER] = function_text,
    [TW_BY_OBJECT] = function_text,   [TW_BY_CLASS] = class_text,         [TW_BY_MODULE] = module_text,
    [TW_BY_LINE] = line_text,         [TW_BY_WHOLE_THREAD] = thread_text,
};

/* ---- Rows. ---- */

static uint32_t text_of(struct fold *fold, uint32_t node)
{
	enum tw_profile_by by = fold->merge.profile->options.by;
	if (fold->samples->nodes[node].location == 0 && by != TW_BY_WHOLE_THREAD)
		return keep(fold, no_stack);
	return texts[by](fold, node);
}

static bool is_by_thread(enum tw_profile_by by)
{
	return by == TW_BY_THREAD || by == TW_BY_WHOLE_THREAD;
}

/* A new row takes what its samples are counted in, too: where that is not there, the next one finds no room. */
static uint32_t find_row(struct tw_profile *profile, const struct tw_profile_key *key)
{
	const size_t before = profile->rows.count;
	uint32_t row = tw_profile_find_row(profile, key);
	if (profile->rows.count > before)
		(void)tw_budget_take(&profile->keeping, TW_FOR_COUNTS, sizeof *profile->weighed);
	return row;
}

static uint32_t row_of(struct fold *fold, uint32_t node)
{
	enum tw_profile_by by = fold->merge.profile->options.by;
	const struct tw_sample_node *it = &fold->samples->nodes[node];
	struct tw_profile_key key = {.name = text_of(fold, node), .caller = UINT32_MAX};
	if (key.name == UINT32_MAX)
		return TW_ROW_OTHER;
	if (is_by_thread(by))
		tw_profile_key_thread(&fold->merge, it->track, &key);
	if (by == TW_BY_CALLER && it->caller != TW_SAMPLE_ROOT) {
		key.caller = text_of(fold, it->caller);
		if (key.caller == UINT32_MAX)
			return TW_ROW_OTHER;
	}
	return find_row(fold->merge.profile, &key);
}

/* Finds the rows of all nodes. False when there is no memory for what samples are counted in. */
static bool find_rows(struct fold *fold)
{
	struct tw_profile *profile = fold->merge.profile;
	fold->row[TW_SAMPLE_OTHER] = TW_ROW_OTHER;
	for (uint32_t node = TW_SAMPLE_FIRST; node < fold->samples->count; node++)
		fold->row[node] = row_of(fold, node);
	fold->on_path = calloc(profile->rows.count, sizeof *fold->on_path);
	return fold->on_path &&
	       tw_grow(&profile->weighed, &profile->weighed_room, profile->rows.count, sizeof *profile->weighed);
}

/* ---- Counting. ---- */

static void add(struct fold *fold, uint32_t node, bool outermost)
{
	struct tw_weighed *row = fold->merge.profile->weighed[fold->row[node]];
	const struct tw_sampled self = tw_samples_self(fold->samples, node);
	for (int weight = TW_WEIGHT_SAMPLES; weight <= TW_WEIGHT_ALLOCATIONS; weight++) {
		row[weight].self = tw_sum(row[weight].self, self.of[weight]);
		if (outermost)
			row[weight].total = tw_sum(row[weight].total, fold->totals[node].of[weight]);
	}
}

static void link_children(struct fold *fold)
{
	for (uint32_t node = (uint32_t)fold->samples->count; node-- > TW_SAMPLE_OTHER;) {
		uint32_t caller = fold->samples->nodes[node].caller;
		fold->next[node] = fold->child[caller];
		fold->child[caller] = node;
	}
}

/* Depth first, so that for each node it is known which rows are on its path. */
static void count_nodes(struct fold *fold)
{
	uint32_t node = fold->child[TW_SAMPLE_ROOT];
	while (node != TW_SAMPLE_ROOT) {
		add(fold, node, fold->on_path[fold->row[node]]++ == 0);
		uint32_t then = fold->child[node];
		while (!then && node != TW_SAMPLE_ROOT) {
			fold->on_path[fold->row[node]]--;
			then = fold->next[node];
			node = then ? node : fold->samples->nodes[node].caller;
		}
		node = then;
	}
}

static bool fold_samples(struct fold *fold)
{
	size_t count = fold->samples->count;
	fold->totals = tw_samples_totals(fold->samples);
	fold->row = calloc(count, sizeof *fold->row);
	fold->child = calloc(count, sizeof *fold->child);
	fold->next = calloc(count, sizeof *fold->next);
	bool room = fold->totals && fold->row && fold->child && fold->next && find_rows(fold);
	if (room) {
		link_children(fold);
		count_nodes(fold);
	}
	free(fold->totals);
	free(fold->row);
	free(fold->child);
	free(fold->next);
	free(fold->on_path);
	return room;
}

int tw_profile_add_samples(struct tw_profile *profile, struct tw_reader *reader, bool choose)
{
	struct tw_samples samples;
	tw_budget_reset(&profile->reading, profile->keeping.limit, 1);
	enum tw_weight weight = profile->options.one_weight ? profile->weight : TW_WEIGHT_DEFAULT;
	if (weight && !tw_weight_is_sampled(weight)) /* sums of calls */
		weight = TW_WEIGHT_WALL;
	int status = tw_samples_read(&samples, reader, &profile->reading, is_by_thread(profile->options.by), weight);
	struct fold fold = {.merge = {.profile = profile, .dictionary = samples.dictionary}, .samples = &samples};
	profile->notes.rows_folded += samples.folded;
	if (choose)
		profile->weight = tw_samples_weight(&samples);
	bool room = samples.count && fold_samples(&fold);
	tw_profile_merge_free(&fold.merge);
	tw_samples_free(&samples);
	if (!room)
		return status < 0 ? status : tw_fail(reader, TW_ERR_MEMORY, "out of memory");
	int settled = tw_profile_settle(profile);
	return status < 0 ? status : settled;
}
