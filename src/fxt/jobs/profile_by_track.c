/* profile_by_track.c - divides the calls of an archive by track among parts of a profile, each track in the order of
 * time.
 *
 * The calls of one track do not depend on those of another, so parts can work side by side. Within a chunk, calls are
 * in order by track (track_calls.c). From chunk to chunk only those come late that began before others ended, mostly
 * complete slices. A part holds as many chunks as the reorder window asks for; calls of a new chunk that belong before
 * some that it holds go to a short list, and are woven in when their place comes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "base/memory/order.h"
#include "core/calls/item_order.h"
#include "fxt/fxt.h"
#include "fxt/jobs/calls.h"

#include <stdlib.h>
#include <string.h>

enum {
	PARTS_MAX = 16,
	SPARE_CHUNKS = 4 /* chunks that may be committed before a part needs them */
};

/* A call that belongs before calls of an earlier chunk. */
struct late {
	struct tw_call_item item;
	uint64_t offset; /* of its record */
};

/* A track that was given to a part, and what the part knows of it. */
struct fxt_track_state {
	struct part *part;
	uint64_t newest, given; /* times of the last item that was looked through, and that was given */
	struct late *late;      /* numbers `begin` to `end` - 1, in the order of time */
	size_t begin, end, room;
};

struct part {
	struct tw_call_item *equals; /* calls of one time, while they are given */
	size_t equal_room;
	uint64_t load;                  /* calls given to it */
	uint64_t put, available, taken; /* how many chunks were looked through, may be looked through, were given */
	uint64_t held_bytes;            /* of the chunks from `taken` to `available` */
	bool busy;                      /* a thread works for it */
	bool failed;                    /* no memory */
	uint64_t first, last;           /* times of its first and last item */
	uint64_t late, late_offset, latest_by;
};

struct division {
	struct tw_reader *reader;
	struct fxt_pipeline *pipeline;
	const struct tw_call_taker *taker;
	uint64_t window;
	struct part parts[PARTS_MAX];
	unsigned count;
	struct fxt_chunk *held[TW_ORDER_SLABS]; /* chunk number n is held[n % TW_ORDER_SLABS] */
	uint64_t oldest, committed;             /* chunks held: number of the first, and behind the last */
	bool ended;
	struct fxt_track_state **tracks; /* by number; NULL: it has not been met */
	size_t track_room;
	struct fxt_scratch scratch;
};

static struct fxt_chunk *chunk_at(const struct division *division, uint64_t number)
{
	return division->held[number % TW_ORDER_SLABS];
}

/* ---- Giving a part the calls of a chunk. ---- */

static void give(const struct division *division, struct part *part, const struct tw_call_run *run)
{
	division->taker->take(division->taker->context, (unsigned)(part - division->parts), run);
}

static const struct tw_call_item *items_of(const struct fxt_chunk *chunk, const struct fxt_track_calls *track)
{
	return track->count ? chunk->calls->items + track->from : NULL;
}

/* Gives `count` items of a track. */
static void give_items(const struct division *division, struct part *part, const struct fxt_track_calls *track,
                       const struct tw_call_item *items, size_t count)
{
	struct fxt_track_state *state = track->state;
	const uint64_t newest = items[count - 1].time;
	give(division, part, &(struct tw_call_run){.track = track->number, .items = items, .count = count});
	state->given = newest > state->given ? newest : state->given;
	part->last = state->given > part->last ? state->given : part->last;
}

static void count_late(struct part *part, const struct late *late, uint64_t given)
{
	const uint64_t by = given - late->item.time;
	if (part->late++ == 0 || late->offset < part->late_offset)
		part->late_offset = late->offset;
	part->latest_by = by > part->latest_by ? by : part->latest_by;
}

