/* look.c - a first look at the times of all records: when the trace begins, and whether any comes late. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/fxt.h"

/* What the reader does with its window, by the times of chunks alone. */
struct look {
	uint64_t window;
	uint64_t earliest; /* UINT64_MAX: nothing has a time */
	struct held {
		uint64_t bytes, latest;
	} held[TW_ORDER_SLABS]; /* chunk number n is held[n % TW_ORDER_SLABS] */
	uint64_t first, count;  /* number of the oldest that the window reaches over, and how many */
	uint64_t held_bytes;    /* of these */
	uint64_t behind;        /* the latest time of those before */
	bool timed_behind;      /* there is one */
	bool late;
};

/* The oldest chunk is given out as soon as those behind it fill the window. */
static void leave_behind(struct look *look)
{
	const struct held *oldest = &look->held[look->first % TW_ORDER_SLABS];
	while (look->count && (look->held_bytes - oldest->bytes >= look->window || look->count == TW_ORDER_SLABS)) {
		look->timed_behind |= oldest->latest > 0;
		look->behind = oldest->latest > look->behind ? oldest->latest : look->behind;
		look->held_bytes -= oldest->bytes;
		look->count--;
		oldest = &look->held[++look->first % TW_ORDER_SLABS];
	}
}

/* Slices of one time stand the longest first: so one of the same time comes late, too. */
static void take(struct look *look, const struct fxt_chunk *chunk)
{
	const struct tw_slab *slab = &chunk->rows.slab;
	uint64_t least = chunk->decoder.passed.least, latest = chunk->decoder.passed.last;
	for (size_t i = chunk->decoder.timed ? chunk->decoder.untimed : slab->count; i < slab->count; i++) {
		const uint64_t time = slab->events[i].time;
		least = time < least ? time : least;
		latest = time > latest ? time : latest;
	}
	leave_behind(look);
	look->earliest = least < look->earliest ? least : look->earliest;
	look->late |= look->timed_behind && least <= look->behind;
	look->held[(look->first + look->count++) % TW_ORDER_SLABS] = (struct held){chunk->end - chunk->begin, latest};
	look->held_bytes += chunk->end - chunk->begin;
}

/* Rows are made only where times depend on them, or on records that are passed over. `make bench` measures check. */
static void find_times(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch)
{
	if (!wish->options->provider && fxt_chunk_times(chunk))
		chunk->decoder.passed = (struct fxt_passed){chunk->merge.least, chunk->merge.latest};
	else
		fxt_decode(chunk, wish, scratch);
}

static int look_through(struct tw_reader *again, struct look *look)
{
	static const struct fxt_work work = {.decode = find_times, .decoded = fxt_decoded};
	const struct fxt_wish wish = {.options = &again->options, .skips = fxt_skips(0)};
	struct fxt_reader *fxt = again->state;
	struct fxt_chunk *chunk;
	int status = fxt_pipeline_new(&fxt->pipeline, again, &work, &wish, NULL, again->options.jobs);
	while (status >= 0 && (status = fxt_pipeline_next(fxt->pipeline, &chunk)) > 0) {
		if (chunk->failed || chunk->rows.slab.failed)
			status = TW_ERR_MEMORY;
		else
			take(look, chunk);
		fxt_pipeline_give(fxt->pipeline, chunk);
	}
	return status < 0 ? fxt_fail(again, status) : 0;
}

int fxt_look(struct tw_reader *reader)
{
	struct fxt_reader *fxt = reader->state;
	struct look look = {.window = fxt_reorder_window(reader), .earliest = UINT64_MAX};
	struct tw_reader *again;
	int status = tw_open_again(&again, reader);
	if (status == 0) {
		again->request.merged = reader->request.merged; /* its chunks are as large */
		status = look_through(again, &look);
	}
	if (status < 0)
		tw_fail(reader, status, "%s", again ? tw_reader_error(again) : tw_status_text(status));
	tw_close(again);
	fxt->looked = status == 0;
	fxt->earliest = look.earliest;
	fxt->late = look.late;
	return status < 0 ? status : look.late;
}
