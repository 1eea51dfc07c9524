/* inside.c - records that begin inside of another one, which has swallowed them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/resync/judge.h"

#include <stdlib.h>

/* How much speaks for records from a place on: 0 when none follow one another there, otherwise 1 and the number of
 * solid ones among the first. */
static unsigned weigh(const struct fxt_view *view, size_t at)
{
	unsigned weight = 1;
	for (unsigned count = 0; count < FXT_SEARCHED && weight <= FXT_CHAIN && at < view->left; count++) {
		size_t next = fxt_measure_at(view, at);
		if (next == 0)
			return fxt_is_large_begun(view, at) ? FXT_CHAIN + 1 : 0;
		weight += fxt_is_solid(view, at, next);
		at += next;
	}
	return weight;
}

/* weigh() for what begins at a place in a record of `size` bytes and leads across its end. What ends where the record
 * does is what the record holds as its own, and counts nothing; so it is with a large blob that begins in a large one.
 * weights: those of the places behind. */
static unsigned weigh_behind(const struct fxt_view *view, const uint8_t *weights, size_t at, size_t size, bool large)
{
	size_t next = fxt_measure_at(view, at), end = at + next;
	if (next == 0)
		return !large && fxt_is_large_begun(view, at) ? FXT_CHAIN + 1 : 0;
	unsigned behind = end == size ? 0 : end < size ? weights[end] : weigh(view, end);
	return behind && behind <= FXT_CHAIN ? behind + fxt_is_solid(view, at, next) : behind;
}

static void weigh_inside(const struct fxt_view *view, uint8_t *weights, size_t size, bool large)
{
	for (size_t at = size; at-- > 0;)
		weights[at] = (uint8_t)weigh_behind(view, weights, at, size, large);
}

/* Whether the record at a place is only part of others: from a place in it, `from` or later, records follow one another
 * across its end. */
static bool hides_others(const struct fxt_view *view, size_t at, size_t from)
{
	size_t end = at + fxt_measure_at(view, at);
	for (size_t inside = from; inside < end; inside++)
		if (fxt_goes_beyond(view, inside, end))
			return true;
	return false;
}

/* Whether a record that needs no others begins in another and goes beyond it. Two numbers look like one that makes a
 * thread or a clock. */
static bool leads_out(const struct fxt_view *view, size_t at, size_t size)
{
	if (fxt_measure_at(view, at) <= size - at)
		return false;
	unsigned type = fxt_type(tw_load64(view->bytes + at, view->big));
	return (type == TW_FXT_TYPE_STRING || type >= TW_FXT_TYPE_EVENT) && fxt_is_alone(view, at) &&
	       !hides_others(view, at, size);
}

/* Whether another event refers to the same, in these bits of the header, as the event at a place does: the first record
 * of the view, or one of those that follow the event. */
static bool is_used_again(const struct fxt_view *view, size_t at, uint64_t bits)
{
	uint64_t header = tw_load64(view->bytes + at, view->big), other = tw_load64(view->bytes, view->big);
	for (unsigned count = 0; count < FXT_SEARCHED; count++) {
		if (fxt_type(other) == TW_FXT_TYPE_EVENT && ((other ^ header) & bits) == 0)
			return true;
		at += fxt_measure_at(view, at);
		if (fxt_measure_at(view, at) == 0)
			return false;
		other = tw_load64(view->bytes + at, view->big);
	}
	return false;
}

/* Whether an event that others follow is a good one: it has a name, or arguments, and refers to what is registered, or
 * what these refer to as well. */
static bool refers_well(const struct fxt_view *view, size_t at)
{
	uint64_t header = tw_load64(view->bytes + at, view->big);
	uint64_t thread = tw_bits(header, 24, 31), category = tw_bits(header, 32, 47), name = tw_bits(header, 48, 63);
	return (name || tw_bits(header, 20, 23)) &&
	       (fxt_is_string_sound(view, name, at) || is_used_again(view, at, FXT_BITS(48, 63))) &&
	       (fxt_is_string_sound(view, category, at) || is_used_again(view, at, FXT_BITS(32, 47))) &&
	       (fxt_is_thread_sound(view, thread, at) || is_used_again(view, at, FXT_BITS(24, 31)));
}

/* The same for a record of any type. */
static bool is_named_well(const struct fxt_view *view, size_t at)
{
	uint64_t header = tw_load64(view->bytes + at, view->big);
	switch (fxt_type(header)) {
	case TW_FXT_TYPE_EVENT:
		return refers_well(view, at);
	case TW_FXT_TYPE_BLOB:
		return fxt_is_string_sound(view, tw_bits(header, 16, 31), at);
	case TW_FXT_TYPE_USERSPACE_OBJECT:
	case TW_FXT_TYPE_KERNEL_OBJECT:
		return fxt_is_string_sound(view, tw_bits(header, 24, 39), at);
	case TW_FXT_TYPE_SCHEDULING:
		return fxt_kind(header) != TW_FXT_LEGACY_CONTEXT_SWITCH ||
		       (fxt_is_thread_sound(view, tw_bits(header, 28, 35), at) &&
		        fxt_is_thread_sound(view, tw_bits(header, 36, 43), at));
	default:
		return true;
	}
}

