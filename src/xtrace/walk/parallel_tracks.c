/* parallel_tracks.c - the tracks of a set read side by side, findings reported in their order.
 *
 * Each track is read by a reader of its own. What it finds is told at once when its turn has come, that is, when all
 * before it are done; until then it is kept, and when that gets too much the track waits. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "base/threads/parallel.h"
#include "xtrace/xtrace.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT_MOST = 1 << 10 /* findings of a track that waits */ };

struct kept_finding {
	struct tw_finding finding; /* its texts are the one below, and the file's name behind it */
	char *texts;
};

struct track_result {
	struct track_pool *pool;
	struct kept_finding *kept;
	size_t kept_count, kept_room;
	int status;
	bool done;
	char error[TW_ERROR_TEXT];
};

struct track_pool {
	struct tw_reader *reader;
	xtrace_take_fn take;
	xtrace_taken_fn taken; /* NULL: a thread does not wait for the turn of its track */
	void *context;
	struct track_result *results;
	size_t count, next; /* tracks; the next to be taken */
	size_t now;         /* whose turn it is */
	bool failed;        /* a track, in its turn: nothing is reported of the tracks behind it */
	pthread_mutex_t lock;
	pthread_cond_t moved;
};

/* ---- Findings. ---- */

static void report_kept(struct track_result *result)
{
	for (size_t i = 0; i < result->kept_count; i++) {
		tw_report_finding(result->pool->reader, &result->kept[i].finding);
		free(result->kept[i].texts);
	}
	result->kept_count = 0;
}

static bool keep(struct track_result *result, const struct tw_finding *finding)
{
	size_t text = strlen(finding->text) + 1, file = strlen(finding->file) + 1;
	char *texts = malloc(text + file);
	if (!texts || !tw_grow(&result->kept, &result->kept_room, result->kept_count + 1, sizeof *result->kept)) {
		free(texts);
		return false;
	}
	memcpy(texts, finding->text, text);
	memcpy(texts + text, finding->file, file);
	struct kept_finding *kept = &result->kept[result->kept_count++];
	*kept = (struct kept_finding){*finding, texts};
	kept->finding.text = texts;
	kept->finding.file = texts + text;
	return true;
}

static void take_finding(void *context, const struct tw_finding *finding)
{
	struct track_result *result = context;
	struct track_pool *pool = result->pool;
	size_t own = (size_t)(result - pool->results);
	pthread_mutex_lock(&pool->lock);
	bool kept = pool->failed || (pool->now != own && result->kept_count < KEPT_MOST && keep(result, finding));
	while (!kept && pool->now != own && !pool->failed)
		pthread_cond_wait(&pool->moved, &pool->lock);
	if (!kept && !pool->failed) {
		report_kept(result);
		tw_report_finding(pool->reader, finding);
	}
	pthread_mutex_unlock(&pool->lock);
}

/* ---- Turns. ---- */

/* Has the tracks that are done at the front tell what they kept. */
static void move_on(struct track_pool *pool)
{
	while (!pool->failed && pool->now < pool->count && pool->results[pool->now].done) {
		struct track_result *result = &pool->results[pool->now];
		report_kept(result);
		pool->failed = result->status < 0;
		if (pool->failed)
			tw_fail(pool->reader, result->status, "%s",
			        *result->error ? result->error : tw_status_text(result->status));
		else
			pool->now++;
	}
	pthread_cond_broadcast(&pool->moved);
}

/* Has the caller told, in the turn of a track, that it was taken. */
static int report_taken(struct track_result *result, size_t own, int status)
{
	struct track_pool *pool = result->pool;
	pthread_mutex_lock(&pool->lock);
	while (pool->now < own && !pool->failed)
		pthread_cond_wait(&pool->moved, &pool->lock);
	if (!pool->failed)
		report_kept(result);
	else if (status >= 0)
		status = TW_ERR_UNSUPPORTED; /* nobody looks at it */
	status = pool->taken(pool->context, own, status);
	pthread_mutex_unlock(&pool->lock);
	return status;
}

/* The reader's own input is of the first track. */
static int take_one(struct track_result *result, size_t i)
{
	const struct tw_reader *reader = result->pool->reader;
	struct xtrace_reader state = *xtrace_of(reader);
	struct tw_reader part = {.format = reader->format,
	                         .options = reader->options,
	                         .state = &state,
	                         .reports.quiet = reader->reports.quiet};
	part.options.on_finding = take_finding;
	part.options.finding_context = result;
	part.options.jobs = 1;
	part.input = i == 0 ? reader->input : NULL;
	part.dictionary = tw_dictionary_new();
	pthread_mutex_init(&part.reports.lock, NULL);
	state.set = (struct xtrace_set){.tracks = &xtrace_of(reader)->set.tracks[i], .count = 1};
	state.events = NULL;
	int status = part.dictionary ? result->pool->take(result->pool->context, &part, i) : tw_fail_memory(&part);
	memcpy(result->error, part.error, sizeof result->error);
	if (result->pool->taken)
		status = report_taken(result, i, status);
	tw_dictionary_free(part.dictionary);
	pthread_mutex_destroy(&part.reports.lock);
	return status;
}

static void work(void *context, unsigned job)
{
	struct track_pool *pool = context;
	(void)job;
	pthread_mutex_lock(&pool->lock);
	while (pool->next < pool->count && !pool->failed) {
		size_t own = pool->next++;
		struct track_result *result = &pool->results[own];
		pthread_mutex_unlock(&pool->lock);
		bool wanted =
		    tw_thread_wanted(&pool->reader->options, xtrace_of(pool->reader)->set.tracks[own].name.number);
		result->status = wanted ? take_one(result, own) : 0;
		pthread_mutex_lock(&pool->lock);
		result->done = true;
		move_on(pool);
	}
	pthread_mutex_unlock(&pool->lock);
}

/* A single track may be a pipe: it is read by the reader itself. */
static int take_only(struct tw_reader *reader, xtrace_take_fn take, xtrace_taken_fn taken, void *context)
{
	if (!tw_thread_wanted(&reader->options, xtrace_of(reader)->set.tracks->name.number))
		return 0;
	int status = take(context, reader, 0);
	if (taken)
		status = taken(context, 0, status);
	return status < 0 && !*reader->error ? tw_fail(reader, status, "%s", tw_status_text(status)) : status;
}

int xtrace_take_all(struct tw_reader *reader, unsigned jobs, xtrace_take_fn take, xtrace_taken_fn taken, void *context)
{
	size_t count = xtrace_of(reader)->set.count;
	if (count == 1)
		return take_only(reader, take, taken, context);
	struct track_pool pool = {.reader = reader, .take = take, .taken = taken, .context = context, .count = count};
	unsigned most = jobs ? jobs : tw_processors();
	pool.results = calloc(count, sizeof *pool.results);
	if (!pool.results)
		return tw_fail_memory(reader);
	pthread_mutex_init(&pool.lock, NULL);
	pthread_cond_init(&pool.moved, NULL);
	for (size_t i = 0; i < count; i++)
		pool.results[i].pool = &pool;
	tw_parallel(count < most ? (unsigned)count : most, work, &pool);
	int status = pool.failed ? pool.results[pool.now].status : 0;
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < pool.results[i].kept_count; k++)
			free(pool.results[i].kept[k].texts);
		free(pool.results[i].kept);
	}
	pthread_cond_destroy(&pool.moved);
	pthread_mutex_destroy(&pool.lock);
	free(pool.results);
	return status;
}
