/* writer.h - what the parts of the FXT writer share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_WRITE_WRITER_H
#define FXT_WRITE_WRITER_H

#include "base/memory/memory.h"
#include "core/ticks.h"
#include "fxt/write/intern.h"

enum {
	FXT_PROVIDER = 1, /* of events that have none */
	FXT_BYTE_MAX = 255
};

/* Nanoseconds to ticks as tw_ticks_of() has it; near a base 64 bits do. */
struct fxt_clock {
	uint64_t frequency;
	uint64_t base_ns, reach; /* reach: how far from the base */
	uint64_t base_ticks, base_rest;
};

/* A provider of the archive: records mean what its tables and its clock say. */
struct fxt_section {
	uint32_t id;
	struct fxt_intern intern;
	struct fxt_clock clock;
};

/* The large blob record whose bytes come in parts, one behind the other. */
struct fxt_large {
	struct tw_event event; /* of its first part */
	const void *source;
	uint64_t left; /* bytes that it still has room for */
	bool open;
	int aside; /* a file for what comes between its parts; -1: none yet */
};

struct fxt_writer {
	struct tw_writer *writer;
	struct fxt_section *sections[TW_PROVIDERS_MAX + 1]; /* by number of the provider; NULL: it has nothing yet */
	unsigned provider;                                  /* whose section it is */
	struct fxt_intern *intern;                          /* of that; NULL: nothing has been written */
	struct fxt_clock *clock;                            /* the same */
	struct fxt_described described;
	const struct tw_dictionary *dictionary;
	uint64_t source_frequency;
	uint64_t wall_ns;                    /* time of day at time 0; 0: not known */
	const struct tw_argument *arguments; /* of the batch */
	struct tw_text stack;                /* of the event that is written */
	bool crowded;                        /* there are more providers than numbers for them */
	bool cpu_told;
	bool failed;       /* no memory: something is missing */
	bool foreign;      /* the events, or some of them, are of another format */
	bool one_provider; /* of all events: they are of another format, or merged */
	bool in_parts;     /* the last blob that is no large record said that more of it follows */
	struct fxt_large large;
	const void *source;    /* where archives are merged: that of the event; otherwise NULL */
	const char *directory; /* for temporary files, NULL: /tmp */
};

/* An argument and its name as it will stand in the record. */
struct fxt_item {
	struct fxt_label name;
	const struct tw_argument *argument;
	uint16_t text; /* the string record that has the text, if one was written for it */
};

enum { FXT_LONG_TEXT = 256 }; /* bytes of a text that is registered where a record does not hold all arguments */

/* The arguments of a record. */
struct fxt_items {
	unsigned count;
	unsigned made_count;
	struct tw_argument made[6]; /* those that the event has as numbers and flags, and of its stack */
	struct fxt_item items[TW_FXT_ARGUMENTS_MAX];
};

/* What stands behind the arguments of an event. */
enum fxt_tail { FXT_NO_TAIL, FXT_TAIL_SCOPE, FXT_TAIL_ID, FXT_TAIL_END };

/* How one of the event's numbers is told where it has no place: as an argument; TW_ARG_NULL: it is not. TW_ARG_TEXT: it
 * is a stack, and told by its functions. */
struct fxt_told {
	enum tw_argument_type type;
	enum fxt_own name;
};

/* What each kind becomes. */
struct fxt_shape {
	void (*put)(struct fxt_writer *w, const struct tw_event *event, const struct fxt_shape *shape);
	enum tw_fxt_kind kind;
	enum fxt_tail tail;
	enum fxt_own name; /* of an event that has none */
	struct fxt_told value, id, other;
	bool no_id; /* an id of 0 is none: nothing to tell */
};

extern const struct fxt_shape fxt_shapes[TW_EVENT_KINDS];

/* writer.c: goes to the section of a provider. False when there is no memory. */
bool fxt_turn_to(struct fxt_writer *w, unsigned provider);

/* writer.c, or join.c instead of it: all rows of archives that are merged. As tw_target.join. */
int fxt_join(struct tw_writer *writer, struct tw_reader *merged, struct tw_passed *passed);

/* The document's header of an event, but for its size and the number of arguments. */
static inline uint64_t fxt_event_header(enum tw_fxt_kind kind, uint64_t thread, uint64_t category, uint64_t name)
{
	return TW_FXT_TYPE_EVENT | (uint64_t)(kind - TW_FXT_INSTANT) << 16 | thread << 24 | category << 32 | name << 48;
}

/* The same of a context switch or a wake-up. */
static inline uint64_t fxt_scheduling_header(enum tw_fxt_kind kind, uint64_t cpu, uint64_t state, uint64_t arguments)
{
	uint64_t type = (uint64_t)(kind - TW_FXT_LEGACY_CONTEXT_SWITCH);
	return TW_FXT_TYPE_SCHEDULING | arguments << 16 | cpu << 20 | state << 36 | type << 60;
}

