/* calltree_json.c - a tree of calls as JSON Lines: a node a line. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pictures/report.h"

#include <stdlib.h>

/* Nodes are numbered as they are written, depth first: a subtree is a run of numbers. */
struct numbers {
	uint32_t *place; /* by node: its number */
	uint32_t *size;  /* by number: nodes of its subtree, itself among them */
};

static bool number(struct numbers *numbers, const struct tw_layout *layout)
{
	*numbers = (struct numbers){calloc(layout->count, sizeof(uint32_t)), calloc(layout->count, sizeof(uint32_t))};
	if (!numbers->place || !numbers->size)
		return false;
	for (uint32_t i = 0; i < layout->count; i++)
		numbers->place[layout->order[i]] = i;
	for (uint32_t i = layout->count; i-- > 0;) {
		numbers->size[i]++;
		if (i)
			numbers->size[numbers->place[layout->nodes[layout->order[i]].parent]] += numbers->size[i];
	}
	return true;
}

static void put_children(struct tw_json *json, const struct numbers *numbers, uint32_t i)
{
	const uint32_t end = i + numbers->size[i];
	tw_json_array(json, "children");
	for (uint32_t child = i + 1; child < end; child += numbers->size[child])
		tw_json_u64(json, NULL, child);
	tw_json_array_end(json);
}

static void put_node(struct tw_json *json, const struct tw_layout *layout, const struct numbers *numbers, uint32_t i,
                     enum tw_weight weight)
{
	const uint32_t place = layout->order[i];
	const struct tw_calltree_node *node = &layout->nodes[place];
	const uint64_t self = i ? node->self : 0; /* the root is no function */
	tw_json_object(json, NULL);
	tw_json_u64(json, "id", i);
	if (i)
		tw_json_u64(json, "parent", numbers->place[node->parent]);
	else
		tw_json_text(json, "parent", NULL);
	tw_json_text(json, "name", node->name);
	tw_json_u64(json, "depth", node->depth);
	tw_json_u64(json, "count", node->count);
	tw_json_u64(json, "open", node->open);
	tw_json_weighed(json, weight, layout->total[place], &self);
	put_children(json, numbers, i);
	tw_json_object_end(json);
	tw_json_line_end(json);
}

int tw_calltree_json_render(struct tw_output *out, const struct tw_calltree_node *nodes, uint32_t count,
                            enum tw_weight weight)
{
	struct tw_layout layout;
	struct numbers numbers = {0};
	struct tw_json json = {.out = out};
	int status = tw_layout_new(&layout, nodes, count);
	if (status < 0)
		return status;
	status = count == 0 || number(&numbers, &layout) ? 0 : TW_ERR_MEMORY;
	for (uint32_t i = 0; status == 0 && i < count && !out->error; i++)
		put_node(&json, &layout, &numbers, i, weight);
	free(numbers.place);
	free(numbers.size);
	tw_layout_free(&layout);
	return status;
}
