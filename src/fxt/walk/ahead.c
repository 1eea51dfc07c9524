/* ahead.c - reads the chunks of an archive, and decodes them ahead with other threads.
 *
 * A chunk is read, walked and decoded. Reading and walking go in the order of the archive, because a chunk begins with
 * the record that the one before could not finish; decoding goes in any order. Only the caller's thread walks, which
 * changes tables and dictionary; it is always the same number of chunks ahead of the one that it gets, so that results
 * do not depend on the number of threads. A thread that has nothing else to do reads the next chunk or decodes the
 * oldest. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/walk/ahead.h"

#include "base/bytes/bytes.h"
#include "base/memory/memory.h"
#include "fxt/fxt.h"
#include "fxt/walk/walk.h"

#include <stdlib.h>

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

struct fxt_ahead {
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
	struct fxt_scratch *guest; /* fxt_ahead_lend_hand(); NULL before the first */
	fxt_more_fn *more;         /* fxt_ahead_more(), or NULL */
	void (*finish)(void *context, struct fxt_chunk *const *line, size_t count); /* before tables go, or NULL */
	void *context;
	uint64_t held_from; /* fxt_ahead_hold() */
	struct fxt_crew *crew;
	struct fxt_client client;
};

/* ---- Chunks. ---- */

/* A chunk with room for bytes; NULL when there is no memory. */
static struct fxt_chunk *new_chunk(struct fxt_ahead *ahead)
{
	struct fxt_chunk *chunk =
	    ahead->spare_count ? ahead->spare[--ahead->spare_count] : fxt_chunk_new(fxt_chunk_size(ahead->reader));
	if (!chunk)
		return NULL;
	fxt_ahead_lend_bytes(ahead, chunk);
	if (fxt_chunk_make_room(chunk))
		return chunk;
	fxt_ahead_put(ahead, chunk);
	return NULL;
}

/* ---- Work: all of these are called with the lock, and let it go meanwhile. ---- */

static bool try_read(struct fxt_ahead *ahead)
{
	if (ahead->reading || ahead->at_end || ahead->read - ahead->given >= ahead->distance.lines)
		return false;
	struct fxt_chunk *chunk = new_chunk(ahead);
	if (!chunk) {
		ahead->status = TW_ERR_MEMORY;
		ahead->at_end = true;
		return true;
	}
	ahead->reading = true;
	tw_monitor_leave(&ahead->crew->monitor);
	int status = fxt_chunk_read(chunk, ahead->reader, &ahead->position);
	tw_monitor_enter(&ahead->crew->monitor);
	ahead->status = status < 0 ? status : ahead->status;
	ahead->reading = false;
	ahead->at_end = chunk->at_end;
	ahead->line[ahead->read++ % LINE] = (struct slot){.chunk = chunk, .stage = READ};
	tw_monitor_wake(&ahead->crew->monitor);
	return true;
}

/* Nothing is decoded of a chunk for which there was no memory: it may refer to providers that are no more. */
static void decode_pieces(struct fxt_ahead *ahead, struct fxt_chunk *chunk, struct fxt_scratch *scratch)
{
	if (chunk->failed)
		return;
	fxt_lend_memos(chunk, scratch->memos, FXT_MEMOS);
	ahead->work->decode(chunk, &ahead->wish, scratch);
}

static void decode(struct fxt_ahead *ahead, struct slot *slot, struct fxt_scratch *scratch)
{
	slot->claimed = true;
	tw_monitor_leave(&ahead->crew->monitor);
	decode_pieces(ahead, slot->chunk, scratch);
	ahead->work->decoded(slot->chunk, &ahead->wish, scratch);
	tw_monitor_enter(&ahead->crew->monitor);
	slot->stage = DECODED;
	tw_monitor_wake(&ahead->crew->monitor);
}

static bool try_decode(struct fxt_ahead *ahead, struct fxt_scratch *scratch)
{
	for (uint64_t i = ahead->given; i < ahead->walked; i++) {
		struct slot *slot = &ahead->line[i % LINE];
		if (slot->claimed || slot->stage != WALKED)
			continue;
		decode(ahead, slot, scratch);
		return true;
	}
	return false;
}

static bool try_more(struct fxt_ahead *ahead, struct fxt_scratch *scratch)
{
	bool done = ahead->more && ahead->more(ahead->context, scratch);
	if (done)
		tw_monitor_wake(&ahead->crew->monitor);
	return done;
}

static bool try_all(struct fxt_ahead *ahead, bool decode_first, struct fxt_scratch *scratch)
{
	if (try_more(ahead, scratch))
		return true;
	return decode_first ? try_decode(ahead, scratch) || try_read(ahead)
	                    : try_read(ahead) || try_decode(ahead, scratch);
}

/* What a thread of the crew does. */
static bool serve(void *context, struct fxt_scratch *scratch)
{
	struct fxt_ahead *ahead = context;
	return try_all(ahead, ahead->read - ahead->walked >= 2, scratch);
}

