/* merge_rows.h - rows of archives that are merged, given to the writer one by one. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_MERGE_ROWS_H
#define FXT_MERGE_ROWS_H

#include "fxt/merge/merge_chunks.h"

/* What they are merged into. */
struct fxt_merge_output {
	struct tw_writer *writer;
	struct tw_reader *merged;
	struct tw_passed *passed;
	struct tw_argument arguments[UINT8_MAX]; /* of the row that is written */
};

/* Writes a row at a time of the merged trace, as a row of any format; from then on threads that make records find its
 * names and its thread. Returns 0 or a negative status; what the writer returns is in `passed`. */
int fxt_merge_row(struct fxt_merge_output *to, const struct fxt_merge_input *from, const struct tw_event *row,
                  const struct tw_argument *arguments, uint64_t time);

#endif
