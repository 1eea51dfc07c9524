/* index.c - the events of a trace as rows of a picture. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/index/index.h"

#include "analysis/series/sched.h"
#include "core/format.h"
#include "core/order/sorted_runs.h"
#include "view/index/few.h"
#include "view/index/order.h"
#include "view/index/parts.h"
#include "view/index/spans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Bytes for stacks of calls, and for asynchronous operations that are open. */
enum { STACKS_LIMIT = 24 << 20, PAIRS_LIMIT = 8 << 20 };

/* Where stacks were not plain, what is open depends on more than begins. */
static void take_spans(struct view_index *index, const struct tw_batch *batch)
{
	const struct tw_calls *calls = &index->calls;
	if (!index->store.spans)
		return;
	index->store.spans->owner = index;
	view_spans_take(index->store.spans, batch);
	if (calls->counts.overlaps || calls->counts.time_backwards || calls->counts.cut || calls->counts.untimed)
		view_spans_fail(index->store.spans);
}

/* ---- Points. ---- */

static void put_point(struct view_index *index, uint32_t name)
{
	const struct tw_event *event = index->now.event;
	uint32_t track = track_of(index, event->track);
	struct view_row *row = view_index_row_of(index, VIEW_POINTS, track, VIEW_POINTS_LANE, 0);
	/* What comes late stands where the last one is: the order of a row is that of time. */
	uint64_t time = row && event->time < row->last ? row->last : event->time;
	if (time > event->time)
		view_spans_fail(index->store.spans);
	const struct view_slice point = {.begin = time, .end = time, .offset = event->offset, .name = name};
	index->left += !row || !view_row_add_slice(row, &index->store, &point);
}

static void take_instant(struct view_index *index)
{
	put_point(index, name_of(index, index->now.event->name, index->now.event->category));
}

/* Its name is the message. */
static void take_log(struct view_index *index)
{
	const struct tw_argument *message = index->now.arguments;
	if (!index->now.event->argument_count || message->type != TW_ARG_TEXT) {
		take_instant(index);
		return;
	}
	uint32_t name = view_names_add(&index->names, &index->store, (const char *)message->value.bytes, message->size);
	const uint32_t category =
	    view_names_take(&index->names, &index->store, index->now.dictionary, index->now.event->category);
	if (name != VIEW_NONE && category != VIEW_NONE && !index->names.known)
		view_names_at(&index->names, &index->store, name)->category = category + 1;
	put_point(index, or_first(name));
}

/* The innermost function. */
static void take_sample(struct view_index *index)
{
	const struct tw_stack *stack = tw_dictionary_stack(index->now.dictionary, index->now.event->other);
	put_point(index, name_of(index, tw_dictionary_location(index->now.dictionary, stack->location)->name,
	                         index->now.event->category));
}

/* ---- Asynchronous operations: a track for each name of a process. ---- */

static void begin_operation(struct view_index *index)
{
	const struct tw_event *event = index->now.event;
	struct tw_open_pair *open = tw_pairs_begin(&index->pairs, index->now.dictionary, event, PAIRS_LIMIT);
	index->left += !open;
	if (!open)
		return;
	open->id = event->offset;
	open->ts = event->time;
	open->track = event->track;
	open->name = event->name;
	open->category = event->category;
}

static void put_operation(struct view_index *index, const struct tw_open_pair *open, uint64_t end)
{
	uint64_t process = tw_dictionary_track(index->now.dictionary, open->track)->process;
	uint32_t track = view_tracks_find(&index->tracks, VIEW_ASYNC, process, open->name);
	if (track == VIEW_NONE) {
		index->left++;
		return;
	}
	if (!index->tracks.items[track].fixed)
		view_track_call(&index->tracks, track, tw_dictionary_name(index->now.dictionary, open->name));
	const struct view_slice slice = {.begin = open->ts,
	                                 .end = end > open->ts ? end : open->ts,
	                                 .offset = open->id,
	                                 .name = name_of(index, open->name, open->category)};
	view_index_put_slice(index, track, 0, 0, &slice);
}

