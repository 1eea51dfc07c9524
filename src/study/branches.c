/* branches.c - branches: how often they are taken, what a simple predictor makes of them, where indirect ones go. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "study/study.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 4, STRONG = 3, WEAK_NOT = 1, RETURNS = 16, TARGETS_SHOWN = 4 };

/* What is known of a branch, by place. */
struct branch {
	uint64_t count; /* executions whose target is known */
	uint64_t taken;
	uint64_t missed;
	uint64_t last; /* indirect: the target that is predicted; direct: its target, once it was taken */
};

/* Where an indirect branch went, and how often. */
struct indirect_target {
	uint32_t from, next; /* next: another edge of that branch, plus 1 */
	uint64_t to, count;
};

struct branches {
	struct branch *items;
	size_t room;
	struct indirect_target *edges;
	size_t edge_count, edge_room;
	uint32_t *heads; /* by place: an edge plus 1 */
	size_t head_room;
	struct tw_map map;
	/* gshare: counters of 2 bits by the address and the last outcomes, the newest in bit 0. */
	uint8_t *counters;
	uint32_t history, mask;
	uint64_t returns[RETURNS]; /* where calls are expected back: a ring */
	unsigned top;
	uint32_t target_of; /* place of the branch that the last TARGET_B belongs to; 0: none */
	uint64_t target;
};

static struct branches *branches_of(const struct study_part *part)
{
	return part->state;
}

static int begin(struct study_part *part)
{
	struct branches *branches = part->state = calloc(1, sizeof *branches);
	if (!branches)
		return TW_ERR_MEMORY;
	size_t count = (size_t)1 << part->options->history;
	branches->mask = (uint32_t)(count - 1);
	branches->counters = malloc(count);
	if (!branches->counters)
		return TW_ERR_MEMORY;
	memset(branches->counters, WEAK_NOT, count);
	return 0;
}

static void free_branches(struct study_part *part)
{
	struct branches *branches = branches_of(part);
	if (!branches)
		return;
	free(branches->items);
	free(branches->edges);
	free(branches->heads);
	free(branches->counters);
	tw_map_free(&branches->map);
	free(branches);
}

static bool reserve(struct study_part *part)
{
	struct branches *branches = branches_of(part);
	size_t count = part->sites.count;
	return (count <= branches->room ||
	        tw_grow(&branches->items, &branches->room, count, sizeof *branches->items)) &&
	       (count <= branches->head_room ||
	        tw_grow(&branches->heads, &branches->head_room, count, sizeof *branches->heads));
}

/* ---- Edges. ---- */

static struct indirect_target *add_edge(struct study_part *part, uint32_t from, uint64_t to, uint64_t key)
{
	struct branches *branches = branches_of(part);
	uint32_t number = (uint32_t)branches->edge_count;
	if (!tw_budget_grow(&part->budget, TW_FOR_COUNTS, &branches->edges, &branches->edge_room, number + 1,
	                    sizeof *branches->edges) ||
	    !tw_budget_map_add(&part->budget, TW_FOR_COUNTS, &branches->map, key, number))
		return NULL;
	branches->edges[number] = (struct indirect_target){from, branches->heads[from], to, 0};
	branches->heads[from] = number + 1;
	branches->edge_count++;
	return &branches->edges[number];
}

static void count_edge(struct study_part *part, uint32_t from, uint64_t to, uint64_t count)
{
	struct branches *branches = branches_of(part);
	uint64_t key = tw_hash_two(to, from);
	size_t slot = SIZE_MAX;
	uint32_t number;
	struct indirect_target *edge = NULL;
	while (!edge && tw_map_next(&branches->map, key, &slot, &number))
		if (branches->edges[number].from == from && branches->edges[number].to == to)
			edge = &branches->edges[number];
	if (!edge)
		edge = add_edge(part, from, to, key);
	if (edge)
		edge->count += count;
	else
		part->left_out += count;
}

/* ---- Prediction. ---- */

