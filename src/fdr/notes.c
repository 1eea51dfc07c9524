/* notes.c - what a flight recorder says in its log of itself and of the program. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "fdr/fdr.h"

/* Source: doc/formats/xray-fdr.md, "Logs of the flight recorder": the first buffer may have a gap before it. */
enum { NAME = 16, GAP = 15, RECORD = TW_FDR_METADATA_SIZE, NOTES_MOST = 1 << 20, NOTE_MOST = 1 << 14 };
static const char state_name[NAME] = "trackway.flight", object_name[NAME] = "trackway.object",
		  counts_name[NAME] = "trackway.counts";

bool fdr_is_note(const struct tw_fdr_record *record, size_t payload_have)
{
	return record->kind == TW_FDR_CUSTOM_EVENT && record->payload && payload_have > NAME &&
	       (memcmp(record->payload, state_name, NAME) == 0 || memcmp(record->payload, object_name, NAME) == 0 ||
	        memcmp(record->payload, counts_name, NAME) == 0);
}

bool fdr_flight_state(struct tw_reader *reader, struct fdr_flight_state *state)
{
	/* behind BufferExtents, NewBuffer, WallTime, Pid, NewCPUId and the event's own record */
	enum { NOTE = TW_FDR_HEADER_SIZE + 6 * RECORD, SIZE = 48, STATE_AT = NAME + 9, LOST_AT = NAME + 17, ENDED = 2 };
	const uint8_t *bytes;
	size_t have;
	if (tw_window_view(&reader->window, NOTE, GAP + SIZE, &bytes, &have) < 0 || have < GAP + SIZE)
		return false;
	const uint8_t *note = memcmp(bytes, state_name, NAME) == 0 ? bytes : bytes + GAP;
	if (memcmp(note, state_name, NAME) != 0)
		return false;
	state->ended = tw_load64(note + STATE_AT, false) == ENDED;
	state->lost = tw_load64(note + LOST_AT, false);
	return true;
}

/* ---- Kept for a log that is written from events, which are of the program alone. ---- */

const struct fdr_thread *fdr_notes_thread(const struct fdr_log *log)
{
	for (size_t i = 1; i < log->thread_count; i++)
		if (log->threads[i].thread == 0 && log->threads[i].count)
			return &log->threads[i];
	return NULL;
}

static bool keep(struct tw_text *notes, const struct fdr_item *item)
{
	const uint32_t size = item->record.payload_size;
	if (!fdr_is_note(&item->record, item->payload_have) || item->payload_have < size || size > NOTE_MOST ||
	    notes->length + size > NOTES_MOST)
		return true;
	return tw_text_add(notes, (const char *)&size, sizeof size) &&
	       tw_text_add(notes, (const char *)item->record.payload, size);
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
	return status;
}
