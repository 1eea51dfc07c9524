/* walk.c - from record to record through an archive: the records that are as they should be. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/walk/walk.h"

#include "base/bytes/bytes.h"
#include "base/inline.h"
#include "base/memory/memory.h"
#include "core/format.h"
#include "fxt/resync/resync.h"

/* ---- Pieces. ---- */

/* Records from one place to another, behind those there are. */
static void add_records(struct fxt_chunk *chunk, size_t from, size_t to, uint64_t count, bool big)
{
	struct fxt_piece *last = chunk->walk.piece_count > chunk->decoder.pieces_done
	                             ? &chunk->walk.pieces[chunk->walk.piece_count - 1]
	                             : NULL;
	if (from == to)
		return;
	if (last && last->kind == FXT_RECORDS && last->to == from && last->big == big && !last->odd) {
		last->to = to;
		last->count += count;
		return;
	}
	fxt_add_piece(chunk,
	              &(struct fxt_piece){.kind = FXT_RECORDS, .big = big, .from = from, .to = to, .count = count});
}

/* ---- Providers that are left out. ---- */

/* Events of a provider tell which one themselves. */
static bool is_others_event(const struct fxt_walk *walk, uint64_t header)
{
	return fxt_chooses(walk) && fxt_kind(header) == TW_FXT_PROVIDER_EVENT &&
	       !fxt_state_wants(walk->state, (uint32_t)tw_bits(header, 20, 51));
}

/* ---- The walk. ---- */

/* How many records follow one another from a place in a byte order, if more than the most from others. */
static void count_chain(const uint8_t *bytes, size_t left, bool big, unsigned *most)
{
	unsigned count;
	fxt_chain(bytes, left < FXT_LOOK ? left : FXT_LOOK, big, &count);
	*most = count > *most ? count : *most;
}

/* Whether the archive is big endian: the byte order in which the most records follow one another, from wherever that
 * is. What stands before may be damaged, the magic number above all, and bytes may be missing. */
static bool looks_big(const uint8_t *bytes, size_t left)
{
	enum { ENOUGH = 256 }; /* more than chance makes, even where all records are alike */
	unsigned little = 0, big = 0;
	for (size_t at = 0; at < left && at < FXT_LOOK && little < ENOUGH && big < ENOUGH; at++) {
		count_chain(bytes + at, left - at, false, &little);
		count_chain(bytes + at, left - at, true, &big);
	}
	return big > little;
}

void fxt_walk_begin(struct fxt_walk *walk, struct fxt_chunk *chunk)
{
	const uint8_t *bytes = chunk->bytes + chunk->walk.place;
	size_t left = chunk->end - chunk->walk.place;
	if (left >= TW_FXT_WORD && tw_fxt_magic(bytes, &walk->big) == 0)
		return;
	walk->big = looks_big(bytes, left);
	if (left)
		fxt_note(chunk, FXT_MAGIC_MISSING, chunk->walk.place, chunk->walk.place, 0, 0, NULL);
}

/* Hops over sound events, and counts them. Returns the place of the first record that is none; *last is the place of
 * the last event. `make bench` measures info. */
TW_INLINE size_t pass_events(const uint8_t *bytes, size_t place, size_t end, bool big, size_t *last, uint64_t *count)
{
	const uint8_t *at = bytes + place, *before = NULL;
	uint64_t counted = 0;
	uint32_t words;
	for (size_t left = (end - place) / TW_FXT_WORD; left > 0; left -= words, at += words * TW_FXT_WORD) {
		const uint64_t header = tw_load64(at, big);
		words = fxt_type(header) == TW_FXT_TYPE_EVENT ? fxt_measure_event(header, at, left, big) : 0;
		if (words == 0)
			break;
		before = at;
		counted++;
	}
	*last = before ? (size_t)(before - bytes) : *last;
	*count += counted;
	return (size_t)(at - bytes);
}

