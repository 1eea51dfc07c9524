/* objects.h - the names of kernel and userspace objects, as far as records have described them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_EVENTS_OBJECTS_H
#define FXT_EVENTS_OBJECTS_H

#include "fxt/walk/chunk.h"

/* An object, as the key of a map of names. Each provider has objects of its own. A koid is one for the whole system, so
 * what others said of it holds where its own provider said nothing: Fuchsia's kernel names what programs refer to. */
struct fxt_object {
	uint64_t own; /* of the provider */
	uint64_t all; /* of the archive; pointers: 0 */
};

struct fxt_object fxt_pointer(const struct fxt_provider *provider, uint64_t process, uint64_t pointer);
struct fxt_object fxt_koid(const struct fxt_provider *provider, uint64_t koid);

/* The same of what is written: whose: the number of the provider. */
struct fxt_object fxt_written_pointer(uint32_t whose, uint64_t process, uint64_t pointer);
struct fxt_object fxt_written_koid(uint32_t whose, uint64_t koid);

/* Gives an object a name, within the memory limit of the state. */
void fxt_object_learn(struct tw_map *names, struct fxt_state *state, struct fxt_object object, uint32_t name);

/* The name, 0 where there is none. */
uint32_t fxt_object_name(const struct tw_map *names, struct fxt_object object);

/* Notes what the record of a kernel object at a place tells of events that were dropped or overwritten. */
void fxt_note_losses(struct fxt_chunk *chunk, const struct tw_fxt_record *record, size_t place);

#endif
