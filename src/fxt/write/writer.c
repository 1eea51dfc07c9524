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
	uint64_t type = kind - TW_FXT_PROVIDER_INFO + 1, id = w->section->id;
	struct fxt_new_record record = fxt_record_begin(&w->writer->out, w->tables->big);
	fxt_put_stream(&record, name, length);
	fxt_record_end(&w->writer->out, &record, TW_FXT_TYPE_METADATA | type << 16 | id << 20 | (uint64_t)length << 52);
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
	struct fxt_new_record record = fxt_record_begin(&w->writer->out, w->tables->big);
	fxt_put_word(&record, w->section->frequency);
	if (w->wall_ns) {
		fxt_put_word(&record, 0); /* the tick of that time */
		fxt_put_word(&record, w->wall_ns);
	}
	fxt_record_end(&w->writer->out, &record, TW_FXT_TYPE_INITIALIZATION);
}

static struct fxt_section *new_section(struct fxt_writer *w, unsigned provider)
{
	enum tw_byte_order order = w->writer->options.byte_order;
	struct fxt_section *section = calloc(1, sizeof *section);
	if (!section)
		return NULL;
	section->id = choose_id(w, provider);
	section->tables.writer = w->writer;
	section->tables.described = &w->described;
	section->tables.provider = provider;
	section->tables.big = order == TW_BYTES_BIG || order == TW_BYTES_BIG_LSB;
	section->frequency = choose_frequency(w, provider);
	return w->sections[provider] = section;
}

bool fxt_enter_section(struct fxt_writer *w, unsigned provider)
{
	bool first = !w->tables, known = w->sections[provider];
	struct fxt_section *section = known ? w->sections[provider] : new_section(w, provider);
	if (!section)
		return false;
	if (known && w->provider == provider)
		return true;
	w->provider = provider;
	w->section = section;
	w->tables = &section->tables;
	if (first) {
		struct fxt_new_record record = fxt_record_begin(&w->writer->out, w->tables->big);
		fxt_record_end(&w->writer->out, &record, TW_FXT_MAGIC_WORD);
	}
	if (known)
		put_metadata(w, TW_FXT_PROVIDER_SECTION, NULL, 0);
	else
		put_provider(w);
	if (first && w->sampled) /* the first string tells readers: events/reader.c */
		fxt_own_string(w->tables, FXT_OWN_STACK_SAMPLE);
	return fxt_tables_grow(w->tables, w->dictionary);
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
		fxt_written_kinds[event->kind].put(w, event, &fxt_written_kinds[event->kind]);
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
