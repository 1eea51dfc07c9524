/* suite.h - the tests of a file, as a suite that a program of many finds by its name. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SUITE_H
#define SUITE_H

struct suite {
	const char *name;
	int (*run)(void); /* how many tests failed */
	struct suite *next;
};

void add_suite(struct suite *suite);

/* Begins the function that runs the tests of a file. The suite is there before main(). */
#define SUITE(title)                                                                                                   \
	static int run_suite(void);                                                                                    \
	__attribute__((constructor)) static void join_suites(void)                                                     \
	{                                                                                                              \
		static struct suite suite = {.name = #title, .run = run_suite};                                        \
		add_suite(&suite);                                                                                     \
	}                                                                                                              \
	static int run_suite(void)

#endif
