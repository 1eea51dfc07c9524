/* info.c - what is in a log: records by kind, dialect, threads, times, settings, losses. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/order.h"
#include "base/text/digits.h"
#include "core/threads/pipeline.h"
#include "tracelog/format/layout.h"
#include "tracelog/jobs/count.h"
#include "tracelog/lines/cursor.h"
#include "tracelog/lines/line_block.h"
#include "tracelog/log/threads.h"
#include "tracelog/tracelog.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PIECES = 8,        /* blocks of the log that are read and counted ahead */
	THREADS_SHARE = 2, /* of the memory limit, for all that is kept of threads */
	SESSION_BIT = 33,  /* of a thread's number, from which on that of its session stands */
	FIELDS = 8,
	SETTINGS = 64, /* that are listed one by one; the profiler has a dozen */
	SETTING_TEXT = 48,
	SETTING_COLUMNS = 2,
	THREAD_COLUMNS = 4,
	LISTS = 2,
	DATE_TEXT = 64,
	/* Of a thread: rows in arrays that double, and places in three maps. */
	THREAD_COST = 3 * sizeof(struct tracelog_thread_count) + sizeof(struct tw_thread_info) +
	              THREAD_COLUMNS * sizeof(struct tw_field) + 12 * sizeof(struct tw_map_slot),
	NS_PER_MS = 1000000
};

/* One prf cfg. */
struct setting {
	char name[SETTING_TEXT], value[SETTING_TEXT];
};

/* A block of the log, and what is in it. */
struct counted_block {
	struct tracelog_line_block block;
	struct tracelog_count count;
};

struct tracelog_summary {
	struct tracelog_cursor cursor; /* of lines that need the lines before them */
	struct tw_pipeline *ahead;
	struct counted_block pieces[PIECES];
	uint64_t offset, line;     /* of the block that is added */
	struct tracelog_count sum; /* times relative to `sum.start` */
	bool mixed;                /* dialects */
	char date[DATE_TEXT];
	struct {
		struct tracelog_start first;
		uint64_t base;           /* ms: from the start of the first to that of this one */
		int64_t around;          /* ms: the last time of this one */
		bool timed, has_process; /* a time, a process of this one */
		uint64_t *processes;     /* of each; the last is this one */
		size_t count, room;
		struct tw_map session_of;   /* processes, to their sessions */
		struct tracelog_count part; /* of a block in which one starts */
	} sessions;                         /* take_session() */
	struct {
		struct setting items[SETTINGS];
		size_t count;
		uint64_t more; /* than are listed */
		char more_text[SETTING_TEXT];
	} settings; /* take_setting() */
	struct {
		uint64_t count, ms;
		bool open;
		uint32_t at;
	} pauses; /* take_pause() */
	struct {
		struct tw_map system_of; /* iid of a thread to its row of the system's thread */
		struct tw_map thread_of; /* number of the system to the iid of its thread */
		bool full;               /* of threads: the rest is left out */
	} assigned;                      /* take_system_thread() */
	struct {
		struct tw_kind_count kinds[TW_TRACELOG_KINDS];
		struct tw_field fields[FIELDS];
		struct tw_field setting_fields[(SETTINGS + 1) * SETTING_COLUMNS];
		struct tw_field *thread_fields;
		struct tw_thread_info *threads;
		struct tw_info_list lists[LISTS];
		char dialect[TRACELOG_DIALECTS_TEXT];
	} shown; /* of `info`: tell_...() */
};

void tracelog_summary_free(struct tracelog_summary *summary)
{
	if (!summary)
		return;
	tw_pipeline_free(summary->ahead);
	for (size_t i = 0; i < PIECES; i++) {
		tracelog_line_block_free(&summary->pieces[i].block);
		tracelog_count_free(&summary->pieces[i].count);
	}
	tracelog_count_free(&summary->sum);
	tracelog_count_free(&summary->sessions.part);
	free(summary->sessions.processes);
	tw_map_free(&summary->sessions.session_of);
	tracelog_cursor_free(&summary->cursor);
	tw_map_free(&summary->assigned.system_of);
	tw_map_free(&summary->assigned.thread_of);
	free(summary->shown.thread_fields);
	free(summary->shown.threads);
	free(summary);
}

/* ---- Lines that are looked at in their turn. ---- */

static void keep_text(char *to, struct tw_tracelog_text text)
{
	static const char gap[] = "...";
	bool fits = text.size < SETTING_TEXT;
	snprintf(to, SETTING_TEXT, "%.*s%s", (int)(fits ? text.size : SETTING_TEXT - sizeof gap),
	         (const char *)text.bytes, fits ? "" : gap);
}

