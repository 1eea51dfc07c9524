/* profile_steps.h - traces of a few named calls on a few threads, and exact percentiles. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROFILE_STEPS_H
#define PROFILE_STEPS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/consume.h"
#include "core/dictionary.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { NAMES = 16, TRACKS = 4 };

struct step {
	char kind; /* B, E, X (complete), I (instant) */
	unsigned track;
	uint64_t time;
	char name;
	uint64_t duration;
};

static inline struct tw_event event_of(const struct step *step, uint32_t track, uint32_t name)
{
	static const char letters[] = "BEXI";
	static const enum tw_event_kind kinds[] = {TW_SLICE_BEGIN, TW_SLICE_END, TW_SLICE_COMPLETE, TW_INSTANT};
	return (struct tw_event){
	    .time = step->time,
	    .value = step->duration,
	    .track = track,
	    .name = name,
	    .kind = (uint8_t)kinds[strchr(letters, step->kind) - letters],
	};
}

/* Names are "a", "b", ... with the ids 1, 2, ...; track t is thread 100 + t of process 9. */
static inline struct tw_dictionary *make_dictionary(uint32_t *names, uint32_t *tracks, bool reversed)
{
	struct tw_dictionary *dictionary = tw_dictionary_new();
	for (uint32_t n = 0; n < NAMES; n++) {
		uint32_t i = reversed ? NAMES - 1 - n : n;
		char text[] = {(char)('a' + i), '\0'};
		struct tw_name name = {.text = text, .length = 1, .id = i + 1, .file = "code.c", .line = 10 * (i + 1)};
		names[i] = tw_dictionary_intern(dictionary, &name);
	}
	for (uint32_t i = 0; i < TRACKS; i++)
		tracks[i] = tw_dictionary_add_track(dictionary, &(struct tw_track){.process = 9, .thread = 100 + i});
	return dictionary;
}

static inline struct tw_event make_event(const struct step *step, const uint32_t *names, const uint32_t *tracks)
{
	return event_of(step, tracks[step->track], step->name ? names[step->name - 'a'] : 0);
}

static inline uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static inline int compare_u64(const void *left, const void *right)
{
	uint64_t l = *(const uint64_t *)left, r = *(const uint64_t *)right;
	return (l > r) - (l < r);
}

/* Nearest rank: the ceil(share * n)-th smallest. */
static inline uint64_t exact(const uint64_t *sorted, size_t n, size_t percent)
{
	size_t rank = (percent * n + 99) / 100;
	return sorted[rank ? rank - 1 : 0];
}

static inline void expect_near(uint64_t got, uint64_t want)
{
	uint64_t off = got > want ? got - want : want - got;
	assert_true(off <= want / 128 + (want % 128 != 0));
	assert_true((double)off <= (double)want * 0.01);
}

#endif