/* What the caller's thread does while it waits: something for this archive, or for another one of the crew. */
static void help(struct fxt_ahead *ahead, bool decode_first)
{
	struct fxt_crew *crew = ahead->crew;
	if (!try_all(ahead, decode_first, &crew->scratch) && !fxt_crew_work(crew, &crew->scratch))
		tw_monitor_wait(&crew->monitor);
}

/* ---- Walking. ---- */

static bool all_decoded(const struct fxt_ahead *ahead)
{
	for (uint64_t i = ahead->given; i < ahead->walked; i++)
		if (ahead->line[i % LINE].stage != DECODED)
			return false;
	return true;
}

/* Decoded chunks may have left rows to be made later: they are made now. */
static void finish_waiting(struct fxt_ahead *ahead)
{
	struct fxt_chunk *line[LINE];
	size_t count = 0;
	for (uint64_t i = ahead->given; i < ahead->walked; i++)
		line[count++] = ahead->line[i % LINE].chunk;
	if (ahead->finish)
		ahead->finish(ahead->context, line, count);
}

/* Decodes everything up to where the walk is, before it forgets tables. */
static void pass_barrier(struct fxt_ahead *ahead, struct fxt_chunk *chunk)
{
	tw_monitor_enter(&ahead->crew->monitor);
	while (!all_decoded(ahead))
		help(ahead, true);
	finish_waiting(ahead);
	tw_monitor_leave(&ahead->crew->monitor);
	chunk->wait = FXT_EAGER;
	decode_pieces(ahead, chunk, &ahead->crew->scratch);
	ahead->state.oldest = fxt_offset(chunk, chunk->walked);
}

/* Walks a chunk, without the lock: until it is walked no other thread touches it. Returns 0 or a negative status. */
static int walk_chunk(struct fxt_ahead *ahead, struct fxt_chunk *chunk)
{
	const struct fxt_chunk *first = ahead->line[ahead->given % LINE].chunk;
	if (ahead->walked > 0 && !fxt_chunk_carry(chunk, ahead->line[(ahead->walked - 1) % LINE].chunk))
		return TW_ERR_MEMORY;
	if (ahead->walked == 0)
		fxt_walk_begin(&ahead->walk, chunk);
	ahead->state.oldest = fxt_offset(first, first->begin);
	if (ahead->held_from < ahead->state.oldest)
		ahead->state.oldest = ahead->held_from;
	chunk->turn = fxt_turn_of(&ahead->state);
	chunk->strings = ahead->state.strings;
	while (fxt_walk(&ahead->walk, chunk) == FXT_BARRIER)
		pass_barrier(ahead, chunk);
	chunk->first_frequency = ahead->state.first_frequency;
	return ahead->state.failed || chunk->failed ? TW_ERR_MEMORY : 0;
}

/* Whether the walking thread may decode the chunk that it has just walked, while that is in a near cache: no other
 * chunk waits to be walked. */
static bool has_time(const struct fxt_ahead *ahead)
{
	return ahead->crew->thread_count == 0 || ahead->read - ahead->walked < 2;
}

static void walk_next(struct fxt_ahead *ahead)
{
	struct slot *slot = &ahead->line[ahead->walked % LINE];
	tw_monitor_leave(&ahead->crew->monitor);
	int status = walk_chunk(ahead, slot->chunk);
	tw_monitor_enter(&ahead->crew->monitor);
	ahead->status = status < 0 ? status : ahead->status;
	slot->stage = WALKED;
	bool at_once = has_time(ahead);
	ahead->walked++;
	if (ahead->reader->help.on_work)
		ahead->reader->help.on_work(ahead->reader->help.context);
	tw_monitor_wake(&ahead->crew->monitor);
	if (at_once)
		decode(ahead, slot, &ahead->crew->scratch);
}

/* Walks as many chunks ahead as `distance` says, unless there is no memory. */
static void walk_ahead(struct fxt_ahead *ahead)
{
	while (ahead->status != TW_ERR_MEMORY && ahead->walked - ahead->given < ahead->distance.walks &&
	       !(ahead->at_end && ahead->walked == ahead->read))
		if (ahead->walked < ahead->read && ahead->line[ahead->walked % LINE].stage == READ)
			walk_next(ahead);
		else
			help(ahead, false);
}

int fxt_ahead_next(struct fxt_ahead *ahead, struct fxt_chunk **chunk)
{
	int status = 0;
	tw_monitor_enter(&ahead->crew->monitor);
	if (ahead->state.failed) /* since the caller has used it */
		ahead->status = TW_ERR_MEMORY;
	walk_ahead(ahead);
	if (ahead->status != TW_ERR_MEMORY && ahead->given < ahead->walked) {
		struct slot *slot = &ahead->line[ahead->given % LINE];
		while (slot->stage != DECODED)
			help(ahead, true);
		*chunk = slot->chunk;
		ahead->given++;
		status = 1;
	}
	if (ahead->status < 0 && status == 0)
		status = ahead->status;
	tw_monitor_wake(&ahead->crew->monitor);
	tw_monitor_leave(&ahead->crew->monitor);
	return status;
}

/* ---- The whole. ---- */

void fxt_ahead_give(struct fxt_ahead *ahead, struct fxt_chunk *chunk)
{
	tw_monitor_enter(&ahead->crew->monitor);
	fxt_ahead_put(ahead, chunk);
	tw_monitor_leave(&ahead->crew->monitor);
}