static void foresee(struct branches *branches, const struct study_site *site, struct branch *branch, bool taken)
{
	uint32_t index = ((uint32_t)(site->pc / WORD) ^ branches->history) & branches->mask;
	uint8_t *counter = &branches->counters[index];
	branch->missed += (*counter > WEAK_NOT) != taken;
	if (taken)
		*counter = (uint8_t)(*counter + (*counter < STRONG));
	else
		*counter = (uint8_t)(*counter - (*counter > 0));
	branches->history = (branches->history << 1 | taken) & branches->mask;
}

/* Whether a direct branch leads to what comes behind it: otherwise a signal came. */
static bool is_target(const struct study_site *site, struct branch *branch, uint64_t to)
{
	if (to != branch->last) {
		struct xtrace_operation operation;
		xtrace_operation(site->opcode, &operation);
		if (to != xtrace_target(&operation, site->pc))
			return false;
		branch->last = to;
	}
	return true;
}

static void take_conditional(struct branches *branches, const struct study_site *site, struct branch *branch,
                             uint64_t to)
{
	bool taken = to != site->pc + WORD;
	if (taken && !is_target(site, branch, to))
		return;
	branch->count++;
	branch->taken += taken;
	foresee(branches, site, branch, taken);
}

/* Counts an indirect branch, and predicts it: a return goes behind the last call that has not returned, another branch
 * to where it went the last time. One that a signal comes behind returns without being counted. */
static void take_indirect(struct study_part *part, uint32_t from, struct branch *branch, uint64_t to)
{
	struct branches *branches = branches_of(part);
	bool returns = part->sites.items[from].flow == XTRACE_RETURN;
	uint64_t foreseen = branch->last;
	if (returns)
		foreseen = branches->returns[--branches->top % RETURNS];
	bool has_target = branches->target_of == from;
	branches->target_of = 0;
	if (has_target && !xtrace_leads_to(branches->target, to))
		return;
	branch->count++;
	branch->taken++;
	branch->missed += foreseen != to;
	branch->last = to;
	count_edge(part, from, to, 1);
}

static void take_branch(struct study_part *part, uint32_t from, uint64_t to)
{
	struct branches *branches = branches_of(part);
	const struct study_site *site = &part->sites.items[from];
	struct branch *branch = &branches->items[from];
	switch (site->flow) {
	case XTRACE_BRANCH:
		take_conditional(branches, site, branch, to);
		break;
	case XTRACE_CALL_TO:
	case XTRACE_JUMP_TO:
	case XTRACE_RETURN:
	case XTRACE_EXCEPTION_RETURN:
		take_indirect(part, from, branch, to);
		break;
	default:
		if (is_target(site, branch, to)) {
			branch->count++;
			branch->taken++;
		}
	}
	if (site->flow == XTRACE_CALL || site->flow == XTRACE_CALL_TO)
		branches->returns[branches->top++ % RETURNS] = site->pc + WORD;
}

static bool is_branch(const struct study_site *site)
{
	return site->flow >= XTRACE_JUMP && site->flow <= XTRACE_EXCEPTION_RETURN;
}

/* Takes the targets of branches before a step; returns the number of the next note. */
static size_t take_targets(struct branches *branches, const struct study_batch *batch, size_t note, size_t step)
{
	for (; note < batch->note_count && batch->notes[note].step < step; note++)
		if (batch->notes[note].kind == TW_XTRACE_TARGET_B) {
			branches->target_of = batch->notes[note].site;
			branches->target = batch->notes[note].value;
		}
	return note;
}

static int take(struct study_part *part, const struct study_batch *batch)
{
	if (!reserve(part))
		return TW_ERR_MEMORY;
	const struct study_site *sites = part->sites.items;
	size_t note = 0;
	for (size_t i = 0; i < batch->block_count; i++) {
		const struct study_block *block = &batch->blocks[i];
		note = take_targets(branches_of(part), batch, note, block->step);
		if (block->before && block->site && is_branch(&sites[block->before]))
			take_branch(part, block->before, sites[block->site].pc);
	}
	take_targets(branches_of(part), batch, note, STUDY_STEPS);
	return 0;
}

