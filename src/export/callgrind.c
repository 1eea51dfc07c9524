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
#include "base/parallel.h"
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
	bool fileless;  /* no file is known of it: told when its name has been written */
};

/* What a function costs by itself at a line, or what it calls from there. */
struct cost {
	uint32_t before; /* of the same function, plus 1 */
	uint32_t line;
	uint32_t callee; /* a function, or UINT32_MAX: its own cost */
	uint32_t callee_line;
	uint64_t calls;
};

/* The costs of some functions, which one thread finds. `make bench` measures convert. */
struct share {
	struct callgrind *callgrind;
	struct cost *costs;
	size_t cost_count, cost_room;
	uint64_t *amounts; /* of each cost, those that are told */
	size_t amount_room;
	struct tw_map map; /* function, line and callee to cost */
	bool failed;
};

/* Functions of one share stand together, a few lines of the cache. */
enum { SHARES = 8, SHARE_FUNCTIONS = 64 };

/* A node where all stacks are gone through: what is asked of one is near. `make bench` measures convert. */
struct step {
	uint32_t parent, first, next; /* next: child of the same parent; 0: there is none */
	uint32_t frame;               /* the first one of its function */
};

/* A first frame while stacks are gone through. */
struct recursion {
	uint32_t level;    /* how often it is on the path */
	uint32_t function; /* that it is where it is there once, plus 1 */
};

