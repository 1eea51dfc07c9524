/* folded.c - slices and samples as folded stacks, which flamegraph.pl, speedscope and others read.
 *
 * A line is a stack: its functions from the outermost to the innermost with ';' between them, a space, and what it
 * weighs by itself. What is ours to decide:
 * - One weight is told: the one asked for; otherwise samples of traces that tell by them where time goes, or their wall
 *   time where none has ticks, else the time of calls, else the first that there is.
 * - Functions of all threads together, wherever in them the stacks lead through. A ';' in a name becomes ':', and so
 *   does a '#' that would make the line a comment; a line end, a tab or another control character becomes a space.
 * - What is not UTF-8 becomes U+FFFD, one a byte: a picture that flamegraph.pl made of it could not be shown. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/sum.h"
#include "base/text/utf8.h"
#include "core/threads/pipeline.h"
#include "export/profiles/stack_tree.h"
#include "export/targets.h"
#include "export/text/labels.h"

#include <stdlib.h>
#include <string.h>

/* Words of options.weight, and the order in which weights are taken where none is asked for. */
static const struct {
	const char *word;
	enum tw_stack_tree_value value;
} weights[] = {
    {"calls", TREE_TIME},  {"samples", TREE_SAMPLES},         {"cpu", TREE_CPU},     {"wall", TREE_WALL},
    {"bytes", TREE_BYTES}, {"allocations", TREE_ALLOCATIONS}, {"count", TREE_CALLS},
};

enum { WEIGHTS = sizeof weights / sizeof *weights, NONE = -1, DELETE = 0x7f };

/* Frames of a line; the last of more is "(deeper)". */
enum { DEEPER = TW_SAMPLE_DEPTH + 1 };

struct folded {
	struct tw_stack_tree tree; /* first */
	int asked;                 /* of `weights`, or NONE */
	bool sampled, summed;
	unsigned jobs;
	uint32_t *same;       /* by node: the first node whose stack has the same functions */
	uint64_t *weight;     /* by node, of these first nodes */
	uint64_t *length;     /* by node: bytes of the stack's text, with a separator behind each frame */
	uint16_t *depth;      /* by node: frames, up to one more than DEEPER */
	struct tw_line texts; /* the texts of all frames, of what there was no room for, and of what is too deep */
	size_t *ends;         /* by frame plus 1: where its text ends in `texts` */
	uint32_t next;        /* the first node that is in no piece yet */
};

/* Stacks one behind the other, for which lines are made at once. `make bench` measures convert. */
struct stack_lines {
	uint32_t from, to; /* nodes */
	struct tw_line lines;
};

enum { PIECES = 8, PIECE_BYTES = 256 << 10 };

/* ---- What is told. ---- */

/* The value that a weight stands for: of calls instructions, where there is no clock. */
static enum tw_stack_tree_value value_of(const struct folded *folded, int weight)
{
	enum tw_stack_tree_value value = weights[weight].value;
	if (value == TREE_CALLS && folded->summed)
		return TREE_SAMPLES; /* a sum of calls counts them as a sample does its ticks */
	return value == TREE_TIME ? folded->tree.of_slices : value;
}

static enum tw_stack_tree_value weight_of(const struct folded *folded)
{
	if (folded->asked != NONE)
		return value_of(folded, folded->asked);
	if (folded->sampled && tw_stack_tree_has(&folded->tree, TREE_SAMPLES))
		return TREE_SAMPLES;
	if ((folded->sampled || folded->summed) && tw_stack_tree_has(&folded->tree, TREE_WALL))
		return TREE_WALL;
	for (int i = 0; i < WEIGHTS; i++)
		if (tw_stack_tree_has(&folded->tree, value_of(folded, i)))
			return value_of(folded, i);
	return folded->tree.of_slices;
}

static uint64_t function_of(const struct folded *folded, uint32_t frame)
{
	struct tw_frame_place place = tw_frames_place(&folded->tree.frames, folded->tree.dictionary, frame);
	return place.name ? place.name : place.address | UINT64_C(1) << 63;
}

/* Whether each function has one frame only: then no two nodes have the same functions. */
static bool all_differ(const struct folded *folded)
{
	struct tw_map seen = {0};
	bool differ = true;
	for (uint32_t i = 0; i < folded->tree.frames.count && differ; i++) {
		uint64_t function = function_of(folded, i);
		uint32_t other;
		differ = !tw_map_find(&seen, function, &other) && tw_map_add(&seen, function, i);
	}
	tw_map_free(&seen);
	return differ;
}

/* Finds the first node with the same functions as a node. False when there is no memory. */
static bool find_same(struct folded *folded, struct tw_map *seen, bool differ, uint32_t i)
{
	const struct tw_stack_tree_node *node = &folded->tree.nodes[i];
	uint32_t caller = folded->same[node->parent], depth = folded->depth[caller] + 1u;
	folded->depth[i] = (uint16_t)depth;
	if (depth > DEEPER)
		folded->same[i] = caller;
	if (depth > DEEPER || (differ && depth < DEEPER))
		return true;
	uint64_t function = depth == DEEPER ? UINT64_MAX : function_of(folded, node->frame);
	uint64_t key = tw_hash_two(function, caller);
	return tw_map_find(seen, key, &folded->same[i]) || tw_map_add(seen, key, i);
}

