/* parts.c - several data files of a track, as if they were one. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/order.h"
#include "xtrace/layout.h"
#include "xtrace/xtrace.h"

#include <stdlib.h>

/* What is compressed is read through: how much comes of it stands nowhere. */
static int measure(struct tw_reader *reader, struct xtrace_part *part)
{
	struct tw_window window = {0};
	const uint8_t *bytes;
	size_t have;
	int status = tw_input_open_regular(&window.input, part->path);
	while (status >= 0 && !tw_input_seekable(window.input) &&
	       (status = tw_window_view(&window, part->size, 1, &bytes, &have)) >= 0 && have)
		part->size += have;
	if (status >= 0 && tw_input_seekable(window.input))
		part->size = tw_input_size(window.input);
	if (status < 0)
		tw_fail(reader, status, "%s", window.input ? tw_input_error(window.input) : "out of memory");
	tw_window_free(&window);
	tw_input_close(window.input);
	return status < 0 ? status : 0;
}

int xtrace_parts_open(struct xtrace_files *files)
{
	const struct xtrace_track *track = files->track;
	struct xtrace_parts *parts = &files->parts;
	uint64_t begin = 0;
	int status = 0;
	if (!track->more.count)
		return 0;
	parts->items = calloc(track->more.count + 1, sizeof *parts->items);
	if (!parts->items)
		return tw_fail_memory(files->reader);
	parts->count = track->more.count + 1;
	for (size_t i = 0; i < parts->count && status >= 0; i++) {
		struct xtrace_part *part = &parts->items[i];
		*part = (struct xtrace_part){.path = i ? track->more.paths[i - 1] : track->data, .begin = begin};
		status = measure(files->reader, part);
		begin += part->size;
	}
	return status;
}

void xtrace_parts_close(struct xtrace_files *files)
{
	free(files->parts.items);
	files->parts = (struct xtrace_parts){0};
}

const struct xtrace_part *xtrace_parts_at(const struct xtrace_files *files, uint64_t offset)
{
	const struct xtrace_parts *parts = &files->parts;
	if (!parts->count)
		return NULL;
	size_t begun = tw_count_up_to(parts->items, parts->count, TW_KEY(struct xtrace_part, begin), offset);
	return &parts->items[begun ? begun - 1 : 0];
}

/* At 0 or behind a header, with a PCINST, because only that tells a PC. */
int xtrace_parts_start(struct xtrace_files *files, uint8_t *start)
{
	const struct xtrace_reader *state = xtrace_of(files->reader);
	const uint8_t *bytes;
	size_t have;
	int status = tw_window_view(&files->data_window, 0, XTRACE_START + 1, &bytes, &have);
	*start = state->layout.data_start;
	if (status < 0)
		return tw_fail(files->reader, status, "%s", tw_input_error(files->data));
	bool is_known = state->known & TW_XTRACE_KNOWN_START,
	     behind = have > XTRACE_START && !xtrace_is_pcinst(bytes[0]);
	if (!is_known && behind && xtrace_is_pcinst(bytes[XTRACE_START]))
		*start = XTRACE_START;
	return 0;
}

/* Opens a data file in place of the open one. */
static int open_part(struct xtrace_files *files, const struct xtrace_part *part)
{
	struct tw_reader *reader = files->reader;
	struct tw_window *window = &files->data_window;
	size_t chunk = window->chunk;
	tw_window_free(window);
	if (files->own_data)
		tw_input_close(files->data);
	files->own_data = true;
	int status = tw_input_open_regular(&files->data, part->path);
	*window = (struct tw_window){.input = files->data, .chunk = chunk};
	if (status < 0)
		return tw_fail(reader, status, "%s", files->data ? tw_input_error(files->data) : "out of memory");
	files->data_name = tw_input_name(files->data);
	files->parts.now = (size_t)(part - files->parts.items);
	files->parts.begin = part->begin;
	if (files->parts.briefly)
		tw_input_open_briefly(files->data);
	return 0;
}

int xtrace_parts_advance(struct xtrace_files *files, uint64_t *offset)
{
	const struct xtrace_part *part = xtrace_parts_at(files, *offset);
	uint8_t start = 0;
	int status = 0;
	if (!part || part == &files->parts.items[files->parts.now])
		return 0;
	status = open_part(files, part);
	if (status >= 0 && *offset == part->begin)
		status = xtrace_parts_start(files, &start);
	*offset += start;
	return status;
}
