/* deal.c - deals the calls of an archive by track to parts of a profile, each track in the order of time.
 *
 * The calls of one track do not depend on those of another, so parts can work side by side. Within a chunk, calls are
 * in order by track (lanes.c). From chunk to chunk only those come late that began before others ended, mostly
 * complete slices. A part holds as many chunks as the reorder window asks for; calls of a new chunk that belong before
 * some that it holds go to a short list, and are woven in when their place comes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "base/memory/order.h"
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

/* What a part knows of a track. */
struct seat {
	uint64_t newest, given; /* times of the last item that was looked through, and that was given */
	uint64_t over;          /* the latest time at which a call ends */
	uint64_t mixed;    /* up to this time calls of other chunks may come between, so that nesting is not sure */
	struct late *late; /* numbers `begin` to `end` - 1, in the order of time */
	size_t begin, end, room;
};

struct part {
	struct seat *seats;
	size_t seat_count, seat_room;
	uint32_t tracks;            /* dealt to it; their seats are made later */
	uint64_t load;              /* calls dealt to it */
	uint64_t put, ready, taken; /* how many chunks were looked through, may be looked through, were given */
	uint64_t held_bytes;        /* of the chunks from `taken` to `ready` */
	bool busy;                  /* a thread works for it */
	bool failed;                /* no memory */
	uint64_t first, last;       /* times of its first and last item */
	uint64_t late, late_offset, latest_by;
};

/* The part that a track was dealt to, and its seat there. */
struct owner {
	bool known;
	uint32_t part, seat;
};

struct deal {
	struct tw_reader *reader;
	struct fxt_ahead *ahead;
	const struct tw_call_taker *taker;
	uint64_t window;
	struct part parts[PARTS_MAX];
	unsigned count;
	struct fxt_chunk *held[TW_ORDER_SLABS]; /* chunk number n is held[n % TW_ORDER_SLABS] */
	uint64_t oldest, committed;             /* chunks held: number of the first, and behind the last */
	bool ended;
	struct owner *owners; /* by track */
	size_t owner_count, owner_room;
	struct fxt_wish wish;
	struct fxt_scratch scratch;
};

static struct fxt_chunk *chunk_at(const struct deal *deal, uint64_t number)
{
	return deal->held[number % TW_ORDER_SLABS];
}

static size_t size_of(const struct fxt_chunk *chunk)
{
	return chunk->end - chunk->begin;
}

/* ---- Giving a part the calls of a chunk. ---- */

static void give(const struct deal *deal, struct part *part, const struct tw_call_run *run)
{
	deal->taker->take(deal->taker->context, (unsigned)(part - deal->parts), run);
}

static void give_late(const struct deal *deal, struct part *part, uint32_t track, struct seat *seat)
{
	const struct late *late = &seat->late[seat->begin++];
	if (late->item.time < seat->given) {
		uint64_t by = seat->given - late->item.time;
		if (part->late++ == 0 || late->offset < part->late_offset)
			part->late_offset = late->offset;
		part->latest_by = by > part->latest_by ? by : part->latest_by;
	} else {
		seat->given = late->item.time;
	}
	give(deal, part, &(struct tw_call_run){.track = track, .items = &late->item, .count = 1});
}

/* How many of the items are earlier than a late one. */
static size_t items_before(const struct tw_call_item *items, size_t count, const struct tw_call_item *late)
{
	return tw_count_below(items, count, TW_KEY(struct tw_call_item, time), late->time);
}

static const struct tw_call_item *items_of(const struct fxt_chunk *chunk, const struct fxt_lane *lane)
{
	return lane->count ? fxt_lane_items(chunk->calls, lane) : NULL;
}

/* Whether a late call surely does not change how the calls of a lane nest: it is a complete slice that ends after all
 * of them, and begins before them or where none of them is open. */
static bool goes_between(const struct fxt_chunk *chunk, const struct fxt_lane *lane, const struct tw_call_item *late)
{
	const struct tw_call_item *items = items_of(chunk, lane);
	size_t before = items_before(items, lane->count, late);
	const struct tw_call_item *item = before ? &items[before - 1] : NULL;
	if (!tw_item_is_complete(late) || late->time + late->duration <= lane->end)
		return false;
	if (before < lane->count && items[before].time == late->time)
		return false;
	if (!item || tw_item_is_complete(item))
		return true;
	return lane->from + before > lane->within &&
	       (tw_item_kind(item) != TW_CALL_NESTED || item->time + item->duration < late->time);
}

