/* mapping.h - what the names, tracks and stacks of a trace are in the one that it becomes a part of. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_MERGE_MAPPING_H
#define CORE_MERGE_MAPPING_H

#include "base/memory/map.h"
#include "core/dictionary_parts.h"

/* A process of one of the traces. */
struct tw_home {
	uint64_t process;
	uint32_t trace;
};

/* The numbers of the merged trace that traces have taken. */
struct tw_taken {
	struct tw_map owners; /* number to the trace that it is of */
	struct tw_map moved;  /* number to the place in `own` of that of the trace; where it stays there is none */
	uint64_t *own;
	size_t own_count, own_room;
	uint64_t shared; /* how many another trace had, too */
};

/* The processes, threads and CPUs of all traces; all zero but `together` to begin. */
struct tw_homes {
	bool together; /* traces are of one machine: a number stands for the same in each */
	struct tw_taken processes, threads, cpus;
	uint64_t moved_ids;    /* flows and operations of all processes that have got other numbers */
	struct tw_map apart;   /* hash of a process that was kept apart and its trace to number - 1 */
	struct tw_home *items; /* those that were kept apart, by number - 1 */
	size_t count, room;
};

/* What may be added to a dictionary, by all mappings to it together; all zero but `most` to begin. What there is no
 * room for is left out: names become "(other)", threads and processes 0, and stacks those around them. */
struct tw_mapping_room {
	size_t used, most; /* bytes */
	bool full;         /* something was left out */
};

/* What becomes of the number of a process. */
enum tw_mapping_kind {
	TW_MAPPING_WHOLE,   /* it stays, or where another process came before with it there is another */
	TW_MAPPING_APART,   /* it is one in `homes`, whatever other traces have */
	TW_MAPPING_TOGETHER /* from that, as for TW_MAPPING_WHOLE */
};

/* By number: that in `to`, 0 while not asked for. */
struct tw_met_numbers {
	uint32_t *items;
	size_t room;
};

/* From one dictionary to another. All zero but the first members to begin. */
struct tw_mapping {
	enum tw_mapping_kind kind;
	uint32_t trace; /* number of the trace that `from` is of; not used with TW_MAPPING_TOGETHER */
	uint32_t place; /* among those that are merged: the first keeps its ids */
	const struct tw_dictionary *from;
	struct tw_dictionary *to;
	struct tw_homes *homes;
	bool koids;                   /* `from` knows threads by their numbers alone: no two have one */
	struct tw_mapping_room *room; /* NULL: nothing is left out */
	struct tw_met_numbers names, tracks;
	struct {
		uint32_t *items; /* by number, for the first stack_count */
		size_t count, room;
	} stacks;
	struct tw_map processes;     /* process in `from` to the place of its number in `numbers` */
	struct tw_map threads, cpus; /* the same of a thread of `koids`, and of a CPU */
	struct {
		uint64_t *items;
		size_t count, room;
	} numbers;
};

/* What a number has become; 0 where it is 0, or was not met. */
static inline uint32_t tw_met_number(const struct tw_met_numbers *numbers, uint32_t number)
{
	return number < numbers->room ? numbers->items[number] : 0;
}

/* tw_map_row() of most rows, which refer to nothing but names and a track that have been met, from a row to a copy of
 * it: to read the copy in parts that was just written in one go takes long. False: it is no such row. `make bench`
 * measures merge. */
static inline bool tw_map_plain_row(const struct tw_mapping *mapping, const struct tw_event *from, struct tw_event *to)
{
	const uint32_t name = tw_met_number(&mapping->names, from->name);
	const uint32_t category = tw_met_number(&mapping->names, from->category);
	const uint32_t track = tw_met_number(&mapping->tracks, from->track);
	const bool more = from->argument_count || from->other || from->flags & TW_FLAG_GLOBAL;
	if (from->kind > TW_ASYNC_END || more || !name || !category || !track || mapping->from->tracks.moves)
		return false;
	to->provider = 0; /* strings are shared, as tables of providers cannot be */
	to->name = name;
	to->category = category;
	to->track = track;
	return true;
}

/* Turns a row, but for its time, and its arguments. False when there is no memory. */
bool tw_map_row(struct tw_mapping *mapping, struct tw_event *event, struct tw_argument *arguments);

/* There are no more rows: takes the names that tracks got since they were met. False when there is no memory. */
bool tw_mapping_end(struct tw_mapping *mapping);

/* The number that a trace itself has, of one in the merged trace. */
uint64_t tw_taken_own(const struct tw_taken *taken, uint64_t number);

void tw_mapping_free(struct tw_mapping *mapping);
void tw_homes_free(struct tw_homes *homes);

#endif
