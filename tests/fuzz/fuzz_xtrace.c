/* fuzz_xtrace.c - any bytes as the files of one or two threads: checked, listed, counted, merged, cut, repaired,
 * converted. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const files[] = {"xtrace.1.1.hint9.xinsndata.bin", "xtrace.1.1.hint9.xsnapshot.bin",
                                    "xtrace.1.2.hint9.xinsndata.bin"};

enum { FOLDER = 64, PATH = 128, SECOND = 128 /* of the selector: there is a second thread */ };

static char folder[] = "/tmp/fuzz-xtrace-XXXXXX";

static void remove_set(const char *directory)
{
	char path[PATH];
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		snprintf(path, sizeof path, "%.*s/%s", FOLDER, directory, files[i]);
		unlink(path);
	}
	rmdir(directory);
}

static void remove_file(const char *name)
{
	char path[PATH];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	unlink(path);
}

static void remove_folder(void)
{
	remove_set(folder);
}

static void write_file(const char *name, const uint8_t *bytes, size_t size)
{
	char path[PATH];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	fuzz_write(path, bytes, size);
}

static struct tw_reader *open_set(const char *path, const struct tw_read_options *options)
{
	struct tw_reader *reader = NULL;
	int status = tw_open(&reader, path, options);
	fuzz_require(reader != NULL && fuzz_good(reader, status), "a set can be opened");
	return reader;
}

static uint64_t check(const char *path, bool plainly)
{
	const struct tw_read_options options = {.checking = TW_CHECK_ALL, .findings_only = plainly};
	struct tw_reader *reader = open_set(path, &options);
	fuzz_drain(reader);
	uint64_t errors = tw_reader_findings(reader, TW_ERROR);
	tw_close(reader);
	return errors;
}

static void list(const char *path, uint8_t selector)
{
	const struct tw_xtrace_read_options xtrace = {.tokens = selector & 2};
	const struct tw_read_options options = {.listing = selector & 1, .xtrace = &xtrace};
	struct tw_reader *reader = open_set(path, &options);
	struct tw_record record;
	int status;
	while ((status = tw_read_record(reader, &record)) > 0) {
		fuzz_touch((const uint8_t *)record.text, record.text_size);
		fuzz_require(record.kind != NULL, "a kind");
	}
	fuzz_good(reader, status);
	tw_close(reader);
}

static void count(const char *path)
{
	struct tw_reader *reader = open_set(path, NULL);
	struct tw_info info;
	fuzz_good(reader, tw_read_info(reader, 1, &info));
	tw_close(reader);
}

/* All threads on one clock. */
static void merge(const char *path)
{
	const struct tw_read_options options = {.order = TW_ORDER_TIME};
	struct tw_reader *reader = open_set(path, &options);
	fuzz_drain(reader);
	tw_close(reader);
}

/* The instructions of one thread. */
static void convert(const char *path, const char *format)
{
	static const uint64_t thread = 1;
	const struct tw_read_options options = {.threads = &thread, .thread_count = 1};
	const struct tw_write_options write = {.format = format};
	struct tw_rewrite_result result;
	struct tw_reader *reader = open_set(path, &options);
	fuzz_good(reader, tw_transcode(reader, "/dev/null", &write, &result));
	tw_close(reader);
}

/* What is written has no errors. */
static void rewrite(const char *path, uint8_t selector)
{
	char out[FOLDER + 8];
	struct tw_rewrite_result result;
	bool by_snapshot = selector & 2;
	unsigned from = selector >> 4 & 7, length = selector >> 2 & 3, to = length ? from + length : 0;
	const struct tw_xtrace_read_options xtrace = {.from_snapshot = by_snapshot ? from : 0,
	                                              .to_snapshot = by_snapshot ? to : 0};
	const struct tw_read_options options = {.from_ns = by_snapshot ? 0 : from,
	                                        .to_ns = by_snapshot ? 0 : to,
	                                        .xtrace = &xtrace};
	snprintf(out, sizeof out, "%.*s.out", FOLDER, path);
	struct tw_reader *reader = open_set(path, &options);
	int status = selector & 1 ? tw_repair(reader, out, &result) : tw_transcode(reader, out, NULL, &result);
	if (fuzz_good(reader, status)) {
		uint64_t errors = check(out, true);
		fuzz_require(!(selector & 1) || errors == 0, "what was repaired has no errors");
	}
	tw_close(reader);
	remove_set(out);
}

/* The first byte selects, the second is the size of the data file in 256 parts of all. */
FUZZ_TARGET(xtrace, const uint8_t *bytes, size_t size)
{
	static bool made;
	if (size < 2)
		return 0;
	if (!made)
		fuzz_require(mkdtemp(folder) != NULL && atexit(remove_folder) == 0, "a directory");
	made = true;
	size_t data = (size - 2) * bytes[1] / 255;
	write_file(files[0], bytes + 2, data);
	write_file(files[1], bytes + 2 + data, size - 2 - data);
	if (bytes[0] & SECOND)
		write_file(files[2], bytes + 2 + data / 2, data - data / 2);
	fuzz_require(check(folder, true) == check(folder, false), "both ways find the same errors");
	list(folder, bytes[0]);
	count(folder);
	merge(folder);
	convert(folder, "champsim");
	convert(folder, "tarmac");
	rewrite(folder, bytes[0]);
	if (bytes[0] & SECOND)
		remove_file(files[2]);
	return 0;
}
