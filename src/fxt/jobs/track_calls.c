/* track_calls.c - the calls of a chunk by track, in the order of time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/inline.h"
#include "base/memory/memory.h"
#include "fxt/jobs/calls.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t NONE = UINT32_MAX;

/* ---- The calls of each track. ---- */

static struct fxt_track_calls *add_track(struct fxt_chunk *chunk, uint32_t track)
{
	struct fxt_calls *calls = chunk->calls;
	if (!tw_grow(&calls->tracks, &calls->track_room, calls->track_count + 1, sizeof *calls->tracks) ||
	    !tw_map_add(&calls->by_track, track, (uint32_t)calls->track_count)) {
		chunk->failed = true;
		return NULL;
	}
	calls->tracks[calls->track_count] = (struct fxt_track_calls){.number = track, .top = NONE, .next = UINT64_MAX};
	return &calls->tracks[calls->track_count++];
}

struct fxt_track_calls *fxt_calls_of(struct fxt_chunk *chunk, uint32_t track)
{
	uint32_t place;
	if (tw_map_find(&chunk->calls->by_track, track, &place))
		return &chunk->calls->tracks[place];
	return add_track(chunk, track);
}

/* Gives each track room for its items. Returns how many there are. */
static size_t place_tracks(struct fxt_calls *calls)
{
	uint32_t from = 0;
	for (size_t i = 0; i < calls->stretch_count; i++)
		calls->tracks[calls->stretches[i].track].calls += calls->stretches[i].to - calls->stretches[i].from;
	for (size_t i = 0; i < calls->track_count; i++) {
		struct fxt_track_calls *track = &calls->tracks[i];
		track->count = track->calls;
		track->from = from;
		track->put = from += track->calls;
	}
	return from;
}

/* ---- The order of most archives: begins and ends stand in the order of time, complete slices in that of their ends.
 * Taken from the last to the first, a complete slice comes before all that is inside it: it waits on a stack until
 * something earlier than its begin comes. A track in any other order is found out, and sorted the slow way. ---- */

/* Calls that are put in order. */
struct order {
	struct fxt_calls *calls;
	uint32_t *below; /* by number of a complete slice that waits: the one that it waits on top of */
};

static void put_item(struct fxt_calls *calls, struct fxt_track_calls *track, const struct tw_call_item *item)
{
	calls->items[--track->put] = *item;
}

static inline void put(struct fxt_calls *calls, struct fxt_track_calls *track, const struct tw_call_item *item)
{
	put_item(calls, track, item);
	track->next = item->time;
}

/* Puts the complete slices that do not go before an item. */
static void put_waiting(const struct order *order, struct fxt_track_calls *track, const struct tw_call_item *before)
{
	const struct fxt_call *calls = order->calls->calls;
	for (; track->top != NONE; track->top = order->below[track->top]) {
		const struct tw_call_item item = fxt_call_item(&calls[track->top]);
		if (fxt_goes_first(&item, before))
			break;
		put(order->calls, track, &item);
	}
	track->waits = track->top == NONE ? 0 : calls[track->top].begin;
}

static inline void put_call(const struct order *order, struct fxt_track_calls *track, size_t i)
{
	const struct tw_call_item item = fxt_call_item(&order->calls->calls[i]);
	if (item.time <= track->waits)
		put_waiting(order, track, &item);
	if (!tw_item_is_complete(&item)) {
		track->mixed |= item.time > track->next;
		put(order->calls, track, &item);
		return;
	}
	track->mixed |= item.time >= track->next;
	order->below[i] = track->top;
	track->top = (uint32_t)i;
	track->waits = item.time;
}

/* False when there is no memory. */
static bool put_all(struct fxt_calls *calls, struct fxt_scratch *scratch)
{
	static const struct tw_call_item first = {.mark = TW_CALL_BEGIN};
	if (!tw_grow(&scratch->below, &scratch->below_room, calls->count, sizeof *scratch->below))
		return false;
	const struct order order = {calls, scratch->below};
	for (size_t i = calls->stretch_count; i > 0; i--) {
		struct fxt_track_calls *track = &calls->tracks[calls->stretches[i - 1].track];
		for (size_t k = calls->stretches[i - 1].to; k > calls->stretches[i - 1].from; k--)
			put_call(&order, track, k - 1);
	}
	for (size_t i = 0; i < calls->track_count; i++)
		put_waiting(&order, &calls->tracks[i], &first);
	return true;
}

