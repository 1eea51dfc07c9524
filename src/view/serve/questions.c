/* questions.c - the answers for which the trace is read once more: functions and the tree of calls of a window. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/tool.h"
#include "view/serve/part.h"

#include <trackway/analysis.h>

#include <stdlib.h>
#include <string.h>

/* ---- Functions. ---- */

static void put_function(struct tw_json *json, const struct tw_profile_row *row)
{
	const struct {
		const char *key;
		uint64_t value;
	} numbers[] = {
	    {"count", row->count}, {"open", row->open},  {"total", row->total},
	    {"self", row->self},   {"min", row->min_ns}, {"p50", row->p50_ns},
	    {"p90", row->p90_ns},  {"p99", row->p99_ns}, {"max", row->max_ns},
	};
	tw_json_object(json, NULL);
	tw_json_text(json, "name", row->name);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		view_json_digits(json, numbers[i].key, numbers[i].value);
	tw_json_bool(json, "ended", row->count > row->open + row->summed);
	tw_json_text(json, "file", row->file);
	tw_json_u64(json, "line", row->line);
	tw_json_object_end(json);
}

static void put_profile(struct view *view, const struct view_request *request, struct tw_profile *profile,
                        struct view_answer *answer)
{
	struct tw_output out;
	struct tw_json json;
	const struct tw_profile_row *row;
	(void)request;
	if (view_part_refuse_durations(view, tw_profile_weight(profile), answer) ||
	    !view_json_begin(&json, &out, answer))
		return;
	tw_json_object(&json, NULL);
	tw_json_text(&json, "weight", tw_weight_name(tw_profile_weight(profile)));
	tw_json_array(&json, "functions");
	for (size_t i = 0; (row = tw_profile_row(profile, i)); i++)
		put_function(&json, row);
	tw_json_array_end(&json);
	tw_json_object_end(&json);
	view_json_end(&out, answer);
}

/* ---- Names that hold a text. ---- */

static int by_total(const void *a, const void *b)
{
	const struct tw_profile_row *const *first = a, *const *second = b;
	return ((*first)->total < (*second)->total) - ((*first)->total > (*second)->total);
}

static void put_found(struct tw_json *json, enum tw_weight weight, const struct tw_profile_row **rows, size_t count,
                      size_t limit)
{
	if (count)
		qsort(rows, count, sizeof *rows, by_total);
	tw_json_object(json, NULL);
	tw_json_text(json, "weight", tw_weight_name(weight));
	tw_json_array(json, "names");
	for (size_t i = 0; i < count && i < limit; i++) {
		tw_json_object(json, NULL);
		tw_json_text(json, "name", rows[i]->name);
		view_json_digits(json, "count", rows[i]->count);
		view_json_digits(json, "total", rows[i]->total);
		tw_json_object_end(json);
	}
	tw_json_array_end(json);
	tw_json_bool(json, "more", count > limit);
	tw_json_object_end(json);
}

static void put_search(struct view *view, const struct view_request *request, struct tw_profile *profile,
                       struct view_answer *answer)
{
	(void)view;
	enum { LIMIT = 1000 };
	const char *text = view_request_text(request, "text");
	const struct tw_profile_row **rows = NULL, *row;
	struct tw_output out;
	struct tw_json json;
	size_t count = 0, room = 0;
	uint64_t limit = LIMIT;
	if (view_request_text(request, "limit") && !view_request_number(request, "limit", LIMIT, &limit)) {
		view_refuse(answer, 400, "search wants a limit up to 1000");
		return;
	}
	for (size_t i = 0; (row = tw_profile_row(profile, i)); i++) {
		if (text && !strcasestr(row->name, text))
			continue;
		if (!tw_grow(&rows, &room, count + 1, sizeof *rows)) {
			answer->status = 500;
			break;
		}
		rows[count++] = row;
	}
	if (answer->status == 200 && view_json_begin(&json, &out, answer)) {
		put_found(&json, tw_profile_weight(profile), rows, count, limit);
		view_json_end(&out, answer);
	}
	free(rows);
}

/* ---- Profiles. ---- */

typedef void (*put_fn)(struct view *view, const struct view_request *request, struct tw_profile *profile,
                       struct view_answer *answer);

static int add_to_profile(void *profile, struct tw_reader *reader)
{
	return tw_profile_add(profile, reader);
}

static void answer_profile(struct view *view, const struct view_request *request, struct view_answer *answer,
                           put_fn put)
{
	struct view_part part;
	struct tw_profile *profile = NULL;
	const struct tw_profile_options options = {.jobs = view->options.read.jobs,
	                                           .memory_limit = view->options.read.memory_limit};
	if (!view_part_take(view, request, &part)) {
		view_refuse(answer, 400, "the window or the tracks are none");
	} else if (tw_profile_new(&profile, &options) < 0) {
		answer->status = 500;
	} else {
		if (view_part_read(view, request, &part, add_to_profile, profile, answer))
			put(view, request, profile, answer);
	}
	tw_profile_free(profile);
	view_part_free(&part);
}

void view_answer_stat(struct view *view, const struct view_request *request, struct view_answer *answer)
{
	answer_profile(view, request, answer, put_profile);
}

void view_answer_search(struct view *view, const struct view_request *request, struct view_answer *answer)
{
	answer_profile(view, request, answer, put_search);
}

/* ---- The tree of calls. ---- */

static int put_tree(struct view_answer *answer, struct tw_calltree *tree)
{
	struct tw_output out;
	struct tw_json json;
	struct tw_nodes nodes = {0};
	if (!view_json_begin(&json, &out, answer))
		return TW_ERR_MEMORY;
	answer->type = "application/jsonl";
	int status = tw_nodes_of(&nodes, tree);
	if (status == 0)
		status = tw_calltree_json_render(&out, nodes.nodes, (uint32_t)nodes.count, tw_calltree_weight(tree));
	view_json_end(&out, answer);
	free(nodes.nodes);
	return status;
}

static int add_to_tree(void *tree, struct tw_reader *reader)
{
	return tw_calltree_add(tree, reader);
}

void view_answer_flame(struct view *view, const struct view_request *request, struct view_answer *answer)
{
	enum { DEPTH = 1000 }; /* as that of `trackway flame` */
	struct view_part part;
	struct tw_calltree *tree = NULL;
	const struct tw_calltree_options options = {.jobs = view->options.read.jobs,
	                                            .memory_limit = view->options.read.memory_limit,
	                                            .max_depth = DEPTH};
	if (!view_part_take(view, request, &part)) {
		view_refuse(answer, 400, "the window or the tracks are none");
	} else if (tw_calltree_new(&tree, &options) < 0) {
		answer->status = 500;
	} else {
		if (view_part_read(view, request, &part, add_to_tree, tree, answer) &&
		    !view_part_refuse_durations(view, tw_calltree_weight(tree), answer) && put_tree(answer, tree) < 0)
			answer->status = 500;
	}
	tw_calltree_free(tree);
	view_part_free(&part);
}
