/* log.h - what is known of a log while it is read: its objects, threads, stacks and times. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_LOG_LOG_H
#define TRACELOG_LOG_LOG_H

#include "base/memory/cover.h"
#include "base/memory/map.h"
#include "core/format.h"
#include "core/order/slab.h"
#include "tracelog/log/cursor.h"
#include "tracelog/log/parsed_block.h"

#include <trackway/tracelog.h>

/* Where in the log something stands. */
struct tracelog_place {
	uint64_t offset, line;
};

/* ---- objects.c: domains, assemblies, modules, classes, functions. ---- */

enum tracelog_object_kind {
	TRACELOG_DOMAIN,
	TRACELOG_ASSEMBLY,
	TRACELOG_MODULE,
	TRACELOG_CLASS,
	TRACELOG_FUNCTION,
	TRACELOG_OBJECT_KINDS
};

/* The last compilation of a function whose code was not known when it ended. */
struct tracelog_compiled {
	uint64_t time;
	uint32_t thread; /* number of the thread, plus 1; 0: none */
	uint32_t name;   /* that its slice has */
};

/* Edges that tell which of many spans holds a number; none where they are few. */
struct tracelog_edges {
	uint32_t first, count;
};

/* Something that has a pointer, and classes and functions a number (iid). It comes into being when it is announced,
 * named or referred to, whatever is first, and keeps its name's number from then on. */
struct tracelog_object {
	uint64_t pointer;
	struct tracelog_place met; /* where it was first */
	uint32_t iid;
	uint32_t token;
	uint32_t name; /* of the dictionary: a placeholder until its name comes */
	uint32_t twin; /* another name that stands for it, because it was referred to by pointer before; or 0 */
	/* Thing: the class of a function, the module of a class, the assembly of a module, the domain of an
	 * assembly. */
	uint32_t owner;
	uint32_t module; /* object: of a function */
	bool announced, named, used;
	bool recompiled;           /* functions: their code was told again, elsewhere */
	uint32_t location;         /* functions: without an address, plus 1 */
	uint32_t unplaced;         /* functions: the first location that no line is known of, plus 1 */
	uint32_t code, code_count; /* blocks of code */
	uint32_t map, map_count;   /* ranges of it and their offsets in the IL */
	struct tracelog_edges code_edges, map_edges;
	uint64_t code_bytes;
	struct tracelog_compiled compiled;
	uint32_t live; /* classes: place in the last heap table, plus 1 */
};

struct tracelog_objects {
	struct tracelog_object *objects; /* number 0 is none */
	size_t count, room;
	struct tw_map by_pointer, by_iid;
	uint32_t other; /* stands for all that there is no memory for, once there is one */
};

/* ---- code.c: from an instruction to its place. ---- */

struct tracelog_code {
	uint64_t start, size;
	uint64_t before; /* bytes of the blocks before it */
};

struct tracelog_range {
	uint64_t start, end; /* offsets in the code */
	int64_t il;
};

struct tracelog_source_line {
	uint32_t function; /* the function's number (iid) */
	uint32_t file;     /* number given by the log */
	uint32_t line, column, end_line, end_column;
};

struct tracelog_sources {
	struct tracelog_code *codes;
	size_t code_count, code_room;
	struct tracelog_range *ranges;
	size_t range_count, range_room;
	struct tw_edge *edges; /* of functions that have many blocks or ranges */
	size_t edge_count, edge_room;
	struct tracelog_source_line *lines;
	size_t line_count, line_room;
	struct tw_map by_line; /* number of a line to its place in `lines` */
	struct tw_map files;   /* number of a file to a name */
	/* By location of the dictionary. */
	uint32_t *functions; /* object */
	size_t function_room;
	uint32_t *unplaced; /* the next location of the function that no line is known of, plus 1 */
	size_t unplaced_room;
};

/* ---- threads.c ---- */

/* A frame of a thread's stack: the number of the stack that it is the innermost of, and its function. */
struct tracelog_stack_frame {
	uint32_t stack, iid;
	uint32_t path;    /* hash of the frames from the outermost to this one */
	bool is_function; /* a function of the log: not "(unknown)" or "(other)" */
};

