/* index_file.c - an index to a file and back. Nothing that is read is believed that could lead outside of the trace or
 * of memory. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/index_file/words.h"
#include "sql/engine/session.h"
#include "sql/index/index_parts.h"

#include <stdlib.h>

static void put_spans(struct tw_output *out, const struct sql_index *index)
{
	tw_put_word(out, index->span_shift);
	tw_put_word(out, index->span_count);
	for (size_t i = 0; i < index->span_count; i++) {
		tw_put_word(out, index->spans[i].latest);
		tw_put_word(out, index->spans[i].count);
		for (size_t k = 0; k < index->spans[i].count; k++)
			tw_put_word(out, index->spans[i].open[k]);
	}
}

static void put_places(struct tw_output *out, const struct sql_index *index)
{
	tw_put_word(out, index->places.count);
	for (size_t i = 0; i < index->places.count; i++) {
		const struct sql_index_place *place = &index->places.items[i];
		tw_put_word(out, place->offset);
		tw_put_word(out, place->count);
		for (size_t k = 0; k < place->count; k++) {
			tw_put_word(out, index->live.items[place->first + k].offset);
			tw_put_word(out, index->live.items[place->first + k].size);
		}
	}
}

void sql_index_put(struct tw_output *out, const struct sql_index *index)
{
	tw_put_word(out, index != NULL);
	if (!index)
		return;
	tw_put_word(out, index->size);
	tw_put_word(out, index->overlaps);
	put_spans(out, index);
	tw_put_word(out, index->block_shift);
	tw_put_word(out, index->block_count);
	for (size_t i = 0; i < index->block_count; i++) {
		const struct sql_index_block *block = &index->blocks[i];
		tw_put_word(out, block->first);
		tw_put_word(out, block->last);
		tw_put_word(out, block->least);
		tw_put_word(out, block->most);
		tw_put_word(out, block->tracks);
	}
	tw_put_word(out, index->begin_count);
	for (size_t i = 0; i < index->begin_count; i++) {
		tw_put_word(out, index->begins[i].offset);
		tw_put_word(out, index->begins[i].unit);
		tw_put_word(out, index->begins[i].size);
	}
	tw_put_word(out, index->needed.count);
	for (size_t i = 0; i < index->needed.count; i++) {
		tw_put_word(out, index->needed.items[i].offset);
		tw_put_word(out, index->needed.items[i].size);
	}
	put_places(out, index);
}

/* Bytes of the file: they must be there. */
static struct sql_index_begin take_bytes(struct tw_words *words, const struct sql_index *index)
{
	struct sql_index_begin bytes = {.unit = tw_take_below(words, index->size)};
	bytes.size = tw_take_below(words, index->size - bytes.unit + 1);
	words->failed = words->failed || bytes.size == 0;
	return bytes;
}

static void take_spans(struct tw_words *words, struct sql_index *index)
{
	index->span_shift = (unsigned)tw_take_below(words, 64);
	index->span_count = (size_t)tw_take_below(words, SQL_INDEX_SPANS + 1);
	for (size_t i = 0; i < index->span_count && !words->failed; i++) {
		struct sql_index_span *span = &index->spans[i];
		span->latest = tw_take_word(words);
		size_t count = tw_take_count(words, 1);
		span->open = count ? calloc(count, sizeof *span->open) : NULL;
		words->failed = words->failed || (count && !span->open);
		for (; span->count < count && !words->failed; span->count++)
			span->open[span->count] = tw_take_word(words);
	}
}

static void take_blocks(struct tw_words *words, struct sql_index *index)
{
	index->block_shift = (unsigned)tw_take_below(words, 64);
	index->block_count = tw_take_count(words, 5);
	index->blocks = calloc(index->block_count + 1, sizeof *index->blocks);
	words->failed = words->failed || !index->blocks;
	uint64_t before = 0;
	for (size_t i = 0; i < index->block_count && !words->failed; i++) {
		struct sql_index_block *block = &index->blocks[i];
		block->first = tw_take_word(words);
		block->last = tw_take_word(words);
		block->least = tw_take_word(words);
		block->most = tw_take_word(words);
		block->tracks = tw_take_word(words);
		if (block->first == UINT64_MAX)
			continue;
		words->failed =
		    block->first > block->last || block->last >= index->size || (i && block->first < before);
		before = block->last;
	}
}

static void take_pieces(struct tw_words *words, struct sql_index *index)
{
	index->begin_count = tw_take_count(words, 3);
	index->begins = calloc(index->begin_count + 1, sizeof *index->begins);
	words->failed = words->failed || !index->begins;
	for (size_t i = 0; i < index->begin_count && !words->failed; i++) {
		uint64_t offset = tw_take_below(words, index->size);
		index->begins[i] = take_bytes(words, index);
		index->begins[i].offset = offset;
	}
	index->needed.count = tw_take_count(words, 2);
	index->needed.items = calloc(index->needed.count + 1, sizeof *index->needed.items);
	words->failed = words->failed || !index->needed.items;
	for (size_t i = 0; i < index->needed.count && !words->failed; i++) {
		struct sql_index_begin bytes = take_bytes(words, index);
		index->needed.items[i] = (struct tw_piece){.offset = bytes.unit, .size = bytes.size};
	}
}

static void take_live(struct tw_words *words, struct sql_index *index, struct sql_index_place *place)
{
	size_t count = tw_take_count(words, 2);
	place->first = index->live.count;
	if (!tw_grow(&index->live.items, &index->live.room, index->live.count + count, sizeof *index->live.items))
		words->failed = true;
	for (; place->count < count && !words->failed; place->count++) {
		struct sql_index_begin bytes = take_bytes(words, index);
		index->live.items[index->live.count++] = (struct tw_piece){.offset = bytes.unit, .size = bytes.size};
	}
}

static void take_places(struct tw_words *words, struct sql_index *index)
{
	uint64_t before = 0;
	size_t count = (size_t)tw_take_below(words, SQL_INDEX_PLACES + 1);
	words->failed = words->failed ||
	                !tw_grow(&index->places.items, &index->places.room, count + 1, sizeof *index->places.items);
	for (; index->places.count < count && !words->failed; index->places.count++) {
		struct sql_index_place *place = &index->places.items[index->places.count];
		*place = (struct sql_index_place){.offset = tw_take_below(words, index->size + 1)};
		words->failed = words->failed || place->offset < before;
		before = place->offset;
		take_live(words, index, place);
	}
}

/* A span may only speak of begins that are known. */
static bool knows_all_open(const struct sql_index *index)
{
	for (size_t i = 0; i < index->span_count; i++)
		for (size_t k = 0; k < index->spans[i].count; k++)
			if (!sql_index_begin_at(index, index->spans[i].open[k]))
				return false;
	return true;
}

struct sql_index *sql_index_get(struct tw_words *words, const struct sql_survey *survey)
{
	if (!tw_take_below(words, 2))
		return NULL;
	struct sql_index *index = calloc(1, sizeof *index);
	if (!index) {
		words->failed = true;
		return NULL;
	}
	index->start = survey->start_ns;
	index->size = tw_take_word(words);
	words->failed = words->failed || index->size != survey->bytes;
	index->overlaps = tw_take_below(words, 2);
	index->runs = sql_format_named(survey->format)->reading.keep != NULL;
	index->depends = sql_format_named(survey->format)->survey.state_outline != NULL;
	take_spans(words, index);
	take_blocks(words, index);
	take_pieces(words, index);
	take_places(words, index);
	if (!words->failed && knows_all_open(index))
		return index;
	words->failed = true;
	sql_index_free(index);
	return NULL;
}
