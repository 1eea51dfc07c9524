/* uftrace.h - uftrace's data directory: its header, tasks, symbols, and the records of each thread. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UFTRACE_UFTRACE_H
#define UFTRACE_UFTRACE_H

#include "base/memory/cover.h"
#include "base/memory/map.h"
#include "core/filter/wanted.h"
#include "core/format.h"
#include "core/text/lines.h"
#include "uftrace/rules.h"

extern const struct tw_format tw_format_uftrace;

enum {
	UFTRACE_RECORD_SIZE = 16,
	UFTRACE_WORD = 8,
	UFTRACE_ROWS = 256,
	UFTRACE_LINE_MOST = 1 << 16,
	UFTRACE_CPUS = 1 << 13,      /* as many as Linux can have */
	UFTRACE_NAME_BYTES = 128,    /* of a name beside its text */
	UFTRACE_DATA_MOST = 1 << 12, /* bytes behind a record */
	UFTRACE_ARGUMENTS = 16,      /* arguments of a function, at most */
	UFTRACE_STORE = 1 << 16      /* bytes of arguments of a batch */
};

/* ---- directory.c: the files of a directory. ---- */

/* dir/name, to be freed; NULL when there is no memory. */
char *uftrace_path(const char *directory, const char *name);

/* Whether a file of the directory can be read; what cannot is reported. Returns 1, 0, or TW_ERR_MEMORY. */
int uftrace_can_read(struct tw_reader *reader, const char *name);

/* Opens a file of the directory; *input is NULL where there is none. Returns 0 or a negative status. */
int uftrace_open_file(struct tw_reader *reader, const char *name, struct tw_input **input);

/* The same for a file that the trace can do without: where it cannot be read, that is reported, and it tells nothing.
 * *found: there is such a file. */
int uftrace_open_side(struct tw_reader *reader, const char *name, struct tw_input **input, bool *found);

/* Gives each line of a text file, terminated and without its end, to a function; a false from it is a line that cannot
 * be read. *found tells whether there is such a file. Returns 0 or a negative status. */
typedef bool uftrace_take_line_fn(void *context, char *line);
int uftrace_read_lines(struct tw_reader *reader, const char *name, uftrace_take_line_fn *take, void *context,
                       bool *found);

/* Calls a function with each name in the directory. Returns 0 or a negative status. */
int uftrace_list(struct tw_reader *reader, int (*take)(struct tw_reader *reader, const char *name));

/* Whether the memory limit has room for so many bytes more; they are taken then. */
bool uftrace_fits(const struct tw_reader *reader, size_t more);

/* Bytes read at a time: in the order of time all files are open. */
size_t uftrace_chunk(const struct tw_reader *reader);

bool uftrace_claims(const char *path);
bool uftrace_holds(const char *name);

/* ---- symbols.c: what the functions at addresses are called. ---- */

struct uftrace_symbol {
	uint64_t address; /* from the start of the module; of old data, as it stands in memory */
	uint32_t text;    /* where its name is in the module's texts; UINT32_MAX: a gap begins */
};

/* A program or library. */
struct uftrace_module {
	char *path;
	struct uftrace_symbol *symbols; /* by address */
	size_t count, room;
	char *texts;
	size_t text_size, text_room;
	bool loaded;
};

/* Where a module lies in a process. */
struct uftrace_mapping {
	uint64_t start, end, base;
	uint32_t module;
};

/* What a process was from an exec on; or from when on it had opened a library. */
struct uftrace_session {
	char id[17];
	uint64_t process, time;
	uint32_t program; /* its name; of a library 0 */
	struct uftrace_mapping *mappings;
	size_t count, room;
	struct tw_edge *edges; /* of the mappings */
	size_t edge_count;
	bool loaded;
	uint32_t under; /* of a library: the session that it came to; otherwise UINT32_MAX */
	uint64_t base;  /* its base address */
	uint32_t module;
	unsigned libraries; /* how many libraries are under it */
};

/* When a session began, in the order in which they are looked for. */
struct uftrace_begin {
	bool of_library;
	uint64_t group; /* the process; of a library the session that was started */
	uint64_t time;
	uint32_t session; /* the last one of its group that task.txt tells and that had begun then */
};

struct uftrace_symbols {
	struct uftrace_module *modules;
	size_t module_count, module_room;
	struct tw_map module_numbers;     /* by hash of the path */
	struct uftrace_session *sessions; /* as task.txt has them */
	size_t session_count, session_room;
	struct uftrace_begin *begins; /* as many */
	struct tw_map last_sessions;  /* by id: the last session of that id */
	struct uftrace_module kernel; /* kallsyms */
	struct tw_map names;          /* address and session to name */
	size_t used;                  /* bytes of all this, about */
	size_t demangle_budget;       /* bytes of names that may still be made of symbols */
	bool full;
	bool failed; /* no memory: sessions or modules are missing */
};

