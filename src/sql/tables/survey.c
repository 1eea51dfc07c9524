/* survey.c - what one pass over a file tells of the whole. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/tables/survey.h"

#include "base/memory/memory.h"
#include "sql/index/index.h"

#include <stdlib.h>

/* ---- Keys. Hashes may be alike: what is found is compared. ---- */

static uint64_t track_key(unsigned kind, uint64_t process, uint64_t thread)
{
	return tw_hash_two(tw_hash_two(kind, process), thread);
}

static uint64_t series_key(const struct sql_series *series)
{
	uint64_t names = (uint64_t)series->name << 32 | series->argument;
	return tw_hash_two(tw_hash_two(tw_hash_two(series->id, series->process), names), series->category);
}

uint32_t sql_survey_track(const struct sql_survey *survey, const struct tw_track *track)
{
	uint32_t number;
	for (size_t slot = SIZE_MAX;
	     tw_map_next(&survey->tracks.map, track_key(track->kind, track->process, track->thread), &slot, &number);) {
		const struct sql_track *known = &survey->tracks.items[number];
		if (known->kind == track->kind && known->process == track->process && known->thread == track->thread)
			return number;
	}
	/* Its process may not have been known yet. */
	if (track->kind == TW_TRACK_THREAD && tw_map_find(&survey->thread_map, track->thread, &number))
		return number;
	return 0;
}

uint32_t sql_survey_series(const struct sql_survey *survey, const struct sql_series *series)
{
	uint32_t number;
	for (size_t slot = SIZE_MAX; tw_map_next(&survey->series.map, series_key(series), &slot, &number);) {
		const struct sql_series *known = &survey->series.items[number];
		if (known->process == series->process && known->id == series->id && known->name == series->name &&
		    known->category == series->category && known->argument == series->argument)
			return number;
	}
	return 0;
}

static uint64_t frame_key(const struct sql_frame *frame)
{
	return tw_hash_two(tw_hash_two(frame->id, frame->address), frame->id ? 0 : frame->name);
}

static uint64_t stack_key(uint32_t caller, uint32_t frame)
{
	return tw_hash64((uint64_t)caller << 32 | frame);
}

uint32_t sql_survey_frame(const struct sql_survey *survey, const struct sql_frame *frame)
{
	uint32_t number;
	for (size_t slot = SIZE_MAX; tw_map_next(&survey->frames.map, frame_key(frame), &slot, &number);) {
		const struct sql_frame *known = &survey->frames.items[number];
		if (known->address == frame->address && known->id == frame->id &&
		    (frame->id || known->name == frame->name))
			return number;
	}
	return UINT32_MAX;
}

uint32_t sql_survey_stack(const struct sql_survey *survey, uint32_t caller, uint32_t frame)
{
	uint32_t number;
	for (size_t slot = SIZE_MAX; tw_map_next(&survey->stacks.map, stack_key(caller, frame), &slot, &number);)
		if (survey->stacks.items[number].caller == caller && survey->stacks.items[number].location == frame)
			return number;
	return UINT32_MAX;
}

/* Frames that no stack leads through are none. */
bool sql_survey_has_stacks(struct sql_survey *survey)
{
	bool fine = true;
	for (uint32_t i = 1; i < survey->stacks.count && !survey->frames_mapped && fine; i++) {
		const struct tw_stack *stack = &survey->stacks.items[i];
		uint32_t known = sql_survey_frame(survey, &survey->frames.items[stack->location]);
		if (known == UINT32_MAX)
			fine = tw_map_add(&survey->frames.map, frame_key(&survey->frames.items[stack->location]),
			                  stack->location);
		survey->frames_alike |= known != UINT32_MAX && known != stack->location;
		fine = fine && tw_map_add(&survey->stacks.map, stack_key(stack->caller, stack->location), i);
	}
	survey->frames_mapped = true;
	survey->frames_alike |= !fine;
	return !survey->frames_alike;
}

bool sql_survey_add_series(struct sql_survey *survey, const struct sql_series *series)
{
	if (!tw_grow(&survey->series.items, &survey->series.room, survey->series.count + 1,
	             sizeof *survey->series.items) ||
	    !tw_map_add(&survey->series.map, series_key(series), (uint32_t)survey->series.count))
		return false;
	survey->series.items[survey->series.count++] = *series;
	return true;
}

bool sql_survey_map_track(struct sql_survey *survey, uint32_t number)
{
	const struct sql_track *track = &survey->tracks.items[number];
	uint32_t known;
	bool again = track->kind != TW_TRACK_THREAD || tw_map_find(&survey->thread_map, track->thread, &known);
	return tw_map_add(&survey->tracks.map, track_key(track->kind, track->process, track->thread), number) &&
	       (again || tw_map_add(&survey->thread_map, track->thread, number));
}

bool sql_survey_map(struct sql_survey *survey)
{
	bool fine = survey->processes.count > 0 && survey->series.count > 0;
	for (uint32_t i = 1; i < survey->tracks.count && fine; i++)
		fine = survey->tracks.items[i].upid < survey->processes.count && sql_survey_map_track(survey, i);
	for (uint32_t i = 1; i < survey->series.count && fine; i++)
		fine = survey->series.items[i].upid < survey->processes.count &&
		       tw_map_add(&survey->series.map, series_key(&survey->series.items[i]), i);
	for (uint32_t i = 1; i < survey->stacks.count && fine; i++)
		fine = survey->stacks.items[i].location < survey->frames.count;
	return fine;
}

void sql_survey_free(struct sql_survey *survey)
{
	if (!survey)
		return;
	sql_index_free(survey->index);
	free(survey->tracks.items);
	free(survey->processes.items);
	free(survey->series.items);
	free(survey->stacks.items);
	free(survey->frames.items);
	tw_map_free(&survey->tracks.map);
	tw_map_free(&survey->thread_map);
	tw_map_free(&survey->processes.map);
	tw_map_free(&survey->series.map);
	tw_map_free(&survey->frames.map);
	tw_map_free(&survey->stacks.map);
	free(survey);
}
