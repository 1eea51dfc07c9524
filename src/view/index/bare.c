/* bare.c - rows of slices whose items are not kept, because they can be read from the trace again. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/index/bare.h"

#include "view/index/spans.h"

/* Below the name of a group stands which of its items is the longest: the groups that it is made of are not asked. */
enum { GROUP_BITS = 3, NAMES_MOST = 1 << (32 - GROUP_BITS * VIEW_GROUPINGS) };

_Static_assert(1 << GROUP_BITS == VIEW_GROUP, "bits that tell one of a group");

static unsigned which_bits(unsigned level)
{
	return GROUP_BITS * (level + 1);
}

static uint64_t which_of(uint64_t name, unsigned level)
{
	return name & (((uint64_t)1 << which_bits(level)) - 1);
}

/* ---- Adding. ---- */

static struct view_kept known_of(const struct view_slice *slice, uint64_t item)
{
	return (struct view_kept){.begin = slice->begin,
	                          .end = slice->end,
	                          .offset = slice->offset,
	                          .item = item & (((uint64_t)1 << 40) - 1),
	                          .name = slice->name & (NAMES_MOST - 1)};
}

bool view_bare_begin(struct view_row *row, struct view_store *store)
{
	const struct view_spans *spans = store->spans;
	if (spans->taken / VIEW_BARE_SHARE > row->count)
		return true;
	const uint64_t tail = VIEW_BLOCK * sizeof(struct view_slice);
	const uint64_t place = view_store_take(store, sizeof(struct view_bare) + tail);
	if (place == VIEW_NOWHERE)
		return false;
	struct view_bare *bare = (struct view_bare *)(void *)(store->bytes + place);
	const struct view_slice last = view_row_slice(row, store, row->count - 1);
	*bare = (struct view_bare){.head = *row, .last = known_of(&last, row->count - 1), .shift = spans->shift};
	bare->groupings[0].groups = (struct view_row){.kind = VIEW_SLICES, .tail = place + sizeof *bare, .own_tail = 1};
	row->bare = 1;
	row->tail = place;
	row->packs = NULL;
	return true;
}

static struct view_kept *kept_at(const struct view_bare *bare, const struct view_store *store, uint64_t i)
{
	return view_column_at(&bare->kept, store, sizeof(struct view_kept), i);
}

/* Spans have become longer: some items are no longer the last of one. */
static void thin_out(struct view_bare *bare, const struct view_store *store)
{
	uint64_t left = 0;
	for (uint64_t i = 0; i < bare->kept.count; i++) {
		const struct view_kept *kept = kept_at(bare, store, i);
		const bool is_latest = i + 1 == bare->kept.count;
		const uint64_t next = is_latest ? bare->last.begin : kept_at(bare, store, i + 1)->begin;
		if (view_span_of(store->spans, kept->begin) != view_span_of(store->spans, next))
			*kept_at(bare, store, left++) = *kept;
	}
	view_column_cut(&bare->kept, left);
	bare->shift = store->spans->shift;
}

