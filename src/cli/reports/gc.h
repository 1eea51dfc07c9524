/* gc.h - what trackway gc shows, and the forms it is written in. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_REPORTS_GC_H
#define CLI_REPORTS_GC_H

#include "cli/files/listing.h"

#include <trackway/gc.h>

enum tw_gc_by { TW_GC_BY_COLLECTION, TW_GC_BY_CLASS, TW_GC_BY_GENERATION };

/* A class at two points in time. */
struct tw_gc_growth {
	struct tw_gc_class class;
	uint64_t growth; /* of bytes, up or down: to sort by */
};

struct tw_gc_listing {
	struct tw_listing listing; /* first; its rows are struct tw_gc_collection, tw_gc_growth or tw_gc_generation */
	struct tw_gc *gc;
	enum tw_gc_by by;
	bool diff; /* --diff: */
	uint64_t from_ns, to_ns;
	struct tw_gc_growth *growths; /* of classes */
};

/* Words of --sort for classes. */
extern const char *const tw_gc_sort_words[];

/* Chooses and sorts the rows of classes. */
void tw_gc_sort(struct tw_gc_listing *gc, const char *word, uint64_t top);

/* Functions of the listing. */
int tw_gc_put_text(struct tw_listing *listing);
void tw_gc_put_json(struct tw_json *json, const struct tw_listing *listing, const void *row);
void tw_gc_end_json(struct tw_json *json, const struct tw_listing *listing);
void tw_gc_put_csv(struct tw_listing *listing); /* collections */

/* What lives, by type: the parts of a class's name, from the outermost, and its bytes. */
void tw_gc_put_folded(struct tw_listing *listing);

/* Samples of classes and generations are lines of CSV, one by one. */
const char *tw_gc_csv_head(enum tw_gc_by by);
void tw_gc_put_sample(struct tw_output *out, const struct tw_gc_sample *sample, bool safe);

#endif
