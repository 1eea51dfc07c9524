/* merge.c - several readers as one, in time order.
 *
 * Names and tracks of each input get numbers of one dictionary when they are met. A process keeps its number unless one
 * of another input came before with that number: then it gets another, so that two processes never become one. Nothing
 * is held but a batch of each input: a row is handed on before its input is asked for more. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/merge.h"

#include <stdlib.h>

#include "base/memory.h"

enum {
	STEP = 1000000, /* what is added to the number of a process that is taken: easy to see through */
	OBJECT_PROCESS = 1
};

static int no_memory(struct tw_reader *reader)
{
	return tw_fail(reader, TW_ERR_MEMORY, "out of memory");
}

/* ---- Names. ---- */

/* A name that another one refers to, as its class or module, which may refer to others `more` times. No deeper: a trace
 * can name things in circles. UINT32_MAX when there is no memory. */
static uint32_t refer(struct tw_reader *merged, const struct tw_dictionary *from, uint32_t number, unsigned more)
{
	struct tw_name name = *tw_dictionary_name(from, number);
	name.owner = 0;
	name.module = more && name.module ? refer(merged, from, name.module, more - 1) : 0;
	return name.module == UINT32_MAX ? UINT32_MAX : tw_dictionary_intern(merged->dictionary, &name);
}

/* UINT32_MAX when there is no memory. */
static uint32_t meet_name(struct tw_reader *merged, struct tw_merge_input *input, uint32_t number)
{
	const struct tw_dictionary *from = input->reader->dictionary;
	struct tw_name name = *tw_dictionary_name(from, number);
	name.owner = refer(merged, from, name.owner, 1);
	name.module = refer(merged, from, name.module, 0);
	if (name.owner == UINT32_MAX || name.module == UINT32_MAX)
		return UINT32_MAX;
	uint32_t known = tw_dictionary_intern(merged->dictionary, &name);
	if (known == UINT32_MAX || !tw_grow(&input->names, &input->name_room, number + (size_t)1, sizeof *input->names))
		return UINT32_MAX;
	if (number < tw_dictionary_names(input->reader->dictionary))
		input->names[number] = known;
	return known;
}

/* The same for one that is 0 or may have been met. */
static inline uint32_t name_of(struct tw_reader *merged, struct tw_merge_input *input, uint32_t number)
{
	if (number == 0)
		return 0;
	uint32_t known = number < input->name_room ? input->names[number] : 0;
	return known ? known : meet_name(merged, input, number);
}

/* ---- Processes. ---- */

static bool is_taken(const struct tw_merge *merge, uint64_t process, uint32_t input)
{
	uint32_t owner;
	return tw_map_find(&merge->owners, process, &owner) && owner != input;
}

/* A number that no other input has. */
static uint64_t free_number(const struct tw_merge *merge, uint64_t process, uint32_t input)
{
	uint64_t number = process;
	/* Then anywhere: step by step would be slow in traces made for it. */
	for (uint64_t again = 0; is_taken(merge, number, input); again++)
		number = again ? tw_hash64(process ^ again << 32 ^ input) >> 33 : process + STEP;
	return number;
}

/* The process in the merged trace. False when there is no memory. Process 0 is that of what has none. */
static bool find_process(struct tw_merge *merge, struct tw_merge_input *input, uint64_t process, uint64_t *merged)
{
	uint32_t place, owner, own = (uint32_t)(input - merge->inputs);
	*merged = 0;
	if (process == 0)
		return true;
	if (tw_map_find(&input->processes, process, &place)) {
		*merged = input->merged[place];
		return true;
	}
	*merged = free_number(merge, process, own);
	place = (uint32_t)input->processes.count;
	if (!tw_grow(&input->merged, &input->merged_room, place + (size_t)1, sizeof *input->merged) ||
	    !tw_map_add(&input->processes, process, place))
		return false;
	input->merged[place] = *merged;
	return tw_map_find(&merge->owners, *merged, &owner) || tw_map_add(&merge->owners, *merged, own);
}

/* ---- Tracks. ---- */

static bool name_track(struct tw_reader *merged, struct tw_merge_input *input, uint32_t from, uint32_t to)
{
	uint32_t name = name_of(merged, input, tw_dictionary_track(input->reader->dictionary, from)->name);
	if (name != UINT32_MAX && name)
		tw_dictionary_name_track(merged->dictionary, to, name);
	return name != UINT32_MAX;
}

