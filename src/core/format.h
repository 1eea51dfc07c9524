/* format.h - what a format and a target of conversion are to the rest of the library. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_FORMAT_H
#define CORE_FORMAT_H

#include "base/bytes/input.h"
#include "base/bytes/output.h"
#include "base/memory/sum.h"
#include "core/dictionary.h"
#include "core/order/ends_first.h"
#include "core/request.h"
#include "core/tool.h"

#include <trackway/reader.h>
#include <trackway/writer.h>

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>

/* For `probe`: bytes that it is given first, and at most; what it returns for more. */
enum { TW_PROBE_SIZE = 256, TW_PROBE_MOST = 1 << 20, TW_PROBE_MORE = -1 };

/* Bytes of a line about a failure; bytes that tables may take where options->memory_limit is 0. */
enum { TW_ERROR_TEXT = 512, TW_DEFAULT_MEMORY = 256 << 20 };

/* Bytes of what tells a trace from others, terminated. */
enum { TW_TRACE_KEY_SIZE = 96 };

struct tw_calls;
struct tw_call_run;
struct tw_batch_room;
struct tw_filter;
struct tw_complete;
struct tw_sorted_runs;
struct tw_left_calls;

/* What a reader has altered or left out, as it reads, for writers to count it. */
struct tw_altered {
	uint64_t cpus, threads; /* of merged traces: those that have got other numbers */
	uint64_t ids;           /* and flows and operations of all processes that have */
	uint64_t documents;     /* of how many of them `document` is left out */
	uint64_t members;       /* a format of texts: members of events that events have no place for */
	uint64_t frames;        /* and categories of stack frames */
	uint64_t arguments;     /* and arguments that are arrays and objects, which events have as texts */
	uint64_t runs, waits;   /* of a time window: what a CPU does, and for what a thread waits, over an edge */
};

/* What a format or a merge tells about all events of a reader. `open` writes it, but for two members. */
struct tw_traits {
	const char *origin;             /* the format that all events are of; NULL: those of several are merged */
	bool sampled;                   /* where time goes is told by samples of stacks, not by slices */
	bool summed;                    /* its samples are sums of calls: how many, and their own time */
	bool two_counts;                /* folded stacks before and after: options.counts */
	bool unitless;                  /* what its samples count is not told: what the caller says */
	bool timeless;                  /* objects have no time of their own: filters by time let them through */
	bool koids;                     /* threads are known by their numbers alone: no two have the same */
	bool in_turn;                   /* TW_ORDER_TRACK: no event comes of a track that another one has followed */
	const struct tw_text *document; /* what stands around the events, as it is to be written again, where
	                                   tw_request.texts asks for it; NULL: the format has no such */
	const struct tw_text *frames;   /* the frames that events with their text refer to, which are no part of that */
	bool numbers_clash;             /* function ids of its events are of several logs, in which they mean others */
	bool raised; /* the merge, as it reads: events would come before time 0, which is theirs instead */
	struct tw_altered altered;
	uint64_t disordered; /* tw_request.lasting: so many events came behind later ones of their track. A reader that
	                        is asked for more than that has them in order */
	uint64_t rounding;   /* ns by which times may be wrong that were rounded; 0: they are exact */
	bool ends_unordered; /* ends of one time may come in another order than their slices nest */
	uint64_t part_ns;    /* the trace is a part of one, from this time on */
	uint64_t sampled_bytes; /* `read`: allocations are estimates, of a sample about every so many bytes; 0: exact */
	uint64_t reach_ns; /* `read` of formats with has_reach: the latest time of all that has been read, delivered
	                       or not */
};

/* What was reported. report.c writes it, and formats the file and whether a second look is quiet. */
struct tw_reports {
	uint64_t findings[TW_ERROR + 1]; /* of a whole: how many of each severity */
	pthread_mutex_t lock;            /* of a whole: around findings, which its parts report, too */
	const char *file;                /* what findings are about, where it is not the input; NULL: the input */
	bool quiet;                      /* findings are not reported: a second look at what was reported */
	bool again;                      /* of a whole: it is read once more, and reports only limits */
	bool fell_short;                 /* of a part: it reached a limit that the whole would perhaps not */
};

