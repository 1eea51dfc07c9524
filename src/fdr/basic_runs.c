/* basic_runs.c - basic logs: each run of one thread's records is taken as a buffer, so that all else is shared. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fdr/state.h"

enum { RECORD = TW_BASIC_RECORD_SIZE };

/* ---- Where runs begin and end. ---- */

int fdr_basic_record_at(const struct fdr_basic_source *f, uint64_t at, struct tw_basic_record *record, bool *good,
                        size_t *have)
{
	const uint8_t *bytes;
	int status = tw_window_view(f->window, at, FDR_FOREIGN, &bytes, have);
	if (status < 0)
		return tw_fail(f->reader, status, "%s", tw_input_error(f->reader->input));
	if (*have < RECORD)
		return 0;
	*good = !fdr_is_header(f->log, bytes, *have) && !fdr_is_foreign(f->log, bytes, *have) &&
	        tw_basic_decode(bytes, f->log->header.version, f->log->header.layout, record) == 0;
	return 1;
}

/* ---- Where records are to be believed. ---- */

enum { SURE = 3 }; /* so many in a row */

enum { NUMBER_MAX = 1 << 22 }; /* of a thread of Linux */

/* Whether a record is of a thread and a process that can be; thread 0 is allowed. */
static bool is_owned(const struct fdr_basic_reference *reference, const struct tw_basic_record *record)
{
	return record->thread <= NUMBER_MAX && record->process <= NUMBER_MAX &&
	       (record->process || !reference->processes);
}

/* Whether a record is one by all that LLVM's runtime writes, and not only by its first bytes, which zeros have too. */
static bool is_strong(const struct fdr_basic_reference *reference, const struct tw_basic_record *record)
{
	bool named = record->function_id != 0; /* the first bits may tell a library */
	return named && record->thread > 0 && is_owned(reference, record) && !record->padded;
}

static bool near_in_time(uint64_t a, uint64_t b)
{
	return (a < b ? b - a : a - b) >> 46 == 0; /* hours */
}

int fdr_basic_take_reference(struct tw_reader *reader, struct fdr_log *log)
{
	struct fdr_basic_reference *reference = &log->reference;
	const uint8_t *bytes;
	size_t have;
	int status =
	    tw_window_view(&reader->window, TW_FDR_HEADER_SIZE, (size_t)FDR_REFERENCES * RECORD, &bytes, &have);
	if (status < 0)
		return tw_fail(reader, status, "%s", tw_input_error(reader->input));
	size_t strong = 0, seen = 0;
	bool processes = log->header.version >= 3;
	for (size_t at = 0; reference->count < FDR_REFERENCES && at + RECORD <= have; at += RECORD, seen++) {
		struct tw_basic_record record;
		if (tw_basic_decode(bytes + at, log->header.version, log->header.layout, &record) < 0 ||
		    !is_strong(reference, &record))
			continue;
		if (record.record_type == FDR_BASIC_FUNCTION)
			reference->tsc[reference->count++] = record.tsc;
		strong++;
		processes = processes && record.process;
	}
	reference->usual = strong >= SURE && 2 * strong > seen;
	reference->processes = reference->usual && processes;
	return 0;
}

static bool fits_reference(const struct fdr_basic_reference *reference, uint64_t tsc)
{
	size_t near = 0;
	for (size_t i = 0; i < reference->count; i++)
		near += near_in_time(reference->tsc[i], tsc);
	return 2 * near >= reference->count;
}

/* How far a counter is from the nearest of the references, as its number of bits. */
static unsigned distance(const struct fdr_basic_reference *reference, uint64_t tsc)
{
	uint64_t least = UINT64_MAX;
	unsigned bits = 0;
	for (size_t i = 0; i < reference->count; i++) {
		uint64_t ticks = reference->tsc[i] < tsc ? tsc - reference->tsc[i] : reference->tsc[i] - tsc;
		least = ticks < least ? ticks : least;
	}
	for (; least; least >>= 1)
		bits++;
	return bits;
}

enum { NOT_ALIGNED = UINT16_MAX };

/* Strong records that stand one after the other in these bytes, as many as SURE, or fewer up to the end of the file:
 * how far their counters are from what they should be, on average. */
