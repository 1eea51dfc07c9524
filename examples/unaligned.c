/* unaligned.c - a tool for `trackway insns --tool`: accesses that are not aligned, by size.
 * cc -shared -fPIC unaligned.c $(pkg-config --cflags trackway) -o unaligned.so */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include <trackway/study.h>

enum { SIZES = 65 };

static void *begin(uint64_t thread)
{
	(void)thread;
	return calloc(SIZES, sizeof(uint64_t));
}

static int take(void *counts, const struct tw_study_step *steps, size_t count)
{
	for (const struct tw_study_step *step = steps; step < steps + count; step++)
		for (size_t i = 0; i < step->access_count; i++)
			if (step->accesses[i].size < SIZES && step->accesses[i].address % step->accesses[i].size)
				((uint64_t *)counts)[step->accesses[i].size]++;
	return 0;
}

static int merge(void *all, const void *one)
{
	for (size_t i = 0; i < SIZES; i++)
		((uint64_t *)all)[i] += ((const uint64_t *)one)[i];
	return 0;
}

static int rows(void *all, tw_study_put_fn put, void *context)
{
	for (uint64_t i = 0; i < SIZES; i++) {
		struct tw_study_cell cells[] = {{i, 0, NULL}, {((uint64_t *)all)[i], 0, NULL}};
		if (cells[1].number)
			put(context, cells);
	}
	return 0;
}

static const struct tw_study_column columns[] = {{"size", "SIZE", TW_STUDY_COUNT}, {"count", "COUNT", TW_STUDY_COUNT}};
const struct tw_study_tool tw_study_tool = {
    TW_STUDY_TOOL_VERSION, "unaligned", "Not aligned", columns, 2, begin, take, merge, rows, free};
