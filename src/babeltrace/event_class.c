/* event_class.c - event classes of babeltrace2: one for each set of fields that events have. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "babeltrace/event_class.h"

#include "export/text/clean.h"

#include <stdlib.h>
#include <string.h>

/* Fields of arguments take some hundred bytes each in babeltrace2. */
enum { MEMBERS_MAX = 1 << 16 };

struct tw_babel_class {
	struct tw_babel_class *next; /* of the bucket */
	uint64_t hash;
	bt_event_class *event_class; /* the stream class holds it */
	uint32_t filled;
	uint8_t kind, count;
	bool listed;
	struct tw_babel_member members[];
};

const enum tw_column_id tw_babel_context[] = {TW_COLUMN_PROCESS, TW_COLUMN_THREAD, TW_COLUMN_CPU};
const enum tw_column_id tw_babel_payload[] = {TW_COLUMN_VALUE,    TW_COLUMN_ID,    TW_COLUMN_TRACK, TW_COLUMN_NAME,
                                              TW_COLUMN_CATEGORY, TW_COLUMN_OTHER, TW_COLUMN_STACK, TW_COLUMN_FLAGS,
                                              TW_COLUMN_ARGS,     TW_COLUMN_FILE,  TW_COLUMN_LINE};
const size_t tw_babel_context_count = sizeof tw_babel_context / sizeof *tw_babel_context;
const size_t tw_babel_payload_count = sizeof tw_babel_payload / sizeof *tw_babel_payload;

bool tw_babel_is_number(enum tw_column_id column)
{
	return column == TW_COLUMN_PROCESS || column == TW_COLUMN_THREAD || column == TW_COLUMN_CPU ||
	       column == TW_COLUMN_VALUE || column == TW_COLUMN_ID || column == TW_COLUMN_LINE;
}

/* ---- Field classes. ---- */

/* Appends a member, which is the structure's then. */
static bool append(bt_field_class *structure, const char *name, bt_field_class *member)
{
	bool appended = member && bt_field_class_structure_append_member(structure, name, member) ==
	                              BT_FIELD_CLASS_STRUCTURE_APPEND_MEMBER_STATUS_OK;
	if (member)
		bt_field_class_put_ref(member);
	return appended;
}

static bt_field_class *hexadecimal(bt_trace_class *trace)
{
	bt_field_class *made = bt_field_class_integer_unsigned_create(trace);
	if (made)
		bt_field_class_integer_set_preferred_display_base(
		    made, BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL);
	return made;
}

static bt_field_class *(*const makers[])(bt_trace_class *) = {
    [TW_BABEL_NOTHING] = bt_field_class_structure_create,
    [TW_BABEL_BOOL] = bt_field_class_bool_create,
    [TW_BABEL_INT] = bt_field_class_integer_signed_create,
    [TW_BABEL_UINT] = bt_field_class_integer_unsigned_create,
    [TW_BABEL_HEX] = hexadecimal,
    [TW_BABEL_DOUBLE] = bt_field_class_real_double_precision_create,
    [TW_BABEL_TEXT] = bt_field_class_string_create,
};

/* The name of an argument; the second "a" of an event is "a 2". Returns false without memory. */
static bool name_member(struct tw_line *line, const bt_field_class *structure, const struct tw_name *name)
{
	tw_line_clear(line);
	tw_line_clean(line, name->text, name->length);
	const size_t length = line->text.length;
	for (unsigned number = 2;
	     !line->failed && bt_field_class_structure_borrow_member_by_name_const(structure, line->text.bytes);
	     number++) {
		line->text.length = length;
		tw_line_text(line, " ");
		tw_line_u64(line, number);
	}
	return !line->failed;
}

static bt_field_class *arguments_class(bt_trace_class *trace, const struct tw_dictionary *dictionary,
                                       const struct tw_babel_shape *shape)
{
	if (shape->listed)
		return bt_field_class_string_create(trace);
	bt_field_class *structure = bt_field_class_structure_create(trace);
	struct tw_line line = {0};
	bool made = structure;
	for (unsigned i = 0; made && i < shape->count; i++)
		made = name_member(&line, structure, tw_dictionary_name(dictionary, shape->members[i].name)) &&
		       append(structure, line.text.bytes, makers[shape->members[i].form](trace));
	tw_text_free(&line.text);
	if (!made && structure)
		bt_field_class_put_ref(structure);
	return made ? structure : NULL;
}

static bt_field_class *column_class(bt_trace_class *trace, const struct tw_dictionary *dictionary,
                                    const struct tw_babel_shape *shape, enum tw_column_id column)
{
	if (column == TW_COLUMN_ARGS)
		return arguments_class(trace, dictionary, shape);
	return makers[tw_babel_is_number(column) ? TW_BABEL_UINT : TW_BABEL_TEXT](trace);
}

