/* writer.c - events to an FXT archive.
 *
 * Sources: the document, and what Fuchsia's engine and its newest sources do beyond it. What is ours to decide
 * (doc/mapping.md has the table):
 * - Records stand in the order of the events; a string, a thread, a process name stands before its first use. Each
 *   stands in the section of the event's provider, which keeps its number, its name and its ticks; what has none is
 *   in that of "trackway". Names, categories and names of arguments are strings of the table; texts that are values
 *   stand in the records. Full tables stay as they are.
 * - Ticks are the source's, unless asked otherwise. The tick written is the least whose time is the event's; a rate
 *   below 10^9 has none for some times: "time" is counted. The end of a complete slice is the tick of its end, so that
 *   its duration reads back.
 * - Instants have the scope word that the engine writes; that of a thread has none where a record has no room for it. A
 *   slice that was left by a tail call has the argument "tail", one made at the edge of a time window "clipped". Of a
 *   wake-up `other` is the argument "waker".
 * - CPUs are kept by scheduling records only. Loss "cpu" is counted once for a trace whose other events have them: as
 *   arguments they would become arguments of calls on the way back.
 * - Scheduling records and logs have no name and no category, objects no time and no track, blobs neither.
 * - A blob is cut into blob records of the same name, which the document appends to one another, so that its parts need
 *   not be held together. Whole blobs that have a category, a track or arguments are large blob records, and so are
 *   those in parts of which it is known that all parts come.
 * - Lost events called "records dropped" are provider events; FXT has nothing for gaps with a size: an instant. So have
 *   samples that are no list of addresses, blocks of instructions and metadata.
 * - Tracks of CPUs and others become threads with koids that no kernel gives out. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/write/writer.h"

#include "base/inline.h"
#include "fxt/fxt.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	OBJECTS_SHARE = 8, /* of the memory limit, for what is known to have been described */
	OBJECT_COST = 2 * sizeof(struct tw_map_slot)
};

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
		fxt_put_scope(put, event->flags);
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
	struct fxt_label category = fxt_label(w->intern, event->category);
	uint8_t thread = fxt_thread_index(w->intern, event->track);
	uint64_t header = fxt_event_header(shape->kind, thread, category.reference, name->reference);
	struct fxt_put put = fxt_put_begin(out, w->intern->big);
	fxt_put_word(&put, fxt_ticks_of(w, event->time));
	if (thread == 0)
		fxt_put_koids(w, &put, event->track);
	if ((category.reference | name->reference) & TW_FXT_STRING_INLINE) {
		fxt_put_label(&put, &category);
		fxt_put_label(&put, name);
	}
	if (items->count)
		header |= fxt_put_items(w, &put, items, fxt_tail_words(shape->tail, event->flags)) << 20;
	put_tail(w, &put, event, shape->tail);
	fxt_put_end(out, &put, header);
}

/* Readers pass over values that are no numbers; in an archive that has them already they are no loss. */
static void count_no_numbers(const struct fxt_writer *w, const struct fxt_items *items)
{
	for (unsigned i = 0; i < items->count; i++) {
		unsigned type = items->items[i].argument->type;
		if (type != TW_ARG_INT && type != TW_ARG_UINT && type != TW_ARG_DOUBLE)
			fxt_loss(w, "counter value", true);
	}
}

TW_NOINLINE void put_full(struct fxt_writer *w, const struct tw_event *event, const struct fxt_shape *shape)
{
	struct fxt_items items; /* to fill it with zeros would take longer than the rest */
	items.count = items.made_count = 0;
	fxt_add_arguments(w, &items, event, 0);
	if (event->kind == TW_COUNTER && w->foreign)
		count_no_numbers(w, &items);
	add_flags(w, &items, event->flags);
	if (event->flags & TW_FLAG_GLOBAL && shape->tail == FXT_TAIL_ID)
		fxt_loss(w, "global id", true);
	struct fxt_label name = fxt_label(w->intern, event->name);
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
	const struct fxt_intern *in = w->intern;
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
	struct fxt_label name = named ? fxt_label(w->intern, event->name) : fxt_own_label(w->intern, shape->name);
	put_with(w, event, shape, &items, &name);
	fxt_loss(w, tw_event_kind_name(event->kind), true);
}

/* ---- Kinds. ---- */

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
    [TW_METADATA] = {fxt_put_metadata, STAND_IN, .name = FXT_OWN_METADATA},
};

