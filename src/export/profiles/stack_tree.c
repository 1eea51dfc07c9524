/* stack_tree.c - slices and samples by stacks. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/profiles/stack_tree.h"

#include "base/memory/memory.h"
#include "base/memory/sum.h"
#include "export/untimed.h"

#include <stdlib.h>

/* Bytes of a node in all: it and what it weighs, as arrays and the map grow ahead, its frame, and what a target makes
 * of it. */
enum { NODE_COST = 520 };

static struct tw_stack_tree *tree_of(struct tw_calls *calls)
{
	return (struct tw_stack_tree *)calls;
}

/* ---- Nodes. ---- */

static uint32_t add_node(struct tw_stack_tree *tree, struct tw_stack_tree_node node, uint32_t key)
{
	uint32_t number = (uint32_t)tree->count;
	tree->full |= tree->count >= tree->frames.limit;
	if (tree->full)
		return TREE_OTHER;
	if (!tw_grow(&tree->nodes, &tree->room, tree->count + 1, sizeof *tree->nodes) ||
	    !tw_children_add(&tree->children, node.parent, key, number)) {
		tree->failed = true;
		return TREE_OTHER;
	}
	tree->nodes[tree->count++] = node;
	return number;
}

/* The node of a frame called by a node. */
static uint32_t child(struct tw_stack_tree *tree, uint32_t parent, uint32_t frame)
{
	uint32_t node;
	if (parent == TREE_OTHER || frame == UINT32_MAX)
		return TREE_OTHER;
	if (tw_children_find(&tree->children, parent, frame, &node))
		return node;
	return add_node(
	    tree, (struct tw_stack_tree_node){.parent = parent, .frame = frame, .track = tree->nodes[parent].track},
	    frame);
}

/* No frame is below the root of a tree of threads, so that numbers of tracks can be keys there. */
static uint32_t root_of(struct tw_stack_tree *tree, uint32_t track)
{
	uint32_t node;
	if (!tree->per_thread)
		return TREE_ROOT;
	if (tw_children_find(&tree->children, TREE_ROOT, track, &node))
		return node;
	return add_node(tree, (struct tw_stack_tree_node){.frame = TREE_THREAD, .track = track}, track);
}

static inline void add_value(struct tw_stack_tree *tree, uint32_t node, enum tw_stack_tree_value value, uint64_t amount)
{
	if (node >= tree->values[value].room && !tw_grow(&tree->values[value].items, &tree->values[value].room,
	                                                 node + (size_t)1, sizeof *tree->values[value].items)) {
		tree->failed = true;
		return;
	}
	uint64_t *self = &tree->values[value].items[node];
	*self = tw_sum(*self, amount);
	tree->present |= 1u << value;
}

/* Where memory is short there are millions of these. */
static inline void count_other(struct tw_stack_tree *tree)
{
	if (!tree->others)
		tree->others = tw_loss_of(tree->writer, "stack");
	tree->others->approximated++;
}

/* ---- Slices. ---- */

static uint32_t root(struct tw_calls *calls, uint32_t track)
{
	return root_of(tree_of(calls), track);
}

static inline uint32_t enter(struct tw_calls *calls, const struct tw_frame *caller, uint32_t name)
{
	struct tw_stack_tree *tree = tree_of(calls);
	return child(tree, caller->row, tw_frames_of_name(&tree->frames, name));
}

static inline void leave(struct tw_calls *calls, const struct tw_frame *frame, const struct tw_left_call *call,
                         enum tw_call_end how)
{
	struct tw_stack_tree *tree = tree_of(calls);
	(void)how;
	if (frame->row == TREE_OTHER)
		count_other(tree);
	add_value(tree, frame->row, TREE_CALLS, 1);
	add_value(tree, frame->row, tree->of_slices, tw_call_self(call));
}

static uint32_t moved(struct tw_calls *calls, const struct tw_frame *caller, const struct tw_frame *frame)
{
	return enter(calls, caller, frame->name);
}

