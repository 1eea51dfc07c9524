/* merge.c - runs of lines in order of their numbers. It trusts no size: a run ends where a line would not fit. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "coreprofiler/lines.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
	const struct lines_run *left = a, *right = b;
	if (left->number != right->number)
		return left->number < right->number ? -1 : 1;
	return left->place < right->place ? -1 : left->place > right->place;
}

/* The next line of a run: its header, if all of it is there. */
static bool look(const struct lines_run *run, struct lines_line *line)
{
	const size_t left = run->at ? (size_t)(run->end - run->at) : 0;
	if (left < sizeof *line)
		return false;
	memcpy(line, run->at, sizeof *line);
	return line->size != 0 && line->size <= left - sizeof *line;
}

static void sift_down(struct lines_merge *merge, size_t i)
{
	struct lines_run *run = merge->heap[i];
	for (size_t child; (child = 2 * i + 1) < merge->left; i = child) {
		if (child + 1 < merge->left && compare(merge->heap[child + 1], merge->heap[child]) < 0)
			child++;
		if (compare(run, merge->heap[child]) <= 0)
			break;
		merge->heap[i] = merge->heap[child];
	}
	merge->heap[i] = run;
}

static void push(struct lines_merge *merge, struct lines_run *run)
{
	size_t i = merge->left++;
	for (; i && compare(run, merge->heap[(i - 1) / 2]) < 0; i = (i - 1) / 2)
		merge->heap[i] = merge->heap[(i - 1) / 2];
	merge->heap[i] = run;
}

/* Runs are loaded when their first line may be the next. */
static void begin_runs(struct lines_merge *merge)
{
	struct lines_line line;
	while (merge->begun < merge->count &&
	       (merge->left == 0 || merge->runs[merge->begun].number <= merge->heap[0]->number)) {
		struct lines_run *run = &merge->runs[merge->begun++];
		if (!run->at && !(merge->load && merge->load(merge->context, run)))
			continue;
		if (look(run, &line))
			push(merge, run);
		else if (merge->done)
			merge->done(merge->context, run);
	}
}

bool lines_merge_begin(struct lines_merge *merge)
{
	merge->begun = merge->left = 0;
	merge->heap = merge->count ? malloc(merge->count * sizeof(struct lines_run *)) : NULL;
	if (merge->count && merge->heap)
		qsort(merge->runs, merge->count, sizeof *merge->runs, compare);
	return merge->heap || merge->count == 0;
}

/* The run whose line was taken goes on, or leaves. */
static void go_on(struct lines_merge *merge)
{
	struct lines_run *run = merge->heap[0];
	struct lines_line line;
	if (look(run, &line))
		run->number = line.number;
	else {
		merge->heap[0] = merge->heap[--merge->left];
		if (merge->done)
			merge->done(merge->context, run);
	}
	if (merge->left)
		sift_down(merge, 0);
}

/* `number` of the first run in the heap is that of a line given already: its text is valid until now. */
bool lines_merge_next(struct lines_merge *merge, const char **text, size_t *size)
{
	struct lines_line line;
	if (merge->given) {
		merge->given = false;
		go_on(merge);
	}
	begin_runs(merge);
	if (merge->left == 0 || (merge->limit && merge->heap[0]->number >= merge->limit))
		return false;
	struct lines_run *run = merge->heap[0];
	if (!look(run, &line))
		return false;
	const uint64_t filled = (line.size + LINES_ALIGNMENT - 1) / LINES_ALIGNMENT * LINES_ALIGNMENT,
		       left = (uint64_t)(run->end - run->at) - sizeof line;
	*text = (const char *)run->at + sizeof line;
	*size = line.size;
	run->at += sizeof line + (filled < left ? filled : left);
	merge->given = true;
	return true;
}

void lines_merge_end(struct lines_merge *merge)
{
	for (size_t i = 0; i < merge->left && merge->done; i++)
		merge->done(merge->context, merge->heap[i]);
	free(merge->heap);
	merge->heap = NULL;
	merge->left = 0;
}
