/* writer.c - events to an XRay FDR log. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "base/text/plural.h"
#include "core/calls/open_slices.h"
#include "fdr/write.h"

#include <stdlib.h>

enum {
	BUFFER_SIZE = 16384, /* LLVM's default, xray_fdr_flags.inc */
	BUFFER_MIN = 256,
	OPEN_BUFFERS = 1024,   /* threads whose buffer is kept open; the oldest is closed for another */
	OPEN_SLICES = 1 << 20, /* of all threads, for ends without a name */
	LOOKED_AT = 1024       /* complete slices of a thread, for ends without a begin */
};

/* A complete slice whose exit is still to be written. */
struct pending_exit {
	uint64_t end_ns; /* at most the end of the slice around it */
	size_t depth;    /* how many slices with begin and end are open around it */
	uint32_t function;
	bool tail;
};

struct thread_buffer {
	uint8_t *bytes; /* NULL: closed */
	size_t used;
	uint64_t tsc; /* of the last record */
	uint16_t cpu;
	struct pending_exit *pending; /* innermost last */
	size_t pending_count, pending_room;
};

struct fdr_writer {
	struct fdr_writing log;        /* first */
	uint64_t rounding;             /* of the times that are written: ns */
	struct thread_buffer *threads; /* by track */
	size_t thread_room;
	uint32_t open[OPEN_BUFFERS]; /* tracks with an open buffer, in a ring */
	size_t open_first, open_count;
	size_t buffer_size;
	struct tw_open_slices *slices; /* by track, with their function ids */
	size_t slice_tracks;
	struct tw_open_room slice_room;
};

static int no_memory(struct tw_writer *writer)
{
	return tw_writer_fail(writer, TW_ERR_MEMORY, "out of memory");
}

/* ---- Buffers. ---- */

/* Adds a record that is known to fit the format and the buffer. */
static bool add(struct fdr_writer *w, struct thread_buffer *buffer, const struct tw_fdr_record *record)
{
	int n = tw_fdr_encode(record, w->log.header.version, w->log.header.layout, buffer->bytes + buffer->used,
	                      w->buffer_size - buffer->used);
	if (n > 0)
		buffer->used += (size_t)n;
	return n > 0;
}

static void close_buffer(struct tw_writer *writer, struct thread_buffer *buffer)
{
	struct fdr_writer *w = writer->state;
	uint8_t extents[TW_FDR_RECORD_MAX];
	struct tw_fdr_record record = {.kind = TW_FDR_BUFFER_EXTENTS, .value = buffer->used};
	if (!buffer->bytes)
		return;
	if (w->log.header.version == 1)
		add(w, buffer, &(struct tw_fdr_record){.kind = TW_FDR_END_OF_BUFFER});
	int n = tw_fdr_encode(&record, w->log.header.version, w->log.header.layout, extents, sizeof extents);
	if (n > 0)
		tw_put(&writer->out, extents, (size_t)n);
	tw_put(&writer->out, buffer->bytes, buffer->used);
	free(buffer->bytes);
	buffer->bytes = NULL;
}

static uint32_t thread_number(struct tw_writer *writer, uint32_t track, uint64_t koid)
{
	const struct fdr_writer *w = writer->state;
	uint32_t id = fdr_number_of(writer, track, koid), written = fdr_thread_for(&w->log.header, id);
	if (written != id && koid <= UINT32_MAX)
		tw_count_loss(writer, "process or thread id", true);
	return written;
}

