/* merge.c - several readers as one, in time order.
 *
 * Nothing is held but a batch of each input: a row is handed on before its input is asked for more. Names and tracks
 * get numbers of one dictionary when they are met: mapping.c. What is more than can be open at once: merge_many.c. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/merge/merge.h"

#include "base/bytes/temporary.h"
#include "base/memory/heap.h"
#include "base/memory/memory.h"
#include "base/options.h"
#include "core/in_order.h"
#include "core/tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static int no_memory(struct tw_reader *reader)
{
	return tw_fail(reader, TW_ERR_MEMORY, "out of memory");
}

/* ---- Times. ---- */

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

/* ---- Rows. ---- */

int tw_merge_file_status(struct tw_reader *merged, int error)
{
	if (!error)
		return 0;
	return tw_fail(merged, error == ENOMEM ? TW_ERR_MEMORY : TW_ERR_SYSTEM, "temporary file in %s: %s",
	               tw_temporary_place(merged->options.temporary_directory), strerror(error));
}

/* Copies the next row of an input behind those there are. Returns 0 or a negative status. */
static int copy_row(struct tw_reader *merged, struct tw_merge_input *input)
{
	struct tw_merge *merge = merged->state;
	struct tw_event *event = &merge->batch.events[merge->batch.event_count++];
	*event = input->batch.events[input->next++];
	merged->traits.raised |= input->head == 0 && tw_merge_raises(&input->time, event->time);
	size_t n = event->argument_count, used = merge->batch.argument_count;
	if (used + n >= merge->batch.argument_room && !tw_extend(&merge->batch.arguments, &merge->batch.argument_room,
	                                                         used + n + 1, sizeof *merge->batch.arguments))
		return no_memory(merged);
	struct tw_argument *arguments = merge->batch.arguments + used;
	if (n)
		memcpy(arguments, input->batch.arguments + event->first_argument, n * sizeof *arguments);
	event->first_argument = (uint16_t)used;
	merge->batch.argument_count += n;
	event->time = input->head;
	event->offset += input->reader ? input->reader->log.base : 0;
	int error = input->run.bytes
	                ? tw_spill_fetch(&input->run, &merge->batch.bytes, &merge->batch.byte_room, arguments, n)
	                : 0;
	if (error)
		return tw_merge_file_status(merged, error);
	return !input->mapping || tw_map_row(input->mapping, event, arguments) ? 0 : no_memory(merged);
}

/* ---- Reading. ---- */

int tw_merge_end(struct tw_reader *merged, struct tw_merge_input *input)
{
	return tw_mapping_end(&input->own) ? 0 : no_memory(merged);
}

static int pull_reader(struct tw_reader *merged, struct tw_merge_input *input)
{
	int n = tw_read(input->reader, &input->batch);
	input->ended = n <= 0;
	input->trace->some |= n > 0;
	if (n > 0)
		return 0;
	input->batch.count = 0;
	if (n < 0)
		return tw_fail(merged, n, "%s", tw_reader_error(input->reader));
	return tw_merge_end(merged, input);
}

static int pull(struct tw_reader *merged, struct tw_merge_input *input)
{
	input->next = 0;
	if (input->reader)
		return pull_reader(merged, input);
	int error = tw_spill_next(&input->run, &input->batch);
	input->ended = input->batch.count == 0;
	return tw_merge_file_status(merged, error);
}

/* What findings there were; those of the inputs are reported by them. */
void tw_merge_count_findings(struct tw_reader *merged)
{
	const struct tw_merge *merge = merged->state;
	for (int severity = TW_NOTE; severity <= TW_ERROR; severity++) {
		merged->reports.findings[severity] = merge->findings[severity];
		for (size_t i = 0; i < merge->count && merge->inputs[i].reader; i++)
			merged->reports.findings[severity] += merge->inputs[i].reader->reports.findings[severity];
	}
}

/* Sets input->head to the time of the input's next row. */
static void look(struct tw_merge_input *input)
{
	if (input->next < input->batch.count)
		input->head = tw_merge_time(&input->time, input->batch.events[input->next].time);
}

