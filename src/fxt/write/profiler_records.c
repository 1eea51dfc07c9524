/* profiler_records.c - events whose arguments tell the fields of a record: profiler records, provider events. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/write/writer.h"

enum {
	EVENT_RECORDS_DROPPED = 0, /* the document, "Provider event metadata" */
	EVENT_MAX = 15,
	MODULE_MAX = UINT16_MAX,
	NAME_MAX_BYTES = 255,  /* of a module; of its build id, too */
	MAPPING_FLAGS_MAX = 7, /* readable, writable, executable */
	BACKTRACE_FLAGS_MAX = (1 << 28) - 1
};

bool fxt_has_fields(const struct fxt_writer *w, const struct tw_event *event, const struct fxt_field *fields,
                    unsigned count, unsigned first)
{
	if (event->argument_count != first + count)
		return false;
	for (unsigned i = 0; i < count; i++) {
		const struct tw_argument *argument = &w->arguments[event->first_argument + first + i];
		const struct tw_name *name = tw_dictionary_name(w->dictionary, argument->name);
		uint64_t value = argument->type == TW_ARG_BYTES ? argument->size : argument->value.u;
		if (argument->type != fields[i].type || value > fields[i].most ||
		    strcmp(name->text, fields[i].name) != 0)
			return false;
	}
	return true;
}

/* ---- The newest Fuchsia sources: profiler records. ---- */

/* Begins a record. Returns the bits of its header. */
static uint64_t begin_profiler(struct fxt_writer *w, const struct tw_event *event, enum tw_fxt_kind kind,
                               struct fxt_new_record *record)
{
	uint64_t thread = fxt_thread_index(w->tables, event->track);
	*record = fxt_begin_timed(w, event, thread);
	return TW_FXT_TYPE_PROFILER | (uint64_t)(kind - TW_FXT_PROFILER_MODULE) << 16 | thread << 20;
}

static void put_module(struct fxt_writer *w, const struct tw_event *event)
{
	const struct tw_argument *fields = fxt_first_argument(w, event);
	const struct tw_name *name = tw_dictionary_name(w->dictionary, event->name);
	struct fxt_new_record record;
	uint64_t header = begin_profiler(w, event, TW_FXT_PROFILER_MODULE, &record);
	fxt_put_stream(&record, name->text, name->length);
	fxt_put_stream(&record, fields[1].value.bytes, (size_t)fields[1].size);
	header |= fields[0].value.u << 28 | (uint64_t)name->length << 44 | (uint64_t)fields[1].size << 52;
	fxt_record_end(&w->writer->out, &record, header);
}

static void put_mapping(struct fxt_writer *w, const struct tw_event *event)
{
	const struct tw_argument *fields = fxt_first_argument(w, event);
	struct fxt_new_record record;
	uint64_t header = begin_profiler(w, event, TW_FXT_PROFILER_MMAP, &record);
	for (unsigned i = 1; i <= 3; i++)
		fxt_put_word(&record, fields[i].value.u);
	fxt_record_end(&w->writer->out, &record, header | fields[0].value.u << 28 | fields[4].value.u << 44);
}

/* How many addresses a backtrace has: the arguments, but for its flags. False where they are something else. */
static bool is_backtrace(const struct fxt_writer *w, const struct tw_event *event, unsigned *addresses)
{
	static const struct fxt_field flags = {"flags", TW_ARG_UINT, BACKTRACE_FLAGS_MAX};
	const struct tw_argument *arguments = fxt_first_argument(w, event);
	unsigned count = 0;
	while (count < event->argument_count && arguments[count].type == TW_ARG_POINTER)
		count++;
	*addresses = count;
	if (count < event->argument_count)
		return fxt_has_fields(w, event, &flags, 1, count);
	return count || (!w->foreign && event->other == 0);
}

