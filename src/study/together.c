/* together.c - all tracks of a set side by side, in the order of their accesses. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "base/memory/order.h"
#include "study/range.h"
#include "study/study.h"

#include <stdlib.h>
#include <string.h>

/* Batches that come before a walk pauses. */
enum { BATCHES = 4 };

/* When a thread's next instruction comes. */
struct moment {
	uint64_t time; /* the last TIME that came */
	uint64_t instruction;
	size_t lane;
};

struct lane {
	struct study_part part;
	struct study_walk *walk;
	struct study_range *range;
	struct study_batch *batches[BATCHES]; /* as they came; made when they are needed */
	size_t count, now;                    /* batches that came; the one that is taken */
	size_t step, access;                  /* of it: not taken yet */
	struct moment moment;
	bool opened, ended;
};

struct together {
	struct tw_study *study;
	struct tw_reader *reader;
	struct lane *lanes;
	size_t count;
};

/* ---- Batches. ---- */

#define COPY(to, from, member, count) memcpy((to)->member, (from)->member, (count) * sizeof *(to)->member)

/* What take_steps() looks at. */
static void copy_batch(struct study_batch *to, const struct study_batch *from)
{
	to->first = from->first;
	to->tables = from->tables;
	to->step_count = from->step_count;
	to->access_count = from->access_count;
	COPY(to, from, accesses, from->access_count);
	COPY(to, from, times, from->access_count);
	COPY(to, from, sites, from->step_count);
}

/* Keeps the batch, and has the walk pause. */
static int keep(void *context, const struct study_batch *batch)
{
	struct lane *lane = context;
	struct study_batch **kept = &lane->batches[lane->count];
	*kept = *kept ? *kept : malloc(sizeof **kept);
	if (!*kept)
		return TW_ERR_MEMORY;
	copy_batch(*kept, batch);
	lane->count++;
	return 1;
}

/* ---- Moments. ---- */

static const struct study_batch *batch_of(const struct lane *lane)
{
	return lane->batches[lane->now];
}

/* The step that comes next in the batch; SIZE_MAX behind the last. */
static size_t next_step(const struct lane *lane)
{
	const struct study_batch *batch = batch_of(lane);
	size_t access = lane->access < batch->access_count ? batch->accesses[lane->access].step : SIZE_MAX;
	bool fetches = lane->part.wants.steps && lane->step < batch->step_count;
	return fetches && lane->step < access ? lane->step : access;
}

/* An instruction comes at the first TIME of its accesses. */
static void find_moment(struct lane *lane, size_t step)
{
	const struct study_batch *batch = batch_of(lane);
	uint64_t time = 0;
	for (size_t i = lane->access; !time && i < batch->access_count && batch->accesses[i].step == step; i++)
		time = batch->times[i];
	lane->moment.time = time > lane->moment.time ? time : lane->moment.time;
	lane->moment.instruction = batch->first + step;
}

/* Goes to the next instruction, over batches. Returns 0 or a negative status. */
static int advance(struct lane *lane)
{
	while (!lane->ended) {
		size_t step = lane->now < lane->count ? next_step(lane) : SIZE_MAX;
		if (step != SIZE_MAX) {
			find_moment(lane, step);
			return 0;
		}
		lane->step = lane->access = 0;
		if (++lane->now < lane->count)
			continue;
		lane->now = lane->count = 0;
		int status = study_walk_go(lane->walk);
		if (status < 0)
			return status;
		lane->ended = status == 0 && lane->count == 0;
	}
	return 0;
}

static bool is_before(const struct moment *one, const struct moment *other)
{
	int order = tw_compare(one->time, other->time);
	order = order ? order : tw_compare(one->instruction, other->instruction);
	return order ? order < 0 : one->lane < other->lane;
}

/* The lane whose moment comes first, and that of the one behind it; NULL where there is none. */
static struct lane *find_first(struct together *together, const struct lane **second)
{
	struct lane *first = NULL;
	*second = NULL;
	for (size_t i = 0; i < together->count; i++) {
		struct lane *lane = &together->lanes[i];
		if (lane->ended)
			continue;
		if (!first || is_before(&lane->moment, &first->moment)) {
			*second = first;
			first = lane;
		} else if (!*second || is_before(&lane->moment, &(*second)->moment)) {
			*second = lane;
		}
	}
	return first;
}

