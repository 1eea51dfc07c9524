/* calltree.c - trees of calls: the nodes of all parts and traces, by text. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/calls/calltree_part.h"
#include "analysis/consume.h"
#include "analysis/series/weight.h"
#include "base/memory/memory.h"
#include "base/memory/order.h"
#include "base/memory/sum.h"
#include "base/options.h"
#include "base/text/digits.h"
#include "base/text/utf8.h"
#include "core/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A node as it was found; parents come before children. */
struct calltree_node {
	uint32_t parent;
	uint32_t name; /* of the tree's own texts */
	bool is_thread, threadless, is_deeper;
	uint32_t depth;           /* functions from the root */
	uint64_t process, thread; /* of a thread and all below it */
	uint64_t count, open;
	uint64_t total, self;
};

struct tw_calltree {
	struct tw_calltree_options options;
	enum tw_weight weight;             /* TW_WEIGHT_DEFAULT until a trace is added */
	struct tw_budget reading, keeping; /* memory of the parts that are read, half the limit, and of the tree */
	size_t promised;                   /* bytes of `keeping` for parts that will be merged */
	struct tw_dictionary *texts;
	struct calltree_node *nodes;
	size_t count, room;
	struct tw_map map;         /* hash of parent, name, process and thread to node */
	uint32_t deeper, no_stack; /* names of these nodes */
	struct tw_profile_notes notes;
	struct tw_calltree_node *sorted;
	uint32_t sorted_count;
};

/* Bytes: a name in a dictionary, about; what a node becomes when it is shown, and where it goes when it is sorted; and
 * all of a node at most, with what arrays and the map grow ahead. */
enum {
	NAME_OVERHEAD = 96,
	SHOWN = sizeof(struct tw_calltree_node) + 4 * sizeof(uint32_t),
	NODE_COST = SHOWN + 2 * sizeof(struct calltree_node) + 3 * sizeof(struct tw_map_slot),
	THREAD_NAME = 64, /* of a thread's name; the rest of it is left out */
	THREAD_TEXT = THREAD_NAME + 32,
	PART_COST = 1024
};

/* Nodes of a part that are being merged. */
struct part_merge {
	struct tw_calltree *tree;
	const struct tw_dictionary *dictionary;
	const struct tw_part_node *from;
	size_t count;
	uint32_t *texts; /* by name of the dictionary: its number in the tree plus 1, or 0 */
	size_t text_room;
	uint32_t *nodes; /* by node of the part: its number in the tree */
	bool *wanted;    /* by node of the part: whether it or a node below has calls */
};

/* ---- Texts. ---- */

static size_t name_size(const struct tw_name *name)
{
	return tw_dictionary_plain_length(name->text, name->length) + NAME_OVERHEAD;
}

static uint32_t intern(struct tw_calltree *tree, const struct tw_name *name)
{
	struct tw_name plain = {.text = name->text, .length = name->length, .id = name->id};
	size_t size = name_size(name);
	uint32_t before = tw_dictionary_names(tree->texts);
	if (!tw_budget_take(&tree->keeping, TW_FOR_ROWS, size))
		return UINT32_MAX;
	uint32_t number = tw_dictionary_intern(tree->texts, &plain);
	if (tw_dictionary_names(tree->texts) == before)
		tw_budget_give(&tree->keeping, TW_FOR_ROWS, size);
	if (number == UINT32_MAX)
		tw_budget_fail(&tree->keeping);
	return number;
}

/* The number of a name in the tree, UINT32_MAX when there is no room. */
static uint32_t keep_name(struct part_merge *merge, uint32_t number)
{
	if (number < merge->text_room && merge->texts[number])
		return merge->texts[number] - 1;
	if (!tw_budget_grow(&merge->tree->keeping, TW_FOR_ROWS, &merge->texts, &merge->text_room, number + (size_t)1,
	                    sizeof *merge->texts))
		return UINT32_MAX;
	uint32_t kept = intern(merge->tree, tw_dictionary_name(merge->dictionary, number));
	if (kept != UINT32_MAX)
		merge->texts[number] = kept + 1;
	return kept;
}

/* How much of a name is shown: whole characters. */
static size_t thread_name_length(const struct tw_name *name)
{
	size_t length = 0, next;
	while (length < name->length && name->text[length]) {
		next = tw_utf8_length(name->text + length, name->length - length);
		if (length + (next ? next : 1) > THREAD_NAME)
			break;
		length += next ? next : 1;
	}
	return length;
}

