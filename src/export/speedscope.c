/* speedscope.c - slices and samples to speedscope's JSON.
 *
 * Source: speedscope's "Importing from custom sources" and its file format schema. What is ours to decide:
 * - A profile for each thread and each thing that is measured: slices are "evented", in nanoseconds since the start of the
 *   trace; samples are "sampled", by ticks, wall time, CPU time or bytes. A thread's events must stand together, so they wait
 *   in a spool.
 * - Opens and closes nest, and their times never go back: a time before the last one is told as that one, and counted. A slice
 *   that is open at the end closes with the last event of its thread.
 * - The class of an allocation is its innermost frame. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "export/frames.h"
#include "export/labels.h"
#include "export/line.h"
#include "export/slices.h"
#include "export/spool.h"
#include "export/targets.h"

#include <trackway/version.h>

/* What is measured. A sampled one has two texts: stacks and weights. */
enum measure { SLICES, TICKS, WALL, CPU, BYTES, MEASURES };
enum { LANES = 2 * MEASURES };

static const struct {
	const char *unit, *word;
} measures[MEASURES] = {
    [SLICES] = {"nanoseconds", ""},           [TICKS] = {"none", " (samples)"},
    [WALL] = {"nanoseconds", " (wall time)"}, [CPU] = {"nanoseconds", " (CPU time)"},
    [BYTES] = {"bytes", " (allocated)"},
};

struct speedscope_track {
	uint64_t first, last; /* time of the first and last open or close, since the start */
	uint64_t weight[MEASURES];
	bool begun;
};

struct speedscope {
	struct tw_writer *writer;
	const struct tw_dictionary *dictionary;
	const struct tw_batch *batch;
	struct tw_slices slices;
	struct tw_frames frames;
	struct tw_spool spool;
	struct tw_sample_stack stack;
	struct speedscope_track *tracks;
	size_t track_room;
	uint64_t start;
	struct tw_line line;
	bool begun;
};

enum { MEMORY_PER_FRAME = 64 };

static size_t lane(uint32_t track, enum measure measure)
{
	return (size_t)track * LANES + 2 * measure;
}

/* ---- Slices. ---- */

/* The time since the start, and not before the last of the track. */
static uint64_t advance(struct speedscope *speedscope, struct speedscope_track *track, uint64_t time)
{
	uint64_t at = time > speedscope->start ? time - speedscope->start : 0;
	if (!track->begun)
		track->first = track->last = at;
	track->begun = true;
	if (at < track->last)
		tw_count_loss(speedscope->writer, "time", true);
	else
		track->last = at;
	return track->last;
}

static void put_event(struct speedscope *speedscope, uint32_t track, char type, uint32_t name, uint64_t time)
{
	static const char head[] = ",\n{\"type\":\" \",\"frame\":", at[] = ",\"at\":";
	char text[sizeof head + sizeof at + 2 * 20], *p = text;
	uint32_t frame = tw_frames_number(&speedscope->frames, FRAME_OF_NAME, name);
	struct speedscope_track *known = &speedscope->tracks[track];
	bool first = !known->begun;
	speedscope->line.failed |= frame == UINT32_MAX;
	memcpy(p, head, sizeof head - 1);
	p[11] = type;
	p = tw_digits(p + sizeof head - 1, frame);
	memcpy(p, at, sizeof at - 1);
	p = tw_digits(p + sizeof at - 1, advance(speedscope, known, time));
	*p++ = '}';
	tw_spool_add(&speedscope->spool, lane(track, SLICES), text + first, (size_t)(p - text) - first);
}

static uint32_t begin_slice(void *context, const struct tw_event *event, uint32_t caller)
{
	(void)caller;
	put_event(context, event->track, 'O', event->name, event->time);
	return TW_ROW_FIRST;
}

static void end_slice(void *context, const struct tw_slice_end *end)
{
	put_event(context, end->track, 'C', end->name, end->time);
}

static const struct tw_slice_hooks slice_hooks = {.begin = begin_slice, .end = end_slice};

/* ---- Samples. ---- */

static void put_sample(struct speedscope *speedscope, const struct tw_event *event, enum measure measure,
                       uint64_t weight)
{
	const struct tw_sample_stack *stack = &speedscope->stack;
	struct tw_line *line = &speedscope->line;
	size_t at = lane(event->track, measure);
	const char *comma = tw_spool_has(&speedscope->spool, at) ? ",\n[" : "\n[";
	tw_line_clear(line);
	tw_line_text(line, comma);
	for (size_t i = 0; i < stack->count; i++) {
		if (i)
			tw_line_text(line, ",");
		tw_line_u64(line, stack->frames[i]);
	}
	tw_line_text(line, "]");
	tw_spool_add(&speedscope->spool, at, line->text.bytes, line->text.length);
	tw_line_clear(line);
	tw_line_add(line, comma, comma[0] == ',');
	tw_line_u64(line, weight);
	tw_spool_add(&speedscope->spool, at + 1, line->text.bytes, line->text.length);
	uint64_t *sum = &speedscope->tracks[event->track].weight[measure];
	*sum = weight > UINT64_MAX - *sum ? UINT64_MAX : *sum + weight;
}

