/* press.c - compression in a thread of its own, behind the one that writes.
 *
 * Blocks go round: the writer fills one while the other thread compresses those before it. What comes out does not
 * depend on when either of them runs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/press.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 4, ROOM = 1 << 16 };

struct tw_press {
	struct tw_pack *pack;
	struct tw_pack_sink sink;
	char blocks[BLOCKS][ROOM]; /* number n is blocks[n % BLOCKS] */
	size_t sizes[BLOCKS];
	uint64_t filled, done; /* how many have gone so far */
	bool ends, stop, failed;
	pthread_mutex_t lock;
	pthread_cond_t change;
	pthread_t thread;
	bool started;
};

/* ---- The other thread: all of it with the lock, which is let go during the work. ---- */

static void compress(struct tw_press *press)
{
	size_t slot = (size_t)(press->done % BLOCKS);
	pthread_mutex_unlock(&press->lock);
	bool fine = tw_pack_write(press->pack, &press->sink, press->blocks[slot], press->sizes[slot], false);
	pthread_mutex_lock(&press->lock);
	press->failed |= !fine;
	press->done++;
	pthread_cond_broadcast(&press->change);
}

static void *run(void *context)
{
	struct tw_press *press = context;
	pthread_mutex_lock(&press->lock);
	while (!press->stop) {
		if (press->done < press->filled)
			compress(press);
		else if (press->ends)
			break;
		else
			pthread_cond_wait(&press->change, &press->lock);
	}
	pthread_mutex_unlock(&press->lock);
	return NULL;
}

/* ---- The writer. ---- */

static void put_block(struct tw_press *press, const char *bytes, size_t size)
{
	pthread_mutex_lock(&press->lock);
	while (press->filled - press->done == BLOCKS)
		pthread_cond_wait(&press->change, &press->lock);
	pthread_mutex_unlock(&press->lock);
	size_t slot = (size_t)(press->filled % BLOCKS);
	memcpy(press->blocks[slot], bytes, size);
	press->sizes[slot] = size;
	pthread_mutex_lock(&press->lock);
	press->filled++;
	pthread_cond_broadcast(&press->change);
	pthread_mutex_unlock(&press->lock);
}

void tw_press_put(struct tw_press *press, const char *bytes, size_t size)
{
	for (size_t part; size; bytes += part, size -= part) {
		part = size < ROOM ? size : ROOM;
		put_block(press, bytes, part);
	}
}

static void finish(struct tw_press *press, bool stop)
{
	if (!press->started)
		return;
	pthread_mutex_lock(&press->lock);
	press->ends = true;
	press->stop = stop;
	pthread_cond_broadcast(&press->change);
	pthread_mutex_unlock(&press->lock);
	pthread_join(press->thread, NULL);
	press->started = false;
}

bool tw_press_end(struct tw_press *press)
{
	finish(press, false);
	return tw_pack_write(press->pack, &press->sink, "", 0, true) && !press->failed;
}

/* ---- The whole. ---- */

struct tw_press *tw_press_new(const struct tw_packer *packer, enum tw_pack_effort effort,
                              const struct tw_pack_sink *sink)
{
	struct tw_press *press = calloc(1, sizeof *press);
	if (!press)
		return NULL;
	press->sink = *sink;
	pthread_mutex_init(&press->lock, NULL);
	pthread_cond_init(&press->change, NULL);
	press->pack = tw_pack_new(packer, effort);
	press->started = press->pack && pthread_create(&press->thread, NULL, run, press) == 0;
	if (press->started)
		return press;
	tw_press_free(press);
	return NULL;
}

void tw_press_free(struct tw_press *press)
{
	if (!press)
		return;
	finish(press, true);
	tw_pack_free(press->pack);
	pthread_mutex_destroy(&press->lock);
	pthread_cond_destroy(&press->change);
	free(press);
}
