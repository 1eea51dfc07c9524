/* rows.c - the records of a chunk to rows. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "core/format.h"
#include "fxt/events/events.h"
#include "fxt/walk/chunk.h"

#include <string.h>

/* A record on its way to a row. */
struct row_source {
	struct fxt_chunk *chunk;
	const struct fxt_wish *wish;
	const struct tw_fxt_record *record;
	size_t place; /* of the record */
};

static void note(const struct row_source *source, enum fxt_rule rule, uint64_t number)
{
	fxt_note(source->chunk, rule, source->place, source->place, number, 0, NULL);
}

/* ---- Strings and threads. ---- */

/* The number of a name, 0 where it waits. */
static uint32_t name_number(const struct row_source *source, const struct tw_fxt_string *string, enum fxt_fix_kind kind,
                            unsigned argument)
{
	const bool is_index = string->reference && string->reference < TW_FXT_STRING_INLINE;
	const struct fxt_entry *entry =
	    string->bytes ? NULL : fxt_string_of(source->chunk, string->reference, source->place);
	if (entry || (!string->bytes && !is_index))
		return entry ? entry->number : 0;
	if (!string->bytes)
		note(source, FXT_STRING_UNDEFINED, string->reference);
	fxt_add_fix(source->chunk, &(struct fxt_fix){.kind = (uint8_t)kind,
	                                             .argument = (uint8_t)argument,
	                                             .bytes = string->bytes,
	                                             .length = string->length,
	                                             .reference = string->bytes ? 0 : string->reference});
	return 0;
}

/* The track of a thread; 0 where it waits. quiet: nothing is noted. */
static uint32_t find_track(const struct row_source *source, const struct tw_fxt_thread *thread, enum fxt_fix_kind kind,
                           bool other, bool quiet)
{
	const struct fxt_referred found = fxt_refer_to(source->chunk, thread, source->place);
	struct fxt_fix fix = {.kind = (uint8_t)kind, .other = other, .a = found.process, .b = found.thread};
	if (!found.known)
		fix = (struct fxt_fix){.kind = FXT_FIX_TRACK_UNDEFINED,
		                       .other = other,
		                       .a = source->chunk->decoder.context.generation,
		                       .b = thread->index};
	if (!found.known && !quiet)
		note(source, FXT_THREAD_UNDEFINED, thread->index);
	if (found.track != UINT32_MAX)
		return found.track;
	fxt_add_fix(source->chunk, &fix);
	return 0;
}

/* The same of a thread of a record: context switches and wake-ups of today tell koids of threads only. */
static uint32_t track_number(const struct row_source *source, const struct tw_fxt_thread *thread, bool other)
{
	const enum tw_fxt_kind kind = source->record->kind;
	const bool lone = kind == TW_FXT_CONTEXT_SWITCH || kind == TW_FXT_THREAD_WAKEUP;
	return find_track(source, thread, lone ? FXT_FIX_TRACK_BY_KOID : FXT_FIX_TRACK, other, false);
}

static bool is_wanted(const struct row_source *source, const struct tw_fxt_thread *thread)
{
	if (source->wish->options->thread_count == 0)
		return true;
	const struct fxt_referred found = fxt_refer_to(source->chunk, thread, source->place);
	const uint64_t generation = source->chunk->decoder.context.generation;
	return tw_thread_wanted(source->wish->options,
	                        found.known ? found.thread : fxt_undefined_koid(generation, thread->index));
}

/* ---- Arguments. ---- */

/* False where nothing has registered it. */
static bool text_value(const struct row_source *source, const struct tw_fxt_string *text, struct tw_argument *argument)
{
	size_t length;
	const char *bytes = fxt_text(source->chunk, text, source->place, &length);
	argument->type = TW_ARG_TEXT;
	argument->value.bytes = (const uint8_t *)(bytes ? bytes : "");
	argument->size = (uint32_t)length;
	return bytes;
}

