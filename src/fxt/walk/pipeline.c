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

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
	THREADS_MOST = 64,
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
	struct fxt_work work;
	struct fxt_wish wish;
	struct fxt_state state;
	struct fxt_walk walk;
	struct distance distance;
	struct slot line[LINE];       /* chunk number n is line[n % LINE] */
	uint64_t given, walked, read; /* how many chunks have come so far: given <= walked <= read */
	struct {
		uint64_t position; /* bytes read */
		bool busy, at_end;
		int status;
	} input;
	struct {
		struct fxt_chunk *chunks[LINE + TW_ORDER_SLABS];
		size_t count;
		struct {
			uint8_t *bytes;
			size_t room;
		} bytes[LINE];
		size_t bytes_count;
	} spare;
	struct fxt_scratch *guest;  /* fxt_pipeline_lend_hand(); NULL before the first */
	uint64_t held_from;         /* fxt_pipeline_keep_tables() */
	struct tw_monitor monitor;  /* there is work, or some has been done */
	struct fxt_scratch scratch; /* of the caller's thread */
	struct {
		pthread_t threads[THREADS_MOST];
		unsigned count;
		bool stop;
	} pool;
};

/* ---- How much is read at a time, and how much waits to be put in order. ---- */

/* Fuchsia's trace manager gives a provider a buffer of 4 MB, and what is in it may come late by as much. */
enum { REORDER_WINDOW = 4 << 20 };

/* Where several archives are read at once to be merged, their windows have a part of the memory limit. */
enum { WINDOW_SHARE = 8, WINDOW_LEAST = 1 << 15 };

