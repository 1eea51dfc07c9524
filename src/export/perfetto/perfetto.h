/* perfetto.h - the parts of the writer of Perfetto's protobuf traces, and the numbers of the fields that they write. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_PERFETTO_PERFETTO_H
#define EXPORT_PERFETTO_PERFETTO_H

#include "base/memory/map.h"
#include "core/format.h"
#include "export/events/slices.h"
#include "export/perfetto/protobuf.h"
#include "export/text/line.h"

enum {
	PERFETTO_SEQUENCE = 1,           /* all packets are of one sequence */
	PERFETTO_RESET_BYTES = 4 << 20,  /* after so many of packets all is written anew */
	PERFETTO_RESET_TRACKS = 1 << 16, /* the same for tracks of async events and counters */
	PERFETTO_VALUE_MAX = 64 << 10,   /* bytes of one argument; the rest is cut off and counted */
	PERFETTO_NAME_MAX = 32 << 10,    /* the same for a name */
	PERFETTO_EVENT_MAX = 512 << 10,  /* bytes of an event after which it takes no more arguments */
	PERFETTO_STACK_MAX = 4096,       /* frames of one stack, the innermost */
	PERFETTO_CPUS = 1024,            /* a CPU of this number and more makes the importer refuse the trace */
	PERFETTO_CPU_FREE = 999,         /* from here down others stand, which no machine has as a rule */
	PERFETTO_COMM_MAX = 32           /* bytes that stand for a thread, of those that are kept */
};

/* Numbers of fields, by message. Source: protos/perfetto/trace of Perfetto's sources. */
enum { TRACE_PACKET = 1 };
enum {
	PACKET_FTRACE_EVENTS = 1,
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_TRACK_DESCRIPTOR = 60,
	PACKET_PERF_SAMPLE = 66,
	PACKET_FIRST_ON_SEQUENCE = 87
};
enum { FLAG_STATE_CLEARED = 1, FLAG_NEEDS_STATE = 2 };
enum {
	SNAPSHOT_CLOCKS = 1,
	SNAPSHOT_PRIMARY = 2,
	CLOCK_ID = 1,
	CLOCK_TIMESTAMP = 2,
	BUILTIN_REALTIME = 1,
	BUILTIN_BOOTTIME = 6
};
enum {
	DESCRIPTOR_UUID = 1,
	DESCRIPTOR_NAME = 2,
	DESCRIPTOR_PROCESS = 3,
	DESCRIPTOR_THREAD = 4,
	DESCRIPTOR_PARENT_UUID = 5,
	DESCRIPTOR_COUNTER = 8
};
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum {
	EVENT_CATEGORY_IIDS = 3,
	EVENT_DEBUG_ANNOTATIONS = 4,
	EVENT_LEGACY_EVENT = 6,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK_UUID = 11,
	EVENT_LOG_MESSAGE = 21,
	EVENT_CATEGORIES = 22,
	EVENT_NAME = 23,
	EVENT_COUNTER_VALUE = 30,
	EVENT_SOURCE_LOCATION_IID = 34,
	EVENT_DOUBLE_COUNTER_VALUE = 44,
	EVENT_CALLSTACK_IID = 56
};
enum { LEGACY_PHASE = 2, LEGACY_UNSCOPED_ID = 6, LEGACY_BIND_TO_ENCLOSING = 12 };
enum { TYPE_SLICE_BEGIN = 1, TYPE_SLICE_END, TYPE_INSTANT, TYPE_COUNTER };
enum {
	ANNOTATION_NAME_IID = 1,
	ANNOTATION_BOOL = 2,
	ANNOTATION_UINT = 3,
	ANNOTATION_INT = 4,
	ANNOTATION_DOUBLE = 5,
	ANNOTATION_STRING = 6,
	ANNOTATION_POINTER = 7,
	ANNOTATION_NAME = 10
};
enum { LOG_BODY_IID = 2 };
enum {
	INTERNED_CATEGORIES = 1,
	INTERNED_EVENT_NAMES = 2,
	INTERNED_ANNOTATION_NAMES = 3,
	INTERNED_SOURCE_LOCATIONS = 4,
	INTERNED_FUNCTION_NAMES = 5,
	INTERNED_FRAMES = 6,
	INTERNED_CALLSTACKS = 7,
	INTERNED_MAPPING_PATHS = 17,
	INTERNED_SOURCE_PATHS = 18,
	INTERNED_MAPPINGS = 19,
	INTERNED_LOG_BODIES = 20
};
enum { INTERNED_IID = 1, INTERNED_TEXT = 2 }; /* of most messages in there */
enum { LOCATION_IID = 1, LOCATION_FILE = 2, LOCATION_FUNCTION = 3, LOCATION_LINE = 4 };
enum { MAPPING_IID = 1, MAPPING_PATH = 7 };
enum { FRAME_IID = 1, FRAME_FUNCTION = 2, FRAME_MAPPING = 3, FRAME_REL_PC = 4, FRAME_SOURCE = 5, FRAME_LINE = 6 };
enum { CALLSTACK_IID = 1, CALLSTACK_FRAMES = 2 };
enum { SAMPLE_CPU = 1, SAMPLE_PID = 2, SAMPLE_TID = 3, SAMPLE_CALLSTACK_IID = 4 };
enum { BUNDLE_CPU = 1, BUNDLE_EVENT = 2 };
enum {
	FTRACE_TIMESTAMP = 1,
	FTRACE_PID = 2,
	FTRACE_SCHED_SWITCH = 4,
	FTRACE_CPU_FREQUENCY = 11,
	FTRACE_CPU_IDLE = 13,
	FTRACE_SCHED_WAKING = 20
};
enum {
	SWITCH_PREV_COMM = 1,
	SWITCH_PREV_PID = 2,
	SWITCH_PREV_PRIO = 3,
	SWITCH_PREV_STATE = 4,
	SWITCH_NEXT_COMM = 5,
	SWITCH_NEXT_PID = 6,
	SWITCH_NEXT_PRIO = 7
};
enum { POWER_STATE = 1, POWER_CPU_ID = 2 }; /* of cpu_frequency and cpu_idle */
enum { WAKING_COMM = 1, WAKING_PID = 2, WAKING_TARGET_CPU = 5 };