static int fill(struct tw_reader *merged)
{
	struct tw_merge *merge = merged->state;
	int status = 0;
	for (size_t i = 0; i < merge->count && status >= 0; i++)
		if (!merge->inputs[i].ended && merge->inputs[i].next == merge->inputs[i].batch.count)
			status = pull(merged, &merge->inputs[i]);
	tw_merge_count_findings(merged);
	if (status >= 0 && !merge->started)
		status = tw_merge_align(merged);
	for (size_t i = 0; i < merge->count; i++)
		look(&merge->inputs[i]);
	return status;
}

/* ---- Which input is next: a heap of those that have rows, by the time of the first; of the same time the first input.
 * ---- */

static bool goes_first(const void *context, uint32_t a, uint32_t b)
{
	const struct tw_merge *merge = context;
	uint64_t left = merge->inputs[a].head, right = merge->inputs[b].head;
	return left != right ? left < right : a < b;
}

static void make_heap(struct tw_merge *merge)
{
	merge->heap.count = 0;
	for (uint32_t i = 0; i < merge->count; i++)
		if (merge->inputs[i].next < merge->inputs[i].batch.count)
			merge->heap.items[merge->heap.count++] = i;
	tw_heap_make(merge->heap.items, merge->heap.count, goes_first, merge);
}

/* The time of the next row of all inputs but the first. */
static uint64_t time_of_others(const struct tw_merge *merge)
{
	uint64_t left = merge->heap.count > 1 ? merge->inputs[merge->heap.items[1]].head : UINT64_MAX;
	uint64_t right = merge->heap.count > 2 ? merge->inputs[merge->heap.items[2]].head : UINT64_MAX;
	return left < right ? left : right;
}

/* ---- Batches. ---- */

/* Takes rows of one input as long as no other has an earlier one. Returns 0 or a negative status. */
static int take(struct tw_reader *merged, struct tw_merge_input *input, uint64_t until)
{
	const struct tw_merge *merge = merged->state;
	int status;
	do {
		status = copy_row(merged, input);
		look(input);
	} while (status == 0 && merge->batch.event_count < TW_MERGE_BATCH && input->next < input->batch.count &&
	         input->head < until);
	return status;
}

/* Stops where a batch is used up: the bytes of its arguments live until its input is asked for more. */
int tw_merge_rows(struct tw_reader *merged, struct tw_batch *batch)
{
	struct tw_merge *merge = merged->state;
	merge->batch.event_count = merge->batch.argument_count = 0;
	*batch = (struct tw_batch){0};
	int status = fill(merged);
	if (status < 0)
		return status;
	make_heap(merge);
	while (merge->batch.event_count < TW_MERGE_BATCH && merge->heap.count) {
		struct tw_merge_input *input = &merge->inputs[merge->heap.items[0]];
		status = take(merged, input, time_of_others(merge));
		if (status < 0)
			return status;
		if (input->next == input->batch.count)
			break;
		tw_heap_sift(merge->heap.items, merge->heap.count, 0, goes_first, merge);
	}
	*batch = (struct tw_batch){.events = merge->batch.events,
	                           .count = merge->batch.event_count,
	                           .arguments = merge->batch.arguments};
	tw_merge_note_moved(merged);
	return (int)merge->batch.event_count;
}

int tw_merge_take_document(struct tw_reader *merged, const struct tw_reader *reader)
{
	struct tw_merge *merge = merged->state;
	const struct tw_text *own = reader->traits.document, *all = &merge->documents.text;
	merged->traits.altered.frames += reader->traits.altered.frames;
	if (!merged->request.texts || !own || !own->length)
		return 0;
	if (!all->length)
		return tw_text_add(&merge->documents.text, own->bytes, own->length) ? 0 : no_memory(merged);
	merged->traits.altered.documents +=
	    own->length != all->length || memcmp(own->bytes, all->bytes, all->length) != 0;
	return 0;
}

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

