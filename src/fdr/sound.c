/* sound.c - whether the bytes of a buffer can be taken for its records as they stand. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "fdr/known.h"

/* Calls of one byte over and over, one after the other, are none; where bytes may be missing, one is none: of zeros it
 * may be the end of a metadata record. */
enum { FILLED = 2 };

#define FAR_BACK (UINT64_C(1) << 42) /* ticks, half an hour */
#define SOON (UINT64_C(1) << 36)     /* ticks, half a minute */

struct walked {
	const struct fdr_log *log;
	struct tw_fdr_decoder decoder;
	const uint8_t *first;
	const struct fdr_span *span;
	uint64_t counter; /* of the last record that has one */
	uint32_t largest; /* delta since then */
	unsigned filled;  /* calls in a row */
	bool called;      /* a call has been met */
	bool behind_call; /* the last record is one */
	bool with_args;   /* the last record is an entry that an argument belongs to */
	bool bare;        /* a call followed one */
};

/* Whether a NewCPUId at a place would have a counter a little later than the one before, or be the first. Some
 * clocks count so slowly that many calls have 0 ticks: this is asked first. */
static bool may_be_new_cpu(const struct fdr_log *log, const struct fdr_span *span, size_t at, uint64_t counter)
{
	enum { COUNTER = 3 }; /* its place in the record */
	uint64_t tsc = tw_load64(span->bytes + at + COUNTER, log->header.layout != TW_FDR_LITTLE);
	return counter ? tsc >= counter && tsc - counter < SOON : span->from_start + at == fdr_lead_end(log);
}

bool fdr_take_half(const struct fdr_log *log, const struct fdr_span *span, size_t at, uint64_t counter,
                   struct fdr_half *half)
{
	enum { CPUS = 1 << 13 };
	uint8_t whole[TW_FDR_METADATA_SIZE];
	struct tw_fdr_record record;
	if (span->size - at < sizeof whole || !may_be_new_cpu(log, span, at, counter))
		return false;
	struct tw_fdr_decoder decoder = {.bytes = span->bytes + at + TW_FDR_FUNCTION_SIZE,
	                                 .left = TW_FDR_FUNCTION_SIZE,
	                                 .version = log->header.version,
	                                 .layout = log->header.layout};
	if (tw_fdr_next(&decoder, &record) <= 0 || record.kind > TW_FDR_ENTER_ARGS || record.tsc_delta)
		return false;
	half->function = record.function_id;
	memcpy(whole, span->bytes + at, sizeof whole);
	whole[0] = fdr_first_byte(log->header.layout, TW_FDR_NEW_CPU_ID);
	decoder.bytes = whole;
	decoder.left = sizeof whole;
	bool clean = tw_fdr_next(&decoder, &record) > 0 && !record.padded && record.cpu < CPUS;
	half->tsc = record.tsc;
	return clean;
}

bool fdr_is_half(const struct fdr_known *known, const struct fdr_half *half)
{
	return known->calls >= FDR_FEW_CALLS && !fdr_knows_function(known, half->function) &&
	       known->first_tsc <= known->last_tsc && half->tsc + FAR_BACK >= known->first_tsc &&
	       half->tsc <= known->last_tsc + FAR_BACK;
}

/* Whether the call at a place, and the one before it, may be a NewCPUId. */
static bool may_be_half(const struct walked *w, const uint8_t *place, struct fdr_half *half)
{
	const size_t at = (size_t)(place - w->first);
	return at >= TW_FDR_FUNCTION_SIZE &&
	       fdr_take_half(w->log, w->span, at - TW_FDR_FUNCTION_SIZE, w->counter, half);
}

/* The first of little-endian calls that is one byte over and over; `end` where none is. */
static const uint8_t *first_filled(const uint8_t *bytes, const uint8_t *end)
{
	for (const uint8_t *p = bytes; p < end; p += TW_FDR_FUNCTION_SIZE)
		if (tw_load64(p, false) == *p * (UINT64_MAX / UINT8_MAX))
			return p;
	return end;
}