/* Finds for each node the first with the same functions, frames at several places of a function being one, and adds up
 * the weights of those. */
static bool join(struct folded *folded, enum tw_stack_tree_value value)
{
	const struct tw_stack_tree *tree = &folded->tree;
	struct tw_map seen = {0};
	uint64_t deep = 0;
	bool room = true, differ = all_differ(folded);
	for (uint32_t i = TREE_OTHER; i < tree->count && room; i++) {
		folded->same[i] = i;
		room = i < TREE_FIRST || find_same(folded, &seen, differ, i);
		uint64_t self = tw_stack_tree_self(tree, i, value);
		folded->weight[folded->same[i]] = tw_sum(folded->weight[folded->same[i]], self);
		deep += self && folded->depth[i] >= DEEPER;
	}
	tw_map_free(&seen);
	tw_count_losses(tree->writer, "deep stack", true, deep);
	return room;
}

/* ---- Lines. ---- */

/* What stands for the character at the front; NULL: it is itself. */
static const char *cleaned(unsigned char c, size_t length)
{
	if (c == ';')
		return ":";
	if (c < ' ' || c == DELETE)
		return " ";
	return length ? NULL : "\xef\xbf\xbd";
}

static void add_clean(struct tw_line *line, const char *text, size_t left)
{
	while (left) {
		unsigned char c = (unsigned char)*text;
		size_t length = c < 0x80 ? 1 : tw_utf8_length(text, left), step = length ? length : 1;
		const char *other = cleaned(c, length);
		char escape[TW_ESCAPE_ROOM];
		if (other)
			tw_line_text(line, other);
		else if (length > 1 && tw_is_obeyed(tw_utf8_code(text, length)))
			tw_line_add(line, escape, tw_escape_character(escape, text, length));
		else
			tw_line_add(line, text, length);
		text += step;
		left -= step;
	}
}

static void add_frame(struct folded *folded, uint32_t frame)
{
	const struct tw_stack_tree *tree = &folded->tree;
	struct tw_line *line = &folded->texts;
	struct tw_frame_place place = tw_frames_place(&tree->frames, tree->dictionary, frame);
	const struct tw_name *name = tw_dictionary_name(tree->dictionary, place.name);
	if (name->length) {
		add_clean(line, name->text, name->length);
	} else if (name->id) {
		tw_label_number(line, name);
	} else if (place.address) {
		tw_label_address(line, place.address);
	} else {
		tw_line_text(line, "(no name)");
	}
}

/* Puts the texts of all frames one behind the other. */
static bool render_frames(struct folded *folded)
{
	static const char *const combined[] = {"(other)", "(deeper)"};
	size_t count = folded->tree.frames.count;
	folded->ends = calloc(count + 3, sizeof *folded->ends);
	for (uint32_t frame = 0; folded->ends && frame < count; frame++) {
		add_frame(folded, frame);
		folded->ends[frame + 1] = folded->texts.text.length;
	}
	for (size_t i = 0; folded->ends && i < sizeof combined / sizeof *combined; i++) {
		tw_line_text(&folded->texts, combined[i]);
		folded->ends[count + i + 1] = folded->texts.text.length;
	}
	return folded->ends && !folded->texts.failed;
}

/* The number of the text that a node has in `ends`. */
static size_t text_of(const struct folded *folded, uint32_t node)
{
	if (node == TREE_OTHER || folded->depth[node] >= DEEPER)
		return folded->tree.frames.count + (node != TREE_OTHER);
	return folded->tree.nodes[node].frame;
}

static void measure(struct folded *folded)
{
	for (uint32_t i = TREE_OTHER; i < folded->tree.count; i++) {
		size_t text = text_of(folded, i);
		uint32_t caller = folded->same[folded->tree.nodes[i].parent];
		folded->length[i] = folded->length[caller] + folded->ends[text + 1] - folded->ends[text] + 1;
	}
}

/* Adds the line of a stack. It is filled from its end: the innermost frame first. */
static void add_stack(const struct folded *folded, struct tw_line *line, uint32_t node)
{
	char *begin = tw_line_room(line, folded->length[node] + TW_DIGITS_MAX + 1);
	if (!begin)
		return;
	char *at = begin + folded->length[node], *end = tw_digits(at, folded->weight[node]);
	*end++ = '\n';
	for (uint32_t i = node; i; i = folded->same[folded->tree.nodes[i].parent]) {
		size_t text = text_of(folded, i), size = folded->ends[text + 1] - folded->ends[text];
		*--at = i == node ? ' ' : ';';
		at -= size;
		memcpy(at, folded->texts.text.bytes + folded->ends[text], size);
	}
	if (begin[0] == '#' && begin[1] == ' ')
		begin[0] = ':';
	tw_line_end(line, end);
}

