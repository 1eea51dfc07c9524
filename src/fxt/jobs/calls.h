/* calls.h - the fast path of profiles: the begins and ends of calls in a chunk, by track and in the order of time,
 * without rows. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_JOBS_CALLS_H
#define FXT_JOBS_CALLS_H

#include "core/calls/calls.h"
#include "fxt/events/events.h"

/* The place of a record in its chunk, taken from an origin: chunks are shorter than 2^30 bytes. */
#define FXT_CALL_PLACE(place) ((uint32_t)(place)&0x3fffffff)

/* A begin, an end or a complete slice, in the order of the archive. 32 bytes: all those of a chunk should fit into the
 * second-level cache together with the chunk's bytes and what is made of them. */
struct fxt_call {
	uint64_t begin, end; /* ns; of a begin or an end both are its time */
	uint32_t track;      /* its place in `tracks`; UINT32_MAX: track and name come with the commit */
	uint32_t name;       /* where the call waits: the number of its row */
	uint32_t origin;     /* the place of the record in the chunk, with a mark of its kind */
};

/* Marks of kinds. An end has neither; a begin has the sign bit, because it is asked for most often and a sign is the
 * cheapest to test. */
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
	    .mark = tw_item_mark(fxt_origin_kind(call->origin), FXT_CALL_PLACE(call->origin)),
	};
}

/* The calls that a chunk has of one track. */
struct fxt_track_calls {
	uint32_t number; /* of the track */
	struct fxt_track_state
	    *state;           /* profile_by_track.c: the part that the track was given to, and its state there */
	uint32_t from, count; /* its items */
	uint64_t last;        /* time of the last event seen of it, of any kind; 0: only its items tell */
	uint64_t next;        /* while sorting, from the last to the first: time of the item put last */
	uint64_t waits;       /* while sorting: begin of the complete slice on top of the waiting ones */
	uint32_t put, top;    /* while sorting: the place before which the next item goes; number of the slice on top */
	bool mixed;           /* while sorting: out of order, to be sorted the slow way */
};

/* When a thread did something, by its koid. */
struct fxt_seen {
	uint64_t koid, time;
};

enum { FXT_SEEN = 64 };

struct fxt_calls {
	struct fxt_call_room room; /* of the thread that decodes the chunk, until they are in tracks */
	size_t count;
	size_t waiting;             /* calls whose track and name come with the commit */
	struct tw_call_item *items; /* of all tracks */
	size_t item_room;
	struct fxt_track_calls *tracks;
	size_t track_count, track_room;
	struct tw_map by_track;
	struct fxt_seen latest[FXT_SEEN]; /* by hash of the koid */
	struct fxt_seen *seen;            /* those that had to make place in `latest` */
	size_t seen_count, seen_room;
	uint32_t unfinished; /* profile_by_track.c: parts that still need the chunk */
	bool mixed;          /* some of the tracks are out of order */
};

/* The work for fxt_pipeline_new(): finds the calls in what was walked since the last time; then, when the chunk is
 * complete and no call waits for the commit, puts them into tracks. */
void fxt_find_calls(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch);
void fxt_found_calls(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch);

/* Completes the calls that waited, once the chunk is committed, and the times at which threads were seen last. */
void fxt_calls_commit(struct fxt_chunk *chunk, struct fxt_state *state, struct fxt_scratch *scratch);

/* track_calls.c: puts the calls of a chunk into tracks, in the order of time. `failed` of the chunk where there is no
 * memory. */
void fxt_sort_calls(struct fxt_chunk *chunk, struct fxt_scratch *scratch);

/* The calls of a track, new ones if there are none; NULL when there is no memory. */
struct fxt_track_calls *fxt_calls_of(struct fxt_chunk *chunk, uint32_t track);

void fxt_calls_free(struct fxt_calls *calls);

#endif
