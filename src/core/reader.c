/* reader.c - opening a trace, and the handle through which it is read. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "base/options.h"
#include "core/filter/complete.h"
#include "core/filter/filter.h"
#include "core/format.h"
#include "core/order/sorted_runs.h"
#include "core/text/function_name.h"
#include "core/ticks.h"

#include <trackway/reader.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool tw_track_wanted(const struct tw_read_options *options, const struct tw_track *track)
{
	const uint64_t *processes = options->thread_processes;
	for (size_t i = 0; i < options->thread_count; i++) {
		bool thread = options->threads[i] == track->thread ||
		              (options->threads[i] == TW_ANY_THREAD && processes && processes[i] != TW_ANY_PROCESS);
		if (thread && (!processes || processes[i] == TW_ANY_PROCESS || processes[i] == track->process))
			return true;
	}
	return options->thread_count == 0;
}

bool tw_thread_wanted(const struct tw_read_options *options, uint64_t thread)
{
	for (size_t i = 0; i < options->thread_count; i++)
		if (options->threads[i] == thread)
			return true;
	return options->thread_count == 0;
}

/* ---- The handle. ---- */

struct tw_reader *tw_reader_new(const struct tw_read_options *options)
{
	struct tw_reader *reader = calloc(1, sizeof *reader);
	if (!reader)
		return NULL;
	pthread_mutex_init(&reader->reports.lock, NULL);
	TW_COPY_OPTIONS(&reader->options, options, struct tw_read_options);
	reader->dictionary = tw_dictionary_new();
	if (!reader->dictionary) {
		tw_close(reader);
		return NULL;
	}
	return reader;
}

/* Filters work on times since the start of the trace, which only the format's open can tell. */
int tw_reader_add_filter(struct tw_reader *reader)
{
	if (!tw_filter_needed(&reader->options))
		return 0;
	struct tw_reader *whole = reader->whole ? reader->whole : reader;
	reader->filtering.filter =
	    tw_filter_new(&reader->options, reader->dictionary, &reader->clock, &whole->filtering.used);
	return reader->filtering.filter ? 0 : tw_fail(reader, TW_ERR_MEMORY, "out of memory");
}

/* Returns what the options choose by and this trace has not ("providers"); NULL: it has all. */
static const char *missing_parts(const struct tw_reader *reader)
{
	const struct tw_read_options *options = &reader->options;
	const struct tw_format *format = reader->format;
	if (options->provider && !format->traits.has_providers)
		return "providers";
	const char *others = tw_options_of_others(options, format);
	if (others)
		return others;
	if (options->frequency && !format->traits.takes_frequency)
		return "clock frequency";
	if (options->event_name_count && !format->traits.names_events)
		return "typed events";
	bool timeless = format->traits.timeless || format->traits.summed;
	if ((options->from_ns || options->to_ns || options->min_duration_ns) && timeless)
		return "times";
	return options->thread_count && format->traits.timeless ? "threads" : NULL;
}

int tw_open_format(struct tw_reader *reader)
{
	const struct tw_read_options *options = &reader->options;
	const char *missing = reader->log.before ? NULL : missing_parts(reader);
	if ((unsigned)options->order > TW_ORDER_COPY || (unsigned)options->checking > TW_CHECK_ALL)
		return tw_fail(reader, TW_ERR_VALUE, "there is no order or checking of this number");
	if (options->to_ns && options->to_ns < options->from_ns)
		return tw_fail(reader, TW_ERR_VALUE, "the window of time ends before it begins");
	if (options->frequency > TW_FREQUENCY_MAX)
		return tw_fail(reader, TW_ERR_VALUE, "a frequency of %" PRIu64 " Hz is more than 10^12",
		               options->frequency);
	reader->traits.sampled = reader->format->traits.sampled;
	reader->traits.summed = reader->format->traits.summed;
	reader->traits.origin = reader->format->name;
	if (missing)
		return tw_fail(reader, TW_ERR_UNSUPPORTED, "%s: a trace of format %s has no %s to choose from",
		               tw_source_name(reader), reader->format->name, missing);
	if (reader->options.order == TW_ORDER_COPY)
		reader->options.order = reader->format->traits.copy_order;
	if (reader->options.order == TW_ORDER_FILE && options->from_start)
		return tw_fail(reader, TW_ERR_VALUE,
		               "%s: in the order of the file it is not known ahead when a trace starts",
		               tw_source_name(reader));
	int status = reader->format->reading.open(reader);
	return status < 0 ? status : tw_reader_add_filter(reader);
}

