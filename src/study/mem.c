/* mem.c - accesses of memory: sizes, strides, footprint over time, hot lines, sharing, reuse. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "study/reuse.h"
#include "study/study.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZES = 1025, NEAR_STRIDE = 4096, STRIDES = 2 * NEAR_STRIDE + 1, FAR = 64, ALL_BYTES = STUDY_LINE };

/* What is counted of an interval of a thread. */
struct memory_interval {
	uint64_t thread, start; /* instructions of the thread before */
	uint64_t instructions;
	uint64_t loads, stores, loaded, stored;
	uint64_t lines, pages;         /* touched in it */
	uint64_t new_lines, all_lines; /* touched first in it, and so far */
};

struct page {
	uint32_t seen; /* interval, plus 1 */
};

struct mem {
	struct study_lines lines;
	struct tw_keyed paged; /* by number */
	struct page *pages;
	struct study_reuse reuse;
	uint64_t sizes[2][SIZES];            /* loads, stores, by size; the last: larger */
	uint64_t near[STRIDES], far[2][FAR]; /* far: by sign and magnitude */
	uint64_t *last;                      /* by place: the address that was accessed last, plus 1 */
	size_t last_room;
	struct memory_interval *intervals;
	size_t interval_count, interval_room;
	struct memory_interval now;
	uint32_t number;    /* of it, plus 1 */
	uint64_t end;       /* of it: instructions */
	uint64_t space;     /* of the batch */
	char footprint[64]; /* title of the table */
};

static struct mem *mem_of(const struct study_part *part)
{
	return part->state;
}

static int begin(struct study_part *part)
{
	struct mem *mem = part->state = calloc(1, sizeof *mem);
	if (!mem)
		return TW_ERR_MEMORY;
	mem->lines.budget = &part->budget;
	mem->reuse.lines = &mem->lines;
	mem->number = 1;
	mem->end = part->options->interval;
	return 0;
}

static void free_mem(struct study_part *part)
{
	struct mem *mem = mem_of(part);
	if (!mem)
		return;
	study_lines_free(&mem->lines);
	tw_map_free(&mem->paged.map);
	study_reuse_free(&mem->reuse);
	free(mem->pages);
	free(mem->last);
	free(mem->intervals);
	free(mem);
}

/* ---- Intervals. ---- */

static bool add_interval(struct study_part *part, const struct memory_interval *interval)
{
	struct mem *mem = mem_of(part);
	if (!tw_budget_grow(&part->budget, TW_FOR_COUNTS, &mem->intervals, &mem->interval_room, mem->interval_count + 1,
	                    sizeof *mem->intervals)) {
		part->left_out++;
		return false;
	}
	mem->intervals[mem->interval_count++] = *interval;
	return true;
}

/* instructions: those before the end of the interval. */
static void close_interval(struct study_part *part, uint64_t instructions)
{
	struct mem *mem = mem_of(part);
	mem->now.thread = part->thread;
	mem->now.start = mem->end - part->options->interval;
	mem->now.instructions = instructions - mem->now.start;
	mem->now.all_lines = mem->lines.keyed.count;
	add_interval(part, &mem->now);
	mem->now = (struct memory_interval){0};
	mem->number++;
	mem->end += part->options->interval;
}

/* ---- Accesses. ---- */

static void touch_page(struct study_part *part, uint64_t line)
{
	struct mem *mem = mem_of(part);
	uint64_t number = line / (part->options->page / STUDY_LINE);
	uint32_t index =
	    tw_budget_item(&part->budget, TW_FOR_ROWS, &mem->paged, number, &mem->pages, sizeof *mem->pages, 0);
	if (index == UINT32_MAX) {
		part->left_out++;
		return;
	}
	mem->now.pages += mem->pages[index].seen != mem->number;
	mem->pages[index].seen = mem->number;
}

static inline uint64_t bytes_mask(unsigned from, unsigned count)
{
	return UINT64_MAX >> (ALL_BYTES - count) << from;
}

/* A line that was not touched in this interval. */
static void enter_line(struct study_part *part, struct study_line *line)
{
	struct mem *mem = mem_of(part);
	mem->now.lines++;
	mem->now.new_lines += line->seen == 0;
	line->seen = mem->number;
	touch_page(part, line->number);
}

