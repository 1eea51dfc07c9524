/* records.c - the records of an archive as they are, field by field; doc/design.md has the table. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "core/filter/wanted.h"
#include "core/text/fields.h"
#include "fxt/events/events.h"
#include "fxt/format/layout.h"
#include "fxt/fxt.h"
#include "fxt/walk/walk.h"

#include <stdlib.h>
#include <string.h>

enum {
	FIELDS = 16,
	ARGUMENT_FIELDS = 8,
	ADDRESSES = 255 /* of a backtrace */
};

struct fxt_records {
	struct fxt_cursor cursor;
	const struct fxt_piece *piece;
	bool in_piece;
	struct tw_field fields[FIELDS];
	struct tw_field arguments[TW_FXT_ARGUMENTS_MAX];
	struct tw_field argument_fields[TW_FXT_ARGUMENTS_MAX][ARGUMENT_FIELDS];
	struct tw_field addresses[ADDRESSES];
	struct tw_map objects; /* struct fxt_object to name */
	struct fxt_reported reported;
	struct tw_wanted *wanted; /* with a filter: which records */
};

/* A record that is being shown. */
struct showing {
	struct fxt_records *records;
	const struct tw_fxt_record *record;
	struct tw_field_list fields;
};

/* ---- Fields. ---- */

static void add_bytes(struct tw_field_list *list, const char *name, enum tw_field_type type, const void *bytes,
                      uint64_t size)
{
	tw_add_bytes(list, name, type, bytes ? bytes : "", (size_t)size);
}

static void add_rest(struct tw_field_list *list, const void *bytes, uint64_t size)
{
	if (bytes && size)
		add_bytes(list, "rest", TW_FIELD_BYTES, bytes, size);
}

/* ---- Strings, threads, objects. ---- */

static void note_undefined(const struct showing *show, enum fxt_rule rule, unsigned index)
{
	const struct fxt_cursor *cursor = &show->records->cursor;
	fxt_note(cursor->chunk, rule, cursor->place, cursor->place, index, 0, NULL);
}

static void add_string(const struct showing *show, struct tw_field_list *list, const char *name,
                       const char *reference_name, const struct tw_fxt_string *string)
{
	const struct fxt_cursor *cursor = &show->records->cursor;
	size_t length;
	const char *text = fxt_text(cursor->chunk, string, cursor->place, &length);
	if (text) {
		add_bytes(list, name, TW_FIELD_TEXT, text, length);
	} else {
		tw_add_field(list, name, TW_FIELD_NULL);
		note_undefined(show, FXT_STRING_UNDEFINED, string->reference);
	}
	tw_add_number(list, reference_name, TW_FIELD_UINT, string->reference);
}

static struct fxt_referred refer_to(const struct showing *show, const struct tw_fxt_thread *thread)
{
	return fxt_refer_to(show->records->cursor.chunk, thread, show->records->cursor.place);
}

/* wide: where the koids are in the record, that of the thread is, too. */
static void add_thread(struct showing *show, const char *const names[3], const struct tw_fxt_thread *thread, bool wide)
{
	const struct fxt_referred found = refer_to(show, thread);
	const bool known = found.known && (thread->index || wide);
	if (!found.known)
		note_undefined(show, FXT_THREAD_UNDEFINED, thread->index);
	tw_add_number(&show->fields, names[0], found.known ? TW_FIELD_UINT : TW_FIELD_NULL, found.process);
	tw_add_number(&show->fields, names[1], known ? TW_FIELD_UINT : TW_FIELD_NULL, found.thread);
	tw_add_number(&show->fields, names[2], TW_FIELD_UINT, thread->index);
}

/* The object of a koid, or of a pointer in the process of the record. False where the thread of the record is not
 * defined. */
static bool find_object(const struct showing *show, bool koid, uint64_t value, struct fxt_object *object)
{
	const struct fxt_provider *provider = show->records->cursor.chunk->decoder.context.provider;
	const struct fxt_referred found = refer_to(show, &show->record->thread);
	*object = fxt_object_of(!koid, provider, found.process, value);
	return koid || found.known;
}

static void add_object(const struct showing *show, struct tw_field_list *list, const struct tw_fxt_argument *argument)
{
	struct fxt_object object;
	if (!find_object(show, argument->type == TW_FXT_ARG_KOID, argument->value.u, &object))
		return;
	uint32_t number = fxt_object_name(&show->records->objects, object);
	if (number == 0)
		return;
	const struct tw_name *name = tw_dictionary_name(show->records->cursor.reader->dictionary, number);
	add_bytes(list, "object", TW_FIELD_TEXT, name->text, name->length);
}

/* ---- Arguments. ---- */

static void add_value(const struct showing *show, struct tw_field_list *list, const struct tw_fxt_argument *argument)
{
	const struct fxt_argument_kind *kind = &fxt_argument_kinds[argument->type];
	if (kind->value == FXT_VALUE_TEXT)
		add_string(show, list, "value", "value_ref", &argument->text);
	else if (kind->value == FXT_VALUE_BYTES || kind->value == FXT_VALUE_UNKNOWN)
		add_bytes(list, "value", TW_FIELD_BYTES, argument->bytes, argument->size);
	else
		tw_add_number(list, "value", kind->shown, argument->value.u);
	if (argument->type == TW_FXT_ARG_POINTER || argument->type == TW_FXT_ARG_KOID)
		add_object(show, list, argument);
}

