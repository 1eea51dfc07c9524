/* operations.c - the asynchronous operations of a trace, each when it ends. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/calls/operations.h"

#include "core/calls/pairs.h"
#include "core/format.h"

enum { SHARE = 4 }; /* of the memory limit, for operations that are open */

struct operation_reader {
	struct tw_reader *reader;
	tw_operation_fn take;
	void *context;
	uint64_t stray;
	struct tw_pairs pairs;
	uint64_t last;           /* when the last event is over */
	uint64_t from_ns, to_ns; /* the window that is asked for, as in struct tw_read_options */
};

static uint64_t later(uint64_t time, uint64_t ns)
{
	return ns > UINT64_MAX - time ? UINT64_MAX : time + ns;
}

/* Gives an operation; of one that reaches beyond the window, the part inside. */
static void give(const struct operation_reader *reading, const struct tw_open_pair *item, uint64_t end, bool open)
{
	const uint64_t start = tw_reader_clock(reading->reader)->start_ns;
	const uint64_t from = reading->from_ns ? later(start, reading->from_ns) : 0;
	const uint64_t to = reading->to_ns ? later(start, reading->to_ns) : UINT64_MAX;
	const struct tw_operation operation = {
	    .name = item->name,
	    .begin = item->ts > from ? item->ts : from,
	    .end = end < to ? end : to,
	    .open = open,
	};
	const bool before = item->ts < from && end <= from, behind = reading->to_ns && item->ts >= to;
	if (!before && !behind)
		reading->take(reading->context, &operation);
}

static int begin_one(struct operation_reader *reading, const struct tw_event *event)
{
	const size_t limit = tw_memory_limit(reading->reader) / SHARE;
	struct tw_open_pair *item =
	    tw_pairs_begin(&reading->pairs, tw_reader_dictionary(reading->reader), event, limit);
	if (!item)
		return tw_fail(reading->reader, TW_ERR_LIMIT,
		               "more asynchronous operations are open at once than the memory limit has room for");
	item->ts = event->time;
	item->name = event->name;
	return 0;
}

static int end_one(struct operation_reader *reading, const struct tw_event *event)
{
	struct tw_open_pair *item = tw_pairs_ended(&reading->pairs, tw_reader_dictionary(reading->reader), event);
	reading->stray += !item;
	if (!item)
		return 0;
	give(reading, item, event->time, false);
	tw_pairs_remove(&reading->pairs, item);
	return tw_pairs_sweep(&reading->pairs) ? 0 : tw_fail(reading->reader, TW_ERR_MEMORY, "out of memory");
}

static int take(struct operation_reader *reading, const struct tw_event *event)
{
	const uint64_t over = tw_event_end(event);
	reading->last = over > reading->last ? over : reading->last;
	if (event->kind != TW_ASYNC_BEGIN && event->kind != TW_ASYNC_END)
		return 0;
	return (event->kind == TW_ASYNC_BEGIN ? begin_one : end_one)(reading, event);
}

static int read_all(struct operation_reader *reading)
{
	struct tw_batch batch;
	int status;
	while ((status = tw_pull(reading->reader, &batch)) > 0)
		for (size_t i = 0; i < batch.count; i++) {
			int taken = take(reading, &batch.events[i]);
			if (taken < 0)
				return taken;
		}
	return status;
}

int tw_read_operations(struct tw_reader *reader, tw_operation_fn take_one, void *context, uint64_t *stray)
{
	struct tw_read_options *options = &reader->options;
	struct operation_reader reading = {
	    .reader = reader,
	    .take = take_one,
	    .context = context,
	    .from_ns = options->from_ns,
	    .to_ns = options->to_ns,
	};
	int status = tw_use(reader, TW_USE_WHOLE);
	if (status < 0)
		return status;
	options->from_ns = options->to_ns = 0; /* one may begin before the window, and end behind it */
	status = read_all(&reading);
	for (size_t i = 0; i < reading.pairs.count; i++)
		if (reading.pairs.items[i].key)
			give(&reading, &reading.pairs.items[i], reading.last, true);
	tw_pairs_free(&reading.pairs);
	*stray += reading.stray;
	return status;
}
