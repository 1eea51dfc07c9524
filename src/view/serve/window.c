/* window.c - the answer to a window, in the binary form of doc/view.md. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/serve/window.h"

#include "base/bytes/bytes.h"
#include "view/index/bare.h"
#include "view/index/leaves.h"
#include "view/index/spans.h"
#include "view/serve/starts.h"
#include "view/serve/text.h"

#include <stdlib.h>
#include <string.h>

enum { HEAD_SIZE = 40, ROW_HEAD_SIZE = 16 };

/* Bytes of the trace that are read again for a window at most; for one that is to be exact. */
enum { READ_MOST = 2 << 20, READ_MOST_EXACT = 32 << 20 };

/* Entries of a row: of slices all, of a counter begin (time), end (least), busy (most) and item (last). */
struct entry {
	double begin, end, busy, item;
	uint32_t count, name;
};

struct answer {
	struct view_index *index;
	const struct view_window *window;
	/* Of the track: where the window begins and ends on the reader's clock, and how much of it is before that. */
	uint64_t from, to, before;
	struct tw_text *text;
	bool exact; /* items that are not kept are read again, those of these spans */
	uint64_t first_span, last_span;
	struct entry *entries;
	size_t count, room;
	uint32_t rows;
	bool failed;
};

/* ---- Bytes. ---- */

static void put(struct answer *answer, const void *bytes, size_t size)
{
	if (!tw_text_add(answer->text, bytes, size))
		answer->failed = true;
}

static void put_u32(struct answer *answer, uint32_t value)
{
	uint8_t bytes[4];
	tw_store32(bytes, value, false);
	put(answer, bytes, sizeof bytes);
}

static void pad(struct answer *answer)
{
	static const char zeroes[8];
	put(answer, zeroes, (8 - answer->text->length % 8) % 8);
}

/* Where so many bytes more are written; NULL without memory. */
static char *place_for(struct answer *answer, size_t size)
{
	struct tw_text *text = answer->text;
	if (!tw_extend(&text->bytes, &text->room, text->length + size + 1, 1)) {
		answer->failed = true;
		return NULL;
	}
	char *place = text->bytes + text->length;
	text->length += size;
	text->bytes[text->length] = '\0';
	return place;
}

static void put_reals(struct answer *answer, size_t member)
{
	char *place = place_for(answer, answer->count * sizeof(uint64_t));
	for (size_t i = 0; place && i < answer->count; i++) {
		uint64_t bits;
		memcpy(&bits, (const char *)&answer->entries[i] + member, sizeof bits);
		tw_store64((uint8_t *)place + i * sizeof bits, bits, false);
	}
}

static void put_numbers(struct answer *answer, size_t member)
{
	char *place = place_for(answer, answer->count * sizeof(uint32_t));
	for (size_t i = 0; place && i < answer->count; i++) {
		uint32_t number;
		memcpy(&number, (const char *)&answer->entries[i] + member, sizeof number);
		tw_store32((uint8_t *)place + i * sizeof number, number, false);
	}
	pad(answer);
}

/* ---- Entries. ---- */

static double relative(const struct answer *answer, uint64_t time)
{
	const uint64_t from = answer->from;
	return time >= from ? (double)(time - from + answer->before) : -(double)(from - time);
}

static void add_entry(struct answer *answer, const struct entry *entry)
{
	enum { ENTRY = 40 }; /* bytes */
	size_t most = answer->window->most;
	if (most && (answer->text->length > most || answer->count > (most - answer->text->length) / ENTRY)) {
		answer->failed = true;
		return;
	}
	if (!tw_grow(&answer->entries, &answer->room, answer->count + 1, sizeof *answer->entries)) {
		answer->failed = true;
		return;
	}
	answer->entries[answer->count++] = *entry;
}

