/* few.c - the items of rows that have few: they stand together, in the order in which they came.
 *
 * Each tells how far behind the one before of its row it is. Blocks of them are packed: most rows of some traces have
 * one sample, which takes some ten bytes so. Those of a row are in blocks far from each other: so a block has
 * anchors, from which on the steps to an item are added up. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/index/few.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of an item. A sample has its time as BEGIN, and its value as LASTS. */
enum column { NAME, BEGIN, LASTS, OFFSET, ITEM_COLUMNS, BACK = ITEM_COLUMNS, COLUMNS };

/* BACK is packed as the second of two columns, behind zeroes. */
enum { LINK = 1, LINK_COLUMNS };

/* Every how many items a block has an anchor, and how many, without the first item. */
enum { ANCHOR_EVERY = 16, ANCHORS = VIEW_BLOCK / ANCHOR_EVERY - 1 };

struct block {
	struct view_packed items, links;
	uint64_t begin, offset;  /* of the first */
	int32_t begins[ANCHORS]; /* from that one; all 0 where one has no room here: then there are no anchors */
	int32_t offsets[ANCHORS];
};

typedef uint64_t numbers_of_block[COLUMNS][VIEW_BLOCK];

struct view_few {
	struct view_column blocks;
	uint64_t count;          /* of all items */
	numbers_of_block newest; /* of the items behind the blocks */
	uint64_t last, asked;    /* the items that were asked for last */
	uint64_t item, left;     /* the next of them back, and how many are left with it */
	union {
		struct view_slice slices[VIEW_BLOCK];
		struct view_sample samples[VIEW_BLOCK];
	} items;
};

/* ---- Adding. ---- */

/* Small numbers for small steps ahead and back. */
static uint64_t step_to(uint64_t from, uint64_t to)
{
	const uint64_t step = to - from;
	return step << 1 ^ -(step >> 63);
}

static uint64_t step_from(uint64_t from, uint64_t step)
{
	return from + (step >> 1 ^ -(step & 1));
}

static void make_steps(uint64_t numbers[static VIEW_BLOCK])
{
	uint64_t before = numbers[0];
	for (unsigned i = 0; i < VIEW_BLOCK; i++) {
		const uint64_t number = numbers[i];
		numbers[i] = step_to(before, number);
		before = number;
	}
}

static void make_anchors(int32_t anchors[static ANCHORS], const uint64_t numbers[static VIEW_BLOCK])
{
	for (unsigned i = 0; i < ANCHORS; i++) {
		const int64_t far = (int64_t)(numbers[(i + 1) * ANCHOR_EVERY] - numbers[0]);
		if (far < INT32_MIN || far > INT32_MAX) {
			memset(anchors, 0, ANCHORS * sizeof *anchors);
			return;
		}
		anchors[i] = (int32_t)far;
	}
}

static bool pack(struct view_few *few, struct view_store *store)
{
	struct block block = {.begin = few->newest[BEGIN][0], .offset = few->newest[OFFSET][0]}, *at;
	uint64_t items[VIEW_BLOCK_COLUMNS][VIEW_BLOCK], links[VIEW_BLOCK_COLUMNS][VIEW_BLOCK] = {{0}};
	memcpy(items, few->newest, sizeof items);
	memcpy(links[LINK], few->newest[BACK], sizeof links[LINK]);
	make_anchors(block.begins, items[BEGIN]);
	make_anchors(block.offsets, items[OFFSET]);
	make_steps(items[BEGIN]);
	make_steps(items[OFFSET]);
	if (!view_pack(&block.items, store, items, ITEM_COLUMNS) ||
	    !view_pack(&block.links, store, links, LINK_COLUMNS) ||
	    !(at = view_column_add(&few->blocks, store, sizeof *at)))
		return false;
	*at = block;
	return true;
}

static uint64_t add(struct view_store *store, struct view_few **few, uint64_t before,
                    const uint64_t numbers[static ITEM_COLUMNS])
{
	if (!*few && !(*few = calloc(1, sizeof **few))) {
		store->error = ENOMEM;
		return 0;
	}
	const unsigned in = (*few)->count % VIEW_BLOCK;
	for (unsigned k = 0; k < ITEM_COLUMNS; k++)
		(*few)->newest[k][in] = numbers[k];
	(*few)->count++;
	(*few)->newest[BACK][in] = before ? (*few)->count - before : 0;
	return in + 1 < VIEW_BLOCK || pack(*few, store) ? (*few)->count : 0;
}

uint64_t view_few_add_slice(struct view_store *store, uint64_t before, const struct view_slice *slice)
{
	const uint64_t numbers[] = {[NAME] = slice->name,
	                            [BEGIN] = slice->begin,
	                            [LASTS] = slice->end - slice->begin,
	                            [OFFSET] = slice->offset};
	return add(store, &store->few_slices, before, numbers);
}

/* Values of few digits end in zeroes: the other way round they are small numbers. */
static uint64_t reversed(uint64_t bits)
{
	static const uint64_t masks[] = {0x5555555555555555, 0x3333333333333333, 0x0f0f0f0f0f0f0f0f};
	for (unsigned i = 0; i < sizeof masks / sizeof *masks; i++)
		bits = (bits >> (1 << i) & masks[i]) | (bits & masks[i]) << (1 << i);
	return __builtin_bswap64(bits);
}

uint64_t view_few_add_sample(struct view_store *store, uint64_t before, const struct view_sample *sample)
{
	uint64_t bits;
	memcpy(&bits, &sample->value, sizeof bits);
	const uint64_t numbers[] = {[NAME] = 0, [BEGIN] = sample->time, [LASTS] = reversed(bits), [OFFSET] = 0};
	return add(store, &store->few_samples, before, numbers);
}