static void begin_buffer(struct tw_writer *writer, struct thread_buffer *buffer, uint32_t number, uint64_t ns,
                         uint16_t cpu)
{
	struct fdr_writer *w = writer->state;
	const struct tw_track *track = tw_dictionary_track(w->log.dictionary, number);
	uint32_t process = fdr_number_of(writer, number, track->process);
	uint32_t thread = thread_number(writer, number, track->thread);
	buffer->used = 0;
	buffer->cpu = cpu;
	buffer->tsc = tw_ticks_of(ns, w->log.header.cycle_frequency);
	add(w, buffer, &(struct tw_fdr_record){.kind = TW_FDR_NEW_BUFFER, .value = thread});
	add(w, buffer,
	    &(struct tw_fdr_record){.kind = TW_FDR_WALL_TIME,
	                            .value = ns / TW_NS_PER_SECOND,
	                            .microseconds = (uint32_t)(ns % TW_NS_PER_SECOND / 1000)});
	if (w->log.header.version >= 3)
		add(w, buffer, &(struct tw_fdr_record){.kind = TW_FDR_PID, .value = process});
	add(w, buffer, &(struct tw_fdr_record){.kind = TW_FDR_NEW_CPU_ID, .cpu = cpu, .tsc = buffer->tsc});
}

/* The buffer of a track, open, with `need` bytes left for records; NULL when there is no memory. */
static struct thread_buffer *room_for(struct tw_writer *writer, const struct tw_event *event, uint64_t ns, size_t need)
{
	struct fdr_writer *w = writer->state;
	if (!tw_grow(&w->threads, &w->thread_room, event->track + (size_t)1, sizeof *w->threads))
		return NULL;
	struct thread_buffer *buffer = &w->threads[event->track];
	if (buffer->bytes && w->buffer_size - buffer->used >= need + TW_FDR_METADATA_SIZE)
		return buffer;
	bool was_open = buffer->bytes != NULL;
	close_buffer(writer, buffer);
	if (!was_open && w->open_count == OPEN_BUFFERS) {
		close_buffer(writer, &w->threads[w->open[w->open_first]]);
		w->open_first = (w->open_first + 1) % OPEN_BUFFERS;
		w->open_count--;
	}
	if (!was_open)
		w->open[(w->open_first + w->open_count++) % OPEN_BUFFERS] = event->track;
	buffer->bytes = malloc(w->buffer_size);
	if (buffer->bytes)
		begin_buffer(writer, buffer, event->track, ns, event->cpu);
	return buffer->bytes ? buffer : NULL;
}

/* Moves the counter to a time: the delta that is left for the record, after an absolute count where it must be. */
static uint32_t reach(struct tw_writer *writer, struct thread_buffer *buffer, uint64_t ns, uint16_t cpu)
{
	struct fdr_writer *w = writer->state;
	uint64_t tsc = fdr_ticks_of(writer, ns, w->log.header.cycle_frequency), delta = tsc - buffer->tsc;
	buffer->tsc = tsc;
	if (cpu != buffer->cpu)
		add(w, buffer, &(struct tw_fdr_record){.kind = TW_FDR_NEW_CPU_ID, .cpu = cpu, .tsc = tsc});
	else if (delta > INT32_MAX)
		add(w, buffer, &(struct tw_fdr_record){.kind = TW_FDR_TSC_WRAP, .tsc = tsc});
	else
		return (uint32_t)delta;
	buffer->cpu = cpu;
	return 0;
}

/* ---- Events. ---- */

/* How many of an entry's arguments have a place; the others are counted. */
static unsigned arguments_of_entry(struct tw_writer *writer, const struct tw_event *event,
                                   const struct tw_argument *arguments)
{
	unsigned count = 0;
	while (count < event->argument_count && fdr_is_number(&arguments[count]))
		count++;
	for (unsigned i = count; i < event->argument_count; i++)
		tw_count_loss(writer, "argument that is no number, or after one", false);
	return count;
}

static void count_arguments_of_exit(struct tw_writer *writer, const struct tw_event *event,
                                    const struct tw_argument *arguments)
{
	const struct fdr_writer *w = writer->state;
	for (unsigned i = 0; i < event->argument_count; i++)
		if (!fdr_is_tail_mark(w->log.dictionary, &arguments[i]))
			tw_count_loss(writer, "argument of an exit", false);
}

