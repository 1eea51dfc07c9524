/* writer.c - the handle through which events and whole files are written. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/options.h"
#include "core/format.h"
#include "core/own.h"

#include <trackway/writer.h>

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int tw_writer_fail(struct tw_writer *writer, int status, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	tw_error_write(writer->error, format, arguments);
	va_end(arguments);
	return status;
}

int tw_writer_fail_system(struct tw_writer *writer, const char *about, int error)
{
	tw_writer_fail(writer, TW_ERR_SYSTEM, "%s: %s", about, strerror(error));
	errno = error;
	return TW_ERR_SYSTEM;
}

static const struct tw_target *target_named(const char *name)
{
	for (size_t i = 0; tw_targets[i]; i++)
		if (strcmp(tw_targets[i]->name, name) == 0)
			return tw_targets[i];
	return NULL;
}

static const char *shown_output(const char *path)
{
	return strcmp(path, "-") == 0 ? "standard output" : path;
}

static const char NO_ORDER[] = "there is no byte order of this number";

static bool has_order(const struct tw_write_options *options)
{
	return (unsigned)options->byte_order <= TW_BYTES_BIG_LSB;
}

/* Opens where the trace goes, unless it is a directory, which the target opens. Returns 0 or an errno. */
static int open_output(struct tw_writer *writer, const struct tw_sink *sink)
{
	if (writer->memory)
		return tw_output_text(&writer->out, writer->memory);
	if (!sink)
		return writer->target->directory ? 0 : tw_output_open(&writer->out, writer->path);
	int fd = sink->write ? -1 : fcntl(sink->fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), error = errno;
	if (!sink->write && fd < 0)
		return error;
	error =
	    sink->write ? tw_output_taker(&writer->out, sink->write, sink->context) : tw_output_fd(&writer->out, fd);
	return error ? error : tw_output_compress(&writer->out, writer->path, TW_PACK_USUAL);
}

/* path: in messages where there is a sink or memory. */
static int open_writer(struct tw_writer *writer, const char *path, const struct tw_sink *sink, const char *format,
                       const struct tw_write_options *options)
{
	if (!path || !format)
		return tw_writer_fail(writer, TW_ERR_VALUE, "a trace that is written needs a path and a format");
	writer->target = target_named(format);
	if (!writer->target)
		return tw_writer_fail(writer, TW_ERR_FORMAT, "%s: no format of this name can be written", format);
	if (!writer->target->write)
		return tw_writer_fail(writer, TW_ERR_UNSUPPORTED, "%s: only a trace of format %s can be written in it",
		                      format, writer->target->source ? writer->target->source : format);
	if (writer->target->directory && (sink || writer->memory))
		return tw_writer_fail(writer, TW_ERR_UNSUPPORTED, "%s: a trace of format %s is a directory", path,
		                      format);
	TW_COPY_OPTIONS(&writer->options, options, struct tw_write_options);
	if (!has_order(&writer->options))
		return tw_writer_fail(writer, TW_ERR_VALUE, NO_ORDER);
	writer->path = path;
	writer->name = strdup(shown_output(path));
	if (!writer->name)
		return tw_writer_fail(writer, TW_ERR_MEMORY, "out of memory");
	int error = open_output(writer, sink);
	if (!error && writer->target->compression)
		error = tw_output_compress(&writer->out, writer->target->compression, TW_PACK_LESS);
	if (error)
		return tw_writer_fail_system(writer, path, error);
	int status = writer->target->open(writer);
	writer->open = status >= 0;
	return status;
}

static struct tw_writer *new_writer(void)
{
	struct tw_writer *writer = calloc(1, sizeof *writer);
	if (writer)
		writer->out.fd = -1;
	return writer;
}

int tw_create(struct tw_writer **writer, const char *path, const char *format, const struct tw_write_options *options)
{
	*writer = new_writer();
	return *writer ? open_writer(*writer, path, NULL, format, options) : TW_ERR_MEMORY;
}