static int merge(struct study_part *all, struct study_part *part, const uint32_t *map)
{
	const struct branches *from = branches_of(part);
	if (!reserve(all))
		return TW_ERR_MEMORY;
	for (size_t i = 0; i < part->sites.count && i < from->room; i++) {
		struct branch *to = &branches_of(all)->items[map[i]];
		to->count += from->items[i].count;
		to->taken += from->items[i].taken;
		to->missed += from->items[i].missed;
	}
	for (size_t i = 0; i < from->edge_count; i++)
		count_edge(all, map[from->edges[i].from], from->edges[i].to, from->edges[i].count);
	return 0;
}

/* ---- Tables. ---- */

static const char *kind_of(unsigned flow)
{
	static const char *const names[] = {
	    [XTRACE_JUMP] = "jump",
	    [XTRACE_CALL] = "call",
	    [XTRACE_BRANCH] = "conditional",
	    [XTRACE_JUMP_TO] = "indirect jump",
	    [XTRACE_CALL_TO] = "indirect call",
	    [XTRACE_RETURN] = "return",
	    [XTRACE_EXCEPTION_RETURN] = "exception return",
	};
	return names[flow];
}

static const struct tw_study_column kind_columns[] = {
    {"kind", "KIND", TW_STUDY_TEXT},
    {"places", "PLACES", TW_STUDY_COUNT},
    {"count", "COUNT", TW_STUDY_COUNT},
    {"taken", "TAKEN", TW_STUDY_COUNT},
    {"taken_share", "SHARE", TW_STUDY_SHARE},
    {"mispredicted", "MISPREDICTED", TW_STUDY_COUNT},
    {"mispredicted_share", "SHARE", TW_STUDY_SHARE},
};

static void put_rates(struct study_tables *tables, const struct branch *branch)
{
	study_put_count(tables, branch->count);
	study_put_count(tables, branch->taken);
	study_put_share(tables, branch->taken, branch->count);
	study_put_count(tables, branch->missed);
	study_put_share(tables, branch->missed, branch->count);
}

static void put_kinds(const struct study_part *all, struct study_tables *tables)
{
	const struct branches *branches = branches_of(all);
	struct branch sums[XTRACE_EXCEPTION_RETURN + 1] = {0};
	uint64_t places[XTRACE_EXCEPTION_RETURN + 1] = {0};
	for (size_t i = 1; i < all->sites.count && i < branches->room; i++) {
		const struct branch *branch = &branches->items[i];
		unsigned flow = all->sites.items[i].flow;
		if (!branch->count)
			continue;
		places[flow]++;
		sums[flow].count += branch->count;
		sums[flow].taken += branch->taken;
		sums[flow].missed += branch->missed;
	}
	study_table_begin(tables, "kind", "Branches by kind", kind_columns, sizeof kind_columns / sizeof *kind_columns,
	                  false);
	for (unsigned flow = XTRACE_JUMP; flow <= XTRACE_EXCEPTION_RETURN; flow++) {
		if (!places[flow])
			continue;
		study_put_text(tables, kind_of(flow));
		study_put_count(tables, places[flow]);
		put_rates(tables, &sums[flow]);
	}
}

static const struct tw_study_column conditional_columns[] = {
    {"count", "COUNT", TW_STUDY_COUNT},
    {"taken", "TAKEN", TW_STUDY_COUNT},
    {"taken_share", "SHARE", TW_STUDY_SHARE},
    {"mispredicted", "MISPREDICTED", TW_STUDY_COUNT},
    {"mispredicted_share", "SHARE", TW_STUDY_SHARE},
    {"pc", "PC", TW_STUDY_HEX},
    {"function", "FUNCTION", TW_STUDY_TEXT},
    {"code", "CODE", TW_STUDY_TEXT},
};

/* Branches by what they cost: mispredictions first, then how often they are met. */
static bool rank(const struct study_part *all, bool conditional, struct study_ranks *ranks)
{
	const struct branches *branches = branches_of(all);
	for (uint32_t i = 1; i < all->sites.count && i < branches->room; i++) {
		const struct branch *branch = &branches->items[i];
		unsigned flow = all->sites.items[i].flow;
		bool wanted = conditional ? flow == XTRACE_BRANCH : flow >= XTRACE_JUMP_TO;
		if (branch->count && wanted && !study_rank_add(ranks, branch->missed, i))
			return false;
	}
	study_rank_sort(ranks);
	return true;
}

