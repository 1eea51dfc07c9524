/* look.c - a first look at the times of all events: when the trace begins, and whether any comes late. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "chrome/chrome.h"

enum { STRETCHES = 32 };

/* A stretch of the file, and the latest time in it. */
struct timed_stretch {
	uint64_t begin;
	int64_t latest;
};

struct order_scan {
	uint64_t window;
	struct timed_stretch stretches[STRETCHES]; /* those that the window reaches over, and some more */
	uint64_t first, count;                     /* number n is stretches[n % STRETCHES] */
	int64_t behind;                            /* the latest time of all that stands a window before, or more */
	int64_t earliest, last;                    /* ts in ns; last: of the last event that has one */
	bool timed;                                /* there was one */
	bool late;
};

/* Forgets the stretches that the window does not reach any more. */
static void leave_behind(struct order_scan *look, uint64_t offset)
{
	for (; look->count; look->count--) {
		const struct timed_stretch *oldest = &look->stretches[look->first % STRETCHES];
		if (offset - oldest->begin < look->window && look->count < STRETCHES)
			return;
		look->behind = oldest->latest > look->behind ? oldest->latest : look->behind;
		look->first++;
	}
}

static void note_latest(struct order_scan *look, uint64_t offset, int64_t ns)
{
	struct timed_stretch *last = &look->stretches[(look->first + look->count - 1) % STRETCHES];
	if (!look->count || offset - last->begin >= look->window / (STRETCHES / 2)) {
		leave_behind(look, offset);
		last = &look->stretches[(look->first + look->count++) % STRETCHES];
		*last = (struct timed_stretch){offset, ns};
	}
	last->latest = ns > last->latest ? ns : last->latest;
}

/* An event without a time of its own has that of the last one. Slices of one time stand the longest first: so one of
 * the same time comes late, too. */
static void note_late(struct order_scan *look, uint64_t offset, int64_t ns, bool slice)
{
	leave_behind(look, offset);
	look->late |= ns < look->behind || (slice && ns == look->behind);
}

static void take(struct order_scan *look, const struct chrome_item *item)
{
	const struct chrome_phase *phase = &chrome_phases[item->lost ? 0 : chrome_phase_number(item)];
	const struct chrome_value *ts = &item->values[CHROME_TS];
	bool needed = phase == &chrome_phases[0] ? !item->lost && ts->type : phase->need & CHROME_HAS_TIME;
	struct chrome_exact_time time;
	bool timed = needed && chrome_micros(ts, &time) && !time.wide;
	look->late |= !item->lost && chrome_is_profile(item); /* they come when all of them are there */
	if (timed) {
		look->last = time.ns;
		look->earliest = !look->timed || time.ns < look->earliest ? time.ns : look->earliest;
		look->timed = true;
	}
	if (look->timed)
		note_late(look, item->offset, look->last, phase->event == TW_SLICE_COMPLETE);
	if (timed)
		note_latest(look, item->offset, look->last);
}

/* The samples of a profile have times of their own. */
static int take_profile(struct tw_reader *again, const struct chrome_item *item)
{
	struct chrome_state *state = again->state;
	struct chrome_piece *piece = state->order.current;
	if (!chrome_is_profile(item))
		return 0;
	chrome_piece_clear(piece);
	return chrome_take(again, piece, item, false);
}

/* The samples at the end of the document, and the earliest of all. */
static int end_samples(struct tw_reader *again, struct order_scan *look)
{
	struct chrome_state *state = again->state;
	chrome_piece_clear(state->order.current);
	int status = chrome_end_document(again, state->order.current) ? 0 : TW_ERR_MEMORY;
	const int64_t earliest = state->times.earliest;
	if (earliest != INT64_MAX && (!look->timed || earliest < look->earliest))
		look->earliest = earliest;
	look->timed |= earliest != INT64_MAX;
	return status;
}

static bool has_samples(const struct chrome_stream *stream)
{
	return stream->parts[CHROME_PART_SAMPLES].length > 0;
}

/* What the reader goes by, when it reads from the beginning. */
static void settle(struct chrome_state *state, const struct order_scan *look, const struct chrome_stream *stream)
{
	struct chrome_times *times = &state->times;
	times->looked = times->begun = true;
	times->base = 0;
	if (!look->timed)
		return;
	times->earliest = look->earliest;
	if (!stream->has_start && look->earliest < 0)
		times->base = -(uint64_t)look->earliest;
	times->last = (stream->has_start ? stream->start_ns : times->base) + (uint64_t)look->earliest;
}

int chrome_look(struct tw_reader *reader)
{
	struct tw_reader *again;
	struct order_scan look = {.window = chrome_window(reader), .behind = INT64_MIN};
	struct chrome_item item;
	int status = tw_open_again(&again, reader);
	struct chrome_stream *stream = status < 0 ? NULL : &((struct chrome_state *)again->state)->stream;
	while (!tw_stops(reader) && status >= 0 && (status = chrome_next(stream, &item)) > 0) {
		take(&look, &item);
		status = take_profile(again, &item);
	}
	bool late = status == 0 && (look.late || (look.timed && has_samples(stream)));
	if (status == 0)
		status = end_samples(again, &look);
	if (tw_stops(reader))
		status = tw_stopped(reader);
	else if (status < 0)
		tw_fail(reader, status, "%s", again ? tw_reader_error(again) : tw_status_text(status));
	else
		settle(reader->state, &look, stream);
	tw_close(again);
	return status < 0 ? status : late;
}