/* Gives the late calls of the first time that has any, and before them the items of that time. */
static void give_equals(const struct division *division, struct part *part, const struct fxt_track_calls *track,
                        const struct tw_call_item *items, size_t count)
{
	struct fxt_track_state *state = track->state;
	const size_t first = state->begin;
	while (state->begin < state->end && state->late[state->begin].item.time == state->late[first].item.time)
		state->begin++;
	const size_t all = count + state->begin - first;
	if (!tw_grow(&part->equals, &part->equal_room, 3 * all, sizeof *part->equals)) {
		part->failed = true;
		return;
	}
	if (count)
		memcpy(part->equals, items, count * sizeof *items);
	for (size_t i = first; i < state->begin; i++) {
		part->equals[count + i - first] = state->late[i].item;
		if (state->late[i].item.time < state->given)
			count_late(part, &state->late[i], state->given);
	}
	if (all > 1)
		tw_nest_equal_items(part->equals, all, part->equals + all);
	give_items(division, part, track, part->equals, all);
}

/* Gives items of a track, and the late calls that go before them. */
static void give_woven(const struct division *division, struct part *part, const struct fxt_track_calls *track,
                       const struct tw_call_item *items, size_t count)
{
	struct fxt_track_state *state = track->state;
	while (count) {
		const struct tw_call_item *late = state->begin < state->end ? &state->late[state->begin].item : NULL;
		size_t before =
		    late ? tw_count_below(items, count, TW_KEY(struct tw_call_item, time), late->time) : count;
		size_t equals = 0;
		if (before)
			give_items(division, part, track, items, before);
		items += before;
		count -= before;
		while (equals < count && items[equals].time == late->time)
			equals++;
		if (count)
			give_equals(division, part, track, items, equals);
		items += equals;
		count -= equals;
	}
}

static void give_calls_of(const struct division *division, struct part *part, const struct fxt_chunk *chunk,
                          const struct fxt_track_calls *track)
{
	struct fxt_track_state *state = track->state;
	give_woven(division, part, track, items_of(chunk, track), track->count);
	while (state->begin < state->end && state->late[state->begin].item.time <= state->given)
		give_equals(division, part, track, NULL, 0);
	if (track->last)
		give(division, part, &(struct tw_call_run){.track = track->number, .last = track->last});
}

/* ---- Looking through a chunk that is new. ---- */

/* Inserts items into the list of late ones; in the archive they stand behind those. */
static bool keep_late(struct fxt_track_state *state, const struct fxt_chunk *chunk, const struct tw_call_item *items,
                      size_t count)
{
	size_t held = state->end - state->begin;
	if (held)
		memmove(state->late, state->late + state->begin, held * sizeof *state->late);
	if (!tw_grow(&state->late, &state->room, held + count, sizeof *state->late))
		return false;
	state->begin = 0;
	state->end = held + count;
	for (size_t put = state->end; count > 0; put--) {
		const struct tw_call_item *item = &items[count - 1];
		if (held && item->time < state->late[held - 1].item.time)
			state->late[put - 1] = state->late[--held];
		else
			state->late[put - 1] = (struct late){*item, fxt_offset(chunk, tw_item_place(&items[--count]))};
	}
	return true;
}

static bool put_track(struct part *part, const struct fxt_chunk *chunk, struct fxt_track_calls *track)
{
	struct fxt_track_state *state = track->state;
	const struct tw_call_item *items = items_of(chunk, track);
	uint32_t late = 0;
	while (late < track->count && items[late].time <= state->newest)
		late++;
	if (track->count && items[0].time < part->first)
		part->first = items[0].time;
	if (track->count > late)
		state->newest = items[track->count - 1].time;
	track->from += late;
	track->count -= late;
	return late == 0 || keep_late(state, chunk, items, late);
}

/* ---- The work for a part. ---- */

static void put_chunk(struct part *part, const struct fxt_chunk *chunk)
{
	for (size_t i = 0; i < chunk->calls->track_count && !part->failed; i++) {
		struct fxt_track_calls *track = &chunk->calls->tracks[i];
		if (track->state->part == part && !put_track(part, chunk, track))
			part->failed = true;
	}
}

static void give_chunk(const struct division *division, struct part *part, const struct fxt_chunk *chunk)
{
	for (size_t i = 0; i < chunk->calls->track_count && !part->failed; i++)
		if (chunk->calls->tracks[i].state->part == part)
			give_calls_of(division, part, chunk, &chunk->calls->tracks[i]);
}

