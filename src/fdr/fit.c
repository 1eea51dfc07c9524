/* fit.c - which bytes of a damaged buffer are its records. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "fdr/known.h"

#include <stdlib.h>

/* ---- The records that fit best. Each place in the bytes may begin a record or be a part of a gap; a record gains by
 * looking like those of the rest of the log, a gap costs. From the last byte to the first, the most that can be gained
 * from there on is known for both, and so how. ---- */

enum {
	GAP_COST = 14, /* of each: fewer points than two good calls, so that both are not lost to damage between them */
	TAIL_COST = 6, /* of the last: buffers are cut */
	KNOWN = 4,
	UNKNOWN = -6,
	UNSURE = 1, /* where few functions are known */
	SMALL = 2,
	WRONG = -20,
	FITTING = 10,
	CLEAN = 6
};

enum { NEVER = INT32_MIN / 2 };

/* Where the next second copy begins, from a place on; SIZE_MAX where none does. *behind: where to look for another. */
static size_t next_copy(const struct fdr_span *span, size_t from, size_t *behind)
{
	const uint64_t lag = span->excess < TW_FDR_FUNCTION_SIZE ? 0 : span->excess;
	size_t same = 0, at = from, second = SIZE_MAX;
	for (; lag && lag < span->size && at < span->size - lag; at++) {
		same = span->bytes[at] == span->bytes[at + lag] ? same + 1 : 0;
		if (!same && second != SIZE_MAX)
			break;
		second = same == lag ? at + 1 : second;
	}
	*behind = at;
	return second;
}

bool fdr_finds_copy(const struct fdr_span *span)
{
	size_t behind;
	return next_copy(span, 0, &behind) != SIZE_MAX;
}

/* The best from a place on. */
struct fit_node {
	int32_t whole, gap;                  /* gained where a record or a gap begins here; where a gap goes on */
	uint64_t counter, counter_after_gap; /* of the next record that has one */
	uint32_t size;                       /* of the record that begins here; 0: a gap does */
	bool resumes;                        /* a gap ends here */
};

struct judge {
	const struct fdr_log *log;
	const struct fdr_known *known;
	const struct fdr_span *span;
	struct fit_node *nodes; /* by place, one more than there are bytes */
	uint64_t counter;       /* behind the record that is looked at */
	bool before_gap;        /* it is */
	bool fitted;            /* once at least */
	bool strict;            /* functions that the log does not have elsewhere are none */
	size_t copy, copy_end;  /* no record begins here */
};

static int32_t delta_gain(const struct judge *j, uint32_t delta)
{
	const struct fdr_known *known = j->known;
	uint64_t range = known->last_tsc >= known->first_tsc ? known->last_tsc - known->first_tsc : 0;
	uint64_t before = j->span->counter;
	if (j->before_gap && (delta >= FDR_LARGE_DELTA || !delta)) /* its last bytes may be another record's */
		return WRONG;
	if (j->counter != UINT64_MAX && j->counter >= before && delta >= FDR_LARGE_DELTA && delta > j->counter - before)
		return WRONG;
	if (delta > INT32_MAX && j->counter == UINT64_MAX && known->calls >= FDR_FEW_CALLS && known->wide <= 1 &&
	    delta / 16 > range)
		return WRONG;
	return delta < FDR_LARGE_DELTA ? SMALL : 0;
}

/* Whether a WallTime, Pid or NewCPUId record that a buffer begins with stands at a place of the span, by its first
 * byte. */
static bool leads_at(const struct judge *j, size_t at)
{
	static const enum tw_fdr_kind kinds[] = {TW_FDR_WALL_TIME, TW_FDR_PID, TW_FDR_NEW_CPU_ID};
	bool leads = false;
	for (size_t i = 0;
	     at < j->span->size && j->span->from_start + at <= fdr_lead_end(j->log) && i < sizeof kinds / sizeof *kinds;
	     i++)
		leads |= j->span->bytes[at] == fdr_first_byte(j->log->header.layout, kinds[i]);
	return leads;
}

/* Whether one follows a call, at once or where they stand: no call stands before it, but the end of a damaged record
 * may look like one. */
static bool is_before_lead(const struct judge *j, size_t at)
{
	bool leads = leads_at(j, at + TW_FDR_FUNCTION_SIZE);
	for (size_t next = TW_FDR_METADATA_SIZE; !leads && next < FDR_LEAD; next += TW_FDR_METADATA_SIZE)
		leads = next > j->span->from_start + at && leads_at(j, next - j->span->from_start);
	return leads;
}