/* What the value of a sample measures; a stack sample may have a wall time too. */
static const enum measure first_measures[] = {
    [0] = TICKS, /* TW_STACK_SAMPLE */
    [TW_CPU_SAMPLE - TW_STACK_SAMPLE] = CPU,
    [TW_ALLOCATION_SAMPLE - TW_STACK_SAMPLE] = BYTES,
};

static void take_sample(struct speedscope *speedscope, const struct tw_event *event)
{
	tw_frames_of_sample(&speedscope->frames, speedscope->dictionary, speedscope->batch, event, &speedscope->stack);
	if (speedscope->stack.cut)
		tw_count_loss(speedscope->writer, "deep stack", true);
	if (speedscope->stack.failed)
		tw_count_loss(speedscope->writer, "frame", false);
	if (event->kind == TW_STACK_SAMPLE && event->id)
		put_sample(speedscope, event, WALL, event->id);
	put_sample(speedscope, event, first_measures[event->kind - TW_STACK_SAMPLE], event->value);
	if (event->kind == TW_ALLOCATION_SAMPLE)
		tw_count_loss(speedscope->writer, tw_event_kind_name(event->kind), true);
}

/* ---- The file. ---- */

static void put_label(struct speedscope *speedscope, const struct tw_track *track, enum measure measure)
{
	struct tw_line *line = &speedscope->line, label = {0};
	tw_label_process(&label, speedscope->dictionary, track->process);
	tw_line_text(&label, ", ");
	tw_label_track(&label, speedscope->dictionary, track);
	tw_line_text(&label, measures[measure].word);
	tw_line_clear(line);
	tw_line_string(line, label.text.bytes, label.text.length);
	tw_put(&speedscope->writer->out, line->text.bytes, line->text.length);
	speedscope->line.failed |= label.failed;
	tw_text_free(&label.text);
}

static void put_profile(struct speedscope *speedscope, uint32_t number, enum measure measure)
{
	struct tw_output *out = &speedscope->writer->out;
	const struct speedscope_track *track = &speedscope->tracks[number];
	size_t at = lane(number, measure);
	tw_putf(out, "{\"type\":\"%s\",\"name\":", measure == SLICES ? "evented" : "sampled");
	put_label(speedscope, tw_dictionary_track(speedscope->dictionary, number), measure);
	tw_putf(out, ",\"unit\":\"%s\",\"startValue\":%llu,\"endValue\":%llu,", measures[measure].unit,
	        (unsigned long long)(measure == SLICES ? track->first : 0),
	        (unsigned long long)(measure == SLICES ? track->last : track->weight[measure]));
	tw_put_text(out, measure == SLICES ? "\"events\":[" : "\"samples\":[");
	tw_spool_put(&speedscope->spool, at, out);
	if (measure != SLICES) {
		tw_put_text(out, "],\"weights\":[");
		tw_spool_put(&speedscope->spool, at + 1, out);
	}
	tw_put_text(out, "]}");
}

static void put_frame(struct speedscope *speedscope, uint32_t number)
{
	struct tw_frame_place place = tw_frames_place(&speedscope->frames, speedscope->dictionary, number);
	struct tw_line *line = &speedscope->line, label = {0};
	tw_line_clear(line);
	tw_line_text(line, number ? ",\n{\"name\":" : "\n{\"name\":");
	if (place.name) {
		if (!tw_label_name(&label, tw_dictionary_name(speedscope->dictionary, place.name)))
			tw_count_loss(speedscope->writer, "long name", true);
		tw_line_string(line, label.text.bytes, label.text.length);
	} else if (place.address) {
		tw_line_hex(line, place.address);
	} else {
		tw_line_text(line, "\"\"");
	}
	if (place.file) {
		tw_line_text(line, ",\"file\":");
		tw_line_string(line, place.file, place.file_length);
	}
	if (place.file && place.line) {
		tw_line_text(line, ",\"line\":");
		tw_line_u64(line, place.line);
	}
	tw_line_text(line, "}");
	tw_put(&speedscope->writer->out, line->text.bytes, line->text.length);
	line->failed |= label.failed;
	tw_text_free(&label.text);
}

