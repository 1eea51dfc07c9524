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
struct next_instruction {
	uint64_t time; /* the last TIME that came */
	uint64_t instruction;
	size_t number; /* of the thread */
};

struct thread {
	struct study_part part;
	struct study_walk *walk;
	struct study_range *range;
	struct study_batch *batches[BATCHES]; /* as they came; made when they are needed */
	size_t count, now;                    /* batches that came; the number of the current one */
	size_t step, access;                  /* of the current batch: the first that is not taken yet */
	struct next_instruction moment;
	bool opened, ended;
};

struct together {
	struct tw_study *study;
	struct tw_reader *reader;
	struct thread *threads;
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
	struct thread *thread = context;
	struct study_batch **kept = &thread->batches[thread->count];
	*kept = *kept ? *kept : malloc(sizeof **kept);
	if (!*kept)
		return TW_ERR_MEMORY;
	copy_batch(*kept, batch);
	thread->count++;
	return 1;
}

/* ---- Moments. ---- */

static const struct study_batch *batch_of(const struct thread *thread)
{
	return thread->batches[thread->now];
}

/* The step that comes next in the batch; SIZE_MAX behind the last. */
static size_t next_step(const struct thread *thread)
{
	const struct study_batch *batch = batch_of(thread);
	size_t access = thread->access < batch->access_count ? batch->accesses[thread->access].step : SIZE_MAX;
	bool fetches = thread->part.wants.steps && thread->step < batch->step_count;
	return fetches && thread->step < access ? thread->step : access;
}

/* An instruction comes at the first TIME of its accesses. */
static void find_moment(struct thread *thread, size_t step)
{
	const struct study_batch *batch = batch_of(thread);
	uint64_t time = 0;
	for (size_t i = thread->access; !time && i < batch->access_count && batch->accesses[i].step == step; i++)
		time = batch->times[i];
	thread->moment.time = time > thread->moment.time ? time : thread->moment.time;
	thread->moment.instruction = batch->first + step;
}

/* Goes to the next instruction, over batches. Returns 0 or a negative status. */
static int advance(struct thread *thread)
{
	while (!thread->ended) {
		size_t step = thread->now < thread->count ? next_step(thread) : SIZE_MAX;
		if (step != SIZE_MAX) {
			find_moment(thread, step);
			return 0;
		}
		thread->step = thread->access = 0;
		if (++thread->now < thread->count)
			continue;
		thread->now = thread->count = 0;
		int status = study_walk_go(thread->walk);
		if (status < 0)
			return status;
		thread->ended = status == 0 && thread->count == 0;
	}
	return 0;
}

static bool is_before(const struct next_instruction *one, const struct next_instruction *other)
{
	int order = tw_compare(one->time, other->time);
	order = order ? order : tw_compare(one->instruction, other->instruction);
	return order ? order < 0 : one->number < other->number;
}

/* The thread that goes on first; *second: the thread that goes on after it; NULL: there is none. */
static struct thread *find_first(struct together *together, const struct thread **second)
{
	struct thread *first = NULL;
	*second = NULL;
	for (size_t i = 0; i < together->count; i++) {
		struct thread *thread = &together->threads[i];
		if (thread->ended)
			continue;
		if (!first || is_before(&thread->moment, &first->moment)) {
			*second = first;
			first = thread;
		} else if (!*second || is_before(&thread->moment, &(*second)->moment)) {
			*second = thread;
		}
	}
	return first;
}

/* Takes a thread's instructions until that of another comes first. */
static int take(const struct study_job *job, struct thread *thread, const struct thread *second)
{
	int status = 0;
	while (status >= 0 && !thread->ended && (!second || is_before(&thread->moment, &second->moment))) {
		size_t step = next_step(thread);
		status = job->take_steps(&thread->part, batch_of(thread), step, step + 1, &thread->access);
		thread->step = step + 1;
		status = status < 0 ? status : advance(thread);
	}
	return status;
}

/* ---- Threads. ---- */

static int open_thread(struct together *together, struct thread *thread, const struct xtrace_track *track, size_t share)
{
	struct tw_study *study = together->study;
	thread->moment.number = (size_t)(thread - together->threads);
	thread->opened = true;
	int status = study_part_begin(&thread->part, study, share, together->reader->dictionary);
	if (status < 0)
		return status;
	thread->part.thread = track->name.number;
	struct study_taker taker = {&thread->part.sites, &thread->part.totals, keep, thread, thread->part.wants};
	status = study_range_begin(&thread->range, &study->options.range, &taker);
	if (status < 0)
		return status;
	status = study_walk_open(&thread->walk, together->reader, track, &taker);
	if (status < 0)
		return status;
	xtrace_files_thin(study_walk_files(thread->walk));
	return advance(thread);
}

static int open_threads(struct together *together)
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
	together->threads = calloc(wanted + 1, sizeof *together->threads);
	if (!together->threads)
		return TW_ERR_MEMORY;
	for (size_t i = 0; status >= 0 && i < set->count; i++)
		if (tw_thread_wanted(&together->reader->options, set->tracks[i].name.number))
			status = open_thread(together, &together->threads[together->count++], &set->tracks[i], share);
	return status;
}

static void close_thread(struct thread *thread)
{
	study_walk_close(thread->walk);
	study_range_end(thread->range, &thread->part.totals);
	thread->walk = NULL;
	thread->range = NULL;
}

static int end_thread(struct tw_study *study, struct thread *thread)
{
	close_thread(thread);
	int status = study->job->end ? study->job->end(&thread->part) : 0;
	status = status < 0 ? status : study_merge(study, &thread->part);
	return status < 0 ? status : tw_budget_status(&thread->part.budget);
}

static void free_thread(struct tw_study *study, struct thread *thread)
{
	close_thread(thread);
	for (size_t i = 0; i < BATCHES; i++)
		free(thread->batches[i]);
	if (thread->opened)
		study_part_free(&thread->part, study->job);
}

int study_read_together(struct tw_study *study, struct tw_reader *reader)
{
	struct together together = {.study = study, .reader = reader};
	const struct thread *second;
	struct thread *thread;
	int status = open_threads(&together);
	while (status >= 0 && (thread = find_first(&together, &second)))
		status = take(study->job, thread, second);
	for (size_t i = 0; status >= 0 && i < together.count; i++)
		status = end_thread(study, &together.threads[i]);
	for (size_t i = 0; i < together.count; i++)
		free_thread(study, &together.threads[i]);
	free(together.threads);
	return status < 0 && !*reader->error ? tw_fail(reader, status, "%s", tw_status_text(status)) : status;
}