static void end_operation(struct view_index *index)
{
	struct tw_open_pair *open = tw_pairs_ended(&index->pairs, index->now.dictionary, index->now.event);
	if (!open)
		return;
	put_operation(index, open, index->now.event->time);
	tw_pairs_remove(&index->pairs, open);
	tw_pairs_sweep(&index->pairs);
}

/* ---- CPUs. ---- */

static void put_running(struct view_index *index, size_t cpu, uint64_t end)
{
	struct view_running *running = &index->cpus.items[cpu];
	if (running->name == VIEW_NONE || end <= running->since)
		return;
	const struct view_slice slice = {.begin = running->since,
	                                 .end = end,
	                                 .offset = running->offset,
	                                 .name = running->name};
	if (running->track == VIEW_NONE)
		running->track = view_tracks_find(&index->tracks, VIEW_CPU, 0, cpu);
	view_index_put_slice(index, running->track, 0, 0, &slice);
}

/* The name of what runs: of the thread, "thread 7" where it has none; nothing where it is not known. */
static uint32_t running_name(struct view_index *index, uint32_t number)
{
	uint32_t own = number ? track_of(index, number) : VIEW_NONE;
	if (own == VIEW_NONE)
		return VIEW_NONE;
	view_track_name(&index->tracks, own, index->now.dictionary);
	struct view_track *track = &index->tracks.items[own];
	if (!track->running)
		track->running =
		    1 + view_names_add(&index->names, &index->store, track->name.bytes, track->name.length);
	return track->running - 1;
}

static void take_running(struct view_index *index)
{
	const struct tw_event *event = index->now.event;
	size_t cpu = event->cpu;
	for (; index->cpus.count <= cpu; index->cpus.count++) {
		if (!tw_grow(&index->cpus.items, &index->cpus.room, index->cpus.count + 1, sizeof *index->cpus.items)) {
			index->left++;
			return;
		}
		index->cpus.items[index->cpus.count] = (struct view_running){.name = VIEW_NONE, .track = VIEW_NONE};
	}
	put_running(index, cpu, event->time);
	bool idle = tw_sched_comes_idle(index->now.dictionary, event, index->now.arguments);
	index->cpus.items[cpu] = (struct view_running){.since = event->time,
	                                               .offset = event->offset,
	                                               .name = idle ? VIEW_NONE : running_name(index, event->other),
	                                               .track = index->cpus.items[cpu].track};
}

/* ---- What threads do. ---- */

static const char *state_word(const char *state)
{
	static const struct {
		const char *state, *word;
	} words[] = {
	    {"Running", "running"}, {"R", "waits for a CPU"}, {"R+", "waits for a CPU, preempted"},
	    {"S", "sleeps"},        {"T", "suspended"},       {"Z", "dying"},
	    {"X", "dead"},
	};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(words[i].state, state) == 0)
			return words[i].word;
	return state;
}

/* The number of a state's name: each is added once. */
static uint32_t state_name(struct view_index *index, const char *state)
{
	size_t i = 0;
	for (; i < VIEW_STATE_NAMES && index->states.names[i].state; i++)
		if (index->states.names[i].state == state)
			return index->states.names[i].name;
	const char *word = state_word(state);
	uint32_t name = view_names_add(&index->names, &index->store, word, strlen(word));
	if (i < VIEW_STATE_NAMES)
		index->states.names[i] = (struct view_state_name){state, name};
	return name;
}

static int put_state(void *owner, uint32_t number, const struct tw_thread_state *state, uint64_t end)
{
	struct view_index *index = owner;
	if (!state->state)
		return 0;
	struct view_row *row = view_index_row_of(index, VIEW_STATES, track_of(index, number), VIEW_STATES_LANE, 0);
	const uint64_t begin = row && state->since < row->last ? row->last : state->since;
	const struct view_slice slice = {.begin = begin,
	                                 .end = end > begin ? end : begin,
	                                 .offset = state->id,
	                                 .name = state_name(index, state->state)};
	index->left += !row || slice.name == VIEW_NONE || !view_row_add_slice(row, &index->store, &slice);
	return 0;
}