/* What the nodes of the tree are turned into. */
struct callgrind {
	struct tw_stack_tree tree; /* first */
	unsigned jobs;
	struct function *functions;
	size_t function_count, function_room;
	struct tw_map function_map;                 /* frame's function and level to function */
	enum tw_stack_tree_value told[TREE_VALUES]; /* values that there are, and are events */
	unsigned told_count;
	struct share shares[SHARES];
	unsigned share_count;             /* a power of 2 */
	uint32_t *function_of;            /* by node */
	uint64_t *inclusive[TREE_VALUES]; /* by node, of those that are told */
	struct step *steps;               /* by node */
	struct recursion *recursions;     /* by first frame */
	uint32_t *first_frame;            /* by frame: the first one of the same function */
	uint32_t *line_of;                /* by frame */
	bool *named;                      /* by function: its name has been written */
	struct tw_line line;
	bool failed, unsummed;
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

static struct share *share_of(struct callgrind *callgrind, uint32_t function)
{
	return &callgrind->shares[function / SHARE_FUNCTIONS & (callgrind->share_count - 1)];
}

/* There may be none to tell, and C has no NULL + 0. */
static uint64_t *amounts_of(const struct share *share, uint32_t cost)
{
	return share->amounts ? share->amounts + (size_t)cost * share->callgrind->told_count : NULL;
}

/* Adds a cost of a function without any amounts. False when there is no memory. */
static bool add_cost(struct share *share, uint32_t function, const struct cost *wanted, uint64_t key)
{
	const struct callgrind *callgrind = share->callgrind;
	uint32_t number = (uint32_t)share->cost_count;
	size_t count = number + (size_t)1;
	if (!tw_extend(&share->costs, &share->cost_room, count, sizeof *share->costs) ||
	    !tw_extend(&share->amounts, &share->amount_room, count * callgrind->told_count, sizeof *share->amounts) ||
	    !tw_map_add(&share->map, key, number))
		return false;
	share->costs[number] = *wanted;
	share->costs[number].before = callgrind->functions[function].costs;
	callgrind->functions[function].costs = number + 1;
	for (unsigned i = 0; i < callgrind->told_count; i++)
		amounts_of(share, number)[i] = 0;
	share->cost_count = count;
	return true;
}

/* The number of a cost; that of the first one where there is no memory, and the file fails. */
static uint32_t cost_for(struct share *share, uint32_t function, const struct cost *wanted)
{
	uint64_t functions = (uint64_t)function << 32 | wanted->callee,
		 key = functions ^ tw_hash64((uint64_t)wanted->line << 32 | wanted->callee_line);
	uint32_t number;
	if (tw_map_find(&share->map, key, &number))
		return number;
	if (add_cost(share, function, wanted, key))
		return (uint32_t)share->cost_count - 1;
	share->failed = true;
	return 0;
}

/* The same of what a function costs by itself. Most are at one line. */
static uint32_t own_cost_for(struct share *share, uint32_t function, uint32_t line)
{
	struct function *of = &share->callgrind->functions[function];
	uint32_t own = of->own;
	if (!own || share->costs[own - 1].line != line)
		own = cost_for(share, function, &(struct cost){.line = line, .callee = UINT32_MAX}) + 1;
	return (of->own = own) - 1;
}

static void add_amount(uint64_t *to, uint64_t amount)
{
	*to = tw_sum(*to, amount);
}

static void add_own_cost(struct share *share, uint32_t node, uint32_t function)
{
	const struct callgrind *callgrind = share->callgrind;
	uint32_t own = own_cost_for(share, function, line_of(callgrind, node));
	for (unsigned i = 0; i < callgrind->told_count && !share->failed; i++)
		add_amount(&amounts_of(share, own)[i], tw_stack_tree_self(&callgrind->tree, node, callgrind->told[i]));
}

/* What a function costs its caller. */
static void add_call(struct share *share, uint32_t node, uint32_t caller)
{
	const struct callgrind *callgrind = share->callgrind;
	const struct cost wanted = {.line = line_of(callgrind, callgrind->tree.nodes[node].parent),
	                            .callee = callgrind->function_of[node],
	                            .callee_line = line_of(callgrind, node)};
	uint32_t call = cost_for(share, caller, &wanted);
	if (share->failed)
		return;
	for (unsigned i = 0; i < callgrind->told_count; i++)
		add_amount(&amounts_of(share, call)[i], callgrind->inclusive[callgrind->told[i]][node]);
	share->costs[call].calls += tw_stack_tree_self(&callgrind->tree, node, TREE_CALLS);
}

static void add_costs(void *context, unsigned i)
{
	struct callgrind *callgrind = context;
	struct share *share = &callgrind->shares[i];
	for (uint32_t node = TREE_FIRST; node < callgrind->tree.count && !share->failed; node++) {
		uint32_t parent = callgrind->tree.nodes[node].parent, function = callgrind->function_of[node];
		if (share_of(callgrind, function) == share)
			add_own_cost(share, node, function);
		if (parent >= TREE_FIRST && share_of(callgrind, callgrind->function_of[parent]) == share)
			add_call(share, node, callgrind->function_of[parent]);
	}
}

/* ---- The tree. ---- */

static void link_children(struct callgrind *callgrind)
{
	const struct tw_stack_tree *tree = &callgrind->tree;
	struct step *steps = callgrind->steps;
	for (size_t i = tree->count; i-- > TREE_FIRST;) {
		const struct tw_stack_tree_node *node = &tree->nodes[i];
		steps[i].parent = node->parent;
		steps[i].next = steps[node->parent].first;
		steps[i].frame = callgrind->first_frame[node->frame];
		steps[node->parent].first = (uint32_t)i;
	}
}

/* Adds up what is below each node: children have higher numbers. False when there is no memory. */
static bool sum_up(struct callgrind *callgrind, unsigned value)
{
	const struct tw_stack_tree *tree = &callgrind->tree;
	uint64_t *sums = tw_zeroed(tree->count + 1, sizeof *sums);
	callgrind->inclusive[value] = sums;
	for (size_t i = tree->count; sums && i-- > TREE_FIRST;) {
		uint64_t *above = &sums[tree->nodes[i].parent];
		sums[i] = tw_sum(sums[i], tw_stack_tree_self(tree, i, value));
		*above = tw_sum(*above, sums[i]);
	}
	return sums != NULL;
}

static void enter_node(struct callgrind *callgrind, uint32_t node)
{
	const struct step *step = &callgrind->steps[node];
	struct recursion *recursion = &callgrind->recursions[step->frame];
	__builtin_prefetch(&callgrind->steps[step->next]);
	if (++recursion->level > 1) {
		callgrind->function_of[node] = function_for(callgrind, step->frame, recursion->level);
		return;
	}
	if (!recursion->function)
		recursion->function = function_for(callgrind, step->frame, 1) + 1;
	callgrind->function_of[node] = recursion->function - 1;
}

/* Leaves a node and all above it that have no other child to come. Returns that one; TREE_ROOT where none has. */
static uint32_t leave_node(struct callgrind *callgrind, uint32_t node)
{
	for (; node != TREE_ROOT; node = callgrind->steps[node].parent) {
		const struct step *step = &callgrind->steps[node];
		callgrind->recursions[step->frame].level--;
		if (step->next)
			return step->next;
	}
	return TREE_ROOT;
}

/* Goes through all stacks, the innermost of each at last, and knows at each how often every function is on it. */
static void walk(struct callgrind *callgrind)
{
	uint32_t node = callgrind->steps[TREE_ROOT].first;
	while (node != TREE_ROOT) {
		enter_node(callgrind, node);
		uint32_t first = callgrind->steps[node].first;
		node = first ? first : leave_node(callgrind, node);
	}
}

static void choose_told(struct callgrind *callgrind)
{
	for (unsigned i = 0; i < TREE_VALUES; i++)
		if (events[i] && tw_stack_tree_has(&callgrind->tree, i))
			callgrind->told[callgrind->told_count++] = i;
}

/* Two things that do not need each other. */
static void prepare(void *context, unsigned i)
{
	struct callgrind *callgrind = context;
	if (i == 0) {
		link_children(callgrind);
		walk(callgrind);
	} else {
		for (unsigned k = 0; k < callgrind->told_count; k++)
			callgrind->unsummed |= !sum_up(callgrind, callgrind->told[k]);
	}
}

static void run_twice(struct callgrind *callgrind)
{
	if (callgrind->share_count > 1) {
		tw_parallel(2, prepare, callgrind);
	} else {
		prepare(callgrind, 0);
		prepare(callgrind, 1);
	}
}

static bool find_costs(struct callgrind *callgrind)
{
	bool failed = callgrind->failed || callgrind->unsummed;
	if (!failed)
		tw_parallel(callgrind->share_count, add_costs, callgrind);
	for (unsigned i = 0; i < callgrind->share_count; i++)
		failed |= callgrind->shares[i].failed;
	return !failed;
}

static void choose_shares(struct callgrind *callgrind)
{
	unsigned jobs = callgrind->jobs ? callgrind->jobs : tw_processors();
	for (callgrind->share_count = 1; callgrind->share_count * 2 <= jobs && callgrind->share_count < SHARES;)
		callgrind->share_count *= 2;
	for (unsigned i = 0; i < callgrind->share_count; i++)
		callgrind->shares[i].callgrind = callgrind;
}

static bool make_costs(struct callgrind *callgrind)
{
	choose_told(callgrind);
	choose_shares(callgrind);
	const struct tw_stack_tree *tree = &callgrind->tree;
	size_t nodes = tree->count + 1, frames = tree->frames.count + 1;
	callgrind->function_of = calloc(nodes, sizeof *callgrind->function_of);
	callgrind->steps = tw_zeroed(nodes, sizeof *callgrind->steps);
	callgrind->recursions = calloc(frames, sizeof *callgrind->recursions);
	callgrind->first_frame = calloc(frames, sizeof *callgrind->first_frame);
	callgrind->line_of = calloc(frames, sizeof *callgrind->line_of);
	if (!callgrind->function_of || !callgrind->steps || !callgrind->recursions || !callgrind->first_frame ||
	    !callgrind->line_of || !find_first_frames(callgrind))
		return false;
	run_twice(callgrind);
	return find_costs(callgrind);
}

/* ---- The file. ---- */

/* The longest line of numbers, with a word. */
enum { LINE_MAX = (TREE_VALUES + 1) * (TW_DIGITS_MAX + 1) + 32 };

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
	callgrind->functions[number].fileless = !place.file;
	tw_put_char(out, '\n');
}

