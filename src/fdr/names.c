/* names.c - function ids to names of the dictionary, and types of events to their names. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "core/text/function_name.h"
#include "fdr/state.h"

#include <stdlib.h>

enum {
	NEAR_IDS = 1 << 20, /* real programs have fewer functions */
	SURE_IDS = 1 << 12, /* the table has so many at once */
	NEXT_IDS = 1 << 8,  /* and so many more each time that one is asked for: one made up by damage costs no 16 MB */
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

/* The least power of two that is greater. */
static size_t power_above(uint32_t id)
{
	size_t power = 8; /* at least what tw_grow() gives */
	while (power <= id)
		power *= 2;
	return power;
}

/* Whether the table has a place for an id, or is to have one now. */
static bool is_near(struct fdr_names *names, uint32_t id)
{
	names->asked++;
	return id < names->near_room || id < SURE_IDS || (id < NEAR_IDS && id / NEXT_IDS < names->asked);
}

static bool keep_near(struct fdr_names *names, uint32_t id, uint32_t name)
{
	if (!tw_grow(&names->near, &names->near_room, power_above(id), sizeof *names->near))
		return false;
	names->near[id].name = name;
	return true;
}

uint32_t fdr_make_name(struct tw_reader *reader, struct fdr_names *names, uint32_t id)
{
	const bool near = is_near(names, id);
	uint32_t name;
	if (tw_map_find(&names->far, id, &name))
		return !near || keep_near(names, id, name) ? name : UINT32_MAX;
	if (tw_dictionary_names(reader->dictionary) >= tw_memory_share(reader) / NAME_COST)
		return other(reader, names);
	name = tw_function_name(reader, id);
	if (name == UINT32_MAX)
		return UINT32_MAX;
	return (near ? keep_near(names, id, name) : tw_map_add(&names->far, id, name)) ? name : UINT32_MAX;
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
