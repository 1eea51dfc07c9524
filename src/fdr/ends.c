/* ends.c - where a buffer ends whose size leads nowhere: its end, and the beginning of another, may be missing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fdr/known.h"

#include <stdlib.h>

enum { RECORD = TW_FDR_METADATA_SIZE };

/* The bytes from a buffer's beginning up to where the next certain one stands, and the records in them. */
struct held {
	const struct fdr_log *log;
	struct fdr_span span;
	struct fdr_stretch stretches[FDR_STRETCHES]; /* counted from the buffer's beginning */
	size_t stretch_count;
	uint64_t gaps; /* bytes that are none */
};

static int find_held(struct tw_reader *reader, struct tw_window *window, const struct fdr_buffer *buffer,
                     struct held *held)
{
	const struct fdr_known *known;
	size_t have, done;
	int status = fdr_known_of(reader, held->log, &known);
	if (status < 0)
		return status;
	status = tw_window_view(window, buffer->offset, held->span.size, &held->span.bytes, &have);
	if (status < 0 || have < held->span.size)
		return tw_fail(reader, TW_ERR_SYSTEM, "%s", tw_input_error(reader->input));
	int count = fdr_fit(held->log, known, &held->span, held->stretches, FDR_STRETCHES, &done);
	if (count < 0)
		return tw_fail_memory(reader);
	held->stretch_count = (size_t)count;
	held->gaps = held->span.size;
	for (size_t i = 0; i < held->stretch_count; i++)
		held->gaps -= held->stretches[i].end - held->stretches[i].begin;
	return 0;
}

/* Where the first gap from a place on begins; what is behind the records is one, too. */
static size_t gap_from(const struct held *held, size_t place)
{
	size_t at = 0;
	for (size_t i = 0; i < held->stretch_count; i++) {
		if (held->stretches[i].begin > at && at >= place)
			return at;
		at = (size_t)held->stretches[i].end;
	}
	return at;
}

static bool is_in_gap(const struct held *held, size_t place)
{
	bool in_record = false;
	for (size_t i = 0; i < held->stretch_count; i++)
		in_record |= held->stretches[i].begin <= place && place < held->stretches[i].end;
	return !in_record;
}

/* ---- Two buffers that have become one. ---- */

struct call {
	uint32_t at, function;
	bool enters;
};

/* Calls of a buffer, and where it cannot have gone on any more. */
struct joined {
	struct call *calls;
	size_t count;
	size_t from,
	    to; /* the other buffer's first record is one of these bytes, or just behind them; 0: there is none */
};

static int32_t ticks_of(const struct tw_fdr_record *record, unsigned version)
{
	bool counts = record->kind == TW_FDR_TYPED_EVENT || (record->kind == TW_FDR_CUSTOM_EVENT && version >= 5);
	return counts ? (int32_t)record->tsc_delta : 0;
}

/* Takes the calls of a stretch. Where a counter is told that is behind what is counted up to there, a second buffer has
 * begun since the one told before. */
static void read_stretch(const struct held *held, const struct fdr_stretch *stretch, uint64_t *tsc, size_t *told,
                         struct joined *joined)
{
	const uint64_t slack = 1 << 16; /* ticks: more than the counters of processors differ */
	struct tw_fdr_decoder decoder = {.bytes = held->span.bytes + stretch->begin,
	                                 .left = (size_t)(stretch->end - stretch->begin),
	                                 .version = held->log->header.version,
	                                 .layout = held->log->header.layout};
	struct tw_fdr_record record;
	while (tw_fdr_next(&decoder, &record) > 0) {
		size_t end = (size_t)(decoder.bytes - held->span.bytes), at = end - record.size;
		if (record.kind == TW_FDR_NEW_CPU_ID || record.kind == TW_FDR_TSC_WRAP) {
			if (!joined->to && *told && record.tsc<*tsc && * tsc - record.tsc> slack) {
				joined->from = *told;
				joined->to = at;
			}
			*tsc = record.tsc;
			*told = end;
		} else if (record.kind <= TW_FDR_ENTER_ARGS) {
			bool enters = record.kind == TW_FDR_ENTER || record.kind == TW_FDR_ENTER_ARGS;
			*tsc += record.tsc_delta;
			joined->calls[joined->count++] =
			    (struct call){.at = (uint32_t)at, .function = record.function_id, .enters = enters};
		} else {
			*tsc += (uint64_t)(int64_t)ticks_of(&record, decoder.version);
		}
	}
}