/* ---- Looking. ---- */

/* A number that is told by steps: from the anchor before it on. */
static uint64_t number_at(const struct view_store *store, const struct block *block, enum column column,
                          const int32_t anchors[static ANCHORS], uint64_t first, unsigned in)
{
	const unsigned anchor = anchors[ANCHORS - 1] ? in / ANCHOR_EVERY : 0;
	uint64_t number = anchor ? first + (uint64_t)(int64_t)anchors[anchor - 1] : first;
	const unsigned from = anchor * ANCHOR_EVERY + 1, to = in < from ? from : in + 1;
	uint64_t steps[VIEW_BLOCK];
	view_unpack_part(&block->items, store, column, from, to, steps);
	for (unsigned i = 0; i < to - from; i++)
		number = step_from(number, steps[i]);
	return number;
}

static void take_numbers(const struct view_few *few, const struct view_store *store, uint64_t item,
                         uint64_t numbers[static COLUMNS])
{
	const uint64_t number = item / VIEW_BLOCK;
	const unsigned in = item % VIEW_BLOCK;
	if (number == few->blocks.count) {
		for (unsigned k = 0; k < COLUMNS; k++)
			numbers[k] = few->newest[k][in];
		return;
	}
	const struct block *block = view_column_at(&few->blocks, store, sizeof *block, number);
	numbers[NAME] = view_packed_at(&block->items, store, NAME, in);
	numbers[BEGIN] = number_at(store, block, BEGIN, block->begins, block->begin, in);
	numbers[LASTS] = view_packed_at(&block->items, store, LASTS, in);
	numbers[OFFSET] =
	    few == store->few_samples ? 0 : number_at(store, block, OFFSET, block->offsets, block->offset, in);
	numbers[BACK] = view_packed_at(&block->links, store, LINK, in);
}

static void put_slice(struct view_few *few, uint64_t i, const uint64_t numbers[static COLUMNS])
{
	few->items.slices[i] = (struct view_slice){.begin = numbers[BEGIN],
	                                           .end = numbers[BEGIN] + numbers[LASTS],
	                                           .offset = numbers[OFFSET],
	                                           .name = (uint32_t)numbers[NAME]};
}

static void put_sample(struct view_few *few, uint64_t i, const uint64_t numbers[static COLUMNS])
{
	const uint64_t bits = reversed(numbers[LASTS]);
	few->items.samples[i].time = numbers[BEGIN];
	memcpy(&few->items.samples[i].value, &bits, sizeof bits);
}

/* From the last back to the one that is asked for: who looks at the end of a row need not see its begin. */
static void find(struct view_few *few, const struct view_store *store, uint64_t last, uint64_t count, uint64_t first,
                 void (*put)(struct view_few *few, uint64_t i, const uint64_t numbers[static COLUMNS]))
{
	if (few->last != last || few->asked != count) {
		few->last = last;
		few->asked = few->left = count;
		few->item = last - 1;
	}
	while (few->left > first) {
		uint64_t numbers[COLUMNS];
		take_numbers(few, store, few->item, numbers);
		put(few, --few->left, numbers);
		few->item -= numbers[BACK] < few->item ? numbers[BACK] : few->item; /* a kept index may say anything */
	}
}

const struct view_slice *view_few_slice(const struct view_store *store, uint64_t last, uint64_t count, uint64_t i)
{
	find(store->few_slices, store, last, count, i, put_slice);
	return store->few_slices->items.slices + i;
}

const struct view_sample *view_few_sample(const struct view_store *store, uint64_t last, uint64_t count, uint64_t i)
{
	find(store->few_samples, store, last, count, i, put_sample);
	return store->few_samples->items.samples + i;
}

static void free_one(struct view_few **few)
{
	if (*few)
		view_column_free(&(*few)->blocks);
	free(*few);
	*few = NULL;
}

void view_few_free(struct view_store *store)
{
	free_one(&store->few_slices);
	free_one(&store->few_samples);
}

/* ---- In a file that is kept. ---- */

void view_few_put(struct tw_output *out, const struct view_few *few)
{
	tw_put_word(out, few != NULL);
	if (!few)
		return;
	tw_put_word(out, few->count);
	view_keep_put_column(out, &few->blocks);
	for (unsigned k = 0; k < COLUMNS; k++)
		for (unsigned i = 0; i < few->count % VIEW_BLOCK; i++)
			tw_put_word(out, few->newest[k][i]);
}

bool view_few_get(struct tw_words *words, const struct view_store *store, struct view_few **few,
                  struct view_extents *extents)
{
	if (!tw_take_below(words, 2))
		return !words->failed;
	struct view_few *got = *few = calloc(1, sizeof *got);
	words->failed |= !got;
	if (words->failed)
		return false;
	got->count = tw_take_word(words);
	view_keep_get_column(words, store, &got->blocks, sizeof(struct block), extents);
	for (unsigned k = 0; k < COLUMNS; k++)
		for (unsigned i = 0; i < got->count % VIEW_BLOCK; i++)
			got->newest[k][i] = tw_take_word(words);
	return !words->failed;
}

bool view_few_check(const struct view_store *store, const struct view_few *few)
{
	bool fine = !few || few->blocks.count == few->count / VIEW_BLOCK;
	for (uint64_t i = 0; few && i < few->blocks.count && fine; i++) {
		const struct block *block = view_column_at(&few->blocks, store, sizeof *block, i);
		fine = view_is_packed(store, &block->items) && view_is_packed(store, &block->links);
	}
	return fine;
}

bool view_few_has(const struct view_few *few, uint64_t last, uint64_t count)
{
	return few && count <= VIEW_BLOCK && last > 0 && last <= few->count;
}
