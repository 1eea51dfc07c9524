/* changes.c - two trees of calls as one: what each stack weighed before and after. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/compare/changes.h"

#include "base/memory/memory.h"
#include "base/memory/sum.h"

#include <stdlib.h>
#include <string.h>

/* ---- Nodes. ---- */

static uint64_t key_of(const char *name, uint32_t parent)
{
	return tw_hash_bytes(name, strlen(name), tw_hash64(parent));
}

static bool add_node(struct tw_changes *changes, const char *name, uint32_t parent, uint32_t *node)
{
	struct tw_nodes *nodes = &changes->nodes;
	if (nodes->count == UINT32_MAX || (changes->most_nodes && nodes->count > changes->most_nodes) ||
	    !tw_grow(&nodes->nodes, &nodes->room, nodes->count + 1, sizeof *nodes->nodes) ||
	    !tw_grow(&changes->before, &changes->before_room, nodes->count + 1, sizeof *changes->before))
		return false;
	*node = (uint32_t)nodes->count++;
	changes->before[*node] = 0;
	nodes->nodes[*node] = (struct tw_calltree_node){.name = name,
	                                                .parent = parent,
	                                                .depth = *node ? nodes->nodes[parent].depth + 1 : 0};
	return !*node || tw_map_add(&changes->children, key_of(name, parent), *node);
}

static bool begin(struct tw_changes *changes)
{
	uint32_t root;
	return changes->nodes.count || add_node(changes, "", 0, &root);
}

static bool find_child(const struct tw_changes *changes, const char *name, uint32_t parent, uint32_t *node)
{
	for (size_t slot = SIZE_MAX; tw_map_next(&changes->children, key_of(name, parent), &slot, node);) {
		const struct tw_calltree_node *known = &changes->nodes.nodes[*node];
		if (known->parent == parent && strcmp(known->name, name) == 0)
			return true;
	}
	return false;
}

static void weigh(struct tw_changes *changes, uint32_t node, enum tw_change_side side, uint64_t self)
{
	uint64_t *sum = side == TW_BEFORE ? &changes->before[node] : &changes->nodes.nodes[node].self;
	*sum = tw_sum(*sum, self);
}

int tw_changes_add(struct tw_changes *changes, enum tw_change_side side, const struct tw_calltree_node *nodes,
                   uint32_t count)
{
	uint32_t *places = calloc((size_t)count + 1, sizeof *places);
	bool fine = places && begin(changes);
	for (uint32_t i = 1; i < count && fine; i++) {
		uint32_t parent = places[nodes[i].parent];
		fine = find_child(changes, nodes[i].name, parent, &places[i]) ||
		       add_node(changes, nodes[i].name, parent, &places[i]);
		if (!fine)
			break;
		weigh(changes, places[i], side, nodes[i].self);
		if (side == TW_AFTER)
			changes->nodes.nodes[places[i]].count += nodes[i].count;
	}
	free(places);
	return fine ? 0 : TW_ERR_MEMORY;
}

void tw_changes_free(struct tw_changes *changes)
{
	free(changes->nodes.nodes);
	free(changes->before);
	tw_map_free(&changes->children);
	tw_dictionary_free(changes->texts);
	*changes = (struct tw_changes){0};
}

/* ---- Lines with two numbers. ---- */

/* Cuts the number off that a text ends with, and what is before it: false when there is none. */
static bool cut_number(char *text, uint64_t *number)
{
	char *space = strrchr(text, ' '), *digit = space ? space + 1 : text;
	*number = 0;
	if (!space || !*digit)
		return false;
	for (; *digit; digit++) {
		if (*digit < '0' || *digit > '9' || __builtin_mul_overflow(*number, 10, number) ||
		    __builtin_add_overflow(*number, (unsigned)(*digit - '0'), number))
			return false;
	}
	*space = '\0';
	return true;
}

/* The node of a function below another; false when there is no memory. */
static bool step(struct tw_changes *changes, const char *name, uint32_t *node)
{
	uint32_t child;
	if (!find_child(changes, name, *node, &child)) {
		uint32_t text = tw_dictionary_text(changes->texts, name);
		if (text == UINT32_MAX ||
		    !add_node(changes, tw_dictionary_name(changes->texts, text)->text, *node, &child))
			return false;
	}
	*node = child;
	return true;
}

static int take_line(struct tw_changes *changes, char *text)
{
	uint64_t before, after;
	uint32_t node = 0;
	if (!cut_number(text, &after) || !cut_number(text, &before) || !*text)
		return TW_ERR_VALUE;
	for (char *name = text, *end; name; name = end) {
		end = strchr(name, ';');
		if (end)
			*end++ = '\0';
		if (!step(changes, name, &node))
			return TW_ERR_MEMORY;
	}
	weigh(changes, node, TW_BEFORE, before);
	weigh(changes, node, TW_AFTER, after);
	return 0;
}

