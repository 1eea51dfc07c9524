/* fuzz_profile.c - the profile and the tree of calls of any bytes: they add up, and agree with each other. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/sum.h"
#include "fuzz.h"

#include <stdlib.h>

struct sums {
	bool read;
	uint64_t count, open, self;
};

static void check_row(const struct tw_profile_row *row)
{
	fuzz_require(row->name != NULL, "a name");
	fuzz_require(row->open + row->unwound <= row->count, "calls are open or unwound at most once");
	fuzz_require(row->self <= row->total, "self time is part of the total");
	fuzz_require(row->min_ns <= row->p50_ns && row->p50_ns <= row->p90_ns && row->p90_ns <= row->p99_ns &&
	                 row->p99_ns <= row->max_ns,
	             "percentiles go up");
}

static struct sums profile(const uint8_t *bytes, size_t size, uint8_t selector)
{
	struct tw_read_options options = fuzz_options(selector & 0xf0);
	const struct tw_profile_options wanted = {.by = (enum tw_profile_by)(selector % 3),
	                                          .jobs = 1 + (selector >> 2 & 1)};
	struct tw_reader *reader = fuzz_open(bytes, size, &options);
	struct tw_profile *profile = NULL;
	const struct tw_profile_row *row;
	struct sums sums = {0};
	if (!reader)
		return sums;
	fuzz_require(tw_profile_new(&profile, &wanted) == 0, "a profile");
	sums.read = fuzz_good(reader, tw_profile_add(profile, reader));
	for (size_t i = 0; (row = tw_profile_row(profile, i)); i++) {
		check_row(row);
		sums.count = tw_sum(sums.count, row->count);
		sums.open = tw_sum(sums.open, row->open);
		sums.self = tw_sum(sums.self, row->self);
	}
	tw_profile_free(profile);
	tw_close(reader);
	return sums;
}

/* Where the clock goes back, calls may be longer than the call around them: only self time adds up always. */
static void check_tree(struct tw_calltree *tree)
{
	const struct tw_calltree_node *node;
	uint64_t self = 0;
	for (uint32_t i = 1; (node = tw_calltree_node(tree, i)); i++) {
		const struct tw_calltree_node *parent = tw_calltree_node(tree, node->parent);
		fuzz_require(node->parent < i, "parents come before children");
		fuzz_require(node->depth == parent->depth + 1, "a child is a level down");
		fuzz_require(node->self <= node->total, "self is a part of total");
		self = tw_sum(self, node->self);
	}
	node = tw_calltree_node(tree, 0);
	fuzz_require(!node || node->total == self, "the root is the sum of self times");
}

static struct sums calltree(const uint8_t *bytes, size_t size, uint8_t selector)
{
	struct tw_read_options options = fuzz_options(selector & 0xf0);
	const struct tw_calltree_options wanted = {.per_thread = selector & 8, .jobs = 1 + (selector >> 2 & 1)};
	struct tw_reader *reader = fuzz_open(bytes, size, &options);
	struct tw_calltree *tree = NULL;
	const struct tw_calltree_node *node;
	struct sums sums = {0};
	if (!reader)
		return sums;
	fuzz_require(tw_calltree_new(&tree, &wanted) == 0, "a tree");
	sums.read = fuzz_good(reader, tw_calltree_add(tree, reader));
	check_tree(tree);
	for (uint32_t i = 1; (node = tw_calltree_node(tree, i)); i++) {
		sums.count = tw_sum(sums.count, node->count);
		sums.open = tw_sum(sums.open, node->open);
		sums.self = tw_sum(sums.self, node->self);
	}
	tw_calltree_free(tree);
	tw_close(reader);
	return sums;
}

FUZZ_TARGET(profile, const uint8_t *bytes, size_t size)
{
	if (size < 1)
		return 0;
	struct sums flat = profile(bytes + 1, size - 1, bytes[0]);
	struct sums tree = calltree(bytes + 1, size - 1, bytes[0]);
	fuzz_require(flat.read == tree.read, "both can be read, or none");
	fuzz_require(!flat.read || (flat.count == tree.count && flat.open == tree.open && flat.self == tree.self),
	             "the tree and the profile hold the same calls");
	return 0;
}
