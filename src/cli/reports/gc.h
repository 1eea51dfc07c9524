/* gc.h - what trackway gc shows, and the forms it is written in. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_REPORTS_GC_H
#define CLI_REPORTS_GC_H

#include "cli/output/numbers.h"

#include <trackway/gc.h>

enum tw_gc_by { TW_GC_BY_COLLECTION, TW_GC_BY_CLASS, TW_GC_BY_GENERATION };

/* A class at two points in time. */
struct tw_gc_growth {
	const struct tw_gc_class *row;
	uint64_t bytes, count, most_bytes, most_count;
	uint64_t from_bytes, to_bytes, from_count, to_count;
	uint64_t growth; /* of bytes, up or down: to sort by */
};

/* What is shown. */
struct tw_gc_view {
	const struct tw_gc *gc;
	enum tw_gc_by by;
	bool diff;
	struct tw_list_rows rows; /* struct tw_gc_collection, tw_gc_growth, tw_gc_generation */
};

/* Words of --sort for classes. */
const char *tw_gc_sort_word(size_t i);

/* Chooses and sorts the rows of classes. */
void tw_gc_sort(struct tw_gc_view *view, const char *word, uint64_t top);

/* The text returns 0 or TW_EXIT_FAILED. */
int tw_gc_put_text(struct tw_screen *screen, const struct tw_gc_view *view);
void tw_gc_put_json(struct tw_output *out, const struct tw_gc_view *view);

/* A line each; samples of classes and generations one by one. */
void tw_gc_put_csv_head(struct tw_output *out, enum tw_gc_by by);
void tw_gc_put_csv_sample(struct tw_output *out, const struct tw_gc_sample *sample);
void tw_gc_put_csv(struct tw_output *out, const struct tw_gc *gc); /* of collections */

#endif
