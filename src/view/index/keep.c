/* keep.c - an index that has been made as bytes of a file, and back. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/index/keep.h"

#include "base/memory/order.h"
#include "core/format.h"
#include "view/index/bare.h"
#include "view/index/few.h"
#include "view/index/keep_check.h"
#include "view/index/leaves.h"
#include "view/index/parts.h"
#include "view/index/spans.h"

#include <stdlib.h>
#include <string.h>

/* What sizes do not tell: greater where the same records mean something else. */
enum { FORM = 3 };

uint64_t view_keep_layout(void)
{
	const uint64_t words[] = {
	    FORM,
	    sizeof(struct view_row),
	    sizeof(struct view_block),
	    sizeof(struct view_bare),
	    sizeof(struct view_kept),
	    sizeof(struct view_name),
	    sizeof(struct view_slice),
	    sizeof(struct view_sample),
	    sizeof(union view_sum),
	    sizeof(void *),
	    (uint64_t)VIEW_LEVELS << 32 | VIEW_BLOCK,
	    (uint64_t)VIEW_FAN << 32 | VIEW_GROUP,
	    VIEW_OWN_TAIL,
	    (uint64_t)VIEW_PART_FIRST << 32 | VIEW_PART_DOUBLINGS,
	    TW_HOST_IS_BIG,
	};
	return tw_mix_words(words, sizeof words / sizeof *words);
}

/* ---- What is of this run alone. ---- */

static bool add_own(struct view_own *own, const struct view_store *store, const void *bytes, size_t size)
{
	if (!tw_grow(&own->items, &own->room, own->count + 1, sizeof *own->items))
		return false;
	const uint64_t place = (uint64_t)((const uint8_t *)bytes - store->bytes);
	own->items[own->count++] = (struct view_own_bytes){place, size};
	return true;
}

static bool add_bare(struct view_own *own, const struct view_index *index, const struct view_row *row)
{
	const struct view_store *store = &index->store;
	const struct view_bare *bare = view_bare_of(row, store);
	bool fine = true;
	for (unsigned level = 0; level < VIEW_GROUPINGS && fine; level++) {
		fine = add_own(own, store, &bare->groupings[level].groups.packs, sizeof bare->head.packs);
	}
	return fine && add_own(own, store, &bare->head.packs, sizeof bare->head.packs) &&
	       add_own(own, store, &bare->kept.parts, sizeof bare->kept.parts) &&
	       add_own(own, store, &bare->kept.part_room, sizeof bare->kept.part_room);
}

bool view_keep_own(const struct view_index *index, struct view_own *own)
{
	bool fine = true;
	for (uint64_t i = 0; i < index->rows.count && fine; i++) {
		const struct view_row *row = view_index_row_at(index, i);
		if (row->packs)
			fine = add_own(own, &index->store, &row->packs, sizeof row->packs);
		if (row->bare)
			fine = add_bare(own, index, row);
	}
	for (uint32_t i = 0; i < index->names.items.count && fine; i++) {
		const struct view_name *name = view_names_at(&index->names, &index->store, i);
		fine = add_own(own, &index->store, &name->sent, sizeof name->sent);
	}
	if (own->count)
		qsort(own->items, own->count, sizeof *own->items, tw_compare_u64);
	return fine;
}

/* ---- Writing. ---- */

static void put_packs(struct tw_output *out, const struct view_packs *packs)
{
	tw_put_word(out, packs != NULL);
	if (!packs)
		return;
	view_keep_put_column(out, &packs->blocks);
	tw_put_word(out, packs->level_count);
	for (uint32_t i = 0; i < packs->level_count; i++)
		view_keep_put_column(out, &packs->levels[i]);
}

static void put_rows(struct tw_output *out, const struct view_index *index)
{
	view_keep_put_column(out, &index->rows);
	for (uint64_t i = 0; i < index->rows.count; i++) {
		const struct view_row *row = view_index_row_at(index, i);
		const struct view_bare *bare = row->bare ? view_bare_of(row, &index->store) : NULL;
		put_packs(out, row->packs);
		tw_put_word(out, bare != NULL);
		if (!bare)
			continue;
		put_packs(out, bare->head.packs);
		for (unsigned level = 0; level < VIEW_GROUPINGS; level++)
			put_packs(out, bare->groupings[level].groups.packs);
		view_keep_put_column(out, &bare->kept);
	}
}

