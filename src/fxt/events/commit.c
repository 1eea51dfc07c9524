/* commit.c - what of a chunk's rows needs the dictionary, done in the order of the archive. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "base/memory/order.h"
#include "fxt/events/events.h"
#include "fxt/walk/state.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- Instants that Trackway wrote for samples ---- */

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
	const struct tw_argument *stack; /* NULL: none was stated */
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

/* Complete rows that Trackway wrote for samples become samples. The category tells the kind, and the first arguments
 * are the numbers and the stack of the sample: write/event_records.c. */
static void find_samples(struct fxt_state *state, struct tw_slab *slab)
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

/* ---- Rows ---- */

/* A fix, and the row it is for. */
struct fixed_row {
	struct fxt_commit *commit;
	struct fxt_chunk *chunk;
	const struct fxt_fix *fix;
	struct tw_event *row;
};

static struct tw_argument *argument_of(const struct fixed_row *at, unsigned number)
{
	struct tw_slab *slab = &at->chunk->rows.slab;
	return slab->arguments + slab->bases[at->fix->row / TW_SLAB_BLOCK] + at->row->first_argument + number;
}

/* ---- Names and tracks. ---- */

static uint32_t name_of(const struct fixed_row *at)
{
	char text[FXT_UNDEFINED_MAX];
	static const char other[] = "(other)";
	if (at->fix->reference == 0)
		return fxt_state_name(at->commit->state, at->fix->bytes, at->fix->length);
	if (at->row->offset > at->commit->state->unindexed)
		return fxt_state_name(at->commit->state, other, sizeof other - 1);
	return fxt_state_name(at->commit->state, text, fxt_undefined_name(text, at->fix->reference));
}

static void fix_name(const struct fixed_row *at)
{
	*(at->fix->kind == FXT_FIX_NAME ? &at->row->name : &at->row->category) = name_of(at);
}

static void fix_argument_name(const struct fixed_row *at)
{
	if (at->fix->argument < at->row->argument_count)
		argument_of(at, at->fix->argument)->name = name_of(at);
}

/* Names live as long as the dictionary. */
static void fix_argument_text(const struct fixed_row *at)
{
	const struct tw_name *text = tw_dictionary_name(at->commit->state->dictionary, name_of(at));
	if (at->fix->argument >= at->row->argument_count)
		return;
	struct tw_argument *argument = argument_of(at, at->fix->argument);
	argument->value.bytes = (const uint8_t *)text->text;
	argument->size = (uint32_t)text->length;
}

static void fix_track(const struct fixed_row *at)
{
	struct fxt_state *state = at->commit->state;
	const uint64_t a = at->fix->a, b = at->fix->b;
	uint32_t *track = at->fix->other ? &at->row->other : &at->row->track;
	switch ((unsigned)at->fix->kind) {
	case FXT_FIX_TRACK:
		*track = fxt_state_track(state, a, b);
		return;
	case FXT_FIX_TRACK_BY_KOID:
		*track = fxt_state_track_of_thread(state, b);
		return;
	case FXT_FIX_TRACK_UNDEFINED:
		*track = fxt_state_undefined_thread(state, a, b);
		return;
	default: /* process 0 is none */
		*track = b ? fxt_state_process(state, b) : 0;
	}
}

/* ---- Objects. ---- */

static void fix_reference(const struct fixed_row *at)
{
	const struct fxt_object object = {at->fix->a, at->fix->b};
	uint32_t name = fxt_object_name(&at->commit->objects, object);
	if (name && at->fix->argument < at->row->argument_count)
		argument_of(at, at->fix->argument)->size = name;
}

static void fix_object(const struct fixed_row *at)
{
	const struct fxt_object object = {at->fix->a, at->fix->b};
	fxt_object_learn(&at->commit->objects, at->commit->state, object, at->row->name);
}

/* The koid that a thread's object record tells its process by: the document, "Argument conventions". */
static bool process_of(const struct fixed_row *at, uint64_t *process)
{
	const struct tw_dictionary *dictionary = at->commit->state->dictionary;
	for (unsigned i = 0; i < at->row->argument_count; i++) {
		const struct tw_argument *argument = argument_of(at, i);
		if (argument->type != TW_ARG_KOID ||
		    strcmp(tw_dictionary_name(dictionary, argument->name)->text, "process") != 0)
			continue;
		*process = argument->value.u;
		return true;
	}
	return false;
}

static void fix_kernel_object(const struct fixed_row *at)
{
	struct fxt_state *state = at->commit->state;
	uint64_t process;
	if (at->row->value == FXT_OBJECT_PROCESS)
		at->row->track = fxt_state_process(state, at->fix->b);
	else if (at->row->value == FXT_OBJECT_THREAD && process_of(at, &process))
		at->row->track = fxt_state_track(state, process, at->fix->b);
	if (at->row->track && at->row->name)
		tw_dictionary_name_track(state->dictionary, at->row->track, at->row->name);
}

/* ---- Blobs in parts. ---- */

/* The argument whose bytes are only here in part. */
static const struct tw_argument *bytes_of(const struct tw_slab *slab, const struct tw_event *row)
{
	size_t base = slab->bases[(size_t)(row - slab->events) / TW_SLAB_BLOCK] + row->first_argument;
	for (unsigned i = 0; i < row->argument_count; i++)
		if (slab->arguments[base + i].type == TW_ARG_BYTES)
			return &slab->arguments[base + i];
	return NULL;
}

