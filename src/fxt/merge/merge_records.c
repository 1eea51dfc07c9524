/* merge_records.c - several FXT archives merged straight to the records of one.
 *
 * Threads that read ahead have made nearly all events records (merge_events.c). From every chunk that is open, the
 * events up to some time are taken, a few thousand in all, sorted at once, and their records are copied to the output.
 * That time lies before the end of every open chunk, and no chunk that is still to come begins before it. Events that
 * are no records are rows, which go through the writer one by one. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/loops.h"
#include "base/memory/memory.h"
#include "core/merge/merge.h"
#include "fxt/fxt.h"
#include "fxt/write/writer.h"

#include <stdlib.h>
#include <string.h>

/* An archive that has events. */
struct fxt_merge_input {
	struct tw_merge_input *input;
	struct fxt_reader *fxt;
	uint64_t last; /* time of the last event that was written, in the archive */
	bool has_next; /* there is another chunk to be opened; */
	uint64_t next; /* when it begins, in the merged trace */
};

/* A chunk that events are taken from. */
struct fxt_merge_open {
	struct fxt_merge_input *input;
	struct fxt_chunk *chunk;
	const struct fxt_merge_event *next, *end;
	uint64_t late_until; /* events before this came too late: later ones had been written */
	/* merge_records.c: how many of these may be taken, 0 until that is decided; times of the first and the last in
	 * the merged trace; and how many have been taken. */
	size_t share;
	uint64_t head, bound;
	size_t taken;
};

struct fxt_merge_chunks {
	struct tw_writer *writer;
	struct tw_reader *merged;
	struct fxt_pool *pool;
	struct fxt_merge_input inputs[TW_MERGE_DIRECT]; /* in the order of the command line */
	size_t count, unended;
	struct fxt_merge_open *open; /* by input, and by place in the archive */
	size_t open_count, open_room;
};

/* ---- The chunks of the archives, opened when their time comes ---- */

static int fail(const struct fxt_merge_chunks *chunks, const struct tw_reader *reader, int status)
{
	return tw_fail(chunks->merged, status, "%s", tw_reader_error(reader));
}

/* Finds when the next chunk of an archive begins. */
static void find_next(struct fxt_merge_input *input)
{
	const struct fxt_chunk *chunk = fxt_next_chunk(input->fxt);
	input->has_next = chunk;
	input->next = chunk ? tw_merge_time(&input->input->time, chunk->merge.least) : 0;
}

/* Goes on with an archive after a chunk of it was made or closed. Returns 0 or a negative status. */
static int go_on(struct fxt_merge_chunks *chunks, struct fxt_merge_input *input)
{
	struct tw_reader *reader = input->input->reader;
	int status = fxt_hold_chunks(reader);
	if (status < 0)
		return fail(chunks, reader, status);
	find_next(input);
	if (status > 0)
		return 0;
	chunks->unended--;
	return tw_merge_end(chunks->merged, input->input);
}

static bool stands_before(const struct fxt_merge_open *open, const struct fxt_merge_input *input,
                          const struct fxt_chunk *chunk)
{
	if (open->input != input)
		return open->input < input;
	return fxt_offset(open->chunk, open->chunk->begin) < fxt_offset(chunk, chunk->begin);
}

static int add(struct fxt_merge_chunks *chunks, struct fxt_merge_input *input, struct fxt_chunk *chunk)
{
	size_t place = chunks->open_count;
	if (!tw_grow(&chunks->open, &chunks->open_room, chunks->open_count + 1, sizeof *chunks->open))
		return tw_fail(chunks->merged, TW_ERR_MEMORY, "out of memory");
	for (; place > 0 && !stands_before(&chunks->open[place - 1], input, chunk); place--)
		chunks->open[place] = chunks->open[place - 1];
	chunks->open[place] = (struct fxt_merge_open){
	    .input = input,
	    .chunk = chunk,
	    .next = chunk->merge.events.events,
	    .end = chunk->merge.events.events + chunk->merge.events.count,
	    .late_until = input->last,
	};
	chunks->open_count++;
	return 0;
}

