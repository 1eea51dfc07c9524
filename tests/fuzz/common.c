/* common.c - what the fuzz targets share. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes/output.h"

void fuzz_require(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "does not hold: %s\n", what);
	abort();
}

struct tw_read_options fuzz_options(uint8_t selector)
{
	static const uint64_t threads[] = {0, 1, 2, 3, 100, 101, 1000};
	struct tw_read_options options = {
	    .order = (enum tw_order)(selector % 3),
	    .checking = selector & 4 ? TW_CHECK_ALL : TW_CHECK_DAMAGE,
	};
	if (selector & 8)
		options.memory_limit = 1 << 20;
	if (selector & 16) {
		options.from_ns = 100;
		options.to_ns = 100000;
	}
	if (selector & 32)
		options.min_duration_ns = 50;
	if (selector & 64) {
		options.threads = threads;
		options.thread_count = sizeof threads / sizeof threads[0];
	}
	if (selector & 128)
		options.function = "*1*";
	if (selector / 16 == 15) /* only of FXT: others are not opened */
		options.provider = "*1*";
	return options;
}

struct tw_reader *fuzz_open(const uint8_t *bytes, size_t size, const struct tw_read_options *options)
{
	struct tw_reader *reader = NULL;
	int status = tw_open_memory(&reader, "fuzz", bytes, size, options);
	fuzz_require(reader != NULL, "a reader, even after a failure");
	if (fuzz_good(reader, status))
		return reader;
	tw_close(reader);
	return NULL;
}

bool fuzz_good(const struct tw_reader *reader, int status)
{
	if (status >= 0)
		return true;
	fuzz_require(tw_reader_error(reader)[0] != '\0', "a text for every failure");
	fuzz_require(status != TW_ERR_MEMORY, "memory is enough");
	return false;
}

void fuzz_touch(const uint8_t *bytes, uint64_t size)
{
	uint64_t sum = 0;
	for (uint64_t i = 0; i < size; i++)
		sum += bytes[i];
	fuzz_require(sum <= size * UINT8_MAX, "bytes are bytes");
}

static void look_at(const struct tw_dictionary *dictionary, const struct tw_event *event,
                    const struct tw_argument *arguments)
{
	fuzz_require(event->kind < TW_EVENT_KINDS, "a kind of the list");
	fuzz_require(event->track < tw_dictionary_tracks(dictionary), "a track of the dictionary");
	fuzz_require(event->name < tw_dictionary_names(dictionary), "a name of the dictionary");
	fuzz_require(event->category < tw_dictionary_names(dictionary), "a category of the dictionary");
	for (unsigned i = 0; i < event->argument_count; i++) {
		const struct tw_argument *argument = &arguments[event->first_argument + i];
		fuzz_require(argument->name < tw_dictionary_names(dictionary), "an argument's name of the dictionary");
		if (argument->type == TW_ARG_TEXT || argument->type == TW_ARG_BYTES)
			fuzz_touch(argument->value.bytes, argument->size);
	}
}

void fuzz_drain(struct tw_reader *reader)
{
	const struct tw_dictionary *dictionary = tw_reader_dictionary(reader);
	struct tw_batch batch;
	int count;
	while ((count = tw_read(reader, &batch)) > 0) {
		fuzz_require((size_t)count == batch.count, "the count of the batch is the status");
		for (size_t i = 0; i < batch.count; i++)
			look_at(dictionary, &batch.events[i], batch.arguments);
	}
	fuzz_good(reader, count);
}

void fuzz_write(const char *path, const uint8_t *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	fuzz_require(fd >= 0 && write(fd, bytes, size) == (ssize_t)size && close(fd) == 0, "a file");
}

static int scratch = -1;

void fuzz_scratch(struct tw_output *out)
{
	if (scratch < 0)
		scratch = memfd_create("fuzz", MFD_CLOEXEC);
	fuzz_require(scratch >= 0 && ftruncate(scratch, 0) == 0 && lseek(scratch, 0, SEEK_SET) == 0, "a scratch file");
	fuzz_require(tw_output_fd(out, scratch) == 0, "an output");
}

uint8_t *fuzz_scratch_bytes(struct tw_output *out, size_t *size)
{
	tw_output_flush(out);
	fuzz_require(out->error == 0, "the output is complete");
	/* The file stays open for the next input. */
	out->fd = -1;
	tw_output_discard(out);
	off_t end = lseek(scratch, 0, SEEK_END);
	fuzz_require(end >= 0, "a scratch file");
	*size = (size_t)end;
	uint8_t *bytes = malloc(*size + !*size);
	fuzz_require(bytes && pread(scratch, bytes, *size, 0) == end, "what was written can be read");
	return bytes;
}
