/* run.c - an analysis over all tracks of a set: several at a time, merged in their order. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/options.h"
#include "base/threads/parallel.h"
#include "study/range.h"
#include "study/study.h"
#include "xtrace/format/disassemble.h"

#include <stdlib.h>
#include <string.h>

/* The limit is divided by the tracks, but not by more than so many, which is more than are in memory at a time. The
 * result must not depend on the number of jobs. */
enum { SHARES = 8 };

/* All tracks of a set, each read as a part of its own. */
struct study_run {
	struct tw_study *study;
	size_t count;              /* tracks that are wanted */
	size_t share;              /* of memory, for each */
	struct study_part **parts; /* by track, while they are read */
};

/* ---- Work. ---- */

/* Puts why a part has no result. Returns the status. */
static int explain(struct tw_reader *reader, const struct study_part *part, int status)
{
	if (status < 0 && part->refused)
		return tw_fail(reader, status, "the tool \"%s\" refused %s", part->options->tool->name, part->refused);
	return status;
}

struct taking {
	const struct study_job *job;
	struct study_part *part;
};

static int take_batch(void *context, const struct study_batch *batch)
{
	const struct taking *taking = context;
	return taking->job->take ? taking->job->take(taking->part, batch) : 0;
}

static int read_part(struct study_run *run, struct tw_reader *reader, const struct xtrace_track *track,
                     struct study_part *part)
{
	const struct study_job *job = run->study->job;
	struct taking taking = {job, part};
	int status = study_part_begin(part, run->study, run->share, reader->dictionary);
	part->thread = track->name.number;
	part->wants.times |= part->wants.order && track->core && run->count > 1;
	struct study_taker taker = {&part->sites, &part->totals, take_batch, &taking, part->wants};
	struct study_range *range = NULL;
	if (status == 0)
		status = study_range_begin(&range, &part->options->range, &taker);
	if (status == 0)
		status = study_walk(reader, track, &taker);
	study_range_end(range, &part->totals);
	if (status == 0 && job->end)
		status = job->end(part);
	return status < 0 ? explain(reader, part, status) : tw_budget_status(&part->budget);
}

static int read_track(void *context, struct tw_reader *reader, size_t number)
{
	struct study_run *run = context;
	struct study_part *part = run->parts[number] = calloc(1, sizeof *part);
	if (run->count > 1)
		reader->options.memory_limit = run->share;
	return part ? read_part(run, reader, &xtrace_of(reader)->set.tracks[0], part) : TW_ERR_MEMORY;
}

/* Adds a track, in its turn. */
static int add_track(void *context, size_t number, int status)
{
	struct study_run *run = context;
	struct study_part *part = run->parts[number];
	status = status < 0 ? status : study_merge(run->study, part);
	if (part)
		study_part_free(part, run->study->job);
	free(part);
	return status;
}

static size_t wanted_tracks(struct tw_reader *reader)
{
	const struct xtrace_set *set = &xtrace_of(reader)->set;
	size_t count = 0;
	for (size_t i = 0; i < set->count; i++)
		count += tw_thread_wanted(&reader->options, set->tracks[i].name.number);
	return count;
}

static int read_all(struct tw_study *study, struct tw_reader *reader)
{
	struct study_run run = {.study = study, .count = wanted_tracks(reader)};
	unsigned jobs = study->options.jobs ? study->options.jobs : tw_processors();
	size_t shares = run.count + 1 < SHARES ? run.count + 1 : SHARES;
	run.share = study->options.memory_limit / shares;
	run.parts = calloc(xtrace_of(reader)->set.count, sizeof(struct study_part *));
	int status = run.parts ? study_part_begin(&study->all, study, run.share, study->tables.texts) : TW_ERR_MEMORY;
	if (status < 0) {
		free(run.parts);
		return tw_fail(reader, status, "%s", tw_status_text(status));
	}
	status = xtrace_take_all(reader, jobs < SHARES ? jobs : SHARES - 1, read_track, add_track, &run);
	free(run.parts);
	return explain(reader, &study->all, status);
}

/* ---- The handle. ---- */

static int make_tables(struct tw_study *study)
{
	struct study_tables *tables = &study->tables;
	if (study->job->disassembles && !(tables->disassembler = xtrace_disassembler_new()))
		return TW_ERR_MEMORY;
	int status = study->job->tables(&study->all, tables);
	xtrace_disassembler_free(tables->disassembler);
	if (status == 0 && tables->failed)
		status = TW_ERR_MEMORY;
	return status < 0 ? status : tw_budget_status(&study->all.budget);
}