/* A sample that CPU time will be shared over. */
struct tracelog_unshared_sample {
	uint32_t stack;
	uint64_t ticks, wall_ns;
};

enum tracelog_activity { TRACELOG_JIT, TRACELOG_JIT_CACHED, TRACELOG_GC, TRACELOG_ACTIVITIES };

/* Something that a thread is doing (compiling, collecting), whose end is still to come. */
struct tracelog_open {
	enum tracelog_activity activity;
	uint64_t pointer; /* of the function */
	uint64_t time;
	struct tracelog_place place;
	uint32_t thread; /* of a collection: the place of the thread that started it; another may finish it */
	bool induced;
	uint8_t generations;
};

/* Lines of one of these come in the order of time in each thread. */
enum tracelog_series { TRACELOG_SAMPLES, TRACELOG_ALLOCATIONS, TRACELOG_CPU, TRACELOG_JIT_AND_GC, TRACELOG_SERIES };

struct tracelog_thread {
	uint32_t iid;
	uint32_t track;
	bool native;    /* of the system alone: no managed thread was said to run on it */
	bool other;     /* stands for all that there is no memory for */
	bool announced; /* thr crt */
	bool destroyed; /* thr dst */
	bool used;
	bool wanted; /* the options let it through */
	uint64_t pointer;
	bool on_system; /* it runs on the thread of the system that follows */
	uint32_t system;
	struct tracelog_stack_frame *frames; /* its stack, the outermost first */
	size_t depth, frame_room;
	bool stacked; /* a record told its stack */
	/* Samples. */
	bool sampled;
	uint64_t last_sample;           /* ns */
	struct tracelog_place unjudged; /* a record of count 0, until it is known what follows; line 0: none */
	/* CPU time. */
	bool cpu_seen;
	uint64_t last_cpu; /* ns */
	uint64_t debt_us;  /* negative usage that was not taken back yet */
	struct tracelog_unshared_sample *waiting;
	size_t waiting_count, waiting_room;
	struct tracelog_open *open; /* the process: all collections */
	size_t open_count, open_room;
	bool open_missed; /* there was no room for one: ends may come without a start */
	uint64_t latest[TRACELOG_SERIES];
};

struct tracelog_threads {
	struct tracelog_thread *threads;
	size_t count, room;
	struct tw_map by_iid, by_system, by_pointer;
	uint32_t other; /* stands for all that there is no memory for; 0 while there is none */
};

/* ---- times.c ---- */

struct tracelog_times {
	bool begun;
	uint64_t around;  /* ms: what times are close to */
	uint64_t outlier; /* the last time far from `around`; UINT64_MAX: none since it was settled */
	unsigned steps;   /* how many times in a row were far away, each later than the one before */
	uint64_t now;     /* ns: of the last line that had a time */
	uint64_t latest;  /* ns: of all lines */
	bool paused, resumed;
	bool resumed_once;              /* it has been resumed since it began paused */
	uint64_t paused_at, resumed_at; /* ns */
};

/* What a sam str says. */
struct tracelog_sample {
	uint32_t thread, ms;
	uint64_t count; /* ticks */
	bool has_count;
	bool has_ip;
	uint32_t match, depth;
	uint64_t ip; /* 0: not known */
	const struct tracelog_frame *frames;
	size_t frame_count;
};

/* What a thr cpu or prc cpu says. */
struct tracelog_usage {
	bool process;
	uint32_t thread, ms;
	uint64_t us; /* may be negative, as 64 bits hold it */
};

/* ---- What was met lately, by a hash: it is asked for over and over. ---- */

enum { TRACELOG_PUSH_SETS = 1 << 13, TRACELOG_PUSH_WAYS = 3, TRACELOG_RECENT_THREADS = 1 << 8 };

/* What frames came to that were called from a stack: a line of the cache. Which one tells the hash of all its frames,
 * not the stack's number: then the processor need not find one frame to know where to look for the next. */
struct tracelog_recent_pushes {
	_Alignas(64) uint64_t ip[TRACELOG_PUSH_WAYS];
	uint32_t iid[TRACELOG_PUSH_WAYS], caller[TRACELOG_PUSH_WAYS];
	uint32_t stack[TRACELOG_PUSH_WAYS]; /* 0: nothing is here */
};

