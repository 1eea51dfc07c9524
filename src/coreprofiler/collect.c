/* collect.c - the lines of an image's file, whoever wrote it: nothing in it is trusted. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "coreprofiler/lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORY_MOST = 1 << 30 /* bytes of chunks that are merged at a time; an image needs LINES_WRITERS chunks */ };

struct image {
	const struct lines_source *source;
	int error;
	uint64_t memory; /* bytes of chunks that are loaded */
	struct lines_run *runs;
	size_t count, room;
};

static bool read_at(const struct image *image, uint64_t offset, void *bytes, size_t size)
{
	const struct lines_source *source = image->source;
	return offset <= source->size && size <= source->size - offset &&
	       source->read(source->context, offset, bytes, size);
}

/* How many bytes of lines a run has. */
static uint64_t committed_of(const struct image *image, const struct lines_run *run)
{
	struct lines_chunk chunk;
	if (!read_at(image, run->place, &chunk, sizeof chunk) || chunk.size < sizeof chunk ||
	    chunk.size > LINES_CHUNK_MOST)
		return 0;
	const uint64_t committed = atomic_load_explicit(&chunk.committed, memory_order_relaxed);
	return committed <= chunk.size - sizeof chunk ? committed : 0;
}

static void unload(void *context, struct lines_run *run)
{
	struct image *image = context;
	image->memory -= (uint64_t)(run->end - (const uint8_t *)run->chunk);
	free(run->chunk);
	run->chunk = NULL;
	run->at = run->end = NULL;
}

static bool load(void *context, struct lines_run *run)
{
	struct image *image = context;
	const uint64_t size = committed_of(image, run);
	if (size == 0 || image->error)
		return false;
	image->error = size > MEMORY_MOST - image->memory ? EFBIG : 0;
	uint8_t *bytes = image->error ? NULL : malloc(size);
	if (!bytes) {
		image->error = image->error ? image->error : ENOMEM;
		return false;
	}
	if (!read_at(image, run->place + sizeof(struct lines_chunk), bytes, size)) {
		free(bytes);
		return false;
	}
	image->memory += size;
	run->chunk = (struct lines_chunk *)bytes; /* to be freed */
	run->at = bytes;
	run->end = bytes + size;
	return true;
}

static bool add_run(struct image *image, uint64_t place, uint64_t number)
{
	if (image->count == image->room) {
		const size_t room = image->room ? 2 * image->room : 64;
		struct lines_run *runs = realloc(image->runs, room * sizeof *runs);
		if (!runs)
			return false;
		image->runs = runs;
		image->room = room;
	}
	image->runs[image->count++] = (struct lines_run){.number = number, .place = place};
	return true;
}

/* Chunks follow each other; one whose header is damaged hides no others: they begin at pages. */
static int find_chunks(struct image *image, uint64_t end)
{
	struct lines_chunk chunk;
	uint64_t size;
	for (uint64_t at = LINES_PAGE; at < end && end - at > sizeof chunk + sizeof(struct lines_line); at += size) {
		uint64_t number;
		if (!read_at(image, at, &chunk, sizeof chunk) ||
		    !read_at(image, at + sizeof chunk, &number, sizeof number))
			return EIO;
		size = LINES_PAGE;
		if (chunk.magic != LINES_CHUNK_MAGIC || chunk.size % LINES_PAGE || chunk.size < LINES_PAGE ||
		    chunk.size > end - at)
			continue;
		size = chunk.size;
		if (atomic_load_explicit(&chunk.committed, memory_order_relaxed) && !add_run(image, at, number))
			return ENOMEM;
	}
	return 0;
}

static int take_header(struct image *image, struct lines_summary *summary, uint64_t *end)
{
	const uint64_t size = image->source->size;
	struct lines_header header;
	if (size < LINES_PAGE || !read_at(image, 0, &header, sizeof header) || header.magic != LINES_MAGIC ||
	    header.version != LINES_VERSION)
		return EINVAL;
	const uint64_t chunks = atomic_load_explicit(&header.chunks, memory_order_relaxed);
	*end = chunks <= size - LINES_PAGE ? LINES_PAGE + chunks : size;
	summary->process = header.process;
	summary->lost = atomic_load_explicit(&header.lost, memory_order_relaxed);
	summary->ended = atomic_load_explicit(&header.state, memory_order_relaxed) == LINES_ENDED;
	return 0;
}

/* The log tells of lines that had no room, whoever reads it. */
static void report_lost(const struct lines_summary *summary, bool (*take)(void *context, const char *text, size_t size),
                        void *context)
{
	char line[64];
	const int size = snprintf(line, sizeof line, "prf cfg LostRecords %llu\n", (unsigned long long)summary->lost);
	if (summary->lost)
		take(context, line, (size_t)size);
}

int lines_collect(const struct lines_source *source, bool (*take)(void *context, const char *text, size_t size),
                  void *context, struct lines_summary *summary)
{
	struct image image = {.source = source};
	uint64_t end = 0;
	*summary = (struct lines_summary){0};
	int error = take_header(&image, summary, &end);
	error = error ? error : find_chunks(&image, end);
	struct lines_merge merge = {
	    .runs = image.runs, .count = image.count, .load = load, .done = unload, .context = &image};
	const char *text;
	size_t size;
	if (error == 0 && !lines_merge_begin(&merge))
		error = ENOMEM;
	bool more = error == 0;
	while (more && lines_merge_next(&merge, &text, &size)) {
		more = take(context, text, size);
		summary->lines += more;
		summary->bytes += more ? size : 0;
	}
	if (more)
		report_lost(summary, take, context);
	lines_merge_end(&merge);
	free(image.runs);
	return error ? error : image.error;
}
