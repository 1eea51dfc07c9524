/* calls.h - the begins and ends of calls in a chunk, by track and in the order of time: for profiles. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_CALLS_H
#define FXT_CALLS_H

#include "core/calls.h"
#include "fxt/commit.h"

/* The place of a record in its chunk, alone or in an origin: chunks are shorter than 2^30 bytes. */
#define FXT_CALL_PLACE(place) ((uint32_t)(place)&0x3fffffff)

/* One of them as it stands in the archive, 24 bytes: all calls of a chunk should fit the second-level cache, with its
 * bytes and what is made of it. */
struct fxt_call {
	uint64_t begin, end; /* the same time but for complete slices */
	uint32_t name;       /* or the row that it waits for */
	uint32_t origin;     /* the place of the record in the chunk, and a mark of its kind */
};

/* Kinds are looked at most often, and a sign costs least. An end has neither mark. */
#define FXT_MARK_BEGIN (1u << 31)
#define FXT_MARK_COMPLETE (1u << 30)

static inline uint32_t fxt_origin(enum tw_call_kind kind, size_t place)
{
	static const uint32_t marks[] = {[TW_CALL_BEGIN] = FXT_MARK_BEGIN, [TW_CALL_COMPLETE] = FXT_MARK_COMPLETE};
	return marks[kind] | (uint32_t)place;
}

static inline bool fxt_is_complete(uint32_t origin)
{
	return origin & FXT_MARK_COMPLETE;
}

static inline enum tw_call_kind fxt_origin_kind(uint32_t origin)
{
	return origin & FXT_MARK_BEGIN ? TW_CALL_BEGIN : fxt_is_complete(origin) ? TW_CALL_COMPLETE : TW_CALL_END;
}

static inline struct tw_call_item fxt_call_item(const struct fxt_call *call)
{
	return (struct tw_call_item){
	    .time = call->begin,
	    .duration = call->end - call->begin,
	    .name = call->name,
	    .kind = fxt_origin_kind(call->origin),
	    .place = FXT_CALL_PLACE(call->origin),
	};
}

/* Room for calls as they stand. It goes from chunk to chunk: when they are in order they are no more needed, and what
 * was lately used is in the processor's cache. `make bench` measures stat. */
struct fxt_call_room {
	struct fxt_call *calls;
	size_t room;
};

/* Calls that stand together, up to where the next of these begins. */
struct fxt_stretch {
	uint32_t lane; /* UINT32_MAX: one that waits for its row */
	uint32_t from;
};

/* What a chunk has of a track. */
struct fxt_lane {
	uint32_t track;
	uint32_t part, seat;  /* deal.c: whose it is, and its number there */
	uint32_t from, count; /* its items */
	uint64_t last;        /* time of the last event that is no call; 0: there is none */
	uint64_t next;        /* sorting: time of the item before which others go */
	uint64_t waits;       /* sorting: time of the complete slice that waits on top */
	uint32_t put, top;    /* sorting: the place before which the next goes, and which slice that is */
	bool mixed;           /* sorting: out of order */
	bool nested;          /* its calls nest, and stand in `nested`: items are only those that go beyond the chunk */
	uint32_t within;      /* nested: items from here on are within no call that ends in the chunk */
	uint32_t room_from;   /* its items before any were taken away */
	uint64_t newest;      /* time of the last item that there would be if none were nested */
	uint64_t begin, end;  /* the first and the last that something ends */
};

/* When a thread did something, by its koid. */
struct fxt_seen {
	uint64_t koid, time;
};

enum { FXT_SEEN = 64 };

enum { FXT_THREAD_REFERENCES = TW_FXT_THREADS_MAX + 1 };

struct fxt_calls {
	struct fxt_call *calls; /* lent */
	size_t count, room;
	size_t waiting; /* how many wait for their rows */
	struct fxt_stretch *stretches;
	size_t stretch_count, stretch_room;
	struct tw_call_item *items;
	size_t item_room;
	struct tw_nested_call *nested;
	size_t nested_room;
	struct fxt_lane *lanes;
	size_t lane_count, lane_room;
	struct tw_map by_track;
	struct fxt_seen latest[FXT_SEEN]; /* by hash */
	struct fxt_seen *seen;            /* those that had to go */
	size_t seen_count, seen_room;
	/* Ticks of the last event in a run of the fast path, by the thread's reference; bits: for which it is there. */
	uint64_t latest_ticks[FXT_THREAD_REFERENCES], went_on[FXT_THREAD_REFERENCES / 64];
	uint32_t unfinished; /* deal.c: parts that still need it */
};

/* Lends a chunk room, takes it back. False where it has some, or none. */
bool fxt_calls_lend(struct fxt_chunk *chunk, const struct fxt_call_room *room);
bool fxt_calls_return(struct fxt_chunk *chunk, struct fxt_call_room *room);

/* What is done ahead with a chunk: finds the calls in what was walked since the last time; then, when the chunk is
 * complete and none waits, puts them in order. */
extern const struct fxt_work fxt_calls_work;

/* Completes what waits for the dictionary, once the chunk is committed. */
void fxt_calls_commit(struct fxt_chunk *chunk, struct fxt_state *state, const struct fxt_wish *wish,
                      struct fxt_scratch *scratch);

/* lanes.c: puts the calls of a chunk into lanes, in the order of time. `failed` of the chunk where there is no
 * memory. */
void fxt_lanes_sort(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch);

/* Makes all items of a lane whose calls nest. False when there is no memory. */
bool fxt_lane_spread(struct fxt_calls *calls, struct fxt_lane *lane);

/* The lane of a track, a new one if there is none; NULL when there is no memory. */
struct fxt_lane *fxt_lane_of(struct fxt_chunk *chunk, uint32_t track);

/* Whether an item goes before another one that stands behind it: in time, or because it is a longer complete slice. */
static inline bool fxt_goes_first(const struct tw_call_item *a, const struct tw_call_item *b)
{
	bool both = a->kind == TW_CALL_COMPLETE && b->kind == TW_CALL_COMPLETE;
	return a->time < b->time || (a->time == b->time && both && a->duration > b->duration);
}

/* Where a stretch ends. */
static inline size_t fxt_stretch_end(const struct fxt_calls *calls, size_t i)
{
	return i + 1 < calls->stretch_count ? calls->stretches[i + 1].from : calls->count;
}

void fxt_calls_clear(struct fxt_calls *calls);
void fxt_calls_free(struct fxt_calls *calls);

#endif