/* The first word of an argument, which only that of an unknown type needs. */
static uint64_t header_of(const struct tw_fxt_argument *argument)
{
	uint64_t words = 1 + fxt_text_words(argument->name.reference) + fxt_words(argument->size);
	return argument->type | words << 4 | (uint64_t)argument->name.reference << 16 | argument->value.u << 32;
}

static size_t add_argument(const struct showing *show, const struct tw_fxt_argument *argument, struct tw_field *fields)
{
	struct tw_field_list list = {.fields = fields};
	const char *type = fxt_argument_kinds[argument->type].name;
	add_string(show, &list, "name", "name_ref", &argument->name);
	type = type ? type : "unknown";
	add_bytes(&list, "type", TW_FIELD_TEXT, type, strlen(type));
	add_value(show, &list, argument);
	if (argument->type > TW_FXT_ARG_BLOB)
		tw_add_number(&list, "header", TW_FIELD_HEX, header_of(argument));
	add_rest(&list, argument->trailing, argument->trailing_size);
	return list.count;
}

static void add_arguments(struct showing *show)
{
	struct fxt_records *records = show->records;
	for (unsigned i = 0; i < show->record->argument_count; i++) {
		struct tw_field *inner = records->argument_fields[i];
		records->arguments[i] = (struct tw_field){.type = TW_FIELD_OBJECT, .value.fields = inner};
		records->arguments[i].size = add_argument(show, &show->record->arguments[i], inner);
	}
	struct tw_field *field = tw_add_field(&show->fields, "arguments", TW_FIELD_ARRAY);
	field->value.fields = records->arguments;
	field->size = show->record->argument_count;
}

/* ---- Records. ---- */

/* Of what may be larger than memory the beginning is shown. */
static void add_payload(struct showing *show, const struct fxt_record_field *from, uint64_t most)
{
	const struct tw_fxt_record *record = show->record;
	if (from->names[1])
		tw_add_number(&show->fields, from->names[1], TW_FIELD_UINT, record->payload_size);
	add_bytes(&show->fields, from->names[0], from->shown, record->payload,
	          record->payload_here < most ? record->payload_here : most);
}

static void add_addresses(struct showing *show, const struct fxt_record_field *from)
{
	const struct tw_fxt_record *record = show->record;
	struct tw_field_list list = {.fields = show->records->addresses};
	bool big = show->records->cursor.chunk->decoder.big;
	for (uint64_t at = 0; at + TW_FXT_WORD <= record->payload_size && list.count < ADDRESSES; at += TW_FXT_WORD)
		tw_add_number(&list, NULL, TW_FIELD_HEX, tw_load64(record->payload + at, big));
	struct tw_field *field = tw_add_field(&show->fields, from->names[0], TW_FIELD_ARRAY);
	field->value.fields = list.fields;
	field->size = list.count;
}

static void add_unknown(struct showing *show, const struct fxt_record_field *from)
{
	const struct tw_fxt_record *record = show->record;
	tw_add_number(&show->fields, "type", TW_FIELD_UINT, record->type);
	if (fxt_subtype_bit(record->type))
		tw_add_number(&show->fields, "subtype", TW_FIELD_UINT, record->subtype);
	tw_add_number(&show->fields, "header", TW_FIELD_HEX, record->header);
	tw_add_number(&show->fields, "size", TW_FIELD_UINT, record->size);
	add_payload(show, from, FXT_SHOWN);
}

static void add_base(struct showing *show, const struct fxt_record_field *from)
{
	if (!show->record->has_base)
		return;
	tw_add_number(&show->fields, from->names[0], TW_FIELD_UINT, show->record->base_ticks);
	tw_add_number(&show->fields, from->names[1], TW_FIELD_UINT, show->record->base_ns);
}

static void add_field(struct showing *show, const struct fxt_record_field *from)
{
	const struct tw_fxt_record *record = show->record;
	const void *member = (const uint8_t *)record + from->member;
	switch ((enum fxt_field_form)from->form) {
	case FXT_FIELD_BITS:
	case FXT_FIELD_WORD:
		tw_add_number(&show->fields, from->names[0], from->shown, fxt_number(record, from));
		return;
	case FXT_FIELD_STRING:
		add_string(show, &show->fields, from->names[0], from->names[1], member);
		return;
	case FXT_FIELD_THREAD:
	case FXT_FIELD_PROCESS:
		add_thread(show, from->names, member, from->form == FXT_FIELD_THREAD || record->wide_process);
		return;
	case FXT_FIELD_NAME:
		add_bytes(&show->fields, from->names[0], TW_FIELD_TEXT, record->name.bytes, record->name.length);
		return;
	case FXT_FIELD_PAYLOAD:
		add_payload(show, from, UINT64_MAX);
		return;
	case FXT_FIELD_LARGE:
		add_payload(show, from, FXT_SHOWN);
		return;
	case FXT_FIELD_ADDRESSES:
		add_addresses(show, from);
		return;
	case FXT_FIELD_ARGUMENTS:
		add_arguments(show);
		return;
	case FXT_FIELD_SCOPE:
		if (record->has_scope)
			tw_add_number(&show->fields, from->names[0], TW_FIELD_UINT, record->scope);
		return;
	case FXT_FIELD_BASE:
		add_base(show, from);
		return;
	case FXT_FIELD_REST:
		add_unknown(show, from);
		return;
	case FXT_FIELD_SECOND:
	case FXT_FIELDS_END:
		return;
	}
}

