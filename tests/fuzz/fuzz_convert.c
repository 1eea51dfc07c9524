/* fuzz_convert.c - any bytes converted: to every target, and record by record to other versions and byte orders. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/format.h"
#include "core/merge/merge.h"

static struct tw_write_options write_options(uint8_t selector)
{
	static const char *const dialects[] = {NULL, "d0", "d1", "d2", "d3", "vs"};
	return (struct tw_write_options){
	    .version = selector % 6,
	    .byte_order = (enum tw_byte_order)(selector >> 3 & 3),
	    .buffer_size = selector & 32 ? 512 : 0,
	    .dialect = dialects[(selector >> 3) % 6],
	};
}

/* A place of this process for what is a directory. */
static const char *directory_path(void)
{
	static char path[64];
	snprintf(path, sizeof path, "/tmp/fuzz_convert.%d", (int)getpid());
	return path;
}

static void remove_directory(void)
{
	static const char *const files[] = {"stream", "metadata"};
	char path[96];
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		snprintf(path, sizeof path, "%s/%s", directory_path(), files[i]);
		unlink(path);
	}
	rmdir(directory_path());
}

static void write_events(struct tw_reader *reader, const char *format, uint8_t selector)
{
	struct tw_write_options options = write_options(selector);
	struct tw_writer *writer = NULL;
	struct tw_batch batch;
	bool directory = strcmp(format, "ctf") == 0;
	int count, status = tw_create(&writer, directory ? directory_path() : "/dev/null", format, &options);
	fuzz_require(writer != NULL, "a writer, even after a failure");
	while (status == 0 && (count = tw_read(reader, &batch)) > 0)
		status = tw_write(writer, reader, &batch);
	if (status == 0)
		status = tw_finish(writer);
	fuzz_require(status == 0 || tw_writer_error(writer)[0], "a text for every failure");
	for (size_t i = 0; tw_writer_loss(writer, i); i++)
		fuzz_require(tw_writer_loss(writer, i)->what != NULL, "a name for what was lost");
	tw_discard(writer);
	if (directory)
		remove_directory();
}

static void to_target(const uint8_t *bytes, size_t size, const char *format, uint8_t selector)
{
	const struct tw_read_options options = {.order = tw_writer_order(format)};
	struct tw_reader *reader = fuzz_open(bytes, size, &options);
	if (reader)
		write_events(reader, format, selector);
	tw_close(reader);
}

/* The same bytes twice as two traces: with little memory, so that a few records are many chunks. */
static void merge(const uint8_t *bytes, size_t size, uint8_t selector)
{
	struct tw_reader *reader = NULL;
	char path[64];
	int fd = memfd_create("trace", 0);
	fuzz_require(fd >= 0 && write(fd, bytes, size) == (ssize_t)size, "a file in memory");
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	const struct tw_merge_source sources[] = {{.path = path}, {.path = path}};
	const struct tw_read_options read = {.memory_limit = 1 << 20, .jobs = 1};
	if (tw_open_merged(&reader, sources, 2, NULL, &read) >= 0)
		write_events(reader, "fxt", selector);
	tw_close(reader);
	close(fd);
}

static void transcode(const uint8_t *bytes, size_t size, const struct tw_read_options *filters, uint8_t selector)
{
	struct tw_write_options options = write_options(selector);
	struct tw_reader *reader = fuzz_open(bytes, size, filters);
	struct tw_rewrite_result result = {0};
	if (reader && reader->format->rewriting.transcode) {
		struct tw_output out;
		size_t written;
		fuzz_scratch(&out);
		fuzz_good(reader, reader->format->rewriting.transcode(reader, &out, &options, &result));
		free(fuzz_scratch_bytes(&out, &written));
	}
	tw_close(reader);
}

/* With little memory, so that a stack may be too deep for a line. */
static void transcode_part(const uint8_t *bytes, size_t size, uint8_t selector)
{
	static const uint64_t thread = 0;
	const struct tw_read_options filters = {
	    .from_ns = selector % 7 * UINT64_C(10000000),
	    .to_ns = UINT64_C(85000000),
	    .threads = selector & 8 ? &thread : NULL,
	    .thread_count = selector & 8 ? 1 : 0,
	    .memory_limit = selector & 16 ? 1 << 16 : 0,
	};
	transcode(bytes, size, &filters, selector);
}

FUZZ_TARGET(convert, const uint8_t *bytes, size_t size)
{
	const char *format;
	if (size < 1)
		return 0;
	for (size_t i = 0; (format = tw_writer_format_name(i)); i++)
		to_target(bytes + 1, size - 1, format, bytes[0]);
	merge(bytes + 1, size - 1, bytes[0]);
	transcode(bytes + 1, size - 1, NULL, bytes[0]);
	transcode_part(bytes + 1, size - 1, bytes[0]);
	return 0;
}
