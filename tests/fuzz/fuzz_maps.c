/* fuzz_maps.c - any bytes as a list of what was loaded where: its threads have namers, and a failure is told. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <trackway/symbols.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/fuzz-maps-XXXXXX", path[sizeof folder + 8];

static void clear(void)
{
	unlink(path);
	rmdir(folder);
}

static void begin(void)
{
	if (path[0])
		return;
	fuzz_require(mkdtemp(folder) != NULL, "there is a folder");
	snprintf(path, sizeof path, "%s/list", folder);
	atexit(clear);
}

/* Asks for a thread. */
static void ask(const struct tw_thread_namers *namers, uint64_t thread)
{
	enum { MOST = 255 };
	uint32_t program = 0;
	const struct tw_namer *namer = namers->find(namers->context, thread, &program);
	struct tw_name name = {0};
	struct tw_range range = {0};
	fuzz_require((namer != NULL) == (program != 0) && program <= MOST, "who has a namer is of a program");
	if (namer && namer->address(namer->context, 0x400000, &name, &range))
		fuzz_require(range.start <= 0x400000 && 0x400000 < range.end, "a function has its addresses");
}

/* Asks for each thread that a line tells of, and some others. */
static void ask_all(const struct tw_thread_namers *namers, const char *text)
{
	static const char word[] = "thread ";
	for (uint64_t thread = 0; thread < 8; thread++)
		ask(namers, thread);
	for (const char *at = text; (at = strstr(at, word));) {
		at += sizeof word - 1;
		ask(namers, strtoull(at, NULL, 10));
	}
}

FUZZ_TARGET(maps, const uint8_t *bytes, size_t size)
{
	struct tw_symbols *symbols;
	char *text = size ? calloc(size, 1) : NULL;
	begin();
	if (!text || tw_symbols_new(&symbols) < 0) {
		free(text);
		return 0;
	}
	for (size_t i = 0; i + 1 < size; i++)
		text[i] = (char)(bytes[i + 1] == '/' ? '_' : bytes[i + 1]); /* no file of the system is there */
	fuzz_write(path, (const uint8_t *)text, size - 1);
	int status = tw_symbols_add_maps(symbols, path);
	fuzz_require(status == 0 || *tw_symbols_error(symbols) != '\0', "a failure is told");
	if (tw_symbols_thread_namers(symbols))
		ask_all(tw_symbols_thread_namers(symbols), text);
	tw_symbols_close(symbols);
	free(text);
	return 0;
}
