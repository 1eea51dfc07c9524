/* order.c - whether the TIMEs of all files of a set are one order: a merge of them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/heap.h"
#include "xtrace/jobs/check.h"
#include "xtrace/walk/merged_tracks.h"

#include <inttypes.h>
#include <stdlib.h>

int xtrace_source_next(struct xtrace_source *source)
{
	struct tw_xtrace_token token;
	int status;
	while ((status = xtrace_cursor_next(&source->cursor, &token)) > 0) {
		if (token.kind == TW_XTRACE_TIME) {
			source->time = token.value;
			return 1;
		}
	}
	return status;
}

int xtrace_source_open(struct xtrace_source *source, struct tw_reader *reader, const struct xtrace_track *track)
{
	int status = xtrace_files_open(&source->files, reader, track);
	xtrace_files_thin(&source->files);
	xtrace_cursor_init(&source->cursor, &source->files);
	return status < 0 ? status : xtrace_source_next(source);
}

struct time_merge {
	struct xtrace_source *sources;
	uint32_t *heap; /* their numbers, the earliest on top */
	size_t count;
};

static bool earlier(const void *context, uint32_t a, uint32_t b)
{
	const struct time_merge *merge = context;
	return merge->sources[a].time < merge->sources[b].time;
}

static int open_all(struct tw_reader *reader, struct time_merge *merge)
{
	const struct xtrace_set *set = &xtrace_of(reader)->set;
	for (size_t i = 0; i < set->count; i++) {
		if (!tw_thread_wanted(&reader->options, set->tracks[i].name.number))
			continue;
		int status = xtrace_source_open(&merge->sources[i], reader, &set->tracks[i]);
		if (status < 0)
			return status;
		if (status > 0)
			merge->heap[merge->count++] = (uint32_t)i;
	}
	tw_heap_make(merge->heap, merge->count, earlier, merge);
	return 0;
}

static void report(struct tw_reader *reader, const struct xtrace_source *source, const char *other)
{
	uint64_t offset = source->cursor.offset;
	reader->reports.quiet = false;
	xtrace_report(&source->files, false, XTRACE_TIME_TWICE, offset, offset, "TIME %" PRIu64 " is in %s, too.",
	              source->time, other);
	reader->reports.quiet = true;
}

static int compare_all(struct tw_reader *reader, struct time_merge *merge)
{
	const struct xtrace_source *last = NULL;
	uint64_t time = 0;
	while (merge->count) {
		struct xtrace_source *source = &merge->sources[merge->heap[0]];
		if (last && last != source && source->time == time)
			report(reader, source, last->files.data_name);
		last = source;
		time = source->time;
		int status = xtrace_source_next(source);
		if (status < 0)
			return status;
		if (status == 0)
			merge->heap[0] = merge->heap[--merge->count];
		tw_heap_sift(merge->heap, merge->count, 0, earlier, merge);
	}
	return 0;
}

int xtrace_check_order(struct tw_reader *reader)
{
	size_t count = xtrace_of(reader)->set.count;
	struct time_merge merge = {calloc(count, sizeof *merge.sources), calloc(count, sizeof *merge.heap), 0};
	bool quiet = reader->reports.quiet;
	int status;
	reader->reports.quiet = true; /* what is wrong with each file alone was reported */
	if (!merge.sources || !merge.heap)
		status = tw_fail_memory(reader);
	else if ((status = open_all(reader, &merge)) >= 0)
		status = compare_all(reader, &merge);
	reader->reports.quiet = quiet;
	for (size_t i = 0; merge.sources && i < count; i++)
		xtrace_files_close(&merge.sources[i].files);
	free(merge.sources);
	free(merge.heap);
	return status;
}