static bt_field_class *structure_of(bt_trace_class *trace, const struct tw_dictionary *dictionary,
                                    const struct tw_babel_shape *shape, const enum tw_column_id *columns, size_t count)
{
	bt_field_class *structure = bt_field_class_structure_create(trace);
	bool made = structure;
	for (size_t i = 0; made && i < count; i++)
		if (shape->filled >> columns[i] & 1)
			made = append(structure, tw_columns[columns[i]].name,
			              column_class(trace, dictionary, shape, columns[i]));
	if (!made && structure)
		bt_field_class_put_ref(structure);
	return made ? structure : NULL;
}

typedef bt_event_class_set_field_class_status set_fn(bt_event_class *event_class, bt_field_class *fields);

static bool set(bt_event_class *event_class, set_fn *setter, bt_field_class *fields)
{
	bool done = fields && setter(event_class, fields) == BT_EVENT_CLASS_SET_FIELD_CLASS_STATUS_OK;
	if (fields)
		bt_field_class_put_ref(fields);
	return done;
}

/* ---- Event classes. ---- */

static bool describe(struct tw_babel_classes *classes, const struct tw_dictionary *dictionary,
                     const struct tw_babel_shape *shape, bt_event_class *event_class)
{
	return bt_event_class_set_name(event_class, tw_event_kind_name(shape->kind)) ==
	           BT_EVENT_CLASS_SET_NAME_STATUS_OK &&
	       set(event_class, bt_event_class_set_specific_context_field_class,
	           structure_of(classes->trace, dictionary, shape, tw_babel_context, tw_babel_context_count)) &&
	       set(event_class, bt_event_class_set_payload_field_class,
	           structure_of(classes->trace, dictionary, shape, tw_babel_payload, tw_babel_payload_count));
}

static struct tw_babel_class *make(struct tw_babel_classes *classes, const struct tw_dictionary *dictionary,
                                   const struct tw_babel_shape *shape, uint64_t hash)
{
	const size_t size = shape->listed ? 0 : shape->count * sizeof *shape->members;
	struct tw_babel_class *made = malloc(sizeof *made + size);
	bt_event_class *event_class = made ? bt_event_class_create(classes->stream) : NULL;
	bool done = event_class && describe(classes, dictionary, shape, event_class);
	if (event_class)
		bt_event_class_put_ref(event_class); /* the stream class has it */
	if (!done) {
		free(made);
		return NULL;
	}
	*made = (struct tw_babel_class){
	    .hash = hash,
	    .event_class = event_class,
	    .filled = shape->filled,
	    .kind = shape->kind,
	    .count = shape->count,
	    .listed = shape->listed,
	};
	memcpy(made->members, shape->members, size);
	return made;
}

/* FNV-1a, of words. */
static uint64_t add_hash(uint64_t hash, uint64_t word)
{
	return (hash ^ word) * UINT64_C(0x100000001b3);
}

static uint64_t hash_of(const struct tw_babel_shape *shape)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	hash = add_hash(hash, shape->filled);
	hash = add_hash(hash, shape->kind);
	hash = add_hash(hash, shape->listed);
	for (unsigned i = 0; !shape->listed && i < shape->count; i++)
		hash = add_hash(add_hash(hash, shape->members[i].name), shape->members[i].form);
	return hash ^ hash >> 32;
}

static bool is_of(const struct tw_babel_class *class, const struct tw_babel_shape *shape)
{
	if (class->filled != shape->filled || class->kind != shape->kind || class->listed != shape->listed)
		return false;
	if (shape->listed)
		return true;
	bool same = class->count == shape->count;
	for (unsigned i = 0; same && i < shape->count; i++)
		same = class->members[i].name == shape->members[i].name &&
		       class->members[i].form == shape->members[i].form;
	return same;
}

static struct tw_babel_class *find(const struct tw_babel_classes *classes, const struct tw_babel_shape *shape,
                                   uint64_t hash)
{
	struct tw_babel_class *class = classes->buckets[hash % TW_BABEL_BUCKETS];
	while (class && (class->hash != hash || !is_of(class, shape)))
		class = class->next;
	return class;
}

const bt_event_class *tw_babel_class_of(struct tw_babel_classes *classes, const struct tw_dictionary *dictionary,
                                        struct tw_babel_shape *shape)
{
	uint64_t hash = hash_of(shape);
	struct tw_babel_class *class = find(classes, shape, hash);
	if (!class && shape->count > MEMBERS_MAX - classes->members) {
		shape->listed = true;
		hash = hash_of(shape);
		class = find(classes, shape, hash);
	}
	if (class)
		return class->event_class;
	class = make(classes, dictionary, shape, hash);
	if (!class)
		return NULL;
	struct tw_babel_class **bucket = &classes->buckets[hash % TW_BABEL_BUCKETS];
	class->next = *bucket;
	*bucket = class;
	classes->members += shape->listed ? 0 : shape->count;
	return class->event_class;
}

void tw_babel_classes_free(struct tw_babel_classes *classes)
{
	for (size_t i = 0; i < TW_BABEL_BUCKETS; i++)
		for (struct tw_babel_class *class = classes->buckets[i], *next; class; class = next) {
			next = class->next;
			free(class);
		}
	if (classes->stream)
		bt_stream_class_put_ref(classes->stream);
	if (classes->trace)
		bt_trace_class_put_ref(classes->trace);
}
