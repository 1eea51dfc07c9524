/* windows.c - the parts of a thread that are recorded: they begin and end between two blocks. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/windows/windows.h"

#include "collect/windows/detail.h"
#include "collect/windows/regions.h"

/* The window itself begins: it gets into the list. */
static void mark(const struct windowed *windowed, struct collect_board *board, struct collect_window *window,
                 uint64_t number, uint64_t count)
{
	const struct region region = {.window = window,
	                              .number = number,
	                              .thread = windowed->stream->number,
	                              .from = count,
	                              .warm_up = count - windowed->part->warm_up_at,
	                              .snapshot = stream_last_snapshot(windowed->stream),
	                              .warm_snapshot = windowed->part->warm_up_snapshot};
	atomic_store(&window->begun, 1);
	stream_mark_global(windowed->stream, board);
	int32_t none = 0, error = windowed->stream->slot ? regions_add(board, &region) : 0;
	if (error)
		atomic_compare_exchange_strong(&board->error, &none, error);
}

static void take_step(const struct windowed *windowed, struct collect_board *board, enum plan_step step,
                      struct collect_window *window, uint64_t number, uint64_t count)
{
	switch (step) {
	case PLAN_GO_ON:
		return;
	case PLAN_WANT:
		detail_want();
		return;
	case PLAN_RELEASE:
		detail_release();
		return;
	case PLAN_BEGIN:
		windowed->begin(windowed->whose);
		return;
	case PLAN_WARM:
		windowed->snapshot(windowed->whose);
		windowed->part->warm_up_at = count;
		windowed->part->warm_up_snapshot = stream_last_snapshot(windowed->stream);
		return;
	case PLAN_MARK:
		if (count > windowed->part->warm_up_at)
			windowed->snapshot(windowed->whose);
		mark(windowed, board, window, number, count);
		return;
	case PLAN_END:
		windowed->end(windowed->whose);
		return;
	}
}

void windows_follow(const struct windowed *windowed, struct collect_board *board, bool full)
{
	enum plan_step step;
	do {
		struct collect_window *window;
		uint64_t number, count = windowed->part->passed + windowed->stream->count;
		step = plan_step(&windowed->part->plan, &board->windows, count, full, &window, &number);
		take_step(windowed, board, step, window, number, count);
	} while (step != PLAN_GO_ON);
}
