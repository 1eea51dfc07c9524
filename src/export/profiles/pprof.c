/* pprof.c - slices and samples to pprof's profile.proto.
 *
 * Source: profile.proto of pprof. What is ours to decide:
 * - A sample is a stack of a thread. Slices are weighed by calls and by the time that is theirs alone; samples by what
 *   they measure.
 * - A frame is a location and a function of its own: with the line in the location, and that of the function's begin
 *   where there is no other.
 * - Labels tell the thread and the process by name. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/perfetto/protobuf.h"
#include "export/profiles/stack_tree.h"
#include "export/targets.h"
#include "export/text/labels.h"

#include <stdlib.h>

enum { SAMPLE_TYPE = 1, SAMPLE, MAPPING, LOCATION, FUNCTION, STRING_TABLE, TIME_NANOS = 9, DURATION_NANOS };
enum { DEFAULT_SAMPLE_TYPE = 14 };
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_STR };
enum { MAPPING_ID = 1, MAPPING_HAS_FUNCTIONS = 7, MAPPING_HAS_FILENAMES, MAPPING_HAS_LINE_NUMBERS };
enum { LOCATION_ID = 1, LOCATION_MAPPING_ID, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION_ID = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILENAME, FUNCTION_START_LINE };
enum { THE_MAPPING = 1, FLUSH_AT = 32 << 10 };

/* A frame in the stack of a sample: a varint, and in the highest byte how long it is. */
enum { DIGITS_MAX = 5, DIGITS_LENGTH = 56 };

static const struct {
	const char *type, *unit;
} types[TREE_VALUES] = {
#define X(name, type, unit) [name] = {type, unit},
    TREE_VALUE_LIST(X)
#undef X
};

struct pprof {
	struct tw_stack_tree tree; /* first */
	struct tw_proto proto;
	struct tw_line label;
	uint64_t strings;             /* written so far */
	uint64_t thread, pid;         /* strings: the keys of labels */
	uint64_t *digits;             /* by frame */
	unsigned values[TREE_VALUES]; /* values that there are */
	unsigned value_count;
	uint64_t main_type; /* the text of what pprof shows: samples, or the last type; 0: there is none */
	uint32_t track;     /* whose labels are below */
	struct tw_proto labels;
	bool has_files, has_lines;
};

static void flush(struct pprof *pprof, size_t at)
{
	if (pprof->proto.length < at)
		return;
	tw_put(&pprof->tree.writer->out, pprof->proto.bytes, pprof->proto.length);
	tw_proto_clear(&pprof->proto);
}

/* Writes a text and returns its number. */
static uint64_t put_string(struct pprof *pprof, const char *text, size_t size)
{
	tw_proto_string(&pprof->proto, STRING_TABLE, text, size);
	return pprof->strings++;
}

static uint64_t put_text(struct pprof *pprof, const char *text)
{
	return put_string(pprof, text, strlen(text));
}

static uint64_t put_label(struct pprof *pprof)
{
	uint64_t number = put_string(pprof, pprof->label.text.bytes, pprof->label.text.length);
	tw_line_clear(&pprof->label);
	return number;
}

/* ---- What samples are made of. ---- */

static void put_types(struct pprof *pprof)
{
	for (unsigned i = 0; i < TREE_VALUES; i++) {
		if (!tw_stack_tree_has(&pprof->tree, i))
			continue;
		pprof->values[pprof->value_count++] = i;
		uint64_t type = put_text(pprof, types[i].type), unit = put_text(pprof, types[i].unit);
		size_t begin = tw_proto_begin(&pprof->proto, SAMPLE_TYPE);
		tw_proto_uint(&pprof->proto, TYPE_TYPE, type);
		tw_proto_uint(&pprof->proto, TYPE_UNIT, unit);
		tw_proto_end(&pprof->proto, begin);
		pprof->main_type =
		    i == TREE_SAMPLES || !tw_stack_tree_has(&pprof->tree, TREE_SAMPLES) ? type : pprof->main_type;
	}
}

