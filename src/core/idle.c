/* idle.c - whether the thread that a switch leaves, or the one that comes, is that of an idle CPU. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/idle.h"

#include "core/dictionary.h"

#include <string.h>

const struct tw_argument *tw_sched_argument(const struct tw_dictionary *dictionary, const struct tw_event *event,
                                            const struct tw_argument *arguments, const char *name)
{
	for (size_t i = 0; i < event->argument_count; i++)
		if (strcmp(tw_dictionary_name(dictionary, arguments[i].name)->text, name) == 0)
			return &arguments[i];
	return NULL;
}

const struct tw_switch_names tw_switch_leaving = {"outgoing_weight", "outgoing_priority"};
const struct tw_switch_names tw_switch_coming = {"incoming_weight", "incoming_priority"};

static bool is_idle(const struct tw_dictionary *dictionary, const struct tw_event *event,
                    const struct tw_argument *arguments, uint32_t number, const struct tw_switch_names *side)
{
	const struct tw_track *track = tw_dictionary_track(dictionary, number);
	const struct tw_argument *weight = tw_sched_argument(dictionary, event, arguments, side->weight);
	const struct tw_argument *priority = tw_sched_argument(dictionary, event, arguments, side->priority);
	if (weight && weight->type == TW_ARG_INT && weight->value.i == INT32_MIN)
		return true;
	return priority ? track->process == 0 && priority->value.u == 0 : track->thread == 0;
}

bool tw_sched_leaves_idle(const struct tw_dictionary *dictionary, const struct tw_event *event,
                          const struct tw_argument *arguments)
{
	return is_idle(dictionary, event, arguments, event->track, &tw_switch_leaving);
}

bool tw_sched_comes_idle(const struct tw_dictionary *dictionary, const struct tw_event *event,
                         const struct tw_argument *arguments)
{
	return is_idle(dictionary, event, arguments, event->other, &tw_switch_coming);
}
