/* callgrind.c - slices and samples to callgrind's profile format, which callgrind_annotate and KCachegrind read.
 *
 * Source: valgrind's manual, "Callgrind Format Specification". What is ours to decide:
 * - Stacks of all threads together. A function that calls itself, over others or not, is "name'2" inside itself,
 *   "name'3" in that, and so on: so no call is in a cycle, and inclusive costs add up.
 * - Costs of a slice stand at the line of its function, those of a sample at the line where it was taken; a call stands
 *   at the line of its caller. Nobody counts the calls of samples: they are one, for readers take none for an error.
 *   What is not known is line 0, and file "???", as valgrind has them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/memory.h"
#include "base/sum.h"
#include "export/labels.h"
#include "export/stack_tree.h"
#include "export/targets.h"

#include <trackway/version.h>

/* Names of events: letters, digits, underscore; instructions as valgrind calls them. Calls are not among them: they are
 * counted where they are made. */
static const char *const events[TREE_VALUES] = {
    [TREE_TIME] = "ns",      [TREE_SAMPLES] = "samples",     [TREE_CPU] = "cpu_ns",  [TREE_INSTRUCTIONS] = "Ir",
    [TREE_WALL] = "wall_ns", [TREE_ALLOCATIONS] = "objects", [TREE_BYTES] = "bytes",
};

/* A function at a depth of its recursion. */
struct function {
	uint32_t frame; /* one that has its name and file */
	uint32_t level; /* 1: not inside itself */
	uint32_t costs; /* the last of its costs, plus 1 */
	uint32_t own;   /* the last of those that are its own, plus 1: all, as a rule */
};

/* What a function costs by itself at a line, or what it calls from there. */
struct cost {
	uint32_t before; /* of the same function, plus 1 */
	uint32_t line;
	uint32_t callee; /* a function, or UINT32_MAX: its own cost */
	uint32_t callee_line;
	uint64_t calls;
};

/* What the nodes of the tree are turned into. */
struct callgrind {
	struct tw_stack_tree tree; /* first */
	struct function *functions;
	size_t function_count, function_room;
	struct tw_map function_map;                 /* frame's function and level to function */
	enum tw_stack_tree_value told[TREE_VALUES]; /* values that there are, and are events */
	unsigned told_count;
	struct cost *costs;
	size_t cost_count, cost_room;
	uint64_t *amounts; /* of each cost, those that are told */
	size_t amount_room;
	struct tw_map cost_map;           /* hash of function, line and callee to cost */
	uint32_t *function_of;            /* by node */
	uint64_t *inclusive[TREE_VALUES]; /* by node, of those that are told */
	uint32_t *first, *next;           /* by node: its first child, and the next one of its parent; plus 1 */
	uint32_t *level;                  /* by first frame: how often it is on the path */
	uint32_t *first_frame;            /* by frame: the first one of the same function */
	uint32_t *line_of;                /* by frame */
	bool *named;                      /* by function: its name has been written */
	struct tw_line line;
	bool failed;
};

/* ---- Functions. ---- */

/* Frames of one function at several lines are that function. */
static bool find_first_frames(struct callgrind *callgrind)
{
	const struct tw_stack_tree *tree = &callgrind->tree;
	struct tw_map seen = {0};
	bool room = true;
	for (uint32_t i = 0; i < tree->frames.count && room; i++) {
		struct tw_frame_place place = tw_frames_place(&tree->frames, tree->dictionary, i);
		uint64_t key = place.name ? place.name : place.address | UINT64_C(1) << 63;
		callgrind->first_frame[i] = i;
		callgrind->line_of[i] = place.line;
		if (!tw_map_find(&seen, key, &callgrind->first_frame[i]))
			room = tw_map_add(&seen, key, i);
	}
	tw_map_free(&seen);
	return room;
}

