/* window.h - the answer to a window, in the binary form of doc/view.md. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_SERVE_WINDOW_H
#define VIEW_SERVE_WINDOW_H

#include "base/memory/memory.h"
#include "view/index/index.h"

enum { VIEW_WIDTH_MOST = 16384, VIEW_WINDOW_TRACKS = 4096 };

/* A window. Times are since the start of the view. */
struct view_window {
	uint64_t from, to; /* from < to */
	uint64_t start;    /* of the view, on the reader's clock */
	uint32_t width;    /* pixels, not 0 */
	uint32_t names;    /* that the page has */
	uint32_t generation;
	const int64_t *later; /* by file: ns by which it is later for who asks; NULL: none is */
	bool apart;           /* each slice and each sample is an entry */
	bool exact;           /* more of the trace is read again for slices that the index does not keep */
	bool outer;           /* of slices those alone that are in no other */
	size_t most;          /* bytes that an answer may have; 0: any number */
};

/* Appends the answer for some tracks, by number; those that are none have no rows. False without memory, and
 * where it is more than it may have. */
bool view_window_answer(struct view_index *index, const struct view_window *window, const uint32_t *tracks,
                        size_t count, struct tw_text *answer);

#endif
