/* log.c - the state of a log while it is read: made and freed. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/log/log.h"

#include "base/memory/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	TABLE_SHARE = 4, /* of the memory limit: names, objects, threads */
	STACK_SHARE = 2  /* of the memory limit: distinct stacks, and those of threads */
};

/* Number 0 of each table stands for what there is no memory for. */
static bool make_tables(struct tracelog_log *log)
{
	const struct tracelog_thread process = {
	    .track = tw_dictionary_add_track(log->dictionary, &(struct tw_track){.kind = TW_TRACK_PROCESS,
	                                                                         .process = log->threads.process}),
	    .announced = true,
	    .wanted = log->reader->options.thread_count == 0,
	};
	for (unsigned kind = 0; kind < TRACELOG_OBJECT_KINDS; kind++) {
		struct tracelog_objects *objects = &log->objects[kind];
		if (!tw_grow(&objects->items, &objects->room, 1, sizeof *objects->items))
			return false;
		objects->count = 1;
	}
	if (process.track == UINT32_MAX ||
	    !tw_grow(&log->threads.items, &log->threads.room, 1, sizeof *log->threads.items))
		return false;
	log->threads.items[log->threads.count++] = process;
	return true;
}

bool tracelog_log_init(struct tracelog_log *log, struct tw_reader *reader, struct tracelog_cursor *cursor)
{
	bool check = reader->options.checking == TW_CHECK_ALL;
	*log = (struct tracelog_log){
	    .reader = reader,
	    .cursor = cursor,
	    .dictionary = reader->dictionary,
	    .request = {.kinds = check && reader->options.findings_only ? 0
	                         : reader->request.kinds                ? reader->request.kinds
	                                                                : UINT32_MAX,
	                .check = check,
	                .calls = reader->request.calls && !reader->options.category,
	                .adds_up = reader->request.unordered},
	    .session = {.dialects = UINT32_MAX},
	    .memory = {.limit = tw_memory_limit(reader) / TABLE_SHARE},
	    .pdbs = {.reporter = reader},
	};
	return tracelog_stacks_init(&log->stacks, tw_memory_limit(reader) / STACK_SHARE) && make_tables(log);
}

/* ---- Sessions. ---- */

/* Frees what numbers and pointers of a session mean. */
static void free_session(struct tracelog_log *log)
{
	tw_map_free(&log->naming.signatures);
	tw_map_free(&log->naming.alike);
	for (unsigned kind = 0; kind < TRACELOG_OBJECT_KINDS; kind++)
		tracelog_objects_free(&log->objects[kind]);
	tracelog_sources_free(&log->sources);
	tracelog_pdbs_free(&log->pdbs);
	tracelog_threads_free(&log->threads);
	free(log->heap.live);
}

/* Until its own name comes. */
static void name_process(struct tracelog_log *log)
{
	char text[32];
	int length = snprintf(text, sizeof text, "session %" PRIu32, log->session.number + 1);
	uint32_t name = tracelog_name(log, text, (size_t)length);
	tw_dictionary_name_track(log->dictionary, tracelog_process_thread(log)->track, name);
}

void tracelog_next_session(struct tracelog_log *log, uint64_t base)
{
	enum { SESSION_COST = 1 << 10 }; /* bytes, about: a track and names */
	log->memory.used = log->memory.kept;
	const bool room = tracelog_take_shared(log, SESSION_COST, SESSION_COST);
	log->session.number += room;
	const uint64_t process = room ? TRACELOG_SESSION_PROCESS + log->session.number : log->threads.process;
	free_session(log);
	memset(log->objects, 0, sizeof log->objects);
	memset(log->settings, 0, sizeof log->settings);
	log->naming = (struct tracelog_naming){0};
	log->sources = (struct tracelog_sources){0};
	log->threads = (struct tracelog_threads){.process = process};
	log->heap = (struct tracelog_heap){.tables = log->heap.tables};
	log->session = (struct tracelog_session){
	    .number = log->session.number,
	    .first = log->session.first,
	    .processes = log->session.processes,
	    .records = 1,
	    .dialects = UINT32_MAX,
	};
	tracelog_forget_pushes(&log->stacks);
	tracelog_move_base(&log->times, base);
	log->failed |= !make_tables(log);
	if (!log->failed && room)
		name_process(log);
}

void tracelog_log_free(struct tracelog_log *log)
{
	free_session(log);
	tw_map_free(&log->session.processes);
	tracelog_fast_lists_free(&log->line.lists);
	free(log->stacks.recent);
}
