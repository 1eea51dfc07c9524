/* pipeline.c - reads the chunks of an archive, and decodes them ahead with other threads.
 *
 * A chunk is read, walked and decoded. Reading and walking go in the order of the archive, because a chunk begins with
 * the record that the one before could not finish; decoding goes in any order. Only the caller's thread walks, which
 * changes tables and dictionary; it is always the same number of chunks ahead of the one that it gets, so that results
 * do not depend on the number of threads. A thread that has nothing else to do reads the next chunk or decodes the
 * oldest. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/walk/pipeline.h"

#include "base/bytes/bytes.h"
#include "base/memory/memory.h"
#include "base/threads/parallel.h"
#include "fxt/fxt.h"
#include "fxt/walk/walk.h"

#include <stdlib.h>
#include <string.h>

/* ---- The threads ---- */

bool fxt_pool_work(struct fxt_pool *pool, struct fxt_scratch *scratch)
{
	bool done = false;
	for (size_t i = 0; i < pool->client_count && !done; i++) {
		struct fxt_client *client = pool->clients[pool->next++ % pool->client_count];
		client->busy++;
		done = client->work(client->context, scratch);
		client->busy--;
	}
	return done;
}

static void *run_thread(void *context)
{
	struct fxt_pool *pool = context;
	struct fxt_scratch *scratch = calloc(1, sizeof *scratch); /* larger than some threads' stacks */
	tw_monitor_enter(&pool->monitor);
	while (scratch && !pool->stop)
		if (!fxt_pool_work(pool, scratch))
			tw_monitor_wait(&pool->monitor);
	tw_monitor_leave(&pool->monitor);
	fxt_scratch_free(scratch);
	free(scratch);
	return NULL;
}

struct fxt_pool *fxt_pool_new(unsigned jobs)
{
	struct fxt_pool *pool = calloc(1, sizeof *pool);
	unsigned wanted = (jobs ? jobs : tw_processors()) - 1;
	if (!pool)
		return NULL;
	tw_monitor_init(&pool->monitor);
	pool->users = 1;
	wanted = wanted < FXT_POOL_MOST ? wanted : FXT_POOL_MOST;
	while (pool->thread_count < wanted &&
	       pthread_create(&pool->threads[pool->thread_count], NULL, run_thread, pool) == 0)
		pool->thread_count++;
	return pool;
}

struct fxt_pool *fxt_pool_share(struct fxt_pool *pool)
{
	pool->users++;
	return pool;
}

void fxt_pool_release(struct fxt_pool *pool)
{
	if (!pool || --pool->users)
		return;
	tw_monitor_enter(&pool->monitor);
	pool->stop = true;
	tw_monitor_wake(&pool->monitor);
	tw_monitor_leave(&pool->monitor);
	for (unsigned i = 0; i < pool->thread_count; i++)
		pthread_join(pool->threads[i], NULL);
	fxt_scratch_free(&pool->scratch);
	tw_monitor_destroy(&pool->monitor);
	free(pool->clients);
	free(pool);
}

bool fxt_pool_add_client(struct fxt_pool *pool, struct fxt_client *client)
{
	tw_monitor_enter(&pool->monitor);
	bool fine = tw_grow(&pool->clients, &pool->client_room, pool->client_count + 1, sizeof(struct fxt_client *));
	if (fine)
		pool->clients[pool->client_count++] = client;
	tw_monitor_wake(&pool->monitor);
	tw_monitor_leave(&pool->monitor);
	return fine;
}

void fxt_pool_remove_client(struct fxt_pool *pool, struct fxt_client *client)
{
	size_t i = 0;
	tw_monitor_enter(&pool->monitor);
	while (i < pool->client_count && pool->clients[i] != client)
		i++;
	if (i < pool->client_count) {
		pool->client_count--;
		memmove(&pool->clients[i], &pool->clients[i + 1],
		        (pool->client_count - i) * sizeof(struct fxt_client *));
	}
	while (client->busy)
		tw_monitor_wait(&pool->monitor);
	tw_monitor_leave(&pool->monitor);
}

enum {
	LINE = 12,       /* chunks that have been read and not yet given out, at most */
	STATE_SHARE = 2, /* tables and names may take 1 / STATE_SHARE of the memory limit, */
	MERGED_SHARE = 4 /* and this where archives are merged: the merged trace has all names once more */
};

/* How many chunks are walked and not yet given out, and how many are read and not yet given out. */
struct distance {
	unsigned walks, lines;
};

