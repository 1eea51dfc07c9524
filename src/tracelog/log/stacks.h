/* stacks.h - stacks of threads, from what has changed since the last. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_LOG_STACKS_H
#define TRACELOG_LOG_STACKS_H

#include "tracelog/format/fast_decode.h"

/* A frame of a thread's stack: the number of the stack that it is the innermost of, and its function. */
struct tracelog_stack_frame {
	uint32_t stack, iid;
	uint32_t path;    /* hash of the frames from the outermost to this one */
	bool is_function; /* a function of the log: not "(unknown)" or "(other)" */
};

/* The stack of a thread. */
struct tracelog_thread_stack {
	struct tracelog_stack_frame *frames; /* the outermost first */
	size_t depth, room;
	bool has_record; /* there was a record of it */
};

enum { TRACELOG_PUSH_SETS = 1 << 13, TRACELOG_PUSH_WAYS = 3 };

/* The stacks that some calls led to lately: one set of a cache, in one cache line of the processor. The hash of all
 * frames chooses the set, not the number of the stack: so the set of the next frame is known before the stack of this
 * one is found. */
struct tracelog_recent_pushes {
	_Alignas(64) uint64_t ip[TRACELOG_PUSH_WAYS];
	uint32_t iid[TRACELOG_PUSH_WAYS], caller[TRACELOG_PUSH_WAYS];
	uint32_t stack[TRACELOG_PUSH_WAYS]; /* 0: nothing is here */
};

/* Written by stacks.c. */
struct tracelog_stacks {
	size_t used, limit;                    /* bytes that stacks take, about, and may take */
	bool reported;                         /* the limit was reached, which was reported */
	uint32_t jit;                          /* the stack of the compiler alone, once it is asked for */
	uint32_t other;                        /* the stack that stands for those beyond, once there are some */
	struct tracelog_recent_pushes *recent; /* TRACELOG_PUSH_SETS, by a hash of the frames */
};

struct tracelog_log;
struct tracelog_thread;
struct tracelog_sample;

/* Forgets what calls led to, where functions mean something else from here on. */
void tracelog_forget_pushes(struct tracelog_stacks *stacks);

/* Returns false when there is no memory. */
bool tracelog_stacks_init(struct tracelog_stacks *stacks, size_t limit);

/* Changes the stack of a thread. Returns how many frames stay. */
size_t tracelog_change_stack(struct tracelog_log *log, struct tracelog_thread *thread,
                             const struct tracelog_sample *sample);

/* Returns the stack "(other)", which stands for all that there is no memory for and for what is called from these; 0
 * when there is no memory for it either. */
uint32_t tracelog_other_stack(struct tracelog_log *log);

/* Returns the stack "<JIT>": the compiler, of which no sample tells. */
uint32_t tracelog_jit_stack(struct tracelog_log *log);

uint32_t tracelog_stack_at(struct tracelog_log *log, const struct tracelog_thread *thread, uint64_t ip);

/* The function that a stack ends in, by name; 0 where nobody looks at names of rows. */
uint32_t tracelog_innermost(const struct tracelog_log *log, uint32_t stack);

#endif
