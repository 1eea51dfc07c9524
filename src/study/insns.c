/* insns.c - the mix of instructions: by class, by mnemonic, by function. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "study/study.h"
#include "xtrace/format/disassemble.h"

#include <stdlib.h>
#include <string.h>

/* ---- By class and level. ---- */

static void put_row(struct study_tables *tables, const char *name, uint64_t count, uint64_t all)
{
	study_put_text(tables, name);
	study_put_count(tables, count);
	study_put_share(tables, count, all);
}

static const struct tw_study_column class_columns[] = {
    {"class", "CLASS", TW_STUDY_TEXT},
    {"count", "INSTRUCTIONS", TW_STUDY_COUNT},
    {"share", "SHARE", TW_STUDY_SHARE},
};

static const struct tw_study_column level_columns[] = {
    {"level", "LEVEL", TW_STUDY_TEXT},
    {"count", "INSTRUCTIONS", TW_STUDY_COUNT},
    {"share", "SHARE", TW_STUDY_SHARE},
};

static void put_levels(const struct study_part *all, struct study_tables *tables)
{
	static const char *const names[] = {"EL0", "EL1", "EL2", "EL3"};
	study_table_begin(tables, "level", "By exception level", level_columns, 3, false);
	for (unsigned i = 0; i < 4; i++)
		if (all->totals.levels[i])
			put_row(tables, names[i], all->totals.levels[i], all->totals.instructions);
}

static int put_classes(const struct study_part *all, struct study_tables *tables)
{
	uint64_t counts[STUDY_CLASSES] = {0};
	struct study_ranks ranks = {0};
	bool fine = true;
	for (size_t i = 1; i < all->sites.count; i++)
		counts[all->sites.items[i].class] += all->sites.items[i].count;
	for (uint32_t class = 0; class < STUDY_CLASSES; class ++)
		fine = fine && (!counts[class] || study_rank_add(&ranks, counts[class], class));
	study_rank_sort(&ranks);
	study_table_begin(tables, "class", "By class", class_columns, 3, false);
	for (size_t i = 0; i < ranks.count; i++)
		put_row(tables, study_class_name(ranks.items[i].number), ranks.items[i].weight,
		        all->totals.instructions);
	free(ranks.items);
	return fine ? 0 : TW_ERR_MEMORY;
}

/* ---- By what a text says. ---- */

/* Counts by the number of a text. */
struct text_counts {
	uint64_t *items;
	size_t room;
	uint32_t most; /* numbers are below */
};

static bool add_to(struct text_counts *sums, uint32_t number, uint64_t count)
{
	if (number == UINT32_MAX || !tw_grow(&sums->items, &sums->room, (size_t)number + 1, sizeof *sums->items))
		return false;
	sums->items[number] += count;
	sums->most = number >= sums->most ? number + 1 : sums->most;
	return true;
}

static bool rank_sums(const struct text_counts *sums, struct study_ranks *ranks)
{
	for (uint32_t i = 0; i < sums->most; i++)
		if (sums->items[i] && !study_rank_add(ranks, sums->items[i], i))
			return false;
	study_rank_sort(ranks);
	return true;
}

static const struct tw_study_column mnemonic_columns[] = {
    {"mnemonic", "MNEMONIC", TW_STUDY_TEXT},
    {"count", "INSTRUCTIONS", TW_STUDY_COUNT},
    {"share", "SHARE", TW_STUDY_SHARE},
};

/* ".inst 0x..." is its own mnemonic: what it is is not known. */
static uint32_t mnemonic_of(struct study_tables *tables, const struct study_site *site)
{
	char text[XTRACE_TEXT];
	text[xtrace_disassemble(tables->disassembler, site->opcode, site->pc, text)] = '\0';
	if (text[0] != '.')
		text[strcspn(text, " ")] = '\0';
	return tw_dictionary_text(tables->texts, text);
}