static const struct distance usual = {8, LINE};
static const struct distance merged = {4, 6}; /* several archives are read at once, each with less memory */
static const struct distance many = {2, 3};   /* more than FXT_FEW archives */

enum stage { READ, WALKED, DECODED };

struct slot {
	struct fxt_chunk *chunk;
	enum stage stage;
	bool claimed; /* somebody decodes it */
};

struct fxt_pipeline {
	struct tw_reader *reader;
	const struct fxt_work *work;
	struct fxt_wish wish;
	struct fxt_state state;
	struct fxt_walk walk;
	struct distance distance;
	struct slot line[LINE];       /* chunk number n is line[n % LINE] */
	uint64_t given, walked, read; /* how many chunks have come so far: given <= walked <= read */
	uint64_t position;            /* bytes read */
	bool reading, at_end;
	int status; /* of the input */
	struct fxt_chunk *spare[LINE + TW_ORDER_SLABS];
	size_t spare_count;
	struct {
		uint8_t *bytes;
		size_t room;
	} spare_bytes[LINE];
	size_t spare_bytes_count;
	struct fxt_scratch *guest;     /* fxt_pipeline_lend_hand(); NULL before the first */
	fxt_other_work_fn *other_work; /* fxt_pipeline_add_work(), or NULL */
	void (*finish)(void *context, struct fxt_chunk *const *line, size_t count); /* before tables go, or NULL */
	void *context;
	uint64_t held_from; /* fxt_pipeline_keep_tables() */
	struct fxt_pool *pool;
	struct fxt_client client;
};

/* ---- How much is read at a time, and how much waits to be put in order. ---- */

/* Fuchsia's trace manager gives a provider a buffer of 4 MB, and what is in it may come late by as much. */
enum { REORDER_WINDOW = 4 << 20 };

/* Where several archives are read at once to be merged, their windows have a part of the memory limit. */
enum { WINDOW_SHARE = 8, FORGOTTEN_SHARE = 2, WINDOW_LEAST = 1 << 15 };

uint64_t fxt_reorder_window(const struct tw_reader *reader)
{
	uint64_t most = tw_memory_limit(reader) / (fxt_merge_window_forgets(reader) ? FORGOTTEN_SHARE : WINDOW_SHARE);
	if (reader->options.reorder_window)
		return reader->options.reorder_window;
	if (reader->request.merged < 2 || most > REORDER_WINDOW)
		return REORDER_WINDOW;
	return most > WINDOW_LEAST ? most : WINDOW_LEAST;
}

/* A power of two, so that words lie in one chunk: as small as it takes to have rows of a dozen at once, but as many as
 * are held must be the queues of the sorter. */
size_t fxt_chunk_size(const struct tw_reader *reader)
{
	enum { OF_MEMORY = 1024 };
	uint64_t window = fxt_reorder_window(reader), most = tw_memory_limit(reader) / OF_MEMORY;
	size_t size = FXT_CHUNK;
	while (reader->request.merged > 1 && size > FXT_CHUNK_LEAST && size > most &&
	       size / 2 * TW_ORDER_SLABS > window)
		size /= 2;
	return size;
}

/* ---- Chunks. ---- */

/* A chunk with room for bytes; NULL when there is no memory. */
static struct fxt_chunk *new_chunk(struct fxt_pipeline *pipeline)
{
	struct fxt_chunk *chunk = pipeline->spare_count ? pipeline->spare[--pipeline->spare_count]
	                                                : fxt_chunk_new(fxt_chunk_size(pipeline->reader));
	if (!chunk)
		return NULL;
	fxt_pipeline_lend_bytes(pipeline, chunk);
	if (fxt_chunk_make_room(chunk))
		return chunk;
	fxt_pipeline_put(pipeline, chunk);
	return NULL;
}

/* ---- Work: all of these are called with the lock, and let it go meanwhile. ---- */

static bool try_read(struct fxt_pipeline *pipeline)
{
	if (pipeline->reading || pipeline->at_end || pipeline->read - pipeline->given >= pipeline->distance.lines)
		return false;
	struct fxt_chunk *chunk = new_chunk(pipeline);
	if (!chunk) {
		pipeline->status = TW_ERR_MEMORY;
		pipeline->at_end = true;
		return true;
	}
	pipeline->reading = true;
	tw_monitor_leave(&pipeline->pool->monitor);
	int status = fxt_chunk_read(chunk, pipeline->reader, &pipeline->position);
	tw_monitor_enter(&pipeline->pool->monitor);
	pipeline->status = status < 0 ? status : pipeline->status;
	pipeline->reading = false;
	pipeline->at_end = chunk->at_end;
	pipeline->line[pipeline->read++ % LINE] = (struct slot){.chunk = chunk, .stage = READ};
	tw_monitor_wake(&pipeline->pool->monitor);
	return true;
}