/* A function; where there is no memory the first one, and the file fails. */
static uint32_t function_for(struct callgrind *callgrind, uint32_t frame, uint32_t level)
{
	uint64_t key = (uint64_t)level << 32 | frame;
	uint32_t number;
	if (tw_map_find(&callgrind->function_map, key, &number))
		return number;
	number = (uint32_t)callgrind->function_count;
	if (!tw_grow(&callgrind->functions, &callgrind->function_room, number + (size_t)1,
	             sizeof *callgrind->functions) ||
	    !tw_map_add(&callgrind->function_map, key, number)) {
		callgrind->failed = true;
		return 0;
	}
	callgrind->functions[callgrind->function_count++] = (struct function){.frame = frame, .level = level};
	return number;
}

static uint32_t line_of(const struct callgrind *callgrind, uint32_t node)
{
	return node < TREE_FIRST ? 0 : callgrind->line_of[callgrind->tree.nodes[node].frame];
}

/* ---- Costs. ---- */

/* There may be none to tell, and C has no NULL + 0. */
static uint64_t *amounts_of(const struct callgrind *callgrind, uint32_t cost)
{
	return callgrind->amounts ? callgrind->amounts + (size_t)cost * callgrind->told_count : NULL;
}

/* Adds a cost of a function without any amounts. False when there is no memory. */
static bool add_cost(struct callgrind *callgrind, uint32_t function, const struct cost *wanted, uint64_t key)
{
	uint32_t number = (uint32_t)callgrind->cost_count;
	size_t count = number + (size_t)1;
	if (!tw_extend(&callgrind->costs, &callgrind->cost_room, count, sizeof *callgrind->costs) ||
	    !tw_extend(&callgrind->amounts, &callgrind->amount_room, count * callgrind->told_count,
	               sizeof *callgrind->amounts) ||
	    !tw_map_add(&callgrind->cost_map, key, number))
		return false;
	callgrind->costs[number] = *wanted;
	callgrind->costs[number].before = callgrind->functions[function].costs;
	callgrind->functions[function].costs = number + 1;
	for (unsigned i = 0; i < callgrind->told_count; i++)
		amounts_of(callgrind, number)[i] = 0;
	callgrind->cost_count = count;
	return true;
}

/* The number of a cost; that of the first one where there is no memory, and the file fails. */
static uint32_t cost_for(struct callgrind *callgrind, uint32_t function, const struct cost *wanted)
{
	const uint32_t parts[] = {function, wanted->line, wanted->callee, wanted->callee_line};
	uint64_t key = tw_hash_bytes(parts, sizeof parts, 0);
	uint32_t number;
	if (tw_map_find(&callgrind->cost_map, key, &number))
		return number;
	if (add_cost(callgrind, function, wanted, key))
		return (uint32_t)callgrind->cost_count - 1;
	callgrind->failed = true;
	return 0;
}

/* The same of what a function costs by itself. Most are at one line. */
static uint32_t own_cost_for(struct callgrind *callgrind, uint32_t function, uint32_t line)
{
	uint32_t own = callgrind->functions[function].own;
	if (!own || callgrind->costs[own - 1].line != line)
		own = cost_for(callgrind, function, &(struct cost){.line = line, .callee = UINT32_MAX}) + 1;
	return (callgrind->functions[function].own = own) - 1;
}

static void add_amount(uint64_t *to, uint64_t amount)
{
	*to = tw_sum(*to, amount);
}

static void add_own_cost(struct callgrind *callgrind, uint32_t node, uint32_t line)
{
	uint32_t own = own_cost_for(callgrind, callgrind->function_of[node], line);
	for (unsigned i = 0; i < callgrind->told_count && !callgrind->failed; i++)
		add_amount(&amounts_of(callgrind, own)[i],
		           tw_stack_tree_self(&callgrind->tree, node, callgrind->told[i]));
}

