/* phases.c - basic block vectors by interval, and intervals that stand for those like them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "study/cluster.h"
#include "study/study.h"
#include "study/tool.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct phase_interval {
	uint64_t thread, start; /* instructions of the thread before */
	uint64_t instructions;
	size_t first, count; /* entries */
	uint32_t phase;
};

/* Phases count from 0, by their first intervals. */
struct phase {
	size_t intervals, best; /* best: nearest to the middle */
	uint64_t instructions;
	double distance;
};

struct phases {
	uint32_t *now, *touched; /* of this interval: counts by place; the places that have one */
	size_t now_room, touched_room, touched_count;
	uint64_t length, start; /* of this interval */
	uint32_t block;         /* that is being executed */
	struct study_weight *entries;
	size_t entry_count, entry_room;
	struct phase_interval *intervals;
	size_t interval_count, interval_room;
	uint32_t *numbers; /* of blocks by place, from 1 on; in the end */
	struct phase *phases;
	size_t phase_count;
};

static struct phases *phases_of(const struct study_part *part)
{
	return part->state;
}

static int begin(struct study_part *part)
{
	part->state = calloc(1, sizeof(struct phases));
	return part->state ? 0 : TW_ERR_MEMORY;
}

static void free_phases(struct study_part *part)
{
	struct phases *phases = phases_of(part);
	if (!phases)
		return;
	free(phases->now);
	free(phases->touched);
	free(phases->entries);
	free(phases->intervals);
	free(phases->numbers);
	free(phases->phases);
	free(phases);
}

/* ---- Intervals. ---- */

/* An interval that there is no room for is left out. */
static struct study_weight *add_interval(struct study_part *part, const struct phase_interval *interval)
{
	struct phases *phases = phases_of(part);
	size_t most = phases->entry_count + interval->count;
	if (!tw_budget_grow(&part->budget, TW_FOR_COUNTS, &phases->entries, &phases->entry_room, most,
	                    sizeof *phases->entries) ||
	    !tw_budget_grow(&part->budget, TW_FOR_COUNTS, &phases->intervals, &phases->interval_room,
	                    phases->interval_count + 1, sizeof *phases->intervals)) {
		part->left_out++;
		return NULL;
	}
	struct phase_interval *added = &phases->intervals[phases->interval_count++];
	*added = *interval;
	added->first = phases->entry_count;
	phases->entry_count = most;
	return &phases->entries[added->first];
}

void study_phases_add(struct study_part *all, uint64_t thread, uint64_t start, uint64_t instructions,
                      const struct study_weight *entries, size_t count)
{
	const struct phase_interval interval = {.thread = thread,
	                                        .start = start,
	                                        .instructions = instructions,
	                                        .count = count};
	struct study_weight *to = add_interval(all, &interval);
	if (to)
		memcpy(to, entries, count * sizeof *to);
}

static void close_interval(struct study_part *part)
{
	struct phases *phases = phases_of(part);
	const struct phase_interval interval = {.thread = part->thread,
	                                        .start = phases->start,
	                                        .instructions = phases->length,
	                                        .count = phases->touched_count};
	struct study_weight *entries = add_interval(part, &interval);
	for (size_t i = 0; i < phases->touched_count; i++) {
		uint32_t site = phases->touched[i];
		if (entries)
			entries[i] = (struct study_weight){site, phases->now[site]};
		phases->now[site] = 0;
	}
	phases->touched_count = 0;
	phases->start += phases->length;
	phases->length = 0;
}

static void add(struct phases *phases, uint32_t block, size_t instructions)
{
	if (!phases->now[block])
		phases->touched[phases->touched_count++] = block;
	phases->now[block] += (uint32_t)instructions;
}

/* So many of one block; intervals may end in between. */
static void take_steps(struct study_part *part, size_t count)
{
	struct phases *phases = phases_of(part);
	while (count) {
		uint64_t left = part->options->interval - phases->length;
		size_t most = count < left ? count : (size_t)left;
		add(phases, phases->block, most);
		phases->length += most;
		count -= most;
		if (phases->length == part->options->interval)
			close_interval(part);
	}
}

static int take(struct study_part *part, const struct study_batch *batch)
{
	struct phases *phases = phases_of(part);
	size_t places = part->sites.count;
	if ((places > phases->now_room && !tw_grow(&phases->now, &phases->now_room, places, sizeof *phases->now)) ||
	    (places > phases->touched_room &&
	     !tw_grow(&phases->touched, &phases->touched_room, places, sizeof *phases->touched)))
		return TW_ERR_MEMORY;
	size_t from = 0;
	for (size_t i = 0; i < batch->block_count; i++) {
		take_steps(part, batch->blocks[i].step - from);
		phases->block = batch->blocks[i].site;
		from = batch->blocks[i].step;
	}
	take_steps(part, batch->step_count - from);
	return 0;
}

static int end(struct study_part *part)
{
	if (phases_of(part)->length)
		close_interval(part);
	return 0;
}

