/* look.c - the times of a chunk's records, without rows; and a first look at those of all chunks: when the trace
 * begins, and whether any record comes late. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/inline.h"
#include "fxt/fxt.h"

/* The effect of a record on the times of its chunk, by its type. */
enum role {
	ODD,             /* others depend on its row, or its time is not the second word */
	CHANGES_CONTEXT, /* the records behind it may have another clock */
	SILENT,          /* makes no row, or one with the time of the record before it */
	TIMED            /* the second word is its time */
};

static const uint8_t roles[FXT_TYPES] = {
    [TW_FXT_TYPE_METADATA] = CHANGES_CONTEXT,
    [TW_FXT_TYPE_INITIALIZATION] = CHANGES_CONTEXT,
    [TW_FXT_TYPE_STRING] = SILENT,
    [TW_FXT_TYPE_THREAD] = SILENT,
    [TW_FXT_TYPE_EVENT] = TIMED,
    [TW_FXT_TYPE_BLOB] = ODD,
    [TW_FXT_TYPE_SCHEDULING] = TIMED,
    [TW_FXT_TYPE_LOG] = TIMED,
    [TW_FXT_TYPE_PROFILER] = TIMED,
};

/* Where a look through a chunk is. */
struct time_scan {
	const struct fxt_context *context;
	size_t contexts_taken;  /* contexts that were passed */
	uint64_t least, latest; /* ticks of the records of the context; UINT64_MAX and 0: none has any */
	uint64_t last;          /* ticks of the last one */
	uint64_t last_ns;       /* of the chunk */
	struct fxt_passed passed;
};

/* Takes the times of records from a place on. Returns the place of the first that is neither timed nor silent, or the
 * end. */
TW_INLINE size_t take_times(const uint8_t *bytes, size_t place, size_t end, bool big, struct time_scan *scan)
{
	uint64_t header, least = scan->least, latest = scan->latest, last = scan->last;
	for (; place < end; place += tw_bits(header, 4, 15) * TW_FXT_WORD) {
		header = tw_load64(bytes + place, big);
		enum role role = (enum role)roles[fxt_type(header)];
		if (role <= CHANGES_CONTEXT)
			break;
		if (role == SILENT)
			continue;
		last = tw_load64(bytes + place + TW_FXT_WORD, big);
		least = last < least ? last : least;
		latest = last > latest ? last : latest;
	}
	scan->least = least;
	scan->latest = latest;
	scan->last = last;
	return place;
}

/* Adds the times of the context to those of the chunk. */
static void end_context(struct time_scan *scan)
{
	struct tw_ticks clock;
	if (scan->least > scan->latest)
		return;
	tw_ticks_set(&clock, scan->context->frequency);
	const uint64_t least = tw_ticks_ns(&clock, scan->least), latest = tw_ticks_ns(&clock, scan->latest);
	scan->passed.least = least < scan->passed.least ? least : scan->passed.least;
	scan->passed.last = latest > scan->passed.last ? latest : scan->passed.last;
	scan->last_ns = tw_ticks_ns(&clock, scan->last);
	scan->least = UINT64_MAX;
	scan->latest = 0;
}

static bool take_context(const struct fxt_chunk *chunk, struct time_scan *scan)
{
	end_context(scan);
	if (scan->contexts_taken == chunk->walk.context_count)
		return false;
	scan->context = &chunk->walk.contexts[scan->contexts_taken++];
	return scan->context->frequency <= TW_FREQUENCY_MAX;
}

static bool take_records(const struct fxt_chunk *chunk, const struct fxt_piece *piece, struct time_scan *scan)
{
	for (size_t place = piece->from; place < piece->to;) {
		place = piece->big ? take_times(chunk->bytes, place, piece->to, true, scan)
		                   : take_times(chunk->bytes, place, piece->to, false, scan);
		if (place == piece->to)
			return true;
		uint64_t header = tw_load64(chunk->bytes + place, piece->big);
		if (roles[fxt_type(header)] != CHANGES_CONTEXT || fxt_kind(header) == TW_FXT_PROVIDER_EVENT ||
		    !take_context(chunk, scan))
			return false;
		place += (size_t)tw_bits(header, 4, 15) * TW_FXT_WORD;
	}
	return true;
}

bool fxt_find_times(struct fxt_chunk *chunk)
{
	struct time_scan scan = {
	    .context = &chunk->decoder.context,
	    .least = UINT64_MAX,
	    .passed = {.least = UINT64_MAX},
	};
	bool fine = chunk->found.note_count == 0 && chunk->decoder.context.frequency <= TW_FREQUENCY_MAX;
	for (size_t i = 0; i < chunk->walk.piece_count && fine; i++) {
		const struct fxt_piece *piece = &chunk->walk.pieces[i];
		fine = piece->kind == FXT_RECORDS && !piece->odd && take_records(chunk, piece, &scan);
	}
	end_context(&scan);
	if (!fine || scan.passed.least == UINT64_MAX)
		return false;
	chunk->decoder.passed = scan.passed;
	chunk->wait.last = scan.last_ns;
	return true;
}

/* ---- All chunks. ---- */

void fxt_take_times(struct tw_reach *reach, const struct fxt_chunk *chunk)
{
	const struct tw_slab *slab = &chunk->rows.slab;
	uint64_t least = chunk->decoder.passed.least, latest = chunk->decoder.passed.last;
	for (size_t i = chunk->decoder.timed ? chunk->decoder.untimed : slab->count; i < slab->count; i++) {
		const uint64_t time = slab->events[i].time;
		least = time < least ? time : least;
		latest = time > latest ? time : latest;
	}
	tw_reach_take(reach, fxt_bytes_of(chunk), least, latest);
}

/* Rows are made only where times depend on them, or on records that are passed over. `make bench` measures check. */
static void find_times(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch)
{
	if (wish->options->provider || !fxt_find_times(chunk))
		fxt_decode(chunk, wish, scratch);
}

static int look_through(struct tw_reader *again, struct tw_reach *reach)
{
	static const struct fxt_work work = {.decode = find_times, .decoded = fxt_decoded};
	const struct fxt_wish wish = {.options = &again->options, .skips = fxt_skips(0)};
	struct fxt_reader *fxt = again->state;
	struct fxt_chunk *chunk;
	int status = fxt_pipeline_new(&fxt->pipeline, again, &work, &wish, again->options.jobs);
	while (status >= 0 && (status = fxt_pipeline_next(fxt->pipeline, &chunk)) > 0) {
		if (chunk->failed || chunk->rows.slab.failed)
			status = TW_ERR_MEMORY;
		else
			fxt_take_times(reach, chunk);
		fxt_pipeline_give(fxt->pipeline, chunk);
	}
	return status < 0 ? fxt_fail(again, status) : 0;
}

int fxt_look(struct tw_reader *reader)
{
	struct fxt_reader *fxt = reader->state;
	struct tw_reach reach = {.window = fxt_reorder_window(reader), .earliest = UINT64_MAX};
	struct tw_reader *again;
	int status = tw_open_again(&again, reader);
	if (status == 0) {
		again->request.merged = reader->request.merged; /* its chunks are as large */
		status = look_through(again, &reach);
	}
	if (status < 0)
		tw_fail(reader, status, "%s", again ? tw_reader_error(again) : tw_status_text(status));
	tw_close(again);
	fxt->looked = status == 0;
	fxt->earliest = reach.earliest;
	fxt->late = reach.late;
	return status < 0 ? status : reach.late;
}