int tw_study_read(struct tw_study **made, struct tw_reader *reader, const struct tw_study_options *options)
{
	static const struct study_job *const jobs[TW_STUDIES] = {
	    [TW_STUDY_INSNS] = &study_insns, [TW_STUDY_BLOCKS] = &study_blocks, [TW_STUDY_BRANCHES] = &study_branches,
	    [TW_STUDY_MEM] = &study_mem,     [TW_STUDY_CACHE] = &study_cache,   [TW_STUDY_SYSCALLS] = &study_syscalls,
	    [TW_STUDY_CALLS] = &study_calls, [TW_STUDY_PHASES] = &study_phases, [TW_STUDY_TASKS] = &study_tasks,
	    [TW_STUDY_TOOL] = &study_user,
	};
	struct tw_study *study = *made = calloc(1, sizeof *study);
	if (!study)
		return tw_fail_memory(reader);
	TW_COPY_OPTIONS(&study->options, options, struct tw_study_options);
	pthread_mutex_init(&study->spaces.lock, NULL);
	if ((unsigned)study->options.kind >= TW_STUDIES ||
	    study->options.level_count + (study->options.llc.size != 0) > TW_STUDY_LEVELS)
		return tw_fail(reader, TW_ERR_VALUE, "there is no study of this number, or so many caches");
	if (study->options.kind == TW_STUDY_TOOL &&
	    (!study->options.tool || study->options.tool->version != TW_STUDY_TOOL_VERSION))
		return tw_fail(reader, TW_ERR_VALUE, "there is no tool, or one of another version");
	study->job = jobs[study->options.kind];
	study->tables.texts = tw_dictionary_new();
	if (!study->tables.texts)
		return tw_fail_memory(reader);
	if (reader->format != &tw_format_xtrace)
		return tw_fail(reader, TW_ERR_UNSUPPORTED, "%s has no instructions: an xtrace has",
		               tw_source_name(reader));
	study_fill_options(&study->options);
	int status = study_check_options(&study->options, reader);
	status = status < 0 ? status : tw_use(reader, TW_USE_WHOLE);
	if (status == 0)
		status = study->options.llc.size && study->job->take_steps ? study_read_together(study, reader)
		                                                           : read_all(study, reader);
	if (status == 0 && (status = make_tables(study)) < 0)
		return study->all.refused ? explain(reader, &study->all, status) : tw_fail_memory(reader);
	return status;
}

int study_make(struct tw_study **made, const struct tw_study_options *options,
               int (*fill)(struct study_part *all, uint64_t *interval, void *context), void *context)
{
	struct tw_study *study = *made = calloc(1, sizeof *study);
	if (!study)
		return TW_ERR_MEMORY;
	TW_COPY_OPTIONS(&study->options, options, struct tw_study_options);
	pthread_mutex_init(&study->spaces.lock, NULL);
	study->job = &study_phases;
	study->tables.texts = tw_dictionary_new();
	study_fill_options(&study->options);
	study->options.interval = options->interval;
	int status = study->tables.texts
	                 ? study_part_begin(&study->all, study, study->options.memory_limit, study->tables.texts)
	                 : TW_ERR_MEMORY;
	status = status < 0 ? status : fill(&study->all, &study->options.interval, context);
	return status < 0 ? status : make_tables(study);
}

const struct tw_study_table *tw_study_table(const struct tw_study *study, size_t i)
{
	return i < study->tables.count ? &study->tables.items[i].table : NULL;
}

uint64_t tw_study_instructions(const struct tw_study *study)
{
	return study->all.totals.instructions;
}

uint64_t tw_study_left_out(const struct tw_study *study)
{
	uint64_t placeless = study->all.sites.items ? study->all.sites.items[0].count : 0;
	return study->all.left_out + placeless;
}

void tw_study_free(struct tw_study *study)
{
	if (!study)
		return;
	study_part_free(&study->all, study->job);
	for (size_t i = 0; i < study->tables.count; i++)
		free(study->tables.items[i].cells);
	tw_dictionary_free(study->tables.texts);
	pthread_mutex_destroy(&study->spaces.lock);
	free(study);
}
