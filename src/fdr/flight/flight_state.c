/* flight_state.c - what a flight recorder says of its log as a whole, and which thread the notes are of. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "fdr/fdr.h"

/* Source: doc/formats/xray-fdr.md, "Logs of the flight recorder": the first buffer may have a gap before it. */
enum { NAME = 16, GAP = 15, RECORD = TW_FDR_METADATA_SIZE };
static const char state_name[NAME] = "trackway.flight", losses_name[NAME] = "trackway.losses";

/* The third note, which logs of before have not. */
static void take_losses(struct fdr_flight_state *state, const uint8_t *note, size_t have)
{
	enum { CHILDREN_AT = NAME + 8, ERROR_AT = NAME + 16, SIZE = NAME + 24 };
	state->lost_in_handlers = state->children = state->error = 0;
	if (have < SIZE || memcmp(note, losses_name, NAME) != 0)
		return;
	state->lost_in_handlers = tw_load64(note + NAME, false);
	state->children = tw_load64(note + CHILDREN_AT, false);
	state->error = tw_load64(note + ERROR_AT, false);
}

bool fdr_flight_state(struct tw_reader *reader, struct fdr_flight_state *state)
{
	/* behind BufferExtents, NewBuffer, WallTime, Pid, NewCPUId and the event's own record */
	enum {
		NOTE = TW_FDR_HEADER_SIZE + 6 * RECORD,
		SIZE = 113,
		STATE_AT = NAME + 9,
		LOST_AT = NAME + 17,
		ENDED = 2
	};
	enum { CLOCKS = 2 * 1024 + 2 * RECORD, LOSSES = 24 + 2 * RECORD }; /* the other notes */
	const uint8_t *bytes;
	size_t have;
	if (tw_window_view(&reader->window, NOTE, GAP + SIZE + CLOCKS + LOSSES, &bytes, &have) < 0 || have < GAP + SIZE)
		return false;
	const uint8_t *note = memcmp(bytes, state_name, NAME) == 0 ? bytes : bytes + GAP;
	if (memcmp(note, state_name, NAME) != 0)
		return false;
	state->ended = tw_load64(note + STATE_AT, false) == ENDED;
	state->lost = tw_load64(note + LOST_AT, false);
	have -= (size_t)(note - bytes);
	fdr_wall_take(&state->wall, note, have);
	enum { LOSSES_AT = SIZE + CLOCKS + RECORD };
	take_losses(state, note + LOSSES_AT, have < LOSSES_AT ? 0 : have - LOSSES_AT);
	return true;
}

const struct fdr_thread *fdr_notes_thread(const struct fdr_log *log)
{
	for (size_t i = 1; i < log->thread_count; i++)
		if (log->threads[i].thread == 0 && log->threads[i].count)
			return &log->threads[i];
	return NULL;
}