enum { LINE_MOST = 1 << 20, PART = 1 << 16 };

/* Takes the lines that are complete; at the end of the file the last one is. */
static int take_lines(struct tw_changes *changes, struct tw_text *text, bool at_end, uint64_t *line)
{
	size_t from = 0;
	int status = 0;
	if (!text->length)
		return 0;
	while (from < text->length && status == 0) {
		char *begin_of = text->bytes + from, *end = memchr(begin_of, '\n', text->length - from);
		if (!end && !at_end)
			break;
		size_t length = end ? (size_t)(end - begin_of) : text->length - from;
		from += length + (end != NULL);
		begin_of[length] = '\0'; /* a text has room for it */
		(*line)++;
		if (length && begin_of[length - 1] == '\r')
			begin_of[length - 1] = '\0';
		/* "#1" is a function without a name. */
		if (*begin_of && strncmp(begin_of, "# ", 2) != 0)
			status = take_line(changes, begin_of);
	}
	from = from < text->length ? from : text->length;
	memmove(text->bytes, text->bytes + from, text->length - from);
	text->length -= from;
	return status == 0 && text->length > LINE_MOST ? (++*line, TW_ERR_VALUE) : status;
}

int tw_changes_read(struct tw_changes *changes, struct tw_input *input, uint64_t *line)
{
	struct tw_text text = {0};
	char *part = malloc(PART);
	int64_t got = 1;
	int status = 0;
	if (!changes->texts)
		changes->texts = tw_dictionary_new_plain();
	if (!part || !changes->texts || !begin(changes))
		status = TW_ERR_MEMORY;
	for (uint64_t offset = 0; got > 0 && status == 0; offset += (uint64_t)got) {
		got = tw_input_read(input, offset, part, PART);
		if (got < 0)
			status = (int)got;
		else if (!tw_text_add(&text, part, (size_t)got))
			status = TW_ERR_MEMORY;
		else
			status = take_lines(changes, &text, got == 0, line);
	}
	free(part);
	tw_text_free(&text);
	return status;
}

static void put_stack(struct tw_output *out, const struct tw_changes *changes, const uint32_t *path, uint32_t depth)
{
	tw_put_folded(out, changes->nodes.nodes, path, depth);
	tw_put_char(out, ' ');
	tw_put_u64(out, changes->before[path[0]]);
	tw_put_char(out, ' ');
	tw_put_u64(out, changes->nodes.nodes[path[0]].self);
	tw_put_char(out, '\n');
}

int tw_changes_fold(struct tw_output *out, const struct tw_changes *changes)
{
	const struct tw_calltree_node *nodes = changes->nodes.nodes;
	uint32_t *path = calloc(changes->nodes.count + 1, sizeof *path);
	for (uint32_t i = 1; path && i < changes->nodes.count && !out->error; i++) {
		uint32_t depth = 0;
		if (!changes->before[i] && !nodes[i].self)
			continue;
		for (uint32_t node = i; node; node = nodes[node].parent)
			path[depth++] = node;
		put_stack(out, changes, path, depth);
	}
	free(path);
	return path ? 0 : TW_ERR_MEMORY;
}

/* ---- Both sides. ---- */

uint64_t tw_changes_total(const struct tw_changes *changes, enum tw_change_side side)
{
	uint64_t sum = 0;
	for (size_t i = 1; i < changes->nodes.count; i++)
		sum = tw_sum(sum, side == TW_BEFORE ? changes->before[i] : changes->nodes.nodes[i].self);
	return sum;
}

void tw_changes_normalize(struct tw_changes *changes)
{
	uint64_t before = tw_changes_total(changes, TW_BEFORE), after = tw_changes_total(changes, TW_AFTER);
	for (size_t i = 1; i < changes->nodes.count && before; i++) {
		double scaled = (double)changes->before[i] * ((double)after / (double)before) + 0.5;
		changes->before[i] = scaled < 0x1p63 ? (uint64_t)scaled : INT64_MAX;
	}
}

/* Children stand after their parents. */
uint64_t *tw_changes_before(const struct tw_changes *changes)
{
	uint64_t *sums = calloc(changes->nodes.count + 1, sizeof *sums);
	for (size_t i = changes->nodes.count; sums && i-- > 1;) {
		const uint32_t parent = changes->nodes.nodes[i].parent;
		sums[i] = tw_sum(sums[i], changes->before[i]);
		sums[parent] = tw_sum(sums[parent], sums[i]);
	}
	return sums;
}
