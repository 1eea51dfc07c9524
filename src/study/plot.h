/* plot.h - pictures of what instructions did. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STUDY_PLOT_H
#define STUDY_PLOT_H

#include "base/bytes/output.h"

#include <trackway/study.h>

/* Draws what memory was touched over time: of each thread the lines of each interval, and of all intervals so far.
 * Returns 0. */
int study_render_footprint(struct tw_output *out, const struct tw_study *study, const char *title);

/* Draws the misses of each interval of each thread, in the first cache and in the last. Returns 0. */
int study_render_misses(struct tw_output *out, const struct tw_study *study, const char *title);

/* Draws which phase each interval of each thread is in. Returns 0. */
int study_render_phases(struct tw_output *out, const struct tw_study *study, const char *title);

/* Draws the tree of calls as a flame graph. Returns 0 or TW_ERR_MEMORY. */
int study_render_calls(struct tw_output *out, const struct tw_study *study, const char *title);

#endif