/* "worker (thread 12)", or "thread 12"; "(no thread)". */
static uint32_t thread_text(const struct part_merge *merge, const struct tw_track *track)
{
	char text[THREAD_TEXT];
	const struct tw_name *name = tw_dictionary_name(merge->dictionary, track->name);
	size_t shown = thread_name_length(name);
	if (tw_is_threadless(track))
		return intern(merge->tree, &(struct tw_name){.text = "(no thread)", .length = 11});
	char number[TW_DIGITS_MAX + 1];
	*tw_task_digits(number, track->thread) = '\0';
	int length =
	    snprintf(text, sizeof text, shown ? "%.*s (thread %s)" : "%.*sthread %s", (int)shown, name->text, number);
	return intern(merge->tree, &(struct tw_name){.text = text, .length = (size_t)length});
}

/* ---- Nodes. ---- */

/* Returns the name that tells a node from others of its parent; 0 of a thread, which is the same in several traces
 * though only one tells its name. */
static uint32_t identity_of(const struct calltree_node *node)
{
	return node->is_thread ? 0 : node->name;
}

static bool same_node(const struct calltree_node *a, const struct calltree_node *b)
{
	return a->parent == b->parent && a->is_thread == b->is_thread && identity_of(a) == identity_of(b) &&
	       a->process == b->process && a->thread == b->thread && a->threadless == b->threadless;
}

static uint32_t find_node(struct tw_calltree *tree, const struct calltree_node *node)
{
	uint64_t owner = tw_hash_two(node->process, node->thread);
	uint64_t key = tw_hash_two(owner, (uint64_t)node->parent << 32 | identity_of(node));
	uint32_t number;
	for (size_t slot = SIZE_MAX; tw_map_next(&tree->map, key, &slot, &number);)
		if (same_node(&tree->nodes[number], node))
			return number;
	number = (uint32_t)tree->count;
	if (tree->count >= UINT32_MAX - 1 || !tw_budget_take(&tree->keeping, TW_FOR_ROWS, SHOWN) ||
	    !tw_budget_grow(&tree->keeping, TW_FOR_ROWS, &tree->nodes, &tree->room, tree->count + 1,
	                    sizeof *tree->nodes) ||
	    !tw_budget_map_add(&tree->keeping, TW_FOR_ROWS, &tree->map, key, number))
		return TW_NODE_OTHER;
	tree->nodes[tree->count++] = *node;
	return number;
}

/* The node of the tree that a node of a part belongs to. */
static uint32_t node_for(struct part_merge *merge, const struct tw_part_node *from)
{
	struct tw_calltree *tree = merge->tree;
	uint32_t parent = merge->nodes[from->parent];
	if (parent == TW_NODE_OTHER || tree->nodes[parent].is_deeper)
		return parent;
	struct calltree_node node = {.parent = parent,
	                             .depth = tree->nodes[parent].depth + 1,
	                             .process = tree->nodes[parent].process,
	                             .thread = tree->nodes[parent].thread,
	                             .threadless = tree->nodes[parent].threadless};
	if (from->name == TW_THREAD_NODE) {
		const struct tw_track *track = tw_dictionary_track(merge->dictionary, from->track);
		node.process = track->process;
		node.threadless = tw_is_threadless(track);
		node.thread = node.threadless ? 0 : track->thread;
		node.is_thread = true;
		node.depth = 0;
		node.name = thread_text(merge, track);
	} else if (tree->options.max_depth && node.depth > tree->options.max_depth) {
		node.is_deeper = true;
		node.name = tree->deeper;
	} else {
		node.name = from->name == TW_NO_STACK ? tree->no_stack : keep_name(merge, from->name);
	}
	return node.name == UINT32_MAX ? TW_NODE_OTHER : find_node(tree, &node);
}

/* Whether the time of a node is inside that of another that is counted under the same "(other)" or "(deeper)". */
static bool inside(const struct part_merge *merge, uint32_t number, const struct tw_part_node *from)
{
	const struct tw_part_node *nodes = merge->from;
	return from != &nodes[TW_NODE_OTHER] && merge->nodes[from->parent] == number &&
	       nodes[from->parent].name != TW_THREAD_NODE;
}

static void add_node(struct part_merge *merge, uint32_t number, const struct tw_part_node *from)
{
	struct calltree_node *node = &merge->tree->nodes[number];
	node->count = tw_sum(node->count, from->count);
	node->open += from->open;
	node->self = tw_sum(node->self, from->self);
	node->total = tw_sum(node->total, inside(merge, number, from) ? 0 : from->total);
	if (node->is_deeper)
		merge->tree->notes.too_deep += from->count;
	if (number == TW_NODE_OTHER)
		merge->tree->notes.rows_folded += from->count;
}

