/* files.c - the two files of a track: opening them, and finding how they are laid out. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "xtrace/layout.h"
#include "xtrace/xtrace.h"

#include <stdarg.h>
#include <stdio.h>

void xtrace_report(const struct xtrace_files *files, bool snapshots, enum xtrace_rule rule, uint64_t record,
                   uint64_t at, const char *format, ...)
{
	struct tw_reader *reader = files->reader;
	char text[TW_ERROR_TEXT];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	const struct xtrace_part *part = snapshots ? NULL : xtrace_parts_at(files, record);
	reader->reports.file = snapshots ? files->snapshots_name : files->data_name;
	if (part) {
		reader->reports.file = part->path;
		record -= part->begin;
		at -= part->begin;
	}
	tw_report(reader, &xtrace_rules[rule], record, at, 0, "%s", text);
	reader->reports.file = NULL;
}

uint32_t xtrace_track_number(struct tw_reader *reader, const struct xtrace_track *track)
{
	const struct tw_track thread = {
	    .thread = track->name.number,
	    .kind = track->core ? TW_TRACK_CPU : TW_TRACK_THREAD,
	};
	return tw_dictionary_add_track(reader->dictionary, &thread);
}

struct xtrace_names xtrace_names_of(const struct tw_reader *reader, const struct xtrace_track *track)
{
	const struct tw_thread_namers *namers = reader->options.thread_namers;
	struct xtrace_names names = {0};
	if (namers && !track->core)
		names.namer = namers->find(namers->context, track->name.number, &names.program);
	return names.namer ? names : (struct xtrace_names){.namer = reader->options.namer};
}

size_t xtrace_member(const struct tw_reader *reader, uint32_t track)
{
	const struct xtrace_set *set = &xtrace_of(reader)->set;
	const struct tw_track *wanted = tw_dictionary_track(reader->dictionary, track);
	for (size_t i = 0; i < set->count; i++)
		if (set->tracks[i].name.number == wanted->thread &&
		    set->tracks[i].core == (wanted->kind == TW_TRACK_CPU))
			return i;
	return 0;
}

/* ---- The layout. ---- */

enum {
	HEADER_MOST = 32,
	INDEX_AT = 8,          /* of a snapshot: where its index stands */
	GUESS = 2 * 74656 + 32 /* bytes of two of the largest snapshots and a header */
};

/* Whether a file of this size may be a header and no more. */
static bool is_header(size_t size)
{
	return size == 0 || size == 19 || size == 20 || size == 24 || size == HEADER_MOST;
}

/* Finds the layout of a file's first bytes, and reads its header, which may be all that is there. */
static void find_header(struct xtrace_files *files, const uint8_t *bytes, size_t have, uint64_t size, unsigned known)
{
	struct tw_xtrace_layout alone = files->layout;
	files->has_layout =
	    tw_xtrace_layout_guess(bytes, have, size, known, &files->layout) == 0 && have >= files->layout.header_size;
	alone.header_size = is_header(have) ? (uint8_t)have : 0;
	const struct tw_xtrace_layout *layout = files->has_layout ? &files->layout : &alone;
	files->head_size = layout->header_size;
	files->has_header = layout->header_size > 0;
	tw_xtrace_header_decode(bytes, layout, &files->header);
}

static int find_layout(struct xtrace_files *files, unsigned known)
{
	const uint8_t *bytes;
	size_t have;
	int status = tw_window_view(&files->snapshot_window, 0, GUESS, &bytes, &have);
	if (status < 0)
		return status;
	find_header(files, bytes, have, tw_input_seekable(files->snapshots) ? tw_input_size(files->snapshots) : have,
	            known);
	if (files->has_layout)
		return 0;
	if (have > HEADER_MOST) /* otherwise there is no snapshot yet */
		xtrace_report(files, true, XTRACE_SNAPSHOT_LAYOUT, 0, 0,
		              "%zu bytes, and no layout gives them a vector length where snapshots end", have);
	else if (!is_header(have))
		xtrace_report(files, true, XTRACE_SNAPSHOT_CUT, 0, have,
		              "The file ends inside its header: %zu bytes are there.", have);
	return 0;
}

/* An index that is less than the offset of the first token is none: with one snapshot alone nothing else tells whether
 * it counts instructions. */
static int judge_index(struct xtrace_files *files, unsigned known)
{
	const uint8_t *bytes;
	size_t have, at = files->layout.header_size + INDEX_AT;
	int status = tw_window_view(&files->snapshot_window, 0, at + 8, &bytes, &have);
	if (status >= 0 && have >= at + 8 && !(known & TW_XTRACE_KNOWN_INDEX) &&
	    tw_load64(bytes + at, false) < files->layout.data_start)
		files->layout.counts_index = true;
	return status;
}

/* ---- Opening. ---- */

static int open_input(struct tw_reader *reader, struct tw_input **input, const char *path)
{
	int status = tw_input_open_regular(input, path);
	if (status < 0)
		return tw_fail(reader, status, "%s", *input ? tw_input_error(*input) : "out of memory");
	return 0;
}