/* An object has a name from its record on. */
static void learn_name(struct showing *show)
{
	const struct tw_fxt_record *record = show->record;
	struct fxt_cursor *cursor = &show->records->cursor;
	struct fxt_object object;
	size_t length;
	if (record->kind != TW_FXT_USERSPACE_OBJECT && record->kind != TW_FXT_KERNEL_OBJECT)
		return;
	const char *text = fxt_text(cursor->chunk, &record->name, cursor->place, &length);
	if (find_object(show, record->kind == TW_FXT_KERNEL_OBJECT, record->id, &object) && text && length > 0)
		fxt_object_learn(&show->records->objects, &cursor->state, object,
		                 fxt_state_name(&cursor->state, text, length));
}

static void describe(struct fxt_records *records, const struct tw_fxt_record *from, struct tw_record *record)
{
	struct showing show = {.records = records, .record = from, .fields = {.fields = records->fields}};
	for (const struct fxt_record_field *field = fxt_fields(from->kind, from->format); field->form; field++)
		add_field(&show, field);
	learn_name(&show);
	add_rest(&show.fields, from->trailing, from->trailing_size);
	*record = (struct tw_record){
	    .kind = tw_fxt_kind_name(from->kind),
	    .offset = fxt_cursor_offset(&records->cursor),
	    .size = from->size,
	    .fields = records->fields,
	    .field_count = show.fields.count,
	};
}

/* ---- Reading. ---- */

static int make(struct tw_reader *reader, struct fxt_records **records)
{
	bool filtered = reader->filtering.filter || reader->options.thread_count || reader->options.provider;
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
	tw_map_free(&records->reported.by_number);
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

/* Whether a record is shown: only then is it told what is wrong with its references. */
static bool is_shown(struct fxt_records *records, uint64_t offset)
{
	struct fxt_cursor *cursor = &records->cursor;
	bool shown = !records->wanted || tw_is_wanted(records->wanted, offset);
	if (shown)
		fxt_report_notes(cursor->reader, &cursor->state, &records->reported, cursor->chunk);
	cursor->chunk->found.note_count = 0;
	return shown;
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
		if (is_shown(fxt->records, record->offset))
			return 1;
		status = 0;
	}
	if (status == 0 && fxt->records->cursor.state.failed)
		status = TW_ERR_MEMORY;
	if (status == 0)
		fxt_finish(reader);
	return status < 0 ? fxt_fail(reader, status) : 0;
}

/* What records of an unknown type define cannot be told. */
static bool is_needed(unsigned type)
{
	bool known = type <= TW_FXT_TYPE_PROFILER || type == TW_FXT_TYPE_LARGE;
	return fxt_is_needed(type) || !known;
}

/* Without a magic number, or where a size cannot be right, only the walk knows what to do. */
int fxt_outline(struct tw_reader *reader, tw_outline_fn put, void *context)
{
	const uint64_t end = tw_input_size(reader->input);
	const uint8_t *bytes = NULL;
	size_t have = 0;
	bool big = false;
	if (tw_input_remade(reader->input)) /* the pieces would be those of the image */
		return TW_ERR_UNSUPPORTED;
	for (uint64_t offset = 0; offset < end;) {
		int status = 0;
		if (have < TW_FXT_WORD)
			status = tw_window_view(&reader->window, offset, TW_FXT_WORD, &bytes, &have);
		if (status < 0)
			return fxt_fail(reader, status);
		if (have < TW_FXT_WORD || (offset == 0 && tw_fxt_magic(bytes, &big) < 0))
			return TW_ERR_UNSUPPORTED;
		uint64_t header = tw_load64(bytes, big), size = (uint64_t)fxt_size(header) * TW_FXT_WORD;
		if (size == 0 || size > end - offset)
			return TW_ERR_UNSUPPORTED;
		if (!put(context, offset, size, is_needed(fxt_type(header))))
			return 0;
		offset += size;
		bytes += size < have ? size : have;
		have -= size < have ? (size_t)size : have;
	}
	return 0;
}

uint64_t fxt_record_size(struct tw_input *input, uint64_t offset)
{
	uint8_t magic[TW_FXT_WORD], header[TW_FXT_WORD];
	bool big;
	if (tw_input_read(input, 0, magic, sizeof magic) != sizeof magic || tw_fxt_magic(magic, &big) < 0 ||
	    tw_input_read(input, offset, header, sizeof header) != sizeof header)
		return 0;
	return (uint64_t)fxt_size(tw_load64(header, big)) * TW_FXT_WORD;
}
