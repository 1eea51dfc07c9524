/* graph.c - who calls whom: DOT for Graphviz, and JSON Lines. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pictures/report.h"
#include "base/memory/order.h"
#include "base/memory/sum.h"
#include "base/options.h"
#include "base/text/json.h"

#include <math.h>
#include <stdlib.h>

enum { LABEL_COLUMNS = 60 };

struct graph_node {
	const struct tw_profile_row *row;
	bool kept;
};

/* Nodes in order of name and id: the place of one is its number in the output. */
struct graph {
	struct tw_output *out;
	struct graph_node *nodes;
	size_t count;
	const struct tw_rows *callers;
	enum tw_weight weight;
	uint64_t all;
	bool counted; /* folded stacks of bytes have no counts */
	uint64_t nodes_left_out, edges_left_out;
};

/* An edge whose ends are known; from is SIZE_MAX at the root of a stack. */
struct edge {
	size_t from, to;
	const struct tw_profile_row *row;
};

static const size_t no_node = SIZE_MAX;

/* Graphviz: labels are in quotes, with '\' escapes and, as in HTML, '&' entities. */
static const struct tw_escape dot_escapes[] = {{'"', "\\\""}, {'\\', "\\\\"}, {'&', "&amp;"}, {0, NULL}};

static int compare_identity(const char *left, uint64_t left_id, const char *right, uint64_t right_id)
{
	int order = strcmp(left, right);
	return order ? order : tw_compare(left_id, right_id);
}

static int by_identity(const void *left, const void *right)
{
	const struct graph_node *l = left;
	const struct graph_node *r = right;
	return compare_identity(l->row->name, l->row->id, r->row->name, r->row->id);
}

static int by_total(const void *left, const void *right)
{
	const struct graph_node *l = *(struct graph_node *const *)left;
	const struct graph_node *r = *(struct graph_node *const *)right;
	if (l->row->total != r->row->total)
		return l->row->total < r->row->total ? 1 : -1;
	return l < r ? -1 : 1; /* of equals the first by name */
}

static size_t find(const struct graph *graph, const char *name, uint64_t id)
{
	const struct tw_profile_row key_row = {.name = name, .id = id};
	const struct graph_node key = {.row = &key_row};
	const struct graph_node *found =
	    graph->count ? bsearch(&key, graph->nodes, graph->count, sizeof key, by_identity) : NULL;
	return found ? (size_t)(found - graph->nodes) : no_node;
}

static bool keep_top(struct graph *graph, size_t top)
{
	struct graph_node **ranked = calloc(graph->count + 1, sizeof *ranked);
	if (!ranked)
		return false;
	for (size_t i = 0; i < graph->count; i++)
		ranked[i] = &graph->nodes[i];
	qsort(ranked, graph->count, sizeof *ranked, by_total);
	for (size_t i = 0; i < graph->count && (!top || i < top); i++)
		ranked[i]->kept = true;
	graph->nodes_left_out = top && top < graph->count ? graph->count - top : 0;
	free(ranked);
	return true;
}

/* Finds the ends of an edge. False, and counted, when one of them is not drawn. */
static bool ends_of(struct graph *graph, const struct tw_profile_row *row, struct edge *edge)
{
	*edge = (struct edge){.from = no_node, .to = find(graph, row->name, row->id), .row = row};
	bool good = edge->to != no_node && graph->nodes[edge->to].kept;
	if (good && row->caller) {
		edge->from = find(graph, row->caller, row->caller_id);
		good = edge->from != no_node && graph->nodes[edge->from].kept;
	}
	graph->edges_left_out += !good;
	return good;
}

static bool prepare(struct graph *graph, const struct tw_rows *functions, size_t top)
{
	graph->nodes = calloc(functions->count + 1, sizeof *graph->nodes);
	if (!graph->nodes)
		return false;
	graph->count = functions->count;
	for (size_t i = 0; i < functions->count; i++) {
		graph->nodes[i].row = &functions->rows[i];
		graph->all = tw_sum(graph->all, functions->rows[i].self);
		graph->counted |= functions->rows[i].count > 0;
	}
	qsort(graph->nodes, graph->count, sizeof *graph->nodes, by_identity);
	return keep_top(graph, top);
}

