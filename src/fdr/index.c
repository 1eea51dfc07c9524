/* index.c - all buffers of a log, thread by thread in time order. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "base/memory/order.h"
#include "core/filter/filter.h"
#include "fdr/fdr.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
	STEP = 4096, /* bytes read at a time */
	HOP =
	    256, /* the same at the border of two large buffers: of 1 GB in buffers of 16 KiB STEP would be a quarter */
	THREAD_COST = 160,   /* also for its rows in a dictionary behind the reader and in a target */
	FILTERED_COST = 500, /* what a filter has open, and what is written has of it */
	SHARE = 2            /* of the memory limit; doubling and hash tables take their part */
};

/* The number of a thread. UINT32_MAX when there is no memory. */
static uint32_t thread_number(struct fdr_log *log, struct tw_map *map, const struct fdr_buffer *buffer)
{
	uint64_t key = buffer->process << 32 | buffer->thread;
	uint32_t number = 0;
	if (!buffer->has_thread || tw_map_find(map, key, &number))
		return number;
	number = (uint32_t)log->thread_count;
	if (!tw_grow(&log->threads, &log->thread_room, number + (size_t)1, sizeof *log->threads) ||
	    !tw_map_add(map, key, number))
		return UINT32_MAX;
	log->threads[number] =
	    (struct fdr_thread){.process = buffer->process, .thread = buffer->thread, .by_wall = true};
	log->thread_count++;
	return number;
}

static int add_place(struct tw_reader *reader, struct fdr_log *log, struct tw_map *map, const struct fdr_buffer *buffer)
{
	uint32_t number = thread_number(log, map, buffer);
	size_t count = log->place_count;
	if (number == UINT32_MAX || !tw_grow(&log->places, &log->place_room, count + 1, sizeof *log->places))
		return tw_fail_memory(reader);
	log->places[count] = fdr_place_of(buffer);
	log->places[count].thread = number;
	log->place_count++;
	struct fdr_thread *thread = &log->threads[number];
	thread->by_wall &= buffer->wall_us != UINT64_MAX;
	thread->bytes += buffer->next - buffer->offset;
	thread->count++;
	return 0;
}

static size_t index_bytes(const struct tw_reader *reader, const struct fdr_log *log)
{
	const struct tw_read_options *options = &reader->options;
	size_t own = THREAD_COST + (tw_filter_needed(options) ? FILTERED_COST : 0);
	return (log->place_count + 1) * sizeof *log->places +
	       (log->thread_count - 1) * tw_thread_cost(options, own, SHARE);
}

/* Lists the buffers that begin in a piece of the file. */
static int list_piece(struct tw_reader *reader, struct fdr_log *log, struct tw_map *map, struct tw_window *window,
                      const struct tw_piece *piece)
{
	size_t most = tw_memory_limit(reader) / SHARE;
	struct fdr_buffer buffer = {.next = piece->offset};
	for (;;) {
		uint64_t at = buffer.next;
		if (at - piece->offset >= piece->size)
			return 0;
		int status = fdr_find_buffer(reader, log, window, at, &buffer);
		if (status <= 0)
			return status;
		if (index_bytes(reader, log) > most) {
			tw_report(reader, &fdr_rules[FDR_INDEX_LIMIT], at, at, 0,
			          "more than %zu buffers of %zu threads: give more memory to read the %" PRIu64
			          " bytes from here",
			          log->place_count, log->thread_count - 1, tw_input_size(reader->input) - at);
			return 0;
		}
		status = add_place(reader, log, map, &buffer);
		if (status < 0)
			return status;
	}
}

static int list_places(struct tw_reader *reader, struct fdr_log *log, struct tw_map *map, struct tw_window *window)
{
	const struct tw_log_place *of = &reader->log;
	int status = 0;
	if (!of->around)
		return list_piece(reader, log, map, window,
		                  &(struct tw_piece){.offset = TW_FDR_HEADER_SIZE, .size = UINT64_MAX});
	for (size_t i = 0; i < of->around_count && status >= 0; i++)
		status = list_piece(reader, log, map, window, &of->around[i]);
	return status;
}

static int compare_places(const void *left, const void *right)
{
	const struct fdr_place *a = left, *b = right;
	int order = tw_compare(a->thread, b->thread);
	order = order ? order : tw_compare(a->wall_us, b->wall_us);
	order = order ? order : tw_compare(a->tsc, b->tsc);
	return order ? order : tw_compare(a->offset, b->offset);
}

