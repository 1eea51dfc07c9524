/* xtrace.h - xtrace inside the library: sets of files, and cursors over their tokens and snapshots. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XTRACE_XTRACE_H
#define XTRACE_XTRACE_H

#include "base/options.h"
#include "core/format.h"
#include "xtrace/format/rules.h"

#include <trackway/xtrace.h>

extern const struct tw_format tw_format_xtrace;

/* ---- set.c: which files belong together. ---- */

enum { XTRACE_TRACKS_MAX = 1 << 14 };

/* A pair of files, or several data files and their snapshots: what one thread or core did. */
struct xtrace_track {
	struct tw_xtrace_name name; /* all 0 where the bytes came without one */
	char *data, *snapshots;     /* paths; NULL where there is no such file */
	struct {
		char **paths;
		size_t count, room;
	} more;             /* data files that go on where the first ends, by start time */
	bool core;          /* of a core, not of a thread */
	bool shares_number; /* there is a stream of the other hint with the same number */
};

struct xtrace_set {
	struct xtrace_track *tracks; /* by hint and number */
	size_t count, room;
};

/* Whether a path names a directory with files of a set, or one of them. */
bool xtrace_claims(const char *path);

/* Writes what tells the set of a path, of a directory or of a file in it, from others. False where it is of none. */
bool xtrace_key(const char *path, char key[static TW_TRACE_KEY_SIZE]);

/* Lists the files of the set that a path names. Returns 0 or a negative status. */
int xtrace_set_open(struct tw_reader *reader, const char *path, struct xtrace_set *set);
void xtrace_set_free(struct xtrace_set *set);

/* ---- beside.c: the list of mappings that may lie beside a set, as `record` writes it. ---- */

/* Its path in a directory. Freed by the caller; NULL where the files have no names, and without memory. */
char *xtrace_list_place(const struct xtrace_set *set, const char *directory);

/* Copies it to a directory, if there is one; its bytes are added to `written`. Returns 0 or a negative status. */
int xtrace_list_copy(struct tw_reader *reader, const struct xtrace_set *set, const char *directory, uint64_t *written);

/* ---- listing.c: names of files. ---- */

/* Takes a file's name apart as tw_xtrace_name_parse(); what is compressed may end in .gz or .zst. False: it is none. */
bool xtrace_name_of(const char *text, struct tw_xtrace_name *name);

/* ---- parts.c: several data files of a track, as if they were one. ---- */

/* One of them. Offsets of tokens count over all. */
struct xtrace_part {
	const char *path;
	uint64_t begin, size; /* where the file begins in the stream; its bytes, unpacked */
};

struct xtrace_parts {
	struct xtrace_part *items; /* NULL: there is one data file */
	size_t count;
	size_t now;     /* the one that is open */
	uint64_t begin; /* its begin; 0 of a single file */
	bool briefly;   /* it is open only while it is read */
};

struct xtrace_files;

/* Measures them. Returns 0 or a negative status. */
int xtrace_parts_open(struct xtrace_files *files);
void xtrace_parts_close(struct xtrace_files *files);

/* Opens the one that has what stands at *offset, which becomes that of its first token where it is its beginning.
 * Returns 0 or a negative status. */
int xtrace_parts_advance(struct xtrace_files *files, uint64_t *offset);

/* Finds where the tokens of the data file begin that is open. Returns 0 or a negative status. */
int xtrace_parts_start(struct xtrace_files *files, uint8_t *start);

/* Finds the one that has what stands at an offset: NULL of a single file. */
const struct xtrace_part *xtrace_parts_at(const struct xtrace_files *files, uint64_t offset);

/* ---- files.c: the two files of a track, opened. ---- */

struct xtrace_files {
	struct tw_reader *reader;
	const struct xtrace_track *track;
	struct tw_input *data, *snapshots;      /* NULL where there is none */
	const char *data_name, *snapshots_name; /* in findings */
	bool own_data;                          /* data is not the reader's */
	struct xtrace_parts parts;              /* of several data files, one after the other */
	bool has_layout;                        /* the snapshot file can be read */
	bool has_header;                        /* its header can, perhaps without snapshots behind it */
	size_t head_size;                       /* of the snapshot file: bytes before the first snapshot */
	struct tw_xtrace_layout layout;
	struct tw_xtrace_header header;
	struct tw_window data_window, snapshot_window; /* at their starts */
};

/* Opens them and finds their layout. What cannot be read is reported. Close it in any case. Returns 0 or a
 * negative status. */
int xtrace_files_open(struct xtrace_files *files, struct tw_reader *reader, const struct xtrace_track *track);
void xtrace_files_close(struct xtrace_files *files);

/* Whether the header of a snapshot file says that the stream is of a core. What cannot be read says nothing. */
bool xtrace_is_of_core(const char *path, const struct tw_xtrace_layout *layout, unsigned known);

/* All files of a set are read side by side, from their starts: each keeps little in memory, and of many none open.
 * Snapshots are closed. */
void xtrace_files_thin(struct xtrace_files *files);

/* Reports a finding in the data file, or in the snapshot file. */
void xtrace_report(const struct xtrace_files *files, bool snapshots, enum xtrace_rule rule, uint64_t record,
                   uint64_t at, const char *format, ...) __attribute__((format(printf, 6, 7)));