/* ---- DOT ---- */

/* From pale to deep orange; the root of the share, so that small differences show. Black stays readable on all. */
static void put_colour(struct tw_output *out, uint64_t part, uint64_t whole)
{
	double share = tw_percent(part, whole) / 100; /* above 1 where the clock goes back */
	double heat = sqrt(share < 1 ? share : 1);
	tw_putf(out, "#%02x%02x%02x", (unsigned)(253 - 25 * heat), (unsigned)(243 - 140 * heat),
	        (unsigned)(231 - 190 * heat));
}

static void put_share(struct graph *graph, uint64_t part, const char *what)
{
	tw_put_text(graph->out, "\\n");
	tw_put_text(graph->out, what);
	tw_put_char(graph->out, ' ');
	tw_put_amount(graph->out, graph->weight, part);
	tw_putf(graph->out, " (%.1f %%)", tw_percent(part, graph->all));
}

static void put_dot_node(struct graph *graph, size_t number)
{
	struct tw_output *out = graph->out;
	const struct tw_profile_row *row = graph->nodes[number].row;
	tw_putf(out, "\tn%zu [label=\"", number);
	tw_put_name(out, row->name, LABEL_COLUMNS, dot_escapes);
	put_share(graph, row->total, "total");
	put_share(graph, row->self, "self");
	if (tw_weight_has_count(graph->weight) && graph->counted) {
		tw_put_text(out, "\\n");
		tw_put_counted(out, graph->weight, row->count);
	}
	tw_put_text(out, "\", tooltip=\"");
	tw_put_name(out, row->name, 0, dot_escapes);
	tw_put_text(out, "\", fillcolor=\"");
	put_colour(out, row->self, graph->all);
	tw_put_text(out, "\"];\n");
}

static void put_dot_edge(struct graph *graph, const struct edge *edge)
{
	if (edge->from == no_node)
		return;
	struct tw_output *out = graph->out;
	tw_putf(out, "\tn%zu -> n%zu [label=\"", edge->from, edge->to);
	if (tw_weight_has_count(graph->weight) && graph->counted) {
		tw_put_counted(out, graph->weight, edge->row->count);
		tw_put_text(out, "\\n");
	}
	tw_put_amount(out, graph->weight, edge->row->total);
	double width = 1 + 4 * fmin(1, tw_percent(edge->row->total, graph->all) / 100);
	tw_putf(out, "\", penwidth=%.2f];\n", width);
}

static void put_dot_head(struct tw_output *out, const char *title)
{
	tw_put_text(out, "digraph calls {\n");
	if (title) {
		tw_put_text(out, "\tlabel=\"");
		tw_put_name(out, title, 0, dot_escapes);
		tw_put_text(out, "\";\n\tlabelloc=t;\n");
	}
	tw_put_text(out, "\tfontname=\"Helvetica,Arial,sans-serif\";\n"
	                 "\tnode [shape=box, style=filled, fontname=\"Helvetica,Arial,sans-serif\", fontsize=10];\n"
	                 "\tedge [fontname=\"Helvetica,Arial,sans-serif\", fontsize=9, color=\"#555555\"];\n");
}

static void put_left_out(struct graph *graph)
{
	tw_put_text(graph->out, "\tleft_out [shape=plaintext, style=solid, label=\"left out: ");
	tw_put_count(graph->out, graph->nodes_left_out);
	tw_put_text(graph->out, " functions, ");
	tw_put_count(graph->out, graph->edges_left_out);
	tw_put_text(graph->out, " edges\"];\n");
}

static void put_dot_tail(struct graph *graph)
{
	if (graph->nodes_left_out || graph->edges_left_out)
		put_left_out(graph);
	tw_put_text(graph->out, "}\n");
}

