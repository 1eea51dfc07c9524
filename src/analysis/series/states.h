/* states.h - what threads do by the scheduling: running, or waiting for a CPU or for something else. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANALYSIS_SERIES_STATES_H
#define ANALYSIS_SERIES_STATES_H

#include <trackway/event.h>

#include <stdbool.h>

/* What a thread does since a switch or a wake-up. */
struct tw_thread_state {
	uint64_t id, since;   /* where the record is that it begins with, and its time */
	uint64_t waker_state; /* the id of the state that the waking thread was in; UINT64_MAX: not known */
	const char *state;    /* Perfetto's word, "Running" or "R"; NULL: not known */
	uint32_t waker;       /* track of that thread, 0 where it is not known */
	uint16_t cpu;
	bool known;  /* false: nothing was told of the thread yet */
	bool wanted; /* the owner's */
};

extern const char tw_state_running[], tw_state_runnable[];

struct tw_thread_states {
	struct tw_thread_state *items; /* by the reader's number of the track */
	size_t room;
	uint32_t *running; /* track of the thread that runs on a CPU, by its number: 16 bits */
	size_t cpu_room;
	/* The owner's part. `over`: a thread is in another state from a time on; it returns 0, or a negative status for
	 * tw_thread_states_take(). `begun`: it has come into a state; NULL: nobody asks. */
	int (*over)(void *owner, uint32_t track, const struct tw_thread_state *state, uint64_t end);
	void (*begun)(void *owner, uint32_t track, struct tw_thread_state *state);
	void *owner;
};

/* Takes a switch or a wake-up; others are nothing to it. Returns 0, TW_ERR_MEMORY, or what `over` returns. */
int tw_thread_states_take(struct tw_thread_states *states, const struct tw_dictionary *dictionary,
                          const struct tw_event *event, const struct tw_argument *arguments);
void tw_thread_states_free(struct tw_thread_states *states);

#endif
