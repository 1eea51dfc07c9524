/* writer.c - events to an FXT archive.
 *
 * Sources: the document, and what Fuchsia's engine and its newest sources do beyond it. What is ours to decide
 * (doc/mapping.md has the table):
 * - Records stand in the order of the events; a string, a thread, a process name stands before its first use. One
 *   provider (number 1, "trackway") has them all. Names, categories and names of arguments are strings of the table;
 *   texts that are values stand in the records. Full tables stay as they are.
 * - Ticks are the source's, unless asked otherwise. The tick written is the least whose time is the event's; a rate
 *   below 10^9 has none for some times: "time" is counted. The end of a complete slice is the tick of its end, so that
 *   its duration reads back.
 * - Instants have the scope word that the engine writes. A slice that was left by a tail call has the argument "tail",
 *   one made at the edge of a time window "clipped". Of a wake-up `other` is the argument "waker".
 * - CPUs are kept by scheduling records only. Loss "cpu" is counted once for a trace whose other events have them: as
 *   arguments they would become arguments of calls on the way back.
 * - Scheduling records and logs have no name and no category, objects no time and no track, blobs neither.
 * - A blob is cut into blob records of the same name, which the document appends to one another, so that its parts need
 *   not be held together. Whole blobs that have a category, a track or arguments are large blob records.
 * - Lost events called "records dropped" are provider events; FXT has nothing for gaps with a size: an instant. So have
 *   samples that are no list of addresses, blocks of instructions and metadata.
 * - Tracks of CPUs and others become threads with koids that no kernel gives out. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/writer.h"

#include <assert.h>
#include <stdlib.h>

#include "fxt/fxt.h"

/* ---- Events. ---- */

static void add_flags(struct fxt_writer *w, struct fxt_items *items, uint16_t flags)
{
	if (flags & TW_FLAG_TAIL)
		fxt_add_made(w, items, FXT_OWN_TAIL, TW_ARG_BOOL, true);
	if (flags & TW_FLAG_CLIPPED)
		fxt_add_made(w, items, FXT_OWN_CLIPPED, TW_ARG_BOOL, true);
}

static void add_told(struct fxt_writer *w, struct fxt_items *items, const struct fxt_told *told, uint64_t value)
{
	if (told->type == TW_ARG_TEXT)
		fxt_add_stack(w, items, told->name, (uint32_t)value);
	else if (told->type != TW_ARG_NULL)
		fxt_add_made(w, items, told->name, told->type, value);
}

static uint64_t end_of(const struct tw_event *event)
{
	return event->value > UINT64_MAX - event->time ? UINT64_MAX : event->time + event->value;
}

static void put_tail(struct fxt_writer *w, struct fxt_put *put, const struct tw_event *event, enum fxt_tail tail)
{
	if (tail == FXT_TAIL_SCOPE)
		fxt_put_word(put, fxt_scope_of(event->flags));
	else if (tail == FXT_TAIL_ID)
		fxt_put_word(put, event->id);
	else if (tail == FXT_TAIL_END)
		fxt_put_word(put, fxt_ticks_of(w, end_of(event)));
}

/* Writes an event of a type with these arguments and this name. */
static void put_with(struct fxt_writer *w, const struct tw_event *event, const struct fxt_shape *shape,
                     const struct fxt_items *items, const struct fxt_label *name)
{
	struct tw_output *out = &w->writer->out;
	struct fxt_label category = fxt_label(&w->intern, event->category);
	uint8_t thread = fxt_thread_index(&w->intern, event->track);
	uint64_t header = fxt_event_header(shape->kind, thread, category.reference, name->reference);
	struct fxt_put put = fxt_put_begin(out, w->intern.big);
	fxt_put_word(&put, fxt_ticks_of(w, event->time));
	if (thread == 0)
		fxt_put_koids(w, &put, event->track);
	if ((category.reference | name->reference) & TW_FXT_STRING_INLINE) {
		fxt_put_label(&put, &category);
		fxt_put_label(&put, name);
	}
	if (items->count)
		header |= fxt_put_items(w, &put, items, shape->tail != FXT_NO_TAIL) << 20;
	put_tail(w, &put, event, shape->tail);
	fxt_put_end(out, &put, header);
}

static __attribute__((noinline)) void put_full(struct fxt_writer *w, const struct tw_event *event,
                                               const struct fxt_shape *shape)
{
	struct fxt_items items; /* to fill it with zeros would take longer than the rest */
	items.count = items.made_count = 0;
	fxt_add_arguments(w, &items, event, 0);
	add_flags(w, &items, event->flags);
	struct fxt_label name = fxt_label(&w->intern, event->name);
	put_with(w, event, shape, &items, &name);
}

/* The index of a name; 0: it has none, or needs none. */
static inline uint64_t index_of(const struct fxt_intern *in, uint32_t name)
{
	return name < in->string_room ? in->strings[name] : 0;
}