static void take_setting(struct tracelog_summary *summary, const struct tw_tracelog_record *record)
{
	if (summary->settings.count == SETTINGS) {
		summary->settings.more++;
		return;
	}
	struct setting *setting = &summary->settings.items[summary->settings.count++];
	keep_text(setting->name, record->name);
	keep_text(setting->value, record->value);
}

static void take_start(struct tracelog_summary *summary, const struct tw_tracelog_record *record)
{
	char date[TRACELOG_DATE_TEXT], zone[TRACELOG_ZONE_TEXT];
	if (!*summary->date)
		snprintf(summary->date, DATE_TEXT, "%s%s%s", tracelog_date_text(record, date),
		         record->has_zone ? " " : "", tracelog_zone_text(record, zone));
}

static void take_pause(struct tracelog_summary *summary, const struct tw_tracelog_record *record)
{
	bool pause = record->kind == TW_TRACELOG_PRF_TPS;
	if (pause) {
		summary->pauses.count++;
		summary->pauses.at = record->ms;
	} else if (summary->pauses.open) {
		int32_t lasted = (int32_t)(record->ms - summary->pauses.at);
		summary->pauses.ms += lasted > 0 ? (uint64_t)lasted : 0;
	}
	summary->pauses.open = pause;
}

static size_t most_threads(const struct tracelog_summary *summary)
{
	return tw_memory_limit(summary->cursor.reader) / THREADS_SHARE / THREAD_COST;
}

/* A number of a thread, apart from the same of another session. */
static uint64_t in_session(const struct tracelog_summary *summary, uint64_t number)
{
	return (uint64_t)(summary->sessions.count - 1) << SESSION_BIT | number;
}

/* A thread may move from one of the system to another, and its number come to mean another thread. The last holds. */
static bool take_system_thread(struct tracelog_summary *summary, const struct tw_tracelog_record *record)
{
	const uint64_t iid = in_session(summary, record->thread), os = in_session(summary, record->os_thread);
	uint32_t *system = tw_map_stored(&summary->assigned.system_of, iid);
	uint32_t *thread = tw_map_stored(&summary->assigned.thread_of, os);
	size_t limit = most_threads(summary);
	if (record->os_thread == UINT32_MAX || record->thread == UINT32_MAX)
		return true;
	if (system)
		*system = record->os_thread + 1;
	if (thread)
		*thread = record->thread + 1;
	bool full = summary->assigned.system_of.count >= limit || summary->assigned.thread_of.count >= limit;
	summary->assigned.full |= full && (!system || !thread);
	return (system || full || tw_map_add(&summary->assigned.system_of, iid, record->os_thread)) &&
	       (thread || full || tw_map_add(&summary->assigned.thread_of, os, record->thread));
}

/* As threads.c numbers them: the first that is told counts, unless another session has it. */
static void take_process(struct tracelog_summary *summary, uint64_t process)
{
	uint64_t *own = &summary->sessions.processes[summary->sessions.count - 1];
	bool had_process = summary->sessions.has_process;
	uint32_t other;
	summary->sessions.has_process |= process != 0;
	if (had_process || !process || tw_map_find(&summary->sessions.session_of, process, &other))
		return;
	summary->sum.failed |=
	    !tw_map_add(&summary->sessions.session_of, process, (uint32_t)summary->sessions.count - 1);
	*own = process;
}

static bool take_mark(struct tracelog_summary *summary, const struct tw_tracelog_record *record)
{
	if (record->kind == TW_TRACELOG_PRF_CFG)
		take_setting(summary, record);
	else if (record->kind == TW_TRACELOG_PRF_STM)
		take_start(summary, record);
	else if (record->kind == TW_TRACELOG_PRF_TPS || record->kind == TW_TRACELOG_PRF_TRS)
		take_pause(summary, record);
	else if (record->kind == TW_TRACELOG_THR_AOS)
		return take_system_thread(summary, record);
	else if (record->kind == TW_TRACELOG_APD_CRF)
		take_process(summary, record->process);
	return true;
}

/* Reports the items of lists that cannot be read, but not of a last line that was cut, which was reported. */
static void judge_items(struct tracelog_cursor *cursor)
{
	struct tw_tracelog_text list = cursor->record.list;
	struct tw_tracelog_item item;
	while (!(cursor->record.odd & TW_TRACELOG_NO_END) && tracelog_cursor_item(cursor, &list, &item))
		;
}