static int put_call(struct tw_writer *writer, const struct tw_event *event, const struct tw_argument *arguments,
                    struct tw_fdr_record record, uint64_t ns)
{
	struct fdr_writer *w = writer->state;
	unsigned count = 0;
	if (record.kind == TW_FDR_ENTER)
		count = arguments_of_entry(writer, event, arguments);
	else
		count_arguments_of_exit(writer, event, arguments);
	if (count)
		record.kind = TW_FDR_ENTER_ARGS;
	size_t need = TW_FDR_FUNCTION_SIZE + TW_FDR_METADATA_SIZE * (count + (size_t)1);
	if (need + BUFFER_MIN > w->buffer_size)
		return tw_writer_fail(writer, TW_ERR_VALUE,
		                      "a call with %u argument%s does not fit a buffer of %zu bytes", count,
		                      tw_plural(count), w->buffer_size);
	struct thread_buffer *buffer = room_for(writer, event, ns, need);
	if (!buffer)
		return no_memory(writer);
	record.tsc_delta = reach(writer, buffer, ns, event->cpu);
	if (!add(w, buffer, &record)) {
		buffer->tsc -= record.tsc_delta; /* the next delta has to reach over it */
		tw_count_loss(writer, "function id that the byte order cannot hold", false);
		return 0;
	}
	for (unsigned i = 0; arguments && i < count; i++)
		add(w, buffer, &(struct tw_fdr_record){.kind = TW_FDR_CALL_ARGUMENT, .value = arguments[i].value.u});
	return 0;
}

/* Whether the innermost complete slice is over: also just then, unless something inside of it may end then, too. */
static bool is_over(const struct fdr_writer *w, const struct tw_event *event, const struct pending_exit *last,
                    uint64_t ns)
{
	const bool lasts = event->kind == TW_SLICE_COMPLETE && event->value;
	if (last->end_ns == ns && (TW_SLICES >> event->kind & 1) && !lasts)
		return w->slices[event->track].depth <= last->depth;
	return last->end_ns <= ns;
}

enum { SPLIT_MOST = 1024 /* slices that may be split where the slice around them ends */, ROUNDING = 1 /* ns */ };

static const char *const split_loss = "slice that goes on after the end of one around it (split)",
			 *const cut_loss = "slice that overlaps another (one is cut)";

static int put_plain(struct tw_writer *writer, const struct tw_event *event, unsigned kind, uint64_t function,
                     uint64_t ns)
{
	const struct tw_event plain = {.track = event->track, .cpu = event->cpu};
	const struct tw_fdr_record record = {.kind = kind, .function_id = (uint32_t)function};
	return record.function_id == FDR_NO_FUNCTION ? 0 : put_call(writer, &plain, NULL, record, ns);
}

/* Ends the innermost complete slice. What is open inside of it goes on, as calls of their own: an exit ends those above
 * it. Of too many the exits are lost. */
static int close_last(struct tw_writer *writer, const struct tw_event *event, uint64_t ns)
{
	struct fdr_writer *w = writer->state;
	struct thread_buffer *buffer = &w->threads[event->track];
	const struct pending_exit last = buffer->pending[--buffer->pending_count];
	struct tw_open_slices *open = &w->slices[event->track];
	int status = 0;
	while (open->depth > last.depth + SPLIT_MOST)
		tw_open_close(open, &w->slice_room);
	for (size_t i = open->depth; i > last.depth && status >= 0; i--)
		status = put_plain(writer, event, TW_FDR_EXIT, open->slices[i - 1].slot, ns);
	if (status >= 0)
		status = put_plain(writer, event, last.tail ? TW_FDR_TAIL_EXIT : TW_FDR_EXIT, last.function, ns);
	for (size_t i = last.depth; i < open->depth && status >= 0; i++)
		status = put_plain(writer, event, TW_FDR_ENTER, open->slices[i].slot, ns);
	if (open->depth > last.depth)
		tw_count_losses(writer, split_loss, true, open->depth - last.depth);
	return status;
}

