/* texts.c - the texts of a handle: names that stay until it is closed, and the error. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/demangle.h"
#include "symbols/program.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 16 };

struct tw_chunk {
	struct tw_chunk *next;
	size_t used, room;
	char bytes[];
};

int tw_symbols_fail(struct tw_symbols *symbols, int status, const char *format, ...)
{
	size_t room = sizeof symbols->error;
	int used =
	    snprintf(symbols->error, room, "%s%s", symbols->path ? symbols->path : "", symbols->path ? ": " : "");
	if (used < 0 || (size_t)used >= room)
		return status;
	va_list arguments;
	va_start(arguments, format);
	/* The analyzer loses va_start() where it inlines this into its callers. */
	vsnprintf(symbols->error + used, room - (size_t)used, format, arguments); // NOLINT(clang-analyzer-valist.*)
	va_end(arguments);
	return status;
}

const char *tw_symbols_keep(struct tw_symbols *symbols, const char *text)
{
	size_t size = strlen(text) + 1;
	struct tw_chunk *chunk = symbols->texts;
	if (!chunk || chunk->room - chunk->used < size) {
		size_t room = size > CHUNK ? size : CHUNK;
		chunk = malloc(sizeof *chunk + room);
		if (!chunk)
			return NULL;
		*chunk = (struct tw_chunk){.next = symbols->texts, .room = room};
		symbols->texts = chunk;
	}
	char *copy = memcpy(chunk->bytes + chunk->used, text, size);
	chunk->used += size;
	return copy;
}

void tw_symbols_free_texts(struct tw_symbols *symbols)
{
	while (symbols->texts) {
		struct tw_chunk *next = symbols->texts->next;
		free(symbols->texts);
		symbols->texts = next;
	}
}

bool tw_symbols_name(struct tw_symbols *symbols, struct tw_symbols_function *function, size_t *budget)
{
	char address[32];
	snprintf(address, sizeof address, "@0x%llx", (unsigned long long)function->address);
	char *demangled = function->symbol ? tw_demangle(function->symbol, budget) : NULL;
	function->name = demangled          ? tw_symbols_keep(symbols, demangled)
	                 : function->symbol ? function->symbol
	                                    : tw_symbols_keep(symbols, address);
	free(demangled);
	return function->name != NULL;
}

bool tw_is_mark(const char *name)
{
	return name[0] == '\0' || name[0] == '$' || (name[0] == '.' && name[1] == 'L');
}
