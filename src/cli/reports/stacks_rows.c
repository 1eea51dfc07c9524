/* stacks_rows.c - stacks of calls as text and as JSON Lines. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/message.h"
#include "cli/output/show.h"
#include "cli/output/table.h"
#include "cli/reports/stacks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Calls put for each function of a stack, the outermost first. path has room for the deepest stack. */
static void each_frame(const struct tw_stacks *stacks, uint32_t i, uint32_t *path,
                       void (*put)(void *context, const struct tw_calltree_node *node, uint32_t level), void *context)
{
	uint32_t depth = 0;
	for (; stacks->nodes[i].depth >= stacks->outermost; i = stacks->nodes[i].parent)
		path[depth++] = i;
	for (uint32_t level = 0; level < depth; level++)
		put(context, &stacks->nodes[path[depth - 1 - level]], level);
}

/* ---- JSON. ---- */

static void put_frame_json(void *context, const struct tw_calltree_node *node, uint32_t level)
{
	(void)level;
	tw_json_text(context, NULL, node->name);
}

static void put_json(struct tw_screen *screen, const struct tw_stacks *stacks, uint32_t i, uint32_t *path)
{
	const struct tw_calltree_node *node = &stacks->nodes[i];
	struct tw_json json = {.out = &screen->out};
	tw_json_object(&json, NULL);
	if (stacks->outermost > 1) {
		tw_json_task(&json, "process", node->process);
		tw_json_known_task(&json, "thread", node->thread, !node->threadless);
	} else {
		tw_json_text(&json, "thread", NULL);
	}
	tw_json_array(&json, "stack");
	each_frame(stacks, i, path, put_frame_json, &json);
	tw_json_array_end(&json);
	tw_json_known(&json, "count", node->count, stacks->counted);
	tw_json_u64(&json, "open", node->open);
	tw_json_weighed(&json, stacks->weight, node->total, &node->self);
	tw_json_object_line_end(&json);
}

/* ---- Text. ---- */

/* On a terminal at most as long as the line, of which so many columns have been written. */
static void put_name(struct tw_screen *screen, const char *name, size_t written)
{
	struct tw_text safe = {0};
	const bool cut = screen->width && tw_text_add_safe(&safe, name, strlen(name)) && tw_text_add(&safe, "", 1);
	if (cut)
		tw_put_cut(&screen->out, safe.bytes, screen->width > written ? screen->width - written : 1);
	else
		tw_put_safe(&screen->out, name, strlen(name));
	tw_text_free(&safe);
}

static void put_frame_text(void *context, const struct tw_calltree_node *node, uint32_t level)
{
	static const char indent[] = "        ";
	struct tw_screen *screen = context;
	(void)level;
	tw_put_text(&screen->out, indent);
	put_name(screen, tw_show_name(node->name), sizeof indent - 1);
	tw_put_char(&screen->out, '\n');
}

static struct tw_shown show_self(enum tw_weight weight, uint64_t self)
{
	if (weight == TW_WEIGHT_TICKS)
		return tw_show_plural(self, "tick");
	return weight == TW_WEIGHT_INSTRUCTIONS ? tw_show_plural(self, "instruction") : tw_show_weight(weight, self);
}

static void put_thread(struct tw_screen *screen, const struct tw_stacks *stacks, uint32_t i, size_t written)
{
	while (stacks->nodes[i].depth > 1)
		i = stacks->nodes[i].parent;
	tw_put_text(&screen->out, ", ");
	put_name(screen, stacks->nodes[i].name, written + 2);
}

static void put_text(struct tw_screen *screen, const struct tw_stacks *stacks, uint32_t i, uint32_t *path)
{
	const struct tw_calltree_node *node = &stacks->nodes[i];
	tw_screen_bold(screen);
	const bool weighed = tw_weight_has_count(stacks->weight) || !stacks->counted;
	char head[4 * TW_SHOW_ROOM];
	snprintf(head, sizeof head, "%7s  %s%s%s%s", tw_show_percent(node->self, stacks->self).text,
	         weighed ? show_self(stacks->weight, node->self).text : "", weighed ? " self" : "",
	         weighed && stacks->counted ? ", " : "",
	         stacks->counted ? tw_show_counted(stacks->weight, node->count).text : "");
	tw_put_text(&screen->out, head);
	if (stacks->outermost > 1)
		put_thread(screen, stacks, i, strlen(head));
	tw_screen_plain(screen);
	tw_put_char(&screen->out, '\n');
	each_frame(stacks, i, path, put_frame_text, screen);
	tw_put_char(&screen->out, '\n');
}

static void put_end(struct tw_screen *screen, const struct tw_stacks *stacks, const struct tw_tree *tree)
{
	if (stacks->shown < stacks->count)
		tw_putf(&screen->out, "... and %s\n", tw_show_plural(stacks->count - stacks->shown, "more stack").text);
	tw_put_notes(screen, tw_calltree_notes(tree->tree), &stacks->notes);
}

/* ---- Both. ---- */

static uint32_t deepest(const struct tw_nodes *nodes)
{
	uint32_t depth = 1;
	for (size_t i = 0; i < nodes->count; i++)
		depth = nodes->nodes[i].depth > depth ? nodes->nodes[i].depth : depth;
	return depth;
}

int tw_stacks_put(const struct tw_stacks *stacks, const struct tw_tree *tree, const struct tw_common *common)
{
	struct tw_screen screen = {0};
	uint32_t *path = calloc(deepest(&tree->nodes), sizeof *path);
	if (!path)
		return tw_say_error("out of memory");
	int status = tw_screen_open_form(&screen, common);
	if (status == 0) {
		for (size_t i = 0; i < stacks->shown; i++)
			(common->forms.json ? put_json : put_text)(&screen, stacks, stacks->items[i], path);
		if (!common->forms.json)
			put_end(&screen, stacks, tree);
		status = tw_screen_close(&screen);
	}
	free(path);
	return status;
}
