/* glance.c - the times of a chunk's records, without rows. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/inline.h"
#include "fxt/merge/merge_window.h"

/* What a record means for the times of its chunk. */
enum role {
	ODD,    /* others depend on its row, or its time is not the second word */
	TURNS,  /* the records behind it may have another clock */
	SILENT, /* makes no row, or one with the time of the record before it */
	TIMED   /* the second word is its time */
};

static const uint8_t roles[FXT_TYPES] = {
    [TW_FXT_TYPE_METADATA] = TURNS,   [TW_FXT_TYPE_INITIALIZATION] = TURNS,
    [TW_FXT_TYPE_STRING] = SILENT,    [TW_FXT_TYPE_THREAD] = SILENT,
    [TW_FXT_TYPE_EVENT] = TIMED,      [TW_FXT_TYPE_BLOB] = ODD,
    [TW_FXT_TYPE_SCHEDULING] = TIMED, [TW_FXT_TYPE_LOG] = TIMED,
    [TW_FXT_TYPE_PROFILER] = TIMED,
};

/* The records between two turns. */
struct stretch {
	uint64_t least, last; /* ticks */
	bool timed;
};

/* Takes the times of records from a place on. Returns the place of the first that is neither timed nor silent, or the
 * end. */
TW_INLINE size_t take_times(const uint8_t *bytes, size_t place, size_t end, bool big, struct stretch *stretch)
{
	uint64_t header, least = stretch->least, last = stretch->last;
	bool timed = stretch->timed;
	for (; place < end; place += tw_bits(header, 4, 15) * TW_FXT_WORD) {
		header = tw_load64(bytes + place, big);
		enum role role = (enum role)roles[fxt_type(header)];
		if (role <= TURNS)
			break;
		if (role == SILENT)
			continue;
		last = tw_load64(bytes + place + TW_FXT_WORD, big);
		least = last < least ? last : least;
		timed = true;
	}
	*stretch = (struct stretch){least, last, timed};
	return place;
}

/* Adds the times of a stretch to those of the chunk. */
static void end_stretch(struct fxt_chunk *chunk, const struct fxt_turn *turn, const struct stretch *stretch)
{
	struct tw_ticks clock;
	if (!stretch->timed)
		return;
	tw_ticks_set(&clock, turn->frequency);
	uint64_t least = tw_ticks_ns(&clock, stretch->least);
	chunk->least = least < chunk->least ? least : chunk->least;
	chunk->last = tw_ticks_ns(&clock, stretch->last);
}

/* Where a look through a chunk is. */
struct glance {
	const struct fxt_turn *turn;
	size_t turned; /* turns that were passed */
	struct stretch stretch;
};

static bool take_turn(struct fxt_chunk *chunk, struct glance *glance)
{
	end_stretch(chunk, glance->turn, &glance->stretch);
	glance->stretch = (struct stretch){.least = UINT64_MAX};
	if (glance->turned == chunk->turn_count)
		return false;
	glance->turn = &chunk->turns[glance->turned++];
	return glance->turn->frequency <= TW_FREQUENCY_MAX;
}

static bool take_records(struct fxt_chunk *chunk, const struct fxt_piece *piece, struct glance *glance)
{
	for (size_t place = piece->from; place < piece->to;) {
		place = piece->big ? take_times(chunk->bytes, place, piece->to, true, &glance->stretch)
		                   : take_times(chunk->bytes, place, piece->to, false, &glance->stretch);
		if (place == piece->to)
			return true;
		uint64_t header = tw_load64(chunk->bytes + place, piece->big);
		if (roles[fxt_type(header)] != TURNS || fxt_kind(header) == TW_FXT_PROVIDER_EVENT ||
		    !take_turn(chunk, glance))
			return false;
		place += (size_t)tw_bits(header, 4, 15) * TW_FXT_WORD;
	}
	return true;
}

bool fxt_glance(struct fxt_chunk *chunk)
{
	struct glance glance = {.turn = &chunk->turn, .stretch = {.least = UINT64_MAX}};
	chunk->least = UINT64_MAX;
	bool fine = chunk->piece_count && chunk->note_count == 0 && chunk->turn.frequency <= TW_FREQUENCY_MAX;
	for (size_t i = 0; i < chunk->piece_count && fine; i++) {
		const struct fxt_piece *piece = &chunk->pieces[i];
		fine = piece->kind == FXT_RECORDS && !piece->odd && take_records(chunk, piece, &glance);
	}
	if (fine)
		end_stretch(chunk, glance.turn, &glance.stretch);
	return fine && chunk->least != UINT64_MAX;
}