static void wait_for_text(const struct row_source *source, unsigned reference, unsigned number)
{
	note(source, FXT_STRING_UNDEFINED, reference);
	fxt_add_fix(source->chunk, &(struct fxt_fix){.kind = FXT_FIX_ARGUMENT_TEXT,
	                                             .argument = (uint8_t)number,
	                                             .reference = (uint16_t)reference});
}

static void set_unknown(const struct row_source *source, const struct tw_fxt_argument *from,
                        struct tw_argument *argument)
{
	argument->raw = (uint16_t)(FXT_RAW | (source->chunk->decoder.big ? FXT_RAW_BIG : 0) | from->type);
	argument->raw_more = (uint32_t)from->value.u;
	note(source, FXT_ARGUMENT_TYPE, from->type);
}

/* The value of the last row's argument of this number; its name follows. */
static struct tw_argument value_of(const struct row_source *source, const struct tw_fxt_argument *from, unsigned number)
{
	bool known = from->type <= TW_FXT_ARG_BLOB;
	struct tw_argument argument = {.type = known ? fxt_argument_kinds[from->type].type : TW_ARG_BYTES};
	if (from->type == TW_FXT_ARG_STRING) {
		if (!text_value(source, &from->text, &argument))
			wait_for_text(source, from->text.reference, number);
	} else if (argument.type == TW_ARG_BYTES) {
		argument.value.bytes = from->bytes;
		argument.size = from->size;
		if (!known)
			set_unknown(source, from, &argument);
	} else {
		argument.value.u = from->value.u;
	}
	return argument;
}

/* The number of the last row's next argument. */
static unsigned next_argument(const struct tw_slab *slab)
{
	return slab->failed ? 0 : slab->events[slab->count - 1].argument_count;
}

static void add_arguments(const struct row_source *source)
{
	const uint64_t process = fxt_refer_to(source->chunk, &source->record->thread, source->place).process;
	for (unsigned i = 0; i < source->record->argument_count; i++) {
		struct tw_slab *slab = &source->chunk->rows.slab;
		const struct tw_fxt_argument *from = &source->record->arguments[i];
		unsigned number = next_argument(slab);
		struct tw_argument argument = value_of(source, from, number);
		argument.name = name_number(source, &from->name, FXT_FIX_ARGUMENT_NAME, number);
		fxt_count_text(slab, &argument);
		tw_slab_argument(slab, &argument);
		if (argument.type == TW_ARG_KOID || argument.type == TW_ARG_POINTER)
			fxt_refer(source->chunk, &argument, number, process);
	}
}

/* An argument that is a field of the record. */
static void add_field(const struct row_source *source, const char *name, const struct tw_argument *value)
{
	struct tw_slab *slab = &source->chunk->rows.slab;
	const struct tw_fxt_string string = {.bytes = (const uint8_t *)name, .length = (uint16_t)strlen(name)};
	unsigned number = next_argument(slab);
	tw_slab_argument(slab, value);
	name_number(source, &string, FXT_FIX_ARGUMENT_NAME, number);
}

static void add_number(const struct row_source *source, const char *name, enum tw_argument_type type, uint64_t value)
{
	add_field(source, name, &(struct tw_argument){.type = (uint8_t)type, .value.u = value});
}

static void add_bytes(const struct row_source *source, const char *name, enum tw_argument_type type)
{
	const struct tw_fxt_record *record = source->record;
	const uint8_t *bytes = record->payload ? record->payload : (const uint8_t *)"";
	add_field(source, name,
	          &(struct tw_argument){.type = (uint8_t)type,
	                                .value.bytes = bytes,
	                                .size = (uint32_t)record->payload_here});
}

/* ---- Rows. ---- */

/* Adds a row of the record, with its name, its category and its track; NULL when there is no memory. A record without
 * a time of its own has that of the one before. */