/* A thread with a buffer that has no wall time is sorted by the counter alone: so wall times are all the same there. */
static void set_keys(struct fdr_log *log)
{
	size_t first = 0;
	for (size_t i = 0; i < log->thread_count; i++) {
		log->threads[i].first = first;
		first += log->threads[i].count;
	}
	for (size_t i = 0; i < log->place_count; i++)
		if (!log->threads[log->places[i].thread].by_wall)
			log->places[i].wall_us = 0;
}

/* Reports a thread whose buffers stand in another order than that of time. */
static void report_order(struct tw_reader *reader, const struct fdr_log *log)
{
	for (size_t i = 1; i < log->place_count; i++) {
		const struct fdr_place *a = &log->places[i - 1], *b = &log->places[i];
		if (a->thread && a->thread == b->thread && a->offset > b->offset)
			tw_report(reader, &fdr_rules[FDR_BUFFER_ORDER], b->offset, b->offset, 0,
			          "thread %" PRIu64 ": this buffer is later than the one at 0x%" PRIx64,
			          log->threads[a->thread].thread, a->offset);
	}
}

/* ---- Buffers that are there twice. ---- */

/* Whether two places hold the same bytes, padding too. */
static int same_bytes(struct tw_reader *reader, const struct fdr_place *a, const struct fdr_place *b)
{
	uint8_t left[STEP], right[STEP];
	uint64_t size = a->end - a->offset;
	for (uint64_t done = 0; done < size;) {
		size_t step = size - done < STEP ? (size_t)(size - done) : STEP;
		int64_t l = tw_input_read(reader->input, a->offset + done, left, step);
		int64_t r = tw_input_read(reader->input, b->offset + done, right, step);
		if (l < 0 || r < 0)
			return tw_fail(reader, TW_ERR_SYSTEM, "%s", tw_input_error(reader->input));
		if (l != r || l == 0 || memcmp(left, right, (size_t)l) != 0)
			return 0;
		done += (uint64_t)l;
	}
	return 1;
}

static bool may_be_same(const struct fdr_place *a, const struct fdr_place *b)
{
	return a->thread && a->thread == b->thread && a->wall_us == b->wall_us && a->tsc == b->tsc &&
	       a->end - a->offset == b->end - b->offset && a->next - a->end == b->next - b->end;
}

/* Of a basic log: a run of records with which another run of its thread begins. A process that forks leaves the child
 * its buffer, which the child writes, too. */
static int drop_inherited(struct tw_reader *reader, struct fdr_log *log)
{
	size_t kept = 0;
	for (size_t i = 0; i < log->place_count; i++) {
		struct fdr_place place = log->places[i];
		struct fdr_place *last = kept ? &log->places[kept - 1] : NULL;
		bool may = last && place.thread && last->thread == place.thread && last->tsc == place.tsc &&
		           place.tsc != UINT64_MAX;
		bool shorter = may && place.end - place.offset < last->end - last->offset;
		int same = !may ? 0 : same_bytes(reader, shorter ? &place : last, shorter ? last : &place);
		if (same < 0)
			return same;
		if (same && !shorter)
			*last = place;
		if (!same)
			log->places[kept++] = place;
		log->threads[place.thread].count -= (size_t)same;
	}
	log->place_count = kept;
	return 0;
}

static int drop_twins(struct tw_reader *reader, struct fdr_log *log)
{
	size_t kept = 0;
	if (fdr_is_basic(log))
		return drop_inherited(reader, log);
	for (size_t i = 0; i < log->place_count; i++) {
		struct fdr_place place = log->places[i];
		int same = kept && may_be_same(&log->places[kept - 1], &place)
		               ? same_bytes(reader, &log->places[kept - 1], &place)
		               : 0;
		if (same < 0)
			return same;
		if (same)
			tw_report(reader, &fdr_rules[FDR_BUFFER_TWICE], place.offset, place.offset, 0,
			          "the same buffer as at 0x%" PRIx64
			          ": read once; for each such buffer another is missing",
			          log->places[kept - 1].offset);
		else
			log->places[kept++] = place;
		log->threads[place.thread].count -= (size_t)same;
	}
	log->place_count = kept;
	return 0;
}

/* ---- The whole. ---- */