static uint64_t put_name(struct pprof *pprof, const struct tw_frame_place *place)
{
	if (place->name) {
		if (!tw_label_name(&pprof->label, tw_dictionary_name(pprof->tree.dictionary, place->name)))
			tw_count_loss(pprof->tree.writer, "long name", true);
	} else if (place->address) {
		tw_label_address(&pprof->label, place->address);
	} else {
		tw_line_text(&pprof->label, "(no name)");
	}
	return put_label(pprof);
}

static void put_function(struct pprof *pprof, uint32_t number, const struct tw_frame_place *place)
{
	struct tw_proto *proto = &pprof->proto;
	uint64_t name = put_name(pprof, place);
	uint64_t file = place->file ? put_string(pprof, place->file, place->file_length) : 0;
	bool begins = pprof->tree.frames.keys[number].of == FRAME_OF_NAME;
	size_t begin = tw_proto_begin(proto, FUNCTION);
	tw_proto_uint(proto, FUNCTION_ID, number + UINT64_C(1));
	tw_proto_uint(proto, FUNCTION_NAME, name);
	tw_proto_uint(proto, FUNCTION_SYSTEM_NAME, name);
	if (file)
		tw_proto_uint(proto, FUNCTION_FILENAME, file);
	if (begins && place->line)
		tw_proto_uint(proto, FUNCTION_START_LINE, place->line);
	tw_proto_end(proto, begin);
	pprof->has_files |= file != 0;
	pprof->has_lines |= place->line != 0;
}

static void put_frame(struct pprof *pprof, uint32_t number)
{
	struct tw_proto *proto = &pprof->proto;
	struct tw_frame_place place = tw_frames_place(&pprof->tree.frames, pprof->tree.dictionary, number);
	put_function(pprof, number, &place);
	size_t begin = tw_proto_begin(proto, LOCATION);
	tw_proto_uint(proto, LOCATION_ID, number + UINT64_C(1));
	tw_proto_uint(proto, LOCATION_MAPPING_ID, THE_MAPPING);
	if (place.address)
		tw_proto_uint(proto, LOCATION_ADDRESS, place.address);
	size_t line = tw_proto_begin(proto, LOCATION_LINE);
	tw_proto_uint(proto, LINE_FUNCTION_ID, number + UINT64_C(1));
	if (place.line)
		tw_proto_uint(proto, LINE_LINE, place.line);
	tw_proto_end(proto, line);
	tw_proto_end(proto, begin);
	flush(pprof, FLUSH_AT);
}

/* Functions are known: nobody needs to look for symbols. */
static void put_mapping(struct pprof *pprof)
{
	size_t begin = tw_proto_begin(&pprof->proto, MAPPING);
	tw_proto_uint(&pprof->proto, MAPPING_ID, THE_MAPPING);
	tw_proto_uint(&pprof->proto, MAPPING_HAS_FUNCTIONS, true);
	if (pprof->has_files)
		tw_proto_uint(&pprof->proto, MAPPING_HAS_FILENAMES, true);
	if (pprof->has_lines)
		tw_proto_uint(&pprof->proto, MAPPING_HAS_LINE_NUMBERS, true);
	tw_proto_end(&pprof->proto, begin);
}

/* ---- Samples. ---- */

static void add_label(struct pprof *pprof, uint64_t key)
{
	uint64_t text = put_label(pprof);
	size_t begin = tw_proto_begin(&pprof->labels, SAMPLE_LABEL);
	tw_proto_uint(&pprof->labels, LABEL_KEY, key);
	tw_proto_uint(&pprof->labels, LABEL_STR, text);
	tw_proto_end(&pprof->labels, begin);
}

/* Nodes of a thread come one after the other. */
static void meet_track(struct pprof *pprof, uint32_t number)
{
	if (pprof->track == number)
		return;
	const struct tw_track *track = tw_dictionary_track(pprof->tree.dictionary, number);
	pprof->track = number;
	tw_proto_clear(&pprof->labels);
	tw_label_track(&pprof->label, pprof->tree.dictionary, track);
	add_label(pprof, pprof->thread);
	tw_label_process(&pprof->label, pprof->tree.dictionary, track->process);
	add_label(pprof, pprof->pid);
}

