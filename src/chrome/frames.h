/* frames.h - the frames of sampled stacks: nodes of V8's profiles, and "stackFrames". */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHROME_FRAMES_H
#define CHROME_FRAMES_H

#include "chrome/chrome.h"

/* A frame and its caller, by their ids in the file. */
struct chrome_frame {
	uint64_t parent; /* 0: none */
	uint32_t location;
	uint32_t stack; /* once it is asked for */
	bool done, root, passed;
};

struct chrome_frames {
	struct chrome_frame *items;
	size_t count, room;
	struct tw_map by_id; /* hash of a profile and the id of a frame to its place */
};

/* ---- JSON. ---- */

/* The member of an object; CHROME_NOTHING where there is none. */
struct chrome_value chrome_value_of(const struct chrome_value *object, const char *name);

/* Goes through the elements of an array; what is no array has none. */
struct chrome_scan chrome_begin_array(const struct chrome_value *array);
bool chrome_next_element(struct chrome_scan *scan, struct chrome_value *value);

/* ---- Frames. ---- */

/* What stands for the id of a frame in a profile, or of a profile among others; never 0. */
uint64_t chrome_frame_key(uint64_t profile, const struct chrome_value *id);

/* The location of a frame. UINT32_MAX where there is no memory, or it failed before. */
uint32_t chrome_locate(struct chrome_fill *fill, const struct chrome_value *name, const struct chrome_value *file,
                       struct tw_location location);

/* Adds the nodes of a profile; and "stackFrames", which are of profile 0. */
void chrome_take_nodes(struct chrome_fill *fill, struct chrome_frames *frames, uint64_t profile,
                       const struct chrome_value *nodes);
void chrome_take_stack_frames(struct chrome_fill *fill, struct chrome_frames *frames, const struct chrome_value *json);

/* The number of the stack of a frame; 0 where there is no such frame. */
uint32_t chrome_stack_of(struct chrome_fill *fill, struct chrome_frames *frames, uint64_t key);

void chrome_frames_free(struct chrome_frames *frames);

#endif
