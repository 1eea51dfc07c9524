/* evidence.c - what speaks for and against a record at a place. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/utf8.h"
#include "fxt/resync/resync.h"

#include <string.h>

/* Words of a record that chance may make of any bytes; a longer one it does not. */
enum { SHORT = 64 };

/* Bytes of an object that has no more than a number. */
enum { LEAST_OBJECT = 2 * TW_FXT_WORD };

/* Whether the header at a place asks for more bytes than there are. */
static bool goes_beyond(const struct fxt_view *view, size_t at)
{
	size_t left = view->left - at;
	return left < TW_FXT_WORD || fxt_size(fxt_header_at(view, at)) > left / TW_FXT_WORD;
}

/* What repair registers where nothing was does not count, here and for threads: a repaired archive must look like its
 * source. */
static bool string_known(const struct fxt_view *view, uint64_t index, size_t at)
{
	const struct fxt_entry *entry = fxt_string_at(view->state->current, (unsigned)index, view->offset + at);
	return entry && !fxt_is_undefined(entry, (unsigned)index);
}

/* Whether bytes are what good texts are made of. */
static bool is_text(const uint8_t *bytes, uint64_t length)
{
	return length && !memchr(bytes, 0, (size_t)length) && tw_is_utf8(bytes, (size_t)length);
}

/* Whether a reference leads to a text that is registered, or that is in the record and looks like one. */
static bool is_named(const struct fxt_view *view, const struct tw_fxt_string *string, size_t at)
{
	return string->reference < TW_FXT_STRING_INLINE ? string_known(view, string->reference, at)
	                                                : is_text(string->bytes, string->length);
}

bool fxt_is_thread_known(const struct fxt_view *view, uint64_t index, size_t at)
{
	const struct fxt_entry *entry = fxt_thread_at(view->state->current, (unsigned)index, view->offset + at);
	return entry && (entry->process || (entry->thread && entry->thread < FXT_INVENTED_UNDEFINED));
}

bool fxt_is_string_sound(const struct fxt_view *view, uint64_t reference, size_t at)
{
	return reference == 0 || reference >= TW_FXT_STRING_INLINE || string_known(view, reference, at);
}

bool fxt_is_thread_sound(const struct fxt_view *view, uint64_t index, size_t at)
{
	return index == 0 || fxt_is_thread_known(view, index, at);
}

/* Whether an event is one by itself. With the koids of its thread in the record less of it can be known. */
static bool is_event_alone(const struct fxt_view *view, const struct tw_fxt_record *event, size_t at)
{
	bool categorized = is_named(view, &event->category, at);
	if (!is_named(view, &event->name, at) || (event->category.reference && !categorized))
		return false;
	return fxt_is_thread_known(view, event->thread.index, at) || (event->thread.index == 0 && categorized);
}

/* The same for a large blob, whose sizes agree. */
static bool is_blob_alone(const struct fxt_view *view, const struct tw_fxt_record *blob, size_t at)
{
	return is_named(view, &blob->name, at) && (!blob->category.reference || is_named(view, &blob->category, at)) &&
	       fxt_is_thread_sound(view, blob->thread.index, at);
}

bool fxt_is_alone(const struct fxt_view *view, size_t at)
{
	struct tw_fxt_record record;
	if (fxt_decode_at(view, at, &record) != 1 || record.padded)
		return false;
	switch (record.type) {
	case TW_FXT_TYPE_METADATA:
		return record.kind == TW_FXT_PROVIDER_INFO ? is_text(record.name.bytes, record.name.length)
		                                           : record.kind != TW_FXT_UNKNOWN;
	case TW_FXT_TYPE_INITIALIZATION:
		return record.id - 1 < TW_FREQUENCY_MAX;
	case TW_FXT_TYPE_STRING:
		return record.index != 0 && is_text(record.payload, record.payload_size);
	case TW_FXT_TYPE_THREAD:
		return record.index != 0;
	case TW_FXT_TYPE_EVENT:
		return is_event_alone(view, &record, at);
	case TW_FXT_TYPE_BLOB:
	case TW_FXT_TYPE_USERSPACE_OBJECT:
	case TW_FXT_TYPE_KERNEL_OBJECT:
		return record.name.reference > TW_FXT_STRING_INLINE && is_named(view, &record.name, at);
	case TW_FXT_TYPE_LOG:
		return fxt_is_thread_sound(view, record.thread.index, at) &&
		       is_text(record.payload, record.payload_size);
	case TW_FXT_TYPE_LARGE:
		return record.kind == TW_FXT_LARGE_BLOB && is_blob_alone(view, &record, at);
	default:
		return false;
	}
}

