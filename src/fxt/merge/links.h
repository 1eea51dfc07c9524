/* links.h - what the names and threads of an archive have become in the one that it is merged into.
 *
 * The caller's thread adds to it what the writer has written; threads that read ahead make records with it as they will
 * be written. What they do not find yet they leave to the caller, so that nothing depends on when they look. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_MERGE_LINKS_H
#define FXT_MERGE_LINKS_H

#include "core/merge/merge.h"
#include "fxt/format/layout.h"

#include <stdatomic.h>

enum { FXT_LINKS_OLD = 64 };

/* How times change: nearly always they only move. */
struct fxt_shift {
	uint64_t ns;          /* is added, and may wrap, */
	uint64_t from, count; /* to so many times from this one on */
	struct tw_merge_time whole;
};

static inline uint64_t fxt_merged_time(const struct fxt_shift *shift, uint64_t time)
{
	return __builtin_expect(time - shift->from < shift->count, 1) ? time + shift->ns
	                                                              : tw_merge_time(&shift->whole, time);
}

struct fxt_shift fxt_shift_of(const struct tw_merge_time *time);

/* A track. */
struct fxt_seat {
	uint64_t process, thread; /* koids */
	_Atomic uint16_t state; /* 0: not written; otherwise FXT_SEAT_MET and the index in the thread table, 0: none */
};

enum { FXT_SEAT_MET = 1 << 8, FXT_SEAT_INDEX = FXT_SEAT_MET - 1 };

/* By number of the archive's own dictionary. */
struct fxt_links {
	bool ready;              /* it is known how times change */
	struct fxt_shift time;   /* of the archive to that which is written, whose ticks are nanoseconds */
	_Atomic uint16_t *names; /* the index of the string table, or 0 */
	size_t name_room;
	struct fxt_seat *seats;
	size_t seat_room;
	void *old[FXT_LINKS_OLD]; /* tables that were too small: a thread may still look into them */
	size_t old_count;
};

/* 0 where a name has not been written. */
static inline uint16_t fxt_linked_name(const struct fxt_links *links, uint32_t name)
{
	return name < links->name_room ? atomic_load_explicit(&links->names[name], memory_order_relaxed) : 0;
}

/* The seat of a track that has been written; otherwise NULL. */
static inline const struct fxt_seat *fxt_linked_seat(const struct fxt_links *links, uint32_t track)
{
	const struct fxt_seat *seat = track < links->seat_room ? &links->seats[track] : NULL;
	return seat && atomic_load_explicit(&seat->state, memory_order_acquire) ? seat : NULL;
}

/* In the thread table; 0: in none. */
static inline uint64_t fxt_seat_index(const struct fxt_seat *seat)
{
	return atomic_load_explicit(&seat->state, memory_order_relaxed) & FXT_SEAT_INDEX;
}

struct fxt_ahead;

/* The caller's thread: from now on records can be made. Takes the lock of the threads that read ahead. */
void fxt_links_begin(struct fxt_links *links, struct fxt_ahead *ahead, const struct tw_merge_time *time);

/* The same: a name has been written, a track has. False when there is no memory. */
bool fxt_link_name(struct fxt_links *links, struct fxt_ahead *ahead, uint32_t name, uint16_t index);
bool fxt_link_seat(struct fxt_links *links, struct fxt_ahead *ahead, uint32_t track, uint64_t process, uint64_t thread,
                   uint8_t index);

/* After the threads have ended. */
void fxt_links_free(struct fxt_links *links);

#endif
