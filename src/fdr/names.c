/* names.c - function ids to names of the dictionary, and types of events to their names. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "core/text/function_name.h"
#include "fdr/state.h"

#include <stdlib.h>

enum {
	NEAR_IDS = 1 << 20, /* real programs have fewer functions */
	NAME_COST = 256     /* bytes that a name takes in all tables, about */
};

static uint32_t other(struct tw_reader *reader, struct fdr_names *names)
{
	if (!names->other) {
		names->other = tw_dictionary_text(reader->dictionary, "(other functions)");
		tw_report_limit(reader, &fdr_rules[XRAY_NAME_LIMIT], 0, 0,
		                "more than %u functions: give more memory to tell the rest apart",
		                tw_dictionary_names(reader->dictionary));
	}
	return names->other;
}

static uint32_t name_far(struct tw_reader *reader, struct fdr_names *names, uint32_t id)
{
	uint32_t name;
	if (tw_map_find(&names->far, id, &name))
		return name;
	name = tw_function_name(reader, id);
	return name == UINT32_MAX || !tw_map_add(&names->far, id, name) ? UINT32_MAX : name;
}

/* The least power of two that is greater. */
static size_t power_above(uint32_t id)
{
	size_t power = 8; /* at least what tw_grow() gives */
	while (power <= id)
		power *= 2;
	return power;
}

uint32_t fdr_make_name(struct tw_reader *reader, struct fdr_names *names, uint32_t id)
{
	uint32_t known;
	if (id >= NEAR_IDS && tw_map_find(&names->far, id, &known))
		return known;
	if (tw_dictionary_names(reader->dictionary) >= tw_memory_share(reader) / NAME_COST)
		return other(reader, names);
	if (id >= NEAR_IDS)
		return name_far(reader, names, id);
	if (!tw_grow(&names->near, &names->near_room, power_above(id), sizeof *names->near))
		return UINT32_MAX;
	uint32_t name = tw_function_name(reader, id);
	if (name != UINT32_MAX)
		names->near[id].name = name;
	return name;
}

const char *fdr_type_name(const struct fdr_cursor *cursor, uint16_t type)
{
	const struct tw_read_options *options = &cursor->reader->options;
	for (size_t i = options->event_name_count; i > 0; i--)
		if (options->event_names[i - 1].type == type)
			return options->event_names[i - 1].name;
	if (options->order == TW_ORDER_FILE)
		fdr_seek_types(cursor->reader);
	return fdr_noted_type(cursor->log, type);
}

void fdr_names_free(struct fdr_names *names)
{
	free(names->near);
	tw_map_free(&names->far);
}
