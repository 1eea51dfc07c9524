/* records.h - the records of an archive as they are: the parts. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_RECORDS_H
#define FXT_RECORDS_H

#include "fxt/cursor.h"
#include "fxt/fxt.h"

/* ---- objects.c: the names of objects, as far as records have described them. ---- */

/* All zero to begin. Each provider has objects of its own. */
struct fxt_objects {
	struct tw_map names;       /* hash of provider, process and number to name */
	struct tw_map generations; /* provider id to the number of its last announcement */
	uint32_t generation;       /* of the current provider */
	uint32_t last;
};

/* Another archive begins; a provider is announced; one becomes the current one. */
void fxt_objects_reset(struct fxt_objects *objects);
void fxt_objects_announce(struct fxt_objects *objects, uint32_t provider);
void fxt_objects_turn(struct fxt_objects *objects, uint32_t provider);

/* Gives an object a name, within the memory limit of the state. process: of pointers only, otherwise 0. */
void fxt_object_learn(struct fxt_objects *objects, struct fxt_state *state, bool koid, uint64_t process,
                      uint64_t number, uint32_t name);

/* The name, 0 where there is none. */
uint32_t fxt_object_name(const struct fxt_objects *objects, bool koid, uint64_t process, uint64_t number);

void fxt_objects_free(struct fxt_objects *objects);

#endif
