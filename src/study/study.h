/* study.h - an analysis of instructions: what takes batches, is merged over the tracks, and gives tables. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STUDY_STUDY_H
#define STUDY_STUDY_H

#include "study/space.h"
#include "study/walk.h"

#include <trackway/study.h>

/* One track's share, or that of all. */
struct study_part {
	const struct tw_study_options *options;
	struct tw_budget budget;
	struct study_sites sites;
	struct study_totals totals;
	uint64_t left_out;
	uint64_t thread;          /* of a track */
	const char *refused;      /* set by the job: where a user's tool refused, for the words "refused ..." */
	struct study_part *all;   /* of a track; NULL: it is that of all */
	struct study_wants wants; /* set by the job when it begins */
	struct study_spaces *spaces;
	void *state; /* the analysis's own */
};

struct study_tables;

/* An analysis. All may be NULL but tables. Functions that return int give 0 or TW_ERR_MEMORY. */
struct study_job {
	int (*begin)(struct study_part *part);
	int (*take)(struct study_part *part, const struct study_batch *batch);
	int (*end)(struct study_part *part); /* of the track */

	/* Adds a track to all; map: its places by theirs. The counts of places have been added. */
	int (*merge)(struct study_part *all, struct study_part *part, const uint32_t *map);
	int (*tables)(struct study_part *all, struct study_tables *tables);
	void (*free)(struct study_part *part);
	bool disassembles; /* its tables show instructions */

	/* Takes steps of a batch, from one on to before another; *access: the first access that was not taken. For
	 * tracks that are taken together. */
	int (*take_steps)(struct study_part *part, const struct study_batch *batch, size_t from, size_t to,
	                  size_t *access);
};

extern const struct study_job study_insns, study_blocks, study_branches, study_mem, study_cache, study_syscalls,
    study_calls, study_phases, study_tasks, study_user;

/* Makes a study of what `fill` gives instead of a trace; it may change the interval of the options. */
int study_make(struct tw_study **made, const struct tw_study_options *options,
               int (*fill)(struct study_part *all, uint64_t *interval, void *context), void *context);

/* ---- phases.c ---- */

/* Instructions that were executed in a block. */
struct study_weight {
	uint32_t site, count;
};

/* Adds an interval to all; one that there is no room for is left out. */
void study_phases_add(struct study_part *all, uint64_t thread, uint64_t start, uint64_t instructions,
                      const struct study_weight *entries, size_t count);

/* ---- options.c, part.c, together.c ---- */

struct tw_study;

/* Returns 0, or TW_ERR_VALUE after telling why; fills what was left out. */
int study_check_options(const struct tw_study_options *options, struct tw_reader *reader);
void study_fill_options(struct tw_study_options *options);

/* Begins a track's part, or that of all (NULL). */
int study_part_begin(struct study_part *part, struct tw_study *study, size_t limit, struct tw_dictionary *names);
void study_part_free(struct study_part *part, const struct study_job *job);

/* Adds a track to all. */
int study_merge(struct tw_study *study, struct study_part *part);

/* Reads all tracks side by side, in the order of their accesses: those without a TIME follow the one before, and
 * where the last TIMEs are equal the thread goes on that has executed fewer instructions. Returns 0 or a negative
 * status. */
int study_read_together(struct tw_study *study, struct tw_reader *reader);

/* ---- table.c: tables as they are filled. ---- */

enum { STUDY_TABLES = 8 };

struct study_table {
	struct tw_study_table table;
	struct tw_study_cell *cells;
	size_t cell_count, room;
};

struct study_tables {
	struct study_table items[STUDY_TABLES];
	size_t count;
	struct tw_dictionary *texts;              /* of cells */
	struct xtrace_disassembler *disassembler; /* NULL where the job does not want one */
	bool failed;                              /* there was no memory */
};

/* Begins a table; columns live as long as it does. */
void study_table_begin(struct study_tables *tables, const char *name, const char *title,
                       const struct tw_study_column *columns, size_t count, bool ranked);

/* The next cell of the last table, row after row. Texts are copied. */
void study_put_count(struct study_tables *tables, uint64_t number);
void study_put_share(struct study_tables *tables, uint64_t part, uint64_t whole);
void study_put_ratio(struct study_tables *tables, double share);
void study_put_cell(struct study_tables *tables, enum tw_study_unit unit, const struct tw_study_cell *cell);
void study_put_text(struct study_tables *tables, const char *text);
void study_put_function(struct study_tables *tables, const struct study_part *part, uint32_t name);

/* The disassembly of a place. */
void study_put_code(struct study_tables *tables, const struct study_site *site);

/* Room for what is sorted to make a table: numbers of things, the largest weight first, equal ones in their order. */
struct study_ranks {
	struct study_rank {
		uint64_t weight;
		uint32_t number;
	} * items;
	size_t count, room;
};

bool study_rank_add(struct study_ranks *ranks, uint64_t weight, uint32_t number);
void study_rank_sort(struct study_ranks *ranks);

/* A study that is read. */
struct tw_study {
	struct tw_study_options options;
	const struct study_job *job;
	struct study_part all; /* all tracks together */
	struct study_spaces spaces;
	struct study_tables tables;
};

#endif
