/* merge.h - several readers as one, in time order. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_MERGE_MERGE_H
#define CORE_MERGE_MERGE_H

#include "core/format.h"
#include "core/merge/mapping.h"
#include "core/order/slab.h"
#include "core/order/spill.h"

enum {
	TW_MERGE_DIRECT = 256, /* traces that are open at once, at most */
	TW_MERGE_BATCH = TW_SLAB_BLOCK
};

__extension__ typedef __int128 tw_wide;

/* How the times of a trace change: (time - pivot) * to / from + pivot + shift. */
struct tw_merge_time {
	uint64_t pivot;
	uint64_t from, to; /* equal where clocks do not drift */
	tw_wide shift;     /* ns */
};

/* One of the traces. */
struct tw_merge_trace {
	char *path;
	int64_t offset_ns;
	bool left_out;         /* it is no trace: nothing is read of it */
	bool some;             /* it has rows: known after the first read */
	struct tw_clock clock; /* as it was then */
	struct tw_merge_time time;
};

/* Where rows come from: a trace, or a run of a temporary file. */
struct tw_merge_input {
	struct tw_reader *reader;     /* NULL: it is a run */
	struct tw_merge_trace *trace; /* of a reader */
	struct tw_spill_cursor run;
	struct tw_batch batch;
	size_t next;   /* rows of the batch before this one are delivered */
	uint64_t head; /* time of that row in the merged trace */
	bool ended;
	struct tw_merge_time time;
	struct tw_mapping *mapping; /* to the merged trace; NULL: rows are handed on as they are */
	struct tw_mapping own;      /* of a reader */
};

/* The time of an input's next row, and the input's number from 1 on. One without a row goes last. */
struct tw_merge_head {
	uint64_t time, number;
};

struct tw_merge_many;
struct tw_merge;

/* What is special about traces that are logs of one file. */
struct tw_merge_logs {
	/* How they are brought together, once it is known when each begins. */
	enum tw_alignment (*alignment)(struct tw_reader *merged);
	void (*close)(struct tw_merge *merge);
};

struct tw_merge {
	struct tw_merge_trace *traces;
	const char **paths; /* of those that are open: options.before of the next */
	size_t trace_count, left_out;
	struct tw_merge_input *inputs;
	size_t count, room;
	struct {
		/* The first of all; by place in the tree what lost there; and the inputs, while it is made. */
		struct tw_merge_head *items;
		size_t room;
	} heads;
	struct tw_merge_options options;
	struct tw_homes homes;
	bool started;
	struct {
		struct tw_batch_room room; /* where its rows go: the own, or what the caller offers */
		size_t event_count, argument_count;
		struct tw_event events[TW_MERGE_BATCH]; /* the own */
		struct tw_argument *arguments;
		size_t argument_room;
		uint8_t *bytes; /* of a row that is more than a block of its run */
		size_t byte_room;
	} batch;
	struct tw_merge_many *many;      /* more traces than are open at once; otherwise NULL */
	uint64_t findings[TW_ERROR + 1]; /* of traces that are closed */
	struct {
		struct tw_text text; /* tw_traits.document */
		bool taken;
	} documents;
	struct { /* the traces are logs of it: logs.c writes it */
		const struct tw_merge_logs
		    *logs;                     /* they are of one file: logs.c, which writes the rest; otherwise NULL */
		struct tw_format format;       /* of them */
		struct tw_logs_survey *survey; /* NULL: not asked for */
	} one_file;
};

/* ---- align.c ---- */

/* Returns a trace's name as it is shown. */
const char *tw_merge_name(const struct tw_merge_trace *trace);

/* Brings the clocks together, once it is known which inputs have `some`. Returns 0 or a negative status. */
int tw_merge_align(struct tw_reader *merged);

/* Returns what a time becomes, which may be below 0 or beyond 64 bits. */
static inline tw_wide tw_merge_moved(const struct tw_merge_time *how, uint64_t time)
{
	tw_wide away = (tw_wide)time - how->pivot;
	if (how->from != how->to)
		away = away / how->from * how->to + away % how->from * how->to / how->from;
	return away + how->pivot + how->shift;
}

/* Whether tw_merge_time() raises it to 0. */
static inline bool tw_merge_raises(const struct tw_merge_time *how, uint64_t time)
{
	return tw_merge_moved(how, time) < 0;
}