/* What the thread that reads ahead of the caller offers: threads/read_thread.c writes it. */
struct tw_read_help {
	const struct tw_batch_room *room; /* where the next batch may be put: order/slab.h. NULL: nowhere */
	void (*on_work)(void *context);   /* NULL, or told by the thread that reads when `help` has something to do */
	void *context;
};

/* Of several logs that stand one behind the other in a file: merge/logs.h. */
struct tw_log_behind;
struct tw_log_place {
	uint64_t base;                 /* where this log begins in the file */
	uint64_t another_at;           /* where the next log begins, behind this one: tw_log_ends() */
	unsigned before;               /* logs before this one */
	bool apart;                    /* the caller reads the other logs by readers of their own */
	const struct tw_namer *namer;  /* of all logs */
	struct tw_log_behind *behind;  /* in the order of the file, when it has ended; otherwise NULL */
	const struct tw_piece *around; /* tw_open_around(); NULL: `open` may look at all of the file */
	size_t around_count;
};

/* Logs of several kinds, clocks or programs that are read of a file. */
enum { TW_LOGS_MOST = 64 };

struct tw_reader {
	/* What is open: reader.c writes it, and `open` of a format that claims paths the input. */
	const struct tw_format *format;
	struct tw_input *input;
	struct tw_window window;        /* over the input, at its start when the format opens */
	const char *path;               /* that the format claims, and opens itself; otherwise NULL */
	struct {                        /* where it is not that of the whole; otherwise NULL */
		struct tw_input *input; /* of a part, where it is not that of the whole; otherwise NULL */
		char *path;             /* the same of a reader that was opened by it; otherwise NULL */
	} own;
	struct tw_log_place log; /* reader.c */
	struct tw_reader *whole; /* of a part: the trace it belongs to, which owns the input; otherwise NULL */
	unsigned shards;         /* of a part: how many there are; otherwise 0 */
	/* What is asked for: tw_open() and tw_begin() write it. */
	struct tw_read_options options;
	struct tw_request request;
	enum tw_use use; /* how it is read */
	/* What is told: the format writes it. */
	struct tw_dictionary *dictionary;
	struct tw_clock clock;
	struct tw_traits traits;
	struct {
		bool looked; /* in_order.c: reading.look() has been called, or will not be */
		struct tw_sorted_runs
		    *runs; /* in_order.c: events that come late, from the first read on; NULL: none does */
	} in_order;
	struct {
		struct tw_filter *filter; /* reader.c, at open. NULL: events go straight through */
		/* reader.c, from the first tw_read() on: what options.complete_slices and options.from_start make. */
		struct tw_complete *complete;
		struct tw_from_start {
			struct tw_event *events;
			size_t room;
		} from_start;
		atomic_size_t used; /* of a whole: bytes held by the filters of all its parts, which write it */
	} filtering;
	struct tw_reports reports;
	struct tw_read_help help;
	char error[TW_ERROR_TEXT]; /* tw_fail() */
	void *state;               /* the format's own */
};

/* Takes a run of calls for a part, which lives until it returns. */
typedef void tw_take_run_fn(void *context, unsigned part, const struct tw_call_run *run);

/* Who takes the calls of all tracks. */
struct tw_call_taker {
	unsigned parts;               /* the calls of a track go to one of so many */
	tw_take_run_fn *take;         /* from any thread, but runs of a part one after the other */
	bool (*stops)(void *context); /* NULL, or tells whether reading is to end, with TW_ERR_LIMIT */
	void *context;                /* of both */
};

/* Takes what an outline tells; false ends it. */
typedef bool (*tw_outline_fn)(void *context, uint64_t offset, uint64_t size, bool needed);

/* Takes the outline of a file whose records depend on those before them. */
struct tw_state_outline {
	void *context;
	bool complete; /* all of the file was read, and what was told holds */
	tw_outline_fn put;
	uint64_t interval; /* bytes between two places, at least; `place` may change it */
	/* Tells a place between records, and which records before it what follows depends on, beside those that are
	 * needed in any case: reading them in order leads to the same state. False ends the outline. */
	bool (*place)(void *context, uint64_t offset, const struct tw_piece *live, size_t count);
};

