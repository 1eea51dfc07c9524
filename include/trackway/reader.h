/* reader.h - opening a trace and pulling events or records out of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACKWAY_READER_H
#define TRACKWAY_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <trackway/event.h>
#include <trackway/finding.h>
#include <trackway/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In which order events are delivered. Those of one time of a track stand as in the file; but in the first two orders
 * the longest of complete slices comes first, because it contains the others, unless a slice begins or ends between
 * them. */
enum tw_order {
	/* Each track's events in time order; how tracks interleave is the format's choice (the fastest). */
	TW_ORDER_TRACK,
	TW_ORDER_TIME, /* all events in time order; a track whose clock goes back keeps its own order */
	TW_ORDER_FILE, /* as the records stand in the file: no index, no second pass, no temporary file */
	/* The one of these in which the format's events are best written in it again: nothing is sorted that was
	 * not. */
	TW_ORDER_COPY
};

/* How much is verified. */
enum tw_checking {
	TW_CHECK_DAMAGE, /* what stops records from being read */
	TW_CHECK_ALL     /* every rule of the format */
};

/* Addresses: from start to before end. */
struct tw_range {
	uint64_t start, end;
};

/* Gives names to the numbers that a trace holds, for example from a program's symbols (trackway/symbols.h makes one).
 * `name` fills *function and returns 1, or returns 0 when it does not know the number; `address` does so for the
 * function that holds an address, and tells its range: traces of instructions (xtrace) have addresses. Either may be
 * NULL. The texts must live until the reader is closed. */
struct tw_namer {
	int (*name)(void *context, uint64_t id, struct tw_name *function);
	void *context;
	int (*address)(void *context, uint64_t address, struct tw_name *function, struct tw_range *range);
};

/* The namers of threads whose programs lie at the same addresses as others. `find` returns the one of a thread, and the
 * number of its program, from 1, which threads of one program share; or NULL: that of the options is its. They live
 * until the reader is closed. */
struct tw_thread_namers {
	const struct tw_namer *(*find)(void *context, uint64_t thread, uint32_t *program);
	void *context;
};

struct tw_xtrace_read_options;

/* A name for a type of events that a trace tells by its number. */
struct tw_event_name {
	uint64_t type;
	const char *name;
};

/* Of struct tw_read_options. */
#define TW_ANY_THREAD UINT64_MAX
#define TW_ANY_PROCESS UINT64_MAX

enum tw_counts {
	TW_COUNTS_DEFAULT, /* those after, which a finding reports */
	TW_COUNTS_BEFORE,
	TW_COUNTS_AFTER
};

/* How to read. All zero is the default for every member: `struct tw_read_options options = {0};`. What the pointers
 * point to must live until the reader is closed. Times are nanoseconds since the start of the trace. */
