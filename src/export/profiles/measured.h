/* measured.h - what profiles of threads have in common: slices, samples by what they measure, and texts that wait. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_PROFILES_MEASURED_H
#define EXPORT_PROFILES_MEASURED_H

#include "base/inline.h"
#include "core/calls/calls.h"
#include "export/profiles/frames.h"
#include "export/text/line.h"
#include "export/text/spool.h"

/* What is measured. X(name, word): behind the name of a thread */
#define TW_MEASURE_LIST(X)                                                                                             \
	X(MEASURE_SLICES, "")                                                                                          \
	X(MEASURE_TICKS, " (samples)")                                                                                 \
	X(MEASURE_WALL, " (wall time)")                                                                                \
	X(MEASURE_CPU, " (CPU time)")                                                                                  \
	X(MEASURE_BYTES, " (allocated)")

enum tw_measure {
#define X(name, word) name,
	TW_MEASURE_LIST(X)
#undef X
	    MEASURES
};

extern const char *const tw_measure_words[MEASURES];

struct tw_measured_hooks {
	struct tw_call_hooks calls; /* the context begins with struct tw_measured, and so with its struct tw_calls */
	/* First the stack of a sample, which is in measured->stack; then what it measures, each: of a stack sample its
	 * wall time, and its value. */
	void (*stack)(void *context, const struct tw_event *event);
	void (*sample)(void *context, const struct tw_event *event, enum tw_measure measure, uint64_t weight);
};

struct tw_measured {
	struct tw_calls calls; /* first: hooks get this */
	struct tw_budget budget;
	uint64_t time; /* of the event that is being taken */
	struct tw_writer *writer;
	const struct tw_measured_hooks *hooks;
	void *context;
	const struct tw_dictionary *dictionary; /* NULL: there was no event */
	const struct tw_batch *batch;
	struct tw_frames frames;
	struct tw_sample_stack stack;
	struct tw_spool spool;
	struct tw_line line;
	uint64_t start;     /* of the trace */
	uint64_t day;       /* time of day of the start: ns since 1970; 0: not known */
	bool instructions;  /* times are numbers of instructions */
	bool begun, failed; /* failed: no memory */
};

/* All zero before; context: what the hooks get. */
void tw_measured_init(struct tw_measured *measured, struct tw_writer *writer, const struct tw_measured_hooks *hooks,
                      void *context);

/* Must be called with each batch before its events are taken. frame_cost: how many bytes a frame, or what the target
 * has more of, takes in all; the memory limit bounds how many there may be. Returns 0 or a negative status. */
int tw_measured_meet(struct tw_measured *measured, const struct tw_reader *reader, const struct tw_batch *batch,
                     size_t frame_cost);

/* Takes an event to the slices of its track: it begins or ends some, or time goes by. Inlined together with the hooks,
 * which are given here again for that: `make bench` measures convert. */
TW_INLINE void tw_measured_slice(struct tw_measured *measured, const struct tw_event *event, tw_call_find_fn enter,
                                 tw_call_leave_fn leave)
{
	struct tw_calls *calls = &measured->calls;
	measured->time = event->time;
	if (!tw_calls_meet(calls, event))
		return;
	if (tw_calls_take_one(calls, event, enter, leave, leave))
		return;
	const struct tw_call_item item = tw_call_item_of(event);
	tw_calls_take_item(calls, &item);
}

/* Tells a sample of any kind. */
void tw_measured_sample(struct tw_measured *measured, const struct tw_event *event);

/* Ends all slices. */
void tw_measured_finish(struct tw_measured *measured);

/* What the target returns: the status, or what failed meanwhile, told to the writer. */
int tw_measured_result(struct tw_measured *measured, int status);

void tw_measured_free(struct tw_measured *measured);

/* A time since the start of the trace. */
static inline uint64_t tw_measured_since(const struct tw_measured *measured, uint64_t time)
{
	return time > measured->start ? time - measured->start : 0;
}

#endif
