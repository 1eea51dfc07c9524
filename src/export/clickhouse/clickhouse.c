/* clickhouse.c - a trace as tables for ClickHouse: a tar archive of blocks.
 *
 * What one stream of several tables is, is ours to decide: ClickHouse's Native format has blocks of one table, and a
 * block does not tell its size. So it is a tar archive (POSIX.1-1988, "ustar"), which can be read and written as a
 * stream, and which every system unpacks:
 * - schema.sql: the statements that make the tables.
 * - TABLE/00000000.native, and on: a block of a table each, in the order in which it is complete. All columns of the
 *   table are there. The blocks of a table, one behind the other, are what INSERT INTO table FORMAT Native takes.
 * - trace/00000000.native comes last: with it the trace is complete.
 * A trace gives the same blocks each time, whatever the number of processors. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/clickhouse/clickhouse.h"

#include "base/options.h"
#include "export/targets.h"
#include "export/untimed.h"

#include <trackway/version.h>

#include <stdlib.h>
#include <string.h>

static const uint64_t NS_PER_DAY = UINT64_C(86400) * 1000000000;

/* ---- What stands around the events. ---- */

static void put_finding(void *context, const struct tw_finding *finding)
{
	struct clickhouse *clickhouse = context;
	struct tw_native_block *block = tw_clickhouse_row(clickhouse, TW_TABLE_FINDING);
	tw_native_word(block, FINDING_SEVERITY, tw_severity_name(finding->severity));
	tw_native_text(block, FINDING_RULE, finding->rule, strlen(finding->rule));
	tw_native_number(block, FINDING_RECORD, finding->record);
	tw_native_number(block, FINDING_AT, finding->at);
	tw_native_number(block, FINDING_LINE, finding->line);
	tw_native_text(block, FINDING_FILE, finding->file, strlen(finding->file));
	tw_native_text(block, FINDING_TEXT, finding->text, strlen(finding->text));
	tw_clickhouse_end_row(clickhouse, TW_TABLE_FINDING);
}

/* Which table's rows each of the columns from TRACE_SLICES on counts. */
static const enum tw_table_id counted[] = {TW_TABLE_SLICE, TW_TABLE_COUNTER,  TW_TABLE_SCHED,  TW_TABLE_SAMPLE,
                                           TW_TABLE_LOG,   TW_TABLE_ARGUMENT, TW_TABLE_FINDING};

/* When the trace is over, with its last slice or event. */
static uint64_t end_of_trace(const struct clickhouse *clickhouse)
{
	const uint64_t last = clickhouse->reader ? tw_reader_clock(clickhouse->reader)->end_ns : 0;
	return last > clickhouse->time.end ? last : clickhouse->time.end;
}

static void put_trace(struct clickhouse *clickhouse)
{
	const struct tw_clickhouse_options *options = &clickhouse->options;
	const struct tw_reader *reader = clickhouse->reader;
	const struct tw_clock *clock = reader ? tw_reader_clock(reader) : NULL;
	const uint64_t end = end_of_trace(clickhouse);
	struct tw_native_block *block = tw_clickhouse_row(clickhouse, TW_TABLE_TRACE);
	uint64_t start = clock ? tw_time_of_day(clock, clickhouse->time.start) : 0;
	tw_native_text(block, TRACE_PATH, options->path, strlen(options->path));
	tw_native_word(block, TRACE_FORMAT, reader ? tw_reader_format(reader) : "");
	tw_native_number(block, TRACE_BYTES, options->bytes);
	tw_native_number(block, TRACE_START, start);
	tw_native_number(block, TRACE_DURATION, end > clickhouse->time.start ? end - clickhouse->time.start : 0);
	tw_native_word(block, TRACE_DAY_FROM, clickhouse->time.day_from);
	tw_native_number(block, TRACE_LOADED, options->loaded);
	tw_native_texts(block, TRACE_LABEL_KEYS, options->label_keys, options->label_count);
	tw_native_texts(block, TRACE_LABEL_VALUES, options->label_values, options->label_count);
	tw_native_word(block, TRACE_TOOL, TW_VERSION);
	for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
		tw_native_number(block, TRACE_SLICES + i, clickhouse->rows[counted[i]]);
	tw_clickhouse_end_row(clickhouse, TW_TABLE_TRACE);
}

/* ---- The target. ---- */

static int open_clickhouse(struct tw_writer *writer)
{
	struct clickhouse *clickhouse = calloc(1, sizeof *clickhouse);
	bool fine = clickhouse;
	writer->state = clickhouse;
	if (!clickhouse)
		return tw_writer_fail(writer, TW_ERR_MEMORY, "out of memory");
	clickhouse->writer = writer;
	TW_COPY_OPTIONS(&clickhouse->options, writer->options.clickhouse, struct tw_clickhouse_options);
	if (!clickhouse->options.trace)
		clickhouse->options.trace = "";
	if (!clickhouse->options.path)
		clickhouse->options.path = "";
	clickhouse->time.day_from = "nowhere";
	for (size_t i = 0; i < TW_TABLES && fine; i++)
		fine = tw_schema_block(&clickhouse->blocks[i], (enum tw_table_id)i);
	tw_clickhouse_put_schema(clickhouse);
	return fine ? 0 : tw_writer_fail(writer, TW_ERR_MEMORY, "out of memory");
}

