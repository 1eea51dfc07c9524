/* test_streams.c - traces that are no files with names: functions, descriptors, memory; read and written. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <trackway/trackway.h>

#include "files.h"
#include "suite.h"

static const char path_of_log[] = "xray/v5.xray";

static const char *data_path(void)
{
	static char path[512];
	snprintf(path, sizeof path, "%s/%s", getenv("TW_TEST_DATA"), path_of_log);
	return path;
}

/* ---- Reading. ---- */

/* A file in memory, of which no more than `step` bytes come at once. */
struct store {
	char *bytes;
	size_t size, at, step;
	int error; /* of the read that begins at half of it; 0: none */
};

static int64_t give(void *context, void *bytes, size_t size)
{
	struct store *store = context;
	size_t left = store->size - store->at, n = size < store->step ? size : store->step;
	if (store->error && store->at >= store->size / 2)
		return -store->error;
	n = n < left ? n : left;
	memcpy(bytes, store->bytes + store->at, n);
	store->at += n;
	return (int64_t)n;
}

static int go(void *context, uint64_t offset)
{
	struct store *store = context;
	store->at = offset < store->size ? offset : store->size;
	return 0;
}

/* What is in a trace, for comparison. */
struct content {
	uint64_t events, times;
	uint64_t names;
};

static struct content content_of(struct tw_reader *reader)
{
	struct content content = {0};
	struct tw_batch batch;
	int status;
	while ((status = tw_read(reader, &batch)) > 0)
		for (size_t i = 0; i < batch.count; i++) {
			content.events++;
			content.times += batch.events[i].time;
		}
	assert_int_equal(status, 0);
	content.names = tw_dictionary_names(tw_reader_dictionary(reader));
	return content;
}

static void is_that_of_the_file(struct tw_reader *reader)
{
	struct tw_reader *file;
	assert_int_equal(tw_open(&file, data_path(), NULL), 0);
	const struct content right = content_of(file), found = content_of(reader);
	assert_true(right.events > 0);
	assert_int_equal(found.events, right.events);
	assert_int_equal(found.times, right.times);
	assert_int_equal(found.names, right.names);
	tw_close(file);
	tw_close(reader);
}

static struct store load(void)
{
	struct store store = {.step = SIZE_MAX};
	store.bytes = read_text(data_path(), &store.size);
	return store;
}

static void functions_without_seek(void **state)
{
	(void)state;
	static const size_t steps[] = {SIZE_MAX, 1, 7};
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		struct store store = load();
		struct tw_reader *reader;
		const struct tw_stream source = {.read = give, .context = &store};
		store.step = steps[i];
		assert_int_equal(tw_open_stream(&reader, &source, NULL), 0);
		is_that_of_the_file(reader);
		free(store.bytes);
	}
}

static void functions_with_seek(void **state)
{
	(void)state;
	struct store store = load();
	struct tw_reader *reader;
	const struct tw_stream source = {.read = give, .seek = go, .size = store.size, .context = &store};
	assert_int_equal(tw_open_stream(&reader, &source, NULL), 0);
	is_that_of_the_file(reader);
	/* In parts, by several threads. */
	struct tw_profile *profile;
	assert_int_equal(tw_open_stream(&reader, &source, NULL), 0);
	assert_int_equal(tw_profile_new(&profile, NULL), 0);
	assert_int_equal(tw_profile_add(profile, reader), 0);
	assert_non_null(tw_profile_row(profile, 0));
	tw_profile_free(profile);
	tw_close(reader);
	free(store.bytes);
}

