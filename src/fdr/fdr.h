/* fdr.h - XRay logs inside the library: the log, its buffers, and a cursor over a buffer's records. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FDR_FDR_H
#define FDR_FDR_H

#include "base/memory/map.h"
#include "base/text/utf8.h"
#include "core/calls/open_slices.h"
#include "core/format.h"
#include "core/ticks.h"
#include "fdr/layout.h"
#include "fdr/rules.h"

#include <trackway/fdr.h>

#include <stdatomic.h>

#define FDR_BASIC_NAME "xray-basic"

extern const struct tw_format tw_format_fdr;
extern const struct tw_format tw_format_basic;
extern const struct tw_target tw_target_fdr;
extern const struct tw_target tw_target_basic;

/* What is known of a buffer from where it stands and the records it begins with. The buffers of a log in file order
 * cover it without a gap, but for headers of other logs: bytes between `end` and `next` belong to none. */
struct fdr_buffer {
	uint64_t offset;  /* of its first record */
	uint64_t end;     /* its records end here at the latest */
	uint64_t next;    /* the next buffer begins here */
	uint64_t wall_us; /* of its WallTime record, UINT64_MAX where there is none or it is 0 */
	uint64_t tsc;     /* of its first NewCPUId record, UINT64_MAX where there is none */
	uint64_t process, thread;
	bool has_thread;      /* false: bytes that belong to no buffer */
	bool has_new_buffer;  /* that tells its thread */
	bool thread_believed; /* false: what it tells is none */
	bool wide_thread;     /* the thread id was the 4 bytes that LLVM writes */
	bool filled;      /* bytes after it are fill: in version 1 after EndOfBuffer, or a gap of a flight recorder */
	bool cut;         /* the file ends inside it: reported */
	bool searched;    /* its end is not where its size, or EndOfBuffer, says */
	uint64_t excess;  /* bytes more than its BufferExtents says */
	uint64_t extents; /* what BufferExtents says, UINT64_MAX without one */
};

/* What the index keeps of a buffer. */
struct fdr_place {
	uint64_t offset, end, next;
	uint64_t wall_us, tsc;
	uint32_t thread; /* index into threads */
	bool filled, cut, searched;
	bool orphan; /* its thread is not known */
	/* It begins behind records that another log has: the two below are those of the last of these. */
	bool resumed;
	bool doubted; /* the buffers before and behind it contradict its first counter, stated_tsc */
	uint16_t stated_cpu;
	uint64_t stated_tsc;
	uint64_t excess;
};

static inline struct fdr_place fdr_place_of(const struct fdr_buffer *buffer)
{
	return (struct fdr_place){
	    .offset = buffer->offset,
	    .end = buffer->end,
	    .next = buffer->next,
	    .wall_us = buffer->wall_us,
	    .tsc = buffer->tsc,
	    .filled = buffer->filled,
	    .cut = buffer->cut,
	    .searched = buffer->searched,
	    .orphan = !buffer->has_new_buffer,
	    .excess = buffer->excess,
	};
}

struct fdr_thread {
	uint64_t process, thread;
	uint64_t bytes;
	size_t first, count; /* its places: places[first .. first + count) */
	bool by_wall;        /* every buffer has a wall time: they are sorted by it */
};

enum { FDR_REFERENCES = 16 };

/* A log whose header has been read. Parts of a reader share it and only read it. */
struct fdr_log {
	struct tw_fdr_header header;
	uint8_t header_bytes[TW_FDR_HEADER_SIZE]; /* as found */
	uint64_t frequency;                       /* for the clock: the header's where it makes sense, else 10^9 */
	bool indexed;
	bool recorded;             /* by the flight recorder: it tells its functions itself */
	bool clean;                /* bytes that mean nothing are 0 in the first NewBuffer: in the others, too */
	struct tw_text notes;      /* of a flight recorder: each behind its size, u32 */
	struct tw_map types;       /* that it names: where in type_names */
	struct tw_text type_names; /* each with a zero behind it */
	struct fdr_place *places;  /* thread by thread, each thread's in time order */
	size_t place_count, place_room;
	uint64_t first_tsc;         /* the least counter that a place begins with, 0 where none tells one */
	struct fdr_thread *threads; /* threads[0] is "no thread": junk */
	size_t thread_count, thread_room;
	struct fdr_basic_reference {
		uint64_t tsc[FDR_REFERENCES];
		size_t count;
		bool usual;                /* most of the first records are as LLVM's runtime writes them */
		bool processes;            /* these have a process */
	} reference;                       /* basic: counters of the first records, that those of all others are near */
	_Atomic(struct fdr_known *) known; /* known.h; made when the first damage is met, by whoever meets it */
};

