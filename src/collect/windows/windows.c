/* windows.c - the parts of a thread that are recorded: they begin and end between two blocks. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/windows/windows.h"

#include "collect/recording.h"
#include "collect/windows/detail.h"
#include "collect/windows/regions.h"

/* The window itself begins: it gets into the list. */
static void mark(struct guest_thread *thread, struct collect_board *board, struct collect_window *window,
                 uint64_t number, uint64_t count)
{
	const struct region region = {.window = window,
	                              .number = number,
	                              .thread = thread->stream.number,
	                              .from = count,
	                              .warm_up = count - thread->warm_up_at,
	                              .snapshot = stream_last_snapshot(&thread->stream),
	                              .warm_snapshot = thread->warm_up_snapshot};
	atomic_store(&window->begun, 1);
	stream_mark_global(&thread->stream, board);
	int32_t none = 0, error = thread->stream.slot ? regions_add(board, &region) : 0;
	if (error)
		atomic_compare_exchange_strong(&board->error, &none, error);
}

static void take_step(struct guest_thread *thread, struct collect_board *board, enum plan_step step,
                      struct collect_window *window, uint64_t number, uint64_t count, bool ordered)
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
		recording_begin(thread, board, ordered);
		return;
	case PLAN_WARM:
		stream_snapshot(&thread->stream, board, &thread->machine);
		thread->warm_up_at = count;
		thread->warm_up_snapshot = stream_last_snapshot(&thread->stream);
		return;
	case PLAN_MARK:
		if (count > thread->warm_up_at)
			stream_snapshot(&thread->stream, board, &thread->machine);
		mark(thread, board, window, number, count);
		return;
	case PLAN_END:
		thread->recording = false;
		return;
	}
}

void windows_follow(struct guest_thread *thread, struct collect_board *board, bool full, bool ordered)
{
	enum plan_step step;
	do {
		struct collect_window *window;
		uint64_t number, count = thread->passed + thread->stream.count;
		step = plan_step(&thread->plan, &board->windows, count, full, &window, &number);
		take_step(thread, board, step, window, number, count, ordered);
	} while (step != PLAN_GO_ON);
}
