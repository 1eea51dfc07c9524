/* idle.h - whether the thread that a switch leaves, or the one that comes, is that of an idle CPU. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_IDLE_H
#define CORE_IDLE_H

#include <trackway/event.h>

#include <stdbool.h>

struct tw_dictionary;

/* An argument of a switch by its name; NULL: there is none. */
const struct tw_argument *tw_sched_argument(const struct tw_dictionary *dictionary, const struct tw_event *event,
                                            const struct tw_argument *arguments, const char *name);

/* The names of the arguments that tell about one side of a switch. */
struct tw_switch_names {
	const char *weight, *priority;
};

/* The names of the arguments about the leaving thread, and about the coming one. */
extern const struct tw_switch_names tw_switch_leaving, tw_switch_coming;

/* Whether the thread that a switch leaves, or the one that comes, is idle. */
bool tw_sched_leaves_idle(const struct tw_dictionary *dictionary, const struct tw_event *event,
                          const struct tw_argument *arguments);
bool tw_sched_comes_idle(const struct tw_dictionary *dictionary, const struct tw_event *event,
                         const struct tw_argument *arguments);

#endif