/* ---- header.c, buffer: the header, and where buffers begin and end. ---- */

/* Reads the header and checks it. Returns 0 or TW_ERR_EMPTY. */
int fdr_read_header(struct tw_reader *reader, struct fdr_log *log);

/* What ends the header of a log that still is as its program left it. */
extern const char fdr_flight_mark[8];

/* Whether there are gaps between the buffers, as their program left them. */
bool fdr_is_flight(const struct tw_fdr_header *header);

void fdr_log_free(struct fdr_log *log);

/* Returns the version of a little-endian log of either type, where it is a later one than those that are known: to tell
 * so. 0 where the bytes are no such log. */
unsigned fdr_newer_version(const uint8_t *bytes, size_t size);

/* Finds the buffer at an offset, where the last one's `next` was (TW_FDR_HEADER_SIZE at first), and reports what is
 * wrong with its borders. Returns 1, 0 at the end of the log, or a negative status. */
int fdr_find_buffer(struct tw_reader *reader, const struct fdr_log *log, struct tw_window *window, uint64_t offset,
                    struct fdr_buffer *buffer);

/* The thread that a NewBuffer record's value means: in version 1, whose document has 2 bytes, a number that no thread
 * of Linux has is taken for 2 bytes and what happened to stand behind them. */
uint32_t fdr_thread_of(const struct tw_fdr_header *header, uint64_t value);

/* The number that stands for a thread in a log: its own, but of one that version 1 has not, its low 22 bits. */
uint32_t fdr_thread_for(const struct tw_fdr_header *header, uint32_t id);

/* Whether the beginning of a buffer stands somewhere in these bytes, which are an event's payload. Returns 0 or a
 * negative status. */
int fdr_holds_buffer(struct tw_reader *reader, struct tw_window *window, enum tw_fdr_layout layout, uint64_t from,
                     uint64_t to, bool *holds);

/* ---- another.c: logs behind each other in a file. ---- */

/* Whether these bytes are a header of the same kind and clock as that of the log. */
bool fdr_is_header(const struct fdr_log *log, const uint8_t *bytes, size_t have);

/* Moves over such headers at an offset, and reports them. Returns 0 or a negative status. */
int fdr_pass_header(struct tw_reader *reader, const struct fdr_log *log, struct tw_window *window, uint64_t *offset);

/* Whether a log begins, of any version, type and byte order: by as many bytes as FDR_FOREIGN. */
bool fdr_begins_log(const uint8_t *bytes, size_t have);

/* How many bytes tell whether they begin a log that cannot be read together with this one: of another kind, clock or
 * program. */
enum { FDR_FOREIGN = 160 };
bool fdr_is_foreign(const struct fdr_log *log, const uint8_t *bytes, size_t have);

/* Where in these bytes, before `limit`, one begins, of which at least so many bytes are there. SIZE_MAX: none does. */
enum { FDR_FOREIGN_LEAST = TW_FDR_HEADER_SIZE + 2 * TW_FDR_METADATA_SIZE + 1 };
size_t fdr_find_foreign(const struct fdr_log *log, const uint8_t *bytes, size_t have, size_t limit);

/* How many of these bytes stand before such a log, of however many bytes. */
size_t fdr_before_foreign(const struct fdr_log *log, const uint8_t *bytes, size_t have);

/* Where such a log begins, this one ends, which is reported. Returns 1, 0 where none does, or a negative status. */
int fdr_pass_foreign(struct tw_reader *reader, const struct fdr_log *log, struct tw_window *window, uint64_t offset);

/* ---- core_file.c: core dumps. ---- */

bool fdr_is_core(const uint8_t *bytes, size_t size);

/* Where the input is a core dump, it becomes the log in it, that of the process and not of its parents. Returns 0 or a
 * negative status: TW_ERR_EMPTY where there is none. */
int fdr_core_open(struct tw_reader *reader);