static void take_state(struct view_index *index)
{
	index->states.of.owner = index;
	index->states.of.over = put_state;
	index->left +=
	    tw_thread_states_take(&index->states.of, index->now.dictionary, index->now.event, index->now.arguments) < 0;
}

static void take_switch(struct view_index *index)
{
	take_running(index);
	take_state(index);
}

/* ---- What is lost. ---- */

static void take_lost(struct view_index *index)
{
	const struct tw_event *event = index->now.event;
	const uint64_t number = index->lost.count++, time = event->time <= INT64_MAX ? event->time : index->end;
	index->lost.last = number < VIEW_LOST_KEPT;
	if (index->lost.last)
		index->lost.items[number] =
		    (struct view_lost){.from = time,
		                       .to = time,
		                       .bytes = event->value,
		                       .offset = event->offset,
		                       .track = event->track ? track_of(index, event->track) : VIEW_NONE};
}

static void end_lost(struct view_index *index, uint64_t time)
{
	struct view_lost *lost = &index->lost.items[index->lost.count - 1];
	lost->to = time > lost->from ? time : lost->from;
	index->lost.last = false;
}

/* ---- All together. ---- */

static void (*const takers[TW_EVENT_KINDS])(struct view_index *index) = {
    [TW_INSTANT] = take_instant,
    [TW_LOG] = take_log,
    [TW_STACK_SAMPLE] = take_sample,
    [TW_CPU_SAMPLE] = take_sample,
    [TW_COUNTER] = view_index_take_counter,
    [TW_ASYNC_BEGIN] = begin_operation,
    [TW_ASYNC_END] = end_operation,
    [TW_ALLOCATION_SAMPLE] = take_sample,
    [TW_SWITCH] = take_switch,
    [TW_LOST] = take_lost,
    [TW_WAKEUP] = take_state,
};

static int init_calls(struct view_index *index, const struct tw_traits *traits)
{
	index->calls.hooks = &view_index_hooks;
	index->calls.budget = &index->budget;
	index->calls.rules.exact = true;
	index->calls.name_limit = SIZE_MAX;
	index->calls.rules.rounding = traits->rounding;
	index->calls.rules.ends_unordered = traits->ends_unordered;
	tw_budget_reset(&index->budget, STACKS_LIMIT, 1);
	index->counters.of_series = calloc(1, sizeof *index->counters.of_series);
	return index->counters.of_series && tw_calls_init(&index->calls) ? 0 : TW_ERR_MEMORY;
}

int view_index_init(struct view_index *index, const char *directory, uint64_t room, const struct tw_traits *traits)
{
	int error = view_store_open(&index->store, directory, room);
	index->store.error = error;
	return error ? TW_ERR_SYSTEM : init_calls(index, traits);
}

static void put_aside(struct view_index *index)
{
	struct tw_event event = *index->now.event;
	event.first_argument = 0;
	const int error = tw_sorted_runs_put(index->aside, &(struct tw_batch){&event, 1, index->now.arguments});
	index->store.error = error ? error : index->store.error;
}

static void take(struct view_index *index, const struct tw_event *event)
{
	const uint64_t over = tw_event_over(event);
	const bool shown = over <= INT64_MAX && event->time <= INT64_MAX;
	index->now.event = event;
	if (!shown && event->kind != TW_LOST) { /* damage: no axis is so long */
		index->left++;
		return;
	}
	if (!shown) {
		take_lost(index);
		return;
	}
	if (index->lost.last)
		end_lost(index, event->time);
	index->end = over > index->end ? over : index->end;
	tw_calls_select_track(&index->calls, event->track);
	tw_calls_take(&index->calls, event);
	if (index->aside && view_is_shared(event))
		put_aside(index);
	else if (event->kind < TW_EVENT_KINDS && takers[event->kind])
		takers[event->kind](index);
}

