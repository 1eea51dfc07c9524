/* records.c - the lines of a log as they are, field by field. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "base/text/utf8.h"
#include "core/text/fields.h"
#include "tracelog/format/layout.h"
#include "tracelog/jobs/cut.h"
#include "tracelog/lines/cursor.h"
#include "tracelog/tracelog.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	FIELDS = 16,
	ITEM_FIELDS = 4,
	ITEM_BYTES = (1 + ITEM_FIELDS) * (int)sizeof(struct tw_field),
	ITEMS_SHARE = 4 /* of the memory limit, for items of one kind */
};

/* Items of a list, as objects. */
struct items {
	struct tw_field *objects, *fields; /* ITEM_FIELDS fields for each object */
	size_t count, object_room, field_room;
};

struct tracelog_records {
	struct tracelog_cursor cursor;
	struct tw_field fields[FIELDS];
	struct tw_field flags[TRACELOG_GENERATIONS];
	char date[TRACELOG_DATE_TEXT], zone[TRACELOG_ZONE_TEXT];
	struct items items[2];    /* what is in the list; of functions, the code and its map */
	struct tracelog_cut *cut; /* with a filter: which records */
	bool failed;              /* no memory */
};

/* What is described: a record, or an item of its list. */
struct shown_item {
	struct tracelog_records *records;
	const struct tw_tracelog_record *record;
	const struct tw_tracelog_item *item;
	struct tw_field_list list;
};

/* ---- Fields. ---- */

static void show_hex64(struct shown_item *job, const char *name, const void *member)
{
	tw_add_number(&job->list, name, TW_FIELD_HEX, *(const uint64_t *)member);
}

static void show_hex32(struct shown_item *job, const char *name, const void *member)
{
	tw_add_number(&job->list, name, TW_FIELD_HEX, *(const uint32_t *)member);
}

static void show_iid(struct shown_item *job, const char *name, const void *member)
{
	unsigned style = job->item ? job->item->style : job->record->style;
	if (style & TW_TRACELOG_NO_IID)
		tw_add_field(&job->list, name, TW_FIELD_NULL);
	else
		show_hex32(job, name, member);
}

static void show_class_iid(struct shown_item *job, const char *name, const void *member)
{
	if (!(job->record->style & TW_TRACELOG_NO_CLASS_IID))
		show_iid(job, name, member);
}

static void show_il(struct shown_item *job, const char *name, const void *member)
{
	tw_add_number(&job->list, name, TW_FIELD_HEX, (uint32_t) * (const int64_t *)member);
}

static void show_decimal32(struct shown_item *job, const char *name, const void *member)
{
	tw_add_number(&job->list, name, TW_FIELD_UINT, *(const uint32_t *)member);
}

static void show_decimal64(struct shown_item *job, const char *name, const void *member)
{
	tw_add_number(&job->list, name, TW_FIELD_UINT, *(const uint64_t *)member);
}

/* Times are as they are written: signed. */
static void show_ms(struct shown_item *job, const char *name, const void *member)
{
	tw_add_number(&job->list, name, TW_FIELD_INT, (uint64_t)(int64_t)(int32_t) * (const uint32_t *)member);
}

static void show_us(struct shown_item *job, const char *name, const void *member)
{
	tw_add_number(&job->list, name, TW_FIELD_INT, *(const uint64_t *)member);
}

static void show_count(struct shown_item *job, const char *name, const void *member)
{
	if (job->record->has_count)
		show_decimal64(job, name, member);
	else
		tw_add_field(&job->list, name, TW_FIELD_NULL);
}

static void show_ip(struct shown_item *job, const char *name, const void *member)
{
	bool has = job->item ? job->item->has_ip : job->record->has_ip;
	bool known = job->item ? job->item->ip_known : job->record->ip_known;
	if (known)
		show_hex64(job, name, member);
	else if (has)
		tw_add_field(&job->list, name, TW_FIELD_NULL);
}

static void show_thread(struct shown_item *job, const char *name, const void *member)
{
	switch (job->record->thread_form) {
	case TW_TRACELOG_THREAD_IID:
		show_hex32(job, name, member);
		return;
	case TW_TRACELOG_THREAD_OS:
		show_decimal32(job, "os_thread_id", member);
		return;
	case TW_TRACELOG_THREAD_NONE:
		tw_add_field(&job->list, name, TW_FIELD_NULL);
		return;
	}
}

static void show_reason(struct shown_item *job, const char *name, const void *member)
{
	const struct tw_tracelog_text *reason = member;
	if (reason->size)
		tw_add_bytes(&job->list, name, TW_FIELD_TEXT, reason->bytes, reason->size);
	else
		tw_add_field(&job->list, name, TW_FIELD_NULL);
}

