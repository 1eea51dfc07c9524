/* starts.h - where the files of a view begin for who asks: a page may move each of several traces. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_SERVE_STARTS_H
#define VIEW_SERVE_STARTS_H

#include "view/serve/view.h"

__extension__ typedef __int128 view_wide;

/* Takes the times where the files begin on the page's axis from a request; one that has none moves nothing. False where
 * there is not one for each file, or none is 0. view_request_free() frees what it keeps. */
bool view_starts_take(struct view *view, struct view_request *request);

/* For all that follow: the lock of the view is held. */

/* By how much later a file is than in the index, ns; of none of the files 0. */
int64_t view_later(const struct view_request *request, size_t file);
int64_t view_track_later(const struct view *view, const struct view_request *request, uint32_t track);

/* A time of the reader's clock on the axis of who asks; 0 where that is before it. */
uint64_t view_since_start(const struct view *view, uint64_t time, int64_t later);

/* When a file begins on that axis, and when all files have ended. */
uint64_t view_file_begin(const struct view *view, const struct view_request *request, size_t file);
uint64_t view_end(struct view *view, const struct view_request *request);

/* Where most of one trace is, if it is damaged and some of its times are far from there; NULL otherwise. */
const struct view_bulk *view_bulk(struct view *view);

#endif
