/* ahead.c - pieces of an input that are read and worked on ahead of the caller, and given to it in order.
 *
 * Whoever has nothing else to do works on the oldest piece that has been read, or reads another one: other threads all
 * the time, the caller's when the piece that it wants is not ready. What comes out does not depend on who did what. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/threads/ahead.h"

#include "base/threads/monitor.h"
#include "base/threads/parallel.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum stage { READ, CLAIMED, DONE };

struct tw_ahead {
	struct tw_ahead_work work;
	void *context;
	void *pieces[TW_AHEAD_PIECES]; /* piece number n is pieces[n % count] */
	enum stage stages[TW_AHEAD_PIECES];
	unsigned count;
	uint64_t given, read; /* how many pieces were read, and given to the caller; the last given is still in use */
	bool reading, at_end, stop;
	int status; /* status of the last read */
	struct tw_monitor monitor;
	pthread_t threads[TW_AHEAD_PIECES];
	unsigned thread_count;
};

/* ---- Who does what: all of these with the lock, which is let go during the work. ---- */

static bool try_read(struct tw_ahead *ahead)
{
	uint64_t oldest = ahead->given ? ahead->given - 1 : 0;
	if (ahead->reading || ahead->at_end || ahead->read - oldest == ahead->count)
		return false;
	unsigned slot = (unsigned)(ahead->read % ahead->count);
	ahead->reading = true;
	tw_monitor_leave(&ahead->monitor);
	int status = ahead->work.read(ahead->context, ahead->pieces[slot]);
	tw_monitor_enter(&ahead->monitor);
	ahead->reading = false;
	ahead->status = status;
	ahead->at_end = status <= 0;
	ahead->stages[slot] = READ;
	ahead->read += status > 0;
	tw_monitor_wake(&ahead->monitor);
	return true;
}

static bool try_work(struct tw_ahead *ahead)
{
	for (uint64_t i = ahead->given; i < ahead->read; i++) {
		unsigned slot = (unsigned)(i % ahead->count);
		if (ahead->stages[slot] != READ)
			continue;
		ahead->stages[slot] = CLAIMED;
		tw_monitor_leave(&ahead->monitor);
		ahead->work.work(ahead->context, ahead->pieces[slot]);
		tw_monitor_enter(&ahead->monitor);
		ahead->stages[slot] = DONE;
		tw_monitor_wake(&ahead->monitor);
		return true;
	}
	return false;
}

static void help(struct tw_ahead *ahead)
{
	if (!try_work(ahead) && !try_read(ahead))
		tw_monitor_wait(&ahead->monitor);
}

static void *run(void *context)
{
	struct tw_ahead *ahead = context;
	tw_monitor_enter(&ahead->monitor);
	while (!ahead->stop)
		help(ahead);
	tw_monitor_leave(&ahead->monitor);
	return NULL;
}

/* ---- The caller. ---- */

static bool next_is_ready(const struct tw_ahead *ahead)
{
	return ahead->given < ahead->read && ahead->stages[ahead->given % ahead->count] == DONE;
}

int tw_ahead_next(struct tw_ahead *ahead, void **piece)
{
	int status = 1;
	tw_monitor_enter(&ahead->monitor);
	while (!next_is_ready(ahead) && !(ahead->at_end && ahead->given == ahead->read))
		help(ahead);
	if (next_is_ready(ahead))
		*piece = ahead->pieces[ahead->given++ % ahead->count];
	else
		status = ahead->status;
	tw_monitor_wake(&ahead->monitor);
	tw_monitor_leave(&ahead->monitor);
	return status;
}

struct tw_ahead *tw_ahead_new(const struct tw_ahead_work *work, void *context, void *const pieces[], unsigned count,
                              unsigned jobs)
{
	struct tw_ahead *ahead = calloc(1, sizeof *ahead);
	assert(count > 1 && count <= TW_AHEAD_PIECES);
	if (!ahead)
		return NULL;
	ahead->work = *work;
	ahead->context = context;
	ahead->count = count;
	for (unsigned i = 0; i < count; i++)
		ahead->pieces[i] = pieces[i];
	tw_monitor_init(&ahead->monitor);
	jobs = jobs ? jobs : tw_processors();
	for (unsigned i = 1; i < jobs && i < count; i++)
		if (pthread_create(&ahead->threads[ahead->thread_count], NULL, run, ahead) == 0)
			ahead->thread_count++;
	return ahead;
}

void tw_ahead_free(struct tw_ahead *ahead)
{
	if (!ahead)
		return;
	tw_monitor_enter(&ahead->monitor);
	ahead->stop = true;
	tw_monitor_wake(&ahead->monitor);
	tw_monitor_leave(&ahead->monitor);
	for (unsigned i = 0; i < ahead->thread_count; i++)
		pthread_join(ahead->threads[i], NULL);
	tw_monitor_destroy(&ahead->monitor);
	free(ahead);
}
