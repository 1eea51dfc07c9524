/* records.c - the records of an archive as they are, field by field; doc/design.md has the table. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "core/filter/wanted.h"
#include "fxt/format/layout.h"
#include "fxt/fxt.h"
#include "fxt/jobs/objects.h"
#include "fxt/walk/cursor.h"

#include <stdlib.h>
#include <string.h>

enum {
	FIELDS = 16,
	ARGUMENT_FIELDS = 8,
	ADDRESSES = 255 /* of a backtrace */
};

/* Fields that are being put together. */
struct list {
	struct tw_field *fields;
	size_t count;
};

struct fxt_records {
	struct fxt_cursor cursor;
	const struct fxt_piece *piece;
	bool in_piece;
	struct tw_field fields[FIELDS];
	struct tw_field arguments[TW_FXT_ARGUMENTS_MAX];
	struct tw_field argument_fields[TW_FXT_ARGUMENTS_MAX][ARGUMENT_FIELDS];
	struct tw_field addresses[ADDRESSES];
	struct tw_map objects;    /* struct fxt_object to name */
	struct tw_wanted *wanted; /* with a filter: which records */
};

/* A record that is being described. */
struct job {
	struct fxt_records *records;
	const struct tw_fxt_record *record;
	struct list fields;
};

/* ---- Fields. ---- */

static struct tw_field *add(struct list *list, const char *name, enum tw_field_type type)
{
	struct tw_field *field = &list->fields[list->count++];
	*field = (struct tw_field){.name = name, .type = type};
	return field;
}

static void add_uint(struct list *list, const char *name, uint64_t value)
{
	add(list, name, TW_FIELD_UINT)->value.u = value;
}

static void add_hex(struct list *list, const char *name, uint64_t value)
{
	add(list, name, TW_FIELD_HEX)->value.u = value;
}

static void add_bytes(struct list *list, const char *name, enum tw_field_type type, const void *bytes, uint64_t size)
{
	struct tw_field *field = add(list, name, type);
	field->value.bytes = bytes ? bytes : "";
	field->size = (size_t)size;
}

static void add_rest(struct list *list, const void *bytes, uint64_t size)
{
	if (bytes && size)
		add_bytes(list, "rest", TW_FIELD_BYTES, bytes, size);
}

static void add_text(struct list *list, const char *name, const char *text)
{
	add_bytes(list, name, TW_FIELD_TEXT, text, strlen(text));
}

/* ---- Strings, threads, objects. ---- */

/* The text of a string; false where its index is not defined. */
static bool resolve(const struct fxt_cursor *cursor, const struct tw_fxt_string *string, const char **text,
                    size_t *length)
{
	*text = string->bytes ? (const char *)string->bytes : "";
	*length = string->length;
	if (string->bytes || string->reference == 0 || string->reference >= TW_FXT_STRING_INLINE)
		return true;
	const struct fxt_entry *entry = fxt_cursor_string(cursor, string->reference);
	if (!entry)
		return false;
	*text = entry->text;
	*length = entry->length;
	return true;
}

static void add_string(const struct job *job, struct list *list, const char *name, const char *reference_name,
                       const struct tw_fxt_string *string)
{
	const char *text;
	size_t length;
	if (resolve(&job->records->cursor, string, &text, &length))
		add_bytes(list, name, TW_FIELD_TEXT, text, length);
	else
		add(list, name, TW_FIELD_NULL);
	add_uint(list, reference_name, string->reference);
}

/* The names of the three fields of a thread. */
struct thread_names {
	const char *process, *thread, *reference;
};

static const struct thread_names plain_thread = {"process", "thread", "thread_ref"};
static const struct thread_names outgoing = {"outgoing_process", "outgoing_thread", "outgoing_thread_ref"};
static const struct thread_names incoming = {"incoming_process", "incoming_thread", "incoming_thread_ref"};

