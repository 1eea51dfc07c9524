/* callgrind.c - slices and samples to callgrind's profile format, which callgrind_annotate and KCachegrind read.
 *
 * Source: valgrind's manual, "Callgrind Format Specification". What is ours to decide:
 * - Stacks of all threads together. A function that calls itself, over others or not, is "name'2" inside itself,
 *   "name'3" in that, and so on: so no call is in a cycle, and inclusive costs add up.
 * - Costs of a slice stand at the line of its function, those of a sample at the line where it was taken; a call stands
 *   at the line of its caller. Nobody counts the calls of samples: they are one, for readers take none for an error.
 *   What is not known is line 0, and file "???", as valgrind has them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/profiles/callgrind.h"

#include "base/memory/sum.h"
#include "base/text/utf8.h"
#include "export/targets.h"
#include "export/text/labels.h"

#include <trackway/version.h>

#include <stdlib.h>

/* Names of events: letters, digits, underscore; instructions as valgrind calls them. Calls are not among them: they are
 * counted where they are made. */
static const char *const events[TREE_VALUES] = {
    [TREE_TIME] = "ns",      [TREE_SAMPLES] = "samples",     [TREE_CPU] = "cpu_ns",  [TREE_INSTRUCTIONS] = "Ir",
    [TREE_WALL] = "wall_ns", [TREE_ALLOCATIONS] = "objects", [TREE_BYTES] = "bytes",
};

/* The longest line of numbers, with a word. */
enum { LINE_ROOM = (TREE_VALUES + 1) * (TW_DIGITS_MAX + 1) + 32 };

/* Writes the character at the front; returns its bytes. What ends a name in this format, or would be read as the number
 * of one, is a blank. */
static size_t put_character(struct tw_output *out, const char *bytes, size_t size)
{
	char escape[TW_ESCAPE_ROOM];
	size_t length = tw_utf8_length(bytes, size);
	uint32_t code = length ? tw_utf8_code(bytes, length) : ' ';
	if (!length)
		tw_put_text(out, "\xef\xbf\xbd");
	else if (length == 1)
		tw_put_char(out, tw_is_obeyed(code) ? ' ' : *bytes);
	else if (tw_is_obeyed(code))
		tw_put(out, escape, tw_escape_character(escape, bytes, length));
	else
		tw_put(out, bytes, length);
	return length ? length : 1;
}

static void put_clean(struct callgrind *callgrind)
{
	const struct tw_text *text = &callgrind->line.text;
	for (size_t i = 0; i < text->length;)
		i += put_character(&callgrind->tree.writer->out, text->bytes + i, text->length - i);
	tw_line_clear(&callgrind->line);
}

/* "fl=file" and "fn=(1) name", or "cfi=" and "cfn=". */
static void put_function(struct callgrind *callgrind, const char *file, const char *word, uint32_t number)
{
	const struct callgrind_function *function = &callgrind->functions[number];
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
			tw_label_address(&callgrind->line, place.address);
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
	char *begin = tw_output_room(out, LINE_ROOM), *p = tw_digits(begin, line);
	for (unsigned i = 0; i < callgrind->value_count; i++) {
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
	char *begin = tw_output_room(out, LINE_ROOM), *p = put_here(begin, "cfi=???\ncfn=(");
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

static void put_calls(struct tw_output *out, const struct callgrind_cost *cost)
{
	char *begin = tw_output_room(out, LINE_ROOM), *p = put_here(begin, "calls=");
	p = tw_digits(p, cost->calls ? cost->calls : 1);
	*p++ = ' ';
	p = tw_digits(p, cost->callee_line);
	*p++ = '\n';
	tw_output_took(out, (size_t)(p - begin));
}

static void put_costs(struct callgrind *callgrind, uint32_t number)
{
	const struct callgrind_share *share = tw_callgrind_share(callgrind, number);
	tw_put_char(&callgrind->tree.writer->out, '\n');
	put_function(callgrind, "fl=", "fn", number);
	for (uint32_t i = callgrind->functions[number].costs; i; i = share->costs[i - 1].before) {
		const struct callgrind_cost *cost = &share->costs[i - 1];
		if (cost->callee != UINT32_MAX) {
			put_callee(callgrind, cost->callee);
			put_calls(&callgrind->tree.writer->out, cost);
		}
		put_amounts(callgrind, cost->line, tw_callgrind_amounts(share, i - 1));
	}
}

static void put_words(struct callgrind *callgrind)
{
	struct tw_output *out = &callgrind->tree.writer->out;
	tw_putf(out, "# callgrind format\nversion: 1\ncreator: trackway %s\npositions: line\nevents:", tw_version());
	for (unsigned i = 0; i < callgrind->value_count; i++)
		tw_putf(out, " %s", events[callgrind->values[i]]);
	tw_put_text(out, callgrind->value_count ? "\n" : " ns\n");
}

/* The sum of all that the functions cost by themselves. */
static void put_totals(struct callgrind *callgrind)
{
	struct tw_output *out = &callgrind->tree.writer->out;
	tw_put_text(out, "\ntotals:");
	for (unsigned i = 0; i < callgrind->value_count; i++) {
		unsigned value = callgrind->values[i];
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
	for (unsigned i = 0; i < callgrind->value_count; i++)
		amounts[i] = tw_stack_tree_self(&callgrind->tree, TREE_OTHER, callgrind->values[i]);
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

static void choose_values(struct callgrind *callgrind)
{
	for (unsigned i = 0; i < TREE_VALUES; i++)
		if (events[i] && tw_stack_tree_has(&callgrind->tree, i))
			callgrind->values[callgrind->value_count++] = i;
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
	choose_values(callgrind);
	bool made = tw_callgrind_make_costs(callgrind);
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
	tw_callgrind_free_costs(callgrind);
	free(callgrind->named);
	tw_text_free(&callgrind->line.text);
	free(callgrind);
	writer->state = NULL;
}

static const char *const extensions[] = {".callgrind", NULL};

const struct tw_target tw_target_callgrind = {
    .name = "callgrind",
    .extensions = extensions,
    .order = TW_ORDER_TRACK,
    .measures = true,
    .no_category = TW_SLICES,
    .no_arguments = TW_SLICES,
    .open = open_callgrind,
    .write = write_callgrind,
    .finish = finish_callgrind,
    .close = close_callgrind,
};