/* A time in nanoseconds since 1970, UTC; 0: not known. */
static inline uint64_t tw_time_of_day(const struct tw_clock *clock, uint64_t time)
{
	int64_t day;
	bool known = clock->has_wall && !clock->since_boot && time <= INT64_MAX &&
	             !__builtin_add_overflow(clock->wall_ns, (int64_t)time, &day) && day > 0;
	return known ? (uint64_t)day : 0;
}

/* What holds for all traces of a format. */
struct tw_format_traits {
	enum tw_order copy_order; /* what TW_ORDER_COPY is */
	bool has_providers;       /* for options.provider */
	bool timeless;            /* it tells neither times nor threads: nothing can be chosen by them */
	bool sampled;             /* where time goes is told by samples of stacks, not by slices */
	bool summed;              /* its samples are sums of calls, of threads but of no time of their own */
	bool takes_frequency;     /* options.frequency */
	bool names_events;        /* options.event_names */
	bool samples_beside;      /* samples may be among the slices */
	bool has_reach;           /* keeps reader->traits.reach_ns */
	bool keeps_clock;         /* knows where a trace begins and ends without the kinds that nobody looks at */
	bool shared_clock;        /* when something of a thread happened may be told by the files of others */
	bool whole_folder;        /* where a trace is a directory, all files in it are of the trace */
};

/* Which files are traces of a format. */
struct tw_format_files {
	/* How sure it is that these bytes (the first TW_PROBE_SIZE of the file, or fewer where it has no more) are this
	 * format: 0 not at all, 100 certain. TW_PROBE_MORE: more of them would tell; where no format is sure, it is
	 * asked again with up to TW_PROBE_MOST. */
	int (*probe)(const uint8_t *bytes, size_t size);

	/* Whether a path is this format's by its name, or by what is in it if it is a directory: then nothing has been
	 * opened when `open` is called, which sets reader->input. NULL where a trace is one file and known by its
	 * bytes. */
	bool (*claims)(const char *path);

	/* Whether a file of this name is one of the trace, in a directory that is one. NULL: by what claims says. */
	bool (*holds)(const char *name);

	/* Writes what paths of one trace have in common, and those of others have not. False where a path is of no
	 * trace of the format. NULL: a path is a trace. */
	bool (*key)(const char *path, char key[static TW_TRACE_KEY_SIZE]);

	/* Returns which file of a trace, from 0, the offsets of a track's events are in. NULL: a trace is one file. */
	size_t (*member)(const struct tw_reader *reader, uint32_t track);
	/* Where an event's record is, in a trace of several files whose places do not overlap, for tw_wanted_new().
	 * NULL: at its offset. */
	uint64_t (*place)(const struct tw_reader *reader, const struct tw_event *event);
};

/* How a format is read. */
struct tw_format_reading {
	/* Sets reader->state and the clock. The input has been opened and nothing consumed. */
	int (*open)(struct tw_reader *reader);

	/* Opens a part of reader->whole. Returns 0, TW_ERR_UNSUPPORTED where there is nothing to divide, or another
	 * negative status. NULL where the format has no parts. */
	int (*open_shard)(struct tw_reader *part, unsigned shard, unsigned shards);

	/* Called before the first read, but where events are wanted as they stand or only added up: finds when the
	 * trace begins, by a look at the times of all events, and reports nothing. The input is seekable. Returns 1
	 * where events come later than `read` has them in order, 0 where none does, or a negative status. NULL where
	 * `read` knows both. */
	int (*look)(struct tw_reader *reader);

	/* Where a look has found events late, and tw_request.as_they_come: each track is put in order by itself. */
	bool orders_tracks;

	/* tw_read() without filters, but for threads and providers, which are the format's. */
	int (*read)(struct tw_reader *reader, struct tw_batch *batch);

	/* With TW_CHECK_ALL, but not in TW_ORDER_FILE: looks at events that come in order, at the end at none, for what
	 * no record tells alone. Returns 0 or a negative status. NULL where there is nothing of the kind. */
	int (*check)(struct tw_reader *reader, const struct tw_batch *batch);

	/* Does a piece of the work that read will need, for a thread that would otherwise wait. guest: it is not the
	 * thread that reads; then only after reader->help.on_work was called. Returns false where there is nothing to
	 * do. NULL where the format has no such work. */
	bool (*help)(struct tw_reader *reader, bool guest);