/* Where the pixel ends that a time is in, on the reader's clock. */
static uint64_t pixel_end(const struct answer *answer, uint64_t time)
{
	const struct view_window *window = answer->window;
	uint64_t from = answer->from - answer->before, span = window->to - window->from;
	__extension__ typedef unsigned __int128 wide;
	uint64_t in = time > answer->from ? time - from : answer->before;
	if (in <= span && span < (uint64_t)1 << 47 && window->width <= UINT16_MAX) /* a division of 128 bits is slow */
		return from + ((in * window->width / span + 1) * span + window->width - 1) / window->width;
	uint64_t pixel = (uint64_t)((wide)in * window->width / span) + 1;
	uint64_t end = (uint64_t)(((wide)pixel * span + window->width - 1) / window->width);
	return from + end;
}

/* The name is one of the index. */
static uint32_t name_of(struct answer *answer, uint32_t name)
{
	struct view_index *index = answer->index;
	if (name >= index->names.items.count)
		return 0;
	uint32_t sent = view_names_send(&index->names, &index->store, name);
	answer->failed = answer->failed || sent == VIEW_NONE;
	return sent;
}

/* The items of a row, which may stand in another index. */
struct row_items {
	const struct view_row *row;
	const struct view_store *store;
	uint64_t first; /* the number of the first of them in the row that is asked about */
};

/* Adds items from one to the one before another as one, of which the times are those of the reader. */
static void add_run(struct answer *answer, const struct row_items *items, uint64_t count, const struct view_busy *busy,
                    uint64_t begin, uint64_t end)
{
	const uint32_t name = view_row_name(items->row, items->store, busy->item);
	add_entry(answer, &(struct entry){
			      .begin = relative(answer, begin),
			      .end = relative(answer, end),
			      .busy = (double)busy->busy,
			      .item = (double)(items->first + busy->item),
			      .count = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX,
			      .name = name_of(answer, name),
			  });
}

static void add_slices(struct answer *answer, const struct row_items *items, uint64_t from, uint64_t to)
{
	const struct view_busy busy = view_row_busy(items->row, items->store, from, to);
	add_run(answer, items, to - from, &busy, view_row_begin(items->row, items->store, from),
	        view_row_end(items->row, items->store, to - 1));
}

/* The first item behind those that begin and end in the pixel of one; that one's next where it is longer. */
static uint64_t pixel_over(const struct answer *answer, const struct row_items *items, uint64_t first)
{
	const struct view_row *row = items->row;
	const struct view_store *store = items->store;
	if (answer->window->apart)
		return first + 1;
	const uint64_t begin = view_row_begin(row, store, first);
	const uint64_t end = pixel_end(answer, begin);
	if (begin < answer->from || view_row_end(row, store, first) > end)
		return first + 1;
	uint64_t next = view_row_begin_at(row, store, first + 1, end);
	bool over = view_row_end(row, store, next - 1) > end;
	return over && next - 1 > first ? next - 1 : next;
}

/* The same where all that could be in the pixel is in one block; 0 where it is not. */
static uint64_t pixel_over_times(const struct answer *answer, const struct view_block_times *times, uint64_t first)
{
	const uint64_t *begins = times->begins, *lasts = times->lasts, begin = begins[first - times->first];
	const uint64_t end = pixel_end(answer, begin), to = times->first + VIEW_BLOCK;
	uint64_t next = first + 1;
	if (begin < answer->from || begin + lasts[first - times->first] > end)
		return next;
	while (next < to && begins[next - times->first] < end)
		next++;
	if (next == to)
		return 0;
	const uint64_t last = next - 1 - times->first;
	return begins[last] + lasts[last] > end && next - 1 > first ? next - 1 : next;
}

/* Adds items of a block from one on, but for those that may be in a pixel with others behind it. Returns the next. */
static uint64_t take_block(struct answer *answer, const struct row_items *items, uint64_t first, uint64_t last)
{
	struct view_block_times times;
	if (answer->window->apart || !view_row_times(items->row, items->store, first, &times))
		return first;
	const uint64_t to = times.first + VIEW_BLOCK < last ? times.first + VIEW_BLOCK : last;
	while (first < to && !answer->failed) {
		uint64_t next = pixel_over_times(answer, &times, first);
		if (next == 0)
			break;
		next = next > to ? to : next;
		const struct view_busy busy = view_row_busy(items->row, items->store, first, next);
		const uint64_t begin = times.begins[first - times.first], at = next - 1 - times.first;
		add_run(answer, items, next - first, &busy, begin, times.begins[at] + times.lasts[at]);
		first = next;
	}
	return first;
}