static void take_line(struct tracelog_summary *summary, const struct tw_text_line *line)
{
	struct tracelog_cursor *cursor = &summary->cursor;
	if (!tracelog_cursor_take(cursor, line))
		return;
	if (!cursor->readable)
		summary->sum.kinds[TW_TRACELOG_UNKNOWN]++;
	else if (!take_mark(summary, &cursor->record))
		summary->sum.failed = true;
	else
		judge_items(cursor);
}

static void take_marks(struct tracelog_summary *summary, const struct tracelog_count *count)
{
	for (size_t i = 0; i < count->mark_count; i++) {
		const struct tracelog_mark *mark = &count->marks[i];
		const uint8_t *start = count->bytes + mark->at, *end = memchr(start, '\n', count->size - mark->at);
		take_line(summary, &(struct tw_text_line){
				       .bytes = start,
				       .size = end ? (size_t)(end - start) + 1 : count->size - mark->at,
				       .offset = summary->offset + mark->at,
				       .number = summary->line + mark->line + 1,
				   });
	}
}

/* ---- Adding up. ---- */

/* Brings the times of a block to the clock of the log. Times are of 32 bits and wrap: the first time of a block is the
 * one that is nearest to the last time before it. Returns the number to add. */
static int64_t take_times(struct tracelog_summary *summary, const struct tracelog_count *count)
{
	struct tracelog_count *sum = &summary->sum;
	if (!count->timed)
		return 0;
	if (!sum->timed) {
		sum->start = count->start;
		sum->timed = true;
	}
	int64_t around = summary->sessions.timed ? summary->sessions.around : count->start;
	int64_t first = around + (int32_t)(count->start - (uint32_t)around);
	int64_t shift = (int64_t)summary->sessions.base + first - sum->start;
	summary->sessions.timed = true;
	summary->sessions.around = first + count->last;
	sum->low = shift + count->low < sum->low ? shift + count->low : sum->low;
	sum->high = shift + count->high > sum->high ? shift + count->high : sum->high;
	return shift;
}

static void take_thread(struct tracelog_summary *summary, uint64_t key, const struct tracelog_thread_count *from,
                        int64_t shift)
{
	uint32_t place;
	if (summary->sum.thread_count >= most_threads(summary) && !tw_map_find(&summary->sum.by_key, key, &place)) {
		summary->assigned.full = true;
		return;
	}
	struct tracelog_thread_count *to = tracelog_count_thread(&summary->sum, key);
	if (!to)
		return;
	to->records += from->records;
	to->bytes += from->bytes;
	to->samples += from->samples;
	to->ticks += from->ticks;
	if (from->first > from->last)
		return;
	to->first = shift + from->first < to->first ? shift + from->first : to->first;
	to->last = shift + from->last > to->last ? shift + from->last : to->last;
}

static void take_count(struct tracelog_summary *summary, const struct tracelog_count *count)
{
	struct tracelog_count *sum = &summary->sum;
	for (size_t i = 0; i < TW_TRACELOG_KINDS; i++)
		sum->kinds[i] += count->kinds[i];
	summary->mixed |= (sum->dialects & count->dialects) == 0;
	sum->dialects &= count->dialects;
	sum->pointers |= count->pointers;
	sum->failed |= count->failed;
	int64_t shift = take_times(summary, count);
	for (size_t i = 0; i < count->thread_count; i++)
		take_thread(summary, in_session(summary, count->threads[i].key), &count->threads[i], shift);
	take_marks(summary, count);
	summary->offset += count->size;
	summary->line += count->lines;
}

/* The first session is there from the beginning, also where no line says that it starts. */
static void add_session(struct tracelog_summary *summary, uint64_t base)
{
	size_t number = summary->sessions.count;
	if (number && number >= most_threads(summary)) {
		summary->assigned.full = true;
		return;
	}
	summary->sum.failed |= !tw_grow(&summary->sessions.processes, &summary->sessions.room, number + 1,
	                                sizeof *summary->sessions.processes);
	if (summary->sum.failed)
		return;
	summary->sessions.processes[summary->sessions.count++] = number ? TRACELOG_SESSION_PROCESS + number : 0;
	summary->sessions.base = base;
	summary->sessions.timed = summary->sessions.has_process = false;
}

