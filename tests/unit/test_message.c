/* test_message.c - what is said while a line of progress stands on the terminal. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/output/message.h"

#include "suite.h"

#define AWAY "\r\033[K"

/* What standard error has got since the last call. */
static const char *heard(int end)
{
	static char text[512];
	ssize_t size = read(end, text, sizeof text - 1);
	text[size < 0 ? 0 : size] = '\0';
	return text;
}

/* Each line takes the place of the progress before it, and none is taken away twice. */
static void test_progress(void **state)
{
	int ends[2], error = dup(STDERR_FILENO);
	(void)state;
	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	tw_say("%d rows loaded", 5);
	tw_say_progress("%s: 1 MB of 2 MB", "a");
	tw_say_progress("a: 2 MB of 2 MB");
	tw_say("6 rows loaded");
	tw_say("7 rows loaded");
	tw_end_progress();
	tw_say_progress("b");
	tw_say_error("no disk");
	tw_say_progress("c");
	tw_end_progress();
	tw_say("8 rows loaded");
	dup2(error, STDERR_FILENO);
	close(error);
	close(ends[1]);
	assert_string_equal(heard(ends[0]), "trackway: 5 rows loaded\n"
	                                    "trackway: a: 1 MB of 2 MB" AWAY "trackway: a: 2 MB of 2 MB" AWAY
	                                    "trackway: 6 rows loaded\n"
	                                    "trackway: 7 rows loaded\n"
	                                    "trackway: b" AWAY "trackway: error: no disk\n"
	                                    "trackway: c" AWAY "trackway: 8 rows loaded\n");
	close(ends[0]);
}

SUITE(message)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_progress),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
