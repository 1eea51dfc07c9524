/* frames.c - the frames of sampled stacks: nodes of V8's profiles, and "stackFrames".
 *
 * Lines count from 0 in profiles, and from 1 in "stackFrames". */
/* SPDX-License-Identifier: Apache-2.0 */
#include "chrome/frames.h"

#include "base/memory/memory.h"
#include "base/memory/sum.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH = 1024, FRAME_COST = 256 };

static const uint32_t NO_FRAME = UINT32_MAX;

/* ---- JSON. ---- */

struct chrome_value chrome_value_of(const struct chrome_value *object, const char *name)
{
	struct chrome_value key, value;
	if (object->type != CHROME_OBJECT)
		return (struct chrome_value){.type = CHROME_NOTHING};
	struct chrome_scan scan = {.at = object->bytes + 1, .end = object->bytes + object->size};
	while (chrome_next_member(&scan, &key, &value))
		if (chrome_is(&key, name))
			return value;
	return (struct chrome_value){.type = CHROME_NOTHING};
}

struct chrome_scan chrome_begin_array(const struct chrome_value *array)
{
	const uint8_t *begin = array->type == CHROME_ARRAY ? array->bytes + 1 : array->bytes;
	return (struct chrome_scan){.at = begin,
	                            .end = array->type == CHROME_ARRAY ? array->bytes + array->size : begin};
}

bool chrome_next_element(struct chrome_scan *scan, struct chrome_value *value)
{
	while (scan->at < scan->end && memchr(" \t\r\n,", *scan->at, 5))
		scan->at++;
	return scan->at < scan->end && *scan->at != ']' && chrome_scan_value(scan, value) > 0;
}

/* What stands for an id in tables; never 0. */
uint64_t chrome_frame_key(uint64_t profile, const struct chrome_value *id)
{
	uint64_t number;
	bool known = chrome_integer(id, &number);
	return tw_hash_two(profile, known ? number : chrome_hash(id, 1)) | 1;
}

/* ---- Frames. ---- */

static uint32_t find_frame(const struct chrome_frames *frames, uint64_t key)
{
	uint32_t found;
	return key && tw_map_find(&frames->by_id, key, &found) ? found : NO_FRAME;
}

/* UINT32_MAX where there is no memory, or it failed before. */
uint32_t chrome_locate(struct chrome_fill *fill, const struct chrome_value *name, const struct chrome_value *file,
                       struct tw_location location)
{
	static const char anonymous[] = "(anonymous)";
	location.name =
	    name->size ? chrome_name_of(fill, name) : chrome_name(fill->reader, anonymous, strlen(anonymous));
	if (fill->failed || location.name == UINT32_MAX)
		return UINT32_MAX;
	location.file = chrome_name_of(fill, file);
	location.line = location.file ? location.line : 0;
	return tw_dictionary_add_place(fill->reader->dictionary, &location);
}

static uint64_t number_of(const struct chrome_value *object, const char *name)
{
	struct chrome_value value = chrome_value_of(object, name);
	uint64_t number = 0;
	return chrome_integer(&value, &number) ? number : 0;
}

static uint32_t line_of(uint64_t line)
{
	return line <= UINT32_MAX ? (uint32_t)line : 0;
}

/* Adds a frame whose id was not there yet. */
static void add_frame(struct chrome_fill *fill, struct chrome_frames *frames, uint64_t key,
                      const struct chrome_frame *frame)
{
	if (fill->failed || find_frame(frames, key) != NO_FRAME || !chrome_afford(fill->reader, FRAME_COST))
		return;
	if (frame->location == UINT32_MAX || frames->count >= NO_FRAME ||
	    !tw_grow(&frames->items, &frames->room, frames->count + 1, sizeof *frames->items) ||
	    !tw_map_add(&frames->by_id, key, (uint32_t)frames->count)) {
		fill->failed = true;
		return;
	}
	frames->items[frames->count++] = *frame;
}

static void add_node(struct chrome_fill *fill, struct chrome_frames *frames, uint64_t profile,
                     const struct chrome_value *node)
{
	struct chrome_value id = chrome_value_of(node, "id"), parent = chrome_value_of(node, "parent");
	struct chrome_value call = chrome_value_of(node, "callFrame"), name = chrome_value_of(&call, "functionName");
	struct chrome_value file = chrome_value_of(&call, "url"), line = chrome_value_of(&call, "lineNumber");
	uint64_t number = UINT64_MAX;
	chrome_integer(&line, &number);
	const struct tw_location place = {.line = line_of(number + 1)};
	if (!id.type)
		return;
	add_frame(fill, frames, chrome_frame_key(profile, &id),
	          &(struct chrome_frame){.parent = parent.type ? chrome_frame_key(profile, &parent) : 0,
	                                 .location = chrome_locate(fill, &name, &file, place),
	                                 .root = !parent.type && chrome_is(&name, "(root)")});
}