/* UINT32_MAX when there is no memory. */
static uint32_t meet_track(struct tw_reader *merged, struct tw_merge_input *input, uint32_t number)
{
	if (number == 0 || number >= tw_dictionary_tracks(input->reader->dictionary))
		return 0;
	struct tw_track track = *tw_dictionary_track(input->reader->dictionary, number);
	track.name = 0;
	if (!find_process(merged->state, input, track.process, &track.process))
		return UINT32_MAX;
	uint32_t known = tw_dictionary_add_track(merged->dictionary, &track);
	if (known == UINT32_MAX ||
	    !tw_grow(&input->tracks, &input->track_room, number + (size_t)1, sizeof *input->tracks) ||
	    !name_track(merged, input, number, known))
		return UINT32_MAX;
	input->tracks[number] = known;
	return known;
}

/* The same for one that may have been met. */
static inline uint32_t track_of(struct tw_reader *merged, struct tw_merge_input *input, uint32_t number)
{
	uint32_t known = number < input->track_room ? input->tracks[number] : 0;
	return known ? known : meet_track(merged, input, number);
}

/* Tracks may have got their names since they were met. */
static bool name_tracks(struct tw_reader *merged, struct tw_merge_input *input)
{
	for (uint32_t i = 1; i < input->track_room; i++)
		if (input->tracks[i] && !name_track(merged, input, i, input->tracks[i]))
			return false;
	return true;
}

/* ---- Stacks. ---- */

static uint32_t location_of(struct tw_reader *merged, struct tw_merge_input *input, uint32_t number)
{
	struct tw_location location = *tw_dictionary_location(input->reader->dictionary, number);
	location.name = name_of(merged, input, location.name);
	location.file = name_of(merged, input, location.file);
	if (location.name == UINT32_MAX || location.file == UINT32_MAX)
		return UINT32_MAX;
	return tw_dictionary_add_location(merged->dictionary, &location);
}

static bool take_stack(struct tw_reader *merged, struct tw_merge_input *input, uint32_t number)
{
	const struct tw_stack *stack = tw_dictionary_stack(input->reader->dictionary, number);
	uint32_t location = location_of(merged, input, stack->location);
	if (number == 0 || location == UINT32_MAX)
		return number == 0;
	input->stacks[number] = tw_dictionary_push(merged->dictionary, input->stacks[stack->caller], location);
	return input->stacks[number] != UINT32_MAX;
}

/* UINT32_MAX when there is no memory. Callers have lower numbers, so that stacks are taken in the order of theirs. */
static uint32_t stack_of(struct tw_reader *merged, struct tw_merge_input *input, uint32_t number)
{
	uint32_t count = tw_dictionary_stacks(input->reader->dictionary);
	if (number == 0 || number >= count)
		return 0;
	if (!tw_grow(&input->stacks, &input->stack_room, count, sizeof *input->stacks))
		return UINT32_MAX;
	for (; input->stack_count <= number; input->stack_count++)
		if (!take_stack(merged, input, (uint32_t)input->stack_count))
			return UINT32_MAX;
	return input->stacks[number];
}

/* ---- Times. ---- */

static const char *path_of(const struct tw_merge_input *input)
{
	return tw_input_name(input->reader->input);
}

/* The least wall time that an input begins at. Returns 0 or TW_ERR_VALUE. */
static int first_wall(struct tw_reader *merged, tw_wide *first)
{
	struct tw_merge *merge = merged->state;
	const struct tw_merge_input *other = NULL;
	*first = 0;
	for (size_t i = 0; i < merge->count; i++) {
		const struct tw_clock *clock = &merge->inputs[i].reader->clock;
		if (!merge->inputs[i].some)
			continue;
		if (!clock->has_wall)
			return tw_fail(merged, TW_ERR_VALUE, "%s does not tell the wall time of anything",
			               path_of(&merge->inputs[i]));
		if (other && other->reader->clock.since_boot != clock->since_boot)
			return tw_fail(merged, TW_ERR_VALUE,
			               "%s and %s: one has the time of day, and one the time since its system began",
			               path_of(other), path_of(&merge->inputs[i]));
		tw_wide begin = (tw_wide)clock->wall_ns + clock->start_ns;
		*first = other && *first < begin ? *first : begin;
		other = &merge->inputs[i];
		merged->clock.since_boot = clock->since_boot;
	}
	return 0;
}