/* Whether a call begins at a place and ends with the next record. */
static bool is_short_call(const struct judge *j, size_t at)
{
	struct tw_fdr_decoder decoder = {.bytes = j->span->bytes + at,
	                                 .left = j->span->size - at,
	                                 .version = j->log->header.version,
	                                 .layout = j->log->header.layout};
	struct tw_fdr_record enter, exit;
	return tw_fdr_next(&decoder, &enter) > 0 && enter.kind == TW_FDR_ENTER && enter.function_id &&
	       tw_fdr_next(&decoder, &exit) > 0 && exit.kind == TW_FDR_EXIT && exit.function_id == enter.function_id;
}

/* What is gained by the function of a call: those of one that begins and ends are no chance. */
static int32_t function_gain(const struct judge *j, const struct tw_fdr_record *record, size_t at)
{
	const size_t before = record->kind == TW_FDR_EXIT && at >= TW_FDR_FUNCTION_SIZE ? TW_FDR_FUNCTION_SIZE : 0;
	if (fdr_knows_function(j->known, record->function_id))
		return KNOWN;
	if (is_short_call(j, at - before) || (j->known->calls < FDR_FEW_CALLS && record->function_id))
		return UNSURE;
	return j->strict ? WRONG : UNKNOWN;
}

/* Whether an entry with arguments may stand before a place. */
static bool is_behind_args(const struct judge *j, size_t at)
{
	const size_t size = TW_FDR_FUNCTION_SIZE;
	struct tw_fdr_decoder before = {.bytes = j->span->bytes + (at < size ? 0 : at - size),
	                                .left = at < size ? 0 : size,
	                                .version = j->log->header.version,
	                                .layout = j->log->header.layout};
	struct tw_fdr_record record;
	return tw_fdr_next(&before, &record) > 0 && record.kind == TW_FDR_ENTER_ARGS;
}

/* Whether the two calls at a place are a NewCPUId whose first byte was hit. */
static bool is_halved(const struct judge *j, size_t at)
{
	struct fdr_half half;
	return fdr_take_half(j->log, j->span, at, j->span->counter, &half) && half.tsc <= j->counter &&
	       fdr_is_half(j->known, &half);
}

/* Whether the call at a place is one of two such calls. */
static bool is_half(const struct judge *j, size_t at)
{
	return is_halved(j, at) || (at >= TW_FDR_FUNCTION_SIZE && is_halved(j, at - TW_FDR_FUNCTION_SIZE));
}

/* Whether the bytes at a place are an argument's but for the first one: those that mean nothing are 0. */
static bool is_argument_but_first(const struct judge *j, size_t at)
{
	enum { VALUE_END = 9 };
	static const uint8_t nothing[TW_FDR_METADATA_SIZE - VALUE_END];
	return j->span->size - at >= TW_FDR_METADATA_SIZE &&
	       memcmp(j->span->bytes + at + VALUE_END, nothing, sizeof nothing) == 0;
}

static int32_t call_gain(const struct judge *j, const struct tw_fdr_record *record, size_t at)
{
	const struct fdr_known *known = j->known;
	int32_t function = function_gain(j, record, at);
	if ((fdr_is_filled(j->log->header.layout, record) && function != KNOWN) || is_before_lead(j, at) ||
	    is_half(j, at))
		return NEVER;
	if ((record->padded && !known->padded) ||
	    (function != KNOWN && fdr_has_arguments(known) && is_behind_args(j, at) && is_argument_but_first(j, at)))
		return WRONG;
	return function + delta_gain(j, record->tsc_delta);
}

/* A counter far behind all others, or far ahead of the next one told, is damaged; one that is only later than all that
 * is known may be that of a thread that slept, if nothing else is odd. */
static int32_t counter_gain(struct judge *j, const struct tw_fdr_record *record)
{
	const struct fdr_known *known = j->known;
	uint64_t range = known->last_tsc >= known->first_tsc ? known->last_tsc - known->first_tsc : 0;
	uint64_t slack = range + UINT32_MAX;
	bool unclean = record->padded && !known->padded;
	bool ahead = j->counter != UINT64_MAX && record->tsc > j->counter && record->tsc - j->counter > UINT32_MAX;
	if (known->first_tsc > known->last_tsc)
		return UNSURE;
	if (ahead || (record->tsc < known->first_tsc && known->first_tsc - record->tsc > slack))
		return WRONG;
	if (record->tsc <= known->last_tsc || record->tsc - known->last_tsc <= slack)
		return FITTING;
	return unclean ? WRONG : UNKNOWN;
}

