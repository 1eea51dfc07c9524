/* format.c - xtrace as a format: finding it and opening it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/filter/filter.h"
#include "xtrace/layout.h"
#include "xtrace/xtrace.h"

#include <stdlib.h>

const char xtrace_layout_wanted[] = "no layout of xtrace: header=0|19|20|24|32, za=yes|no, bits=128 to 2048, "
				    "index=offset|count, start=0 to 255, zva=4 to 2048, with commas between them";

/* The files stay open as long as the reader; what is read of them is opened by each job for itself. */
static int open_first(struct tw_reader *reader)
{
	const struct xtrace_track *track = xtrace_of(reader)->set.tracks;
	int status = tw_input_open_regular(&reader->input, track->data ? track->data : track->snapshots);
	if (status < 0)
		return tw_fail(reader, status, "%s", reader->input ? tw_input_error(reader->input) : "out of memory");
	reader->window = (struct tw_window){.input = reader->input};
	return 0;
}

static int open_set(struct tw_reader *reader)
{
	struct xtrace_set *set = &xtrace_of(reader)->set;
	if (reader->path) {
		int status = xtrace_set_open(reader, reader->path, set);
		return status < 0 || reader->input ? status : open_first(reader);
	}
	set->tracks = calloc(1, sizeof *set->tracks);
	set->count = 1;
	return set->tracks ? 0 : tw_fail_memory(reader);
}

/* There is no clock: an instruction is a tick, and shown as a nanosecond. */
static int xtrace_open(struct tw_reader *reader)
{
	struct xtrace_reader *state = reader->state = calloc(1, sizeof *state);
	if (!state)
		return tw_fail_memory(reader);
	TW_COPY_OPTIONS(&state->options, reader->options.xtrace, struct tw_xtrace_read_options);
	const char *layout = state->options.layout;
	reader->clock.instructions = true;
	if (reader->options.order == TW_ORDER_FILE && tw_filter_needs_time(&reader->options))
		reader->options.order = TW_ORDER_TRACK;
	if (layout && tw_xtrace_layout_parse(layout, &state->layout, &state->known) < 0)
		return tw_fail(reader, TW_ERR_VALUE, "%s: %s", layout, xtrace_layout_wanted);
	return open_set(reader);
}

static void xtrace_close(struct tw_reader *reader)
{
	struct xtrace_reader *state = xtrace_of(reader);
	xtrace_events_free(state->events);
	xtrace_records_free(state->records);
	xtrace_survey_free(state->survey);
	xtrace_set_free(&state->set);
	free(state);
}

/* ---- Probing: bytes without a name. ---- */

static bool is_stream(const uint8_t *bytes, size_t size)
{
	enum { LEAST = 2 };
	struct tw_xtrace_token token;
	unsigned count = 0;
	int status;
	if (size == 0 || (bytes[0] & XTRACE_INST_BITS) != XTRACE_PCINST)
		return false;
	while ((status = tw_xtrace_decode(bytes, size, &token)) > 0) {
		bytes += token.size;
		size -= token.size;
		count++;
	}
	return status == 0 ? count > 0 : count >= LEAST && status != TW_ERR_FORMAT;
}

/* A snapshot file has nothing at its beginning that tells it. */
static int probe(const uint8_t *bytes, size_t size)
{
	enum { START = 24, SURE = 40, LESS_SURE = 30 };
	if (is_stream(bytes, size))
		return SURE;
	return size > START && is_stream(bytes + START, size - START) ? LESS_SURE : 0;
}

const struct tw_format tw_format_xtrace = {
    .name = "xtrace",
    .title = "xtrace (AArch64 instructions)",
    .rules = xtrace_rules,
    .rule_count = XTRACE_RULES,
    .traits =
	{
	    .copy_order = TW_ORDER_TRACK,
	    .shared_clock = true,
	},
    .files =
	{
	    .probe = probe,
	    .claims = xtrace_claims,
	    .key = xtrace_key,
	    .member = xtrace_member,
	},
    .reading =
	{
	    .open = xtrace_open,
	    .read = xtrace_read,
	    .read_record = xtrace_read_record,
	    .close = xtrace_close,
	},
    .survey =
	{
	    .info = xtrace_info,
	},
    .rewriting =
	{
	    .repair = xtrace_repair,
	    .rewrite_set = xtrace_rewrite_set,
	},
};