bool fxt_is_sound(const struct fxt_view *view, size_t at)
{
	uint64_t header = fxt_header_at(view, at);
	enum tw_fxt_kind kind = fxt_kind(header);
	if (kind == TW_FXT_UNKNOWN || header & fxt_reserved(kind))
		return false;
	return fxt_type(header) != TW_FXT_TYPE_EVENT || (fxt_is_string_sound(view, tw_bits(header, 32, 47), at) &&
	                                                 fxt_is_string_sound(view, tw_bits(header, 48, 63), at) &&
	                                                 fxt_is_thread_sound(view, tw_bits(header, 24, 31), at));
}

/* Whether the header of a good record says all that its size must be, or what it refers to is there. */
static bool may_be_long(const struct fxt_view *view, uint64_t header, size_t at)
{
	if (fxt_type(header) == TW_FXT_TYPE_STRING)
		return fxt_size(header) == 1 + fxt_words(tw_bits(header, 32, 46));
	return fxt_type(header) >= TW_FXT_TYPE_EVENT && fxt_is_sound(view, at);
}

bool fxt_is_begun(const struct fxt_view *view, size_t at)
{
	if (view->left - at < TW_FXT_WORD)
		return true;
	uint64_t header = fxt_header_at(view, at);
	enum tw_fxt_kind kind = fxt_kind(header);
	bool fits = kind != TW_FXT_UNKNOWN && !(header & fxt_reserved(kind)) && goes_beyond(view, at);
	return fits && (fxt_size(header) <= SHORT || may_be_long(view, header, at));
}

bool fxt_is_large_begun(const struct fxt_view *view, size_t at)
{
	size_t words = (view->left - at) / TW_FXT_WORD;
	uint64_t header = words ? fxt_header_at(view, at) : 0;
	return fxt_size(header) > words && fxt_is_large(header, view->bytes + at, words, view->big);
}

/* The size of a short record of an unknown type behind a solid one; 0 where there is none. */
static size_t unknown_behind(const struct fxt_view *view, size_t solid, size_t at)
{
	uint64_t header = fxt_header_at(view, at), words = fxt_size(header);
	bool unknown = fxt_kind(header) == TW_FXT_UNKNOWN && words <= SHORT && words * TW_FXT_WORD <= view->left - at;
	bool large = fxt_type(fxt_header_at(view, solid)) == TW_FXT_TYPE_LARGE;
	return unknown && solid < at && !large && fxt_is_solid(view, solid, at - solid) ? words * TW_FXT_WORD : 0;
}

/* Whether records follow one another from here: enough of them, or, if at least so many, up to the last byte. Unknown
 * ones between them do not count. */
static bool chain(const struct fxt_view *view, size_t at, unsigned least)
{
	unsigned count = 0;
	size_t last = at;
	while (count < FXT_CHAIN && view->left - at >= TW_FXT_WORD) {
		size_t known = fxt_measure_at(view, at), size = known ? known : unknown_behind(view, last, at);
		if (size == 0)
			return !view->at_end && count > 0 && fxt_is_begun(view, at);
		count += known != 0;
		at += size;
		last = known ? at - size : at;
	}
	return count == FXT_CHAIN || (count >= least && view->left == at);
}

/* Whether a uint64 has the header of such an event: without names, and of thread 128 where its own name is inline. */
static bool is_uint64_argument(uint64_t header)
{
	return fxt_type(header) == TW_FXT_TYPE_EVENT && tw_bits(header, 31, 63) == 1 &&
	       fxt_size(header) == 2 + fxt_text_words(header >> 16);
}