/* An event that is nothing but a time and names from the tables goes straight out: a quarter fewer instructions in the
 * writer (callgrind, a log of bench/gen_fdr to FXT). All others go through put_full(), which is kept apart for its
 * large frame. */
static void put_event(struct fxt_writer *w, const struct tw_event *event, const struct fxt_shape *shape)
{
	const struct fxt_intern *in = &w->intern;
	uint64_t name = index_of(in, event->name), category = index_of(in, event->category);
	uint64_t thread = event->track < in->tracks_seen ? in->tracks[event->track].index : 0;
	bool known = thread && !name == !event->name && !category == !event->category;
	if (!known || event->argument_count || event->flags) {
		put_full(w, event, shape);
		return;
	}
	struct fxt_put put = fxt_put_begin(&w->writer->out, in->big);
	fxt_put_word(&put, fxt_ticks_of(w, event->time));
	if (shape->tail != FXT_NO_TAIL)
		put_tail(w, &put, event, shape->tail);
	fxt_put_end(&w->writer->out, &put, fxt_event_header(shape->kind, thread, category, name));
}

/* An instant for what FXT has nothing for, its numbers as arguments. */
void fxt_put_stand_in(struct fxt_writer *w, const struct tw_event *event, const struct fxt_shape *shape)
{
	struct fxt_items items = {.count = 0};
	add_told(w, &items, &shape->value, event->value);
	if (event->id || !shape->no_id)
		add_told(w, &items, &shape->id, event->id);
	add_told(w, &items, &shape->other, event->other);
	fxt_add_arguments(w, &items, event, 0);
	bool named = event->name != 0 && event->kind != TW_LOST;
	struct fxt_label name = named ? fxt_label(&w->intern, event->name) : fxt_own_label(&w->intern, shape->name);
	put_with(w, event, shape, &items, &name);
	fxt_loss(w, tw_event_kind_name(event->kind), true);
}

/* ---- The target. ---- */

#define STAND_IN .kind = TW_FXT_INSTANT, .tail = FXT_TAIL_SCOPE

const struct fxt_shape fxt_shapes[TW_EVENT_KINDS] = {
    [TW_SLICE_BEGIN] = {put_event, .kind = TW_FXT_DURATION_BEGIN},
    [TW_SLICE_END] = {put_event, .kind = TW_FXT_DURATION_END},
    [TW_SLICE_COMPLETE] = {put_event, .kind = TW_FXT_DURATION_COMPLETE, .tail = FXT_TAIL_END},
    [TW_INSTANT] = {put_event, .kind = TW_FXT_INSTANT, .tail = FXT_TAIL_SCOPE},
    [TW_COUNTER] = {put_event, .kind = TW_FXT_COUNTER, .tail = FXT_TAIL_ID},
    [TW_ASYNC_BEGIN] = {put_event, .kind = TW_FXT_ASYNC_BEGIN, .tail = FXT_TAIL_ID},
    [TW_ASYNC_INSTANT] = {put_event, .kind = TW_FXT_ASYNC_INSTANT, .tail = FXT_TAIL_ID},
    [TW_ASYNC_END] = {put_event, .kind = TW_FXT_ASYNC_END, .tail = FXT_TAIL_ID},
    [TW_FLOW_BEGIN] = {put_event, .kind = TW_FXT_FLOW_BEGIN, .tail = FXT_TAIL_ID},
    [TW_FLOW_STEP] = {put_event, .kind = TW_FXT_FLOW_STEP, .tail = FXT_TAIL_ID},
    [TW_FLOW_END] = {put_event, .kind = TW_FXT_FLOW_END, .tail = FXT_TAIL_ID},
    [TW_SWITCH] = {fxt_put_scheduling, .kind = TW_FXT_CONTEXT_SWITCH},
    [TW_WAKEUP] = {fxt_put_scheduling, .kind = TW_FXT_THREAD_WAKEUP},
    [TW_STACK_SAMPLE] = {fxt_put_sample, STAND_IN, .name = FXT_OWN_STACK_SAMPLE, .value = {TW_ARG_UINT, FXT_OWN_WEIGHT},
                         .id = {TW_ARG_UINT, FXT_OWN_WALL_NS}, .other = {TW_ARG_TEXT, FXT_OWN_STACK}, .no_id = true},
    [TW_CPU_SAMPLE] = {fxt_put_stand_in, STAND_IN, .name = FXT_OWN_CPU_SAMPLE, .value = {TW_ARG_UINT, FXT_OWN_CPU_NS},
                       .other = {TW_ARG_TEXT, FXT_OWN_STACK}},
    [TW_ALLOCATION_SAMPLE] = {fxt_put_stand_in, STAND_IN, .name = FXT_OWN_ALLOCATION_SAMPLE,
                              .value = {TW_ARG_UINT, FXT_OWN_BYTES}, .id = {TW_ARG_UINT, FXT_OWN_COUNT},
                              .other = {TW_ARG_TEXT, FXT_OWN_STACK}},
    [TW_LOG] = {fxt_put_log, .kind = TW_FXT_LOG},
    [TW_OBJECT] = {fxt_put_object, .kind = TW_FXT_KERNEL_OBJECT},
    [TW_BLOB] = {fxt_put_blob, .kind = TW_FXT_BLOB},
    [TW_INSTRUCTIONS] = {fxt_put_stand_in, STAND_IN, .name = FXT_OWN_INSTRUCTIONS,
                         .value = {TW_ARG_UINT, FXT_OWN_COUNT}, .id = {TW_ARG_POINTER, FXT_OWN_ADDRESS}},
    [TW_LOST] = {fxt_put_lost, STAND_IN, .name = FXT_OWN_LOST, .value = {TW_ARG_UINT, FXT_OWN_BYTES}},
    [TW_METADATA] = {fxt_put_stand_in, STAND_IN, .name = FXT_OWN_METADATA},
};