static int merge(struct study_part *all, struct study_part *part, const uint32_t *map)
{
	const struct phases *from = phases_of(part);
	for (size_t i = 0; i < from->interval_count; i++) {
		struct study_weight *to = add_interval(all, &from->intervals[i]);
		for (size_t k = 0; to && k < from->intervals[i].count; k++) {
			const struct study_weight *entry = &from->entries[from->intervals[i].first + k];
			to[k] = (struct study_weight){map[entry->site], entry->count};
		}
	}
	return 0;
}

/* ---- Phases. ---- */

/* Where an interval is: the shares of its blocks, each in a direction of its own. */
static void project(const struct study_part *all, const struct phase_interval *interval, double *at)
{
	const struct phases *phases = phases_of(all);
	for (unsigned d = 0; d < STUDY_DIMENSIONS; d++)
		at[d] = 0;
	for (size_t i = 0; i < interval->count; i++) {
		const struct study_weight *entry = &phases->entries[interval->first + i];
		double share = (double)entry->count / (double)interval->instructions;
		for (unsigned d = 0; d < STUDY_DIMENSIONS; d++)
			at[d] += share * study_random(all->sites.items[entry->site].pc, d);
	}
}

static void add_to_phase(struct phases *phases, const struct study_clusters *clusters, const double *at, size_t number,
                         uint32_t *names)
{
	struct phase_interval *interval = &phases->intervals[number];
	uint32_t label = clusters->labels[number];
	double distance = study_distance(at, clusters->centers + (size_t)label * STUDY_DIMENSIONS);
	if (!names[label])
		names[label] = (uint32_t)++phases->phase_count;
	interval->phase = names[label] - 1;
	struct phase *phase = &phases->phases[interval->phase];
	if (phase->intervals++ == 0 || distance < phase->distance) {
		phase->distance = distance;
		phase->best = number;
	}
	phase->instructions += interval->instructions;
}

static int find_phases(struct study_part *all, struct study_clusters *clusters)
{
	struct phases *phases = phases_of(all);
	size_t intervals = phases->interval_count;
	double *at = calloc(intervals * STUDY_DIMENSIONS + 1, sizeof *at);
	double *weights = calloc(intervals + 1, sizeof *weights);
	uint32_t *names = calloc(all->options->phases, sizeof *names);
	phases->phases = calloc(all->options->phases, sizeof *phases->phases);
	bool fine = at && weights && names && phases->phases;
	for (size_t i = 0; fine && i < intervals; i++) {
		project(all, &phases->intervals[i], at + i * STUDY_DIMENSIONS);
		weights[i] = (double)phases->intervals[i].instructions / (double)all->options->interval;
	}
	const struct study_points points = {at, weights, intervals};
	fine = fine && study_cluster(&points, all->options->phases, clusters) == 0;
	for (size_t i = 0; fine && i < intervals; i++)
		add_to_phase(phases, clusters, at + i * STUDY_DIMENSIONS, i, names);
	free(at);
	free(weights);
	free(names);
	return fine ? 0 : TW_ERR_MEMORY;
}

/* Blocks are numbered as they come. */
static int number_blocks(struct study_part *all)
{
	struct phases *phases = phases_of(all);
	uint32_t last = 0;
	phases->numbers = calloc(all->sites.count, sizeof *phases->numbers);
	if (!phases->numbers)
		return TW_ERR_MEMORY;
	for (size_t i = 0; i < phases->entry_count; i++)
		if (!phases->numbers[phases->entries[i].site])
			phases->numbers[phases->entries[i].site] = ++last;
	return 0;
}

/* ---- Tables. ---- */

static uint64_t instructions_of(const struct phases *phases)
{
	uint64_t all = 0;
	for (size_t i = 0; i < phases->phase_count; i++)
		all += phases->phases[i].instructions;
	return all;
}

static const struct tw_study_column phase_columns[] = {
    {"phase", "PHASE", TW_STUDY_ID},
    {"weight", "WEIGHT", TW_STUDY_SHARE},
    {"intervals", "INTERVALS", TW_STUDY_COUNT},
    {"interval", "INTERVAL", TW_STUDY_ID},
    {"thread", "THREAD", TW_STUDY_ID},
    {"start", "FROM INSTRUCTION", TW_STUDY_COUNT},
    {"instructions", "INSTRUCTIONS", TW_STUDY_COUNT},
};

static void put_phases(const struct study_part *all, struct study_tables *tables)
{
	const struct phases *phases = phases_of(all);
	const uint64_t instructions = instructions_of(phases);
	study_table_begin(tables, "phase", "Phases, each with the interval that stands for it", phase_columns,
	                  sizeof phase_columns / sizeof *phase_columns, false);
	for (size_t i = 0; i < phases->phase_count; i++) {
		const struct phase *phase = &phases->phases[i];
		const struct phase_interval *best = &phases->intervals[phase->best];
		study_put_count(tables, i);
		study_put_share(tables, phase->instructions, instructions);
		study_put_count(tables, phase->intervals);
		study_put_count(tables, phase->best);
		study_put_count(tables, best->thread);
		study_put_count(tables, best->start);
		study_put_count(tables, best->instructions);
	}
}

