/* test_fdr_wall.c - the time of day from pairs of clocks: those that a recorder keeps, and what lies between them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fdr/fdr.h"
#include "flight/log/pairs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "suite.h"

#define SECOND UINT64_C(1000000000)
#define DAY (UINT64_C(1800000000) * SECOND) /* 2027-01-15T08:00:00Z */

/* ---- What the recorder keeps. ---- */

/* One each second, wanted or not, of which those are added that are due. */
static void add_all(struct flight_pairs *pairs, uint64_t seconds)
{
	for (uint64_t at = 1; at <= seconds; at++)
		if (at >= pairs->due)
			flight_add_pair(pairs, &(struct flight_clock){at, 2 * at, 3 * at, 4 * at});
}

/* 64 of them are 1 second apart, of which 32 stay; others come each 2, 4 and so on. An hour of 3,600 has them each 64:
 * 64 of these are 4,096, and 64 of 32 were full after 2,048. */
static void test_hour(void **state)
{
	struct flight_clock table[FLIGHT_PAIRS] = {0};
	struct flight_pairs pairs = {.at = table, .due = 1, .step = 1};
	(void)state;
	add_all(&pairs, 63);
	assert_int_equal(pairs.count, 63);
	assert_int_equal(table[62].ticks, 63);
	add_all(&pairs, 64);
	assert_int_equal(pairs.count, 32);
	assert_int_equal(table[31].ticks, 64);
	add_all(&pairs, 3600);
	assert_int_equal(pairs.step, 64);
	assert_int_equal(pairs.count, 3600 / 64);
	for (uint32_t i = 0; i < pairs.count; i++) {
		assert_int_equal(table[i].ticks, 64 * (i + 1));
		assert_int_equal(table[i].realtime_ns, 4 * 64 * (i + 1));
	}
	for (uint32_t i = pairs.count; i < FLIGHT_PAIRS; i++)
		assert_int_equal(table[i].ticks | table[i].raw_ns | table[i].realtime_ns, 0);
}

/* ---- What the reader makes of them. ---- */

enum { STATE = 113, RECORD = 16, NAME = 16, NOTES = STATE + RECORD + NAME + FLIGHT_PAIRS * 32 };

/* The first note, and the second, as they stand in a log: doc/formats/xray-fdr.md, "Logs of the flight recorder". */
struct notes {
	uint8_t bytes[NOTES];
};

static void put(uint8_t *at, uint64_t ticks, uint64_t realtime)
{
	for (unsigned i = 0; i < 8; i++) {
		at[i] = (uint8_t)(ticks >> 8 * i);
		at[24 + i] = (uint8_t)(realtime >> 8 * i);
	}
}

static struct notes make(uint64_t first, uint64_t first_day, uint64_t last, uint64_t last_day)
{
	struct notes notes = {{0}};
	memcpy(notes.bytes, "trackway.flight", NAME);
	memcpy(notes.bytes + STATE + RECORD, "trackway.clocks", NAME);
	put(notes.bytes + 49, first, first_day);
	put(notes.bytes + 81, last, last_day);
	return notes;
}

static void put_pair(struct notes *notes, unsigned number, uint64_t ticks, uint64_t realtime)
{
	put(notes->bytes + STATE + RECORD + NAME + 32 * (size_t)number, ticks, realtime);
}

/* A counter of 2 GHz, and a clock of the day that is 100 ppm fast for 1,000 s and right for the 2,600 s after these:
 * 0.1 s ahead of the counter from then on. The program was killed after 3,600 s, its last pair is of 3,000 s. */
static void test_drift(void **state)
{
	const uint64_t hertz = 2000000000, begin = 5 * hertz;
	struct notes notes = make(begin, DAY, begin + 3000 * hertz, DAY + 3000 * SECOND + SECOND / 10);
	struct fdr_wall wall;
	(void)state;
	put_pair(&notes, 0, begin + 500 * hertz, DAY + 500 * SECOND + SECOND / 20);
	put_pair(&notes, 1, begin + 1000 * hertz, DAY + 1000 * SECOND + SECOND / 10);
	fdr_wall_take(&wall, notes.bytes, NOTES);
	assert_int_equal(wall.count, 4);
	assert_int_equal(fdr_wall_at(&wall, begin, hertz), DAY);
	assert_int_equal(fdr_wall_at(&wall, begin + 10 * hertz, hertz), DAY + 10 * SECOND + 1000000); /* 1 ms */
	assert_int_equal(fdr_wall_at(&wall, begin + 1000 * hertz, hertz), DAY + 1000 * SECOND + SECOND / 10);
	assert_int_equal(fdr_wall_at(&wall, begin + 2000 * hertz, hertz), DAY + 2000 * SECOND + SECOND / 10);
	assert_int_equal(fdr_wall_at(&wall, begin + 3600 * hertz, hertz), DAY + 3600 * SECOND + SECOND / 10);
	assert_int_equal(fdr_wall_at(&wall, begin - hertz / 2, hertz), DAY - SECOND / 2);
	/* The line through the first and the last alone would say 1/15 ms for 10 s, 1/300 of the 0.1 s of 3,000 s. */
	fdr_wall_take(&wall, notes.bytes, STATE);
	assert_int_equal(fdr_wall_at(&wall, begin + 30 * hertz, hertz), DAY + 30 * SECOND + 1000000);
}

/* Killed while they were thinned: one stands twice, they are in no order, one is not there. The clock was set back by
 * 10 s between two: until the second one, it goes on from the first. */
static void test_killed(void **state)
{
	struct notes notes = make(1000, DAY, 9000, DAY + 8000 - 10 * SECOND);
	struct fdr_wall wall;
	(void)state;
	put_pair(&notes, 0, 5000, DAY + 4000);
	put_pair(&notes, 1, 3000, DAY + 2000);
	put_pair(&notes, 2, 0, DAY + 3000);
	put_pair(&notes, 3, 5000, DAY + 4000);
	fdr_wall_take(&wall, notes.bytes, NOTES);
	assert_int_equal(wall.count, 4);
	assert_int_equal(fdr_wall_at(&wall, 4000, SECOND), DAY + 3000);
	assert_int_equal(fdr_wall_at(&wall, 8999, SECOND), DAY + 7999);
	assert_int_equal(fdr_wall_at(&wall, 9000, SECOND), DAY + 8000 - 10 * SECOND);
}

/* What damage makes of them is a number. */
static void test_limits(void **state)
{
	struct notes notes = make(1, UINT64_MAX, UINT64_MAX, 1);
	struct fdr_wall wall;
	(void)state;
	put_pair(&notes, 0, 2, 0);
	put_pair(&notes, 1, 3, UINT64_MAX);
	fdr_wall_take(&wall, notes.bytes, NOTES);
	for (uint64_t ticks = 0; ticks < 5; ticks++)
		fdr_wall_at(&wall, ticks, 1);
	fdr_wall_at(&wall, UINT64_MAX, UINT64_MAX);
	assert_int_equal(fdr_wall_at(&wall, 2, 0), 0);
	fdr_wall_take(&wall, (struct notes){{0}}.bytes, NOTES);
	assert_int_equal(wall.count, 0);
	assert_int_equal(fdr_wall_at(&wall, 2, 1), 0);
}

SUITE(fdr_wall)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_hour),
	    cmocka_unit_test(test_drift),
	    cmocka_unit_test(test_killed),
	    cmocka_unit_test(test_limits),
	};
	return cmocka_run_group_tests_name("fdr_wall", tests, NULL, NULL);
}