/* Takes a lane's instructions until that of another comes first. */
static int take(const struct study_job *job, struct lane *lane, const struct lane *second)
{
	int status = 0;
	while (status >= 0 && !lane->ended && (!second || is_before(&lane->moment, &second->moment))) {
		size_t step = next_step(lane);
		status = job->take_steps(&lane->part, batch_of(lane), step, step + 1, &lane->access);
		lane->step = step + 1;
		status = status < 0 ? status : advance(lane);
	}
	return status;
}

/* ---- Lanes. ---- */

static int open_lane(struct together *together, struct lane *lane, const struct xtrace_track *track, size_t share)
{
	struct tw_study *study = together->study;
	lane->moment.lane = (size_t)(lane - together->lanes);
	lane->opened = true;
	int status = study_part_begin(&lane->part, study, share, together->reader->dictionary);
	if (status < 0)
		return status;
	lane->part.thread = track->name.number;
	struct study_taker taker = {&lane->part.sites, &lane->part.totals, keep, lane, lane->part.wants};
	status = study_range_begin(&lane->range, &study->options.range, &taker);
	if (status < 0)
		return status;
	status = study_walk_open(&lane->walk, together->reader, track, &taker);
	if (status < 0)
		return status;
	xtrace_files_thin(study_walk_files(lane->walk));
	return advance(lane);
}

static int open_lanes(struct together *together)
{
	const struct xtrace_set *set = &xtrace_of(together->reader)->set;
	struct tw_study *study = together->study;
	size_t wanted = 0;
	for (size_t i = 0; i < set->count; i++)
		wanted += tw_thread_wanted(&together->reader->options, set->tracks[i].name.number);
	if (wanted > TW_STUDY_THREADS)
		return tw_fail(together->reader, TW_ERR_LIMIT,
		               "%s has %zu threads: at most %d share a cache (--thread chooses some)",
		               tw_source_name(together->reader), wanted, TW_STUDY_THREADS);
	size_t share = study->options.memory_limit / (wanted + 1);
	int status = study_part_begin(&study->all, study, share, study->tables.texts);
	together->lanes = calloc(wanted + 1, sizeof *together->lanes);
	if (!together->lanes)
		return TW_ERR_MEMORY;
	for (size_t i = 0; status >= 0 && i < set->count; i++)
		if (tw_thread_wanted(&together->reader->options, set->tracks[i].name.number))
			status = open_lane(together, &together->lanes[together->count++], &set->tracks[i], share);
	return status;
}

static void close_lane(struct lane *lane)
{
	study_walk_close(lane->walk);
	study_range_end(lane->range, &lane->part.totals);
	lane->walk = NULL;
	lane->range = NULL;
}

static int end_lane(struct tw_study *study, struct lane *lane)
{
	close_lane(lane);
	int status = study->job->end ? study->job->end(&lane->part) : 0;
	status = status < 0 ? status : study_merge(study, &lane->part);
	return status < 0 ? status : tw_budget_status(&lane->part.budget);
}

static void free_lane(struct tw_study *study, struct lane *lane)
{
	close_lane(lane);
	for (size_t i = 0; i < BATCHES; i++)
		free(lane->batches[i]);
	if (lane->opened)
		study_part_free(&lane->part, study->job);
}

int study_read_together(struct tw_study *study, struct tw_reader *reader)
{
	struct together together = {.study = study, .reader = reader};
	const struct lane *second;
	struct lane *lane;
	int status = open_lanes(&together);
	while (status >= 0 && (lane = find_first(&together, &second)))
		status = take(study->job, lane, second);
	for (size_t i = 0; status >= 0 && i < together.count; i++)
		status = end_lane(study, &together.lanes[i]);
	for (size_t i = 0; i < together.count; i++)
		free_lane(study, &together.lanes[i]);
	free(together.lanes);
	return status < 0 && !*reader->error ? tw_fail(reader, status, "%s", tw_status_text(status)) : status;
}