static void show_flags(struct shown_item *job, const char *name, const void *member)
{
	struct tw_field *flags = job->records->flags;
	unsigned count = job->record->generation_count, bits = *(const uint8_t *)member;
	for (unsigned i = 0; i < count; i++)
		flags[i] = (struct tw_field){.type = TW_FIELD_BOOL, .value.u = bits >> i & 1};
	struct tw_field *field = tw_add_field(&job->list, name, TW_FIELD_ARRAY);
	field->value.fields = flags;
	field->size = count;
}

static void show_date(struct shown_item *job, const char *name, const void *member)
{
	const struct tw_tracelog_record *record = job->record;
	struct tracelog_records *records = job->records;
	(void)member;
	tracelog_date_text(record, records->date);
	tw_add_bytes(&job->list, name, TW_FIELD_TEXT, records->date, strlen(records->date));
	if (!record->has_zone)
		return;
	tracelog_zone_text(record, records->zone);
	tw_add_bytes(&job->list, "zone", TW_FIELD_TEXT, records->zone, strlen(records->zone));
}

static void show_text(struct shown_item *job, const char *name, const void *member)
{
	const struct tw_tracelog_text *text = member;
	tw_add_bytes(&job->list, name, TW_FIELD_TEXT, text->bytes, text->size);
}

static void show_names(struct shown_item *job, const char *name, const void *member)
{
	show_text(job, name, member);
	if (job->record->style & TW_TRACELOG_ONE_NAME)
		return;
	show_text(job, "return_type", &job->record->return_type);
	show_text(job, "signature", &job->record->signature);
}

/* ---- Lists. ---- */

static void show_list(struct shown_item *job, const char *name, const void *member);

static void (*const shows[TRACELOG_FORMS])(struct shown_item *job, const char *name, const void *member) = {
    [TRACELOG_POINTER] = show_hex64,
    [TRACELOG_ID] = show_hex32,
    [TRACELOG_IID] = show_iid,
    [TRACELOG_CLASS_IID] = show_class_iid,
    [TRACELOG_SHORT_IID] = show_iid,
    [TRACELOG_HEX] = show_hex64,
    [TRACELOG_IL] = show_il,
    [TRACELOG_DECIMAL32] = show_decimal32,
    [TRACELOG_DECIMAL64] = show_decimal64,
    [TRACELOG_MS] = show_ms,
    [TRACELOG_US] = show_us,
    [TRACELOG_COUNT] = show_count,
    [TRACELOG_IP] = show_ip,
    [TRACELOG_THREAD] = show_thread,
    [TRACELOG_REASON] = show_reason,
    [TRACELOG_FLAGS] = show_flags,
    [TRACELOG_DATE] = show_date,
    [TRACELOG_WORD] = show_text,
    [TRACELOG_REST] = show_text,
    [TRACELOG_QUOTED] = show_text,
    [TRACELOG_NAMES] = show_names,
    [TRACELOG_LIST] = show_list,
};

static void show_all(struct shown_item *job, const struct tracelog_layout *layout, const void *base)
{
	const struct tracelog_field *field = layout->fields, *last = field + TRACELOG_FIELDS_MAX;
	for (; field < last && field->form != TRACELOG_END; field++)
		shows[field->form](job, field->name, (const uint8_t *)base + field->offset);
}

/* Makes room for another item; false, which was reported, where there is none. */
static bool make_room(struct tracelog_records *records, struct items *items)
{
	const struct tracelog_cursor *cursor = &records->cursor;
	const struct tw_text_line *line = &cursor->line;
	if ((items->count + 1) * ITEM_BYTES > tw_memory_limit(cursor->reader) / ITEMS_SHARE) {
		tw_report(cursor->reader, &tracelog_rules[TRACELOG_LONG_LIST], line->offset, line->offset, line->number,
		          "The list has more than %zu items: more than the memory limit allows to show.", items->count);
		return false;
	}
	bool made =
	    tw_grow(&items->objects, &items->object_room, items->count + 1, sizeof *items->objects) &&
	    tw_grow(&items->fields, &items->field_room, (items->count + 1) * ITEM_FIELDS, sizeof *items->fields);
	records->failed |= !made;
	return made;
}

static bool take_item(struct shown_item *job, const struct tw_tracelog_item *item)
{
	struct items *items = &job->records->items[item->kind == TW_TRACELOG_MAP];
	if (!make_room(job->records, items))
		return false;
	struct shown_item inner = {job->records, job->record, item, {items->fields + items->count * ITEM_FIELDS, 0}};
	show_all(&inner, &tracelog_items[item->kind], item);
	items->objects[items->count++] = (struct tw_field){.type = TW_FIELD_OBJECT, .size = inner.list.count};
	return true;
}

