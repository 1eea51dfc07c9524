/* leaves.h - items that rows do not have, read from the trace again: some spans of time at once. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_INDEX_LEAVES_H
#define VIEW_INDEX_LEAVES_H

#include "view/index/row.h"
#include "view/index/spans.h"

/* Has rows leave out what spans find again: to be called before the first is added. False without memory. */
bool view_leaves_begin(struct view_spans *spans);

/* Finds the items of a bare row that begin in a span or in one up to another. They live until others are asked for.
 * False where they cannot be read. */
bool view_leaves_find(const struct view_store *store, const struct view_row *row, uint64_t first, uint64_t last,
                      struct view_leaf *leaf);

/* How many rows were found not to have the items that there should be: none, unless the file is another one now. */
uint64_t view_leaves_wrong(const struct view_leaves *leaves);

/* How many bytes of the trace have been read again. */
uint64_t view_leaves_bytes(const struct view_leaves *leaves);

#endif