struct tw_read_options {
	size_t struct_size; /* trackway/status.h */
	const char *format; /* name of the format; NULL: found from the bytes */
	enum tw_order order;
	enum tw_checking checking;
	/* The caller does not look at the events: a format may leave out those that no rule needs. */
	bool findings_only;
	tw_finding_fn on_finding; /* NULL: findings are only counted */
	void *finding_context;
	const struct tw_namer *namer; /* NULL: functions are shown as numbers; trackway/symbols.h has one */
	const uint64_t *threads;      /* only these thread ids; NULL: all */
	size_t thread_count;
	/* Of which process each of these is, TW_ANY_PROCESS: of any; where a thread is TW_ANY_THREAD, all of the
	 * process, with what it has of no thread. Formats that know threads by their numbers alone look at these only.
	 * NULL: of any. */
	const uint64_t *thread_processes;
	/* Only what providers write whose name or decimal id matches this glob; NULL: all. For formats with
	 * providers (fxt): others are not opened. */
	const char *provider;
	/* Of slices, instants, counters, async events, flows and samples only those whose name matches this glob, as
	 * fnmatch(3) does, and samples with such a name in their stack; other kinds pass. NULL: all. */
	const char *function;
	const char *category;     /* the same for their category; what has none matches "" and "*" */
	uint64_t from_ns;         /* only what happens at or after; slices open then begin here, TW_FLAG_CLIPPED.
	                             Objects of formats that tell no time of theirs (fxt) are in every window */
	uint64_t to_ns;           /* only what happens before; 0: no end. Slices open then end here, TW_FLAG_CLIPPED */
	uint64_t min_duration_ns; /* slices shorter than this are left out, with their arguments; open ones stay */
	/* Threads for a format that reads ahead of the caller (fxt, tracelog), where findings_only reads several files
	 * at once (xtrace), and for a target of this reader that several write; 0: as many as there are processors. */
	unsigned jobs;
	/* Bytes by which records may come late and still be put in order in memory, in formats whose records are not
	 * in order (fxt, tracelog, chrome). 0: 4 MiB, or less where so many archives are merged that their windows
	 * would take more than the limit. Later ones are put in order in a temporary file (chrome). */
	uint64_t reorder_window;
	/* Ticks per second of the writer's clock, instead of what the trace tells, at most 10^12; 0: what it tells. For
	 * formats of XRay. */
	uint64_t frequency;
	/* What typed events are called, by their types; of several for one type the last. For logs of XRay. */
	const struct tw_event_name *event_names;
	size_t event_name_count;
	bool mangled; /* names of functions that a trace tells by symbols stay these (uftrace); the namer has its own */
	/* Files of traces that are read together with this one, before it: what stands in one of them, too, because a
	 * process has forked, is left out here. For formats of XRay; not looked at where records are read. */
	const char *const *before;
	size_t before_count;
	/* Which counts are taken of folded stacks whose lines have two, before and after. */
	enum tw_counts counts;
	bool names_ahead; /* events are written as they come: names that come later than they wait are looked for in the
	                       rest of a file first (tracelog). Names of functions that are filtered by always are */
	bool fold_async;  /* MoveNext of an async method has the name of the method (tracelog) */
	/* Where PDBs and Mono's .mdb are looked for, for source lines of samples, before the assembly's own folder
	 * and the assembly itself. NULL: only there (tracelog). */
	const char *pdb_folder;
	size_t memory_limit; /* bytes that tables and single records may take, any number; 0: 256 MiB */
	/* Bytes that the caller keeps of each thread beside what a profile does, which are part of the limit: there is
	 * room for so many threads less. */
	size_t thread_cost;
	bool listing; /* tw_read_record(): a format that has a line for people may give that alone, without fields */
	const struct tw_xtrace_read_options *xtrace; /* for xtrace alone: trackway/xtrace.h. NULL: its defaults */
	/* For files without a name: what must be kept of a pipe or compressed file, of more traces than are merged at
	 * once, and of what a target holds back. NULL: /tmp. */
	const char *temporary_directory;
	/* Once it is not 0, as another thread or a handler of a signal may set it, reading events ends soon, with
	 * TW_ERR_LIMIT. NULL: it goes on to the end. */
	const volatile int *stop;
	/* tw_read() gives every slice as one TW_SLICE_COMPLETE: a slice of begin and end, as soon as its end is read,
	 * with the arguments of both. So slices come in the order of their ends, and only complete ones of the trace
	 * itself when they begin. A slice that another one ended has TW_FLAG_UNWOUND; one without an end TW_FLAG_OPEN;
	 * an end without a begin is left out. Which end is whose, trackway/analysis.h says. Not for tw_write(). */
	bool complete_slices;
	/* tw_read() gives times since the start of the trace, tw_clock's start_ns being taken off; only in
	 * TW_ORDER_TRACK and TW_ORDER_TIME. Not for tw_write(). */
	bool from_start;
	/* For traces of instructions (xtrace): what comes before `namer`. NULL: nothing; trackway/symbols.h has one. */
	const struct tw_thread_namers *thread_namers;
};

/* What a trace's times are. */
struct tw_clock {
	uint64_t ticks_per_second; /* of the writer's clock; 0: not known, a tick is shown as a nanosecond */
	uint64_t start_ns; /* time of the first event: known with the first batch in TW_ORDER_TRACK and TW_ORDER_TIME,
	                              of what has been read so far with TW_ORDER_FILE */
	uint64_t end_ns;   /* time of the last event read so far */
	bool has_cpu;      /* events say on which CPU they happened */
	bool instructions; /* there is no clock: times are counts of instructions */
	bool has_wall;     /* the trace tells the wall time of a moment: known as start_ns is */
	bool since_boot;   /* has_wall: of XRay, whose wall time is CLOCK_MONOTONIC */
	/* has_wall: what to add to a time for nanoseconds since 1970, UTC, or since the system began. */
	int64_t wall_ns;
};