static const struct tw_study_column choice_columns[] = {
    {"phases", "PHASES", TW_STUDY_COUNT},
    {"score", "SCORE", TW_STUDY_SHARE},
};

/* Scores from the worst to the best. */
static void put_choice(const struct study_clusters *clusters, struct study_tables *tables)
{
	double least = INFINITY, most = -INFINITY;
	for (unsigned i = 0; i < clusters->tried; i++) {
		least = fmin(least, clusters->scores[i]);
		most = fmax(most, clusters->scores[i]);
	}
	study_table_begin(tables, "choice", "Scores of numbers of phases: the first of 90 % is chosen", choice_columns,
	                  2, false);
	for (unsigned i = 0; i < clusters->tried; i++) {
		study_put_count(tables, i + 1);
		study_put_ratio(tables, most > least ? (clusters->scores[i] - least) / (most - least) : 1);
	}
}

static const struct tw_study_column interval_columns[] = {
    {"interval", "INTERVAL", TW_STUDY_ID},         {"thread", "THREAD", TW_STUDY_ID},
    {"start", "FROM INSTRUCTION", TW_STUDY_COUNT}, {"instructions", "INSTRUCTIONS", TW_STUDY_COUNT},
    {"blocks", "BLOCKS", TW_STUDY_COUNT},          {"phase", "PHASE", TW_STUDY_ID},
};

static void put_intervals(const struct study_part *all, struct study_tables *tables)
{
	const struct phases *phases = phases_of(all);
	study_table_begin(tables, "interval", "Intervals", interval_columns,
	                  sizeof interval_columns / sizeof *interval_columns, true);
	for (size_t i = 0; i < phases->interval_count; i++) {
		const struct phase_interval *interval = &phases->intervals[i];
		study_put_count(tables, i);
		study_put_count(tables, interval->thread);
		study_put_count(tables, interval->start);
		study_put_count(tables, interval->instructions);
		study_put_count(tables, interval->count);
		study_put_count(tables, interval->phase);
	}
}

static int make_tables(struct study_part *all, struct study_tables *tables)
{
	struct study_clusters clusters = {0};
	int status = find_phases(all, &clusters);
	if (status == 0)
		status = number_blocks(all);
	if (status == 0) {
		put_phases(all, tables);
		put_choice(&clusters, tables);
		put_intervals(all, tables);
	}
	study_clusters_free(&clusters);
	return status;
}

const struct study_job study_phases = {
    .begin = begin,
    .take = take,
    .end = end,
    .merge = merge,
    .tables = make_tables,
    .free = free_phases,
};

/* ---- SimPoint's files. ---- */

void study_write_vectors(struct tw_output *out, const struct tw_study *study)
{
	const struct phases *phases = phases_of(&study->all);
	for (size_t i = 0; i < phases->interval_count; i++) {
		const struct study_weight *entry = &phases->entries[phases->intervals[i].first];
		tw_put_char(out, 'T');
		for (size_t k = 0; k < phases->intervals[i].count; k++, entry++)
			tw_putf(out, ":%" PRIu32 ":%" PRIu32 " ", phases->numbers[entry->site], entry->count);
		tw_put_char(out, '\n');
	}
}

void study_write_simpoints(struct tw_output *out, const struct tw_study *study)
{
	const struct phases *phases = phases_of(&study->all);
	for (size_t i = 0; i < phases->phase_count; i++)
		tw_putf(out, "%zu %zu\n", phases->phases[i].best, i);
}

void study_write_weights(struct tw_output *out, const struct tw_study *study)
{
	const struct phases *phases = phases_of(&study->all);
	const uint64_t all = instructions_of(phases);
	for (size_t i = 0; i < phases->phase_count; i++)
		tw_putf(out, "%.6f %zu\n", (double)phases->phases[i].instructions / (double)all, i);
}

/* How many threads come before that of an interval. */
static uint32_t rank_of(const struct phases *phases, const struct phase_interval *interval)
{
	uint32_t rank = 0;
	for (const struct phase_interval *one = phases->intervals + 1; one <= interval; one++)
		rank += one->thread != one[-1].thread;
	return rank;
}

void study_write_windows(struct tw_output *out, const struct tw_study *study)
{
	const struct phases *phases = phases_of(&study->all);
	const uint64_t all = instructions_of(phases);
	tw_put_text(out, "#from length phase weight thread\n");
	for (size_t i = 0; i < phases->phase_count; i++) {
		const struct phase_interval *best = &phases->intervals[phases->phases[i].best];
		tw_putf(out, "%" PRIu64 " %" PRIu64 " %zu %.6f %" PRIu32 "\n", best->start, best->instructions, i,
		        (double)phases->phases[i].instructions / (double)all, rank_of(phases, best));
	}
}
