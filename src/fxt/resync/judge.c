/* judge.c - what stands where the walk sees no record at once: a strange record, a broken one, or none. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/resync/judge.h"

#include "fxt/walk/walk.h"

#include <string.h>

/* How many strange records in a row make one of them trustworthy. */
enum { STRANGE = 8 };

/* The size of a record that can be decoded, if not in every detail; 0 when there is none. */
static size_t decodes(const struct fxt_view *view, size_t at)
{
	struct tw_fxt_decoder decoder = {.bytes = view->bytes + at, .left = view->left - at, .big = view->big};
	struct tw_fxt_record record;
	if (tw_fxt_next(&decoder, &record) != 1 || record.size > view->left - at)
		return 0;
	return (size_t)record.size;
}

/* Whether it is here that records go on behind damage. least: chain(). */
static bool goes_on(const struct fxt_view *view, size_t at, unsigned least)
{
	return (fxt_may_begin(view, at, least) && !fxt_is_chance(view, at)) || fxt_is_swapped(view, at) ||
	       fxt_is_large_begun(view, at);
}

static bool is_scanned(const struct fxt_view *view, size_t at)
{
	const struct fxt_scanned *known = view->scanned;
	uint64_t offset = view->offset + at;
	return known && known->end == view->offset + view->left && known->at_end == view->at_end &&
	       known->big == view->big && offset >= known->from && offset <= known->to;
}

/* The next place that a record begins at; as far as the bytes allow to tell when there is none. Bytes may be missing or
 * too many, so that records need not stand at multiples of their words. */
static size_t scan(const struct fxt_view *view, size_t from)
{
	size_t at = from, end = view->at_end ? view->left : view->left - FXT_LOOK + 1;
	if (is_scanned(view, from))
		return (size_t)(view->scanned->to - view->offset);
	while (at < end && !goes_on(view, at, 1))
		at++;
	if (view->scanned)
		*view->scanned = (struct fxt_scanned){.from = view->offset + from,
		                                      .to = view->offset + at,
		                                      .end = view->offset + view->left,
		                                      .at_end = view->at_end,
		                                      .big = view->big};
	return at;
}

static struct fxt_judgement judgement(enum fxt_verdict verdict, uint64_t size, const char *fault)
{
	return (struct fxt_judgement){.verdict = verdict, .size = size, .fault = fault};
}

/* The fault of a header, whose size may not be trusted. */
static const char *header_fault(uint64_t header)
{
	return tw_bits(header, 4, 15) == 0 && tw_bits(header, 0, 3) != TW_FXT_TYPE_LARGE ? "a size of at least 1 word"
	                                                                                 : "a record";
}

/* Whether all of a record is known to the format, as that of damaged bytes hardly ever is. */
static bool is_known(const struct tw_fxt_record *record)
{
	bool known = record->kind != TW_FXT_UNKNOWN && !record->reserved && !record->trailing_size;
	for (unsigned i = 0; i < record->argument_count; i++)
		known = known && record->arguments[i].type <= TW_FXT_ARG_BLOB && !record->arguments[i].trailing_size;
	return known;
}

/* Where in a record others begin; 0 if nowhere. */
static size_t holds_others(const struct fxt_view *view, uint64_t size)
{
	size_t end = size < view->left ? (size_t)size : view->left;
	for (size_t at = 1; at < end; at++)
		if (fxt_others_begin(view, at, end) && !fxt_is_chance(view, at))
			return at;
	return 0;
}

/* Returns where in a record others begin that lead across its end; 0 if nowhere. Of one that needs no others to be
 * believed they must refer to what is registered: words that the format does not know may look like any. */
static size_t holds_longer(const struct fxt_view *view, size_t size)
{
	bool alone = fxt_is_alone(view, 0);
	for (size_t at = 1; at < size; at++)
		if (fxt_goes_beyond(view, at, size) && !fxt_is_chance(view, at) && fxt_is_flawless(view, at) &&
		    (!alone || fxt_is_sound(view, at)))
			return at;
	return 0;
}

/* Whether what follows makes a size plausible: a record, maybe behind others that are strange too. */
static bool followed(const struct fxt_view *view, size_t at)
{
	for (unsigned count = 0; count < STRANGE; count++) {
		if ((view->at_end && view->left == at) || fxt_begins(view, at) || fxt_is_swapped(view, at) ||
		    fxt_goes_on(view, at))
			return true;
		size_t size = decodes(view, at);
		if (size == 0)
			return !view->at_end && fxt_is_begun(view, at);
		at += size;
	}
	return true;
}

/* A record of a size that may be right: what is in it and what follows it tell. One that is strange, with something as
 * strange behind it, may be the beginning of another. */
static struct fxt_judgement by_size(const struct fxt_view *view, const struct tw_fxt_decoder *decoder,
                                    const struct tw_fxt_record *record, bool fits)
{
	size_t size = (size_t)record->size;
	bool strange = !fits || !is_known(record);
	bool event = fits && record->type == TW_FXT_TYPE_EVENT && !record->trailing_size && fxt_is_alone(view, 0);
	size_t other = strange && !event ? holds_others(view, size) : 0;
	bool ends = view->at_end && view->left == size;
	bool joined = fxt_begins(view, size) || (event && fxt_is_alone(view, size));
	if (strange && !other && size < view->left && !joined)
		other = holds_longer(view, size);
	size_t next = !other && followed(view, size) ? size : scan(view, 1);
	next = other && other < next ? other : next;
	if (next == size)
		return (struct fxt_judgement){
		    .verdict = fits ? FXT_IS_RECORD : FXT_IS_BROKEN,
		    .size = size,
		    .fault = decoder->fault,
		    .joins = fits && (ends || joined || (event && record->thread.index)),
		};
	return judgement(FXT_IS_GARBAGE, next, decoder->fault ? decoder->fault : "a record");
}

