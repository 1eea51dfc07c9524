/* samples.c - samples that Trackway has written as instants, because the format has no names in stacks: samples again.
 *
 * The category tells the kind, and the first arguments are the numbers and the stack of the sample:
 * write/event_records.c. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/events/commit.h"
#include "fxt/walk/state.h"

#include <stddef.h>
#include <string.h>

enum { KINDS = 3, FIELDS = 6 };

static const struct {
	uint8_t kind; /* enum tw_event_kind */
	const char *value, *id;
} kinds[KINDS] = {
    {TW_STACK_SAMPLE, "weight", "wall_ns"},
    {TW_CPU_SAMPLE, "cpu_ns", NULL},
    {TW_ALLOCATION_SAMPLE, "bytes", "count"},
};

/* What is being made of an instant. */
struct sample {
	struct fxt_state *state;
	struct tw_event *row;
	const struct tw_argument *stack; /* NULL: none was told */
	struct tw_location place;        /* of the innermost function */
};

static const char *text_of(const struct fxt_state *state, uint32_t name)
{
	return tw_dictionary_name(state->dictionary, name)->text;
}

/* Takes an argument into the sample; false where it is not one of its own. */
static bool take(struct sample *sample, unsigned kind, const struct tw_argument *argument)
{
	const char *name = text_of(sample->state, argument->name);
	if (argument->type == TW_ARG_UINT && strcmp(name, kinds[kind].value) == 0)
		sample->row->value = argument->value.u;
	else if (argument->type == TW_ARG_UINT && kinds[kind].id && strcmp(name, kinds[kind].id) == 0)
		sample->row->id = argument->value.u;
	else if (argument->type == TW_ARG_TEXT && !sample->stack && strcmp(name, "stack") == 0)
		sample->stack = argument;
	else if (argument->type == TW_ARG_TEXT && sample->stack && strcmp(name, "file") == 0)
		sample->place.file = fxt_state_name(sample->state, argument->value.bytes, argument->size);
	else if (argument->type == TW_ARG_UINT && sample->place.file && strcmp(name, "line") == 0)
		sample->place.line = argument->value.u <= UINT32_MAX ? (uint32_t)argument->value.u : 0;
	else if (argument->type == TW_ARG_POINTER && sample->stack && strcmp(name, "address") == 0)
		sample->place.address = argument->value.u;
	else
		return false;
	return true;
}

/* "main;read": the outermost first. */
static uint32_t stack_of(const struct sample *sample)
{
	uint32_t stack = 0;
	const uint8_t *at = sample->stack->value.bytes, *end = at + sample->stack->size;
	while (at < end) {
		const uint8_t *found = memchr(at, ';', (size_t)(end - at)), *to = found ? found : end;
		struct tw_location frame = found ? (struct tw_location){0} : sample->place;
		frame.name = fxt_state_name(sample->state, at, (size_t)(to - at));
		stack = fxt_state_stack(sample->state, stack, &frame);
		at = found ? to + 1 : end;
	}
	return stack;
}

static void make_sample(struct sample *sample, unsigned kind, const struct tw_argument *arguments)
{
	struct tw_event *row = sample->row;
	unsigned own = 0;
	if (row->name == row->category) /* it had no name */
		row->name = 0;
	row->kind = kinds[kind].kind;
	row->category = 0;
	row->flags &= (uint8_t) ~(TW_FLAG_PROCESS | TW_FLAG_GLOBAL);
	while (own < row->argument_count && own < FIELDS && take(sample, kind, &arguments[own]))
		own++;
	row->first_argument += (uint16_t)own;
	row->argument_count -= (uint8_t)own;
	row->other = sample->stack && sample->stack->size ? stack_of(sample) : 0;
}

static bool is_own(const struct fxt_state *state, uint8_t provider)
{
	return strcmp(text_of(state, tw_dictionary_provider(state->dictionary, provider)->name), "trackway") == 0;
}

void fxt_find_samples(struct fxt_state *state, struct tw_slab *slab)
{
	uint32_t categories[KINDS];
	unsigned known = 0;
	for (unsigned i = 0; i < KINDS; i++) {
		const char *text = tw_event_kind_name(kinds[i].kind);
		categories[i] =
		    tw_dictionary_find(state->dictionary, &(struct tw_name){.text = text, .length = strlen(text)});
		known += categories[i] != UINT32_MAX;
	}
	for (size_t i = 0; known && i < slab->count; i++) {
		struct tw_event *row = &slab->events[i];
		unsigned kind = 0;
		while (kind < KINDS && (row->kind != TW_INSTANT || row->category != categories[kind]))
			kind++;
		struct sample sample = {.state = state, .row = row};
		if (kind < KINDS && is_own(state, row->provider))
			make_sample(&sample, kind,
			            slab->arguments + slab->bases[i / TW_SLAB_BLOCK] + row->first_argument);
	}
}
