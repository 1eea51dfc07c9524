/* check.c - the rules that need more than one record: grammar of a buffer, the counter, the stack of a thread. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/plural.h"
#include "fdr/fdr.h"

#include <inttypes.h>

enum { NONE = TW_FDR_KINDS, OPEN_COST = 64 };

static bool seen(const struct fdr_checker *checker, enum tw_fdr_kind kind)
{
	return checker->seen >> ((unsigned)kind - FDR_METADATA) & 1;
}

void fdr_checker_free(struct fdr_checker *checker)
{
	tw_open_free(&checker->open);
	*checker = (struct fdr_checker){0};
}

/* ---- The stack. ---- */

static void push(struct fdr_checker *checker, struct tw_reader *reader, uint32_t function, uint64_t offset)
{
	checker->room.limit = tw_memory_limit(reader) / OPEN_COST;
	checker->failed |= tw_open_begin(&checker->open, &checker->room, function, offset) == TW_ERR_MEMORY;
}

static void pop(struct fdr_checker *checker, struct tw_reader *reader, uint32_t function, uint64_t offset)
{
	size_t place;
	const int found = tw_open_find(&checker->open, function, &place);
	checker->failed |= found == TW_ERR_MEMORY;
	if (found == 0)
		tw_report(reader, &fdr_rules[XRAY_EXIT_WITHOUT_ENTRY], offset, offset, 0,
		          "function %" PRIu32 " exits, but is not on the thread's stack", function);
	if (found <= 0)
		return;
	const size_t above = checker->open.depth - 1 - place;
	while (checker->open.depth > place)
		tw_open_close(&checker->open, &checker->room);
	if (above)
		tw_report(reader, &fdr_rules[XRAY_EXIT_MISMATCHED], offset, offset, 0,
		          "function %" PRIu32 " exits below %zu that did not", function, above);
}

static void check_call(struct fdr_checker *checker, struct tw_reader *reader, unsigned kind, uint32_t function,
                       uint64_t offset)
{
	if (function == 0)
		tw_report(reader, &fdr_rules[XRAY_FUNCTION_ID_ZERO], offset, offset, 0,
		          "expected a function id above 0");
	if (checker->buffers_only)
		return;
	if (kind == TW_FDR_ENTER || kind == TW_FDR_ENTER_ARGS)
		push(checker, reader, function, offset);
	else
		pop(checker, reader, function, offset);
}

void fdr_check_thread_end(struct fdr_checker *checker, struct tw_reader *reader)
{
	for (size_t i = 0; i < checker->open.depth; i++) {
		const struct tw_open_slice *entry = &checker->open.slices[i];
		tw_report(reader, &fdr_rules[XRAY_ENTRY_WITHOUT_EXIT], entry->slot, entry->slot, 0,
		          "function %" PRIu32 " is still open when its thread ends", entry->name);
	}
	fdr_checker_free(checker);
}

/* ---- A buffer. ---- */

void fdr_check_buffer(struct fdr_checker *checker, struct fdr_cursor *cursor, const struct fdr_place *place)
{
	checker->last = NONE;
	checker->seen = 0;
	checker->timed = false;
	if (fdr_is_basic(cursor->log) || checker->buffers_only)
		return;
	if (place->tsc < cursor->tsc)
		tw_report(cursor->reader, &fdr_rules[FDR_BUFFER_OVERLAP], place->offset, place->offset, 0,
		          "the buffer begins at tick %" PRIu64 ", the one before it ends at %" PRIu64, place->tsc,
		          cursor->tsc);
}

/* at: where the argument should be. */
static void check_argument_before(struct fdr_checker *checker, struct fdr_cursor *cursor, unsigned kind, uint64_t at)
{
	if (checker->last == TW_FDR_ENTER_ARGS && kind != TW_FDR_CALL_ARGUMENT)
		tw_report(cursor->reader, &fdr_rules[FDR_ARGUMENT_MISSING], checker->last_offset, at, 0,
		          "expected CallArgument after an entry with arguments, found %s",
		          kind == NONE ? "the end of the buffer" : tw_fdr_kind_name(kind));
}

/* Reads what is left of a stretch that should be 0, a window of it. *zeros: how many there are at its beginning. */
static int count_zeros(struct fdr_cursor *cursor, uint64_t at, uint64_t end, size_t *have, size_t *zeros)
{
	const uint8_t *bytes;
	cursor->window.chunk = end - at < cursor->chunk ? (size_t)(end - at) : cursor->chunk;
	int status = tw_window_view(&cursor->window, at, 1, &bytes, have);
	if (status < 0)
		return tw_fail(cursor->reader, status, "%s", tw_input_error(cursor->reader->input));
	*have = *have < end - at ? *have : (size_t)(end - at);
	for (*zeros = 0; *zeros < *have && !bytes[*zeros];)
		++*zeros;
	return 0;
}