static void a_function_that_fails(void **state)
{
	(void)state;
	for (int seeks = 0; seeks < 2; seeks++) {
		struct store store = load();
		struct tw_reader *reader;
		struct tw_batch batch;
		const struct tw_stream source = {
		    .name = "a store", .read = give, .seek = seeks ? go : NULL, .size = store.size, .context = &store};
		store.error = EIO;
		store.step = 1;
		int status = tw_open_stream(&reader, &source, NULL);
		while (status >= 0 && (status = tw_read(reader, &batch)) > 0)
			continue;
		assert_int_equal(status, TW_ERR_SYSTEM);
		assert_non_null(strstr(tw_reader_error(reader), "a store"));
		assert_non_null(strstr(tw_reader_error(reader), strerror(EIO)));
		tw_close(reader);
		free(store.bytes);
	}
}

/* From where it stands; and it is open afterwards. */
static void descriptors(void **state)
{
	(void)state;
	struct store store = load();
	char name[] = "streams.XXXXXX";
	int fd = mkstemp(name);
	struct tw_reader *reader;
	assert_true(fd >= 0);
	unlink(name);
	assert_int_equal(write(fd, "before", 6), 6);
	assert_int_equal(write(fd, store.bytes, store.size), (ssize_t)store.size);
	assert_int_equal(lseek(fd, 6, SEEK_SET), 6);
	assert_int_equal(tw_open_stream(&reader, &(struct tw_stream){.fd = fd}, NULL), 0);
	is_that_of_the_file(reader);
	assert_int_equal(fcntl(fd, F_GETFD) < 0, 0);
	close(fd);
	free(store.bytes);
	assert_int_equal(tw_open_stream(&reader, &(struct tw_stream){.name = "none", .fd = -1}, NULL), TW_ERR_SYSTEM);
	assert_non_null(strstr(tw_reader_error(reader), "none"));
	tw_close(reader);
}

/* ---- Writing. ---- */

/* What is written, and after how many bytes it fails with `error`. */
struct taken {
	char *bytes;
	size_t size, most;
	int error;
};

static int take(void *context, const void *bytes, size_t size)
{
	struct taken *taken = context;
	if (taken->error && taken->size + size > taken->most)
		return taken->error;
	taken->bytes = realloc(taken->bytes, taken->size + size);
	assert_non_null(taken->bytes);
	memcpy(taken->bytes + taken->size, bytes, size);
	taken->size += size;
	return 0;
}

static int write_all(struct tw_writer *writer)
{
	struct tw_reader *reader;
	struct tw_batch batch;
	int status = 0;
	assert_int_equal(tw_open(&reader, data_path(), NULL), 0);
	while (status == 0 && tw_read(reader, &batch) > 0)
		status = tw_write(writer, reader, &batch);
	status = status < 0 ? status : tw_finish(writer);
	tw_close(reader);
	return status;
}

/* The same bytes as the file has. */
static char *file_of(const char *format, size_t *size)
{
	char path[64];
	struct tw_writer *writer;
	snprintf(path, sizeof path, "streams.%d", (int)getpid());
	assert_int_equal(tw_create(&writer, path, format, NULL), 0);
	assert_int_equal(write_all(writer), 0);
	tw_discard(writer);
	char *bytes = read_text(path, size);
	unlink(path);
	return bytes;
}

static const char *const formats[] = {"chrome", "fxt", "csv", "perfetto"};

enum { FORMATS = sizeof formats / sizeof *formats };

static void a_function_takes_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < FORMATS; i++) {
		struct taken taken = {0};
		const struct tw_sink sink = {.write = take, .context = &taken};
		struct tw_writer *writer;
		size_t size;
		char *file = file_of(formats[i], &size);
		assert_int_equal(tw_create_sink(&writer, &sink, formats[i], NULL), 0);
		assert_int_equal(write_all(writer), 0);
		assert_int_equal(taken.size, size);
		assert_memory_equal(taken.bytes, file, size);
		tw_discard(writer);
		free(taken.bytes);
		free(file);
	}
}

