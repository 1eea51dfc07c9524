/* speedscope.c - slices and samples to speedscope's JSON.
 *
 * Source: speedscope's "Importing from custom sources" and its file format schema. What is ours to decide:
 * - A profile for each thread and each thing that is measured: slices are "evented", in nanoseconds since the start of
 *   the trace; samples are "sampled", by ticks, wall time, CPU time or bytes. A thread's events must stand together, so
 *   they wait in a spool, those of slices as records: how much later than the one before it in the block, or since the
 *   start; and twice the frame, and 1 where it closes.
 * - Opens and closes nest, and their times never go back: a time before the last one is told as that one, and counted.
 *   A slice that is open at the end closes with the last event of its thread.
 * - The class of an allocation is its innermost frame. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "export/perfetto/protobuf.h"
#include "export/profiles/measured.h"
#include "export/targets.h"
#include "export/text/labels.h"
#include "export/text/pieces.h"

#include <trackway/version.h>

#include <stdlib.h>
#include <string.h>

enum { TEXTS = 2 * MEASURES }; /* what is sampled has two texts: stacks and weights */

static const char *const units[MEASURES] = {
    [MEASURE_SLICES] = "nanoseconds", [MEASURE_TICKS] = "none",  [MEASURE_WALL] = "nanoseconds",
    [MEASURE_CPU] = "nanoseconds",    [MEASURE_BYTES] = "bytes",
};

struct speedscope_track {
	uint64_t first, last; /* time of the first and last open or close, since the start */
	uint64_t weight[MEASURES];
	bool begun;
};

struct speedscope {
	struct tw_measured measured; /* first */
	struct speedscope_track *tracks;
	size_t track_room;
	struct tw_pieces pieces;
	unsigned jobs;
};

enum {
	MEMORY_PER_FRAME = 64,
	THREAD_COST = 450 /* bytes of a thread, about: its row, its texts and blocks */
};

static size_t text_number(uint32_t track, enum tw_measure measure)
{
	return (size_t)track * TEXTS + 2 * measure;
}

/* ---- Slices. ---- */

/* The time since the start, and not before the last of the track. */
static uint64_t advance(struct speedscope *speedscope, struct speedscope_track *track, uint64_t time)
{
	uint64_t at = tw_measured_since(&speedscope->measured, time);
	if (!track->begun)
		track->first = track->last = at;
	track->begun = true;
	if (at < track->last)
		tw_count_loss(speedscope->measured.writer, "time", true);
	else
		track->last = at;
	return track->last;
}

static void add_event(struct speedscope *speedscope, uint32_t track, bool closes, uint32_t name, uint64_t time)
{
	enum { FIELDS = 2 };
	struct tw_spool *spool = &speedscope->measured.spool;
	struct speedscope_track *known = &speedscope->tracks[track];
	uint64_t frame = tw_frames_of_name(&speedscope->measured.frames, name);
	size_t number = text_number(track, MEASURE_SLICES);
	uint8_t *begin = tw_spool_room(spool, number, FIELDS * TW_PROTO_VARINT_MAX), *end = begin;
	speedscope->measured.line.failed |= frame == UINT32_MAX;
	if (!begin)
		return;
	uint64_t before = tw_spool_text(spool, number)->used ? known->last : 0;
	end = tw_proto_digits(end, advance(speedscope, known, time) - before);
	end = tw_proto_digits(end, frame << 1 | closes);
	tw_spool_took(spool, number, (size_t)(end - begin));
}

static inline uint32_t enter(struct tw_calls *calls, const struct tw_frame *caller, uint32_t name)
{
	struct speedscope *speedscope = (struct speedscope *)calls;
	add_event(speedscope, calls->track, false, name, caller[1].begin);
	return TW_ROW_FIRST;
}

static inline void leave(struct tw_calls *calls, const struct tw_frame *frame, const struct tw_left_call *call,
                         enum tw_call_end how)
{
	(void)how;
	add_event((struct speedscope *)calls, calls->track, true, frame->name, frame->begin + call->duration);
}

/* ---- Samples. ---- */

static void put_sample(void *context, const struct tw_event *event, enum tw_measure measure, uint64_t weight)
{
	struct speedscope *speedscope = context;
	const struct tw_sample_stack *stack = &speedscope->measured.stack;
	struct tw_line *line = &speedscope->measured.line;
	size_t at = text_number(event->track, measure);
	const char *comma = tw_spool_has(&speedscope->measured.spool, at) ? ",\n[" : "\n[";
	tw_line_clear(line);
	tw_line_text(line, comma);
	for (size_t i = 0; i < stack->count; i++) {
		if (i)
			tw_line_text(line, ",");
		tw_line_u64(line, stack->frames[i]);
	}
	tw_line_text(line, "]");
	tw_spool_add(&speedscope->measured.spool, at, line->text.bytes, line->text.length);
	tw_line_clear(line);
	tw_line_add(line, comma, comma[0] == ',');
	tw_line_u64(line, weight);
	tw_spool_add(&speedscope->measured.spool, at + 1, line->text.bytes, line->text.length);
	uint64_t *sum = &speedscope->tracks[event->track].weight[measure];
	*sum = weight > UINT64_MAX - *sum ? UINT64_MAX : *sum + weight;
}