/* Adds records of the current provider, unless they are left out. */
static void keep_records(struct fxt_walk *walk, struct fxt_chunk *chunk, size_t from, size_t to, uint64_t count)
{
	if (fxt_is_foreign(walk))
		fxt_pass_over(walk, chunk, from, to);
	else
		add_records(chunk, from, to, count, walk->big);
}

/* A record that is no event, where providers are chosen. False at a barrier. */
static bool choose(struct fxt_walk *walk, struct fxt_chunk *chunk, size_t place, uint64_t header, size_t words)
{
	unsigned type = fxt_type(header);
	if (is_others_event(walk, header))
		return true;
	if (type < TW_FXT_TYPE_EVENT && !fxt_define(walk, chunk, place, header, words))
		return false;
	const size_t end = place + words * TW_FXT_WORD;
	if (fxt_is_needed(type))
		add_records(chunk, place, end, 1, walk->big);
	else
		keep_records(walk, chunk, place, end, 1);
	return true;
}

/* Records that are as they should be, up to a place. */
struct passed_records {
	size_t from, place;
	size_t last; /* place of the last record */
	uint64_t count;
};

/* Takes one record that cannot be hopped over. Returns false at a barrier. */
static bool pass_one(struct fxt_walk *walk, struct fxt_chunk *chunk, struct passed_records *stretch, size_t words)
{
	size_t place = stretch->place;
	uint64_t header = tw_load64(chunk->bytes + place, walk->big);
	bool choosy = fxt_chooses(walk);
	if (choosy) {
		keep_records(walk, chunk, stretch->from, place, stretch->count);
		*stretch = (struct passed_records){.from = place, .place = place, .last = stretch->last};
	}
	bool clear = choosy ? choose(walk, chunk, place, header, words)
	                    : fxt_type(header) >= TW_FXT_TYPE_EVENT || fxt_define(walk, chunk, place, header, words);
	if (!clear)
		return false;
	fxt_pass_time(walk, chunk, header);
	stretch->last = place;
	stretch->place += words * TW_FXT_WORD;
	stretch->from = choosy ? stretch->place : stretch->from;
	stretch->count += !choosy;
	return true;
}

/* Hops over sound events. */
static void hop(const struct fxt_walk *walk, struct fxt_chunk *chunk, struct passed_records *stretch)
{
	uint64_t count = stretch->count;
	stretch->place =
	    walk->big ? pass_events(chunk->bytes, stretch->place, chunk->end, true, &stretch->last, &stretch->count)
		      : pass_events(chunk->bytes, stretch->place, chunk->end, false, &stretch->last, &stretch->count);
	if (stretch->count != count)
		fxt_pass_times(walk, chunk);
}

/* Whether metadata needs a further look. What a provider info record does cannot be undone, if it has a name; and what
 * follows a section of a provider that was not announced has no names. */
static bool is_doubtful(const struct fxt_walk *walk, uint64_t header)
{
	switch ((unsigned)fxt_kind(header)) {
	case TW_FXT_PROVIDER_INFO:
		return fxt_size(header) > 1;
	case TW_FXT_PROVIDER_SECTION:
		return !fxt_state_knows(walk->state, (uint32_t)tw_bits(header, 20, 51));
	default:
		return false;
	}
}

/* Whether a record that measures right may be passed. */
static bool may_be_passed(struct fxt_walk *walk, const struct fxt_chunk *chunk, size_t place)
{
	uint64_t header = tw_load64(chunk->bytes + place, walk->big);
	if (fxt_type(header) != TW_FXT_TYPE_METADATA || !is_doubtful(walk, header))
		return true;
	const struct fxt_view view = fxt_view_from(walk, chunk, place);
	return fxt_is_metadata_sure(&view);
}