int tw_create_sink(struct tw_writer **writer, const struct tw_sink *given, const char *format,
                   const struct tw_write_options *options)
{
	struct tw_sink sink;
	TW_COPY_OPTIONS(&sink, given, struct tw_sink);
	*writer = new_writer();
	return *writer ? open_writer(*writer, sink.name ? sink.name : "output", &sink, format, options) : TW_ERR_MEMORY;
}

int tw_create_memory(struct tw_writer **writer, const char *format, const struct tw_write_options *options)
{
	*writer = new_writer();
	struct tw_text *memory = *writer ? calloc(1, sizeof *memory) : NULL;
	if (!*writer)
		return TW_ERR_MEMORY;
	(*writer)->memory = memory;
	return memory ? open_writer(*writer, "output", NULL, format, options)
	              : tw_writer_fail(*writer, TW_ERR_MEMORY, "out of memory");
}

void *tw_writer_take(struct tw_writer *writer, size_t *size)
{
	struct tw_text taken = writer->memory && writer->finished ? *writer->memory : (struct tw_text){0};
	if (taken.bytes)
		*writer->memory = (struct tw_text){0};
	*size = taken.length;
	return taken.bytes;
}

/* An end has the category of its begin. */
static void count_unwritten(struct tw_writer *writer, const struct tw_batch *batch)
{
	const uint32_t categories = writer->target->no_category & ~(UINT32_C(1) << TW_SLICE_END);
	const uint32_t arguments = writer->target->no_arguments;
	uint64_t category = 0, argument = 0;
	for (size_t i = 0; i < batch->count; i++) {
		const struct tw_event *event = &batch->events[i];
		category += categories >> event->kind & (event->category != 0);
		argument += (arguments >> event->kind & 1) * event->argument_count;
	}
	tw_count_losses(writer, "category", false, category);
	tw_count_losses(writer, "argument", false, argument);
}

/* Counts what the reader has altered since the last batch. */
static void count_altered(struct tw_writer *writer, const struct tw_altered *now)
{
	const struct tw_altered before = writer->counted;
	tw_count_losses(writer, "CPU number", true, now->cpus - before.cpus);
	tw_count_losses(writer, "thread number", true, now->threads - before.threads);
	tw_count_losses(writer, "flow or operation id", true, now->ids - before.ids);
	tw_count_losses(writer, "what stands around the events", false, now->documents - before.documents);
	tw_count_losses(writer, "member of an event", false, now->members - before.members);
	tw_count_losses(writer, "category of a stack frame", false, now->frames - before.frames);
	tw_count_losses(writer, "array or object as an argument", true, now->arguments - before.arguments);
	tw_count_losses(writer, "CPU at the edge of the window", false, now->runs - before.runs);
	tw_count_losses(writer, "thread that waits at the edge of the window", false, now->waits - before.waits);
	writer->counted = *now;
}

/* Counts events whose records tell more than events can. */
static void count_more(struct tw_writer *writer, const struct tw_batch *batch)
{
	uint64_t more = 0;
	for (size_t i = 0; i < batch->count; i++)
		more += (batch->events[i].flags & TW_FLAG_MORE) != 0;
	tw_count_losses(writer, "unknown field", false, more);
}

/* Counts events whose time was raised to 0: they come too late, behind later ones. */
static void count_raised(struct tw_writer *writer, const struct tw_batch *batch)
{
	bool later = writer->later;
	uint64_t raised = 0;
	for (size_t i = 0; i < batch->count; i++) {
		raised += later & (batch->events[i].time == 0);
		later |= batch->events[i].time != 0;
	}
	tw_count_losses(writer, "time", true, raised);
}

/* Counts what events lose whatever the target is. False where one is of no kind: targets look kinds up in tables. Often
 * another processor has made the rows, and this looks at them first: `make bench` measures convert. */
