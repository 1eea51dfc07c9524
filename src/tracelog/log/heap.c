/* heap.c - what is on the heap after a collection: by class and by generation. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/log/heap.h"

#include "base/memory/memory.h"
#include "tracelog/jobs/dependencies.h"
#include "tracelog/log/log.h"

#include <inttypes.h>

/* ---- By class. ---- */

static void add_class(struct tracelog_log *log, uint64_t time, uint32_t class, uint64_t count, uint64_t bytes)
{
	const struct tracelog_thread *process = tracelog_process_thread(log);
	if (!tracelog_wants(log, process, TW_COUNTER))
		return;
	const struct tracelog_object *object = tracelog_object(log, TRACELOG_CLASS, class);
	struct tw_event *row = tracelog_row(log, process, TW_COUNTER, time);
	row->name = object->name;
	row->category = tracelog_runtime_name(log, TW_RUNTIME_HEAP);
	row->id = object->iid;
	tracelog_add_number(log, tracelog_runtime_name(log, TW_RUNTIME_COUNT), TW_ARG_UINT, count);
	tracelog_add_number(log, tracelog_runtime_name(log, TW_RUNTIME_BYTES), TW_ARG_UINT, bytes);
}

/* Remembers that a class was in this table. */
static void enter(struct tracelog_log *log, uint32_t class)
{
	struct tracelog_objects *classes = &log->objects[TRACELOG_CLASS];
	uint32_t *place = &classes->items[class].live;
	bool known = class != classes->unknown;
	if (*place && known && log->heap.live[*place - 1].table == log->heap.tables)
		tracelog_report(log, TRACELOG_CLASS_TWICE, "class 0x%" PRIx32 " stands in the table before",
		                classes->items[class].iid);
	if (*place) {
		log->heap.live[*place - 1].table = log->heap.tables;
		return;
	}
	if (!tw_grow(&log->heap.live, &log->heap.live_room, log->heap.live_count + 1, sizeof *log->heap.live)) {
		log->failed = true;
		return;
	}
	log->heap.live[log->heap.live_count++] = (struct tracelog_class_count){class, log->heap.tables};
	*place = (uint32_t)log->heap.live_count;
}

/* Adds classes that the table before had and this one has not: nothing of them is left. */
static void add_gone(struct tracelog_log *log, uint64_t time)
{
	size_t kept = 0;
	for (size_t i = 0; i < log->heap.live_count; i++) {
		const struct tracelog_class_count entry = log->heap.live[i];
		struct tracelog_object *class = tracelog_object(log, TRACELOG_CLASS, entry.object);
		if (entry.table == log->heap.tables) {
			log->heap.live[kept++] = entry;
			class->live = (uint32_t)kept;
			continue;
		}
		class->live = 0;
		add_class(log, time, entry.object, 0, 0);
	}
	log->heap.live_count = kept;
}

void tracelog_judge_object_sizes(struct tracelog_log *log, uint32_t class, uint64_t count, uint64_t bytes)
{
	if (!count != !bytes)
		tracelog_report(log, TRACELOG_EMPTY_OBJECTS,
		                "%" PRIu64 " objects of class 0x%" PRIx32 " have %" PRIu64 " bytes", count, class,
		                bytes);
}

void tracelog_take_heap(struct tracelog_log *log, const struct tw_tracelog_record *record)
{
	struct tw_tracelog_text list = record->list;
	struct tw_tracelog_item item;
	uint64_t time = tracelog_time(log, record->ms);
	log->heap.tables++;
	if (log->dependencies)
		tracelog_depend_heap(log);
	while (tracelog_cursor_item(log->cursor, &list, &item)) {
		uint32_t class = tracelog_object_of(log, TRACELOG_CLASS, item.iid);
		tracelog_judge_object_sizes(log, item.iid, item.count, item.bytes);
		add_class(log, time, class, item.count, item.bytes);
		enter(log, class);
	}
	add_gone(log, time);
}

/* ---- By generation. ---- */

enum { PARTS_LEAST = 4, PARTS }; /* the last: pinned objects, of later runtimes */

/* Judges the name of a generation by its number. How exactly names are written is not documented. */
static void judge_place(struct tracelog_log *log, unsigned place, struct tw_tracelog_text name)
{
	static const char numbers[PARTS] = {0, '2', '1', '0', 0};
	for (size_t i = 0; i < name.size && place < PARTS; i++) {
		char byte = (char)name.bytes[i];
		if (byte < '0' || byte > '2' || byte == numbers[place])
			continue;
		tracelog_report(log, TRACELOG_GENERATION_PARTS, "\"%.*s\" is part %u",
		                (int)(name.size < 80 ? name.size : 80), (const char *)name.bytes, place + 1);
		return;
	}
}

static void add_generation(struct tracelog_log *log, uint64_t time, unsigned place, const struct tw_tracelog_item *item)
{
	static const char *const names[PARTS] = {"LOH", "generation 2", "generation 1", "generation 0", "POH"};
	const struct tracelog_thread *process = tracelog_process_thread(log);
	bool known = place < PARTS;
	if (item->bytes > item->reserved)
		tracelog_report(log, TRACELOG_HEAP_ABOVE_RESERVED,
		                "%.*s has %" PRIu64 " bytes allocated of %" PRIu64 " reserved", (int)item->name.size,
		                (const char *)item->name.bytes, item->bytes, item->reserved);
	if (!tracelog_wants(log, process, TW_COUNTER))
		return;
	struct tw_event *row = tracelog_row(log, process, TW_COUNTER, time);
	row->name = known ? tracelog_name(log, names[place], strlen(names[place]))
	                  : tracelog_name(log, item->name.bytes, item->name.size);
	row->category = tracelog_runtime_name(log, TW_RUNTIME_GENERATION);
	tracelog_add_number(log, tracelog_runtime_name(log, TW_RUNTIME_ALLOCATED), TW_ARG_UINT, item->bytes);
	tracelog_add_number(log, tracelog_runtime_name(log, TW_RUNTIME_RESERVED), TW_ARG_UINT, item->reserved);
}

void tracelog_take_generations(struct tracelog_log *log, const struct tw_tracelog_record *record)
{
	struct tw_tracelog_text list = record->list;
	struct tw_tracelog_item item;
	uint64_t time = tracelog_time(log, record->ms);
	unsigned place = 0;
	if (log->dependencies)
		tracelog_depend_passing(log, tracelog_process_thread(log));
	for (; tracelog_cursor_item(log->cursor, &list, &item); place++) {
		judge_place(log, place, item.name);
		add_generation(log, time, place, &item);
	}
	if (place < PARTS_LEAST || place > PARTS)
		tracelog_report(log, TRACELOG_GENERATION_PARTS, "expected 4 or 5 parts, found %u", place);
}