/* An argument follows an entry with arguments, or another one. */
static int32_t argument_gain(const struct judge *j, size_t at)
{
	const uint8_t first = fdr_first_byte(j->log->header.layout, TW_FDR_CALL_ARGUMENT);
	if (at >= TW_FDR_METADATA_SIZE && j->span->bytes[at - TW_FDR_METADATA_SIZE] == first)
		return SMALL;
	return is_behind_args(j, at) ? CLEAN : UNKNOWN;
}

static int32_t event_gain(const struct judge *j, const struct tw_fdr_record *record)
{
	bool large = j->known->calls >= FDR_FEW_CALLS && record->payload_size > j->known->largest_event;
	bool counts = record->kind == TW_FDR_TYPED_EVENT || j->log->header.version >= 5;
	int32_t delta = (int32_t)record->tsc_delta;
	int32_t time = !counts || (delta > -FDR_LARGE_DELTA && delta < FDR_LARGE_DELTA) ? SMALL : UNKNOWN;
	return time + (large ? UNKNOWN : KNOWN);
}

/* Whether the metadata record at a place is one byte over and over. */
static bool is_one_byte(const struct fdr_span *span, size_t at)
{
	const uint8_t *p = span->bytes + at;
	return span->size - at >= TW_FDR_METADATA_SIZE && memcmp(p, p + 1, TW_FDR_METADATA_SIZE - 1) == 0;
}

static int32_t metadata_gain(struct judge *j, const struct tw_fdr_record *record, size_t at)
{
	size_t place = j->span->from_start + at;
	if (is_one_byte(j->span, at))
		return NEVER;
	int32_t clean = j->known->padded ? 0 : record->padded ? UNKNOWN : CLEAN;
	switch ((unsigned)record->kind) {
	case TW_FDR_NEW_CPU_ID:
	case TW_FDR_TSC_WRAP:
		return clean + counter_gain(j, record);
	case TW_FDR_CUSTOM_EVENT:
	case TW_FDR_TYPED_EVENT:
		return clean + event_gain(j, record);
	case TW_FDR_CALL_ARGUMENT:
		return clean + argument_gain(j, at);
	case TW_FDR_END_OF_BUFFER:
		return j->log->header.version == 1 && at + TW_FDR_METADATA_SIZE == j->span->size ? FITTING : NEVER;
	case TW_FDR_BUFFER_EXTENTS:
		return place == 0 ? FITTING : NEVER;
	case TW_FDR_NEW_BUFFER:
		return place == 0 || place == TW_FDR_METADATA_SIZE ? FITTING : NEVER;
	default: /* WallTime, Pid */
		return place < FDR_LEAD && place % TW_FDR_METADATA_SIZE == 0 ? FITTING : NEVER;
	}
}

/* What the record at a place, and all behind it, gains: NEVER where there is none. */
static int32_t gain(struct judge *j, size_t at, uint32_t *size)
{
	const struct fdr_span *span = j->span;
	struct tw_fdr_decoder decoder = {.bytes = span->bytes + at,
	                                 .left = span->size - at,
	                                 .version = j->log->header.version,
	                                 .layout = j->log->header.layout};
	struct tw_fdr_record record;
	int status = tw_fdr_next(&decoder, &record);
	if (status <= 0 && !(status == TW_ERR_ROOM && decoder.need - (span->size - at) <= span->beyond))
		return NEVER;
	*size = (uint32_t)decoder.need;
	const struct fit_node *next = &j->nodes[*size < span->size - at ? at + *size : span->size];
	j->counter = next->counter;
	j->before_gap = !next->size && *size < span->size - at;
	int32_t own = record.kind <= TW_FDR_ENTER_ARGS ? call_gain(j, &record, at) : metadata_gain(j, &record, at);
	if (fdr_has_counter(&record))
		j->counter = record.tsc;
	return own == NEVER ? NEVER : own + next->whole;
}

