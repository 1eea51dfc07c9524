/* sections.c - the section of each provider in an archive that is written: its number, its name and its ticks. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/write/writer.h"

#include <stdlib.h>

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
