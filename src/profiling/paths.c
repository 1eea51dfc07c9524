/* paths.c - equal paths as one, with what each took itself. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "core/text/function_name.h"
#include "profiling/profiling.h"

#include <inttypes.h>
#include <stdlib.h>

enum { NODE_COST = 512 }; /* bytes of a path with its stack and name in all tables, about */

/* The node of a path, a new one where there is none; UINT32_MAX when there is no memory. */
static uint32_t node_of(struct profiling_paths *paths, uint32_t track, uint32_t stack, uint64_t offset)
{
	uint64_t key = tw_hash_two(track, stack);
	uint32_t number;
	for (size_t slot = SIZE_MAX; tw_map_next(&paths->map, key, &slot, &number);)
		if (paths->nodes[number].track == track && paths->nodes[number].stack == stack)
			return number;
	number = (uint32_t)paths->count;
	if (!tw_grow(&paths->nodes, &paths->room, paths->count + 1, sizeof *paths->nodes) ||
	    !tw_map_add(&paths->map, key, number))
		return UINT32_MAX;
	paths->nodes[paths->count++] = (struct profiling_node){.track = track, .stack = stack, .offset = offset};
	return number;
}

/* Puts the stacks of a path into the dictionary, from the outermost function on. The names come from the program, if
 * one is given. */
static bool push_stacks(struct tw_reader *reader, struct profiling_paths *paths, const struct profiling_path *path)
{
	uint32_t stack = 0;
	if (!tw_grow(&paths->stacks, &paths->stack_room, path->depth, sizeof *paths->stacks))
		return false;
	for (size_t i = 0; i < path->depth; i++) {
		uint32_t name = tw_function_name(reader, profiling_path_id(path, path->depth - 1 - i));
		const struct tw_location location = {.name = name};
		uint32_t place = name == UINT32_MAX ? name : tw_dictionary_add_location(reader->dictionary, &location);
		stack = place == UINT32_MAX ? place : tw_dictionary_push(reader->dictionary, stack, place);
		if (stack == UINT32_MAX)
			return false;
		paths->stacks[i] = stack;
	}
	return true;
}

int profiling_paths_add(struct tw_reader *reader, struct profiling_paths *paths, uint32_t track,
                        const struct profiling_item *item)
{
	const struct profiling_path *path = &item->path;
	const size_t known = paths->count + tw_dictionary_stacks(reader->dictionary);
	if (known + path->depth > tw_memory_limit(reader) / NODE_COST) {
		if (!paths->full)
			tw_report(reader, &profiling_rules[PROFILING_LIMIT], item->offset, item->offset, 0,
			          "more than %zu paths: give more memory for the rest", known);
		paths->full = true;
		return 0;
	}
	if (!push_stacks(reader, paths, path))
		return TW_ERR_MEMORY;
	for (size_t i = 0; i < path->depth; i++) {
		uint32_t number = node_of(paths, track, paths->stacks[i], item->offset);
		if (number == UINT32_MAX)
			return TW_ERR_MEMORY;
		struct profiling_node *node = &paths->nodes[number];
		if (i + 2 == path->depth)
			node->below = tw_sum(node->below, path->ticks);
		if (i + 1 < path->depth)
			continue;
		node->counted = true;
		node->calls = tw_sum(node->calls, path->calls);
		node->ticks = tw_sum(node->ticks, path->ticks);
	}
	return 0;
}

static void report_first(struct tw_reader *reader, enum profiling_rule rule, const struct profiling_node *first,
                         uint64_t count)
{
	if (count)
		tw_report(reader, &profiling_rules[rule], first->offset, first->offset, 0,
		          "%s It is the first of %" PRIu64 ".", profiling_rules[rule].text, count);
}

void profiling_paths_settle(struct tw_reader *reader, struct profiling_paths *paths)
{
	const struct profiling_node *bare = NULL, *over = NULL;
	uint64_t bares = 0, overs = 0;
	for (size_t i = 0; i < paths->count; i++) {
		struct profiling_node *node = &paths->nodes[i];
		bool is_over = node->counted && node->below > node->ticks;
		bare = !bare && !node->counted ? node : bare;
		over = !over && is_over ? node : over;
		bares += !node->counted;
		overs += is_over;
	}
	report_first(reader, PROFILING_NO_CALLER, bare, bares);
	report_first(reader, PROFILING_LONG_CALLEES, over, overs);
}

void profiling_paths_free(struct profiling_paths *paths)
{
	tw_map_free(&paths->map);
	free(paths->nodes);
	free(paths->stacks);
}
