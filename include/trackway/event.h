/* event.h - the event model that all formats share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACKWAY_EVENT_H
#define TRACKWAY_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include <trackway/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The kinds of event. The columns say what `value`, `id` and `other` of struct tw_event hold; "-" is 0.
 *
 * X(name, text, value, id, other) */
#define TW_EVENT_LIST(X)                                                                                               \
	X(TW_SLICE_BEGIN, "slice-begin", "-", "-", "-")                                                                \
	X(TW_SLICE_END, "slice-end", "-", "-", "-")                                                                    \
	X(TW_SLICE_COMPLETE, "slice-complete", "duration in ns", "-", "-")                                             \
	X(TW_INSTANT, "instant", "-", "-", "-")                                                                        \
	X(TW_COUNTER, "counter", "-", "counter id", "-") /* one argument a series */                                   \
	X(TW_ASYNC_BEGIN, "async-begin", "-", "async id", "-")                                                         \
	X(TW_ASYNC_INSTANT, "async-instant", "-", "async id", "-")                                                     \
	X(TW_ASYNC_END, "async-end", "-", "async id", "-")                                                             \
	X(TW_FLOW_BEGIN, "flow-begin", "-", "flow id", "-")                                                            \
	X(TW_FLOW_STEP, "flow-step", "-", "flow id", "-")                                                              \
	X(TW_FLOW_END, "flow-end", "-", "flow id", "enum tw_flow_binding")                                             \
	X(TW_SWITCH, "switch", "state of the thread that leaves", "-", "track of the thread that comes")               \
	X(TW_WAKEUP, "wakeup", "-", "-", "track of the thread that wakes it, or 0") /* its koid: argument "waker" */   \
	X(TW_STACK_SAMPLE, "stack-sample", "sampling ticks", "wall time in ns that it stands for", "stack")            \
	X(TW_CPU_SAMPLE, "cpu-sample", "CPU time in ns", "-", "stack") /* part of what a thread used since the last */ \
	X(TW_ALLOCATION_SAMPLE, "allocation-sample", "bytes", "count", "stack") /* the name is the class */            \
	X(TW_LOG, "log", "severity", "-", "-") /* the message is the first argument */                                 \
	X(TW_OBJECT, "object", "object type", "koid or pointer", "track of the thread that tells it, or 0")            \
	X(TW_BLOB, "blob", "size in bytes", "blob type", "part") /* the bytes are the first argument */                \
	X(TW_INSTRUCTIONS, "instructions", "count of instructions", "address of the first", "-")                       \
	X(TW_LOST, "lost", "size of the gap in bytes", "-", "-")                                                       \
	X(TW_METADATA, "metadata", "1: of no time", "-", "-")

enum tw_event_kind {
#define X(name, text, value, id, other) name,
	TW_EVENT_LIST(X)
#undef X
	    TW_EVENT_KINDS /* how many there are */
};

/* Which part of a blob it is whose bytes come in several, where the file is known to have all of them: `other` of
 * TW_BLOB, otherwise 0. */
enum tw_blob_part { TW_BLOB_FIRST_PART = 1, TW_BLOB_LATER_PART = 2 };

/* Where a flow ends: in the slice around its end, or in the next one of its track, which may begin just then. It
 * begins, and goes on, in the slice around. */
enum tw_flow_binding { TW_FLOW_ENCLOSING, TW_FLOW_NEXT };

/* What `flags` of an event may hold. */
enum tw_event_flag {
	TW_FLAG_TAIL = 1,     /* slice end: left by a tail call */
	TW_FLAG_CLIPPED = 2,  /* slice begin or end made at the edge of a time window */
	TW_FLAG_PROCESS = 4,  /* instant: of the process, not of the thread (FXT scope) */
	TW_FLAG_OPEN = 4,     /* complete slice that was made of its begin: there is no end, it lasts to the last event
	                         of its track (options.complete_slices) */
	TW_FLAG_GLOBAL = 8,   /* instant: of the whole system (FXT scope); async: the id is one of all processes */
	TW_FLAG_PARTIAL = 16, /* blob, metadata: more of the same bytes follow */
	TW_FLAG_UNCERTAIN =
	    16, /* slice, instant: damage follows its record at once, or its time is counted on over it */
	TW_FLAG_USERSPACE = 32, /* object: of a process, known by a pointer; otherwise the kernel's */
	TW_FLAG_UNWOUND = 64,   /* complete slice: ended by the end of one around it (Trackway's own JSON tells) */
	TW_FLAG_MORE = 128      /* its record tells more: words behind what is known, or an unknown scope (FXT) */
};

