/* alloc.h - what was allocated: by class, and by who allocated it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACKWAY_ALLOC_H
#define TRACKWAY_ALLOC_H

#include <trackway/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All comes from events of the kind TW_ALLOCATION_SAMPLE: `value` bytes in `id` objects of the class that the name is,
 * allocated by a stack. Sums that 64 bits cannot hold stay at their end. */

/* What makes two allocations belong to the same row. */
enum tw_alloc_by {
	TW_ALLOC_BY_CLASS,    /* the class */
	TW_ALLOC_BY_FUNCTION, /* the class and the function that allocated: the innermost of the stack */
	TW_ALLOC_BY_STACK,    /* the class and the whole stack */
	TW_ALLOC_BY_THREAD,   /* the class and the thread */
	TW_ALLOC_BY_MODULE    /* the class and the module of the function that allocated */
};

/* One row. Texts live until the handle is freed. */
struct tw_alloc_row {
	const char *name; /* the class */
	/* By function: its name; by stack: its functions from the outermost to the innermost, with ';' between them
	 * (one in a name is ':', as in folded stacks); by thread and module: its name. NULL otherwise, and where there
	 * is none. */
	const char *where;
	uint64_t process, thread; /* by thread */
	uint64_t count;           /* objects */
	uint64_t bytes;
};

struct tw_alloc_options {
	size_t struct_size; /* trackway/status.h */
	enum tw_alloc_by by;
	size_t memory_limit; /* bytes for rows; 0: 256 MiB. Allocations of rows beyond are left out and counted. */
};

struct tw_alloc;

/* Reads a whole trace, not read from. *alloc is set even on failure (NULL only for TW_ERR_MEMORY) and has what was
 * read; free it in any case. options: NULL for the defaults. Returns 0, the negative status of the read, or
 * TW_ERR_VALUE (there are no such rows). */
TW_API int tw_alloc_read(struct tw_alloc **alloc, struct tw_reader *reader, const struct tw_alloc_options *options);

/* Returns row i (from 0) in order of name, where, process and thread; NULL past the last. */
TW_API const struct tw_alloc_row *tw_alloc_row(const struct tw_alloc *alloc, size_t i);

/* Returns how many allocations were left out because the memory limit was reached. */
TW_API uint64_t tw_alloc_left_out(const struct tw_alloc *alloc);

/* Frees; NULL is fine. */
TW_API void tw_alloc_free(struct tw_alloc *alloc);

#ifdef __cplusplus
}
#endif

#endif