/* ---- flight.c: logs of Trackway's flight recorder. ---- */

/* Moves from behind the header to the first buffer. Returns 0 or a negative status. */
int fdr_flight_first(struct tw_reader *reader, const struct fdr_log *log, struct tw_window *window, uint64_t *offset);

/* Moves *next from behind a buffer, which is at `buffer`, to where the next one begins, or to the end of the file. It
 * stays where the chunk is damaged. Returns 0 or a negative status. */
int fdr_flight_next(struct tw_reader *reader, const struct fdr_log *log, struct tw_window *window, uint64_t buffer,
                    uint64_t *next);

/* ---- notes.c: what the recorder says of itself and of the program. ---- */

/* Whether a record is a note of the recorder about itself and the program, which is no event of the program.
 * payload_have: bytes of its payload that are there. */
bool fdr_is_note(const struct tw_fdr_record *record, size_t payload_have);

/* ---- wall.c: the time of day. ---- */

enum { FDR_WALL_PAIRS = 66 }; /* the first, 64 in between, the last */

struct fdr_wall {
	struct fdr_wall_pair {
		uint64_t ticks, realtime_ns; /* since 1970, UTC */
	} pairs[FDR_WALL_PAIRS];             /* in the order of time */
	size_t count;
};

/* Takes the pairs of clocks from the first note, and of the second one what is there of `size` bytes. */
void fdr_wall_take(struct fdr_wall *wall, const uint8_t *state, size_t size);

/* The time of day at a tick, in nanoseconds since 1970, UTC; 0: it is not known. */
uint64_t fdr_wall_at(const struct fdr_wall *wall, uint64_t ticks, uint64_t frequency);

/* What the recorder says of the log. */
struct fdr_flight_state {
	bool ended;    /* the program ended in order */
	uint64_t lost; /* records that had no room */
	uint64_t lost_in_handlers;
	uint64_t children, error; /* forked, and without a log; errno of the last */
	struct fdr_wall wall;
};

/* Reads it from the first buffer. False: the log has none. */
bool fdr_flight_state(struct tw_reader *reader, struct fdr_flight_state *state);

/* The thread that notes are of: 0, which no other has. NULL: there is none. */
const struct fdr_thread *fdr_notes_thread(const struct fdr_log *log);

/* Keeps its notes in log->notes, and the names of types that are among them, once the log is indexed. Returns 0 or a
 * negative status. */
int fdr_keep_notes(struct tw_reader *reader, struct fdr_log *log);

/* What it calls a type of typed events; NULL: nothing. */
const char *fdr_noted_type(const struct fdr_log *log, uint16_t type);

/* ---- index.c, counters.c, known_calls.c. ---- */

/* Lists all buffers, thread by thread in time order, each once. Returns 0 or a negative status. */
int fdr_index(struct tw_reader *reader, struct fdr_log *log);

/* Finds the buffers whose first counter those of the buffers before and behind them by the clock contradict. May put
 * the places into another order. */
void fdr_doubt_counters(struct tw_reader *reader, struct fdr_log *log);

/* Takes from the places of a log, which are in order, what a log read before has. Returns 0 or a negative status. */
int fdr_drop_known(struct tw_reader *reader, struct fdr_log *log);

/* ---- basic_runs.c: basic logs. A run of records of one thread is a buffer there. ---- */

static inline bool fdr_is_basic(const struct fdr_log *log)
{
	return log->header.type == 0;
}

/* Where the records of a basic log come from. */
struct fdr_basic_source {
	struct tw_reader *reader;
	const struct fdr_log *log;
	struct tw_window *window;
};

/* Decodes the record at an offset. Returns 1, 0 at the end of the file (or of its last whole record), or a negative
 * status; *good tells whether there is such a record. */
int fdr_basic_record_at(const struct fdr_basic_source *source, uint64_t at, struct tw_basic_record *record, bool *good,
                        size_t *have);

/* An argument of versions before 3 tells a process, its function does not: it goes with its thread. */
static inline void fdr_basic_fit_process(const struct fdr_log *log, struct tw_basic_record *record)
{
	if (log->header.version < 3)
		record->process = 0;
}

/* Takes what records are compared with, once a log is open. Returns 0 or a negative status. */
int fdr_basic_take_reference(struct tw_reader *reader, struct fdr_log *log);