static int put_conditionals(const struct study_part *all, struct study_tables *tables)
{
	struct study_ranks ranks = {0};
	bool fine = rank(all, true, &ranks);
	study_table_begin(tables, "conditional", "Conditional branches", conditional_columns,
	                  sizeof conditional_columns / sizeof *conditional_columns, true);
	for (size_t i = 0; fine && i < ranks.count; i++) {
		const struct study_site *site = &all->sites.items[ranks.items[i].number];
		put_rates(tables, &branches_of(all)->items[ranks.items[i].number]);
		study_put_count(tables, site->pc);
		study_put_function(tables, all, site->function);
		study_put_code(tables, site);
	}
	free(ranks.items);
	return fine ? 0 : TW_ERR_MEMORY;
}

static const struct tw_study_column indirect_columns[] = {
    {"count", "COUNT", TW_STUDY_COUNT},
    {"mispredicted", "MISPREDICTED", TW_STUDY_COUNT},
    {"mispredicted_share", "SHARE", TW_STUDY_SHARE},
    {"targets", "TARGETS", TW_STUDY_COUNT},
    {"pc", "PC", TW_STUDY_HEX},
    {"kind", "KIND", TW_STUDY_TEXT},
    {"function", "FUNCTION", TW_STUDY_TEXT},
    {"most", "MOST OFTEN TO", TW_STUDY_TEXT},
};

/* The targets that are met most, with their counts; returns how many targets there are. */
static bool put_targets(const struct branches *branches, uint32_t from, uint64_t *count, char *text, size_t room)
{
	struct study_ranks ranks = {0};
	bool fine = true;
	size_t length = 0;
	for (uint32_t i = branches->heads[from]; fine && i; i = branches->edges[i - 1].next)
		fine = study_rank_add(&ranks, branches->edges[i - 1].count, i - 1);
	study_rank_sort(&ranks);
	*count = ranks.count;
	*text = '\0';
	for (size_t i = 0; i < ranks.count && i < TARGETS_SHOWN; i++)
		length += (size_t)snprintf(text + length, room - length, "%s0x%" PRIx64 " (%" PRIu64 ")", i ? ", " : "",
		                           branches->edges[ranks.items[i].number].to, ranks.items[i].weight);
	if (ranks.count > TARGETS_SHOWN)
		snprintf(text + length, room - length, ", ...");
	free(ranks.items);
	return fine;
}

static int put_indirects(const struct study_part *all, struct study_tables *tables)
{
	enum { TEXT = 256 };
	const struct branches *branches = branches_of(all);
	struct study_ranks ranks = {0};
	bool fine = rank(all, false, &ranks);
	study_table_begin(tables, "indirect", "Indirect branches and returns", indirect_columns,
	                  sizeof indirect_columns / sizeof *indirect_columns, true);
	for (size_t i = 0; fine && i < ranks.count; i++) {
		uint32_t number = ranks.items[i].number;
		const struct study_site *site = &all->sites.items[number];
		const struct branch *branch = &branches->items[number];
		char text[TEXT];
		uint64_t targets;
		fine = put_targets(branches, number, &targets, text, sizeof text);
		study_put_count(tables, branch->count);
		study_put_count(tables, branch->missed);
		study_put_share(tables, branch->missed, branch->count);
		study_put_count(tables, targets);
		study_put_count(tables, site->pc);
		study_put_text(tables, kind_of(site->flow));
		study_put_function(tables, all, site->function);
		study_put_text(tables, text);
	}
	free(ranks.items);
	return fine ? 0 : TW_ERR_MEMORY;
}

static int make_tables(struct study_part *all, struct study_tables *tables)
{
	put_kinds(all, tables);
	int status = put_conditionals(all, tables);
	return status == 0 ? put_indirects(all, tables) : status;
}

const struct study_job study_branches = {
    .begin = begin,
    .take = take,
    .merge = merge,
    .tables = make_tables,
    .free = free_branches,
    .disassembles = true,
};
