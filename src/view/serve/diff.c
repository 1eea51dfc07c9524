/* diff.c - the answers about two of the traces: functions and the tree of calls, before and after. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/compare/changes.h"
#include "core/format.h"
#include "view/serve/part.h"

#include <stdio.h>
#include <stdlib.h>

enum { SIDES = 2, DEPTH = 1000 /* as that of `trackway diff` */ };

/* What is compared: a window of two files, and what has been made of each. */
struct comparing {
	struct view *view;
	const struct view_request *request;
	struct view_answer *answer;
	struct view_part part;
	size_t files[SIDES];
	struct tw_profile *profiles[SIDES];
	struct tw_calltree *trees[SIDES];
};

/* ---- Reading. ---- */

static int add(const struct comparing *c, size_t side, struct tw_reader *reader)
{
	return c->trees[side] ? tw_calltree_add(c->trees[side], reader) : tw_profile_add(c->profiles[side], reader);
}

static enum tw_weight weight_of(const struct comparing *c, size_t side)
{
	return c->trees[side] ? tw_calltree_weight(c->trees[side]) : tw_profile_weight(c->profiles[side]);
}

/* Reads the file of a side; without success the answer is a refusal. */
static bool read_side(struct comparing *c, size_t side)
{
	struct tw_read_options options;
	struct tw_reader *reader = NULL;
	if (!view_part_of_file(c->view, c->request, &c->part, c->files[side], &options))
		return true;
	int status = view_reader_of(c->view, c->files[side], &reader, &options);
	view_question_reads(&c->view->questions, c->request->question, reader);
	status = status < 0 ? status : add(c, side, reader);
	if (status < 0)
		view_refuse(c->answer, 400, view_reader_error(reader, status));
	view_question_reads(&c->view->questions, c->request->question, NULL);
	tw_close(reader);
	return status >= 0 && !view_part_refuse_durations(c->view, weight_of(c, side), c->answer);
}

/* A number of a file; `unless` where it is not told. */
static bool take_file(const struct comparing *c, const char *key, size_t unless, size_t *file)
{
	uint64_t number = unless;
	const bool fine = (!view_request_text(c->request, key) ||
	                   view_request_number(c->request, key, c->view->options.count - 1, &number)) &&
	                  number < c->view->options.count;
	*file = (size_t)number;
	return fine;
}

static bool begin(struct comparing *c)
{
	if (!view_part_take(c->view, c->request, &c->part)) {
		view_refuse(c->answer, 400, "the window or the tracks are none");
		return false;
	}
	if (take_file(c, "before", 0, &c->files[0]) && take_file(c, "after", 1, &c->files[1]))
		return true;
	view_refuse(c->answer, 400, "there are no two files to compare");
	return false;
}

/* Where a side has nothing, it has no weight of its own. */
static bool refuse_weights(struct comparing *c, const enum tw_weight weights[static SIDES], bool both)
{
	char words[VIEW_ERROR_SIZE];
	if (!both || weights[0] == weights[1])
		return false;
	snprintf(words, sizeof words, "the first trace tells of %s, the second of %s: they cannot be compared",
	         tw_weight_name(weights[0]), tw_weight_name(weights[1]));
	view_refuse(c->answer, 400, words);
	return true;
}

static size_t memory_of_side(const struct view *view)
{
	const size_t memory = view->options.read.memory_limit;
	return (memory ? memory : TW_DEFAULT_MEMORY) / SIDES;
}

/* ---- Functions. ---- */

static void put_value(struct tw_json *json, const char *key, const struct tw_diff_value *value)
{
	tw_json_array(json, key);
	view_json_digits(json, NULL, value->a);
	view_json_digits(json, NULL, value->b);
	tw_json_array_end(json);
}

static void put_row(struct tw_json *json, const struct tw_diff_row *row)
{
	tw_json_object(json, NULL);
	tw_json_text(json, "name", row->name);
	put_value(json, "self", &row->self);
	put_value(json, "total", &row->total);
	put_value(json, "count", &row->count);
	put_value(json, "p50", &row->p50_ns);
	tw_json_object_end(json);
}