static struct tw_event *add_row(const struct row_source *source, enum tw_event_kind kind)
{
	struct fxt_chunk *chunk = source->chunk;
	const struct tw_fxt_record *record = source->record;
	const bool timed = fxt_has_time(record);
	const struct tw_event event = {
	    .time = timed ? fxt_time(chunk, record->time, source->place) : chunk->decoder.time,
	    .offset = fxt_offset(chunk, source->place),
	    .id = record->id,
	    .kind = (uint8_t)kind,
	    .flags = fxt_has_trailing(record) ? TW_FLAG_MORE : 0,
	    .provider = chunk->decoder.context.number,
	};
	struct tw_event *row = tw_slab_add(&chunk->rows.slab, &event);
	if (!row)
		return NULL;
	row->category = name_number(source, &record->category, FXT_FIX_CATEGORY, 0);
	row->name = name_number(source, &record->name, FXT_FIX_NAME, 0);
	row->track = timed ? track_number(source, &record->thread, false) : 0;
	return row;
}

/* Names the last row. */
static void name_row(const struct row_source *source, const char *name)
{
	const struct tw_fxt_string string = {.bytes = (const uint8_t *)name, .length = (uint16_t)strlen(name)};
	name_number(source, &string, FXT_FIX_NAME, 0);
}

/* ---- What rows of a kind of record have besides. ---- */

/* The length of a complete slice. Begin and end are compared in ticks: a nanosecond may have many of them. */
static uint64_t duration(const struct row_source *source, uint64_t begin_ns)
{
	const struct tw_fxt_record *record = source->record;
	if (record->end >= record->time)
		return tw_ticks_ns(&source->chunk->decoder.clock, record->end) - begin_ns;
	fxt_note(source->chunk, FXT_END_BEFORE_START, source->place, source->place, record->time, record->end, NULL);
	return 0;
}

static void add_event(const struct row_source *source, struct tw_event *row)
{
	const struct tw_fxt_record *record = source->record;
	if (record->kind == TW_FXT_DURATION_COMPLETE)
		row->value = duration(source, row->time);
	row->flags |= record->scope > FXT_SCOPE_MAX ? TW_FLAG_MORE : fxt_scope_flags(record->scope);
	add_arguments(source);
}

static void add_blob(const struct row_source *source, struct tw_event *row)
{
	const struct tw_fxt_record *record = source->record;
	row->id = record->object_type;
	row->value = record->payload_size;
	row->flags |= record->payload_here < record->payload_size ? TW_FLAG_PARTIAL : 0;
	if (!fxt_has_time(record))
		fxt_add_fix(source->chunk, &(struct fxt_fix){.kind = FXT_FIX_PIECE});
	add_bytes(source, "data", TW_ARG_BYTES);
	add_arguments(source);
}

/* The row gives an object its name. */
static void name_object(const struct row_source *source, bool pointer, uint64_t process)
{
	const struct fxt_provider *provider = source->chunk->decoder.context.provider;
	const struct fxt_object object = fxt_object_of(pointer, provider, process, source->record->id);
	fxt_add_fix(source->chunk, &(struct fxt_fix){.kind = FXT_FIX_OBJECT, .a = object.own, .b = object.all});
}

static void add_kernel_object(const struct row_source *source, struct tw_event *row)
{
	const struct tw_fxt_record *record = source->record;
	row->value = record->object_type;
	row->flags |= source->chunk->decoder.context.foreign ? FXT_FLAG_FOREIGN : 0;
	add_arguments(source);
	fxt_note_losses(source->chunk, record, source->place);
	name_object(source, false, 0);
	fxt_add_fix(source->chunk, &(struct fxt_fix){.kind = FXT_FIX_KERNEL_OBJECT, .b = record->id});
}

