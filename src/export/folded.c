/* folded.c - slices and samples as folded stacks, which flamegraph.pl, speedscope and others read.
 *
 * A line is a stack: its functions from the outermost to the innermost with ';' between them, a space, and what it
 * weighs by itself. What is ours to decide:
 * - One weight is told: the one asked for; otherwise samples of traces that tell by them where time goes, or their wall
 *   time where none has ticks, else the time of calls, else the first that there is.
 * - Functions of all threads together, wherever in them the stacks lead through. A ';' in a name becomes ':', a line
 *   end a space. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/sum.h"
#include "export/labels.h"
#include "export/stack_tree.h"
#include "export/targets.h"

/* Words of options.weight, and the order in which weights are taken where none is asked for. */
static const struct {
	const char *word;
	enum tw_stack_tree_value value;
} weights[] = {
    {"calls", TREE_TIME}, {"samples", TREE_SAMPLES}, {"cpu", TREE_CPU},
    {"wall", TREE_WALL},  {"bytes", TREE_BYTES},     {"allocations", TREE_ALLOCATIONS},
};

enum { WEIGHTS = sizeof weights / sizeof *weights, NONE = -1 };

struct folded {
	struct tw_stack_tree tree; /* first */
	int asked;                 /* of `weights`, or NONE */
	bool sampled;
	uint32_t *same;   /* by node: the first one that is the same functions */
	uint64_t *weight; /* by node, of such */
	uint32_t *path;
	struct tw_line texts; /* of all frames */
	size_t *ends;         /* by frame, plus 1: where its text ends there */
};

/* ---- What is told. ---- */

/* That of calls is in instructions where there is no clock. */
static enum tw_stack_tree_value value_of(const struct folded *folded, int weight)
{
	enum tw_stack_tree_value value = weights[weight].value;
	return value == TREE_TIME ? folded->tree.of_slices : value;
}

static enum tw_stack_tree_value weight_of(const struct folded *folded)
{
	if (folded->asked != NONE)
		return value_of(folded, folded->asked);
	if (folded->sampled && tw_stack_tree_has(&folded->tree, TREE_SAMPLES))
		return TREE_SAMPLES;
	if (folded->sampled && tw_stack_tree_has(&folded->tree, TREE_WALL))
		return TREE_WALL;
	for (int i = 0; i < WEIGHTS; i++)
		if (tw_stack_tree_has(&folded->tree, value_of(folded, i)))
			return value_of(folded, i);
	return folded->tree.of_slices;
}

/* Frames at several places of one function are that function. */
static bool join(struct folded *folded, enum tw_stack_tree_value value)
{
	const struct tw_stack_tree *tree = &folded->tree;
	struct tw_map seen = {0};
	bool room = true;
	for (uint32_t i = TREE_OTHER; i < tree->count && room; i++) {
		const struct tw_stack_tree_node *node = &tree->nodes[i];
		folded->same[i] = i;
		if (i >= TREE_FIRST) {
			struct tw_frame_place place = tw_frames_place(&tree->frames, tree->dictionary, node->frame);
			uint64_t function = place.name ? place.name : place.address | UINT64_C(1) << 63;
			uint64_t key = tw_hash64(function) ^ tw_hash64(~(uint64_t)folded->same[node->parent]);
			if (!tw_map_find(&seen, key, &folded->same[i]))
				room = tw_map_add(&seen, key, i);
		}
		folded->weight[folded->same[i]] =
		    tw_sum(folded->weight[folded->same[i]], tw_stack_tree_self(tree, i, value));
	}
	tw_map_free(&seen);
	return room;
}

/* ---- Lines. ---- */

static void add_clean(struct tw_line *line, const char *text, size_t length)
{
	size_t begin = line->text.length;
	tw_line_add(line, text, length);
	for (size_t i = begin; i < line->text.length; i++) {
		char c = line->text.bytes[i];
		line->text.bytes[i] = (char)(c == ';' ? ':' : c == '\n' || c == '\r' ? ' ' : c);
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
		tw_line_text(line, "0x");
		tw_line_hex_digits(line, place.address);
	} else {
		tw_line_text(line, "(no name)");
	}
}

/* What all frames are called, one behind the other. */
static bool render_frames(struct folded *folded)
{
	size_t count = folded->tree.frames.count;
	folded->ends = calloc(count + 1, sizeof *folded->ends);
	for (uint32_t frame = 0; folded->ends && frame < count; frame++) {
		add_frame(folded, frame);
		folded->ends[frame + 1] = folded->texts.text.length;
	}
	return folded->ends && !folded->texts.failed;
}

static void put_frame(struct folded *folded, uint32_t node)
{
	const struct tw_stack_tree *tree = &folded->tree;
	uint32_t frame = tree->nodes[node].frame;
	if (node == TREE_OTHER)
		tw_put_text(&tree->writer->out, "(other)");
	else
		tw_put(&tree->writer->out, folded->texts.text.bytes + folded->ends[frame],
		       folded->ends[frame + 1] - folded->ends[frame]);
}

static void put_stack(struct folded *folded, uint32_t node)
{
	struct tw_output *out = &folded->tree.writer->out;
	size_t depth = 0;
	for (uint32_t i = node; i; i = folded->same[folded->tree.nodes[i].parent])
		folded->path[depth++] = i;
	while (depth) {
		put_frame(folded, folded->path[--depth]);
		tw_put_char(out, depth ? ';' : ' ');
	}
	tw_put_u64(out, folded->weight[node]);
	tw_put_char(out, '\n');
}

static bool put_all(struct folded *folded)
{
	size_t count = folded->tree.count;
	folded->same = calloc(count + 1, sizeof *folded->same);
	folded->weight = calloc(count + 1, sizeof *folded->weight);
	folded->path = calloc(count + 1, sizeof *folded->path);
	if (!folded->same || !folded->weight || !folded->path || !join(folded, weight_of(folded)) ||
	    !render_frames(folded))
		return false;
	for (uint32_t i = TREE_OTHER; i < count && !folded->tree.writer->out.error; i++)
		if (folded->same[i] == i && folded->weight[i])
			put_stack(folded, i);
	return true;
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
	folded->sampled = reader->sampled;
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
	free(folded->path);
	tw_text_free(&folded->texts.text);
	free(folded->ends);
	free(folded);
	writer->state = NULL;
}

static const char *const extensions[] = {".folded", NULL};

const struct tw_target tw_target_folded = {
    .name = "folded",
    .title = "folded stacks, for flame graphs",
    .extensions = extensions,
    .order = TW_ORDER_TRACK,
    .open = open_folded,
    .write = write_folded,
    .finish = finish_folded,
    .close = close_folded,
};