static struct fxt_merge_input *next_input(struct fxt_merge_chunks *chunks, uint64_t until)
{
	struct fxt_merge_input *next = NULL;
	for (size_t i = 0; i < chunks->count; i++) {
		struct fxt_merge_input *input = &chunks->inputs[i];
		if (input->has_next && (next ? input->next < until : input->next <= until)) {
			next = input;
			until = input->next;
		}
	}
	return next;
}

static int open_next(struct fxt_merge_chunks *chunks, struct fxt_merge_input *input)
{
	struct fxt_chunk *chunk;
	int status = fxt_open_chunk(input->input->reader, &chunk);
	if (status < 0)
		return fail(chunks, input->input->reader, status);
	if (!chunk)
		return go_on(chunks, input);
	find_next(input);
	return add(chunks, input, chunk);
}

/* Those that come before the time that became 0 are among them. */
static void note_late(const struct fxt_merge_chunks *chunks, const struct fxt_merge_open *open,
                      const struct fxt_merge_event *event)
{
	struct tw_sorter *sorter = &open->input->fxt->sorter;
	if (tw_merge_raises(&open->input->input->time, event->time))
		tw_count_loss(chunks->writer, "time", true);
	sorter->last = open->late_until;
	tw_sorter_note_late(sorter, event->time, fxt_offset(open->chunk, event->place));
}

static void pass_taken(const struct fxt_merge_chunks *chunks, struct fxt_merge_open *open)
{
	if (open->taken == 0)
		return;
	const struct fxt_merge_event *to = open->next + open->taken;
	for (; open->next < to && open->next->time < open->late_until; open->next++)
		note_late(chunks, open, open->next);
	open->next = to;
	open->taken = open->share = 0;
	open->input->last = to[-1].time > open->input->last ? to[-1].time : open->input->last;
}

static int close_chunk(struct fxt_merge_chunks *chunks, struct fxt_merge_open *open)
{
	struct fxt_merge_input *input = open->input;
	fxt_close_chunk(input->fxt, open->chunk);
	chunks->open_count--;
	memmove(open, open + 1, (size_t)(chunks->open + chunks->open_count - open) * sizeof *open);
	return go_on(chunks, input);
}

/* ---- The beginning. ---- */

/* Goes to the first event of an archive, if there is one. Returns 0 or a negative status. */
static int begin_input(struct fxt_merge_chunks *chunks, struct tw_merge_input *input)
{
	struct tw_reader *reader = input->reader;
	struct fxt_chunk *chunk = NULL;
	int status = fxt_hold_chunks(reader);
	while (status > 0 && !chunk) {
		status = fxt_open_chunk(reader, &chunk);
		status = status < 0 || chunk ? status : fxt_hold_chunks(reader);
	}
	if (status < 0)
		return fail(chunks, reader, status);
	input->trace->some = chunk;
	if (!chunk)
		return 0;
	struct fxt_merge_input *added = &chunks->inputs[chunks->count++];
	*added = (struct fxt_merge_input){.input = input, .fxt = reader->state};
	chunks->unended++;
	return add(chunks, added, chunk);
}

/* Records are made ahead where ticks are nanoseconds and words little endian, as they are unless somebody wants
 * others. */
static bool makes_records(const struct tw_write_options *options)
{
	bool big = options->byte_order == TW_BYTES_BIG || options->byte_order == TW_BYTES_BIG_LSB;
	return tw_loop_is_on(TW_LOOP_MERGE_RECORDS) && !big &&
	       (options->ticks_per_second == 0 || options->ticks_per_second == TW_NS_PER_SECOND);
}

static int begin_chunks(struct fxt_merge_chunks *chunks)
{
	struct tw_merge *merge = chunks->merged->state;
	int status = 0;
	for (size_t i = 0; i < merge->count && status == 0; i++) {
		status = fxt_start_merge(merge->inputs[i].reader, chunks->pool);
		status = status < 0 ? fail(chunks, merge->inputs[i].reader, status) : 0;
	}
	for (size_t i = 0; i < merge->count && status == 0; i++)
		status = begin_input(chunks, &merge->inputs[i]);
	status = status < 0 ? status : tw_merge_align(chunks->merged);
	for (size_t i = 0; i < chunks->count && status == 0; i++) {
		struct fxt_merge_input *input = &chunks->inputs[i];
		find_next(input);
		if (makes_records(&chunks->writer->options))
			fxt_merge_names_begin(&input->fxt->names, input->fxt->pipeline, input->input);
	}
	return status;
}