/* Why runtimes write logs without records: doc/formats/xray-fdr.md. */
static void report_empty(struct tw_reader *reader, const struct fdr_log *log)
{
	const uint64_t at = TW_FDR_HEADER_SIZE;
	if (log->thread_count > 1 || log->place_count) /* or only junk, which was reported */
		return;
	if (fdr_is_basic(log))
		tw_report(
		    reader, &fdr_rules[BASIC_NO_RECORDS], at, at, 0,
		    "there are no records: no function was patched (patch_premain=true, __xray_patch()), all calls "
		    "were shorter than func_duration_threshold_us, or fewer than thread_buffer_size were made by "
		    "the main thread, whose rest is lost where the mode was set by a call");
	else
		tw_report(
		    reader, &fdr_rules[FDR_NO_BUFFERS], at, at, 0,
		    "there are no buffers: no function was patched (__xray_patch()) between __xray_log_init_mode() "
		    "and __xray_log_finalize(), or no thread called one that was");
}

/* The first buffer in the file whose wall time and counter are known tells what the counter means. A flight recorder
 * knows the time of day. */
static void set_wall(struct tw_reader *reader, const struct fdr_log *log, struct tw_ticks *clock)
{
	const struct fdr_place *first = NULL;
	for (size_t i = 0; i < log->place_count; i++) {
		const struct fdr_place *place = &log->places[i];
		if (place->wall_us && place->wall_us <= INT64_MAX / 1000 && place->tsc != UINT64_MAX &&
		    (!first || place->offset < first->offset))
			first = place;
	}
	uint64_t ns = first ? tw_ticks_ns(clock, first->tsc) : UINT64_MAX;
	struct fdr_flight_state state;
	const bool recorded = first && log->recorded && fdr_flight_state(reader, &state);
	const uint64_t day = recorded ? fdr_wall_at(&state.wall, first->tsc, log->frequency) : 0;
	reader->clock.has_wall = reader->clock.since_boot = first && ns <= INT64_MAX;
	if (day && day <= INT64_MAX && reader->clock.has_wall) {
		reader->clock.since_boot = false;
		reader->clock.wall_ns = (int64_t)day - (int64_t)ns;
		return;
	}
	reader->clock.wall_ns = reader->clock.has_wall ? (int64_t)(first->wall_us * 1000) - (int64_t)ns : 0;
}

static void set_start(struct tw_reader *reader, struct fdr_log *log)
{
	struct tw_ticks clock;
	uint64_t first = UINT64_MAX;
	const struct fdr_thread *notes = log->recorded ? fdr_notes_thread(log) : NULL;
	for (size_t i = 0; i < log->place_count; i++)
		if (log->places[i].tsc < first && &log->threads[log->places[i].thread] != notes)
			first = log->places[i].tsc;
	if (first == UINT64_MAX && notes)
		first = log->places[notes->first].tsc;
	log->first_tsc = first == UINT64_MAX ? 0 : first;
	tw_ticks_set(&clock, log->frequency);
	set_wall(reader, log, &clock);
	reader->clock.start_ns = reader->clock.end_ns = first == UINT64_MAX ? 0 : tw_ticks_ns(&clock, first);
}

int fdr_index(struct tw_reader *reader, struct fdr_log *log)
{
	struct tw_map map = {0};
	bool large = !fdr_is_basic(log) && log->header.buffer_size > STEP;
	struct tw_window window = {.input = reader->input, .chunk = large ? HOP : STEP};
	if (!tw_grow(&log->threads, &log->thread_room, 1, sizeof *log->threads))
		return tw_fail_memory(reader);
	log->threads[0] = (struct fdr_thread){0};
	log->thread_count = 1;
	int status = list_places(reader, log, &map, &window);
	tw_map_free(&map);
	tw_window_free(&window);
	if (status < 0)
		return status;
	report_empty(reader, log);
	fdr_doubt_counters(reader, log);
	set_keys(log);
	if (log->place_count)
		qsort(log->places, log->place_count, sizeof *log->places, compare_places);
	status = drop_twins(reader, log);
	if (status >= 0)
		status = fdr_drop_known(reader, log);
	if (status < 0)
		return status;
	set_keys(log);
	if (reader->options.checking == TW_CHECK_ALL && !fdr_is_basic(log))
		report_order(reader, log);
	set_start(reader, log);
	log->indexed = true;
	return 0;
}