/* Records that are as they should be. False at a barrier. */
static bool pass_records(struct fxt_walk *walk, struct fxt_chunk *chunk)
{
	struct passed_records stretch = {.from = chunk->walk.place, .place = chunk->walk.place, .last = SIZE_MAX};
	bool clear = true;
	while (clear) {
		hop(walk, chunk, &stretch);
		const uint8_t *bytes = chunk->bytes + stretch.place;
		size_t left = (chunk->end - stretch.place) / TW_FXT_WORD;
		size_t words = left ? fxt_measure(tw_load64(bytes, walk->big), bytes, left, walk->big) : 0;
		if (words == 0 || !may_be_passed(walk, chunk, stretch.place))
			break;
		clear = pass_one(walk, chunk, &stretch, words);
	}
	chunk->walk.place = stretch.place;
	walk->last = stretch.last;
	keep_records(walk, chunk, stretch.from, stretch.place, stretch.count);
	return clear;
}

/* Where others begin in the `size` bytes of a large record that are here; `size` if nowhere. In one that nobody knows
 * they may begin anywhere, in a blob where it has swallowed them. */
static size_t look_into(const struct fxt_walk *walk, const struct fxt_view *view, size_t size, bool enough)
{
	if (walk->in_doubt)
		return fxt_find_in_unknown(view, size);
	return walk->blob_left == size && enough ? fxt_find_in_blob(view, size) : size;
}

/* Notes fill that is not zeros behind the bytes of a large blob, where both are in a piece of it. */
static void look_at_fill(const struct fxt_walk *walk, struct fxt_chunk *chunk, size_t from, size_t size)
{
	size_t fill = (size_t)((walk->blob_left - walk->bytes_left) % TW_FXT_WORD);
	if (!walk->check || walk->in_doubt || walk->bytes_left == 0 || size < walk->bytes_left ||
	    size - walk->bytes_left < fill)
		return;
	size_t place = from + (size_t)walk->bytes_left;
	if (tw_any_set(chunk->bytes + place, fill))
		fxt_note(chunk, FXT_PADDING, place, place, 0, 0, NULL);
}

/* More of a large record. */
static void pass_payload(struct fxt_walk *walk, struct fxt_chunk *chunk)
{
	const struct fxt_view view = fxt_view_from(walk, chunk, chunk->walk.place);
	size_t here = walk->blob_left < view.left ? (size_t)walk->blob_left : view.left;
	bool enough = chunk->at_end || view.left - here >= FXT_LOOK;
	size_t inside = look_into(walk, &view, here, enough);
	bool ends_early = inside < here;
	size_t size = ends_early ? inside : here - fxt_waiting(walk, here, enough), to = chunk->walk.place + size;
	look_at_fill(walk, chunk, chunk->walk.place, size);
	walk->blob_left -= size;
	const struct fxt_piece piece = {.kind = FXT_PAYLOAD,
	                                .from = chunk->walk.place,
	                                .to = to,
	                                .last = walk->blob_left == 0 || chunk->at_end || ends_early,
	                                .behind = walk->bytes_left == 0,
	                                .lost = walk->blob_left,
	                                .found = ends_early ? tw_load64(chunk->bytes + to, walk->big) : 0};
	if (!walk->unwanted && (size || piece.last))
		fxt_add_piece(chunk, &piece);
	chunk->walk.place = to;
	walk->bytes_left -= size < walk->bytes_left ? size : walk->bytes_left;
	if (piece.last)
		walk->blob_left = 0;
}

enum fxt_walked fxt_walk(struct fxt_walk *walk, struct fxt_chunk *chunk)
{
	enum fxt_walked walked = FXT_WALKED;
	if (walk->blob_left)
		pass_payload(walk, chunk);
	while (!walk->blob_left &&
	       (chunk->walk.place < chunk->end || (chunk->at_end && walk->lost_from != UINT64_MAX))) {
		if (walk->lost_from == UINT64_MAX && !pass_records(walk, chunk))
			return FXT_BARRIER;
		if (chunk->walk.place == chunk->end && walk->lost_from == UINT64_MAX)
			break;
		if (!fxt_resync(walk, chunk, &walked))
			break;
	}
	if (walk->blob_left && chunk->at_end)
		pass_payload(walk, chunk); /* none is left: it is cut */
	return walked;
}