uint64_t fxt_reorder_window(const struct tw_reader *reader)
{
	uint64_t most = tw_memory_limit(reader) / (WINDOW_SHARE);
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

/* Gives a chunk that has no room for bytes some that was taken back, if there is any. */
static void lend_bytes(struct fxt_pipeline *pipeline, struct fxt_chunk *chunk)
{
	if (chunk->bytes || !pipeline->spare.bytes_count)
		return;
	pipeline->spare.bytes_count--;
	chunk->bytes = pipeline->spare.bytes[pipeline->spare.bytes_count].bytes;
	chunk->room = pipeline->spare.bytes[pipeline->spare.bytes_count].room;
}

/* A chunk with room for bytes; NULL when there is no memory. */
static struct fxt_chunk *new_chunk(struct fxt_pipeline *pipeline)
{
	struct fxt_chunk *chunk = pipeline->spare.count ? pipeline->spare.chunks[--pipeline->spare.count]
	                                                : fxt_chunk_new(fxt_chunk_size(pipeline->reader));
	if (!chunk)
		return NULL;
	lend_bytes(pipeline, chunk);
	if (fxt_chunk_make_room(chunk))
		return chunk;
	fxt_pipeline_put(pipeline, chunk);
	return NULL;
}

/* ---- Work: all of these are called with the lock, and let it go meanwhile. ---- */

static bool try_read(struct fxt_pipeline *pipeline)
{
	if (pipeline->input.busy || pipeline->input.at_end ||
	    pipeline->read - pipeline->given >= pipeline->distance.lines)
		return false;
	struct fxt_chunk *chunk = new_chunk(pipeline);
	if (!chunk) {
		pipeline->input.status = TW_ERR_MEMORY;
		pipeline->input.at_end = true;
		return true;
	}
	pipeline->input.busy = true;
	tw_monitor_leave(&pipeline->monitor);
	int status = fxt_chunk_read(chunk, pipeline->reader, &pipeline->input.position);
	tw_monitor_enter(&pipeline->monitor);
	pipeline->input.status = status < 0 ? status : pipeline->input.status;
	pipeline->input.busy = false;
	pipeline->input.at_end = chunk->at_end;
	pipeline->line[pipeline->read++ % LINE] = (struct slot){.chunk = chunk, .stage = READ};
	tw_monitor_wake(&pipeline->monitor);
	return true;
}

/* Nothing is decoded of a chunk for which there was no memory: it may refer to providers that are no more. */
static void decode_pieces(struct fxt_pipeline *pipeline, struct fxt_chunk *chunk, struct fxt_scratch *scratch)
{
	if (chunk->failed)
		return;
	fxt_lend_name_caches(chunk, scratch->name_caches, FXT_NAME_CACHES);
	pipeline->work.decode(chunk, &pipeline->wish, scratch);
}

static void decode(struct fxt_pipeline *pipeline, struct slot *slot, struct fxt_scratch *scratch)
{
	slot->claimed = true;
	tw_monitor_leave(&pipeline->monitor);
	decode_pieces(pipeline, slot->chunk, scratch);
	if (pipeline->work.decoded)
		pipeline->work.decoded(slot->chunk, &pipeline->wish, scratch);
	tw_monitor_enter(&pipeline->monitor);
	slot->stage = DECODED;
	tw_monitor_wake(&pipeline->monitor);
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

static bool try_all(struct fxt_pipeline *pipeline, bool decode_first, struct fxt_scratch *scratch)
{
	if (pipeline->work.other && pipeline->work.other(pipeline->work.context)) {
		tw_monitor_wake(&pipeline->monitor);
		return true;
	}
	return decode_first ? try_decode(pipeline, scratch) || try_read(pipeline)
	                    : try_read(pipeline) || try_decode(pipeline, scratch);
}

/* What the caller's thread does while it waits. */
static void help(struct fxt_pipeline *pipeline, bool decode_first)
{
	if (!try_all(pipeline, decode_first, &pipeline->scratch))
		tw_monitor_wait(&pipeline->monitor);
}

/* ---- The threads. Where archives are merged each has its own, and they share the processors. ---- */

static void *run_thread(void *context)
{
	struct fxt_pipeline *pipeline = context;
	struct fxt_scratch *scratch = calloc(1, sizeof *scratch); /* larger than some threads' stacks */
	tw_monitor_enter(&pipeline->monitor);
	while (scratch && !pipeline->pool.stop)
		if (!try_all(pipeline, pipeline->read - pipeline->walked >= 2, scratch))
			tw_monitor_wait(&pipeline->monitor);
	tw_monitor_leave(&pipeline->monitor);
	fxt_scratch_free(scratch);
	free(scratch);
	return NULL;
}

static void start_threads(struct fxt_pipeline *pipeline, unsigned jobs)
{
	const unsigned archives = pipeline->reader->request.merged;
	unsigned wanted = (jobs - 1) / (archives > 1 ? archives : 1);
	wanted = wanted < THREADS_MOST ? wanted : THREADS_MOST;
	while (pipeline->pool.count < wanted &&
	       pthread_create(&pipeline->pool.threads[pipeline->pool.count], NULL, run_thread, pipeline) == 0)
		pipeline->pool.count++;
}

static void stop_threads(struct fxt_pipeline *pipeline)
{
	tw_monitor_enter(&pipeline->monitor);
	pipeline->pool.stop = true;
	tw_monitor_wake(&pipeline->monitor);
	tw_monitor_leave(&pipeline->monitor);
	for (unsigned i = 0; i < pipeline->pool.count; i++)
		pthread_join(pipeline->pool.threads[i], NULL);
}

/* ---- Walking. ---- */

static bool all_decoded(const struct fxt_pipeline *pipeline)
{
	for (uint64_t i = pipeline->given; i < pipeline->walked; i++)
		if (pipeline->line[i % LINE].stage != DECODED)
			return false;
	return true;
}

/* Rows that were to be made later are made now. */
static void finish_waiting(struct fxt_pipeline *pipeline)
{
	struct fxt_chunk *line[LINE];
	size_t count = 0;
	for (uint64_t i = pipeline->given; i < pipeline->walked; i++)
		line[count++] = pipeline->line[i % LINE].chunk;
	if (pipeline->work.finish)
		pipeline->work.finish(pipeline->work.context, line, count);
}

/* Decodes everything up to where the walk is, before it forgets tables. */
static void pass_barrier(struct fxt_pipeline *pipeline, struct fxt_chunk *chunk)
{
	tw_monitor_enter(&pipeline->monitor);
	while (!all_decoded(pipeline))
		help(pipeline, true);
	tw_monitor_leave(&pipeline->monitor);
	finish_waiting(pipeline);
	chunk->wait.eager = true;
	decode_pieces(pipeline, chunk, &pipeline->scratch);
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
	return pipeline->pool.count == 0 || pipeline->read - pipeline->walked < 2;
}

static void walk_next(struct fxt_pipeline *pipeline)
{
	struct slot *slot = &pipeline->line[pipeline->walked % LINE];
	tw_monitor_leave(&pipeline->monitor);
	int status = walk_chunk(pipeline, slot->chunk);
	tw_monitor_enter(&pipeline->monitor);
	pipeline->input.status = status < 0 ? status : pipeline->input.status;
	slot->stage = WALKED;
	bool at_once = has_time(pipeline);
	pipeline->walked++;
	if (pipeline->reader->help.on_work)
		pipeline->reader->help.on_work(pipeline->reader->help.context);
	tw_monitor_wake(&pipeline->monitor);
	if (at_once)
		decode(pipeline, slot, &pipeline->scratch);
}

/* Walks as many chunks ahead as `distance` says, unless there is no memory. */
static void fill_distance(struct fxt_pipeline *pipeline)
{
	while (pipeline->input.status != TW_ERR_MEMORY &&
	       pipeline->walked - pipeline->given < pipeline->distance.walks &&
	       !(pipeline->input.at_end && pipeline->walked == pipeline->read))
		if (pipeline->walked < pipeline->read && pipeline->line[pipeline->walked % LINE].stage == READ)
			walk_next(pipeline);
		else
			help(pipeline, false);
}

int fxt_pipeline_next(struct fxt_pipeline *pipeline, struct fxt_chunk **chunk)
{
	int status = 0;
	tw_monitor_enter(&pipeline->monitor);
	if (pipeline->state.failed) /* since the caller has used it */
		pipeline->input.status = TW_ERR_MEMORY;
	fill_distance(pipeline);
	if (pipeline->input.status != TW_ERR_MEMORY && pipeline->given < pipeline->walked) {
		struct slot *slot = &pipeline->line[pipeline->given % LINE];
		while (slot->stage != DECODED)
			help(pipeline, true);
		*chunk = slot->chunk;
		pipeline->given++;
		status = 1;
	}
	if (pipeline->input.status < 0 && status == 0)
		status = pipeline->input.status;
	tw_monitor_wake(&pipeline->monitor);
	tw_monitor_leave(&pipeline->monitor);
	return status;
}

/* ---- The whole. ---- */

void fxt_pipeline_give(struct fxt_pipeline *pipeline, struct fxt_chunk *chunk)
{
	tw_monitor_enter(&pipeline->monitor);
	fxt_pipeline_put(pipeline, chunk);
	tw_monitor_leave(&pipeline->monitor);
}

void fxt_pipeline_put(struct fxt_pipeline *pipeline, struct fxt_chunk *chunk)
{
	pipeline->spare.chunks[pipeline->spare.count++] = chunk;
}

void fxt_pipeline_put_bytes(struct fxt_pipeline *pipeline, struct fxt_chunk *chunk)
{
	if (pipeline->spare.bytes_count < pipeline->distance.lines) {
		pipeline->spare.bytes[pipeline->spare.bytes_count].bytes = chunk->bytes;
		pipeline->spare.bytes[pipeline->spare.bytes_count++].room = chunk->room;
	} else {
		free(chunk->bytes);
	}
	chunk->bytes = NULL;
	chunk->room = 0;
}

void fxt_pipeline_give_bytes(struct fxt_pipeline *pipeline, struct fxt_chunk *chunk)
{
	tw_monitor_enter(&pipeline->monitor);
	fxt_pipeline_put_bytes(pipeline, chunk);
	tw_monitor_leave(&pipeline->monitor);
}

void fxt_pipeline_take_bytes(struct fxt_pipeline *pipeline, struct fxt_chunk *chunk)
{
	tw_monitor_enter(&pipeline->monitor);
	lend_bytes(pipeline, chunk);
	tw_monitor_leave(&pipeline->monitor);
}

void fxt_pipeline_lock(struct fxt_pipeline *pipeline)
{
	tw_monitor_enter(&pipeline->monitor);
}

void fxt_pipeline_unlock(struct fxt_pipeline *pipeline)
{
	tw_monitor_wake(&pipeline->monitor);
	tw_monitor_leave(&pipeline->monitor);
}

void fxt_pipeline_help(struct fxt_pipeline *pipeline)
{
	help(pipeline, true);
}

bool fxt_pipeline_lend_hand(struct fxt_pipeline *pipeline, bool guest)
{
	tw_monitor_enter(&pipeline->monitor);
	if (guest && !pipeline->guest)
		pipeline->guest = calloc(1, sizeof *pipeline->guest);
	struct fxt_scratch *scratch = guest ? pipeline->guest : &pipeline->scratch;
	bool done = scratch && try_decode(pipeline, scratch);
	tw_monitor_leave(&pipeline->monitor);
	return done;
}

void fxt_pipeline_keep_tables(struct fxt_pipeline *pipeline, uint64_t offset)
{
	pipeline->held_from = offset;
}

struct fxt_scratch *fxt_pipeline_scratch(struct fxt_pipeline *pipeline)
{
	return &pipeline->scratch;
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
                     const struct fxt_wish *wish, unsigned jobs)
{
	struct fxt_pipeline *pipeline = calloc(1, sizeof *pipeline);
	*made = pipeline;
	if (!pipeline)
		return TW_ERR_MEMORY;
	tw_monitor_init(&pipeline->monitor);
	pipeline->reader = reader;
	pipeline->work = *work;
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
	start_threads(pipeline, jobs ? jobs : tw_processors());
	return 0;
}

void fxt_pipeline_free(struct fxt_pipeline *pipeline)
{
	if (!pipeline)
		return;
	stop_threads(pipeline);
	for (uint64_t i = pipeline->given; i < pipeline->read; i++)
		fxt_chunk_free(pipeline->line[i % LINE].chunk);
	for (size_t i = 0; i < pipeline->spare.count; i++)
		fxt_chunk_free(pipeline->spare.chunks[i]);
	for (size_t i = 0; i < pipeline->spare.bytes_count; i++)
		free(pipeline->spare.bytes[i].bytes);
	fxt_scratch_free(pipeline->guest);
	free(pipeline->guest);
	fxt_state_free(&pipeline->state);
	fxt_scratch_free(&pipeline->scratch);
	tw_monitor_destroy(&pipeline->monitor);
	free(pipeline);
}