/* ---- cursor.c: the tokens of a data file, over damage. ---- */

struct xtrace_cursor {
	struct xtrace_files *files;
	uint64_t offset;      /* of the token that was given last */
	uint64_t next;        /* of the one behind it */
	uint64_t gap;         /* unknown: bytes that are no tokens */
	uint64_t lost_bytes;  /* of all gaps so far, and behind the last token */
	const uint8_t *bytes; /* held, from `next` on */
	size_t left;
};

void xtrace_cursor_init(struct xtrace_cursor *cursor, struct xtrace_files *files);

/* Gives the next token, which lives until the next call. A gap is a token of unknown kind: it was reported.
 * Returns 1, 0 at the end, or a negative status. */
int xtrace_cursor_next(struct xtrace_cursor *cursor, struct tw_xtrace_token *token);

/* The byte of the token that comes next; -1 where there is none. Payloads of tokens do not outlive it. */
int xtrace_cursor_peek(struct xtrace_cursor *cursor);

/* ---- snapshots.c: the snapshots of a track, over damage. ---- */

struct xtrace_snapshots {
	struct xtrace_files *files;
	uint64_t offset; /* of the snapshot that was given last */
	uint64_t next;
	uint64_t number; /* given so far */
	uint64_t lost_bytes;
	struct tw_xtrace_snapshot last;
	/* The index of the last one, over all data files: UINT64_MAX where it is of a file that is not there. */
	uint64_t place;
	uint64_t first_file; /* the number of the first one's data file */
};

void xtrace_snapshots_init(struct xtrace_snapshots *snapshots, struct xtrace_files *files);

/* Gives the next snapshot as `last`, which lives until the next call. Returns 1, 0 at the end, or a negative status. */
int xtrace_snapshots_next(struct xtrace_snapshots *snapshots);

/* Reports that no instruction is where the index of the last one says. */
void xtrace_snapshots_report_index(const struct xtrace_snapshots *snapshots);

/* ---- parallel_tracks.c: tracks side by side. ---- */

/* Takes a track, in a thread. part: a reader of this track alone, which closes with it. Returns 0 or a negative
 * status. */
typedef int (*xtrace_take_fn)(void *context, struct tw_reader *part, size_t track);

/* Told that a track was taken, with what status: one track after the other, in their order. Returns 0 or a negative
 * status; that of the track where it is negative. */
typedef int (*xtrace_taken_fn)(void *context, size_t track, int status);

/* Takes all tracks that are wanted, several at once. What is found is told by the reader as if it were one after the
 * other, up to the first that fails, which it then explains. jobs: threads; 0: as many as there are processors. taken:
 * NULL, or a thread waits for it before it takes another track. Returns 0 or a negative status. */
int xtrace_take_all(struct tw_reader *reader, unsigned jobs, xtrace_take_fn take, xtrace_taken_fn taken, void *context);

/* ---- The jobs of the format. ---- */

struct xtrace_events;
struct xtrace_records;
struct xtrace_survey;

/* What a reader keeps. */
struct xtrace_reader {
	struct xtrace_set set;
	struct tw_xtrace_layout layout; /* as far as the options tell it */
	unsigned known;
	struct tw_xtrace_read_options options; /* that are for xtrace alone */
	struct xtrace_events *events;          /* made when events are asked for */
	struct xtrace_records *records;        /* the same for records */
	struct xtrace_survey *survey;          /* the same for info */
};

static inline struct xtrace_reader *xtrace_of(const struct tw_reader *reader)
{
	return reader->state;
}

static inline const struct tw_xtrace_read_options *xtrace_options(const struct tw_reader *reader)
{
	return &xtrace_of(reader)->options;
}

/* What --xtrace-layout wants, for the text of an error. */
extern const char xtrace_layout_wanted[];

/* "out of memory", as a status. */
/* The number of the track of a pair of files; UINT32_MAX when there is no memory. */
uint32_t xtrace_track_number(struct tw_reader *reader, const struct xtrace_track *track);

/* Who names the functions of a track, NULL: nobody; and the number of its program, 0: the one of all that have none. */
struct xtrace_names {
	const struct tw_namer *namer;
	uint32_t program;
};
struct xtrace_names xtrace_names_of(const struct tw_reader *reader, const struct xtrace_track *track);

/* Which of the set a track of the dictionary is. */
size_t xtrace_member(const struct tw_reader *reader, uint32_t track);

int xtrace_read(struct tw_reader *reader, struct tw_batch *batch);
void xtrace_events_free(struct xtrace_events *events);

int xtrace_read_record(struct tw_reader *reader, struct tw_record *record);
void xtrace_records_free(struct xtrace_records *records);

int xtrace_repair(struct tw_reader *reader, struct tw_output *out, struct tw_rewrite_result *result);
int xtrace_rewrite_set(struct tw_reader *reader, const char *directory, bool repairs, struct tw_rewrite_result *result);

int xtrace_info(struct tw_reader *reader, unsigned jobs, struct tw_info *info);
void xtrace_survey_free(struct xtrace_survey *survey);

#endif