struct tracelog_recent {
	struct tracelog_recent_pushes pushes[TRACELOG_PUSH_SETS];
	uint32_t threads[TRACELOG_RECENT_THREADS]; /* places; 0: nothing is here */
};

/* ---- settings.c ---- */

enum tracelog_setting {
	TRACELOG_METHOD,
	TRACELOG_SAMPLING_TIMEOUT,
	TRACELOG_HIGH_GRANULARITY,
	TRACELOG_SUSPENDED,
	TRACELOG_LINE_TRACE,
	TRACELOG_CPU_OF_PROCESS,
	TRACELOG_CPU_OF_THREADS,
	TRACELOG_CPU_TIMEOUT,
	TRACELOG_EXECUTION_TRACE,
	TRACELOG_MEMORY_TRACE,
	TRACELOG_STACK_TRACKING,
	TRACELOG_SETTINGS
};

/* Values of TRACELOG_METHOD. */
enum { TRACELOG_NO_METHOD, TRACELOG_INSTRUMENTATION };

struct tracelog_setting_value {
	bool told;
	bool contradicted; /* that has been told, too */
	uint64_t value;    /* its value; of a switch, 0 is off */
};

/* ---- The log. ---- */

struct tracelog_class_count {
	uint32_t object;
	uint64_t table; /* the last one that it was in */
};

struct tracelog_dependencies;

struct tracelog_log {
	struct tw_reader *reader;
	struct tracelog_dependencies *dependencies; /* is told of lines; NULL: nobody asks for it */
	struct tracelog_cursor *cursor;
	struct tw_dictionary *dictionary;
	struct tw_slab *slab;     /* where rows go */
	uint32_t kinds;           /* of event that rows are made of */
	bool check;               /* all rules are judged */
	bool adds_up;             /* names of samples are those of their stacks: nobody asks for them */
	bool failed;              /* no memory */
	bool beyond;              /* the line is about a thread that there was no memory for: it is not judged */
	struct tw_event spare;    /* the row that there was no memory for */
	struct tracelog_place at; /* the line that is being read */
	struct tracelog_objects objects[TRACELOG_OBJECT_KINDS];
	struct tracelog_sources sources;
	struct tracelog_threads threads;
	struct tracelog_times times;
	size_t memory, table_limit;       /* bytes that tables take, about, and may take */
	size_t stack_memory, stack_limit; /* the same of stacks */
	uint32_t other_stack;             /* stands for those beyond, once there are some */
	bool told_tables, told_stacks;
	uint64_t process;
	struct tracelog_setting_value settings[TRACELOG_SETTINGS];
	bool start_seen;    /* prf stm */
	bool classes_named; /* cls nam */
	size_t unnamed;     /* classes and functions that have no name yet */
	unsigned dialects;  /* that all records so far may be of; 0: they were found to be of several */
	uint64_t records;
	struct tracelog_recent *recent;
	struct tracelog_frame *frames; /* of the record that is being read */
	size_t frame_room;
	struct tracelog_allocation *allocations; /* the same */
	size_t allocation_room;
	struct tracelog_class_count *live; /* classes of the last heap table */
	size_t live_count, live_room;
	uint64_t heap_tables;
};

/* Reports a finding about the line that is being read, or about another place. Rules of meaning are only told where
 * all is checked. */
