/* folded.c - the stacks of a tree as lines for flamegraph.pl. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pictures/report.h"

#include <stdlib.h>

enum { DELETE = 0x7f };

static const struct tw_escape escapes[] = {{';', ":"}, {0, NULL}};

/* The nodes from the outermost down to one, without the root, into path; returns how many. */
static uint32_t path_of(const struct tw_calltree_node *nodes, uint32_t node, uint32_t *path)
{
	uint32_t depth = 0;
	for (uint32_t i = node; i; i = nodes[i].parent)
		path[depth++] = i;
	return depth;
}

/* Whether a line that begins with this frame would be a comment: "# ". Control characters are shown as blanks. */
static bool is_comment(const char *name, bool alone)
{
	unsigned char next = name[0] == '#' ? (unsigned char)name[1] : DELETE - 1;
	return next <= ' ' ? next || alone : next == DELETE;
}

void tw_put_folded(struct tw_output *out, const struct tw_calltree_node *nodes, const uint32_t *path, uint32_t depth)
{
	for (uint32_t i = depth; i-- > 0;) {
		const char *name = nodes[path[i]].name;
		bool comment = i == depth - 1 && is_comment(name, depth == 1);
		if (comment)
			tw_put_char(out, ':');
		if (!comment || name[1])
			tw_put_name(out, name + comment, 0, escapes);
		if (i)
			tw_put_char(out, ';');
	}
}

static void put_stack(struct tw_output *out, const struct tw_calltree_node *nodes, const uint32_t *path, uint32_t depth)
{
	tw_put_folded(out, nodes, path, depth);
	tw_put_char(out, ' ');
	tw_put_u64(out, nodes[path[0]].self);
	tw_put_char(out, '\n');
}

int tw_folded_render(struct tw_output *out, const struct tw_calltree_node *nodes, uint32_t count)
{
	struct tw_layout layout;
	int status = tw_layout_new(&layout, nodes, count);
	if (status < 0)
		return status;
	uint32_t *path = calloc(count ? count : 1, sizeof *path); /* no stack is deeper than there are nodes */
	for (uint32_t i = 1; path && i < count && !out->error; i++) {
		uint32_t node = layout.order[i];
		if (nodes[node].self)
			put_stack(out, nodes, path, path_of(nodes, node, path));
	}
	status = path ? 0 : TW_ERR_MEMORY;
	free(path);
	tw_layout_free(&layout);
	return status;
}

int tw_folded_write(struct tw_calltree *tree, const char *path)
{
	struct tw_nodes nodes;
	struct tw_output out;
	int status = tw_nodes_of(&nodes, tree);
	if (status == 0)
		status = tw_report_open(&out, path);
	if (status == 0)
		status = tw_report_close(&out, tw_folded_render(&out, nodes.nodes, (uint32_t)nodes.count));
	free(nodes.nodes);
	return status;
}