/* ---- The same order, where calls that nest are wanted as such: each with its duration and that of its children.
 *
 * From the last to the first, a call comes before those inside it. An end or a complete slice is pushed on a stack; an
 * end is popped by its begin, a complete slice when something earlier than its begin comes. What is still on the stack
 * at the start of the chunk, and begins that find no end, go beyond the chunk: they stay items. All times must differ,
 * so that there is only one order; tracks where they do not, and those with calls longer than 2^32 ns, are sorted the
 * slow way. `make bench` measures stat. ---- */

enum { NEST_TRACKS = 64, NEST_DEPTH = 64 }; /* where there are more tracks, or deeper calls, they are sorted */

/* A call on the stack. */
struct open {
	uint64_t begin; /* of a complete slice; 0 of an end, whose begin is not known yet, and of the sentinel */
	struct tw_nested_call *call;
};

/* The state of a track. */
struct fxt_nest {
	struct open stack[NEST_DEPTH + 1];   /* from 1 on; that is a sentinel */
	struct open *bottom, *top;           /* calls at the bottom and below stay items */
	struct tw_nested_call *found;        /* where the next one goes */
	const struct tw_nested_call *lowest; /* the outermost call above the bottom that was found last; NULL: none */
	bool last;                           /* only complete slices that end behind the last item have come yet */
};

/* Puts an item that stands for the nested calls `from` to `to`: the first begins at `time`, `duration` is the sum over
 * those that no other of them holds. */
static void put_nested(struct fxt_calls *calls, struct fxt_track_calls *track, uint64_t time, uint64_t duration,
                       const struct tw_nested_call *from, const struct tw_nested_call *to)
{
	if (from < to)
		put_item(calls, track,
		         &(struct tw_call_item){.time = time,
		                                .duration = duration,
		                                .name = (uint32_t)(from - calls->nested),
		                                .mark = tw_item_mark(TW_CALL_NESTED, (uint32_t)(to - from))});
}

/* Puts an end or a complete slice as an item of its own. */
static void put_one(struct fxt_calls *calls, struct fxt_track_calls *track, const struct tw_nested_call *call)
{
	put_item(calls, track,
	         &(struct tw_call_item){.time = call->begin,
	                                .duration = call->duration,
	                                .name = call->name,
	                                .mark =
	                                    tw_item_mark(fxt_origin_kind(call->origin), FXT_CALL_PLACE(call->origin))});
}

/* Puts the nested calls found since the last outermost one, and the slices that stay items and have ended: those above
 * `top`. */
static void put_lowest(struct fxt_calls *calls, struct fxt_track_calls *track, struct fxt_nest *nest,
                       const struct open *top, const struct tw_nested_call *found)
{
	const struct tw_nested_call *lowest = nest->lowest;
	if (lowest)
		put_nested(calls, track, lowest->begin, lowest->duration, lowest, found);
	nest->lowest = NULL;
	for (; nest->bottom > top; nest->bottom--)
		put_one(calls, track, nest->bottom->call);
}

/* Takes a call that no other one in the chunk holds. False for a begin: its end is in a later chunk, and it stays an
 * item. */
TW_NOINLINE bool take_lowest(struct fxt_calls *calls, struct fxt_track_calls *track, struct fxt_nest *nest,
                             const struct open *top, struct tw_nested_call *found, const struct fxt_call *call)
{
	const struct tw_call_item item = fxt_call_item(call);
	put_lowest(calls, track, nest, top, found);
	if (tw_item_kind(&item) == TW_CALL_BEGIN) {
		put_item(calls, track, &item);
		return false;
	}
	nest->lowest = found;
	return true;
}

/* A mask: all bits set where a condition holds, otherwise none. With masks there is no jump; of `?:` compilers make one
 * where they like. */
static inline uint64_t bits_if(bool condition)
{
	return 0 - (uint64_t)condition;
}

/* The place so many bytes behind another. */
static inline void *place_at(void *place, ptrdiff_t bytes)
{
	return (char *)place + bytes;
}