static void add_node(struct callgrind *callgrind, uint32_t node)
{
	uint32_t parent = callgrind->tree.nodes[node].parent, line = line_of(callgrind, node);
	add_own_cost(callgrind, node, line);
	if (parent < TREE_FIRST)
		return;
	const struct cost wanted = {.line = line_of(callgrind, parent),
	                            .callee = callgrind->function_of[node],
	                            .callee_line = line};
	uint32_t call = cost_for(callgrind, callgrind->function_of[parent], &wanted);
	if (callgrind->failed)
		return;
	for (unsigned i = 0; i < callgrind->told_count; i++)
		add_amount(&amounts_of(callgrind, call)[i], callgrind->inclusive[callgrind->told[i]][node]);
	callgrind->costs[call].calls += tw_stack_tree_self(&callgrind->tree, node, TREE_CALLS);
}

/* ---- The tree. ---- */

static void link_children(struct callgrind *callgrind)
{
	const struct tw_stack_tree *tree = &callgrind->tree;
	for (size_t i = tree->count; i-- > TREE_FIRST;) {
		uint32_t parent = tree->nodes[i].parent;
		callgrind->next[i] = callgrind->first[parent];
		callgrind->first[parent] = (uint32_t)i + 1;
	}
}

/* Adds up what is below each node: children have higher numbers. False when there is no memory. */
static bool sum_up(struct callgrind *callgrind, unsigned value)
{
	const struct tw_stack_tree *tree = &callgrind->tree;
	uint64_t *sums = calloc(tree->count + 1, sizeof *sums);
	callgrind->inclusive[value] = sums;
	for (size_t i = tree->count; sums && i-- > TREE_FIRST;) {
		uint64_t *above = &sums[tree->nodes[i].parent];
		sums[i] = tw_sum(sums[i], tw_stack_tree_self(tree, i, value));
		*above = tw_sum(*above, sums[i]);
	}
	return sums != NULL;
}

static uint32_t *level_of(struct callgrind *callgrind, uint32_t node)
{
	return &callgrind->level[callgrind->first_frame[callgrind->tree.nodes[node].frame]];
}

/* Goes through all stacks, the innermost of each at last, and knows at each how often every function is on it. */
static void walk(struct callgrind *callgrind)
{
	const struct tw_stack_tree_node *nodes = callgrind->tree.nodes;
	uint32_t node = TREE_ROOT;
	for (bool down = true;;) {
		uint32_t to = down ? callgrind->first[node] : callgrind->next[node];
		if (!down && node != TREE_ROOT)
			--*level_of(callgrind, node);
		if (to) {
			node = to - 1;
			uint32_t level = ++*level_of(callgrind, node);
			callgrind->function_of[node] =
			    function_for(callgrind, callgrind->first_frame[nodes[node].frame], level);
			down = true;
		} else if (down) {
			down = false;
			if (node == TREE_ROOT)
				return;
		} else {
			node = nodes[node].parent;
			if (node == TREE_ROOT)
				return;
		}
	}
}

static void choose_told(struct callgrind *callgrind)
{
	for (unsigned i = 0; i < TREE_VALUES; i++)
		if (events[i] && tw_stack_tree_has(&callgrind->tree, i))
			callgrind->told[callgrind->told_count++] = i;
}

static bool make_costs(struct callgrind *callgrind)
{
	choose_told(callgrind);
	const struct tw_stack_tree *tree = &callgrind->tree;
	size_t nodes = tree->count + 1, frames = tree->frames.count + 1;
	callgrind->function_of = calloc(nodes, sizeof *callgrind->function_of);
	callgrind->first = calloc(nodes, sizeof *callgrind->first);
	callgrind->next = calloc(nodes, sizeof *callgrind->next);
	callgrind->level = calloc(frames, sizeof *callgrind->level);
	callgrind->first_frame = calloc(frames, sizeof *callgrind->first_frame);
	callgrind->line_of = calloc(frames, sizeof *callgrind->line_of);
	if (!callgrind->function_of || !callgrind->first || !callgrind->next || !callgrind->level ||
	    !callgrind->first_frame || !callgrind->line_of || !find_first_frames(callgrind))
		return false;
	for (unsigned i = 0; i < callgrind->told_count; i++)
		if (!sum_up(callgrind, callgrind->told[i]))
			return false;
	link_children(callgrind);
	walk(callgrind);
	for (uint32_t node = TREE_FIRST; node < tree->count && !callgrind->failed; node++)
		add_node(callgrind, node);
	return !callgrind->failed;
}