static void put_dot(struct graph *graph, const char *title)
{
	put_dot_head(graph->out, title);
	for (size_t i = 0; i < graph->count; i++)
		if (graph->nodes[i].kept)
			put_dot_node(graph, i);
	for (size_t i = 0; i < graph->callers->count; i++) {
		struct edge edge;
		if (ends_of(graph, &graph->callers->rows[i], &edge))
			put_dot_edge(graph, &edge);
	}
	put_dot_tail(graph);
}

/* ---- JSON Lines ---- */

static void put_json_node(struct tw_json *json, const struct graph *graph, size_t number)
{
	const struct tw_profile_row *row = graph->nodes[number].row;
	tw_json_object(json, NULL);
	tw_json_text(json, "type", "node");
	tw_json_u64(json, "id", number);
	tw_json_text(json, "name", row->name);
	tw_json_u64(json, "function_id", row->id);
	tw_json_text(json, "file", row->file);
	tw_json_u64(json, "line", row->line);
	tw_json_u64(json, "count", row->count);
	tw_json_u64(json, "open", row->open);
	tw_json_weighed(json, graph->weight, row->total, &row->self);
	tw_json_object_end(json);
	tw_json_line_end(json);
}

static void put_json_edge(struct tw_json *json, const struct graph *graph, const struct edge *edge)
{
	tw_json_object(json, NULL);
	tw_json_text(json, "type", "edge");
	if (edge->from == no_node)
		tw_json_text(json, "from", NULL);
	else
		tw_json_u64(json, "from", edge->from);
	tw_json_u64(json, "to", edge->to);
	tw_json_u64(json, "count", edge->row->count);
	tw_json_weighed(json, graph->weight, edge->row->total, NULL);
	tw_json_object_end(json);
	tw_json_line_end(json);
}

static void put_json_left_out(struct tw_json *json, const struct graph *graph)
{
	if (!graph->nodes_left_out && !graph->edges_left_out)
		return;
	tw_json_object(json, NULL);
	tw_json_text(json, "type", "left-out");
	tw_json_u64(json, "nodes", graph->nodes_left_out);
	tw_json_u64(json, "edges", graph->edges_left_out);
	tw_json_object_end(json);
	tw_json_line_end(json);
}

static void put_json(struct graph *graph)
{
	struct tw_json json = {.out = graph->out};
	for (size_t i = 0; i < graph->count; i++)
		if (graph->nodes[i].kept)
			put_json_node(&json, graph, i);
	for (size_t i = 0; i < graph->callers->count; i++) {
		struct edge edge;
		if (ends_of(graph, &graph->callers->rows[i], &edge))
			put_json_edge(&json, graph, &edge);
	}
	put_json_left_out(&json, graph);
}

/* ---- */

int tw_graph_render(struct tw_output *out, const struct tw_rows *functions, const struct tw_rows *callers,
                    const struct tw_graph_options *options)
{
	static const struct tw_graph_options defaults;
	options = options ? options : &defaults;
	struct graph graph = {.out = out, .callers = callers, .weight = options->weight};
	bool enough = prepare(&graph, functions, options->top);
	if (enough && options->form == TW_GRAPH_JSON)
		put_json(&graph);
	else if (enough)
		put_dot(&graph, options->title);
	free(graph.nodes);
	return enough ? 0 : TW_ERR_MEMORY;
}

int tw_graph_write(struct tw_profile *functions, struct tw_profile *callers, const char *path,
                   const struct tw_graph_options *options)
{
	struct tw_graph_options chosen;
	TW_COPY_OPTIONS(&chosen, options, struct tw_graph_options);
	struct tw_rows edges = {0};
	struct tw_rows nodes;
	struct tw_output out;
	if ((unsigned)chosen.form > TW_GRAPH_JSON)
		return TW_ERR_VALUE;
	chosen.weight = tw_profile_weight(functions);
	int status = tw_rows_of(&nodes, functions);
	if (status == 0)
		status = tw_rows_of(&edges, callers);
	if (status == 0)
		status = tw_report_open(&out, path);
	if (status == 0)
		status = tw_report_close(&out, tw_graph_render(&out, &nodes, &edges, &chosen));
	free(nodes.rows);
	free(edges.rows);
	return status;
}