static void add_nodes(struct part_merge *merge)
{
	const struct tw_part_node *from = merge->from;
	for (size_t i = merge->count; i-- > TW_NODE_OTHER;) {
		merge->wanted[i] |= from[i].count || from[i].self;
		merge->wanted[from[i].parent] |= merge->wanted[i];
	}
	for (uint32_t i = TW_NODE_OTHER; i < merge->count; i++) {
		if (!merge->wanted[i])
			continue;
		merge->nodes[i] = i == TW_NODE_OTHER ? TW_NODE_OTHER : node_for(merge, &from[i]);
		add_node(merge, merge->nodes[i], &from[i]);
	}
}

static int merge_nodes(struct tw_calltree *tree, const struct tw_dictionary *dictionary,
                       const struct tw_part_node *nodes, size_t count)
{
	struct part_merge merge = {
	    .tree = tree,
	    .dictionary = dictionary,
	    .from = nodes,
	    .count = count,
	    .nodes = calloc(count, sizeof *merge.nodes),
	    .wanted = calloc(count, sizeof *merge.wanted),
	};
	bool room = merge.nodes && merge.wanted;
	if (room)
		add_nodes(&merge);
	tw_budget_give(&tree->keeping, TW_FOR_ROWS, merge.text_room * sizeof *merge.texts);
	free(merge.texts);
	free(merge.nodes);
	free(merge.wanted);
	return room ? 0 : TW_ERR_MEMORY;
}

/* ---- As a consumer. ---- */

static void begin(void *owner, unsigned parts)
{
	struct tw_calltree *tree = owner;
	tw_budget_reset(&tree->reading, tree->keeping.limit / 8 * 5, parts);
	tree->promised = 0;
}

/* At most what a part takes when it is merged. */
static size_t cost_of(const struct tw_calltree_part *part)
{
	size_t cost = PART_COST, node = NODE_COST + (part->per_thread ? THREAD_TEXT + NAME_OVERHEAD : 0);
	for (uint32_t i = 0; i < tw_dictionary_names(part->dictionary); i++)
		cost += name_size(tw_dictionary_name(part->dictionary, i)) + 2 * sizeof(uint32_t);
	return cost + part->count * node;
}

static bool folded(void *owner, const void *part)
{
	struct tw_calltree *tree = owner;
	tree->promised += cost_of(part);
	return tw_calltree_part_folded(part) || !tw_budget_fits(&tree->keeping, TW_FOR_ROWS, tree->promised);
}

static void *open_part(void *owner, const struct tw_dictionary *dictionary)
{
	struct tw_calltree *tree = owner;
	return tw_calltree_part_open(&tree->options, &tree->reading, dictionary);
}

static int merge_part(void *owner, void *state)
{
	struct tw_calltree *tree = owner;
	const struct tw_calltree_part *part = state;
	int status = merge_nodes(tree, part->dictionary, part->nodes, part->count);
	if (status == 0) {
		tree->nodes[TW_NODE_OTHER].count += part->calls.counts.untimed;
		tw_calls_add_notes(&tree->notes, &part->calls);
	}
	return status;
}

/* ---- The nodes as they are shown: depth first, siblings by name and id. ---- */

/* Compares names byte by byte; they may have a NUL inside. */
static int compare_texts(const struct tw_name *a, const struct tw_name *b)
{
	return memcmp(a->text, b->text, (a->length < b->length ? a->length : b->length) + 1);
}

/* Compares nodes so that children of the same parent come together. */
static int compare_nodes(const void *left, const void *right, void *context)
{
	const struct tw_calltree *tree = context;
	const struct calltree_node *a = &tree->nodes[*(const uint32_t *)left],
				   *b = &tree->nodes[*(const uint32_t *)right];
	if (a->parent != b->parent)
		return tw_compare(a->parent, b->parent);
	const struct tw_name *x = tw_dictionary_name(tree->texts, a->name),
			     *y = tw_dictionary_name(tree->texts, b->name);
	int order = compare_texts(x, y);
	order = order ? order : tw_compare(x->id, y->id);
	order = order ? order : tw_compare(a->process, b->process);
	order = order ? order : tw_compare(a->thread, b->thread);
	order = order ? order : tw_compare(b->threadless, a->threadless);
	return order ? order : tw_compare(x->length, y->length);
}