/* Whether the calls of a lane still nest as they do in their chunk alone. */
static bool still_nests(const struct fxt_chunk *chunk, const struct fxt_lane *lane, const struct seat *seat)
{
	bool nests = lane->begin > seat->mixed;
	for (size_t i = seat->begin; nests && i < seat->end && seat->late[i].item.time <= lane->end; i++)
		nests = goes_between(chunk, lane, &seat->late[i].item);
	return nests;
}

/* Gives `count` items of a lane. */
static void give_items(const struct deal *deal, struct part *part, const struct fxt_chunk *chunk,
                       const struct fxt_lane *lane, const struct tw_call_item *items, size_t count)
{
	struct seat *seat = &part->seats[lane->seat];
	bool all = items + count == items_of(chunk, lane) + lane->count;
	uint64_t newest = all && lane->nested ? lane->newest : items[count - 1].time;
	give(deal, part,
	     &(struct tw_call_run){.track = lane->track,
	                           .items = items,
	                           .count = count,
	                           .nested = chunk->calls->nested,
	                           .newest = newest});
	seat->given = newest > seat->given ? newest : seat->given;
	part->last = seat->given > part->last ? seat->given : part->last;
}

static const struct tw_call_item *first_late(const struct seat *seat)
{
	return seat->begin < seat->end ? &seat->late[seat->begin].item : NULL;
}

/* Gives items of a lane that have the time of the first late call. Late ones stand behind them in the archive, but a
 * complete slice goes before shorter ones, as far as no call begins or ends between them. */
static void give_equals(const struct deal *deal, struct part *part, const struct fxt_chunk *chunk,
                        const struct fxt_lane *lane, const struct tw_call_item *items, size_t count)
{
	struct seat *seat = &part->seats[lane->seat];
	size_t place = count;
	while (place > 0 && tw_item_is_complete(&items[place - 1]))
		place--;
	for (size_t given = 0; given < count;) {
		const struct tw_call_item *late = first_late(seat);
		while (place < count && !(late && fxt_goes_first(late, &items[place])))
			place++;
		if (place > given)
			give_items(deal, part, chunk, lane, items + given, place - given);
		given = place;
		if (given < count)
			give_late(deal, part, lane->track, seat);
	}
}

/* Gives items of a lane, and the late calls that go before them. */
static void give_woven(const struct deal *deal, struct part *part, const struct fxt_chunk *chunk,
                       const struct fxt_lane *lane, const struct tw_call_item *items, size_t count)
{
	struct seat *seat = &part->seats[lane->seat];
	while (count) {
		const struct tw_call_item *late = first_late(seat);
		size_t before = late ? items_before(items, count, late) : count, equals = 0;
		if (before)
			give_items(deal, part, chunk, lane, items, before);
		items += before;
		count -= before;
		while (equals < count && items[equals].time == late->time)
			equals++;
		if (equals)
			give_equals(deal, part, chunk, lane, items, equals);
		else if (count)
			give_late(deal, part, lane->track, seat);
		items += equals;
		count -= equals;
	}
}

static void give_lane(const struct deal *deal, struct part *part, const struct fxt_chunk *chunk, struct fxt_lane *lane)
{
	struct seat *seat = &part->seats[lane->seat];
	bool spreads = lane->nested && lane->count && !still_nests(chunk, lane, seat);
	if (spreads && !fxt_lane_spread(chunk->calls, lane)) {
		part->failed = true;
		return;
	}
	give_woven(deal, part, chunk, lane, items_of(chunk, lane), lane->count);
	while (seat->begin < seat->end && seat->late[seat->begin].item.time <= seat->given)
		give_late(deal, part, lane->track, seat);
	if (lane->last)
		give(deal, part, &(struct tw_call_run){.track = lane->track, .last = lane->last});
}

/* ---- Looking through a chunk that is new. ---- */

