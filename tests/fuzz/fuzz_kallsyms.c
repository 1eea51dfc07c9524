/* fuzz_kallsyms.c - any bytes as /proc/kallsyms: what is read of it gives names, and a failure is told. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <trackway/symbols.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Asks for the address at the beginning of each line. Returns how many have a name. */
static size_t ask(const struct tw_namer *namer, char *text)
{
	size_t named = 0;
	for (char *line = text, *end; *line; line = *end ? end + 1 : end) {
		end = line + strcspn(line, "\n");
		uint64_t address = strtoull(line, NULL, 16);
		struct tw_name name = {0};
		struct tw_range range = {0};
		if (namer->address(namer->context, address, &name, &range) != 1)
			continue;
		fuzz_require(range.start <= address && address < range.end, "a function has its addresses");
		fuzz_require(strlen(name.text) == name.length && name.length, "it has a name");
		named++;
	}
	return named;
}

FUZZ_TARGET(kallsyms, const uint8_t *bytes, size_t size)
{
	char path[32];
	struct tw_symbols *symbols;
	if (size < 1 || tw_symbols_new(&symbols) < 0)
		return 0;
	int file = memfd_create("kallsyms", MFD_CLOEXEC);
	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	fuzz_write(path, bytes + 1, size - 1);
	int status = tw_symbols_add_kallsyms(symbols, path);
	char *text = calloc(size, 1);
	if (text)
		memcpy(text, bytes + 1, size - 1);
	bool plain = text && strlen(text) == size - 1 && isxdigit((uint8_t)text[0]); /* not compressed */
	size_t named = text ? ask(tw_symbols_namer(symbols), text) : 0;
	fuzz_require(status == 0 || *tw_symbols_error(symbols) != '\0', "a failure is told");
	fuzz_require(status != 0 || !plain || named, "the functions of a list that is taken have names");
	free(text);
	tw_symbols_close(symbols);
	close(file);
	return 0;
}