/* How much is read at a time: less where many traces are read at once, and memory is divided among them. */
static size_t window_chunk(const struct tw_reader *reader)
{
	enum { SHARE = 256, LEAST = 1 << 14 };
	size_t size = (size_t)(tw_memory_limit(reader) / SHARE);
	return size < LEAST ? LEAST : size < TW_WINDOW_CHUNK ? size : TW_WINDOW_CHUNK;
}

/* Every failure has a text: memory may be short where none was told. */
static int with_text(struct tw_reader *reader, int status)
{
	const char *input = reader->input ? tw_input_error(reader->input) : "";
	if (status >= 0 || *reader->error)
		return status;
	return tw_fail(reader, status, "%s", *input ? input : tw_status_text(status));
}

/* Bytes that formats are told apart by: to most readers the window is of no further use. */
enum { FIRST_VIEW = 1 << 12 };

static int open_input(struct tw_reader *reader, int status)
{
	if (status < 0)
		return with_text(reader,
		                 tw_fail(reader, status, "%s", reader->input ? tw_input_error(reader->input) : ""));
	reader->window = (struct tw_window){.input = reader->input, .chunk = FIRST_VIEW};
	status = tw_find_format(reader);
	reader->window.chunk = window_chunk(reader);
	status = status < 0 ? status : tw_open_format(reader);
	if (status == 0 && reader->log.another_at && !reader->log.apart && reader->options.order != TW_ORDER_FILE) {
		tw_filter_free(reader->filtering.filter);
		reader->filtering.filter = NULL;
		status = tw_logs_reading->open(reader);
		status = status < 0 ? status : tw_reader_add_filter(reader);
	}
	return with_text(reader, status);
}

int tw_open_log(struct tw_reader **log, struct tw_reader *file, uint64_t offset, unsigned before, bool apart,
                const struct tw_read_options *options)
{
	struct tw_reader *reader = *log = tw_reader_new(options);
	if (!reader)
		return TW_ERR_MEMORY;
	const uint64_t base = file->log.base + offset;
	reader->log = (struct tw_log_place){.base = base, .before = before, .apart = apart, .namer = file->log.namer};
	reader->options.namer = tw_namer_of_log(reader->log.namer, tw_source_name(file), base);
	reader->reports.quiet = base == 0; /* it was opened before */
	int status = open_input(reader, tw_input_behind(&reader->input, file->input, offset));
	reader->reports.quiet = false;
	return tw_opened(reader, status);
}

void tw_log_ends(struct tw_reader *reader, uint64_t offset, const char *other, const struct tw_rule *foreign,
                 const struct tw_rule *too_many)
{
	const uint64_t end = tw_input_size(reader->input);
	if (reader->log.before + 1 < TW_LOGS_MOST) {
		reader->log.another_at = offset;
		tw_report(reader, foreign, offset, offset, 0, "%s begins: it is read, too", other);
	} else {
		tw_report(reader, too_many, offset, offset, 0,
		          "it is log %d: the %" PRIu64 " bytes from there on are not read; `tail -c +%" PRIu64
		          "` makes a file of them",
		          TW_LOGS_MOST + 1, end - offset, reader->log.base + offset + 1);
	}
	tw_input_end_at(reader->input, offset);
}

