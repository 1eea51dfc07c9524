/* judge.c - what stands where no record can be seen at once: a strange record, a broken one, or none. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"
#include "base/utf8.h"
#include "fxt/measure.h"
#include "fxt/walk.h"

#include <stdlib.h>
#include <string.h>

/* How many records in a row make a place trustworthy. */
enum { CHAIN = 3 };

/* How many strange ones in a row make one of them trustworthy. */
enum { STRANGE = 8 };

/* How many records are looked at to find those that are nothing else. */
enum { SEARCHED = 16 };

/* Words of a record that may be whatever chance makes; a longer one is none. */
enum { SHORT = 64 };

/* Bytes of an object that has no more than a number. */
enum { LEAST_OBJECT = 2 * TW_FXT_WORD };

/* The bytes that are judged, and what they are judged by. */
struct view {
	const struct fxt_state *state;
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

/* Whether the header at a place asks for more bytes than there are. */
static bool runs_out(const struct view *view, size_t at)
{
	size_t left = view->left - at;
	return left < TW_FXT_WORD || fxt_size(tw_load64(view->bytes + at, view->big)) > left / TW_FXT_WORD;
}

static bool string_known(const struct view *view, uint64_t index, size_t at)
{
	return index > 0 && index < TW_FXT_STRING_INLINE &&
	       fxt_string_at(view->state->current, (unsigned)index, view->offset + at) != NULL;
}

/* Whether bytes are what good texts are made of. */
static bool is_text(const uint8_t *bytes, uint64_t length)
{
	return length && !memchr(bytes, 0, (size_t)length) && tw_is_utf8(bytes, (size_t)length);
}

/* Whether a reference leads to a text that is registered, or that is in the record and looks like one. */
static bool is_named(const struct view *view, const struct tw_fxt_string *string, size_t at)
{
	return string->reference < TW_FXT_STRING_INLINE ? string_known(view, string->reference, at)
	                                                : is_text(string->bytes, string->length);
}

static bool thread_known(const struct view *view, uint64_t index, size_t at)
{
	return index > 0 && fxt_thread_at(view->state->current, (unsigned)index, view->offset + at) != NULL;
}

static bool string_sound(const struct view *view, uint64_t reference, size_t at)
{
	return reference == 0 || reference >= TW_FXT_STRING_INLINE || string_known(view, reference, at);
}

static bool thread_sound(const struct view *view, uint64_t index, size_t at)
{
	return index == 0 || thread_known(view, index, at);
}

/* Whether an event is one by itself. With the koids of its thread in the record less of it can be known. */
static bool is_event_alone(const struct view *view, const struct tw_fxt_record *event, size_t at)
{
	bool categorized = is_named(view, &event->category, at);
	if (!is_named(view, &event->name, at) || (event->category.reference && !categorized))
		return false;
	return thread_known(view, event->thread.index, at) || (event->thread.index == 0 && categorized);
}

/* Whether a record that measures right is one by itself, without others behind it: what it refers to is in the tables,
 * what it holds are texts, or it has zeros enough that chance does not make them. What is nearly all zeros is found
 * anywhere. */
static bool is_alone(const struct view *view, size_t at)
{
	struct tw_fxt_decoder decoder = {.bytes = view->bytes + at, .left = view->left - at, .big = view->big};
	struct tw_fxt_record record;
	if (tw_fxt_next(&decoder, &record) != 1 || record.padded)
		return false;
	switch (record.type) {
	case TW_FXT_TYPE_METADATA:
		return record.kind != TW_FXT_PROVIDER_INFO || is_text(record.name.bytes, record.name.length);
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
		return thread_sound(view, record.thread.index, at) && is_text(record.payload, record.payload_size);
	default:
		return false;
	}
}

/* Whether a header is all that a good one must be, but for its size. */
static bool is_sound(const struct view *view, size_t at)
{
	uint64_t header = tw_load64(view->bytes + at, view->big);
	enum tw_fxt_kind kind = fxt_kind(header);
	if (kind == TW_FXT_UNKNOWN || header & fxt_reserved(kind))
		return false;
	return fxt_type(header) != TW_FXT_TYPE_EVENT ||
	       (string_sound(view, tw_bits(header, 32, 47), at) && string_sound(view, tw_bits(header, 48, 63), at) &&
	        thread_sound(view, tw_bits(header, 24, 31), at));
}

/* Whether the header of a good record says all that its size must be, or what it refers to is there. */
static bool may_be_long(const struct view *view, uint64_t header, size_t at)
{
	if (fxt_type(header) == TW_FXT_TYPE_STRING)
		return fxt_size(header) == 1 + fxt_words(tw_bits(header, 32, 46));
	return fxt_type(header) >= TW_FXT_TYPE_EVENT && is_sound(view, at);
}

/* Whether bytes look like the beginning of a record that is not all here, as the last ones of nearly every chunk do. */
static bool is_begun(const struct view *view, size_t at)
{
	if (view->left - at < TW_FXT_WORD)
		return true;
	uint64_t header = tw_load64(view->bytes + at, view->big);
	enum tw_fxt_kind kind = fxt_kind(header);
	bool fits = kind != TW_FXT_UNKNOWN && !(header & fxt_reserved(kind)) && runs_out(view, at);
	return fits && (fxt_size(header) <= SHORT || may_be_long(view, header, at));
}

/* Whether records follow one another from here: enough of them, or, if at least so many, up to the last byte. */
static bool chain(const struct view *view, size_t at, unsigned least)
{
	unsigned count = 0;
	for (; count < CHAIN && view->left - at >= TW_FXT_WORD; count++) {
		size_t size = measure(view, at);
		if (size == 0)
			return !view->at_end && count > 0 && is_begun(view, at);
		at += size;
	}
	return count == CHAIN || (count >= least && view->left == at);
}

/* Whether what measures right may as well be an argument or a small number. A null argument looks like the section of
 * some provider, an end of 74 ticks like a module without a name, a uint32 of 0 like an empty string, a small number
 * like a thread without one, a pointer or a text like an object without a name. */
static bool is_weak(const struct view *view, size_t at, size_t size)
{
	uint64_t header = tw_load64(view->bytes + at, view->big);
	if (header >> 16 == 0)
		return fxt_type(header) != TW_FXT_TYPE_INITIALIZATION;
	switch (fxt_type(header)) {
	case TW_FXT_TYPE_METADATA:
		return size == TW_FXT_WORD && header != TW_FXT_MAGIC_WORD &&
		       !fxt_state_knows(view->state, (uint32_t)tw_bits(header, 20, 51));
	case TW_FXT_TYPE_STRING:
		return tw_bits(header, 16, 30) == 0 || tw_bits(header, 32, 46) == 0;
	case TW_FXT_TYPE_THREAD:
		return tw_bits(header, 16, 23) == 0;
	case TW_FXT_TYPE_USERSPACE_OBJECT:
	case TW_FXT_TYPE_KERNEL_OBJECT:
		return size == LEAST_OBJECT && !string_known(view, tw_bits(header, 24, 39), at);
	default:
		return false;
	}
}

/* Whether what measures right is hardly an argument. */
static bool is_solid(const struct view *view, size_t at, size_t size)
{
	uint64_t header = tw_load64(view->bytes + at, view->big);
	if (is_weak(view, at, size))
		return false;
	switch (fxt_type(header)) {
	case TW_FXT_TYPE_METADATA:
		return size > TW_FXT_WORD ? is_alone(view, at) : header == TW_FXT_MAGIC_WORD;
	case TW_FXT_TYPE_INITIALIZATION:
		return false;
	case TW_FXT_TYPE_EVENT:
		return tw_bits(header, 32, 63) != 0; /* a uint64 has zeros there */
	case TW_FXT_TYPE_USERSPACE_OBJECT:
	case TW_FXT_TYPE_KERNEL_OBJECT:
		return size > LEAST_OBJECT;
	case TW_FXT_TYPE_SCHEDULING:
		return fxt_kind(header) != TW_FXT_LEGACY_CONTEXT_SWITCH; /* a koid with a name in it looks like one */
	default:
		return true;
	}
}

/* least: chain(). */
static bool may_begin(const struct view *view, size_t at, unsigned least)
{
	size_t size = measure(view, at);
	return size != 0 && !is_weak(view, at, size) && (chain(view, at, least) || is_alone(view, at));
}

static bool begins(const struct view *view, size_t at)
{
	return may_begin(view, at, 1);
}

static bool is_swapped(const struct view *view, size_t at)
{
	return view->left - at >= TW_FXT_WORD && tw_load64(view->bytes + at, !view->big) == TW_FXT_MAGIC_WORD;
}

/* Whether records follow one another from a place in what says that it is one record of `size` bytes, several or up to
 * its end, and one of them is hardly an argument. Neither what comes after it nor the tables matter: in a repaired
 * archive both are something else. */
static bool others_begin(const struct view *view, size_t at, size_t size)
{
	bool solid = false;
	unsigned count = 0;
	while (count < SEARCHED && at < size && !(solid && count >= CHAIN)) {
		size_t next = measure(view, at);
		if (next == 0 || next > size - at)
			return false;
		solid = solid || is_solid(view, at, next);
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

/* Whether numbers that may not be any are what they may be: the document, "Initialization Record", "Instant event" and
 * "Context Switch Record". */
static bool is_in_range(const struct tw_fxt_record *record)
{
	enum { SCOPE_MAX = 2, STATE_MAX = 5 };
	return record->scope <= SCOPE_MAX && (record->kind != TW_FXT_CONTEXT_SWITCH || record->state <= STATE_MAX) &&
	       (record->kind != TW_FXT_INITIALIZATION || record->id - 1 < TW_FREQUENCY_MAX);
}

/* Whether a record has no flaw in its padding, its texts and its numbers, as one of bytes that chance brought together
 * mostly has. */
static bool is_flawless(const struct view *view, size_t at)
{
	struct tw_fxt_decoder decoder = {.bytes = view->bytes + at, .left = view->left - at, .big = view->big};
	struct tw_fxt_record record;
	if (tw_fxt_next(&decoder, &record) != 1 || record.padded)
		return false;
	bool texts = record.type == TW_FXT_TYPE_STRING || record.type == TW_FXT_TYPE_LOG;
	bool flawless = is_in_range(&record) && is_fine(&record.name) && is_fine(&record.category) &&
	                (!texts || record.payload_size == 0 || is_text(record.payload, record.payload_size));
	for (unsigned i = 0; i < record.argument_count; i++)
		flawless = flawless && is_fine(&record.arguments[i].name) && is_fine(&record.arguments[i].text);
	return flawless;
}

/* Whether chance has made a record of damaged bytes and of what follows them: it may be none, and ends where others do
 * that begin in it. */
static bool is_chance(const struct view *view, size_t at)
{
	size_t size = measure(view, at), end = at + size;
	bool sure =
	    size > SHORT * TW_FXT_WORD || (is_sound(view, at) && is_solid(view, at, size) && is_flawless(view, at));
	for (size_t inside = at + 1; !sure && inside < end; inside++)
		if (others_begin(view, inside, end))
			return true;
	return false;
}

/* Whether it is here that records go on behind damage. least: chain(). */
static bool goes_on(const struct view *view, size_t at, unsigned least)
{
	return (may_begin(view, at, least) && !is_chance(view, at)) || is_swapped(view, at);
}

/* The next place that a record begins at; as far as the bytes allow to tell when there is none. Bytes may be missing or
 * too many, so that records need not stand at multiples of their words. */
static size_t scan(const struct view *view, size_t from)
{
	size_t end = view->at_end ? view->left : view->left - FXT_LOOK + 1;
	for (size_t at = from; at < end; at++)
		if (goes_on(view, at, 1))
			return at;
	return end;
}

static struct fxt_judgement judgement(enum fxt_verdict verdict, uint64_t size, const char *fault, size_t at)
{
	return (struct fxt_judgement){.verdict = verdict, .size = size, .fault = fault, .at = at};
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
static size_t holds_others(const struct view *view, uint64_t size)
{
	size_t end = size < view->left ? (size_t)size : view->left;
	for (size_t at = 1; at < end; at++)
		if (others_begin(view, at, end) && !is_chance(view, at))
			return at;
	return 0;
}

/* Whether enough records follow one another from a place in a record, of which none ends where it does, but one
 * behind. */
static bool goes_beyond(const struct view *view, size_t at, size_t size)
{
	unsigned solid = 0;
	for (unsigned count = 0; count < SEARCHED && (solid < CHAIN || at < size); count++) {
		size_t next = measure(view, at);
		if (next == 0 || at + next == size)
			return false;
		solid += is_solid(view, at, next);
		at += next;
	}
	return solid >= CHAIN && at > size;
}

/* Where in a record others begin of which one goes beyond its end; 0 if nowhere. */
static size_t holds_longer(const struct view *view, size_t size)
{
	for (size_t at = 1; at < size; at++)
		if (goes_beyond(view, at, size) && !is_chance(view, at))
			return at;
	return 0;
}

/* Whether what follows makes a size plausible: a record, maybe behind others that are strange too. */
static bool followed(const struct view *view, size_t at)
{
	for (unsigned count = 0; count < STRANGE; count++) {
		if ((view->at_end && view->left == at) || begins(view, at) || is_swapped(view, at))
			return true;
		size_t size = decodes(view, at);
		if (size == 0)
			return !view->at_end && is_begun(view, at);
		at += size;
	}
	return true;
}

/* A record of a size that may be right: what is in it and what follows it tell. One that is strange, with something as
 * strange behind it, may be the beginning of another. */
static struct fxt_judgement by_size(const struct view *view, const struct tw_fxt_decoder *decoder,
                                    const struct tw_fxt_record *record, bool fits)
{
	size_t size = (size_t)record->size;
	bool strange = !fits || !is_known(record);
	bool event = fits && record->type == TW_FXT_TYPE_EVENT && !record->trailing_size && is_alone(view, 0);
	size_t other = strange && !event ? holds_others(view, size) : 0;
	if (strange && !other && size < view->left && !begins(view, size))
		other = holds_longer(view, size);
	size_t next = !other && followed(view, size) ? size : scan(view, 1);
	next = other && other < next ? other : next;
	if (next == size)
		return (struct fxt_judgement){
		    .verdict = fits ? FXT_IS_RECORD : FXT_IS_BROKEN,
		    .size = size,
		    .fault = decoder->fault,
		    .at = decoder->at,
		    .joins = fits && ((view->at_end && view->left == size) || begins(view, size)),
		};
	return judgement(FXT_IS_GARBAGE, next, decoder->fault ? decoder->fault : "a record", decoder->at);
}

/* A large record that is not all here. */
static struct fxt_judgement by_beginning(const struct view *view, const struct tw_fxt_record *record)
{
	size_t other = is_known(record) ? 0 : view->at_end ? scan(view, 1) : holds_others(view, record->size);
	if (!other || other == view->left)
		return (struct fxt_judgement){.verdict = FXT_IS_RECORD, .size = record->size};
	return judgement(FXT_IS_GARBAGE, other, "a record", 0);
}

/* Whether what a record says about its contents ends in these bytes, though its size goes beyond them. */
static bool ends_here(const struct view *view)
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
static struct fxt_judgement cut_or_garbage(const struct view *view, uint64_t size)
{
	unsigned least = is_sound(view, 0) && !ends_here(view) ? 2 : 1;
	for (size_t at = 1; at < view->left; at++)
		if (goes_on(view, at, least))
			return judgement(FXT_IS_GARBAGE, at, "a record that ends before the end of the file", 0);
	return judgement(FXT_IS_CUT, size, "the rest of the record", 0);
}

/* Records follow one another from a place: 1, and how many of the first of them are hardly arguments; otherwise 0. */
static unsigned weigh(const struct view *view, size_t at)
{
	unsigned weight = 1;
	for (unsigned count = 0; count < SEARCHED && weight <= CHAIN && at < view->left; count++) {
		size_t next = measure(view, at);
		if (next == 0)
			return 0;
		weight += is_solid(view, at, next);
		at += next;
	}
	return weight;
}

/* The same for each place in a record, of what leads out of it: where it ends nothing else does, as all that it holds
 * as its own would. */
static void weigh_inside(const struct view *view, uint8_t *weights, size_t size)
{
	for (size_t at = size; at-- > 0;) {
		size_t next = measure(view, at), end = at + next;
		unsigned behind = next == 0 || end == size ? 0 : end < size ? weights[end] : weigh(view, end);
		weights[at] = (uint8_t)(behind && behind <= CHAIN ? behind + is_solid(view, at, next) : behind);
	}
}

/* Whether records follow one another from somewhere in a record at a place, from `from` on, of which none ends where it
 * does. */
static bool hides_others(const struct view *view, size_t at, size_t from)
{
	size_t end = at + measure(view, at);
	for (size_t inside = from; inside < end; inside++)
		if (goes_beyond(view, inside, end))
			return true;
	return false;
}

/* Whether a record that needs no others begins in another and goes beyond it. Two numbers look like one that makes a
 * thread or a clock. */
static bool leads_out(const struct view *view, size_t at, size_t size)
{
	unsigned type = fxt_type(tw_load64(view->bytes + at, view->big));
	return (type == TW_FXT_TYPE_STRING || type >= TW_FXT_TYPE_EVENT) && measure(view, at) > size - at &&
	       is_alone(view, at) && !hides_others(view, at, size);
}

/* Whether the record that a place is in, or one of those that follow one behind another from there, refers to the same
 * as the one there does, in these bits. */
static bool is_used_again(const struct view *view, size_t at, uint64_t bits)
{
	uint64_t header = tw_load64(view->bytes + at, view->big), other = tw_load64(view->bytes, view->big);
	for (unsigned count = 0; count < SEARCHED; count++) {
		if (fxt_type(other) == TW_FXT_TYPE_EVENT && ((other ^ header) & bits) == 0)
			return true;
		at += measure(view, at);
		if (measure(view, at) == 0)
			return false;
		other = tw_load64(view->bytes + at, view->big);
	}
	return false;
}

/* Whether an event that others follow is a good one: it has a name, or arguments, and refers to what is registered, or
 * what these refer to as well. */
static bool refers_well(const struct view *view, size_t at)
{
	uint64_t header = tw_load64(view->bytes + at, view->big);
	uint64_t thread = tw_bits(header, 24, 31), category = tw_bits(header, 32, 47), name = tw_bits(header, 48, 63);
	return (name || tw_bits(header, 20, 23)) &&
	       (string_sound(view, name, at) || is_used_again(view, at, FXT_BITS(48, 63))) &&
	       (string_sound(view, category, at) || is_used_again(view, at, FXT_BITS(32, 47))) &&
	       (thread_sound(view, thread, at) || is_used_again(view, at, FXT_BITS(24, 31)));
}

/* The same for a record of any type. */
static bool is_named_well(const struct view *view, size_t at)
{
	uint64_t header = tw_load64(view->bytes + at, view->big);
	switch (fxt_type(header)) {
	case TW_FXT_TYPE_EVENT:
		return refers_well(view, at);
	case TW_FXT_TYPE_BLOB:
		return string_sound(view, tw_bits(header, 16, 31), at);
	case TW_FXT_TYPE_USERSPACE_OBJECT:
	case TW_FXT_TYPE_KERNEL_OBJECT:
		return string_sound(view, tw_bits(header, 24, 39), at);
	default:
		return true;
	}
}

/* Whether a record is an event of a registered thread: its names may have been lost. Not in a big-endian archive, where
 * it is these that its header may share with the record before. */
static bool is_of_thread(const struct view *view, size_t at)
{
	uint64_t header = tw_load64(view->bytes + at, view->big);
	return fxt_type(header) == TW_FXT_TYPE_EVENT && !view->big && thread_known(view, tw_bits(header, 24, 31), at);
}

/* Where the last of the records begins that stand before a place. */
static size_t last_before(const struct view *view, size_t end)
{
	size_t at = 0, size = measure(view, at);
	while (size && at + size < end) {
		at += size;
		size = measure(view, at);
	}
	return at;
}

/* Whether a header shares nothing but zeros with a record that has no flaw and ends at `end`: they may be the record's
 * own, and others missing. */
static bool shares_zeros(const struct view *view, size_t at, size_t end)
{
	size_t zeros = at;
	while (zeros < end && view->bytes[zeros] == 0)
		zeros++;
	return end - at < TW_FXT_WORD && zeros == end && is_flawless(view, last_before(view, end));
}

/* Whether it is a good record that begins in another of `size` bytes and leads out of it. A header that it shares bytes
 * with may be one that something stands before. Two numbers look like an object of some name. */
static bool is_beginning(const struct view *view, size_t at, size_t size)
{
	uint64_t header = tw_load64(view->bytes + at, view->big);
	bool little = header >> 16 == 0 && shares_zeros(view, at, size);
	if (is_weak(view, at, measure(view, at)) || little || !is_flawless(view, at) || is_chance(view, at))
		return false;
	return (fxt_type(header) == TW_FXT_TYPE_EVENT && size - at >= TW_FXT_WORD) || is_named_well(view, at) ||
	       is_of_thread(view, at);
}

/* Whether what follows a record began in it, because bytes of it are missing. */
static bool began_inside(const struct view *view, size_t at, size_t size, unsigned weight)
{
	return weight > CHAIN ? is_beginning(view, at, size) : leads_out(view, at, size);
}

/* fxt_look_inside() of the first record of the bytes. */
static size_t look_inside(const struct view *view, size_t size)
{
	uint8_t *weights = malloc(size);
	size_t at = weights ? 1 : size;
	if (weights)
		weigh_inside(view, weights, size);
	while (at < size && !began_inside(view, at, size, weights[at]))
		at++;
	free(weights);
	return at;
}

size_t fxt_look_inside(const struct fxt_state *state, const uint8_t *bytes, size_t size, size_t left, bool at_end,
                       bool big, uint64_t offset)
{
	const struct view view = {state, bytes, left, at_end, big, offset};
	return look_inside(&view, size);
}

/* Whether a record shows by itself that it is one where it goes past `end`: an argument that looks like a context
 * switch is within its record. */
static bool is_solid_across(const struct view *view, size_t at, size_t size, size_t end)
{
	bool crosses = at < end && size > end - at;
	return is_solid(view, at, size) ||
	       (crosses && fxt_type(tw_load64(view->bytes + at, view->big)) == TW_FXT_TYPE_SCHEDULING);
}

/* Flawless records follow one another from a place to `next` exactly, past `end`, where none begins: 1, and how many of
 * them are hardly arguments, up to one; otherwise 0. weights: those of the places behind. */
static unsigned weigh_across(const struct view *view, size_t at, size_t end, size_t next, const uint8_t *weights)
{
	size_t size = measure(view, at), to = at + size;
	if (size == 0 || at == end || to == end || to > next)
		return 0;
	unsigned behind = to == next ? 1 : weights[to];
	if (behind == 0 || !is_flawless(view, at))
		return 0;
	return behind > 1 || is_solid_across(view, at, size, end) ? 2 : 1;
}

size_t fxt_look_across(const struct fxt_state *state, const uint8_t *bytes, size_t end, size_t next, size_t left,
                       bool at_end, bool big, uint64_t offset)
{
	const struct view view = {state, bytes, left, at_end, big, offset};
	uint8_t *weights = malloc(next);
	size_t found = end;
	for (size_t at = weights ? next : 0; at-- > 1;) {
		weights[at] = (uint8_t)weigh_across(&view, at, end, next, weights);
		if (at < end && weights[at] > 1 && !shares_zeros(&view, at, end) && is_beginning(&view, at, end))
			found = at;
	}
	free(weights);
	return found;
}

/* A provider info record: tables start anew with it, so it is looked into before it is taken. */
static struct fxt_judgement by_name(const struct view *view, size_t size)
{
	size_t inside = look_inside(view, size);
	if (inside < size)
		return judgement(FXT_IS_GARBAGE, inside, "a record as long as it says", 0);
	if (is_alone(view, 0) || followed(view, size))
		return (struct fxt_judgement){.verdict = FXT_IS_RECORD, .size = size};
	return judgement(FXT_IS_GARBAGE, scan(view, 1), "a provider's name", 0);
}

static struct fxt_judgement by_decoding(const struct view *view)
{
	struct tw_fxt_decoder decoder = {.bytes = view->bytes, .left = view->left, .big = view->big};
	struct tw_fxt_record record;
	int status = tw_fxt_next(&decoder, &record);
	if (status == 1 && record.kind == TW_FXT_PROVIDER_INFO && measure(view, 0))
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
	return judgement(FXT_IS_GARBAGE, scan(view, 1), header_fault(header), 0);
}

/* Whether more records than chance makes follow one another from a place. */
static bool many_follow(const struct view *view, size_t at)
{
	unsigned solid = 0;
	for (unsigned count = 0; count < SEARCHED; count++) {
		size_t size = measure(view, at);
		if (size == 0)
			return false;
		solid += is_solid(view, at, size);
		at += size;
	}
	return solid >= CHAIN;
}

size_t fxt_look_for(const struct fxt_state *state, const uint8_t *bytes, size_t size, size_t left, bool big,
                    uint64_t offset)
{
	const struct view view = {.state = state, .bytes = bytes, .left = left, .big = big, .offset = offset};
	size_t at = 0;
	while (at < size && !many_follow(&view, at))
		at++;
	return at;
}

size_t fxt_chain(const uint8_t *bytes, size_t left, bool big, unsigned *count)
{
	const struct view view = {.bytes = bytes, .left = left, .big = big};
	size_t at = 0, size;
	for (*count = 0; (size = measure(&view, at)) != 0; at += size)
		++*count;
	return at;
}

bool fxt_is_flawless(const uint8_t *bytes, size_t left, bool big)
{
	const struct view view = {.bytes = bytes, .left = left, .big = big};
	return is_flawless(&view, 0);
}

bool fxt_is_turn(const struct fxt_state *state, const uint8_t *bytes, size_t left, bool at_end, bool big,
                 uint64_t offset)
{
	const struct view view = {state, bytes, left, at_end, big, offset};
	size_t size = measure(&view, 0);
	return is_alone(&view, 0) && ((at_end && left == size) || begins(&view, size));
}

struct fxt_judgement fxt_judge(const struct fxt_state *state, const uint8_t *bytes, size_t left, bool at_end, bool big,
                               bool in_garbage, uint64_t offset)
{
	const struct view view = {state, bytes, left, at_end, big, offset};
	if (!at_end && left < FXT_LOOK)
		return (struct fxt_judgement){.verdict = is_begun(&view, 0) ? FXT_WANTS_MORE : FXT_WANTS_LAST};
	if (is_swapped(&view, 0))
		return (struct fxt_judgement){.verdict = FXT_IS_SWAPPED};
	if (in_garbage)
		return (struct fxt_judgement){.verdict = FXT_IS_GARBAGE, .size = scan(&view, 0)};
	if (left < TW_FXT_WORD)
		return judgement(FXT_IS_CUT, TW_FXT_WORD, "the rest of the record", 0);
	return by_decoding(&view);
}
