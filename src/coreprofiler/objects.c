/* objects.c - classes and functions, told of once, with each body of a function. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "coreprofiler/profiler.h"

#include <stdlib.h>

/* ---- Classes. ---- */

static void put_class(uint64_t id, uint32_t iid, int32_t status)
{
	uint64_t module = 0;
	uint32_t token = 0;
	struct text line;
	if (COM_CALL(profiler.info, class_info, id, &module, &token) < 0)
		return;
	text_begin(&line, "cls ldf");
	profiler_add_pointer(&line, id);
	text_char(&line, ' ');
	text_id(&line, iid);
	profiler_add_pointer(&line, module);
	profiler_add_hex8(&line, token);
	profiler_add_hex8(&line, (uint32_t)status);
	profiler_send(&line);
}

/* Arrays have no record but their name. */
uint32_t profiler_tell_class(uint64_t id, bool loaded, int32_t status)
{
	bool first;
	const uint32_t iid = ids_tell(&profiler.classes, id, &first);
	if (!first)
		return iid;
	uint32_t type, rank;
	uint64_t base;
	if (loaded || COM_CALL(profiler.info, is_array, id, &type, &base, &rank) != COM_OK)
		put_class(id, iid, status);
	struct text line;
	text_begin(&line, "cls nam ");
	text_id(&line, iid);
	text_string(&line, " \"");
	profiler_add_class(&line, id);
	text_char(&line, '"');
	profiler_send(&line);
	return iid;
}

/* ---- Functions. ---- */

static struct ids bodies = IDS_BEGIN(0); /* that have been told of, by function and address */

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
static void put_function(uint64_t id, uint32_t iid, uint64_t start)
{
	uint64_t class_id = 0, module = 0;
	uint32_t token = 0, count = 0;
	COM_CALL(profiler.info, function_info, id, 0, &class_id, &module, &token, 0, &count, NULL);
	if (class_id)
		profiler_tell_class(class_id, false, 0);
	struct text line;
	text_begin(&line, "fun inf ");
	text_id(&line, iid);
	profiler_add_pointer(&line, id);
	profiler_add_pointer(&line, class_id);
	profiler_add_pointer(&line, module);
	profiler_add_hex8(&line, token);
	if (start) {
		add_code(&line, start);
		add_map(&line, start);
	}
	profiler_send(&line);
}

static bool put_bodies(uint64_t id, uint32_t iid)
{
	uint64_t starts[BODIES];
	uint32_t count = 0;
	bool any = false;
	if (COM_CALL(profiler.info, bodies, id, 0, BODIES, &count, starts) < 0)
		return false;
	for (uint32_t i = 0; i < count && i < BODIES; i++) {
		bool first;
		ids_tell(&bodies, starts[i] ^ (uint64_t)iid << 48, &first);
		if (first)
			put_function(id, iid, starts[i]);
		any |= first;
	}
	return any;
}

void profiler_tell_function(uint64_t id)
{
	bool first;
	const uint32_t iid = ids_tell(&profiler.functions, id, &first);
	if (!put_bodies(id, iid) && first)
		put_function(id, iid, 0);
	if (!first)
		return;
	struct text line;
	text_begin(&line, "fun nam ");
	text_id(&line, iid);
	text_char(&line, ' ');
	profiler_add_function(&line, id);
	profiler_send(&line);
}