static void take_items(struct answer *answer, const struct row_items *items)
{
	const uint64_t from = answer->from, to = answer->to;
	uint64_t first = view_row_begin_at(items->row, items->store, 0, from);
	if (first > 0 && view_row_end(items->row, items->store, first - 1) > from)
		first--;
	uint64_t last = view_row_begin_at(items->row, items->store, first, to);
	while ((first = take_block(answer, items, first, last)) < last && !answer->failed) {
		uint64_t next = pixel_over(answer, items, first);
		next = next > last ? last : next;
		add_slices(answer, items, first, next);
		first = next;
	}
}

/* ---- Rows whose items are not kept. ---- */

/* Adds the item that is open when the first of the spans begins that have been read, and goes on in the window. */
static void take_open(struct answer *answer, const struct view_row *row, uint64_t first)
{
	const struct view_store *store = &answer->index->store;
	if (first == 0)
		return;
	const struct view_slice slice = view_row_slice(row, store, first - 1);
	const uint64_t lasts = slice.end - slice.begin;
	if (slice.end > answer->from)
		add_run(answer, &(struct row_items){row, store, 0}, 1, &(struct view_busy){lasts, lasts, first - 1},
		        slice.begin, slice.end);
}

/* Adds groups of items, so many items, as one. */
static void add_group(struct answer *answer, const struct view_group *group, uint64_t items)
{
	add_entry(answer, &(struct entry){
			      .begin = relative(answer, group->sum.begin),
			      .end = relative(answer, group->end),
			      .busy = (double)(group->sum.end - group->sum.begin),
			      .item = (double)group->item,
			      .count = items < UINT32_MAX ? (uint32_t)items : UINT32_MAX,
			      .name = name_of(answer, group->sum.name),
			  });
}

/* Groups of a grouping: VIEW_GROUP to the power of level + 1 items each. */
struct grouped {
	const struct view_row *row, *groups;
	const struct view_bare *bare;
	unsigned level;
	uint64_t items; /* of a group */
};

static struct grouped grouped_at(const struct answer *answer, const struct view_row *row, unsigned level)
{
	const struct view_bare *bare = view_bare_of(row, &answer->index->store);
	struct grouped of = {
	    .row = row, .groups = view_bare_grouped(bare, level), .bare = bare, .level = level, .items = VIEW_GROUP};
	for (unsigned i = 0; i < level; i++)
		of.items *= VIEW_GROUP;
	return of;
}

static struct view_group group_of(const struct answer *answer, const struct grouped *of, uint64_t i)
{
	return view_bare_group(of->row, &answer->index->store, of->level, i);
}

/* Adds groups from one to the one before another. */
static void add_groups(struct answer *answer, const struct grouped *of, uint64_t from, uint64_t to)
{
	const struct view_store *store = &answer->index->store;
	const uint64_t whole = of->groups->count < to ? of->groups->count : to;
	const struct view_busy busy = view_row_busy(of->groups, store, from, whole);
	const struct view_group last = group_of(answer, of, to - 1);
	struct view_group group = last;
	if (whole > from)
		view_bare_longest(of->row, store, of->level, busy.item, &group);
	const uint64_t begin = whole > from ? view_row_begin(of->groups, store, from) : last.sum.begin;
	const uint64_t end = of->bare->head.count + to * of->items, first = of->bare->head.count + from * of->items;
	group.sum.begin = begin;
	group.sum.end = begin + busy.busy + (to > whole ? last.sum.end - last.sum.begin : 0);
	group.end = last.end;
	add_group(answer, &group, (end < of->row->count ? end : of->row->count) - first);
}