static uint32_t show(struct tw_calltree *tree, uint32_t number, uint32_t parent)
{
	const struct calltree_node *node = &tree->nodes[number];
	const struct tw_name *name = tw_dictionary_name(tree->texts, node->name);
	const bool counted = tree->weight == TW_WEIGHT_COUNT; /* weigh_calls() weighs them */
	tree->sorted[tree->sorted_count] = (struct tw_calltree_node){
	    .name = name->text,
	    .id = name->id,
	    .parent = parent,
	    .depth = number == TW_NODE_ROOT ? 0 : tree->sorted[parent].depth + 1,
	    .process = node->process,
	    .thread = node->thread,
	    .threadless = node->threadless,
	    .count = node->count,
	    .open = node->open,
	    .total = counted ? 0 : node->total,
	    .self = counted ? 0 : node->self,
	};
	return tree->sorted_count++;
}

/* The arrays that settling takes, by node. */
struct layout {
	uint32_t *order;   /* the nodes, children of the same parent together */
	uint32_t *first;   /* where in it the children begin; one more for the end */
	uint32_t *pending; /* nodes still to be shown, the next one last */
	uint32_t *parent;  /* where the parent stands in the tree as shown */
	uint32_t *shown;   /* by place in the tree as shown: the node */
};

static void group_children(struct tw_calltree *tree, struct layout *layout)
{
	size_t count = tree->count;
	for (uint32_t i = 1; i < count; i++) {
		layout->order[i - 1] = i;
		layout->first[tree->nodes[i].parent + 1]++;
	}
	for (size_t i = 0; i < count; i++)
		layout->first[i + 1] += layout->first[i];
	qsort_r(layout->order, count - 1, sizeof *layout->order, compare_nodes, tree);
}

/* Where calls are counted, a call weighs one, and each node what is below it. */
static void weigh_calls(struct tw_calltree *tree)
{
	for (uint32_t i = tree->sorted_count; i-- > 1;) {
		struct tw_calltree_node *node = &tree->sorted[i];
		node->self = node->count;
		node->total = tw_sum(node->total, node->self);
		if (node->parent)
			tree->sorted[node->parent].total = tw_sum(tree->sorted[node->parent].total, node->total);
	}
}

/* The weight of the root and of a thread is that of the calls below. */
static void sum_threads(struct tw_calltree *tree, const struct layout *layout)
{
	struct tw_calltree_node *thread = NULL;
	for (uint32_t i = 1; i < tree->sorted_count; i++) {
		struct tw_calltree_node *node = &tree->sorted[i];
		tree->sorted[0].total = tw_sum(tree->sorted[0].total, node->self);
		if (node->depth == 1)
			thread = tree->nodes[layout->shown[i]].is_thread ? node : NULL;
		if (thread)
			thread->total = tw_sum(thread->total, node->self);
	}
}

static void lay_out(struct tw_calltree *tree, struct layout *layout)
{
	size_t pending = 0;
	group_children(tree, layout);
	layout->pending[pending++] = TW_NODE_ROOT;
	tree->sorted_count = 0;
	while (pending) {
		uint32_t number = layout->pending[--pending];
		const struct calltree_node *node = &tree->nodes[number];
		if (number == TW_NODE_OTHER && !node->count && !node->self)
			continue;
		uint32_t at = show(tree, number, layout->parent[number]);
		layout->shown[at] = number;
		for (uint32_t i = layout->first[number + 1]; i-- > layout->first[number];) {
			layout->parent[layout->order[i]] = at;
			layout->pending[pending++] = layout->order[i];
		}
	}
	if (tree->weight == TW_WEIGHT_COUNT)
		weigh_calls(tree);
	sum_threads(tree, layout);
}

static int settle(void *owner)
{
	struct tw_calltree *tree = owner;
	size_t count = tree->count;
	struct layout layout = {
	    .order = calloc(count, sizeof *layout.order),
	    .first = calloc(count + 1, sizeof *layout.first),
	    .pending = calloc(count, sizeof *layout.pending),
	    .parent = calloc(count, sizeof *layout.parent),
	    .shown = calloc(count, sizeof *layout.shown),
	};
	free(tree->sorted);
	tree->sorted_count = 0;
	tree->sorted = calloc(count, sizeof *tree->sorted);
	bool room = layout.order && layout.first && layout.pending && layout.parent && layout.shown && tree->sorted;
	if (room)
		lay_out(tree, &layout);
	free(layout.order);
	free(layout.first);
	free(layout.pending);
	free(layout.parent);
	free(layout.shown);
	int status = room ? tw_budget_status(&tree->reading) : TW_ERR_MEMORY;
	status = status < 0 ? status : tw_budget_status(&tree->keeping);
	if (status < 0)
		tree->notes.rows_folded = tree->notes.laneless = 0; /* there was no memory, which the status tells */
	return status;
}