/* The number behind the complete slices that the items of the last one's time begin with. */
static size_t end_of_slices(const struct tw_call_item *items, size_t count)
{
	size_t end = count;
	for (size_t i = count; i > 0 && items[i - 1].time == items[count - 1].time; i--)
		end = tw_item_is_complete(&items[i - 1]) ? end : i - 1;
	return end;
}

/* Inserts items into the list of late ones; in the archive they stand behind those. */
static bool keep_late(struct seat *seat, const struct fxt_chunk *chunk, const struct tw_call_item *items, size_t count)
{
	size_t held = seat->end - seat->begin, end = 0;
	uint64_t time = ~items[count - 1].time; /* that `end` is of: another than the last one's */
	if (held)
		memmove(seat->late, seat->late + seat->begin, held * sizeof *seat->late);
	if (!tw_grow(&seat->late, &seat->room, held + count, sizeof *seat->late))
		return false;
	seat->begin = 0;
	seat->end = held + count;
	for (size_t put = seat->end; count > 0; put--) {
		const struct tw_call_item *item = &items[count - 1], *other = held ? &seat->late[held - 1].item : NULL;
		end = item->time == time ? end : end_of_slices(items, count);
		time = item->time;
		bool first = other && (item->time < other->time || (count <= end && fxt_goes_first(item, other)));
		if (first)
			seat->late[put - 1] = seat->late[--held];
		else
			seat->late[put - 1] = (struct late){*item, fxt_offset(chunk, tw_item_place(&items[--count]))};
	}
	return true;
}

static bool make_seat(struct part *part, uint32_t number)
{
	if (number >= part->seat_room &&
	    !tw_grow(&part->seats, &part->seat_room, number + (size_t)1, sizeof *part->seats))
		return false;
	while (part->seat_count <= number)
		part->seats[part->seat_count++] = (struct seat){0};
	return true;
}

/* Notes a new lane of a track. Where calls of earlier chunks end after its first one, nesting is not sure: its nested
 * calls become items again. False when there is no memory. */
static bool meet(struct seat *seat, const struct fxt_chunk *chunk, struct fxt_lane *lane)
{
	bool mixed = lane->count && lane->begin <= seat->over;
	if (mixed)
		seat->mixed = seat->over;
	if (lane->count && lane->end > seat->over)
		seat->over = lane->end;
	return !mixed || !lane->nested || fxt_lane_spread(chunk->calls, lane);
}

static bool put_lane(struct part *part, const struct fxt_chunk *chunk, struct fxt_lane *lane)
{
	if (!make_seat(part, lane->seat))
		return false;
	struct seat *seat = &part->seats[lane->seat];
	if (!meet(seat, chunk, lane))
		return false;
	const struct tw_call_item *items = items_of(chunk, lane);
	uint32_t late = 0;
	while (late < lane->count && items[late].time <= seat->newest)
		late++;
	if (lane->count && items[0].time < part->first)
		part->first = items[0].time;
	if (lane->count > late)
		seat->newest = lane->newest;
	lane->from += late;
	lane->count -= late;
	return late == 0 || keep_late(seat, chunk, items, late);
}

/* ---- The work for a part. ---- */

static void put_chunk(const struct deal *deal, struct part *part, const struct fxt_chunk *chunk)
{
	for (size_t i = 0; i < chunk->calls->lane_count && !part->failed; i++) {
		struct fxt_lane *lane = &chunk->calls->lanes[i];
		if (&deal->parts[lane->part] == part && !put_lane(part, chunk, lane))
			part->failed = true;
	}
}

static void give_chunk(const struct deal *deal, struct part *part, const struct fxt_chunk *chunk)
{
	for (size_t i = 0; i < chunk->calls->lane_count && !part->failed; i++)
		if (&deal->parts[chunk->calls->lanes[i].part] == part)
			give_lane(deal, part, chunk, &chunk->calls->lanes[i]);
}

/* Whether the chunks that a part holds behind its oldest one fill the reorder window. */
static bool has_enough(const struct deal *deal, const struct part *part)
{
	return part->taken < part->ready && part->held_bytes - size_of(chunk_at(deal, part->taken)) >= deal->window;
}

static void fill(const struct deal *deal, struct part *part)
{
	while (!has_enough(deal, part) && part->ready < deal->committed)
		part->held_bytes += size_of(chunk_at(deal, part->ready++));
}

