/* events.h - from pieces to events: findings, rows, the names of objects, arguments. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_EVENTS_EVENTS_H
#define FXT_EVENTS_EVENTS_H

#include "core/format.h"
#include "fxt/walk/chunk.h"

/* ---- Findings: from a note to a sentence. ---- */

/* Reports what was noted. */
void fxt_report(struct tw_reader *reader, const struct fxt_note *note);

/* What has been reported of an archive, once. All zero: nothing. */
struct fxt_reported {
	struct tw_map by_number; /* rule and number; to be freed */
	uint64_t ring;           /* the provider, and 1, of which the last loss was what its ring overwrote; 0: none */
	bool limit;              /* that the tables are full */
};

/* Reports the notes of a chunk in the order of its records, those of some rules once for each number, and forgets
 * them. Nothing is told of references to what the full tables may have left out, but that they are full. */
void fxt_report_notes(struct tw_reader *reader, const struct fxt_state *state, struct fxt_reported *reported,
                      struct fxt_chunk *chunk);

/* What is wrong with a piece; false when nothing is. */
bool fxt_note_of(const struct fxt_chunk *chunk, const struct fxt_piece *piece, struct fxt_note *note);

/* ---- What of a chunk's rows needs the dictionary, done in the order of the archive. ---- */

/* The blob whose bytes come in parts. */
struct fxt_blob_row {
	struct tw_event event;
	uint32_t argument; /* name of the bytes */
	uint64_t left;     /* bytes still to come */
};

struct fxt_commit {
	struct tw_reader *reader;
	struct fxt_state *state;
	struct tw_map objects; /* struct fxt_object to name */
	struct fxt_reported reported;
	struct fxt_blob_row blob;
	bool sorts; /* rows are wanted in the order of time */
	struct tw_slab_scratch sort;
	bool timed;            /* there was a row with a time of its own */
	uint64_t time;         /* of the last one */
	uint64_t *piece_times; /* by name: of the last blob that had none */
	size_t piece_room;
	uint64_t lost_bytes;
};

/* Completes the rows of the next chunk, and reports what was found in it: of one that has failed nothing. */
void fxt_commit(struct fxt_commit *commit, struct fxt_chunk *chunk);
void fxt_commit_free(struct fxt_commit *commit);

/* ---- Archives that are written thread by thread. ---- */

/* What the times of a track are later by while its rows are put in order: so those of the next thread come where those
 * of the one before have ended, and the window is one over each thread. */
struct fxt_delay {
	uint64_t ns;
	bool known; /* the track has been met */
};

/* All zero to begin. */
struct fxt_delays {
	struct fxt_delay *items; /* by track */
	size_t room;
	uint64_t latest; /* time so far, delayed */
};

/* Delays the rows of the next chunk. False without memory. */
bool fxt_delay(struct fxt_delays *delays, struct tw_slab *slab, struct tw_slab_scratch *scratch);

/* Gives rows their own times. */
void fxt_end_delay(const struct fxt_delays *delays, struct tw_event *events, size_t count);

/* ---- The names of kernel and userspace objects, as far as records have described them. ---- */

/* An object, as the key of a map of names. Each provider has objects of its own. A koid is one for the whole system, so
 * what others said of it holds where its own provider said nothing: Fuchsia's kernel names what programs refer to. */
struct fxt_object {
	uint64_t own; /* of the provider */
	uint64_t all; /* of the archive; pointers: 0 */
};

/* The object of a pointer in a process, or of a koid. */
struct fxt_object fxt_object_of(bool pointer, const struct fxt_provider *provider, uint64_t process, uint64_t number);

/* The same of what is written. whose: the number of the provider. */
struct fxt_object fxt_written_object(bool pointer, uint32_t whose, uint64_t process, uint64_t number);

/* Gives an object a name, within the memory limit of the state. */
void fxt_object_learn(struct tw_map *names, struct fxt_state *state, struct fxt_object object, uint32_t name);

/* The name, 0 where there is none. */
uint32_t fxt_object_name(const struct tw_map *names, struct fxt_object object);

/* Notes what the record of a kernel object at a place tells of events that were dropped or overwritten. */
void fxt_note_losses(struct fxt_chunk *chunk, const struct tw_fxt_record *record, size_t place);

/* ---- Arguments of records, whose names and texts are references, to those of rows. ---- */

/* What the arguments of a record are for sure, whose sizes are right. */
enum fxt_arguments_are {
	FXT_REGISTERED, /* nothing that they refer to is missing */
	FXT_VALUES,     /* the same, of one or two words */
	FXT_GOOD,       /* the same, or they are texts in ASCII: none breaks a rule */
	FXT_NUMBERS     /* the same, and numbers */
};

/* Where `count` arguments end that begin at a place `at`, if they are that; 0 otherwise. place: of their record. */
size_t fxt_arguments_end(struct fxt_chunk *chunk, size_t place, size_t at, uint64_t count, enum fxt_arguments_are are);

/* Whether the references of the arguments of an event are registered whose thread and names are references. */
static inline bool fxt_has_registered(struct fxt_chunk *chunk, uint64_t header, size_t place)
{
	const uint64_t count = tw_bits(header, 20, 23);
	return count == 0 || fxt_arguments_end(chunk, place, place + (size_t)2 * TW_FXT_WORD, count, FXT_REGISTERED);
}

/* The argument at a place of the chunk, one of FXT_VALUES; offset: of its record. */
struct tw_argument fxt_value_at(struct fxt_chunk *chunk, size_t at, uint64_t header, uint64_t offset);

/* Adds a fix for an argument of the last row, a pointer or koid: its object may have a name when the row is
 * committed. */
void fxt_refer(struct fxt_chunk *chunk, const struct tw_argument *argument, unsigned number, uint64_t process);

/* Makes an argument of the last row a number, where that is a counter and the text is one. */
void fxt_count_text(const struct tw_slab *slab, struct tw_argument *argument);

/* Adds such arguments of an event at a place to the last row. */
void fxt_add_values(struct fxt_chunk *chunk, size_t place, uint64_t count, uint64_t process);

#endif