static inline void touch_line(struct study_part *part, uint64_t number, uint64_t mask, bool stores)
{
	struct mem *mem = mem_of(part);
	struct study_line *line = study_lines_find(&mem->lines, number);
	if (!line) {
		part->left_out++;
		return;
	}
	line->loads += !stores;
	line->stores += stores;
	line->touched |= mask;
	line->written |= stores ? mask : 0;
	if (line->seen != mem->number)
		enter_line(part, line);
	if (part->options->reuse && !study_reuse_take(&mem->reuse, line))
		part->left_out++;
}

/* An access that goes over several lines. */
static void touch_lines(struct study_part *part, uint64_t address, unsigned size, bool stores)
{
	while (size) {
		unsigned from = (unsigned)(address % STUDY_LINE), count = STUDY_LINE - from;
		count = size < count ? size : count;
		touch_line(part, address >> STUDY_LINE_SHIFT, bytes_mask(from, count), stores);
		address += count;
		size -= count;
	}
}

static inline void touch(struct study_part *part, uint64_t address, unsigned size, bool stores)
{
	unsigned from = (unsigned)(address % STUDY_LINE);
	if (from + size <= STUDY_LINE && size)
		touch_line(part, address >> STUDY_LINE_SHIFT, bytes_mask(from, size), stores);
	else
		touch_lines(part, address, size, stores);
}

static void count_stride(struct mem *mem, uint32_t site, uint64_t address)
{
	uint64_t before = mem->last[site];
	mem->last[site] = address + 1;
	if (!before)
		return;
	uint64_t up = address - (before - 1), magnitude = up >> 63 ? -up : up;
	if (magnitude <= NEAR_STRIDE)
		mem->near[NEAR_STRIDE + (int64_t)up]++;
	else
		mem->far[up >> 63][63 - __builtin_clzll(magnitude)]++;
}

static void count_strides(struct mem *mem, const struct study_access *accesses, size_t count)
{
	uint32_t step = UINT32_MAX;
	for (size_t i = 0; i < count; i++) {
		if (accesses[i].step != step)
			count_stride(mem, accesses[i].site, accesses[i].address);
		step = accesses[i].step;
	}
}

/* Accesses of one interval. */
static void take_accesses(struct study_part *part, const struct study_access *accesses, size_t count)
{
	struct mem *mem = mem_of(part);
	uint64_t numbers[2] = {0}, bytes[2] = {0};
	for (size_t i = 0; i < count; i++) {
		unsigned size = accesses[i].size & STUDY_SIZE;
		bool stores = accesses[i].size & STUDY_STORE;
		mem->sizes[stores][size < SIZES ? size : SIZES - 1]++;
		numbers[stores]++;
		bytes[stores] += size;
		touch(part, study_in_space(accesses[i].address, mem->space), size, stores);
	}
	mem->now.loads += numbers[0];
	mem->now.stores += numbers[1];
	mem->now.loaded += bytes[0];
	mem->now.stored += bytes[1];
}

/* How many of the accesses, from the first on, are before the end of the interval. */
static size_t in_interval(const struct mem *mem, const struct study_batch *batch, size_t first)
{
	size_t count = batch->access_count;
	if (batch->first + STUDY_STEPS <= mem->end)
		return count - first;
	for (count = first; count < batch->access_count; count++)
		if (batch->first + batch->accesses[count].step >= mem->end)
			break;
	return count - first;
}

static int take(struct study_part *part, const struct study_batch *batch)
{
	struct mem *mem = mem_of(part);
	if (part->sites.count > mem->last_room &&
	    !tw_grow(&mem->last, &mem->last_room, part->sites.count, sizeof *mem->last))
		return TW_ERR_MEMORY;
	count_strides(mem, batch->accesses, batch->access_count);
	mem->space = study_space(part->spaces, batch->tables);
	for (size_t i = 0; i < batch->access_count;) {
		while (batch->first + batch->accesses[i].step >= mem->end)
			close_interval(part, mem->end);
		size_t count = in_interval(mem, batch, i);
		take_accesses(part, batch->accesses + i, count);
		i += count;
	}
	return 0;
}

static int end(struct study_part *part)
{
	while (mem_of(part)->end < part->totals.instructions)
		close_interval(part, mem_of(part)->end);
	if (part->totals.instructions)
		close_interval(part, part->totals.instructions);
	return 0;
}

/* ---- All tracks. ---- */

static void merge_line(struct study_part *all, const struct study_line *from)
{
	struct study_line *to = study_lines_find(&mem_of(all)->lines, from->number);
	if (!to) {
		all->left_out += from->loads + from->stores;
		return;
	}
	to->loads += from->loads;
	to->stores += from->stores;
	to->conflict |= (to->touched & from->written) | (to->written & from->touched);
	to->touched |= from->touched;
	to->written |= from->written;
	to->seen++;
	to->writers += from->written != 0;
}