/* Whether a part can give its oldest chunk: it has enough, or no more will come. */
static bool is_ready(const struct deal *deal, const struct part *part)
{
	bool full = has_enough(deal, part) || part->ready - part->taken == TW_ORDER_SLABS;
	return part->taken < part->ready && (full || deal->ended);
}

/* Lets a part be done with its oldest chunk; the last part gives the chunk back. */
static void pass_chunk(struct deal *deal, struct part *part)
{
	struct fxt_chunk *chunk = chunk_at(deal, part->taken++);
	part->held_bytes -= size_of(chunk);
	part->busy = false;
	fill(deal, part);
	if (--chunk->calls->unfinished == 0) {
		deal->oldest++;
		fxt_ahead_put(deal->ahead, chunk);
	}
}

/* Does the work for one chunk of a part that is ready. False where no part is. */
static bool work(void *context, struct fxt_scratch *scratch)
{
	(void)scratch;
	struct deal *deal = context;
	struct part *part = deal->parts, *end = deal->parts + deal->count;
	while (part < end && (part->busy || !is_ready(deal, part)))
		part++;
	if (part == end)
		return false;
	part->busy = true;
	uint64_t ready = part->ready;
	fxt_ahead_unlock(deal->ahead);
	for (; part->put < ready; part->put++)
		put_chunk(deal, part, chunk_at(deal, part->put));
	give_chunk(deal, part, chunk_at(deal, part->taken));
	fxt_ahead_lock(deal->ahead);
	pass_chunk(deal, part);
	return true;
}

/* ---- Dealing, in the order of the archive. ---- */

/* Deals a new track to the part with the fewest calls. */
static struct owner new_owner(struct deal *deal)
{
	struct part *least = deal->parts;
	for (unsigned i = 1; i < deal->count; i++)
		if (deal->parts[i].load < least->load)
			least = &deal->parts[i];
	return (struct owner){true, (uint32_t)(least - deal->parts), least->tracks++};
}

static bool deal_lane(struct deal *deal, struct fxt_lane *lane)
{
	size_t need = (size_t)lane->track + 1;
	if (!tw_grow(&deal->owners, &deal->owner_room, need, sizeof *deal->owners))
		return false;
	while (deal->owner_count < need)
		deal->owners[deal->owner_count++] = (struct owner){0};
	struct owner *owner = &deal->owners[lane->track];
	if (!owner->known)
		*owner = new_owner(deal);
	deal->parts[owner->part].load += lane->calls;
	lane->part = owner->part;
	lane->seat = owner->seat;
	return true;
}

/* Commits a chunk and deals its lanes. False when there is no memory for all of it. */
static bool deal_chunk(struct deal *deal, struct fxt_chunk *chunk)
{
	struct fxt_reader *fxt = deal->reader->state;
	if (chunk->failed || chunk->slab.failed)
		return false;
	fxt_commit(&fxt->commit, chunk);
	fxt_calls_commit(chunk, fxt->commit.state, &deal->wish, &deal->scratch);
	for (size_t i = 0; i < chunk->calls->lane_count; i++)
		chunk->failed |= !deal_lane(deal, &chunk->calls->lanes[i]);
	chunk->calls->unfinished = deal->count;
	if (deal->committed == 0)
		deal->reader->clock.ticks_per_second = chunk->turn.frequency;
	return !chunk->failed;
}

/* Makes a committed chunk available to the parts. */
static void put_out(struct deal *deal, struct fxt_chunk *chunk)
{
	fxt_ahead_lock(deal->ahead);
	fxt_ahead_put_bytes(deal->ahead, chunk);
	deal->held[deal->committed++ % TW_ORDER_SLABS] = chunk;
	for (unsigned i = 0; i < deal->count; i++)
		fill(deal, &deal->parts[i]);
	fxt_ahead_unlock(deal->ahead);
}

/* Whether a part is so far behind that no more chunks should be committed. */
static bool is_full(struct deal *deal)
{
	uint64_t ready = deal->committed;
	for (unsigned i = 0; i < deal->count; i++)
		ready = deal->parts[i].ready < ready ? deal->parts[i].ready : ready;
	return deal->committed - ready >= SPARE_CHUNKS || deal->committed - deal->oldest == TW_ORDER_SLABS;
}

