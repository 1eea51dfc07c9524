/* behind.c - pieces of an output that another thread works on behind the caller, in order.
 *
 * Who waits is not woken for one piece, but for half of them: to wake a thread takes as long as some pieces do, and
 * what runs for so short a time is not given another processor (`make bench` measures convert to CTF). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/behind.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct tw_behind {
	tw_behind_fn *work;
	void *context;
	void *pieces[TW_BEHIND_PIECES]; /* number n is pieces[n % count] */
	unsigned count;
	uint64_t filled, done; /* how many have gone so far */
	bool ends, stop;
	pthread_mutex_t lock;
	pthread_cond_t change;
	pthread_t thread;
	bool started;
};

static uint64_t pending(const struct tw_behind *behind)
{
	return behind->filled - behind->done;
}

/* ---- The other thread: all of it with the lock, which is let go during the work. ---- */

static void work_on(struct tw_behind *behind)
{
	void *piece = behind->pieces[behind->done % behind->count];
	pthread_mutex_unlock(&behind->lock);
	behind->work(behind->context, piece);
	pthread_mutex_lock(&behind->lock);
	behind->done++;
	if (pending(behind) <= behind->count / 2)
		pthread_cond_broadcast(&behind->change);
}

static void *run(void *context)
{
	struct tw_behind *behind = context;
	pthread_mutex_lock(&behind->lock);
	while (!behind->stop) {
		while (behind->done < behind->filled && !behind->stop)
			work_on(behind);
		if (behind->ends)
			break;
		while (pending(behind) < behind->count / 2 && !behind->ends)
			pthread_cond_wait(&behind->change, &behind->lock);
	}
	pthread_mutex_unlock(&behind->lock);
	return NULL;
}

/* ---- The caller. ---- */

void *tw_behind_piece(struct tw_behind *behind)
{
	pthread_mutex_lock(&behind->lock);
	if (pending(behind) == behind->count)
		while (pending(behind) > behind->count / 2)
			pthread_cond_wait(&behind->change, &behind->lock);
	pthread_mutex_unlock(&behind->lock);
	return behind->pieces[behind->filled % behind->count];
}

void tw_behind_put(struct tw_behind *behind)
{
	pthread_mutex_lock(&behind->lock);
	behind->filled++;
	if (pending(behind) >= behind->count / 2)
		pthread_cond_broadcast(&behind->change);
	pthread_mutex_unlock(&behind->lock);
}

static void finish(struct tw_behind *behind, bool stop)
{
	if (!behind->started)
		return;
	pthread_mutex_lock(&behind->lock);
	behind->ends = true;
	behind->stop = stop;
	pthread_cond_broadcast(&behind->change);
	pthread_mutex_unlock(&behind->lock);
	pthread_join(behind->thread, NULL);
	behind->started = false;
}

void tw_behind_end(struct tw_behind *behind)
{
	finish(behind, false);
}

/* ---- The whole. ---- */

struct tw_behind *tw_behind_new(tw_behind_fn *work, void *context, void *const pieces[], unsigned count)
{
	struct tw_behind *behind = calloc(1, sizeof *behind);
	assert(count > 1 && count <= TW_BEHIND_PIECES);
	if (!behind)
		return NULL;
	behind->work = work;
	behind->context = context;
	behind->count = count;
	for (unsigned i = 0; i < count; i++)
		behind->pieces[i] = pieces[i];
	pthread_mutex_init(&behind->lock, NULL);
	pthread_cond_init(&behind->change, NULL);
	behind->started = pthread_create(&behind->thread, NULL, run, behind) == 0;
	if (behind->started)
		return behind;
	tw_behind_free(behind);
	return NULL;
}

void tw_behind_free(struct tw_behind *behind)
{
	if (!behind)
		return;
	finish(behind, true);
	pthread_mutex_destroy(&behind->lock);
	pthread_cond_destroy(&behind->change);
	free(behind);
}