/* Takes the first of some lines, at which a session may start. */
static void take_session(struct tracelog_summary *summary, const uint8_t *lines, size_t size)
{
	struct tw_tracelog_record record;
	struct tw_tracelog_fault fault;
	const uint8_t *end = size ? memchr(lines, '\n', size) : NULL;
	if (tw_tracelog_decode(lines, end ? (size_t)(end - lines) + 1 : size, &record, &fault) != 0 ||
	    record.kind != TW_TRACELOG_PRF_STM)
		return;
	const struct tracelog_start start = tracelog_start_of(&record);
	if (!summary->sessions.first.is_set)
		summary->sessions.first = start;
	else
		add_session(summary, tracelog_later_by(&summary->sessions.first, &start));
}

/* The place of the next line in a block at which a session may start. */
static size_t next_session(const struct tracelog_count *count, size_t from)
{
	static const char start[] = "prf stm";
	for (size_t i = 0; i < count->mark_count; i++) {
		size_t at = count->marks[i].at;
		if (at > from && count->size - at > sizeof start &&
		    memcmp(count->bytes + at, start, sizeof start - 1) == 0)
			return at;
	}
	return count->size;
}

/* Counts the stretches of a block anew between which sessions start. */
static void take_block(struct tracelog_summary *summary, const struct tracelog_count *count)
{
	struct tracelog_count *part = &summary->sessions.part;
	size_t from = 0, to = next_session(count, 0);
	take_session(summary, count->bytes, count->size);
	if (to == count->size) {
		take_count(summary, count);
		return;
	}
	for (; from < count->size && !summary->sum.failed; from = to) {
		to = next_session(count, from);
		if (from)
			take_session(summary, count->bytes + from, to - from);
		tracelog_count(part, count->bytes + from, to - from);
		take_count(summary, part);
	}
}

/* Takes what there is of a line that is too long: it is reported once. */
static void take_long_line(struct tracelog_summary *summary, const struct tracelog_line_block *block)
{
	const struct tw_text_line line = {block->bytes, block->size, block->offset, summary->line + 1, true};
	take_line(summary, &line);
	summary->offset += block->size;
	summary->line++;
}

/* What lies between two blocks is the rest of a line that was too long. */
static void pass_over(struct tracelog_summary *summary, uint64_t offset)
{
	summary->cursor.lost_bytes += offset - summary->offset;
	summary->offset = offset;
}

/* ---- Blocks, in any thread. ---- */

static int read_piece(void *context, void *to)
{
	struct tracelog_summary *summary = context;
	struct counted_block *piece = to;
	return tracelog_line_block_read(&summary->cursor.lines, &piece->block);
}

static void count_piece(void *context, void *to)
{
	struct counted_block *piece = to;
	(void)context;
	tracelog_count(&piece->count, piece->block.bytes, piece->block.cut ? 0 : piece->block.size);
}

static int count_all(struct tracelog_summary *summary, unsigned jobs)
{
	static const struct tw_pipeline_steps activity = {read_piece, count_piece};
	void *pieces[PIECES], *next;
	int status;
	for (size_t i = 0; i < PIECES; i++)
		pieces[i] = &summary->pieces[i];
	summary->ahead = tw_pipeline_new(&activity, summary, pieces, PIECES, jobs);
	if (!summary->ahead)
		return TW_ERR_MEMORY;
	while ((status = tw_pipeline_next(summary->ahead, &next)) > 0) {
		const struct counted_block *piece = next;
		pass_over(summary, piece->block.offset);
		if (piece->block.cut)
			take_long_line(summary, &piece->block);
		else
			take_block(summary, &piece->count);
	}
	pass_over(summary, summary->cursor.lines.next);
	return summary->sum.failed ? TW_ERR_MEMORY : status;
}

/* ---- The answer. ---- */

static void fill_kinds(struct tracelog_summary *summary, struct tw_info *info)
{
	for (unsigned i = 0; i < TW_TRACELOG_KINDS; i++) {
		uint64_t count = summary->sum.kinds[i];
		if (count == 0)
			continue;
		summary->shown.kinds[info->kind_count++] = (struct tw_kind_count){tw_tracelog_kind_name(i), count};
		info->records += count;
	}
	info->kinds = summary->shown.kinds;
	info->events = UINT64_MAX;
}

/* Returns a time in ns since the profiler's start, with which the clock starts. */
static uint64_t since_start(const struct tracelog_count *sum, int64_t time)
{
	int64_t ms = sum->start + time;
	return ms > 0 ? (uint64_t)ms * NS_PER_MS : 0;
}

