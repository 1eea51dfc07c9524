/* consume.c - reading a trace in parts, in several threads, into something that parts can be merged into. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/consume.h"

#include "base/loops.h"
#include "base/threads/parallel.h"
#include "core/format.h"

#include <stdlib.h>

/* Where memory is short, fewer parts are tried: their tables have less in common. */
enum { JOBS_MAX = 256, FEWER = 4 };

struct shard {
	struct tw_reader *reader;
	void *state;
	int status;
};

/* What is read into an owner, in parts. */
struct parallel_read {
	const struct tw_consumer *consumer;
	void *owner;
	struct shard *parts;
};

/* Reads calls instead of events, where both sides can. */
static int read_calls(struct tw_reader *reader, const struct tw_consumer *consumer, void *state, struct tw_calls *calls)
{
	enum { LEFT = 512 };
	struct tw_left_call room[LEFT + 1];
	struct tw_left_calls left = {.calls = room, .room = LEFT};
	int got = 0;
	while (!tw_stops(reader) && (got = reader->format->reading.read_calls(reader, calls, &left)) > 0)
		consumer->add_calls(state, &left);
	return tw_stops(reader) ? tw_stopped(reader) : got;
}

void tw_consume_batch(const struct tw_consumer *consumer, void *state, const struct tw_batch *batch)
{
	struct tw_call_item items[TW_RUN_ITEMS];
	for (size_t i = 0; i < batch->count;) {
		struct tw_call_run run;
		i += tw_calls_make_run(batch->events + i, batch->count - i, items, &run);
		tw_part_calls(state)->counts.uncertain += run.uncertain;
		consumer->add(state, &run);
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

static bool open_state(struct parallel_read *reading, struct shard *part)
{
	part->state = reading->consumer->open(reading->owner, tw_reader_dictionary(part->reader));
	if (part->state)
		tw_part_calls(part->state)->rules.ends_unordered = part->reader->traits.ends_unordered;
	else
		part->status = tw_fail(part->reader, TW_ERR_MEMORY, "out of memory");
	return part->state != NULL;
}

/* Whether calls come from the format without events in between. */
static bool gives_calls(const struct tw_reader *reader)
{
	return !reader->filtering.filter && reader->options.order == TW_ORDER_TRACK &&
	       tw_loop_is_on(TW_LOOP_CALLS_BY_TRACK);
}

static void read_part(void *context, unsigned i)
{
	struct parallel_read *reading = context;
	struct shard *part = &reading->parts[i];
	struct tw_reader *reader = part->reader;
	if (!open_state(reading, part))
		return;
	bool direct = reader->format->reading.read_calls && gives_calls(reader);
	struct tw_calls *calls = direct && reading->consumer->stacks ? reading->consumer->stacks(part->state) : NULL;
	if (reader->traits.in_turn &&
	    !reader->filtering.filter) /* no event comes of a track that another one has followed */
		tw_part_calls(part->state)->rules.in_turn = true;
	part->status = calls ? read_calls(reader, reading->consumer, part->state, calls)
	                     : read_events(reader, reading->consumer, part->state);
	reading->consumer->finish(part->state);
}

/* Adds the parts to the owner. Returns the first of the negative statuses, if there is one. */
static int merge_parts(struct parallel_read *reading, unsigned count)
{
	int status = 0;
	for (unsigned i = 0; i < count; i++) {
		struct shard *part = &reading->parts[i];
		if (part->state) {
			int merged = reading->consumer->merge(reading->owner, part->state);
			part->status = part->status < 0 ? part->status : merged;
		}
		status = status < 0 ? status : part->status;
	}
	return status;
}

static void close_states(struct parallel_read *reading, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (reading->parts[i].state)
			reading->consumer->close(reading->parts[i].state);
}

/* The parts give their memory back before the owner needs more. */
static int settle(struct parallel_read *reading, unsigned count, int status)
{
	close_states(reading, count);
	int settled = reading->consumer->settle(reading->owner);
	return status < 0 ? status : settled;
}

/* ---- Parts that the format gives calls to, by track. ---- */

static void take_run(void *context, unsigned i, const struct tw_call_run *calls)
{
	struct parallel_read *reading = context;
	reading->consumer->add(reading->parts[i].state, calls);
}

static bool stops(void *context)
{
	const struct parallel_read *reading = context;
	return tw_stops(reading->parts[0].reader);
}

static bool is_by_track(const struct tw_reader *reader)
{
	return reader->format->reading.calls_by_track && gives_calls(reader);
}

/* Reads the trace with one reader for all parts. Its status is that of the first part. */
static void read_by_track(struct parallel_read *reading, unsigned count)
{
	struct tw_reader *reader = reading->parts[0].reader;
	for (unsigned i = 0; i < count; i++)
		if (!open_state(reading, &reading->parts[i]))
			return;
	const struct tw_call_taker taker = {
	    .parts = count,
	    .take = take_run,
	    .stops = stops,
	    .context = reading,
	};
	int status = reader->format->reading.calls_by_track(reader, &taker);
	reading->parts[0].status = tw_stops(reader) ? tw_stopped(reader) : status;
	for (unsigned i = 0; i < count; i++)
		reading->consumer->finish(reading->parts[i].state);
}

/* Where memory is short it must be read once more. */
static int open_by_track(struct tw_reader *reader, struct shard *parts, unsigned count)
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

static int open_shards(struct tw_reader *reader, struct shard *parts, unsigned count)
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

static int open_parts(struct tw_reader *reader, struct shard *parts, unsigned count)
{
	return is_by_track(reader) ? open_by_track(reader, parts, count) : open_shards(reader, parts, count);
}

static void close_readers(struct shard *parts, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (i == 0 || parts[i].reader != parts[0].reader)
			tw_close(parts[i].reader);
}

static void read_all(struct parallel_read *reading, const struct tw_reader *reader, unsigned count)
{
	if (is_by_track(reader))
		read_by_track(reading, count);
	else
		tw_parallel(count, read_part, reading);
}

/* Reads all by one reader. *disordered: nothing was merged, because events of a track came behind later ones. */
static int read_by(struct tw_reader *reader, const struct tw_consumer *consumer, void *owner, bool *disordered)
{
	struct shard part = {.reader = reader};
	struct parallel_read reading = {.consumer = consumer, .owner = owner, .parts = &part};
	consumer->begin(owner, 1);
	read_all(&reading, reader, 1);
	*disordered = part.status >= 0 && reader->traits.disordered && tw_input_repeatable(reader->input);
	if (*disordered) {
		close_states(&reading, 1);
		return 0;
	}
	return settle(&reading, 1, merge_parts(&reading, 1));
}

/* The same once more, in order. */
static int read_in_order(struct tw_reader *reader, const struct tw_consumer *consumer, void *owner)
{
	const struct tw_request request = {.calls = true, .track_ends = true};
	struct tw_reader *again;
	bool disordered;
	reader->reports.again = true; /* all but limits has been reported */
	int status = tw_open_instead(&again, reader);
	if (status == 0 && is_by_track(again))
		again->options.order = TW_ORDER_TIME; /* as events */
	status = status < 0 ? status : tw_begin(again, TW_USE_WHOLE, &request);
	status = status < 0 ? status : read_by(again, consumer, owner, &disordered);
	if (status < 0)
		tw_fail(reader, status, "%s", again ? tw_reader_error(again) : "out of memory");
	else
		reader->clock = again->clock;
	tw_close(again);
	return status;
}

static int read_whole(struct tw_reader *reader, const struct tw_consumer *consumer, void *owner)
{
	bool disordered;
	int status = read_by(reader, consumer, owner, &disordered);
	return disordered ? read_in_order(reader, consumer, owner) : status;
}

static bool any_folded(const struct parallel_read *reading, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		const struct shard *part = &reading->parts[i];
		if (part->reader->reports.fell_short ||
		    (part->state && reading->consumer->folded(reading->owner, part->state)))
			return true;
	}
	return false;
}

static void keep_error(struct tw_reader *reader, const struct shard *parts, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (parts[i].status < 0) {
			tw_fail(reader, parts[i].status, "%s", tw_reader_error(parts[i].reader));
			return;
		}
}

/* Reads the parts at once. *again: nothing was merged, and the whole should be read instead; reader->traits.disordered:
 * in order. */
static int read_parts(struct parallel_read *reading, struct tw_reader *reader, unsigned count, bool *again)
{
	int status = open_parts(reader, reading->parts, count);
	if (status < 0)
		return status;
	reading->consumer->begin(reading->owner, count);
	read_all(reading, reader, count);
	if (is_by_track(reader) && reading->parts[0].status >= 0)
		reader->traits.disordered = reading->parts[0].reader->traits.disordered;
	*again = reader->traits.disordered || any_folded(reading, count);
	if (*again) {
		close_states(reading, count);
		return 0;
	}
	status = settle(reading, count, merge_parts(reading, count));
	if (status < 0)
		keep_error(reader, reading->parts, count);
	return status;
}

/* The same, with the readers and states of the parts. */
static int read_parted(struct tw_reader *reader, unsigned jobs, const struct tw_consumer *consumer, void *owner,
                       bool *again)
{
	struct parallel_read reading = {.consumer = consumer,
	                                .owner = owner,
	                                .parts = calloc(jobs, sizeof *reading.parts)};
	if (!reading.parts)
		return tw_fail(reader, TW_ERR_MEMORY, "out of memory");
	int status = read_parts(&reading, reader, jobs, again);
	close_readers(reading.parts, jobs);
	free(reading.parts);
	return status;
}

/* What of a pipe came late can be put in order only where it can be read again. */
static int make_repeatable(struct tw_reader *reader)
{
	const bool may_be_late = reader->format->reading.look && reader->options.order != TW_ORDER_FILE;
	if (!may_be_late || tw_input_repeatable(reader->input))
		return 0;
	int status = tw_input_spool(reader->input, reader->options.temporary_directory);
	return status < 0 ? tw_fail(reader, status, "%s", tw_input_error(reader->input)) : 0;
}

int tw_consume(struct tw_reader *reader, unsigned jobs, const struct tw_consumer *consumer, void *owner)
{
	/* Of events all count: what is open ends with the last of its thread. A format that reads calls by track
	 * knows that one. */
	const struct tw_request request = {.kinds = is_by_track(reader) ? TW_SLICES : 0,
	                                   .lasting = true,
	                                   .calls = true,
	                                   .track_ends = true};
	int used = tw_begin(reader, TW_USE_WHOLE, &request);
	if (used >= 0)
		used = make_repeatable(reader);
	if (used < 0)
		return used;
	jobs = jobs ? jobs : tw_processors();
	jobs = jobs < JOBS_MAX ? jobs : JOBS_MAX;
	if (consumer->light && is_by_track(reader))
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
		if (reader->traits.disordered)
			break;
	}
	int status =
	    reader->traits.disordered ? read_in_order(reader, consumer, owner) : read_whole(reader, consumer, owner);
	reader->reports.again = false;
	return status;
}