/* Function records of little-endian logs, which are nearly all there are: `make bench` measures what it costs to look
 * at each (stat). */
static void pass_calls(struct walked *w)
{
	enum {
		LEAST_FILLED = UINT32_MAX / UINT8_MAX, /* the delta of a call of ones */
		ARGS = TW_FDR_ENTER_ARGS << 1
	};
	const uint8_t *p = w->decoder.bytes, *end = p + w->decoder.left / TW_FDR_FUNCTION_SIZE * TW_FDR_FUNCTION_SIZE;
	uint32_t largest = 0;
	struct fdr_half half;
	if (w->decoder.layout != TW_FDR_LITTLE || w->with_args)
		return;
	for (; p < end; p += TW_FDR_FUNCTION_SIZE) {
		uint64_t word = tw_load64(p, false);
		uint32_t delta = (uint32_t)(word >> 32);
		if (word & 9 || !(uint32_t)word || (word & ARGS) == ARGS || (!delta && may_be_half(w, p, &half)))
			break;
		largest = delta > largest ? delta : largest;
	}
	if (largest >= LEAST_FILLED)
		p = first_filled(w->decoder.bytes, p);
	if (p > w->decoder.bytes) {
		w->filled = 0;
		w->called = w->behind_call = true;
	}
	w->decoder.left -= (size_t)(p - w->decoder.bytes);
	w->decoder.bytes = p;
	w->largest = largest > w->largest ? largest : w->largest;
}

/* Whether a delta has gone past the counter of the record behind it. Where no record had a counter before, a
 * delta of more than INT32_MAX ticks is to be looked at. */
static bool went_past(const struct walked *w, uint64_t counter)
{
	if (!w->counter)
		return w->largest > INT32_MAX;
	return counter >= w->counter && w->largest >= FDR_LARGE_DELTA && w->largest > counter - w->counter;
}

/* Whether a counter is behind the one before it by more than processors differ. */
static bool went_back(const struct walked *w, uint64_t counter)
{
	return counter < w->counter && w->counter - counter >= FAR_BACK;
}

static bool fits_counter(struct walked *w, const struct fdr_span *span, const struct tw_fdr_record *record)
{
	bool past = went_past(w, record->tsc) || went_back(w, record->tsc);
	w->counter = record->tsc;
	w->largest = 0;
	return !past && !(span->searched && record->padded && w->log->clean);
}

/* No call stands among the records that a buffer begins with: it is what damage left of one of them. */
static bool fits_lead(const struct walked *w, size_t at)
{
	return !w->called || w->counter || at > fdr_lead_end(w->log);
}

static bool belongs(struct walked *w, const struct fdr_span *span, const struct tw_fdr_record *record)
{
	size_t at = span->from_start + (size_t)(w->decoder.bytes - w->first) - record->size;
	switch ((unsigned)record->kind) {
	case TW_FDR_BUFFER_EXTENTS:
		return at == 0;
	case TW_FDR_NEW_BUFFER:
		return at <= TW_FDR_METADATA_SIZE;
	case TW_FDR_WALL_TIME:
	case TW_FDR_PID:
		return fits_lead(w, at);
	case TW_FDR_END_OF_BUFFER: /* of version 1; others write none */
		return w->decoder.version == 1 ? !span->searched || fdr_may_end(w->log, record) : !record->padded;
	case TW_FDR_NEW_CPU_ID:
		return fits_lead(w, at) && fits_counter(w, span, record);
	case TW_FDR_TSC_WRAP:
		return fits_counter(w, span, record);
	default:
		w->filled = fdr_is_filled(w->decoder.layout, record) ? w->filled + 1 : 0;
		w->called |= record->kind <= TW_FDR_ENTER_ARGS;
		w->largest = record->kind <= TW_FDR_ENTER_ARGS && record->tsc_delta > w->largest ? record->tsc_delta
		                                                                                 : w->largest;
		return w->filled < (span->searched ? 1 : FILLED);
	}
}

