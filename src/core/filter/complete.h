/* complete.h - begins and ends of slices as complete slices: options.complete_slices. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_FILTER_COMPLETE_H
#define CORE_FILTER_COMPLETE_H

#include <trackway/reader.h>

struct tw_complete;

/* tw_pull(). */
typedef int (*tw_pull_fn)(struct tw_reader *reader, struct tw_batch *batch);

/* Of the events of one reader. pull gives these. NULL when there is no memory. */
struct tw_complete *tw_complete_new(struct tw_reader *reader, tw_pull_fn pull);

/* Gives the next batch, with the results of tw_read(). Bytes of arguments live until the next call. */
int tw_complete_read(struct tw_complete *complete, struct tw_reader *reader, struct tw_batch *batch);

/* Frees; NULL is fine. */
void tw_complete_free(struct tw_complete *complete);

#endif
