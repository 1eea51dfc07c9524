/* spaces.h - room for the calls of a track that go on, for the files of this folder. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_CALLS_SPACES_H
#define CORE_CALLS_SPACES_H

#include "core/calls/calls.h"

static const uint32_t TW_NO_CALL_NAME = UINT32_MAX; /* of the root of a stack */

/* A space that no track has, or a new one; NULL: there is no memory. */
struct tw_call_space *tw_space_new(struct tw_calls *calls);
void tw_space_free(struct tw_call_space *space);

/* How many calls of a name, or of a row, there are up to a depth: by a look at each. */
uint32_t tw_space_calls_of_name(const struct tw_call_space *space, uint32_t depth, uint32_t name);
uint32_t tw_space_calls_of_row(const struct tw_call_space *space, uint32_t depth, uint32_t row);

/* Makes room for a row in the table, if there is one to be. */
bool tw_space_grow_rows(struct tw_calls *calls, struct tw_call_space *space, uint32_t row);
/* Makes room for a call of a name, or of a row, above a depth; without tables where there is no memory for them. */
bool tw_space_make_name_room(struct tw_calls *calls, struct tw_call_space *space, uint32_t depth, uint32_t name);
bool tw_space_make_row_room(struct tw_calls *calls, struct tw_call_space *space, uint32_t depth, uint32_t row);

#endif
