/* test_trace_day.c - the tracer with a clock that runs fast: 24 hours of recording in a moment, and what is read of it
 * tells CLOCK_MONOTONIC within a microsecond, whatever the counter did and however little was written. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "trace/session.h"

#include <trackway/reader.h>

#include "suite.h"

enum { SECOND = 1000000000, MICROSECOND = 1000, HOUR = 3600, DAY = 86400 };

/* ---- The clock, in the place of src/trace/clock.c. ---- */

/* One that trace_now() does not read itself on this machine. */
#if defined(__x86_64__)
enum { FOREIGN = IMAGE_CNTVCT };
#else
enum { FOREIGN = IMAGE_TSC };
#endif

static uint64_t now_ns, seed;

/* A counter of 2.3 GHz that passes the middle of 64 bits. Within each hour its speed goes from 20 millionths too slow to
 * 20 too fast, and back: as that of CLOCK_MONOTONIC does under NTP, and more. */
static uint64_t ticks_at(uint64_t ns)
{
	enum { HALF = HOUR / 2 };
	static const uint64_t rate = 2300000000u, middle = UINT64_C(1) << 63;
	uint64_t hours = ns / SECOND / HOUR;
	double seconds = (double)(ns - hours * HOUR * SECOND) / SECOND;
	double half = seconds < HALF ? seconds : seconds - HALF;
	double ahead = (half * half / 90 - 20 * half) * 1e-6 * (seconds < HALF ? 1 : -1);
	return middle - 5 * HOUR * rate + hours * HOUR * rate + (uint64_t)((seconds + ahead) * (double)rate);
}

uint64_t trace_monotonic(void)
{
	return ticks_at(now_ns); /* trace_now() has it where it cannot read the counter itself */
}

void trace_clock_choose(int wanted)
{
	trace_session.clock = wanted == IMAGE_MONOTONIC ? IMAGE_MONOTONIC : (int)FOREIGN;
}

/* To 200 ns, as a thread that waits between two clocks measures. */
struct image_pair trace_pair(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (struct image_pair){ticks_at(now_ns), now_ns + (seed >> 33) % 401 - 200};
}

/* Measured in a moment: wrong by a hundred-thousandth. */
uint64_t trace_frequency(void)
{
	return 2300023000u;
}

/* ---- A day. ---- */

/* Writes an event each so many seconds; the manager's thread compares the clocks each second. */
static void record(const char *path, const char *options, uint64_t apart)
{
	now_ns = (uint64_t)SECOND * HOUR;
	assert_int_equal(tw_trace_start(path, options), 0);
	for (uint64_t s = 0; s < DAY; s++) {
		now_ns = (HOUR + s) * SECOND;
		trace_compare_clocks();
		now_ns += 123456789 + s % 1000;
		if (s % apart)
			continue;
		const struct tw_trace_argument argument = {"ns", NULL, now_ns, TW_TRACE_TYPE_U64};
		tw_trace_write(TW_TRACE_KIND_INSTANT, "day", "event", TW_SCOPE_THREAD, &argument, 1);
	}
	tw_trace_stop();
}

/* Returns how many events there are, each of which must tell its time. */
static size_t check_times(const char *path)
{
	struct tw_reader *reader = NULL;
	struct tw_batch batch;
	size_t count = 0;
	assert_int_equal(tw_open(&reader, path, NULL), 0);
	while (tw_read(reader, &batch) > 0)
		for (size_t i = 0; i < batch.count; i++) {
			const struct tw_event *event = &batch.events[i];
			if (event->kind != TW_INSTANT)
				continue;
			int64_t error = (int64_t)(event->time - tw_event_arguments(&batch, event)->value.u);
			assert_in_range(error + MICROSECOND, 0, 2 * MICROSECOND);
			count++;
		}
	assert_int_equal(tw_reader_findings(reader, TW_ERROR), 0);
	tw_close(reader);
	return count;
}

static void days(void **state)
{
	char folder[] = "/tmp/trace-day-XXXXXX", path[64];
	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/day.fxt", folder);
	record(path, "mode=streaming", 1);
	assert_int_equal(check_times(path), DAY);
	unlink(path);
	record(path, "mode=streaming", 60); /* a chunk lasts for many hours */
	assert_int_equal(check_times(path), DAY / 60);
	unlink(path);
	record(path, "mode=circular,size=64K", 1);
	assert_in_range(check_times(path), 100, DAY / 2); /* it has gone round */
	unlink(path);
	rmdir(folder);
}

/* The file may say anything: the program keeps to itself how fast its clock is. */
static void hostile_rate(void **state)
{
	char folder[] = "/tmp/trace-day-XXXXXX", path[64];
	const uint64_t hostile = UINT64_MAX;
	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/rate.fxt", folder);
	now_ns = (uint64_t)SECOND * HOUR;
	assert_int_equal(tw_trace_start(path, ""), 0);
	int fd = open(path, O_RDWR);
	assert_int_equal(pwrite(fd, &hostile, sizeof hostile, offsetof(struct image_header, ticks_per_second)), 8);
	close(fd);
	uint64_t here = tw_trace_time(now_ns), second = 2300023000u;
	assert_in_range(tw_trace_time(now_ns + SECOND) - here, second - 1, second + 1);
	assert_in_range(here - tw_trace_time(now_ns - SECOND), second - 1, second + 1);
	assert_in_range(tw_trace_time(now_ns + (uint64_t)DAY * SECOND) - here, DAY * second - 1, DAY * second + 1);
	(void)tw_trace_time(0);
	(void)tw_trace_time(UINT64_MAX); /* beyond 64 bits of ticks: any number, and no more than that */
	tw_trace_stop();
	unlink(path);
	rmdir(folder);
}

SUITE(trace_day)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(days), cmocka_unit_test(hostile_rate)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