/* Where a name was written last, in each role: the number of the reset. */
struct perfetto_name {
	uint32_t event, category, annotation, function, location, source;
	uint64_t event_field, category_field; /* packed fields with its number, once it was written */
};

/* What stands for a thread in switches, as it is written: its name and id. */
struct perfetto_comm {
	const char *of; /* the text that it was made of, to see when the thread has another; NULL: it was not */
	uint8_t size;   /* of each; 0: too long to be kept */
	uint8_t bytes[2][PERFETTO_COMM_MAX]; /* of the thread that leaves, of the one that comes */
};

struct perfetto_track {
	uint32_t written_in; /* the number of the reset */
	uint32_t name;       /* that was written */
	bool met;
	uint32_t pid, tid;
	uint64_t owner;         /* its process when the track was met first */
	uint64_t uuid, process; /* process: uuid of its track, 0 where there is none */
	uint64_t uuid_field;    /* of an event, packed */
	struct perfetto_comm comm;
};

struct perfetto_process {
	uint32_t written_in;
	uint32_t name; /* that was written */
	uint32_t pid;
	uint32_t track; /* that tells its name, or 0 */
};

/* Interned data, written once until the next reset. Written by perfetto_names.c. */
struct perfetto_written {
	struct perfetto_name *names;
	size_t name_room;
	uint32_t *frames, *stacks; /* by number: the reset that they were written in */
	size_t frame_room, stack_room;
	uint32_t mapping;  /* the same for the one mapping that there is */
	uint64_t next_iid; /* of log messages and stacks of addresses */
};

/* Tracks and processes. Written by perfetto_tracks.c. */
struct perfetto_tracks {
	struct perfetto_track *items;
	size_t room;
	uint32_t seen;  /* how many the dictionary had when last seen */
	uint64_t moves; /* and how often tracks had got a process */
	struct perfetto_process *processes;
	size_t process_room;
	struct tw_map places;                 /* process to its place in `processes` */
	struct tw_map children;               /* uuids of tracks of async events and counters that are written */
	uint16_t cpu_numbers[UINT16_MAX + 1]; /* of each CPU the one that it is written as, plus 1 */
	bool cpu_taken[PERFETTO_CPUS];
	struct tw_map cpus; /* frequencies and idle states of CPUs, to a hash of the counter whose they are */
};

struct perfetto {
	struct tw_writer *writer;
	const struct tw_reader *reader;
	const struct tw_dictionary *dictionary;
	const struct tw_argument *arguments; /* of the batch */
	const struct tw_name *all_names;     /* of the dictionary, as it is for the batch */
	struct tw_slices slices;
	struct tw_proto interned, event;
	uint32_t reset;      /* number of the last reset, from 1 */
	uint32_t said_reset; /* the last that a packet told */
	uint64_t reset_at;   /* bytes written by then */
	struct perfetto_written written;
	struct perfetto_tracks tracks;
	struct tw_line label; /* of the track or the object that is written */
	uint32_t open;        /* slices without an end at the end of a track, until the slices around them are known */
	uint32_t open_track;
	bool begun;
	bool failed; /* no memory */
};

/* ---- perfetto_names.c: what is told once and then known by a number. Each call adds to `interned` what is not told
 * yet, and returns the number. ---- */

/* Makes room for the names, locations and stacks of the dictionary. Returns 0 or TW_ERR_MEMORY. */
int tw_perfetto_names_grow(struct perfetto *perfetto);

uint64_t tw_perfetto_event_name(struct perfetto *perfetto, uint32_t name);
uint64_t tw_perfetto_category(struct perfetto *perfetto, uint32_t name);
uint64_t tw_perfetto_annotation(struct perfetto *perfetto, uint32_t name);

