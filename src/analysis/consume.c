/* consume.c - reading a trace in parts, in several threads, into something that parts can be merged into. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/consume.h"

#include "base/loops.h"
#include "base/threads/parallel.h"
#include "core/format.h"

#include <stdlib.h>

/* Where memory is short, fewer parts are tried: their tables have less in common. */
enum { JOBS_MAX = 256, FEWER = 4 };

struct part {
	struct tw_reader *reader;
	void *state;
	int status;
};

struct run {
	const struct tw_consumer *consumer;
	void *owner;
	struct part *parts;
};

/* Reads calls instead of events, where both sides can. */
static int read_calls(struct tw_reader *reader, const struct tw_consumer *consumer, void *state, struct tw_calls *calls)
{
	enum { LEFT = 512 };
	struct tw_left_call room[LEFT + 1];
	struct tw_left_calls left = {.calls = room, .room = LEFT};
	int got;
	while ((got = reader->format->reading.read_calls(reader, calls, &left)) > 0)
		consumer->feed_calls(state, &left);
	return got;
}

void tw_consume_batch(const struct tw_consumer *consumer, void *state, const struct tw_batch *batch)
{
	struct tw_call_item items[TW_RUN_ITEMS];
	for (size_t i = 0; i < batch->count;) {
		struct tw_call_run run;
		i += tw_calls_make_run(batch->events + i, batch->count - i, items, &run);
		consumer->feed(state, &run);
	}
}

static int read_events(struct tw_reader *reader, const struct tw_consumer *consumer, void *state)
{
	struct tw_batch batch;
	int got;
	while ((got = tw_pull(reader, &batch)) > 0)
		tw_consume_batch(consumer, state, &batch);
	return got;
}

static bool open_state(struct run *run, struct part *part)
{
	part->state = run->consumer->open(run->owner, tw_reader_dictionary(part->reader));
	if (!part->state)
		part->status = tw_fail(part->reader, TW_ERR_MEMORY, "out of memory");
	return part->state != NULL;
}

/* Whether calls come from the format without events in between. */
static bool is_plain(const struct tw_reader *reader)
{
	return !reader->filter && reader->options.order == TW_ORDER_TRACK && tw_loop_is_on(TW_LOOP_CALLS_DEALT);
}

static void read_part(void *context, unsigned i)
{
	struct run *run = context;
	struct part *part = &run->parts[i];
	struct tw_reader *reader = part->reader;
	if (!open_state(run, part))
		return;
	bool plain = reader->format->reading.read_calls && is_plain(reader);
	struct tw_calls *calls = plain && run->consumer->stacks ? run->consumer->stacks(part->state) : NULL;
	if (reader->traits.in_turn && !reader->filter)
		run->consumer->in_turn(part->state);
	part->status = calls ? read_calls(reader, run->consumer, part->state, calls)
	                     : read_events(reader, run->consumer, part->state);
	run->consumer->finish(part->state);
}

/* Adds the parts to the owner. Returns the first of the negative statuses, if there is one. */
static int merge_parts(struct run *run, unsigned count)
{
	int status = 0;
	for (unsigned i = 0; i < count; i++) {
		struct part *part = &run->parts[i];
		if (part->state) {
			int merged = run->consumer->merge(run->owner, part->state);
			part->status = part->status < 0 ? part->status : merged;
		}
		status = status < 0 ? status : part->status;
	}
	return status;
}

static void close_states(struct run *run, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (run->parts[i].state)
			run->consumer->close(run->parts[i].state);
}

/* The parts give their memory back before the owner needs more. */
static int settle(struct run *run, unsigned count, int status)
{
	close_states(run, count);
	int settled = run->consumer->settle(run->owner);
	return status < 0 ? status : settled;
}

/* ---- Parts that the format deals the calls to. ---- */

static void take_run(void *context, unsigned i, const struct tw_call_run *dealt)
{
	struct run *run = context;
	run->consumer->feed(run->parts[i].state, dealt);
}

static bool is_dealt(const struct tw_reader *reader)
{
	return reader->format->reading.calls_by_track && is_plain(reader);
}

/* Reads the trace with one reader for all parts. Its status is that of the first part. */
static void deal(struct run *run, unsigned count)
{
	struct tw_reader *reader = run->parts[0].reader;
	for (unsigned i = 0; i < count; i++)
		if (!open_state(run, &run->parts[i]))
			return;
	const struct tw_call_taker taker = {
	    .parts = count,
	    .nested = run->consumer->stacks && run->consumer->stacks(run->parts[0].state),
	    .take = take_run,
	    .context = run,
	};
	run->parts[0].status = reader->format->reading.calls_by_track(reader, &taker);
	for (unsigned i = 0; i < count; i++)
		run->consumer->finish(run->parts[i].state);
}