/* A trace that is being read. One handle, one thread at a time. */
struct tw_reader;

/* Opens a trace. *reader is set even on failure (NULL only for TW_ERR_MEMORY), so that tw_reader_error() can tell why;
 * close it in any case. path: the file, or "-" for standard input; compressed files (.gz, .zst) are recognised by
 * content. options: NULL for the defaults.
 * Returns 0, or TW_ERR_SYSTEM, TW_ERR_FORMAT, TW_ERR_EMPTY, TW_ERR_COMPRESSED, TW_ERR_MEMORY, TW_ERR_UNSUPPORTED
 * (options that the format has nothing for), TW_ERR_VALUE (no path; to_ns before from_ns; of an xtrace: a layout that
 * is none). */
TW_API int tw_open(struct tw_reader **reader, const char *path, const struct tw_read_options *options);

/* The same for bytes in memory, which must live until close. name: in messages and findings; NULL: "input". */
TW_API int tw_open_memory(struct tw_reader **reader, const char *name, const void *bytes, size_t size,
                          const struct tw_read_options *options);

/* A trace that is no file with a name. */
struct tw_stream {
	size_t struct_size; /* trackway/status.h */
	const char *name;   /* in messages and findings; NULL: "input" */
	/* Gives up to `size` bytes from where it stands. Returns how many, 0 at the end, or -errno. It may be called by
	 * other threads, but by one at a time, as seek. NULL: bytes are those of the descriptor. */
	int64_t (*read)(void *context, void *bytes, size_t size);
	/* Goes to an offset from the beginning. Returns 0 or an errno. NULL: it is read once, and forward, as a
	 * pipe. */
	int (*seek)(void *context, uint64_t offset);
	uint64_t size; /* with seek: bytes in all */
	void *context;
	int fd; /* from where it stands; it stays open, and is the caller's */
};

/* The same for bytes that functions give, or of a descriptor. */
TW_API int tw_open_stream(struct tw_reader **reader, const struct tw_stream *stream,
                          const struct tw_read_options *options);

/* Opens part number `shard` (from 0) of `shards` of an open trace that has not been read from: some of its tracks,
 * whole, and each track in just one of the parts; together they hold all. Parts may be read in different threads at
 * once; each has a dictionary of its own; findings arrive one at a time. The trace itself must stay open longer,
 * unread. *part may be set even on failure: close it in any case.
 * Returns 0, TW_ERR_UNSUPPORTED when the format or the order asked for cannot be parted, or there are too few tracks
 * for several parts, or another negative status. */
TW_API int tw_open_shard(struct tw_reader **part, struct tw_reader *whole, unsigned shard, unsigned shards);

/* How the clocks of traces that are merged are brought together. */
enum tw_alignment {
	TW_ALIGN_FIRST,  /* each trace begins at 0 */
	TW_ALIGN_NONE,   /* times are as they are in each trace */
	TW_ALIGN_WALL,   /* by wall time, which all must have, of one kind; the earliest begins at 0 */
	TW_ALIGN_MARKERS /* by events that all have: struct tw_merge_options */
};

enum { TW_MERGE_MARKERS = 2 };

/* All zero is the default. What the pointers point to must live until the reader is closed. */
struct tw_merge_options {
	size_t struct_size; /* trackway/status.h */
	enum tw_alignment alignment;
	/* TW_ALIGN_MARKERS: the names of one event, or of two. In every trace, the first event of that name is taken to
	 * happen at the time of the first trace's; with two, clocks that run at other speeds are brought to the first
	 * trace's. */
	const char *markers[TW_MERGE_MARKERS];
	/* All traces are of one machine: a process, a CPU, and a thread that a trace knows by its number alone (FXT)
	 * are the same where traces have the same number. */
	bool same_machine;
	/* A source (from 0) that is no trace: empty, of no known format, or with compression that is damaged from its
	 * beginning; and one that the user may not read. NULL: that is a failure. Otherwise it is called with what is
	 * wrong, and the source is left out; it is a failure where nothing else is left. */
	void (*on_left_out)(void *context, size_t source, const char *error);
	void *context;
};

