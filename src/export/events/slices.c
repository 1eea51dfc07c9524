/* slices.c - slices of all tracks as begins and ends that nest. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/events/slices.h"

#include "export/untimed.h"

/* Calls the hook for the end that was held back. event: what caused it, or NULL. */
static void report_end(struct tw_slices *slices, const struct tw_event *event)
{
	if (!slices->holds)
		return;
	slices->holds = false;
	slices->held.event = event;
	slices->hooks->end(slices->context, &slices->held);
}

static uint32_t enter(struct tw_calls *calls, const struct tw_frame *caller, uint32_t name)
{
	struct tw_slices *slices = tw_slices_of(calls);
	const struct tw_event rest = {
	    .time = caller[1].begin,
	    .track = calls->track,
	    .name = name,
	    .kind = TW_SLICE_BEGIN,
	};
	report_end(slices, NULL);
	return slices->hooks->begin(slices->context, calls->again ? &rest : slices->event, caller->row);
}

static void leave(struct tw_calls *calls, const struct tw_frame *frame, const struct tw_left_call *call,
                  enum tw_call_end how)
{
	struct tw_slices *slices = tw_slices_of(calls);
	report_end(slices, NULL);
	slices->holds = true;
	slices->held = tw_slice_end_of(calls, frame, frame->begin + call->duration, how, NULL);
}

static const struct tw_call_hooks hooks = {.enter = enter, .leave = leave};

int tw_slices_init(struct tw_slices *slices, struct tw_writer *writer, const struct tw_reader *reader,
                   const struct tw_slice_hooks *own, void *context)
{
	slices->writer = writer;
	slices->hooks = own;
	slices->context = context;
	slices->calls = (struct tw_calls){.hooks = &hooks,
	                                  .budget = &slices->budget,
	                                  .rules.exact = true,
	                                  .rules.splits = true,
	                                  .rules.rounding = reader->traits.rounding,
	                                  .rules.ends_unordered = reader->traits.ends_unordered,
	                                  .name_limit = SIZE_MAX,
	                                  .rules.others_alike = true};
	tw_budget_reset(&slices->budget, tw_memory_limit(reader), 1);
	return tw_calls_init(&slices->calls) ? 0 : TW_ERR_MEMORY;
}

/* Counts what one event has lost: at most one of each. Returns whether it was an end without a begin. */
static bool count_losses(struct tw_slices *slices)
{
	const struct tw_calls *calls = &slices->calls;
	bool exit = calls->counts.exits_without_entry != slices->exits;
	if (exit)
		tw_count_loss(slices->writer, "exit without entry", false);
	if (calls->counts.untimed != slices->untimed)
		tw_count_loss(slices->writer, calls->counts.beyond != slices->beyond ? TW_LOSS_LANE : TW_LOSS_MEMORY,
		              false);
	if (calls->counts.time_backwards != slices->backwards)
		tw_count_loss(slices->writer, "end before begin", true);
	tw_count_losses(slices->writer, "slice that goes on after the end of one around it (split)", true,
	                calls->counts.cut - slices->cut);
	slices->cut = calls->counts.cut;
	slices->exits = calls->counts.exits_without_entry;
	slices->untimed = calls->counts.untimed;
	slices->beyond = calls->counts.beyond;
	slices->backwards = calls->counts.time_backwards;
	return exit;
}

void tw_slices_take_slowly(struct tw_slices *slices, const struct tw_event *event)
{
	const struct tw_call_item item = tw_call_item_of(event);
	struct tw_calls *calls = &slices->calls;
	uint64_t folded = calls->stack->folded;
	tw_calls_take_item(calls, &item);
	bool lost = count_losses(slices) || calls->stack->folded != folded;
	bool own = tw_item_kind(&item) == TW_CALL_END && !lost && slices->held.how == TW_CALL_ENDED;
	report_end(slices, own ? event : NULL);
}

int tw_slices_finish(struct tw_slices *slices)
{
	tw_calls_finish(&slices->calls);
	report_end(slices, NULL);
	count_losses(slices);
	return tw_budget_status(&slices->budget);
}

void tw_slices_free(struct tw_slices *slices)
{
	tw_calls_free(&slices->calls);
}