const struct tw_format *tw_format_claiming(const char *path, const char *name)
{
	for (size_t i = 0; tw_formats[i]; i++)
		if (tw_formats[i]->files.claims && (!name || strcmp(tw_formats[i]->name, name) == 0) &&
		    tw_formats[i]->files.claims(path))
			return tw_formats[i];
	return NULL;
}

char *tw_trace_folder(const char *path)
{
	struct stat status;
	const char *slash = strrchr(path, '/');
	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		return strdup(path);
	return slash ? strndup(path, slash > path ? (size_t)(slash - path) : 1) : strdup(".");
}

int tw_opened(struct tw_reader *reader, int status)
{
	static const struct tw_format none = {.name = ""};
	if (status >= 0)
		return status;
	reader->use = TW_USE_FAILED;
	if (!reader->format)
		reader->format = &none;
	return status;
}

static void take_namer(struct tw_reader *reader, const char *path)
{
	reader->log.namer = reader->options.namer;
	reader->options.namer = tw_namer_of(reader->log.namer, path);
}

static int open_path(struct tw_reader *reader, const char *path)
{
	if (!path)
		return tw_fail(reader, TW_ERR_VALUE, "a trace that is read needs a path");
	take_namer(reader, path);
	reader->format = tw_format_claiming(path, reader->options.format);
	if (!reader->format)
		return open_input(reader, tw_input_open(&reader->input, path));
	reader->path = reader->own.path = strdup(path);
	return reader->path ? with_text(reader, tw_open_format(reader)) : tw_fail_memory(reader);
}

int tw_open(struct tw_reader **reader, const char *path, const struct tw_read_options *options)
{
	*reader = tw_reader_new(options);
	return *reader ? tw_opened(*reader, open_path(*reader, path)) : TW_ERR_MEMORY;
}

int tw_open_around(struct tw_reader **reader, const char *path, const struct tw_piece *around, size_t count,
                   const struct tw_read_options *options)
{
	*reader = tw_reader_new(options);
	if (!*reader)
		return TW_ERR_MEMORY;
	(*reader)->log.around = around;
	(*reader)->log.around_count = count;
	return tw_opened(*reader, open_path(*reader, path));
}

int tw_open_pieces(struct tw_reader **reader, const char *path, const struct tw_piece *pieces, size_t count,
                   const struct tw_read_options *options)
{
	*reader = tw_reader_new(options);
	if (!*reader)
		return TW_ERR_MEMORY;
	take_namer(*reader, path);
	int status = open_input(*reader, tw_input_open_pieces(&(*reader)->input, path, pieces, count));
	return tw_opened(*reader, status);
}

int tw_open_memory(struct tw_reader **reader, const char *name, const void *bytes, size_t size,
                   const struct tw_read_options *options)
{
	*reader = tw_reader_new(options);
	if (!*reader)
		return TW_ERR_MEMORY;
	int status = open_input(*reader, tw_input_memory(&(*reader)->input, name ? name : "input", bytes, size));
	return tw_opened(*reader, status);
}

int tw_open_stream(struct tw_reader **reader, const struct tw_stream *given, const struct tw_read_options *options)
{
	struct tw_stream stream;
	TW_COPY_OPTIONS(&stream, given, struct tw_stream);
	const struct tw_input_calls calls = {stream.read, stream.seek, stream.context, stream.size};
	const char *name = stream.name ? stream.name : "input";
	*reader = tw_reader_new(options);
	if (!*reader)
		return TW_ERR_MEMORY;
	int status = stream.read ? tw_input_open_calls(&(*reader)->input, name, &calls)
	                         : tw_input_open_fd(&(*reader)->input, name, stream.fd);
	return tw_opened(*reader, open_input(*reader, status));
}

/* Makes a reader of the same input as the whole. NULL when there is no memory. */
static struct tw_reader *new_part(struct tw_reader *whole)
{
	struct tw_reader *part = tw_reader_new(&whole->options);
	if (!part)
		return NULL;
	part->whole = whole;
	part->format = whole->format;
	part->traits = whole->traits;
	part->traits.disordered = 0;
	part->input = whole->input;
	part->path = whole->path;
	part->window = (struct tw_window){.input = part->input};
	part->clock = whole->clock;
	return part;
}