/* Nothing is decoded of a chunk for which there was no memory: it may refer to providers that are no more. */
static void decode_pieces(struct fxt_pipeline *pipeline, struct fxt_chunk *chunk, struct fxt_scratch *scratch)
{
	if (chunk->failed)
		return;
	fxt_lend_name_caches(chunk, scratch->name_caches, FXT_NAME_CACHES);
	pipeline->work->decode(chunk, &pipeline->wish, scratch);
}

static void decode(struct fxt_pipeline *pipeline, struct slot *slot, struct fxt_scratch *scratch)
{
	slot->claimed = true;
	tw_monitor_leave(&pipeline->pool->monitor);
	decode_pieces(pipeline, slot->chunk, scratch);
	pipeline->work->decoded(slot->chunk, &pipeline->wish, scratch);
	tw_monitor_enter(&pipeline->pool->monitor);
	slot->stage = DECODED;
	tw_monitor_wake(&pipeline->pool->monitor);
}

static bool try_decode(struct fxt_pipeline *pipeline, struct fxt_scratch *scratch)
{
	for (uint64_t i = pipeline->given; i < pipeline->walked; i++) {
		struct slot *slot = &pipeline->line[i % LINE];
		if (slot->claimed || slot->stage != WALKED)
			continue;
		decode(pipeline, slot, scratch);
		return true;
	}
	return false;
}

static bool try_other_work(struct fxt_pipeline *pipeline, struct fxt_scratch *scratch)
{
	bool done = pipeline->other_work && pipeline->other_work(pipeline->context, scratch);
	if (done)
		tw_monitor_wake(&pipeline->pool->monitor);
	return done;
}

static bool try_all(struct fxt_pipeline *pipeline, bool decode_first, struct fxt_scratch *scratch)
{
	if (try_other_work(pipeline, scratch))
		return true;
	return decode_first ? try_decode(pipeline, scratch) || try_read(pipeline)
	                    : try_read(pipeline) || try_decode(pipeline, scratch);
}

/* What a thread of the pool does. */
static bool serve(void *context, struct fxt_scratch *scratch)
{
	struct fxt_pipeline *pipeline = context;
	return try_all(pipeline, pipeline->read - pipeline->walked >= 2, scratch);
}

/* What the caller's thread does while it waits: something for this archive, or for another one of the pool. */
static void help(struct fxt_pipeline *pipeline, bool decode_first)
{
	struct fxt_pool *pool = pipeline->pool;
	if (!try_all(pipeline, decode_first, &pool->scratch) && !fxt_pool_work(pool, &pool->scratch))
		tw_monitor_wait(&pool->monitor);
}

/* ---- Walking. ---- */

static bool all_decoded(const struct fxt_pipeline *pipeline)
{
	for (uint64_t i = pipeline->given; i < pipeline->walked; i++)
		if (pipeline->line[i % LINE].stage != DECODED)
			return false;
	return true;
}

/* Decoded chunks may have left rows to be made later: they are made now. */
static void finish_waiting(struct fxt_pipeline *pipeline)
{
	struct fxt_chunk *line[LINE];
	size_t count = 0;
	for (uint64_t i = pipeline->given; i < pipeline->walked; i++)
		line[count++] = pipeline->line[i % LINE].chunk;
	if (pipeline->finish)
		pipeline->finish(pipeline->context, line, count);
}

/* Decodes everything up to where the walk is, before it forgets tables. */
static void pass_barrier(struct fxt_pipeline *pipeline, struct fxt_chunk *chunk)
{
	tw_monitor_enter(&pipeline->pool->monitor);
	while (!all_decoded(pipeline))
		help(pipeline, true);
	finish_waiting(pipeline);
	tw_monitor_leave(&pipeline->pool->monitor);
	chunk->merge.wait = FXT_EAGER;
	decode_pieces(pipeline, chunk, &pipeline->pool->scratch);
	pipeline->state.oldest = fxt_offset(chunk, chunk->walk.place);
}