/* Pops the complete slices that begin after a time. More than two at once are rare. */
static inline struct open *end_slices(struct open *top, uint64_t time)
{
	const uint64_t first = bits_if(top->begin > time), second = first & bits_if(top[-1].begin > time);
	top = place_at(top, (ptrdiff_t)(first & (0 - sizeof *top)));
	top = place_at(top, (ptrdiff_t)(second & (0 - sizeof *top)));
	while (__builtin_expect(top->begin > time, 0))
		top--;
	return top;
}

/* What speaks against the order that is expected: any of these makes a track mixed. */
struct flaws {
	uint64_t late; /* how many times are out of order */
	/* Or-ed: bits in which ends and begins have other names; begins of slices that a begin popped. */
	uint64_t names;
	uint64_t durations; /* or-ed: more than 32 bits are too many */
};

/* A begin completes the call on top of the stack; an end or a complete slice makes a new one there. */
static inline void put_on_top(struct open *top, uint64_t begins, struct tw_nested_call *found,
                              const struct fxt_call *call, struct flaws *flaws)
{
	struct tw_nested_call *ended = top->call;
	struct tw_nested_call *made = place_at(found, ((char *)ended - (char *)found) & (ptrdiff_t)begins);
	const struct open *outer = place_at(top, (ptrdiff_t)(begins & (0 - sizeof *top)));
	const uint64_t begin = call->begin, end = call->end + (begins & (ended->begin - call->end));
	const uint64_t duration = end - begin;
	const uint32_t origin = call->origin, name = call->name;
	flaws->names |= begins & (top->begin | (ended->name ^ name));
	flaws->late += begin <= outer->begin;
	flaws->durations |= duration;
	found->children = 0;
	outer->call->children += (uint32_t)duration;
	made->begin = begin;
	made->duration = (uint32_t)duration;
	made->name = name;
	made->origin = origin;
	top[1] = (struct open){begin & bits_if(fxt_is_complete(origin)), found};
}

/* Calls of a stretch that are being nested, from the last to the first. */
struct nesting {
	struct fxt_track_calls *track;
	struct fxt_nest *nest;
	const struct fxt_call *first, *end; /* those that are left */
	struct open *top;                   /* as the nest's, and the track's begin */
	struct tw_nested_call *found;
	uint64_t now;
	struct flaws flaws;
};

static struct nesting begin_nesting(struct fxt_track_calls *track, struct fxt_nest *nest, const struct fxt_call *first,
                                    const struct fxt_call *end)
{
	return (struct nesting){
	    .track = track,
	    .nest = nest,
	    .first = first,
	    .end = end,
	    .top = nest->top,
	    .found = nest->found,
	    .now = track->begin,
	};
}

static void end_nesting(const struct nesting *nesting)
{
	const struct flaws *flaws = &nesting->flaws;
	nesting->nest->top = nesting->top;
	nesting->nest->found = nesting->found;
	nesting->track->begin = nesting->now;
	nesting->track->mixed = flaws->late || flaws->names || flaws->durations >> 32;
}

/* Takes the last of the calls that are left. The processor cannot predict which kind comes, nor whether a slice has
 * ended: no jump depends on it. */
TW_INLINE void nest_one(struct fxt_calls *calls, struct nesting *nesting)
{
	const struct fxt_call *call = --nesting->end;
	const uint64_t time = call->end, begins = bits_if(call->origin & FXT_MARK_BEGIN);
	struct open *top = nesting->top = end_slices(nesting->top, time);
	struct tw_nested_call *found = nesting->found;
	nesting->flaws.late += time >= nesting->now;
	nesting->now = time;
	if (__builtin_expect(top <= nesting->nest->bottom, 0)) {
		nesting->flaws.late += top->begin == time;
		if (!take_lowest(calls, nesting->track, nesting->nest, top, found, call))
			return;
	}
	if (__builtin_expect(top == nesting->nest->stack + NEST_DEPTH, 0)) {
		nesting->flaws.late++;
		nesting->end = nesting->first;
		return;
	}
	put_on_top(top, begins, found, call, &nesting->flaws);
	nesting->top = place_at(top + 1, (ptrdiff_t)(begins & (0 - 2 * sizeof *top)));
	nesting->found = place_at(found + 1, (ptrdiff_t)(begins & (0 - sizeof *found)));
}

