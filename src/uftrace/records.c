/* records.c - the records of one thread, over the data behind them and over damage.
 *
 * A record is 16 bytes: its time in nanoseconds, and in one word type (2 bits), whether data follows (1), a magic (3),
 * depth (10) and address (48). Data behind an event begins with its size. What follows a function is told by
 * specifications that other files hold: the first is believed behind which a record may stand that fits the one before
 * in magic, time and depth; where there is none such, the data ends at the first place where one may. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/text/plural.h"
#include "uftrace/uftrace.h"

#include <inttypes.h>

enum {
	MAGIC = 5,
	UNKNOWN = UINT16_MAX, /* a depth: deeper than any */
	SURE = 3,             /* records in a row after damage */
	GAP_MOST = 1 << 16,   /* bytes that are one gap at most */
	EVENTS_MOST = 1 << 24 /* numbers of events: the largest are some millions */
};

int uftrace_cursor_open(struct uftrace_cursor *cursor, struct tw_reader *reader, const char *file)
{
	*cursor = (struct uftrace_cursor){.reader = reader, .file = file, .time = reader->clock.start_ns};
	int status = tw_input_open_regular(&cursor->input, file);
	cursor->window = (struct tw_window){.input = cursor->input, .chunk = uftrace_chunk(reader)};
	if (status < 0)
		tw_fail(reader, status, "%s", cursor->input ? tw_input_error(cursor->input) : "out of memory");
	return status;
}

void uftrace_cursor_own(struct uftrace_cursor *cursor, struct uftrace_task *task)
{
	cursor->task = task;
	cursor->depth = task->parent ? UNKNOWN : 0;
}

void uftrace_cursor_close(struct uftrace_cursor *cursor)
{
	tw_window_free(&cursor->window);
	tw_input_close(cursor->input);
	*cursor = (struct uftrace_cursor){0};
}

static void report(const struct uftrace_cursor *cursor, enum uftrace_rule rule, uint64_t at, const char *text)
{
	cursor->reader->reports.file = cursor->file;
	tw_report(cursor->reader, &uftrace_rules[rule], at, at, 0, "%s", text);
	cursor->reader->reports.file = NULL;
}

/* The state in which a record finds a thread. */
struct thread_state {
	uint64_t time;
	unsigned depth;
	bool timed;
};

static bool decode(const uint8_t *bytes, struct uftrace_record *record)
{
	uint64_t word = tw_load64(bytes + UFTRACE_WORD, false);
	*record = (struct uftrace_record){
	    .type = (enum uftrace_type)(word & 3),
	    .time = tw_load64(bytes, false),
	    .depth = (unsigned)(word >> 6 & 0x3ff),
	    .address = word >> 16,
	    .size = UFTRACE_RECORD_SIZE,
	    .more = word >> 2 & 1,
	};
	return (word >> 3 & 7) == MAGIC;
}

/* A loss is told without a time. */
static bool has_time(const struct uftrace_record *record)
{
	return record->type != UFTRACE_LOSS || record->time != 0;
}

/* Whether a record may stand here. An exit is of the innermost function; a depth may be less where records were left
 * out. */
static bool may_follow(const struct thread_state *thread, const struct uftrace_record *record)
{
	static const uint64_t second = 1000000000, most = 1000 * second;
	if (thread->timed && has_time(record) && (record->time < thread->time || record->time - thread->time > most))
		return false;
	if (record->type == UFTRACE_ENTRY)
		return record->depth <= thread->depth;
	if (record->type == UFTRACE_EXIT)
		return thread->depth == UNKNOWN || record->depth + 1 == thread->depth;
	return record->type == UFTRACE_EVENT ? record->address < EVENTS_MOST : !record->more;
}

static void go_on(struct thread_state *thread, const struct uftrace_record *record)
{
	thread->time = has_time(record) ? record->time : thread->time;
	thread->timed |= has_time(record);
	if (record->type == UFTRACE_ENTRY)
		thread->depth = record->depth + 1;
	else if (record->type == UFTRACE_EXIT)
		thread->depth = record->depth;
	else if (record->type == UFTRACE_LOSS)
		thread->depth = UNKNOWN;
}

