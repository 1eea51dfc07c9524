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
 *   slice that was left by a tail call has the argument "tail", one made at the edge of a time window "clipped"; one
 *   beside damage, and an instant, "uncertain". Of a wake-up `other` is the argument "waker".
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

#include "core/owners.h"
#include "fxt/fxt.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	OBJECTS_SHARE = 8, /* of the memory limit, for what is known to have been described */
	OBJECT_COST = 2 * sizeof(struct tw_map_slot)
};

/* ---- What kinds of event become. ---- */

/* Samples are known by their category when they are read: events/commit.c. */
#define SAMPLE STAND_IN, .sample = true
#define STAND_IN .kind = TW_FXT_INSTANT, .tail = FXT_TAIL_SCOPE

static const struct fxt_written_kind written_kinds[TW_EVENT_KINDS] = {
    [TW_SLICE_BEGIN] = {fxt_put_event, .kind = TW_FXT_DURATION_BEGIN},
    [TW_SLICE_END] = {fxt_put_event, .kind = TW_FXT_DURATION_END},
    [TW_SLICE_COMPLETE] = {fxt_put_event, .kind = TW_FXT_DURATION_COMPLETE, .tail = FXT_TAIL_END},
    [TW_INSTANT] = {fxt_put_event, .kind = TW_FXT_INSTANT, .tail = FXT_TAIL_SCOPE},
    [TW_COUNTER] = {fxt_put_event, .kind = TW_FXT_COUNTER, .tail = FXT_TAIL_ID},
    [TW_ASYNC_BEGIN] = {fxt_put_event, .kind = TW_FXT_ASYNC_BEGIN, .tail = FXT_TAIL_ID},
    [TW_ASYNC_INSTANT] = {fxt_put_event, .kind = TW_FXT_ASYNC_INSTANT, .tail = FXT_TAIL_ID},
    [TW_ASYNC_END] = {fxt_put_event, .kind = TW_FXT_ASYNC_END, .tail = FXT_TAIL_ID},
    [TW_FLOW_BEGIN] = {fxt_put_event, .kind = TW_FXT_FLOW_BEGIN, .tail = FXT_TAIL_ID},
    [TW_FLOW_STEP] = {fxt_put_event, .kind = TW_FXT_FLOW_STEP, .tail = FXT_TAIL_ID},
    [TW_FLOW_END] = {fxt_put_event, .kind = TW_FXT_FLOW_END, .tail = FXT_TAIL_ID},
    [TW_SWITCH] = {fxt_put_scheduling, .kind = TW_FXT_CONTEXT_SWITCH},
    [TW_WAKEUP] = {fxt_put_scheduling, .kind = TW_FXT_THREAD_WAKEUP},
    [TW_STACK_SAMPLE] = {fxt_put_sample, SAMPLE, .name = FXT_OWN_STACK_SAMPLE, .value = {TW_ARG_UINT, FXT_OWN_WEIGHT},
                         .id = {TW_ARG_UINT, FXT_OWN_WALL_NS}, .other = {TW_ARG_TEXT, FXT_OWN_STACK}, .no_id = true},
    [TW_CPU_SAMPLE] = {fxt_put_stand_in, SAMPLE, .name = FXT_OWN_CPU_SAMPLE, .value = {TW_ARG_UINT, FXT_OWN_CPU_NS},
                       .other = {TW_ARG_TEXT, FXT_OWN_STACK}},
    [TW_ALLOCATION_SAMPLE] = {fxt_put_stand_in, SAMPLE, .name = FXT_OWN_ALLOCATION_SAMPLE,
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
#undef SAMPLE

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
	if (clock->has_cpu && !w->counted_cpu && batch->count)
		fxt_loss(w, "cpu", false);
	w->counted_cpu |= clock->has_cpu && batch->count;
	w->one_provider =
	    strcmp(reader->format->name, tw_format_fxt.name) != 0; /* another thread's reader has a copy */
	w->sampled = reader->traits.sampled;
	w->foreign = !reader->traits.origin || strcmp(reader->traits.origin, tw_format_fxt.name) != 0;
	w->crowded = tw_dictionary_providers(w->dictionary) > TW_PROVIDERS_MAX;
	return !w->tables || fxt_tables_grow(w->tables, w->dictionary);
}

/* Goes to the section that an event belongs to. False when there is no memory. */
static bool enter_section_of(struct fxt_writer *w, const struct tw_event *event)
{
	if (event->provider == 0 && w->crowded)
		fxt_loss(w, "provider", true);
	return fxt_enter_section(w, event->provider);
}

static int write_batch(struct tw_writer *writer, const struct tw_reader *reader, const struct tw_batch *batch)
{
	struct fxt_writer *w = writer->state;
	if (!begin_batch(w, reader, batch))
		return no_memory(writer);
	for (size_t i = 0; i < batch->count; i++) {
		const struct tw_event *event = &batch->events[i];
		assert(event->kind < TW_EVENT_KINDS);
		bool here = w->tables && event->provider == w->provider && !w->crowded;
		if (!here && !enter_section_of(w, event))
			return no_memory(writer);
		written_kinds[event->kind].put(w, event, &written_kinds[event->kind]);
	}
	return w->failed ? no_memory(writer) : 0;
}

/* An archive without events. */
static bool put_nothing(struct fxt_writer *w)
{
	struct tw_dictionary *empty = tw_dictionary_new();
	w->dictionary = empty;
	bool fine = empty && fxt_enter_section(w, 0);
	tw_dictionary_free(empty);
	return fine;
}

static int finish(struct tw_writer *writer)
{
	struct fxt_writer *w = writer->state;
	fxt_end_large(w);
	if (w->dictionary)
		tw_count_owners(writer, w->dictionary);
	if (w->tables)
		fxt_tables_finish(w->tables);
	return w->tables || put_nothing(w) ? 0 : no_memory(writer);
}

static void close_writer(struct tw_writer *writer)
{
	struct fxt_writer *w = writer->state;
	for (unsigned i = 0; i <= TW_PROVIDERS_MAX; i++) {
		if (w->sections[i])
			fxt_tables_free(&w->sections[i]->tables);
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
    .finish = finish,
    .close = close_writer,
};