static void put_functions(struct comparing *c)
{
	const enum tw_weight weights[SIDES] = {weight_of(c, 0), weight_of(c, 1)};
	const struct tw_diff_row *row;
	struct tw_diff *diff = NULL;
	struct tw_output out;
	struct tw_json json;
	if (refuse_weights(c, weights, tw_profile_row(c->profiles[0], 0) && tw_profile_row(c->profiles[1], 0)))
		return;
	if (tw_diff_new(&diff, c->profiles[0], c->profiles[1], TW_DIFF_SELF) < 0)
		c->answer->status = 500;
	else if (view_json_begin(&json, &out, c->answer)) {
		tw_json_object(&json, NULL);
		tw_json_text(&json, "weight", tw_weight_name(weights[0]));
		tw_json_array(&json, "functions");
		for (size_t i = 0; (row = tw_diff_row(diff, i)); i++)
			put_row(&json, row);
		tw_json_array_end(&json);
		tw_json_object_end(&json);
		view_json_end(&out, c->answer);
	}
	tw_diff_free(diff);
}

void view_answer_diff(struct view *view, const struct view_request *request, struct view_answer *answer)
{
	struct comparing c = {.view = view, .request = request, .answer = answer};
	const struct tw_profile_options options = {.one_weight = true,
	                                           .jobs = view->options.read.jobs,
	                                           .memory_limit = memory_of_side(view)};
	bool fine = begin(&c);
	for (size_t side = 0; side < SIDES && fine; side++) {
		if (tw_profile_new(&c.profiles[side], &options) < 0)
			answer->status = 500;
		fine = answer->status == 200 && read_side(&c, side);
	}
	if (fine)
		put_functions(&c);
	for (size_t side = 0; side < SIDES; side++)
		tw_profile_free(c.profiles[side]);
	view_part_free(&c.part);
}

/* ---- The tree of calls. ---- */

static void put_frame(struct tw_json *json, const struct tw_layout *layout, uint32_t i, uint64_t before)
{
	const struct tw_calltree_node *node = &layout->nodes[i];
	tw_json_object(json, NULL);
	tw_json_text(json, "name", node->name);
	tw_json_u64(json, "depth", node->depth);
	view_json_digits(json, "total", layout->total[i]);
	view_json_digits(json, "self", i ? node->self : 0);
	view_json_digits(json, "count", node->count);
	view_json_digits(json, "before", before);
	tw_json_object_end(json);
	tw_json_line_end(json);
}

static void put_frames(struct comparing *c, const struct tw_changes *changes)
{
	struct tw_layout layout = {0};
	struct tw_output out;
	struct tw_json json;
	uint64_t *before = tw_changes_before(changes);
	if (!before || tw_layout_new(&layout, changes->nodes.nodes, (uint32_t)changes->nodes.count) < 0)
		c->answer->status = 500;
	else if (view_json_begin(&json, &out, c->answer)) {
		c->answer->type = "application/jsonl";
		for (uint32_t i = 0; i < layout.count; i++)
			put_frame(&json, &layout, layout.order[i], before[layout.order[i]]);
		view_json_end(&out, c->answer);
	}
	free(before);
	tw_layout_free(&layout);
}

static void put_trees(struct comparing *c)
{
	static const enum tw_change_side sides[SIDES] = {TW_BEFORE, TW_AFTER};
	const enum tw_weight weights[SIDES] = {weight_of(c, 0), weight_of(c, 1)};
	struct tw_changes changes = {0};
	const bool both = tw_calltree_node(c->trees[0], 1) && tw_calltree_node(c->trees[1], 1);
	bool fine = !refuse_weights(c, weights, both);
	for (size_t side = 0; side < SIDES && fine; side++) {
		struct tw_nodes nodes = {0};
		fine = tw_nodes_of(&nodes, c->trees[side]) == 0 &&
		       tw_changes_add(&changes, sides[side], nodes.nodes, (uint32_t)nodes.count) == 0;
		c->answer->status = fine ? 200 : 500;
		free(nodes.nodes);
	}
	if (fine)
		put_frames(c, &changes);
	tw_changes_free(&changes);
}

void view_answer_diff_flame(struct view *view, const struct view_request *request, struct view_answer *answer)
{
	struct comparing c = {.view = view, .request = request, .answer = answer};
	const struct tw_calltree_options options = {.jobs = view->options.read.jobs,
	                                            .memory_limit = memory_of_side(view),
	                                            .max_depth = DEPTH};
	bool fine = begin(&c);
	for (size_t side = 0; side < SIDES && fine; side++) {
		if (tw_calltree_new(&c.trees[side], &options) < 0)
			answer->status = 500;
		fine = answer->status == 200 && read_side(&c, side);
	}
	if (fine)
		put_trees(&c);
	for (size_t side = 0; side < SIDES; side++)
		tw_calltree_free(c.trees[side]);
	view_part_free(&c.part);
}
