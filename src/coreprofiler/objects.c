/* objects.c - classes and functions, logged once, with each body of a function. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "coreprofiler/profiler.h"

#include <stdlib.h>

/* ---- Records: whoever has the number of one finds it in the log. ---- */

struct records {
	struct text lines[2];
	unsigned count;
};

static struct text *add_record(struct records *records, const char *kind)
{
	struct text *line = &records->lines[records->count++];
	text_begin(line, kind);
	return line;
}

static void put(void *context)
{
	struct records *records = context;
	for (unsigned i = 0; i < records->count; i++)
		profiler_send(&records->lines[i]);
}

/* Writes the records, unless another thread has done so meanwhile: false. Frees them. */
static bool put_first(struct ids *ids, uint64_t key, struct records *records)
{
	const bool first = ids_write(ids, key, put, records);
	for (unsigned i = 0; !first && i < records->count; i++)
		text_end(&records->lines[i]);
	return first;
}

/* ---- Classes. ---- */

static void add_class(struct records *records, uint64_t id, uint32_t iid, int32_t status)
{
	uint64_t module = 0;
	uint32_t token = 0;
	if (COM_CALL(profiler.info, class_info, id, &module, &token) < 0)
		return;
	struct text *line = add_record(records, "cls ldf");
	profiler_add_pointer(line, id);
	text_char(line, ' ');
	text_id(line, iid);
	profiler_add_pointer(line, module);
	profiler_add_hex8(line, token);
	profiler_add_hex8(line, (uint32_t)status);
}

static void add_class_name(struct records *records, uint64_t id, uint32_t iid)
{
	struct text *line = add_record(records, "cls nam ");
	text_id(line, iid);
	text_string(line, " \"");
	profiler_add_class(line, id);
	text_char(line, '"');
}

/* Arrays have no record but their name. */
uint32_t profiler_write_class(uint64_t id, bool loaded, int32_t status)
{
	bool logged;
	const uint32_t iid = ids_look(&profiler.classes, id, &logged);
	if (logged)
		return iid;
	struct records records = {.count = 0};
	uint32_t type, rank;
	uint64_t base;
	if (loaded || COM_CALL(profiler.info, is_array, id, &type, &base, &rank) != COM_OK)
		add_class(&records, id, iid, status);
	add_class_name(&records, id, iid);
	put_first(&profiler.classes, id, &records);
	return iid;
}

/* ---- Functions. ---- */

static struct ids bodies = IDS_BEGIN(0); /* that have been logged, by function and address */

enum { BODIES = 64, PIECES = 16, MAPS = 512 };

static void add_code(struct text *line, uint64_t start)
{
	struct com_code code[PIECES];
	uint32_t count = 0;
	if (COM_CALL(profiler.info, body_code, start, PIECES, &count, code) < 0)
		return;
	for (uint32_t i = 0; i < count && i < PIECES; i++) {
		profiler_add_pointer(line, code[i].start);
		text_char(line, ':');
		text_hex(line, code[i].size);
	}
}

static void add_maps(struct text *line, const struct com_map *maps, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		text_char(line, ' ');
		text_hex(line, maps[i].il);
		text_char(line, ':');
		text_hex(line, maps[i].start);
		text_char(line, ':');
		text_hex(line, maps[i].end);
	}
}

static void add_map(struct text *line, uint64_t start)
{
	struct com_map few[MAPS], *maps = few;
	uint32_t count = 0, room = MAPS;
	if (COM_CALL(profiler.info, body_map, start, room, &count, maps) < 0)
		return;
	if (count > room) {
		room = count;
		maps = calloc(room, sizeof *maps);
		if (!maps || COM_CALL(profiler.info, body_map, start, room, &count, maps) < 0)
			count = 0;
	}
	add_maps(line, maps, count < room ? count : room);
	if (maps != few)
		free(maps);
}

/* start 0: no code is known of it */
static void add_function(struct records *records, uint64_t id, uint32_t iid, uint64_t start)
{
	uint64_t class_id = 0, module = 0;
	uint32_t token = 0, count = 0;
	COM_CALL(profiler.info, function_info, id, 0, &class_id, &module, &token, 0, &count, NULL);
	if (class_id)
		profiler_write_class(class_id, false, 0);
	struct text *line = add_record(records, "fun inf ");
	text_id(line, iid);
	profiler_add_pointer(line, id);
	profiler_add_pointer(line, class_id);
	profiler_add_pointer(line, module);
	profiler_add_hex8(line, token);
	if (start) {
		add_code(line, start);
		add_map(line, start);
	}
}

static void add_function_name(struct records *records, uint64_t id, uint32_t iid)
{
	struct text *line = add_record(records, "fun nam ");
	text_id(line, iid);
	text_char(line, ' ');
	profiler_add_function(line, id);
}

static bool put_body(uint64_t id, uint32_t iid, uint64_t start)
{
	const uint64_t key = start ^ (uint64_t)iid << 48;
	bool logged;
	ids_look(&bodies, key, &logged);
	if (logged)
		return false;
	struct records records = {.count = 0};
	add_function(&records, id, iid, start);
	return put_first(&bodies, key, &records);
}

static bool put_bodies(uint64_t id, uint32_t iid)
{
	uint64_t starts[BODIES];
	uint32_t count = 0;
	bool any = false;
	if (COM_CALL(profiler.info, bodies, id, 0, BODIES, &count, starts) < 0)
		return false;
	for (uint32_t i = 0; i < count && i < BODIES; i++)
		any |= put_body(id, iid, starts[i]);
	return any;
}

void profiler_write_function(uint64_t id)
{
	bool logged;
	const uint32_t iid = ids_look(&profiler.functions, id, &logged);
	const bool any = put_bodies(id, iid);
	if (logged)
		return;
	struct records records = {.count = 0};
	if (!any)
		add_function(&records, id, iid, 0);
	add_function_name(&records, id, iid);
	put_first(&profiler.functions, id, &records);
}
