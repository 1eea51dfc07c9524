/* chrome.h - the parts of the writer of Chrome's trace event JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_CHROME_CHROME_H
#define EXPORT_CHROME_CHROME_H

#include "core/calls/open_slices.h"
#include "core/format.h"
#include "export/text/args.h"
#include "export/text/spool.h"

enum {
	CHROME_SLOTS = 1 << 16,     /* events that wait for the end of a slice, at most */
	CHROME_TEXT_RING = 4 << 20, /* bytes of their arguments, at most */
};

/* ---- chrome_tracks.c: pid and tid of tracks, and their names. ---- */

enum { CHROME_PREFIX = 40 };

/* What is the same in all events of a track: 64 bytes. */
struct chrome_track {
	char prefix[CHROME_PREFIX]; /* ","pid":1,"tid":2,"ts": */
	uint64_t prefix_size;       /* 0: no event of this track has come yet */
	uint32_t cpu;               /* of its last event, UINT32_MAX at first */
	uint64_t process;
	uint32_t pid, tid;
	uint32_t name; /* as it was written; 0: there was none */
	bool as_read;  /* the numbers are those of the text of its events, and so are its names: nothing is added */
	bool listed;   /* its name stands in a record of scheduling that is written as it was read */
	bool begins_as_read; /* begins of its slices come with their text, and so their ends match nothing here */
	bool system; /* its name, and that of its process, must be written though it may have no event of its own */
};

struct chrome_process {
	uint32_t pid;
	uint32_t track; /* that tells its name, or 0 */
	uint32_t name;  /* as it was written; 0: there was none */
	bool met;
	bool listed; /* its name stands in a record that is written as it was read */
	bool system; /* its name must be written */
};

struct chrome;

/* Makes room for all tracks of a dictionary, and looks for names of processes. Returns 0 or TW_ERR_MEMORY. */
int tw_chrome_tracks_grow(struct chrome *chrome, const struct tw_dictionary *dictionary);

/* Gives a track its numbers at its first event, and writes its names. Without memory chrome->line fails. */
void tw_chrome_meet_track(struct chrome *chrome, uint32_t number);

/* Notes that an event which comes with its text tells the name of a track, or of its process. Returns false where that
 * has been written. */
bool tw_chrome_note_name(struct chrome *chrome, uint32_t number, bool of_process, const struct tw_name *stated);

/* Notes that a record of scheduling which is written as it was read tells the name of a thread, or of a process. */
void tw_chrome_note_listed(struct chrome *chrome, uint32_t number);

/* Whether no event tells the name of a track: it stood in the list of Fuchsia's scheduling. */
bool tw_chrome_is_unnamed(const struct chrome *chrome, uint32_t number);

/* Whether there is such a track. */
bool tw_chrome_has_unnamed(const struct chrome *chrome);

/* Notes that the name of a process must be written. Returns false when there is no memory. */
bool tw_chrome_need_process(struct chrome *chrome, uint64_t process);

/* Whether that was noted. */
bool tw_chrome_needs_process(const struct chrome *chrome, uint64_t process);

/* Writes the names that became known after the first event of their track, and those that must be written and are not
 * written with the scheduling. */
void tw_chrome_tracks_finish(struct chrome *chrome);

void tw_chrome_tracks_free(struct chrome *chrome);

/* ---- chrome_ring.c: events that wait, and the text that they become. ---- */

/* An event that waits. Its text is members of the event itself, then arguments. */
struct chrome_slot {
	uint64_t time, duration;
	uint64_t text;      /* position in the ring of text; where it would be if there is none */
	uint64_t end_text;  /* of the arguments of the slice's end */
	uint32_t root_size; /* of the text: members of the event */
	uint32_t text_size; /* of the text: all */
	uint32_t end_size;
	uint32_t track, name, category; /* names: cached, or 0 */
	uint16_t flags;                 /* TW_FLAG_* that arguments tell */
	uint8_t kind;                   /* enum tw_event_kind: for the name of what has none */
	char phase;                     /* 0: the text is all of the event */
	bool open;                      /* waits for its end; still open when it must go, it goes as "B" */
	bool named;                     /* the text holds the name */
	bool of_kind;                   /* the category is that of the kind */
	char scope;                     /* of an instant, 0: has none, or the text holds it */
};

/* What events of a kind have that have no name, or no category. */
struct chrome_kind {
	char name[TW_NAMES_BEHIND], category[TW_NAMES_BEHIND];
	uint8_t name_size, category_size;
};

/* The milliseconds of the last time, as text: 0 and nothing at first. */
struct chrome_time {
	uint64_t milliseconds;
	size_t size;
	char text[TW_DIGITS_MAX];
};