/* Whether the chunks that a part holds behind its oldest one fill the reorder window. */
static bool has_enough(const struct division *division, const struct part *part)
{
	return part->taken < part->available &&
	       part->held_bytes - fxt_bytes_of(chunk_at(division, part->taken)) >= division->window;
}

static void fill(const struct division *division, struct part *part)
{
	while (!has_enough(division, part) && part->available < division->committed)
		part->held_bytes += fxt_bytes_of(chunk_at(division, part->available++));
}

/* Whether a part can give its oldest chunk: it has enough, or no more will come. */
static bool has_work(const struct division *division, const struct part *part)
{
	bool full = has_enough(division, part) || part->available - part->taken == TW_ORDER_SLABS;
	return part->taken < part->available && (full || division->ended);
}

/* Lets a part be done with its oldest chunk; the last part gives the chunk back. */
static void pass_chunk(struct division *division, struct part *part)
{
	struct fxt_chunk *chunk = chunk_at(division, part->taken++);
	part->held_bytes -= fxt_bytes_of(chunk);
	part->busy = false;
	fill(division, part);
	if (--chunk->calls->unfinished == 0) {
		division->oldest++;
		fxt_pipeline_put(division->pipeline, chunk);
	}
}

/* Does the work for one chunk of a part that has some. False where none has. */
static bool work(void *context)
{
	struct division *division = context;
	struct part *part = division->parts, *end = division->parts + division->count;
	while (part < end && (part->busy || !has_work(division, part)))
		part++;
	if (part == end)
		return false;
	part->busy = true;
	uint64_t available = part->available;
	fxt_pipeline_unlock(division->pipeline);
	for (; part->put < available; part->put++)
		put_chunk(part, chunk_at(division, part->put));
	give_chunk(division, part, chunk_at(division, part->taken));
	fxt_pipeline_lock(division->pipeline);
	pass_chunk(division, part);
	return true;
}

/* ---- Tracks are given to parts, in the order of the archive. ---- */

/* A new track, for the part with the fewest calls; NULL when there is no memory. */
static struct fxt_track_state *new_track(struct division *division)
{
	struct fxt_track_state *track = calloc(1, sizeof *track);
	struct part *least = division->parts;
	for (unsigned i = 1; i < division->count; i++)
		if (division->parts[i].load < least->load)
			least = &division->parts[i];
	if (track)
		track->part = least;
	return track;
}

static bool divide_track(struct division *division, struct fxt_track_calls *track)
{
	if (!tw_grow(&division->tracks, &division->track_room, (size_t)track->number + 1, sizeof *division->tracks))
		return false;
	struct fxt_track_state **known = &division->tracks[track->number];
	track->state = *known = *known ? *known : new_track(division);
	if (track->state)
		track->state->part->load += track->count;
	return track->state;
}

/* Commits a chunk and divides its tracks. False when there is no memory for all of it. */
static bool divide_chunk(struct division *division, struct fxt_chunk *chunk)
{
	struct fxt_reader *fxt = division->reader->state;
	if (chunk->failed || chunk->rows.slab.failed)
		return false;
	fxt_commit(&fxt->commit, chunk);
	fxt_calls_commit(chunk, fxt->commit.state, &division->scratch);
	for (size_t i = 0; i < chunk->calls->track_count; i++)
		chunk->failed |= !divide_track(division, &chunk->calls->tracks[i]);
	chunk->calls->unfinished = division->count;
	if (division->committed == 0)
		division->reader->clock.ticks_per_second = chunk->decoder.context.frequency;
	return !chunk->failed;
}

/* Makes a committed chunk available to the parts. */
static void put_out(struct division *division, struct fxt_chunk *chunk)
{
	fxt_pipeline_lock(division->pipeline);
	fxt_pipeline_put_bytes(division->pipeline, chunk);
	division->held[division->committed++ % TW_ORDER_SLABS] = chunk;
	for (unsigned i = 0; i < division->count; i++)
		fill(division, &division->parts[i]);
	fxt_pipeline_unlock(division->pipeline);
}