static bool make_digits(struct pprof *pprof)
{
	size_t count = pprof->tree.frames.count + (size_t)1;
	pprof->digits = calloc(count, sizeof *pprof->digits);
	for (size_t i = 0; pprof->digits && i < count; i++) {
		uint8_t bytes[TW_PROTO_VARINT_MAX] = {0};
		uint64_t length = (uint64_t)(tw_proto_digits(bytes, i + 1) - bytes);
		pprof->digits[i] = tw_load64(bytes, false) | length << DIGITS_LENGTH;
	}
	return pprof->digits;
}

/* Whether there is a function at a node. */
static bool is_frame(const struct pprof *pprof, uint32_t node)
{
	return node != TREE_ROOT && pprof->tree.nodes[node].frame != TREE_THREAD;
}

/* The innermost frame comes first. */
static void put_stack(struct pprof *pprof, uint32_t number)
{
	const struct tw_stack_tree_node *nodes = pprof->tree.nodes;
	struct tw_proto *proto = &pprof->proto;
	size_t begin = tw_proto_begin(proto, SAMPLE_LOCATION_ID), depth = 0;
	if (!tw_proto_room(proto, (size_t)TW_SAMPLE_DEPTH * DIGITS_MAX + sizeof *pprof->digits))
		return;
	uint8_t *p = proto->bytes + proto->length;
	for (; is_frame(pprof, number) && depth < TW_SAMPLE_DEPTH; number = nodes[number].parent, depth++) {
		uint64_t digits = pprof->digits[nodes[number].frame];
		tw_store64(p, digits, false);
		p += digits >> DIGITS_LENGTH;
	}
	proto->length = (size_t)(p - proto->bytes);
	tw_proto_end(proto, begin);
	if (is_frame(pprof, number))
		tw_count_loss(pprof->tree.writer, "deep stack", true);
}

static void put_values(struct pprof *pprof, uint32_t number)
{
	struct tw_proto *proto = &pprof->proto;
	size_t begin = tw_proto_begin(proto, SAMPLE_VALUE);
	for (unsigned i = 0; i < pprof->value_count; i++) {
		uint64_t self = tw_stack_tree_self(&pprof->tree, number, pprof->values[i]);
		tw_proto_varint(proto, self > INT64_MAX ? INT64_MAX : self);
	}
	tw_proto_end(proto, begin);
}

static void put_sample(struct pprof *pprof, uint32_t number)
{
	struct tw_proto *proto = &pprof->proto;
	if (!tw_stack_tree_weighs(&pprof->tree, number))
		return;
	meet_track(pprof, pprof->tree.nodes[number].track);
	size_t begin = tw_proto_begin(proto, SAMPLE);
	put_stack(pprof, number);
	put_values(pprof, number);
	tw_proto_append(proto, pprof->labels.bytes, pprof->labels.length);
	tw_proto_end(proto, begin);
	flush(pprof, FLUSH_AT);
}

/* All stacks for which there was no room. */
static void put_other_sample(struct pprof *pprof, uint64_t location)
{
	struct tw_proto *proto = &pprof->proto;
	size_t begin = tw_proto_begin(proto, SAMPLE), stack = tw_proto_begin(proto, SAMPLE_LOCATION_ID);
	tw_proto_varint(proto, location);
	tw_proto_end(proto, stack);
	put_values(pprof, TREE_OTHER);
	tw_proto_end(proto, begin);
}