/* Tracks and processes, and the numbers that they have. Written by chrome_tracks.c. */
struct chrome_tracks {
	struct chrome_track *items; /* by the dictionary's numbers */
	size_t room;
	uint32_t seen;  /* how many the dictionary had when last seen */
	uint64_t moves; /* and how often tracks had got a process */
	struct chrome_process *processes;
	size_t process_room;
	struct tw_map places; /* process to its place in `processes` */
	struct tw_map pids;   /* pids that are taken */
	struct tw_map tids;   /* pid and tid that are taken */
};

/* Events that wait, and their text. Written by chrome_ring.c. */
struct chrome_ring {
	struct chrome_slot *slots;
	uint64_t slot_mask;
	uint64_t head, tail; /* slots that wait: [head, tail), numbers that only grow */
	char *text;
	uint64_t text_mask;
	uint64_t text_head, text_tail;
	size_t slots_most, text_most;
};

/* Stacks of samples. Written by chrome_frames.c. */
struct chrome_stacks {
	bool *needed; /* by number of the stack */
	size_t room;
	uint32_t last; /* of those; 0: there is none */
	int aside;     /* where events wait for the frames, -1: they do not */
};

/* Scheduling, which stands behind the events. Written by chrome_system.c. */
struct chrome_system {
	struct tw_spool spool;
};

struct chrome {
	struct chrome_kind kinds[TW_EVENT_KINDS];
	struct tw_names names;
	struct tw_args args;
	struct tw_writer *writer;
	const struct tw_dictionary *dictionary; /* when last seen */
	struct chrome_tracks tracks;
	struct tw_open_slices *open; /* by track */
	size_t open_tracks;
	struct tw_open_room open_room;
	struct chrome_ring ring;
	struct tw_line line; /* text of the event at hand */
	struct chrome_stacks frames;
	struct chrome_system system;
	struct chrome_time time;
	struct { /* of events that are written as they were read */
		const struct tw_text
		    *document; /* the text around them; NULL: no events are written as they were read */
		const struct tw_text *read_frames; /* what is "stackFrames" in front of our own; NULL: there are none */
		bool has_texts;                    /* an event has come with its text */
		bool unchanged; /* of one trace: events have the times, numbers and ids that they had */
		bool apart;     /* samples come one by one; their frames go into the "stackFrames" that were read */
	} source;
	uint64_t start; /* of the trace */
	bool begun;     /* the head of the file is written */
	bool some;      /* an event is written */
};

/* Makes rings that grow up to these sizes, which must be powers of two; that of text at least four times ARGS_MAX.
 * Called before the first event. Returns 0 or TW_ERR_MEMORY. */
int tw_chrome_ring_new(struct chrome *chrome, size_t slots, size_t text);

/* Copies bytes, of which there are some, into the ring of text, for the slot that is made or completed next; what waits
 * longest goes out where there is no room. Returns the position. */
uint64_t tw_chrome_ring_text(struct chrome *chrome, struct tw_output *out, const char *bytes, size_t size);

/* Makes room for another slot: the ring grows where the first one is still open and it may. Otherwise the first event
 * that waits is written, and all complete ones after it. */
void tw_chrome_ring_make_room(struct chrome *chrome, struct tw_output *out);

/* The slot of the next event, which nobody else uses; tw_chrome_ring_add() puts it behind those that wait. */
static inline struct chrome_slot *tw_chrome_ring_next(struct chrome *chrome)
{
	return &chrome->ring.slots[chrome->ring.tail & chrome->ring.slot_mask];
}

static inline void tw_chrome_ring_add(struct chrome *chrome, struct tw_output *out)
{
	if (++chrome->ring.tail - chrome->ring.head > chrome->ring.slot_mask)
		tw_chrome_ring_make_room(chrome, out);
}

/* The slot of that number, or NULL when it has gone out. */
static inline struct chrome_slot *tw_chrome_ring_slot(struct chrome *chrome, uint64_t number)
{
	return number >= chrome->ring.head ? &chrome->ring.slots[number & chrome->ring.slot_mask] : NULL;
}

/* Writes all that wait; open slices go as "B". */
void tw_chrome_ring_flush(struct chrome *chrome, struct tw_output *out);

/* ---- chrome_text.c: events that come with their own text. ---- */

struct chrome_context;

/* The text of an event's record: TW_RAW_TEXT; NULL where it has none. */
static inline const struct tw_argument *tw_chrome_text_of(const struct tw_event *event,
                                                          const struct tw_argument *arguments)
{
	const struct tw_argument *argument = event->argument_count == 1 ? arguments + event->first_argument : NULL;
	return argument && argument->raw == TW_RAW_TEXT ? argument : NULL;
}

