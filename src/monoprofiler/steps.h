/* steps.h - how large the frames of functions are, by the addresses that their calls return to. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONOPROFILER_STEPS_H
#define MONOPROFILER_STEPS_H

#include "monoprofiler/parts.h"

struct mono_step {
	uint64_t ip;                /* where a call returns to; 0: free */
	struct mono_method *method; /* NULL: Mono itself, or its way in */
	uint64_t size; /* from the stack pointer behind that call to that of who called; 0: it is not always the same */
};

/* Of a thread. */
struct mono_steps {
	struct mono_step *table;
	size_t count, room; /* room: a power of two */
};

struct mono_step *mono_step_find(const struct mono_steps *steps, uint64_t ip);

/* Makes it, or finds it. NULL: no memory. */
struct mono_step *mono_step_make(struct mono_steps *steps, uint64_t ip, struct mono_method *method, uint64_t size);

void mono_steps_clear(struct mono_steps *steps);

/* The size of the frame of compiled code, whose first instructions make it; 0: they are others. */
uint64_t mono_frame_size(const uint8_t *code, size_t size);

/* Makes the steps of Mono's own functions from the calling one outwards, as far as they are described (.eh_frame). */
void mono_steps_of_natives(struct mono_steps *steps);

#endif