/* The koids of a thread; false where its index is not defined. */
static bool koids(const struct fxt_cursor *cursor, const struct tw_fxt_thread *thread, uint64_t *process,
                  uint64_t *koid)
{
	const struct fxt_entry *entry = thread->index ? fxt_cursor_thread(cursor, thread->index) : NULL;
	*process = entry ? entry->process : thread->process;
	*koid = entry ? entry->thread : thread->thread;
	return thread->index == 0 || entry;
}

/* has_thread: where the koids are in the record, that of the thread is, too. */
static void put_thread(struct job *job, const struct thread_names *names, const struct tw_fxt_thread *thread,
                       bool has_thread)
{
	uint64_t process, koid;
	bool known = koids(&job->records->cursor, thread, &process, &koid);
	add(&job->fields, names->process, known ? TW_FIELD_UINT : TW_FIELD_NULL)->value.u = process;
	known = known && (thread->index || has_thread);
	add(&job->fields, names->thread, known ? TW_FIELD_UINT : TW_FIELD_NULL)->value.u = koid;
	add_uint(&job->fields, names->reference, thread->index);
}

static void add_object(const struct job *job, struct list *list, const struct tw_fxt_argument *argument)
{
	uint64_t process = 0, thread, value = argument->value.u;
	const struct tw_fxt_record *record = job->record;
	const struct fxt_provider *provider = job->records->cursor.chunk->turn.provider;
	bool koid = argument->type == TW_FXT_ARG_KOID;
	if (!koid && !koids(&job->records->cursor, &record->thread, &process, &thread))
		return;
	uint32_t number = fxt_object_name(&job->records->objects,
	                                  koid ? fxt_koid(provider, value) : fxt_pointer(provider, process, value));
	if (number == 0)
		return;
	const struct tw_name *name = tw_dictionary_name(job->records->cursor.reader->dictionary, number);
	add_bytes(list, "object", TW_FIELD_TEXT, name->text, name->length);
}

/* ---- Arguments. ---- */

static void take_null(const struct job *job, struct list *list, const struct tw_fxt_argument *argument)
{
	(void)job, (void)argument;
	add(list, "value", TW_FIELD_NULL);
}

static void take_int(const struct job *job, struct list *list, const struct tw_fxt_argument *argument)
{
	(void)job;
	add(list, "value", TW_FIELD_INT)->value.i = argument->value.i;
}

static void take_uint(const struct job *job, struct list *list, const struct tw_fxt_argument *argument)
{
	(void)job;
	add_uint(list, "value", argument->value.u);
}

static void take_double(const struct job *job, struct list *list, const struct tw_fxt_argument *argument)
{
	(void)job;
	add(list, "value", TW_FIELD_DOUBLE)->value.d = argument->value.d;
}

static void take_text(const struct job *job, struct list *list, const struct tw_fxt_argument *argument)
{
	add_string(job, list, "value", "value_ref", &argument->text);
}

static void take_pointer(const struct job *job, struct list *list, const struct tw_fxt_argument *argument)
{
	add_hex(list, "value", argument->value.u);
	add_object(job, list, argument);
}

static void take_koid(const struct job *job, struct list *list, const struct tw_fxt_argument *argument)
{
	add_uint(list, "value", argument->value.u);
	add_object(job, list, argument);
}

static void take_bool(const struct job *job, struct list *list, const struct tw_fxt_argument *argument)
{
	(void)job;
	add(list, "value", TW_FIELD_BOOL)->value.u = argument->value.u;
}

static void take_bytes(const struct job *job, struct list *list, const struct tw_fxt_argument *argument)
{
	(void)job;
	add_bytes(list, "value", TW_FIELD_BYTES, argument->bytes, argument->size);
}

