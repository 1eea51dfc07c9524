/* judge.c - what stands where no record can be seen at once: a strange record, a broken one, or none. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"
#include "fxt/measure.h"
#include "fxt/walk.h"

/* How many records in a row make a place trustworthy. */
enum { CHAIN = 3 };

/* The bytes that are judged, and what they are judged by. */
struct view {
	struct fxt_provider *provider;
	const uint8_t *bytes;
	size_t left;
	bool at_end, big;
	uint64_t offset;
};

static size_t measure(const struct view *view, size_t at)
{
	size_t left = view->left - at;
	if (left < TW_FXT_WORD)
		return 0;
	uint64_t header = tw_load64(view->bytes + at, view->big);
	return (size_t)fxt_measure(header, view->bytes + at, left / TW_FXT_WORD, view->big) * TW_FXT_WORD;
}

/* The size of a record that can be decoded, if not in every detail; 0 when there is none. */
static size_t decodes(const struct view *view, size_t at)
{
	struct tw_fxt_decoder decoder = {.bytes = view->bytes + at, .left = view->left - at, .big = view->big};
	struct tw_fxt_record record;
	if (tw_fxt_next(&decoder, &record) != 1 || record.size > view->left - at)
		return 0;
	return (size_t)record.size;
}

/* Whether records follow one another from here: enough of them, or as far as there are bytes. */
static bool chain(const struct view *view, size_t at)
{
	unsigned count = 0;
	for (; count < CHAIN && view->left - at >= TW_FXT_WORD; count++) {
		size_t size = measure(view, at);
		if (size == 0 && count > 0)
			size = decodes(view, at);
		if (size == 0)
			return !view->at_end && view->left - at < FXT_LOOK && count > 0;
		at += size;
	}
	return count == CHAIN || (count > 0 && view->left == at);
}

static bool string_known(const struct view *view, uint64_t reference, size_t at)
{
	return reference == 0 || reference >= TW_FXT_STRING_INLINE ||
	       fxt_string_at(view->provider, (unsigned)reference, view->offset + at) != NULL;
}

/* Whether a record that measures right is so by itself, without others behind it: what it refers to is there, or there are
 * so many zeros where it must have them that chance does not make them. */
static bool alone(const struct view *view, size_t at)
{
	uint64_t header = tw_load64(view->bytes + at, view->big), thread = tw_bits(header, 24, 31);
	if (tw_bits(header, 0, 3) < TW_FXT_TYPE_EVENT)
		return true;
	if (tw_bits(header, 0, 3) != TW_FXT_TYPE_EVENT || tw_bits(header, 48, 63) == 0)
		return false;
	return string_known(view, tw_bits(header, 32, 47), at) && string_known(view, tw_bits(header, 48, 63), at) &&
	       (thread == 0 || fxt_thread_at(view->provider, (unsigned)thread, view->offset + at) != NULL);
}

static bool begins(const struct view *view, size_t at)
{
	return measure(view, at) != 0 && (chain(view, at) || alone(view, at));
}

static bool is_swapped(const struct view *view, size_t at)
{
	return view->left - at >= TW_FXT_WORD && tw_load64(view->bytes + at, !view->big) == TW_FXT_MAGIC_WORD;
}

/* The next place that a record begins at; as far as the bytes allow to tell when there is none. Bytes may be missing or too
 * many, so that records need not stand at multiples of their words. */
static size_t scan(const struct view *view, size_t from)
{
	size_t end = view->at_end ? view->left : view->left - FXT_LOOK + 1;
	for (size_t at = from; at < end; at++)
		if (begins(view, at) || is_swapped(view, at))
			return at;
	return end;
}

/* The fault of a header, whose size may not be trusted. */
static const char *header_fault(uint64_t header)
{
	return tw_bits(header, 4, 15) == 0 && tw_bits(header, 0, 3) != TW_FXT_TYPE_LARGE ? "a size of at least 1 word"
	                                                                                 : "a record";
}

/* A record of a size that may be right: what follows it tells. */
static struct fxt_judgement by_size(const struct view *view, const struct tw_fxt_decoder *decoder, bool fits,
                                    size_t size)
{
	bool last = view->at_end && view->left == size;
	if (last || begins(view, size) || is_swapped(view, size) || (fits && decodes(view, size)))
		return (struct fxt_judgement){fits ? FXT_IS_RECORD : FXT_IS_BROKEN, size, decoder->fault, decoder->at};
	size_t next = scan(view, 1);
	if (next == size)
		return (struct fxt_judgement){fits ? FXT_IS_RECORD : FXT_IS_BROKEN, size, decoder->fault, decoder->at};
	return (struct fxt_judgement){FXT_IS_GARBAGE, next, decoder->fault ? decoder->fault : "a record", decoder->at};
}

/* A record that goes beyond the end of the file, unless others begin in it. */
static struct fxt_judgement cut_or_garbage(const struct view *view, uint64_t size)
{
	size_t next = scan(view, 1);
	if (next < view->left)
		return (struct fxt_judgement){FXT_IS_GARBAGE, next, "a record that ends before the end of the file", 0};
	return (struct fxt_judgement){FXT_IS_CUT, size, "the rest of the record", 0};
}

static struct fxt_judgement by_decoding(const struct view *view)
{
	struct tw_fxt_decoder decoder = {.bytes = view->bytes, .left = view->left, .big = view->big};
	struct tw_fxt_record record;
	int status = tw_fxt_next(&decoder, &record);
	if (status == TW_ERR_ROOM)
		return view->at_end ? cut_or_garbage(view, decoder.need)
		                    : (struct fxt_judgement){.verdict = FXT_WANTS_MORE};
	if (status == 1 && record.size > view->left)
		return view->at_end && record.payload_here == 0
		           ? cut_or_garbage(view, record.size)
		           : (struct fxt_judgement){.verdict = FXT_IS_RECORD, .size = record.size};
	if (status == 1 || (status == TW_ERR_VALUE && record.size <= view->left))
		return by_size(view, &decoder, status == 1, (size_t)record.size);
	uint64_t header = tw_load64(view->bytes, view->big);
	return (struct fxt_judgement){FXT_IS_GARBAGE, scan(view, 1), header_fault(header), 0};
}

size_t fxt_chain(const uint8_t *bytes, size_t left, bool big, unsigned *count)
{
	const struct view view = {.bytes = bytes, .left = left, .big = big};
	size_t at = 0, size;
	for (*count = 0; (size = measure(&view, at)) != 0; at += size)
		++*count;
	return at;
}

struct fxt_judgement fxt_judge(struct fxt_provider *provider, const uint8_t *bytes, size_t left, bool at_end, bool big,
                               bool in_garbage, uint64_t offset)
{
	const struct view view = {provider, bytes, left, at_end, big, offset};
	if (!at_end && left < FXT_LOOK)
		return (struct fxt_judgement){.verdict = FXT_WANTS_MORE};
	if (is_swapped(&view, 0))
		return (struct fxt_judgement){.verdict = FXT_IS_SWAPPED};
	if (in_garbage)
		return (struct fxt_judgement){.verdict = FXT_IS_GARBAGE, .size = scan(&view, 0)};
	if (left < TW_FXT_WORD)
		return (struct fxt_judgement){FXT_IS_CUT, TW_FXT_WORD, "the rest of the record", 0};
	return by_decoding(&view);
}