static bool look_over(struct tw_writer *writer, const struct tw_reader *reader, const struct tw_batch *batch)
{
	enum { ROWS_AHEAD = 16 };
	unsigned most = 0, flags = 0;
	uint64_t times = 0;
	for (size_t i = 0; i < batch->count; i++) {
		const struct tw_event *event = &batch->events[i];
		__builtin_prefetch(event + ROWS_AHEAD);
		most = event->kind > most ? event->kind : most;
		flags |= event->flags;
		times |= event->time;
	}
	count_altered(writer, &reader->traits.altered);
	if (flags & TW_FLAG_MORE)
		count_more(writer, batch);
	if (reader->traits.raised)
		count_raised(writer, batch);
	writer->later |= times != 0;
	return most < TW_EVENT_KINDS;
}

static int not_open(struct tw_writer *writer)
{
	return tw_writer_fail(writer, TW_ERR_VALUE, "%s: it is not open to be written",
	                      writer->name ? writer->name : "a trace");
}

static int fail_write(struct tw_writer *writer, int error)
{
	tw_writer_fail(writer, TW_ERR_SYSTEM, "%s: cannot write: %s", writer->name, strerror(error));
	errno = error; /* another thread may have met it */
	return TW_ERR_SYSTEM;
}

static int no_batch(struct tw_writer *writer)
{
	return tw_writer_fail(writer, TW_ERR_VALUE, "%s: there is no batch of events", writer->name);
}

static int no_reader(struct tw_writer *writer)
{
	return tw_writer_fail(writer, TW_ERR_VALUE, "%s: a reader must tell the names and the clock of its events",
	                      writer->name);
}

/* Refuses a reader whose events are not as targets take them: with the times of the trace's clock, and slices as begin
 * and end. */
static int check_form(struct tw_writer *writer, const struct tw_reader *reader)
{
	if (!reader->options.complete_slices && !reader->options.from_start)
		return 0;
	return tw_writer_fail(writer, TW_ERR_VALUE,
	                      "%s: events of complete_slices or from_start are to be looked at, not to be written",
	                      writer->name);
}

/* A program's own events may have numbers that its dictionary has not. */
static int check_own(struct tw_writer *writer, const struct tw_reader *reader, const struct tw_batch *batch)
{
	size_t number;
	const char *what = tw_is_own(reader) ? tw_own_wrong(reader, batch, &number) : NULL;
	if (!what)
		return 0;
	return tw_writer_fail(writer, TW_ERR_VALUE, "%s: event %zu of a batch has a %s that does not exist",
	                      writer->name, number, what);
}

static int hand_on(void *context, const struct tw_batch *batch)
{
	struct tw_writer *writer = context;
	return writer->target->write(writer, writer->source, batch);
}

/* The status, with its error where memory ran out. */
static int with_error(struct tw_writer *writer, int status)
{
	return status == TW_ERR_MEMORY && !writer->error[0] ? tw_writer_fail(writer, status, "out of memory") : status;
}

int tw_write(struct tw_writer *writer, const struct tw_reader *reader, const struct tw_batch *batch)
{
	if (!writer->open)
		return not_open(writer);
	if (!reader || tw_is_failed(reader))
		return no_reader(writer);
	if (!batch)
		return no_batch(writer);
	int status = check_form(writer, reader);
	status = status < 0 ? status : check_own(writer, reader, batch);
	if (status < 0)
		return status;
	if (!look_over(writer, reader, batch))
		return tw_writer_fail(writer, TW_ERR_VALUE, "%s: an event is of no kind", writer->name);
	if (writer->target->no_category || writer->target->no_arguments)
		count_unwritten(writer, batch);
	writer->source = reader;
	status = writer->target->one_stack
	             ? with_error(writer, tw_ends_first_take(&writer->ends_first, batch, hand_on, writer))
	             : hand_on(writer, batch);
	return status >= 0 && writer->out.error ? fail_write(writer, writer->out.error) : status;
}

int tw_finish(struct tw_writer *writer)
{
	if (!writer->open)
		return not_open(writer);
	writer->open = false;
	int status = with_error(writer, tw_ends_first_finish(&writer->ends_first, hand_on, writer));
	status = status < 0 ? status : writer->target->finish(writer);
	if (status < 0)
		return status;
	writer->finished = true;
	writer->bytes_out = writer->target->directory ? 0 : tw_output_position(&writer->out);
	int error = writer->target->directory ? 0 : tw_output_close(&writer->out);
	return error ? fail_write(writer, error) : 0;
}

