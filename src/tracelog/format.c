/* format.c - TraceLog as a format: finding it and opening it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/filter/filter.h"
#include "tracelog/format/layout.h"
#include "tracelog/tracelog.h"

#include <trackway/tracelog.h>

#include <stdlib.h>
#include <string.h>

/* Times count from the start of the profiler, which the log calls 0: so does the clock. */
static int tracelog_open(struct tw_reader *reader)
{
	reader->state = calloc(1, sizeof(struct tracelog_reader));
	reader->clock.ticks_per_second = 1000;
	if (reader->options.order == TW_ORDER_FILE && tw_filter_needs_time(&reader->options))
		reader->options.order = TW_ORDER_TIME;
	if (!reader->state)
		return tw_fail_memory(reader);
	return tracelog_image_open(reader);
}

static void tracelog_close(struct tw_reader *reader)
{
	struct tracelog_reader *log = reader->state;
	tracelog_events_free(log->events);
	tracelog_records_free(log->records);
	tracelog_summary_free(log->summary);
	free(log);
}

/* ---- Probing. ---- */

/* Lines that are records, and those that cannot be, out of whole lines; what is cut off at the end of the bytes does
 * not count. */
static void count_records(const uint8_t *bytes, size_t size, unsigned *records, unsigned *others)
{
	const uint8_t *end;
	while (size && (end = memchr(bytes, '\n', size))) {
		struct tw_tracelog_record record;
		struct tw_tracelog_fault fault;
		size_t length = (size_t)(end - bytes) + 1;
		tw_tracelog_decode(bytes, length, &record, &fault);
		bool known = record.kind != TW_TRACELOG_UNKNOWN;
		*records += known;
		*others += !known && !tracelog_looks_like_kind(record.list);
		bytes += length;
		size -= length;
	}
}

/* A line may begin with the rest of another one in a log that was joined late, or be longer than what is here. Kinds
 * to come may stand before those that are known. */
static int probe(const uint8_t *bytes, size_t size)
{
	struct tw_tracelog_record record;
	struct tw_tracelog_fault fault;
	unsigned records = 0, others = 0;
	if (tracelog_image_probe(bytes, size))
		return 100;
	tw_tracelog_decode(bytes, size, &record, &fault);
	bool begins = record.kind != TW_TRACELOG_UNKNOWN;
	count_records(bytes, size, &records, &others);
	if (begins)
		return 90;
	return records && others <= 1 ? 60 : 0;
}

const struct tw_format tw_format_tracelog = {
    .name = "tracelog",
    .title = "TraceLog (Tizen's CoreProfiler for .NET)",
    .rules = tracelog_rules,
    .rule_count = TRACELOG_RULES,
    .traits =
	{
	    .copy_order = TW_ORDER_FILE,
	    .sampled = true,
	    .has_reach = true,
	},
    .files =
	{
	    .probe = probe,
	},
    .reading =
	{
	    .open = tracelog_open,
	    .look = tracelog_look,
	    .read = tracelog_read,
	    .read_record = tracelog_read_record,
	    .close = tracelog_close,
	},
    .survey =
	{
	    .state_outline = tracelog_find_dependencies,
	    .info = tracelog_info,
	},
    .rewriting =
	{
	    .repair = tracelog_repair,
	    .transcode = tracelog_transcode,
	},
};
