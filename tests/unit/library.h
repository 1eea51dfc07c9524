/* library.h - traces for the tests of public functions. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_LIBRARY_H
#define TESTS_UNIT_LIBRARY_H

#include <trackway/trackway.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* As stackcollapse-perf.pl writes stacks: 3 samples in main and a, 5 in main and b, 2 in c below a. */
static const char stacks[] = "main;a 3\nmain;b 5\nmain;a;c 2\n";

static inline struct tw_reader *open_stacks(void)
{
	struct tw_reader *reader;
	assert_int_equal(tw_open_memory(&reader, "stacks", stacks, sizeof stacks - 1, NULL), 0);
	return reader;
}

static inline struct tw_reader *open_data(const char *name, const struct tw_read_options *options)
{
	struct tw_reader *reader;
	char path[512];
	snprintf(path, sizeof path, "%s/%s", getenv("TW_TEST_DATA"), name);
	assert_int_equal(tw_open(&reader, path, options), 0);
	return reader;
}

#endif