/* By how much the times of each input move, offsets not counted. Returns 0 or a negative status. */
static int choose_shifts(struct tw_reader *merged)
{
	struct tw_merge *merge = merged->state;
	tw_wide wall = 0;
	int status = merge->options.alignment == TW_ALIGN_WALL ? first_wall(merged, &wall) : 0;
	if (merge->options.alignment == TW_ALIGN_MARKERS)
		return 0; /* they were found before the first batch */
	for (size_t i = 0; i < merge->count && status == 0; i++) {
		const struct tw_clock *clock = &merge->inputs[i].reader->clock;
		struct tw_merge_time *time = &merge->inputs[i].time;
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

static void begin_at(struct tw_reader *merged, const struct tw_merge_input *input)
{
	struct tw_merge *merge = merged->state;
	uint64_t start = tw_merge_time(&input->time, input->reader->clock.start_ns);
	if (input->some && (!merge->started || start < merged->clock.start_ns))
		merged->clock.start_ns = start;
	merge->started |= input->some;
	merged->clock.has_cpu |= input->reader->clock.has_cpu;
}

/* Times begin at 0 or later: where less is asked for, all traces move on. */
int tw_merge_align(struct tw_reader *merged)
{
	struct tw_merge *merge = merged->state;
	tw_wide first = 0;
	int status = choose_shifts(merged);
	for (size_t i = 0; i < merge->count && status == 0; i++) {
		struct tw_merge_input *input = &merge->inputs[i];
		input->time.shift += merge->offsets[i];
		tw_wide begin = tw_merge_moved(&input->time, input->reader->clock.start_ns);
		first = input->some && begin < first ? begin : first;
	}
	for (size_t i = 0; i < merge->count && status == 0; i++) {
		merge->inputs[i].time.shift -= first;
		begin_at(merged, &merge->inputs[i]);
	}
	merged->clock.wall_ns += (int64_t)first;
	merge->started = true;
	return status;
}

void tw_merged_shift(const struct tw_reader *merged, size_t i, struct tw_merge_shift *shift)
{
	const struct tw_merge *merge = merged->state;
	const struct tw_merge_time *time = &merge->inputs[i].time;
	tw_wide ns = time->shift > INT64_MAX ? INT64_MAX : time->shift < INT64_MIN ? INT64_MIN : time->shift;
	*shift = (struct tw_merge_shift){(int64_t)ns, time->pivot, (double)time->to / (double)time->from};
}

/* ---- Rows. ---- */

static bool map_argument(struct tw_reader *merged, struct tw_merge_input *input, struct tw_argument *argument)
{
	argument->name = name_of(merged, input, argument->name);
	bool refers = argument->type == TW_ARG_POINTER || argument->type == TW_ARG_KOID;
	if (refers && argument->size < UINT32_MAX)
		argument->size = name_of(merged, input, (uint32_t)argument->size);
	return argument->name != UINT32_MAX && !(refers && argument->size == UINT32_MAX);
}

/* Records about processes and threads tell the process as a number, too. */
static void map_object(struct tw_merge *merge, struct tw_merge_input *input, struct tw_event *event, uint64_t process,
                       struct tw_argument *arguments)
{
	uint64_t number;
	if (process == 0 || !find_process(merge, input, process, &number))
		return;
	if (event->value == OBJECT_PROCESS && !(event->flags & TW_FLAG_USERSPACE) && event->id == process)
		event->id = number;
	for (unsigned i = 0; i < event->argument_count; i++)
		if (arguments[i].type == TW_ARG_KOID && arguments[i].value.u == process)
			arguments[i].value.u = number;
}

/* The number of what `other` is by the kind. */
static uint32_t map_other(struct tw_reader *merged, struct tw_merge_input *input, const struct tw_event *event)
{
	if (event->kind == TW_SWITCH || event->kind == TW_WAKEUP)
		return track_of(merged, input, event->other);
	if (event->kind == TW_STACK_SAMPLE || event->kind == TW_CPU_SAMPLE || event->kind == TW_ALLOCATION_SAMPLE)
		return stack_of(merged, input, event->other);
	return event->other;
}

bool tw_merge_map(struct tw_reader *merged, struct tw_merge_input *input, struct tw_event *event,
                  struct tw_argument *arguments)
{
	bool fine = true;
	uint32_t from = event->track;
	event->provider = 0; /* strings are shared, as tables of providers cannot be */
	event->name = name_of(merged, input, event->name);
	event->category = name_of(merged, input, event->category);
	event->track = track_of(merged, input, from);
	if (event->other)
		event->other = map_other(merged, input, event);
	if (event->kind == TW_OBJECT && event->track != UINT32_MAX) {
		fine = name_track(merged, input, from, event->track);
		map_object(merged->state, input, event, tw_dictionary_track(input->reader->dictionary, from)->process,
		           arguments);
	}
	for (unsigned i = 0; i < event->argument_count && fine; i++)
		fine = map_argument(merged, input, &arguments[i]);
	return fine && event->name != UINT32_MAX && event->category != UINT32_MAX && event->track != UINT32_MAX &&
	       event->other != UINT32_MAX;
}

/* Copies the next row of an input behind the `count` and `used` there are. False when there is no memory. */
static bool copy_row(struct tw_reader *merged, struct tw_merge_input *input, size_t count, size_t *used)
{
	struct tw_merge *merge = merged->state;
	struct tw_event *event = &merge->events[count];
	*event = input->batch.events[input->next++];
	size_t n = event->argument_count;
	if (*used + n >= merge->argument_room &&
	    !tw_extend(&merge->arguments, &merge->argument_room, *used + n + 1, sizeof *merge->arguments))
		return false;
	struct tw_argument *arguments = merge->arguments + *used;
	if (n)
		memcpy(arguments, input->batch.arguments + event->first_argument, n * sizeof *arguments);
	event->first_argument = (uint16_t)*used;
	*used += n;
	event->time = input->head;
	return tw_merge_map(merged, input, event, arguments);
}

/* ---- Reading. ---- */

int tw_merge_end(struct tw_reader *merged, struct tw_merge_input *input)
{
	return name_tracks(merged, input) ? 0 : no_memory(merged);
}

static int pull(struct tw_reader *merged, struct tw_merge_input *input)
{
	int n = tw_read(input->reader, &input->batch);
	input->next = 0;
	input->ended = n <= 0;
	input->some |= n > 0;
	if (n > 0)
		return 0;
	input->batch.count = 0;
	if (n < 0)
		return tw_fail(merged, n, "%s", tw_reader_error(input->reader));
	return tw_merge_end(merged, input);
}

/* What findings there were; those of the inputs are reported by them. */
void tw_merge_count_findings(struct tw_reader *merged)
{
	const struct tw_merge *merge = merged->state;
	for (int severity = TW_NOTE; severity <= TW_ERROR; severity++) {
		merged->findings[severity] = 0;
		for (size_t i = 0; i < merge->count; i++)
			merged->findings[severity] += merge->inputs[i].reader->findings[severity];
	}
}

/* Finds when the next row of an input is. */
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

static bool goes_first(const struct tw_merge *merge, uint32_t a, uint32_t b)
{
	uint64_t left = merge->inputs[a].head, right = merge->inputs[b].head;
	return left != right ? left < right : a < b;
}

/* Moves what stands at a place down to where it belongs. */
static void sift(struct tw_merge *merge, size_t place)
{
	uint32_t *heap = merge->heap, moved_one = heap[place];
	for (size_t below; (below = 2 * place + 1) < merge->heap_count; place = below) {
		if (below + 1 < merge->heap_count && goes_first(merge, heap[below + 1], heap[below]))
			below++;
		if (!goes_first(merge, heap[below], moved_one))
			break;
		heap[place] = heap[below];
	}
	heap[place] = moved_one;
}

static void make_heap(struct tw_merge *merge)
{
	merge->heap_count = 0;
	for (uint32_t i = 0; i < merge->count; i++)
		if (merge->inputs[i].next < merge->inputs[i].batch.count)
			merge->heap[merge->heap_count++] = i;
	for (size_t i = merge->heap_count / 2; i-- > 0;)
		sift(merge, i);
}

/* The time of the next row of all inputs but the first. */
static uint64_t time_of_others(const struct tw_merge *merge)
{
	uint64_t left = merge->heap_count > 1 ? merge->inputs[merge->heap[1]].head : UINT64_MAX;
	uint64_t right = merge->heap_count > 2 ? merge->inputs[merge->heap[2]].head : UINT64_MAX;
	return left < right ? left : right;
}

/* ---- Batches. ---- */

/* Takes rows of one input as long as no other has an earlier one. Returns how many there are now; SIZE_MAX without
 * memory. */
static size_t take(struct tw_reader *merged, struct tw_merge_input *input, uint64_t until, size_t count, size_t *used)
{
	do {
		if (!copy_row(merged, input, count++, used))
			return SIZE_MAX;
		look(input);
	} while (count < TW_MERGE_BATCH && input->next < input->batch.count && input->head < until);
	return count;
}

/* Stops where a batch is used up: the bytes of its arguments live until its input is asked for more. */
static int merge_read(struct tw_reader *merged, struct tw_batch *batch)
{
	struct tw_merge *merge = merged->state;
	size_t count = 0, used = 0;
	*batch = (struct tw_batch){0};
	int status = fill(merged);
	if (status < 0)
		return status;
	make_heap(merge);
	while (count < TW_MERGE_BATCH && merge->heap_count) {
		struct tw_merge_input *input = &merge->inputs[merge->heap[0]];
		count = take(merged, input, time_of_others(merge), count, &used);
		if (count == SIZE_MAX)
			return no_memory(merged);
		if (input->next == input->batch.count)
			break;
		sift(merge, 0);
	}
	if (count && merge->events[count - 1].time > merged->clock.end_ns)
		merged->clock.end_ns = merge->events[count - 1].time;
	*batch = (struct tw_batch){.events = merge->events, .count = count, .arguments = merge->arguments};
	return (int)count;
}

static void merge_close(struct tw_reader *merged)
{
	struct tw_merge *merge = merged->state;
	for (size_t i = 0; i < merge->count; i++) {
		struct tw_merge_input *input = &merge->inputs[i];
		tw_close(input->reader);
		free(input->names);
		free(input->tracks);
		free(input->stacks);
		tw_map_free(&input->processes);
		free(input->merged);
	}
	tw_map_free(&merge->owners);
	free(merge->arguments);
	free(merge);
}

static const struct tw_format merged_format = {
    .name = "merged",
    .title = "several traces as one",
    .read = merge_read,
    .close = merge_close,
};

bool tw_merge_is_all(const struct tw_reader *reader, const char *format)
{
	const struct tw_merge *merge = reader->state;
	const struct tw_read_options *options = &reader->options;
	if (reader->format != &merged_format || reader->filter || options->provider || options->thread_count)
		return false;
	for (size_t i = 0; i < merge->count; i++)
		if (strcmp(merge->inputs[i].reader->format->name, format) != 0)
			return false;
	return merge->count > 1;
}

/* ---- Opening. ---- */

/* What each input is read with: filters by name and time are for the whole. */
static struct tw_read_options options_of_inputs(const struct tw_reader *merged, size_t count)
{
	struct tw_read_options options = merged->options;
	options.order = TW_ORDER_TIME;
	options.function = options.category = NULL;
	options.from_ns = options.to_ns = options.min_duration_ns = 0;
	options.memory_limit = tw_memory_limit(merged) / count;
	return options;
}

static int open_all(struct tw_reader *merged, const struct tw_merge_source *sources, size_t count)
{
	struct tw_merge *merge = merged->state;
	if (count == 0 || count > TW_MERGE_SOURCES)
		return tw_fail(merged, TW_ERR_VALUE, "from 1 to %d traces can be merged", TW_MERGE_SOURCES);
	const struct tw_read_options options = options_of_inputs(merged, count);
	for (size_t i = 0; i < count; i++) {
		struct tw_reader **reader = &merge->inputs[merge->count].reader;
		int status = tw_open(reader, sources[i].path, &options);
		merge->offsets[merge->count] = sources[i].offset_ns;
		merge->inputs[merge->count].time.from = merge->inputs[merge->count].time.to = 1;
		merge->count += *reader != NULL;
		if (*reader)
			(*reader)->merged = (unsigned)count;
		merged->sampled = (i == 0 || merged->sampled) && *reader && (*reader)->sampled;
		if (status < 0)
			return tw_fail(merged, status, "%s", *reader ? tw_reader_error(*reader) : "out of memory");
	}
	return 0;
}

int tw_open_merged(struct tw_reader **merged, const struct tw_merge_source *sources, size_t count,
                   const struct tw_merge_options *how, const struct tw_read_options *options)
{
	*merged = tw_reader_new(options);
	if (!*merged)
		return TW_ERR_MEMORY;
	struct tw_merge *merge = calloc(1, sizeof *merge);
	if (!merge)
		return no_memory(*merged);
	merge->options = how ? *how : (struct tw_merge_options){0};
	(*merged)->format = &merged_format;
	(*merged)->state = merge;
	(*merged)->options.order = TW_ORDER_TIME;
	(*merged)->clock.ticks_per_second = 1000000000;
	int status = open_all(*merged, sources, count);
	if (status >= 0 && merge->options.alignment == TW_ALIGN_MARKERS)
		status = tw_merge_find_markers(*merged, sources);
	return status < 0 ? status : tw_reader_add_filter(*merged);
}