/* ---- The file. ---- */

/* What ends a name in this format, or would be read as the number of one, is a blank. */
static void put_clean(struct callgrind *callgrind)
{
	struct tw_text *text = &callgrind->line.text;
	for (size_t i = 0; i < text->length; i++)
		if ((unsigned char)text->bytes[i] < ' ')
			text->bytes[i] = ' ';
	tw_put(&callgrind->tree.writer->out, text->bytes, text->length);
	tw_line_clear(&callgrind->line);
}

/* "fl=file" and "fn=(1) name", or "cfi=" and "cfn=". */
static void put_function(struct callgrind *callgrind, const char *file, const char *word, uint32_t number)
{
	const struct function *function = &callgrind->functions[number];
	const struct tw_stack_tree *tree = &callgrind->tree;
	struct tw_output *out = &tree->writer->out;
	struct tw_frame_place place = tw_frames_place(&tree->frames, tree->dictionary, function->frame);
	tw_line_text(&callgrind->line, file);
	tw_line_add(&callgrind->line, place.file ? place.file : "???", place.file ? place.file_length : 3);
	put_clean(callgrind);
	tw_put_char(out, '\n');
	tw_put_text(out, word);
	tw_put_text(out, "=(");
	tw_put_u64(out, number + UINT64_C(1));
	tw_put_char(out, ')');
	if (!callgrind->named[number]) {
		tw_put_char(out, ' ');
		if (place.name && !tw_label_name(&callgrind->line, tw_dictionary_name(tree->dictionary, place.name)))
			tw_count_loss(tree->writer, "long name", true);
		else if (!place.name && place.address)
			tw_line_hex(&callgrind->line, place.address);
		if (callgrind->line.text.length == 0)
			tw_line_text(&callgrind->line, "(no name)");
		put_clean(callgrind);
		if (function->level > 1)
			tw_putf(out, "'%u", (unsigned)function->level);
	}
	callgrind->named[number] = true;
	tw_put_char(out, '\n');
}

static void put_amounts(struct callgrind *callgrind, uint64_t line, const uint64_t *amounts)
{
	struct tw_output *out = &callgrind->tree.writer->out;
	tw_put_u64(out, line);
	for (unsigned i = 0; i < callgrind->told_count; i++) {
		tw_put_char(out, ' ');
		tw_put_u64(out, amounts[i]);
	}
	tw_put_char(out, '\n');
}

static void put_calls(struct tw_output *out, const struct cost *cost)
{
	tw_put_text(out, "calls=");
	tw_put_u64(out, cost->calls ? cost->calls : 1);
	tw_put_char(out, ' ');
	tw_put_u64(out, cost->callee_line);
	tw_put_char(out, '\n');
}

static void put_costs(struct callgrind *callgrind, uint32_t number)
{
	tw_put_char(&callgrind->tree.writer->out, '\n');
	put_function(callgrind, "fl=", "fn", number);
	for (uint32_t i = callgrind->functions[number].costs; i; i = callgrind->costs[i - 1].before) {
		const struct cost *cost = &callgrind->costs[i - 1];
		if (cost->callee != UINT32_MAX) {
			put_function(callgrind, "cfi=", "cfn", cost->callee);
			put_calls(&callgrind->tree.writer->out, cost);
		}
		put_amounts(callgrind, cost->line, amounts_of(callgrind, i - 1));
	}
}

static void put_words(struct callgrind *callgrind)
{
	struct tw_output *out = &callgrind->tree.writer->out;
	tw_putf(out, "# callgrind format\nversion: 1\ncreator: trackway %s\npositions: line\nevents:", tw_version());
	for (unsigned i = 0; i < callgrind->told_count; i++)
		tw_putf(out, " %s", events[callgrind->told[i]]);
	tw_put_text(out, callgrind->told_count ? "\n" : " ns\n");
}

