/* ends.c - where a buffer ends whose size leads nowhere: its end, and the beginning of another, may be missing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fdr/known.h"

#include <stdlib.h>

enum {
	RECORD = TW_FDR_METADATA_SIZE,
	MOST = 1 << 18 /* bytes, a common size: larger buffers stay as they are */
};

/* The bytes from a buffer's beginning up to where the next certain one stands, and the records in them. */
struct held {
	const struct fdr_log *log;
	struct fdr_span span;
	struct fdr_stretch stretches[FDR_STRETCHES]; /* counted from the buffer's beginning */
	size_t stretch_count;
	uint64_t gaps; /* bytes that are none */
};

/* Brings the bytes of a span into the window, and takes what is known of the log. */
static int view_span(struct tw_reader *reader, const struct fdr_log *log, struct tw_window *window, uint64_t from,
                     struct fdr_span *span, const struct fdr_known **known)
{
	size_t have;
	int status = fdr_known_of(reader, log, known);
	if (status < 0)
		return status;
	status = tw_window_view(window, from, span->size, &span->bytes, &have);
	if (status < 0 || have < span->size)
		return tw_fail(reader, TW_ERR_SYSTEM, "%s", tw_input_error(reader->input));
	return 0;
}

int fdr_find_misplaced(struct tw_reader *reader, const struct fdr_log *log, struct tw_window *window, uint64_t from,
                       uint64_t to, uint64_t next, bool *misplaced)
{
	struct fdr_span span = {.size = (size_t)(next - from), .excess = next - to};
	const struct fdr_known *known;
	size_t second;
	*misplaced = false;
	if (next - from > MOST || from == to)
		return 0;
	int status = view_span(reader, log, window, from, &span, &known);
	if (status < 0)
		return status;
	*misplaced = fdr_finds_copy(&span, &second);
	span.size = (size_t)(to - from);
	*misplaced |= fdr_is_misplaced(log, known, &span);
	return 0;
}

static int find_held(struct tw_reader *reader, struct tw_window *window, const struct fdr_buffer *buffer,
                     struct held *held)
{
	const struct fdr_known *known;
	size_t done;
	int status = view_span(reader, held->log, window, buffer->offset, &held->span, &known);
	if (status < 0)
		return status;
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
	size_t missing; /* bytes, by the size that the buffer says: as many as another's beginning has, or 0 */
	size_t doubt;   /* where some are, and it is not shown that what is behind them goes on in time; 0: nowhere */
	uint64_t tsc, first_tsc; /* counted up to here; first told */
	size_t first, told;      /* behind the records that told the counter first, and last */
	struct fdr_stretch leap; /* from one record that tells it to the next, over more than what is missing takes */
};

static int32_t ticks_of(const struct tw_fdr_record *record, unsigned version)
{
	bool counts = record->kind == TW_FDR_TYPED_EVENT || (record->kind == TW_FDR_CUSTOM_EVENT && version >= 5);
	return counts ? (int32_t)record->tsc_delta : 0;
}

/* Looks at a counter that is told. Behind what is counted up to there, a second buffer has begun since the one told
 * before. Further ahead than the missing records would have moved it, one may have. */
static void compare(struct joined *joined, size_t at, uint64_t tsc)
{
	enum { TIMES = 8 };             /* as busy as the records before */
	const uint64_t slack = 1 << 16; /* ticks: more than the counters of processors differ */
	const uint64_t passed = joined->tsc - joined->first_tsc, bytes = at - joined->first;
	const uint64_t most = slack + (bytes ? passed / bytes * TIMES * joined->missing : 0);
	if (joined->to || !joined->told)
		return;
	bool back = tsc < joined->tsc && joined->tsc - tsc > slack;
	bool ahead = tsc > joined->tsc && tsc - joined->tsc > most;
	if (back || (ahead && joined->doubt)) {
		joined->from = joined->doubt ? joined->doubt : joined->told;
		joined->to = at;
	} else if (ahead) {
		joined->leap = (struct fdr_stretch){.begin = joined->told, .end = at};
	} else {
		joined->doubt = 0;
	}
}

static void note_told(struct joined *joined, size_t at, uint64_t tsc)
{
	compare(joined, at, tsc);
	joined->tsc = tsc;
	joined->told = at + RECORD;
	if (!joined->first) {
		joined->first = joined->told;
		joined->first_tsc = tsc;
	}
}