/* Version 1: what stands between EndOfBuffer and the size of a buffer. */
static int check_fill(struct fdr_checker *checker, struct fdr_cursor *cursor)
{
	uint64_t at = cursor->at;
	size_t have = 0, zeros = 0;
	int status = 0;
	if (!cursor->filled || cursor->buffer.damaged || cursor->log->header.version != 1)
		return 0;
	do {
		at += zeros;
		status = at < cursor->buffer.next ? count_zeros(cursor, at, cursor->buffer.next, &have, &zeros) : 0;
	} while (status == 0 && at < cursor->buffer.next && zeros && zeros == have);
	if (status == 0 && zeros < have)
		tw_report(cursor->reader, &fdr_rules[FDR_PADDING], checker->last_offset, at + zeros, 0,
		          "the fill behind the buffer is not 0");
	return status;
}

int fdr_check_buffer_end(struct fdr_checker *checker, struct fdr_cursor *cursor)
{
	if (checker->failed)
		return tw_fail_memory(cursor->reader);
	if (fdr_is_basic(cursor->log))
		return 0;
	if (!cursor->buffer.damaged)
		check_argument_before(checker, cursor, NONE, cursor->at);
	if (cursor->log->header.version == 1 && !cursor->buffer.damaged && !cursor->cut &&
	    !seen(checker, TW_FDR_END_OF_BUFFER) && checker->last != NONE)
		tw_report(cursor->reader, &fdr_rules[FDR_END_OF_BUFFER_MISSING], cursor->buffer.start, cursor->at, 0,
		          "expected EndOfBuffer, found the next buffer");
	if (cursor->typed_events && !cursor->buffer.damaged)
		tw_report(cursor->reader, &fdr_rules[FDR_TYPED_EVENT_DOUBT], cursor->buffer.start, cursor->at, 0,
		          "%" PRIu32 " typed event%s: %" PRIu32 " bytes may be missing here", cursor->typed_events,
		          tw_plural(cursor->typed_events), cursor->typed_events * TW_FDR_METADATA_SIZE);
	return check_fill(checker, cursor);
}

/* What must stand before the first record that is none of these four. */
static void check_lead_over(struct fdr_checker *checker, struct fdr_cursor *cursor, uint64_t offset)
{
	struct tw_reader *reader = cursor->reader;
	if (!seen(checker, TW_FDR_WALL_TIME))
		tw_report(reader, &fdr_rules[FDR_WALL_TIME_MISSING], cursor->buffer.start, offset, 0,
		          "expected WallTime after NewBuffer");
	if (cursor->log->header.version >= 3 && !seen(checker, TW_FDR_PID))
		tw_report(reader, &fdr_rules[FDR_PID_MISSING], cursor->buffer.start, offset, 0,
		          "expected Pid after WallTime");
}

static void check_place(struct fdr_checker *checker, struct fdr_cursor *cursor, const struct fdr_item *item)
{
	struct tw_reader *reader = cursor->reader;
	const struct tw_fdr_record *record = &item->record;
	uint16_t version = cursor->log->header.version;
	switch ((unsigned)record->kind) {
	case TW_FDR_WALL_TIME:
		if (checker->last != TW_FDR_NEW_BUFFER)
			tw_report(reader, &fdr_rules[FDR_WALL_TIME_MISPLACED], item->offset, item->offset, 0,
			          "expected WallTime right after NewBuffer");
		if (record->microseconds >= 1000000)
			tw_report(reader, &fdr_rules[FDR_MICROSECONDS], item->offset, item->offset + 9, 0,
			          "expected less than 1000000 microseconds, found %" PRIu32, record->microseconds);
		break;
	case TW_FDR_PID:
		if (checker->last != TW_FDR_WALL_TIME || version < 3)
			tw_report(reader, &fdr_rules[FDR_PID_MISPLACED], item->offset, item->offset, 0,
			          "expected Pid right after WallTime, and not before version 3");
		break;
	case TW_FDR_END_OF_BUFFER:
		if (version != 1)
			tw_report(reader, &fdr_rules[FDR_END_OF_BUFFER], item->offset, item->offset, 0,
			          "expected no EndOfBuffer in version %u", version);
		break;
	case TW_FDR_CALL_ARGUMENT:
		if (checker->last != TW_FDR_ENTER_ARGS && checker->last != TW_FDR_CALL_ARGUMENT)
			tw_report(reader, &fdr_rules[FDR_ARGUMENT_MISPLACED], item->offset, item->offset, 0,
			          "expected CallArgument only after an entry with arguments");
		break;
	}
}

/* ---- The counter. ---- */

