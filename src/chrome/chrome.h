/* chrome.h - the parts of the reader of Chrome's trace event JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHROME_CHROME_H
#define CHROME_CHROME_H

#include "base/memory/map.h"
#include "chrome/parse.h"
#include "chrome/rules.h"
#include "core/calls/overlaps.h"
#include "core/calls/pairs.h"
#include "core/format.h"
#include "core/order/slab.h"

extern const struct tw_format tw_format_chrome;

/* ---- phases.c: what the letters mean. ---- */

enum chrome_need {
	CHROME_HAS_TIME = 1,
	CHROME_HAS_ID = 2,
	CHROME_NAMES = 4 /* gives a name to a track instead of being an event */
};

struct chrome_phase {
	const char *kind;     /* of the record */
	const char *argument; /* what an argument "ph" says, where the kind of event does not tell; NULL: none */
	uint8_t event;        /* enum tw_event_kind */
	uint8_t need;
};

/* All phases: number 0 is the unknown one. */
enum { CHROME_PHASES = 33 };
extern const struct chrome_phase chrome_phases[CHROME_PHASES];

unsigned chrome_phase_number(const struct chrome_item *item);

/* ---- stream.c: events one after the other, out of a document that is never held whole. ---- */

enum chrome_form { CHROME_FORM_NONE, CHROME_FORM_ARRAY, CHROME_FORM_OBJECT, CHROME_FORM_LINES };

enum chrome_place { CHROME_AT_START, CHROME_IN_MEMBERS, CHROME_IN_EVENTS, CHROME_AFTER, CHROME_AT_END };

/* Numbers of what chrome_first() is asked: a phase is CHROME_REPORTED_PHASE and its character. */
enum {
	CHROME_REPORTED_COMPRESSION,
	CHROME_REPORTED_NO_EVENTS,
	CHROME_REPORTED_STACK,
	CHROME_REPORTED_KEPT,
	CHROME_REPORTED_ID,
	CHROME_REPORTED_PHASE = 64,
	CHROME_NUMBERS = CHROME_REPORTED_PHASE + 256
};

/* Members of the document that are samples of stacks, which are made of all of them at the end. */
enum chrome_part {
	CHROME_PART_NODES,
	CHROME_PART_SAMPLES,
	CHROME_PART_DELTAS,
	CHROME_PART_START,
	CHROME_PART_END,
	CHROME_PART_FRAMES,
	CHROME_PARTS
};

struct chrome_stream {
	struct tw_reader *reader;
	uint64_t at;               /* offset of the next byte */
	struct tw_line_place line; /* that `at` is in */
	enum chrome_place place;
	enum chrome_form form;
	bool comma;             /* events may follow: none came yet, or a comma did */
	bool system;            /* inside the object of Fuchsia's "systemTraceEvents" */
	uint64_t lost;          /* bytes */
	uint64_t items;         /* events */
	unsigned reported_odd;  /* enum chrome_oddity */
	uint64_t reported[256]; /* hashes of the members that were reported */
	size_t reported_count;
	uint64_t reported_numbers[CHROME_NUMBERS / 64]; /* a bit for each number */
	/* Of "otherData". */
	struct tw_text parts[CHROME_PARTS];
	struct tw_text document; /* other members of the document, as they are to be written again */
	bool own;                /* Trackway wrote it */
	bool own_cpu;            /* and "cpu" among the arguments is the CPU */
	bool has_start;          /* start_ns is there */
	uint64_t start_ns;       /* the time at which ts is 0 */
	uint64_t wall_ns;        /* its time of day; 0: not known */
};

/* Reads what is before the first event. Returns 0 or a negative status; TW_ERR_FORMAT where it is no JSON. */
int chrome_stream_open(struct tw_reader *reader, struct chrome_stream *stream);

/* The next event or gap. Its values point into the window: they live until the next call. Returns 1, 0 at the end, or a
 * negative status. */
int chrome_next(struct chrome_stream *stream, struct chrome_item *item);