/* Where a function stands in the source; 0 where that is not known. */
uint64_t tw_perfetto_location(struct perfetto *perfetto, uint32_t name);

uint64_t tw_perfetto_log_body(struct perfetto *perfetto, const void *text, size_t size);
uint64_t tw_perfetto_callstack(struct perfetto *perfetto, uint32_t stack);

/* A stack of addresses, the innermost first: the arguments of an event. */
uint64_t tw_perfetto_addresses(struct perfetto *perfetto, const struct tw_argument *arguments, size_t count);

/* Writes a name as a string field: "function 12" for one without text. */
void tw_perfetto_put_name(struct perfetto *perfetto, struct tw_proto *proto, unsigned field,
                          const struct tw_name *name);

/* ---- perfetto_cpu.c ---- */

/* A value of the frequency or the idle state of a CPU. */
struct perfetto_cpu {
	unsigned field; /* FTRACE_CPU_FREQUENCY, FTRACE_CPU_IDLE */
	uint64_t number;
	uint32_t state;
	unsigned number_at, value_at; /* arguments that tell these; the same where the name or the id has the number */
};

/* Whether an event of a counter is such a value. */
bool tw_perfetto_is_cpu(const struct perfetto *perfetto, const struct tw_event *event, struct perfetto_cpu *cpu);

/* ---- perfetto_tracks.c: processes, threads and other tracks. ---- */

/* Makes room for the tracks of the dictionary. Returns 0 or TW_ERR_MEMORY. */
int tw_perfetto_tracks_grow(struct perfetto *perfetto);

/* Writes of a track what is not written since the last reset. */
const struct perfetto_track *tw_perfetto_put_track(struct perfetto *perfetto, uint32_t track);

/* The same where it may have been written. */
static inline const struct perfetto_track *tw_perfetto_track(struct perfetto *perfetto, uint32_t track)
{
	const struct perfetto_track *known = &perfetto->tracks.items[track];
	return known->written_in == perfetto->reset ? known : tw_perfetto_put_track(perfetto, track);
}

/* The uuids of tracks that are the event's own: of an async event's id, and of a series of a counter (series: number of
 * the argument's name). They are written with their process where that is not done yet. */
uint64_t tw_perfetto_async_track(struct perfetto *perfetto, const struct tw_event *event);
uint64_t tw_perfetto_counter_track(struct perfetto *perfetto, const struct tw_event *event, uint32_t series);

/* The number that a CPU is written as: where it is too large, or was given to another, one that is free. */
uint16_t tw_perfetto_number_cpu(struct perfetto *perfetto, uint16_t cpu);

static inline uint32_t tw_perfetto_cpu(struct perfetto *perfetto, uint16_t cpu)
{
	uint16_t known = perfetto->tracks.cpu_numbers[cpu];
	return known ? known - 1U : tw_perfetto_number_cpu(perfetto, cpu);
}

/* Whether a counter is the one that tells this of a CPU. Another, as of the machine that was merged, is a counter like
 * all others. */
bool tw_perfetto_is_counter_of_cpu(struct perfetto *perfetto, const struct tw_event *event,
                                   const struct perfetto_cpu *cpu);

/* The uuid of a further lane of a track, which is a child of it: slices there overlap those of the others. */
uint64_t tw_perfetto_lane_track(struct perfetto *perfetto, uint32_t track, uint32_t lane);

/* Tells the names that became known after the first event of their track. */
void tw_perfetto_tracks_finish(struct perfetto *perfetto);

void tw_perfetto_tracks_free(struct perfetto *perfetto);

/* ---- perfetto_args.c: arguments, which are debug annotations. ---- */

/* Adds the arguments of an event from one on. */
void tw_perfetto_add_arguments(struct perfetto *perfetto, const struct tw_event *event, unsigned from);

/* Adds an argument that is ours. field: ANNOTATION_BOOL, _UINT, _POINTER. */
void tw_perfetto_add_own(struct perfetto *perfetto, const char *name, unsigned field, uint64_t value);

/* Adds a word for each flag that is one. */
void tw_perfetto_add_flag_words(struct perfetto *perfetto, unsigned kind, uint16_t flags);

/* ---- perfetto_sched.c: what ftrace has events for. ---- */

void tw_perfetto_take_switch(struct perfetto *perfetto, const struct tw_event *event);
void tw_perfetto_take_wakeup(struct perfetto *perfetto, const struct tw_event *event);
void tw_perfetto_put_cpu(struct perfetto *perfetto, uint64_t time, const struct perfetto_cpu *cpu);

/* ---- perfetto_packet.c ---- */

/* Of a packet of less than 128 bytes: where its size is, and where it begins. */
enum { PERFETTO_SIZE_AT = 1, PERFETTO_BODY_AT = 2 };

/* Writes a packet: `event` is the field of that number, `interned` goes with it; both are empty afterwards. time: NULL
 * where the packet has none. */
void tw_perfetto_put_packet(struct perfetto *perfetto, unsigned field, const uint64_t *time);

#endif