void view_index_take(struct view_index *index, const struct tw_dictionary *dictionary, const struct tw_batch *batch)
{
	index->now.dictionary = dictionary;
	take_spans(index, batch);
	view_index_fetch_tracks(index, batch);
	for (size_t i = 0; i < batch->count;) {
		const struct tw_event *event = &batch->events[i];
		const size_t run = view_index_take_run(index, event, batch->count - i);
		if (run && index->lost.last)
			end_lost(index, event->time);
		i += run;
		if (run)
			continue;
		index->now.arguments = tw_event_arguments(batch, event);
		take(index, event);
		i++;
	}
	index->events += batch->count;
}

void view_index_take_aside(struct view_index *index, const struct tw_dictionary *dictionary,
                           const struct tw_batch *batch)
{
	index->now.dictionary = dictionary;
	view_index_fetch_tracks(index, batch);
	for (size_t i = 0; i < batch->count; i++) {
		index->now.event = &batch->events[i];
		index->now.arguments = tw_event_arguments(batch, index->now.event);
		takers[index->now.event->kind](index);
	}
}

void view_index_finish(struct view_index *index, const struct tw_dictionary *dictionary)
{
	index->now.dictionary = dictionary;
	index->now.event = NULL;
	tw_calls_finish(&index->calls);
	for (size_t cpu = 0; cpu < index->cpus.count; cpu++)
		put_running(index, cpu, index->end);
	for (size_t i = 0; i < index->states.of.room; i++)
		if (index->states.of.items[i].known)
			put_state(index, (uint32_t)i, &index->states.of.items[i], index->end);
	for (size_t i = 0; i < index->pairs.count; i++)
		if (index->pairs.items[i].key)
			put_operation(index, &index->pairs.items[i], index->end);
	view_tracks_name(&index->tracks, dictionary);
	view_store_trim(&index->store);
}

void view_index_end_reading(struct view_index *index)
{
	tw_pairs_free(&index->pairs);
	tw_calls_free(&index->calls);
	tw_thread_states_free(&index->states.of);
	free(index->met.numbers);
	free(index->open.items);
	free(index->cpus.items);
	index->met.numbers = NULL;
	index->open.items = NULL;
	index->cpus.items = NULL;
}

/* All but the store, tracks and names. */
static void free_parts(struct view_index *index)
{
	for (uint64_t i = 0; i < index->rows.count; i++)
		view_row_free(view_index_row_at(index, i), &index->store);
	view_few_free(&index->store);
	view_spans_free(index->store.spans);
	tw_sorted_runs_free(index->aside);
	index->store.spans = NULL;
	view_column_free(&index->rows);
	tw_map_free(&index->found.numbers);
	free(index->counters.of_series);
	view_index_end_reading(index);
}

int view_index_again(struct view_index *index, const char *directory)
{
	struct view_store store;
	const int error = view_store_open(&store, directory, index->store.room);
	if (error || !view_names_move(&index->names, &index->store, &store)) {
		index->store.error = error ? error : store.error;
		if (!error)
			view_store_close(&store);
		return TW_ERR_SYSTEM;
	}
	const struct tw_traits traits = {.rounding = index->calls.rules.rounding,
	                                 .ends_unordered = index->calls.rules.ends_unordered};
	free_parts(index);
	view_tracks_empty(&index->tracks);
	view_store_close(&index->store);
	tw_clear(&index->names.taken, 0, index->names.taken_room, sizeof *index->names.taken);
	*index = (struct view_index){.store = store, .tracks = index->tracks, .names = index->names};
	return init_calls(index, &traits);
}

void view_index_free(struct view_index *index)
{
	free_parts(index);
	view_tracks_free(&index->tracks);
	view_names_free(&index->names);
	view_store_close(&index->store);
	*index = (struct view_index){0};
}