void tw_merge_close_inputs(struct tw_merge *merge)
{
	for (size_t i = 0; i < merge->count; i++) {
		struct tw_merge_input *input = &merge->inputs[i];
		tw_close(input->reader);
		tw_spill_cursor_close(&input->run);
		tw_mapping_free(&input->own);
		*input = (struct tw_merge_input){0};
	}
	merge->count = 0;
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
	free(merge->heap.items);
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

bool tw_merge_is_all(const struct tw_reader *reader, const char *format)
{
	const struct tw_merge *merge = merge_of(reader);
	const struct tw_read_options *options = &reader->options;
	if (!merge || merge->one_file.logs || reader->filtering.filter || options->provider || options->thread_count ||
	    merge->many)
		return false;
	for (size_t i = 0; i < merge->count; i++)
		if (strcmp(merge->inputs[i].reader->format->name, format) != 0)
			return false;
	return merge->count > 1;
}

int tw_merge_put_in_order(struct tw_reader *merged)
{
	const struct tw_merge *merge = merged->state;
	int late = 0, status = 0;
	for (size_t i = 0; i < merge->count && status >= 0; i++) {
		struct tw_reader *reader = merge->inputs[i].reader;
		status = tw_put_in_order(reader);
		late += reader->in_order.runs != NULL;
		if (status < 0)
			tw_fail(merged, status, "%s", tw_reader_error(reader));
	}
	return status < 0 ? status : late;
}

void tw_merge_ask(struct tw_reader *reader, const struct tw_request *request)
{
	const struct tw_merge *merge = merge_of(reader);
	reader->request.texts = request->texts; /* for traces that are opened later */
	for (size_t i = 0; merge && i < merge->count; i++)
		merge->inputs[i].reader->request.texts = request->texts;
}

/* ---- Opening. ---- */

struct tw_read_options tw_merge_options_of(const struct tw_reader *merged, size_t shares)
{
	struct tw_read_options options = merged->options;
	options.order = TW_ORDER_TIME;
	options.function = options.category = NULL;
	options.from_ns = options.to_ns = options.min_duration_ns = 0;
	options.complete_slices = options.from_start = false;
	options.memory_limit = tw_memory_limit(merged) / shares;
	return options;
}

void tw_merge_share(struct tw_reader *merged, size_t i, const struct tw_reader *reader)
{
	merged->traits.origin =
	    reader && (i == 0 || merged->traits.origin == reader->traits.origin) ? reader->traits.origin : NULL;
	if (reader && reader->traits.rounding > merged->traits.rounding)
		merged->traits.rounding = reader->traits.rounding;
	merged->traits.ends_unordered |= reader && reader->traits.ends_unordered;
	merged->traits.sampled = reader && (i == 0 || merged->traits.sampled) && reader->traits.sampled;
	merged->traits.summed = reader && (i == 0 || merged->traits.summed) && reader->traits.summed;
	merged->traits.timeless = reader && (i == 0 || merged->traits.timeless) && reader->traits.timeless;
	const bool documents = reader && (i == 0 || merged->traits.document) && reader->traits.document;
	merged->traits.document = documents ? &((struct tw_merge *)merged->state)->documents.text : NULL;
}

int tw_merge_reserve(struct tw_reader *merged, size_t count)
{
	struct tw_merge *merge = merged->state;
	if (tw_grow(&merge->inputs, &merge->room, count, sizeof *merge->inputs) &&
	    tw_grow(&merge->heap.items, &merge->heap.room, count, sizeof *merge->heap.items))
		return 0;
	return no_memory(merged);
}

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

int tw_merge_leave_out(struct tw_reader *merged, struct tw_merge_trace *trace, const struct tw_reader *reader,
                       int status)
{
	struct tw_merge *merge = merged->state;
	const char *error = reader ? tw_reader_error(reader) : "out of memory";
	if (!merge->options.on_left_out || !tw_may_leave_out(trace->path, status))
		return tw_fail(merged, status, "%s", error);
	merge->options.on_left_out(merge->options.context, (size_t)(trace - merge->traces), error);
	trace->left_out = true;
	if (++merge->left_out == merge->trace_count)
		return tw_fail(merged, TW_ERR_EMPTY, "none of the files is a trace");
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