void tw_discard(struct tw_writer *writer)
{
	if (!writer)
		return;
	if (writer->target && writer->state)
		writer->target->close(writer);
	if (!writer->finished)
		tw_output_discard(&writer->out);
	tw_ends_first_free(&writer->ends_first);
	if (writer->memory)
		tw_text_free(writer->memory);
	free(writer->memory);
	free(writer->name);
	free(writer);
}

/* The loss of a kind, a new one where it is new. Texts are constants, so that most are found by their address. */
struct tw_loss *tw_loss_of(struct tw_writer *writer, const char *what)
{
	for (size_t i = 0; i < writer->loss_count; i++)
		if (writer->losses[i].what == what)
			return &writer->losses[i];
	for (size_t i = 0; i < writer->loss_count; i++)
		if (strcmp(writer->losses[i].what, what) == 0)
			return &writer->losses[i];
	assert(writer->loss_count < TW_LOSSES);
	writer->losses[writer->loss_count].what = what;
	return &writer->losses[writer->loss_count++];
}

void tw_count_losses(struct tw_writer *writer, const char *what, bool approximated, uint64_t count)
{
	if (count == 0)
		return;
	struct tw_loss *loss = tw_loss_of(writer, what);
	*(approximated ? &loss->approximated : &loss->left_out) += count;
}

struct tw_loss *tw_kind_loss(struct tw_writer *writer, unsigned kind)
{
	return writer->kind_losses[kind] = tw_loss_of(writer, tw_event_kind_name(kind));
}

void tw_count_loss(struct tw_writer *writer, const char *what, bool approximated)
{
	tw_count_losses(writer, what, approximated, 1);
}

const struct tw_loss *tw_writer_loss(const struct tw_writer *writer, size_t i)
{
	return i < writer->loss_count ? &writer->losses[i] : NULL;
}

const char *tw_writer_error(const struct tw_writer *writer)
{
	return writer->error;
}

enum tw_order tw_writer_order(const char *format)
{
	const struct tw_target *target = target_named(format);
	return target ? target->order : TW_ORDER_TRACK;
}

size_t tw_writer_thread_cost(const char *format)
{
	const struct tw_target *target = target_named(format);
	return target ? target->thread_cost : 0;
}

unsigned tw_writer_choices(const char *format)
{
	const struct tw_target *target = target_named(format);
	return target ? target->choices : 0;
}

const char *const *tw_writer_beside(const char *format)
{
	const struct tw_target *target = target_named(format);
	return target ? target->beside : NULL;
}

bool tw_writer_takes_events(const char *format)
{
	const struct tw_target *target = target_named(format);
	return target && target->write;
}

const char *tw_writer_format_name(size_t i)
{
	for (size_t k = 0; tw_targets[k]; k++)
		if (k == i)
			return tw_targets[k]->name;
	return NULL;
}

/* The longest ending counts: "x.speedscope.json" is not any JSON. */
const char *tw_writer_format_of(const char *path)
{
	const char *found = NULL;
	size_t longest = 0;
	for (size_t i = 0; tw_targets[i]; i++)
		for (const char *const *extension = tw_targets[i]->extensions; *extension; extension++)
			if (strlen(*extension) > longest && tw_name_ends_with(path, *extension)) {
				longest = strlen(*extension);
				found = tw_targets[i]->name;
			}
	return found;
}

const char *tw_writer_source(const char *format)
{
	const struct tw_target *target = target_named(format);
	return target ? target->source : NULL;
}

/* Lets who can write an output. */
static int write_out(struct tw_reader *reader, struct tw_output *out, const struct tw_write_options *options,
                     struct tw_rewrite_result *result)
{
	const struct tw_target *target = options && options->format ? target_named(options->format) : NULL;
	if (target && target->source)
		return target->transcode(reader, out, result);
	int status = options ? reader->format->rewriting.transcode(reader, out, options, result)
	                     : reader->format->rewriting.repair(reader, out, result);
	return status == 0 && reader->log.another_at ? tw_logs_reading->rewrite(reader, out, options, result) : status;
}

