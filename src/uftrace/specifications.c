/* specifications.c - what is told of the arguments of functions: in info, and in NAME.dbg. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "base/text/demangle.h"
#include "uftrace/uftrace.h"

#include <stdlib.h>
#include <string.h>

/* Copies a part of a text that need not end with a NUL. */
static char *copy_part(const char *text, size_t size)
{
	char *copy = malloc(size + 1);
	if (copy) {
		memcpy(copy, text, size);
		copy[size] = 0;
	}
	return copy;
}

/* Adds a specification under its function's demangled name, by which functions are looked up. False when there is no
 * memory. */
static bool add_spec(struct tw_reader *reader, const char *name, size_t name_size, const char *text, size_t text_size)
{
	struct uftrace_specs *specs = &uftrace_of(reader)->specs;
	if (!uftrace_fits(reader, name_size + text_size + sizeof *specs->items))
		return true;
	struct uftrace_spec spec = {copy_part(name, name_size), copy_part(text, text_size), specs->count};
	char *demangled = spec.name ? tw_demangle(spec.name, &uftrace_of(reader)->symbols.demangle_budget) : NULL;
	if (demangled) {
		free(spec.name);
		spec.name = demangled;
	}
	if (!spec.name || !spec.text || !tw_grow(&specs->items, &specs->room, specs->count + 1, sizeof *specs->items)) {
		free(spec.name);
		free(spec.text);
		return false;
	}
	specs->items[specs->count++] = spec;
	specs->sorted = false;
	return true;
}

bool uftrace_add_specs(struct tw_reader *reader, const char *text, size_t size)
{
	const char *end = text + size;
	while (text < end) {
		const char *stop = memchr(text, ';', (size_t)(end - text));
		stop = stop ? stop : end;
		const char *at = memchr(text, '@', (size_t)(stop - text));
		if (at && !add_spec(reader, text, (size_t)(at - text), at + 1, (size_t)(stop - at - 1)))
			return false;
		text = stop + 1;
	}
	return true;
}

bool uftrace_take_debug_line(struct tw_reader *reader, const struct tw_text *function, const char *line)
{
	bool is_spec = strncmp(line, "A: @", 4) == 0 || strncmp(line, "R: @", 4) == 0;
	return !is_spec || add_spec(reader, function->bytes, function->length, line + 4, strlen(line + 4));
}

void uftrace_specs_free(struct uftrace_specs *specs)
{
	for (size_t i = 0; i < specs->count; i++) {
		free(specs->items[i].name);
		free(specs->items[i].text);
	}
	free(specs->items);
}