static const struct {
	const char *name;
	void (*take)(const struct job *job, struct list *list, const struct tw_fxt_argument *argument);
} argument_types[] = {
    [TW_FXT_ARG_NULL] = {"null", take_null},     [TW_FXT_ARG_INT32] = {"int32", take_int},
    [TW_FXT_ARG_UINT32] = {"uint32", take_uint}, [TW_FXT_ARG_INT64] = {"int64", take_int},
    [TW_FXT_ARG_UINT64] = {"uint64", take_uint}, [TW_FXT_ARG_DOUBLE] = {"double", take_double},
    [TW_FXT_ARG_STRING] = {"string", take_text}, [TW_FXT_ARG_POINTER] = {"pointer", take_pointer},
    [TW_FXT_ARG_KOID] = {"koid", take_koid},     [TW_FXT_ARG_BOOL] = {"bool", take_bool},
    [TW_FXT_ARG_BLOB] = {"blob", take_bytes},
};

/* The first word of an argument, which only that of an unknown type needs. */
static uint64_t header_of(const struct tw_fxt_argument *argument)
{
	uint64_t words = 1 + fxt_text_words(argument->name.reference) + fxt_words(argument->size);
	return argument->type | words << 4 | (uint64_t)argument->name.reference << 16 | argument->value.u << 32;
}

static size_t put_argument(const struct job *job, const struct tw_fxt_argument *argument, struct tw_field *fields)
{
	struct list list = {.fields = fields};
	bool known = argument->type < sizeof argument_types / sizeof *argument_types;
	add_string(job, &list, "name", "name_ref", &argument->name);
	add_text(&list, "type", known ? argument_types[argument->type].name : "unknown");
	if (known) {
		argument_types[argument->type].take(job, &list, argument);
	} else {
		take_bytes(job, &list, argument);
		add_hex(&list, "header", header_of(argument));
	}
	add_rest(&list, argument->trailing, argument->trailing_size);
	return list.count;
}

static void put_arguments(struct job *job)
{
	struct fxt_records *records = job->records;
	for (unsigned i = 0; i < job->record->argument_count; i++) {
		struct tw_field *inner = records->argument_fields[i];
		records->arguments[i] = (struct tw_field){.type = TW_FIELD_OBJECT, .value.fields = inner};
		records->arguments[i].size = put_argument(job, &job->record->arguments[i], inner);
	}
	struct tw_field *field = add(&job->fields, "arguments", TW_FIELD_ARRAY);
	field->value.fields = records->arguments;
	field->size = job->record->argument_count;
}

/* ---- Records. ---- */

static void put_name(struct job *job)
{
	add_string(job, &job->fields, "name", "name_ref", &job->record->name);
}

/* It says all by being there. */
static void put_magic(struct job *job)
{
	(void)job;
}

static void put_provider_info(struct job *job)
{
	const struct tw_fxt_record *record = job->record;
	add_uint(&job->fields, "provider_id", record->id);
	add_bytes(&job->fields, "name", TW_FIELD_TEXT, record->name.bytes, record->name.length);
}

static void put_provider_section(struct job *job)
{
	add_uint(&job->fields, "provider_id", job->record->id);
}

static void put_provider_event(struct job *job)
{
	add_uint(&job->fields, "provider_id", job->record->id);
	add_uint(&job->fields, "event_id", job->record->object_type);
}

static void put_initialization(struct job *job)
{
	const struct tw_fxt_record *record = job->record;
	add_uint(&job->fields, "ticks_per_second", record->id);
	if (!record->has_base)
		return;
	add_uint(&job->fields, "base_ticks", record->base_ticks);
	add_uint(&job->fields, "base_time_ns", record->base_ns);
}

static void put_string(struct job *job)
{
	add_uint(&job->fields, "index", job->record->index);
	add_bytes(&job->fields, "value", TW_FIELD_TEXT, job->record->payload, job->record->payload_size);
}

static void put_thread_record(struct job *job)
{
	add_uint(&job->fields, "index", job->record->index);
	add_uint(&job->fields, "process", job->record->thread.process);
	add_uint(&job->fields, "thread", job->record->thread.thread);
}

