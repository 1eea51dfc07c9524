/* firefox_counters.c - counters of the Firefox Profiler's processed profiles: a series of a thread is one.
 *
 * Source: the profiler's types of version 48. It adds the counts up, takes the first of them for unreliable and makes
 * it 0: so a count is the change since the one before, and the first is 0. Of the categories that it knows, "Memory" is
 * the one whose sum is drawn over time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/firefox/firefox.h"
#include "export/text/labels.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { TIMES, COUNTS, TEXTS };
enum { SERIES_MAX = 1024 }; /* the profiler gives each a place on the screen */
enum { MS_DECIMALS = 6, CELL_MAX = 1 + TW_DIGITS_MAX + TW_DOUBLE_MAX };

struct firefox_series {
	uint64_t id; /* of the counter */
	uint32_t track, name, category, argument;
	uint64_t last;    /* time of the last sample */
	uint64_t samples; /* how many there are */
	double sum;       /* of the counts */
};

/* ---- Series. ---- */

static struct firefox_series *add_series(struct firefox *firefox, const struct tw_event *event, uint32_t argument,
                                         uint64_t key)
{
	struct firefox_counters *counters = &firefox->counters;
	size_t number = counters->count;
	if (number == SERIES_MAX)
		return NULL;
	if (!tw_grow(&counters->series, &counters->room, number + 1, sizeof *counters->series) ||
	    !tw_map_add(&counters->map, key, (uint32_t)number)) {
		firefox->measured.failed = true;
		return NULL;
	}
	counters->series[number] = (struct firefox_series){
	    .id = event->id,
	    .track = event->track,
	    .name = event->name,
	    .category = event->category,
	    .argument = argument,
	};
	counters->count++;
	firefox->tracks[event->track].counted = true;
	return &counters->series[number];
}

/* NULL where there is no place for a new one. */
static struct firefox_series *series_of(struct firefox *firefox, const struct tw_event *event, uint32_t argument)
{
	const uint64_t key[] = {(uint64_t)event->track << 32 | event->name, event->id,
	                        (uint64_t)event->category << 32 | argument};
	uint64_t hash = tw_hash_bytes(key, sizeof key, 0);
	uint32_t number;
	if (tw_map_find(&firefox->counters.map, hash, &number))
		return &firefox->counters.series[number];
	return add_series(firefox, event, argument, hash);
}

/* ---- Samples. ---- */

static void add_cells(struct firefox *firefox, struct firefox_series *series, uint64_t time, double count)
{
	struct firefox_counters *counters = &firefox->counters;
	size_t text = (size_t)(series - counters->series) * TEXTS;
	char cell[CELL_MAX] = ",", *first = series->samples++ ? cell : cell + 1;
	char *end = tw_decimal(cell + 1, time, MS_DECIMALS);
	tw_spool_add(&counters->spool, text + TIMES, first, (size_t)(end - first));
	end = tw_double_digits(cell + 1, count);
	tw_spool_add(&counters->spool, text + COUNTS, first, (size_t)(end - first));
}

static bool add_sample(struct firefox *firefox, struct firefox_series *series, uint64_t time, double value)
{
	double count = value - series->sum;
	if (!isfinite(count))
		return false;
	if (time < series->last) {
		tw_count_loss(firefox->measured.writer, "time", true);
		time = series->last;
	}
	if (series->samples == 0)
		add_cells(firefox, series, time, 0);
	add_cells(firefox, series, time, count);
	series->last = time;
	series->sum += count;
	return true;
}

static double number_of(const struct tw_argument *argument)
{
	if (argument->type == TW_ARG_DOUBLE)
		return argument->value.d;
	return argument->type == TW_ARG_INT ? (double)argument->value.i : (double)argument->value.u;
}

void tw_firefox_count(struct firefox *firefox, const struct tw_event *event)
{
	struct tw_measured *measured = &firefox->measured;
	const struct tw_argument *arguments = tw_event_arguments(measured->batch, event);
	uint64_t time = tw_measured_since(measured, event->time);
	firefox->counters.spool.directory = measured->spool.directory;
	firefox->counters.spool.memory_limit = measured->spool.memory_limit;
	unsigned kept = 0;
	for (unsigned i = 0; i < event->argument_count; i++) {
		bool number = tw_args_is_number(&arguments[i]);
		struct firefox_series *series = number ? series_of(firefox, event, arguments[i].name) : NULL;
		kept += series && add_sample(firefox, series, time, number_of(&arguments[i]));
	}
	tw_count_losses(measured->writer, "counter value", false, event->argument_count - kept);
	if (kept)
		tw_approximate(measured->writer, event->kind);
	else
		tw_leave_out(measured->writer, event);
}

/* ---- The file. ---- */

static void put_label(struct firefox *firefox, const char *key)
{
	struct tw_line *line = &firefox->measured.line;
	tw_line_clear(line);
	tw_line_string(line, firefox->text.text.bytes, firefox->text.text.length);
	tw_putf(&firefox->measured.writer->out, "\"%s\":", key);
	tw_put(&firefox->measured.writer->out, line->text.bytes, line->text.length);
	tw_line_clear(line);
	tw_line_clear(&firefox->text);
}

static void put_series(struct firefox *firefox, size_t number)
{
	struct firefox_counters *counters = &firefox->counters;
	const struct firefox_series *series = &counters->series[number];
	const struct tw_dictionary *dictionary = firefox->measured.dictionary;
	struct tw_output *out = &firefox->measured.writer->out;
	tw_put_char(out, '{');
	tw_line_clear(&firefox->text);
	if (!tw_label_counter(&firefox->text, dictionary, series->name, series->argument, series->id))
		tw_count_loss(firefox->measured.writer, "long name", true);
	put_label(firefox, "name");
	tw_put_text(out, ",\"category\":\"Memory\",");
	if (series->category)
		tw_label_name(&firefox->text, tw_dictionary_name(dictionary, series->category));
	put_label(firefox, "description");
	tw_putf(out, ",\"pid\":\"%" PRIu64 "\",\"mainThreadIndex\":%" PRIu32 ",\"samples\":{\"time\":[",
	        tw_dictionary_track(dictionary, series->track)->process, firefox->tracks[series->track].index);
	tw_spool_put(&counters->spool, number * TEXTS + TIMES, out);
	tw_put_text(out, "],\"count\":[");
	tw_spool_put(&counters->spool, number * TEXTS + COUNTS, out);
	tw_putf(out, "],\"length\":%" PRIu64 "}}", series->samples);
}

void tw_firefox_put_counters(struct firefox *firefox)
{
	for (size_t i = 0; i < firefox->counters.count; i++) {
		tw_put_text(&firefox->measured.writer->out, i ? ",\n" : "");
		put_series(firefox, i);
	}
}

void tw_firefox_free_counters(struct firefox *firefox)
{
	tw_spool_free(&firefox->counters.spool);
	tw_map_free(&firefox->counters.map);
	free(firefox->counters.series);
}