/* Where calls end to which no entry belongs, from the last one back: the records from there on may all be of one
 * buffer, those before it are of another. Not before `from`, and what is behind `to` is of one buffer anyway. */
static size_t unmatched(const struct joined *joined, uint32_t *exits)
{
	size_t depth = 0;
	for (size_t i = joined->count; i-- > 0 && joined->calls[i].at >= joined->from;) {
		const struct call *call = &joined->calls[i];
		if (!call->enters) {
			exits[depth++] = call->function;
			continue;
		}
		if (depth && exits[depth - 1] != call->function && call->at < joined->to)
			return call->at + TW_FDR_FUNCTION_SIZE;
		depth = depth && exits[depth - 1] == call->function ? depth - 1 : 0;
	}
	return joined->from;
}

/* Where the second one begins at the earliest; the span's size where there is none. size: that a buffer may have, and
 * whether this one is longer says that there are two. */
static int find_joint(const struct held *held, size_t size, size_t declared, size_t *joint)
{
	struct joined joined = {.calls = malloc(held->span.size / TW_FDR_FUNCTION_SIZE * sizeof *joined.calls + 1)};
	uint32_t *exits = malloc(held->span.size / TW_FDR_FUNCTION_SIZE * sizeof *exits + 1);
	uint64_t tsc = 0;
	size_t told = 0;
	*joint = held->span.size;
	for (size_t i = 0; joined.calls && exits && i < held->stretch_count; i++)
		read_stretch(held, &held->stretches[i], &tsc, &told, &joined);
	if (!joined.to && held->span.size > size && declared <= size) {
		joined.from = held->span.size - size < declared ? held->span.size - size : declared;
		joined.to = declared;
	}
	if (joined.to && exits) {
		size_t gap = gap_from(held, joined.from);
		*joint = gap <= joined.to ? gap : unmatched(&joined, exits);
	}
	int status = joined.calls && exits ? 0 : TW_ERR_MEMORY;
	free(joined.calls);
	free(exits);
	return status;
}

/* ---- All of it. ---- */

/* If the records of a buffer that is longer than its size says end at that size, what is behind them is another one,
 * whose beginning is damaged. If something was put in, there are as many bytes that are no records. If there are none,
 * the size is wrong. Otherwise the end of the buffer is missing, with the beginning of another one. */
static size_t end_of_longer(const struct held *held, size_t declared)
{
	enum { NEAR = 64 };
	size_t second, size = held->span.size;
	if (is_in_gap(held, declared) && !fdr_finds_copy(&held->span, &second))
		return declared;
	return held->gaps && held->gaps + NEAR < size - declared ? gap_from(held, 0) : size;
}

int fdr_find_end(struct tw_reader *reader, const struct fdr_log *log, struct tw_window *window,
                 struct fdr_buffer *buffer, uint64_t declared)
{
	enum { MOST = 1 << 18 }; /* a common size: larger ones stay as they are */
	uint64_t size = buffer->next - buffer->offset, limit = log->header.buffer_size;
	struct held held = {.log = log, .span = {.size = (size_t)size}};
	if (size > MOST || size <= RECORD)
		return 0;
	held.span.excess = declared < buffer->next ? buffer->next - declared : 0;
	int status = find_held(reader, window, buffer, &held);
	if (status < 0)
		return status;
	size_t end = (size_t)size, place = (size_t)(declared - buffer->offset);
	if (declared < buffer->next)
		end = end_of_longer(&held, place);
	if (end == size && find_joint(&held, limit ? (size_t)limit + RECORD : SIZE_MAX, place, &end) < 0)
		return tw_fail_memory(reader);
	buffer->next = buffer->offset + end;
	return 0;
}