static void add_items(struct shown_item *job, const char *name, struct items *items)
{
	for (size_t i = 0; i < items->count; i++)
		items->objects[i].value.fields = items->fields + i * ITEM_FIELDS;
	struct tw_field *field = tw_add_field(&job->list, name, TW_FIELD_ARRAY);
	field->value.fields = items->objects;
	field->size = items->count;
}

static void show_list(struct shown_item *job, const char *name, const void *member)
{
	struct tracelog_records *records = job->records;
	struct tw_tracelog_text list = *(const struct tw_tracelog_text *)member;
	struct tw_tracelog_item item;
	enum tw_tracelog_kind kind = job->record->kind;
	records->items[0].count = records->items[1].count = 0;
	while (tracelog_cursor_item(&records->cursor, &list, &item) && take_item(job, &item))
		;
	add_items(job, name, &records->items[0]);
	if (kind == TW_TRACELOG_FUN_INF || kind == TW_TRACELOG_FUN_CMF || kind == TW_TRACELOG_FUN_CSF)
		add_items(job, "il_map", &records->items[1]);
}

/* ---- Records. ---- */

/* A line that is no record: as text, and its bytes where they are not valid UTF-8. */
static void show_line(struct shown_item *job, const struct tw_text_line *line)
{
	struct tw_tracelog_text text = {line->bytes, line->size};
	while (text.size && (text.bytes[text.size - 1] == '\n' || text.bytes[text.size - 1] == '\r'))
		text.size--;
	show_text(job, "text", &text);
	if (!tw_is_utf8(text.bytes, text.size))
		tw_add_bytes(&job->list, "bytes", TW_FIELD_BYTES, text.bytes, text.size);
}

static void describe(struct tracelog_records *records, struct tw_record *record)
{
	const struct tracelog_cursor *cursor = &records->cursor;
	enum tw_tracelog_kind kind = cursor->readable ? cursor->record.kind : TW_TRACELOG_UNKNOWN;
	struct shown_item job = {records, &cursor->record, NULL, {records->fields, 0}};
	tw_add_number(&job.list, "line", TW_FIELD_UINT, cursor->line.number);
	if (cursor->readable)
		show_all(&job, &tracelog_layouts[kind], &cursor->record);
	else
		show_line(&job, &cursor->line);
	*record = (struct tw_record){
	    .kind = tw_tracelog_kind_name(kind),
	    .offset = cursor->line.offset,
	    .size = cursor->line.size,
	    .fields = records->fields,
	    .field_count = job.list.count,
	};
}

void tracelog_records_free(struct tracelog_records *records)
{
	if (!records)
		return;
	tracelog_cursor_free(&records->cursor);
	for (size_t i = 0; i < 2; i++) {
		free(records->items[i].objects);
		free(records->items[i].fields);
	}
	tracelog_cut_free(records->cut);
	free(records);
}

static int make(struct tw_reader *reader, struct tracelog_records **made)
{
	bool filtered = reader->filtering.filter || reader->options.thread_count;
	struct tracelog_records *records = *made = calloc(1, sizeof *records);
	int status = records ? 0 : TW_ERR_MEMORY;
	if (status == 0 && filtered)
		status = tracelog_cut_new(&records->cut, reader);
	if (status == 0)
		tracelog_cursor_init(&records->cursor, reader);
	if (status < 0)
		tw_fail(reader, status, "%s: %s", tw_input_name(reader->input), tw_status_text(status));
	return status;
}

/* Whether a line is shown: without filters all are; what cannot be read passes none. */
static bool is_shown(struct tracelog_records *records)
{
	const struct tracelog_cursor *cursor = &records->cursor;
	if (!records->cut)
		return true;
	bool shown = cursor->readable && tracelog_cut_selects(records->cut, &cursor->record, cursor->line.offset);
	records->failed |= tracelog_cut_failed(records->cut);
	return shown || records->failed;
}

int tracelog_read_record(struct tw_reader *reader, struct tw_record *record)
{
	struct tracelog_reader *log = reader->state;
	int status = log->records ? 0 : make(reader, &log->records);
	if (status < 0)
		return status;
	struct tracelog_records *records = log->records;
	while ((status = tracelog_cursor_next(&records->cursor)) > 0) {
		if (!is_shown(records))
			continue;
		describe(records, record);
		return records->failed ? tw_fail_memory(reader) : 1;
	}
	if (status == 0)
		tracelog_cursor_end(&records->cursor);
	return status;
}