static const struct tw_call_hooks hooks = {.root = root, .enter = enter, .leave = leave, .moved = moved};

static void take_slices(struct tw_stack_tree *tree, const struct tw_batch *batch)
{
	struct tw_call_item items[TW_RUN_ITEMS];
	struct tw_call_run run;
	for (size_t i = 0; i < batch->count;) {
		i += tw_calls_make_run(batch->events + i, batch->count - i, items, &run);
		tw_calls_add_run(&tree->calls, &run, enter, leave, false);
	}
}

/* ---- Samples. ---- */

static void weigh(struct tw_stack_tree *tree, const struct tw_event *event, uint32_t node)
{
	if (event->kind == TW_CPU_SAMPLE) {
		add_value(tree, node, TREE_CPU, event->value);
	} else if (event->kind == TW_STACK_SAMPLE) {
		if (event->value)
			add_value(tree, node, TREE_SAMPLES, event->value);
		if (event->id)
			add_value(tree, node, TREE_WALL, event->id);
	} else {
		add_value(tree, node, TREE_BYTES, event->value);
		add_value(tree, node, TREE_ALLOCATIONS, event->id);
	}
}

static void take_sample(struct tw_stack_tree *tree, const struct tw_batch *batch, const struct tw_event *event)
{
	struct tw_sample_stack *stack = &tree->stack;
	uint32_t node = root_of(tree, event->track);
	tw_frames_of_sample(&tree->frames, tree->dictionary, batch, event, stack);
	if (stack->cut)
		tw_count_loss(tree->writer, "deep stack", true);
	for (size_t i = 0; i < stack->count; i++)
		node = child(tree, node, stack->frames[i]);
	if (stack->failed)
		node = TREE_OTHER;
	if (node == TREE_OTHER)
		count_other(tree);
	weigh(tree, event, node);
}

static bool is_sample(unsigned kind)
{
	return kind >= TW_STACK_SAMPLE && kind <= TW_ALLOCATION_SAMPLE;
}

static void take_each(struct tw_stack_tree *tree, const struct tw_batch *batch)
{
	for (size_t i = 0; i < batch->count; i++) {
		const struct tw_event *event = &batch->events[i];
		if (is_sample(event->kind))
			take_sample(tree, batch, event);
		else if (event->kind > TW_SLICE_COMPLETE)
			tw_leave_out(tree->writer, event);
	}
}

/* Most are left out, of kinds that were before. */
static void take_others(struct tw_stack_tree *tree, const struct tw_batch *batch)
{
	uint32_t counts[UINT8_MAX + 1] = {0};
	bool new = false;
	for (size_t i = 0; i < batch->count; i++)
		counts[batch->events[i].kind]++;
	for (unsigned kind = TW_SLICE_COMPLETE + 1; kind < TW_EVENT_KINDS; kind++)
		new |= counts[kind] && (is_sample(kind) || !tree->writer->kind_losses[kind]);
	if (new) {
		take_each(tree, batch);
		return;
	}
	for (unsigned kind = TW_SLICE_COMPLETE + 1; kind < TW_EVENT_KINDS; kind++)
		if (counts[kind])
			tree->writer->kind_losses[kind]->left_out += counts[kind];
}

/* ---- The whole. ---- */

static int begin(struct tw_stack_tree *tree, const struct tw_reader *reader)
{
	tree->begun = true;
	tree->of_slices = tw_reader_clock(reader)->instructions ? TREE_INSTRUCTIONS : TREE_TIME;
	tree->frames.limit = tw_memory_limit(reader) / NODE_COST;
	tw_budget_reset(&tree->budget, tw_memory_limit(reader), 1);
	tree->calls = (struct tw_calls){.hooks = &hooks,
	                                .budget = &tree->budget,
	                                .rules.rounding = reader->traits.rounding,
	                                .rules.ends_unordered = reader->traits.ends_unordered,
	                                .name_limit = SIZE_MAX,
	                                .rules.others_alike = true};
	tree->count = TREE_FIRST;
	bool room = tw_grow(&tree->nodes, &tree->room, TREE_FIRST, sizeof *tree->nodes);
	return tw_calls_init(&tree->calls) && room ? 0 : TW_ERR_MEMORY;
}