/* Whether there is a record that fits. After a loss nearly all do: so what comes behind that has to fit as well. */
static bool fits(const struct thread_state *thread, const uint8_t *bytes, size_t have)
{
	struct thread_state after = *thread;
	struct uftrace_record record;
	if (have < UFTRACE_RECORD_SIZE || !decode(bytes, &record) || !may_follow(thread, &record))
		return false;
	if (record.type != UFTRACE_LOSS || have < 2 * UFTRACE_RECORD_SIZE)
		return true;
	go_on(&after, &record);
	return decode(bytes + UFTRACE_RECORD_SIZE, &record) && record.type != UFTRACE_LOSS &&
	       may_follow(&after, &record);
}

/* Where the next record is, from `at` on; `have` where there is none. */
static size_t find_next(const struct thread_state *thread, const uint8_t *bytes, size_t at, size_t have)
{
	for (; at + UFTRACE_RECORD_SIZE <= have; at += UFTRACE_WORD)
		if (fits(thread, bytes + at, have - at))
			return at;
	return have;
}

/* ---- After damage: several records in a row, whatever the depth. ---- */

static bool goes_on(const uint8_t *bytes, size_t have, bool at_end)
{
	struct thread_state thread = {0};
	struct uftrace_record record;
	size_t at = 0;
	for (unsigned i = 0; i < SURE; i++) {
		if (at + UFTRACE_RECORD_SIZE > have)
			return i > 0 && at_end;
		if (!decode(bytes + at, &record))
			return false;
		if (i == 0)
			thread.depth = record.depth + (record.type == UFTRACE_EXIT);
		if (!may_follow(&thread, &record))
			return false;
		go_on(&thread, &record);
		at += UFTRACE_RECORD_SIZE;
		if (record.more)
			at = find_next(&thread, bytes, at, have);
	}
	return true;
}

static int take_gap(struct uftrace_cursor *cursor, const uint8_t *bytes, size_t have, struct uftrace_record *record)
{
	size_t size = 1, most = have < GAP_MOST ? have : GAP_MOST;
	while (size < most && !goes_on(bytes + size, have - size, cursor->window.at_end))
		size++;
	*record =
	    (struct uftrace_record){.type = UFTRACE_GAP, .offset = cursor->next, .size = size, .time = cursor->time};
	if (have < UFTRACE_RECORD_SIZE)
		report(cursor, UFTRACE_CUT_RECORD, cursor->next, uftrace_rules[UFTRACE_CUT_RECORD].text);
	else
		report(cursor, UFTRACE_BAD_RECORD, cursor->next, "Expected a record, found bytes that are none.");
	cursor->lost_bytes += size;
	cursor->next += size;
	cursor->depth = UNKNOWN;
	cursor->timed = false;
	return 1;
}

/* ---- Records. ---- */

/* Whether the process executed something else since the last record: what was open is gone. */
static bool began_anew(const struct uftrace_cursor *cursor, const struct uftrace_record *record)
{
	const struct uftrace_symbols *symbols = &uftrace_of(cursor->reader)->symbols;
	uint64_t until = UINT64_MAX;
	return cursor->task && uftrace_session_at(symbols, cursor->task->process, cursor->time, &until) !=
	                           uftrace_session_at(symbols, cursor->task->process, record->time, &until);
}

static void judge(const struct uftrace_cursor *cursor, const struct uftrace_record *record)
{
	bool known = cursor->depth != UNKNOWN;
	if (cursor->timed && has_time(record) && record->time < cursor->time)
		report(cursor, UFTRACE_TIME_BACK, record->offset, uftrace_rules[UFTRACE_TIME_BACK].text);
	/* One that is less deep comes of longjmp(), of exceptions and of exec(): nothing is missing. */
	if (known &&
	    ((record->type == UFTRACE_ENTRY && record->depth > cursor->depth) ||
	     (record->type == UFTRACE_EXIT && record->depth >= cursor->depth)) &&
	    !began_anew(cursor, record))
		report(cursor, UFTRACE_DEPTH, record->offset, uftrace_rules[UFTRACE_DEPTH].text);
	if (record->type == UFTRACE_LOSS) {
		cursor->reader->reports.file = cursor->file;
		tw_report(cursor->reader, &uftrace_rules[UFTRACE_LOST], record->offset, record->offset, 0,
		          "The recorder lost %" PRIu64 " record%s here.", record->address, tw_plural(record->address));
		cursor->reader->reports.file = NULL;
	}
}

