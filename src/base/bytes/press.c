/* press.c - compression by other threads, behind the one that writes.
 *
 * Whoever has nothing else to do compresses a block that waits, or puts the oldest one that is done into the sink:
 * other threads all the time, the caller's when there is no room for more. What comes out does not depend on who did
 * what. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/press.h"

#include "base/threads/parallel.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 8, ROOM = 1 << 18 };

enum stage { EMPTY, FILLED, TAKEN, DONE };

struct press_block {
	enum stage stage;
	bool last;
	size_t size;
	struct tw_packed packed;
	char bytes[ROOM];
};

struct press_worker {
	struct tw_press *press;
	struct tw_pack *pack;
	pthread_t thread;
	bool started;
};

struct tw_press {
	const struct tw_packer *packer;
	struct tw_pack_sink sink;
	struct tw_packed total;
	struct tw_pack *one;                /* that compresses all, where blocks have to be in order */
	struct press_block *blocks[BLOCKS]; /* number n is blocks[n % BLOCKS] */
	uint64_t filled, put;               /* how many have gone so far */
	bool putting, stop, failed;         /* failed: no memory */
	pthread_mutex_t lock;
	pthread_cond_t change;
	struct press_worker workers[BLOCKS]; /* the first is the caller */
};

static struct press_block *block_at(const struct tw_press *press, uint64_t number)
{
	return press->blocks[number % BLOCKS];
}

/* ---- Who does what: all of these with the lock, which is let go during the work. ---- */

static bool try_put(struct tw_press *press)
{
	struct press_block *block = block_at(press, press->put);
	if (press->putting || press->put == press->filled || block->stage != DONE)
		return false;
	press->putting = true;
	pthread_mutex_unlock(&press->lock);
	tw_pack_put(&block->packed, &press->total, &press->sink);
	pthread_mutex_lock(&press->lock);
	press->putting = false;
	block->stage = EMPTY;
	press->put++;
	pthread_cond_broadcast(&press->change);
	return true;
}

/* Returns the first block that waits to be compressed; NULL where none does, or where one must be done before. */
static struct press_block *next_block(const struct tw_press *press)
{
	for (uint64_t i = press->put; i < press->filled; i++) {
		struct press_block *block = block_at(press, i);
		if (block->stage == FILLED)
			return block;
		if (block->stage == TAKEN && press->one)
			return NULL;
	}
	return NULL;
}

static bool try_compress(struct tw_press *press, struct press_worker *worker)
{
	struct press_block *block = next_block(press);
	if (!block)
		return false;
	block->stage = TAKEN;
	pthread_mutex_unlock(&press->lock);
	bool fine = tw_pack_block(press->one ? press->one : worker->pack, block->bytes, block->size, block->last,
	                          &block->packed);
	pthread_mutex_lock(&press->lock);
	press->failed |= !fine;
	block->stage = DONE;
	pthread_cond_broadcast(&press->change);
	return true;
}

static void help(struct tw_press *press, struct press_worker *worker)
{
	if (!try_put(press) && !try_compress(press, worker))
		pthread_cond_wait(&press->change, &press->lock);
}

static void *run(void *context)
{
	struct press_worker *worker = context;
	struct tw_press *press = worker->press;
	pthread_mutex_lock(&press->lock);
	while (!press->stop)
		help(press, worker);
	pthread_mutex_unlock(&press->lock);
	return NULL;
}

/* ---- The caller. ---- */

/* Hands the block over that is being filled, and waits for another one, or at the end for all. */
static void hand_over(struct tw_press *press, bool last)
{
	struct press_block *block = block_at(press, press->filled);
	pthread_mutex_lock(&press->lock);
	block->last = last;
	block->stage = FILLED;
	press->filled++;
	pthread_cond_broadcast(&press->change);
	while (press->filled - press->put > (last ? 0 : BLOCKS - 1))
		help(press, &press->workers[0]);
	pthread_mutex_unlock(&press->lock);
	block_at(press, press->filled)->size = 0;
}

void tw_press_put(struct tw_press *press, const char *bytes, size_t size)
{
	for (size_t part; size; bytes += part, size -= part) {
		struct press_block *block = block_at(press, press->filled);
		part = size < ROOM - block->size ? size : ROOM - block->size;
		memcpy(block->bytes + block->size, bytes, part);
		block->size += part;
		if (block->size == ROOM)
			hand_over(press, false);
	}
}

bool tw_press_end(struct tw_press *press)
{
	hand_over(press, true);
	tw_pack_put_tail(press->packer, &press->total, &press->sink);
	return !press->failed;
}

/* ---- The whole. ---- */

/* Other threads are as many as there are other processors, but one at least: the caller has more to do. */
static bool start(struct tw_press *press, enum tw_pack_effort effort)
{
	unsigned count = tw_processors() < 2 ? 2 : tw_processors();
	for (unsigned i = 0; i < BLOCKS; i++)
		if (!(press->blocks[i] = calloc(1, sizeof *press->blocks[i])))
			return false;
	bool in_order = tw_packer_goes_in_order(press->packer);
	if (in_order && !(press->one = tw_pack_new(press->packer, effort)))
		return false;
	count = in_order ? 2 : count < BLOCKS ? count : BLOCKS;
	for (unsigned i = 0; i < count; i++) {
		struct press_worker *worker = &press->workers[i];
		worker->press = press;
		if (!in_order && !(worker->pack = tw_pack_new(press->packer, effort)))
			return false;
		worker->started = i && pthread_create(&worker->thread, NULL, run, worker) == 0;
	}
	return true;
}

struct tw_press *tw_press_new(const struct tw_packer *packer, enum tw_pack_effort effort,
                              const struct tw_pack_sink *sink)
{
	struct tw_press *press = calloc(1, sizeof *press);
	if (!press)
		return NULL;
	press->packer = packer;
	press->sink = *sink;
	pthread_mutex_init(&press->lock, NULL);
	pthread_cond_init(&press->change, NULL);
	if (!start(press, effort)) {
		tw_press_free(press);
		return NULL;
	}
	tw_pack_put_head(packer, sink);
	return press;
}

static void stop(struct tw_press *press)
{
	pthread_mutex_lock(&press->lock);
	press->stop = true;
	pthread_cond_broadcast(&press->change);
	pthread_mutex_unlock(&press->lock);
	for (unsigned i = 0; i < BLOCKS; i++)
		if (press->workers[i].started)
			pthread_join(press->workers[i].thread, NULL);
}

void tw_press_free(struct tw_press *press)
{
	if (!press)
		return;
	stop(press);
	tw_pack_free(press->one);
	for (unsigned i = 0; i < BLOCKS; i++) {
		tw_pack_free(press->workers[i].pack);
		if (press->blocks[i])
			tw_text_free(&press->blocks[i]->packed.text);
		free(press->blocks[i]);
	}
	pthread_mutex_destroy(&press->lock);
	pthread_cond_destroy(&press->change);
	free(press);
}