static void take_stack(void *context, const struct tw_event *event)
{
	struct speedscope *speedscope = context;
	(void)event;
	if (speedscope->measured.stack.failed)
		tw_count_loss(speedscope->measured.writer, "frame", false);
}

static const struct tw_measured_hooks hooks = {
    .calls = {.enter = enter, .leave = leave},
    .stack = take_stack,
    .sample = put_sample,
};

/* ---- The file. ---- */

#define EVENT_OPENS ",\n{\"type\":\"O\",\"frame\":"
#define EVENT_CLOSES ",\n{\"type\":\"C\",\"frame\":"
#define EVENT_AT ",\"at\":"

enum {
	RECORD_MIN = 2,
	EVENT_MAX = sizeof EVENT_OPENS EVENT_AT "}" + 2 * TW_DIGITS_MAX,
	EVENTS_MAX = SPOOL_PIECE / RECORD_MIN * EVENT_MAX /* bytes of a block's events */
};

/* Makes the events of a block's records. */
static void make_events(void *context, void *state)
{
	const struct tw_pieces_text *from = context;
	struct tw_piece_text *piece = state;
	uint64_t time = 0;
	char *p = piece->text;
	for (const uint8_t *at = tw_pieces_records(piece, from->spool), *end = at + piece->records.size; at < end;) {
		uint64_t gap, frame;
		at = tw_pieces_number(tw_pieces_number(at, &gap), &frame);
		time += gap;
		memcpy(p, frame & 1 ? EVENT_CLOSES : EVENT_OPENS, sizeof EVENT_OPENS - 1);
		p = tw_digits(p + sizeof EVENT_OPENS - 1, frame >> 1);
		memcpy(p, EVENT_AT, sizeof EVENT_AT - 1);
		p = tw_digits(p + sizeof EVENT_AT - 1, time);
		*p++ = '}';
	}
	piece->end = p;
}

static void put_events(struct speedscope *speedscope, size_t number)
{
	static const struct tw_pipeline_steps work = {.read = tw_pieces_read, .work = make_events};
	struct tw_pieces_text from = {.spool = &speedscope->measured.spool, .cursor.text = number};
	bool several = tw_spool_text(from.spool, number)->blocks > 0; /* and so worth a thread */
	if (!tw_pieces_begin(&speedscope->pieces, &work, &from, EVENTS_MAX, several ? speedscope->jobs : 1))
		speedscope->measured.failed = true;
	tw_pieces_put(&speedscope->pieces, 0, &speedscope->measured.writer->out);
	tw_pieces_end(&speedscope->pieces);
}

static void put_label(struct speedscope *speedscope, const struct tw_track *track, enum tw_measure measure)
{
	struct tw_line *line = &speedscope->measured.line, label = {0};
	tw_label_process(&label, speedscope->measured.dictionary, track->process);
	tw_line_text(&label, ", ");
	tw_label_track(&label, speedscope->measured.dictionary, track);
	tw_line_text(&label, tw_measure_words[measure]);
	tw_line_clear(line);
	tw_line_string(line, label.text.bytes, label.text.length);
	tw_put(&speedscope->measured.writer->out, line->text.bytes, line->text.length);
	speedscope->measured.line.failed |= label.failed;
	tw_text_free(&label.text);
}

static void put_profile(struct speedscope *speedscope, uint32_t number, enum tw_measure measure)
{
	struct tw_output *out = &speedscope->measured.writer->out;
	const struct speedscope_track *track = &speedscope->tracks[number];
	size_t at = text_number(number, measure);
	tw_putf(out, "{\"type\":\"%s\",\"name\":", measure == MEASURE_SLICES ? "evented" : "sampled");
	put_label(speedscope, tw_dictionary_track(speedscope->measured.dictionary, number), measure);
	const char *unit = measure == MEASURE_SLICES && speedscope->measured.instructions ? "none" : units[measure];
	tw_putf(out, ",\"unit\":\"%s\",\"startValue\":%llu,\"endValue\":%llu,", unit,
	        (unsigned long long)(measure == MEASURE_SLICES ? track->first : 0),
	        (unsigned long long)(measure == MEASURE_SLICES ? track->last : track->weight[measure]));
	if (measure == MEASURE_SLICES) {
		tw_put_text(out, "\"events\":[");
		put_events(speedscope, at);
	} else {
		tw_put_text(out, "\"samples\":[");
		tw_spool_put(&speedscope->measured.spool, at, out);
		tw_put_text(out, "],\"weights\":[");
		tw_spool_put(&speedscope->measured.spool, at + 1, out);
	}
	tw_put_text(out, "]}");
}