/* Writes an event as it was read, but for what became of it: its track among those of other traces, its times, or that
 * the event before, which told the CPU, is left out. */
int tw_chrome_take_text(const struct chrome_context *context, const struct tw_event *event, uint32_t track,
                        const struct tw_argument *text);

/* ---- chrome_frames.c: stacks of samples. ---- */

/* Called when the head of the document is written, but for the beginning of the events: those of a trace of samples
 * wait for the frames. */
void tw_chrome_frames_begin(struct chrome *chrome, const struct tw_reader *reader);

/* Adds the stack of a sample to chrome->line, as members of the event. */
void tw_chrome_add_frame(struct chrome *chrome, uint32_t stack);

/* Writes the frames, the events that wait for them, and the end of the events. */
void tw_chrome_frames_end(struct chrome *chrome);
void tw_chrome_frames_free(struct chrome *chrome);

/* ---- chrome_system.c: scheduling. ---- */

void tw_chrome_system_begin(struct chrome *chrome, const struct tw_reader *reader);

/* Takes a switch or a wake-up. Returns 0 or TW_ERR_MEMORY. */
int tw_chrome_take_scheduling(const struct chrome_context *context, const struct tw_event *event, uint32_t track);

/* Takes a message of a log that stood in such a list. Returns 0 or TW_ERR_MEMORY. */
int tw_chrome_take_message(const struct chrome_context *context, const struct tw_event *event, uint32_t track);

/* Takes what stands in chrome->line behind a comma. Returns 0 or TW_ERR_MEMORY. */
int tw_chrome_system_add(struct chrome *chrome);

/* Takes an object that says no more than the name of its process or thread. False: it is another one. */
bool tw_chrome_take_name(const struct chrome_context *context, const struct tw_event *event, uint32_t track);

/* Writes all behind the events, with the names of those whom it is about. Returns 0 or an errno. */
int tw_chrome_system_finish(struct chrome *chrome);

static inline bool tw_chrome_has_system(const struct chrome *chrome)
{
	return tw_spool_has(&chrome->system.spool, 0);
}

/* ---- chrome_args.c: what stands in "args". ---- */

/* What a batch is written with. */
struct chrome_context {
	struct chrome *chrome;
	struct tw_writer *writer;
	const struct tw_dictionary *dictionary;
	const struct tw_name *names; /* of the dictionary */
	uint32_t name_count;
	const struct tw_argument *arguments; /* of the batch */
	bool has_cpu;                        /* the trace tells the CPU of each event */
};

/* How one of an event's numbers (value, id, other) is written. */
enum chrome_number_form {
	CHROME_NOT_WRITTEN,
	CHROME_PLAIN_NUMBER, /* in args, as all up to CHROME_THREAD */
	CHROME_NOT_ZERO,     /* a number; 0 is left out */
	CHROME_HEX,
	CHROME_THREAD,   /* of a track: the number of the thread; 0 is left out */
	CHROME_ROOT_ID,  /* "id" of the event itself, as all from here on */
	CHROME_LOCAL_ID, /* "id2", local to the process */
	CHROME_FRAME,    /* "sf" of a stack; 0 is left out */
};

struct chrome_number {
	enum chrome_number_form form;
	const char *key; /* in args */
};

/* What events of a kind become. */
struct chrome_shape {
	int (*take)(const struct chrome_context *context, const struct tw_event *event, uint32_t track);
	char phase;           /* "ph" */
	bool open;            /* an end follows */
	bool unmet;           /* its track needs no names for it */
	uint16_t flags;       /* that args tell */
	bool scope;           /* has "s" */
	bool cpu;             /* args may tell the CPU */
	bool approximated;    /* the format has nothing of the kind: an instant stands for it */
	const char *category; /* of events without one: the phase needs it, or it tells what the event is */
	bool own_category;    /* it has no other category: a reader knows its kind by that */
	const char *root;     /* more members of the event itself, as text */
	struct chrome_number value, id, other;
};

/* What is "prio" of a switch or a wake-up: the weights that its arguments tell, or its priorities. */
struct chrome_prios {
	const struct tw_argument *sides[2]; /* of the thread that leaves or wakes, and of the one that comes; or NULL */
	bool legacy;                        /* they are priorities */
};

struct chrome_prios tw_chrome_prios_of(const struct chrome_context *context, const struct tw_event *event);

/* Adds the members of an event's "args", but for what is "prio", to chrome->line, whose first root_size bytes are other
 * members of the event. What has no room is counted as a loss. */
void tw_chrome_args(const struct chrome_context *context, const struct tw_event *event, uint32_t track,
                    const struct chrome_shape *type, size_t root_size);

#endif