/* Whether the file has this many bytes more behind what was walked of a chunk, as far as can be told. */
static bool has_more(const struct fxt_commit *commit, const struct fxt_chunk *chunk, uint64_t more)
{
	const struct tw_input *input = commit->reader->input;
	uint64_t end = fxt_offset(chunk, chunk->walk.place);
	return tw_input_seekable(input) && end <= tw_input_size(input) && more <= tw_input_size(input) - end;
}

/* A blob whose bytes go on behind this row. All of an unknown record is shown, padding too. */
static void keep_blob(struct fxt_commit *commit, const struct fxt_chunk *chunk, struct tw_event *row)
{
	const struct tw_argument *bytes = row->flags & TW_FLAG_PARTIAL ? bytes_of(&chunk->rows.slab, row) : NULL;
	if (!bytes)
		return;
	uint64_t left = row->kind == TW_BLOB ? row->value - bytes->size : UINT64_MAX;
	row->other = row->kind == TW_BLOB && has_more(commit, chunk, left) ? TW_BLOB_FIRST_PART : 0;
	commit->blob = (struct fxt_blob_row){*row, bytes->name, left};
}

static void fix_payload(const struct fixed_row *at)
{
	struct fxt_blob_row *blob = &at->commit->blob;
	if (at->fix->row > 0) /* cut off by the end of the file */
		keep_blob(at->commit, at->chunk, at->row - 1);
	struct tw_argument *bytes = argument_of(at, 0);
	const struct tw_event part = *at->row;
	*at->row = blob->event;
	at->row->other = blob->event.other ? TW_BLOB_LATER_PART : 0;
	at->row->offset = part.offset;
	at->row->first_argument = part.first_argument;
	at->row->argument_count = part.argument_count;
	bytes->name = blob->argument;
	bytes->size = bytes->size < blob->left ? bytes->size : (uint32_t)blob->left; /* the rest is padding */
	blob->left -= bytes->size;
	at->row->flags = blob->left == 0 ? 0 : part.flags;
	at->chunk->moved |= at->row->time != part.time;
}

/* Blobs of one name are one, in the order of the archive. The records before them are in no order of time: with their
 * times alone the bytes would change places. */
static void fix_piece(const struct fixed_row *at)
{
	struct fxt_commit *commit = at->commit;
	size_t name = at->row->name;
	if (!tw_grow(&commit->piece_times, &commit->piece_room, name + 1, sizeof *commit->piece_times)) {
		commit->state->failed = true;
		return;
	}
	uint64_t *before = &commit->piece_times[name];
	at->chunk->moved |= at->row->time < *before;
	if (at->row->time < *before)
		at->row->time = *before;
	*before = at->row->time;
}

/* ---- The chunk. ---- */

static void (*const fixers[])(const struct fixed_row *) = {
    [FXT_FIX_NAME] = fix_name,
    [FXT_FIX_CATEGORY] = fix_name,
    [FXT_FIX_TRACK] = fix_track,
    [FXT_FIX_TRACK_BY_KOID] = fix_track,
    [FXT_FIX_TRACK_UNDEFINED] = fix_track,
    [FXT_FIX_ARGUMENT_NAME] = fix_argument_name,
    [FXT_FIX_ARGUMENT_TEXT] = fix_argument_text,
    [FXT_FIX_REFERENCE] = fix_reference,
    [FXT_FIX_OBJECT] = fix_object,
    [FXT_FIX_KERNEL_OBJECT] = fix_kernel_object,
    [FXT_FIX_TRACK_OF_PROCESS] = fix_track,
    [FXT_FIX_PAYLOAD] = fix_payload,
    [FXT_FIX_PIECE] = fix_piece,
};

/* Rows before the first that has a time of its own go on with that of the chunk before, if there was one. */
static void set_times(struct fxt_commit *commit, struct fxt_chunk *chunk)
{
	if (chunk->wait.later)
		return;
	const size_t count = chunk->decoder.timed ? chunk->decoder.untimed : chunk->rows.slab.count;
	const bool goes_on = commit->timed || !chunk->decoder.timed;
	for (size_t i = 0; i < count && goes_on; i++)
		chunk->rows.slab.events[i].time = commit->time;
	chunk->moved |= chunk->decoder.timed && goes_on && count;
	commit->timed |= chunk->decoder.timed;
	if (chunk->decoder.timed)
		commit->time = chunk->decoder.time;
}

void fxt_commit(struct fxt_commit *commit, struct fxt_chunk *chunk)
{
	if (chunk->failed || chunk->rows.slab.failed)
		return;
	set_times(commit, chunk);
	for (size_t i = 0; i < chunk->rows.fix_count; i++) {
		const struct fxt_fix *fix = &chunk->rows.fixes[i];
		const struct fixed_row at = {commit, chunk, fix, &chunk->rows.slab.events[fix->row]};
		fixers[fix->kind](&at);
	}
	find_samples(commit->state, &chunk->rows.slab);
	if ((chunk->moved || chunk->rows.slab.trackless) && commit->sorts)
		tw_slab_sort(&chunk->rows.slab, &commit->sort);
	if (chunk->rows.slab.count && chunk->walk.pieces[chunk->walk.piece_count - 1].kind != FXT_PAYLOAD)
		keep_blob(commit, chunk, &chunk->rows.slab.events[chunk->rows.slab.count - 1]);
	fxt_report_notes(commit->reader, commit->state, &commit->reported, chunk);
	commit->lost_bytes += chunk->found.lost_bytes;
}

void fxt_commit_free(struct fxt_commit *commit)
{
	tw_slab_scratch_free(&commit->sort);
	tw_map_free(&commit->objects);
	tw_map_free(&commit->reported.by_number);
	free(commit->piece_times);
}
