/* tool.h - what the command line tool asks of traces, readers and writers beyond the public headers. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_TOOL_H
#define CORE_TOOL_H

#include "core/request.h"

#include <trackway/writer.h>

/* ---- Traces of several files. ---- */

/* Finds the folder of a trace that has several files, one of which a path is, or which it names. *folder: freed by the
 * caller; NULL where a trace is one file. Returns 0 or TW_ERR_MEMORY. */
int tw_trace_place(const char *path, char **folder);

/* Calls `visit` for the path of each file of such a trace, until it returns anything but 0. Returns its result, 0 where
 * a trace is one file, or TW_ERR_MEMORY. */
int tw_trace_files(const char *path, int (*visit)(void *context, const char *file), void *context);

/* Returns text that is the same for all paths of one trace, and of no other; freed by the caller. format: the trace's,
 * NULL for any. NULL where each path is a trace, and without memory. */
char *tw_trace_key_of(const char *path, const char *format);

/* ---- Readers. ---- */

/* Whether each thread of the trace has files of its own. */
bool tw_has_thread_files(const struct tw_reader *reader);

/* Whether the threads of the trace are read apart, so that the reader knows the thread of each finding. */
bool tw_reads_threads_apart(const struct tw_reader *reader);

/* Whether the trace is of stacks with two counts each, before and after. */
bool tw_has_two_counts(const struct tw_reader *reader);

/* Of a trace whose allocations are estimates, after it was read: about how many bytes a sample stands for; 0: they are
 * exact. */
uint64_t tw_sampled_bytes(const struct tw_reader *reader);

/* Whether tw_repair() knows the reader's format. */
bool tw_can_repair(const struct tw_reader *reader);

/* Tells how many bytes of the input have been read, and how many there are; 0 of a merge. Safe from any thread. */
void tw_reader_progress(const struct tw_reader *reader, uint64_t *done, uint64_t *all);

/* Whether an event was made at the edge of a time window, where the reader was asked to mark such events: its record is
 * outside of the window. */
bool tw_was_made(const struct tw_event *event);

/* ---- Writers. ---- */

/* What can be chosen of a target, as bits: the members of struct tw_write_options that it looks at. */
enum { TW_CHOOSES_VERSION = 1, TW_CHOOSES_BYTE_ORDER = 2, TW_CHOOSES_BUFFER_SIZE = 4, TW_CHOOSES_CSV_SAFE = 8 };

/* Returns the choices of a target; 0 where there is none of this name. */
unsigned tw_writer_choices(const char *format);

/* Returns how many bytes a target keeps of each thread, for struct tw_read_options; 0 where there is none of this
 * name. */
size_t tw_writer_thread_cost(const char *format);

/* Returns the endings of other files that a target may write, NULL behind the last; NULL where there are none. */
const char *const *tw_writer_beside(const char *format);

/* The losses of one writer are not more. */
enum { TW_LOSSES = TW_EVENT_KINDS + 16 };

/* Returns how many bytes were written, before compression; 0 for a directory. After tw_finish(). */
uint64_t tw_writer_bytes(const struct tw_writer *writer);

/* What went from a reader to a writer. */
struct tw_copied {
	uint64_t events;                /* without gaps and ends of tracks */
	uint64_t kinds[TW_EVENT_KINDS]; /* the same by kind */
	bool by_kind;                   /* kinds are known: events went one by one */
	uint64_t lost_bytes;            /* damaged bytes of the input */
	int written;                    /* 0, or the writer's negative status */
};

/* Writes all events of a reader and finishes the output. With two jobs (0: as many as there are processors) one thread
 * reads and another writes; a merge of traces of the writer's own format goes to it record by record. The output is the
 * same. Returns 0, or the reader's negative status. */
int tw_copy_events(struct tw_reader *reader, struct tw_writer *writer, unsigned jobs, struct tw_copied *copied);

/* Whether options let the threads of a track through: of which process they are, too. */
bool tw_track_wanted(const struct tw_read_options *options, const struct tw_track *track);

/* Tells which source of a merged trace (from 0) the process of a track, or of a CPU this itself, is of that was met;
 * and the track as the source has it, without its name. False where that is not known: of a reader that merges nothing,
 * and where all are of one machine. */
bool tw_merged_source(const struct tw_reader *merged, const struct tw_track *track, size_t *source,
                      struct tw_track *own);

#endif
