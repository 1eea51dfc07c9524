/* survey.h - what one pass over a file tells of the whole: threads, processes, counters, stacks, from when to when. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_TABLES_SURVEY_H
#define SQL_TABLES_SURVEY_H

#include "base/memory/map.h"

#include <trackway/event.h>

/* Names are numbers of the session's dictionary; 0 is none. Item 0 of each list stands for what has none. */
struct sql_track {
	uint64_t process, thread;
	uint32_t name;
	uint32_t upid; /* 0: none */
	enum tw_track_kind kind;
	bool idle;     /* a switch says that it is what a CPU does that has nothing to do */
	uint64_t last; /* time of its last event, as struct tw_call_stack has it */
	uint64_t died; /* when a switch left it dead, or a record destroyed it; 0: not told */
	uint64_t made; /* 1 more than the time of the record that made it; 0: not told */
};

struct sql_process {
	uint64_t pid;
	uint32_t name;
};

/* A series of numbers: an argument of a counter of a process. */
struct sql_series {
	uint64_t process, id;
	uint32_t upid;
	uint32_t category, name, argument;
};

struct sql_frame {
	uint64_t address;
	uint64_t id; /* of its name: texts may become better known, and may be alike */
	uint32_t name, file, line, module;
};

struct sql_index;

/* Lists, with a map from what an item is to its number. The maps of stacks and frames are made when they are asked
 * for. */
struct sql_survey_tracks {
	struct sql_track *items;
	size_t count, room;
	struct tw_map map;
};

struct sql_survey_processes {
	struct sql_process *items;
	size_t count, room;
	struct tw_map map;
};

struct sql_survey_series {
	struct sql_series *items;
	size_t count, room;
	struct tw_map map;
};

struct sql_survey_stacks {
	struct tw_stack *items;
	size_t count, room;
	struct tw_map map;
};

struct sql_survey_frames {
	struct sql_frame *items;
	size_t count, room;
	struct tw_map map;
};

struct sql_survey {
	const char *format; /* a constant */
	uint64_t bytes, events;
	uint64_t start_ns, end_ns; /* on the trace's own clock */
	uint64_t late_ns; /* by how much a time goes back at most, in the order in which events are delivered */
	struct sql_survey_tracks tracks;
	struct tw_map thread_map; /* a thread's number to its first track */
	struct sql_survey_processes processes;
	struct sql_survey_series series;
	struct sql_survey_stacks stacks;  /* as the reader's dictionary has them */
	struct sql_survey_frames frames;  /* locations */
	bool frames_mapped, frames_alike; /* alike: some cannot be told apart */
	struct sql_index *index;          /* NULL: there is none */
	bool series_left;                 /* there were more series than the memory limit has room for */
};

void sql_survey_free(struct sql_survey *survey);

/* Add a series that it does not have, and put a track of its list into the map. False when there is no memory. */
bool sql_survey_add_series(struct sql_survey *survey, const struct sql_series *series);
bool sql_survey_map_track(struct sql_survey *survey, uint32_t number);

/* Makes the maps of a survey whose lists are there. False when there is no memory, or something is not right. */
bool sql_survey_map(struct sql_survey *survey);

/* The number of a track; 0 when there is none such. */
uint32_t sql_survey_track(const struct sql_survey *survey, const struct tw_track *track);

/* Whether stacks can be found by what they are: makes the maps for it. */
bool sql_survey_has_stacks(struct sql_survey *survey);

/* The number of a frame by address, id and, where that is 0, name; of a stack by the one that called it and its frame.
 * UINT32_MAX when there is none such. */
uint32_t sql_survey_frame(const struct sql_survey *survey, const struct sql_frame *frame);
uint32_t sql_survey_stack(const struct sql_survey *survey, uint32_t caller, uint32_t frame);

/* The number of a series; 0 when there is none such. */
uint32_t sql_survey_series(const struct sql_survey *survey, const struct sql_series *series);

#endif
