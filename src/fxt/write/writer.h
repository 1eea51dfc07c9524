/* writer.h - what the parts of the FXT writer share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_WRITE_WRITER_H
#define FXT_WRITE_WRITER_H

#include "base/memory/map.h"
#include "base/memory/memory.h"
#include "core/format.h"
#include "core/ticks.h"
#include "fxt/write/record.h"

/* ---- The string table and the thread table of a provider, and what has been written of threads and objects. ---- */

/* Names and tracks of the reader's dictionary get an index at their first use, and with it their record. When a table
 * is full what comes later stands in the records. */

/* Strings that the writer has of its own.
 *
 * X(name, text) */
#define FXT_OWN_LIST(X)                                                                                                \
	X(FXT_OWN_PROCESS, "process") /* the document, "Argument conventions" of kernel objects */                     \
	X(FXT_OWN_WAKER, "waker")     /* the newest Fuchsia sources */                                                 \
	X(FXT_OWN_TAIL, "tail")                                                                                        \
	X(FXT_OWN_CLIPPED, "clipped")                                                                                  \
	X(FXT_OWN_UNCERTAIN, "uncertain")                                                                              \
	X(FXT_OWN_ADDRESS, "address")                                                                                  \
	X(FXT_OWN_BYTES, "bytes")                                                                                      \
	X(FXT_OWN_COUNT, "count")                                                                                      \
	X(FXT_OWN_STACK, "stack")                                                                                      \
	X(FXT_OWN_FILE, "file")                                                                                        \
	X(FXT_OWN_LINE, "line")                                                                                        \
	X(FXT_OWN_WEIGHT, "weight")                                                                                    \
	X(FXT_OWN_WALL_NS, "wall_ns")                                                                                  \
	X(FXT_OWN_STACK_SAMPLE, "stack-sample")                                                                        \
	X(FXT_OWN_CPU_SAMPLE, "cpu-sample")                                                                            \
	X(FXT_OWN_CPU_NS, "cpu_ns")                                                                                    \
	X(FXT_OWN_ALLOCATION_SAMPLE, "allocation-sample")                                                              \
	X(FXT_OWN_INSTRUCTIONS, "instructions")                                                                        \
	X(FXT_OWN_LOST, "lost")                                                                                        \
	X(FXT_OWN_METADATA, "metadata")

enum fxt_own {
#define X(name, text) name,
	FXT_OWN_LIST(X)
#undef X
	    FXT_OWN_STRINGS
};

/* A track in the thread table. */
struct fxt_written_thread {
	uint8_t index; /* 0: the table was full */
	bool written;
};

/* What has been written of a track. */
struct fxt_described_track {
	uint32_t name; /* 0: none */
	bool written;  /* in the thread table of some provider */
	bool unasked;  /* told, and no record about it has come */
	bool nameless; /* a record tells of it without a name */
};

/* What has been written of tracks and objects: koids mean the same for all providers. */
struct fxt_described {
	struct fxt_described_track *tracks;
	size_t room;
	uint32_t seen;         /* how many tracks the dictionary had when it was last looked at */
	struct tw_map objects; /* the same of objects: events/events.h, to the number of the name */
	size_t objects_most;   /* of so many it is known; beyond, all are described once more */
};

struct fxt_tables {
	/* writer.c: */
	struct tw_writer *writer;
	unsigned provider; /* whose tables these are */
	struct fxt_described *described;
	bool big;
	const struct tw_dictionary *dictionary;
	/* tables.c: */
	uint16_t *strings; /* by name: the index, 0 while there is none */
	size_t string_room, string_count;
	uint16_t own[FXT_OWN_STRINGS];
	struct tw_dictionary *texts; /* registered ones that are no names; NULL: there was none yet */
	uint16_t *text_strings;      /* their indices, by number in `texts` */
	size_t text_room, text_bytes;
	/* tables.c: */
	struct fxt_written_thread *threads; /* by track */
	size_t thread_room, thread_count;
	uint32_t tracks_seen; /* how many tracks the dictionary had when it was last looked at */
};