/* Writes the exits of complete slices that are over at a time. */
static int close_pending(struct tw_writer *writer, const struct tw_event *event, uint64_t ns)
{
	struct fdr_writer *w = writer->state;
	if (event->track >= w->thread_room)
		return 0;
	int status = 0;
	while (status >= 0 && w->threads[event->track].pending_count) {
		const struct thread_buffer *buffer = &w->threads[event->track];
		const struct pending_exit *last = &buffer->pending[buffer->pending_count - 1];
		if (!is_over(w, event, last, ns))
			break;
		status = close_last(writer, event, last->end_ns);
	}
	return status;
}

/* A slice begins that lasts until *end, or nobody knows how long (UINT64_MAX): the complete slices that are over before
 * are cut, but for those of which only rounding is. */
static int close_shorter(struct tw_writer *writer, const struct tw_event *event, uint64_t *end)
{
	struct fdr_writer *w = writer->state;
	const uint64_t rounding = *end == UINT64_MAX ? w->rounding : ROUNDING;
	int status = 0;
	while (status >= 0 && event->track < w->thread_room && w->threads[event->track].pending_count) {
		const struct thread_buffer *buffer = &w->threads[event->track];
		const struct pending_exit *last = &buffer->pending[buffer->pending_count - 1];
		const uint64_t other = last->end_ns;
		bool soon = other - event->time <= rounding;
		if (other >= *end || (*end == UINT64_MAX && (!soon || !is_over(w, event, last, event->time))))
			break;
		if (!soon && *end - other <= rounding) {
			*end = other;
			break;
		}
		if (!soon)
			tw_count_loss(writer, cut_loss, true);
		status = close_last(writer, event, event->time);
	}
	return status;
}

static int put_complete(struct tw_writer *writer, const struct tw_event *event, const struct tw_argument *arguments,
                        struct tw_fdr_record record)
{
	struct fdr_writer *w = writer->state;
	uint64_t end = tw_event_end(event);
	int status = close_shorter(writer, event, &end);
	if (status >= 0)
		status = put_call(writer, event, arguments, record, event->time);
	if (status < 0)
		return status;
	struct thread_buffer *buffer = &w->threads[event->track];
	if (!tw_grow(&buffer->pending, &buffer->pending_room, buffer->pending_count + 1, sizeof *buffer->pending))
		return no_memory(writer);
	buffer->pending[buffer->pending_count++] = (struct pending_exit){
	    .end_ns = end,
	    .depth = w->slices[event->track].depth,
	    .function = record.function_id,
	    .tail = event->flags & TW_FLAG_TAIL,
	};
	return 0;
}

/* The complete slices that began inside of a slice that ends: numbers of the first of them and of what is behind. */
static size_t first_inside(const struct thread_buffer *buffer, size_t depth)
{
	size_t first = buffer->pending_count;
	while (first > 0 && buffer->pending[first - 1].depth > depth)
		first--;
	return first;
}

/* Writes the exit of a slice, and of the complete slices inside of it, which are deeper. Those that last longer go on
 * as calls of their own. */
static int put_exit(struct tw_writer *writer, const struct tw_event *event, const struct tw_argument *arguments,
                    struct tw_fdr_record record, size_t depth)
{
	struct fdr_writer *w = writer->state;
	struct thread_buffer *buffer = event->track < w->thread_room ? &w->threads[event->track] : NULL;
	const size_t first = buffer ? first_inside(buffer, depth) : 0, count = buffer ? buffer->pending_count : 0;
	size_t kept = first;
	int status = 0;
	for (size_t i = count; i > first && status >= 0; i--)
		status = put_plain(writer, event, TW_FDR_EXIT, buffer->pending[i - 1].function, event->time);
	if (status >= 0)
		status = put_call(writer, event, arguments, record, event->time);
	for (size_t i = first; i < count && status >= 0; i++) {
		if (buffer->pending[i].end_ns - event->time <= ROUNDING)
			continue;
		buffer->pending[kept] = buffer->pending[i];
		buffer->pending[kept].depth = depth;
		status = put_plain(writer, event, TW_FDR_ENTER, buffer->pending[kept++].function, event->time);
		tw_count_loss(writer, split_loss, true);
	}
	if (buffer)
		buffer->pending_count = kept;
	return status;
}