/* One event: 56 bytes, a row of a batch. Times are nanoseconds of the trace's own clock; subtract tw_reader_clock()'s
 * start_ns for the time since the start of the trace. Names, categories and tracks are numbers of the reader's
 * dictionary; 0 is none. The end of a slice ends the innermost of its name that is open on its track, and what is
 * inside with it; one without a name ends the innermost. */
struct tw_event {
	uint64_t time;
	uint64_t offset; /* of the record that it came from, in bytes from the start of the (decompressed) file */
	uint64_t value;  /* by kind: TW_EVENT_LIST */
	uint64_t id;     /* by kind */
	uint32_t track;
	uint32_t name;
	uint32_t category;
	uint32_t other;          /* by kind: a track or a stack */
	uint16_t first_argument; /* index into the batch's arguments */
	uint8_t argument_count;
	uint8_t kind; /* enum tw_event_kind */
	uint16_t cpu; /* where known (tw_clock's has_cpu), else 0 */
	uint8_t flags;
	uint8_t provider; /* whose record it came from: a number of the dictionary; 0 where the format does not tell */
};

enum tw_argument_type {
	TW_ARG_NULL,
	TW_ARG_BOOL,    /* u */
	TW_ARG_INT,     /* i */
	TW_ARG_UINT,    /* u */
	TW_ARG_POINTER, /* u: shown in hexadecimal */
	TW_ARG_KOID,    /* u: a kernel object's number */
	TW_ARG_DOUBLE,  /* d */
	TW_ARG_TEXT,    /* bytes, size: not terminated, not checked to be UTF-8 */
	TW_ARG_BYTES    /* bytes, size */
};

/* One named value of an event. Bytes are borrowed until the next tw_read() on the same reader. */
struct tw_argument {
	uint32_t name; /* of the dictionary */
	uint8_t type;  /* enum tw_argument_type */
	uint8_t reserved;
	uint16_t raw; /* bytes of a type that no reader of their format knows: not 0, and the format's; else 0 */
	union {
		int64_t i;
		uint64_t u;
		double d;
		const uint8_t *bytes;
	} value;
	uint32_t size;     /* of bytes; of a pointer or koid: the name of its object, by number, 0 if not known */
	uint32_t raw_more; /* with raw: what else the format needs to write the bytes again as they were */
};

/* What tw_read() delivers: some hundred rows. Borrowed until the next call on the same reader. */
struct tw_batch {
	const struct tw_event *events;
	size_t count;
	const struct tw_argument *arguments;
};

/* Returns the arguments of an event of a batch; NULL where it has none. */
TW_API inline const struct tw_argument *tw_event_arguments(const struct tw_batch *batch, const struct tw_event *event)
{
	return event->argument_count ? batch->arguments + event->first_argument : NULL;
}

/* Returns the name of a kind as TW_EVENT_LIST has it, NULL for a number that is no kind. */
TW_API const char *tw_event_kind_name(unsigned kind);

/* Returns what a blob type is called, as FXT has them: 1 "data", 2 "last-branch", 3 "perfetto"; NULL for others. */
TW_API const char *tw_blob_type_name(uint64_t type);

/* ---- The dictionary: names, tracks and stacks. It only grows, and lives as long as its reader; a name, a track or a
 * location may become better known as more is read. ---- */

struct tw_dictionary;

/* A name: text of an event, a function, a category, an argument. */
struct tw_name {
	const char *text; /* terminated, never NULL; may hold any bytes, a NUL too */
	size_t length;
	uint64_t id;      /* the format's own number of it (XRay: the function id); 0 where there is none */
	const char *file; /* functions: the source file, NULL where not known */
	uint32_t line;    /* functions: the source line, 0 where not known */
	uint32_t owner;   /* functions: the name of the class that it belongs to; 0 where not known */
	uint32_t module;  /* functions and classes: the name of the module; 0 where not known */
};

