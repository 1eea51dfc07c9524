/* without.c - beside the tool's own sources: the tool without the fast loops whose names are in TRACKWAY_WITHOUT.
 *
 * "xray-count,calls-nest", or "list", which prints all names. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/loops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define X(loop, name) name,
static const char *const names[] = {TW_LOOP_LIST};
#undef X

static void list(void)
{
	for (size_t i = 0; i < TW_LOOPS; i++)
		puts(names[i]);
	exit(EXIT_SUCCESS);
}

static void switch_off(const char *name)
{
	for (size_t i = 0; i < TW_LOOPS; i++) {
		if (strcmp(names[i], name) == 0) {
			tw_loops_off |= UINT64_C(1) << i;
			return;
		}
	}
	fprintf(stderr, "TRACKWAY_WITHOUT: there is no loop %s\n", name);
	exit(EXIT_FAILURE);
}

/* Before main(), which is the tool's. */
static void __attribute__((constructor)) read_environment(void)
{
	char *words = getenv("TRACKWAY_WITHOUT"), *rest = NULL;
	if (!words)
		return;
	if (strcmp(words, "list") == 0)
		list();
	for (char *name = strtok_r(words, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
		switch_off(name);
}