static unsigned alignment(const struct fdr_basic_source *f, const uint8_t *bytes, size_t have)
{
	enum { SCALE = 16 };
	const struct fdr_basic_reference *reference = &f->log->reference;
	unsigned count = 0, calls = 0, far = 0;
	for (; count < SURE && have >= RECORD; count++, bytes += RECORD, have -= RECORD) {
		struct tw_basic_record record;
		if (tw_basic_decode(bytes, f->log->header.version, f->log->header.layout, &record) < 0 ||
		    !is_strong(reference, &record))
			return NOT_ALIGNED;
		if (record.record_type == FDR_BASIC_ARGUMENT)
			continue;
		if (!fits_reference(reference, record.tsc))
			return NOT_ALIGNED;
		far += SCALE * distance(reference, record.tsc);
		calls++;
	}
	bool enough = count > 1 || (count && !have);
	return !enough ? NOT_ALIGNED : calls ? far / calls : SCALE * 64;
}

/* Finds the next place, not beyond `reach` bytes, where records are aligned: of the first and those less than a record
 * behind it, the best. *found: 0 where none is. The bytes from `record` on stay in the window: none is read twice. */
static int find_aligned(const struct fdr_basic_source *f, uint64_t record, uint64_t from, size_t reach, uint64_t *found)
{
	const size_t before = (size_t)(from - record);
	const uint8_t *bytes;
	size_t have, end = reach;
	unsigned best = NOT_ALIGNED;
	*found = 0;
	int status = tw_window_view(f->window, record, before + reach + SURE * RECORD, &bytes, &have);
	if (status < 0)
		return tw_fail(f->reader, status, "%s", tw_input_error(f->reader->input));
	if (have <= before)
		return 0;
	bytes += before;
	have -= before;
	const size_t other = fdr_find_foreign(f->log, bytes, have, reach);
	end = other < end ? other : end;
	for (size_t at = 0; at < end && at + RECORD <= have; at++) {
		unsigned here = alignment(f, bytes + at, have - at);
		if (here >= best)
			continue;
		if (best == NOT_ALIGNED)
			end = at + RECORD;
		best = here;
		*found = from + at;
	}
	if (!*found && other != SIZE_MAX)
		*found = from + other;
	return 0;
}

/* Bytes that mean nothing make no record, either: repair clears them. */
static bool is_zero(const struct tw_basic_record *record)
{
	return !record->record_type && !record->cpu && !record->kind && !record->function_id && !record->tsc &&
	       !record->thread && !record->process && !record->argument;
}

/* Whether a record may be one: function 0 and thread 0 are allowed. */
static bool is_possible(const struct fdr_basic_source *f, const struct tw_basic_record *record)
{
	bool fits = record->record_type == FDR_BASIC_ARGUMENT || fits_reference(&f->log->reference, record->tsc);
	return fits && is_owned(&f->log->reference, record) && !record->padded && !is_zero(record);
}

/* Whether records go on from here without a shift: as many possible ones as SURE, or fewer up to the file's end. */
static int find_possible(const struct fdr_basic_source *f, uint64_t at, bool *found)
{
	*found = true;
	for (unsigned count = 0; *found && count < SURE; count++, at += RECORD) {
		struct tw_basic_record record = {0};
		bool good = false;
		size_t have;
		int status = fdr_basic_record_at(f, at, &record, &good, &have);
		if (status <= 0)
			return status;
		*found = good && is_possible(f, &record);
	}
	return 0;
}

static bool is_same_owner(const struct tw_basic_record *record, const struct tw_basic_record *other)
{
	return record->thread == other->thread && record->process == other->process && !other->padded;
}

/* Whether the record before a place, or the one behind it, is of the same thread as the one there. */
static int find_neighbour(const struct fdr_basic_source *f, uint64_t at, const struct tw_basic_record *record,
                          bool *found)
{
	const uint64_t places[] = {at + RECORD, at - RECORD};
	*found = false;
	for (size_t i = 0; i < sizeof places / sizeof *places && !*found; i++) {
		struct tw_basic_record other = {0};
		bool good = false;
		size_t have;
		int status = fdr_basic_record_at(f, places[i], &other, &good, &have);
		if (status < 0)
			return status;
		fdr_basic_fit_process(f->log, &other);
		*found = status > 0 && good && is_same_owner(record, &other);
	}
	return 0;
}