int tw_open_shard(struct tw_reader **part, struct tw_reader *whole, unsigned shard, unsigned shards)
{
	*part = NULL;
	if (tw_is_failed(whole))
		return TW_ERR_VALUE;
	if (!whole->format->reading.open_shard || whole->options.order != TW_ORDER_TRACK)
		return TW_ERR_UNSUPPORTED;
	*part = new_part(whole);
	if (!*part)
		return TW_ERR_MEMORY;
	(*part)->shards = shards;
	int status = whole->format->reading.open_shard(*part, shard, shards);
	return tw_opened(*part, status < 0 ? status : tw_reader_add_filter(*part));
}

/* Gives a part of an input that is not seekable an input of its own. */
static int read_once_more(struct tw_reader *part)
{
	int status = tw_input_again(&part->own.input, part->input);
	if (status < 0)
		return tw_fail(part, status, "%s", part->own.input ? tw_input_error(part->own.input) : "out of memory");
	part->input = part->window.input = part->own.input;
	return 0;
}

int tw_open_instead(struct tw_reader **instead, struct tw_reader *reader)
{
	*instead = new_part(reader);
	if (!*instead)
		return TW_ERR_MEMORY;
	int status = tw_input_seekable(reader->input) ? 0 : read_once_more(*instead);
	status = status < 0 ? status : reader->format->reading.open(*instead);
	return tw_opened(*instead, status < 0 ? status : tw_reader_add_filter(*instead));
}

int tw_open_again(struct tw_reader **again, struct tw_reader *reader)
{
	int status = tw_open_instead(again, reader);
	if (*again)
		(*again)->reports.quiet = true;
	return status;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat left, right;
	return stat(a, &left) == 0 && stat(b, &right) == 0 && left.st_dev == right.st_dev &&
	       left.st_ino == right.st_ino;
}

bool tw_open_before(struct tw_reader **before, const struct tw_reader *reader, size_t i)
{
	const char *path = reader->options.before[i];
	const struct tw_read_options quiet = {.format = reader->format->name, .frequency = reader->options.frequency};
	*before = NULL;
	if (strcmp(path, "-") == 0 || is_same_file(path, tw_source_name(reader)))
		return false;
	return tw_open(before, path, &quiet) == 0 && (*before)->format == reader->format;
}

int tw_use(struct tw_reader *reader, enum tw_use use)
{
	if (tw_is_failed(reader))
		return TW_ERR_VALUE; /* the line of opening it stays */
	if (reader->use != TW_USE_NONE && (reader->use != use || use == TW_USE_WHOLE))
		return tw_fail(reader, TW_ERR_VALUE, "%s: it was read from before, and must be opened anew",
		               tw_source_name(reader));
	reader->use = use;
	return 0;
}

int tw_begin(struct tw_reader *reader, enum tw_use use, const struct tw_request *request)
{
	int status = tw_use(reader, use);
	if (status == 0)
		reader->request = *request;
	return status;
}

bool tw_may_leave_out(const char *path, int status)
{
	if (status == TW_ERR_SYSTEM)
		return access(path, R_OK) < 0 && errno == EACCES;
	return status == TW_ERR_FORMAT || status == TW_ERR_EMPTY || status == TW_ERR_COMPRESSED;
}

uint32_t tw_kinds_beside_clock(const struct tw_reader *reader, uint32_t kinds)
{
	return reader->format->traits.keeps_clock ? kinds : 0;
}

int tw_pull(struct tw_reader *reader, struct tw_batch *batch)
{
	if (tw_stops(reader))
		return tw_stopped(reader);
	if (reader->filtering.filter)
		return with_text(reader, tw_filter_read(reader->filtering.filter, reader, batch));
	return with_text(reader, tw_read_in_order(reader, batch));
}