/* Numbers that several traces have: with same_machine they are the same process, thread and CPU; otherwise those of the
 * later trace got others. */
struct tw_merge_shared {
	uint64_t processes, threads, cpus;
};

/* How the times of one trace were changed: time' = (time - pivot_ns) * scale + pivot_ns + shift_ns. */
struct tw_merge_shift {
	int64_t shift_ns;
	uint64_t pivot_ns; /* time of the first marker; otherwise of the trace's start */
	double scale;      /* 1 without a second marker */
};

struct tw_merge_source {
	const char *path;
	int64_t offset_ns; /* the trace begins by so much later; where times would be less than 0, all move on */
};

/* Opens several traces of any formats as one whose events come in time order; read it with tw_read().
 * Their dictionaries become one. A process keeps its number unless another one came before with that number: then it
 * gets another (1,000,000 more, where that is free). So does a thread of an FXT archive, which is known by its koid
 * alone, and of scheduling a CPU (1,000 more), unless all are of the same machine. Memory is that of a window over
 * each source. *merged is set as by tw_open(). options: threads, filters, findings and the namer hold for all; the
 * order is that of time. The format's name is "merged".
 * merge: NULL for the defaults. Finding markers is a look at the beginning of every source, which must be a file.
 * More than 256 sources, or than half as many as the process may have files open, are opened (in the working directory
 * of then) and read one after the other by the first tw_read(), into a file without a name in
 * options->temporary_directory, and merged from there: they may be pipes for markers, too. Their names, threads and
 * stacks have a sixth of the memory limit; what there is no room for is told as a finding, "merge.name-limit": from
 * there on new names are "(other)", and new threads are track 0.
 * Returns 0, TW_ERR_VALUE for no source, TW_ALIGN_MARKERS without markers or a marker that is not there, or what
 * tw_open() returns for the first source that cannot be opened, unless merge->on_left_out takes it. What only the
 * first tw_read() finds, that returns: TW_ERR_VALUE for a trace without wall time or with one of another kind; and
 * all this of sources that are read one after the other. */
TW_API int tw_open_merged(struct tw_reader **merged, const struct tw_merge_source *sources, size_t count,
                          const struct tw_merge_options *merge, const struct tw_read_options *options);

/* Tells how the times of source i (from 0) of a merged trace are changed, after its first tw_read(). Past the last, and
 * of a reader that merges nothing, they are not: 0 ns, 0 ns, 1. */
TW_API void tw_merged_shift(const struct tw_reader *merged, size_t i, struct tw_merge_shift *shift);

/* Tells which numbers the traces shared that have been read. Of a reader that merges nothing, none. */
TW_API void tw_merged_shared(const struct tw_reader *merged, struct tw_merge_shared *shared);

/* A reader is read once and in one way: by tw_read(), by tw_read_record(), or as a whole by one call of tw_read_info(),
 * tw_repair(), tw_transcode() or what tells about all events, such as tw_profile_add(). TW_ERR_VALUE where it was read
 * in another way, or where a whole trace is wanted and some of it was read: what that was would be missing. Of a reader
 * that could not be opened all of them are TW_ERR_VALUE, and tw_reader_error() still tells why it is not open. */

/* Pulls the next batch of events. Returns how many (> 0), 0 at the end, or a negative status. The batch lives until the
 * next call. */
TW_API int tw_read(struct tw_reader *reader, struct tw_batch *batch);

/* Closes; NULL is fine. */
TW_API void tw_close(struct tw_reader *reader);

/* One line about the last failure: file, offset, what was expected, what is there. Never NULL; lives until close. */
TW_API const char *tw_reader_error(const struct tw_reader *reader);

/* Names and tracks of the events. Lives until close. */
TW_API const struct tw_dictionary *tw_reader_dictionary(const struct tw_reader *reader);

/* The clock. Lives until close; start_ns and end_ns may change with each tw_read(). */
TW_API const struct tw_clock *tw_reader_clock(const struct tw_reader *reader);

/* Name of the format: "xray-fdr". A constant. */
TW_API const char *tw_reader_format(const struct tw_reader *reader);

