/* walk.c - from record to record, where the sizes of buffers cannot be trusted. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fdr/buffer/finder.h"

/* Whether an event's size must be damaged: its payload holds the beginning of a buffer. What goes beyond the file is
 * wrong anyway: less has to be found there. */
static int judge_event(struct fdr_finder *f, uint64_t at, uint64_t need, enum fdr_stop *why)
{
	uint64_t left = f->size - at, found;
	bool damaged;
	int status;
	if (need <= left) {
		status =
		    fdr_holds_buffer(f->reader, f->window, f->log->header.layout, at + FDR_RECORD, at + need, &damaged);
	} else {
		status = fdr_scan(f, at + FDR_RECORD, f->size, &found);
		damaged = found < f->size;
	}
	if (damaged)
		*why = FDR_STOP_DAMAGE;
	else if (need > left)
		*why = FDR_STOP_END;
	return status;
}

/* Why a walk cannot go past a record, given what its decoder said; FDR_STOP_NOT when it can. */
static int judge_step(struct fdr_finder *f, uint64_t at, int decoded, uint64_t need, const struct tw_fdr_record *record,
                      enum fdr_stop *why)
{
	*why = FDR_STOP_NOT;
	if (decoded == 0)
		*why = FDR_STOP_END;
	else if (decoded < 0 && decoded != TW_ERR_ROOM)
		*why = FDR_STOP_DAMAGE;
	if (*why == FDR_STOP_NOT && record->payload_size)
		return judge_event(f, at, need, why);
	if (decoded == TW_ERR_ROOM)
		*why = FDR_STOP_END;
	return 0;
}

/* A size that was damaged may end inside the next buffer's NewBuffer, whose zeros then look like calls: WallTime gives
 * it away. Goes back to where the NewBuffer begins. */
static int stop_after_swallowed_start(struct fdr_finder *f, struct fdr_walk *walk)
{
	const uint8_t *bytes;
	size_t have;
	int status = tw_window_view(f->window, walk->at - FDR_RECORD, 2 * (size_t)FDR_RECORD, &bytes, &have);
	if (status < 0)
		return tw_fail(f->reader, status, "%s", tw_input_error(f->reader->input));
	if (have > FDR_RECORD && bytes[0] == fdr_first_byte_of(f->log, TW_FDR_NEW_BUFFER) &&
	    fdr_is_wall_time(f->log, bytes + FDR_RECORD, have - FDR_RECORD)) {
		walk->at -= FDR_RECORD;
		walk->why = FDR_STOP_PASSED;
	}
	return 0;
}

/* Whether an event has been decoded that goes beyond a place. */
static bool reaches_over(int decoded, uint64_t need, const struct tw_fdr_record *record, uint64_t left)
{
	return (decoded > 0 || decoded == TW_ERR_ROOM) && record->payload_size && need > left;
}

static void count_on(struct fdr_walk *walk, const struct tw_fdr_record *record)
{
	if (fdr_has_counter(record)) {
		walk->went_back |= record->tsc < walk->tsc && walk->tsc - record->tsc > FDR_COUNTERS_DIFFER;
		walk->tsc = record->tsc;
	} else if (record->kind <= TW_FDR_ENTER_ARGS && walk->tsc) {
		walk->tsc += record->tsc_delta;
	}
}

int fdr_walk_on(struct fdr_finder *f, uint64_t from, uint64_t mark, uint64_t until, struct fdr_walk *walk)
{
	enum { STEP = 4096, FILLED = 2 }; /* as many are none: pages of zeros are what is left of much damage */
	unsigned filled = 0;
	if (f->window->chunk < STEP) /* who hops from border to border reads less */
		f->window->chunk = STEP;
	while (walk->at < until) {
		struct tw_fdr_decoder decoder = {.version = f->log->header.version, .layout = f->log->header.layout};
		struct tw_fdr_record record;
		int status = tw_window_view(f->window, walk->at, FDR_FOREIGN, &decoder.bytes, &decoder.left);
		if (status < 0)
			return tw_fail(f->reader, status, "%s", tw_input_error(f->reader->input));
		if (walk->at != from && (fdr_is_header(f->log, decoder.bytes, decoder.left) ||
		                         fdr_is_foreign(f->log, decoder.bytes, decoder.left))) {
			walk->why = FDR_STOP_START;
			return 0;
		}
		if (decoder.left > f->size - walk->at)
			decoder.left = (size_t)(f->size - walk->at);
		int decoded = tw_fdr_next(&decoder, &record);
		if (reaches_over(decoded, decoder.need, &record, until - walk->at))
			return 0;
		status = judge_step(f, walk->at, decoded, decoder.need, &record, &walk->why);
		if (status < 0)
			return status;
		bool starts = record.kind == TW_FDR_NEW_BUFFER || record.kind == TW_FDR_BUFFER_EXTENTS;
		if (walk->why == FDR_STOP_NOT && starts && walk->at != from)
			walk->why = FDR_STOP_START;
		if (walk->why == FDR_STOP_NOT && record.kind == TW_FDR_WALL_TIME && walk->at > from + FDR_RECORD)
			status = stop_after_swallowed_start(f, walk);
		if (status < 0)
			return status;
		if (walk->why != FDR_STOP_NOT)
			return 0;
		filled = fdr_is_filled(decoder.layout, &record) ? filled + 1 : 0;
		if (filled == FILLED) {
			walk->at -= (FILLED - 1) * TW_FDR_FUNCTION_SIZE;
			walk->why = FDR_STOP_DAMAGE;
			return 0;
		}
		count_on(walk, &record);
		walk->at += decoder.need;
		walk->met_mark |= walk->at == mark;
		if (record.kind == TW_FDR_END_OF_BUFFER && f->log->header.version == 1) {
			walk->why = FDR_STOP_END_OF_BUFFER;
			walk->doubtful = !fdr_may_end(f->log, &record);
			return 0;
		}
	}
	return 0;
}

/* Whether what begins here for certain is a buffer even in the midst of records that could be decoded: function ids may
 * look like NewBuffer and WallTime, but not like a part of a second in the one and the record behind them, or a size
 * before them that may be. by_extents: only that counts. */
static bool begins_buffer(const struct fdr_finder *f, const struct fdr_look *look, uint64_t at, bool by_extents)
{
	enum tw_fdr_layout layout = f->log->header.layout;
	if (look->other)
		return true;
	if (by_extents)
		return look->extents && tw_load64(look->bytes + 1, layout != TW_FDR_LITTLE) <= f->size - at;
	size_t next = (look->extents ? 3 : 2) * (size_t)FDR_RECORD;
	uint8_t first = look->have > next ? look->bytes[next] : 0;
	return first &&
	       tw_load32(look->bytes + next - FDR_RECORD + FDR_WALL_MICROSECONDS, layout != TW_FDR_LITTLE) < 1000000 &&
	       (first == fdr_first_byte_of(f->log, TW_FDR_PID) ||
	        first == fdr_first_byte_of(f->log, TW_FDR_NEW_CPU_ID));
}

int fdr_stop_at_swallowed(struct fdr_finder *f, uint64_t from, uint64_t to, bool by_extents, struct fdr_walk *w)
{
	for (uint64_t at = from, found; at < to; at = found + 1) {
		struct fdr_look look;
		int status = fdr_scan(f, at, to, &found);
		if (status >= 0 && found < to)
			status = fdr_look_at(f, found, &look);
		if (status < 0 || found >= to)
			return status;
		if (begins_buffer(f, &look, found, by_extents)) {
			w->at = found;
			w->why = FDR_STOP_PASSED;
			return 0;
		}
	}
	return 0;
}
