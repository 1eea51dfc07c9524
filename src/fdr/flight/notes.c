/* notes.c - what a flight recorder says in its log of itself and of the program. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/text/utf8.h"
#include "fdr/state.h"

#include <stdlib.h>

/* Source: doc/formats/xray-fdr.md, "Logs of the flight recorder". */
enum { NAME = 16, NOTES_MOST = 1 << 20, NOTE_MOST = 1 << 14 };
static const char state_name[NAME] = "trackway.flight", object_name[NAME] = "trackway.object",
		  counts_name[NAME] = "trackway.counts", event_name[NAME] = "trackway.event",
		  clocks_name[NAME] = "trackway.clocks", losses_name[NAME] = "trackway.losses";

bool fdr_is_note(const struct tw_fdr_record *record, size_t payload_have)
{
	static const char *const names[] = {state_name, object_name, counts_name, event_name, clocks_name, losses_name};
	bool found = false;
	if (record->kind != TW_FDR_CUSTOM_EVENT || !record->payload || payload_have <= NAME)
		return false;
	for (size_t i = 0; i < sizeof names / sizeof *names && !found; i++)
		found = memcmp(record->payload, names[i], NAME) == 0;
	return found;
}

/* ---- Kept for a log that is written from events, which are of the program alone. ---- */

static bool keep(struct tw_text *notes, const struct fdr_item *item)
{
	const uint32_t size = item->record.payload_size;
	if (!fdr_is_note(&item->record, item->payload_have) || item->payload_have < size || size > NOTE_MOST ||
	    notes->length + size > NOTES_MOST)
		return true;
	return tw_text_add(notes, (const char *)&size, sizeof size) &&
	       tw_text_add(notes, (const char *)item->record.payload, size);
}

/* ---- Names of types: "type name", the number hexadecimal. ---- */

static bool is_digit(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* How many digits the text begins with, a space behind them; 0: it is another. */
static size_t take_type(const char *text, size_t size, uint64_t *type)
{
	size_t at = 0;
	*type = 0;
	for (; at < size && is_digit(text[at]) && *type <= UINT16_MAX; at++)
		*type = *type << 4 | (unsigned)(text[at] <= '9' ? text[at] - '0' : text[at] - 'a' + 10);
	return *type <= UINT16_MAX && at < size && text[at] == ' ' ? at : 0;
}

static bool is_text(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if ((uint8_t)text[i] < ' ')
			return false;
	return size && tw_is_utf8((const uint8_t *)text, size);
}

/* What is no text names nothing. Of two names the first stays: a process gives each number once. */
static bool add_type(struct fdr_log *log, const char *text, size_t size)
{
	uint64_t type;
	uint32_t there;
	const size_t digits = take_type(text, size, &type), behind = digits + 1;
	if (!digits || !is_text(text + behind, size - behind) || tw_map_find(&log->types, type, &there))
		return true;
	there = (uint32_t)log->type_names.length;
	return tw_text_add(&log->type_names, text + behind, size - behind) && tw_text_add(&log->type_names, "", 1) &&
	       tw_map_add(&log->types, type, there);
}

static bool keep_types(struct fdr_log *log)
{
	bool good = true;
	uint32_t size;
	for (size_t at = 0; good && at < log->notes.length; at += size) {
		memcpy(&size, log->notes.bytes + at, sizeof size);
		at += sizeof size;
		const char *note = log->notes.bytes + at;
		if (size > NAME && memcmp(note, event_name, NAME) == 0)
			good = add_type(log, note + NAME, size - NAME);
	}
	return good;
}

const char *fdr_noted_type(const struct fdr_log *log, uint16_t type)
{
	uint32_t at;
	return tw_map_find(&log->types, type, &at) ? log->type_names.bytes + at : NULL;
}

int fdr_seek_types(struct tw_reader *reader)
{
	struct fdr_state *state = reader->state;
	const struct tw_clock clock = reader->clock;
	const bool quiet = reader->reports.quiet;
	struct fdr_log *other = state->log->indexed || state->types_sought ? NULL : calloc(1, sizeof *other);
	state->types_sought = true;
	if (!other)
		return 0;
	reader->reports.quiet = true;
	int status = fdr_read_header(reader, other);
	other->recorded = state->log->recorded;
	if (status >= 0)
		status = fdr_index(reader, other);
	if (status >= 0)
		status = fdr_keep_notes(reader, other);
	if (status >= 0) {
		state->log->types = other->types;
		state->log->type_names = other->type_names;
		other->types = (struct tw_map){0};
		other->type_names = (struct tw_text){0};
	}
	reader->reports.quiet = quiet;
	reader->clock = clock;
	fdr_log_free(other);
	return status;
}

int fdr_keep_notes(struct tw_reader *reader, struct fdr_log *log)
{
	struct fdr_flight_state state;
	struct fdr_cursor cursor;
	struct fdr_item item;
	const bool quiet = reader->reports.quiet;
	int status = 0;
	const struct fdr_thread *thread = fdr_flight_state(reader, &state) ? fdr_notes_thread(log) : NULL;
	if (!thread)
		return 0;
	fdr_cursor_init(&cursor, reader, log, 0);
	reader->reports.quiet = true;
	for (size_t i = 0; i < thread->count && status >= 0; i++) {
		bool kept = true;
		fdr_cursor_enter(&cursor, &log->places[thread->first + i]);
		while (kept && (status = fdr_cursor_next(&cursor, &item)) > 0)
			kept = keep(&log->notes, &item);
		status = kept ? status : tw_fail_memory(reader);
	}
	reader->reports.quiet = quiet;
	fdr_cursor_free(&cursor);
	return status < 0 || keep_types(log) ? status : tw_fail_memory(reader);
}
