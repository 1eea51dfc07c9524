/* merge.c - several readers as one, in time order.
 *
 * Nothing is held but a batch of each input: a row is handed on before its input is asked for more. Names and tracks
 * get numbers of one dictionary when they are met: mapping.c. What is more than can be open at once: merge_many.c. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/merge/merge.h"

#include "base/options.h"
#include "core/in_order.h"
#include "core/tool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static int no_memory(struct tw_reader *reader)
{
	return tw_fail(reader, TW_ERR_MEMORY, "out of memory");
}

/* ---- Reading. ---- */

/* All rows have been read. */
static int end_all(struct tw_reader *merged)
{
	struct tw_merge *merge = merged->state;
	int status = !merge->many || tw_merge_many_end(merge->many) ? 0 : no_memory(merged);
	for (size_t i = 0; i < merge->count && status == 0 && !merge->documents.taken; i++)
		if (merge->inputs[i].reader)
			status = tw_merge_take_document(merged, merge->inputs[i].reader);
	if (!merge->documents.taken && !merged->traits.document && merge->documents.text.length)
		merged->traits.altered.documents++; /* there are traces that have none */
	merge->documents.taken = true;
	return status;
}

int tw_merge_read(struct tw_reader *merged, struct tw_batch *batch)
{
	const struct tw_merge *merge = merged->state;
	*batch = (struct tw_batch){0};
	int status = merge->many ? tw_merge_many(merged) : 0;
	status = status < 0 ? status : tw_merge_rows(merged, batch);
	if (status > 0 && batch->events[batch->count - 1].time > merged->clock.end_ns)
		merged->clock.end_ns = batch->events[batch->count - 1].time;
	return status == 0 ? end_all(merged) : status;
}

void tw_merge_close(struct tw_reader *merged)
{
	struct tw_merge *merge = merged->state;
	tw_merge_close_inputs(merge);
	tw_merge_many_free(merge->many);
	for (size_t i = 0; i < merge->trace_count; i++)
		free(merge->traces[i].path);
	tw_homes_free(&merge->homes);
	free(merge->traces);
	free(merge->paths);
	free(merge->inputs);
	free(merge->heads.items);
	free(merge->batch.arguments);
	free(merge->batch.bytes);
	tw_text_free(&merge->documents.text);
	if (merge->one_file.logs)
		merge->one_file.logs->close(merge);
	free(merge);
}

static const struct tw_format merged_format = {
    .name = "merged",
    .title = "several traces as one",
    .reading =
	{
	    .read = tw_merge_read,
	    .close = tw_merge_close,
	},
};

static const struct tw_merge *merge_of(const struct tw_reader *reader)
{
	return reader->format->reading.read == tw_merge_read ? reader->state : NULL;
}

void tw_merge_ask(struct tw_reader *reader, const struct tw_request *request)
{
	const struct tw_merge *merge = merge_of(reader);
	reader->request.texts = request->texts; /* for traces that are opened later */
	for (size_t i = 0; merge && i < merge->count; i++)
		merge->inputs[i].reader->request.texts = request->texts;
}

/* ---- Opening. ---- */

static int add_traces(struct tw_reader *merged, const struct tw_merge_source *sources, size_t count)
{
	struct tw_merge *merge = merged->state;
	if (count == 0)
		return tw_fail(merged, TW_ERR_VALUE, "there is no trace to be merged");
	if ((unsigned)merge->options.alignment > TW_ALIGN_MARKERS)
		return tw_fail(merged, TW_ERR_VALUE, "there is no alignment of this number");
	if (merge->options.alignment == TW_ALIGN_MARKERS && !merge->options.markers[0])
		return tw_fail(merged, TW_ERR_VALUE, "there is no marker to bring clocks together by");
	merge->traces = calloc(count, sizeof *merge->traces);
	merge->paths = calloc(count, sizeof *merge->paths);
	if (!merge->traces || !merge->paths)
		return no_memory(merged);
	for (; merge->trace_count < count; merge->trace_count++) {
		const struct tw_merge_source *source = &sources[merge->trace_count];
		struct tw_merge_trace *trace = &merge->traces[merge->trace_count];
		trace->path = strdup(source->path);
		trace->offset_ns = source->offset_ns;
		trace->time.from = trace->time.to = 1;
		if (!trace->path)
			return no_memory(merged);
	}
	return 0;
}

