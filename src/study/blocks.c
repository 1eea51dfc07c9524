/* blocks.c - basic blocks: from where control arrives to the next branch. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "study/study.h"
#include "xtrace/format/disassemble.h"

#include <stdlib.h>

/* The block that begins at a place. One that a signal leaves, or that goes on behind a gap, is shorter that time. */
struct block_count {
	uint64_t entries;
	uint64_t instructions;
};

struct blocks {
	struct block_count *items; /* by place */
	size_t room;
	uint32_t start; /* of the block that is being executed */
};

static struct blocks *blocks_of(const struct study_part *part)
{
	return part->state;
}

static int begin(struct study_part *part)
{
	part->state = calloc(1, sizeof(struct blocks));
	return part->state ? 0 : TW_ERR_MEMORY;
}

static void free_blocks(struct study_part *part)
{
	if (blocks_of(part))
		free(blocks_of(part)->items);
	free(part->state);
}

/* Makes room for all places, whose number is bounded. False when there is no memory. */
static bool reserve(struct study_part *part)
{
	struct blocks *blocks = blocks_of(part);
	size_t count = part->sites.count;
	return count <= blocks->room || tw_grow(&blocks->items, &blocks->room, count, sizeof *blocks->items);
}

static int take(struct study_part *part, const struct study_batch *batch)
{
	struct blocks *blocks = blocks_of(part);
	if (!reserve(part))
		return TW_ERR_MEMORY;
	uint32_t start = blocks->start;
	size_t from = 0;
	for (size_t i = 0; i < batch->block_count; i++) {
		const struct study_block *block = &batch->blocks[i];
		blocks->items[start].instructions += block->step - from;
		from = block->step;
		start = block->site;
		blocks->items[start].entries++;
	}
	blocks->items[start].instructions += batch->step_count - from;
	blocks->start = start;
	return 0;
}

static int merge(struct study_part *all, struct study_part *part, const uint32_t *map)
{
	const struct blocks *from = blocks_of(part);
	if (!reserve(all))
		return TW_ERR_MEMORY;
	for (size_t i = 0; i < part->sites.count && i < from->room; i++) {
		struct block_count *to = &blocks_of(all)->items[map[i]];
		to->entries += from->items[i].entries;
		to->instructions += from->items[i].instructions;
	}
	return 0;
}

/* ---- Tables. ---- */

static const struct tw_study_column columns[] = {
    {"instructions", "INSTRUCTIONS", TW_STUDY_COUNT},
    {"share", "SHARE", TW_STUDY_SHARE},
    {"executed", "EXECUTED", TW_STUDY_COUNT},
    {"pc", "PC", TW_STUDY_HEX},
    {"length", "LENGTH", TW_STUDY_COUNT},
    {"function", "FUNCTION", TW_STUDY_TEXT},
    {"code", "CODE", TW_STUDY_LINES},
};

enum { CODE_MOST = 1000 };

/* The instructions of a block, as far as they were seen one behind the other; returns how many. */
static uint64_t put_code(struct study_tables *tables, const struct study_part *all, uint32_t site, struct tw_text *text)
{
	uint64_t count = 0;
	text->length = 0;
	for (; site && count < CODE_MOST; count++) {
		char line[XTRACE_TEXT + 1];
		const struct study_site *at = &all->sites.items[site];
		size_t length = xtrace_disassemble(tables->disassembler, at->opcode, at->pc, line);
		line[length] = '\n';
		tables->failed |= !tw_text_add(text, line, length + 1);
		site = at->flow == XTRACE_NEXT ? at->next : 0;
	}
	return count;
}

static void put_row(struct study_tables *tables, const struct study_part *all, uint32_t number, struct tw_text *text)
{
	const struct block_count *block = &blocks_of(all)->items[number];
	const struct study_site *site = &all->sites.items[number];
	uint64_t length = put_code(tables, all, number, text);
	study_put_count(tables, block->instructions);
	study_put_share(tables, block->instructions, all->totals.instructions);
	study_put_count(tables, block->entries);
	study_put_count(tables, site->pc);
	study_put_count(tables, length);
	study_put_function(tables, all, site->function);
	if (text->length)
		text->bytes[text->length - 1] = '\0';
	study_put_text(tables, text->bytes);
}

static int make_tables(struct study_part *all, struct study_tables *tables)
{
	const struct blocks *blocks = blocks_of(all);
	struct study_ranks ranks = {0};
	struct tw_text text = {0};
	bool fine = true;
	for (uint32_t i = 1; fine && i < all->sites.count && i < blocks->room; i++)
		fine = !blocks->items[i].entries || study_rank_add(&ranks, blocks->items[i].instructions, i);
	study_rank_sort(&ranks);
	study_table_begin(tables, "block", "Basic blocks", columns, sizeof columns / sizeof *columns, true);
	for (size_t i = 0; fine && i < ranks.count; i++)
		put_row(tables, all, ranks.items[i].number, &text);
	tw_text_free(&text);
	free(ranks.items);
	return fine ? 0 : TW_ERR_MEMORY;
}

const struct study_job study_blocks = {
    .begin = begin,
    .take = take,
    .merge = merge,
    .tables = make_tables,
    .free = free_blocks,
    .disassembles = true,
};