	/* Instead of read, in TW_ORDER_TRACK: takes the calls of functions into the stacks, and gives those that ended
	 * by an exit of their own; the stacks' owner is told of the others. Returns how many, 0 at the end, or a
	 * negative status. The stacks have no least duration. NULL where read is all there is. */
	int (*read_calls)(struct tw_reader *reader, struct tw_calls *calls, struct tw_left_calls *left);

	/* Instead of read, in TW_ORDER_TRACK: deals the calls of all tracks to the parts of a taker, and reads to the
	 * end. Returns 0 or a negative status. NULL where parts are opened by open_shard, or not at all. */
	int (*calls_by_track)(struct tw_reader *reader, const struct tw_call_taker *taker);

	/* tw_read_record(); filters are the format's: wanted.h. NULL where there are no records to show. */
	int (*read_record)(struct tw_reader *reader, struct tw_record *record);

	/* Reads, in TW_ORDER_TRACK, nothing but these pieces of the file, which begin and end where the outline does,
	 * and are in order. Called before the first read. NULL where a file can be made of pieces instead. */
	int (*keep)(struct tw_reader *reader, const struct tw_piece *pieces, size_t count);

	/* Frees reader->state, however far `open` or a read has come; not called where it is NULL. */
	void (*close)(struct tw_reader *reader);
};

/* How a format tells what is in a trace. */
struct tw_format_survey {
	/* tw_read_info(). NULL where the format has no such job. */
	int (*info)(struct tw_reader *reader, unsigned jobs, struct tw_info *info);

	/* Tells where each record stands, in the order of the file, and whether others mean nothing without it: those,
	 * and any others that are wanted, are a file of their own. Where there is `keep`, what it tells are runs of
	 * records, each of which can be read without those before it. Used instead of read. Returns 0,
	 * TW_ERR_UNSUPPORTED for a file whose records do not follow one another plainly, or another negative status.
	 * NULL where there is no such way. */
	int (*outline)(struct tw_reader *reader, tw_outline_fn put, void *context);

	/* Where the outline tells runs: tells a border before each of them, from which on they are found, in any order.
	 * Called once the outline has been told. NULL where there is no `keep`. */
	void (*borders)(const struct tw_reader *reader, void (*put)(void *context, uint64_t offset), void *context);

	/* Returns the size of a record that the outline has told, at an offset; 0 where it cannot be read. NULL where
	 * the outline tells runs of records, or there is none. */
	uint64_t (*record_size)(struct tw_input *input, uint64_t offset);

	/* Instead, for a format whose records depend on those before them: asks for an outline, which is told while
	 * all events of the file are read, and lives as long as the reader. Called before the first read. Returns 0 or
	 * a negative status. */
	int (*state_outline)(struct tw_reader *reader, struct tw_state_outline *outline);
};

/* How a trace is written anew, record by record. */
struct tw_format_rewriting {
	/* tw_repair() and tw_transcode() with the output open: what is left in it after a negative status is thrown
	 * away. NULL where the format has no such job. */
	int (*repair)(struct tw_reader *reader, struct tw_output *out, struct tw_rewrite_result *result);
	int (*transcode)(struct tw_reader *reader, struct tw_output *out, const struct tw_write_options *options,
	                 struct tw_rewrite_result *result);

	/* Instead of both where the format has claimed the path: what is written is a directory. */
	int (*rewrite_set)(struct tw_reader *reader, const char *directory, bool repairs,
	                   struct tw_rewrite_result *result);
};

/* A format that can be read; CONTRIBUTING.md tells how one is added. What returns a status has put a line into
 * reader->error by tw_fail(), or has none but that of the status. */
struct tw_format {
	const char *name;
	const char *title;
	const struct tw_rule *rules;
	size_t rule_count;
	struct tw_format_traits traits;
	struct tw_format_files files;
	struct tw_format_reading reading;
	struct tw_format_survey survey;
	struct tw_format_rewriting rewriting;
};

enum { TW_SLICES = 1 << TW_SLICE_BEGIN | 1 << TW_SLICE_END | 1 << TW_SLICE_COMPLETE }; /* kinds, as bits */

