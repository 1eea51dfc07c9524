/* bare.h - rows of slices whose items are not kept, because they can be read from the trace again. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_INDEX_BARE_H
#define VIEW_INDEX_BARE_H

#include "view/index/row.h"

enum {
	VIEW_GROUP = 8,              /* items that are told together, and groups, and groups of these */
	VIEW_GROUPINGS = 3,          /* how often: 512 items then */
	VIEW_GROUPED_FROM = 1 << 12, /* groups, before these are grouped: a pixel would have no use for fewer */
	/* A row keeps its items where fewer than one event of so many is one of them: they would be too far from each
	 * other. */
	VIEW_BARE_SHARE = 2048
};

/* The last item that begins in a span of time. */
struct view_kept {
	uint64_t begin, end, offset;
	uint64_t item : 40;
	uint64_t name : 24;
};

/* Items, or groups, that will be a group. */
struct view_open_group {
	uint64_t begin, end, busy, longest;
	uint32_t name, which; /* of the longest item, and which of the group's it is */
};

/* Times of groups are multiples of a small part of a span, and what is lost of their busy time is told by the next. */
struct view_grouping {
	struct view_row groups; /* slices that end as if all that is busy came first */
	struct view_open_group open;
	uint64_t busy; /* that no group has told yet */
};

/* In the store. A pixel of a window looks at some groups of the one grouping of which it has enough. */
struct view_bare {
	struct view_row head;                           /* the items that are kept: those before the others */
	struct view_grouping groupings[VIEW_GROUPINGS]; /* of the others, then of the groups before */
	struct view_column kept;                        /* struct view_kept */
	struct view_kept last;                          /* the last item */
	unsigned shift;                                 /* of spans, when `kept` was made */
};

/* Groups that are whole. */
static inline const struct view_row *view_bare_grouped(const struct view_bare *bare, unsigned level)
{
	return &bare->groupings[level].groups;
}

static inline struct view_bare *view_bare_of(const struct view_row *row, const struct view_store *store)
{
	return (struct view_bare *)(void *)(store->bytes + row->tail);
}

/* A group as its row has it. */
struct view_group {
	struct view_slice sum; /* begin, and the name of the longest; end: begin and busy time */
	uint64_t end;          /* of its last item */
	uint64_t item;         /* the longest */
};
/* Group i of a grouping; of the first one also that which is not whole yet. */
struct view_group view_bare_group(const struct view_row *row, const struct view_store *store, unsigned level,
                                  uint64_t i);

/* Says which item of a group that is whole is the longest, and its name: without a look at its times. */
void view_bare_longest(const struct view_row *row, const struct view_store *store, unsigned level, uint64_t i,
                       struct view_group *group);

/* Groups of a block, from one on to the one before another, as one: its longest is the first of the longest groups. */
struct view_group view_bare_groups(const struct view_row *row, const struct view_store *store, unsigned level,
                                   const struct view_block_slices *block, uint64_t from, uint64_t to);

/* From now on a row does not keep what is added, unless its items are few and far between. False where there is no
 * room: store->error. */
bool view_bare_begin(struct view_row *row, struct view_store *store);
bool view_bare_add(struct view_row *row, struct view_store *store, const struct view_slice *slice);

/* As of any row. What cannot be read is told as its group is. */
struct view_slice view_bare_slice(const struct view_row *row, const struct view_store *store, uint64_t i);
uint64_t view_bare_begin_at(const struct view_row *row, const struct view_store *store, uint64_t from, uint64_t time);

/* Returns the first item that begins in a span or later. The one before it is known without the trace. */
uint64_t view_bare_first(const struct view_row *row, const struct view_store *store, uint64_t span);

/* Whether an item is known without the trace. */
bool view_bare_knows(const struct view_row *row, const struct view_store *store, uint64_t i);

void view_bare_free(struct view_row *row, const struct view_store *store);

#endif