/* Takes the calls of a stretch, and what moves the counter. */
static void read_stretch(const struct held *held, const struct fdr_stretch *stretch, struct joined *joined)
{
	struct tw_fdr_decoder decoder = {.bytes = held->span.bytes + stretch->begin,
	                                 .left = (size_t)(stretch->end - stretch->begin),
	                                 .version = held->log->header.version,
	                                 .layout = held->log->header.layout};
	struct tw_fdr_record record;
	while (tw_fdr_next(&decoder, &record) > 0) {
		size_t at = (size_t)(decoder.bytes - held->span.bytes) - record.size;
		if (record.kind == TW_FDR_NEW_CPU_ID || record.kind == TW_FDR_TSC_WRAP) {
			note_told(joined, at, record.tsc);
		} else if (record.kind <= TW_FDR_ENTER_ARGS) {
			bool enters = record.kind == TW_FDR_ENTER || record.kind == TW_FDR_ENTER_ARGS;
			joined->tsc += record.tsc_delta;
			joined->calls[joined->count++] =
			    (struct call){.at = (uint32_t)at, .function = record.function_id, .enters = enters};
		} else {
			joined->tsc += (uint64_t)(int64_t)ticks_of(&record, decoder.version);
		}
	}
}

static void read_held(const struct held *held, struct joined *joined)
{
	size_t end = 0;
	for (size_t i = 0; i < held->stretch_count; i++) {
		bool gap = held->stretches[i].begin > end && joined->missing;
		joined->doubt = gap && !joined->doubt ? end : joined->doubt;
		read_stretch(held, &held->stretches[i], joined);
		end = (size_t)held->stretches[i].end;
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

/* Where bytes are missing, and those behind go on at the right one: calls that do not match the ones before show where
 * that may be. It is another buffer's, unless a counter told behind it shows that it is not. */
static size_t find_seam(const struct held *held, struct joined *joined, uint32_t *exits)
{
	const size_t size = held->span.size;
	if (!joined->missing || held->gaps)
		return size;
	joined->from = joined->first;
	joined->to = size;
	size_t seam = unmatched(joined, exits);
	bool leaps = seam >= joined->leap.begin && seam <= joined->leap.end;
	return seam > joined->from && (seam >= joined->told || leaps) ? seam : size;
}

/* Where the second one begins at the earliest; the span's size where there is none. size: that a buffer may have, and
 * whether this one is longer says that there are two. */
static size_t joint_of(const struct held *held, size_t size, size_t declared, struct joined *joined, uint32_t *exits)
{
	if (!joined->to && held->span.size > size && declared <= size) {
		joined->from = held->span.size - size < declared ? held->span.size - size : declared;
		joined->to = declared;
	}
	if (!joined->to)
		return joined->doubt ? joined->doubt : find_seam(held, joined, exits);
	size_t gap = gap_from(held, joined->from);
	return gap <= joined->to ? gap : unmatched(joined, exits);
}

static int find_joint(const struct held *held, size_t size, size_t declared, size_t *joint)
{
	enum { BEGINNING = 3 * RECORD }; /* BufferExtents, NewBuffer, WallTime */
	const size_t most = held->span.size / TW_FDR_FUNCTION_SIZE + 1;
	struct joined joined = {.calls = malloc(most * sizeof *joined.calls)};
	uint32_t *exits = malloc(most * sizeof *exits);
	const bool enough = joined.calls && exits;
	if (declared <= size && declared > held->span.size && declared - held->span.size >= BEGINNING)
		joined.missing = declared - held->span.size;
	if (enough) {
		read_held(held, &joined);
		*joint = joint_of(held, size, declared, &joined, exits);
	}
	free(joined.calls);
	free(exits);
	return enough ? 0 : TW_ERR_MEMORY;
}

/* ---- All of it. ---- */

/* If the records of a buffer that is longer than its size says end at that size, what is behind them is another one,
 * whose beginning is damaged, if a record has room there. If something was put in, there are as many bytes that are no
 * records. If there are none, the size is wrong. Otherwise the end of the buffer is missing, with the beginning of
 * another one. */
static size_t end_of_longer(const struct held *held, size_t declared)
{
	enum { NEAR = 64 };
	size_t size = held->span.size;
	if (is_in_gap(held, declared) && size - declared >= RECORD)
		return declared;
	return held->gaps && held->gaps + NEAR < size - declared ? gap_from(held, 0) : size;
}

int fdr_find_end(struct tw_reader *reader, const struct fdr_log *log, struct tw_window *window,
                 struct fdr_buffer *buffer, uint64_t declared)
{
	uint64_t size = buffer->next - buffer->offset, limit = log->header.buffer_size;
	struct held held = {.log = log, .span = {.size = (size_t)size}};
	if (size > MOST || size <= RECORD)
		return 0;
	held.span.excess = declared < buffer->next ? buffer->next - declared : 0;
	int status = find_held(reader, window, buffer, &held);
	if (status < 0)
		return status;
	size_t second, end = (size_t)size, place = (size_t)(declared - buffer->offset);
	if (fdr_finds_copy(&held.span, &second)) /* it is one buffer, though its counter goes back there */
		return 0;
	if (declared < buffer->next)
		end = end_of_longer(&held, place);
	if (end == size && find_joint(&held, limit ? (size_t)limit + RECORD : SIZE_MAX, place, &end) < 0)
		return tw_fail_memory(reader);
	buffer->next = buffer->offset + end;
	return 0;
}
