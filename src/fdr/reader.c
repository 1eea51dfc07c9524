/* reader.c - the events of an XRay FDR log in the order asked for. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fdr/state.h"

#include "core/order/slab.h"

static int deliver(struct tw_reader *reader, const struct tw_batch *batch, uint64_t last_ns)
{
	if (last_ns > reader->clock.end_ns)
		reader->clock.end_ns = last_ns;
	return (int)batch->count;
}

int fdr_next_part(struct tw_reader *reader)
{
	struct fdr_state *state = reader->state;
	if (reader->options.order == TW_ORDER_FILE)
		return fdr_stream_next_buffer(&state->stream, reader);
	if (state->stream.checker && state->next_thread)
		fdr_check_thread_end(state->stream.checker, reader);
	if (state->next_thread == state->thread_count)
		return 0;
	return fdr_stream_thread(&state->stream, reader, state->threads[state->next_thread++]) < 0 ? TW_ERR_MEMORY : 1;
}

static int read_parts(struct tw_reader *reader, struct tw_batch *batch)
{
	struct fdr_state *state = reader->state;
	for (;;) {
		int status = fdr_stream_fill(&state->stream, &state->rows);
		*batch = (struct tw_batch){.events = state->rows.events,
		                           .count = state->rows.event_count,
		                           .arguments = state->rows.arguments};
		if (status != 0)
			return status < 0 ? status : deliver(reader, batch, state->stream.last_ns);
		status = fdr_next_part(reader);
		if (status <= 0)
			return status;
	}
}

/* Where rows of several threads are put together: where the caller offers room, otherwise in the own. */
static struct fdr_rows room_for_rows(const struct tw_reader *reader, const struct fdr_rows *own)
{
	const struct tw_batch_room *room = reader->help.room;
	if (!room)
		return *own;
	return (struct fdr_rows){.events = room->events,
	                         .event_room = TW_SLAB_BLOCK,
	                         .arguments = room->arguments,
	                         .argument_room = room->argument_room};
}

int fdr_read(struct tw_reader *reader, struct tw_batch *batch)
{
	struct fdr_state *state = reader->state;
	fdr_rows_empty(&state->rows);
	if (reader->options.order != TW_ORDER_TIME)
		return read_parts(reader, batch);
	struct fdr_rows rows = room_for_rows(reader, &state->rows);
	int status = fdr_merge_read(reader, &rows, batch);
	return status < 0 ? status : deliver(reader, batch, batch->count ? batch->events[batch->count - 1].time : 0);
}
