/* suites.c - a program of unit tests: runs the suite that its argument names. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "suite.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static struct suite *suites;

void add_suite(struct suite *suite)
{
	suite->next = suites;
	suites = suite;
}

int main(int argc, char **argv)
{
	for (struct suite *suite = suites; suite && argc == 2; suite = suite->next)
		if (strcmp(suite->name, argv[1]) == 0)
			return suite->run();
	fprintf(stderr, "usage: %s SUITE, which is one of:", argv[0]);
	for (struct suite *suite = suites; suite; suite = suite->next)
		fprintf(stderr, " %s", suite->name);
	fputc('\n', stderr);
	return 2;
}