/* A session that task.txt tells. Returns false when there is no memory. */
bool uftrace_add_session(struct uftrace_symbols *symbols, const char *id, uint64_t process, uint64_t time);

/* A library that task.txt tells. Returns false when there is no session, no room or no memory. */
bool uftrace_add_library(struct tw_reader *reader, const char *id, uint64_t time, uint64_t base, const char *path);

/* Returns the number of a file by its path; UINT32_MAX when there is no memory. */
uint32_t uftrace_module_of(struct uftrace_symbols *symbols, const char *path);

/* Makes sessions and libraries ready to be looked for, once all are there. Returns false when there is no memory. */
bool uftrace_sort_sessions(struct uftrace_symbols *symbols);

/* Returns the session that a process had at a time, or UINT32_MAX. *until is lowered to the begin of its next session,
 * where that is earlier. */
uint32_t uftrace_session_at(const struct uftrace_symbols *symbols, uint64_t process, uint64_t time, uint64_t *until);

/* The same session with all libraries that had been opened in it. */
uint32_t uftrace_libraries_at(const struct uftrace_symbols *symbols, uint32_t number, uint64_t time, uint64_t *until);

/* The name of the function at an address, in a session or in the kernel. UINT32_MAX when there is no memory. */
#define UFTRACE_KERNEL (UINT32_MAX - 1)
uint32_t uftrace_name(struct tw_reader *reader, uint32_t session, uint64_t address);

void uftrace_symbols_free(struct uftrace_symbols *symbols);

/* ---- records.c: the records of one thread. ---- */

struct uftrace_task;

enum uftrace_type {
	UFTRACE_ENTRY,
	UFTRACE_EXIT,
	UFTRACE_LOSS,
	UFTRACE_EVENT,
	UFTRACE_SCHED_IN, /* of perf.c */
	UFTRACE_SCHED_OUT,
	UFTRACE_KERNEL_ENTRY, /* of kernel.c */
	UFTRACE_KERNEL_EXIT,
	UFTRACE_KERNEL_EVENT,
	UFTRACE_GAP,
	UFTRACE_TASK_END, /* no record: the thread has ended, and with it what it had not left */
	UFTRACE_TYPES
};

struct uftrace_record {
	enum uftrace_type type;
	uint64_t time;
	uint64_t address; /* of an event its number, of a loss how many records */
	unsigned depth;
	unsigned cpu; /* of a switch, and of the kernel; that a thread left it, but could have gone on: */
	bool preempted;
	bool more;   /* data follows */
	bool kernel; /* it is of kernel.c; what its data is: */
	const struct uftrace_kernel_event *event;
	uint64_t offset;
	uint64_t size;       /* with its data */
	const uint8_t *data; /* arguments or a value, as they stand; lives until the next record */
	size_t data_size;
};

struct uftrace_cursor {
	struct tw_reader *reader;
	const char *file;          /* the path, in findings */
	struct uftrace_task *task; /* NULL: what data is by specifications is not looked up */
	struct tw_input *input;
	struct tw_window window;
	uint64_t next;
	uint64_t time;  /* of the last record */
	unsigned depth; /* how many functions are open after it */
	bool timed, ended;
	uint64_t lost_bytes;
};

int uftrace_cursor_open(struct uftrace_cursor *cursor, struct tw_reader *reader, const char *file);

/* Says whose records these are: a forked process goes on at the depth of its parent. */
void uftrace_cursor_own(struct uftrace_cursor *cursor, struct uftrace_task *task);

void uftrace_cursor_close(struct uftrace_cursor *cursor);

/* Gives the next record. What is no record is a gap, which was reported. Returns 1, 0 at the end, or a negative
 * status. */
int uftrace_cursor_next(struct uftrace_cursor *cursor, struct uftrace_record *record);

/* ---- specifications.c, arguments.c: what functions were given and returned. ---- */

/* What the data behind a function's records is. */
struct uftrace_spec {
	char *name, *text; /* of the function, and what is behind it */
	size_t order;      /* the order in which they were told */
};

struct uftrace_specs {
	struct uftrace_spec *items;
	size_t count, room;
	bool sorted; /* by name */
};

/* Adds specifications, "strlen@arg1/s;strlen@retval/u". False when there is no memory. */
bool uftrace_add_specs(struct tw_reader *reader, const char *text, size_t size);

/* The same of a line of NAME.dbg about a function: "A: @arg1/p%rdi,arg2%rsi" or "R: @retval"; others are none. */
bool uftrace_take_debug_line(struct tw_reader *reader, const struct tw_text *function, const char *line);

/* How many bytes the data behind a record has, by what is said of it: up to UFTRACE_SIZES possible sizes, the first to
 * be tried first. Returns how many, or a negative status. task: may be NULL, then nothing is said of functions. */