static void add_userspace_object(const struct row_source *source, struct tw_event *row)
{
	const struct tw_fxt_record *record = source->record;
	const struct fxt_referred owner = fxt_refer_to(source->chunk, &record->thread, source->place);
	row->flags |= TW_FLAG_USERSPACE | (source->chunk->decoder.context.foreign ? FXT_FLAG_FOREIGN : 0);
	if (record->thread.index || record->wide_process)
		row->other = track_number(source, &record->thread, true);
	add_arguments(source);
	if (owner.known)
		name_object(source, true, owner.process);
	fxt_add_fix(source->chunk, &(struct fxt_fix){.kind = FXT_FIX_TRACK_OF_PROCESS, .b = owner.process});
}

static void add_switch(const struct row_source *source, struct tw_event *row)
{
	const struct tw_fxt_record *record = source->record;
	row->value = record->state;
	row->cpu = record->cpu;
	row->other = track_number(source, &record->incoming, true);
	add_arguments(source);
	if (record->kind != TW_FXT_LEGACY_CONTEXT_SWITCH)
		return;
	add_number(source, "outgoing_priority", TW_ARG_UINT, record->outgoing_priority);
	add_number(source, "incoming_priority", TW_ARG_UINT, record->incoming_priority);
}

/* Fuchsia's newest writers tell who wakes as a koid argument "waker". */
static void add_wakeup(const struct row_source *source, struct tw_event *row)
{
	const struct tw_fxt_record *record = source->record;
	row->cpu = record->cpu;
	add_arguments(source);
	for (unsigned i = 0; i < record->argument_count; i++) {
		const struct tw_fxt_argument *argument = &record->arguments[i];
		struct tw_argument name = {0};
		text_value(source, &argument->name, &name);
		if (argument->type == TW_FXT_ARG_KOID && name.size == 5 && memcmp(name.value.bytes, "waker", 5) == 0)
			fxt_add_fix(source->chunk, &(struct fxt_fix){.kind = FXT_FIX_TRACK_BY_KOID,
			                                             .other = true,
			                                             .b = argument->value.u});
	}
}

static void add_log(const struct row_source *source, struct tw_event *row)
{
	(void)row;
	add_bytes(source, "message", TW_ARG_TEXT);
}

static void add_module(const struct row_source *source, struct tw_event *row)
{
	add_number(source, "module_id", TW_ARG_UINT, row->id);
	add_bytes(source, "build_id", TW_ARG_BYTES);
}

static void add_mmap(const struct row_source *source, struct tw_event *row)
{
	const struct tw_fxt_record *record = source->record;
	add_number(source, "module_id", TW_ARG_UINT, row->id);
	add_number(source, "start", TW_ARG_POINTER, record->mmap_start);
	add_number(source, "range", TW_ARG_POINTER, record->mmap_range);
	add_number(source, "vaddr", TW_ARG_POINTER, record->mmap_address);
	add_number(source, "flags", TW_ARG_UINT, record->object_type);
}

static void add_backtrace(const struct row_source *source, struct tw_event *row)
{
	const struct tw_fxt_record *record = source->record;
	row->value = 1;
	for (uint64_t at = 0; at + TW_FXT_WORD <= record->payload_here; at += TW_FXT_WORD)
		add_number(source, "pc", TW_ARG_POINTER, tw_load64(record->payload + at, source->chunk->decoder.big));
	if (record->flags)
		add_number(source, "flags", TW_ARG_UINT, record->flags);
}

static void add_provider_event(const struct row_source *source, struct tw_event *row)
{
	const struct tw_fxt_record *record = source->record;
	const bool full = record->object_type == 0;
	row->kind = full ? TW_LOST : TW_METADATA;
	row->id = 0;
	name_row(source, full ? "records dropped" : "provider event");
	add_number(source, "provider_id", TW_ARG_UINT, record->id);
	if (!full)
		add_number(source, "event", TW_ARG_UINT, record->object_type);
	fxt_note(source->chunk, full ? FXT_RECORDS_DROPPED : FXT_PROVIDER_EVENT, source->place, source->place,
	         record->id, record->object_type, NULL);
}

