/* skim_take.c - what skimming a leap has found, when the walk has come by: what references mean, and the steps. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "fxt/walk/chunk.h"

#include <stdlib.h>
#include <string.h>

/* ---- When the walk has come by: what references mean. ---- */

static bool find_names(struct fxt_chunk *chunk, uint64_t offset)
{
	enum { AHEAD = 16 }; /* where another provider's section began, none of what is looked up is in a near cache */
	struct fxt_skim *skim = &chunk->skim;
	bool found = true;
	for (size_t i = 0; i < skim->name_count && found; i++) {
		if (i + AHEAD < skim->name_count)
			fxt_prefetch_string(chunk->turn.provider, skim->names[i + AHEAD].reference);
		found = fxt_known_number(chunk, skim->names[i].reference, offset, &skim->names[i].number);
	}
	return found;
}

/* Whether all threads are registered, each with a track of its own; makes piles for them. */
static bool find_threads(struct fxt_chunk *chunk, uint64_t offset)
{
	struct fxt_skim *skim = &chunk->skim;
	for (size_t i = 0; i < skim->thread_count; i++) {
		struct fxt_skim_thread *thread = &skim->threads[i];
		const struct fxt_entry *entry = fxt_thread_at(chunk->turn.provider, thread->index, offset);
		if (!entry || !fxt_steps_pile(&chunk->steps, entry->number))
			return false;
		thread->track = entry->number;
		for (size_t k = 0; k < i; k++)
			if (skim->threads[k].track == thread->track)
				return false;
	}
	return true;
}

/* Whether nothing else keeps the leap from counting: provider and clock are known or reported, rows have times, and no
 * time is beyond 64 bits. */
static bool is_right(const struct fxt_chunk *chunk, const struct fxt_piece *piece)
{
	bool told = fxt_is_turn_told(chunk);
	bool timed = chunk->timed ? chunk->untimed == 0 : chunk->slab.count == 0;
	return told && timed && !piece->odd && chunk->first_without > FXT_SKIM_LONGEST &&
	       chunk->skim.ticks < chunk->first_without - FXT_SKIM_LONGEST;
}

/* Adds a step that is not settled: of an operation, a begin without its end, or an end without its begin. */
static void add_left(struct fxt_chunk *chunk, const struct fxt_skim_left *left, const uint32_t *tracks)
{
	struct fxt_steps *steps = &chunk->steps;
	struct fxt_step *step = fxt_steps_next(steps);
	uint64_t offset = fxt_offset(chunk, left->place);
	uint32_t category, name, track = tracks[tw_bits(left->header, 24, 31)];
	fxt_known_number(chunk, (unsigned)tw_bits(left->header, 32, 47), offset, &category);
	fxt_known_number(chunk, (unsigned)tw_bits(left->header, 48, 63), offset, &name);
	*step = (struct fxt_step){
	    .time = tw_ticks_ns(&chunk->clock, left->ticks),
	    .key = name,
	    .track = track,
	    .place = left->place,
	    .type = (uint32_t)tw_bits(left->header, 16, 19),
	};
	if (step->type < FXT_ASYNC_BEGIN) {
		fxt_steps_add_duration(steps, fxt_steps_pile(steps, track));
		return;
	}
	step->key = fxt_operation_key(category, name, left->word);
	fxt_steps_add(steps);
}

static bool has_durations(const struct fxt_skim_thread *thread)
{
	return thread->last != UINT64_MAX;
}

/* Settled durations must not begin before what piles have from records before the leap: else nothing is settled. */
static void join_before(struct fxt_chunk *chunk)
{
	for (size_t i = 0; i < chunk->skim.thread_count; i++) {
		const struct fxt_skim_thread *thread = &chunk->skim.threads[i];
		const struct fxt_pile *pile = fxt_steps_pile(&chunk->steps, thread->track);
		if (has_durations(thread) && pile->first != UINT64_MAX)
			chunk->steps.mixed |= tw_ticks_ns(&chunk->clock, thread->first) < pile->last;
	}
}

/* Adds the times of settled durations to their piles. */
static void join_after(struct fxt_chunk *chunk)
{
	for (size_t i = 0; i < chunk->skim.thread_count; i++) {
		const struct fxt_skim_thread *thread = &chunk->skim.threads[i];
		struct fxt_pile *pile = fxt_steps_pile(&chunk->steps, thread->track);
		if (!has_durations(thread))
			continue;
		uint64_t first = tw_ticks_ns(&chunk->clock, thread->first);
		uint64_t last = tw_ticks_ns(&chunk->clock, thread->last);
		pile->last = pile->first == UINT64_MAX || last > pile->last ? last : pile->last;
		pile->first = first < pile->first ? first : pile->first;
	}
}