/* Nodes tell their parent, or their children. */
static void take_children(struct chrome_frames *frames, uint64_t profile, const struct chrome_value *node)
{
	struct chrome_value id = chrome_value_of(node, "id"), children = chrome_value_of(node, "children"), child;
	struct chrome_scan scan = chrome_begin_array(&children);
	while (chrome_next_element(&scan, &child)) {
		uint32_t place = find_frame(frames, chrome_frame_key(profile, &child));
		if (place != NO_FRAME && !frames->items[place].parent)
			frames->items[place].parent = chrome_frame_key(profile, &id);
	}
}

void chrome_take_nodes(struct chrome_fill *fill, struct chrome_frames *frames, uint64_t profile,
                       const struct chrome_value *nodes)
{
	struct chrome_value node;
	for (struct chrome_scan scan = chrome_begin_array(nodes); !fill->failed && chrome_next_element(&scan, &node);)
		add_node(fill, frames, profile, &node);
	for (struct chrome_scan scan = chrome_begin_array(nodes); !fill->failed && chrome_next_element(&scan, &node);)
		take_children(frames, profile, &node);
}

/* {"7":{"name":"f","parent":"3"}} */
void chrome_take_stack_frames(struct chrome_fill *fill, struct chrome_frames *frames, const struct chrome_value *json)
{
	struct chrome_value key, frame;
	if (json->type != CHROME_OBJECT)
		return;
	struct chrome_scan scan = {.at = json->bytes + 1, .end = json->bytes + json->size};
	while (!fill->failed && chrome_next_member(&scan, &key, &frame)) {
		struct chrome_value name = chrome_value_of(&frame, "name"), parent = chrome_value_of(&frame, "parent");
		struct chrome_value file = chrome_value_of(&frame, "file");
		struct chrome_value category = chrome_value_of(&frame, "category");
		const struct tw_location place = {.line = line_of(number_of(&frame, "line")),
		                                  .address = number_of(&frame, "address")};
		add_frame(fill, frames, chrome_frame_key(0, &key),
		          &(struct chrome_frame){.parent = parent.type ? chrome_frame_key(0, &parent) : 0,
		                                 .location = chrome_locate(fill, &name, &file, place)});
		fill->reader->traits.altered.frames += category.type != 0;
	}
}

static void report_frame(const struct chrome_fill *fill, enum chrome_rule rule)
{
	chrome_report(fill->reader, rule, fill->item, NULL, "%s", chrome_rules[rule].text);
}

/* The frame that called one; NO_FRAME where there is none, or none is left of a circle. */
static uint32_t caller_of(const struct chrome_fill *fill, const struct chrome_frames *frames,
                          const struct chrome_frame *frame)
{
	const uint32_t caller = find_frame(frames, frame->parent);
	const bool circle = caller != NO_FRAME && frames->items[caller].passed && !frames->items[caller].done;
	if (circle)
		report_frame(fill, CHROME_FRAME_CYCLE);
	else if (frame->parent && caller == NO_FRAME)
		report_frame(fill, CHROME_FRAME_UNKNOWN);
	return circle ? NO_FRAME : caller;
}

/* The stack of a frame: those that called it get theirs first. */
uint32_t chrome_stack_of(struct chrome_fill *fill, struct chrome_frames *frames, uint64_t key)
{
	uint32_t path[DEPTH], count = 0, caller = 0, place = find_frame(frames, key);
	if (place == NO_FRAME)
		report_frame(fill, CHROME_FRAME_UNKNOWN);
	while (place != NO_FRAME && !frames->items[place].done && count < DEPTH) {
		frames->items[place].passed = true;
		path[count++] = place;
		place = caller_of(fill, frames, &frames->items[place]);
	}
	if (place != NO_FRAME && frames->items[place].done)
		caller = frames->items[place].stack;
	while (count && !fill->failed) {
		struct chrome_frame *frame = &frames->items[path[--count]];
		if (!frame->root)
			caller = tw_dictionary_push(fill->reader->dictionary, caller, frame->location);
		fill->failed |= caller == UINT32_MAX;
		frame->stack = caller;
		frame->done = true;
	}
	return fill->failed ? 0 : caller;
}

void chrome_frames_free(struct chrome_frames *frames)
{
	free(frames->items);
	tw_map_free(&frames->by_id);
}