static void nest_rest(struct fxt_calls *calls, struct nesting *nesting)
{
	struct nesting rest = *nesting;
	while (rest.end > rest.first)
		nest_one(calls, &rest);
	*nesting = rest;
}

/* Takes the complete slices at the end of a track that end later than its last item: calls of the next chunk may be
 * inside them, so they stay items. Returns the end of the calls that are left. */
static const struct fxt_call *take_last(struct fxt_calls *calls, struct fxt_track_calls *track, struct fxt_nest *nest,
                                        const struct fxt_call *first, const struct fxt_call *end)
{
	for (; nest->last && end > first && !track->mixed; end--) {
		const struct fxt_call *call = end - 1;
		nest->last = fxt_is_complete(call->origin) && call->end > track->newest;
		track->newest = call->begin > track->newest ? call->begin : track->newest;
		if (!nest->last)
			break;
		struct nesting nesting = begin_nesting(track, nest, end - 1, end);
		nest_rest(calls, &nesting);
		end_nesting(&nesting);
		nest->lowest = NULL;
		nest->bottom = nest->top;
	}
	return end;
}

static void begin_tracks(struct fxt_calls *calls, struct fxt_nest *nests)
{
	for (size_t i = 0; i < calls->track_count; i++) {
		struct fxt_track_calls *track = &calls->tracks[i];
		struct fxt_nest *nest = &nests[i];
		struct tw_nested_call *first = calls->nested + track->from + i;
		*first = (struct tw_nested_call){0}; /* what holds the outermost */
		nest->stack[0] = nest->stack[1] = (struct open){0, first};
		nest->bottom = nest->top = nest->stack + 1;
		nest->found = first + 1;
		nest->lowest = NULL;
		nest->last = true;
		track->begin = UINT64_MAX;
		track->end = track->newest = 0;
	}
}

/* Puts the calls that end in the chunk and begin before it, and those inside them. Each holds those above it on the
 * stack. */
static void put_beyond(struct fxt_calls *calls, struct fxt_track_calls *track, const struct fxt_nest *nest)
{
	for (const struct open *open = nest->bottom + 1; open <= nest->top; open++) {
		const struct tw_nested_call *call = open->call, *inner = open < nest->top ? open[1].call : NULL;
		assert(call);
		if (!fxt_is_complete(call->origin))
			put_one(calls, track, call);
		put_nested(calls, track, inner ? inner->begin + inner->duration : track->begin,
		           call->children - (inner ? inner->duration : 0), call + 1, inner ? inner : nest->found);
	}
}

/* Puts the complete slices that are still on the stack at the start of the chunk. They must hold one another. */
static void put_early(struct fxt_calls *calls, struct fxt_track_calls *track, const struct fxt_nest *nest)
{
	uint64_t next = nest->top->begin ? UINT64_MAX : track->begin;
	for (const struct open *open = nest->top; open > nest->stack + 1; open--) {
		if (!fxt_is_complete(open->call->origin))
			continue;
		track->mixed |= open->begin >= next;
		next = open->begin;
		put_one(calls, track, open->call);
	}
}

static void end_track(struct fxt_calls *calls, struct fxt_track_calls *track, struct fxt_nest *nest)
{
	uint32_t end = track->from + track->count;
	track->mixed |= track->end > track->begin && track->end - track->begin > UINT32_MAX;
	if (!track->mixed) {
		if (nest->top == nest->bottom)
			put_lowest(calls, track, nest, nest->top, nest->found);
		track->within = track->put;
		put_beyond(calls, track, nest);
		put_early(calls, track, nest);
	}
	if (track->mixed) {
		track->put = track->from;
		return;
	}
	track->nested = true;
	track->from = track->put;
	track->count = end - track->put;
}

/* Nests the calls of a stretch. */
static void nest_stretch(struct fxt_calls *calls, const struct fxt_stretch *stretch, struct fxt_nest *nest)
{
	struct fxt_track_calls *track = &calls->tracks[stretch->track];
	const struct fxt_call *first = calls->calls + stretch->from, *end = calls->calls + stretch->to;
	if (track->mixed || first == end)
		return;
	if (track->begin == UINT64_MAX)
		track->end = end[-1].end;
	end = take_last(calls, track, nest, first, end);
	if (track->mixed || first == end)
		return;
	struct nesting nesting = begin_nesting(track, nest, first, end);
	nest_rest(calls, &nesting);
	end_nesting(&nesting);
}