/* The sum of all that the functions cost by themselves. */
static void put_totals(struct callgrind *callgrind)
{
	struct tw_output *out = &callgrind->tree.writer->out;
	tw_put_text(out, "\ntotals:");
	for (unsigned i = 0; i < callgrind->told_count; i++) {
		unsigned value = callgrind->told[i];
		tw_put_char(out, ' ');
		tw_put_u64(out, tw_sum(callgrind->inclusive[value][TREE_ROOT],
		                       tw_stack_tree_self(&callgrind->tree, TREE_OTHER, value)));
	}
	tw_put_text(out, callgrind->tree.present ? "\n" : " 0\n");
}

/* What there was no room for has a function of its own. */
static void put_other(struct callgrind *callgrind)
{
	uint64_t amounts[TREE_VALUES];
	if (!tw_stack_tree_weighs(&callgrind->tree, TREE_OTHER))
		return;
	for (unsigned i = 0; i < callgrind->told_count; i++)
		amounts[i] = tw_stack_tree_self(&callgrind->tree, TREE_OTHER, callgrind->told[i]);
	tw_put_text(&callgrind->tree.writer->out, "\nfl=???\nfn=(other)\n");
	put_amounts(callgrind, 0, amounts);
}

static void put_all(struct callgrind *callgrind)
{
	put_words(callgrind);
	for (uint32_t i = 0; i < callgrind->function_count; i++)
		put_costs(callgrind, i);
	put_other(callgrind);
	put_totals(callgrind);
}

static int open_callgrind(struct tw_writer *writer)
{
	struct callgrind *callgrind = calloc(1, sizeof *callgrind);
	writer->state = callgrind;
	if (!callgrind)
		return tw_writer_fail(writer, TW_ERR_MEMORY, "out of memory");
	callgrind->tree.writer = writer;
	return 0;
}

static int write_callgrind(struct tw_writer *writer, const struct tw_reader *reader, const struct tw_batch *batch)
{
	struct callgrind *callgrind = writer->state;
	return tw_stack_tree_write(&callgrind->tree, reader, batch);
}

static int finish_callgrind(struct tw_writer *writer)
{
	struct callgrind *callgrind = writer->state;
	int status = tw_stack_tree_finish(&callgrind->tree);
	if (status < 0)
		return status;
	bool made = make_costs(callgrind);
	if (made)
		callgrind->named = calloc(callgrind->function_count + 1, sizeof *callgrind->named);
	if (made && callgrind->named)
		put_all(callgrind);
	if (!made || !callgrind->named || callgrind->line.failed)
		return tw_writer_fail(writer, TW_ERR_MEMORY, "out of memory");
	return 0;
}

static void close_callgrind(struct tw_writer *writer)
{
	struct callgrind *callgrind = writer->state;
	tw_stack_tree_free(&callgrind->tree);
	free(callgrind->functions);
	tw_map_free(&callgrind->function_map);
	free(callgrind->costs);
	free(callgrind->amounts);
	tw_map_free(&callgrind->cost_map);
	free(callgrind->function_of);
	for (unsigned i = 0; i < TREE_VALUES; i++)
		free(callgrind->inclusive[i]);
	free(callgrind->first);
	free(callgrind->next);
	free(callgrind->level);
	free(callgrind->first_frame);
	free(callgrind->line_of);
	free(callgrind->named);
	tw_text_free(&callgrind->line.text);
	free(callgrind);
	writer->state = NULL;
}

static const char *const extensions[] = {".callgrind", NULL};

const struct tw_target tw_target_callgrind = {
    .name = "callgrind",
    .title = "callgrind's profile format, for KCachegrind",
    .extensions = extensions,
    .order = TW_ORDER_TRACK,
    .no_category = TW_SLICES,
    .no_arguments = TW_SLICES,
    .open = open_callgrind,
    .write = write_callgrind,
    .finish = finish_callgrind,
    .close = close_callgrind,
};