enum {
	SLOT = 8192,     /* events that are sorted at once, at most: they stay in a near cache (`make bench`, merge) */
	QUOTA_LEAST = 8, /* but at least so many of each chunk, however many there are */
	SPAN_BITS = 40   /* of ns that the events of a slot may span, so that time and number fit one key */
};

/* A row in the slot. */
struct taken {
	const struct fxt_merge_event *event;
	const struct fxt_merge_open *from;
};

/* Events that are sorted at once, numbered as they are taken, chunk by chunk: those of one time stay in the order of
 * the command line, and of their archive. */
struct slot {
	size_t room, most, count; /* events: there is room for, there may be, there are */
	unsigned number_bits;
	uint64_t from, last;     /* times in the merged trace */
	uint64_t *keys;          /* time since `from`, above the number; with room to sort: twice as much */
	const uint8_t **records; /* by number: the record; NULL: it is a row, */
	struct taken *rows;      /* by number, too */
};

/* The archive that is written. */
struct merge_output {
	struct tw_writer *writer;
	struct tw_reader *merged;
	struct tw_passed *passed;
	struct tw_argument arguments[UINT8_MAX]; /* of the row that is written */
};

struct merging {
	struct merge_output to;
	struct fxt_merge_chunks chunks;
	struct slot slot;
};

static int no_memory(struct tw_reader *merged)
{
	return tw_fail(merged, TW_ERR_MEMORY, "out of memory");
}

/* ---- Rows. ---- */

static bool add_name(const struct fxt_tables *tables, const struct fxt_merge_input *from, uint32_t own)
{
	const struct tw_mapping *mapping = &from->input->own;
	uint32_t name = own < mapping->names.room ? mapping->names.items[own] : 0;
	if (name == 0 || name >= tables->string_room || tables->strings[name] == 0)
		return true;
	return fxt_merge_add_name(&from->fxt->names, from->fxt->pipeline, own, tables->strings[name]);
}

static bool add_thread(const struct fxt_tables *tables, const struct fxt_merge_input *from, uint32_t own)
{
	const struct tw_mapping *mapping = &from->input->own;
	uint32_t track = own < mapping->tracks.room ? mapping->tracks.items[own] : 0;
	if (track == 0 || track >= tables->tracks_seen || !tables->threads[track].written)
		return true;
	const struct fxt_koids koids = fxt_koids_of(tables, track);
	return fxt_merge_add_thread(&from->fxt->names, from->fxt->pipeline, own, koids.process, koids.thread,
	                            tables->threads[track].index);
}

/* False when there is no memory. */
static bool add_written(const struct fxt_tables *tables, const struct fxt_merge_input *from, const struct tw_event *row,
                        const struct tw_argument *arguments)
{
	bool fine = add_name(tables, from, row->name) && add_name(tables, from, row->category) &&
	            add_thread(tables, from, row->track);
	for (unsigned i = 0; i < row->argument_count && fine; i++)
		fine = add_name(tables, from, arguments[i].name);
	return fine;
}

/* Writes a row at a time of the merged trace, as a row of any format. The threads that make records are told of the
 * indices that the writer gave its names and its thread. Returns 0 or a negative status; what the writer returns is in
 * `passed`. */
static int write_row(struct merge_output *to, const struct fxt_merge_input *from, const struct tw_event *row,
                     const struct tw_argument *arguments, uint64_t time)
{
	struct fxt_writer *w = to->writer->state;
	struct tw_event event = *row;
	if (event.argument_count)
		memcpy(to->arguments, arguments, event.argument_count * sizeof *to->arguments);
	event.first_argument = 0;
	event.time = time;
	if (!tw_map_row(&from->input->own, &event, to->arguments))
		return no_memory(to->merged);
	tw_merge_note_moved(to->merged);
	w->source = from;
	to->passed->written = tw_write(to->writer, to->merged, &(struct tw_batch){&event, 1, to->arguments});
	if (to->passed->written < 0)
		return 0;
	if (row->kind == TW_LOST)
		to->passed->lost_bytes = tw_sum(to->passed->lost_bytes, row->value);
	else
		to->passed->events++;
	return add_written(w->tables, from, row, arguments) ? 0 : no_memory(to->merged);
}