/* Whether a header is what is left of a record rather than that of one: a thread of index 0 sets nothing. */
static bool is_left_over(uint64_t header)
{
	return is_uint64_argument(header) || (fxt_type(header) == TW_FXT_TYPE_THREAD && tw_bits(header, 16, 23) == 0);
}

bool fxt_is_weak(const struct fxt_view *view, size_t at, size_t size)
{
	uint64_t header = fxt_header_at(view, at);
	if (header >> 16 == 0) /* the sizes in a large blob are not there by chance where others follow it */
		return fxt_type(header) != TW_FXT_TYPE_INITIALIZATION &&
		       !(fxt_type(header) == TW_FXT_TYPE_LARGE &&
		         (fxt_is_alone(view, at) || chain(view, at, FXT_CHAIN)));
	switch (fxt_type(header)) {
	case TW_FXT_TYPE_METADATA:
		return size == TW_FXT_WORD && header != TW_FXT_MAGIC_WORD &&
		       !fxt_state_knows(view->state, (uint32_t)tw_bits(header, 20, 51));
	case TW_FXT_TYPE_STRING:
		return tw_bits(header, 16, 30) == 0 || tw_bits(header, 32, 46) == 0;
	case TW_FXT_TYPE_THREAD:
		return tw_bits(header, 16, 23) == 0;
	case TW_FXT_TYPE_EVENT:
		return is_uint64_argument(header) && !fxt_is_thread_known(view, tw_bits(header, 24, 31), at);
	case TW_FXT_TYPE_USERSPACE_OBJECT:
	case TW_FXT_TYPE_KERNEL_OBJECT:
		return size == LEAST_OBJECT && !string_known(view, tw_bits(header, 24, 39), at);
	default:
		return false;
	}
}

/* Whether an argument of bytes has such a header: its type is the same number. */
static bool is_blob_argument(uint64_t header)
{
	return fxt_size(header) == 1 + fxt_text_words(header >> 16) + fxt_words(header >> 32);
}

bool fxt_is_solid(const struct fxt_view *view, size_t at, size_t size)
{
	uint64_t header = fxt_header_at(view, at);
	if (fxt_is_weak(view, at, size))
		return false;
	switch (fxt_type(header)) {
	case TW_FXT_TYPE_METADATA:
		return size > TW_FXT_WORD ? fxt_is_alone(view, at) : header == TW_FXT_MAGIC_WORD;
	case TW_FXT_TYPE_INITIALIZATION:
		return false;
	case TW_FXT_TYPE_EVENT:
		return tw_bits(header, 32, 63) != 0; /* a uint64 has zeros there */
	case TW_FXT_TYPE_USERSPACE_OBJECT:
	case TW_FXT_TYPE_KERNEL_OBJECT:
		return size > LEAST_OBJECT;
	case TW_FXT_TYPE_SCHEDULING:
		return fxt_kind(header) != TW_FXT_LEGACY_CONTEXT_SWITCH; /* a koid with a name in it looks like one */
	case TW_FXT_TYPE_PROFILER:
		return !is_blob_argument(header);
	default:
		return true;
	}
}

bool fxt_may_begin(const struct fxt_view *view, size_t at, unsigned least)
{
	size_t size = fxt_measure_at(view, at);
	return size != 0 && !fxt_is_weak(view, at, size) && (chain(view, at, least) || fxt_is_alone(view, at));
}

bool fxt_begins(const struct fxt_view *view, size_t at)
{
	return fxt_may_begin(view, at, 1);
}

bool fxt_goes_on(const struct fxt_view *view, size_t at)
{
	size_t size = fxt_measure_at(view, at);
	return size != 0 && !fxt_is_weak(view, at, size) && fxt_is_sound(view, at);
}

bool fxt_is_swapped(const struct fxt_view *view, size_t at)
{
	return view->left - at >= TW_FXT_WORD && tw_load64(view->bytes + at, !view->big) == TW_FXT_MAGIC_WORD;
}

bool fxt_others_begin(const struct fxt_view *view, size_t at, size_t size)
{
	bool solid = false;
	unsigned count = 0;
	/* Those behind what is left of another record are the first. */
	if (size - at >= TW_FXT_WORD && is_left_over(fxt_header_at(view, at)))
		return false;
	while (count < FXT_SEARCHED && at < size && !(solid && count >= FXT_CHAIN)) {
		size_t next = fxt_measure_at(view, at);
		if (next == 0 || next > size - at)
			return size == view->left && fxt_is_large_begun(view, at);
		solid = solid || fxt_is_solid(view, at, next);
		at += next;
		count++;
	}
	return solid;
}

