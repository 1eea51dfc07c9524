/* image.h - images: the shared pages of a traced program (trace/image.h), which become an archive when they are read.
 *
 * Nothing that stands in one is trusted, and the program may write it at this moment: every chunk is copied, and taken
 * where it is whose it was before. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IMAGE_IMAGE_H
#define IMAGE_IMAGE_H

#include "base/bytes/input.h"
#include "base/bytes/output.h"
#include "base/memory/memory.h"
#include "trace/image.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fxt_images;

/* ---- times.c: ticks to nanoseconds of CLOCK_MONOTONIC, by pairs of both. ---- */

struct trace_image_times {
	struct image_pair *pairs; /* sorted; in pieces between them the clock runs evenly */
	size_t count, room;
	bool plain; /* ticks are nanoseconds */
	uint64_t ticks_per_second;
};

/* Notes a pair. False without memory. */
bool trace_image_times_add(struct trace_image_times *times, struct image_pair pair);

/* All pairs are there. */
void trace_image_times_fit(struct trace_image_times *times);
uint64_t trace_image_time(const struct trace_image_times *times, uint64_t ticks);

/* ---- records.c ---- */

/* A record of a chunk. */
struct trace_image_record {
	const uint8_t *at;
	size_t size; /* bytes */
	unsigned kind;
	unsigned arguments;
	uint32_t number;        /* label, string, thread */
	uint64_t time, second;  /* words 1 and 2, where there are */
	const uint8_t *payload; /* arguments; the text or bytes of others */
	uint64_t payload_size;
};

/* Takes the record at the beginning of some bytes. False where there is none that is whole. */
bool trace_image_record(const uint8_t *bytes, size_t left, struct trace_image_record *record);

/* An argument of a record. */
struct trace_image_argument {
	unsigned type; /* enum tw_trace_type */
	uint32_t name;
	uint64_t number;
	const uint8_t *bytes; /* of text and bytes, otherwise NULL; number is their size */
};

/* Takes the argument at *at, and moves behind it. The record has been taken: it is whole. */
void trace_image_argument(const uint8_t **at, struct trace_image_argument *argument);

/* ---- load.c ---- */

struct trace_image_text {
	uint64_t offset; /* in `texts` */
	uint32_t length;
	bool defined;
};

struct trace_image_thread {
	uint64_t process, thread;
	uint32_t name; /* string; 0: none */
	bool defined;
	uint64_t dropped;           /* events */
	size_t first_scope, scopes; /* that were open */
};

/* A chunk of events. */
struct trace_image_chunk {
	uint64_t offset, committed;
	uint64_t owner;
	uint64_t taken; /* ticks: when it became a thread's */
	uint64_t least; /* ns: when its first event begins; UINT64_MAX: it has none */
	bool kept;      /* copied, where the image has a copy */
};

/* What a writer of a thread has in a chunk: the records behind a long owner. */
struct trace_image_part {
	uint64_t writer; /* the thread, then 8 bits: which of its writers */
	uint64_t number; /* of the chunk, among the writer's */
	uint64_t given;  /* among all that were given away */
	uint64_t bytes;
};

/* The chunks of a writer that are taken, by their numbers. */
struct trace_image_run {
	uint64_t writer, first, last;
};

/* A scope that was open. */
struct trace_image_scope {
	uint64_t begin; /* ticks */
	uint32_t label, thread;
	bool closed; /* its end has been committed after all */
};

struct trace_image {
	struct tw_input *input;
	struct image_header header;
	struct trace_image_times times;
	struct tw_text texts;
	struct {
		struct trace_image_text *items;
		size_t count, room;
	} strings;
	struct {
		struct {
			uint32_t category, name;
		} * items;
		size_t count, room;
	} labels;
	struct {
		struct trace_image_thread *items;
		size_t count, room;
	} threads;
	struct {
		struct trace_image_chunk *items;
		size_t count, room;
	} chunks;
	struct {
		struct trace_image_scope *items;
		size_t count, room;
	} scopes;
	struct {
		struct trace_image_part *items;
		size_t count, room;
	} parts;
	struct {
		struct trace_image_run *items; /* by writer */
		size_t count, room;
	} runs;
	uint64_t cut; /* chunks that were given away later are left out */
	int copy;     /* the file that chunks of events have been copied into */
	bool copied;
	struct tw_text objects; /* records */
	uint64_t dropped;
	uint64_t damaged; /* bytes of what is no record, or no chunk */
	uint64_t damage;  /* where the first of them stand */
};

/* Whether bytes are the beginning of an image. */
bool trace_image_probe(const uint8_t *bytes, size_t size);

/* Reads what is in an image, but for the events. The input must be seekable, and outlive it. Returns 0 or a negative
 * status: TW_ERR_FORMAT where it has no header that can be read. directory: where a ring that may be written is copied
 * to, into a file without a name; NULL: /tmp. */
int trace_image_load(struct trace_image *image, struct tw_input *input, const char *directory);
void trace_image_free(struct trace_image *image);

/* Copies the records of a chunk into IMAGE_CHUNK_MOST bytes. Returns how many bytes, 0 where the chunk has become
 * another's meanwhile, or a negative status. */
int64_t trace_image_copy(const struct trace_image *image, const struct trace_image_chunk *chunk, uint8_t *bytes);

/* ---- runs.c ---- */

/* Notes what an owner begins, where it says which chunk that is. False without memory. */
bool trace_image_part_add(struct trace_image *image, const struct trace_image_record *owner);

/* All parts are there. False without memory. */
bool trace_image_runs_find(struct trace_image *image);

/* Whether what follows an owner is not in the run of its writer. Where the owner does not say which chunk it is in,
 * that is as it was before it. */
bool trace_image_leaves_out(const struct trace_image *image, const struct trace_image_record *owner, bool before);

/* ---- archive.c ---- */

/* Writes images as one archive, in order of time, a provider each. memory: bytes that chunks may take at a time.
 * Returns 0 or a negative status; what could not be written shows in out->error. */
int trace_images_write(struct trace_image *const *images, size_t count, struct tw_output *out, uint64_t memory);

/* ---- open.c ---- */

/* For formats.c. */
extern const struct fxt_images trace_images;

#endif
