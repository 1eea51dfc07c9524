/* fuzz_windows.c - any bytes as a list of windows: for `record`, as SimPoint's files, and beside a trace. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "cli/record/window_list.h"
#include "slice/windows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH = 96, FILES = 5 };

static char folder[] = "/tmp/trackway-fuzz-XXXXXX", paths[FILES][PATH];

enum { LIST, SIMPOINTS, WEIGHTS, DATA, BESIDE };
static const char *const names[FILES] = {"w.list", "w.simpoints", "w.weights", "xtrace.1.1.hint9.xinsndata.bin",
                                         "xtrace.1.windows"};

static void remove_all(void)
{
	for (size_t i = 0; i < FILES; i++)
		unlink(paths[i]);
	rmdir(folder);
}

static void begin(void)
{
	static const uint8_t token[] = {0x09, 0, 0, 0x40, 0, 0, 0, 0, 0, 0x1f, 0x20, 0x03, 0xd5};
	static bool began;
	if (began)
		return;
	fuzz_require(mkdtemp(folder) != NULL && atexit(remove_all) == 0, "a directory");
	for (size_t i = 0; i < FILES; i++)
		snprintf(paths[i], PATH, "%s/%s", folder, names[i]);
	fuzz_write(paths[DATA], token, sizeof token);
	began = true;
}

static void read_list(const char *path, uint64_t interval)
{
	static struct collect_windows windows;
	char fault[TW_WINDOW_FAULT_ROOM] = "";
	windows.count = 0;
	bool fine = tw_window_list_read(&windows, path, interval, fault);
	fuzz_require(fine ? windows.count > 0 : *fault != 0, "windows, or why there are none");
	fuzz_require(windows.count <= COLLECT_WINDOWS, "room for them");
	for (uint32_t i = 0; i < windows.count; i++) {
		const struct collect_window *one = &windows.items[i];
		fuzz_require(one->length && one->from + one->length > one->from, "a window");
		fuzz_require(one->weight >= 0 && one->weight <= 1, "a weight");
		windows.items[i] = (struct collect_window){0};
	}
}

static void read_beside(bool little)
{
	enum { LITTLE = 1 << 16, SHARE = 8 };
	struct tw_read_options options = fuzz_options(0);
	struct slice_windows windows;
	struct tw_reader *reader = NULL;
	options.memory_limit = little ? LITTLE : 0;
	fuzz_require(tw_open(&reader, paths[DATA], &options) == 0, "a trace");
	int status = slice_windows_read(&windows, reader);
	fuzz_require(fuzz_good(reader, status) ? windows.count > 0 : true, "windows, or why there are none");
	fuzz_require(!little || windows.count * sizeof *windows.items <= LITTLE / SHARE, "the limit of memory");
	for (size_t i = 0; i < windows.count && status == 0; i++)
		fuzz_require(windows.items[i].length && windows.items[i].weight <= 1 &&
		                 windows.items[i].warm_up_snapshot <= windows.items[i].snapshot,
		             "a window");
	slice_windows_free(&windows);
	tw_close(reader);
}

/* Bit 2: an interval is told. The next byte says which list; SimPoint's weights are behind a zero byte. */
FUZZ_TARGET(windows, const uint8_t *bytes, size_t size)
{
	enum { HEAD = 2, INTERVAL = 100 };
	if (size < HEAD)
		return 0;
	begin();
	const uint8_t *text = bytes + HEAD, *end = memchr(text, 0, size - HEAD);
	size -= HEAD;
	size_t first = end ? (size_t)(end - text) : size, second = end ? size - 1 - first : 0;
	switch (bytes[1] % 4) {
	case 0:
		fuzz_write(paths[LIST], text, size);
		read_list(paths[LIST], 0);
		break;
	case 1:
		fuzz_write(paths[SIMPOINTS], text, first);
		fuzz_write(paths[WEIGHTS], text + size - second, second);
		read_list(paths[SIMPOINTS], bytes[0] & 4 ? INTERVAL : 0);
		break;
	default:
		fuzz_write(paths[BESIDE], text, size);
		read_beside(bytes[1] % 4 == 3);
	}
	return 0;
}