static void nest_all(struct fxt_calls *calls, struct fxt_nest *nests)
{
	begin_tracks(calls, nests);
	for (size_t i = calls->stretch_count; i > 0; i--)
		nest_stretch(calls, &calls->stretches[i - 1], &nests[calls->stretches[i - 1].track]);
	for (size_t i = 0; i < calls->track_count; i++)
		end_track(calls, &calls->tracks[i], &nests[i]);
}

/* ---- Any other order: merge sort. ---- */

/* Sorts items by time, or the longest duration first; equal ones keep their order. spare: room for as many. */
static void sort(struct tw_call_item *items, size_t count, struct tw_call_item *spare, bool by_time)
{
	if (count < 2)
		return;
	size_t half = count / 2, a = 0, b = half;
	sort(items, half, spare, by_time);
	sort(items + half, count - half, spare, by_time);
	memcpy(spare, items, half * sizeof *items);
	for (size_t i = 0; a < half; i++) {
		bool second =
		    b < count && (by_time ? items[b].time < spare[a].time : items[b].duration > spare[a].duration);
		items[i] = second ? items[b++] : spare[a++];
	}
}

/* Complete slices of one time between which no call begins or ends stand the longest first. */
static void sort_track(struct tw_call_item *items, size_t count, struct tw_call_item *spare)
{
	sort(items, count, spare, true);
	for (size_t from = 0, to; from < count; from = to) {
		to = from + 1;
		while (tw_item_is_complete(&items[from]) && to < count && items[to].time == items[from].time &&
		       tw_item_is_complete(&items[to]))
			to++;
		sort(items + from, to - from, spare, false);
	}
}

/* Puts the items of tracks that are out of order back as they stand in the archive, and sorts them. */
static void sort_mixed(struct fxt_calls *calls, struct tw_call_item *spare)
{
	for (size_t i = 0; i < calls->stretch_count; i++) {
		struct fxt_track_calls *track = &calls->tracks[calls->stretches[i].track];
		for (size_t k = calls->stretches[i].from; k < calls->stretches[i].to && track->mixed; k++)
			calls->items[track->put++] = fxt_call_item(&calls->calls[k]);
	}
	for (size_t i = 0; i < calls->track_count; i++)
		if (calls->tracks[i].mixed)
			sort_track(calls->items + calls->tracks[i].from, calls->tracks[i].count, spare);
}

static bool any_mixed(const struct fxt_calls *calls)
{
	for (size_t i = 0; i < calls->track_count; i++)
		if (calls->tracks[i].mixed)
			return true;
	return false;
}

enum { SPARE = 8 }; /* an eighth: chunks differ little */

/* Makes room for items; nothing of an earlier chunk is kept. */
static bool make_items(struct tw_call_item **items, size_t *room, size_t count)
{
	if (count <= *room)
		return true;
	free(*items);
	*items = malloc((count + count / SPARE) * sizeof **items);
	*room = *items ? count + count / SPARE : 0;
	return *items;
}

/* The same for nested calls. */
static bool make_nested(struct fxt_calls *calls, size_t count)
{
	if (count <= calls->nested_room)
		return true;
	free(calls->nested);
	calls->nested_room = count + count / SPARE;
	calls->nested = malloc(calls->nested_room * sizeof *calls->nested);
	if (!calls->nested)
		calls->nested_room = 0;
	return calls->nested;
}

/* Takes the items from the thread's room, where most of each track's part is empty, to the chunk's. Chunks wait for
 * each other: the less memory they have, the more of it is in a near cache. */
static bool keep_items(struct fxt_calls *calls)
{
	size_t count = 0;
	for (size_t i = 0; i < calls->track_count; i++)
		count += calls->tracks[i].count;
	if (!make_items(&calls->kept, &calls->kept_room, count))
		return false;
	uint32_t from = 0;
	for (size_t i = 0; i < calls->track_count; i++) {
		struct fxt_track_calls *track = &calls->tracks[i];
		if (track->count)
			memcpy(calls->kept + from, calls->items + track->from, track->count * sizeof *calls->kept);
		track->within = track->within - track->from + from;
		track->from = from;
		from += track->count;
	}
	calls->items = calls->kept;
	return true;
}