void fxt_ahead_put(struct fxt_ahead *ahead, struct fxt_chunk *chunk)
{
	ahead->spare[ahead->spare_count++] = chunk;
}

void fxt_ahead_put_bytes(struct fxt_ahead *ahead, struct fxt_chunk *chunk)
{
	if (ahead->spare_bytes_count < ahead->distance.lines) {
		ahead->spare_bytes[ahead->spare_bytes_count].bytes = chunk->bytes;
		ahead->spare_bytes[ahead->spare_bytes_count++].room = chunk->room;
	} else {
		free(chunk->bytes);
	}
	chunk->bytes = NULL;
	chunk->room = 0;
}

void fxt_ahead_lend_bytes(struct fxt_ahead *ahead, struct fxt_chunk *chunk)
{
	if (chunk->bytes || !ahead->spare_bytes_count)
		return;
	ahead->spare_bytes_count--;
	chunk->bytes = ahead->spare_bytes[ahead->spare_bytes_count].bytes;
	chunk->room = ahead->spare_bytes[ahead->spare_bytes_count].room;
}

void fxt_ahead_lock(struct fxt_ahead *ahead)
{
	tw_monitor_enter(&ahead->crew->monitor);
}

void fxt_ahead_unlock(struct fxt_ahead *ahead)
{
	tw_monitor_wake(&ahead->crew->monitor);
	tw_monitor_leave(&ahead->crew->monitor);
}

void fxt_ahead_more(struct fxt_ahead *ahead, fxt_more_fn *more, void *context)
{
	ahead->more = more;
	ahead->context = context;
}

void fxt_ahead_help(struct fxt_ahead *ahead)
{
	help(ahead, true);
}

bool fxt_ahead_lend_hand(struct fxt_ahead *ahead, bool guest)
{
	tw_monitor_enter(&ahead->crew->monitor);
	if (guest && !ahead->guest)
		ahead->guest = calloc(1, sizeof *ahead->guest);
	struct fxt_scratch *scratch = guest ? ahead->guest : &ahead->crew->scratch;
	bool done = scratch && try_decode(ahead, scratch);
	tw_monitor_leave(&ahead->crew->monitor);
	return done;
}

void fxt_ahead_hold(struct fxt_ahead *ahead, uint64_t offset)
{
	ahead->held_from = offset;
}

void fxt_ahead_before_forgetting(struct fxt_ahead *ahead,
                                 void (*finish)(void *context, struct fxt_chunk *const *line, size_t count))
{
	ahead->finish = finish;
}

struct fxt_scratch *fxt_ahead_scratch(struct fxt_ahead *ahead)
{
	return &ahead->crew->scratch;
}

struct fxt_state *fxt_ahead_state(struct fxt_ahead *ahead)
{
	return &ahead->state;
}

static struct distance distance_for(const struct tw_reader *reader)
{
	if (reader->request.merged > 1)
		return reader->request.merged > FXT_FEW ? many : merged;
	return usual;
}

int fxt_ahead_new(struct fxt_ahead **made, struct tw_reader *reader, const struct fxt_work *work,
                  const struct fxt_wish *wish, struct fxt_crew *crew, unsigned jobs)
{
	struct fxt_ahead *ahead = calloc(1, sizeof *ahead);
	*made = ahead;
	if (!ahead)
		return TW_ERR_MEMORY;
	ahead->reader = reader;
	ahead->work = work;
	ahead->wish = *wish;
	ahead->held_from = UINT64_MAX;
	ahead->distance = distance_for(reader);
	ahead->walk = (struct fxt_walk){.state = &ahead->state,
	                                .check = wish->check,
	                                .options = wish->options,
	                                .lost_from = UINT64_MAX};
	size_t share = reader->request.merged > 1 ? MERGED_SHARE : STATE_SHARE;
	if (!fxt_state_init(&ahead->state, reader->dictionary, &reader->options, tw_memory_limit(reader) / share))
		return TW_ERR_MEMORY;
	ahead->crew = crew ? fxt_crew_hold(crew) : fxt_crew_new(jobs);
	ahead->client = (struct fxt_client){.work = serve, .context = ahead};
	return ahead->crew && fxt_crew_join(ahead->crew, &ahead->client) ? 0 : TW_ERR_MEMORY;
}

void fxt_ahead_free(struct fxt_ahead *ahead)
{
	if (!ahead)
		return;
	if (ahead->crew)
		fxt_crew_leave(ahead->crew, &ahead->client);
	for (uint64_t i = ahead->given; i < ahead->read; i++)
		fxt_chunk_free(ahead->line[i % LINE].chunk);
	for (size_t i = 0; i < ahead->spare_count; i++)
		fxt_chunk_free(ahead->spare[i]);
	for (size_t i = 0; i < ahead->spare_bytes_count; i++)
		free(ahead->spare_bytes[i].bytes);
	fxt_scratch_free(ahead->guest);
	free(ahead->guest);
	fxt_state_free(&ahead->state);
	fxt_crew_release(ahead->crew);
	free(ahead);
}