static struct tw_field number_field(const char *name, enum tw_field_type type, uint64_t value)
{
	return (struct tw_field){.name = name, .type = type, .value.u = value};
}

static struct tw_field text_field(const char *name, const char *text)
{
	return (struct tw_field){.name = name, .type = TW_FIELD_TEXT, .value.bytes = text, .size = strlen(text)};
}

/* The bits of pointers: a number, or that they are unknown or mixed. */
static struct tw_field pointer_field(unsigned pointers)
{
	static const struct tw_field fields[] = {
	    {.name = "pointer_bits", .type = TW_FIELD_TEXT, .value.bytes = "unknown", .size = sizeof "unknown" - 1},
	    {.name = "pointer_bits", .type = TW_FIELD_UINT, .value.u = 64},
	    {.name = "pointer_bits", .type = TW_FIELD_UINT, .value.u = 32},
	    {.name = "pointer_bits", .type = TW_FIELD_TEXT, .value.bytes = "mixed", .size = sizeof "mixed" - 1},
	};
	return fields[pointers];
}

static void fill_fields(struct tracelog_summary *summary, struct tw_info *info)
{
	const struct tracelog_count *sum = &summary->sum;
	if (summary->mixed)
		strcpy(summary->shown.dialect, "mixed");
	else
		tracelog_dialects_text(sum->dialects, summary->shown.dialect);
	const struct tw_field fields[FIELDS] = {
	    text_field("dialect", summary->shown.dialect),
	    pointer_field(sum->pointers),
	    number_field("modules", TW_FIELD_UINT, sum->kinds[TW_TRACELOG_MOD_LDF]),
	    number_field("classes", TW_FIELD_UINT, sum->kinds[TW_TRACELOG_CLS_NAM]),
	    number_field("named_functions", TW_FIELD_UINT, sum->kinds[TW_TRACELOG_FUN_NAM]),
	    number_field("pauses", TW_FIELD_UINT, summary->pauses.count),
	    number_field("paused_ns", TW_FIELD_NS, summary->pauses.ms * NS_PER_MS),
	    text_field("start_time", summary->date),
	};
	memcpy(summary->shown.fields, fields, sizeof fields);
	info->fields = summary->shown.fields;
	info->field_count = *summary->date ? FIELDS : FIELDS - 1;
}

static void fill_setting(struct tracelog_summary *summary, size_t i, const char *name, const char *value)
{
	summary->shown.setting_fields[i * SETTING_COLUMNS] = text_field("name", name);
	summary->shown.setting_fields[i * SETTING_COLUMNS + 1] = text_field("value", value);
}

static void fill_settings(struct tracelog_summary *summary)
{
	size_t rows = summary->settings.count;
	for (size_t i = 0; i < rows; i++)
		fill_setting(summary, i, summary->settings.items[i].name, summary->settings.items[i].value);
	if (summary->settings.more) {
		snprintf(summary->settings.more_text, sizeof summary->settings.more_text, "%" PRIu64 " more",
		         summary->settings.more);
		fill_setting(summary, rows++, "(other)", summary->settings.more_text);
	}
	summary->shown.lists[0] =
	    (struct tw_info_list){"settings", summary->shown.setting_fields, SETTING_COLUMNS, rows};
}

/* The row of the thread that runs on a thread of the system; false where there is none. */
static bool find_joined(const struct tracelog_summary *summary, uint64_t key, uint64_t *to)
{
	const uint64_t session = key >> SESSION_BIT << SESSION_BIT;
	uint32_t iid, place;
	if (!(key >> 32 & 1) || !tw_map_find(&summary->assigned.thread_of, session | (uint32_t)key, &iid))
		return false;
	*to = session | iid;
	return tw_map_find(&summary->sum.by_key, *to, &place);
}

/* Records that tell the system's number belong to the thread that runs there. */
static void join_system_threads(struct tracelog_summary *summary)
{
	struct tracelog_count *sum = &summary->sum;
	size_t kept = 0;
	uint64_t to;
	for (size_t i = 0; i < sum->thread_count; i++) {
		struct tracelog_thread_count thread = sum->threads[i];
		thread.samples = thread.ticks = 0;
		if (find_joined(summary, thread.key, &to))
			take_thread(summary, to, &thread, 0);
	}
	for (size_t i = 0; i < sum->thread_count; i++)
		if (!find_joined(summary, sum->threads[i].key, &to))
			sum->threads[kept++] = sum->threads[i];
	sum->thread_count = kept;
}