/* Returns the status of a rewrite. Where it is not supported nothing was read: the reader can still be. */
static int used(struct tw_reader *reader, int status)
{
	if (status == TW_ERR_UNSUPPORTED)
		tw_use_not(reader);
	return status;
}

/* Opens the output of a rewrite, lets the format write it, and gives it its name. */
static int rewrite(struct tw_reader *reader, const char *path, const struct tw_write_options *options,
                   struct tw_rewrite_result *result)
{
	struct tw_output out;
	*result = (struct tw_rewrite_result){0};
	if (options && !has_order(options))
		return tw_fail(reader, TW_ERR_VALUE, NO_ORDER);
	int status = tw_use(reader, TW_USE_WHOLE);
	if (status < 0)
		return status;
	int error = tw_output_open(&out, path);
	if (error) {
		tw_use_not(reader); /* another path may do */
		return tw_fail(reader, TW_ERR_SYSTEM, "%s: %s", path, strerror(error));
	}
	status = used(reader, write_out(reader, &out, options, result));
	if (status == 0 && !options && tw_output_position(&out) == 0)
		status = tw_fail(reader, TW_ERR_EMPTY, "%s: nothing in it can be saved", tw_source_name(reader));
	if (status < 0) {
		tw_output_discard(&out);
		return status;
	}
	result->bytes_out = tw_output_position(&out);
	error = tw_output_close(&out);
	if (error)
		return tw_fail(reader, TW_ERR_SYSTEM, "%s: cannot write: %s", shown_output(path), strerror(error));
	return 0;
}

static bool is_set(const struct tw_reader *reader)
{
	return reader->path && reader->format->rewriting.rewrite_set;
}

static int rewrite_set(struct tw_reader *reader, const char *path, bool repairs, struct tw_rewrite_result *result)
{
	*result = (struct tw_rewrite_result){0};
	int status = tw_use(reader, TW_USE_WHOLE);
	return status < 0 ? status : used(reader, reader->format->rewriting.rewrite_set(reader, path, repairs, result));
}

int tw_repair(struct tw_reader *reader, const char *path, struct tw_rewrite_result *result)
{
	if (tw_is_failed(reader))
		return TW_ERR_VALUE;
	if (is_set(reader))
		return rewrite_set(reader, path, true, result);
	if (!reader->format->rewriting.repair)
		return tw_fail(reader, TW_ERR_UNSUPPORTED, "%s: no repair for a trace of format %s",
		               tw_source_name(reader), reader->format->name);
	return rewrite(reader, path, NULL, result);
}

int tw_transcode(struct tw_reader *reader, const char *path, const struct tw_write_options *options,
                 struct tw_rewrite_result *result)
{
	struct tw_write_options chosen;
	if (tw_is_failed(reader))
		return TW_ERR_VALUE;
	TW_COPY_OPTIONS(&chosen, options, struct tw_write_options);
	const char *format = chosen.format, *source = format ? tw_writer_source(format) : NULL;
	if (source && strcmp(source, reader->format->name) != 0)
		return tw_fail(reader, TW_ERR_UNSUPPORTED,
		               "%s: only a trace of format %s can be written in it, not one of %s", format, source,
		               reader->format->name);
	if (source)
		return rewrite(reader, path, &chosen, result);
	if (format && strcmp(format, reader->format->name) != 0)
		return tw_fail(reader, TW_ERR_UNSUPPORTED, "%s: not written record by record from a trace of format %s",
		               format, reader->format->name);
	if (is_set(reader))
		return rewrite_set(reader, path, false, result);
	if (!reader->format->rewriting.transcode)
		return tw_fail(reader, TW_ERR_UNSUPPORTED, "%s: a trace of format %s cannot be written",
		               tw_source_name(reader), reader->format->name);
	return rewrite(reader, path, &chosen, result);
}
