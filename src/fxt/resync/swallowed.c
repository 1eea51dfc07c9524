/* swallowed.c - where records begin inside of another one. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/resync/resync.h"

#include <stdlib.h>

/* ---- Records that lead across the end of another one. ---- */

/* More than any number of solid records that is asked for. */
enum { SURE = FXT_CHAIN + 1 };

/* The weight of a place: 0 where the bytes behind it are not records one after the other, otherwise 1 and the number of
 * solid records among the first FXT_SEARCHED. Counting ends at SURE. */
static unsigned weight_at(const struct fxt_view *view, size_t at)
{
	unsigned weight = 1;
	for (unsigned count = 0; count < FXT_SEARCHED && weight < SURE && at < view->left; count++) {
		size_t next = fxt_measure_at(view, at);
		if (next == 0)
			return fxt_is_large_begun(view, at) ? SURE : 0;
		weight += fxt_is_solid(view, at, next);
		at += next;
	}
	return weight;
}

/* The weight of a place in a record of `size` bytes. Records from the place on that end where the outer record does are
 * its own contents, and weigh nothing; the same holds for a large blob that begins in a large record. weights: of the
 * places behind. */
static unsigned weight_inside(const struct fxt_view *view, const uint8_t *weights, size_t at, size_t size, bool large)
{
	size_t next = fxt_measure_at(view, at), end = at + next;
	if (next == 0)
		return !large && fxt_is_large_begun(view, at) ? SURE : 0;
	unsigned behind = end == size ? 0 : end < size ? weights[end] : weight_at(view, end);
	return behind && behind < SURE ? behind + fxt_is_solid(view, at, next) : behind;
}

/* Whether other records begin in the record at a place, at `from` or later, and follow one another across its end. */
static bool hides_others(const struct fxt_view *view, size_t at, size_t from)
{
	size_t end = at + fxt_measure_at(view, at);
	for (size_t inside = from; inside < end; inside++)
		if (fxt_goes_beyond(view, inside, end))
			return true;
	return false;
}

/* Whether a record that stands alone begins inside of another one and goes beyond its end. Any two numbers look like a
 * thread or a clock: these do not count. */
static bool leads_out(const struct fxt_view *view, size_t at, size_t size)
{
	if (fxt_measure_at(view, at) <= size - at)
		return false;
	unsigned type = fxt_type(fxt_header_at(view, at));
	return (type == TW_FXT_TYPE_STRING || type >= TW_FXT_TYPE_EVENT) && fxt_is_alone(view, at) &&
	       !hides_others(view, at, size);
}

/* Whether another event has the same reference, in these bits of the header, as the event at a place: the first record
 * of the view, or one that follows the event. */
static bool is_used_again(const struct fxt_view *view, size_t at, uint64_t bits)
{
	uint64_t header = fxt_header_at(view, at), other = fxt_header_at(view, 0);
	for (unsigned count = 0; count < FXT_SEARCHED; count++) {
		if (fxt_type(other) == TW_FXT_TYPE_EVENT && ((other ^ header) & bits) == 0)
			return true;
		at += fxt_measure_at(view, at);
		if (fxt_measure_at(view, at) == 0)
			return false;
		other = fxt_header_at(view, at);
	}
	return false;
}

/* Whether an event that others follow is credible: it has a name or arguments, and each of its references is registered
 * or used by the others, too. */
static bool is_event_credible(const struct fxt_view *view, size_t at)
{
	uint64_t header = fxt_header_at(view, at);
	uint64_t thread = tw_bits(header, 24, 31), category = tw_bits(header, 32, 47), name = tw_bits(header, 48, 63);
	return (name || tw_bits(header, 20, 23)) &&
	       (fxt_is_string_sound(view, name, at) || is_used_again(view, at, FXT_BITS(48, 63))) &&
	       (fxt_is_string_sound(view, category, at) || is_used_again(view, at, FXT_BITS(32, 47))) &&
	       (fxt_is_thread_sound(view, thread, at) || is_used_again(view, at, FXT_BITS(24, 31)));
}