/* The first group that begins behind the window: the last of the first grouping may not be whole. */
static uint64_t groups_end(const struct answer *answer, const struct grouped *of, uint64_t from)
{
	const uint64_t whole = of->groups->count, count = of->row->count - of->bare->head.count;
	const uint64_t last = view_row_begin_at(of->groups, &answer->index->store, from, answer->to);
	return last + (of->level == 0 && last == whole && count > whole * VIEW_GROUP &&
	               of->bare->groupings[0].open.begin < answer->to);
}

/* The first group that ends in the window. */
static uint64_t groups_begin(const struct answer *answer, const struct grouped *of)
{
	const uint64_t first = view_row_begin_at(of->groups, &answer->index->store, 0, answer->from);
	return first - (first > 0 && group_of(answer, of, first - 1).end > answer->from);
}

/* The first group of a block that begins behind the pixel of one; 0 where it may be in another block. */
static uint64_t group_over(const struct answer *answer, const struct view_block_slices *block, uint64_t first)
{
	const uint64_t begin = block->begins[first - block->first], to = block->first + VIEW_BLOCK;
	if (begin < answer->from)
		return first + 1;
	const uint64_t end = pixel_end(answer, begin);
	while (++first < to && block->begins[first - block->first] < end)
		;
	return first < to ? first : 0;
}

/* Whether groups of groups, the first of which begins at a time, go on behind the pixel after its own: what is between
 * the items would be filled. */
static bool is_too_wide(const struct answer *answer, const struct grouped *of, uint64_t begin, uint64_t end)
{
	const struct view_window *window = answer->window;
	return of->level > 0 && end > pixel_end(answer, begin) + (window->to - window->from) / window->width;
}

/* Adds groups of a block from one on, but for those that may be in a pixel with others behind it. Returns the next. */
static uint64_t take_group_block(struct answer *answer, const struct grouped *of, uint64_t first, uint64_t last)
{
	const struct view_store *store = &answer->index->store;
	struct view_block_slices block;
	if (!view_row_block(of->groups, store, first, &block))
		return first;
	const uint64_t to = block.first + VIEW_BLOCK < last ? block.first + VIEW_BLOCK : last;
	while (first < to && !answer->failed) {
		uint64_t next = group_over(answer, &block, first);
		if (next == 0)
			break;
		next = next > to ? to : next;
		const struct view_group group = view_bare_groups(of->row, store, of->level, &block, first, next);
		if (is_too_wide(answer, of, group.sum.begin, group.end))
			break;
		add_group(answer, &group, (next - first) * of->items);
		first = next;
	}
	return first;
}

static void take_groups(struct answer *answer, const struct view_row *row, unsigned level, uint64_t first,
                        uint64_t last);

/* Adds a group, or those that it is of, where it is too wide. */
static void take_group(struct answer *answer, const struct grouped *of, uint64_t i)
{
	const struct view_group group = group_of(answer, of, i);
	if (is_too_wide(answer, of, group.sum.begin, group.end))
		take_groups(answer, of->row, of->level - 1, i * VIEW_GROUP, (i + 1) * VIEW_GROUP);
	else
		add_groups(answer, of, i, i + 1);
}

/* A pixel has the groups that begin in it, but for a last one that is too wide. Returns the next. */
static uint64_t take_pixel(struct answer *answer, const struct grouped *of, uint64_t first, uint64_t last)
{
	const uint64_t begin = group_of(answer, of, first).sum.begin;
	uint64_t next = first + 1;
	if (begin >= answer->from && next < of->groups->count)
		next = view_row_begin_at(of->groups, &answer->index->store, next, pixel_end(answer, begin));
	next = next > last ? last : next;
	if (next > first + 1 && is_too_wide(answer, of, begin, group_of(answer, of, next - 1).end))
		next--;
	if (next > first + 1)
		add_groups(answer, of, first, next);
	else
		take_group(answer, of, first);
	return next;
}

/* Adds groups of a grouping from one to the one before another. */
static void take_groups(struct answer *answer, const struct view_row *row, unsigned level, uint64_t first,
                        uint64_t last)
{
	const struct grouped of = grouped_at(answer, row, level);
	while ((first = take_group_block(answer, &of, first, last)) < last && !answer->failed)
		first = take_pixel(answer, &of, first, last);
}