static const char *id_name(enum tw_fxt_kind kind)
{
	if (kind == TW_FXT_COUNTER)
		return "counter_id";
	return kind >= TW_FXT_FLOW_BEGIN ? "flow_correlation_id" : "async_correlation_id";
}

static void put_event(struct job *job)
{
	const struct tw_fxt_record *record = job->record;
	add_uint(&job->fields, "timestamp", record->time);
	put_thread(job, &plain_thread, &record->thread, true);
	add_string(job, &job->fields, "category", "category_ref", &record->category);
	put_name(job);
	put_arguments(job);
	if (record->kind == TW_FXT_DURATION_COMPLETE)
		add_uint(&job->fields, "end_time", record->end);
	else if (fxt_event_extra(record->kind))
		add_uint(&job->fields, id_name(record->kind), record->id);
	else if (record->has_scope)
		add_uint(&job->fields, "scope", record->scope);
}

static void put_payload(struct job *job)
{
	const struct tw_fxt_record *record = job->record;
	bool large = record->kind == TW_FXT_LARGE_BLOB;
	uint64_t shown = large && record->payload_here > FXT_SHOWN ? FXT_SHOWN : record->payload_here;
	add_uint(&job->fields, "payload_size", record->payload_size);
	add_bytes(&job->fields, "payload", TW_FIELD_BYTES, record->payload, shown);
}

static void put_blob(struct job *job)
{
	put_name(job);
	add_uint(&job->fields, "blob_type", job->record->object_type);
	put_payload(job);
}

static void put_large_blob(struct job *job)
{
	const struct tw_fxt_record *record = job->record;
	add_uint(&job->fields, "blob_format", record->format);
	add_string(job, &job->fields, "category", "category_ref", &record->category);
	put_name(job);
	if (record->format == 0) {
		add_uint(&job->fields, "timestamp", record->time);
		put_thread(job, &plain_thread, &record->thread, true);
		put_arguments(job);
	}
	put_payload(job);
}

/* An object has a name from its record on. */
static void learn_name(struct job *job, struct fxt_object object)
{
	struct fxt_state *state = &job->records->cursor.state;
	const char *text;
	size_t length;
	if (resolve(&job->records->cursor, &job->record->name, &text, &length) && length)
		fxt_object_learn(&job->records->objects, state, object, fxt_state_name(state, text, length));
}

static void put_userspace_object(struct job *job)
{
	const struct tw_fxt_record *record = job->record;
	uint64_t process, thread;
	add_hex(&job->fields, "pointer", record->id);
	put_thread(job, &plain_thread, &record->thread, record->wide_process);
	put_name(job);
	put_arguments(job);
	if (koids(&job->records->cursor, &record->thread, &process, &thread))
		learn_name(job, fxt_pointer(job->records->cursor.chunk->turn.provider, process, record->id));
}

static void put_kernel_object(struct job *job)
{
	add_uint(&job->fields, "object_type", job->record->object_type);
	add_uint(&job->fields, "koid", job->record->id);
	put_name(job);
	put_arguments(job);
	learn_name(job, fxt_koid(job->records->cursor.chunk->turn.provider, job->record->id));
}

static void put_switch(struct job *job)
{
	const struct tw_fxt_record *record = job->record;
	add_uint(&job->fields, "timestamp", record->time);
	add_uint(&job->fields, "cpu", record->cpu);
	add_uint(&job->fields, "outgoing_thread_state", record->state);
	add_uint(&job->fields, "outgoing_thread", record->thread.thread);
	add_uint(&job->fields, "incoming_thread", record->incoming.thread);
	put_arguments(job);
}

static void put_legacy_switch(struct job *job)
{
	const struct tw_fxt_record *record = job->record;
	add_uint(&job->fields, "timestamp", record->time);
	add_uint(&job->fields, "cpu", record->cpu);
	add_uint(&job->fields, "outgoing_thread_state", record->state);
	put_thread(job, &outgoing, &record->thread, true);
	put_thread(job, &incoming, &record->incoming, true);
	add_uint(&job->fields, "outgoing_thread_priority", record->outgoing_priority);
	add_uint(&job->fields, "incoming_thread_priority", record->incoming_priority);
}