/* The same of a record of any type. */
static bool is_credible(const struct fxt_view *view, size_t at)
{
	uint64_t header = fxt_header_at(view, at);
	switch (fxt_type(header)) {
	case TW_FXT_TYPE_EVENT:
		return is_event_credible(view, at);
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

/* Whether a record is an event of a registered thread: the records with its names may be lost. In a big-endian archive
 * the names come first in the header, and may be bytes of the record before: then this tells nothing. */
static bool is_of_thread(const struct fxt_view *view, size_t at)
{
	uint64_t header = fxt_header_at(view, at);
	return fxt_type(header) == TW_FXT_TYPE_EVENT && !view->big &&
	       fxt_is_thread_known(view, tw_bits(header, 24, 31), at);
}

/* Where the last of the records before a place begins. */
static size_t last_before(const struct fxt_view *view, size_t end)
{
	size_t at = 0, size = fxt_measure_at(view, at);
	while (size && at + size < end) {
		at += size;
		size = fxt_measure_at(view, at);
	}
	return at;
}

/* Whether a header at `at` has only zeros in common with the record that ends at `end`, and that record has no flaw:
 * the zeros may be its padding, and the header's own zeros missing. */
static bool shares_zeros(const struct fxt_view *view, size_t at, size_t end)
{
	size_t zeros = at;
	while (zeros < end && view->bytes[zeros] == 0)
		zeros++;
	return end - at < TW_FXT_WORD && zeros == end && fxt_is_flawless(view, last_before(view, end));
}

/* Whether the record at a place in another one of `size` bytes is credible as the first of the swallowed records. A
 * small header whose zeros may be the other record's is not. An event whose whole header is in the other record needs
 * no names. */
static bool is_beginning(const struct fxt_view *view, size_t at, size_t size)
{
	uint64_t header = fxt_header_at(view, at);
	bool little = header >> 16 == 0 && shares_zeros(view, at, size);
	if (fxt_is_weak(view, at, fxt_measure_at(view, at)) || little || !fxt_is_flawless(view, at) ||
	    fxt_is_chance(view, at))
		return false;
	return (fxt_type(header) == TW_FXT_TYPE_EVENT && size - at >= TW_FXT_WORD) || is_credible(view, at) ||
	       is_of_thread(view, at);
}

/* Whether swallowed records begin at a place: they have enough weight, or one stands alone. */
static bool begins_inside(const struct fxt_view *view, size_t at, size_t size, unsigned weight)
{
	return weight == SURE ? is_beginning(view, at, size) : leads_out(view, at, size);
}

size_t fxt_find_swallowed(const struct fxt_view *view, size_t size, bool large)
{
	uint8_t *weights = malloc(size);
	size_t at = weights ? 0 : size;
	for (size_t place = weights ? size : 0; place-- > 0;)
		weights[place] = (uint8_t)weight_inside(view, weights, place, size, large);
	while (at < size && !begins_inside(view, at, size, weights[at]))
		at++;
	free(weights);
	return at;
}

/* ---- Records that lead to a place behind garbage. ---- */

/* Whether a record is solid, or a scheduling record that crosses `end`: an argument that looks like a scheduling record
 * does not leave its record. */
static bool is_solid_across(const struct fxt_view *view, size_t at, size_t size, size_t end)
{
	bool crosses = at < end && size > end - at;
	return fxt_is_solid(view, at, size) || (crosses && fxt_type(fxt_header_at(view, at)) == TW_FXT_TYPE_SCHEDULING);
}

/* The weight of a place from which flawless records lead to `next` exactly, and none of them begins or ends at `end`: 2
 * where one of them is solid, otherwise 1; 0 where there are no such records. weights: of the places behind. */
static unsigned weight_across(const struct fxt_view *view, size_t at, size_t end, size_t next, const uint8_t *weights)
{
	size_t size = fxt_measure_at(view, at), to = at + size;
	if (size == 0 || at == end || to == end || to > next)
		return 0;
	unsigned behind = to == next ? 1 : weights[to];
	if (behind == 0 || !fxt_is_flawless(view, at))
		return 0;
	return behind > 1 || is_solid_across(view, at, size, end) ? 2 : 1;
}

size_t fxt_find_swallowed_across(const struct fxt_view *view, size_t end, size_t next)
{
	uint8_t *weights = malloc(next);
	size_t found = end;
	for (size_t at = weights ? next : 0; at-- > 1;) {
		weights[at] = (uint8_t)weight_across(view, at, end, next, weights);
		if (at < end && weights[at] > 1 && !shares_zeros(view, at, end) && is_beginning(view, at, end))
			found = at;
	}
	free(weights);
	return found;
}

/* ---- Records in what nobody knows. ---- */

/* Whether more records follow one another from a place than chance makes. */
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

size_t fxt_find_in_unknown(const struct fxt_view *view, size_t size)
{
	size_t at = 0;
	while (at < size && !many_follow(view, at))
		at++;
	return at;
}