static int merge(struct study_part *all, struct study_part *part, const uint32_t *map)
{
	struct mem *to = mem_of(all);
	const struct mem *from = mem_of(part);
	(void)map;
	for (size_t i = 0; i < from->lines.keyed.count; i++)
		merge_line(all, &from->lines.items[i]);
	for (size_t i = 0; i < SIZES; i++) {
		to->sizes[0][i] += from->sizes[0][i];
		to->sizes[1][i] += from->sizes[1][i];
	}
	for (size_t i = 0; i < STRIDES; i++)
		to->near[i] += from->near[i];
	for (size_t i = 0; i < FAR; i++) {
		to->far[0][i] += from->far[0][i];
		to->far[1][i] += from->far[1][i];
	}
	for (size_t i = 0; i < STUDY_DISTANCES; i++)
		to->reuse.counts[i] += from->reuse.counts[i];
	to->reuse.first += from->reuse.first;
	for (size_t i = 0; i < from->interval_count; i++)
		add_interval(all, &from->intervals[i]);
	return 0;
}

/* ---- Tables. ---- */

static const struct tw_study_column total_columns[] = {
    {"loads", "LOADS", TW_STUDY_COUNT},
    {"stores", "STORES", TW_STUDY_COUNT},
    {"loaded_bytes", "LOADED BYTES", TW_STUDY_COUNT},
    {"stored_bytes", "STORED BYTES", TW_STUDY_COUNT},
    {"lines", "LINES", TW_STUDY_COUNT},
    {"pages", "PAGES", TW_STUDY_COUNT},
};

static void put_totals(struct study_part *all, struct study_tables *tables)
{
	struct mem *mem = mem_of(all);
	struct memory_interval sum = {0};
	for (size_t i = 0; i < mem->interval_count; i++) {
		sum.loads += mem->intervals[i].loads;
		sum.stores += mem->intervals[i].stores;
		sum.loaded += mem->intervals[i].loaded;
		sum.stored += mem->intervals[i].stored;
	}
	mem->number = 1;
	for (size_t i = 0; i < mem->lines.keyed.count; i++)
		touch_page(all, mem->lines.items[i].number);
	study_table_begin(tables, "total", "Accesses", total_columns, 6, false);
	study_put_count(tables, sum.loads);
	study_put_count(tables, sum.stores);
	study_put_count(tables, sum.loaded);
	study_put_count(tables, sum.stored);
	study_put_count(tables, mem->lines.keyed.count);
	study_put_count(tables, mem->paged.count);
}

static const struct tw_study_column size_columns[] = {
    {"size", "BYTES", TW_STUDY_COUNT},
    {"loads", "LOADS", TW_STUDY_COUNT},
    {"stores", "STORES", TW_STUDY_COUNT},
};

static void put_sizes(const struct mem *mem, struct study_tables *tables)
{
	study_table_begin(tables, "size", "Sizes of accesses", size_columns, 3, false);
	for (size_t i = 0; i < SIZES; i++) {
		if (!mem->sizes[0][i] && !mem->sizes[1][i])
			continue;
		study_put_count(tables, i);
		study_put_count(tables, mem->sizes[0][i]);
		study_put_count(tables, mem->sizes[1][i]);
	}
}

static const struct tw_study_column stride_columns[] = {
    {"from", "FROM", TW_STUDY_SIGNED},
    {"to", "TO", TW_STUDY_SIGNED},
    {"count", "COUNT", TW_STUDY_COUNT},
    {"share", "SHARE", TW_STUDY_SHARE},
};

/* Strides by number: the near ones, then the far ones up, then down. */
static uint64_t stride_count(const struct mem *mem, uint32_t number)
{
	if (number < STRIDES)
		return mem->near[number];
	number -= STRIDES;
	return mem->far[number / FAR][number % FAR];
}

static void put_stride(struct study_tables *tables, uint32_t number)
{
	uint64_t from = (uint64_t)number - NEAR_STRIDE, to = from;
	if (number >= STRIDES) {
		unsigned bit = (number - STRIDES) % FAR;
		bool down = number - STRIDES >= FAR;
		uint64_t least = UINT64_C(1) << bit, most = least + (least - 1);
		least = least <= NEAR_STRIDE ? NEAR_STRIDE + 1 : least;
		from = down ? -most : least;
		to = down ? -least : most;
	}
	study_put_count(tables, from);
	study_put_count(tables, to);
}

