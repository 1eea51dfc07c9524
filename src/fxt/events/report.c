/* report.c - findings: from a note to a sentence. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/memory/order.h"
#include "base/text/plural.h"
#include "fxt/events/events.h"
#include "fxt/fxt.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Numbers that are told once each: enough for every index of a few providers, or fewer where many archives are read at
 * once. */
enum { REPORTED_MAX = 1 << 17, REPORTED_LEAST = 1 << 10, REPORTED_SHARE = 64 };

/* How a rule is reported; those from NUMBER to ONCE once for each number. */
enum form { PLAIN, NUMBER, PROVIDER, ONCE, FAULT, LOSS, CUT_SHORT, THREAD_DROPPED, UNRECORDED, COUNTED };

static const uint8_t forms[FXT_RULES] = {
    [FXT_STRING_UNDEFINED] = NUMBER,
    [FXT_THREAD_UNDEFINED] = NUMBER,
    [FXT_RECORD_TYPE] = NUMBER,
    [FXT_METADATA_TYPE] = NUMBER,
    [FXT_EVENT_TYPE] = NUMBER,
    [FXT_SCHEDULING_TYPE] = NUMBER,
    [FXT_PROFILER_TYPE] = NUMBER,
    [FXT_LARGE_TYPE] = NUMBER,
    [FXT_LARGE_FORMAT] = NUMBER,
    [FXT_TRACE_INFO] = NUMBER,
    [FXT_ARGUMENT_TYPE] = NUMBER,
    [FXT_RECORD_BROKEN] = FAULT,
    [FXT_ZERO_SIZE] = LOSS,
    [FXT_GARBAGE] = LOSS,
    [FXT_RECORD_TRUNCATED] = CUT_SHORT,
    [FXT_SCOPE] = NUMBER,
    [FXT_THREAD_STATE] = NUMBER,
    [FXT_BLOB_TYPE] = NUMBER,
    [FXT_PROVIDER_MISSING] = ONCE,
    [FXT_STRING_REPLACED] = PROVIDER,
    [FXT_THREAD_REPLACED] = PROVIDER,
    [FXT_PROVIDER_UNKNOWN] = PROVIDER,
    [FXT_PROVIDER_AGAIN] = PROVIDER,
    [FXT_INITIALIZATION_MISSING] = PROVIDER,
    [FXT_TIME_OVERFLOW] = PROVIDER,
    [FXT_IMAGE_DROPPED] = COUNTED,
    [FXT_THREAD_DROPPED] = THREAD_DROPPED,
    [FXT_IMAGE_OVERWRITTEN] = COUNTED,
    [FXT_IMAGE_CUT] = COUNTED,
    [FXT_SCOPES_UNKEPT] = COUNTED,
    [FXT_CHILDREN_UNRECORDED] = UNRECORDED,
    [FXT_RECORDING_DAMAGED] = COUNTED,
};

/* What a recording lost: how many, between these words. */
static const struct {
	const char *before, *noun, *behind;
} counted[] = {
    [FXT_IMAGE_DROPPED] = {"", "event", "found no room in the buffer."},
    [FXT_IMAGE_OVERWRITTEN] = {"The circular buffer kept the newest: ", "byte", "before are gone."},
    [FXT_IMAGE_CUT] = {"", "event", "had more than a record holds."},
    [FXT_SCOPES_UNKEPT] = {"", "duration",
                           "began more than 32 deep in others: of what was still open there when the program ended, "
                           "nothing is left."},
    [FXT_RECORDING_DAMAGED] = {"", "byte", "of what the program had recorded were damaged: they are no records here."},
};