struct fxt_koids {
	uint64_t process, thread;
};

/* tables.c: makes room for what the dictionary holds now, and describes the processes that are new. False when
 * there is no memory. */
bool fxt_tables_grow(struct fxt_tables *tables, const struct tw_dictionary *dictionary);

/* tables.c: describes once more what has got its name since. */
void fxt_tables_finish(struct fxt_tables *tables);

void fxt_tables_free(struct fxt_tables *tables);

/* The koids of a track: those of a thread; the thread's of another kind of track is invented. */
struct fxt_koids fxt_koids_of(const struct fxt_tables *tables, uint32_t track);

/* ---- These may write string, thread and kernel object records, so no record may be open. ---- */

struct fxt_string_ref fxt_add_string(struct fxt_tables *tables, uint32_t name);
struct fxt_string_ref fxt_own_string(struct fxt_tables *tables, enum fxt_own own);

/* A text that is in no table. */
struct fxt_string_ref fxt_inline_string(const struct fxt_tables *tables, const char *text, size_t size);

/* The index of a text that is no name, for which a string record is written unless it is known to have been. 0: half of
 * the table is left to names, the text is too long for a record, or there is no memory. */
uint16_t fxt_register_text(struct fxt_tables *tables, const uint8_t *text, uint64_t size);

void fxt_add_thread(struct fxt_tables *tables, uint32_t track);

/* Whether a record about a process or thread says what was told of it before, and has not been asked for: then there is
 * one already. It is not told again after such a record. arguments: the event's. */
bool fxt_was_described(struct fxt_tables *tables, const struct tw_event *event, const struct tw_argument *arguments);

/* tables.c: describes the object that an argument of a record refers to, a pointer of this process or a koid,
 * by its name alone, which it has, unless that has been done. */
void fxt_describe_object(struct fxt_tables *tables, uint64_t process, const struct tw_argument *argument);

/* tables.c: notes that a record about an object is being written. type: TW_ARG_POINTER, with its process, or
 * TW_ARG_KOID. */
void fxt_note_object_name(struct fxt_tables *tables, enum tw_argument_type type, uint64_t process, uint64_t number,
                          uint32_t name);

/* The index of a string in the table; 0: it is not there. */
static inline uint16_t fxt_string_index(const struct fxt_tables *tables, uint32_t name)
{
	return name < tables->string_room ? tables->strings[name] : 0;
}

static inline struct fxt_string_ref fxt_string(struct fxt_tables *tables, uint32_t name)
{
	uint16_t index = fxt_string_index(tables, name);
	if (index || name == 0)
		return (struct fxt_string_ref){.reference = index};
	return fxt_add_string(tables, name);
}

/* The index of a track in the thread table; 0: its koids stand in the record. */
static inline uint8_t fxt_thread_index(struct fxt_tables *tables, uint32_t track)
{
	track = track < tables->tracks_seen ? track : 0;
	if (!tables->threads[track].written)
		fxt_add_thread(tables, track);
	return tables->threads[track].index;
}

/* ---- What the parts of the FXT writer share. ---- */

enum {
	FXT_PROVIDER = 1, /* of events that have none */
	FXT_BYTE_MAX = 255
};

/* A provider of the archive: records mean what its tables and its ticks say. */
struct fxt_section {
	uint32_t id;
	uint64_t frequency; /* ticks per second */
	struct fxt_tables tables;
};

/* The large blob record whose bytes come in parts, one behind the other. */
struct fxt_large {
	struct tw_event event; /* of its first part */
	uint64_t left;         /* bytes that it still has room for */
	bool open;
	bool in_parts; /* the last blob that is no large record said that more of it follows */
	int aside;     /* a file for what comes between its parts; -1: none yet */
};

