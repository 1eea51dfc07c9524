/* align.c - the clocks of several traces, brought together. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/merge/merge.h"

#include <string.h>

const char *tw_merge_name(const struct tw_merge_trace *trace)
{
	return strcmp(trace->path, "-") == 0 ? "<stdin>" : trace->path;
}

/* The least wall time that a trace begins at. Returns 0 or TW_ERR_VALUE. */
static int first_wall(struct tw_reader *merged, tw_wide *first)
{
	struct tw_merge *merge = merged->state;
	const struct tw_merge_trace *other = NULL;
	*first = 0;
	for (size_t i = 0; i < merge->trace_count; i++) {
		const struct tw_merge_trace *trace = &merge->traces[i];
		const struct tw_clock *clock = &trace->clock;
		if (!trace->some)
			continue;
		if (!clock->has_wall)
			return tw_fail(merged, TW_ERR_VALUE, "%s does not tell the wall time of anything",
			               tw_merge_name(trace));
		if (other && other->clock.since_boot != clock->since_boot)
			return tw_fail(merged, TW_ERR_VALUE,
			               "%s and %s: one has the time of day, and one the time since its system began",
			               tw_merge_name(other), tw_merge_name(trace));
		tw_wide begin = (tw_wide)clock->wall_ns + clock->start_ns;
		*first = other && *first < begin ? *first : begin;
		other = trace;
		merged->clock.since_boot = clock->since_boot;
	}
	return 0;
}

/* By how much the times of each trace move, offsets not counted. Returns 0 or a negative status. */
static int choose_shifts(struct tw_reader *merged)
{
	struct tw_merge *merge = merged->state;
	tw_wide wall = 0;
	if (merge->one_file.logs)
		merge->options.alignment = merge->one_file.logs->alignment(merged);
	int status = merge->options.alignment == TW_ALIGN_WALL ? first_wall(merged, &wall) : 0;
	if (merge->options.alignment == TW_ALIGN_MARKERS)
		return 0; /* they were found before */
	for (size_t i = 0; i < merge->trace_count && status == 0; i++) {
		const struct tw_clock *clock = &merge->traces[i].clock;
		struct tw_merge_time *time = &merge->traces[i].time;
		time->pivot = clock->start_ns;
		if (merge->options.alignment == TW_ALIGN_FIRST)
			time->shift = -(tw_wide)clock->start_ns;
		else if (merge->options.alignment == TW_ALIGN_WALL)
			time->shift = clock->wall_ns - wall;
	}
	merged->clock.has_wall = merge->options.alignment == TW_ALIGN_WALL && status == 0;
	merged->clock.wall_ns = (int64_t)wall;
	return status;
}

static void begin_at(struct tw_reader *merged, const struct tw_merge_trace *trace)
{
	struct tw_merge *merge = merged->state;
	uint64_t start = tw_merge_time(&trace->time, trace->clock.start_ns);
	if (trace->some && (!merge->started || start < merged->clock.start_ns))
		merged->clock.start_ns = start;
	merge->started |= trace->some;
	merged->clock.has_cpu |= trace->clock.has_cpu;
}

/* Times begin at 0 or later: where less is asked for, all traces move on. */
static int align(struct tw_reader *merged)
{
	struct tw_merge *merge = merged->state;
	tw_wide first = 0;
	int status = choose_shifts(merged);
	for (size_t i = 0; i < merge->trace_count && status == 0; i++) {
		struct tw_merge_trace *trace = &merge->traces[i];
		trace->time.shift += trace->offset_ns;
		tw_wide begin = tw_merge_moved(&trace->time, trace->clock.start_ns);
		first = trace->some && begin < first ? begin : first;
	}
	for (size_t i = 0; i < merge->trace_count && status == 0; i++) {
		merge->traces[i].time.shift -= first;
		begin_at(merged, &merge->traces[i]);
	}
	merged->clock.wall_ns += (int64_t)first;
	merge->started = true;
	return status;
}

int tw_merge_align(struct tw_reader *merged)
{
	struct tw_merge *merge = merged->state;
	for (size_t i = 0; i < merge->count; i++)
		merge->inputs[i].trace->clock = merge->inputs[i].reader->clock;
	int status = align(merged);
	for (size_t i = 0; i < merge->count; i++)
		merge->inputs[i].time = merge->inputs[i].trace->time;
	return status;
}