#undef STAND_IN

static void put_header(struct fxt_writer *w, uint64_t source_frequency)
{
	static const char name[] = "trackway";
	struct tw_output *out = &w->writer->out;
	uint64_t asked = w->writer->options.ticks_per_second;
	bool known = source_frequency && source_frequency <= TW_FREQUENCY_MAX;
	w->clock.frequency = asked ? asked : known ? source_frequency : TW_NS_PER_SECOND;
	fxt_move_clock(&w->clock, 0);
	struct fxt_put put = fxt_put_begin(out, w->intern.big);
	fxt_put_end(out, &put, TW_FXT_MAGIC_WORD);
	put = fxt_put_begin(out, w->intern.big);
	fxt_put_stream(&put, name, sizeof name - 1);
	fxt_put_end(out, &put, TW_FXT_TYPE_METADATA | 1 << 16 | FXT_PROVIDER << 20 | (uint64_t)(sizeof name - 1) << 52);
	put = fxt_put_begin(out, w->intern.big);
	fxt_put_word(&put, w->clock.frequency);
	fxt_put_end(out, &put, TW_FXT_TYPE_INITIALIZATION);
	w->started = true;
}

static int open_writer(struct tw_writer *writer)
{
	const struct tw_write_options *options = &writer->options;
	if (options->version)
		return tw_writer_fail(writer, TW_ERR_VALUE, "fxt has no versions");
	if (options->ticks_per_second > TW_FREQUENCY_MAX)
		return tw_writer_fail(writer, TW_ERR_VALUE, "at most %llu ticks per second",
		                      (unsigned long long)TW_FREQUENCY_MAX);
	struct fxt_writer *w = calloc(1, sizeof *w);
	if (!w)
		return tw_writer_fail(writer, TW_ERR_MEMORY, "out of memory");
	writer->state = w;
	w->writer = writer;
	w->intern.writer = writer;
	w->intern.big = options->byte_order == TW_BYTES_BIG || options->byte_order == TW_BYTES_BIG_LSB;
	return 0;
}

static int write_batch(struct tw_writer *writer, const struct tw_reader *reader, const struct tw_batch *batch)
{
	struct fxt_writer *w = writer->state;
	const struct tw_clock *clock = tw_reader_clock(reader);
	if (!w->started)
		put_header(w, clock->ticks_per_second);
	if (!fxt_intern_grow(&w->intern, tw_reader_dictionary(reader)))
		return tw_writer_fail(writer, TW_ERR_MEMORY, "out of memory");
	if (clock->has_cpu && !w->cpu_told && batch->count)
		fxt_loss(w, "cpu", false);
	w->cpu_told |= clock->has_cpu && batch->count;
	w->arguments = batch->arguments;
	for (size_t i = 0; i < batch->count; i++) {
		const struct tw_event *event = &batch->events[i];
		assert(event->kind < TW_EVENT_KINDS);
		fxt_shapes[event->kind].put(w, event, &fxt_shapes[event->kind]);
	}
	return 0;
}

static int finish(struct tw_writer *writer)
{
	struct fxt_writer *w = writer->state;
	if (!w->started)
		put_header(w, 0);
	else
		fxt_intern_finish(&w->intern);
	return 0;
}

static void close_writer(struct tw_writer *writer)
{
	struct fxt_writer *w = writer->state;
	fxt_intern_free(&w->intern);
	tw_text_free(&w->stack);
	free(w);
}

const struct tw_target tw_target_fxt = {
    .name = "fxt",
    .title = "Fuchsia trace format archive",
    .extensions = (const char *const[]){".fxt", ".ftf", NULL},
    .order = TW_ORDER_TIME,
    .open = open_writer,
    .write = write_batch,
    .join = fxt_join,
    .finish = finish,
    .close = close_writer,
};
