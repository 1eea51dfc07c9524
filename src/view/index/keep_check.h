/* keep_check.h - whether what a kept index says of its store leads nowhere else. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_INDEX_KEEP_CHECK_H
#define VIEW_INDEX_KEEP_CHECK_H

#include "view/index/bare.h"
#include "view/index/index.h"
#include "view/index/keep_parts.h"

/* What a row has in memory. */
struct view_kept_row {
	struct view_packs *packs, *head, *groups[VIEW_GROUPINGS]; /* the latter two of a bare row */
	struct view_column kept;
};

/* Puts what each row has in memory where the row is, and looks at all rows and names. False where something is wrong:
 * then the rows have what they had. */
bool view_keep_settle(struct view_index *index, const struct view_column *rows, const struct view_kept_row *kept,
                      struct view_extents *extents);

#endif