/* Whether a record is an event of a registered thread: its names may have been lost. Not in a big-endian archive, where
 * it is these that its header may share with the record before. */
static bool is_of_thread(const struct fxt_view *view, size_t at)
{
	uint64_t header = tw_load64(view->bytes + at, view->big);
	return fxt_type(header) == TW_FXT_TYPE_EVENT && !view->big &&
	       fxt_is_thread_known(view, tw_bits(header, 24, 31), at);
}

/* Where the last of the records begins that stand before a place. */
static size_t last_before(const struct fxt_view *view, size_t end)
{
	size_t at = 0, size = fxt_measure_at(view, at);
	while (size && at + size < end) {
		at += size;
		size = fxt_measure_at(view, at);
	}
	return at;
}

/* Whether a header at `at` shares with the record that ends at `end` nothing but zeros, and this record has no flaw:
 * then the zeros may be its own, and those of the header missing. */
static bool shares_zeros(const struct fxt_view *view, size_t at, size_t end)
{
	size_t zeros = at;
	while (zeros < end && view->bytes[zeros] == 0)
		zeros++;
	return end - at < TW_FXT_WORD && zeros == end && fxt_is_flawless(view, last_before(view, end));
}

/* Whether it is a good record that begins in another of `size` bytes and leads out of it. A header that it shares bytes
 * with may be one that something stands before. Two numbers look like an object of some name. */
static bool is_beginning(const struct fxt_view *view, size_t at, size_t size)
{
	uint64_t header = tw_load64(view->bytes + at, view->big);
	bool little = header >> 16 == 0 && shares_zeros(view, at, size);
	if (fxt_is_weak(view, at, fxt_measure_at(view, at)) || little || !fxt_is_flawless(view, at) ||
	    fxt_is_chance(view, at))
		return false;
	return (fxt_type(header) == TW_FXT_TYPE_EVENT && size - at >= TW_FXT_WORD) || is_named_well(view, at) ||
	       is_of_thread(view, at);
}

/* Whether what follows a record began in it, because bytes of it are missing. */
static bool began_inside(const struct fxt_view *view, size_t at, size_t size, unsigned weight)
{
	return weight > FXT_CHAIN ? is_beginning(view, at, size) : leads_out(view, at, size);
}

size_t fxt_look_inside(const struct fxt_view *view, size_t size, bool large)
{
	uint8_t *weights = malloc(size);
	size_t at = weights ? 0 : size;
	if (weights)
		weigh_inside(view, weights, size, large);
	while (at < size && !began_inside(view, at, size, weights[at]))
		at++;
	free(weights);
	return at;
}

/* Whether a record is solid, or a scheduling record that crosses `end`: an argument may look like one, but lies within
 * its record. */
static bool is_solid_across(const struct fxt_view *view, size_t at, size_t size, size_t end)
{
	bool crosses = at < end && size > end - at;
	return fxt_is_solid(view, at, size) ||
	       (crosses && fxt_type(tw_load64(view->bytes + at, view->big)) == TW_FXT_TYPE_SCHEDULING);
}

/* How much speaks for flawless records from a place to `next` exactly, of which none begins or ends at `end`: 0 when
 * there are none, 1, or 2 when one of them is solid. weights: those of the places behind. */
static unsigned weigh_across(const struct fxt_view *view, size_t at, size_t end, size_t next, const uint8_t *weights)
{
	size_t size = fxt_measure_at(view, at), to = at + size;
	if (size == 0 || at == end || to == end || to > next)
		return 0;
	unsigned behind = to == next ? 1 : weights[to];
	if (behind == 0 || !fxt_is_flawless(view, at))
		return 0;
	return behind > 1 || is_solid_across(view, at, size, end) ? 2 : 1;
}

size_t fxt_look_across(const struct fxt_view *view, size_t end, size_t next)
{
	uint8_t *weights = malloc(next);
	size_t found = end;
	for (size_t at = weights ? next : 0; at-- > 1;) {
		weights[at] = (uint8_t)weigh_across(view, at, end, next, weights);
		if (at < end && weights[at] > 1 && !shares_zeros(view, at, end) && is_beginning(view, at, end))
			found = at;
	}
	free(weights);
	return found;
}

/* Whether more records than chance makes follow one another from a place. */
static bool many_follow(const struct fxt_view *view, size_t at)
{
	unsigned solid = 0;
	for (unsigned count = 0; count < FXT_SEARCHED; count++) {
		size_t size = fxt_measure_at(view, at);
		if (size == 0)
			return false;
		solid += fxt_is_solid(view, at, size);
		at += size;
	}
	return solid >= FXT_CHAIN;
}

size_t fxt_look_for(const struct fxt_view *view, size_t size)
{
	size_t at = 0;
	while (at < size && !many_follow(view, at))
		at++;
	return at;
}