/* Where others begin in a large record that the file ends in. As much of it as is repaired is judged as that will be,
 * by whole words. */
static size_t cut_holds_others(const struct fxt_view *view)
{
	size_t other = scan(view, 1);
	return other < view->left ? other : holds_others(view, view->left - view->left % TW_FXT_WORD);
}

/* A large record that is not all here. */
static struct fxt_judgement by_beginning(const struct fxt_view *view, const struct tw_fxt_record *record)
{
	size_t other = is_known(record) ? 0 : view->at_end ? cut_holds_others(view) : holds_others(view, record->size);
	if (!other)
		return (struct fxt_judgement){.verdict = FXT_IS_RECORD, .size = record->size};
	return judgement(FXT_IS_GARBAGE, other, "a record");
}

/* Whether what a record says about its contents ends in these bytes, though its size goes beyond them. */
static bool ends_here(const struct fxt_view *view)
{
	uint8_t bytes[TW_FXT_RECORD_MAX * TW_FXT_WORD];
	size_t left = view->left / TW_FXT_WORD * TW_FXT_WORD;
	uint64_t header = tw_load64(view->bytes, view->big);
	struct tw_fxt_decoder decoder = {.bytes = bytes, .left = left, .big = view->big};
	struct tw_fxt_record record;
	if (left > sizeof bytes || fxt_type(header) == TW_FXT_TYPE_LARGE)
		return false;
	memcpy(bytes, view->bytes, left);
	tw_store64(bytes, (header & ~FXT_BITS(4, 15)) | left / TW_FXT_WORD << 4, view->big);
	return tw_fxt_next(&decoder, &record) == 1;
}

/* A record that goes beyond the end of the file, unless others begin in it. An argument of one that is cut may look
 * like a last record. */
static struct fxt_judgement cut_or_garbage(const struct fxt_view *view, uint64_t size)
{
	unsigned least = fxt_is_sound(view, 0) && !ends_here(view) ? 2 : 1;
	for (size_t at = 1; at < view->left; at++)
		if (goes_on(view, at, least))
			return judgement(FXT_IS_GARBAGE, at, "a record that ends before the end of the file");
	return judgement(FXT_IS_CUT, size, "the rest of the record");
}

/* A provider info record: tables start anew with it, so it is looked into before it is taken. */
static struct fxt_judgement by_name(const struct fxt_view *view, size_t size)
{
	size_t inside = fxt_look_inside(view, size, false);
	if (inside < size)
		return judgement(FXT_IS_GARBAGE, inside, "a record as long as it says");
	if (fxt_is_alone(view, 0) || followed(view, size))
		return (struct fxt_judgement){.verdict = FXT_IS_RECORD, .size = size};
	return judgement(FXT_IS_GARBAGE, scan(view, 1), "a provider's name");
}

static struct fxt_judgement by_decoding(const struct fxt_view *view)
{
	struct tw_fxt_decoder decoder = {.bytes = view->bytes, .left = view->left, .big = view->big};
	struct tw_fxt_record record;
	int status = tw_fxt_next(&decoder, &record);
	if (status == 1 && record.kind == TW_FXT_PROVIDER_INFO && fxt_measure_at(view, 0))
		return by_name(view, (size_t)record.size);
	if (status == TW_ERR_ROOM)
		return view->at_end ? cut_or_garbage(view, decoder.need)
		                    : (struct fxt_judgement){.verdict = FXT_WANTS_MORE};
	if (status == 1 && record.size > view->left)
		return view->at_end && record.payload_here == 0 ? cut_or_garbage(view, record.size)
		                                                : by_beginning(view, &record);
	if (status == 1 || (status == TW_ERR_VALUE && record.size <= view->left))
		return by_size(view, &decoder, &record, status == 1);
	uint64_t header = tw_load64(view->bytes, view->big);
	return judgement(FXT_IS_GARBAGE, scan(view, 1), header_fault(header));
}

size_t fxt_look_behind(const struct fxt_view *view, size_t size)
{
	bool on = size == view->left || goes_on(view, size, 1);
	return on ? size : fxt_look_inside(view, size, true);
}

bool fxt_is_turn(const struct fxt_view *view)
{
	size_t size = fxt_measure_at(view, 0);
	return fxt_is_alone(view, 0) && ((view->at_end && view->left == size) || fxt_begins(view, size));
}

struct fxt_judgement fxt_judge(const struct fxt_view *view, bool in_garbage)
{
	if (!view->at_end && view->left < FXT_LOOK)
		return (struct fxt_judgement){.verdict = fxt_is_begun(view, 0) ? FXT_WANTS_MORE : FXT_WANTS_LAST};
	if (fxt_is_swapped(view, 0))
		return (struct fxt_judgement){.verdict = FXT_IS_SWAPPED};
	if (in_garbage)
		return (struct fxt_judgement){.verdict = FXT_IS_GARBAGE, .size = scan(view, 0)};
	if (view->left < TW_FXT_WORD)
		return judgement(FXT_IS_CUT, TW_FXT_WORD, "the rest of the record");
	return by_decoding(view);
}
