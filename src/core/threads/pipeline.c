/* pipeline.c - pieces of an input that are read and worked on ahead of the caller, and given to it in order.
 *
 * Whoever has nothing else to do works on the oldest piece that has been read, or reads another one: other threads all
 * the time, the caller's when the piece that it wants is not ready. What comes out does not depend on who did what. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/threads/pipeline.h"

#include "base/threads/monitor.h"
#include "base/threads/parallel.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum stage { READ, CLAIMED, DONE };

struct tw_pipeline {
	struct tw_pipeline_steps work;
	void *context;
	void *pieces[TW_PIPELINE_PIECES]; /* piece number n is pieces[n % count] */
	enum stage stages[TW_PIPELINE_PIECES];
	unsigned count;
	uint64_t given, read; /* how many pieces were read, and given to the caller; the last given is still in use */
	bool reading, at_end, stop;
	int status; /* status of the last read */
	struct tw_monitor monitor;
	pthread_t threads[TW_PIPELINE_PIECES];
	unsigned thread_count;
};

/* ---- Who does what: all of these with the lock, which is let go during the work. ---- */

static bool try_read(struct tw_pipeline *pipeline)
{
	uint64_t oldest = pipeline->given ? pipeline->given - 1 : 0;
	if (pipeline->reading || pipeline->at_end || pipeline->read - oldest == pipeline->count)
		return false;
	unsigned slot = (unsigned)(pipeline->read % pipeline->count);
	pipeline->reading = true;
	tw_monitor_leave(&pipeline->monitor);
	int status = pipeline->work.read(pipeline->context, pipeline->pieces[slot]);
	tw_monitor_enter(&pipeline->monitor);
	pipeline->reading = false;
	pipeline->status = status;
	pipeline->at_end = status <= 0;
	pipeline->stages[slot] = READ;
	pipeline->read += status > 0;
	tw_monitor_wake(&pipeline->monitor);
	return true;
}

static bool try_work(struct tw_pipeline *pipeline)
{
	for (uint64_t i = pipeline->given; i < pipeline->read; i++) {
		unsigned slot = (unsigned)(i % pipeline->count);
		if (pipeline->stages[slot] != READ)
			continue;
		pipeline->stages[slot] = CLAIMED;
		tw_monitor_leave(&pipeline->monitor);
		pipeline->work.work(pipeline->context, pipeline->pieces[slot]);
		tw_monitor_enter(&pipeline->monitor);
		pipeline->stages[slot] = DONE;
		tw_monitor_wake(&pipeline->monitor);
		return true;
	}
	return false;
}

static void help(struct tw_pipeline *pipeline)
{
	if (!try_work(pipeline) && !try_read(pipeline))
		tw_monitor_wait(&pipeline->monitor);
}

static void *run(void *context)
{
	struct tw_pipeline *pipeline = context;
	tw_monitor_enter(&pipeline->monitor);
	while (!pipeline->stop)
		help(pipeline);
	tw_monitor_leave(&pipeline->monitor);
	return NULL;
}

/* ---- The caller. ---- */

static bool next_is_ready(const struct tw_pipeline *pipeline)
{
	return pipeline->given < pipeline->read && pipeline->stages[pipeline->given % pipeline->count] == DONE;
}

int tw_pipeline_next(struct tw_pipeline *pipeline, void **piece)
{
	int status = 1;
	tw_monitor_enter(&pipeline->monitor);
	while (!next_is_ready(pipeline) && !(pipeline->at_end && pipeline->given == pipeline->read))
		help(pipeline);
	if (next_is_ready(pipeline))
		*piece = pipeline->pieces[pipeline->given++ % pipeline->count];
	else
		status = pipeline->status;
	tw_monitor_wake(&pipeline->monitor);
	tw_monitor_leave(&pipeline->monitor);
	return status;
}

struct tw_pipeline *tw_pipeline_new(const struct tw_pipeline_steps *work, void *context, void *const pieces[],
                                    unsigned count, unsigned jobs)
{
	struct tw_pipeline *pipeline = calloc(1, sizeof *pipeline);
	assert(count > 1 && count <= TW_PIPELINE_PIECES);
	if (!pipeline)
		return NULL;
	pipeline->work = *work;
	pipeline->context = context;
	pipeline->count = count;
	for (unsigned i = 0; i < count; i++)
		pipeline->pieces[i] = pieces[i];
	tw_monitor_init(&pipeline->monitor);
	jobs = jobs ? jobs : tw_processors();
	for (unsigned i = 1; i < jobs && i < count; i++)
		if (pthread_create(&pipeline->threads[pipeline->thread_count], NULL, run, pipeline) == 0)
			pipeline->thread_count++;
	return pipeline;
}

void tw_pipeline_free(struct tw_pipeline *pipeline)
{
	if (!pipeline)
		return;
	tw_monitor_enter(&pipeline->monitor);
	pipeline->stop = true;
	tw_monitor_wake(&pipeline->monitor);
	tw_monitor_leave(&pipeline->monitor);
	for (unsigned i = 0; i < pipeline->thread_count; i++)
		pthread_join(pipeline->threads[i], NULL);
	tw_monitor_destroy(&pipeline->monitor);
	free(pipeline);
}