const struct tw_consumer tw_calltree_consumer = {
    .begin = begin,
    .open = open_part,
    .add = tw_calltree_part_add,
    .finish = tw_calltree_part_finish,
    .folded = folded,
    .merge = merge_part,
    .close = tw_calltree_part_close,
    .settle = settle,
};

static int add_samples(struct tw_calltree *tree, struct tw_reader *reader, bool choose)
{
	struct tw_sample_tree read = {.per_thread = tree->options.per_thread, .choose = choose, .weight = tree->weight};
	const bool summed = reader->traits.summed; /* sums of calls: their time is told as wall time */
	if (summed)
		read.weight = TW_WEIGHT_WALL;
	tw_budget_reset(&tree->reading, tree->keeping.limit / 8 * 5, 1);
	int status = tw_calltree_sample_nodes(reader, &tree->reading, &read);
	tree->weight = summed ? tree->weight : read.weight;
	bool room = read.nodes && merge_nodes(tree, tw_reader_dictionary(reader), read.nodes, read.count) == 0 &&
	            settle(tree) == 0;
	free(read.nodes);
	return status < 0 || room ? status : tw_fail(reader, TW_ERR_MEMORY, "out of memory");
}

/* ---- The handle. ---- */

static bool make_first_nodes(struct tw_calltree *tree)
{
	tree->texts = tw_dictionary_new_plain();
	if (!tree->texts || !tw_grow(&tree->nodes, &tree->room, TW_NODE_FIRST, sizeof *tree->nodes))
		return false;
	tree->count = TW_NODE_FIRST;
	tree->nodes[TW_NODE_OTHER].name = tw_dictionary_text(tree->texts, "(other)");
	tree->deeper = tw_dictionary_text(tree->texts, "(deeper)");
	tree->no_stack = tw_dictionary_text(tree->texts, "(no stack)");
	return tree->nodes[TW_NODE_OTHER].name != UINT32_MAX && tree->deeper != UINT32_MAX &&
	       tree->no_stack != UINT32_MAX && settle(tree) == 0;
}

int tw_calltree_new(struct tw_calltree **made, const struct tw_calltree_options *options)
{
	*made = NULL;
	struct tw_calltree *tree = calloc(1, sizeof *tree);
	if (!tree)
		return TW_ERR_MEMORY;
	TW_COPY_OPTIONS(&tree->options, options, struct tw_calltree_options);
	size_t limit = tree->options.memory_limit ? tree->options.memory_limit : TW_DEFAULT_MEMORY;
	tree->reading.limit = limit / 2;
	tree->keeping.limit = limit / 5 * 4; /* of which rows, the only thing here, get five eighths */
	if (!make_first_nodes(tree)) {
		tw_calltree_free(tree);
		return TW_ERR_MEMORY;
	}
	*made = tree;
	return 0;
}

int tw_calltree_add(struct tw_calltree *tree, struct tw_reader *reader)
{
	bool choose = tree->options.weight == TW_WEIGHT_DEFAULT && tree->weight == TW_WEIGHT_DEFAULT;
	int status = tw_weight_choose(reader, tree->options.weight, &tree->weight);
	if (status < 0)
		return status;
	if (tw_weight_is_sampled(tree->weight) || reader->traits.summed)
		return add_samples(tree, reader, choose && !reader->traits.summed);
	return tw_consume(reader, tree->options.jobs, &tw_calltree_consumer, tree);
}

enum tw_weight tw_calltree_weight(const struct tw_calltree *tree)
{
	return tree->weight;
}

const struct tw_calltree_node *tw_calltree_node(struct tw_calltree *tree, uint32_t i)
{
	return i < tree->sorted_count ? &tree->sorted[i] : NULL;
}

const struct tw_profile_notes *tw_calltree_notes(const struct tw_calltree *tree)
{
	return &tree->notes;
}

void tw_calltree_free(struct tw_calltree *tree)
{
	if (!tree)
		return;
	tw_map_free(&tree->map);
	tw_dictionary_free(tree->texts);
	free(tree->nodes);
	free(tree->sorted);
	free(tree);
}