static void put_amounts(struct callgrind *callgrind, uint64_t line, const uint64_t *amounts)
{
	struct tw_output *out = &callgrind->tree.writer->out;
	char *begin = tw_output_room(out, LINE_MAX), *p = tw_digits(begin, line);
	for (unsigned i = 0; i < callgrind->told_count; i++) {
		*p++ = ' ';
		p = tw_digits(p, amounts[i]);
	}
	*p++ = '\n';
	tw_output_took(out, (size_t)(p - begin));
}

static char *put_here(char *p, const char *text)
{
	size_t length = strlen(text);
	memcpy(p, text, length);
	return p + length;
}

/* A function that is named already, of which no file is known, is called. */
static void put_plain_callee(struct tw_output *out, uint32_t number)
{
	char *begin = tw_output_room(out, LINE_MAX), *p = put_here(begin, "cfi=???\ncfn=(");
	p = tw_digits(p, number + UINT64_C(1));
	p = put_here(p, ")\n");
	tw_output_took(out, (size_t)(p - begin));
}

static void put_callee(struct callgrind *callgrind, uint32_t number)
{
	if (callgrind->named[number] && callgrind->functions[number].fileless)
		put_plain_callee(&callgrind->tree.writer->out, number);
	else
		put_function(callgrind, "cfi=", "cfn", number);
}

static void put_calls(struct tw_output *out, const struct cost *cost)
{
	char *begin = tw_output_room(out, LINE_MAX), *p = put_here(begin, "calls=");
	p = tw_digits(p, cost->calls ? cost->calls : 1);
	*p++ = ' ';
	p = tw_digits(p, cost->callee_line);
	*p++ = '\n';
	tw_output_took(out, (size_t)(p - begin));
}

static void put_costs(struct callgrind *callgrind, uint32_t number)
{
	const struct share *share = share_of(callgrind, number);
	tw_put_char(&callgrind->tree.writer->out, '\n');
	put_function(callgrind, "fl=", "fn", number);
	for (uint32_t i = callgrind->functions[number].costs; i; i = share->costs[i - 1].before) {
		const struct cost *cost = &share->costs[i - 1];
		if (cost->callee != UINT32_MAX) {
			put_callee(callgrind, cost->callee);
			put_calls(&callgrind->tree.writer->out, cost);
		}
		put_amounts(callgrind, cost->line, amounts_of(share, i - 1));
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
	callgrind->jobs = reader->options.jobs;
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
	for (unsigned i = 0; i < callgrind->share_count; i++) {
		free(callgrind->shares[i].costs);
		free(callgrind->shares[i].amounts);
		tw_map_free(&callgrind->shares[i].map);
	}
	free(callgrind->function_of);
	for (unsigned i = 0; i < TREE_VALUES; i++)
		free(callgrind->inclusive[i]);
	free(callgrind->steps);
	free(callgrind->recursions);
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
