/* frames.h - functions and places in the order of their first use, for formats that list them and then name them by
 * number. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_PROFILES_FRAMES_H
#define EXPORT_PROFILES_FRAMES_H

#include "base/memory/map.h"
#include "core/format.h"

/* One of them: a name, a location of the dictionary, or an address. */
struct tw_frame_key {
	uint64_t value;
	enum tw_frame_of { FRAME_OF_NAME, FRAME_OF_LOCATION, FRAME_OF_ADDRESS } of;
};

/* All zero but the first two to begin. */
struct tw_frames {
	size_t limit;       /* how many there may be */
	bool by_source;     /* locations without a file are one with their name: for formats that show no addresses */
	uint32_t *of_names; /* by name: its number, plus 1 */
	size_t name_room;
	struct tw_map map;         /* of the others */
	struct tw_frame_key *keys; /* by number */
	size_t count, room;
	bool failed; /* no memory for one that there was room for */
};

/* Returns the number of the frame of a name or a location, which is a new one where it has none; UINT32_MAX when there
 * is no room. */
uint32_t tw_frames_number(struct tw_frames *frames, enum tw_frame_of of, uint64_t value);

static inline bool tw_frames_has_name(const struct tw_frames *frames, uint32_t name)
{
	return name < frames->name_room && frames->of_names[name];
}

/* The same of a name. Inline: most slices have one that is there. `make bench` measures convert. */
static inline uint32_t tw_frames_of_name(struct tw_frames *frames, uint32_t name)
{
	if (tw_frames_has_name(frames, name))
		return frames->of_names[name] - 1;
	return tw_frames_number(frames, FRAME_OF_NAME, name);
}

/* What is known of one, whatever it is; `name` is 0 for an address, and file is a text or NULL. */
struct tw_frame_place {
	uint32_t name;
	const char *file;
	size_t file_length;
	uint32_t line;
	uint64_t address;
};

struct tw_frame_place tw_frames_place(const struct tw_frames *frames, const struct tw_dictionary *dictionary,
                                      uint32_t number);

void tw_frames_free(struct tw_frames *frames);

/* ---- The stacks of samples. ---- */

enum { TW_SAMPLE_DEPTH = 4096 };

struct tw_sample_stack {
	uint32_t frames[TW_SAMPLE_DEPTH + 1]; /* numbers, the outermost first */
	size_t count;
	bool cut;    /* there were more frames: the outermost are missing */
	bool failed; /* there was no room for one of the frames */
};

/* Finds the stack of a sample: that of the dictionary, or else its arguments, if they are addresses, the innermost
 * first. The class of an allocation is its innermost frame. */
void tw_frames_of_sample(struct tw_frames *frames, const struct tw_dictionary *dictionary, const struct tw_batch *batch,
                         const struct tw_event *event, struct tw_sample_stack *stack);

#endif