void fxt_put_sample(struct fxt_writer *w, const struct tw_event *event, const struct fxt_written_kind *as)
{
	unsigned count;
	if (!is_backtrace(w, event, &count)) {
		fxt_put_stand_in(w, event, as);
		return;
	}
	const struct tw_argument *arguments = fxt_first_argument(w, event);
	uint64_t flags = count < event->argument_count ? arguments[count].value.u : 0;
	struct fxt_new_record record;
	uint64_t header = begin_profiler(w, event, TW_FXT_PROFILER_BACKTRACE, &record);
	for (unsigned i = 0; i < count; i++)
		fxt_put_word(&record, arguments[i].value.u);
	fxt_record_end(&w->writer->out, &record, header | (uint64_t)count << 28 | flags << 36);
	fxt_no_place(w, event->name, "name");
	fxt_no_place(w, event->category, "category");
	fxt_no_place(w, event->value > 1, "weight");
}

/* ---- Provider events. ---- */

/* The provider that an event is about: the one whose id is the first argument, or else the event's own, whose id is
 * changed to that. */
static unsigned find_provider(const struct fxt_writer *w, const struct tw_event *event, uint64_t *id)
{
	const struct tw_argument *first = fxt_first_argument(w, event);
	bool has_id = first && first->type == TW_ARG_UINT;
	uint32_t number = has_id ? tw_dictionary_providers(w->dictionary) : 0;
	*id = has_id ? first->value.u : 0;
	if (has_id && tw_dictionary_provider(w->dictionary, event->provider)->id == *id)
		return event->provider;
	while (number > 1)
		if (tw_dictionary_provider(w->dictionary, --number)->id == *id)
			return number;
	return event->provider;
}

/* Of a provider that has nothing else in the archive it stands in the section of the event's. */
static bool put_provider_event(struct fxt_writer *w, const struct tw_event *event, uint64_t number)
{
	uint64_t stated, type = TW_FXT_PROVIDER_EVENT - TW_FXT_PROVIDER_INFO + 1;
	unsigned provider = find_provider(w, event, &stated);
	bool known =
	    w->one_provider || stated > UINT32_MAX || tw_dictionary_provider(w->dictionary, provider)->id == stated;
	if (!fxt_enter_section(w, provider))
		return false;
	uint64_t id = known ? w->sections[provider]->id : stated;
	struct fxt_new_record record = fxt_record_begin(&w->writer->out, w->tables->big);
	fxt_record_end(&w->writer->out, &record, TW_FXT_TYPE_METADATA | type << 16 | id << 20 | number << 52);
	return true;
}

void fxt_put_lost(struct fxt_writer *w, const struct tw_event *event, const struct fxt_written_kind *as)
{
	const struct tw_name *name = tw_dictionary_name(w->dictionary, event->name);
	if (strcmp(name->text, "records dropped") != 0)
		fxt_put_stand_in(w, event, as);
	else if (!put_provider_event(w, event, EVENT_RECORDS_DROPPED))
		fxt_loss(w, tw_event_kind_name(TW_LOST), false);
	else
		fxt_no_place(w, event->value, "bytes of a loss");
}

/* ---- Metadata. ---- */

void fxt_put_metadata(struct fxt_writer *w, const struct tw_event *event, const struct fxt_written_kind *as)
{
	static const struct fxt_field module[] = {{"module_id", TW_ARG_UINT, MODULE_MAX},
	                                          {"build_id", TW_ARG_BYTES, NAME_MAX_BYTES}};
	static const struct fxt_field mapping[] = {{"module_id", TW_ARG_UINT, MODULE_MAX},
	                                           {"start", TW_ARG_POINTER, UINT64_MAX},
	                                           {"range", TW_ARG_POINTER, UINT64_MAX},
	                                           {"vaddr", TW_ARG_POINTER, UINT64_MAX},
	                                           {"flags", TW_ARG_UINT, MAPPING_FLAGS_MAX}};
	static const struct fxt_field provider[] = {{"provider_id", TW_ARG_UINT, UINT32_MAX},
	                                            {"event", TW_ARG_UINT, EVENT_MAX}};
	const struct tw_name *name = tw_dictionary_name(w->dictionary, event->name);
	if (fxt_has_fields(w, event, module, 2, 0) && name->length <= NAME_MAX_BYTES)
		put_module(w, event);
	else if (fxt_has_fields(w, event, mapping, 5, 0) && name->length == 0)
		put_mapping(w, event);
	else if (!fxt_has_fields(w, event, provider, 2, 0) ||
	         !put_provider_event(w, event, fxt_first_argument(w, event)[1].value.u))
		fxt_put_stand_in(w, event, as);
}
