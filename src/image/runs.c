/* runs.c - of each thread the newest chunks without a gap: doc/recording.md, "Reading what is written". */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "image/image.h"

#include <trackway/trace.h>

#include <stdlib.h>

enum { WHICH_BITS = 64 - IMAGE_WRITER_BIT, OWNER_WORDS = 3 };

/* The part that an owner begins. False where it only says whose the next record is. */
static bool read_part(const struct trace_image_record *owner, struct trace_image_part *part)
{
	*part = (struct trace_image_part){
	    .writer = (uint64_t)owner->number << WHICH_BITS | owner->time >> IMAGE_WRITER_BIT,
	    .number = tw_bits(owner->time, 0, IMAGE_WRITER_BIT - 1),
	    .given = owner->second,
	};
	return owner->size >= (size_t)OWNER_WORDS * IMAGE_WORD;
}

bool trace_image_part_add(struct trace_image *image, const struct trace_image_record *owner)
{
	struct trace_image_part part;
	if (!read_part(owner, &part))
		return true;
	if (!tw_grow(&image->parts.items, &image->parts.room, image->parts.count + 1, sizeof part))
		return false;
	image->parts.items[image->parts.count++] = part;
	return true;
}

static int by_number(const void *left, const void *right)
{
	const struct trace_image_part *a = left, *b = right;
	if (a->writer != b->writer)
		return a->writer < b->writer ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

/* A writer's run. A ring's has no gap; but what is damaged is no gap, and takes nothing else with it. Where all of a
 * writer's chunks were given away later, the last of them is a run. */
static struct trace_image_run find_run(const struct trace_image *image, const struct trace_image_part *parts,
                                       size_t count)
{
	bool ring = image->header.mode == TW_TRACE_CIRCULAR;
	size_t end = count;
	while (end && parts[end - 1].given > image->cut)
		end--;
	if (end == 0 && !ring)
		return (struct trace_image_run){.writer = parts->writer, .first = 1, .last = 0};
	size_t last = end ? end - 1 : count - 1, first = last, least = end ? 0 : last;
	bool gaps = !ring || image->damaged;
	while (first > least && (gaps || parts[first].number - parts[first - 1].number <= 1))
		first--;
	return (struct trace_image_run){parts->writer, parts[first].number, parts[last].number};
}

static void count_overwritten(struct trace_image *image, const struct trace_image_run *run,
                              const struct trace_image_part *parts, size_t count)
{
	for (size_t i = 0; i < count && parts[i].number < run->first && run->first <= run->last; i++)
		image->header.now.overwritten += parts[i].bytes;
}

bool trace_image_runs_find(struct trace_image *image)
{
	struct trace_image_part *parts = image->parts.items;
	size_t count = image->parts.count;
	if (count)
		qsort(parts, count, sizeof *parts, by_number);
	for (size_t at = 0, size; at < count; at += size) {
		for (size = 1; at + size < count && parts[at + size].writer == parts[at].writer;)
			size++;
		const struct trace_image_run run = find_run(image, parts + at, size);
		if (!tw_grow(&image->runs.items, &image->runs.room, image->runs.count + 1, sizeof run))
			return false;
		image->runs.items[image->runs.count++] = run;
		count_overwritten(image, &run, parts + at, size);
	}
	return true;
}

static int by_writer(const void *left, const void *right)
{
	const struct trace_image_run *a = left, *b = right;
	return (a->writer > b->writer) - (a->writer < b->writer);
}

bool trace_image_leaves_out(const struct trace_image *image, const struct trace_image_record *owner, bool before)
{
	struct trace_image_part part;
	if (!read_part(owner, &part) || image->runs.count == 0)
		return before;
	const struct trace_image_run wanted = {.writer = part.writer};
	const struct trace_image_run *run =
	    bsearch(&wanted, image->runs.items, image->runs.count, sizeof wanted, by_writer);
	return run && (part.number < run->first || part.number > run->last);
}