/* A record that is not a strong one is believed where records go on, or where those behind it are not aligned
 * otherwise. Where the log's first records are strong, one of a thread that cannot be, or with bytes where zeros
 * belong, needs another one of its thread beside it, too. */
static int judge(const struct fdr_basic_source *f, uint64_t at, const struct tw_basic_record *record, bool *good)
{
	uint64_t found;
	bool goes_on;
	const struct fdr_basic_reference *reference = &f->log->reference;
	bool fits = record->record_type == FDR_BASIC_ARGUMENT || fits_reference(reference, record->tsc);
	if (!*good || (fits && is_strong(reference, record)))
		return 0;
	if (is_zero(record)) {
		*good = false;
		return 0;
	}
	int status = find_possible(f, at, &goes_on);
	if (status < 0 || goes_on)
		return status;
	status = find_aligned(f, at, at + RECORD, 1, &found);
	if (status >= 0 && !found) {
		status = find_aligned(f, at, at + 1, 2 * RECORD - 1, &found);
		*good = !found || (found - at) % RECORD == 0;
	}
	bool odd = reference->usual && (record->padded || !is_owned(reference, record));
	if (status >= 0 && !found && odd)
		status = find_neighbour(f, at, record, good);
	return status;
}

static int judged_record_at(const struct fdr_basic_source *f, uint64_t at, struct tw_basic_record *record, bool *good,
                            size_t *have)
{
	int status = fdr_basic_record_at(f, at, record, good, have);
	if (status <= 0)
		return status;
	fdr_basic_fit_process(f->log, record);
	status = judge(f, at, record, good);
	return status < 0 ? status : 1;
}

static void report_bad(const struct fdr_basic_source *f, uint64_t at, const struct tw_basic_record *record)
{
	if (record->record_type > FDR_BASIC_ARGUMENT)
		tw_report(f->reader, &fdr_rules[BASIC_RECORD_TYPE], at, at, 0, "expected record type 0 or 1, found %u",
		          record->record_type);
	else if (record->kind > TW_FDR_ENTER_ARGS)
		tw_report(f->reader, &fdr_rules[BASIC_KIND], at, at + 3, 0, "expected kind 0 to 3, found %u",
		          record->kind);
	else
		tw_report(f->reader, &fdr_rules[BASIC_DOUBTFUL], at, at, 0,
		          "expected a record, found zeros, or a part of one");
}

static bool same_thread(const struct fdr_buffer *run, const struct tw_basic_record *record)
{
	return run->thread == record->thread && run->process == record->process;
}

static bool is_same_call(const struct tw_basic_record *record, const struct tw_basic_record *first)
{
	return record->record_type != FDR_BASIC_ARGUMENT && record->tsc == first->tsc && record->kind == first->kind &&
	       record->function_id == first->function_id;
}

/* A run goes on while records are of the thread. Where the counter goes back to its first record, a forked child wrote
 * its parent's buffer again: another run. */
static int follow_run(const struct fdr_basic_source *f, struct fdr_buffer *run, const struct tw_basic_record *first)
{
	uint64_t last = 0;
	for (;;) {
		struct tw_basic_record record = {0};
		bool good = false;
		size_t have;
		int status = judged_record_at(f, run->next, &record, &good, &have);
		if (status <= 0)
			return status < 0 ? status : 1;
		if (!good || !same_thread(run, &record) || (last > first->tsc && is_same_call(&record, first)))
			return 1;
		last = record.record_type == FDR_BASIC_ARGUMENT ? last : record.tsc;
		run->next += RECORD;
	}
}

/* Whether the bytes before a record are the end of another one of its thread: the thread, the process, and zeros. The
 * record is whole then, and not the end of one behind bytes that are another's, or none. */