enum { UFTRACE_SIZES = 8 };
int uftrace_data_sizes(struct tw_reader *reader, struct uftrace_task *task, const struct uftrace_record *record,
                       const uint8_t *data, size_t have, size_t sizes[UFTRACE_SIZES]);

/* The values in the data of a function's record, which `data` is a copy of that lives as long as they. Returns how
 * many, at most UFTRACE_ARGUMENTS; 0 where there are none or no specification fits; or a negative status. */
int uftrace_arguments(struct tw_reader *reader, uint32_t function, const struct uftrace_record *record,
                      const uint8_t *data, struct tw_argument *arguments);

/* What uftrace calls an event of its own; NULL: it is none. */
const char *uftrace_built_in_event(uint64_t number);

void uftrace_specs_free(struct uftrace_specs *specs);

/* ---- tasks.c: who ran. ---- */

/* A thread of which there are records. */
struct uftrace_task {
	uint64_t thread, process;
	uint64_t parent;          /* of a forked process the one that it comes from; otherwise 0 */
	uint64_t born;            /* time that task.txt tells; 0 where it does not */
	uint64_t ended;           /* time that perf tells; 0 where it does not, and once that has been given */
	uint64_t until;           /* the session holds for times before it; 0: none was looked up */
	uint32_t session;         /* UINT32_MAX: none */
	uint32_t inherited;       /* of a forked process its parent's session then; UINT32_MAX: none */
	uint64_t inherited_until; /* a later time may tell another */
	char *file;               /* NULL: none of its records are there */
	uint32_t name;            /* of the thread; 0: not known */
	uint32_t track;
	bool shown;     /* options let it through */
	bool lost;      /* records of it are missing */
	uint32_t *open; /* functions that have begun and not ended, by depth; 0: their begin is missing */
	size_t open_count, open_room;
	struct uftrace_cursor cursor;
	struct uftrace_record record; /* the next one */
};

/* ---- perf.c: when threads got a CPU and left it. kernel.c: what the kernel did for them. ---- */

/* A file of a CPU. */
struct uftrace_cpu {
	unsigned number;
	bool kernel; /* of kernel.c; otherwise of perf.c */
	char *file;
	struct tw_input *input;
	struct tw_window window;
	uint64_t next;                /* record, or page */
	struct uftrace_record record; /* the next one, and whose it is */
	struct uftrace_task *task;
	/* In kernel.c. */
	uint64_t page;  /* the offset of this one; in it: */
	size_t at, end; /* of its records */
	uint64_t time;
	uint64_t missed; /* records before the next one; UINT64_MAX: some */
};

/* Takes a file by its name. Returns 0 or a negative status. */
int uftrace_add_cpu(struct tw_reader *reader, const char *name);

/* Reads the names of threads in all files. Returns 0 or a negative status. */
int uftrace_read_names(struct tw_reader *reader);

int uftrace_cpu_open(struct tw_reader *reader, struct uftrace_cpu *cpu);
void uftrace_cpu_close(struct uftrace_cpu *cpu);

/* Goes to the next record of a thread that is shown. Returns 1, 0 at the end, or a negative status. */
int uftrace_cpu_next(struct tw_reader *reader, struct uftrace_cpu *cpu);
int uftrace_kernel_next(struct tw_reader *reader, struct uftrace_cpu *cpu);

/* ---- kernel_header.c: what the records of the kernel hold. ---- */

enum { UFTRACE_PIDS = 3 };

enum uftrace_field_kind {
	UFTRACE_FIELD_UINT,
	UFTRACE_FIELD_INT,
	UFTRACE_FIELD_POINTER,
	UFTRACE_FIELD_TEXT,
	UFTRACE_FIELD_BYTES,
	UFTRACE_FIELD_PLACED_TEXT, /* the field has offset and size of a text behind it */
	UFTRACE_FIELD_PLACED
};

struct uftrace_kernel_field {
	uint32_t name;
	uint16_t at, size; /* in the data; size 0: there is none */
	enum uftrace_field_kind kind;
};

struct uftrace_kernel_event {
	enum uftrace_type type;
	uint32_t name;
	size_t first, count;                            /* of the fields that are arguments */
	struct uftrace_kernel_field pids[UFTRACE_PIDS]; /* of the thread that the event is of, or is about */
	struct uftrace_kernel_field function, depth;
};

struct uftrace_kernel {
	struct uftrace_kernel_event *events;
	size_t event_count, event_room;
	struct tw_map numbers; /* of events */
	struct uftrace_kernel_field *fields;
	size_t field_count, field_room;
	size_t page_size, data_at, long_size;
	bool little;
	bool known; /* what pages are made of */
	uint32_t category;
};

