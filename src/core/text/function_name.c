/* function_name.c - the name of a function that a trace knows by number. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/text/function_name.h"

#include <inttypes.h>
#include <stdio.h>

uint32_t tw_function_name(struct tw_reader *reader, uint32_t id)
{
	char text[16];
	struct tw_name name = {.id = id};
	const struct tw_namer *namer = reader->options.namer;
	if (!namer || !namer->name || !namer->name(namer->context, id, &name) || !name.length) {
		name.text = text;
		name.length = (size_t)snprintf(text, sizeof text, "#%" PRIu32, id);
	}
	name.id = id;
	return tw_dictionary_intern(reader->dictionary, &name);
}