/* What a time becomes. Nearly all are within 63 bits, of clocks that do not drift. `make bench` measures merge. */
static inline uint64_t tw_merge_time(const struct tw_merge_time *how, uint64_t time)
{
	const int64_t shift = (int64_t)how->shift;
	const uint64_t sum = time + (uint64_t)shift;
	if (how->from == how->to && shift == how->shift && (time | sum) <= INT64_MAX)
		return sum;
	tw_wide at = how->from == how->to ? time + how->shift : tw_merge_moved(how, time);
	return at < 0 ? 0 : at > UINT64_MAX ? UINT64_MAX : (uint64_t)at;
}

/* Asks the traces that are merged, before the first event, for the text of records where it is asked of all. */
void tw_merge_ask(struct tw_reader *reader, const struct tw_request *request);

/* After rows have been mapped: notes what has got other numbers, for the writer to count. */
static inline void tw_merge_note_moved(struct tw_reader *merged)
{
	const struct tw_homes *homes = &((const struct tw_merge *)merged->state)->homes;
	merged->traits.altered.cpus = homes->together ? 0 : homes->cpus.shared;
	merged->traits.altered.threads = homes->together ? 0 : homes->threads.shared;
	merged->traits.altered.ids = homes->moved_ids;
}

int tw_merge_read(struct tw_reader *merged, struct tw_batch *batch);
void tw_merge_close(struct tw_reader *merged);

/* ---- merge_rows.c ---- */

/* The next rows of the inputs, in the order of time. Returns how many, or a negative status. */
int tw_merge_rows(struct tw_reader *merged, struct tw_batch *batch);

/* An input has no more rows: takes the names that its tracks got. Returns 0 or a negative status. */
int tw_merge_end(struct tw_reader *merged, struct tw_merge_input *input);

/* Sums up what was found wrong in the inputs. */
void tw_merge_count_findings(struct tw_reader *merged);

/* ---- inputs.c ---- */

/* What an input is read with, which has one share of so many of the memory: filters by name and time are for the
 * whole. */
struct tw_read_options tw_merge_options_of(const struct tw_reader *merged, size_t shares);

/* Makes room for so many inputs. Returns 0 or TW_ERR_MEMORY. */
int tw_merge_reserve(struct tw_reader *merged, size_t count);

/* Takes what a trace is like into what all of them are like: the first one's, until another differs. NULL: it is not
 * known before it is read. */
void tw_merge_share(struct tw_reader *merged, size_t i, const struct tw_reader *reader);

/* A trace could not be opened or begun. Returns 0 where it is left out, otherwise the status: the failure is said. */
int tw_merge_leave_out(struct tw_reader *merged, struct tw_merge_trace *trace, const struct tw_reader *reader,
                       int status);

/* Turns an errno of the temporary file, or 0, into a status. */
int tw_merge_file_status(struct tw_reader *merged, int error);

/* A trace has been read: what stands around the events of the first that has such is that of all. */
int tw_merge_take_document(struct tw_reader *merged, const struct tw_reader *reader);

/* Closes all inputs. */
void tw_merge_close_inputs(struct tw_merge *merge);

/* ---- markers.c ---- */

/* When the markers happen in a trace. */
struct tw_moments {
	uint64_t at[TW_MERGE_MARKERS];
	bool found[TW_MERGE_MARKERS];
};

/* Looks in a batch for the markers that have not been found. Returns whether some are still missing. */
bool tw_merge_look(const struct tw_merge *merge, const struct tw_dictionary *dictionary, const struct tw_batch *batch,
                   struct tw_moments *moments);

/* Finds how the times of a trace change so that its markers meet those of the first one. Returns 0 or TW_ERR_VALUE. */
int tw_merge_meet(struct tw_reader *merged, struct tw_merge_trace *trace, const struct tw_moments *own,
                  const struct tw_moments *first);

/* The same for all inputs. Returns 0 or a negative status. */
int tw_merge_find_markers(struct tw_reader *merged);

/* ---- merge_many.c: more traces than are open at once. ---- */

/* Begins, and looks whether all can be opened. Returns 0 or a negative status. */
int tw_merge_many_begin(struct tw_reader *merged);

/* The first call reads all traces, one after the other, into runs, and merges these until there are few enough to be
 * read at once. Returns 0 or a negative status, later calls the same. */
int tw_merge_many(struct tw_reader *merged);

/* All rows have been read: takes the names of processes that have none. False when there is no memory. */
bool tw_merge_many_end(struct tw_merge_many *many);

void tw_merge_many_free(struct tw_merge_many *many);

#endif