void fxt_report(struct tw_reader *reader, const struct fxt_note *note)
{
	const struct tw_rule *rule = &fxt_rules[note->rule];
	const char *expected = note->text ? note->text : "a record";
	switch ((enum form)forms[note->rule]) {
	case PLAIN:
	case ONCE:
		tw_report(reader, rule, note->record, note->at, 0, "%s%s%s", rule->text, note->text ? " " : "",
		          note->text ? note->text : "");
		return;
	case NUMBER:
		tw_report(reader, rule, note->record, note->at, 0, "%s It is %" PRIu64 ".", rule->text, note->a);
		return;
	case PROVIDER:
		tw_report(reader, rule, note->record, note->at, 0, "%s The provider is number %" PRIu64 ".", rule->text,
		          note->a);
		return;
	case FAULT:
		tw_report(reader, rule, note->record, note->at, 0, "Expected %s; the record is skipped.", expected);
		return;
	case LOSS:
		tw_report(reader, rule, note->record, note->at, 0,
		          "Expected %s, found 0x%016" PRIx64 "; %" PRIu64 " byte%s skipped.", expected, note->b,
		          note->a, tw_plural(note->a));
		return;
	case CUT_SHORT:
		tw_report(reader, rule, note->record, note->at, 0,
		          "Expected %s, found the end of the file; %" PRIu64 " byte%s skipped.", expected, note->a,
		          tw_plural(note->a));
		return;
	case THREAD_DROPPED:
		tw_report(reader, rule, note->record, note->at, 0,
		          "%" PRIu64 " event%s of thread %" PRIu64 " found no room in the buffer.", note->a,
		          tw_plural(note->a), note->b);
		return;
	case COUNTED:
		tw_report(reader, rule, note->record, note->at, 0, "%s%" PRIu64 " %s%s %s", counted[note->rule].before,
		          note->a, counted[note->rule].noun, tw_plural(note->a), counted[note->rule].behind);
		return;
	case UNRECORDED:
		tw_report(reader, rule, note->record, note->at, 0,
		          "%" PRIu64
		          " process%s that the program forked recorded nothing; of the last, process %" PRIu64 ": %s.",
		          note->a, note->a == 1 ? "" : "es", note->b >> 32, strerror((int)(uint32_t)note->b));
		return;
	}
}

/* ---- The notes of a chunk. ---- */

static size_t reported_most(const struct tw_reader *reader)
{
	enum { COST = 2 * sizeof(struct tw_map_slot) };
	size_t most = tw_memory_limit(reader) / REPORTED_SHARE / COST;
	return most > REPORTED_MAX ? REPORTED_MAX : most < REPORTED_LEAST ? REPORTED_LEAST : most;
}

/* Whether a provider event says that a buffer was full of which it has just been told that it was a ring, which kept
 * the newest: no event was dropped. */
static bool is_of_ring(struct fxt_reported *reported, const struct fxt_note *note)
{
	bool of_ring = note->rule == FXT_RECORDS_DROPPED && reported->ring == note->a + 1;
	if (note->rule == FXT_IMAGE_OVERWRITTEN)
		reported->ring = note->b;
	else if (note->rule == FXT_RECORDS_DROPPED || note->rule == FXT_IMAGE_DROPPED)
		reported->ring = 0;
	return of_ring;
}

/* What would be reported for each of millions of records is reported once for each number. */
static bool is_new(const struct tw_reader *reader, struct fxt_reported *reported, const struct fxt_note *note)
{
	uint64_t key = tw_hash64((uint64_t)note->rule << 48 ^ note->a);
	uint32_t known;
	if (forms[note->rule] < NUMBER || forms[note->rule] > ONCE)
		return true;
	if (reported->by_number.count >= reported_most(reader) || tw_map_find(&reported->by_number, key, &known))
		return false;
	tw_map_add(&reported->by_number, key, 0); /* where there is no memory it may be reported once more */
	return true;
}

/* The walk and the decoding have each noted in order. */
static int compare_notes(const void *left, const void *right)
{
	const struct fxt_note *a = left, *b = right;
	int order = tw_compare(a->record, b->record);
	order = order ? order : tw_compare(a->rule, b->rule);
	return order ? order : tw_compare(a->at, b->at);
}

/* Of chunks that are held there may be thousands. */
static void forget_notes(struct fxt_chunk *chunk)
{
	free(chunk->found.notes);
	chunk->found.notes = NULL;
	chunk->found.note_count = chunk->found.note_room = 0;
}

