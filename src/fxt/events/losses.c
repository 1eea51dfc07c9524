/* losses.c - what a recorder has lost, as the objects of its process and threads tell: doc/recording.md. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/events/losses.h"

#include <string.h>

static bool is_named(const struct fxt_chunk *chunk, const struct tw_fxt_argument *argument, size_t place,
                     const char *name)
{
	const struct tw_fxt_string *string = &argument->name;
	const size_t length = strlen(name);
	if (string->bytes)
		return string->length == length && memcmp(string->bytes, name, length) == 0;
	if (string->reference == 0 || string->reference >= TW_FXT_STRING_INLINE)
		return false;
	const struct fxt_entry *entry =
	    fxt_string_at(chunk->decoder.context.provider, string->reference, fxt_offset(chunk, place));
	return entry && entry->length == length && memcmp(entry->text, name, length) == 0;
}

/* The number of an argument of this name; 0 where there is none. */
static uint64_t number_of(const struct fxt_chunk *chunk, const struct tw_fxt_record *record, size_t place,
                          const char *name)
{
	for (unsigned i = 0; i < record->argument_count; i++) {
		const struct tw_fxt_argument *argument = &record->arguments[i];
		bool number = argument->type == TW_FXT_ARG_UINT64 || argument->type == TW_FXT_ARG_UINT32;
		if (number && is_named(chunk, argument, place, name))
			return argument->value.u;
	}
	return 0;
}

/* What is told of a process beside its events that were dropped: a count, by the rule of each argument, and what
 * another argument says of it. */
static const struct {
	const char *argument, *more;
	enum fxt_rule rule;
} counts[] = {{FXT_EVENTS_CUT, NULL, FXT_IMAGE_CUT},
              {FXT_SCOPES_TOO_DEEP, NULL, FXT_SCOPES_UNKEPT},
              {FXT_CHILDREN_UNRECORDED_COUNT, FXT_CHILD_UNRECORDED_LAST, FXT_CHILDREN_UNRECORDED},
              {FXT_BYTES_DAMAGED, NULL, FXT_RECORDING_DAMAGED},
              {FXT_RECORDER_GONE, NULL, FXT_IMAGE_ABANDONED}};

void fxt_note_losses(struct fxt_chunk *chunk, const struct tw_fxt_record *record, size_t place)
{
	const struct fxt_context *context = &chunk->decoder.context;
	if (context->foreign)
		return;
	uint64_t dropped = number_of(chunk, record, place, FXT_EVENTS_DROPPED);
	uint64_t overwritten = number_of(chunk, record, place, FXT_BYTES_OVERWRITTEN);
	enum fxt_rule rule = record->object_type == FXT_OBJECT_THREAD ? FXT_THREAD_DROPPED : FXT_IMAGE_DROPPED;
	if (dropped)
		fxt_note(chunk, rule, place, place, dropped, record->id, NULL);
	if (overwritten)
		fxt_note(chunk, FXT_IMAGE_OVERWRITTEN, place, place, overwritten,
		         dropped ? 0 : (uint64_t)context->provider->id + 1, NULL);
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		uint64_t count = number_of(chunk, record, place, counts[i].argument);
		uint64_t more = count && counts[i].more ? number_of(chunk, record, place, counts[i].more) : 0;
		if (count)
			fxt_note(chunk, counts[i].rule, place, place, count, more, NULL);
	}
}
