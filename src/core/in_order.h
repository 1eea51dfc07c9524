/* in_order.h - before the first event of a trace: when it begins, and whether any comes late. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_IN_ORDER_H
#define CORE_IN_ORDER_H

struct tw_reader;
struct tw_sorted_runs;

/* As tw_sorted_runs_new(), with the directory and a share of the memory that a reader's options tell. */
int tw_runs_for(struct tw_sorted_runs **runs, const struct tw_reader *reader);

/* Where an order was asked for: finds when the trace begins, and, where events come later than the format has them in
 * order, reads all into reader->runs, unless they are to come as they are. tw_read() does so itself; later calls do
 * nothing. Returns 0 or a negative status. */
int tw_put_in_order(struct tw_reader *reader);

#endif