static int follows_record(const struct fdr_basic_source *f, uint64_t at, bool *follows)
{
	enum {
		OWNER = 16,
		ARGUMENT_OWNER = 8
	}; /* where a thread's number stands in an entry or exit, and in an argument */
	static const struct {
		uint16_t type;
		size_t owner;
	} forms[] = {{FDR_BASIC_FUNCTION, OWNER}, {FDR_BASIC_ARGUMENT, ARGUMENT_OWNER}};
	const uint8_t *bytes;
	struct tw_basic_record found;
	size_t have;
	*follows = false;
	int status = tw_window_view(f->window, at - RECORD, RECORD + FDR_FOREIGN, &bytes, &have);
	if (status < 0)
		return tw_fail(f->reader, status, "%s", tw_input_error(f->reader->input));
	*follows = have > RECORD && fdr_is_foreign(f->log, bytes + RECORD, have - RECORD);
	if (*follows || have < 2 * RECORD ||
	    tw_basic_decode(bytes + RECORD, f->log->header.version, f->log->header.layout, &found) < 0)
		return 0;
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		struct tw_basic_record record = {.record_type = forms[i].type, .function_id = 1};
		uint8_t before[RECORD];
		if (tw_basic_encode(&record, f->log->header.version, f->log->header.layout, before) < 0)
			continue;
		memcpy(before + forms[i].owner, bytes + forms[i].owner, RECORD - forms[i].owner);
		*follows |= tw_basic_decode(before, f->log->header.version, f->log->header.layout, &record) == 0 &&
		            is_strong(&f->log->reference, &record) && record.thread == found.thread;
	}
	return 0;
}

/* The place where records are aligned again, or the next one behind it. at: where one was expected. */
static int first_whole(const struct fdr_basic_source *f, uint64_t at, uint64_t *found)
{
	bool whole = (*found - at) % RECORD == 0;
	int status = whole ? 0 : follows_record(f, *found, &whole);
	*found += whole ? 0 : RECORD;
	return status;
}

/* From where on records that are aligned have not been looked for, of a place and what is behind it. */
static uint64_t not_searched(const struct fdr_unaligned *unaligned, uint64_t at)
{
	return unaligned->from <= at && at < unaligned->to ? unaligned->to : at;
}

/* Goes over what is no record: to where records are aligned again, or else by whole records to the next good one. No
 * byte is looked at twice for that, also where single good ones stand between others: gigabytes may be junk. */
static int pass_junk(const struct fdr_basic_source *f, struct fdr_buffer *run)
{
	enum { REACH = 1 << 16 };
	struct fdr_unaligned *unaligned = &((struct fdr_state *)f->reader->state)->unaligned;
	for (;;) {
		struct tw_basic_record record = {0};
		bool good = false;
		size_t have;
		uint64_t found;
		int status = judged_record_at(f, run->next, &record, &good, &have);
		if (status <= 0 || good)
			return status < 0 ? status : 1;
		report_bad(f, run->next, &record);
		const uint64_t from = run->next + 1, searched = not_searched(unaligned, from);
		status = find_aligned(f, run->next, searched, (size_t)(from + REACH - searched), &found);
		if (status >= 0 && found)
			status = first_whole(f, run->next, &found);
		if (status < 0)
			return status;
		run->next = found ? found : run->next + RECORD;
		if (found)
			return 1;
		*unaligned = (struct fdr_unaligned){from, from + REACH};
	}
}

int fdr_find_run(struct tw_reader *reader, const struct fdr_log *log, struct tw_window *window, uint64_t offset,
                 struct fdr_buffer *run)
{
	struct fdr_basic_source f = {.reader = reader, .log = log, .window = window};
	struct tw_basic_record record = {0};
	bool good = false;
	size_t have;
	int status = fdr_pass_header(reader, log, window, &offset);
	*run = (struct fdr_buffer){.offset = offset, .end = offset, .next = offset, .wall_us = 0, .tsc = UINT64_MAX};
	if (status >= 0 && offset < tw_input_size(reader->input))
		status = fdr_pass_foreign(reader, log, window, offset);
	if (status || offset >= tw_input_size(reader->input))
		return status < 0 ? status : 0;
	status = judged_record_at(&f, offset, &record, &good, &have);
	if (status < 0 || have == 0)
		return status;
	if (have < RECORD) {
		run->next += have;
		tw_report(reader, &fdr_rules[BASIC_SIZE], offset, offset + have, 0,
		          "expected a record of %d bytes, found the end of the file after %zu", RECORD, have);
		return 1;
	}
	run->has_thread = good;
	run->thread = record.thread;
	run->process = record.process;
	if (good && record.record_type != FDR_BASIC_ARGUMENT)
		run->tsc = record.tsc;
	status = good ? follow_run(&f, run, &record) : pass_junk(&f, run);
	if (run->has_thread)
		run->end = run->next;
	return status;
}
