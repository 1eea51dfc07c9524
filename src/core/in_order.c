/* in_order.c - the events of a trace in the order asked for, however late they stand in the file. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/in_order.h"

#include "core/format.h"
#include "core/order/sorted_runs.h"

enum { RUNS_SHARE = 8 }; /* of the memory limit, for the runs that are merged at once */

/* Whether it matters when the trace begins, and which event of all comes first. */
static bool needs_look(const struct tw_reader *reader)
{
	const struct tw_request *request = &reader->request;
	const struct tw_read_options *options = &reader->options;
	if (!reader->format->reading.look || options->order == TW_ORDER_FILE || request->unordered)
		return false;
	if (options->findings_only && !reader->format->reading.check)
		return false;
	return !request->lasting || options->order == TW_ORDER_TIME || options->from_ns || options->to_ns;
}

int tw_runs_for(struct tw_sorted_runs **runs, const struct tw_reader *reader)
{
	return tw_sorted_runs_new(runs, reader->options.temporary_directory, tw_memory_limit(reader) / RUNS_SHARE);
}

/* All events, in the order in which the format gives them. */
static int fill_runs(struct tw_reader *reader)
{
	struct tw_batch batch;
	int count, error = tw_runs_for(&reader->in_order.runs, reader);
	while (!error && (count = reader->format->reading.read(reader, &batch)) != 0) {
		if (count < 0)
			return count;
		if (tw_stops(reader))
			return tw_stopped(reader);
		error = tw_sorted_runs_put(reader->in_order.runs, &batch);
	}
	error = error ? error : tw_sorted_runs_end(reader->in_order.runs);
	return error ? tw_fail_file(reader, error) : 0;
}

static int next_of_runs(struct tw_reader *reader, struct tw_batch *batch)
{
	int error = tw_sorted_runs_next(reader->in_order.runs, batch);
	return error ? tw_fail_file(reader, error) : (int)batch->count;
}

int tw_put_in_order(struct tw_reader *reader)
{
	if (reader->in_order.looked)
		return 0;
	reader->in_order.looked = true;
	if (!needs_look(reader))
		return 0;
	int status =
	    tw_input_seekable(reader->input) ? 0 : tw_input_spool(reader->input, reader->options.temporary_directory);
	if (status < 0)
		return tw_fail(reader, status, "%s", tw_input_error(reader->input));
	status = reader->format->reading.look(reader);
	if (status > 0)
		return reader->request.as_they_come ? 0 : fill_runs(reader);
	return status;
}

/* The first of all rows may be one that the look cannot tell: it is made of what stands in others. */
static void note_start(struct tw_reader *reader, const struct tw_batch *batch)
{
	if (batch->count && batch->events[0].time < reader->clock.start_ns)
		reader->clock.start_ns = batch->events[0].time;
}

static int next_batch(struct tw_reader *reader, struct tw_batch *batch)
{
	int status = tw_put_in_order(reader);
	if (status < 0)
		return status;
	if (!reader->in_order.runs) {
		status = reader->log.behind ? 0 : reader->format->reading.read(reader, batch);
		const bool ended = status == 0 && reader->log.another_at && reader->options.order == TW_ORDER_FILE;
		return ended ? tw_logs_reading->read(reader, batch) : status;
	}
	status = next_of_runs(reader, batch);
	note_start(reader, batch);
	return status;
}

int tw_read_in_order(struct tw_reader *reader, struct tw_batch *batch)
{
	const struct tw_format_reading *reading = &reader->format->reading;
	*batch = (struct tw_batch){0};
	int count = next_batch(reader, batch), status = 0;
	if (count >= 0 && reading->check && reader->options.checking == TW_CHECK_ALL &&
	    reader->options.order != TW_ORDER_FILE)
		status = reading->check(reader, batch);
	return status < 0 ? status : count;
}
