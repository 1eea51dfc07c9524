/* classify.c - what stands at a place where the walk sees no record at once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/resync/resync.h"
#include "fxt/walk/walk.h"

#include <string.h>

/* So many strange records in a row are believed. */
enum { STRANGE = 8 };

/* The size of a record that can be decoded, if not in every detail; 0 when there is none. */
static size_t decoded_size(const struct fxt_view *view, size_t at)
{
	struct tw_fxt_record record;
	if (fxt_decode_at(view, at, &record) != 1 || record.size > view->left - at)
		return 0;
	return (size_t)record.size;
}

/* Whether records go on at a place behind damage. least: as in fxt_may_begin(). */
static bool records_go_on(const struct fxt_view *view, size_t at, unsigned least)
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

/* The next place at which a record begins, at any byte: bytes may be missing or too many. Where there is none, the
 * first place that cannot be told yet. */
static size_t next_record(const struct fxt_view *view, size_t from)
{
	size_t at = from, end = view->at_end ? view->left : view->left - FXT_LOOK + 1;
	if (is_scanned(view, from))
		return (size_t)(view->scanned->to - view->offset);
	while (at < end && !records_go_on(view, at, 1))
		at++;
	if (view->scanned)
		*view->scanned = (struct fxt_scanned){.from = view->offset + from,
		                                      .to = view->offset + at,
		                                      .end = view->offset + view->left,
		                                      .at_end = view->at_end,
		                                      .big = view->big};
	return at;
}

static struct fxt_place place_of(enum fxt_place_kind kind, uint64_t size, const char *fault)
{
	return (struct fxt_place){.kind = kind, .size = size, .fault = fault};
}

/* The fault of a header whose size is not believed. */
static const char *header_fault(uint64_t header)
{
	return tw_bits(header, 4, 15) == 0 && tw_bits(header, 0, 3) != TW_FXT_TYPE_LARGE ? "a size of at least 1 word"
	                                                                                 : "a record";
}

/* Whether the format knows all of a record. Of damaged bytes it hardly ever does. */
static bool is_known(const struct tw_fxt_record *record)
{
	bool known = record->kind != TW_FXT_UNKNOWN && !record->reserved && !record->trailing_size;
	for (unsigned i = 0; i < record->argument_count; i++)
		known = known && record->arguments[i].type <= TW_FXT_ARG_BLOB && !record->arguments[i].trailing_size;
	return known;
}

/* Where in a record others begin; 0 if nowhere. */
static size_t find_others(const struct fxt_view *view, uint64_t size)
{
	size_t end = size < view->left ? (size_t)size : view->left;
	for (size_t at = 1; at < end; at++)
		if (fxt_others_begin(view, at, end) && !fxt_is_chance(view, at))
			return at;
	return 0;
}

/* Where in a record others begin that lead across its end; 0 if nowhere. In a record that stands alone the references
 * of the others must be registered: words that the format does not know may look like any record. */
static size_t find_longer(const struct fxt_view *view, size_t size)
{
	bool alone = fxt_is_alone(view, 0);
	for (size_t at = 1; at < size; at++)
		if (fxt_goes_beyond(view, at, size) && !fxt_is_chance(view, at) && fxt_is_flawless(view, at) &&
		    (!alone || fxt_is_sound(view, at)))
			return at;
	return 0;
}

/* Whether a size leads to a record, perhaps over records that are strange, too. */
static bool is_followed(const struct fxt_view *view, size_t at)
{
	for (unsigned count = 0; count < STRANGE; count++) {
		if ((view->at_end && view->left == at) || fxt_begins(view, at) || fxt_is_swapped(view, at) ||
		    fxt_goes_on(view, at))
			return true;
		size_t size = decoded_size(view, at);
		if (size == 0)
			return !view->at_end && fxt_is_begun(view, at);
		at += size;
	}
	return true;
}

/* A record whose size may be right: the records in it and behind it tell. Records may begin in one that is strange. */
static struct fxt_place classify_sized(const struct fxt_view *view, const struct tw_fxt_decoder *decoder,
                                       const struct tw_fxt_record *record, bool fits)
{
	size_t size = (size_t)record->size;
	bool strange = !fits || !is_known(record);
	bool event = fits && record->type == TW_FXT_TYPE_EVENT && !record->trailing_size && fxt_is_alone(view, 0);
	size_t other = strange && !event ? find_others(view, size) : 0;
	bool ends = view->at_end && view->left == size;
	bool joined = fxt_begins(view, size) || (event && fxt_is_alone(view, size));
	if (strange && !other && size < view->left && !joined)
		other = find_longer(view, size);
	size_t next = !other && is_followed(view, size) ? size : next_record(view, 1);
	next = other && other < next ? other : next;
	if (next == size)
		return (struct fxt_place){
		    .kind = fits ? FXT_PLACE_RECORD : FXT_PLACE_BROKEN,
		    .size = size,
		    .fault = decoder->fault,
		    .joins = fits && (ends || joined || (event && record->thread.index)),
		};
	return place_of(FXT_PLACE_GARBAGE, next, decoder->fault ? decoder->fault : "a record");
}