/* Where memory is short it must be read once more. */
static int open_dealt(struct tw_reader *reader, struct part *parts, unsigned count)
{
	if (!tw_input_seekable(reader->input))
		return TW_ERR_UNSUPPORTED;
	int status = tw_open_instead(&parts[0].reader, reader);
	if (status < 0)
		return tw_fail(reader, status, "out of memory");
	for (unsigned i = 1; i < count; i++)
		parts[i].reader = parts[0].reader;
	return tw_begin(parts[0].reader, TW_USE_WHOLE, &reader->request);
}

/* ---- Parts that read for themselves. ---- */

static int open_shards(struct tw_reader *reader, struct part *parts, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		int status = tw_open_shard(&parts[i].reader, reader, i, count);
		if (status == 0)
			status = tw_begin(parts[i].reader, TW_USE_WHOLE, &reader->request);
		if (status == TW_ERR_UNSUPPORTED && i == 0)
			return status;
		if (status < 0)
			return tw_fail(reader, status, "%s",
			               parts[i].reader ? tw_reader_error(parts[i].reader) : "out of memory");
	}
	return 0;
}

/* ---- All of them. ---- */

static int open_parts(struct tw_reader *reader, struct part *parts, unsigned count)
{
	return is_dealt(reader) ? open_dealt(reader, parts, count) : open_shards(reader, parts, count);
}

static void close_readers(struct part *parts, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (i == 0 || parts[i].reader != parts[0].reader)
			tw_close(parts[i].reader);
}

static void read_all(struct run *run, const struct tw_reader *reader, unsigned count)
{
	if (is_dealt(reader))
		deal(run, count);
	else
		tw_parallel(count, read_part, run);
}

static int read_whole(struct tw_reader *reader, const struct tw_consumer *consumer, void *owner)
{
	struct part part = {.reader = reader};
	struct run run = {.consumer = consumer, .owner = owner, .parts = &part};
	consumer->begin(owner, 1);
	read_all(&run, reader, 1);
	return settle(&run, 1, merge_parts(&run, 1));
}

static bool any_folded(const struct run *run, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		const struct part *part = &run->parts[i];
		if (part->reader->reports.fell_short || (part->state && run->consumer->folded(run->owner, part->state)))
			return true;
	}
	return false;
}

static void keep_error(struct tw_reader *reader, const struct part *parts, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (parts[i].status < 0) {
			tw_fail(reader, parts[i].status, "%s", tw_reader_error(parts[i].reader));
			return;
		}
}

/* Reads the parts at once. *again: nothing was merged, and the whole should be read instead. */
static int read_parts(struct run *run, struct tw_reader *reader, unsigned count, bool *again)
{
	int status = open_parts(reader, run->parts, count);
	if (status < 0)
		return status;
	run->consumer->begin(run->owner, count);
	read_all(run, reader, count);
	*again = any_folded(run, count);
	if (*again) {
		close_states(run, count);
		return 0;
	}
	status = settle(run, count, merge_parts(run, count));
	if (status < 0)
		keep_error(reader, run->parts, count);
	return status;
}

/* The same, with the readers and states of the parts. */
static int read_parted(struct tw_reader *reader, unsigned jobs, const struct tw_consumer *consumer, void *owner,
                       bool *again)
{
	struct run run = {.consumer = consumer, .owner = owner, .parts = calloc(jobs, sizeof *run.parts)};
	if (!run.parts)
		return tw_fail(reader, TW_ERR_MEMORY, "out of memory");
	int status = read_parts(&run, reader, jobs, again);
	close_readers(run.parts, jobs);
	free(run.parts);
	return status;
}

int tw_consume(struct tw_reader *reader, unsigned jobs, const struct tw_consumer *consumer, void *owner)
{
	/* Of events all count: what is open ends with the last of its thread. Who deals calls knows. */
	const struct tw_request request = {.kinds = is_dealt(reader) ? TW_SLICES : 0, .track_ends = true};
	int used = tw_begin(reader, TW_USE_WHOLE, &request);
	if (used < 0)
		return used;
	jobs = jobs ? jobs : tw_processors();
	jobs = jobs < JOBS_MAX ? jobs : JOBS_MAX;
	if (consumer->light && is_dealt(reader))
		jobs = (jobs + 1) / 2;
	reader->reports.again = false;
	for (unsigned parts = jobs; parts > 1; parts /= FEWER) {
		bool again = false;
		int status = read_parted(reader, parts, consumer, owner, &again);
		if (status == TW_ERR_UNSUPPORTED)
			break;
		if (!again)
			return status;
		reader->reports.again = true; /* all but limits has been reported */
	}
	int status = read_whole(reader, consumer, owner);
	reader->reports.again = false;
	return status;
}