/* How many findings of that severity there were so far. */
TW_API uint64_t tw_reader_findings(const struct tw_reader *reader, enum tw_severity severity);

/* ---- The records themselves, as the format has them. ---- */

enum tw_field_type {
	TW_FIELD_UINT,
	TW_FIELD_INT,
	TW_FIELD_HEX,    /* u, shown in hexadecimal on a terminal */
	TW_FIELD_NS,     /* u: nanoseconds since the start of the trace */
	TW_FIELD_TEXT,   /* bytes, size: not terminated */
	TW_FIELD_BYTES,  /* bytes, size */
	TW_FIELD_BOOL,   /* u */
	TW_FIELD_DOUBLE, /* d */
	TW_FIELD_NULL,   /* no value */
	TW_FIELD_ARRAY,  /* fields, size: how many; their names are NULL */
	TW_FIELD_OBJECT  /* fields, size: how many */
};

struct tw_field {
	const char *name; /* the specification's, in snake_case */
	enum tw_field_type type;
	union {
		int64_t i;
		uint64_t u;
		double d;
		const char *bytes;
		const struct tw_field *fields;
	} value;
	size_t size; /* of bytes or fields */
};

/* One record. Borrowed until the next call on the same reader. */
struct tw_record {
	const char *kind; /* "function.enter": constant, stable */
	uint64_t offset;  /* of its first byte */
	uint64_t size;    /* in bytes, with payload */
	const struct tw_field *fields;
	size_t field_count;
	const char *text; /* the record as a line for people, of text_size; NULL: its fields, one after the other */
	size_t text_size;
};

/* Pulls the next record: with TW_ORDER_FILE in file order, unless options ask for threads, times or functions; with
 * other orders a format that keeps threads apart (XRay) gives all of one thread before those of the next. Returns 1, 0
 * at the end, or a negative status. */
TW_API int tw_read_record(struct tw_reader *reader, struct tw_record *record);

/* ---- What is in the trace. ---- */

struct tw_kind_count {
	const char *kind; /* constant */
	uint64_t count;
};

struct tw_thread_info {
	uint64_t process, thread;
	uint64_t records, bytes;
	uint64_t start_ns, end_ns; /* since the start of the trace */
	uint64_t os_thread;        /* the system's number, where `thread` is another one; 0: not known */
};

/* A list that only some formats have: the providers of an archive, its categories. */
struct tw_info_list {
	const char *name;              /* "providers": a constant */
	const struct tw_field *fields; /* rows of `columns` fields each, one row after the other; names are constants */
	size_t columns, rows;
};

/* Borrowed from the reader until close. Times are since the start of the trace, but clock_start_ns. */
struct tw_info {
	const char *format; /* constant */
	unsigned version;
	uint64_t bytes; /* of the (decompressed) file */
	uint64_t records;
	uint64_t events; /* UINT64_MAX: not known without reading them one by one (tracelog, xtrace) */
	uint64_t processes;
	uint64_t clock_start_ns;           /* the start of the trace on its clock, as a rule its first event */
	uint64_t span_ns;                  /* from there to the end of the last event */
	uint64_t lost_bytes;               /* that no record could be read from */
	const struct tw_kind_count *kinds; /* only those that occur */
	size_t kind_count;
	const struct tw_thread_info *threads;
	size_t thread_count;
	const struct tw_field *fields; /* what only this format has: names are constants */
	size_t field_count;
	const struct tw_info_list *lists;
	size_t list_count;
};

/* Reads the whole trace and tells what is in it, with `jobs` threads (0: as many as there are processors). Returns 0
 * or a negative status. */
TW_API int tw_read_info(struct tw_reader *reader, unsigned jobs, struct tw_info *info);

/* ---- The formats. ---- */

/* Returns the name of format number i (from 0), NULL past the last. */
TW_API const char *tw_format_name(size_t i);

/* Returns one line about a format, or NULL when there is none of that name. */
TW_API const char *tw_format_title(const char *name);

/* Returns rule number i of a format (from 0), NULL past the last or when there is no format of that name. */
TW_API const struct tw_rule *tw_format_rule(const char *name, size_t i);

#ifdef __cplusplus
}
#endif

#endif