/* As fdr_find_buffer(). */
int fdr_find_run(struct tw_reader *reader, const struct fdr_log *log, struct tw_window *window, uint64_t offset,
                 struct fdr_buffer *run);

/* ---- cursor.c: the records of one buffer. ---- */

/* Records that follow each other without a gap. */
struct fdr_stretch {
	uint64_t begin, end;
};

enum { FDR_STRETCHES = 32 };

struct fdr_cursor {
	struct tw_reader *reader;
	const struct fdr_log *log;
	struct tw_window window; /* its own */
	size_t chunk;            /* bytes read at a time, but not beyond the buffer: other threads' may follow */
	bool onward;             /* beyond it, too: buffers are entered in the order of the file */
	size_t payload_limit;    /* longer payloads are cut to this */
	struct {                 /* that is read */
		uint64_t start, next;
		uint64_t end;     /* records can be read up to here */
		uint64_t last;    /* it has none behind this; what is between was not yet looked at */
		uint64_t looked;  /* up to here it was */
		uint64_t counter; /* the last one in it, 0: none. Those of other buffers count for nothing */
		bool damaged;     /* it ended early, and that was reported */
		bool begun;       /* its NewBuffer record was met */
		bool resumes;     /* a buffer inside this one is read after it: `next` moves to where it begins */
		bool orphan;      /* the thread of its records is not known */
	} buffer;
	struct { /* in what was looked at, behind buffer.end */
		struct fdr_stretch items[FDR_STRETCHES];
		size_t next, count;
	} stretches;
	struct { /* bytes passed that are no records */
		uint64_t bytes;
		uint64_t first; /* where the first of them is */
	} gaps;
	bool filled, cut, searched;
	uint64_t excess;
	bool counted_on;  /* over damage: `tsc` is not certain until a record tells the counter */
	uint64_t doubted; /* a counter that is not believed; UINT64_MAX never is */
	uint64_t at;      /* the next record */
	uint64_t tsc;     /* of the last record; carried over from buffer to buffer of a thread */
	uint16_t cpu;
	uint32_t typed_events;
	uint64_t missing; /* bytes of the last record that are not there */
};

/* Makes a cursor. chunk: how much of the file is read at a time, 0 for the default. */
void fdr_cursor_init(struct fdr_cursor *cursor, struct tw_reader *reader, const struct fdr_log *log, size_t chunk);

void fdr_cursor_free(struct fdr_cursor *cursor);

/* Goes to the start of a buffer. The counter is kept. */
void fdr_cursor_enter(struct fdr_cursor *cursor, const struct fdr_place *place);

/* A record and where it stands. */
struct fdr_item {
	struct tw_fdr_record record;
	uint64_t offset;
	size_t payload_have; /* bytes of the payload that are there: less than payload_size beyond the limit */
	bool suspect;        /* damage follows at once: its last bytes may be of it */
	bool uncertain;      /* its time is counted on over damage */
};

static inline bool fdr_has_counter(const struct tw_fdr_record *record)
{
	return record->kind == TW_FDR_NEW_CPU_ID || record->kind == TW_FDR_TSC_WRAP;
}

/* Whether a record has a counter that is believed. */
static inline bool fdr_has_believed_counter(const struct fdr_cursor *cursor, const struct tw_fdr_record *record)
{
	return fdr_has_counter(record) && record->tsc != cursor->doubted;
}

/* Whether damage follows the records up to cursor->end at once. The end of a file that was cut is none. */
static inline bool fdr_gap_follows(const struct fdr_cursor *cursor)
{
	if (cursor->stretches.next < cursor->stretches.count)
		return cursor->stretches.items[cursor->stretches.next].begin > cursor->buffer.end;
	return cursor->buffer.looked == cursor->buffer.last && cursor->buffer.end < cursor->buffer.last && !cursor->cut;
}

/* Whether the next record may be suspect or its time uncertain. */
static inline bool fdr_in_doubt(const struct fdr_cursor *cursor)
{
	return cursor->counted_on || fdr_gap_follows(cursor);
}

/* Decodes the next record and moves the counter on; those of basic logs become entries, exits and arguments with
 * absolute counts. Damage is reported and ends the buffer. Payload is borrowed until
 * the next call. Returns 1, 0 at the end of the buffer, or a negative status. */
