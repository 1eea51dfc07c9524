/* parts.h - what the parts of the profiler for Mono share, beside those that it has in common with CoreCLR's. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONOPROFILER_PARTS_H
#define MONOPROFILER_PARTS_H

#include "coreprofiler/profiler.h"
#include "monoprofiler/mono.h"

/* ---- Mono as the runtime that the common parts ask (answers.c). ---- */

extern com_function *mono_answers[COM_CALLBACKS]; /* start.c adds what is missing */

/* A body of a method, as it was compiled or found: tells of both, if nobody has. */
void mono_write_body(struct mono_method *method, void *start);

/* The same; the method may not be known (NULL): returns it. */
struct mono_method *mono_write_frame(struct mono_method *method, void *start);

/* Code may be other methods' from now on. */
void mono_forget_bodies(void);

/* Whether it is Mono's own way from managed code into itself. */
bool mono_is_way_in(struct mono_method *method);

/* ---- The own stack, as CoreCLR walks it (stacks.c). ---- */

/* In a callback: the frame address of its function, from which its own stack is walked. */
void mono_stack_is(const void *frame);

/* At the end: what a check has found. */
void mono_stacks_write(void);

/* What a thread has learned of stacks goes. */
void mono_stacks_end(void);

int32_t mono_snapshot(struct com *own, uint64_t id, com_frame *take, uint32_t flags, void *context, uint8_t *state,
                      uint32_t size);

/* ---- Threads (threads.c). ---- */

/* The own thread, as the runtime numbers it; 0: it has ended for the log. */
uint64_t mono_thread(void);
void mono_thread_lives(bool lives);

/* ---- Samples (samples.c). ---- */

/* Gives the own thread room for its samples. */
void mono_sampled_begin(void);
void mono_sampled_end(void);

/* Writes what all threads have. */
void mono_write_samples(void);

/* In a signal handler. */
void mono_sampled(void *own, const void *ip, const void *registers);

/* ---- When there are samples (crashes.c). ---- */

/* While the profiler is loaded. False: Mono takes none. */
bool mono_sample_begin(struct mono_handle *own, uint32_t ms);

/* When Mono has its own handlers. */
void mono_sample_not_in_crashes(void);

/* ---- Calls and allocations (calls.c). ---- */

int mono_hooks(void *own, struct mono_method *method);
void mono_entered(void *own, struct mono_method *method, void *context);
void mono_left(void *own, struct mono_method *method, void *context);
void mono_tail_called(void *own, struct mono_method *method, struct mono_method *target);
void mono_thrown(void *own, struct mono_method *method, struct mono_object *exception);
void mono_allocated(void *own, struct mono_object *object);

/* ---- Collections (collections.c). ---- */

void mono_gc_happens(void *own, int event, uint32_t generation, int serial);

/* The program has ended: those that begin from now on are not logged. */
void mono_collections_end(void);

/* After collections: writes how large the heap is. Not by who collects. */
void mono_write_generations(void);

/* ---- What goes (unload.c). ---- */

void mono_domain_goes(void *own, struct mono_domain *domain);
void mono_image_goes(void *own, struct mono_image *image);

/* ---- What Mono calls (records.c). ---- */

/* Asks for all that the options want. Returns NULL, or what Mono cannot do. */
const char *mono_ask(struct mono_handle *handle, const struct profiler_options *options);

#endif