static void put_track(struct tw_output *out, const struct view_track *track)
{
	tw_put_word(out, (uint64_t)track->kind);
	tw_put_word(out, track->process);
	tw_put_word(out, track->thread);
	tw_put_word(out, track->own_process);
	tw_put_word(out, track->own_thread);
	tw_put_word(out, (uint64_t)(int64_t)track->sort_index);
	tw_put_word(out, track->fixed);
	tw_put_word(out, track->slices);
	tw_put_word(out, track->file);
	tw_put_padded(out, track->name.bytes ? track->name.bytes : "", track->name.length);
	tw_put_word(out, track->lane_count);
	for (uint32_t lane = 0; lane < track->lane_count; lane++) {
		tw_put_word(out, track->lanes[lane]);
		if (track->kind != VIEW_COUNTERS)
			continue;
		tw_put_word(out, track->series_names[lane]);
		tw_put_word(out, track->series[lane].count);
		tw_put_word(out, track->series[lane].at);
	}
}

static void put_lost(struct tw_output *out, const struct view_index *index)
{
	tw_put_word(out, index->lost.count);
	for (uint64_t i = 0; i < index->lost.count && i < VIEW_LOST_KEPT; i++) {
		const struct view_lost *lost = &index->lost.items[i];
		tw_put_word(out, lost->from);
		tw_put_word(out, lost->to);
		tw_put_word(out, lost->bytes);
		tw_put_word(out, lost->offset);
		tw_put_word(out, lost->track);
	}
}

static void put_spans(struct tw_output *out, const struct view_spans *spans)
{
	tw_put_word(out, spans != NULL);
	if (!spans)
		return;
	tw_put_word(out, spans->shift);
	tw_put_word(out, spans->taken);
	tw_put_word(out, spans->most);
	for (uint64_t i = 0; i < spans->most; i++)
		tw_put_word(out, spans->events[i]);
	tw_put_word(out, spans->part_shift);
	tw_put_word(out, spans->part_count);
	for (size_t i = 0; i < spans->part_count; i++) {
		const struct view_part_of_file *part = &spans->parts[i];
		tw_put_word(out, part->first);
		tw_put_word(out, part->last);
		tw_put_word(out, part->least);
		tw_put_word(out, part->most);
		if (spans->borders)
			tw_put_word(out, spans->borders[i]);
	}
	tw_put_word(out, spans->needed.count);
	for (size_t i = 0; i < spans->needed.count; i++) {
		tw_put_word(out, spans->needed.items[i].offset);
		tw_put_word(out, spans->needed.items[i].size);
	}
}

void view_keep_put(struct tw_output *out, const struct view_index *index)
{
	tw_put_word(out, index->events);
	tw_put_word(out, index->end);
	tw_put_word(out, index->left);
	tw_put_word(out, index->calls.rules.rounding);
	tw_put_word(out, index->calls.rules.ends_unordered);
	put_spans(out, index->store.spans);
	view_keep_put_column(out, &index->names.items);
	view_few_put(out, index->store.few_slices);
	view_few_put(out, index->store.few_samples);
	tw_put_word(out, index->tracks.count);
	for (size_t i = 0; i < index->tracks.count; i++)
		put_track(out, &index->tracks.items[i]);
	put_lost(out, index);
	put_rows(out, index);
}

/* ---- Reading. ---- */

static struct view_packs *get_packs(struct tw_words *words, const struct view_store *store,
                                    struct view_extents *extents)
{
	struct view_packs *packs = tw_take_below(words, 2) ? calloc(1, sizeof *packs) : NULL;
	if (!packs)
		return NULL;
	view_keep_get_column(words, store, &packs->blocks, sizeof(struct view_block), extents);
	for (uint64_t left = tw_take_below(words, VIEW_LEVELS + 1); left && !words->failed; left--) {
		struct view_column *level = view_packs_deepen(packs);
		words->failed |= !level;
		if (level)
			view_keep_get_column(words, store, level, sizeof(union view_sum), extents);
	}
	return packs;
}

