/* report.c - findings: from a note to a sentence. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/walk/report.h"

#include "base/bytes/bytes.h"
#include "base/text/plural.h"

#include <inttypes.h>

/* How a rule is told; those from NUMBER to ONCE once for each number. */
enum form { PLAIN, NUMBER, PROVIDER, ONCE, FAULT, LOSS, CUT_SHORT };

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
};

bool fxt_is_reported_once(enum fxt_rule rule)
{
	return forms[rule] >= NUMBER && forms[rule] <= ONCE;
}

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
