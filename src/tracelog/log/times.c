/* times.c - milliseconds of 32 bits to nanoseconds of 64; pauses. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/log/times.h"

#include "tracelog/log/log.h"

#include <inttypes.h>
#include <time.h>

#define MS UINT64_C(1000000)     /* in ns */
#define DAY UINT64_C(86400000)   /* in ms */
#define WRAP (UINT64_C(1) << 32) /* in ms */
#define NO_OUTLIER UINT64_MAX

/* Lines in a row, each more than a day later than the one before, after which a log is believed to be one of few
 * lines. */
enum { STEPS = 3 };

/* The time that is nearest to one: lines interleave, so that they may go back a little, and a log may last longer
 * than 49.7 days. */
static uint64_t nearest(uint64_t around, uint32_t ms)
{
	int64_t step = (int32_t)(ms - (uint32_t)around);
	if (step < 0 && around < (uint64_t)-step)
		return around + (uint64_t)step + WRAP;
	return around + (uint64_t)step;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static uint64_t settle(struct tracelog_times *times, uint64_t time)
{
	times->around = time;
	times->outlier = NO_OUTLIER;
	times->steps = 0;
	return time;
}

/* Takes a time that is more than a day from where the log was. */
static uint64_t go_far(struct tracelog_times *times, uint32_t ms)
{
	uint64_t before = times->outlier == NO_OUTLIER ? times->around : times->outlier;
	uint64_t time = nearest(before, ms);
	times->steps = time > before ? times->steps + 1 : 0;
	if (times->steps == STEPS || (times->outlier != NO_OUTLIER && distance(time, before) < DAY))
		return settle(times, time);
	times->outlier = time;
	return time;
}

/* A single line that is far from all others, which is damage, must not change what the others mean: a new place in time
 * holds from its second line on. Where the lines themselves are days apart, each is a new place. */
uint64_t tracelog_unwrap(struct tracelog_times *times, uint32_t ms)
{
	if (!times->begun) {
		times->begun = true;
		times->around = ms;
	}
	if ((uint32_t)times->around == ms) /* most lines */
		return settle(times, times->around);
	uint64_t time = nearest(times->around, ms);
	return distance(time, times->around) >= DAY ? go_far(times, ms) : settle(times, time);
}

/* ---- Sessions. ---- */

struct tracelog_start tracelog_start_of(const struct tw_tracelog_record *record)
{
	struct tm start = {.tm_year = record->year - 1900,
	                   .tm_mon = record->month - 1,
	                   .tm_mday = record->day,
	                   .tm_hour = record->hour,
	                   .tm_min = record->minute,
	                   .tm_sec = record->second};
	return (struct tracelog_start){.is_set = true,
	                               .has_zone = record->has_zone,
	                               .ms = (int64_t)timegm(&start) * 1000 + record->millisecond,
	                               .zone_ms = record->has_zone ? (int64_t)record->zone_minutes * 60000 : 0};
}

uint64_t tracelog_later_by(const struct tracelog_start *first, const struct tracelog_start *start)
{
	int64_t later = start->ms - first->ms;
	if (first->has_zone && start->has_zone)
		later -= start->zone_ms - first->zone_ms;
	return first->is_set && later > 0 ? (uint64_t)later : 0;
}

void tracelog_move_base(struct tracelog_times *times, uint64_t base)
{
	*times = (struct tracelog_times){.base = base, .now = base * MS, .latest = times->latest};
}

/* ---- Times. ---- */

uint64_t tracelog_time(struct tracelog_log *log, uint32_t ms)
{
	uint64_t time = (log->times.base + tracelog_unwrap(&log->times, ms)) * MS;
	log->times.now = time;
	log->times.latest = time > log->times.latest ? time : log->times.latest;
	return time;
}

uint64_t tracelog_time_of(struct tracelog_log *log, struct tracelog_thread *thread, enum tracelog_series series,
                          uint32_t ms)
{
	uint64_t time = tracelog_time(log, ms);
	if (time < thread->latest[series])
		tracelog_report(log, TRACELOG_TIME_BACKWARDS, "%" PRIu64 " ms, after %" PRIu64 " ms", time / MS,
		                thread->latest[series] / MS);
	thread->latest[series] = time;
	return time;
}

/* ---- Pauses. ---- */

static void resume(struct tracelog_log *log, const struct tracelog_thread *process, uint64_t time)
{
	struct tracelog_times *times = &log->times;
	bool paused = times->paused, suspended = log->settings[TRACELOG_SUSPENDED].value && !times->resumed_once;
	times->paused = false;
	times->resumed_once = true;
	times->resumed = true;
	times->resumed_at = time;
	if (!paused && !suspended)
		tracelog_report(log, TRACELOG_RESUME_WITHOUT_PAUSE, "it was not paused");
	else if (paused && tracelog_wants(log, process, TW_SLICE_END))
		tracelog_row(log, process, TW_SLICE_END, time)->name = TRACELOG_TEXT(log, "paused");
}

static void pause(struct tracelog_log *log, const struct tracelog_thread *process, uint64_t time)
{
	bool paused = log->times.paused;
	log->times.paused = true;
	log->times.paused_at = paused ? log->times.paused_at : time;
	if (paused)
		tracelog_report(log, TRACELOG_PAUSE_AGAIN, "it was paused");
	else if (tracelog_wants(log, process, TW_SLICE_BEGIN))
		tracelog_row(log, process, TW_SLICE_BEGIN, time)->name = TRACELOG_TEXT(log, "paused");
}

void tracelog_take_pause(struct tracelog_log *log, const struct tw_tracelog_record *record)
{
	const struct tracelog_thread *process = tracelog_process_thread(log);
	uint64_t time = tracelog_time(log, record->ms);
	if (record->kind == TW_TRACELOG_PRF_TPS)
		pause(log, process, time);
	else
		resume(log, process, time);
}
