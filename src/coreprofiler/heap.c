/* heap.c - what a collection left: objects by class, and the generations. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "coreprofiler/profiler.h"

#include <sys/mman.h>

/* Objects by class. The runtime tells of all live ones between the beginning and the end of a collection, one thread at
 * a time. Mono stops threads meanwhile that may be in malloc(): so the table is pages of its own. */
struct live {
	uint64_t id, count, bytes; /* id 0: free */
};
static struct live *table;
static size_t table_count, table_room; /* room: a power of two */

static struct live *find(struct live *live, size_t room, uint64_t id)
{
	size_t i = (size_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (room - 1);
	while (live[i].id && live[i].id != id)
		i = (i + 1) & (room - 1);
	return &live[i];
}

static bool grow(void)
{
	enum { LEAST = 1 << 11 };
	const size_t room = table_room ? 2 * table_room : LEAST;
	struct live *more = mmap(NULL, room * sizeof *more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (more == MAP_FAILED)
		return false;
	for (size_t i = 0; i < table_room; i++)
		if (table[i].id)
			*find(more, room, table[i].id) = table[i];
	if (table)
		munmap(table, table_room * sizeof *table);
	table = more;
	table_room = room;
	return true;
}

void profiler_heap_add(uint64_t class_id, uint64_t size)
{
	if (2 * table_count >= table_room && !grow() && table_count + 1 >= table_room)
		return;
	struct live *live = find(table, table_room, class_id);
	table_count += live->id == 0;
	live->id = class_id;
	live->count++;
	live->bytes += size;
}

static void add_live(struct text *line, const struct live *live)
{
	text_char(line, ' ');
	text_short_id(line, profiler_write_class(live->id, false, 0));
	text_char(line, ':');
	text_decimal(line, live->count);
	text_char(line, ':');
	text_decimal(line, live->bytes);
}

void profiler_write_heap(uint64_t ms)
{
	struct text line;
	text_begin(&line, "gch alt ");
	text_decimal(&line, ms);
	for (size_t i = 0; i < table_room; i++)
		if (table[i].id) {
			add_live(&line, &table[i]);
			table[i] = (struct live){0};
		}
	table_count = 0;
	profiler_send(&line);
}

enum { GENERATIONS = PROFILER_GENERATIONS, PINNED = GENERATIONS - 1 };

bool profiler_look_at_generations(struct profiler_generations *left)
{
	enum { RANGES = 256 };
	struct com_range ranges[RANGES];
	uint32_t count = 0;
	*left = (struct profiler_generations){.parts = PINNED};
	if (COM_CALL(profiler.info, generations, RANGES, &count, ranges) < 0)
		return false;
	for (uint32_t i = 0; i < count && i < RANGES; i++)
		if (ranges[i].generation < GENERATIONS) {
			left->used[ranges[i].generation] += ranges[i].length;
			left->reserved[ranges[i].generation] += ranges[i].reserved;
			left->parts = ranges[i].generation == PINNED ? GENERATIONS : left->parts;
		}
	return true;
}

/* By position: large objects, generations 2, 1, 0, and pinned objects where the runtime has a heap of them (from .NET 5
 * on). The names are free; tracelog.md says what is known of them. */
void profiler_write_generations(const struct profiler_generations *left, uint64_t ms)
{
	static const char *const names[GENERATIONS] = {" LOH:", " GEN2:", " GEN1:", " GEN0:", " POH:"};
	static const uint32_t order[GENERATIONS] = {3, 2, 1, 0, PINNED};
	struct text line;
	text_begin(&line, "gch gen ");
	text_decimal(&line, ms);
	for (unsigned i = 0; i < left->parts; i++) {
		text_string(&line, names[i]);
		text_decimal(&line, left->used[order[i]]);
		text_char(&line, ':');
		text_decimal(&line, left->reserved[order[i]]);
	}
	profiler_send(&line);
}