static void put_all(struct speedscope *speedscope)
{
	struct tw_output *out = &speedscope->writer->out;
	unsigned profiles = 0;
	tw_putf(
	    out,
	    "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"trackway %s\",\"profiles\":[",
	    tw_version());
	uint32_t tracks = speedscope->dictionary ? tw_dictionary_tracks(speedscope->dictionary) : 0;
	for (uint32_t track = 0; track < tracks; track++)
		for (unsigned measure = 0; measure < MEASURES; measure++)
			if (tw_spool_has(&speedscope->spool, lane(track, measure))) {
				tw_put_text(out, profiles++ ? ",\n" : "\n");
				put_profile(speedscope, track, measure);
			}
	tw_put_text(out, "],\"shared\":{\"frames\":[");
	for (uint32_t number = 0; number < speedscope->frames.count; number++)
		put_frame(speedscope, number);
	tw_put_text(out, "]}}\n");
}

static int fail(struct speedscope *speedscope, int status)
{
	int error = speedscope->spool.error;
	if (error && error != ENOMEM)
		return tw_writer_fail(speedscope->writer, TW_ERR_SYSTEM, "temporary file: %s", strerror(error));
	if (error || speedscope->line.failed)
		status = TW_ERR_MEMORY;
	return status < 0 ? tw_writer_fail(speedscope->writer, status, "%s", tw_status_text(status)) : 0;
}

static int open_speedscope(struct tw_writer *writer)
{
	struct speedscope *speedscope = calloc(1, sizeof *speedscope);
	writer->state = speedscope;
	if (!speedscope)
		return tw_writer_fail(writer, TW_ERR_MEMORY, "out of memory");
	speedscope->writer = writer;
	speedscope->spool.fd = -1;
	return 0;
}

static int begin(struct speedscope *speedscope, const struct tw_reader *reader)
{
	speedscope->begun = true;
	speedscope->start = tw_reader_clock(reader)->start_ns;
	speedscope->spool.directory = reader->options.temporary_directory;
	speedscope->spool.memory_limit = tw_memory_limit(reader) / SPOOL_SHARE;
	speedscope->frames.limit = tw_memory_limit(reader) / MEMORY_PER_FRAME;
	speedscope->frames.by_source = true;
	return tw_slices_init(&speedscope->slices, speedscope->writer, reader, &slice_hooks, speedscope);
}

static void take(struct speedscope *speedscope, const struct tw_event *event)
{
	tw_slices_take(&speedscope->slices, event);
	if (event->kind >= TW_STACK_SAMPLE && event->kind <= TW_ALLOCATION_SAMPLE)
		take_sample(speedscope, event);
	else if (event->kind > TW_SLICE_COMPLETE)
		tw_count_loss(speedscope->writer, tw_event_kind_name(event->kind), false);
}

static int write_speedscope(struct tw_writer *writer, const struct tw_reader *reader, const struct tw_batch *batch)
{
	struct speedscope *speedscope = writer->state;
	speedscope->dictionary = tw_reader_dictionary(reader);
	speedscope->batch = batch;
	int status = speedscope->begun ? 0 : begin(speedscope, reader);
	uint32_t tracks = tw_dictionary_tracks(speedscope->dictionary);
	if (!status && !tw_grow(&speedscope->tracks, &speedscope->track_room, tracks, sizeof *speedscope->tracks))
		status = TW_ERR_MEMORY;
	for (size_t i = 0; i < batch->count && !status; i++)
		take(speedscope, &batch->events[i]);
	return fail(speedscope, status);
}

static int finish_speedscope(struct tw_writer *writer)
{
	struct speedscope *speedscope = writer->state;
	if (speedscope->begun)
		tw_slices_finish(&speedscope->slices);
	put_all(speedscope);
	return fail(speedscope, 0);
}

static void close_speedscope(struct tw_writer *writer)
{
	struct speedscope *speedscope = writer->state;
	if (speedscope->begun)
		tw_slices_free(&speedscope->slices);
	tw_frames_free(&speedscope->frames);
	tw_spool_free(&speedscope->spool);
	free(speedscope->tracks);
	tw_text_free(&speedscope->line.text);
	free(speedscope);
	writer->state = NULL;
}

static const char *const extensions[] = {".speedscope.json", NULL};

const struct tw_target tw_target_speedscope = {
    .name = "speedscope",
    .title = "speedscope's JSON",
    .extensions = extensions,
    .order = TW_ORDER_TRACK,
    .open = open_speedscope,
    .write = write_speedscope,
    .finish = finish_speedscope,
    .close = close_speedscope,
};