/* Sets the times of a track whose calls are all items. items: of all tracks. */
static void measure_track(const struct tw_call_item *items, struct fxt_track_calls *track)
{
	track->begin = UINT64_MAX;
	track->end = 0;
	for (size_t i = track->from; i < track->from + track->count; i++) {
		uint64_t end = items[i].time + (tw_item_is_complete(&items[i]) ? items[i].duration : 0);
		track->begin = end < track->begin ? end : track->begin;
		track->end = end > track->end ? end : track->end;
		track->newest = items[i].time;
	}
}

/* Puts the calls of all tracks, the mixed ones excepted. False when there is no memory. */
static bool put_calls(struct fxt_calls *calls, size_t count, bool nest, struct fxt_scratch *scratch)
{
	if (!nest || calls->track_count > NEST_TRACKS)
		return put_all(calls, scratch);
	if (!scratch->nests)
		scratch->nests = calloc(NEST_TRACKS, sizeof *scratch->nests);
	if (!scratch->nests || !make_nested(calls, count + calls->track_count))
		return false;
	nest_all(calls, scratch->nests);
	return true;
}

static bool sort_calls(struct fxt_calls *calls, bool nest, struct fxt_scratch *scratch)
{
	const size_t count = place_tracks(calls);
	if (!make_items(&scratch->items, &scratch->item_room, count))
		return false;
	calls->items = scratch->items;
	if (!put_calls(calls, count, nest, scratch))
		return false;
	if (any_mixed(calls)) {
		if (!tw_grow(&scratch->sort.bytes, &scratch->sort.room, 2 * count * sizeof *calls->items, 1))
			return false;
		sort_mixed(calls, (struct tw_call_item *)(void *)scratch->sort.bytes);
	}
	for (size_t i = 0; i < calls->track_count; i++)
		if (!calls->tracks[i].nested)
			measure_track(calls->items, &calls->tracks[i]);
	return keep_items(calls);
}

void fxt_sort_calls(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch)
{
	if (!sort_calls(chunk->calls, wish->nest, scratch))
		chunk->failed = true;
}

/* ---- Nested calls back to items. ---- */

/* Writes the items of a nested call, a complete slice or begin and end; returns how many. items: NULL only counts. */
static size_t spread_call(const struct tw_nested_call *call, struct tw_call_item *items)
{
	const bool complete = fxt_is_complete(call->origin);
	const uint32_t place = FXT_CALL_PLACE(call->origin);
	if (items)
		items[0] = (struct tw_call_item){
		    .time = call->begin,
		    .duration = complete ? call->duration : 0,
		    .name = call->name,
		    .mark = tw_item_mark(complete ? TW_CALL_COMPLETE : TW_CALL_BEGIN, place),
		};
	if (items && !complete)
		items[1] = (struct tw_call_item){
		    .time = call->begin + call->duration,
		    .name = call->name,
		    .mark = tw_item_mark(TW_CALL_END, place),
		};
	return complete ? 1 : 2;
}

static size_t spread_items(const struct fxt_calls *calls, const struct fxt_track_calls *track,
                           struct tw_call_item *items)
{
	size_t count = 0;
	for (size_t i = track->from; i < track->from + track->count; i++) {
		const struct tw_call_item *item = &calls->items[i];
		if (tw_item_kind(item) != TW_CALL_NESTED) {
			if (items)
				items[count] = *item;
			count++;
			continue;
		}
		for (size_t k = 0; k < tw_item_place(item); k++)
			count += spread_call(&calls->nested[item->name + k], items ? items + count : NULL);
	}
	return count;
}

bool fxt_spread_nested(const struct fxt_calls *calls, struct fxt_track_calls *track)
{
	size_t count = spread_items(calls, track, NULL);
	struct tw_call_item *items = calloc(count + 1, sizeof *items), *spare = calloc(count + 1, sizeof *spare);
	if (!items || !spare) {
		free(items);
		free(spare);
		return false;
	}
	spread_items(calls, track, items);
	sort_track(items, count, spare);
	free(spare);
	track->own = items;
	track->from = 0;
	track->count = (uint32_t)count;
	track->nested = false;
	return true;
}
