/* fuzz_cut.c - any bytes cut by any filters, in their own format: where anything passes them, the result is a trace
 * without errors. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/format.h"

static bool write_events(struct tw_reader *reader, const char *path)
{
	struct tw_writer *writer = NULL;
	struct tw_batch batch;
	size_t written = 0;
	int count = 0, status = tw_create(&writer, path, reader->format->name, NULL);
	fuzz_require(writer != NULL, "a writer, even after a failure");
	for (; status == 0 && (count = tw_read(reader, &batch)) > 0; written += batch.count)
		status = tw_write(writer, reader, &batch);
	bool whole = status == 0 && fuzz_good(reader, count) && (status = tw_finish(writer)) == 0;
	fuzz_require(status == 0 || tw_writer_error(writer)[0], "a text for every failure");
	tw_discard(writer);
	return whole && written;
}

static bool write_records(struct tw_reader *reader, const char *path)
{
	struct tw_rewrite_result result;
	return fuzz_good(reader, tw_transcode(reader, path, NULL, &result)) && result.records_out;
}

/* Folded stacks that all count nothing are no line. */
static bool is_empty(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0 && status.st_size == 0;
}

/* As the command: by events where the format can be written from them. Returns the format, NULL where nothing was
 * written. */
static const char *cut(const uint8_t *bytes, size_t size, uint8_t selector, const char *path)
{
	struct tw_read_options options = fuzz_options(selector);
	options.order = TW_ORDER_FILE;
	struct tw_reader *reader = fuzz_open(bytes, size, &options);
	const char *format = reader ? reader->format->name : NULL;
	bool written = false;
	if (reader && tw_writer_takes_events(format))
		written = write_events(reader, path);
	else if (reader && reader->format->rewriting.transcode)
		written = write_records(reader, path);
	tw_close(reader);
	return written && !is_empty(path) ? format : NULL;
}

static void without_errors(const char *path, const char *format)
{
	const struct tw_read_options options = {.order = TW_ORDER_FILE, .checking = TW_CHECK_ALL, .format = format};
	struct tw_reader *reader = NULL;
	int status = tw_open(&reader, path, &options);
	fuzz_require(status == 0, "what was cut out can be opened");
	fuzz_drain(reader);
	fuzz_require(tw_reader_findings(reader, TW_ERROR) == 0, "what was cut out has no errors");
	tw_close(reader);
}

FUZZ_TARGET(cut, const uint8_t *bytes, size_t size)
{
	char path[64];
	snprintf(path, sizeof path, "/tmp/fuzz_cut.%d", (int)getpid());
	const char *format = size > 0 ? cut(bytes + 1, size - 1, bytes[0], path) : NULL;
	if (format)
		without_errors(path, format);
	unlink(path);
	return 0;
}
