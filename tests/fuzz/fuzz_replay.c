/* fuzz_replay.c - any bytes as the two files of a thread: executed again from their first snapshots. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replay/emulator.h"
#include "replay/file.h"

enum { HEAD = 3 /* a selector that nothing uses, and the size of the data file */, PARTS = 3, PATH = 128 };

static const char *const names[] = {"xtrace.1.1.hint9.xinsndata.bin", "xtrace.1.1.hint9.xsnapshot.bin"};
static char folder[] = "/tmp/fuzz-replay-XXXXXX", paths[2][PATH];

/* The emulator keeps what it made for its engines: it is no code of ours. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libunicorn\n";
}

static void remove_all(void)
{
	unlink(paths[0]);
	unlink(paths[1]);
	rmdir(folder);
}

static void begin(void)
{
	static bool began;
	if (began)
		return;
	fuzz_require(mkdtemp(folder) != NULL && atexit(remove_all) == 0, "a directory");
	for (size_t i = 0; i < 2; i++)
		snprintf(paths[i], PATH, "%s/%s", folder, names[i]);
	fuzz_require(replay_emulator_load() == NULL, "an emulator");
	began = true;
}

static void run(const struct replay_file *file, size_t i)
{
	struct tw_xtrace_snapshot start;
	struct replay_part part;
	struct replay_result result;
	if (replay_file_part(file, i, &part, &start))
		return;
	fuzz_require(part.offset <= file->data_size && part.size <= file->data_size - part.offset,
	             "a part of the file");
	replay_run(&part, &result);
	fuzz_require(result.offset >= part.offset && result.offset - part.offset <= part.size, "an offset in the part");
	fuzz_require(result.instructions <= part.size, "a token an instruction");
	fuzz_require(strlen(result.what) < sizeof result.what, "words that end");
}

FUZZ_TARGET(replay, const uint8_t *bytes, size_t size)
{
	struct replay_file file;
	if (size < HEAD)
		return 0;
	begin();
	size_t data = bytes[1] | (size_t)bytes[2] << 8;
	data = data < size - HEAD ? data : size - HEAD;
	fuzz_write(paths[0], bytes + HEAD, data);
	fuzz_write(paths[1], bytes + HEAD + data, size - HEAD - data);
	const char *wrong = replay_file_open(&file, paths[0], NULL, &(struct tw_xtrace_layout){0}, 0);
	for (size_t i = 0; !wrong && i < file.count && i < PARTS; i++)
		run(&file, i);
	replay_file_close(&file);
	return 0;
}