/* The grouping of which a pixel has some. */
static unsigned fitting_level(const struct answer *answer, const struct view_row *row)
{
	enum { PIXEL_HAS = 2 };
	const struct grouped of = grouped_at(answer, row, 0);
	const uint64_t first = groups_begin(answer, &of);
	uint64_t count = groups_end(answer, &of, first) - first;
	unsigned level = 0;
	while (level + 1 < VIEW_GROUPINGS && grouped_at(answer, row, level + 1).groups->count &&
	       (count /= VIEW_GROUP) >= (uint64_t)PIXEL_HAS * answer->window->width)
		level++;
	return level;
}

/* Adds all groups of a window: behind those of a grouping come groups of the one before that are no whole group. */
static void take_all_groups(struct answer *answer, const struct view_row *row)
{
	uint64_t behind = 0;
	for (unsigned level = fitting_level(answer, row);; level--) {
		const struct grouped of = grouped_at(answer, row, level);
		const uint64_t begin = groups_begin(answer, &of), first = begin > behind ? begin : behind;
		const uint64_t last = groups_end(answer, &of, first);
		take_groups(answer, row, level, first, last);
		if (level == 0 || last < of.groups->count)
			return;
		behind = last * VIEW_GROUP;
	}
}

static void take_bare(struct answer *answer, const struct view_row *row)
{
	const struct view_store *store = &answer->index->store;
	const struct view_bare *bare = view_bare_of(row, store);
	struct view_leaf leaf;
	if (answer->exact && view_leaves_find(store, row, answer->first_span, answer->last_span, &leaf)) {
		take_open(answer, row, leaf.first);
		take_items(answer, &(struct row_items){leaf.row, leaf.store, leaf.first});
		return;
	}
	answer->failed |= answer->window->apart;
	take_items(answer, &(struct row_items){&bare->head, store, 0});
	take_all_groups(answer, row);
}

static void take_slices(struct answer *answer, const struct view_row *row)
{
	if (row->bare)
		take_bare(answer, row);
	else
		take_items(answer, &(struct row_items){row, &answer->index->store, 0});
}

/* Whether so little of the trace is of the window that it can be read again. */
static void look_at_spans(struct answer *answer)
{
	const struct view_spans *spans = answer->index->store.spans;
	if (!spans || !spans->ready || answer->from >= answer->to)
		return;
	answer->first_span = view_span_of(spans, answer->from);
	answer->last_span = view_span_of(spans, answer->to - 1);
	const uint64_t size = view_spans_size(spans, answer->first_span, answer->last_span);
	answer->exact = size <= (answer->window->apart || answer->window->exact ? READ_MOST_EXACT : READ_MOST);
}

static void take_samples(struct answer *answer, const struct view_row *row)
{
	const struct view_store *store = &answer->index->store;
	const struct view_window *window = answer->window;
	uint64_t first = view_row_begin_at(row, store, 0, answer->from);
	uint64_t last = view_row_begin_at(row, store, first, answer->to);
	first -= first > 0;
	while (first < last && !answer->failed) {
		uint64_t time = view_row_begin(row, store, first), next = first + 1;
		if (time >= answer->from && !window->apart)
			next = view_row_begin_at(row, store, next, pixel_end(answer, time));
		next = next > last ? last : next;
		const struct view_range range = view_row_range(row, store, first, next);
		add_entry(answer, &(struct entry){
				      .begin = relative(answer, time),
				      .end = range.least,
				      .busy = range.most,
				      .item = view_row_sample(row, store, next - 1).value,
				  });
		first = next;
	}
}

/* ---- Rows. ---- */