/* Returns 0 or a negative status; kernel.known tells whether the file tells what is needed. */
int uftrace_read_kernel_header(struct tw_reader *reader);

void uftrace_kernel_free(struct uftrace_kernel *kernel);

/* As uftrace_arguments(), for an event of the kernel. */
int uftrace_kernel_arguments(const struct tw_reader *reader, const struct uftrace_record *record, const uint8_t *data,
                             struct tw_argument *arguments);

/* ---- places.c: which records the filters let through. ---- */

/* The offset of a record's event: in the thread's file. Those of the kernel's, one for each CPU, are told apart by bits
 * above them. */
uint64_t uftrace_offset(const struct uftrace_record *record);

/* Where the record of an event is, all files being one behind the other. uftrace_open_wanted() comes before. */
uint64_t uftrace_place(const struct tw_reader *reader, const struct tw_event *event);

/* With a filter finds out which records it lets through, once. Returns 0 or a negative status. */
int uftrace_open_wanted(struct tw_reader *reader);

/* ---- reader.c: what all this is read as. ---- */

/* The file "info". Written by format.c. */
struct uftrace_header {
	uint64_t features;
	unsigned version;
	struct tw_text texts[3]; /* exename, cmdline, record_date */
};

/* Written by tasks.c. */
struct uftrace_tasks {
	struct uftrace_task *items;
	size_t count, room;
	struct tw_map numbers;     /* by thread */
	struct tw_map event_names; /* by number */
	bool reported_not_read, reported_events;
	bool left_out; /* a thread: there was no room for it */
	bool failed;   /* no memory for what a line tells */
};

/* Written by perf.c. */
struct uftrace_cpus {
	struct uftrace_cpu *items; /* by number */
	size_t count, room;
	uint32_t nobody; /* the track that has a CPU when no thread has it */
};

/* The order of records. Written by reader.c. */
struct uftrace_order {
	bool begun;
	size_t current; /* task, in TW_ORDER_TRACK, and behind all tasks the CPUs */
	uint32_t *heap; /* the same by the time of their next record, the earliest first */
	size_t heap_count;
};

/* A record that waits until functions that it tells to be over have ended. Written by reader.c. */
struct uftrace_waiting {
	bool any;
	struct uftrace_task *task;
	struct uftrace_record record;
	uint32_t name;
};

/* Written by reader.c. */
struct uftrace_batch {
	struct tw_event events[UFTRACE_ROWS];
	struct tw_argument arguments[UFTRACE_ROWS * UFTRACE_ARGUMENTS];
	size_t argument_count;
	uint8_t bytes[UFTRACE_STORE]; /* data of the records */
	size_t byte_count;
};

struct uftrace_reader {
	struct uftrace_header header;
	struct uftrace_symbols symbols; /* symbols.c, sessions.c */
	struct uftrace_specs specs;     /* specifications.c */
	struct uftrace_kernel kernel;   /* kernel_header.c */
	struct uftrace_tasks tasks;
	struct uftrace_cpus cpus;
	struct uftrace_order order;
	struct uftrace_waiting waiting;
	struct uftrace_batch batch;
	uint64_t lost; /* bytes of closed files; reader.c */
	struct {
		struct tw_field fields[7], values[UFTRACE_ARGUMENTS];
	} shown; /* a record, field by field; reader.c */
	struct {
		struct tw_kind_count kinds[UFTRACE_TYPES];
		struct tw_thread_info *threads;
		struct tw_field fields[4];
	} sums; /* the directory in sum; reader.c */
	struct {
		struct tw_wanted *wanted; /* the records that the filter lets through, by their places */
		uint64_t *begins;         /* of the records of each file */
	} places;                         /* with a filter; places.c */
};

static inline struct uftrace_reader *uftrace_of(const struct tw_reader *reader)
{
	return reader->state;
}

/* Reads task.txt, events.txt and the names that perf saw, and finds the records of each thread. */
int uftrace_read_tasks(struct tw_reader *reader);

/* Tells all tasks, which are sorted by birth, what they have of their parents. */
void uftrace_inherit_sessions(struct uftrace_reader *uftrace);

/* The session of a task at a time; times do not go back. */
uint32_t uftrace_session_of(const struct uftrace_reader *uftrace, struct uftrace_task *task, uint64_t time);

/* The task of a track, which has a file of its own: tracks are made of the tasks, in their order. */
static inline size_t uftrace_member(const struct tw_reader *reader, uint32_t track)
{
	const struct uftrace_tasks *tasks = &uftrace_of(reader)->tasks;
	return tasks->count ? track - tasks->items[0].track : 0;
}

int uftrace_read(struct tw_reader *reader, struct tw_batch *batch);
int uftrace_read_record(struct tw_reader *reader, struct tw_record *record);
int uftrace_info(struct tw_reader *reader, unsigned jobs, struct tw_info *info);

#endif
