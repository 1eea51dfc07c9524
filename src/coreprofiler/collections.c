/* collections.c - garbage collections: when they begin and end, of which kind they are, what they left. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "coreprofiler/profiler.h"

/* The beginning of the last collection is in the log: not one while the profiler is paused. */
static _Atomic bool logged;

/* A beginning whose line is not written yet: right behind it the runtime's event says of which kind it is. */
static struct {
	bool waits, induced;
	uint64_t ms;
	uint32_t generations; /* a bit each */
} begun;

static void begin_line(struct text *line, const char *kind, uint64_t ms)
{
	text_begin(line, kind);
	profiler_add_thread(line);
	text_char(line, ' ');
	text_decimal(line, ms);
}

static void put_begun(bool background)
{
	static const char *const reasons[][2] = {{" ? ", " induced "}, {" background ", " induced-background "}};
	enum { FLAGS = 4 };
	struct text line;
	if (!begun.waits)
		return;
	begun.waits = false;
	begin_line(&line, "gch gcs ", begun.ms);
	text_string(&line, reasons[background && !profiler.options.old][begun.induced]);
	for (unsigned i = 0; i < FLAGS; i++)
		text_char(&line, begun.generations >> i & 1 ? 't' : 'f');
	profiler_send(&line);
}

void profiler_collection_begins(bool background, bool induced)
{
	begun.induced |= induced;
	put_begun(background);
}

int32_t profiler_collection_started(struct com *own, int32_t count, const int32_t *collected, uint32_t reason)
{
	enum { INDUCED = 1 };
	logged = !profiler.paused;
	if (!logged)
		return COM_OK;
	profiler_write_all_allocated(false); /* before what takes it away */
	begun.waits = true;
	begun.induced = reason == INDUCED;
	begun.ms = profiler_ms();
	begun.generations = 0;
	for (int32_t i = 0; i < count; i++)
		begun.generations |= collected[i] ? 1u << i : 0;
	if (!profiler.kinds_come)
		put_begun(false);
	return COM_OK;
}

int32_t profiler_collection_finished(struct com *own)
{
	const uint64_t ms = profiler_ms();
	struct text line;
	if (!logged)
		return COM_OK;
	put_begun(false); /* no event came */
	begin_line(&line, "gch gcf ", ms);
	profiler_send(&line);
	if (profiler.options.live_heap)
		profiler_write_heap(ms);
	struct profiler_generations left;
	if (!profiler.options.old && profiler_look_at_generations(&left))
		profiler_write_generations(&left, ms);
	return COM_OK;
}

int32_t profiler_object_lives(struct com *own, uint64_t object, uint64_t class_id, uint32_t count,
                              const uint64_t *others)
{
	uint64_t size = 0;
	if (logged && COM_CALL(profiler.info, object_size, object, &size) >= 0)
		profiler_heap_add(class_id, size);
	return COM_OK;
}