/* Where others begin in a large record that the file ends in. Its last words are looked at without what is less than a
 * word, as they stand in a repaired file. */
static size_t find_others_in_cut(const struct fxt_view *view)
{
	size_t other = next_record(view, 1);
	return other < view->left ? other : find_others(view, view->left - view->left % TW_FXT_WORD);
}

/* A large record that is not all here. */
static struct fxt_place classify_large(const struct fxt_view *view, const struct tw_fxt_record *record)
{
	size_t other = is_known(record) ? 0 : view->at_end ? find_others_in_cut(view) : find_others(view, record->size);
	if (!other)
		return place_of(FXT_PLACE_RECORD, record->size, NULL);
	return place_of(FXT_PLACE_GARBAGE, other, "a record");
}

/* Whether the contents of a record end in these bytes, though its size goes beyond them. */
static bool ends_here(const struct fxt_view *view)
{
	uint8_t bytes[TW_FXT_RECORD_MAX * TW_FXT_WORD];
	size_t left = view->left / TW_FXT_WORD * TW_FXT_WORD;
	uint64_t header = fxt_header_at(view, 0);
	struct tw_fxt_decoder decoder = {.bytes = bytes, .left = left, .big = view->big};
	struct tw_fxt_record record;
	if (left > sizeof bytes || fxt_type(header) == TW_FXT_TYPE_LARGE)
		return false;
	memcpy(bytes, view->bytes, left);
	tw_store64(bytes, (header & ~FXT_BITS(4, 15)) | left / TW_FXT_WORD << 4, view->big);
	return tw_fxt_next(&decoder, &record) == 1;
}

/* A record that goes beyond the end of the file, unless others begin in it. The last argument of a sound record may
 * look like a record: there it takes two. */
static struct fxt_place classify_cut(const struct fxt_view *view, uint64_t size)
{
	unsigned least = fxt_is_sound(view, 0) && !ends_here(view) ? 2 : 1;
	for (size_t at = 1; at < view->left; at++)
		if (records_go_on(view, at, least))
			return place_of(FXT_PLACE_GARBAGE, at, "a record that ends before the end of the file");
	return place_of(FXT_PLACE_CUT, size, "the rest of the record");
}

/* A provider info record: tables start anew with it, so records are looked for in it first. */
static struct fxt_place classify_provider(const struct fxt_view *view, size_t size)
{
	size_t inside = fxt_find_swallowed(view, size, false);
	if (inside < size)
		return place_of(FXT_PLACE_GARBAGE, inside, "a record as long as it says");
	if (fxt_is_alone(view, 0) || is_followed(view, size))
		return place_of(FXT_PLACE_RECORD, size, NULL);
	return place_of(FXT_PLACE_GARBAGE, next_record(view, 1), "a provider's name");
}

static struct fxt_place classify_decoded(const struct fxt_view *view)
{
	struct tw_fxt_decoder decoder = {.bytes = view->bytes, .left = view->left, .big = view->big};
	struct tw_fxt_record record;
	int status = tw_fxt_next(&decoder, &record);
	if (status == 1 && record.kind == TW_FXT_PROVIDER_INFO && fxt_measure_at(view, 0))
		return classify_provider(view, (size_t)record.size);
	if (status == TW_ERR_ROOM)
		return view->at_end ? classify_cut(view, decoder.need) : place_of(FXT_PLACE_NEEDS_BYTES, 0, NULL);
	if (status == 1 && record.size > view->left)
		return view->at_end && record.payload_here == 0 ? classify_cut(view, record.size)
		                                                : classify_large(view, &record);
	if (status == 1 || (status == TW_ERR_VALUE && record.size <= view->left))
		return classify_sized(view, &decoder, &record, status == 1);
	uint64_t header = fxt_header_at(view, 0);
	return place_of(FXT_PLACE_GARBAGE, next_record(view, 1), header_fault(header));
}

size_t fxt_find_in_blob(const struct fxt_view *view, size_t size)
{
	bool on = size == view->left || records_go_on(view, size, 1);
	return on ? size : fxt_find_swallowed(view, size, true);
}

bool fxt_is_metadata_sure(const struct fxt_view *view)
{
	size_t size = fxt_measure_at(view, 0);
	return fxt_is_alone(view, 0) && ((view->at_end && view->left == size) || fxt_begins(view, size));
}

struct fxt_place fxt_classify(const struct fxt_view *view, bool in_garbage)
{
	if (!view->at_end && view->left < FXT_LOOK)
		return place_of(fxt_is_begun(view, 0) ? FXT_PLACE_NEEDS_BYTES : FXT_PLACE_NEEDS_LAST, 0, NULL);
	if (fxt_is_swapped(view, 0))
		return place_of(FXT_PLACE_SWAPPED, 0, NULL);
	if (in_garbage)
		return place_of(FXT_PLACE_GARBAGE, next_record(view, 0), NULL);
	if (view->left < TW_FXT_WORD)
		return place_of(FXT_PLACE_CUT, TW_FXT_WORD, "the rest of the record");
	return classify_decoded(view);
}
