/* spans.c - spans of time, and where in a file the events are that happen in them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/index/spans.h"

#include "core/calls/calls.h"
#include "core/format.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	FIRST_SHIFT = 10, /* a span is 2^10 ns at first */
	PART_SHIFT = 14,  /* bytes of a part of the file, as a power of 2; more where there would be too many */
	PARTS = 1 << 16,
	SPAN_SIZE = 1 << 19, /* bytes of the file for each span */
	SPANS_LEAST = 16,
	SPANS_MOST = 1 << 14,
	NEEDED = 1 << 16 /* pieces */
};

/* ---- While events go by. ---- */

/* Makes one span of each two. */
static void widen(struct view_spans *spans)
{
	for (uint64_t i = 0; i < spans->most; i++) {
		const uint32_t events = spans->events[i];
		spans->events[i] = 0;
		spans->events[i / 2] += events;
	}
	spans->shift++;
}

/* Of events that follow each other, time and part may be others each time: no jump depends on them. */
void view_spans_take(struct view_spans *spans, const struct tw_batch *batch)
{
	for (size_t i = 0; i < batch->count; i++) {
		const struct tw_event *event = &batch->events[i];
		const uint64_t time = event->time, number = event->offset >> spans->part_shift;
		if (!tw_goes_on(event))
			continue;
		if (event->kind == TW_LOST || time < spans->start || time > INT64_MAX || tw_is_uncertain(event) ||
		    number >= spans->part_count) {
			spans->failed = true;
			return;
		}
		while (view_span_of(spans, time) >= spans->most)
			widen(spans);
		struct view_part_of_file *part = &spans->parts[number];
		part->least = time < part->least ? time : part->least;
		part->most = time > part->most ? time : part->most;
		spans->events[view_span_of(spans, time)]++;
	}
	spans->taken += batch->count;
}

uint64_t view_spans_size(const struct view_spans *spans, uint64_t first, uint64_t last)
{
	uint64_t events = 0;
	for (uint64_t i = first; i <= last && i < spans->most; i++)
		events += spans->events[i];
	return spans->taken ? (uint64_t)((double)events / (double)spans->taken * (double)spans->file.size) : 0;
}

/* ---- Where records are. ---- */

static bool add_needed(struct view_needed *needed, uint64_t offset, uint64_t size)
{
	struct tw_piece *last = needed->count ? &needed->items[needed->count - 1] : NULL;
	if (last && last->offset + last->size == offset) {
		last->size += size;
		return true;
	}
	if (needed->count == NEEDED ||
	    !tw_grow(&needed->items, &needed->room, needed->count + 1, sizeof *needed->items))
		return false;
	needed->items[needed->count++] = (struct tw_piece){.offset = offset, .size = size};
	return true;
}

static bool put_record(void *context, uint64_t offset, uint64_t size, bool needed)
{
	struct view_spans *spans = context;
	const uint64_t number = offset >> spans->part_shift;
	if (number >= spans->part_count || (needed && !add_needed(&spans->needed, offset, size))) {
		spans->failed = true;
		return false;
	}
	struct view_part_of_file *part = &spans->parts[number];
	part->first = part->first == UINT64_MAX ? offset : part->first;
	part->last = offset;
	return true;
}

static void put_border(void *context, uint64_t offset)
{
	struct view_spans *spans = context;
	const uint64_t number = offset >> spans->part_shift;
	if (number < spans->part_count && offset < spans->borders[number])
		spans->borders[number] = offset;
}

uint64_t view_spans_border(const struct view_spans *spans, uint64_t offset)
{
	uint64_t number = offset >> spans->part_shift;
	while (number > 0 && spans->borders[number] > offset)
		number--;
	return spans->borders[number] < offset ? spans->borders[number] : offset;
}

bool view_spans_outline(struct view_spans *spans)
{
	struct tw_reader *reader = NULL;
	if (spans->failed)
		return false;
	int status = tw_open(&reader, spans->path, &spans->options);
	if (status >= 0 && (reader->format != spans->format || reader->log.another_at))
		status = TW_ERR_UNSUPPORTED; /* several logs, one behind the other */
	if (status >= 0)
		status = spans->format->survey.outline(reader, put_record, spans);
	if (status >= 0 && spans->borders)
		spans->format->survey.borders(reader, put_border, spans);
	tw_close(reader);
	return status >= 0 && !spans->failed;
}

/* ---- One for a file. ---- */

/* What is left out, or said in another way, would depend on what is read. */
static bool is_plain(const struct tw_read_options *options)
{
	return !options->threads && !options->provider && !options->function && !options->category &&
	       !options->from_ns && !options->to_ns && !options->min_duration_ns && !options->before &&
	       !options->complete_slices && !options->from_start;
}

static bool make_room(struct view_spans *spans, uint64_t size)
{
	for (spans->part_shift = PART_SHIFT; size >> spans->part_shift >= PARTS; spans->part_shift++)
		;
	spans->file.size = size;
	spans->part_count = (size_t)(size >> spans->part_shift) + 1;
	spans->most = size / SPAN_SIZE;
	spans->most = spans->most < SPANS_LEAST ? SPANS_LEAST : spans->most > SPANS_MOST ? SPANS_MOST : spans->most;
	spans->parts = malloc(spans->part_count * sizeof *spans->parts);
	spans->events = calloc(spans->most, sizeof *spans->events);
	spans->borders = spans->runs ? malloc(spans->part_count * sizeof *spans->borders) : NULL;
	if (!spans->parts || !spans->events || (spans->runs && !spans->borders))
		return false;
	for (size_t i = 0; spans->borders && i < spans->part_count; i++)
		spans->borders[i] = UINT64_MAX;
	for (size_t i = 0; i < spans->part_count; i++)
		spans->parts[i] =
		    (struct view_part_of_file){.first = UINT64_MAX, .last = UINT64_MAX, .least = UINT64_MAX};
	return true;
}

struct view_spans *view_spans_for(const struct tw_format *format, uint64_t size, const char *path,
                                  const struct tw_read_options *options)
{
	if (!format->survey.outline || !is_plain(options))
		return NULL;
	struct view_spans *spans = calloc(1, sizeof *spans);
	if (!spans)
		return NULL;
	spans->shift = FIRST_SHIFT;
	spans->format = format;
	spans->runs = format->survey.borders != NULL;
	spans->options = *options;
	spans->options.format = format->name;
	spans->options.on_finding = NULL;
	spans->options.stop = NULL;
	spans->options.jobs = 1;
	spans->path = strdup(path);
	struct stat status = {0};
	stat(path, &status);
	spans->file.device = status.st_dev;
	spans->file.inode = status.st_ino;
	spans->file.changed = status.st_mtim;
	if (spans->path && make_room(spans, size))
		return spans;
	view_spans_free(spans);
	return NULL;
}

struct view_spans *view_spans_new(const struct tw_reader *reader, const char *path,
                                  const struct tw_read_options *options)
{
	return tw_input_seekable(reader->input)
	           ? view_spans_for(reader->format, tw_input_size(reader->input), path, options)
	           : NULL;
}

void view_spans_free(struct view_spans *spans)
{
	if (!spans)
		return;
	if (spans->leaves)
		spans->again->end(spans->leaves);
	free(spans->needed.items);
	free(spans->events);
	free(spans->borders);
	free(spans->parts);
	free(spans->path);
	free(spans);
}