/* ---- What goes into a slot. ---- */

/* Sets which events of a chunk the next slot may take. */
static void set_share(struct fxt_merge_open *open, size_t quota)
{
	const struct tw_merge_time *how = &open->input->input->time;
	size_t left = (size_t)(open->end - open->next);
	open->share = left < quota ? left : quota;
	open->head = tw_merge_time(how, open->next->time);
	open->bound = tw_merge_time(how, open->next[open->share - 1].time);
}

/* Sets the span of the next slot: from the earliest event to the first time at which a chunk has had its share. */
static void find_span(struct merging *merging)
{
	const struct fxt_merge_chunks *chunks = &merging->chunks;
	struct slot *slot = &merging->slot;
	size_t quota = chunks->open_count ? SLOT / chunks->open_count : SLOT;
	slot->from = slot->last = UINT64_MAX;
	slot->most = 0;
	for (size_t i = 0; i < chunks->open_count; i++) {
		struct fxt_merge_open *open = &chunks->open[i];
		if (open->share == 0)
			set_share(open, quota > QUOTA_LEAST ? quota : QUOTA_LEAST);
		slot->from = open->head < slot->from ? open->head : slot->from;
		slot->last = open->bound < slot->last ? open->bound : slot->last;
		slot->most += open->share;
	}
	if ((slot->last - slot->from) >> SPAN_BITS)
		slot->last = slot->from + FXT_BITS(0, SPAN_BITS - 1);
}

/* Opens all chunks that begin in the span, which may make it shorter. Returns 0 or a negative status. */
static int open_chunks(struct merging *merging)
{
	struct fxt_merge_input *input;
	int status = 0;
	do {
		find_span(merging);
		input = next_input(&merging->chunks, merging->slot.last);
		status = input ? open_next(&merging->chunks, input) : 0;
	} while (input && status == 0);
	return status;
}

static int make_room(struct merging *merging)
{
	struct slot *slot = &merging->slot;
	size_t room = slot->most > SLOT ? 2 * slot->most : SLOT, rooms[] = {2 * slot->room, slot->room};
	slot->count = 0;
	if (slot->room >= slot->most)
		return 0;
	if (!tw_grow(&slot->keys, &rooms[0], 2 * room, sizeof *slot->keys) ||
	    !tw_grow(&slot->records, &rooms[1], room, sizeof *slot->records) ||
	    !tw_grow(&slot->rows, &slot->room, room, sizeof *slot->rows))
		return no_memory(merging->to.merged);
	slot->number_bits = tw_bits_of(slot->room);
	return 0;
}

/* Takes the events of a chunk that are in the span. */
static void take(struct slot *slot, struct fxt_merge_open *open)
{
	const struct tw_merge_time *how = &open->input->input->time;
	const struct fxt_merge_event *event = open->next, *end = event + open->share;
	const uint8_t *records = open->chunk->merge.events.records;
	size_t count = slot->count;
	for (; event < end; event++, count++) {
		uint64_t time = tw_merge_time(how, event->time);
		if (time > slot->last)
			break;
		const uint8_t *record = event->is_record ? records + event->number : NULL;
		__builtin_prefetch(record); /* another processor wrote it: 5% of merge (`make bench`) */
		slot->keys[count] = (time - slot->from) << slot->number_bits | count;
		slot->records[count] = record;
		if (!record)
			slot->rows[count] = (struct taken){event, open};
	}
	slot->count = count;
	open->taken = (size_t)(event - open->next);
}

/* ---- Writing. ---- */

/* Copies a record. Returns its size. */
static inline size_t copy(char *to, const uint8_t *record)
{
	enum { SHORT = 4 * TW_FXT_WORD }; /* most records; so much can be read from any place */
	size_t size = (size_t)tw_bits(tw_load64(record, false), 4, 15) * TW_FXT_WORD;
	memcpy(to, record, SHORT);
	if (__builtin_expect(size > SHORT, 0))
		memcpy(to + SHORT, record + SHORT, size - SHORT);
	return size;
}