/* The function of all stacks for which there was no room. Returns the number of its location. */
static uint64_t put_other(struct pprof *pprof)
{
	struct tw_proto *proto = &pprof->proto;
	uint64_t number = pprof->tree.frames.count + UINT64_C(1), name = put_text(pprof, "(other)");
	size_t begin = tw_proto_begin(proto, FUNCTION);
	tw_proto_uint(proto, FUNCTION_ID, number);
	tw_proto_uint(proto, FUNCTION_NAME, name);
	tw_proto_end(proto, begin);
	begin = tw_proto_begin(proto, LOCATION);
	tw_proto_uint(proto, LOCATION_ID, number);
	tw_proto_uint(proto, LOCATION_MAPPING_ID, THE_MAPPING);
	size_t line = tw_proto_begin(proto, LOCATION_LINE);
	tw_proto_uint(proto, LINE_FUNCTION_ID, number);
	tw_proto_end(proto, line);
	tw_proto_end(proto, begin);
	return number;
}

/* ---- The file. ---- */

static void put_all(struct pprof *pprof, const uint32_t *order)
{
	const struct tw_stack_tree *tree = &pprof->tree;
	put_text(pprof, ""); /* number 0 */
	pprof->thread = put_text(pprof, "thread");
	pprof->pid = put_text(pprof, "process");
	pprof->track = UINT32_MAX;
	put_types(pprof);
	for (uint32_t i = 0; i < tree->frames.count; i++)
		put_frame(pprof, i);
	uint64_t other = tw_stack_tree_weighs(tree, TREE_OTHER) ? put_other(pprof) : 0;
	put_mapping(pprof);
	if (other)
		put_other_sample(pprof, other);
	for (size_t i = TREE_FIRST; i < tree->count; i++)
		put_sample(pprof, order[i]);
	if (tree->span.day)
		tw_proto_uint(&pprof->proto, TIME_NANOS, tree->span.day);
	if (tree->span.end > tree->span.start && tree->of_slices == TREE_TIME)
		tw_proto_uint(&pprof->proto, DURATION_NANOS, tree->span.end - tree->span.start);
	if (pprof->main_type)
		tw_proto_uint(&pprof->proto, DEFAULT_SAMPLE_TYPE, pprof->main_type);
	flush(pprof, 0);
}

static int open_pprof(struct tw_writer *writer)
{
	struct pprof *pprof = calloc(1, sizeof *pprof);
	writer->state = pprof;
	if (!pprof)
		return tw_writer_fail(writer, TW_ERR_MEMORY, "out of memory");
	pprof->tree.writer = writer;
	pprof->tree.per_thread = true;
	return 0;
}

static int write_pprof(struct tw_writer *writer, const struct tw_reader *reader, const struct tw_batch *batch)
{
	struct pprof *pprof = writer->state;
	return tw_stack_tree_write(&pprof->tree, reader, batch);
}

static int finish_pprof(struct tw_writer *writer)
{
	struct pprof *pprof = writer->state;
	int status = tw_stack_tree_finish(&pprof->tree);
	if (status < 0)
		return status;
	uint32_t *order = tw_stack_tree_order(&pprof->tree);
	bool made = order && make_digits(pprof);
	if (made)
		put_all(pprof, order);
	free(order);
	bool failed = !made || pprof->proto.failed || pprof->labels.failed || pprof->label.failed;
	return failed ? tw_writer_fail(writer, TW_ERR_MEMORY, "out of memory") : 0;
}

static void close_pprof(struct tw_writer *writer)
{
	struct pprof *pprof = writer->state;
	tw_stack_tree_free(&pprof->tree);
	tw_proto_free(&pprof->proto);
	tw_proto_free(&pprof->labels);
	free(pprof->digits);
	tw_text_free(&pprof->label.text);
	free(pprof);
	writer->state = NULL;
}

static const char *const extensions[] = {".pprof", ".pb", NULL};

const struct tw_target tw_target_pprof = {
    .name = "pprof",
    .extensions = extensions,
    .order = TW_ORDER_TRACK,
    .measures = true,
    .no_category = TW_SLICES,
    .no_arguments = TW_SLICES,
    .compression = "*.gz",
    .open = open_pprof,
    .write = write_pprof,
    .finish = finish_pprof,
    .close = close_pprof,
};