static int by_key(const void *left, const void *right)
{
	const struct tracelog_thread_count *a = left, *b = right;
	return tw_compare(a->key, b->key);
}

static void fill_thread(struct tracelog_summary *summary, size_t i)
{
	const struct tracelog_count *sum = &summary->sum;
	const struct tracelog_thread_count *thread = &sum->threads[i];
	bool os = thread->key >> 32 & 1, timed = thread->first <= thread->last;
	uint32_t iid = (uint32_t)thread->key, system = (uint32_t)thread->key;
	bool known = os || tw_map_find(&summary->assigned.system_of, thread->key, &system);
	const bool is_unknown = !os && iid == TW_TRACELOG_IID_NONE;
	const struct tw_field fields[THREAD_COLUMNS] = {
	    number_field("thread_iid", os || is_unknown ? TW_FIELD_NULL : TW_FIELD_UINT,
	                 is_unknown ? TW_UNKNOWN_TASK : iid),
	    number_field("os_thread_id", known ? TW_FIELD_UINT : TW_FIELD_NULL, system),
	    number_field("samples", TW_FIELD_UINT, thread->samples),
	    number_field("ticks", TW_FIELD_UINT, thread->ticks),
	};
	memcpy(summary->shown.thread_fields + i * THREAD_COLUMNS, fields, sizeof fields);
	summary->shown.threads[i] = (struct tw_thread_info){
	    .process = summary->sessions.processes[thread->key >> SESSION_BIT],
	    /* as the reader shows it: no thread of the profiler has a number of 2^32 and more */
	    .thread = is_unknown ? TW_UNKNOWN_TASK : thread->key & ((UINT64_C(1) << SESSION_BIT) - 1),
	    .os_thread = known ? system : 0,
	    .records = thread->records,
	    .bytes = thread->bytes,
	    .start_ns = timed ? since_start(sum, thread->first) : 0,
	    .end_ns = timed ? since_start(sum, thread->last) : 0,
	};
}

static int fill_threads(struct tracelog_summary *summary, struct tw_info *info)
{
	join_system_threads(summary);
	size_t count = summary->sum.thread_count;
	summary->shown.threads = calloc(count + 1, sizeof *summary->shown.threads);
	summary->shown.thread_fields = calloc(count + 1, THREAD_COLUMNS * sizeof *summary->shown.thread_fields);
	if (!summary->shown.threads || !summary->shown.thread_fields)
		return TW_ERR_MEMORY;
	if (count)
		qsort(summary->sum.threads, count, sizeof *summary->sum.threads, by_key);
	for (size_t i = 0; i < count; i++)
		fill_thread(summary, i);
	if (summary->assigned.full)
		tw_report_limit(summary->cursor.reader, &tracelog_rules[TRACELOG_TABLE_LIMIT], summary->offset,
		                summary->offset, "%zu threads are listed: the others are left out", count);
	summary->shown.lists[1] = (struct tw_info_list){"samples", summary->shown.thread_fields, THREAD_COLUMNS, count};
	info->threads = summary->shown.threads;
	info->thread_count = count;
	info->processes = info->records ? summary->sessions.count : 0;
	return 0;
}

int tracelog_info(struct tw_reader *reader, unsigned jobs, struct tw_info *info)
{
	struct tracelog_reader *log = reader->state;
	struct tracelog_summary *summary = log->summary = calloc(1, sizeof *summary);
	if (!summary)
		return tw_fail_memory(reader);
	tracelog_cursor_init(&summary->cursor, reader);
	summary->sum.dialects = UINT32_MAX;
	add_session(summary, 0);
	int status = summary->sum.failed ? TW_ERR_MEMORY : count_all(summary, jobs);
	if (status >= 0) {
		tracelog_cursor_end(&summary->cursor);
		fill_kinds(summary, info);
		info->span_ns = summary->sum.timed ? since_start(&summary->sum, summary->sum.high) : 0;
		fill_fields(summary, info);
		fill_settings(summary);
		status = fill_threads(summary, info);
	}
	if (status < 0) {
		const char *text = tw_input_error(reader->input);
		return *text ? tw_fail(reader, status, "%s", text)
		             : tw_fail(reader, status, "%s: %s", tw_input_name(reader->input), tw_status_text(status));
	}
	info->bytes = tw_input_size(reader->input);
	info->lost_bytes = summary->cursor.lost_bytes;
	info->lists = summary->shown.lists;
	info->list_count = LISTS;
	return 0;
}