enum { TRACE_INFORMATION = 4 }; /* the metadata record that the magic number is one of */

/* The rules by which the types that are not known are noted: those of records, their subtypes, and what a known subtype
 * has further types of, in the bits from `from` on. */
static const struct {
	enum fxt_rule rule, further;
	bool sub;
	uint8_t known, from;
} unknown_rules[] = {
    [TW_FXT_TYPE_METADATA] = {FXT_METADATA_TYPE, FXT_TRACE_INFO, true, TRACE_INFORMATION, 20},
    [TW_FXT_TYPE_EVENT] = {FXT_EVENT_TYPE, 0, true, UINT8_MAX, 0},
    [TW_FXT_TYPE_SCHEDULING] = {FXT_SCHEDULING_TYPE, 0, true, UINT8_MAX, 0},
    [TW_FXT_TYPE_PROFILER] = {FXT_PROFILER_TYPE, 0, true, UINT8_MAX, 0},
    [TW_FXT_TYPE_LARGE] = {FXT_LARGE_TYPE, FXT_LARGE_FORMAT, true, 0, 40},
};

static void note_unknown(const struct row_source *source)
{
	const struct tw_fxt_record *record = source->record;
	enum fxt_rule rule = FXT_RECORD_TYPE;
	uint64_t number = record->type;
	if (unknown_rules[record->type].sub) {
		bool further = record->subtype == unknown_rules[record->type].known;
		unsigned from = unknown_rules[record->type].from;
		rule = further ? unknown_rules[record->type].further : unknown_rules[record->type].rule;
		number = further ? tw_bits(record->header, from, from + 3) : record->subtype;
	}
	note(source, rule, number);
}

static void add_unknown(const struct row_source *source, struct tw_event *row)
{
	const struct tw_fxt_record *record = source->record;
	note_unknown(source);
	row->flags |= record->payload_here < record->payload_size ? TW_FLAG_PARTIAL : 0;
	name_row(source, "unknown record");
	add_number(source, "type", TW_ARG_UINT, record->type);
	add_number(source, "subtype", TW_ARG_UINT, record->subtype);
	add_bytes(source, "data", TW_ARG_BYTES);
}

/* The kind of the rows of records that are no events, and what they have; NULL: these make none. */
static const struct {
	enum tw_event_kind kind;
	void (*add)(const struct row_source *source, struct tw_event *row);
} forms[TW_FXT_KINDS] = {
    [TW_FXT_UNKNOWN] = {TW_METADATA, add_unknown},
    [TW_FXT_PROVIDER_EVENT] = {TW_METADATA, add_provider_event},
    [TW_FXT_BLOB] = {TW_BLOB, add_blob},
    [TW_FXT_USERSPACE_OBJECT] = {TW_OBJECT, add_userspace_object},
    [TW_FXT_KERNEL_OBJECT] = {TW_OBJECT, add_kernel_object},
    [TW_FXT_LEGACY_CONTEXT_SWITCH] = {TW_SWITCH, add_switch},
    [TW_FXT_CONTEXT_SWITCH] = {TW_SWITCH, add_switch},
    [TW_FXT_THREAD_WAKEUP] = {TW_WAKEUP, add_wakeup},
    [TW_FXT_LOG] = {TW_LOG, add_log},
    [TW_FXT_PROFILER_MODULE] = {TW_METADATA, add_module},
    [TW_FXT_PROFILER_MMAP] = {TW_METADATA, add_mmap},
    [TW_FXT_PROFILER_BACKTRACE] = {TW_STACK_SAMPLE, add_backtrace},
    [TW_FXT_LARGE_BLOB] = {TW_BLOB, add_blob},
};

/* Makes a row without name and arguments, of an event of a kind that is not asked for: a call that never ends goes on
 * to the last event of its thread, and a koid that is met alone belongs to the process of its thread. */