int fdr_cursor_next(struct fdr_cursor *cursor, struct fdr_item *item);

/* Returns how many bytes of the next records are at hand where nothing is in doubt: records lie behind them. Calls may
 * be taken from there, and `at` and `tsc` be moved on. */
size_t fdr_cursor_at_hand(const struct fdr_cursor *cursor, const uint8_t **bytes);

/* Bytes of the buffer, and after it, that no record could be read from. At the end of the buffer only. */
uint64_t fdr_cursor_lost(const struct fdr_cursor *cursor);

/* Gives the bytes from cursor->at on that are in this buffer, for loops that decode function records themselves and
 * move `at` and `tsc`. Returns 0 or a negative status. */
int fdr_cursor_bytes(struct fdr_cursor *cursor, const uint8_t **bytes, size_t *size);

/* ---- names.c: function ids to names of the dictionary. ---- */

struct fdr_near {
	union {
		struct {
			uint32_t row;  /* of read_calls's caller; 0: not yet known */
			uint32_t name; /* 0: not yet named */
		};
		uint64_t function; /* both, as in struct tw_frame */
	};
	union {
		union tw_on_stack *open; /* where there is a row */
		uint64_t room;           /* the same size on all machines */
	};
};

struct fdr_names {
	struct fdr_near *near;             /* by id */
	size_t near_room;                  /* 0 or a power of two */
	const struct tw_call_space *space; /* that the rows are known for */
	const union tw_on_stack *on_stack; /* of it: where `open` points to */
	uint64_t asked;                    /* how often for an id whose name the table does not have */
	struct tw_map far;                 /* ids that were too large for the table when they came */
	uint32_t other;                    /* what has no place within the memory limit; 0: the limit is not reached */
};

/* The same of one that may have none yet. */
uint32_t fdr_make_name(struct tw_reader *reader, struct fdr_names *names, uint32_t id);

/* The name of a function id; UINT32_MAX when there is no memory. */
static inline uint32_t fdr_name_of(struct tw_reader *reader, struct fdr_names *names, uint32_t id)
{
	return id < names->near_room && names->near[id].name ? names->near[id].name : fdr_make_name(reader, names, id);
}

/* What the options, or else the log, call a type of typed events; NULL: nothing. */
const char *fdr_type_name(const struct fdr_cursor *cursor, uint16_t type);

void fdr_names_free(struct fdr_names *names);

/* ---- check.c: the rules that need more than one record. Only with TW_CHECK_ALL. ---- */

struct fdr_checker {
	struct tw_open_slices open; /* functions of the thread, by their ids; a slot is the offset of an entry */
	struct tw_open_room room;
	bool failed;   /* there was no memory for an entry */
	unsigned last; /* kind of the record before, TW_FDR_KINDS at the start of a buffer */
	uint64_t last_offset;
	uint32_t last_function;
	unsigned seen;     /* bit by metadata kind, in this buffer */
	bool timed;        /* a record with a delta was met in this buffer */
	bool uncertain;    /* the last record's time was, and that was reported */
	bool buffers_only; /* file order: a thread's buffers do not come one after the other, each is checked alone */
};

void fdr_check_buffer(struct fdr_checker *checker, struct fdr_cursor *cursor, const struct fdr_place *place);

/* before: the counter before this record. */
void fdr_check_item(struct fdr_checker *checker, struct fdr_cursor *cursor, const struct fdr_item *item,
                    uint64_t before);
/* Returns 0 or a negative status. */
int fdr_check_buffer_end(struct fdr_checker *checker, struct fdr_cursor *cursor);
void fdr_check_thread_end(struct fdr_checker *checker, struct tw_reader *reader);
void fdr_checker_free(struct fdr_checker *checker);

/* ---- stream.c: the records of one thread, or of the file in its order, as events. ---- */

enum { FDR_ROWS = 256, FDR_ARGUMENTS = 1024, FDR_BYTES = 1 << 16, FDR_ARGUMENTS_MAX = 255 };

/* Where events go. */
struct fdr_rows {
	struct tw_event *events;
	struct tw_argument *arguments;
	uint8_t *bytes; /* payloads */
	size_t event_room, argument_room, byte_room;
	size_t event_count, argument_count, byte_count;
	bool full; /* hand over now: something in it points into a window */
};