static int read_complete(struct tw_reader *reader, struct tw_batch *batch)
{
	if (!reader->filtering.complete)
		reader->filtering.complete = tw_complete_new(reader, tw_pull);
	return reader->filtering.complete ? tw_complete_read(reader->filtering.complete, reader, batch)
	                                  : tw_fail_memory(reader);
}

/* Makes times those since the start of the trace. Of some kinds the time is before it, or none: these are 0. */
static int take_off_start(struct tw_reader *reader, struct tw_batch *batch)
{
	struct tw_from_start *made = &reader->filtering.from_start;
	const uint64_t start = reader->clock.start_ns;
	if (!tw_grow(&made->events, &made->room, batch->count, sizeof *made->events))
		return tw_fail_memory(reader);
	for (size_t i = 0; i < batch->count; i++) {
		made->events[i] = batch->events[i];
		made->events[i].time -= made->events[i].time < start ? made->events[i].time : start;
	}
	batch->events = made->events;
	return (int)batch->count;
}

int tw_read(struct tw_reader *reader, struct tw_batch *batch)
{
	int status = tw_use(reader, TW_USE_EVENTS);
	if (status < 0)
		return status;
	status = reader->options.complete_slices ? read_complete(reader, batch) : tw_pull(reader, batch);
	return status > 0 && reader->options.from_start ? take_off_start(reader, batch) : status;
}

int tw_read_record(struct tw_reader *reader, struct tw_record *record)
{
	if (!reader->format->reading.read_record && !tw_is_failed(reader))
		return tw_fail(reader, TW_ERR_UNSUPPORTED,
		               "%s: a trace of format %s has no records to be read one by one", tw_source_name(reader),
		               reader->format->name);
	int status = tw_use(reader, TW_USE_RECORDS);
	if (status == 0 && !reader->log.behind)
		status = reader->format->reading.read_record(reader, record);
	if (status == 0 && reader->log.another_at && reader->options.order == TW_ORDER_FILE)
		status = tw_logs_reading->read_record(reader, record);
	return with_text(reader, status);
}

int tw_read_info(struct tw_reader *reader, unsigned jobs, struct tw_info *info)
{
	*info = (struct tw_info){.format = reader->format->name};
	if (!reader->format->survey.info && !tw_is_failed(reader))
		return tw_fail(reader, TW_ERR_UNSUPPORTED, "%s: no survey for format %s", tw_source_name(reader),
		               reader->format->name);
	int status = tw_use(reader, TW_USE_WHOLE);
	return status < 0 ? status : with_text(reader, reader->format->survey.info(reader, jobs, info));
}

void tw_close(struct tw_reader *reader)
{
	if (!reader)
		return;
	if (reader->format && reader->state)
		reader->format->reading.close(reader);
	tw_logs_reading->close(reader);
	tw_complete_free(reader->filtering.complete);
	free(reader->filtering.from_start.events);
	tw_filter_free(reader->filtering.filter);
	tw_sorted_runs_free(reader->in_order.runs);
	tw_window_free(&reader->window);
	tw_input_close(reader->whole ? reader->own.input : reader->input);
	tw_dictionary_free(reader->dictionary);
	free(reader->own.path);
	pthread_mutex_destroy(&reader->reports.lock);
	free(reader);
}

const char *tw_reader_error(const struct tw_reader *reader)
{
	return reader->error;
}

const struct tw_dictionary *tw_reader_dictionary(const struct tw_reader *reader)
{
	return reader->dictionary;
}

const struct tw_clock *tw_reader_clock(const struct tw_reader *reader)
{
	return &reader->clock;
}

const char *tw_reader_format(const struct tw_reader *reader)
{
	return reader->format ? reader->format->name : "";
}

uint64_t tw_reader_findings(const struct tw_reader *reader, enum tw_severity severity)
{
	const uint64_t behind = tw_logs_reading->findings(reader, severity);
	return (unsigned)severity <= TW_ERROR ? reader->reports.findings[severity] + behind : 0;
}