static void put_frame(struct speedscope *speedscope, uint32_t number)
{
	struct tw_frame_place place =
	    tw_frames_place(&speedscope->measured.frames, speedscope->measured.dictionary, number);
	struct tw_line *line = &speedscope->measured.line, label = {0};
	tw_line_clear(line);
	tw_line_text(line, number ? ",\n{\"name\":" : "\n{\"name\":");
	if (place.name) {
		if (!tw_label_name(&label, tw_dictionary_name(speedscope->measured.dictionary, place.name)))
			tw_count_loss(speedscope->measured.writer, "long name", true);
		tw_line_string(line, label.text.bytes, label.text.length);
	} else if (place.address) {
		tw_line_hex(line, place.address);
	} else {
		tw_line_text(line, "\"(no name)\"");
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
	tw_put(&speedscope->measured.writer->out, line->text.bytes, line->text.length);
	line->failed |= label.failed;
	tw_text_free(&label.text);
}

/* The profile to be shown first, of the thread with the most samples; false where there are none: it is the first. */
static bool find_shown(const struct speedscope *speedscope, uint32_t tracks, unsigned *shown)
{
	uint64_t most = 0;
	unsigned profile = 0;
	for (uint32_t track = 0; track < tracks; track++)
		for (unsigned measure = 0; measure < MEASURES; measure++) {
			if (!tw_spool_has(&speedscope->measured.spool, text_number(track, measure)))
				continue;
			uint64_t samples = measure == MEASURE_TICKS ? speedscope->tracks[track].weight[measure] : 0;
			*shown = samples > most ? profile : *shown;
			most = samples > most ? samples : most;
			profile++;
		}
	return most > 0;
}

static void put_all(struct speedscope *speedscope)
{
	struct tw_output *out = &speedscope->measured.writer->out;
	unsigned profiles = 0, shown = 0;
	tw_putf(out,
	        "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
	        "\"exporter\":\"trackway %s\",\"profiles\":[",
	        tw_version());
	uint32_t tracks = speedscope->measured.dictionary ? tw_dictionary_tracks(speedscope->measured.dictionary) : 0;
	for (uint32_t track = 0; track < tracks; track++)
		for (unsigned measure = 0; measure < MEASURES; measure++)
			if (tw_spool_has(&speedscope->measured.spool, text_number(track, measure))) {
				tw_put_text(out, profiles++ ? ",\n" : "\n");
				put_profile(speedscope, track, measure);
			}
	tw_put_text(out, "],");
	if (find_shown(speedscope, tracks, &shown))
		tw_putf(out, "\"activeProfileIndex\":%u,", shown);
	tw_put_text(out, "\"shared\":{\"frames\":[");
	for (uint32_t number = 0; number < speedscope->measured.frames.count; number++)
		put_frame(speedscope, number);
	tw_put_text(out, "]}}\n");
}

static int open_speedscope(struct tw_writer *writer)
{
	struct speedscope *speedscope = calloc(1, sizeof *speedscope);
	writer->state = speedscope;
	if (!speedscope)
		return tw_writer_fail(writer, TW_ERR_MEMORY, "out of memory");
	tw_measured_init(&speedscope->measured, writer, &hooks, speedscope);
	speedscope->measured.frames.by_source = true;
	return 0;
}

static void take(struct speedscope *speedscope, const struct tw_event *event)
{
	tw_measured_slice(&speedscope->measured, event, enter, leave);
	if (event->kind >= TW_STACK_SAMPLE && event->kind <= TW_ALLOCATION_SAMPLE)
		tw_measured_sample(&speedscope->measured, event);
	else if (event->kind > TW_SLICE_COMPLETE)
		tw_leave_out(speedscope->measured.writer, event);
}

static int write_speedscope(struct tw_writer *writer, const struct tw_reader *reader, const struct tw_batch *batch)
{
	struct speedscope *speedscope = writer->state;
	int status = tw_measured_meet(&speedscope->measured, reader, batch, MEMORY_PER_FRAME);
	uint32_t tracks = tw_dictionary_tracks(speedscope->measured.dictionary);
	speedscope->jobs = reader->options.jobs;
	if (!status && !tw_grow(&speedscope->tracks, &speedscope->track_room, tracks, sizeof *speedscope->tracks))
		status = TW_ERR_MEMORY;
	for (size_t i = 0; i < batch->count && !status; i++)
		take(speedscope, &batch->events[i]);
	return tw_measured_result(&speedscope->measured, status);
}

static int finish_speedscope(struct tw_writer *writer)
{
	struct speedscope *speedscope = writer->state;
	tw_measured_finish(&speedscope->measured);
	put_all(speedscope);
	return tw_measured_result(&speedscope->measured, 0);
}

static void close_speedscope(struct tw_writer *writer)
{
	struct speedscope *speedscope = writer->state;
	tw_measured_free(&speedscope->measured);
	tw_pieces_free(&speedscope->pieces);
	free(speedscope->tracks);
	free(speedscope);
	writer->state = NULL;
}

static const char *const extensions[] = {".speedscope.json", NULL};

const struct tw_target tw_target_speedscope = {
    .name = "speedscope",
    .extensions = extensions,
    .order = TW_ORDER_TRACK,
    .one_stack = true,
    .measures = true,
    .thread_cost = THREAD_COST,
    .no_category = TW_SLICES,
    .no_arguments = TW_SLICES,
    .open = open_speedscope,
    .write = write_speedscope,
    .finish = finish_speedscope,
    .close = close_speedscope,
};
