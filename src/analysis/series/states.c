/* states.c - what threads do by the scheduling: running, or waiting for a CPU or for something else. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/series/states.h"

#include "analysis/series/sched.h"

#include <stdlib.h>

const char tw_state_running[] = "Running", tw_state_runnable[] = "R";

/* The names that Perfetto has for the states of threads. */
static const char *state_word(uint64_t state)
{
	static const char *const words[] = {
	    [TW_SCHED_NEW] = "R+",    [TW_SCHED_RUNNING] = "R+", [TW_SCHED_SUSPENDED] = "T",
	    [TW_SCHED_BLOCKED] = "S", [TW_SCHED_DYING] = "Z",    [TW_SCHED_DEAD] = "X",
	};
	return state < sizeof words / sizeof *words ? words[state] : NULL;
}

/* A thread comes into a state, which ends the one before. */
static int change(struct tw_thread_states *states, const struct tw_event *event, uint32_t track, const char *word)
{
	if (!tw_grow(&states->items, &states->room, track + (size_t)1, sizeof *states->items))
		return TW_ERR_MEMORY;
	struct tw_thread_state *state = &states->items[track];
	int status = 0;
	if (state->known)
		status =
		    states->over(states->owner, track, state, event->time > state->since ? event->time : state->since);
	*state = (struct tw_thread_state){
	    .id = event->offset,
	    .since = event->time,
	    .state = word,
	    .waker_state = UINT64_MAX,
	    .cpu = event->cpu,
	    .known = true,
	};
	if (states->begun)
		states->begun(states->owner, track, state);
	return status;
}

static const struct tw_thread_state *state_of(const struct tw_thread_states *states, uint32_t track)
{
	static const struct tw_thread_state none;
	return track < states->room ? &states->items[track] : &none;
}

/* Where a switch is missing, another thread leaves than the one that came: what that did since it came is not known,
 * and goes on not to be. */
static void lose(struct tw_thread_states *states, const struct tw_event *event, uint32_t track)
{
	if (track == event->track || track >= states->room)
		return;
	struct tw_thread_state *state = &states->items[track];
	if (state->known && state->state == tw_state_running && state->cpu == event->cpu)
		state->state = NULL;
}

/* One that leaves a CPU on which it was not, or comes while it is on another: the switch between is missing, and it is
 * not known what the thread did since the last one. */
static void doubt(struct tw_thread_states *states, uint32_t track, bool leaves, uint16_t cpu)
{
	struct tw_thread_state *state = track < states->room ? &states->items[track] : NULL;
	const bool runs = state && state->state == tw_state_running;
	if (state && state->known && (leaves ? !runs || state->cpu != cpu : runs))
		state->state = NULL;
}

static int take_switch(struct tw_thread_states *states, const struct tw_dictionary *dictionary,
                       const struct tw_event *event, const struct tw_argument *arguments)
{
	if (!tw_grow(&states->running, &states->cpu_room, (size_t)event->cpu + 1, sizeof *states->running))
		return TW_ERR_MEMORY;
	int status = 0;
	lose(states, event, states->running[event->cpu]);
	if (!tw_sched_leaves_idle(dictionary, event, arguments)) {
		doubt(states, event->track, true, event->cpu);
		status = change(states, event, event->track, state_word(event->value));
	}
	states->running[event->cpu] = event->other;
	if (status == 0 && !tw_sched_comes_idle(dictionary, event, arguments)) {
		doubt(states, event->other, false, event->cpu);
		status = change(states, event, event->other, tw_state_running);
	}
	return status;
}

/* A wake-up changes nothing of a thread that runs or is runnable. */
static int take_wakeup(struct tw_thread_states *states, const struct tw_event *event)
{
	const char *word = state_of(states, event->track)->state;
	bool ready = word && (word == tw_state_running || *word == *tw_state_runnable);
	int status = ready ? 0 : change(states, event, event->track, tw_state_runnable);
	const struct tw_thread_state *waker = state_of(states, event->other);
	if (!ready && status == 0 && event->other) {
		states->items[event->track].waker = event->other;
		states->items[event->track].waker_state = waker->known ? waker->id : UINT64_MAX;
	}
	return status;
}

int tw_thread_states_take(struct tw_thread_states *states, const struct tw_dictionary *dictionary,
                          const struct tw_event *event, const struct tw_argument *arguments)
{
	if (event->kind == TW_SWITCH)
		return take_switch(states, dictionary, event, arguments);
	return event->kind == TW_WAKEUP ? take_wakeup(states, event) : 0;
}

void tw_thread_states_free(struct tw_thread_states *states)
{
	free(states->items);
	free(states->running);
	*states = (struct tw_thread_states){0};
}
