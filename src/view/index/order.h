/* order.h - whether events come in the order that an index needs. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_INDEX_ORDER_H
#define VIEW_INDEX_ORDER_H

#include <trackway/event.h>

#include <stdbool.h>

/* All zero to begin. */
struct view_order {
	uint64_t *latest; /* by the reader's track */
	size_t room;
	bool wanted;     /* nobody has looked before */
	uint64_t shared; /* the same of what stands on rows that tracks share: counters, operations, CPUs */
};

/* Whether no event of a batch comes behind a later one of its row, or before the start. */
bool view_order_holds(struct view_order *order, const struct tw_batch *batch, uint64_t start);
void view_order_free(struct view_order *order);

#endif