static inline uint64_t fxt_scope_of(uint16_t flags)
{
	if (flags & TW_FLAG_GLOBAL)
		return 2;
	return flags & TW_FLAG_PROCESS ? 1 : 0;
}

/* Words that arguments must leave for what stands behind them. The scope of a thread is what instants without a scope
 * have: where there is no room, it needs no word. */
static inline size_t fxt_tail_words(enum fxt_tail tail, uint16_t flags)
{
	return tail != FXT_NO_TAIL && (tail != FXT_TAIL_SCOPE || fxt_scope_of(flags));
}

static inline void fxt_put_scope(struct fxt_put *put, uint16_t flags)
{
	if (fxt_put_left(put))
		fxt_put_word(put, fxt_scope_of(flags));
}

/* Moves the base of the clock to a time, or shortly before it. */
void fxt_move_clock(struct fxt_clock *clock, uint64_t ns);

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

static inline uint64_t fxt_ticks_of(struct fxt_writer *w, uint64_t ns)
{
	struct fxt_clock *clock = w->clock;
	if (ns - clock->base_ns >= clock->reach)
		fxt_move_clock(clock, ns);
	if (clock->reach == 0)
		return tw_ticks_of(ns, clock->frequency);
	uint64_t product = (ns - clock->base_ns) * clock->frequency + clock->base_rest;
	if (product % TW_NS_PER_SECOND + clock->frequency < TW_NS_PER_SECOND)
		fxt_loss(w, "time", true); /* the next tick is a nanosecond later at least */
	return clock->base_ticks + product / TW_NS_PER_SECOND;
}

static inline const struct tw_argument *fxt_first_argument(const struct fxt_writer *w, const struct tw_event *event)
{
	return event->argument_count ? &w->arguments[event->first_argument] : NULL;
}

static inline void fxt_put_koids(const struct fxt_writer *w, struct fxt_put *put, uint32_t track)
{
	struct fxt_koids koids = fxt_koids_of(w->intern, track);
	fxt_put_word(put, koids.process);
	fxt_put_word(put, koids.thread);
}

/* The arguments of a record are gathered before it begins, because their names may have to be written first. */

/* Adds the event's arguments from number `first` on. */
void fxt_add_arguments(struct fxt_writer *w, struct fxt_items *items, const struct tw_event *event, unsigned first);

/* Adds an argument that the event has as a number or flag. */
void fxt_add_made(struct fxt_writer *w, struct fxt_items *items, enum fxt_own name, enum tw_argument_type type,
                  uint64_t value);

/* Adds a stack as a text that lives until the next one, and where its innermost frame is; none for the empty stack. */
void fxt_add_stack(struct fxt_writer *w, struct fxt_items *items, enum fxt_own name, uint32_t stack);

/* Puts the arguments and leaves room for `reserved` words. Returns how many there are. */
uint64_t fxt_put_items(struct fxt_writer *w, struct fxt_put *put, const struct fxt_items *items, size_t reserved);

/* An argument that tells a field of a record. */
struct fxt_field {
	const char *name;
	enum tw_argument_type type;
	uint64_t most; /* of a number, or of bytes their size */
};

/* Whether an event's arguments from number `first` on are these, and no others. */
bool fxt_has_fields(const struct fxt_writer *w, const struct tw_event *event, const struct fxt_field *fields,
                    unsigned count, unsigned first);

/* For the shapes: an instant for what the format has nothing for, its numbers as arguments; and records of their
 * own. */
void fxt_put_stand_in(struct fxt_writer *w, const struct tw_event *event, const struct fxt_shape *shape);
void fxt_put_scheduling(struct fxt_writer *w, const struct tw_event *event, const struct fxt_shape *shape);
void fxt_put_sample(struct fxt_writer *w, const struct tw_event *event, const struct fxt_shape *shape);
void fxt_put_log(struct fxt_writer *w, const struct tw_event *event, const struct fxt_shape *shape);
void fxt_put_object(struct fxt_writer *w, const struct tw_event *event, const struct fxt_shape *shape);
void fxt_put_blob(struct fxt_writer *w, const struct tw_event *event, const struct fxt_shape *shape);
void fxt_put_lost(struct fxt_writer *w, const struct tw_event *event, const struct fxt_shape *shape);
void fxt_put_metadata(struct fxt_writer *w, const struct tw_event *event, const struct fxt_shape *shape);

/* writer_blobs.c: ends a large blob that is still open. */
void fxt_end_large(struct fxt_writer *w);

#endif