struct tw_writer {
	const struct tw_target *target;
	struct tw_write_options options;
	const struct tw_reader *source;  /* of the last batch */
	struct tw_ends_first ends_first; /* of a target with one stack a track */
	const char *path;                /* while it is opened */
	struct tw_text *memory;          /* where the trace goes; NULL: elsewhere */
	char *name;                      /* in messages */
	struct tw_output out;
	struct tw_loss losses[TW_LOSSES];
	size_t loss_count;
	bool later;                                  /* an event after time 0 has been written */
	struct tw_altered counted;                   /* of tw_traits.altered */
	struct tw_loss *kind_losses[TW_EVENT_KINDS]; /* those of whole kinds; NULL: not yet */
	bool open;                                   /* events can be written: from tw_create() to tw_finish() */
	bool finished;
	uint64_t bytes_out; /* when it is finished: before compression; 0 of a directory */
	char error[TW_ERROR_TEXT];
	void *state; /* the target's own */
};

/* A format that can be written; without functions only record by record (tw_format_rewriting.transcode). */
struct tw_target {
	const char *name;
	const char *const *extensions; /* with the dot, the last NULL */
	enum tw_order order;           /* of the events that it wants */
	unsigned choices;              /* TW_CHOOSES_... */
	const char *compression;   /* "*.gz": it is always compressed so, whatever its name; NULL: as the name says */
	bool directory;            /* the target opens its output itself, by writer->path */
	bool measures;             /* it writes how long calls last: its reader is asked for track_ends */
	bool one_stack;            /* slices of a track must nest: ends come before complete slices of their time */
	const char *const *beside; /* endings behind its name of other files that may be written; NULL: none */
	size_t thread_cost;        /* bytes that it keeps of each thread: struct tw_read_options */
	bool texts;                /* it takes the text of records of its own format: tw_request.texts */
	uint32_t no_category;      /* kinds of event, bits 1 << kind, that it tells without their category; */
	uint32_t no_arguments;     /* and without arguments: both are counted for it */
	const char *source;        /* the one format that it is made of, record by record; NULL: events */
	int (*transcode)(struct tw_reader *reader, struct tw_output *out, struct tw_rewrite_result *result); /* of it */

	/* Sets writer->state; the output is open, but for a directory. Then tw_write() for batch after batch. */
	int (*open)(struct tw_writer *writer);
	int (*write)(struct tw_writer *writer, const struct tw_reader *reader, const struct tw_batch *batch);

	/* Writes what was held back; the output is closed afterwards. */
	int (*finish)(struct tw_writer *writer);

	/* Frees writer->state, finished or not; not called where it is NULL. */
	void (*close)(struct tw_writer *writer);
};

/* All formats and all targets, each list ending with NULL. Defined in src/formats.c, the one file that knows them. */
extern const struct tw_format *const tw_formats[];
extern const struct tw_target *const tw_targets[];

/* Returns what the options of one format ask for, for messages ("snapshots"), where the trace is of another one; NULL
 * where they ask for nothing. */
const char *tw_options_of_others(const struct tw_read_options *options, const struct tw_format *format);

/* Returns the format that claims a path, one of that name where a name is given; NULL where the bytes tell. */
const struct tw_format *tw_format_claiming(const char *path, const char *name);

/* Returns where the files of a trace of several are, one of which a path is, or which it names: itself where it is a
 * directory. To be freed; NULL without memory. */
char *tw_trace_folder(const char *path);

/* Logs that stand one behind the other in a file, as formats.c knows them: merge/logs.c. All but the last two return 0
 * at the end, or a negative status. */
struct tw_logs_reading {
	/* In the order of time: a reader that has found another log behind its own becomes that of all of them. */
	int (*open)(struct tw_reader *reader);
	/* In the order of the file: the log behind is opened where the one before has ended. As tw_read(), and
	 * tw_read_record(). */
	int (*read)(struct tw_reader *reader, struct tw_batch *batch);
	int (*read_record)(struct tw_reader *reader, struct tw_record *record);
	/* A log has been rewritten to `out`: the others are, behind it. options NULL: they are repaired. */
	int (*rewrite)(struct tw_reader *reader, struct tw_output *out, const struct tw_write_options *options,
	               struct tw_rewrite_result *result);
	/* How many findings there were in the logs behind. */
	uint64_t (*findings)(const struct tw_reader *reader, enum tw_severity severity);
	void (*close)(struct tw_reader *reader);
};
extern const struct tw_logs_reading *const tw_logs_reading;