static int open_input(struct tw_reader *merged, struct tw_merge_trace *trace, const struct tw_read_options *options)
{
	struct tw_merge *merge = merged->state;
	size_t i = merge->count;
	struct tw_merge_input *input = &merge->inputs[i];
	struct tw_read_options own = *options;
	own.before = merge->paths;
	own.before_count = i;
	merge->paths[i] = trace->path;
	int status = tw_open(&input->reader, trace->path, &own);
	if (!input->reader)
		return no_memory(merged);
	input->trace = trace;
	input->mapping = &input->own;
	input->own = (struct tw_mapping){.trace = (uint32_t)(trace - merge->traces),
	                                 .place = (uint32_t)i,
	                                 .from = input->reader->dictionary,
	                                 .to = merged->dictionary,
	                                 .homes = &merge->homes,
	                                 .koids = input->reader->traits.koids};
	if (status == 0)
		status = tw_begin(input->reader, TW_USE_EVENTS,
		                  &(struct tw_request){.merged = (unsigned)merge->trace_count});
	if (status < 0) {
		status = tw_merge_leave_out(merged, trace, input->reader, status);
		tw_close(input->reader);
		*input = (struct tw_merge_input){0};
		return status;
	}
	merge->count++;
	tw_merge_share(merged, i, input->reader);
	return 0;
}

static int open_all(struct tw_reader *merged)
{
	const struct tw_merge *merge = merged->state;
	const struct tw_read_options options = tw_merge_options_of(merged, merge->trace_count);
	int status = tw_merge_reserve(merged, merge->trace_count);
	for (size_t i = 0; i < merge->trace_count && status == 0; i++)
		status = open_input(merged, &merge->traces[i], &options);
	return status < 0 || merge->options.alignment != TW_ALIGN_MARKERS ? status : tw_merge_find_markers(merged);
}

/* How many traces can be open at once. Some take more than one descriptor, and others are open already. */
static size_t direct_most(void)
{
	enum { SHARE = 2 };
	struct rlimit limit;
	bool known = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
	return known && limit.rlim_cur / SHARE < TW_MERGE_DIRECT ? (size_t)limit.rlim_cur / SHARE : TW_MERGE_DIRECT;
}

int tw_open_merged(struct tw_reader **merged, const struct tw_merge_source *sources, size_t count,
                   const struct tw_merge_options *how, const struct tw_read_options *options)
{
	*merged = tw_reader_new(options);
	if (!*merged)
		return TW_ERR_MEMORY;
	struct tw_merge *merge = calloc(1, sizeof *merge);
	if (!merge)
		return tw_opened(*merged, no_memory(*merged));
	TW_COPY_OPTIONS(&merge->options, how, struct tw_merge_options);
	merge->homes.together = merge->options.same_machine;
	(*merged)->format = &merged_format;
	(*merged)->state = merge;
	(*merged)->options.order = TW_ORDER_TIME;
	(*merged)->clock.ticks_per_second = 1000000000;
	int status = add_traces(*merged, sources, count);
	if (status == 0)
		status = (count > direct_most() ? tw_merge_many_begin : open_all)(*merged);
	return tw_opened(*merged, status < 0 ? status : tw_reader_add_filter(*merged));
}

void tw_merged_shift(const struct tw_reader *merged, size_t i, struct tw_merge_shift *shift)
{
	const struct tw_merge *merge = merge_of(merged);
	*shift = (struct tw_merge_shift){.scale = 1};
	if (!merge || i >= merge->trace_count)
		return;
	const struct tw_merge_time *time = &merge->traces[i].time;
	tw_wide ns = time->shift > INT64_MAX ? INT64_MAX : time->shift < INT64_MIN ? INT64_MIN : time->shift;
	*shift = (struct tw_merge_shift){(int64_t)ns, time->pivot, (double)time->to / (double)time->from};
}

bool tw_merged_source(const struct tw_reader *merged, const struct tw_track *track, size_t *source,
                      struct tw_track *own)
{
	const struct tw_merge *merge = merge_of(merged);
	const bool cpu = track->kind == TW_TRACK_CPU;
	uint32_t trace;
	if (!merge || merge->homes.together ||
	    !tw_map_find(cpu ? &merge->homes.cpus.owners : &merge->homes.processes.owners,
	                 cpu ? track->thread : track->process, &trace))
		return false;
	*source = trace;
	*own = (struct tw_track){.process = tw_taken_own(&merge->homes.processes, track->process), .kind = track->kind};
	own->thread = tw_taken_own(cpu ? &merge->homes.cpus : &merge->homes.threads, track->thread);
	return true;
}

void tw_merged_shared(const struct tw_reader *merged, struct tw_merge_shared *shared)
{
	const struct tw_merge *merge = merge_of(merged);
	*shared = (struct tw_merge_shared){0};
	if (merge)
		*shared = (struct tw_merge_shared){
		    .processes = merge->homes.processes.shared,
		    .threads = merge->homes.threads.shared,
		    .cpus = merge->homes.cpus.shared,
		};
}