/* Whether a reference leads out of the record, or to what is empty or a good text. */
static bool is_fine(const struct tw_fxt_string *string)
{
	return !string->bytes || string->length == 0 || is_text(string->bytes, string->length);
}

/* Whether numbers that may not be any are what they may be. */
static bool is_in_range(const struct tw_fxt_record *record)
{
	return record->scope <= FXT_SCOPE_MAX &&
	       (record->kind != TW_FXT_CONTEXT_SWITCH || record->state <= FXT_STATE_KNOWN) &&
	       (record->kind != TW_FXT_INITIALIZATION || record->id - 1 < TW_FREQUENCY_MAX);
}

bool fxt_is_flawless(const struct fxt_view *view, size_t at)
{
	struct tw_fxt_record record;
	if (fxt_decode_at(view, at, &record) != 1 || record.padded)
		return false;
	bool texts = record.type == TW_FXT_TYPE_STRING || record.type == TW_FXT_TYPE_LOG;
	bool flawless = is_in_range(&record) && is_fine(&record.name) && is_fine(&record.category) &&
	                (!texts || record.payload_size == 0 || is_text(record.payload, record.payload_size));
	for (unsigned i = 0; i < record.argument_count; i++)
		flawless = flawless && is_fine(&record.arguments[i].name) && is_fine(&record.arguments[i].text);
	return flawless;
}

static bool is_legacy_switch(const struct fxt_view *view, size_t at)
{
	return fxt_kind(fxt_header_at(view, at)) == TW_FXT_LEGACY_CONTEXT_SWITCH;
}

/* Whether a record is a legacy context switch of a thread that nothing registers, and none of the next ones is another:
 * an event whose type was hit looks like it. */
static bool is_switch_of_nobody(const struct fxt_view *view, size_t at)
{
	uint64_t header = fxt_header_at(view, at);
	if (!is_legacy_switch(view, at) || (fxt_is_thread_sound(view, tw_bits(header, 28, 35), at) &&
	                                    fxt_is_thread_sound(view, tw_bits(header, 36, 43), at)))
		return false;
	for (unsigned count = 0; count < FXT_CHAIN; count++) {
		at += fxt_measure_at(view, at);
		if (fxt_measure_at(view, at) == 0)
			return true;
		if (is_legacy_switch(view, at))
			return false;
	}
	return true;
}

bool fxt_is_chance(const struct fxt_view *view, size_t at)
{
	size_t size = fxt_measure_at(view, at), end = at + size;
	if (size && is_switch_of_nobody(view, at))
		return true;
	bool likely = size > SHORT * TW_FXT_WORD || (fxt_is_sound(view, at) && fxt_is_solid(view, at, size));
	bool sure = likely && fxt_is_flawless(view, at);
	for (size_t inside = at + 1; !sure && inside < end; inside++)
		if (fxt_others_begin(view, inside, end))
			return true;
	return false;
}

bool fxt_goes_beyond(const struct fxt_view *view, size_t at, size_t size)
{
	unsigned solid = 0;
	if (view->left - at >= TW_FXT_WORD && is_left_over(fxt_header_at(view, at)))
		return false;
	for (unsigned count = 0; count < FXT_SEARCHED && (solid < FXT_CHAIN || at < size); count++) {
		size_t next = fxt_measure_at(view, at);
		if (next == 0 || at + next == size)
			return fxt_is_large_begun(view, at);
		solid += fxt_is_solid(view, at, next);
		at += next;
	}
	return solid >= FXT_CHAIN && at > size;
}

size_t fxt_chain(const uint8_t *bytes, size_t left, bool big, unsigned *count)
{
	const struct fxt_view view = {.bytes = bytes, .left = left, .big = big};
	size_t at = 0, size;
	for (*count = 0; (size = fxt_measure_at(&view, at)) != 0; at += size)
		++*count;
	return at;
}