/* Opens the log at an offset of what another reader has of a file, which must live until it is closed. before, apart:
 * struct tw_log_place. Returns as tw_open(). */
int tw_open_log(struct tw_reader **log, struct tw_reader *file, uint64_t offset, unsigned before, bool apart,
                const struct tw_read_options *options);

/* A log ends where another one begins, which is read, too: before anything is read in parts. It is told by the rule
 * `foreign`, with what the other one is; by `too_many` where there are so many that it is not read. */
void tw_log_ends(struct tw_reader *reader, uint64_t offset, const char *other, const struct tw_rule *foreign,
                 const struct tw_rule *too_many);

/* As tw_open() for pieces of a regular file as if they were all of it: tw_input_open_pieces(). options->format is
 * set. */
int tw_open_pieces(struct tw_reader **reader, const char *path, const struct tw_piece *pieces, size_t count,
                   const struct tw_read_options *options);

/* As tw_open() of a regular file, for reading.keep(): what `open` looks for in the file is found in these pieces, which
 * are in order, and of which each begins at a border. They must outlive that call. */
int tw_open_around(struct tw_reader **reader, const char *path, const struct tw_piece *around, size_t count,
                   const struct tw_read_options *options);

/* A second reader of the same trace with the same options, read instead of it; the input must be repeatable, and where
 * it is not seekable it is read once more. Close it first. */
int tw_open_instead(struct tw_reader **instead, struct tw_reader *reader);

/* The same, but it reports nothing; the input must be seekable. Close it first.
 * Returns 0 or a negative status. */
int tw_open_again(struct tw_reader **again, struct tw_reader *reader);

/* A handle with a dictionary and nothing open; NULL when there is no memory. And its filter, once its clock is known to
 * tell times. Returns 0 or TW_ERR_MEMORY. */
struct tw_reader *tw_reader_new(const struct tw_read_options *options);
int tw_reader_add_filter(struct tw_reader *reader);

/* find_format.c: finds the format by the first bytes, or by the name that is asked for. Returns 0 or a negative
 * status. */
int tw_find_format(struct tw_reader *reader);

/* Checks the options of a reader whose format is known, opens that, and adds the filter. Returns 0 or a negative
 * status. */
int tw_open_format(struct tw_reader *reader);