/* Whether a note is that something is not registered, which it may have been beyond the limit: that is reported. */
static bool is_of_limit(const struct fxt_state *state, const struct fxt_note *note)
{
	bool undefined = note->rule == FXT_STRING_UNDEFINED || note->rule == FXT_THREAD_UNDEFINED;
	return undefined && note->record > state->unindexed;
}

void fxt_report_notes(struct tw_reader *reader, const struct fxt_state *state, struct fxt_reported *reported,
                      struct fxt_chunk *chunk)
{
	struct fxt_note *notes = chunk->found.notes;
	if (chunk->found.note_count)
		qsort(notes, chunk->found.note_count, sizeof *notes, compare_notes);
	for (size_t i = 0; i < chunk->found.note_count; i++)
		if (!is_of_limit(state, &notes[i]) && !is_of_ring(reported, &notes[i]) &&
		    is_new(reader, reported, &notes[i]))
			fxt_report(reader, &notes[i]);
	forget_notes(chunk);
	if (state->full && !reported->limit) {
		const struct tw_rule *rule = &fxt_rules[FXT_NAME_LIMIT];
		const uint64_t offset = fxt_offset(chunk, chunk->begin);
		reported->limit = true;
		tw_report(reader, rule, offset, offset, 0, "%s", rule->text);
	}
}

/* ---- Damage. ---- */

static struct fxt_note gap(const struct fxt_chunk *chunk, const struct fxt_piece *piece)
{
	uint64_t offset = fxt_offset(chunk, piece->to) - piece->lost;
	bool zero = tw_bits(piece->found, 4, 15) == 0 && tw_bits(piece->found, 0, 3) != TW_FXT_TYPE_LARGE;
	return (struct fxt_note){
	    zero ? FXT_ZERO_SIZE : FXT_GARBAGE, offset, offset, piece->lost, piece->found, piece->fault};
}

bool fxt_note_of(const struct fxt_chunk *chunk, const struct fxt_piece *piece, struct fxt_note *note)
{
	uint64_t from = fxt_offset(chunk, piece->from), to = fxt_offset(chunk, piece->to);
	switch (piece->kind) {
	case FXT_RECORDS:
		return false;
	case FXT_BROKEN:
		*note = (struct fxt_note){FXT_RECORD_BROKEN, from, from, to - from, piece->lost, piece->fault};
		return true;
	case FXT_CUT:
		*note = (struct fxt_note){FXT_RECORD_TRUNCATED, from, from, to - from, piece->lost, piece->fault};
		return true;
	case FXT_LOST:
		*note = gap(chunk, piece);
		return true;
	case FXT_PAYLOAD:
		*note = (struct fxt_note){FXT_RECORD_TRUNCATED, from, to, 0, piece->lost, "the rest of the blob"};
		if (piece->found)
			*note = (struct fxt_note){FXT_GARBAGE, to, to, 0, piece->found, "the rest of the record"};
		return piece->last && piece->lost;
	}
	return false;
}

/* ---- Findings of the input as a whole. ---- */

int fxt_fail(struct tw_reader *reader, int status)
{
	const char *text = tw_input_error(reader->input); /* with the name */
	if (*text)
		return tw_fail(reader, status, "%s", text);
	return tw_fail(reader, status, "%s: %s", tw_input_name(reader->input), tw_status_text(status));
}

void fxt_finish(struct tw_reader *reader)
{
	uint64_t end = tw_input_size(reader->input);
	if (tw_input_damaged(reader->input))
		tw_report(reader, &fxt_rules[FXT_COMPRESSION], end, end, 0, "%s", tw_input_damage(reader->input));
}

void fxt_report_late(struct tw_reader *reader, uint64_t late, uint64_t offset, uint64_t latest_by, const char *cure)
{
	if (late)
		tw_report(reader, &fxt_rules[FXT_LATE], offset, offset, 0,
		          "%" PRIu64
		          " record%s came later than what is read ahead can be put in order, by up to %" PRIu64
		          " ns; %s.",
		          late, tw_plural(late), latest_by, cure);
}