static void check_counter(struct fdr_checker *checker, struct fdr_cursor *cursor, const struct fdr_item *item,
                          uint64_t before)
{
	struct tw_reader *reader = cursor->reader;
	const struct tw_fdr_record *record = &item->record;
	bool sets = record->kind == TW_FDR_NEW_CPU_ID || record->kind == TW_FDR_TSC_WRAP;
	bool timed = fdr_is_timed(record, cursor->log->header.version);
	if (cursor->tsc < before && (timed || checker->timed))
		tw_report(reader, &fdr_rules[XRAY_TSC_BACKWARDS], item->offset, item->offset, 0,
		          "the counter goes from %" PRIu64 " back to %" PRIu64, before, cursor->tsc);
	if (timed && !checker->timed && !seen(checker, TW_FDR_NEW_CPU_ID))
		tw_report(reader, &fdr_rules[FDR_CPU_MISSING], cursor->buffer.start, item->offset, 0,
		          "expected NewCPUId before the first timed record");
	if (record->kind <= TW_FDR_ENTER_ARGS && record->tsc_delta > INT32_MAX)
		tw_report(reader, &fdr_rules[FDR_DELTA_WIDE], item->offset, item->offset + 4, 0,
		          "the delta is %" PRIu32 " ticks, expected TSCWrap above 2147483647", record->tsc_delta);
	checker->timed |= timed || sets;
}

/* ---- Beside damage. ---- */

static void check_doubt(struct fdr_checker *checker, struct fdr_cursor *cursor, const struct fdr_item *item)
{
	if (item->suspect)
		tw_report(cursor->reader, &fdr_rules[FDR_SUSPECT], item->offset, item->offset, 0,
		          "damage follows this %s at once: its last bytes may be of it",
		          tw_fdr_kind_name((unsigned)item->record.kind));
	if (item->uncertain && !checker->uncertain)
		tw_report(cursor->reader, &fdr_rules[FDR_TIME_UNCERTAIN], item->offset, item->offset, 0,
		          "from here to the next NewCPUId or TSCWrap, times are counted on from before the damage");
	checker->uncertain = cursor->counted_on;
}

/* ---- Basic logs. ---- */

static void check_basic(struct fdr_checker *checker, struct fdr_cursor *cursor, const struct fdr_item *item,
                        uint64_t before)
{
	struct tw_reader *reader = cursor->reader;
	unsigned kind = (unsigned)item->record.kind;
	bool argument = kind == TW_FDR_CALL_ARGUMENT;
	bool fits = checker->last == TW_FDR_ENTER_ARGS && checker->last_function == item->record.function_id;
	if (argument && !fits)
		tw_report(reader, &fdr_rules[BASIC_ARGUMENT_MISPLACED], item->offset, item->offset, 0,
		          "expected the entry with arguments of function %" PRIu32 " before its argument",
		          item->record.function_id);
	if (!argument && checker->last == TW_FDR_ENTER_ARGS)
		tw_report(reader, &fdr_rules[BASIC_ARGUMENT_MISSING], checker->last_offset, item->offset, 0,
		          "expected an argument after an entry with arguments");
	if (kind == TW_FDR_TAIL_EXIT && cursor->log->header.version < 2)
		tw_report(reader, &fdr_rules[BASIC_TAIL_EXIT], item->offset, item->offset + 3, 0,
		          "a tail exit in version 1");
	if (item->record.padded)
		tw_report(reader, &fdr_rules[BASIC_PADDING], item->offset, item->offset, 0,
		          "bytes that mean nothing are not 0");
	bool other_thread = checker->buffers_only && checker->last == NONE;
	if (!argument && !other_thread && cursor->tsc < before)
		tw_report(reader, &fdr_rules[XRAY_TSC_BACKWARDS], item->offset, item->offset + 8, 0,
		          "the counter goes from %" PRIu64 " back to %" PRIu64, before, cursor->tsc);
	if (!argument)
		check_call(checker, reader, kind, item->record.function_id, item->offset);
	checker->last = kind;
	checker->last_offset = item->offset;
	checker->last_function = item->record.function_id;
}

void fdr_check_item(struct fdr_checker *checker, struct fdr_cursor *cursor, const struct fdr_item *item,
                    uint64_t before)
{
	static const unsigned lead = 1u << (TW_FDR_BUFFER_EXTENTS - FDR_METADATA) |
	                             1u << (TW_FDR_NEW_BUFFER - FDR_METADATA) |
	                             1u << (TW_FDR_WALL_TIME - FDR_METADATA) | 1u << (TW_FDR_PID - FDR_METADATA);
	unsigned kind = (unsigned)item->record.kind;
	unsigned bit = kind >= FDR_METADATA ? 1u << (kind - FDR_METADATA) : 0;
	if (fdr_is_basic(cursor->log)) {
		check_basic(checker, cursor, item, before);
		return;
	}
	check_argument_before(checker, cursor, kind, item->offset);
	if (!(bit & lead) && !(checker->seen & ~lead) && !checker->timed)
		check_lead_over(checker, cursor, item->offset);
	if (item->record.padded)
		tw_report(cursor->reader, &fdr_rules[FDR_PADDING], item->offset, item->offset, 0,
		          "bytes of %s that mean nothing are not 0", tw_fdr_kind_name(kind));
	check_place(checker, cursor, item);
	check_counter(checker, cursor, item, before);
	if (kind <= TW_FDR_ENTER_ARGS)
		check_call(checker, cursor->reader, kind, item->record.function_id, item->offset);
	check_doubt(checker, cursor, item);
	checker->seen |= bit;
	checker->last = kind;
	checker->last_offset = item->offset;
}