/* Whether a record behind data fits, or several do but for the depth of the first: longjmp() leaves functions without
 * a record. */
static bool ends_here(const struct thread_state *thread, bool any_depth, const uint8_t *bytes, size_t have, bool at_end)
{
	const struct thread_state anywhere = {thread->time, UNKNOWN, thread->timed};
	if (have == 0)
		return at_end;
	return any_depth ? fits(&anywhere, bytes, have) && goes_on(bytes, have, at_end) : fits(thread, bytes, have);
}

/* Finds the end of a record's data by the specifications of its function; 0: none of them fits. Returns that, or a
 * negative status. */
static int specified_end(struct uftrace_cursor *cursor, const struct thread_state *thread, const uint8_t *bytes,
                         size_t have, const struct uftrace_record *record, size_t *end)
{
	size_t sizes[UFTRACE_SIZES];
	const uint8_t *data = bytes + UFTRACE_RECORD_SIZE;
	int count = uftrace_data_sizes(cursor->reader, cursor->task, record, data, have - UFTRACE_RECORD_SIZE, sizes);
	*end = 0;
	for (int i = 0; i < 2 * count && !*end; i++) {
		size_t at = UFTRACE_RECORD_SIZE + sizes[i % count];
		if (at <= have && ends_here(thread, i >= count, bytes + at, have - at, cursor->window.at_end))
			*end = at;
	}
	return count;
}

/* Returns 0 or a negative status. */
static int take_data(struct uftrace_cursor *cursor, const struct thread_state *thread, const uint8_t *bytes,
                     size_t have, struct uftrace_record *record)
{
	size_t most = have < UFTRACE_DATA_MOST ? have : UFTRACE_DATA_MOST, end;
	int status = specified_end(cursor, thread, bytes, have, record, &end);
	if (status < 0)
		return status;
	if (!end)
		end = find_next(thread, bytes, UFTRACE_RECORD_SIZE, most);
	if (end == most && have > most) /* nothing fits: the data ends at the first record of any kind */
		for (end = UFTRACE_RECORD_SIZE; end < most && !goes_on(bytes + end, have - end, false);)
			end += UFTRACE_WORD;
	record->data = bytes + UFTRACE_RECORD_SIZE;
	record->data_size = end - UFTRACE_RECORD_SIZE;
	record->size = end;
	return 0;
}

/* Views at least `want` bytes from the next record on, fewer only at the end. Returns 0 or a negative status. */
static int view(struct uftrace_cursor *cursor, size_t want, const uint8_t **bytes, size_t *have)
{
	int status = tw_window_view(&cursor->window, cursor->next, want, bytes, have);
	return status < 0 ? tw_fail(cursor->reader, status, "%s", tw_input_error(cursor->input)) : 0;
}

int uftrace_cursor_next(struct uftrace_cursor *cursor, struct uftrace_record *record)
{
	const uint8_t *bytes;
	size_t have;
	int status = view(cursor, UFTRACE_RECORD_SIZE, &bytes, &have);
	if (status < 0 || have == 0)
		return status;
	if (have < UFTRACE_RECORD_SIZE || !decode(bytes, record)) {
		status = view(cursor, GAP_MOST, &bytes, &have);
		return status < 0 ? status : take_gap(cursor, bytes, have, record);
	}
	record->offset = cursor->next;
	judge(cursor, record);
	struct thread_state thread = {cursor->time, cursor->depth, cursor->timed};
	go_on(&thread, record);
	record->time = thread.time;
	if (record->more) {
		status = view(cursor, 2 * UFTRACE_DATA_MOST, &bytes, &have);
		status = status < 0 ? status : take_data(cursor, &thread, bytes, have, record);
	}
	cursor->time = thread.time;
	cursor->depth = thread.depth;
	cursor->timed = thread.timed;
	cursor->next += record->size;
	return status < 0 ? status : 1;
}
