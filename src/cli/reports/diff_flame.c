/* diff_flame.c - trackway diff --flame: the stacks of two traces as one picture, or as lines with two numbers. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/compare/changes.h"
#include "cli/command.h"
#include "cli/files/walk.h"
#include "cli/output/message.h"
#include "cli/reports/diff.h"
#include "cli/reports/tree.h"
#include "core/tool.h"

#include <sys/stat.h>

enum { BYTES_PER_NODE = 256 };

static int render(struct tw_output *out, const struct tw_changes *changes, enum tw_weight weight,
                  const struct tw_diff_flame *flame)
{
	const struct tw_flame_options options = {
	    .weight = weight,
	    .title = flame->title,
	    .form = flame->form == TW_FORM_HTML ? TW_FLAME_HTML : TW_FLAME_SVG,
	    .inverted = flame->inverted,
	    .min_share = flame->min_share,
	    .max_depth = TW_TREE_DEPTH + 1, /* one more for "(deeper)" */
	};
	return flame->form == TW_FORM_FOLDED ? tw_changes_fold(out, changes) : tw_changes_draw(out, changes, &options);
}

static int put(struct tw_changes *changes, enum tw_weight weight, const struct tw_diff_flame *flame)
{
	struct tw_screen screen = {0};
	if (flame->normalize)
		tw_changes_normalize(changes);
	if (tw_screen_open(&screen, flame->output))
		return TW_EXIT_FAILED;
	if (render(&screen.out, changes, weight, flame) == 0)
		return tw_screen_close(&screen);
	tw_screen_discard(&screen);
	return tw_say_error("out of memory");
}

static int add_trees(struct tw_changes *changes, const struct tw_tree trees[2])
{
	static const enum tw_change_side sides[2] = {TW_BEFORE, TW_AFTER};
	for (size_t i = 0; i < 2; i++)
		if (tw_changes_add(changes, sides[i], trees[i].nodes.nodes, (uint32_t)trees[i].nodes.count) < 0)
			return tw_say_error("out of memory");
	return 0;
}

int tw_diff_say_weights(enum tw_weight a, enum tw_weight b)
{
	return tw_say_error("the first trace tells of %s, the second of %s: they cannot be compared", tw_weight_name(a),
	                    tw_weight_name(b));
}

static int compare(struct tw_tree trees[2], const struct tw_common *common, const struct tw_diff_flame *flame)
{
	struct tw_changes changes = {0};
	if (trees[0].weight != trees[1].weight)
		return tw_diff_say_weights(trees[0].weight, trees[1].weight);
	for (size_t i = 0; i < 2; i++)
		if (tw_tree_cut(&trees[i], common) < 0)
			return tw_say_error("out of memory");
	int status = add_trees(&changes, trees);
	status = status ? status : put(&changes, trees[1].weight, flame);
	tw_changes_free(&changes);
	return status;
}

/* Divides sums of several runs by their number: the nodes are of a mean run then. */
static void share(struct tw_nodes *nodes, uint64_t runs)
{
	for (size_t i = 0; i < nodes->count && runs > 1; i++) {
		struct tw_calltree_node *node = &nodes->nodes[i];
		node->self = node->self / runs + (node->self % runs + runs / 2) / runs;
		node->count = node->count / runs + (node->count % runs + runs / 2) / runs;
	}
}

int tw_diff_flame_traces(struct tw_common commons[2], const struct tw_diff_paths *paths,
                         const struct tw_diff_flame *flame)
{
	const struct tw_tree_options options = {.max_depth = TW_TREE_DEPTH};
	struct tw_tree trees[2] = {0};
	int status = 0;
	for (size_t i = 0; i < 2; i++) {
		char **side = paths->paths + (i ? paths->count[0] : 0);
		commons[i].limits.memory = tw_memory_asked(&commons[i]) / 2;
		status = tw_worse(status, tw_tree_read(&trees[i], &commons[i], &options, side, paths->count[i]));
		share(&trees[i].nodes, paths->count[i]);
	}
	if (trees[0].nodes.count && trees[1].nodes.count) {
		status = tw_worse(status, compare(trees, &commons[0], flame));
	}
	for (size_t i = 0; i < 2; i++)
		tw_tree_free(&trees[i]);
	return status;
}

bool tw_diff_is_both(const struct tw_common *common, const char *path)
{
	struct tw_read_options options = {0};
	struct stat about;
	struct tw_reader *reader;
	if (stat(path, &about) != 0 || !S_ISREG(about.st_mode))
		return false;
	tw_take_options(common, false, &options);
	bool both = tw_open(&reader, path, &options) >= 0 && tw_has_two_counts(reader);
	tw_close(reader);
	return both;
}

int tw_diff_flame_lines(const struct tw_common *common, const char *path, const struct tw_diff_flame *flame)
{
	struct tw_changes changes = {.most_nodes = tw_memory_asked(common) / BYTES_PER_NODE};
	struct tw_input *input;
	uint64_t line = 0;
	int status = tw_input_open(&input, path);
	if (status >= 0)
		status = tw_changes_read(&changes, input, &line);
	if (status == TW_ERR_VALUE)
		status = tw_say_error("%s:%llu: expected \"stack before after\"", path, (unsigned long long)line);
	else if (status == TW_ERR_SYSTEM)
		status = tw_say_error("%s", tw_input_error(input));
	else if (status < 0)
		status = tw_say_error("%s: more stacks than the memory limit has room for", path);
	else
		status = put(&changes, tw_weight_asked(common), flame);
	tw_input_close(input);
	tw_changes_free(&changes);
	return status;
}
