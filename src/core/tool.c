/* tool.c - what the command line tool asks of traces, readers and writers beyond the public headers. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tool.h"

#include "base/threads/parallel.h"
#include "core/filter/filter.h"
#include "core/format.h"
#include "core/merge/merge.h"
#include "core/threads/read_thread.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Traces of several files. ---- */

int tw_trace_place(const char *path, char **folder)
{
	bool several = tw_format_claiming(path, NULL);
	*folder = several ? tw_trace_folder(path) : NULL;
	return several && !*folder ? TW_ERR_MEMORY : 0;
}

static int visit_file(const struct tw_format *format, const char *folder, const char *name,
                      int (*visit)(void *context, const char *file), void *context)
{
	char *path = NULL;
	int status = 0;
	if (asprintf(&path, "%s/%s", folder, name) < 0)
		return TW_ERR_MEMORY;
	if (format->files.holds ? format->files.holds(name) : format->files.claims(path))
		status = visit(context, path);
	free(path);
	return status;
}

int tw_trace_files(const char *path, int (*visit)(void *context, const char *file), void *context)
{
	const struct tw_format *format = tw_format_claiming(path, NULL);
	char *folder = format ? tw_trace_folder(path) : NULL;
	DIR *directory = folder ? opendir(folder) : NULL;
	struct dirent *entry;
	int status = format && !folder ? TW_ERR_MEMORY : 0;
	while (directory && status == 0 && (entry = readdir(directory)))
		status = visit_file(format, folder, entry->d_name, visit, context);
	if (directory)
		closedir(directory);
	free(folder);
	return status;
}

char *tw_trace_key_of(const char *path, const char *format)
{
	char key[TW_TRACE_KEY_SIZE];
	for (size_t i = 0; tw_formats[i]; i++)
		if (tw_formats[i]->files.key && (!format || strcmp(format, tw_formats[i]->name) == 0) &&
		    tw_formats[i]->files.key(path, key))
			return strdup(key);
	return NULL;
}

/* ---- Readers. ---- */

bool tw_has_thread_files(const struct tw_reader *reader)
{
	return reader->format->files.member;
}

bool tw_reads_threads_apart(const struct tw_reader *reader)
{
	return reader->format->reading.open_shard || reader->format->files.member;
}

uint64_t tw_sampled_bytes(const struct tw_reader *reader)
{
	return reader->traits.sampled_bytes;
}

bool tw_has_two_counts(const struct tw_reader *reader)
{
	return reader->traits.two_counts;
}

bool tw_can_repair(const struct tw_reader *reader)
{
	return reader->format->rewriting.repair;
}

void tw_reader_progress(const struct tw_reader *reader, uint64_t *done, uint64_t *all)
{
	*done = *all = 0;
	if (reader->input)
		tw_input_progress(reader->input, done, all);
}

bool tw_was_made(const struct tw_event *event)
{
	return tw_is_made(event);
}

/* ---- Writers. ---- */

uint64_t tw_writer_bytes(const struct tw_writer *writer)
{
	return writer->bytes_out;
}

static void count_batch(struct tw_copied *copied, const struct tw_batch *batch)
{
	copied->events += batch->count;
	for (size_t i = 0; i < batch->count; i++) {
		copied->kinds[batch->events[i].kind]++;
		if (batch->events[i].kind == TW_LOST)
			copied->lost_bytes = tw_sum(copied->lost_bytes, batch->events[i].value);
	}
}

/* Finishes while the reader of the batches is open. */
static int finish(struct tw_writer *writer, struct tw_copied *copied)
{
	copied->written = copied->written < 0 ? copied->written : tw_finish(writer);
	return 0;
}

static int copy_batches(struct tw_reader *reader, struct tw_writer *writer, struct tw_copied *copied)
{
	struct tw_batch batch;
	int status;
	copied->by_kind = true;
	while ((status = tw_read(reader, &batch)) > 0 && copied->written >= 0) {
		copied->written = tw_write(writer, reader, &batch);
		count_batch(copied, &batch);
	}
	/* A document may have no event, and yet be one; at the end it is known which a merge leaves out, and what
	 * happens behind a window. */
	const struct tw_text *document = reader->traits.document;
	const struct tw_altered *altered = &reader->traits.altered;
	const bool more =
	    (document && document->length) || altered->documents || altered->frames || altered->runs || altered->waits;
	if (status == 0 && copied->written >= 0 && more)
		copied->written = tw_write(writer, reader, &(struct tw_batch){0});
	copied->events -= copied->kinds[TW_LOST] + copied->kinds[TW_INSTRUCTIONS];
	copied->kinds[TW_LOST] = copied->kinds[TW_INSTRUCTIONS] = 0;
	return status < 0 ? status : finish(writer, copied);
}

int tw_copy_events(struct tw_reader *reader, struct tw_writer *writer, unsigned jobs, struct tw_copied *copied)
{
	const struct tw_request request = {.track_ends = writer->target->measures, .texts = writer->target->texts};
	struct tw_reader *ahead;
	int status = tw_begin(reader, TW_USE_EVENTS, &request);
	*copied = (struct tw_copied){0};
	if (status < 0)
		return status;
	tw_merge_ask(reader, &request);
	if ((jobs ? jobs : tw_processors()) < 2 || tw_open_read_thread(&ahead, reader) < 0)
		return copy_batches(reader, writer, copied);
	status = copy_batches(ahead, writer, copied);
	if (status < 0)
		tw_fail(reader, status, "%s", tw_reader_error(ahead));
	tw_close(ahead);
	return status;
}