static bool put_strides(const struct mem *mem, struct study_tables *tables)
{
	struct study_ranks ranks = {0};
	bool fine = true;
	uint64_t all = 0;
	for (uint32_t i = 0; fine && i < STRIDES + 2 * FAR; i++) {
		uint64_t count = stride_count(mem, i);
		all += count;
		fine = !count || study_rank_add(&ranks, count, i);
	}
	study_rank_sort(&ranks);
	study_table_begin(tables, "stride", "Strides: from one access of an instruction to its next", stride_columns, 4,
	                  true);
	for (size_t i = 0; i < ranks.count; i++) {
		put_stride(tables, ranks.items[i].number);
		study_put_count(tables, ranks.items[i].weight);
		study_put_share(tables, ranks.items[i].weight, all);
	}
	free(ranks.items);
	return fine;
}

static const struct tw_study_column footprint_columns[] = {
    {"thread", "THREAD", TW_STUDY_ID},
    {"start", "FROM INSTRUCTION", TW_STUDY_COUNT},
    {"instructions", "INSTRUCTIONS", TW_STUDY_COUNT},
    {"loads", "LOADS", TW_STUDY_COUNT},
    {"stores", "STORES", TW_STUDY_COUNT},
    {"loaded_bytes", NULL, TW_STUDY_COUNT},
    {"stored_bytes", NULL, TW_STUDY_COUNT},
    {"lines", "LINES", TW_STUDY_COUNT},
    {"pages", "PAGES", TW_STUDY_COUNT},
    {"new_lines", "NEW LINES", TW_STUDY_COUNT},
    {"all_lines", "LINES SO FAR", TW_STUDY_COUNT},
};

static void put_footprint(const struct study_part *all, struct study_tables *tables)
{
	struct mem *mem = mem_of(all);
	snprintf(mem->footprint, sizeof mem->footprint, "Footprint: lines of 64 bytes, pages of %" PRIu64,
	         all->options->page);
	study_table_begin(tables, "footprint", mem->footprint, footprint_columns,
	                  sizeof footprint_columns / sizeof *footprint_columns, false);
	for (size_t i = 0; i < mem->interval_count; i++) {
		const struct memory_interval *interval = &mem->intervals[i];
		const uint64_t cells[] = {interval->thread,    interval->start,    interval->instructions,
		                          interval->loads,     interval->stores,   interval->loaded,
		                          interval->stored,    interval->lines,    interval->pages,
		                          interval->new_lines, interval->all_lines};
		for (size_t k = 0; k < sizeof cells / sizeof *cells; k++)
			study_put_count(tables, cells[k]);
	}
}

/* How a line is shared. */
enum sharing { PRIVATE, READ, TRUE_SHARING, FALSE_SHARING, SHARINGS };

static const char *const sharing_names[] = {"one thread", "read only", "written", "written, no byte in common"};

static enum sharing sharing_of(const struct study_line *line)
{
	if (line->seen < 2)
		return PRIVATE;
	if (!line->writers)
		return READ;
	return line->conflict ? TRUE_SHARING : FALSE_SHARING;
}

static const struct tw_study_column sharing_columns[] = {
    {"sharing", "SHARING", TW_STUDY_TEXT},
    {"lines", "LINES", TW_STUDY_COUNT},
    {"loads", "LOADS", TW_STUDY_COUNT},
    {"stores", "STORES", TW_STUDY_COUNT},
};

static void put_sharing(const struct mem *mem, struct study_tables *tables)
{
	struct study_line sums[SHARINGS] = {0};
	for (size_t i = 0; i < mem->lines.keyed.count; i++) {
		const struct study_line *line = &mem->lines.items[i];
		struct study_line *sum = &sums[sharing_of(line)];
		sum->number++;
		sum->loads += line->loads;
		sum->stores += line->stores;
	}
	study_table_begin(tables, "sharing", "Lines between threads", sharing_columns, 4, false);
	for (unsigned i = 0; i < SHARINGS; i++) {
		if (!sums[i].number)
			continue;
		study_put_text(tables, sharing_names[i]);
		study_put_count(tables, sums[i].number);
		study_put_count(tables, sums[i].loads);
		study_put_count(tables, sums[i].stores);
	}
}