struct fxt_writer {
	struct tw_writer *writer;
	/* fxt_enter_section(): */
	struct fxt_section *sections[TW_PROVIDERS_MAX + 1]; /* by number of the provider; NULL: it has nothing yet */
	unsigned provider;                                  /* whose section it is */
	struct fxt_section *section;                        /* of that; NULL: nothing has been written */
	struct fxt_tables *tables;                          /* the same */
	/* What the batch is of, begin_batch(): */
	const struct tw_dictionary *dictionary;
	const struct tw_argument *arguments;
	uint64_t source_frequency;
	uint64_t wall_ns;      /* time of day at time 0; 0: not known */
	const char *directory; /* for temporary files, NULL: /tmp */
	bool crowded;          /* there are more providers than numbers for them */
	bool sampled;          /* where time goes in the source is told by samples */
	bool foreign;          /* the events, or some of them, are of another format */
	bool one_provider;     /* of all events: they are of another format, or merged */
	bool counted_cpu;
	/* What has been written: */
	struct fxt_described described; /* tables.c */
	struct fxt_large large;         /* blob_records.c */
	struct tw_text stack;           /* arguments.c: of the event that is written */
	bool failed;                    /* the same: no memory, something is missing */
};

/* An argument and its name as it will stand in the record. */
struct fxt_listed_argument {
	struct fxt_string_ref name;
	const struct tw_argument *argument;
	uint16_t text; /* the string record that has the text, if one was written for it */
};

/* The arguments of a record: listed before it begins, because their names may have to be written first. */
struct fxt_arguments {
	unsigned count;
	unsigned own_count;
	struct tw_argument own[6]; /* those that the event has as numbers and flags, and of its stack */
	struct fxt_listed_argument items[TW_FXT_ARGUMENTS_MAX];
};

/* What stands behind the arguments of an event. */
enum fxt_tail { FXT_NO_TAIL, FXT_TAIL_SCOPE, FXT_TAIL_ID, FXT_TAIL_END };

/* How one of the event's numbers is told where it has no place: as an argument; TW_ARG_NULL: it is not. TW_ARG_TEXT: it
 * is a stack, and told by its functions. */
struct fxt_as_argument {
	enum tw_argument_type type;
	enum fxt_own name;
};

/* What a kind of event becomes. */
struct fxt_written_kind {
	void (*put)(struct fxt_writer *w, const struct tw_event *event, const struct fxt_written_kind *as);
	enum tw_fxt_kind kind;
	enum fxt_tail tail;
	enum fxt_own name; /* of an event that has none */
	struct fxt_as_argument value, id, other;
	bool no_id;  /* an id of 0 is none: nothing to tell */
	bool sample; /* the name is also its category */
};

/* sections.c: goes to the section of a provider. False when there is no memory. */
bool fxt_enter_section(struct fxt_writer *w, unsigned provider);

/* Counts what the format could not hold. */
static inline void fxt_loss(const struct fxt_writer *w, const char *what, bool approximated)
{
	tw_count_loss(w->writer, what, approximated);
}

/* The same of what a record has no place for. */
static inline void fxt_no_place(const struct fxt_writer *w, uint64_t value, const char *what)
{
	if (value)
		fxt_loss(w, what, false);
}

static inline uint64_t fxt_limited(const struct fxt_writer *w, uint64_t value, uint64_t limit, const char *what)
{
	if (value <= limit)
		return value;
	fxt_loss(w, what, true);
	return limit;
}

/* The least tick whose time is not before `ns`. */
static inline uint64_t fxt_ticks_of(const struct fxt_writer *w, uint64_t ns)
{
	__extension__ typedef unsigned __int128 wide;
	const uint64_t frequency = w->section->frequency;
	if (frequency == TW_NS_PER_SECOND)
		return ns;
	wide product = (wide)ns * frequency + TW_NS_PER_SECOND - 1, ticks = product / TW_NS_PER_SECOND;
	if (ticks <= UINT64_MAX / 2 && (uint64_t)(product - ticks * TW_NS_PER_SECOND) + frequency < TW_NS_PER_SECOND)
		fxt_loss(w, "time", true); /* the next tick is a nanosecond later at least */
	return ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
}