static void get_row(struct tw_words *words, const struct view_store *store, struct view_kept_row *row,
                    struct view_extents *extents)
{
	row->packs = get_packs(words, store, extents);
	if (!tw_take_below(words, 2))
		return;
	row->head = get_packs(words, store, extents);
	for (unsigned level = 0; level < VIEW_GROUPINGS; level++)
		row->groups[level] = get_packs(words, store, extents);
	view_keep_get_column(words, store, &row->kept, sizeof(struct view_kept), extents);
}

static void free_rows(struct view_kept_row *rows, uint64_t count)
{
	for (uint64_t i = 0; rows && i < count; i++) {
		view_packs_free(rows[i].packs);
		view_packs_free(rows[i].head);
		for (unsigned level = 0; level < VIEW_GROUPINGS; level++)
			view_packs_free(rows[i].groups[level]);
		view_column_free(&rows[i].kept);
	}
}

/* Of the index once all is right: until then it has none. */
static void get_rows(struct tw_words *words, struct view_index *index, struct view_extents *extents)
{
	struct view_column rows = {0};
	view_keep_get_column(words, &index->store, &rows, sizeof(struct view_row), extents);
	const uint64_t count = rows.count;
	words->failed |= count > VIEW_ROWS_MOST + 2 * VIEW_TRACKS_MOST || count > words->left / (2 * sizeof(uint64_t));
	struct view_kept_row *kept = words->failed ? NULL : calloc(count + 1, sizeof *kept);
	words->failed |= !kept;
	for (uint64_t i = 0; i < count && !words->failed; i++)
		get_row(words, &index->store, &kept[i], extents);
	words->failed |= words->left != 0 || extents->failed;
	words->failed = words->failed || !view_keep_settle(index, &rows, kept, extents);
	if (words->failed) {
		free_rows(kept, count);
		view_column_free(&rows);
	} else {
		index->rows = rows;
		words->failed = !view_index_number_rows(index);
	}
	free(kept);
}

static void get_lanes(struct tw_words *words, struct view_track *track)
{
	const uint32_t count = (uint32_t)tw_take_below(words, VIEW_LANES_MOST + 1);
	const bool has_series = track->kind == VIEW_COUNTERS;
	if (!tw_grow(&track->lanes, &track->lane_room, (size_t)count + 1, sizeof *track->lanes) ||
	    (has_series && !view_track_series_room(track, count + 1)))
		words->failed = true;
	for (uint32_t lane = 0; lane < count && !words->failed; lane++) {
		track->lanes[lane] = (uint16_t)tw_take_below(words, UINT16_MAX + 1);
		if (has_series) {
			track->series_names[lane] = (uint32_t)tw_take_below(words, UINT32_MAX);
			track->series[lane].count = tw_take_below(words, VIEW_BLOCK) & UINT8_MAX;
			track->series[lane].at = tw_take_below(words, VIEW_AT_MOST) & VIEW_AT_MOST;
		}
		track->lane_count = lane + 1;
	}
}

/* It must be the next: a process stands before its threads. */
static void get_track(struct tw_words *words, struct view_tracks *tracks, size_t number)
{
	const enum view_track_kind kind = (enum view_track_kind)tw_take_below(words, VIEW_OTHER + 1);
	const uint64_t process = tw_take_word(words), thread = tw_take_word(words);
	words->failed |= tracks->count != number || view_tracks_find(tracks, kind, process, thread) != number;
	if (words->failed)
		return;
	struct view_track *track = &tracks->items[number];
	track->own_process = tw_take_word(words);
	track->own_thread = tw_take_word(words);
	track->sort_index = (int32_t)(int64_t)tw_take_word(words);
	track->fixed = tw_take_below(words, 2);
	track->slices = tw_take_word(words);
	track->file = (uint32_t)tw_take_below(words, 2);
	size_t length;
	const char *name = tw_take_padded(words, &length);
	track->name.length = 0;
	words->failed |= length > VIEW_NAME_MOST || !tw_text_add(&track->name, name, length);
	get_lanes(words, track);
}

