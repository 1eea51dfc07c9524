/* clock.c - times of the file on the trace's clock. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "chrome/chrome.h"

/* Whether an event may be the one that the trace begins with. Behind the first window one comes late, whatever threads
 * are chosen. */
static bool begins_trace(const struct chrome_state *state)
{
	return !state->order.sorter || !state->times.timed ||
	       state->stream.at - state->times.timed_at < CHROME_PIECE + state->order.window;
}

/* Until the first rows are complete it may wrap below 0: then the base is moved. */
uint64_t chrome_on_clock(struct chrome_fill *fill, int64_t ns, bool *fits)
{
	struct chrome_state *state = fill->state;
	if (ns < state->times.earliest && begins_trace(state))
		state->times.earliest = ns;
	if (!state->times.begun && !state->stream.has_start)
		return (uint64_t)ns;
	uint64_t base = state->stream.has_start ? state->stream.start_ns : state->times.base;
	uint64_t length = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	*fits &= ns < 0 ? length <= base : length <= UINT64_MAX - base;
	if (ns < 0)
		return length <= base ? base - length : 0;
	return length <= UINT64_MAX - base ? base + length : UINT64_MAX;
}
