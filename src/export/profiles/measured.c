/* measured.c - what profiles of threads have in common. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/profiles/measured.h"

#include "base/bytes/temporary.h"
#include "export/untimed.h"

#include <errno.h>
#include <string.h>

const char *const tw_measure_words[MEASURES] = {
#define X(name, word) [name] = (word),
    TW_MEASURE_LIST(X)
#undef X
};

void tw_measured_init(struct tw_measured *measured, struct tw_writer *writer, const struct tw_measured_hooks *hooks,
                      void *context)
{
	measured->writer = writer;
	measured->hooks = hooks;
	measured->context = context;
	measured->spool.fd = -1;
}

static int begin(struct tw_measured *measured, const struct tw_reader *reader, size_t frame_cost)
{
	measured->begun = true;
	measured->start = tw_reader_clock(reader)->start_ns;
	measured->day = tw_time_of_day(tw_reader_clock(reader), measured->start);
	measured->instructions = tw_reader_clock(reader)->instructions;
	measured->spool.directory = reader->options.temporary_directory;
	measured->spool.memory_limit = tw_memory_limit(reader) / SPOOL_SHARE;
	measured->frames.limit = tw_memory_limit(reader) / frame_cost;
	tw_budget_reset(&measured->budget, tw_memory_limit(reader), 1);
	measured->calls = (struct tw_calls){.hooks = &measured->hooks->calls,
	                                    .budget = &measured->budget,
	                                    .rules.flat = true,
	                                    .rules.splits = true,
	                                    .rules.rounding = reader->traits.rounding,
	                                    .rules.ends_unordered = reader->traits.ends_unordered,
	                                    .name_limit = SIZE_MAX,
	                                    .rules.others_alike = true};
	return tw_calls_init(&measured->calls) ? 0 : TW_ERR_MEMORY;
}

int tw_measured_meet(struct tw_measured *measured, const struct tw_reader *reader, const struct tw_batch *batch,
                     size_t frame_cost)
{
	measured->dictionary = tw_reader_dictionary(reader);
	measured->batch = batch;
	return measured->begun ? 0 : begin(measured, reader, frame_cost);
}

void tw_measured_sample(struct tw_measured *measured, const struct tw_event *event)
{
	static const enum tw_measure measures[] = {
	    [0] = MEASURE_TICKS, /* TW_STACK_SAMPLE */
	    [TW_CPU_SAMPLE - TW_STACK_SAMPLE] = MEASURE_CPU,
	    [TW_ALLOCATION_SAMPLE - TW_STACK_SAMPLE] = MEASURE_BYTES,
	};
	const struct tw_measured_hooks *hooks = measured->hooks;
	tw_frames_of_sample(&measured->frames, measured->dictionary, measured->batch, event, &measured->stack);
	if (measured->stack.cut)
		tw_count_loss(measured->writer, "deep stack", true);
	hooks->stack(measured->context, event);
	if (event->kind == TW_STACK_SAMPLE && event->id)
		hooks->sample(measured->context, event, MEASURE_WALL, event->id);
	hooks->sample(measured->context, event, measures[event->kind - TW_STACK_SAMPLE], event->value);
	if (event->kind == TW_ALLOCATION_SAMPLE)
		tw_approximate(measured->writer, event->kind);
}

void tw_measured_finish(struct tw_measured *measured)
{
	const struct tw_calls *calls = &measured->calls;
	if (!measured->begun)
		return;
	tw_calls_finish(&measured->calls);
	tw_count_losses(measured->writer, "exit without entry", false, calls->counts.exits_without_entry);
	tw_count_untimed(measured->writer, calls);
	tw_count_losses(measured->writer, "slice that overlaps another (one is cut)", true, calls->counts.overlaps);
	tw_count_losses(measured->writer, "end before begin", true, calls->counts.time_backwards);
}

int tw_measured_result(struct tw_measured *measured, int status)
{
	int error = measured->spool.error;
	if (error && error != ENOMEM) {
		status = tw_writer_fail(measured->writer, TW_ERR_SYSTEM, "temporary file in %s: %s",
		                        tw_temporary_place(measured->spool.directory), strerror(error));
		errno = error;
		return status;
	}
	if (error || measured->line.failed || measured->failed || measured->frames.failed ||
	    tw_budget_status(&measured->budget) < 0)
		status = TW_ERR_MEMORY;
	return status < 0 ? tw_writer_fail(measured->writer, status, "%s", tw_status_text(status)) : 0;
}

void tw_measured_free(struct tw_measured *measured)
{
	if (measured->begun)
		tw_calls_free(&measured->calls);
	tw_frames_free(&measured->frames);
	tw_spool_free(&measured->spool);
	tw_text_free(&measured->line.text);
}