/* Reads the event at an offset again, through a window of its own. Returns 1, or a negative status. */
int chrome_item_at(struct tw_reader *reader, struct tw_window *window, uint64_t offset, struct chrome_item *item);

/* Whether samples come one by one though texts are asked for: some may be left out, or their frames are those of
 * several documents. */
bool chrome_samples_apart(const struct tw_reader *reader);

/* Remembers the line of the next byte, where all is checked. False when there is no memory. */
bool chrome_mark(struct chrome_stream *stream);

/* The line of an event that was read before; number 0 where it is not known: of a pipe. */
struct tw_line_place chrome_line_of(struct tw_reader *reader, uint64_t offset);

/* Reports something about an event. at: the guilty byte, NULL for the first. */
void chrome_report(struct tw_reader *reader, enum chrome_rule rule, const struct chrome_item *item, const uint8_t *at,
                   const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Whether something was not reported yet, so that it is once only: a number below CHROME_NUMBERS, or the hash of a
 * member; of these 256 are. */
bool chrome_first(struct chrome_stream *stream, uint64_t what);

/* ---- pieces.c: rows of a stretch of the file, and the texts of their arguments. ---- */

struct chrome_text {
	struct chrome_text *next;
	size_t room, used;
	uint8_t bytes[];
};

struct chrome_piece {
	struct tw_slab slab; /* first: the sorter gives it back */
	struct chrome_text *texts;
	uint64_t end;              /* offset in the file behind its last event */
	struct chrome_piece *next; /* free ones */
};

/* Memory that lives as long as the piece is in use; NULL when there is none. */
uint8_t *chrome_piece_room(struct chrome_piece *piece, size_t size);
void chrome_piece_clear(struct chrome_piece *piece);
void chrome_piece_free(struct chrome_piece *piece);

/* ---- names.c: names and tracks, as far as the memory limit goes. ---- */

enum { CHROME_NAME_CACHE = 1024, CHROME_TRACK_CACHE = 256 };

struct chrome_names {
	size_t used;                              /* bytes, about */
	bool full;                                /* no more names fit, and that was reported */
	uint32_t cache[CHROME_NAME_CACHE];        /* by a hash of the text */
	struct tw_map tracks;                     /* hash of process, thread and kind to track */
	uint32_t track_cache[CHROME_TRACK_CACHE]; /* by that hash */
	struct tw_map words;                      /* hash of a process or thread that is a text to its number */
	uint32_t word_count;
	struct tw_map koids; /* number of a thread to the first track of that number */
	struct tw_map lone;  /* the same of threads that scheduling told without their process */
	bool process_0;      /* process 0 has its track */
};

/* Takes memory from the budget; false when that is used up, which is reported once. */
bool chrome_afford(struct tw_reader *reader, size_t cost);

/* The number of a text. UINT32_MAX when there is no memory. */
uint32_t chrome_name(struct tw_reader *reader, const void *text, size_t length);

/* The same for a name with a place in the source, "file.c:12". */
uint32_t chrome_located_name(struct tw_reader *reader, const struct chrome_value *text,
                             const struct chrome_value *place);

/* The hash of a text that tells a process, a thread or an id, however it is escaped. */
uint64_t chrome_hash(const struct chrome_value *value, uint64_t seed);

/* The track of a thread: process 0 where there is no pid, and the thread whose number is the pid where there is no tid,
 * as Perfetto's importer has it. UINT32_MAX when there is no memory. */
uint32_t chrome_track(struct tw_reader *reader, const struct chrome_value *pid, const struct chrome_value *tid);

/* The track of the thread of a number, whatever its process, as Fuchsia's scheduling tells threads: that has it from
 * the record of the thread, or from another event, before or after. UINT32_MAX when there is no memory. */
uint32_t chrome_koid_track(struct tw_reader *reader, const struct chrome_value *tid);

/* The track that stands for a process. */
uint32_t chrome_process_track(struct tw_reader *reader, const struct chrome_value *pid);

/* Whether options let a track through. */
bool chrome_wanted(const struct tw_reader *reader, uint32_t track);

void chrome_names_free(struct chrome_names *names);

/* ---- events.c, args.c and keep.c: items to rows. ---- */

/* What is known while a piece is filled. */
struct chrome_fill {
	struct tw_reader *reader;
	struct chrome_state *state;
	struct chrome_piece *piece;
	const struct chrome_item *item;
	struct tw_event *event; /* the row being filled */
	bool end;               /* of a slice that Trackway wrote: "end" among its arguments is all of them */
	unsigned left_out;      /* arguments beyond what a row can have */
	bool last;              /* the document has been read */
	bool failed;            /* no memory */
};

/* Adds the rows of an item. last: the document has been read. Returns 0 or TW_ERR_MEMORY. */
int chrome_take(struct tw_reader *reader, struct chrome_piece *piece, const struct chrome_item *item, bool last);

/* keep.c: whether the event comes as it is written. What is no JSON for all is written as if it were. */
bool chrome_keeps_text(const struct chrome_fill *fill);

/* Adds the text of the event as the argument of the last row. has_cpu: its CPU is known. */
void chrome_add_text(struct chrome_fill *fill, bool has_cpu);

/* Adds the members of an object to the arguments of the last row, those of objects inside with dotted names; any other
 * value as one argument "args". */
void chrome_arguments(struct chrome_fill *fill, const struct chrome_value *value);

/* The same for an object with dotted names that begin with a prefix, but for the members that the event itself has. */
void chrome_prefixed_arguments(struct chrome_fill *fill, const struct chrome_value *object, const char *prefix);

/* Adds a value as one argument. */
void chrome_argument(struct chrome_fill *fill, const char *name, const struct chrome_value *value);

/* The same for a priority, which is a number without a sign, as in FXT; and for a weight, which has one. */
void chrome_weight(struct chrome_fill *fill, const char *name, const struct chrome_value *value);
void chrome_priority(struct chrome_fill *fill, const char *name, const struct chrome_value *value);

/* A string without its escapes, otherwise the value as it is written. It lies in the piece's memory where `keep` is
 * asked for or where it has to be changed; otherwise still in the window. */
struct chrome_value chrome_text_of(struct chrome_fill *fill, const struct chrome_value *value, bool keep);

/* The number of a value as a name. */
uint32_t chrome_name_of(struct chrome_fill *fill, const struct chrome_value *value);

/* ---- clock.c ---- */

/* The time on the trace's clock. *fits: false where it is beyond that. */
uint64_t chrome_on_clock(struct chrome_fill *fill, int64_t ns, bool *fits);

/* ---- profiles.c: samples of stacks. ---- */

struct chrome_profiles;
struct chrome_state;

/* Whether an event is a part of a CPU profile. */
bool chrome_is_profile(const struct chrome_item *item);

/* Whether an event is a sample, or a part of a profile, that comes so: chrome_samples_apart(). Samples that Trackway
 * wrote always do: their frames are written anew. */
bool chrome_is_apart(const struct tw_reader *reader, const struct chrome_item *item);

/* Adds the samples of one. Returns 0 or TW_ERR_MEMORY. */
int chrome_take_profile(struct chrome_fill *fill);

/* Takes {"name":"thread_name","args":{"name":...}} and the like, and what Fuchsia's list has for it. Returns 1 when it
 * was that and nothing else, 0, or a negative status. */
int chrome_take_naming(struct chrome_fill *fill, const struct chrome_phase *phase);

/* Whether the stack of a sample stands behind the events: then the event is kept, and taken at the end. */
bool chrome_keep_sample(struct chrome_fill *fill);

/* The same for a chunk of a profile whose beginning has not been read. */
bool chrome_keep_chunk(struct chrome_fill *fill);

/* reader.c: adds the rows that are made when the document has been read. */
bool chrome_end_document(struct tw_reader *reader, struct chrome_piece *piece);

/* The stack of a sample: "sf" leads to "stackFrames", "stack" has names, the outermost first. */
uint32_t chrome_sample_stack(struct chrome_fill *fill);

/* Adds those of the document, and those that waited for the next. Returns the same. */
int chrome_end_profiles(struct tw_reader *reader, struct chrome_piece *piece);

/* The next event that waited for its stack; *at: 0 at first. False at the end. */
bool chrome_next_kept(const struct chrome_state *state, size_t *at, struct chrome_item *item);
void chrome_profiles_free(struct chrome_profiles *profiles);

/* ---- reader.c ---- */

enum {
	CHROME_PIECE = 1 << 20,          /* bytes of input whose rows are sorted together */
	CHROME_REORDER = 4 << 20,        /* bytes by which events may come late and be sorted in memory, where options
	                                    do not tell; */
	CHROME_REORDER_MOST = 64 << 20,  /* and at most: so many bytes are never more pieces than a sorter holds */
	CHROME_ROWS_OVERHEAD_SHARE = 16, /* of the memory limit, for one event */
	CHROME_KEYS_SHARE = 8,           /* for operations that are open, where all is checked */
};

struct chrome_records;
struct chrome_summary;

struct chrome_track_info {
	uint64_t bytes;         /* of its events */
	uint64_t latest;        /* time of all its slices that were delivered; where `looked` is false */
	uint64_t sampled_until; /* the end of what the samples of a profile stand for; profiles.c */
	uint16_t cpu;           /* of its last event, where the file tells */
	bool has_cpu;           /* in the text of an event */
};

/* Times of events. Written by events.c, reader.c and look.c. */
struct chrome_times {
	uint64_t base;     /* added to every ts */
	bool begun;        /* the base is settled: the first rows went out, or all times have been looked at */
	bool looked;       /* all times have been looked at */
	bool timed;        /* there was an event with a time; `last` is that */
	uint64_t last;     /* time of the last event that had one */
	uint64_t timed_at; /* where the stream was then */
	int64_t
	    earliest; /* of all events of the first window, or of all, of threads that are left out, too: ts in ns */
	bool started; /* rows went out: the clock's start is known */
	uint64_t sampled_until; /* the latest of all tracks; profiles.c */
};

/* The order of rows. Written by reader.c. */
struct chrome_order {
	struct tw_sorter *sorter; /* NULL in TW_ORDER_FILE */
	struct tw_slab_scratch scratch;
	struct chrome_piece *free_pieces, *current;
	uint64_t window; /* bytes that are read ahead of the oldest piece */
	bool ended;      /* the stream has ended */
};

/* Where a stretch of the file begins: its line is known. */
struct chrome_mark {
	uint64_t offset;
	struct tw_line_place line;
};

struct chrome_state {
	struct chrome_stream stream; /* stream.c */
	struct chrome_names names;   /* names.c */
	locale_t c;
	struct chrome_times times;
	struct chrome_track_info *tracks; /* by number of the dictionary; names.c */
	size_t track_room;
	uint64_t counts[CHROME_PHASES]; /* events by phase; events.c */
	struct chrome_order order;
	struct tw_overlaps overlaps;      /* reader.c, where all is checked */
	struct tw_shared_keys shared;     /* the same */
	struct chrome_profiles *profiles; /* profiles.c; NULL: there are none */
	struct chrome_records *records;   /* records.c */
	struct chrome_summary *summary;   /* info.c */
	struct chrome_mark *marks;        /* stream.c, where all is checked */
	size_t mark_count, mark_room;
};

/* Bytes that are read ahead of the oldest piece. */
uint64_t chrome_window(const struct tw_reader *reader);

/* look.c: tw_format_reading.look. */
int chrome_look(struct tw_reader *reader);

/* tw_format_reading.check. */
int chrome_check(struct tw_reader *reader, const struct tw_batch *batch);

/* Frees the rows that are held. */
void chrome_order_free(struct chrome_state *state);

int chrome_read(struct tw_reader *reader, struct tw_batch *batch);
int chrome_read_record(struct tw_reader *reader, struct tw_record *record);
int chrome_info(struct tw_reader *reader, unsigned jobs, struct tw_info *info);
void chrome_records_free(struct chrome_records *records);
void chrome_summary_free(struct chrome_summary *survey);

#endif
