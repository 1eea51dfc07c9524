/* chrome_frames.c - stacks of samples: each frame once in "stackFrames", samples have its number as "sf".
 *
 * Source: the "Trace Event Format" document, "Stack frames". A frame has the number of the stack it ends.
 * Frames stand in front of the events, which readers then take one after the other: until the frames are known, the
 * events of a trace of samples wait in a temporary file. Without one, and where samples come in a trace that is none of
 * samples, frames stand behind the events. Beside what the document has, a frame tells "file", "line" and
 * "address". */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/temporary.h"
#include "core/text/stack_text.h"
#include "export/chrome/chrome.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool has_read(const struct chrome *chrome)
{
	return chrome->source.read_frames && chrome->source.read_frames->length;
}

void tw_chrome_frames_begin(struct chrome *chrome, const struct tw_reader *reader)
{
	struct chrome_stacks *frames = &chrome->frames;
	if (reader->traits.sampled && !chrome->source.document)
		frames->aside = tw_temporary_open(reader->options.temporary_directory);
	if (frames->aside >= 0)
		tw_output_turn_aside(&chrome->writer->out, &frames->aside);
}

/* The number of a frame; beside frames that were read a text that these do not have. */
static void add_number(struct chrome *chrome, uint32_t number)
{
	struct tw_line *line = &chrome->line;
	tw_line_text(line, chrome->source.read_frames ? "\"trackway " : "");
	tw_line_u64(line, number);
	tw_line_text(line, chrome->source.read_frames ? "\"" : "");
}

/* Notes a stack and those that it came from. */
static bool need(struct chrome *chrome, uint32_t stack)
{
	struct chrome_stacks *frames = &chrome->frames;
	if (!tw_grow(&frames->needed, &frames->room, stack + (size_t)1, sizeof *frames->needed))
		return false;
	for (; stack && !frames->needed[stack]; stack = tw_dictionary_stack(chrome->dictionary, stack)->caller) {
		frames->needed[stack] = true;
		frames->last = stack > frames->last ? stack : frames->last;
	}
	return true;
}

/* ,"stack":["main","read"]: the outermost first. */
static void add_names(struct chrome *chrome, uint32_t stack)
{
	enum { DEPTH = 256 };
	uint32_t path[DEPTH], count = 0;
	struct tw_rendered piece = {0};
	const struct tw_stack *frame = tw_dictionary_stack(chrome->dictionary, stack);
	for (; frame->depth && count < DEPTH; frame = tw_dictionary_stack(chrome->dictionary, frame->caller))
		path[count++] = tw_dictionary_location(chrome->dictionary, frame->location)->name;
	tw_count_losses(chrome->writer, "long stack", true, frame->depth > 0);
	for (uint32_t i = count; i-- > 0;) {
		tw_line_text(&chrome->line, i == count - 1 ? ",\"stack\":[" : ",");
		tw_names_json(&chrome->line, tw_dictionary_name(chrome->dictionary, path[i]), &piece);
	}
	tw_line_text(&chrome->line, count ? "]" : "");
}

void tw_chrome_add_frame(struct chrome *chrome, uint32_t stack)
{
	if (!stack)
		return;
	if (chrome->source.document && !chrome->source.apart) { /* its frames are in the document */
		add_names(chrome, stack);
		return;
	}
	chrome->line.failed |= !need(chrome, stack);
	tw_line_text(&chrome->line, ",\"sf\":");
	add_number(chrome, stack);
}

static void add_place(struct tw_line *line, const struct tw_source *source)
{
	if (!source->file)
		return;
	tw_line_text(line, ",\"file\":");
	tw_line_string(line, source->file, source->length);
	if (!source->line)
		return;
	tw_line_text(line, ",\"line\":");
	tw_line_u64(line, source->line);
}

static void put_frame(struct chrome *chrome, uint32_t number, bool first)
{
	struct tw_line *line = &chrome->line;
	struct tw_rendered piece = {0};
	const struct tw_stack *stack = tw_dictionary_stack(chrome->dictionary, number);
	const struct tw_location *location = tw_dictionary_location(chrome->dictionary, stack->location);
	const struct tw_source source = tw_source_of_location(chrome->dictionary, stack->location);
	tw_line_clear(line);
	tw_line_text(line, first ? "\n" : ",\n");
	tw_line_text(line, chrome->source.read_frames ? "" : "\"");
	add_number(chrome, number);
	tw_line_text(line, chrome->source.read_frames ? ":{\"name\":" : "\":{\"name\":");
	tw_names_json(line, tw_dictionary_name(chrome->dictionary, location->name), &piece);
	if (stack->caller) {
		tw_line_text(line, ",\"parent\":");
		add_number(chrome, stack->caller);
	}
	add_place(line, &source);
	if (location->address) {
		tw_line_text(line, ",\"address\":");
		tw_line_exact_u64(line, location->address);
	}
	tw_line_text(line, "}");
	tw_put(&chrome->writer->out, line->text.bytes, line->text.length);
	tw_count_losses(chrome->writer, "long name", true, piece.cut);
}

/* Puts what is inside of an object of frames. Returns whether there is some. */
static bool put_read(struct chrome *chrome)
{
	const struct tw_text *read = chrome->source.read_frames;
	const char *begin = has_read(chrome) ? memchr(read->bytes, '{', read->length) : NULL;
	const char *end = begin ? memrchr(read->bytes, '}', read->length) : NULL;
	if (!end)
		return false;
	tw_put(&chrome->writer->out, begin + 1, (size_t)(end - begin - 1));
	return memchr(begin, ':', (size_t)(end - begin));
}

static void put_frames(struct chrome *chrome)
{
	const struct chrome_stacks *frames = &chrome->frames;
	tw_put_text(&chrome->writer->out, "\"stackFrames\":{");
	bool first = !put_read(chrome);
	for (uint32_t i = 1; frames->last && i <= frames->last; i++)
		if (frames->needed[i]) {
			put_frame(chrome, i, first);
			first = false;
		}
	tw_put_text(&chrome->writer->out, "}");
}

void tw_chrome_frames_end(struct chrome *chrome)
{
	struct tw_output *out = &chrome->writer->out;
	if (chrome->frames.aside >= 0) {
		tw_output_turn_aside(out, NULL);
		if (chrome->frames.last) {
			put_frames(chrome);
			tw_put_text(out, ",");
		}
		tw_put_text(out, "\"traceEvents\":[");
		tw_output_put_back(out, chrome->frames.aside);
		tw_put_text(out, "\n]");
	} else {
		tw_put_text(out, "\n]");
		if (chrome->frames.last || has_read(chrome)) {
			tw_put_text(out, ",");
			put_frames(chrome);
		}
	}
}

void tw_chrome_frames_free(struct chrome *chrome)
{
	chrome->writer->out.aside = NULL;
	if (chrome->frames.aside >= 0)
		close(chrome->frames.aside);
	free(chrome->frames.needed);
}