/* Walks a chunk, without the lock: until it is walked no other thread touches it. Returns 0 or a negative status. */
static int walk_chunk(struct fxt_pipeline *pipeline, struct fxt_chunk *chunk)
{
	const struct fxt_chunk *first = pipeline->line[pipeline->given % LINE].chunk;
	if (pipeline->walked > 0 && !fxt_chunk_carry(chunk, pipeline->line[(pipeline->walked - 1) % LINE].chunk))
		return TW_ERR_MEMORY;
	if (pipeline->walked == 0)
		fxt_walk_begin(&pipeline->walk, chunk);
	pipeline->state.oldest = fxt_offset(first, first->begin);
	if (pipeline->held_from < pipeline->state.oldest)
		pipeline->state.oldest = pipeline->held_from;
	chunk->decoder.context = fxt_context_of(&pipeline->state);
	chunk->decoder.strings = pipeline->state.strings;
	while (fxt_walk(&pipeline->walk, chunk) == FXT_BARRIER)
		pass_barrier(pipeline, chunk);
	chunk->walk.first_frequency = pipeline->state.first_frequency;
	return pipeline->state.failed || chunk->failed ? TW_ERR_MEMORY : 0;
}

/* Whether the walking thread may decode the chunk that it has just walked, while that is in a near cache: no other
 * chunk waits to be walked. */
static bool has_time(const struct fxt_pipeline *pipeline)
{
	return pipeline->pool->thread_count == 0 || pipeline->read - pipeline->walked < 2;
}

static void walk_next(struct fxt_pipeline *pipeline)
{
	struct slot *slot = &pipeline->line[pipeline->walked % LINE];
	tw_monitor_leave(&pipeline->pool->monitor);
	int status = walk_chunk(pipeline, slot->chunk);
	tw_monitor_enter(&pipeline->pool->monitor);
	pipeline->status = status < 0 ? status : pipeline->status;
	slot->stage = WALKED;
	bool at_once = has_time(pipeline);
	pipeline->walked++;
	if (pipeline->reader->help.on_work)
		pipeline->reader->help.on_work(pipeline->reader->help.context);
	tw_monitor_wake(&pipeline->pool->monitor);
	if (at_once)
		decode(pipeline, slot, &pipeline->pool->scratch);
}

/* Walks as many chunks ahead as `distance` says, unless there is no memory. */
static void fill_distance(struct fxt_pipeline *pipeline)
{
	while (pipeline->status != TW_ERR_MEMORY && pipeline->walked - pipeline->given < pipeline->distance.walks &&
	       !(pipeline->at_end && pipeline->walked == pipeline->read))
		if (pipeline->walked < pipeline->read && pipeline->line[pipeline->walked % LINE].stage == READ)
			walk_next(pipeline);
		else
			help(pipeline, false);
}

int fxt_pipeline_next(struct fxt_pipeline *pipeline, struct fxt_chunk **chunk)
{
	int status = 0;
	tw_monitor_enter(&pipeline->pool->monitor);
	if (pipeline->state.failed) /* since the caller has used it */
		pipeline->status = TW_ERR_MEMORY;
	fill_distance(pipeline);
	if (pipeline->status != TW_ERR_MEMORY && pipeline->given < pipeline->walked) {
		struct slot *slot = &pipeline->line[pipeline->given % LINE];
		while (slot->stage != DECODED)
			help(pipeline, true);
		*chunk = slot->chunk;
		pipeline->given++;
		status = 1;
	}
	if (pipeline->status < 0 && status == 0)
		status = pipeline->status;
	tw_monitor_wake(&pipeline->pool->monitor);
	tw_monitor_leave(&pipeline->pool->monitor);
	return status;
}

/* ---- The whole. ---- */

void fxt_pipeline_give(struct fxt_pipeline *pipeline, struct fxt_chunk *chunk)
{
	tw_monitor_enter(&pipeline->pool->monitor);
	fxt_pipeline_put(pipeline, chunk);
	tw_monitor_leave(&pipeline->pool->monitor);
}

void fxt_pipeline_put(struct fxt_pipeline *pipeline, struct fxt_chunk *chunk)
{
	pipeline->spare[pipeline->spare_count++] = chunk;
}

void fxt_pipeline_put_bytes(struct fxt_pipeline *pipeline, struct fxt_chunk *chunk)
{
	if (pipeline->spare_bytes_count < pipeline->distance.lines) {
		pipeline->spare_bytes[pipeline->spare_bytes_count].bytes = chunk->bytes;
		pipeline->spare_bytes[pipeline->spare_bytes_count++].room = chunk->room;
	} else {
		free(chunk->bytes);
	}
	chunk->bytes = NULL;
	chunk->room = 0;
}