static int put_mnemonics(const struct study_part *all, struct study_tables *tables)
{
	struct text_counts sums = {0};
	struct study_ranks ranks = {0};
	bool fine = true;
	for (size_t i = 1; fine && i < all->sites.count; i++)
		fine = add_to(&sums, mnemonic_of(tables, &all->sites.items[i]), all->sites.items[i].count);
	fine = fine && rank_sums(&sums, &ranks);
	study_table_begin(tables, "mnemonic", "By mnemonic", mnemonic_columns, 3, true);
	for (size_t i = 0; i < ranks.count; i++)
		put_row(tables, tw_dictionary_name(tables->texts, ranks.items[i].number)->text, ranks.items[i].weight,
		        all->totals.instructions);
	free(sums.items);
	free(ranks.items);
	return fine ? 0 : TW_ERR_MEMORY;
}

/* ---- By function. ---- */

/* What of a function's instructions is told apart. */
enum { LOADS, STORES, BRANCHES, COMPUTES, FLOATS, OTHERS, KINDS };

static const uint8_t kinds[STUDY_CLASSES] = {
    [STUDY_LOAD] = LOADS,           [STUDY_STORE_CLASS] = STORES,  [STUDY_ATOMIC] = OTHERS,
    [STUDY_CONDITIONAL] = BRANCHES, [STUDY_JUMP] = BRANCHES,       [STUDY_CALL] = BRANCHES,
    [STUDY_RETURN] = BRANCHES,      [STUDY_ARITHMETIC] = COMPUTES, [STUDY_MULTIPLY] = COMPUTES,
    [STUDY_SHIFT] = COMPUTES,       [STUDY_SELECT] = COMPUTES,     [STUDY_FLOAT] = FLOATS,
    [STUDY_VECTOR] = FLOATS,        [STUDY_SYSTEM] = OTHERS,       [STUDY_OTHER] = OTHERS,
};

static const struct tw_study_column function_columns[] = {
    {"count", "INSTRUCTIONS", TW_STUDY_COUNT},   {"share", "SHARE", TW_STUDY_SHARE},
    {"loads", "LOADS", TW_STUDY_COUNT},          {"stores", "STORES", TW_STUDY_COUNT},
    {"branches", "BRANCHES", TW_STUDY_COUNT},    {"computes", "COMPUTES", TW_STUDY_COUNT},
    {"floats", "FLOAT, VECTOR", TW_STUDY_COUNT}, {"others", "OTHERS", TW_STUDY_COUNT},
    {"function", "FUNCTION", TW_STUDY_TEXT},
};

static void put_functions(const struct study_part *all, struct study_tables *tables, uint64_t (*counts)[KINDS],
                          const struct study_ranks *ranks)
{
	study_table_begin(tables, "function", "By function", function_columns,
	                  sizeof function_columns / sizeof *function_columns, true);
	for (size_t i = 0; i < ranks->count; i++) {
		const struct study_rank *rank = &ranks->items[i];
		study_put_count(tables, rank->weight);
		study_put_share(tables, rank->weight, all->totals.instructions);
		for (unsigned kind = 0; kind < KINDS; kind++)
			study_put_count(tables, counts[rank->number][kind]);
		study_put_function(tables, all, rank->number);
	}
}

static int by_function(const struct study_part *all, struct study_tables *tables)
{
	uint32_t names = tw_dictionary_names(all->sites.names);
	uint64_t(*counts)[KINDS] = calloc((size_t)names + 1, sizeof *counts);
	struct study_ranks ranks = {0};
	bool fine = counts != NULL;
	for (size_t i = 1; fine && i < all->sites.count; i++)
		counts[all->sites.items[i].function][kinds[all->sites.items[i].class]] += all->sites.items[i].count;
	for (uint32_t name = 0; fine && name < names; name++) {
		uint64_t sum = 0;
		for (unsigned kind = 0; kind < KINDS; kind++)
			sum += counts[name][kind];
		fine = !sum || study_rank_add(&ranks, sum, name);
	}
	study_rank_sort(&ranks);
	if (fine)
		put_functions(all, tables, counts, &ranks);
	free(ranks.items);
	free(counts);
	return fine ? 0 : TW_ERR_MEMORY;
}

static int make_tables(struct study_part *all, struct study_tables *tables)
{
	put_levels(all, tables);
	int status = put_classes(all, tables);
	if (status == 0)
		status = put_mnemonics(all, tables);
	return status == 0 ? by_function(all, tables) : status;
}

/* The counts of places are all that is needed. */
const struct study_job study_insns = {.tables = make_tables, .disassembles = true};
