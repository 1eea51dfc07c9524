/* few.h - the items of rows that have few: they stand together, in the order in which they came. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_INDEX_FEW_H
#define VIEW_INDEX_FEW_H

#include "view/index/keep_parts.h"
#include "view/index/row.h"

/* Adds a slice or a sample of a row. `before` is what tells the one before it of the row, 0: there is none. Returns
 * what tells it; 0 where there is no room: store->error. */
uint64_t view_few_add_slice(struct view_store *store, uint64_t before, const struct view_slice *slice);
uint64_t view_few_add_sample(struct view_store *store, uint64_t before, const struct view_sample *sample);

/* Of one and those before it of its row, so many of them, VIEW_BLOCK at most, returns number i: those behind it follow.
 * They are there until others are asked for. */
const struct view_slice *view_few_slice(const struct view_store *store, uint64_t last, uint64_t count, uint64_t i);
const struct view_sample *view_few_sample(const struct view_store *store, uint64_t last, uint64_t count, uint64_t i);

/* To be called before the store is closed. */
void view_few_free(struct view_store *store);

/* In a file that is kept: what is taken must then be checked. */
void view_few_put(struct tw_output *out, const struct view_few *few);
bool view_few_get(struct tw_words *words, const struct view_store *store, struct view_few **few,
                  struct view_extents *extents);
bool view_few_check(const struct view_store *store, const struct view_few *few);

/* Whether so many items may be asked for of which this tells the last. */
bool view_few_has(const struct view_few *few, uint64_t last, uint64_t count);

#endif