/* Keeps what is open; an end without a name gets the function of the slice that it ends, whose place *place is:
 * SIZE_MAX where there is none. Returns 0 or TW_ERR_MEMORY. */
static int follow(struct fdr_writer *w, const struct tw_event *event, uint32_t *function, size_t *place)
{
	*place = SIZE_MAX;
	if (!tw_grow(&w->slices, &w->slice_tracks, event->track + (size_t)1, sizeof *w->slices))
		return TW_ERR_MEMORY;
	struct tw_open_slices *open = &w->slices[event->track];
	int status = 0;
	if (event->kind == TW_SLICE_COMPLETE)
		return 0;
	if (event->kind == TW_SLICE_BEGIN) {
		status = tw_open_begin(open, &w->slice_room, event->name, *function);
		return status == TW_ERR_LIMIT ? 0 : status;
	}
	if (event->name)
		*function = fdr_function_id(&w->log.functions, w->log.dictionary, event->name, FDR_ID_MAX);
	status = tw_open_match(open, event->name, place);
	while (status == 1 && open->depth > *place)
		*function = (uint32_t)tw_open_close(open, &w->slice_room).slot;
	return status == TW_ERR_MEMORY ? status : 0;
}

/* Whether an exit of a function would end a complete slice. Of many that are open only the innermost are looked at. */
static bool would_end(const struct fdr_writer *w, uint32_t track, uint32_t function)
{
	const struct thread_buffer *buffer = track < w->thread_room ? &w->threads[track] : NULL;
	size_t count = buffer ? buffer->pending_count : 0, left = LOOKED_AT;
	while (count && left && buffer->pending[count - 1].function != function) {
		count--;
		left--;
	}
	return count;
}

static int put_slice(struct tw_writer *writer, const struct tw_event *event, const struct tw_argument *arguments)
{
	struct fdr_writer *w = writer->state;
	struct tw_fdr_record record = {.kind = TW_FDR_ENTER, .function_id = FDR_NO_FUNCTION};
	if (event->kind != TW_SLICE_END)
		record.function_id = fdr_function_id(&w->log.functions, w->log.dictionary, event->name, FDR_ID_MAX);
	size_t place;
	uint64_t end = UINT64_MAX;
	int status = event->kind == TW_SLICE_BEGIN ? close_shorter(writer, event, &end) : 0;
	if (status < 0)
		return status;
	if (follow(w, event, &record.function_id, &place) < 0)
		return no_memory(writer);
	if (record.function_id == FDR_NO_FUNCTION) {
		tw_count_loss(writer, "slice without a function id", false);
		return 0;
	}
	if (event->kind == TW_SLICE_COMPLETE)
		return put_complete(writer, event, arguments, record);
	if (event->kind == TW_SLICE_END && place == SIZE_MAX && would_end(w, event->track, record.function_id)) {
		tw_count_loss(writer, "end without a begin, in a slice of its function", false);
		return 0;
	}
	if (event->kind == TW_SLICE_BEGIN)
		return put_call(writer, event, arguments, record, event->time);
	record.kind = fdr_is_tail(w->log.dictionary, event, arguments) ? TW_FDR_TAIL_EXIT : TW_FDR_EXIT;
	return put_exit(writer, event, arguments, record, place);
}

