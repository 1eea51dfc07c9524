/* function_name.c - the name of a function that a trace knows by number. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/text/function_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Source: LLVM 20, compiler-rt, xray_interface.cpp: an id has the number of its object, 0 of the program, in the upper
 * byte. */
enum { OBJECT_BITS = 24 };

size_t tw_function_number(char *text, size_t room, uint32_t id)
{
	const uint32_t object = id >> OBJECT_BITS, function = id & ((UINT32_C(1) << OBJECT_BITS) - 1);
	int length = object ? snprintf(text, room, "#%" PRIu32 ":%" PRIu32, object, function)
	                    : snprintf(text, room, "#%" PRIu32, function);
	return (size_t)length;
}

uint32_t tw_function_name(struct tw_reader *reader, uint32_t id)
{
	char text[24];
	struct tw_name name = {.id = id};
	const struct tw_namer *namer = reader->options.namer;
	if (!namer || !namer->name || !namer->name(namer->context, id, &name) || !name.length) {
		name.text = text;
		name.length = tw_function_number(text, sizeof text, id);
	}
	name.id = id;
	return tw_dictionary_intern(reader->dictionary, &name);
}

/* A reader has the namer of its trace in place of these. */
static int name_others(void *context, uint64_t id, struct tw_name *name)
{
	const struct tw_namer *others = ((const struct tw_namers *)context)->others;
	return others && others->name ? others->name(others->context, id, name) : 0;
}

static int address_others(void *context, uint64_t address, struct tw_name *name, struct tw_range *range)
{
	const struct tw_namer *others = ((const struct tw_namers *)context)->others;
	return others && others->address ? others->address(others->context, address, name, range) : 0;
}

void tw_namers_ready(struct tw_namers *namers)
{
	namers->namer = (struct tw_namer){.name = name_others, .address = address_others, .context = namers};
}

static const struct tw_namer *find_own(const struct tw_namers *namers, const char *path)
{
	for (size_t i = 0; i < namers->count; i++)
		if (strcmp(namers->items[i].path, path) == 0)
			return namers->items[i].namer;
	return NULL;
}

const struct tw_namer *tw_namer_of(const struct tw_namer *namer, const char *path)
{
	if (!namer || namer->name != name_others)
		return namer;
	const struct tw_namers *namers = namer->context;
	const struct tw_namer *own = find_own(namers, path);
	return own ? own : namers->others;
}

const struct tw_namer *tw_namer_of_log(const struct tw_namer *namer, const char *path, uint64_t offset)
{
	if (!namer || namer->name != name_others)
		return namer;
	const struct tw_namers *namers = namer->context;
	const struct tw_namer *own = offset ? NULL : find_own(namers, path);
	if (own || !namers->log)
		return own ? own : namers->others;
	return namers->log(namers->context, path, offset);
}