/* Notes the first two calls that may be a NewCPUId. */
static void pass_half(struct walked *w, struct fdr_span *span, const struct tw_fdr_record *record)
{
	bool call = record->kind <= TW_FDR_ENTER_ARGS;
	if (!span->halved && call && !record->tsc_delta && w->behind_call)
		span->halved = may_be_half(w, w->decoder.bytes - TW_FDR_FUNCTION_SIZE, &span->half);
	w->behind_call = call;
}

bool fdr_is_sound(const struct fdr_log *log, struct fdr_span *span, size_t *sound)
{
	struct walked w = {
	    .log = log,
	    .decoder = {.bytes = span->bytes,
	                .left = span->size,
	                .version = log->header.version,
	                .layout = log->header.layout},
	    .first = span->bytes,
	    .span = span,
	    .counter = span->counter,
	};
	struct tw_fdr_record record;
	int status;
	do {
		pass_calls(&w);
		*sound = (size_t)(w.decoder.bytes - w.first);
		status = tw_fdr_next(&w.decoder, &record);
		if (status > 0 && !belongs(&w, span, &record))
			return false;
		if (status > 0)
			pass_half(&w, span, &record);
		w.bare |= status > 0 && w.with_args && record.kind <= TW_FDR_ENTER_ARGS;
		w.with_args = record.kind == TW_FDR_ENTER_ARGS;
		if (status > 0 && record.kind == TW_FDR_END_OF_BUFFER && log->header.version == 1)
			break;
	} while (status > 0);
	*sound = (size_t)(w.decoder.bytes - w.first);
	if (status == TW_ERR_ROOM && w.decoder.need - w.decoder.left <= span->beyond) { /* it goes on behind them */
		*sound += record.payload_size ? w.decoder.need : 0;
		status = 0;
	}
	if (status < 0 || w.largest > INT32_MAX)
		return false;
	span->counter = w.counter;
	span->bare = w.bare;
	return true;
}

enum { SURE = 3 }; /* calls in a row */

bool fdr_has_known_calls(struct tw_fdr_decoder decoder, const struct fdr_known *known)
{
	struct tw_fdr_record record;
	unsigned count = 0;
	while (count < SURE && tw_fdr_next(&decoder, &record) > 0 && record.kind <= TW_FDR_ENTER_ARGS &&
	       fdr_knows_function(known, record.function_id))
		count++;
	return count == SURE;
}

/* Whether such calls begin a few bytes behind a place. */
static bool has_shifted_calls(struct tw_fdr_decoder decoder, const struct fdr_known *known)
{
	for (unsigned shift = 1; shift < TW_FDR_FUNCTION_SIZE && decoder.left; shift++) {
		decoder.bytes++;
		decoder.left--;
		if (fdr_has_known_calls(decoder, known))
			return true;
	}
	return false;
}

/* Whether the bytes of a call that the log does not have may be those that are too many. */
static bool is_stranger(const struct fdr_span *span, const struct fdr_known *known)
{
	return span->excess && known->calls >= FDR_FEW_CALLS;
}

bool fdr_is_misplaced(const struct fdr_log *log, const struct fdr_known *known, const struct fdr_span *span)
{
	struct tw_fdr_decoder decoder = {.bytes = span->bytes,
	                                 .left = span->size,
	                                 .version = log->header.version,
	                                 .layout = log->header.layout};
	struct tw_fdr_record record;
	for (;;) {
		const struct tw_fdr_decoder before = decoder;
		if (tw_fdr_next(&decoder, &record) <= 0)
			return false;
		if (record.kind <= TW_FDR_ENTER_ARGS && !fdr_knows_function(known, record.function_id) &&
		    (is_stranger(span, known) || has_shifted_calls(before, known)))
			return true;
	}
}