static bool has_line(const struct folded *folded, uint32_t node)
{
	return folded->same[node] == node && folded->weight[node];
}

/* Takes as many stacks as fill a piece. */
static int take_piece(void *context, void *state)
{
	struct folded *folded = context;
	struct stack_lines *piece = state;
	uint64_t bytes = 0;
	piece->from = folded->next;
	for (; folded->next < folded->tree.count && bytes < PIECE_BYTES; folded->next++)
		bytes += has_line(folded, folded->next) ? folded->length[folded->next] : 0;
	piece->to = folded->next;
	return piece->to > piece->from;
}

static void make_lines(void *context, void *state)
{
	const struct folded *folded = context;
	struct stack_lines *piece = state;
	tw_line_clear(&piece->lines);
	for (uint32_t i = piece->from; i < piece->to; i++)
		if (has_line(folded, i))
			add_stack(folded, &piece->lines, i);
}

static bool put_lines(struct folded *folded)
{
	static const struct tw_pipeline_steps work = {.read = take_piece, .work = make_lines};
	struct tw_output *out = &folded->tree.writer->out;
	struct stack_lines pieces[PIECES] = {{.from = 0}};
	void *list[PIECES], *next;
	for (unsigned i = 0; i < PIECES; i++)
		list[i] = &pieces[i];
	struct tw_pipeline *pipeline = tw_pipeline_new(&work, folded, list, PIECES, folded->jobs);
	bool fine = pipeline != NULL;
	while (fine && !out->error && tw_pipeline_next(pipeline, &next) > 0) {
		const struct stack_lines *piece = next;
		tw_put(out, piece->lines.text.bytes, piece->lines.text.length);
		fine = !piece->lines.failed;
	}
	tw_pipeline_free(pipeline);
	for (unsigned i = 0; i < PIECES; i++)
		tw_text_free(&pieces[i].lines.text);
	return fine;
}

static bool put_all(struct folded *folded)
{
	size_t count = folded->tree.count;
	folded->same = calloc(count + 1, sizeof *folded->same);
	folded->weight = calloc(count + 1, sizeof *folded->weight);
	folded->length = calloc(count + 1, sizeof *folded->length);
	folded->depth = calloc(count + 1, sizeof *folded->depth);
	if (!folded->same || !folded->weight || !folded->length || !folded->depth || !join(folded, weight_of(folded)) ||
	    !render_frames(folded))
		return false;
	measure(folded);
	folded->next = TREE_OTHER;
	return put_lines(folded);
}

/* ---- The file. ---- */

static int asked_of(const char *word)
{
	for (int i = 0; i < WEIGHTS; i++)
		if (word && strcmp(weights[i].word, word) == 0)
			return i;
	return NONE;
}

static int open_folded(struct tw_writer *writer)
{
	const char *word = writer->options.weight;
	if (word && asked_of(word) == NONE)
		return tw_writer_fail(writer, TW_ERR_VALUE, "there is no weight \"%s\"", word);
	struct folded *folded = calloc(1, sizeof *folded);
	writer->state = folded;
	if (!folded)
		return tw_writer_fail(writer, TW_ERR_MEMORY, "out of memory");
	folded->tree.writer = writer;
	folded->asked = asked_of(word);
	return 0;
}

static int write_folded(struct tw_writer *writer, const struct tw_reader *reader, const struct tw_batch *batch)
{
	struct folded *folded = writer->state;
	folded->sampled = reader->traits.sampled;
	folded->summed = reader->traits.summed;
	folded->jobs = reader->options.jobs;
	return tw_stack_tree_write(&folded->tree, reader, batch);
}

static int finish_folded(struct tw_writer *writer)
{
	struct folded *folded = writer->state;
	int status = tw_stack_tree_finish(&folded->tree);
	if (status < 0)
		return status;
	return put_all(folded) ? 0 : tw_writer_fail(writer, TW_ERR_MEMORY, "out of memory");
}

static void close_folded(struct tw_writer *writer)
{
	struct folded *folded = writer->state;
	if (!folded)
		return;
	tw_stack_tree_free(&folded->tree);
	free(folded->same);
	free(folded->weight);
	free(folded->length);
	free(folded->depth);
	tw_text_free(&folded->texts.text);
	free(folded->ends);
	free(folded);
	writer->state = NULL;
}

static const char *const extensions[] = {".folded", NULL};

const struct tw_target tw_target_folded = {
    .name = "folded",
    .extensions = extensions,
    .order = TW_ORDER_TRACK,
    .measures = true,
    .no_category = TW_SLICES,
    .no_arguments = TW_SLICES,
    .open = open_folded,
    .write = write_folded,
    .finish = finish_folded,
    .close = close_folded,
};