static void put_wakeup(struct job *job)
{
	add_uint(&job->fields, "timestamp", job->record->time);
	add_uint(&job->fields, "cpu", job->record->cpu);
	add_uint(&job->fields, "waking_thread", job->record->thread.thread);
	put_arguments(job);
}

static void put_log(struct job *job)
{
	add_uint(&job->fields, "timestamp", job->record->time);
	put_thread(job, &plain_thread, &job->record->thread, true);
	add_bytes(&job->fields, "message", TW_FIELD_TEXT, job->record->payload, job->record->payload_size);
}

static void put_profiled_thread(struct job *job)
{
	add_uint(&job->fields, "timestamp", job->record->time);
	put_thread(job, &plain_thread, &job->record->thread, job->record->wide_process);
}

static void put_module(struct job *job)
{
	const struct tw_fxt_record *record = job->record;
	put_profiled_thread(job);
	add_uint(&job->fields, "module_id", record->id);
	add_bytes(&job->fields, "name", TW_FIELD_TEXT, record->name.bytes, record->name.length);
	add_bytes(&job->fields, "build_id", TW_FIELD_BYTES, record->payload, record->payload_size);
}

static void put_mmap(struct job *job)
{
	const struct tw_fxt_record *record = job->record;
	put_profiled_thread(job);
	add_uint(&job->fields, "module_id", record->id);
	add_uint(&job->fields, "flags", record->object_type);
	add_hex(&job->fields, "start", record->mmap_start);
	add_hex(&job->fields, "range", record->mmap_range);
	add_hex(&job->fields, "vaddr", record->mmap_address);
}

static void put_backtrace(struct job *job)
{
	const struct tw_fxt_record *record = job->record;
	struct list list = {.fields = job->records->addresses};
	bool big = job->records->cursor.chunk->big;
	for (uint64_t at = 0; at + TW_FXT_WORD <= record->payload_size && list.count < ADDRESSES; at += TW_FXT_WORD)
		add_hex(&list, NULL, tw_load64(record->payload + at, big));
	put_profiled_thread(job);
	add_uint(&job->fields, "flags", record->flags);
	struct tw_field *field = add(&job->fields, "pcs", TW_FIELD_ARRAY);
	field->value.fields = list.fields;
	field->size = list.count;
}

static void put_unknown(struct job *job)
{
	const struct tw_fxt_record *record = job->record;
	uint64_t shown = record->payload_here < FXT_SHOWN ? record->payload_here : FXT_SHOWN;
	add_uint(&job->fields, "type", record->type);
	if (fxt_has_subtype(record->type))
		add_uint(&job->fields, "subtype", record->subtype);
	add_hex(&job->fields, "header", record->header);
	add_uint(&job->fields, "size", record->size);
	add_bytes(&job->fields, "data", TW_FIELD_BYTES, record->payload, shown);
}