/* Whether a text may stand for other bytes: formats without bytes (chrome) have their digits instead. */
static bool is_hexadecimal(const struct tw_argument *argument)
{
	for (uint32_t i = 0; i < argument->size; i++)
		if (!argument->value.bytes[i] || !strchr("0123456789abcdef", argument->value.bytes[i]))
			return false;
	return argument->size % 2 == 0;
}

/* Whether an argument is what the reader of these logs calls a payload, which may be text. */
static bool is_payload(const struct fdr_writer *w, const struct tw_argument *argument)
{
	const bool text = argument->type == TW_ARG_TEXT && (w->log.functions.own || !is_hexadecimal(argument));
	return (argument->type == TW_ARG_BYTES || text) && argument->size &&
	       strcmp(tw_dictionary_name(w->log.dictionary, argument->name)->text, "data") == 0;
}

/* By its arguments: `--event` has given it another name. */
static bool is_typed(const struct fdr_writer *w, const struct tw_event *event, const struct tw_argument *arguments)
{
	return event->argument_count == 2 && is_payload(w, &arguments[1]) &&
	       (arguments[0].type == TW_ARG_UINT || arguments[0].type == TW_ARG_INT) &&
	       arguments[0].value.u <= UINT16_MAX &&
	       strcmp(tw_dictionary_name(w->log.dictionary, arguments[0].name)->text, "event_type") == 0;
}

/* A custom or typed event when the instant came from one; otherwise a custom event that holds the name. */
static struct tw_fdr_record event_of(const struct fdr_writer *w, const struct tw_event *event,
                                     const struct tw_argument *arguments, bool *exact)
{
	const struct tw_name *name = tw_dictionary_name(w->log.dictionary, event->name);
	bool typed = is_typed(w, event, arguments);
	bool custom = event->argument_count == 1 && is_payload(w, arguments) && strcmp(name->text, "custom event") == 0;
	struct tw_fdr_record record = {
	    .kind = typed ? TW_FDR_TYPED_EVENT : TW_FDR_CUSTOM_EVENT,
	    .payload = (const uint8_t *)name->text,
	    .payload_size = (uint32_t)name->length,
	};
	*exact = typed || custom;
	if (*exact) {
		const struct tw_argument *data = &arguments[event->argument_count - 1];
		record.event_type = typed ? (uint16_t)arguments[0].value.u : 0;
		record.payload = data->value.bytes;
		record.payload_size = (uint32_t)data->size;
	}
	return record;
}

static int put_instant(struct tw_writer *writer, const struct tw_event *event, const struct tw_argument *arguments)
{
	struct fdr_writer *w = writer->state;
	bool exact;
	struct tw_fdr_record record = event_of(w, event, arguments, &exact);
	size_t need = (size_t)record.payload_size + 2 * (size_t)TW_FDR_METADATA_SIZE;
	if (record.payload_size == 0 || need + BUFFER_MIN > w->buffer_size) {
		tw_count_loss(writer, "event larger than a buffer, or empty", false);
		return 0;
	}
	if (!exact)
		tw_count_loss(writer, "instant", true);
	struct thread_buffer *buffer = room_for(writer, event, event->time, need);
	if (!buffer)
		return no_memory(writer);
	bool absolute = record.kind == TW_FDR_CUSTOM_EVENT && w->log.header.version < 5;
	if (absolute)
		record.tsc = fdr_ticks_of(writer, event->time, w->log.header.cycle_frequency);
	else
		record.tsc_delta = reach(writer, buffer, event->time, event->cpu);
	if (absolute && w->log.header.version == 4)
		record.cpu = event->cpu;
	add(w, buffer, &record);
	return 0;
}