bool fxt_skim_take(struct fxt_chunk *chunk, const struct fxt_piece *piece)
{
	struct fxt_skim *skim = &chunk->skim;
	uint64_t offset = fxt_offset(chunk, piece->from);
	uint32_t tracks[FXT_SKIM_THREADS];
	if (!is_right(chunk, piece) || !find_names(chunk, offset) || !find_threads(chunk, offset) ||
	    !fxt_steps_reserve(&chunk->steps, skim->left_count))
		return false;
	for (size_t i = 0; i < skim->thread_count; i++)
		tracks[skim->threads[i].index] = skim->threads[i].track;
	skim->from = chunk->steps.count;
	join_before(chunk);
	for (size_t i = 0; i < skim->left_count; i++)
		add_left(chunk, &skim->left[i], tracks);
	join_after(chunk);
	skim->to = chunk->steps.count;
	fxt_set_time(chunk,
	             tw_ticks_ns(&chunk->clock, tw_load64(chunk->bytes + chunk->leap.last + TW_FXT_WORD, chunk->big)));
	skim->clock = chunk->clock;
	return true;
}

/* ---- All steps, settled ones too. ---- */

/* The numbers of the names and tracks that a leap refers to. */
struct meaning {
	uint32_t names[FXT_SKIM_REFERENCES], tracks[FXT_SKIM_THREADS];
};

static struct meaning *meaning_of(const struct fxt_skim *skim)
{
	struct meaning *meaning = malloc(sizeof *meaning);
	if (!meaning)
		return NULL;
	for (size_t i = 0; i < skim->name_count; i++)
		meaning->names[skim->names[i].reference] = skim->names[i].number;
	for (size_t i = 0; i < skim->thread_count; i++)
		meaning->tracks[skim->threads[i].index] = skim->threads[i].track;
	return meaning;
}

static int compare_places(const void *left, const void *right)
{
	const struct fxt_step *a = left, *b = right;
	return (a->place > b->place) - (a->place < b->place);
}

/* Adds the steps of the leap in the order of the records: copies of those in `left`, and new ones for settled pairs. */
static void add_all(struct fxt_chunk *chunk, struct fxt_step *left, size_t count, const struct meaning *meaning)
{
	struct fxt_skim *skim = &chunk->skim;
	struct fxt_steps *steps = &chunk->steps;
	uint64_t header;
	if (count)
		qsort(left, count, sizeof *left, compare_places);
	for (size_t place = chunk->leap.from; place < chunk->leap.to; place += tw_bits(header, 4, 15) * TW_FXT_WORD) {
		header = tw_load64(chunk->bytes + place, chunk->leap.big);
		unsigned type = (unsigned)tw_bits(header, 16, 19);
		struct fxt_step *step = &steps->all[steps->count];
		if (count && left->place == place) {
			*step = *left++;
			count--;
		} else if (fxt_type(header) == TW_FXT_TYPE_EVENT && (type == FXT_BEGIN || type == FXT_END)) {
			*step = (struct fxt_step){
			    .time = tw_ticks_ns(&skim->clock,
			                        tw_load64(chunk->bytes + place + TW_FXT_WORD, chunk->leap.big)),
			    .key = meaning->names[tw_bits(header, 48, 63)],
			    .track = meaning->tracks[tw_bits(header, 24, 31)],
			    .place = (uint32_t)place,
			    .type = type,
			};
		} else {
			continue;
		}
		steps->count++;
	}
}

/* Adds all steps to piles and lists once more, which pairs begins with ends. */
static void pair_up(struct fxt_steps *steps)
{
	size_t count = steps->count;
	steps->loose_count = steps->pile_count = 0;
	tw_map_clear(&steps->by_track);
	steps->count = 1;
	while (steps->count < count && !steps->failed) {
		const struct fxt_step *step = fxt_steps_next(steps);
		if (step->type == FXT_BEGIN || step->type == FXT_END) {
			struct fxt_pile *pile = fxt_steps_pile(steps, step->track);
			if (pile)
				fxt_steps_add_duration(steps, pile);
		} else {
			fxt_steps_add(steps);
		}
	}
}

void fxt_skim_expand(struct fxt_chunk *chunk)
{
	enum { LEAST = 2 * TW_FXT_WORD }; /* bytes of a record */
	struct fxt_skim *skim = &chunk->skim;
	struct fxt_steps *steps = &chunk->steps;
	if (skim->from == 0)
		return;
	size_t behind = steps->count - skim->from, left = skim->to - skim->from;
	struct meaning *meaning = meaning_of(skim);
	struct fxt_step *copy = malloc((behind + 1) * sizeof *copy);
	if (!meaning || !copy || !fxt_steps_reserve(steps, (chunk->leap.to - chunk->leap.from) / LEAST)) {
		steps->failed = true;
	} else {
		memcpy(copy, steps->all + skim->from, behind * sizeof *copy);
		steps->count = skim->from;
		add_all(chunk, copy, left, meaning);
		memcpy(steps->all + steps->count, copy + left, (behind - left) * sizeof *copy);
		steps->count += behind - left;
		pair_up(steps);
	}
	skim->from = 0;
	free(meaning);
	free(copy);
}