/* Whether a part is so far behind that no more chunks should be committed. */
static bool is_full(struct division *division)
{
	uint64_t available = division->committed;
	for (unsigned i = 0; i < division->count; i++)
		available = division->parts[i].available < available ? division->parts[i].available : available;
	return division->committed - available >= SPARE_CHUNKS ||
	       division->committed - division->oldest == TW_ORDER_SLABS;
}

static void wait_for_parts(struct division *division, bool to_the_end)
{
	fxt_pipeline_lock(division->pipeline);
	division->ended = to_the_end;
	while (to_the_end ? division->oldest < division->committed : is_full(division))
		fxt_pipeline_help(division->pipeline);
	fxt_pipeline_unlock(division->pipeline);
}

static int divide_all(struct division *division)
{
	struct fxt_chunk *chunk;
	int status;
	while ((status = fxt_pipeline_next(division->pipeline, &chunk)) > 0) {
		const bool stopped = division->taker->stops && division->taker->stops(division->taker->context);
		if (stopped || !divide_chunk(division, chunk)) {
			fxt_pipeline_give(division->pipeline, chunk);
			return stopped ? TW_ERR_LIMIT : TW_ERR_MEMORY;
		}
		put_out(division, chunk);
		wait_for_parts(division, false);
	}
	wait_for_parts(division, true);
	for (unsigned i = 0; i < division->count && status == 0; i++)
		status = division->parts[i].failed ? TW_ERR_MEMORY : 0;
	return status;
}

/* ---- The end. ---- */

/* Adds up what the parts found. */
static void report(const struct division *division)
{
	struct tw_clock *clock = &division->reader->clock;
	struct part all = {.first = UINT64_MAX, .late_offset = UINT64_MAX};
	for (unsigned i = 0; i < division->count; i++) {
		const struct part *part = &division->parts[i];
		all.first = part->first < all.first ? part->first : all.first;
		all.last = part->last > all.last ? part->last : all.last;
		all.latest_by = part->latest_by > all.latest_by ? part->latest_by : all.latest_by;
		if (part->late && part->late_offset < all.late_offset)
			all.late_offset = part->late_offset;
		all.late += part->late;
	}
	if (all.first <= all.last) {
		clock->start_ns = all.first;
		clock->end_ns = all.last;
	}
	fxt_finish(division->reader);
	division->reader->traits.disordered = all.late;
	if (!tw_input_repeatable(division->reader->input))
		fxt_report_late(division->reader, all.late, all.late_offset, all.latest_by, "a file is read in order");
}

static void free_division(struct division *division)
{
	for (size_t i = 0; i < division->track_room; i++) {
		if (division->tracks[i])
			free(division->tracks[i]->late);
		free(division->tracks[i]);
	}
	for (unsigned i = 0; i < division->count; i++)
		free(division->parts[i].equals);
	for (uint64_t i = division->oldest; i < division->committed; i++)
		fxt_chunk_free(chunk_at(division, i));
	fxt_scratch_free(&division->scratch);
	free(division->tracks);
	free(division);
}

int fxt_profile_by_track(struct tw_reader *reader, const struct tw_call_taker *taker)
{
	const struct fxt_wish wish = {.options = &reader->options, .kinds = reader->request.kinds};
	struct fxt_reader *fxt = reader->state;
	struct division *division = calloc(1, sizeof *division);
	if (!division)
		return fxt_fail(reader, TW_ERR_MEMORY);
	const struct fxt_work works = {
	    .decode = fxt_find_calls,
	    .decoded = fxt_found_calls,
	    .other = work,
	    .context = division,
	};
	division->reader = reader;
	division->taker = taker;
	division->window = fxt_reorder_window(reader);
	division->count = taker->parts < PARTS_MAX ? taker->parts : PARTS_MAX;
	for (unsigned i = 0; i < division->count; i++)
		division->parts[i].first = UINT64_MAX;
	int status = fxt_start(reader, &works, &wish, reader->options.jobs);
	division->pipeline = fxt->pipeline;
	status = status < 0 ? status : divide_all(division);
	if (status == 0)
		report(division);
	fxt_pipeline_free(fxt->pipeline); /* no thread works for a part any more */
	fxt->pipeline = NULL;
	fxt->finished = true;
	free_division(division);
	return status < 0 ? fxt_fail(reader, status) : 0;
}
