/* perfetto_names.c - names, places and stacks of Perfetto's traces: written once, then known by numbers.
 *
 * Numbers are those of the dictionary, so that one never means two things, not even after a reset. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "export/perfetto/perfetto.h"

#include <stdio.h>

enum { THE_MAPPING = 1 };

/* Numbers of what is not in the dictionary begin where those of the dictionary cannot be. */
#define FIRST_OWN_IID (UINT64_C(1) << 32)

int tw_perfetto_names_grow(struct perfetto *perfetto)
{
	const struct tw_dictionary *dictionary = perfetto->dictionary;
	bool grown = tw_grow(&perfetto->written.names, &perfetto->written.name_room, tw_dictionary_names(dictionary),
	                     sizeof *perfetto->written.names) &&
	             tw_grow(&perfetto->written.stacks, &perfetto->written.stack_room, tw_dictionary_stacks(dictionary),
	                     sizeof *perfetto->written.stacks);
	return grown ? 0 : TW_ERR_MEMORY;
}

void tw_perfetto_put_name(struct perfetto *perfetto, struct tw_proto *proto, unsigned field, const struct tw_name *name)
{
	char text[40];
	size_t length = name->length;
	if (length == 0 && name->id) {
		snprintf(text, sizeof text, "function %llu", (unsigned long long)name->id);
		tw_proto_text(proto, field, text);
		return;
	}
	if (length > PERFETTO_NAME_MAX) {
		length = PERFETTO_NAME_MAX;
		tw_count_loss(perfetto->writer, "long name", true);
	}
	tw_proto_string(proto, field, name->text, length);
}

/* Whether something is not written since the last reset; from now on it is. */
static bool is_new(const struct perfetto *perfetto, uint32_t *written_in)
{
	bool fresh = *written_in != perfetto->reset;
	*written_in = perfetto->reset;
	return fresh;
}

/* Tells a number and a text, which is what most messages are. */
static void put_text(struct perfetto *perfetto, unsigned field, uint64_t iid, const struct tw_name *name)
{
	size_t begin = tw_proto_begin(&perfetto->interned, field);
	tw_proto_uint(&perfetto->interned, INTERNED_IID, iid);
	tw_perfetto_put_name(perfetto, &perfetto->interned, INTERNED_TEXT, name);
	tw_proto_end(&perfetto->interned, begin);
}

static uint64_t put_name(struct perfetto *perfetto, unsigned field, uint32_t *written_in, uint32_t name)
{
	if (is_new(perfetto, written_in))
		put_text(perfetto, field, name, tw_dictionary_name(perfetto->dictionary, name));
	return name;
}

uint64_t tw_perfetto_event_name(struct perfetto *perfetto, uint32_t name)
{
	perfetto->written.names[name].event_field = tw_proto_pack(EVENT_NAME_IID, name);
	return put_name(perfetto, INTERNED_EVENT_NAMES, &perfetto->written.names[name].event, name);
}

uint64_t tw_perfetto_category(struct perfetto *perfetto, uint32_t name)
{
	perfetto->written.names[name].category_field = tw_proto_pack(EVENT_CATEGORY_IIDS, name);
	return put_name(perfetto, INTERNED_CATEGORIES, &perfetto->written.names[name].category, name);
}

uint64_t tw_perfetto_annotation(struct perfetto *perfetto, uint32_t name)
{
	return put_name(perfetto, INTERNED_ANNOTATION_NAMES, &perfetto->written.names[name].annotation, name);
}

uint64_t tw_perfetto_location(struct perfetto *perfetto, uint32_t number)
{
	const struct tw_name *name = tw_dictionary_name(perfetto->dictionary, number);
	if (!name->file)
		return 0;
	if (is_new(perfetto, &perfetto->written.names[number].location)) {
		struct tw_proto *proto = &perfetto->interned;
		size_t begin = tw_proto_begin(proto, INTERNED_SOURCE_LOCATIONS);
		tw_proto_uint(proto, LOCATION_IID, number);
		tw_proto_text(proto, LOCATION_FILE, name->file);
		tw_perfetto_put_name(perfetto, proto, LOCATION_FUNCTION, name);
		if (name->line)
			tw_proto_uint(proto, LOCATION_LINE, name->line);
		tw_proto_end(proto, begin);
	}
	return number;
}

static uint64_t own_iid(struct perfetto *perfetto)
{
	return FIRST_OWN_IID + perfetto->written.next_iid++;
}

uint64_t tw_perfetto_log_body(struct perfetto *perfetto, const void *text, size_t size)
{
	uint64_t iid = own_iid(perfetto);
	size_t begin = tw_proto_begin(&perfetto->interned, INTERNED_LOG_BODIES);
	tw_proto_uint(&perfetto->interned, INTERNED_IID, iid);
	tw_proto_string(&perfetto->interned, INTERNED_TEXT, text, size);
	tw_proto_end(&perfetto->interned, begin);
	return iid;
}