static void put_row(struct answer *answer, const struct view_row *row)
{
	answer->count = 0;
	if (row->kind == VIEW_COUNTER)
		take_samples(answer, row);
	else
		take_slices(answer, row);
	if (answer->count == 0)
		return;
	answer->rows++;
	put_u32(answer, row->track);
	put_u32(answer, row->lane | (uint32_t)row->depth << 16);
	put_u32(answer, (uint32_t)row->kind);
	put_u32(answer, (uint32_t)answer->count);
	put_reals(answer, offsetof(struct entry, begin));
	put_reals(answer, offsetof(struct entry, end));
	put_reals(answer, offsetof(struct entry, busy));
	put_reals(answer, offsetof(struct entry, item));
	if (row->kind == VIEW_COUNTER)
		return;
	put_numbers(answer, offsetof(struct entry, count));
	put_numbers(answer, offsetof(struct entry, name));
}

static void put_if_there(struct answer *answer, uint32_t track, uint32_t lane, uint32_t depth)
{
	const struct view_row *row = view_index_row(answer->index, track, lane, depth);
	if (row && row->count)
		put_row(answer, row);
}

static uint64_t clamped(view_wide time)
{
	return time < 0 ? 0 : time < UINT64_MAX ? (uint64_t)time : UINT64_MAX;
}

/* Says where the window is on the clock of a track. */
static void place_window(struct answer *answer, const struct view_track *track)
{
	const struct view_window *window = answer->window;
	const int64_t later = window->later && track->file ? window->later[track->file - 1] : 0;
	const view_wide from = (view_wide)window->start + window->from - later;
	answer->from = clamped(from);
	answer->before = clamped(-from);
	answer->to = clamped((view_wide)window->start + window->to - later);
}

static void put_track(struct answer *answer, uint32_t number)
{
	const struct view_track *track = &answer->index->tracks.items[number];
	place_window(answer, track);
	look_at_spans(answer);
	const uint32_t deepest = answer->window->outer ? 1 : UINT32_MAX;
	for (uint32_t lane = 0; lane < track->lane_count; lane++)
		for (uint32_t depth = 0; depth < track->lanes[lane] && depth < deepest; depth++)
			put_if_there(answer, number, lane, depth);
	if (answer->window->outer)
		return;
	put_if_there(answer, number, VIEW_STATES_LANE, 0);
	put_if_there(answer, number, VIEW_POINTS_LANE, 0);
}

/* ---- Names. ---- */

static size_t put_names(struct answer *answer, uint32_t first)
{
	struct view_index *index = answer->index;
	struct tw_text texts = {0};
	for (size_t i = first; i < index->names.sent_count; i++) {
		const struct view_name *name = view_names_at(&index->names, &index->store, index->names.sent[i]);
		if (!view_add_utf8(&texts, (const char *)index->store.bytes + name->place, name->length))
			answer->failed = true;
		put_u32(answer, (uint32_t)texts.length);
	}
	pad(answer);
	if (texts.length)
		put(answer, texts.bytes, texts.length);
	pad(answer);
	size_t length = texts.length;
	tw_text_free(&texts);
	return length;
}

bool view_window_answer(struct view_index *index, const struct view_window *window, const uint32_t *tracks,
                        size_t count, struct tw_text *text)
{
	struct answer answer = {.index = index, .window = window, .text = text};
	uint8_t head[HEAD_SIZE] = {'T', 'W', 'V', '1'};
	put(&answer, head, sizeof head);
	for (size_t i = 0; i < count && !answer.failed; i++)
		if (tracks[i] < index->tracks.count)
			put_track(&answer, tracks[i]);
	size_t sent = index->names.sent_count;
	uint32_t first = window->names < sent ? window->names : (uint32_t)sent;
	size_t length = put_names(&answer, first);
	tw_store32(head + 4, window->generation, false);
	tw_store64(head + 8, window->from, false);
	tw_store64(head + 16, window->to, false);
	tw_store32(head + 24, answer.rows, false);
	tw_store32(head + 28, first, false);
	tw_store32(head + 32, (uint32_t)sent - first, false);
	tw_store32(head + 36, (uint32_t)length, false);
	if (!answer.failed)
		memcpy(text->bytes, head, sizeof head);
	free(answer.entries);
	return !answer.failed;
}
