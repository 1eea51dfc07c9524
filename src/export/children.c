/* children.c - trees whose nodes are found by their parent and a key. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/children.h"

#include <stdlib.h>

void tw_children_free(struct tw_children *children)
{
	free(children->first);
	tw_map_free(&children->others);
}