static int put_row(struct merging *merging, const struct taken *taken, uint64_t time)
{
	const struct tw_argument *arguments = NULL;
	const struct tw_event *row = tw_slab_row(&taken->from->chunk->rows.slab, taken->event->number, &arguments);
	return write_row(&merging->to, taken->from->input, row, arguments, time);
}

/* Writes the events of the slot in the order of keys. Returns 0 or a negative status. */
static int put_events(struct merging *merging, const uint64_t *keys)
{
	const struct slot *slot = &merging->slot;
	const uint64_t number = (UINT64_C(1) << slot->number_bits) - 1;
	struct tw_output *out = &merging->to.writer->out;
	int status = 0;
	for (size_t i = 0; i < slot->count && status == 0 && merging->to.passed->written >= 0; i++) {
		const uint8_t *record = slot->records[keys[i] & number];
		if (record) {
			tw_output_took(out, copy(tw_output_room(out, FXT_RECORD_ROOM), record));
			merging->to.passed->events++;
			continue;
		}
		uint64_t time = slot->from + (keys[i] >> slot->number_bits);
		status = put_row(merging, &slot->rows[keys[i] & number], time);
	}
	merging->to.merged->clock.end_ns = slot->from + (keys[slot->count - 1] >> slot->number_bits);
	return status;
}

/* Writes the events before the last time of the span: no chunk ends with them. */
static int put_slot(struct merging *merging)
{
	struct fxt_merge_chunks *chunks = &merging->chunks;
	struct slot *slot = &merging->slot;
	slot->last--;
	for (size_t i = 0; i < chunks->open_count; i++)
		take(slot, &chunks->open[i]);
	int status = put_events(merging, tw_sort_keys(slot->keys, slot->count, slot->number_bits,
	                                              tw_bits_of(slot->last - slot->from)));
	for (size_t i = 0; i < chunks->open_count; i++)
		pass_taken(chunks, &chunks->open[i]);
	return status;
}

/* Where all of the span is one time: writes events of the first chunk that has some, which may end with them. */
static int put_equals(struct merging *merging)
{
	struct fxt_merge_open *open = merging->chunks.open;
	while (open->head != merging->slot.from)
		open++;
	take(&merging->slot, open);
	int status = put_events(merging, merging->slot.keys);
	pass_taken(&merging->chunks, open);
	return status < 0 || open->next < open->end ? status : close_chunk(&merging->chunks, open);
}

/* Writes some events. Returns 0 or a negative status. */
static int put_some(struct merging *merging)
{
	int status = open_chunks(merging);
	if (status == 0 && merging->chunks.open_count)
		status = make_room(merging);
	if (status < 0 || merging->chunks.open_count == 0)
		return status;
	return merging->slot.from < merging->slot.last ? put_slot(merging) : put_equals(merging);
}

/* ---- The whole. ---- */

static int merge_all(struct merging *merging)
{
	struct merge_output *to = &merging->to;
	int status = begin_chunks(&merging->chunks);
	while (status == 0 && merging->chunks.unended && to->passed->written >= 0 && !to->writer->out.error)
		status = put_some(merging);
	tw_merge_count_findings(to->merged);
	/* names that tracks got at the end, and what went wrong with the output */
	if (status == 0 && to->passed->written >= 0)
		to->passed->written = tw_write(to->writer, to->merged, &(struct tw_batch){0});
	return status;
}

int fxt_join(struct tw_writer *writer, struct tw_reader *merged, struct tw_passed *passed)
{
	struct merging *merging = calloc(1, sizeof *merging);
	if (!merging)
		return tw_fail(merged, TW_ERR_MEMORY, "out of memory");
	merging->to = (struct merge_output){.writer = writer, .merged = merged, .passed = passed};
	merging->chunks = (struct fxt_merge_chunks){
	    .writer = writer,
	    .merged = merged,
	    .pool = fxt_pool_new(merged->options.jobs),
	};
	int status = merging->chunks.pool ? merge_all(merging) : no_memory(merging->to.merged);
	fxt_pool_release(merging->chunks.pool);
	free(merging->chunks.open);
	free(merging->slot.keys);
	free(merging->slot.records);
	free(merging->slot.rows);
	free(merging);
	return status;
}