static void fit_all(struct judge *j)
{
	size_t at = j->span->size;
	j->fitted = true;
	j->nodes[at] =
	    (struct fit_node){.gap = GAP_COST - TAIL_COST, .counter = UINT64_MAX, .counter_after_gap = UINT64_MAX};
	while (at-- > 0) {
		struct fit_node *node = &j->nodes[at];
		const struct fit_node *after = node + 1;
		uint32_t size = 0;
		bool twice = at >= j->copy && at < j->copy_end;
		int32_t record = twice ? NEVER : gain(j, at, &size);
		*node = (struct fit_node){.resumes = record > after->gap};
		node->gap = node->resumes ? record : after->gap;
		node->counter_after_gap = node->resumes ? j->counter : after->counter_after_gap;
		node->size = record >= after->gap - GAP_COST ? size : 0;
		node->whole = node->size ? record : after->gap - GAP_COST;
		node->counter = node->size ? j->counter : after->counter_after_gap;
	}
}

static bool is_event(uint32_t size)
{
	return size > TW_FDR_METADATA_SIZE;
}

/* Where the records behind a gap may begin, too: as far back as bytes before them fit as well. */
static size_t earliest_begin(const struct judge *j, size_t at)
{
	for (;;) {
		size_t size = TW_FDR_FUNCTION_SIZE;
		if (at >= TW_FDR_METADATA_SIZE && j->nodes[at - TW_FDR_METADATA_SIZE].size == TW_FDR_METADATA_SIZE)
			size = TW_FDR_METADATA_SIZE;
		if (at < size || j->nodes[at - size].size != size ||
		    j->nodes[at - size].whole - j->nodes[at].whole < KNOWN)
			return at;
		at -= size;
	}
}

/* The end of records that a gap follows, without those that stand where the records behind it may: of both, one are
 * the end of a record behind the beginning of another. */
static size_t certain_end(const struct judge *j, size_t begin, size_t gap, size_t behind)
{
	const size_t other = behind < j->span->size ? earliest_begin(j, behind) : behind;
	size_t at = begin;
	while (at < gap && at + TW_FDR_FUNCTION_SIZE <= other)
		at += j->nodes[at].size;
	return at;
}

static size_t next_resumed(const struct judge *j, size_t at)
{
	while (at < j->span->size && !j->nodes[at].resumes)
		at++;
	return at;
}

/* Whether a gap may be bytes that were put in, before a record or inside it: it has as many as are too many. */
static bool is_put_in(const struct fdr_span *span, size_t gap)
{
	return span->excess && gap >= span->excess && gap - span->excess <= TW_FDR_METADATA_SIZE;
}

/* Where a gap ends. Where bytes are missing or too many, those right behind them may be the end of one record behind
 * the beginning of another, or behind the last byte too many: a call is not believed there, but where one or more stand
 * in the gap. One of zeros but for its first byte is what damage leaves of a metadata record. */
static size_t behind_gap(const struct judge *j, size_t gap)
{
	static const uint8_t zeros[TW_FDR_FUNCTION_SIZE - 1];
	const size_t size = j->span->size;
	size_t at = next_resumed(j, gap + 1);
	if (at == size || j->nodes[at].size != TW_FDR_FUNCTION_SIZE)
		return at;
	bool copy = gap < j->copy_end && at >= j->copy_end;
	bool inside = is_put_in(j->span, at - gap) && !copy;
	bool shifted = (at - gap) % TW_FDR_FUNCTION_SIZE != 0 || inside;
	bool zero = size - at > sizeof zeros && memcmp(j->span->bytes + at + 1, zeros, sizeof zeros) == 0;
	return shifted || zero ? at + TW_FDR_FUNCTION_SIZE : at;
}

/* A record that goes on behind the span is left for the next one, but for an event, whose payload may be long. */
static size_t list_stretches(const struct judge *j, struct fdr_stretch *stretches, size_t most, size_t *done)
{
	const struct fit_node *nodes = j->nodes;
	const size_t size = j->span->size;
	size_t count = 0, at = 0;
	while (at < size) {
		size_t begin = at;
		bool whole = true;
		while (at < size && nodes[at].size && (whole = nodes[at].size <= size - at || is_event(nodes[at].size)))
			at += nodes[at].size;
		size_t end = at;
		if (at < size && whole)
			end = certain_end(j, begin, at, next_resumed(j, at + 1));
		if (end > begin)
			stretches[count++] = (struct fdr_stretch){.begin = begin, .end = end};
		if (count == most || !whole)
			break;
		if (at < size)
			at = behind_gap(j, at);
	}
	*done = at;
	return count;
}

