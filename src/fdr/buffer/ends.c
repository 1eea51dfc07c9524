/* ends.c - where a buffer ends whose size leads nowhere: its end, and the beginning of another, may be missing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fdr/known.h"

#include <stdlib.h>

enum {
	RECORD = TW_FDR_METADATA_SIZE,
	MOST = 1 << 19 /* bytes, two buffers of a common size: what is longer stays as it is */
};

/* The bytes from a buffer's beginning up to where the next certain one stands, and the records in them. */
struct buffer_span {
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

static bool goes_on(const struct fdr_log *log, const struct fdr_known *known, const uint8_t *bytes, uint64_t size)
{
	return fdr_has_known_calls((struct tw_fdr_decoder){.bytes = bytes,
	                                                   .left = (size_t)size,
	                                                   .version = log->header.version,
	                                                   .layout = log->header.layout},
	                           known);
}

int fdr_find_misplaced(struct tw_reader *reader, const struct fdr_log *log, struct tw_window *window, uint64_t from,
                       uint64_t to, uint64_t next, bool *misplaced)
{
	struct fdr_span span = {.size = (size_t)(next - from), .excess = next - to};
	const struct fdr_known *known;
	*misplaced = false;
	if (next - from > MOST || from == to)
		return 0;
	int status = view_span(reader, log, window, from, &span, &known);
	if (status < 0)
		return status;
	*misplaced = fdr_finds_copy(&span);
	span.size = (size_t)(to - from);
	*misplaced |= fdr_is_misplaced(log, known, &span) || goes_on(log, known, span.bytes + span.size, next - to);
	return 0;
}

static int find_held(struct tw_reader *reader, struct tw_window *window, const struct fdr_buffer *buffer,
                     struct buffer_span *held)
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
static size_t gap_from(const struct buffer_span *held, size_t place)
{
	size_t at = 0;
	for (size_t i = 0; i < held->stretch_count; i++) {
		if (held->stretches[i].begin > at && at >= place)
			return at;
		at = (size_t)held->stretches[i].end;
	}
	return at;
}

static bool is_in_gap(const struct buffer_span *held, size_t place)
{
	bool in_record = false;
	for (size_t i = 0; i < held->stretch_count; i++)
		in_record |= held->stretches[i].begin <= place && place < held->stretches[i].end;
	return !in_record;
}

/* ---- Two buffers that have become one. ---- */

struct traced_call {
	uint32_t at, function;
	bool enters;
};

/* Calls of a buffer, and where it cannot have gone on any more. */
struct joined {
	struct traced_call *calls;
	size_t count;
	size_t from,
	    to; /* the other buffer's first record is one of these bytes, or just behind them; 0: there is none */
	size_t counter_end; /* behind the last record with a counter before it jumped; 0: there is none */
	uint64_t tsc;       /* counted up to here */
	bool jumped;
	size_t gap;       /* where the first one begins */
	uint64_t missing; /* records at most, by the bytes of all gaps */
	uint64_t first;   /* counter of a record */
	bool past_gap;    /* a record behind it had a counter */
	bool strayed;     /* from what is counted, that first one is: by more than the missing records explain */
};

static int32_t ticks_of(const struct tw_fdr_record *record, unsigned version)
{
	bool counts = record->kind == TW_FDR_TYPED_EVENT || (record->kind == TW_FDR_CUSTOM_EVENT && version >= 5);
	return counts ? (int32_t)record->tsc_delta : 0;
}

/* Whether the counter of a record behind a gap is more than twice as far on as the records that may be missing last, if
 * they are like those before. */
static bool is_far_ahead(const struct joined *joined, uint64_t tsc)
{
	const uint64_t ticks = joined->count ? (joined->tsc - joined->first) / joined->count : 0;
	return tsc > joined->tsc && tsc - joined->tsc > FDR_COUNTERS_DIFFER + 2 * joined->missing * ticks;
}

/* Looks at a counter of a record. Behind what is counted up to there, a second buffer has begun since the one
 * before. Ahead of it, one may have; or the thread slept. */
static void note_counter(struct joined *joined, size_t at, uint64_t tsc)
{
	bool back = tsc < joined->tsc && joined->tsc - tsc > FDR_COUNTERS_DIFFER;
	if (joined->counter_end && !joined->to && back) {
		joined->from = joined->counter_end;
		joined->to = at;
	}
	joined->jumped |=
	    joined->counter_end && (back || (tsc > joined->tsc && tsc - joined->tsc > FDR_COUNTERS_DIFFER));
	if (at > joined->gap && !joined->past_gap && joined->counter_end)
		joined->strayed = back || is_far_ahead(joined, tsc);
	joined->past_gap |= at > joined->gap;
	joined->first = joined->first ? joined->first : tsc;
	joined->tsc = tsc;
	joined->counter_end = joined->jumped ? joined->counter_end : at + RECORD;
}

/* Takes the calls of a stretch, and what moves the counter. */
static void read_stretch(const struct buffer_span *held, const struct fdr_stretch *stretch, struct joined *joined)
{
	struct tw_fdr_decoder decoder = {.bytes = held->span.bytes + stretch->begin,
	                                 .left = (size_t)(stretch->end - stretch->begin),
	                                 .version = held->log->header.version,
	                                 .layout = held->log->header.layout};
	struct tw_fdr_record record;
	while (tw_fdr_next(&decoder, &record) > 0) {
		size_t at = (size_t)(decoder.bytes - held->span.bytes) - record.size;
		if (record.kind == TW_FDR_NEW_CPU_ID || record.kind == TW_FDR_TSC_WRAP) {
			note_counter(joined, at, record.tsc);
		} else if (record.kind <= TW_FDR_ENTER_ARGS) {
			bool enters = record.kind == TW_FDR_ENTER || record.kind == TW_FDR_ENTER_ARGS;
			joined->tsc += record.tsc_delta;
			joined->calls[joined->count++] =
			    (struct traced_call){.at = (uint32_t)at, .function = record.function_id, .enters = enters};
		} else {
			joined->tsc += (uint64_t)(int64_t)ticks_of(&record, decoder.version);
		}
	}
}

/* Finds the first exit that does not match the innermost open call, of calls that begin from one place on and before
 * another. The bytes behind the begin of that call may be of another buffer. Returns where they begin; `none`: all
 * exits match. */
static size_t find_mismatch(const struct joined *joined, size_t from, size_t to, uint32_t *stack, size_t none)
{
	size_t depth = 0;
	for (size_t i = 0; i < joined->count; i++) {
		const struct traced_call *call = &joined->calls[i];
		const struct traced_call *last = depth ? &joined->calls[stack[depth - 1]] : NULL;
		if (call->at < from)
			continue;
		if (call->enters)
			stack[depth++] = (uint32_t)i;
		else if (last && last->at < to && last->function != call->function)
			return last->at + TW_FDR_FUNCTION_SIZE;
		else
			depth -= depth != 0;
	}
	return none;
}

/* What sizes say of a buffer. */
struct sizes {
	size_t length;   /* up to the next one; longer than what is held where an EndOfBuffer record ends it before */
	size_t most;     /* that it may have */
	size_t declared; /* by itself; SIZE_MAX: none that can be */
	bool to_file_end;
};

enum { BEGINNING = 3 * RECORD }; /* of a buffer: BufferExtents, NewBuffer, WallTime */

/* Whether bytes are missing that another buffer's beginning may have been among, or it is longer than it says though
 * all are records. If the file ends within a record, it was cut there. */
static bool is_amiss(const struct buffer_span *held, const struct sizes *sizes)
{
	const size_t size = held->span.size;
	if (sizes->declared == SIZE_MAX || (sizes->to_file_end && is_in_gap(held, size - 1)))
		return false;
	return sizes->declared > size ? sizes->declared - size >= BEGINNING : sizes->declared < size && !held->gaps;
}

/* Where a buffer of which bytes are missing is sure to go on up to. If neither its bytes nor its calls show where they
 * are, it is where a counter was stated last as it was counted, unless the end of the file, or a size that is a little
 * wrong, explains it all. */
static size_t find_seam(const struct buffer_span *held, const struct sizes *sizes, const struct joined *joined,
                        uint32_t *stack)
{
	const size_t size = held->span.size, wrong = sizes->declared ^ size;
	const bool near = sizes->declared < size + BEGINNING && size < sizes->declared + BEGINNING;
	const bool explained = sizes->to_file_end || near || (wrong & (wrong - 1)) == 0 || !joined->counter_end;
	if (held->gaps)
		return gap_from(held, RECORD);
	return find_mismatch(joined, 0, size, stack, explained ? size : joined->counter_end);
}

/* Follows the calls of a thread. open: the functions that are, *depth of them. Returns whether a call ends that none of
 * these is, though some are. */
static bool is_stray(const struct traced_call *call, uint32_t *open, size_t *depth)
{
	enum { NEAR = 32 }; /* calls that an exit may end at once */
	const size_t low = *depth > NEAR ? *depth - NEAR : 0;
	size_t at = *depth;
	if (call->enters) {
		open[(*depth)++] = call->function;
		return false;
	}
	while (at > low && open[at - 1] != call->function)
		at--;
	if (at == low)
		return *depth > 0;
	*depth = at - 1;
	return false;
}

/* How many calls are missing in the gap before a stretch, at most. Bytes that were put in have hit one. */
static size_t room_of(const struct buffer_span *held, const struct sizes *sizes, size_t stretch)
{
	const size_t gap = (size_t)(held->stretches[stretch].begin - held->stretches[stretch - 1].end);
	const size_t room = sizes->declared + gap, size = held->span.size;
	return room < size + TW_FDR_FUNCTION_SIZE ? 1 : (room - size) / TW_FDR_FUNCTION_SIZE;
}

/* The first gap that has no room for the calls that are missing there, as those show that end behind it: whole buffers
 * are missing, and what is behind is another one's. The span's size where there is none. */
static size_t lacking_gap(const struct buffer_span *held, const struct sizes *sizes, const struct joined *joined,
                          uint32_t *open)
{
	const size_t size = held->span.size;
	size_t depth = 0, strays = 0, stretch = 0;
	if (sizes->declared == SIZE_MAX || sizes->declared == size || sizes->to_file_end)
		return size;
	for (size_t i = 0; i < joined->count; i++) {
		for (; joined->calls[i].at >= held->stretches[stretch].end; stretch++)
			strays = 0;
		strays += is_stray(&joined->calls[i], open, &depth);
		if (stretch && strays > room_of(held, sizes, stretch))
			return (size_t)held->stretches[stretch - 1].end;
	}
	return size;
}

/* Where the second one begins at the earliest; the span's size where there is none. */
static size_t joint_of(const struct buffer_span *held, const struct sizes *sizes, struct joined *joined,
                       uint32_t *stack)
{
	const size_t size = held->span.size;
	if (!joined->to && sizes->length > sizes->most) {
		joined->to = sizes->declared < sizes->most ? sizes->declared : sizes->most;
		joined->from = sizes->length - sizes->most < joined->to ? sizes->length - sizes->most : joined->to;
	}
	if (!joined->to && sizes->declared == SIZE_MAX && joined->strayed)
		return joined->gap;
	if (!joined->to)
		return is_amiss(held, sizes) ? find_seam(held, sizes, joined, stack)
		                             : lacking_gap(held, sizes, joined, stack);
	size_t gap = gap_from(held, joined->from);
	if (gap < size && gap <= joined->to)
		return gap;
	return find_mismatch(joined, joined->from, joined->to, stack, size < sizes->length ? size : joined->from);
}

/* Where the second of two buffers begins at the earliest that end as one does; the span's size where there is none. If
 * its first record is the counter that shows it, the calls that never began end behind that only. */
static size_t joint_of_sound(const struct buffer_span *held, const struct sizes *sizes, struct joined *joined,
                             uint32_t *stack)
{
	enum {
		SURE = 3, /* of one alone, an exception may be the reason, and the clocks of processors that differ */
		BEHIND = 1 << 10
	};
	const size_t size = held->span.size;
	size_t depth = 0, strays = 0;
	(void)sizes;
	for (size_t i = 0; joined->to && i < joined->count && joined->calls[i].at < joined->to + BEHIND; i++)
		strays += is_stray(&joined->calls[i], stack, &depth) && joined->calls[i].at >= joined->from;
	return strays < SURE ? size : find_mismatch(joined, joined->from, joined->to, stack, joined->from);
}

typedef size_t joint_finder(const struct buffer_span *, const struct sizes *, struct joined *, uint32_t *stack);

static int find_joint(const struct buffer_span *held, const struct sizes *sizes, joint_finder *finder, size_t *joint)
{
	const size_t most = held->span.size / TW_FDR_FUNCTION_SIZE + 1;
	struct joined joined = {.calls = malloc(most * sizeof *joined.calls),
	                        .gap = held->gaps ? gap_from(held, RECORD) : held->span.size,
	                        .missing = held->gaps / TW_FDR_FUNCTION_SIZE};
	uint32_t *stack = malloc(most * sizeof *stack);
	const bool enough = joined.calls && stack;
	for (size_t i = 0; enough && i < held->stretch_count; i++)
		read_stretch(held, &held->stretches[i], &joined);
	if (enough)
		*joint = finder(held, sizes, &joined, stack);
	free(joined.calls);
	free(stack);
	return enough ? 0 : TW_ERR_MEMORY;
}

/* ---- All of it. ---- */

/* If the records of a buffer that is longer than its size says end at that size, what is behind them is another one,
 * whose beginning is damaged, if a record has room there. If something was put in, there are as many bytes that are no
 * records. If there are none, the size is wrong. Otherwise the end of the buffer is missing, with the beginning of
 * another one. */
static size_t end_of_longer(const struct buffer_span *held, size_t declared)
{
	enum { NEAR = 24 };
	size_t size = held->span.size;
	if (is_in_gap(held, declared) && size - declared >= RECORD)
		return declared;
	return held->gaps && held->gaps + NEAR < size - declared ? gap_from(held, RECORD) : size;
}

/* What is said of a buffer's size. declared: as in fdr_find_end(). One that is larger than buffers may be says nothing,
 * nor does the limit then; nor does one that has no room for a beginning. */
static struct sizes sizes_of(struct tw_reader *reader, const struct fdr_log *log, const struct fdr_buffer *buffer,
                             uint64_t declared)
{
	const uint64_t limit = log->header.buffer_size, most = limit && limit < MOST ? limit + RECORD : MOST;
	const bool beyond = declared == UINT64_MAX && buffer->extents <= MOST; /* the end of the file */
	const uint64_t said = beyond ? buffer->extents + RECORD : declared - buffer->offset;
	const bool limited = limit && (buffer->extents == UINT64_MAX || said <= most);
	return (struct sizes){.length = (size_t)(buffer->next - buffer->offset),
	                      .most = limited ? (size_t)most : SIZE_MAX,
	                      .declared = said > BEGINNING && said <= most ? (size_t)said : SIZE_MAX,
	                      .to_file_end = buffer->next == tw_input_size(reader->input)};
}

int fdr_find_end(struct tw_reader *reader, const struct fdr_log *log, struct tw_window *window,
                 struct fdr_buffer *buffer, uint64_t declared)
{
	uint64_t size = buffer->end - buffer->offset;
	struct buffer_span held = {.log = log, .span = {.size = (size_t)size}};
	if (size > MOST || size <= RECORD)
		return 0;
	held.span.excess = declared < buffer->next ? buffer->next - declared : 0;
	int status = find_held(reader, window, buffer, &held);
	if (status < 0)
		return status;
	const struct sizes sizes = sizes_of(reader, log, buffer, declared);
	size_t end = (size_t)size;
	if (fdr_finds_copy(&held.span)) /* it is one buffer, though its counter goes back there */
		return 0;
	if (declared < buffer->next)
		end = end_of_longer(&held, (size_t)(declared - buffer->offset));
	if (end == size && find_joint(&held, &sizes, joint_of, &end) < 0)
		return tw_fail_memory(reader);
	if (end < size) /* its first record is its own */
		buffer->end = buffer->next = buffer->offset + (end < RECORD ? RECORD : end);
	return 0;
}

int fdr_find_joint(struct tw_reader *reader, const struct fdr_log *log, struct tw_window *window,
                   struct fdr_buffer *buffer)
{
	const size_t size = (size_t)(buffer->end - buffer->offset);
	struct buffer_span held = {.log = log, .span = {.size = size}};
	size_t end = size;
	if (buffer->end - buffer->offset > MOST || size <= RECORD)
		return 0;
	int status = find_held(reader, window, buffer, &held);
	if (status >= 0 && find_joint(&held, NULL, joint_of_sound, &end) < 0)
		status = tw_fail_memory(reader);
	if (status >= 0 && end < size) {
		buffer->end = buffer->next = buffer->offset + end;
		buffer->searched = true;
		buffer->filled = false;
	}
	return status;
}