/* ---- Stacks. ---- */

/* Frames belong to a mapping, and what is known of ours is nothing: one without a path has them all. */
static void put_mapping(struct perfetto *perfetto)
{
	struct tw_proto *proto = &perfetto->interned;
	if (!is_new(perfetto, &perfetto->written.mapping))
		return;
	put_text(perfetto, INTERNED_MAPPING_PATHS, THE_MAPPING, &(struct tw_name){.text = ""});
	size_t begin = tw_proto_begin(proto, INTERNED_MAPPINGS);
	tw_proto_uint(proto, MAPPING_IID, THE_MAPPING);
	tw_proto_uint(proto, MAPPING_PATH, THE_MAPPING);
	tw_proto_end(proto, begin);
}

static void put_frame(struct perfetto *perfetto, uint64_t iid, const struct tw_location *location)
{
	struct tw_proto *proto = &perfetto->interned;
	uint64_t function = location->name ? put_name(perfetto, INTERNED_FUNCTION_NAMES,
	                                              &perfetto->written.names[location->name].function, location->name)
	                                   : 0;
	uint64_t source = location->file ? put_name(perfetto, INTERNED_SOURCE_PATHS,
	                                            &perfetto->written.names[location->file].source, location->file)
	                                 : 0;
	size_t begin = tw_proto_begin(proto, INTERNED_FRAMES);
	tw_proto_uint(proto, FRAME_IID, iid);
	if (function)
		tw_proto_uint(proto, FRAME_FUNCTION, function);
	tw_proto_uint(proto, FRAME_MAPPING, THE_MAPPING);
	tw_proto_uint(proto, FRAME_REL_PC, location->address);
	if (source)
		tw_proto_uint(proto, FRAME_SOURCE, source);
	if (location->line)
		tw_proto_uint(proto, FRAME_LINE, location->line);
	tw_proto_end(proto, begin);
}

static bool know_frame(struct perfetto *perfetto, uint32_t location)
{
	if (!tw_grow(&perfetto->written.frames, &perfetto->written.frame_room, location + (size_t)1,
	             sizeof *perfetto->written.frames)) {
		perfetto->failed = true;
		return false;
	}
	if (is_new(perfetto, &perfetto->written.frames[location]))
		put_frame(perfetto, location + UINT64_C(1), tw_dictionary_location(perfetto->dictionary, location));
	return true;
}

/* The frames of a stack, the outermost first. */
static void put_stack(struct perfetto *perfetto, uint32_t number)
{
	const struct tw_dictionary *dictionary = perfetto->dictionary;
	uint32_t frames[PERFETTO_STACK_MAX];
	size_t count = 0;
	for (uint32_t i = number; i && count < PERFETTO_STACK_MAX; i = tw_dictionary_stack(dictionary, i)->caller)
		frames[count++] = tw_dictionary_stack(dictionary, i)->location;
	if (tw_dictionary_stack(dictionary, number)->depth > count)
		tw_count_loss(perfetto->writer, "deep stack", true);
	put_mapping(perfetto);
	for (size_t i = 0; i < count; i++)
		if (!know_frame(perfetto, frames[i]))
			return;
	size_t begin = tw_proto_begin(&perfetto->interned, INTERNED_CALLSTACKS);
	tw_proto_uint(&perfetto->interned, CALLSTACK_IID, number);
	while (count)
		tw_proto_uint(&perfetto->interned, CALLSTACK_FRAMES, frames[--count] + UINT64_C(1));
	tw_proto_end(&perfetto->interned, begin);
}

uint64_t tw_perfetto_callstack(struct perfetto *perfetto, uint32_t stack)
{
	if (stack && is_new(perfetto, &perfetto->written.stacks[stack]))
		put_stack(perfetto, stack);
	return stack;
}

uint64_t tw_perfetto_addresses(struct perfetto *perfetto, const struct tw_argument *arguments, size_t count)
{
	uint64_t first = FIRST_OWN_IID + perfetto->written.next_iid;
	put_mapping(perfetto);
	for (size_t i = 0; i < count; i++)
		put_frame(perfetto, own_iid(perfetto), &(struct tw_location){.address = arguments[i].value.u});
	uint64_t iid = own_iid(perfetto);
	size_t begin = tw_proto_begin(&perfetto->interned, INTERNED_CALLSTACKS);
	tw_proto_uint(&perfetto->interned, CALLSTACK_IID, iid);
	while (count)
		tw_proto_uint(&perfetto->interned, CALLSTACK_FRAMES, first + --count);
	tw_proto_end(&perfetto->interned, begin);
	return iid;
}
