/* gc.h - the heap as a picture on an open output. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANALYSIS_SERIES_GC_H
#define ANALYSIS_SERIES_GC_H

#include "base/bytes/output.h"

#include <trackway/gc.h>

/* As tw_gc_plot(). */
int tw_gc_render(struct tw_output *out, const struct tw_gc *gc, const char *title);

#endif