/* The counter of the last record that has one. Where a record's differs from that of the next, it is its own. */
static uint64_t last_counter(const struct judge *j, const struct fdr_stretch *stretches, size_t count)
{
	const size_t size = j->span->size;
	uint64_t counter = j->span->counter;
	for (size_t i = 0; i < count; i++)
		for (size_t at = (size_t)stretches[i].begin, next; at < stretches[i].end; at = next) {
			next = at + j->nodes[at].size;
			if (j->nodes[at].counter != j->nodes[next < size ? next : size].counter)
				counter = j->nodes[at].counter;
		}
	return counter;
}

/* The counter of the first records of a buffer, before any call; 0 where they have none. */
static uint64_t first_counter(const struct fdr_log *log, const struct fdr_span *span)
{
	struct tw_fdr_decoder decoder = {.bytes = span->bytes,
	                                 .left = span->size < FDR_LEAD ? span->size : FDR_LEAD,
	                                 .version = log->header.version,
	                                 .layout = log->header.layout};
	struct tw_fdr_record record;
	while (tw_fdr_next(&decoder, &record) > 0 && record.kind > TW_FDR_ENTER_ARGS)
		if (record.kind == TW_FDR_NEW_CPU_ID)
			return record.tsc;
	return 0;
}

/* Fits a span without a copy, SIZE_MAX: without any. */
static void fit_without(struct judge *j, size_t copy)
{
	const size_t begin = copy == SIZE_MAX ? 0 : copy, end = copy == SIZE_MAX ? 0 : copy + (size_t)j->span->excess;
	if (begin == j->copy && end == j->copy_end && j->fitted)
		return;
	j->copy = begin;
	j->copy_end = end;
	fit_all(j);
}

/* The same. Keeps the copy as *best if without no other more is left. */
static void try_copy(struct judge *j, size_t copy, int32_t *most, size_t *best)
{
	fit_without(j, copy);
	if (j->nodes[0].whole <= *most)
		return;
	*most = j->nodes[0].whole;
	*best = copy;
}

/* Where the record, or gap, begins that a place is in. */
static size_t begin_of(const struct judge *j, size_t place)
{
	size_t at = 0, next = 0;
	while (next <= place && next < j->span->size) {
		at = next;
		next = j->nodes[at].size ? at + j->nodes[at].size : next_resumed(j, at + 1);
	}
	return at;
}

/* Fits a span of which a stretch may stand there twice. A few bytes do by chance, too: of all second copies, that one
 * is left out without which most is left. One that begins inside a record ends inside it, too: it may as well be looked
 * for where the record begins. */
static void fit_without_copy(struct judge *j)
{
	enum { MOST = 4 };
	size_t best = SIZE_MAX, from, copy = next_copy(j->span, 0, &from);
	int32_t most = NEVER;
	for (unsigned count = 0; count < MOST && copy != SIZE_MAX; count++) {
		try_copy(j, copy, &most, &best);
		copy = next_copy(j->span, from, &from);
	}
	fit_without(j, best);
	if (best != SIZE_MAX)
		try_copy(j, begin_of(j, best), &most, &best);
	fit_without(j, best);
}

/* Whether the bytes that are no records are in one place, where they may have been put in. */
static bool is_put_in_once(const struct judge *j)
{
	const size_t size = j->span->size;
	unsigned count = 0;
	bool fits = false;
	for (size_t at = 0, next; at < size && count < 2; at = next) {
		const bool gap = !j->nodes[at].size;
		next = gap ? next_resumed(j, at + 1) : at + j->nodes[at].size;
		count += gap;
		fits |= gap && is_put_in(j->span, next - at);
	}
	return fits && count == 1;
}

/* Fits a span. One that is as long as it says without the calls of functions that the log does not have elsewhere, give
 * or take a record or two, had bytes put in there. */
static void fit_span(struct judge *j)
{
	j->strict = j->span->excess && j->known->calls >= FDR_FEW_CALLS;
	fit_without_copy(j);
	if (!j->strict || is_put_in_once(j))
		return;
	j->strict = false;
	fit_all(j);
}

int fdr_fit(const struct fdr_log *log, const struct fdr_known *known, struct fdr_span *span,
            struct fdr_stretch *stretches, size_t most, size_t *done)
{
	struct judge j = {.log = log,
	                  .known = known,
	                  .span = span,
	                  .nodes = malloc((span->size + 1) * sizeof *j.nodes)};
	if (!j.nodes)
		return TW_ERR_MEMORY;
	if (!span->from_start)
		span->counter = first_counter(log, span);
	fit_span(&j);
	size_t count = list_stretches(&j, stretches, most, done);
	span->counter = last_counter(&j, stretches, count);
	free(j.nodes);
	return (int)count;
}