/* Writes a line; of one that is too long, as those with long paths are, the beginning and the end. */
void tw_error_write(char text[TW_ERROR_TEXT], const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

/* What a reader reads, for messages. */
static inline const char *tw_source_name(const struct tw_reader *reader)
{
	return reader->path ? reader->path : tw_input_name(reader->input);
}

/* Opens number i of the traces read before, options.before, where it is another file of the reader's format; it reports
 * nothing. False where there is nothing to look at: close it in any case. */
bool tw_open_before(struct tw_reader **before, const struct tw_reader *reader, size_t i);

/* Puts a line into reader->error and returns the status, for `return tw_fail(...)`. */
int tw_fail(struct tw_reader *reader, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same for TW_ERR_MEMORY. */
int tw_fail_memory(struct tw_reader *reader);

/* The same for an errno of a temporary file. */
int tw_fail_file(struct tw_reader *reader, int error);

/* reader.c: returns the status of opening. A reader that is not open keeps the line that tells why, and is read in no
 * way. */
int tw_opened(struct tw_reader *reader, int status);

static inline bool tw_is_failed(const struct tw_reader *reader)
{
	return reader->use == TW_USE_FAILED;
}

/* Takes back what tw_begin() or tw_use() said: nothing was read after all. */
static inline void tw_use_not(struct tw_reader *reader)
{
	reader->use = TW_USE_NONE;
}

/* in_order.c: the format's next batch, with the results of tw_read(), before the filter. Where another order than that
 * of the file was asked for events come in it, however late they stand in the file. */
int tw_read_in_order(struct tw_reader *reader, struct tw_batch *batch);

/* Whether options.stop ends reading; and the failure that it is then. */
static inline bool tw_stops(const struct tw_reader *reader)
{
	return reader->options.stop && *reader->options.stop;
}

int tw_stopped(struct tw_reader *reader);

/* tw_read() for who has said that the whole is read. */
int tw_pull(struct tw_reader *reader, struct tw_batch *batch);

int tw_writer_fail(struct tw_writer *writer, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Tells why a file, or what else it is about, could not be had; errno is `error` then. Returns TW_ERR_SYSTEM. */
int tw_writer_fail_system(struct tw_writer *writer, const char *about, int error);

/* Reports a finding by a rule of the reader's format: counts it and hands it on, one thread at a time. `line` is 0 for
 * binary formats. The text is one sentence without the offset. */
void tw_report(struct tw_reader *reader, const struct tw_rule *rule, uint64_t record, uint64_t at, uint64_t line,
               const char *format, ...) __attribute__((format(printf, 6, 7)));

/* A line of a text format. */
struct tw_line_place {
	uint64_t number; /* from 1; 0: the format has no lines */
	uint64_t start;  /* byte offset of its first byte */
};

/* The same where a record need not begin with its line; tw_report() takes it that it does. */
void tw_report_in_line(struct tw_reader *reader, const struct tw_rule *rule, uint64_t record, uint64_t at,
                       struct tw_line_place line, const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Counts a finding that is complete and hands it on, one thread at a time. */
void tw_report_finding(struct tw_reader *reader, const struct tw_finding *finding);

/* Reports that a limit was reached. A part only notes it: what it gives depends on how the trace was parted, so that
 * the whole is read instead, and tells. */
void tw_report_limit(struct tw_reader *reader, const struct tw_rule *rule, uint64_t record, uint64_t at,
                     const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Counts what a target could not hold. what is a constant. */
void tw_count_loss(struct tw_writer *writer, const char *what, bool approximated);
void tw_count_losses(struct tw_writer *writer, const char *what, bool approximated, uint64_t count);

/* Counts the type of bytes that only their own format can write again as it was. */
static inline void tw_count_unknown(struct tw_writer *writer, const struct tw_argument *argument)
{
	if (argument->raw)
		tw_count_loss(writer, "unknown argument", true);
}

/* Where it is counted, for who counts millions. */
struct tw_loss *tw_loss_of(struct tw_writer *writer, const char *what);

/* The same for an event of a kind. */
struct tw_loss *tw_kind_loss(struct tw_writer *writer, unsigned kind);

/* Counts an event that a target leaves out. No instructions are the end of a track, which is no event of the trace:
 * tw_request.track_ends. */
static inline void tw_leave_out(struct tw_writer *writer, const struct tw_event *event)
{
	struct tw_loss *loss = writer->kind_losses[event->kind];
	if (event->kind == TW_INSTRUCTIONS && event->value == 0)
		return;
	(loss ? loss : tw_kind_loss(writer, event->kind))->left_out++;
}

static inline void tw_approximate(struct tw_writer *writer, unsigned kind)
{
	struct tw_loss *loss = writer->kind_losses[kind];
	(loss ? loss : tw_kind_loss(writer, kind))->approximated++;
}

/* When an event is over. */
static inline uint64_t tw_event_end(const struct tw_event *event)
{
	return event->kind == TW_SLICE_COMPLETE ? tw_sum(event->time, event->value) : event->time;
}

/* The memory that tables may take. */
static inline size_t tw_memory_limit(const struct tw_reader *reader)
{
	return reader->options.memory_limit ? reader->options.memory_limit : TW_DEFAULT_MEMORY;
}

/* The same, divided where all parts have tables of their own. */
static inline size_t tw_memory_share(const struct tw_reader *reader)
{
	return tw_memory_limit(reader) / (reader->shards ? reader->shards : 1);
}

/* What a thread counts for in tables that may take one part in `share` of the limit: its own rows there, and what the
 * caller keeps of it. */
static inline size_t tw_thread_cost(const struct tw_read_options *options, size_t own, size_t share)
{
	return own + options->thread_cost / share;
}

/* Whether the options let a thread through. */
bool tw_thread_wanted(const struct tw_read_options *options, uint64_t thread);

#endif