static const struct tw_study_column line_columns[] = {
    {"address", "ADDRESS", TW_STUDY_HEX},   {"loads", "LOADS", TW_STUDY_COUNT},
    {"stores", "STORES", TW_STUDY_COUNT},   {"threads", "THREADS", TW_STUDY_COUNT},
    {"writers", "WRITERS", TW_STUDY_COUNT}, {"sharing", "SHARING", TW_STUDY_TEXT},
    {"tables", "TTBR0", TW_STUDY_HEX},
};

/* The tables of its address space are told where the trace tells some. */
static bool put_lines(const struct study_part *all, struct study_tables *tables)
{
	const struct mem *mem = mem_of(all);
	struct study_ranks ranks = {0};
	bool fine = true, spaces = all->spaces->count > 0;
	size_t columns = sizeof line_columns / sizeof *line_columns - !spaces;
	for (uint32_t i = 0; fine && i < mem->lines.keyed.count; i++)
		fine = study_rank_add(&ranks, mem->lines.items[i].loads + mem->lines.items[i].stores, i);
	study_rank_sort(&ranks);
	study_table_begin(tables, "line", "Hot lines", line_columns, columns, true);
	for (size_t i = 0; i < ranks.count; i++) {
		const struct study_line *line = &mem->lines.items[ranks.items[i].number];
		uint64_t address = line->number << STUDY_LINE_SHIFT, space = study_take_space(all->spaces, &address);
		study_put_count(tables, address);
		study_put_count(tables, line->loads);
		study_put_count(tables, line->stores);
		study_put_count(tables, line->seen);
		study_put_count(tables, line->writers);
		study_put_text(tables, sharing_names[sharing_of(line)]);
		if (spaces)
			study_put_count(tables, space);
	}
	free(ranks.items);
	return fine;
}

static const struct tw_study_column reuse_columns[] = {
    {"distance", NULL, TW_STUDY_COUNT}, {"distance_to", NULL, TW_STUDY_COUNT},
    {NULL, "DISTANCE", TW_STUDY_TEXT},  {"count", "ACCESSES", TW_STUDY_COUNT},
    {"share", "SHARE", TW_STUDY_SHARE}, {"up_to_share", "UP TO HERE", TW_STUDY_SHARE},
};

/* Accesses with so many other lines since the last one of their line, from `least` to `most`; UINT64_MAX: there was
 * none. */
static void put_distance(struct study_tables *tables, uint64_t least, uint64_t most, uint64_t count, uint64_t so_far,
                         uint64_t all)
{
	enum { TEXT = 48 };
	char text[TEXT] = "first";
	if (least != UINT64_MAX)
		snprintf(text, sizeof text, least == most ? "%" PRIu64 : "%" PRIu64 " to %" PRIu64, least, most);
	study_put_count(tables, least);
	study_put_count(tables, most);
	study_put_text(tables, text);
	study_put_count(tables, count);
	study_put_share(tables, count, all);
	study_put_share(tables, so_far, all);
}

static void put_reuse(const struct mem *mem, struct study_tables *tables)
{
	uint64_t all = mem->reuse.first, so_far = 0;
	for (unsigned i = 0; i < STUDY_DISTANCES; i++)
		all += mem->reuse.counts[i];
	study_table_begin(tables, "reuse", "Reuse: other lines between two accesses of a line", reuse_columns,
	                  sizeof reuse_columns / sizeof *reuse_columns, false);
	for (unsigned i = 0; i < STUDY_DISTANCES; i++) {
		uint64_t least = i ? UINT64_C(1) << (i - 1) : 0, most = i ? 2 * least - 1 : 0;
		uint64_t count = mem->reuse.counts[i];
		so_far += count;
		if (count)
			put_distance(tables, least, most, count, so_far, all);
	}
	put_distance(tables, UINT64_MAX, UINT64_MAX, mem->reuse.first, all, all);
}

static int make_tables(struct study_part *all, struct study_tables *tables)
{
	const struct mem *mem = mem_of(all);
	put_totals(all, tables);
	put_sizes(mem, tables);
	if (!put_strides(mem, tables))
		return TW_ERR_MEMORY;
	put_footprint(all, tables);
	put_sharing(mem, tables);
	if (!put_lines(all, tables))
		return TW_ERR_MEMORY;
	if (all->options->reuse)
		put_reuse(mem, tables);
	return 0;
}

const struct study_job study_mem = {
    .begin = begin,
    .take = take,
    .end = end,
    .merge = merge,
    .tables = make_tables,
    .free = free_mem,
};
