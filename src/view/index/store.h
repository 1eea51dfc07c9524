/* store.h - the file that an index is in: mapped, without a name, and only growing. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_INDEX_STORE_H
#define VIEW_INDEX_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VIEW_NOWHERE UINT64_MAX

/* The times of a block of items: what is asked for soon again. */
struct view_times;

/* The items of rows that have few. */
struct view_few;

struct view_spans;

/* All zero is one that is not open. */
struct view_store {
	uint8_t *bytes; /* stays where it is */
	uint64_t room;  /* bytes of addresses */
	uint64_t size;  /* of the file */
	uint64_t used;
	int fd;
	int error;                                 /* errno of what could not be had; 0: none */
	struct view_times *times;                  /* of rows; NULL: none yet */
	struct view_few *few_slices, *few_samples; /* NULL: none yet */
	struct view_spans *spans;                  /* of rows without items: the index's; NULL: all rows have theirs */
	uint64_t from; /* rows take no slice that begins before: the index is of a part of a trace */
};

/* Addresses that are asked for at most, and at least. */
#define VIEW_ROOM_MOST ((uint64_t)1 << 40)
#define VIEW_ROOM_LEAST ((uint64_t)1 << 26)

/* Makes the file in a directory; NULL: /tmp. room: bytes that it may become, between these two. Returns 0 or an errno.
 */
int view_store_open(struct view_store *store, const char *directory, uint64_t room);
void view_store_close(struct view_store *store);

/* The same of bytes that are in a file already, and of some behind them that are read, too: mapped as they are, where
 * nobody else may change them, and what is written stays in memory; or copied. Nothing more may be taken from the
 * first. Both return 0 or an errno; the descriptor stays the caller's. */
int view_store_map(struct view_store *store, int fd, uint64_t offset, uint64_t used, uint64_t behind);
int view_store_copy(struct view_store *store, const char *directory, int fd, uint64_t offset, uint64_t used,
                    uint64_t behind);

/* Gives back what nothing has taken. */
void view_store_trim(struct view_store *store);

/* Bytes behind what is taken that can be read, too. */
enum { VIEW_BEHIND = 8 };

/* Takes bytes, which are zero, at a multiple of 8. Returns their place, or VIEW_NOWHERE: `error` tells why. */
uint64_t view_store_take(struct view_store *store, uint64_t size);

/* ---- Arrays that only grow, of records of one size. ---- */

/* All zero to begin. Parts get larger until each has VIEW_PART_MOST records. */
struct view_column {
	uint64_t count;
	uint64_t *parts; /* their places in the store */
	size_t part_count, part_room;
};

enum { VIEW_PART_FIRST = 1, VIEW_PART_DOUBLINGS = 5, VIEW_PART_MOST = VIEW_PART_FIRST << VIEW_PART_DOUBLINGS };

/* Returns a new record, for the caller to fill; NULL where there is no room. */
void *view_column_add(struct view_column *column, struct view_store *store, size_t size);

/* Leaves no more than the first records: the others give their place to new ones. */
void view_column_cut(struct view_column *column, uint64_t count);

/* Returns record i, which must be there. */
void *view_column_at(const struct view_column *column, const struct view_store *store, size_t size, uint64_t i);

void view_column_free(struct view_column *column);

/* How many parts so many records take, and how many of them one part has. */
size_t view_column_parts(uint64_t count);
uint64_t view_part_records(size_t part);

#endif