/* Finds which of the two files bytes without a name are. A pipe is looked at through the reader's window, which is
 * handed on. */
static int take_nameless(struct xtrace_files *files, unsigned known)
{
	struct tw_window *window = &files->reader->window;
	struct tw_xtrace_layout layout = files->layout;
	const uint8_t *bytes;
	size_t have;
	int status = tw_window_view(window, 0, GUESS, &bytes, &have);
	if (status < 0)
		return status;
	bool tokens =
	    have && (xtrace_is_pcinst(bytes[0]) || (have > XTRACE_START && xtrace_is_pcinst(bytes[XTRACE_START])));
	if (!tokens && tw_xtrace_layout_guess(bytes, have, have, known, &layout) == 0) {
		files->snapshots = window->input;
		files->snapshot_window = *window;
	} else {
		files->data = window->input;
		files->data_window = *window;
	}
	*window = (struct tw_window){.input = window->input};
	return 0;
}

/* Whether an input can be read from its beginning: what is compressed only once. */
static bool is_unread(const struct tw_input *input)
{
	return tw_input_seekable(input) || tw_input_size(input) == 0;
}

static int open_named(struct xtrace_files *files)
{
	struct tw_reader *reader = files->reader;
	const struct xtrace_track *track = files->track;
	bool first = track == xtrace_of(reader)->set.tracks && track->data && reader->input && is_unread(reader->input);
	int status = 0;
	files->own_data = !first;
	if (first)
		files->data = reader->input;
	else if (track->data)
		status = open_input(reader, &files->data, track->data);
	if (status >= 0 && track->snapshots)
		status = open_input(reader, &files->snapshots, track->snapshots);
	files->data_window = (struct tw_window){.input = files->data};
	files->snapshot_window = (struct tw_window){.input = files->snapshots};
	return status;
}

static int find_layouts(struct xtrace_files *files, unsigned known)
{
	int status = 0;
	files->data_name = files->data ? tw_input_name(files->data) : "";
	files->snapshots_name = files->snapshots ? tw_input_name(files->snapshots) : "";
	if (files->snapshots)
		status = find_layout(files, known);
	if (status < 0)
		return tw_fail(files->reader, status, "%s", tw_input_error(files->snapshots));
	if (files->data)
		status = xtrace_parts_start(files, &files->layout.data_start);
	if (status < 0 || !files->data || !files->has_layout)
		return status;
	status = judge_index(files, known);
	return status < 0 ? tw_fail(files->reader, status, "%s", tw_input_error(files->snapshots)) : 0;
}

int xtrace_files_open(struct xtrace_files *files, struct tw_reader *reader, const struct xtrace_track *track)
{
	const struct xtrace_reader *state = xtrace_of(reader);
	bool named = track->data || track->snapshots;
	*files = (struct xtrace_files){.reader = reader, .track = track, .layout = state->layout};
	int status = named ? open_named(files) : take_nameless(files, state->known);
	if (status < 0 && !named)
		return tw_fail(reader, status, "%s", tw_input_error(reader->input));
	status = status < 0 ? status : find_layouts(files, state->known);
	return status < 0 ? status : xtrace_parts_open(files);
}

bool xtrace_is_of_core(const char *path, const struct tw_xtrace_layout *layout, unsigned known)
{
	struct xtrace_files files = {.layout = *layout};
	struct tw_window window = {0};
	const uint8_t *bytes;
	size_t have;
	if (tw_input_open_regular(&window.input, path) >= 0 && tw_window_view(&window, 0, GUESS, &bytes, &have) >= 0)
		find_header(&files, bytes, have, tw_input_seekable(window.input) ? tw_input_size(window.input) : have,
		            known);
	tw_window_free(&window);
	tw_input_close(window.input);
	return files.has_header && files.header.stream;
}

void xtrace_files_thin(struct xtrace_files *files)
{
	enum { CHUNK = 1 << 14, FEW = 16 /* tracks whose files can all be open */ };
	if (!files->data)
		return;
	tw_input_close(files->snapshots);
	tw_window_free(&files->snapshot_window);
	files->snapshots = NULL;
	files->snapshots_name = "";
	if (tw_input_seekable(files->data)) {
		tw_window_free(&files->data_window);
		files->data_window = (struct tw_window){.input = files->data};
	}
	files->data_window.chunk = CHUNK;
	files->parts.briefly = xtrace_of(files->reader)->set.count > FEW;
	if (files->own_data && files->parts.briefly)
		tw_input_open_briefly(files->data);
}

void xtrace_files_close(struct xtrace_files *files)
{
	tw_window_free(&files->data_window);
	tw_window_free(&files->snapshot_window);
	if (files->track && (files->track->data || files->track->snapshots)) {
		tw_input_close(files->snapshots);
		if (files->own_data)
			tw_input_close(files->data);
	}
	xtrace_parts_close(files);
	*files = (struct xtrace_files){0};
}