enum tw_track_kind { TW_TRACK_THREAD, TW_TRACK_PROCESS, TW_TRACK_CPU, TW_TRACK_OTHER };

/* A track: the line of a viewer that events stand on. */
struct tw_track {
	uint64_t process; /* process id; 0 where the format does not tell, or process 0 where that has a track, too */
	uint64_t thread;  /* thread id, or number of the CPU; 0xffffffff7fffffff: a thread that the trace has "?" for */
	uint32_t name;    /* of the dictionary, 0 where there is none */
	enum tw_track_kind kind;
};

/* Returns the name of a number. Numbers that were never given out read as the empty name. Never NULL. */
TW_API const struct tw_name *tw_dictionary_name(const struct tw_dictionary *dictionary, uint32_t name);

/* Returns how many names there are: valid numbers are less than this. Number 0 is the empty name. */
TW_API uint32_t tw_dictionary_names(const struct tw_dictionary *dictionary);

/* Returns the track of a number; numbers that were never given out read as number 0: of no process and no thread, of
 * the kind TW_TRACK_OTHER. Never NULL. */
TW_API const struct tw_track *tw_dictionary_track(const struct tw_dictionary *dictionary, uint32_t track);

/* Returns the name of a process; the empty name where the trace does not tell it, or not yet. Never NULL. */
TW_API const struct tw_name *tw_dictionary_process_name(const struct tw_dictionary *dictionary, uint64_t process);

/* Returns the name of a thread; the empty name where the trace does not tell it, or not yet. Never NULL. */
TW_API const struct tw_name *tw_dictionary_thread_name(const struct tw_dictionary *dictionary, uint64_t process,
                                                       uint64_t thread);

/* Returns how many tracks there are: valid numbers are less than this. Number 0 is the track of what has none. */
TW_API uint32_t tw_dictionary_tracks(const struct tw_dictionary *dictionary);

/* A provider: one of the programs that wrote an archive of several (FXT). */
struct tw_provider {
	uint64_t id;               /* in the archive */
	uint64_t ticks_per_second; /* 0 where it is not known */
	uint32_t name;             /* of the dictionary, 0 where there is none */
};

enum { TW_PROVIDERS_MAX = 255 };

/* Returns the provider of a number; numbers that were never given out read as one of which nothing is known. Never
 * NULL. */
TW_API const struct tw_provider *tw_dictionary_provider(const struct tw_dictionary *dictionary, uint32_t provider);

/* Returns how many providers there are: valid numbers are less than this. Number 0 is that of what has none, and of
 * those beyond TW_PROVIDERS_MAX. */
TW_API uint32_t tw_dictionary_providers(const struct tw_dictionary *dictionary);

/* A place in a program that stacks lead through. */
struct tw_location {
	uint32_t name;    /* of the function */
	uint32_t file;    /* the name of the source file, or of the place in the function; 0 where not known */
	uint32_t line;    /* of the source; 0 where not known */
	uint64_t address; /* of the instruction, or the format's number of the place; 0 where not known */
};

/* A stack: the location of its innermost frame, and the stack below that called it. Stacks that are alike have one
 * number. */
struct tw_stack {
	uint32_t caller;   /* less than the stack's own number; 0, the empty stack, for the outermost frame */
	uint32_t location; /* of the innermost frame */
	uint32_t depth;    /* frames; 0: the empty stack */
};

/* Returns the stack of a number; numbers that were never given out read as the empty stack. Never NULL. */
TW_API const struct tw_stack *tw_dictionary_stack(const struct tw_dictionary *dictionary, uint32_t stack);

/* Returns how many stacks there are: valid numbers are less than this. Number 0 is the empty stack. */
TW_API uint32_t tw_dictionary_stacks(const struct tw_dictionary *dictionary);

/* Returns the location of a number; numbers that were never given out read as one of which nothing is known. Never
 * NULL. */
TW_API const struct tw_location *tw_dictionary_location(const struct tw_dictionary *dictionary, uint32_t location);

#ifdef __cplusplus
}
#endif

#endif