/* When the last slice of those is over, as far as their records tell. */
static uint64_t last_end(const struct tw_batch *batch, uint64_t end)
{
	for (size_t i = 0; i < batch->count; i++)
		if (batch->events[i].kind == TW_SLICE_COMPLETE && tw_event_end(&batch->events[i]) > end)
			end = tw_event_end(&batch->events[i]);
	return end;
}

int tw_stack_tree_write(struct tw_stack_tree *tree, const struct tw_reader *reader, const struct tw_batch *batch)
{
	int status = tree->begun ? 0 : begin(tree, reader);
	if (status < 0)
		return tw_writer_fail(tree->writer, status, "%s", tw_status_text(status));
	tree->dictionary = tw_reader_dictionary(reader);
	tree->span.start = tw_reader_clock(reader)->start_ns;
	if (tw_reader_clock(reader)->end_ns > tree->span.end)
		tree->span.end = tw_reader_clock(reader)->end_ns;
	tree->span.end = last_end(batch, tree->span.end);
	tree->span.day = tw_time_of_day(tw_reader_clock(reader), tree->span.start);
	take_slices(tree, batch);
	take_others(tree, batch);
	return tree->failed ? tw_writer_fail(tree->writer, TW_ERR_MEMORY, "out of memory") : 0;
}

bool tw_stack_tree_weighs(const struct tw_stack_tree *tree, size_t node)
{
	for (unsigned i = 0; i < TREE_VALUES; i++)
		if (tw_stack_tree_self(tree, node, i))
			return true;
	return false;
}

/* Where the nodes of each track begin. NULL: no memory. */
static size_t *track_starts(const struct tw_stack_tree *tree)
{
	size_t tracks = tree->dictionary ? tw_dictionary_tracks(tree->dictionary) : 0, at = TREE_FIRST;
	size_t *starts = calloc(tracks + 1, sizeof *starts);
	for (size_t i = TREE_FIRST; starts && i < tree->count; i++)
		starts[tree->nodes[i].track]++;
	for (size_t i = 0; starts && i < tracks; i++) {
		size_t count = starts[i];
		starts[i] = at;
		at += count;
	}
	return starts;
}

uint32_t *tw_stack_tree_order(const struct tw_stack_tree *tree)
{
	size_t *starts = track_starts(tree);
	uint32_t *order = calloc(tree->count + TREE_FIRST, sizeof *order);
	if (starts && order) {
		order[TREE_OTHER] = TREE_OTHER;
		for (size_t i = TREE_FIRST; i < tree->count; i++)
			order[starts[tree->nodes[i].track]++] = (uint32_t)i;
	}
	if (!starts) {
		free(order);
		order = NULL;
	}
	free(starts);
	return order;
}

int tw_stack_tree_finish(struct tw_stack_tree *tree)
{
	if (!tree->begun)
		return 0;
	tw_calls_finish(&tree->calls);
	tw_count_losses(tree->writer, "exit without entry", false, tree->calls.counts.exits_without_entry);
	tw_count_untimed(tree->writer, &tree->calls);
	tw_count_losses(tree->writer, "slice that overlaps another (both count in full)", true,
	                tree->calls.counts.overlaps);
	tw_count_losses(tree->writer, "end before begin", true, tree->calls.counts.time_backwards);
	bool failed = tree->failed || tree->frames.failed || tw_budget_status(&tree->budget) < 0;
	return failed ? tw_writer_fail(tree->writer, TW_ERR_MEMORY, "out of memory") : 0;
}

void tw_stack_tree_free(struct tw_stack_tree *tree)
{
	if (tree->begun)
		tw_calls_free(&tree->calls);
	tw_frames_free(&tree->frames);
	tw_children_free(&tree->children);
	free(tree->nodes);
	for (unsigned i = 0; i < TREE_VALUES; i++)
		free(tree->values[i].items);
}