static void (*const putters[TW_FXT_KINDS])(struct job *) = {
    [TW_FXT_UNKNOWN] = put_unknown,
    [TW_FXT_MAGIC] = put_magic,
    [TW_FXT_PROVIDER_INFO] = put_provider_info,
    [TW_FXT_PROVIDER_SECTION] = put_provider_section,
    [TW_FXT_PROVIDER_EVENT] = put_provider_event,
    [TW_FXT_INITIALIZATION] = put_initialization,
    [TW_FXT_STRING] = put_string,
    [TW_FXT_THREAD] = put_thread_record,
    [TW_FXT_INSTANT] = put_event,
    [TW_FXT_COUNTER] = put_event,
    [TW_FXT_DURATION_BEGIN] = put_event,
    [TW_FXT_DURATION_END] = put_event,
    [TW_FXT_DURATION_COMPLETE] = put_event,
    [TW_FXT_ASYNC_BEGIN] = put_event,
    [TW_FXT_ASYNC_INSTANT] = put_event,
    [TW_FXT_ASYNC_END] = put_event,
    [TW_FXT_FLOW_BEGIN] = put_event,
    [TW_FXT_FLOW_STEP] = put_event,
    [TW_FXT_FLOW_END] = put_event,
    [TW_FXT_BLOB] = put_blob,
    [TW_FXT_USERSPACE_OBJECT] = put_userspace_object,
    [TW_FXT_KERNEL_OBJECT] = put_kernel_object,
    [TW_FXT_LEGACY_CONTEXT_SWITCH] = put_legacy_switch,
    [TW_FXT_CONTEXT_SWITCH] = put_switch,
    [TW_FXT_THREAD_WAKEUP] = put_wakeup,
    [TW_FXT_LOG] = put_log,
    [TW_FXT_PROFILER_MODULE] = put_module,
    [TW_FXT_PROFILER_MMAP] = put_mmap,
    [TW_FXT_PROFILER_BACKTRACE] = put_backtrace,
    [TW_FXT_LARGE_BLOB] = put_large_blob,
};

static void describe(struct fxt_records *records, const struct tw_fxt_record *from, struct tw_record *record)
{
	struct job job = {.records = records, .record = from, .fields = {.fields = records->fields}};
	putters[from->kind](&job);
	add_rest(&job.fields, from->trailing, from->trailing_size);
	*record = (struct tw_record){
	    .kind = tw_fxt_kind_name(from->kind),
	    .offset = fxt_cursor_offset(&records->cursor),
	    .size = from->size,
	    .fields = records->fields,
	    .field_count = job.fields.count,
	};
}

/* ---- Reading. ---- */

static int make(struct tw_reader *reader, struct fxt_records **records)
{
	bool filtered = reader->filter || reader->options.thread_count || reader->options.provider;
	*records = calloc(1, sizeof **records);
	if (!*records)
		return TW_ERR_MEMORY;
	int status = filtered ? tw_wanted_new(&(*records)->wanted, reader, false) : 0;
	return status < 0 ? status : fxt_cursor_init(&(*records)->cursor, reader);
}

void fxt_records_free(struct fxt_records *records)
{
	if (!records)
		return;
	fxt_cursor_free(&records->cursor);
	tw_map_free(&records->objects);
	tw_wanted_free(records->wanted);
	free(records);
}

/* The next record that can be decoded. */
static int next(struct fxt_records *records, struct tw_fxt_record *record)
{
	struct fxt_cursor *cursor = &records->cursor;
	for (;;) {
		int status = records->in_piece ? fxt_cursor_record(cursor, records->piece, record) : 0;
		if (status == 1)
			return 1;
		if (status < 0) {
			fxt_cursor_report(cursor, records->piece);
			continue;
		}
		status = fxt_cursor_piece(cursor, &records->piece);
		if (status <= 0)
			return status;
		records->in_piece = records->piece->kind == FXT_RECORDS;
		if (!records->in_piece)
			fxt_cursor_report(cursor, records->piece);
	}
}

int fxt_read_record(struct tw_reader *reader, struct tw_record *record)
{
	struct fxt_reader *fxt = reader->state;
	struct tw_fxt_record from;
	int status = fxt->records ? 0 : make(reader, &fxt->records);
	while (status == 0) {
		status = next(fxt->records, &from);
		if (status <= 0)
			break;
		describe(fxt->records, &from, record); /* learns the names of objects, whether shown or not */
		if (!fxt->records->wanted || tw_is_wanted(fxt->records->wanted, record->offset))
			return 1;
		status = 0;
	}
	if (status == 0 && fxt->records->cursor.state.failed)
		status = TW_ERR_MEMORY;
	if (status == 0)
		fxt_finish(reader);
	return status < 0 ? fxt_fail(reader, status) : 0;
}
