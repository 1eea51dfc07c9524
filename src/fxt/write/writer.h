/* writer.h - what the parts of the FXT writer share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_WRITE_WRITER_H
#define FXT_WRITE_WRITER_H

#include "base/memory/memory.h"
#include "core/ticks.h"
#include "fxt/write/tables.h"

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
	const void *source;
	uint64_t left; /* bytes that it still has room for */
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
	bool cpu_told;
	const void *source; /* merge_records.c: the archive of the event where archives are merged; otherwise NULL */
	/* What has been written: */
	struct fxt_described described; /* thread_table.c */
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

extern const struct fxt_written_kind fxt_written_kinds[TW_EVENT_KINDS];

/* writer.c: goes to the section of a provider. False when there is no memory. */
bool fxt_enter_section(struct fxt_writer *w, unsigned provider);

/* merge_records.c, instead of writer.c: all rows of archives that are merged. As tw_target.join. */
int fxt_join(struct tw_writer *writer, struct tw_reader *merged, struct tw_passed *passed);

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

/* For fxt_written_kinds: an instant for what the format has nothing for, its numbers as arguments; and records of their
 * own. */
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