static void make_bare_row(const struct row_source *source, enum tw_event_kind kind)
{
	struct fxt_chunk *chunk = source->chunk;
	const struct tw_event event = {.time = fxt_time(chunk, source->record->time, source->place),
	                               .kind = (uint8_t)kind};
	struct tw_event *row = tw_slab_add(&chunk->rows.slab, &event);
	if (row)
		row->track = find_track(source, &source->record->thread, FXT_FIX_TRACK, false, true);
}

/* Rows of events that nobody looks at are made all the same, for the findings, and taken back; but where such events
 * are skipped without a look, nothing is told of any of them. */
static void make_event_row(const struct row_source *source)
{
	struct fxt_chunk *chunk = source->chunk;
	const unsigned type = (unsigned)(source->record->kind - TW_FXT_INSTANT);
	enum tw_event_kind kind = (enum tw_event_kind)fxt_event_kinds[type];
	const struct fxt_row_mark before = fxt_mark_rows(chunk);
	struct tw_event *row = source->wish->skips >> type & 1 ? NULL : add_row(source, kind);
	if (row)
		add_event(source, row);
	if (source->wish->kinds >> kind & 1)
		return;
	fxt_take_rows_back(chunk, &before);
	if (chunk->calls || !source->wish->check)
		make_bare_row(source, kind);
	else
		fxt_pass_by(chunk, chunk->decoder.time);
}

static void make_row(const struct row_source *source)
{
	const enum tw_fxt_kind kind = source->record->kind;
	if (source->record->type == TW_FXT_TYPE_EVENT && kind != TW_FXT_UNKNOWN) {
		make_event_row(source);
		return;
	}
	struct tw_event *row = forms[kind].add ? add_row(source, forms[kind].kind) : NULL;
	if (row)
		forms[kind].add(source, row);
}

/* Whether the record is asked for: a context switch by the thread that leaves, and by the one that comes. */
static bool is_asked_for(const struct row_source *source)
{
	const struct tw_fxt_record *record = source->record;
	bool switches = record->kind == TW_FXT_LEGACY_CONTEXT_SWITCH || record->kind == TW_FXT_CONTEXT_SWITCH;
	return !fxt_has_time(record) || is_wanted(source, &record->thread) ||
	       (switches && is_wanted(source, &record->incoming));
}

/* ---- Records. ---- */

size_t fxt_take_record(struct fxt_chunk *chunk, const struct fxt_wish *wish, size_t place, size_t end)
{
	struct tw_fxt_decoder decoder = {.bytes = chunk->bytes + place, .left = end - place, .big = chunk->decoder.big};
	struct tw_fxt_record record;
	const struct row_source source = {chunk, wish, &record, place};
	uint64_t header = tw_load64(chunk->bytes + place, chunk->decoder.big);
	if (fxt_type(header) == TW_FXT_TYPE_STRING)
		fxt_forget_string(chunk, (unsigned)tw_bits(header, 16, 30));
	if (tw_fxt_next(&decoder, &record) != 1) {
		fxt_note(chunk, FXT_RECORD_BROKEN, place, place + decoder.at, 0, 0, decoder.fault);
		return (size_t)tw_bits(header, 4, 15) * TW_FXT_WORD;
	}
	if (record.type <= TW_FXT_TYPE_INITIALIZATION)
		fxt_next_context(chunk);
	if (wish->check)
		fxt_check_record(chunk, &record, place);
	if (fxt_is_skipped(wish->skips, header)) {
		fxt_set_time(chunk, tw_ticks_ns(&chunk->decoder.clock, record.time));
		fxt_pass_by(chunk, chunk->decoder.time);
	} else if (!is_asked_for(&source)) { /* the trace begins with it, too */
		fxt_pass_by(chunk, tw_ticks_ns(&chunk->decoder.clock, record.time));
	} else {
		make_row(&source);
	}
	return record.size < end - place ? (size_t)record.size : end - place;
}