static void wait_for_parts(struct deal *deal, bool to_the_end)
{
	fxt_ahead_lock(deal->ahead);
	deal->ended = to_the_end;
	while (to_the_end ? deal->oldest < deal->committed : is_full(deal))
		fxt_ahead_help(deal->ahead);
	fxt_ahead_unlock(deal->ahead);
}

static bool is_stopped(const struct deal *deal)
{
	return deal->taker->stops && deal->taker->stops(deal->taker->context);
}

static int deal_all(struct deal *deal)
{
	struct fxt_chunk *chunk;
	int status;
	while ((status = fxt_ahead_next(deal->ahead, &chunk)) > 0) {
		bool stopped = is_stopped(deal);
		if (stopped || !deal_chunk(deal, chunk)) {
			fxt_ahead_give(deal->ahead, chunk);
			return stopped ? TW_ERR_LIMIT : TW_ERR_MEMORY;
		}
		put_out(deal, chunk);
		wait_for_parts(deal, false);
	}
	wait_for_parts(deal, true);
	for (unsigned i = 0; i < deal->count && status == 0; i++)
		status = deal->parts[i].failed ? TW_ERR_MEMORY : 0;
	return status;
}

/* ---- The end. ---- */

/* Adds up what the parts found. */
static void tell(const struct deal *deal)
{
	struct tw_clock *clock = &deal->reader->clock;
	struct part all = {.first = UINT64_MAX, .late_offset = UINT64_MAX};
	for (unsigned i = 0; i < deal->count; i++) {
		const struct part *part = &deal->parts[i];
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
	fxt_finish(deal->reader);
	fxt_tell_late(deal->reader, all.late, all.late_offset, all.latest_by);
}

static void free_deal(struct deal *deal)
{
	for (unsigned i = 0; i < deal->count; i++) {
		struct part *part = &deal->parts[i];
		for (size_t k = 0; k < part->seat_count; k++)
			free(part->seats[k].late);
		free(part->seats);
	}
	for (uint64_t i = deal->oldest; i < deal->committed; i++)
		fxt_chunk_free(chunk_at(deal, i));
	fxt_scratch_free(&deal->scratch);
	free(deal->owners);
	free(deal);
}

/* Lets threads that read ahead work for parts, too. */
static void begin_work(struct deal *deal)
{
	fxt_ahead_lock(deal->ahead);
	fxt_ahead_more(deal->ahead, work, deal);
	fxt_ahead_unlock(deal->ahead);
}

static bool any_busy(const struct deal *deal)
{
	for (unsigned i = 0; i < deal->count; i++)
		if (deal->parts[i].busy)
			return true;
	return false;
}

/* Ends that, and waits for those that still do. */
static void end_work(struct deal *deal)
{
	fxt_ahead_lock(deal->ahead);
	fxt_ahead_more(deal->ahead, NULL, NULL);
	while (any_busy(deal))
		fxt_ahead_help(deal->ahead);
	fxt_ahead_unlock(deal->ahead);
}

int fxt_deal(struct tw_reader *reader, const struct tw_call_taker *taker)
{
	const struct fxt_wish wish = {.options = &reader->options,
	                              .kinds = reader->request.kinds,
	                              .nest = taker->nested};
	struct fxt_reader *fxt = reader->state;
	struct deal *deal = calloc(1, sizeof *deal);
	int status = deal ? fxt_start(reader, &fxt_calls_work, &wish, reader->options.jobs) : TW_ERR_MEMORY;
	if (status < 0) {
		free(deal);
		return tw_fail(reader, status, "%s: out of memory", tw_input_name(reader->input));
	}
	deal->reader = reader;
	deal->ahead = fxt->ahead;
	deal->wish = wish;
	deal->taker = taker;
	deal->window = fxt_reorder_window(reader);
	deal->count = taker->parts < PARTS_MAX ? taker->parts : PARTS_MAX;
	for (unsigned i = 0; i < deal->count; i++)
		deal->parts[i].first = UINT64_MAX;
	begin_work(deal);
	status = deal_all(deal);
	if (status == 0)
		tell(deal);
	end_work(deal);
	free_deal(deal);
	return status < 0 ? fxt_fail(reader, status) : 0;
}