static void get_tracks(struct tw_words *words, struct view_index *index)
{
	enum { WORDS = 11 };
	const size_t count = tw_take_count(words, WORDS);
	words->failed |= count > VIEW_TRACKS_MOST;
	for (size_t i = 0; i < count && !words->failed; i++)
		get_track(words, &index->tracks, i);
	words->failed |= index->tracks.count != count;
}

static void get_lost(struct tw_words *words, struct view_index *index)
{
	index->lost.count = tw_take_word(words);
	for (uint64_t i = 0; i < index->lost.count && i < VIEW_LOST_KEPT && !words->failed; i++) {
		struct view_lost *lost = &index->lost.items[i];
		lost->from = tw_take_word(words);
		lost->to = tw_take_word(words);
		lost->bytes = tw_take_word(words);
		lost->offset = tw_take_word(words);
		lost->track = (uint32_t)tw_take_below(words, UINT64_C(1) << 32);
		words->failed |= lost->track != VIEW_NONE && lost->track >= index->tracks.count;
	}
}

/* As many of each as there are for a file of this size. */
static void get_parts(struct tw_words *words, struct view_spans *spans)
{
	spans->shift = (unsigned)tw_take_below(words, 64);
	spans->taken = tw_take_word(words);
	words->failed |= tw_take_word(words) != spans->most;
	for (uint64_t i = 0; i < spans->most && !words->failed; i++)
		spans->events[i] = (uint32_t)tw_take_below(words, UINT64_C(1) << 32);
	words->failed |= tw_take_word(words) != spans->part_shift;
	words->failed |= tw_take_word(words) != spans->part_count;
	for (size_t i = 0; i < spans->part_count && !words->failed; i++) {
		struct view_part_of_file *part = &spans->parts[i];
		part->first = tw_take_word(words);
		part->last = tw_take_word(words);
		part->least = tw_take_word(words);
		part->most = tw_take_word(words);
		if (spans->borders)
			spans->borders[i] = tw_take_word(words);
		words->failed |= (part->first >= spans->file.size && part->first != UINT64_MAX) ||
		                 (part->last >= spans->file.size && part->last != UINT64_MAX);
	}
}

static void get_needed(struct tw_words *words, struct view_spans *spans)
{
	struct view_needed *needed = &spans->needed;
	const size_t count = tw_take_count(words, 2);
	words->failed |= !tw_grow(&needed->items, &needed->room, count + 1, sizeof *needed->items);
	for (size_t i = 0; i < count && !words->failed; i++) {
		const uint64_t offset = tw_take_below(words, spans->file.size);
		const uint64_t size = tw_take_below(words, spans->file.size - offset + 1);
		needed->items[needed->count++] = (struct tw_piece){.offset = offset, .size = size};
	}
}

static void get_spans(struct tw_words *words, struct view_index *index, const struct view_kept_from *from)
{
	if (!tw_take_below(words, 2))
		return;
	struct view_spans *spans = view_spans_for(from->format, from->size, from->path, from->options);
	index->store.spans = spans;
	if (!spans || !view_leaves_begin(spans)) {
		words->failed = true;
		return;
	}
	get_parts(words, spans);
	get_needed(words, spans);
	spans->start = from->start;
	spans->owner = index;
	spans->ready = true;
}

bool view_keep_get(struct tw_words *words, struct view_index *index, const struct view_kept_from *from)
{
	struct view_extents extents = {0};
	index->counters.of_series = calloc(1, sizeof *index->counters.of_series);
	words->failed |= !index->counters.of_series || !view_row_times_room(&index->store);
	index->events = tw_take_word(words);
	index->end = tw_take_below(words, INT64_MAX);
	index->left = tw_take_word(words);
	index->calls.rules.rounding = tw_take_word(words);
	index->calls.rules.ends_unordered = tw_take_below(words, 2);
	get_spans(words, index, from);
	view_keep_get_column(words, &index->store, &index->names.items, sizeof(struct view_name), &extents);
	view_few_get(words, &index->store, &index->store.few_slices, &extents);
	view_few_get(words, &index->store, &index->store.few_samples, &extents);
	get_tracks(words, index);
	get_lost(words, index);
	get_rows(words, index, &extents);
	free(extents.items);
	return !words->failed;
}