static void its_name_compresses_it(void **state)
{
	(void)state;
	static const uint8_t gzip[] = {0x1f, 0x8b};
	struct taken taken = {0};
	const struct tw_sink sink = {.name = "log.json.gz", .write = take, .context = &taken};
	struct tw_writer *writer;
	struct tw_reader *reader;
	assert_int_equal(tw_create_sink(&writer, &sink, "chrome", NULL), 0);
	assert_int_equal(write_all(writer), 0);
	tw_discard(writer);
	assert_memory_equal(taken.bytes, gzip, sizeof gzip);
	assert_int_equal(tw_open_memory(&reader, "log", taken.bytes, taken.size, NULL), 0);
	assert_true(content_of(reader).events > 0);
	tw_close(reader);
	free(taken.bytes);
}

static void a_function_that_takes_no_more(void **state)
{
	(void)state;
	struct taken taken = {.most = 100, .error = ENOSPC};
	const struct tw_sink sink = {.name = "a full place", .write = take, .context = &taken};
	struct tw_writer *writer;
	assert_int_equal(tw_create_sink(&writer, &sink, "chrome", NULL), 0);
	assert_int_equal(write_all(writer), TW_ERR_SYSTEM);
	assert_non_null(strstr(tw_writer_error(writer), "a full place"));
	assert_non_null(strstr(tw_writer_error(writer), strerror(ENOSPC)));
	tw_discard(writer);
	free(taken.bytes);
}

static void a_descriptor_takes_it(void **state)
{
	(void)state;
	char name[] = "streams.XXXXXX", *written;
	int fd = mkstemp(name);
	struct tw_writer *writer;
	size_t size, file_size;
	char *file = file_of("chrome", &file_size);
	assert_true(fd >= 0);
	assert_int_equal(tw_create_sink(&writer, &(struct tw_sink){.fd = fd}, "chrome", NULL), 0);
	assert_int_equal(write_all(writer), 0);
	tw_discard(writer);
	assert_int_equal(fcntl(fd, F_GETFD) < 0, 0);
	close(fd);
	written = read_text(name, &size);
	assert_int_equal(size, file_size);
	assert_memory_equal(written, file, size);
	unlink(name);
	free(written);
	free(file);
	assert_int_equal(tw_create_sink(&writer, &(struct tw_sink){.fd = -1}, "chrome", NULL), TW_ERR_SYSTEM);
	assert_true(*tw_writer_error(writer));
	tw_discard(writer);
}

static void memory_takes_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < FORMATS; i++) {
		struct tw_writer *writer;
		size_t size, file_size;
		char *file = file_of(formats[i], &file_size);
		assert_int_equal(tw_create_memory(&writer, formats[i], NULL), 0);
		assert_null(tw_writer_take(writer, &size));
		assert_int_equal(write_all(writer), 0);
		char *bytes = tw_writer_take(writer, &size);
		assert_int_equal(size, file_size);
		assert_memory_equal(bytes, file, size);
		assert_null(tw_writer_take(writer, &size));
		assert_int_equal(size, 0);
		tw_discard(writer);
		free(bytes);
		free(file);
	}
}

static void a_directory_is_refused(void **state)
{
	(void)state;
	struct taken taken = {0};
	struct tw_writer *writer;
	const struct tw_sink sink = {.write = take, .context = &taken};
	assert_int_equal(tw_create_sink(&writer, &sink, "ctf", NULL), TW_ERR_UNSUPPORTED);
	tw_discard(writer);
	assert_int_equal(tw_create_memory(&writer, "ctf", NULL), TW_ERR_UNSUPPORTED);
	tw_discard(writer);
}

SUITE(streams)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(functions_without_seek),
	    cmocka_unit_test(functions_with_seek),
	    cmocka_unit_test(a_function_that_fails),
	    cmocka_unit_test(descriptors),
	    cmocka_unit_test(a_function_takes_it),
	    cmocka_unit_test(its_name_compresses_it),
	    cmocka_unit_test(a_function_that_takes_no_more),
	    cmocka_unit_test(a_descriptor_takes_it),
	    cmocka_unit_test(memory_takes_it),
	    cmocka_unit_test(a_directory_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
