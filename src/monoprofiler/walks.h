/* walks.h - where frames end that Mono's walk comes by: it tells that nobody, but has it on its own stack. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONOPROFILER_WALKS_H
#define MONOPROFILER_WALKS_H

#include "monoprofiler/parts.h"

enum { MONO_WALK_WORDS = 512 };

/* Of one walk. */
struct mono_walk {
	uint64_t end;                          /* of the stack */
	uint64_t places[MONO_WALK_WORDS / 64]; /* where the registers may be: bits */
	uint64_t ip;                           /* of the frame before */
	uint32_t frames;                       /* whose addresses are others than those before */
};

void mono_walk_begin(struct mono_walk *walk);

/* In what Mono calls for a frame, by the address of its own function's frame: the stack pointer of a frame, behind the
 * call that returns to an address; 0: not known. */
uint64_t mono_walk_sp(struct mono_walk *walk, const uint64_t *own, uint64_t ip);

/* From now on it is known where the registers are, if one place had those of all frames. */
void mono_walk_end(const struct mono_walk *walk);

/* The end of the own stack; 0: not known. */
uint64_t mono_stack_end(void);

#endif
