/* renew.h - an index in the place of another one of the same trace, of which there is more now. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_INDEX_RENEW_H
#define VIEW_INDEX_RENEW_H

#include "view/index/index.h"

/* Before its first batch: gives tracks the numbers that pages know them by. Returns 0 or TW_ERR_MEMORY. */
int view_index_number_as(struct view_index *index, const struct view_index *before);

/* Of two that have ended: gives `by` the numbers that pages know names by, and has the two change places. Returns 0, or
 * TW_ERR_MEMORY: they have not. */
int view_index_replace(struct view_index *index, struct view_index *by);

#endif