bool fdr_rows_init(struct fdr_rows *rows, size_t events, size_t arguments, size_t bytes);
void fdr_rows_free(struct fdr_rows *rows);

static inline void fdr_rows_empty(struct fdr_rows *rows)
{
	rows->event_count = rows->argument_count = rows->byte_count = 0;
	rows->full = false;
}

/* The numbers of the names that events of all XRay logs use. */
struct fdr_words {
	uint32_t category, custom_event, typed_event, data, event_type, argument0;
};

/* Whether a payload is nothing but text. */
static inline bool fdr_payload_is_text(const struct fdr_item *item)
{
	return tw_is_printable(item->record.payload, item->payload_have);
}

int fdr_words_init(struct tw_dictionary *dictionary, struct fdr_words *words);

struct fdr_stream {
	struct fdr_cursor cursor;
	struct tw_ticks clock;
	struct fdr_checker *checker; /* NULL: only damage is looked for */
	struct fdr_names *names;
	const struct fdr_words *words;
	const struct fdr_place *place, *places_end; /* the next buffers, one after the other */
	uint32_t track;
	bool in_buffer;
	uint64_t last_ns;
	uint64_t latest_ns;   /* fdr_read_calls(): no call that goes on began later */
	struct fdr_rows rows; /* TW_ORDER_TIME: what is not yet delivered */
	size_t delivered;
};

/* Adds events until the rows are full or the stream ends. Returns how many rows there are, or a negative status. */
int fdr_stream_fill(struct fdr_stream *stream, struct fdr_rows *rows);

/* Goes to the stream's next buffer; false when there is none. */
bool fdr_stream_enter(struct fdr_stream *stream);

/* Takes one record of the buffer it is in, of any kind, or leaves the buffer at its end. Returns 0 or a negative
 * status. */
int fdr_stream_take(struct fdr_stream *stream, struct fdr_rows *rows);

/* Decodes the next record of the stream as it is. Returns 1, 0 at the end, or a negative status. */
int fdr_stream_item(struct fdr_stream *stream, struct fdr_item *item);

/* ---- functions.c: what the writers give to names and threads of other formats. ---- */

#define FDR_NO_FUNCTION UINT32_MAX

/* Ids of names: their own where they come from an XRay log, 0 too; otherwise from 1 on, in the order of their first
 * use, since what other formats number is something else. All zero to begin. */
struct fdr_functions {
	bool own;
	uint32_t *ids; /* by name of the dictionary */
	size_t id_room;
	uint32_t *names; /* by id, less 1 */
	size_t name_room;
	uint32_t count;
};

/* Whose names they are of now on: the same reader's for all. */
void fdr_functions_of(struct fdr_functions *functions, const struct tw_reader *reader);

/* The function id of a name; FDR_NO_FUNCTION when it is more than `most`, or there is no memory. */
uint32_t fdr_function_id(struct fdr_functions *functions, const struct tw_dictionary *dictionary, uint32_t name,
                         uint32_t most);

/* Writes the table of the new ids where the writer's options say. Returns 0 or a negative status. */
int fdr_functions_write(const struct fdr_functions *functions, const struct tw_dictionary *dictionary,
                        struct tw_writer *writer);
void fdr_functions_free(struct fdr_functions *functions);

/* The 32 bits that stand for a process or thread of a track; counts a loss where they are not all. */
uint32_t fdr_number_of(struct tw_writer *writer, uint32_t track, uint64_t koid);

/* ---- reader.c, info.c, records.c, rewrite.c: the jobs of the format. ---- */

int fdr_open(struct tw_reader *reader);
int fdr_open_shard(struct tw_reader *part, unsigned shard, unsigned shards);
int fdr_read(struct tw_reader *reader, struct tw_batch *batch);
void fdr_close(struct tw_reader *reader);
int fdr_read_calls(struct tw_reader *reader, struct tw_calls *calls, struct tw_left_calls *left);

int fdr_info(struct tw_reader *reader, unsigned jobs, struct tw_info *info);
int fdr_read_record(struct tw_reader *reader, struct tw_record *record);
int fdr_repair(struct tw_reader *reader, struct tw_output *out, struct tw_rewrite_result *result);

int fdr_transcode(struct tw_reader *reader, struct tw_output *out, const struct tw_write_options *options,
                  struct tw_rewrite_result *result);

#endif
