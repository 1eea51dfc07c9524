/* fuzz_slice.c - any bytes as the files of one or two threads: intervals of them as programs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "slice/slice.h"

static const char *const files[] = {"xtrace.1.1.hint9.xinsndata.bin", "xtrace.1.1.hint9.xsnapshot.bin",
                                    "xtrace.1.2.hint9.xinsndata.bin", "xtrace.1.2.hint9.xsnapshot.bin"};

enum { FILES = sizeof files / sizeof *files, PATH = 128 };

/* Bits of the selector. Bits 2 to 4: as many instructions. */
enum { SYNC = 1, LATER = 2, LENGTH = 28, LITTLE = 32, LEADS = 64, SECOND = 128 };

static char folder[] = "/tmp/fuzz-slice-XXXXXX";

static const char *path_of(size_t file)
{
	static char path[PATH];
	snprintf(path, sizeof path, "%s/%s", folder, files[file]);
	return path;
}

static void remove_folder(void)
{
	for (size_t i = 0; i < FILES; i++)
		unlink(path_of(i));
	rmdir(folder);
}

static void make(struct tw_reader *reader, const struct xtrace_track *track, const struct slice_interval *interval)
{
	static const uint8_t magic[] = {0x7f, 'E', 'L', 'F'};
	struct tw_output out;
	struct slice slice;
	if (fuzz_good(reader, slice_read(&slice, reader, track, interval))) {
		fuzz_scratch(&out);
		int status = slice_write_program(&slice, &out);
		size_t size;
		uint8_t *program = fuzz_scratch_bytes(&out, &size);
		if (fuzz_good(reader, status)) {
			fuzz_require(size > SLICE_PAGE && memcmp(program, magic, sizeof magic) == 0, "a program");
			fuzz_require(size > slice.pages.count * SLICE_PAGE, "all its pages are in it");
		}
		free(program);
	}
	slice_free(&slice);
}

static void make_all(struct tw_reader *reader, const struct xtrace_track *track, const struct slice_interval *interval)
{
	struct tw_output out;
	struct slice_sync sync;
	size_t size;
	fuzz_scratch(&out);
	bool good = fuzz_good(reader, slice_sync_read(&sync, reader, track, interval, &out));
	uint8_t *order = fuzz_scratch_bytes(&out, &size);
	fuzz_touch(order, size);
	free(order);
	for (size_t i = 0; good && i < sync.count; i++)
		if (sync.cuts[i].interval.instructions)
			make(reader, sync.cuts[i].track, &sync.cuts[i].interval);
	slice_sync_free(&sync);
}

static void slice_of(uint8_t selector)
{
	enum { MEMORY = 1 << 18, OFFSET = 40 };
	const struct tw_read_options options = {.memory_limit = selector & LITTLE ? MEMORY : 0};
	struct slice_interval interval = {.snapshot = selector & LATER ? 1 : 0,
	                                  .begin = selector & LEADS ? OFFSET : 0,
	                                  .instructions = ((selector & LENGTH) >> 2) + 1u};
	struct tw_reader *reader = NULL;
	int status = tw_open(&reader, folder, &options);
	fuzz_require(reader != NULL && fuzz_good(reader, status), "a set can be opened");
	const struct xtrace_track *track = xtrace_of(reader)->set.tracks;
	if (selector & SYNC)
		make_all(reader, track, &interval);
	else
		make(reader, track, &interval);
	interval.shorter = true; /* as a window is */
	make(reader, track, &interval);
	tw_close(reader);
}

/* The first byte selects, the second is the size of the data file in 256 parts of all. */
FUZZ_TARGET(slice, const uint8_t *bytes, size_t size)
{
	static bool made;
	if (size < 2)
		return 0;
	if (!made)
		fuzz_require(mkdtemp(folder) != NULL && atexit(remove_folder) == 0, "a directory");
	made = true;
	size_t data = (size - 2) * bytes[1] / 255;
	for (size_t i = 0; i < FILES; i += 2) {
		bool wanted = i == 0 || bytes[0] & SECOND;
		fuzz_write(path_of(i), bytes + 2, data);
		fuzz_write(path_of(i + 1), bytes + 2 + data, size - 2 - data);
		if (!wanted && (unlink(path_of(i)) < 0 || unlink(path_of(i + 1)) < 0))
			fuzz_require(false, "a file can be removed");
	}
	slice_of(bytes[0]);
	return 0;
}
