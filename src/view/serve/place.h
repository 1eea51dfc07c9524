/* place.h - slices by where they are in the rows. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_SERVE_PLACE_H
#define VIEW_SERVE_PLACE_H

#include "view/serve/view.h"

struct view_place {
	const struct view_row *row;
	uint64_t item;
};

/* For all: the lock of the view is held. */

/* Finds the slice or point that a request names by track, lane, depth and item: false where there is none. */
bool view_place_named(const struct view *view, const struct view_request *request, struct view_place *place);

/* Whether some cannot be named yet: those that the index does not keep, while their file is read. */
bool view_place_is_early(const struct view *view);

/* The same as an answer: what is asked for comes if it is asked once more. */
void view_place_refuse_early(struct view_answer *answer);

/* Finds the slice of a track that goes on at a time, on the reader's clock, and whose record is at an offset. */
bool view_place_at(const struct view *view, uint32_t track, uint64_t time, uint64_t offset, struct view_place *place);

/* The same of one that begins then or later: the next of its row. */
bool view_place_next(const struct view *view, uint32_t track, uint64_t time, uint64_t offset, struct view_place *place);

/* Writes where it is and when, on the axis of who asks; members of an object that is open. */
void view_place_put(struct tw_json *json, const struct view *view, const struct view_request *request,
                    const struct view_place *place);

/* Whether a name of the index is a text, or its first VIEW_NAME_MOST bytes. */
bool view_is_named(const struct view *view, uint32_t number, const char *text);

/* Whether a name of the index holds a text, in any case of A to Z. */
bool view_name_holds(const struct view *view, uint32_t number, const char *text);

/* Writes a name of the index. */
void view_put_name(struct tw_json *json, const struct view *view, const char *key, uint32_t number);

#endif
