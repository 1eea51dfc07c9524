/* item_order.h - the begins, ends and complete slices of a track in the order of time. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_CALLS_ITEM_ORDER_H
#define CORE_CALLS_ITEM_ORDER_H

#include "core/calls/calls.h"

/* Sorts items by time, and those of one time as the next function has it. spare: room for twice as many. */
void tw_sort_items(struct tw_call_item *items, size_t count, struct tw_call_item *spare);

/* Puts items of one time in order that stand as in the file: complete slices the longest first, as in
 * tw_equal_times_nest(). Parts may have been put in order before. spare: room for twice as many. */
void tw_nest_equal_items(struct tw_call_item *items, size_t count, struct tw_call_item *spare);

#endif
