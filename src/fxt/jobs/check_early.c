/* check_early.c - an archive checked with one look at it.
 *
 * Where nothing comes late, the look (look.c) would be for nothing; where the durations of each thread stand in the
 * order of time, and nest, they need no merging. Whether that is so shows while the archive is read. Any other archive
 * is looked at and checked anew. `make bench` measures check. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "fxt/fxt.h"

/* Takes a begin or an end. What began before the first complete slice, overlaps.c does not look at. */
static bool take_duration(struct fxt_early *early, struct fxt_pairs *pairs, const struct fxt_step *step,
                          uint64_t offset)
{
	const uint32_t name = (uint32_t)step->key;
	const struct tw_nested_slice begun = {pairs->complete ? step->time : UINT64_MAX, offset, name};
	if (step->type == FXT_BEGIN)
		return tw_nested_begin(&early->durations, step->track, step->time, &begun);
	const struct tw_nested_slice *slice = tw_nested_end(&early->durations, step->track, step->time, name);
	if (slice && slice->begin != UINT64_MAX)
		fxt_pairs_take_slice(pairs, step, slice->begin, step->time, offset);
	return slice;
}

bool fxt_early_take(struct fxt_early *early, struct fxt_pairs *pairs, struct fxt_chunk *chunk)
{
	struct fxt_step *const steps = chunk->steps.all;
	size_t tracks = tw_dictionary_tracks(pairs->reader->dictionary), kept = 0;
	bool fine = tw_grow(&early->durations.tracks, &early->durations.room, tracks, sizeof *early->durations.tracks);
	fxt_pairs_make_steps(pairs, chunk);
	for (size_t i = 0; i < chunk->steps.count && fine; i++) {
		const struct fxt_step *step = &steps[i];
		if (step->type >= FXT_ASYNC_BEGIN)
			steps[kept++] = *step;
		else if (step->type != FXT_COMPLETE)
			fine = take_duration(early, pairs, step, fxt_offset(chunk, step->place));
		else
			fxt_pairs_take_slice(pairs, step, step->time, step->key, fxt_offset(chunk, step->place));
		early->has_steps |= step->type != FXT_COMPLETE;
	}
	chunk->steps.count = kept;
	/* Nearly all are gone, and the chunk is held for the window. */
	fine &= tw_resize(&chunk->steps.all, &chunk->steps.room, kept + 1, sizeof *chunk->steps.all);
	return fine && !early->reach.late;
}

void fxt_early_end(const struct fxt_early *early, struct fxt_pairs *pairs)
{
	uint64_t *end = &pairs->reader->clock.end_ns;
	for (uint32_t i = 0; i < early->durations.room; i++) {
		const struct tw_nested_track *track = &early->durations.tracks[i];
		*end = track->last > *end ? track->last : *end;
		for (size_t k = 0; k < track->depth; k++)
			fxt_pairs_take_step(
			    pairs, &(struct fxt_step){.type = FXT_BEGIN, .track = i, .key = track->open[k].name},
			    track->open[k].slot);
	}
}