static bool keep_last(struct view_bare *bare, struct view_store *store, uint64_t time)
{
	if (view_span_of(store->spans, bare->last.begin) == view_span_of(store->spans, time))
		return true;
	struct view_kept *kept = view_column_add(&bare->kept, store, sizeof *kept);
	if (kept)
		*kept = bare->last;
	return kept;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t floor_of(uint64_t time, unsigned bits)
{
	return time >> bits << bits;
}

/* A part of a span is so small that a picture for which the trace is not read again does not show it. Returns the
 * group, as view_bare_group() does. */
static struct view_group close_group(struct view_bare *bare, struct view_store *store, unsigned level)
{
	enum { PARTS = 10 }; /* of a span, as a power of 2 */
	struct view_grouping *to = &bare->groupings[level];
	const struct view_open_group *group = &to->open;
	const unsigned bits = store->spans->shift > PARTS ? store->spans->shift - PARTS : 0;
	const uint64_t before = floor_of(to->groups.last + ((uint64_t)1 << bits) - 1, bits);
	const uint64_t begin = later(before, floor_of(group->begin, bits));
	to->busy += group->busy;
	const uint64_t busy_end = begin + floor_of(to->busy, bits), end = later(floor_of(group->end, bits), busy_end);
	to->busy -= busy_end - begin;
	struct view_slice sum = {.begin = begin,
	                         .end = busy_end,
	                         .offset = end - busy_end,
	                         .name = group->name << which_bits(level) | group->which};
	const uint64_t number = to->groups.count;
	view_row_add_slice(&to->groups, store, &sum);
	sum.name = group->name;
	return (struct view_group){sum, end, bare->head.count + (number << which_bits(level) | group->which)};
}

/* Adds an item, or a group, of which `which` of the items of the group that is open is the longest. */
static void open_group(struct view_open_group *open, const struct view_group *part, bool is_first, uint64_t which)
{
	const uint64_t lasting = part->sum.end - part->sum.begin;
	if (is_first)
		*open = (struct view_open_group){.begin = part->sum.begin,
		                                 .name = part->sum.name,
		                                 .which = (uint32_t)which};
	open->end = part->end;
	open->busy += lasting;
	if (lasting > open->longest) {
		open->longest = lasting;
		open->name = part->sum.name;
		open->which = (uint32_t)which;
	}
}

/* Adds an item to the first grouping, or number i of the groups of one to the next. Returns whether that has made
 * another group whole, which then stands in its place; store->error. */
static bool add_part(struct view_bare *bare, struct view_store *store, unsigned level, struct view_group *part,
                     uint64_t i)
{
	const unsigned in = i % VIEW_GROUP;
	open_group(&bare->groupings[level].open, part, in == 0, which_of(part->item - bare->head.count, level));
	if (in + 1 < VIEW_GROUP)
		return false;
	*part = close_group(bare, store, level);
	return !store->error;
}

/* Begins a grouping with the groups that there are. */
static void begin_grouping(const struct view_row *row, struct view_store *store, unsigned level)
{
	struct view_bare *bare = view_bare_of(row, store);
	const uint64_t place = view_store_take(store, VIEW_BLOCK * sizeof(struct view_slice));
	if (place == VIEW_NOWHERE)
		return;
	bare->groupings[level].groups = (struct view_row){.kind = VIEW_SLICES, .tail = place, .own_tail = 1};
	for (uint64_t i = 0; i < VIEW_GROUPED_FROM && !store->error; i++) {
		struct view_group part = view_bare_group(row, store, level - 1, i);
		add_part(bare, store, level, &part, i);
	}
}

/* Each group that has become whole is a part of the next grouping. */
static bool add_to_groups(const struct view_row *row, struct view_store *store, const struct view_slice *slice)
{
	struct view_bare *bare = view_bare_of(row, store);
	struct view_group part = {.sum = *slice, .end = slice->end, .item = row->count};
	uint64_t number = row->count - bare->head.count;
	for (unsigned level = 0; add_part(bare, store, level, &part, number) && level + 1 < VIEW_GROUPINGS; level++) {
		number = view_bare_grouped(bare, level)->count - 1;
		if (number + 1 == VIEW_GROUPED_FROM)
			begin_grouping(row, store, level + 1);
		if (number < VIEW_GROUPED_FROM)
			break;
	}
	return !store->error;
}

bool view_bare_add(struct view_row *row, struct view_store *store, const struct view_slice *slice)
{
	struct view_bare *bare = view_bare_of(row, store);
	store->spans->failed |= slice->name >= NAMES_MOST;
	if (bare->shift != store->spans->shift)
		thin_out(bare, store);
	if (!keep_last(bare, store, slice->begin) || !add_to_groups(row, store, slice))
		return false;
	bare->last = known_of(slice, row->count);
	row->last = slice->end;
	row->count++;
	return true;
}

/* ---- Looking. ---- */

/* The last item stands behind those that are kept. */
static const struct view_kept *known_at(const struct view_bare *bare, const struct view_store *store, uint64_t i)
{
	return i < bare->kept.count ? kept_at(bare, store, i) : &bare->last;
}

static uint64_t item_of(const struct view_kept *kept)
{
	return kept->item;
}

static uint64_t begin_of(const struct view_kept *kept)
{
	return kept->begin;
}

/* The first that is known of which this is not less. */
static uint64_t first_known(const struct view_bare *bare, const struct view_store *store,
                            uint64_t (*value_of)(const struct view_kept *kept), uint64_t least)
{
	uint64_t low = 0, high = bare->kept.count;
	while (low < high) {
		const uint64_t middle = low + (high - low) / 2;
		if (value_of(kept_at(bare, store, middle)) < least)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint64_t known_from(const struct view_bare *bare, const struct view_store *store, uint64_t item)
{
	return first_known(bare, store, item_of, item);
}

static uint64_t known_since(const struct view_bare *bare, const struct view_store *store, uint64_t time)
{
	return first_known(bare, store, begin_of, time);
}

/* Takes from the name of group i which item is the longest, and the item's name. */
static void take_longest(const struct view_bare *bare, unsigned level, uint64_t i, uint64_t name,
                         struct view_group *group)
{
	group->sum.name = (uint32_t)(name >> which_bits(level));
	group->item = bare->head.count + (i << which_bits(level) | which_of(name, level));
}

struct view_group view_bare_group(const struct view_row *row, const struct view_store *store, unsigned level,
                                  uint64_t i)
{
	const struct view_bare *bare = view_bare_of(row, store);
	const struct view_open_group *open = &bare->groupings[level].open;
	struct view_group group;
	if (i < view_bare_grouped(bare, level)->count) {
		group.sum = view_row_slice(view_bare_grouped(bare, level), store, i);
		group.end = group.sum.end + group.sum.offset;
		take_longest(bare, level, i, group.sum.name, &group);
		return group;
	}
	group.sum = (struct view_slice){.begin = open->begin, .end = open->begin + open->busy, .name = open->name};
	group.end = open->end;
	group.item = bare->head.count + (i << which_bits(level) | open->which);
	return group;
}

void view_bare_longest(const struct view_row *row, const struct view_store *store, unsigned level, uint64_t i,
                       struct view_group *group)
{
	const struct view_bare *bare = view_bare_of(row, store);
	take_longest(bare, level, i, view_row_name(view_bare_grouped(bare, level), store, i), group);
}

struct view_group view_bare_groups(const struct view_row *row, const struct view_store *store, unsigned level,
                                   const struct view_block_slices *block, uint64_t from, uint64_t to)
{
	const uint64_t first = from - block->first, last = to - 1 - block->first, *busy = block->lasts;
	uint64_t longest = first, all = busy[first];
	for (uint64_t i = first + 1; i <= last; i++) {
		all += busy[i];
		longest = busy[i] > busy[longest] ? i : longest;
	}
	const uint64_t begin = block->begins[first];
	struct view_group group = {.sum = {.begin = begin, .end = begin + all},
	                           .end = block->begins[last] + busy[last] + block->offsets[last]};
	take_longest(view_bare_of(row, store), level, block->first + longest, block->names[longest], &group);
	return group;
}

static struct view_slice slice_of(const struct view_kept *kept)
{
	return (struct view_slice){.begin = kept->begin,
	                           .end = kept->end,
	                           .offset = kept->offset,
	                           .name = (uint32_t)kept->name};
}

/* An item that cannot be read: somewhere in its group. */
static struct view_slice guess(const struct view_row *row, const struct view_store *store, uint64_t i)
{
	const uint64_t first = view_bare_of(row, store)->head.count;
	const struct view_group group = view_bare_group(row, store, 0, (i - first) / VIEW_GROUP);
	return (struct view_slice){.begin = group.sum.begin, .end = group.sum.begin, .name = group.sum.name};
}

struct view_slice view_bare_slice(const struct view_row *row, const struct view_store *store, uint64_t i)
{
	const struct view_bare *bare = view_bare_of(row, store);
	struct view_leaf leaf;
	if (i < bare->head.count)
		return view_row_slice(&bare->head, store, i);
	const struct view_kept *known = known_at(bare, store, known_from(bare, store, i));
	if (known->item == i)
		return slice_of(known);
	const uint64_t span = view_span_of(store->spans, known->begin);
	if (!store->spans->again->find(store, row, span, span, &leaf) || i - leaf.first >= leaf.row->count)
		return guess(row, store, i);
	return view_row_slice(leaf.row, leaf.store, i - leaf.first);
}

bool view_bare_knows(const struct view_row *row, const struct view_store *store, uint64_t i)
{
	const struct view_bare *bare = view_bare_of(row, store);
	return i < bare->head.count || known_at(bare, store, known_from(bare, store, i))->item == i;
}

/* Where the items begin that stand behind what is known before one that is. */
static uint64_t behind_known(const struct view_bare *bare, const struct view_store *store, uint64_t known)
{
	return known ? kept_at(bare, store, known - 1)->item + 1 : bare->head.count;
}

uint64_t view_bare_first(const struct view_row *row, const struct view_store *store, uint64_t span)
{
	const struct view_bare *bare = view_bare_of(row, store);
	const uint64_t time = view_span_start(store->spans, span);
	const uint64_t known = known_since(bare, store, time);
	if (known == bare->kept.count && bare->last.begin < time)
		return row->count;
	return known ? behind_known(bare, store, known) : view_row_begin_at(&bare->head, store, 0, time);
}

uint64_t view_bare_begin_at(const struct view_row *row, const struct view_store *store, uint64_t from, uint64_t time)
{
	const struct view_bare *bare = view_bare_of(row, store);
	const uint64_t known = known_since(bare, store, time), first = behind_known(bare, store, known);
	struct view_leaf leaf;
	if (bare->head.last >= time || from < bare->head.count) {
		const uint64_t in_head =
		    view_row_begin_at(&bare->head, store, from < bare->head.count ? from : 0, time);
		if (in_head < bare->head.count)
			return later(from, in_head);
	}
	if (known == bare->kept.count && bare->last.begin < time)
		return row->count;
	const struct view_kept *at = known_at(bare, store, known);
	const uint64_t span = view_span_of(store->spans, at->begin);
	if (at->item <= first || view_span_start(store->spans, span) >= time)
		return later(from, first);
	if (store->spans->again->find(store, row, span, span, &leaf))
		return later(from, leaf.first + view_row_begin_at(leaf.row, leaf.store, 0, time));
	const uint64_t group = view_row_begin_at(view_bare_grouped(bare, 0), store, 0, time);
	const uint64_t near = later(first, bare->head.count + group * VIEW_GROUP);
	return later(from, near < at->item ? near : at->item);
}

void view_bare_free(struct view_row *row, const struct view_store *store)
{
	struct view_bare *bare = view_bare_of(row, store);
	view_row_free(&bare->head, store);
	for (unsigned level = 0; level < VIEW_GROUPINGS; level++)
		view_row_free(&bare->groupings[level].groups, store);
	view_column_free(&bare->kept);
	row->bare = 0;
}