static void find_day(struct clickhouse *clickhouse)
{
	const struct tw_clickhouse_options *options = &clickhouse->options;
	uint64_t start = tw_time_of_day(tw_reader_clock(clickhouse->reader), clickhouse->time.start) / NS_PER_DAY;
	const struct {
		uint64_t day;
		const char *from;
	} choices[] = {{options->day, "given"}, {start, "clock"}, {options->file_day, "file"}, {0, "nowhere"}};
	size_t i = 0;
	while (i < 3 && (choices[i].day == 0 || choices[i].day > UINT16_MAX))
		i++;
	clickhouse->time.day = (uint32_t)choices[i].day;
	clickhouse->time.day_from = choices[i].from;
	if (options->chosen_day)
		*options->chosen_day = (struct tw_clickhouse_day){clickhouse->time.day, clickhouse->time.day_from};
}

static int begin(struct clickhouse *clickhouse, const struct tw_reader *reader)
{
	clickhouse->begun = true;
	clickhouse->reader = reader;
	clickhouse->time.start = tw_reader_clock(reader)->start_ns;
	clickhouse->calls.hooks = &tw_clickhouse_hooks;
	clickhouse->calls.budget = &clickhouse->budget;
	clickhouse->calls.rules.rounding = reader->traits.rounding;
	clickhouse->calls.rules.ends_unordered = reader->traits.ends_unordered;
	tw_budget_reset(&clickhouse->budget, tw_memory_limit(reader), 1);
	find_day(clickhouse);
	return tw_calls_init(&clickhouse->calls) ? 0 : TW_ERR_MEMORY;
}

/* Tells the writer of what failed meanwhile. */
static int result(struct clickhouse *clickhouse, int status)
{
	if (status < 0)
		return status;
	if (clickhouse->failed || tw_budget_status(&clickhouse->budget) < 0)
		return tw_writer_fail(clickhouse->writer, TW_ERR_MEMORY, "out of memory");
	return 0;
}

static void take(struct clickhouse *clickhouse, const struct tw_event *event)
{
	const uint64_t over = tw_event_end(event);
	clickhouse->event = event;
	clickhouse->time.end = over > clickhouse->time.end ? over : clickhouse->time.end;
	tw_calls_select_track(&clickhouse->calls, event->track);
	tw_calls_take(&clickhouse->calls, event);
	if (!tw_is_call(event))
		tw_clickhouse_take(clickhouse, event);
}

static int write_clickhouse(struct tw_writer *writer, const struct tw_reader *reader, const struct tw_batch *batch)
{
	struct clickhouse *clickhouse = writer->state;
	int status = clickhouse->begun ? 0 : begin(clickhouse, reader);
	clickhouse->dictionary = tw_reader_dictionary(reader);
	clickhouse->arguments = batch->arguments;
	for (size_t i = 0; i < batch->count && status == 0 && !clickhouse->failed; i++)
		take(clickhouse, &batch->events[i]);
	clickhouse->event = NULL;
	return result(clickhouse, status);
}

/* Counts what the calls could not hold. */
static void count_losses(struct clickhouse *clickhouse)
{
	const struct tw_calls *calls = &clickhouse->calls;
	tw_count_losses(clickhouse->writer, "exit without entry", false, calls->counts.exits_without_entry);
	tw_count_untimed(clickhouse->writer, calls);
	tw_count_losses(clickhouse->writer, "end before begin", true, calls->counts.time_backwards);
}

static int finish_clickhouse(struct tw_writer *writer)
{
	struct clickhouse *clickhouse = writer->state;
	if (clickhouse->begun) {
		tw_calls_finish(&clickhouse->calls);
		tw_clickhouse_finish_async(clickhouse, end_of_trace(clickhouse));
		tw_clickhouse_finish_rows(clickhouse);
		count_losses(clickhouse);
	}
	if (clickhouse->options.findings)
		clickhouse->options.findings(clickhouse->options.context, put_finding, clickhouse);
	for (unsigned i = 0; i < TW_TABLE_TRACE; i++)
		tw_clickhouse_put_block(clickhouse, (enum tw_table_id)i);
	put_trace(clickhouse);
	tw_clickhouse_put_block(clickhouse, TW_TABLE_TRACE);
	tw_clickhouse_put_end(clickhouse);
	return result(clickhouse, 0);
}

static void close_clickhouse(struct tw_writer *writer)
{
	struct clickhouse *clickhouse = writer->state;
	for (size_t i = 0; i < TW_TABLES; i++)
		tw_native_free(&clickhouse->blocks[i]);
	if (clickhouse->begun)
		tw_calls_free(&clickhouse->calls);
	tw_pairs_free(&clickhouse->pairs);
	free(clickhouse->open.items);
	free(clickhouse->cores.items);
	tw_text_free(&clickhouse->text.text);
	tw_text_free(&clickhouse->piece.text);
	free(clickhouse);
}

static const char *const extensions[] = {".clickhouse.tar", NULL};

enum {
	NO_CATEGORY = 1 << TW_COUNTER | 1 << TW_SWITCH | 1 << TW_WAKEUP | 1 << TW_STACK_SAMPLE | 1 << TW_CPU_SAMPLE |
	              1 << TW_ALLOCATION_SAMPLE
};

const struct tw_target tw_target_clickhouse = {
    .name = "clickhouse",
    .extensions = extensions,
    .order = TW_ORDER_TIME,
    .measures = true,
    .no_category = NO_CATEGORY,
    .open = open_clickhouse,
    .write = write_clickhouse,
    .finish = finish_clickhouse,
    .close = close_clickhouse,
};