#undef STAND_IN

/* ---- Sections. ---- */

/* Whether a provider cannot have this id: a section with it has been written, or, unless it is the provider's own,
 * another provider of the source has it. */
static bool is_taken(const struct fxt_writer *w, uint32_t id, bool own)
{
	for (unsigned i = 0; i <= TW_PROVIDERS_MAX; i++)
		if (w->sections[i] && w->sections[i]->id == id)
			return true;
	for (uint32_t i = 1; i < tw_dictionary_providers(w->dictionary) && !own; i++)
		if (tw_dictionary_provider(w->dictionary, i)->id == id)
			return true;
	return false;
}

/* A provider keeps its number; of two with the same, as concatenated archives have them, the second gets another, and
 * so does one whose ticks change. */
static uint32_t choose_id(const struct fxt_writer *w, unsigned number)
{
	uint32_t id = number ? (uint32_t)tw_dictionary_provider(w->dictionary, number)->id : FXT_PROVIDER;
	bool own = number;
	for (uint32_t next = FXT_PROVIDER; is_taken(w, id, own); next++) {
		id = next;
		own = false;
	}
	return id;
}

/* A tick of a provider that does not tell it was read as a nanosecond. */
static uint64_t choose_frequency(const struct fxt_writer *w, unsigned number)
{
	uint64_t own = tw_dictionary_provider(w->dictionary, number)->ticks_per_second;
	uint64_t source = own ? own : number ? TW_NS_PER_SECOND : w->source_frequency;
	bool known = source && source <= TW_FREQUENCY_MAX;
	if (w->writer->options.ticks_per_second)
		return w->writer->options.ticks_per_second;
	return known ? source : TW_NS_PER_SECOND;
}

static void put_metadata(const struct fxt_writer *w, enum tw_fxt_kind kind, const char *name, size_t length)
{
	struct tw_output *out = &w->writer->out;
	uint64_t type = kind - TW_FXT_PROVIDER_INFO + 1;
	struct fxt_put put = fxt_put_begin(out, w->intern->big);
	fxt_put_stream(&put, name, length);
	fxt_put_end(out, &put,
	            TW_FXT_TYPE_METADATA | type << 16 | (uint64_t)w->sections[w->provider]->id << 20 |
	                (uint64_t)length << 52);
}

/* Tells the name and the ticks of the provider whose section it is. */
static void put_provider(const struct fxt_writer *w)
{
	enum { NAME_MAX_BYTES = 255 };
	static const struct tw_name own = {.text = "trackway", .length = sizeof "trackway" - 1};
	const struct tw_dictionary *dictionary = w->dictionary;
	const struct tw_name *name =
	    w->provider ? tw_dictionary_name(dictionary, tw_dictionary_provider(dictionary, w->provider)->name) : &own;
	put_metadata(w, TW_FXT_PROVIDER_INFO, name->text, fxt_cut_text(name->text, name->length, NAME_MAX_BYTES));
	struct fxt_put put = fxt_put_begin(&w->writer->out, w->intern->big);
	fxt_put_word(&put, w->clock->frequency);
	if (w->wall_ns) {
		fxt_put_word(&put, 0); /* the tick of that time */
		fxt_put_word(&put, w->wall_ns);
	}
	fxt_put_end(&w->writer->out, &put, TW_FXT_TYPE_INITIALIZATION);
}

static struct fxt_section *new_section(struct fxt_writer *w, unsigned provider)
{
	enum tw_byte_order order = w->writer->options.byte_order;
	struct fxt_section *section = calloc(1, sizeof *section);
	if (!section)
		return NULL;
	section->id = choose_id(w, provider);
	section->intern.writer = w->writer;
	section->intern.described = &w->described;
	section->intern.provider = provider;
	section->intern.big = order == TW_BYTES_BIG || order == TW_BYTES_BIG_LSB;
	section->clock.frequency = choose_frequency(w, provider);
	fxt_move_clock(&section->clock, 0);
	return w->sections[provider] = section;
}