void fxt_pipeline_lend_bytes(struct fxt_pipeline *pipeline, struct fxt_chunk *chunk)
{
	if (chunk->bytes || !pipeline->spare_bytes_count)
		return;
	pipeline->spare_bytes_count--;
	chunk->bytes = pipeline->spare_bytes[pipeline->spare_bytes_count].bytes;
	chunk->room = pipeline->spare_bytes[pipeline->spare_bytes_count].room;
}

void fxt_pipeline_lock(struct fxt_pipeline *pipeline)
{
	tw_monitor_enter(&pipeline->pool->monitor);
}

void fxt_pipeline_unlock(struct fxt_pipeline *pipeline)
{
	tw_monitor_wake(&pipeline->pool->monitor);
	tw_monitor_leave(&pipeline->pool->monitor);
}

void fxt_pipeline_add_work(struct fxt_pipeline *pipeline, fxt_other_work_fn *other_work, void *context)
{
	pipeline->other_work = other_work;
	pipeline->context = context;
}

void fxt_pipeline_help(struct fxt_pipeline *pipeline)
{
	help(pipeline, true);
}

bool fxt_pipeline_lend_hand(struct fxt_pipeline *pipeline, bool guest)
{
	tw_monitor_enter(&pipeline->pool->monitor);
	if (guest && !pipeline->guest)
		pipeline->guest = calloc(1, sizeof *pipeline->guest);
	struct fxt_scratch *scratch = guest ? pipeline->guest : &pipeline->pool->scratch;
	bool done = scratch && try_decode(pipeline, scratch);
	tw_monitor_leave(&pipeline->pool->monitor);
	return done;
}

void fxt_pipeline_keep_tables(struct fxt_pipeline *pipeline, uint64_t offset)
{
	pipeline->held_from = offset;
}

void fxt_pipeline_before_forgetting(struct fxt_pipeline *pipeline,
                                    void (*finish)(void *context, struct fxt_chunk *const *line, size_t count))
{
	pipeline->finish = finish;
}

struct fxt_scratch *fxt_pipeline_scratch(struct fxt_pipeline *pipeline)
{
	return &pipeline->pool->scratch;
}

struct fxt_state *fxt_pipeline_state(struct fxt_pipeline *pipeline)
{
	return &pipeline->state;
}

static struct distance distance_for(const struct tw_reader *reader)
{
	if (reader->request.merged > 1)
		return reader->request.merged > FXT_FEW ? many : merged;
	return usual;
}

int fxt_pipeline_new(struct fxt_pipeline **made, struct tw_reader *reader, const struct fxt_work *work,
                     const struct fxt_wish *wish, struct fxt_pool *pool, unsigned jobs)
{
	struct fxt_pipeline *pipeline = calloc(1, sizeof *pipeline);
	*made = pipeline;
	if (!pipeline)
		return TW_ERR_MEMORY;
	pipeline->reader = reader;
	pipeline->work = work;
	pipeline->wish = *wish;
	pipeline->held_from = UINT64_MAX;
	pipeline->distance = distance_for(reader);
	pipeline->walk = (struct fxt_walk){.state = &pipeline->state,
	                                   .check = wish->check,
	                                   .options = wish->options,
	                                   .lost_from = UINT64_MAX};
	size_t share = reader->request.merged > 1 ? MERGED_SHARE : STATE_SHARE;
	if (!fxt_state_init(&pipeline->state, reader->dictionary, &reader->options, tw_memory_limit(reader) / share))
		return TW_ERR_MEMORY;
	pipeline->pool = pool ? fxt_pool_share(pool) : fxt_pool_new(jobs);
	pipeline->client = (struct fxt_client){.work = serve, .context = pipeline};
	return pipeline->pool && fxt_pool_add_client(pipeline->pool, &pipeline->client) ? 0 : TW_ERR_MEMORY;
}

void fxt_pipeline_free(struct fxt_pipeline *pipeline)
{
	if (!pipeline)
		return;
	if (pipeline->pool)
		fxt_pool_remove_client(pipeline->pool, &pipeline->client);
	for (uint64_t i = pipeline->given; i < pipeline->read; i++)
		fxt_chunk_free(pipeline->line[i % LINE].chunk);
	for (size_t i = 0; i < pipeline->spare_count; i++)
		fxt_chunk_free(pipeline->spare[i]);
	for (size_t i = 0; i < pipeline->spare_bytes_count; i++)
		free(pipeline->spare_bytes[i].bytes);
	fxt_scratch_free(pipeline->guest);
	free(pipeline->guest);
	fxt_state_free(&pipeline->state);
	fxt_pool_release(pipeline->pool);
	free(pipeline);
}