static int put_event(struct tw_writer *writer, const struct tw_event *event, const struct tw_argument *arguments)
{
	int status = close_pending(writer, event, event->time);
	if (status < 0)
		return status;
	switch ((enum tw_event_kind)event->kind) {
	case TW_SLICE_BEGIN:
	case TW_SLICE_END:
	case TW_SLICE_COMPLETE:
		return put_slice(writer, event, arguments);
	case TW_INSTANT:
		return put_instant(writer, event, arguments);
	case TW_COUNTER:
	case TW_ASYNC_BEGIN:
	case TW_ASYNC_INSTANT:
	case TW_ASYNC_END:
	case TW_FLOW_BEGIN:
	case TW_FLOW_STEP:
	case TW_FLOW_END:
	case TW_SWITCH:
	case TW_WAKEUP:
	case TW_STACK_SAMPLE:
	case TW_CPU_SAMPLE:
	case TW_ALLOCATION_SAMPLE:
	case TW_LOG:
	case TW_OBJECT:
	case TW_BLOB:
	case TW_INSTRUCTIONS:
	case TW_LOST:
	case TW_METADATA:
	case TW_EVENT_KINDS:
		break;
	}
	tw_leave_out(writer, event);
	return 0;
}

/* ---- The target. ---- */

static int open_writer(struct tw_writer *writer)
{
	uint64_t asked = writer->options.buffer_size, size = asked ? asked : BUFFER_SIZE;
	int status = fdr_writing_open(writer, sizeof(struct fdr_writer), FDR_VERSION_MAX);
	if (status < 0)
		return status;
	if (size < 2 * BUFFER_MIN || size > INT32_MAX)
		return tw_writer_fail(writer, TW_ERR_VALUE, "a buffer size must be between %d and %d", 2 * BUFFER_MIN,
		                      INT32_MAX);
	struct fdr_writer *w = writer->state;
	w->buffer_size = (size_t)size;
	w->slice_room.limit = OPEN_SLICES;
	w->log.header.type = 1;
	w->log.header.buffer_size = size;
	return 0;
}

static int write_batch(struct tw_writer *writer, const struct tw_reader *reader, const struct tw_batch *batch)
{
	struct fdr_writer *w = writer->state;
	const bool first = w->log.header.cycle_frequency == 0;
	w->rounding = reader->traits.rounding;
	fdr_begin_log(writer, tw_reader_clock(reader));
	if (first && !fdr_put_notes(&writer->out, &w->log.header, reader))
		return no_memory(writer);
	return fdr_write_batch(writer, reader, batch, put_event);
}

static int finish(struct tw_writer *writer)
{
	struct fdr_writer *w = writer->state;
	int status = 0;
	fdr_begin_log(writer, NULL);
	for (uint32_t track = 0; track < w->thread_room && status >= 0; track++)
		status =
		    close_pending(writer, &(struct tw_event){.track = track, .cpu = w->threads[track].cpu}, UINT64_MAX);
	for (size_t track = 0; track < w->thread_room; track++)
		close_buffer(writer, &w->threads[track]);
	return status < 0 ? status : fdr_functions_write(&w->log.functions, w->log.dictionary, writer);
}

static void close_writer(struct tw_writer *writer)
{
	struct fdr_writer *w = writer->state;
	for (size_t i = 0; i < w->thread_room; i++) {
		free(w->threads[i].bytes);
		free(w->threads[i].pending);
	}
	free(w->threads);
	fdr_functions_free(&w->log.functions);
	tw_open_free_all(w->slices, w->slice_tracks);
	free(w);
}

const struct tw_target tw_target_fdr = {
    .name = "xray-fdr",
    .extensions = (const char *const[]){".xray", NULL},
    .order = TW_ORDER_TRACK,
    .one_stack = true,
    .choices = TW_CHOOSES_VERSION | TW_CHOOSES_BYTE_ORDER | TW_CHOOSES_BUFFER_SIZE,
    .beside = (const char *const[]){".functions", NULL}, /* as the tool names the table */
    .no_category = TW_SLICES,
    .open = open_writer,
    .write = write_batch,
    .finish = finish,
    .close = close_writer,
};