static inline const struct tw_argument *fxt_first_argument(const struct fxt_writer *w, const struct tw_event *event)
{
	return event->argument_count ? &w->arguments[event->first_argument] : NULL;
}

static inline void fxt_put_koids(const struct fxt_writer *w, struct fxt_new_record *record, uint32_t track)
{
	struct fxt_koids koids = fxt_koids_of(w->tables, track);
	fxt_put_word(record, koids.process);
	fxt_put_word(record, koids.thread);
}

/* Begins a record with the time of an event, and the koids of its thread where `thread`, its index in the table, is
 * 0. */
static inline struct fxt_new_record fxt_begin_timed(const struct fxt_writer *w, const struct tw_event *event,
                                                    uint64_t thread)
{
	struct fxt_new_record record = fxt_record_begin(&w->writer->out, w->tables->big);
	fxt_put_word(&record, fxt_ticks_of(w, event->time));
	if (thread == 0)
		fxt_put_koids(w, &record, event->track);
	return record;
}

/* ---- arguments.c ---- */

/* Lists the event's arguments from number `first` on. */
void fxt_add_arguments(struct fxt_writer *w, struct fxt_arguments *list, const struct tw_event *event, unsigned first);

/* Lists an argument that the event has as a number or flag. */
void fxt_add_own_argument(struct fxt_writer *w, struct fxt_arguments *list, enum fxt_own name,
                          enum tw_argument_type type, uint64_t value);

/* Lists a stack as a text that lives until the next one, and where its innermost frame is; none for the empty stack. */
void fxt_add_stack(struct fxt_writer *w, struct fxt_arguments *list, enum fxt_own name, uint32_t stack);

/* Puts the arguments and leaves room for `reserved` words. Returns how many there are. */
uint64_t fxt_put_arguments(struct fxt_writer *w, struct fxt_new_record *record, const struct fxt_arguments *list,
                           size_t reserved);

/* ---- What kinds of event become. ---- */

/* An argument that tells a field of a record. */
struct fxt_field {
	const char *name;
	enum tw_argument_type type;
	uint64_t most; /* of a number, or of bytes their size */
};

/* profiler_records.c: whether an event's arguments from number `first` on are these, and no others. */
bool fxt_has_fields(const struct fxt_writer *w, const struct tw_event *event, const struct fxt_field *fields,
                    unsigned count, unsigned first);

/* For the table of writer.c: an event as it is; an instant for what the format has nothing for, its numbers as
 * arguments; and records of their own. */
void fxt_put_event(struct fxt_writer *w, const struct tw_event *event, const struct fxt_written_kind *as);
void fxt_put_stand_in(struct fxt_writer *w, const struct tw_event *event, const struct fxt_written_kind *as);
void fxt_put_scheduling(struct fxt_writer *w, const struct tw_event *event, const struct fxt_written_kind *as);
void fxt_put_sample(struct fxt_writer *w, const struct tw_event *event, const struct fxt_written_kind *as);
void fxt_put_log(struct fxt_writer *w, const struct tw_event *event, const struct fxt_written_kind *as);
void fxt_put_object(struct fxt_writer *w, const struct tw_event *event, const struct fxt_written_kind *as);
void fxt_put_blob(struct fxt_writer *w, const struct tw_event *event, const struct fxt_written_kind *as);
void fxt_put_lost(struct fxt_writer *w, const struct tw_event *event, const struct fxt_written_kind *as);
void fxt_put_metadata(struct fxt_writer *w, const struct tw_event *event, const struct fxt_written_kind *as);

/* blob_records.c: ends a large blob that is still open. */
void fxt_end_large(struct fxt_writer *w);

#endif