bool fxt_turn_to(struct fxt_writer *w, unsigned provider)
{
	bool first = !w->intern, known = w->sections[provider];
	struct fxt_section *section = known ? w->sections[provider] : new_section(w, provider);
	if (!section)
		return false;
	if (known && w->provider == provider)
		return true;
	w->provider = provider;
	w->intern = &section->intern;
	w->clock = &section->clock;
	if (first) {
		struct fxt_put put = fxt_put_begin(&w->writer->out, w->intern->big);
		fxt_put_end(&w->writer->out, &put, TW_FXT_MAGIC_WORD);
	}
	if (known)
		put_metadata(w, TW_FXT_PROVIDER_SECTION, NULL, 0);
	else
		put_provider(w);
	return fxt_intern_grow(w->intern, w->dictionary);
}

/* ---- The target. ---- */

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
	w->large.aside = -1;
	return 0;
}

static int no_memory(struct tw_writer *writer)
{
	return tw_writer_fail(writer, TW_ERR_MEMORY, "out of memory");
}

/* What a batch brings: names and tracks, maybe the first clock. False when there is no memory. */
static bool begin_batch(struct fxt_writer *w, const struct tw_reader *reader, const struct tw_batch *batch)
{
	const struct tw_clock *clock = tw_reader_clock(reader);
	w->dictionary = tw_reader_dictionary(reader);
	w->arguments = batch->arguments;
	w->directory = reader->options.temporary_directory;
	w->described.objects_most = tw_memory_limit(reader) / OBJECTS_SHARE / OBJECT_COST;
	w->source_frequency = w->source_frequency ? w->source_frequency : clock->ticks_per_second;
	w->wall_ns = tw_time_of_day(clock, 0);
	if (clock->has_cpu && !w->cpu_told && batch->count)
		fxt_loss(w, "cpu", false);
	w->cpu_told |= clock->has_cpu && batch->count;
	w->one_provider =
	    strcmp(reader->format->name, tw_format_fxt.name) != 0; /* another thread's reader has a copy */
	w->foreign = !reader->traits.origin || strcmp(reader->traits.origin, tw_format_fxt.name) != 0;
	w->crowded = tw_dictionary_providers(w->dictionary) > TW_PROVIDERS_MAX;
	return !w->intern || fxt_intern_grow(w->intern, w->dictionary);
}

/* Goes to the section that an event belongs to. */
static bool turn(struct fxt_writer *w, const struct tw_event *event)
{
	if (event->provider == 0 && w->crowded)
		fxt_loss(w, "provider", true);
	return fxt_turn_to(w, event->provider);
}

static int write_batch(struct tw_writer *writer, const struct tw_reader *reader, const struct tw_batch *batch)
{
	struct fxt_writer *w = writer->state;
	if (!begin_batch(w, reader, batch))
		return no_memory(writer);
	for (size_t i = 0; i < batch->count; i++) {
		const struct tw_event *event = &batch->events[i];
		assert(event->kind < TW_EVENT_KINDS);
		bool here = w->intern && event->provider == w->provider && !w->crowded;
		if (!here && !turn(w, event))
			return no_memory(writer);
		fxt_shapes[event->kind].put(w, event, &fxt_shapes[event->kind]);
	}
	return w->failed ? no_memory(writer) : 0;
}

/* An archive without events. */
static bool put_nothing(struct fxt_writer *w)
{
	struct tw_dictionary *empty = tw_dictionary_new();
	w->dictionary = empty;
	bool fine = empty && fxt_turn_to(w, 0);
	tw_dictionary_free(empty);
	return fine;
}

static int finish(struct tw_writer *writer)
{
	struct fxt_writer *w = writer->state;
	fxt_end_large(w);
	if (w->intern)
		fxt_intern_finish(w->intern);
	return w->intern || put_nothing(w) ? 0 : no_memory(writer);
}

static void close_writer(struct tw_writer *writer)
{
	struct fxt_writer *w = writer->state;
	for (unsigned i = 0; i <= TW_PROVIDERS_MAX; i++) {
		if (w->sections[i])
			fxt_intern_free(&w->sections[i]->intern);
		free(w->sections[i]);
	}
	writer->out.aside = NULL;
	if (w->large.aside >= 0)
		close(w->large.aside);
	free(w->described.tracks);
	tw_map_free(&w->described.objects);
	tw_text_free(&w->stack);
	free(w);
}

const struct tw_target tw_target_fxt = {
    .name = "fxt",
    .extensions = (const char *const[]){".fxt", ".ftf", NULL},
    .order = TW_ORDER_TIME,
    .choices = TW_CHOOSES_BYTE_ORDER,
    .open = open_writer,
    .write = write_batch,
    .join = fxt_join,
    .finish = finish,
    .close = close_writer,
};