void tracelog_tell(struct tracelog_log *log, enum tracelog_rule rule, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void tracelog_tell_at(struct tracelog_log *log, enum tracelog_rule rule, struct tracelog_place place,
                      const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Takes bytes from what the tables may have. False when they are not there, which is told once. */
bool tracelog_take_memory(struct tracelog_log *log, size_t bytes);

/* Makes room for one more element in an array of such a table. False where there is no memory for it. */
bool tracelog_grow(struct tracelog_log *log, void *array, size_t *room, size_t count, size_t size);

/* A text as a name; "(other)" where the limit is reached. */
uint32_t tracelog_name(struct tracelog_log *log, const void *text, size_t length);

#define TRACELOG_TEXT(log, constant) tracelog_name(log, constant, sizeof(constant) - 1)

/* ---- objects.c ---- */

/* The object that a pointer means now; 0 for a null pointer. One that was never announced comes into being. */
uint32_t tracelog_object_at(struct tracelog_log *log, enum tracelog_object_kind kind, uint64_t pointer);

/* The same by number, for classes and functions. */
uint32_t tracelog_object_of(struct tracelog_log *log, enum tracelog_object_kind kind, uint32_t iid);

/* Adds the object that a record announces: from now on its pointer means it. Returns its number. */
uint32_t tracelog_announce(struct tracelog_log *log, enum tracelog_object_kind kind,
                           const struct tw_tracelog_record *record);

/* Its name is known; what it belongs to may be better known, too. */
void tracelog_name_object(struct tracelog_log *log, enum tracelog_object_kind kind, uint32_t number,
                          struct tw_tracelog_text text);
void tracelog_update_name(struct tracelog_log *log, enum tracelog_object_kind kind, uint32_t number);

/* Reports at the end what was referred to and never announced, or announced and never named. */
void tracelog_judge_objects(struct tracelog_log *log);
void tracelog_objects_free(struct tracelog_log *log);

static inline struct tracelog_object *tracelog_object(struct tracelog_log *log, enum tracelog_object_kind kind,
                                                      uint32_t number)
{
	return &log->objects[kind].objects[number];
}

/* ---- names.c ---- */

/* Names what has no name yet by the lines from an offset on, which are read again in their turn. False where that
 * cannot be read. */
bool tracelog_look_for_names(struct tracelog_log *log, uint64_t from);

/* ---- code.c ---- */

/* Takes the code and the map out of the list of a function's record. */
void tracelog_take_code(struct tracelog_log *log, uint32_t function, const struct tw_tracelog_record *record);
void tracelog_take_line(struct tracelog_log *log, const struct tw_tracelog_record *record);
void tracelog_take_file(struct tracelog_log *log, const struct tw_tracelog_record *record);

/* The location of an instruction in a function; ip 0: not known. UINT32_MAX when there is no memory. */
uint32_t tracelog_location(struct tracelog_log *log, uint32_t function, uint64_t ip);
void tracelog_sources_free(struct tracelog_sources *sources);

/* ---- threads.c ---- */

/* Threads by their numbers; one that was never announced comes into being. Pointers live until the next call. */
struct tracelog_thread *tracelog_thread_by(struct tracelog_log *log, const struct tw_tracelog_record *record);
struct tracelog_thread *tracelog_process_thread(struct tracelog_log *log);

/* The same for a record that only makes sense of a thread that lives: tells where it does not. */
struct tracelog_thread *tracelog_judge_thread(struct tracelog_log *log, uint32_t iid);

static inline struct tracelog_thread *tracelog_living_thread(struct tracelog_log *log, uint32_t iid)
{
	uint32_t place = log->recent->threads[iid % TRACELOG_RECENT_THREADS];
	struct tracelog_thread *thread = &log->threads.threads[place];
	bool known = place && thread->iid == iid && !thread->native && thread->used && !thread->destroyed;
	return known ? thread : tracelog_judge_thread(log, iid);
}

void tracelog_take_thread(struct tracelog_log *log, const struct tw_tracelog_record *record);
void tracelog_set_process(struct tracelog_log *log, uint64_t process);
void tracelog_threads_free(struct tracelog_threads *threads);

/* ---- stacks.c ---- */

/* Changes the stack of a thread. Returns how many frames stay. */
size_t tracelog_change_stack(struct tracelog_log *log, struct tracelog_thread *thread,
                             const struct tracelog_sample *sample);

/* The innermost frame of a thread; all zero where there is none. */
static inline struct tracelog_stack_frame tracelog_innermost_of(const struct tracelog_thread *thread)
{
	return thread->depth ? thread->frames[thread->depth - 1] : (struct tracelog_stack_frame){0};
}

/* The number of a thread's stack; and of the same with the innermost frame at another instruction. */
static inline uint32_t tracelog_stack(const struct tracelog_thread *thread)
{
	return tracelog_innermost_of(thread).stack;
}

/* Returns the stack "(other)", which stands for all that there is no memory for and for what is called from these; 0
 * when there is no memory for it either. */
uint32_t tracelog_other_stack(struct tracelog_log *log);

uint32_t tracelog_stack_at(struct tracelog_log *log, const struct tracelog_thread *thread, uint64_t ip);

/* The function that a stack ends in, by name; 0 where nobody looks at names of rows. */
uint32_t tracelog_innermost(const struct tracelog_log *log, uint32_t stack);

/* ---- times.c ---- */

/* The next time of a log, of 32 bits, in ms since the profiler's start. */
uint64_t tracelog_unwrap(struct tracelog_times *times, uint32_t ms);

/* A time of 32 bits in ns since the profiler's start. */
uint64_t tracelog_time(struct tracelog_log *log, uint32_t ms);

/* The same for a record of a thread, of whose series it is the next. */
uint64_t tracelog_time_of(struct tracelog_log *log, struct tracelog_thread *thread, enum tracelog_series series,
                          uint32_t ms);
void tracelog_take_pause(struct tracelog_log *log, const struct tw_tracelog_record *record);

/* ---- rows.c: adding rows. ---- */

/* Whether rows of a kind are wanted, of a thread. */
static inline bool tracelog_wants(const struct tracelog_log *log, const struct tracelog_thread *thread,
                                  enum tw_event_kind kind)
{
	return thread->wanted && log->kinds >> kind & 1;
}

/* A row for the line that is being read, its other members 0. */
struct tw_event *tracelog_row(struct tracelog_log *log, const struct tracelog_thread *thread, enum tw_event_kind kind,
                              uint64_t time);

/* Arguments of the last row. */
void tracelog_add_number(struct tracelog_log *log, const char *name, enum tw_argument_type type, uint64_t value);
void tracelog_add_percent(struct tracelog_log *log, const char *name, double value);
void tracelog_add_text(struct tracelog_log *log, const char *name, const void *text, size_t length);
void tracelog_add_object(struct tracelog_log *log, const char *name, enum tracelog_object_kind kind, uint32_t number);

/* ---- settings.c ---- */

void tracelog_take_setting(struct tracelog_log *log, const struct tw_tracelog_record *record);

/* Reports a switch that is off though there is a record of what it turns off. */
void tracelog_judge_setting(struct tracelog_log *log, enum tracelog_setting which);

/* ---- samples.c ---- */

void tracelog_take_sample(struct tracelog_log *log, const struct tracelog_sample *sample);
void tracelog_take_allocations(struct tracelog_log *log, uint32_t thread, uint32_t ms,
                               const struct tracelog_allocation *allocations, size_t count);
void tracelog_take_usage(struct tracelog_log *log, const struct tracelog_usage *usage);
void tracelog_judge_zero(struct tracelog_log *log, struct tracelog_thread *thread);

/* ---- activity.c: compilations and collections. ---- */

/* The code of a function is known now: tells its size, if a compilation of it ended before. */
void tracelog_tell_code(struct tracelog_log *log, uint32_t function);

void tracelog_take_activity(struct tracelog_log *log, const struct tw_tracelog_record *record);

/* Ends what a thread was doing when it, or the log, ended. */
void tracelog_close_activities(struct tracelog_log *log, struct tracelog_thread *thread);

/* ---- heap.c ---- */

void tracelog_take_heap(struct tracelog_log *log, const struct tw_tracelog_record *record);
void tracelog_judge_object_sizes(struct tracelog_log *log, uint32_t class, uint64_t count, uint64_t bytes);
void tracelog_take_generations(struct tracelog_log *log, const struct tw_tracelog_record *record);

/* ---- log.c ---- */

bool tracelog_log_init(struct tracelog_log *log, struct tw_reader *reader, struct tracelog_cursor *cursor);
void tracelog_log_free(struct tracelog_log *log);

/* Takes a record: its rows go to log->slab. */
void tracelog_take(struct tracelog_log *log, const struct tw_tracelog_record *record);

/* The same for a line that was found to be plain. */
void tracelog_take_fast_line(struct tracelog_log *log, const struct tracelog_parsed_block *parsed,
                             const struct tracelog_fast_line *entry);

/* Takes a line, or part of one, that could not be read. */
void tracelog_lose(struct tracelog_log *log, uint64_t bytes);

/* After the last line. */
void tracelog_end(struct tracelog_log *log);

#endif
