/* tables.h - the string table and the thread table of a provider in an archive that is written, and what has been
 * told of threads, processes and objects.
 *
 * Names and tracks of the reader's dictionary get an index at their first use, and with it their record. When a table
 * is full what comes later stands in the records. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_WRITE_TABLES_H
#define FXT_WRITE_TABLES_H

#include "base/memory/map.h"
#include "core/format.h"
#include "fxt/write/record.h"

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

/* What has been told of a track. */
struct fxt_described_track {
	uint32_t name; /* 0: none */
	bool written;  /* in the thread table of some provider */
	bool unasked;  /* told, and no record about it has come */
	bool nameless; /* a record tells of it without a name */
};

/* What has been told of tracks and objects: koids mean the same for all providers. */
struct fxt_described {
	struct fxt_described_track *tracks;
	size_t room;
	uint32_t seen;         /* how many tracks the dictionary had when it was last looked at */
	struct tw_map objects; /* the same of objects: objects.h, to the number of the name */
	size_t objects_most;   /* of so many it is known; beyond, all are described once more */
};

struct fxt_tables {
	/* writer.c: */
	struct tw_writer *writer;
	unsigned provider; /* whose tables these are */
	struct fxt_described *described;
	bool big;
	const struct tw_dictionary *dictionary;
	/* string_table.c: */
	uint16_t *strings; /* by name: the index, 0 while there is none */
	size_t string_room, string_count;
	uint16_t own[FXT_OWN_STRINGS];
	struct tw_dictionary *texts; /* registered ones that are no names; NULL: there was none yet */
	uint16_t *text_strings;      /* their indices, by number in `texts` */
	size_t text_room, text_bytes;
	/* thread_table.c: */
	struct fxt_written_thread *threads; /* by track */
	size_t thread_room, thread_count;
	uint32_t tracks_seen; /* how many tracks the dictionary had when it was last looked at */
};

struct fxt_koids {
	uint64_t process, thread;
};

/* thread_table.c: makes room for what the dictionary holds now, and describes the processes that are new. False when
 * there is no memory. */
bool fxt_tables_grow(struct fxt_tables *tables, const struct tw_dictionary *dictionary);

/* thread_table.c: describes once more what has got its name since. */
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

/* thread_table.c: describes the object that an argument of a record refers to, a pointer of this process or a koid,
 * by its name alone, unless that has been done. */
void fxt_describe_object(struct fxt_tables *tables, uint64_t process, const struct tw_argument *argument);

/* thread_table.c: notes that a record about an object is being written. type: TW_ARG_POINTER, with its process, or
 * TW_ARG_KOID. */
void fxt_note_object_name(struct fxt_tables *tables, enum tw_argument_type type, uint64_t process, uint64_t number,
                          uint32_t name);

static inline struct fxt_string_ref fxt_string(struct fxt_tables *tables, uint32_t name)
{
	uint16_t index = name < tables->string_room ? tables->strings[name] : 0;
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

#endif
