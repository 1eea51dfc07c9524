/* markers.c - the clocks of traces that are merged, brought together by events that all of them have. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/merge/merge.h"

enum { SPEED_MOST = 1000 }; /* by how much clocks may differ */

static size_t markers_of(const struct tw_merge *merge)
{
	size_t count = 0;
	while (count < TW_MERGE_MARKERS && merge->options.markers[count])
		count++;
	return count;
}

static void look_for(const struct tw_dictionary *dictionary, const struct tw_batch *batch, const char *marker,
                     uint64_t *at, bool *found)
{
	for (size_t i = 0; i < batch->count && !*found; i++) {
		const struct tw_event *event = &batch->events[i];
		if (event->name && strcmp(tw_dictionary_name(dictionary, event->name)->text, marker) == 0) {
			*at = event->time;
			*found = true;
		}
	}
}

bool tw_merge_look(const struct tw_merge *merge, const struct tw_dictionary *dictionary, const struct tw_batch *batch,
                   struct tw_moments *moments)
{
	size_t count = markers_of(merge), found = 0;
	for (size_t i = 0; i < count; i++) {
		look_for(dictionary, batch, merge->options.markers[i], &moments->at[i], &moments->found[i]);
		found += moments->found[i];
	}
	return found < count;
}

/* Reads until all markers have been met, or to the end. Returns 0 or a negative status. */
static int scan(struct tw_reader *reader, const struct tw_merge *merge, struct tw_moments *moments)
{
	struct tw_batch batch;
	int got;
	do
		got = tw_read(reader, &batch);
	while (got > 0 && tw_merge_look(merge, reader->dictionary, &batch, moments));
	return got < 0 ? got : 0;
}

static int check_moments(struct tw_reader *merged, const struct tw_moments *moments, const char *path)
{
	struct tw_merge *merge = merged->state;
	size_t count = markers_of(merge);
	for (size_t i = 0; i < count; i++)
		if (!moments->found[i])
			return tw_fail(merged, TW_ERR_VALUE, "%s has no event \"%s\"", path, merge->options.markers[i]);
	if (count > 1 && moments->at[1] <= moments->at[0])
		return tw_fail(merged, TW_ERR_VALUE, "%s: \"%s\" does not come after \"%s\"", path,
		               merge->options.markers[1], merge->options.markers[0]);
	return 0;
}

static int find(struct tw_reader *merged, const struct tw_merge_input *input, struct tw_moments *moments)
{
	struct tw_reader *again = NULL;
	if (!tw_input_seekable(input->reader->input))
		return tw_fail(merged, TW_ERR_UNSUPPORTED,
		               "%s: markers are looked for in files only, not in pipes or compressed ones",
		               tw_merge_name(input->trace));
	int status = tw_open_again(&again, input->reader);
	if (status >= 0)
		status = scan(again, merged->state, moments);
	if (status < 0)
		tw_fail(merged, status, "%s", again ? tw_reader_error(again) : "out of memory");
	tw_close(again);
	return status;
}

/* How much time passes between the markers, in a trace and in the first one. */
static int take_speed(struct tw_reader *merged, struct tw_merge_trace *trace, uint64_t from, uint64_t to)
{
	if (from / SPEED_MOST > to || to / SPEED_MOST > from)
		return tw_fail(merged, TW_ERR_VALUE,
		               "%s: its clock and that of the first trace differ by more than %d times",
		               tw_merge_name(trace), SPEED_MOST);
	unsigned shift = (from | to) >> 62 ? 2 : 0; /* products have to stay within 128 bits */
	trace->time.from = from >> shift;
	trace->time.to = to >> shift;
	return 0;
}

int tw_merge_meet(struct tw_reader *merged, struct tw_merge_trace *trace, const struct tw_moments *own,
                  const struct tw_moments *first)
{
	int status = check_moments(merged, own, tw_merge_name(trace));
	trace->time.pivot = own->at[0];
	trace->time.shift = (tw_wide)first->at[0] - own->at[0];
	if (status == 0 && markers_of(merged->state) > 1)
		status = take_speed(merged, trace, own->at[1] - own->at[0], first->at[1] - first->at[0]);
	return status;
}

int tw_merge_find_markers(struct tw_reader *merged)
{
	struct tw_merge *merge = merged->state;
	struct tw_moments first = {0};
	int status = 0;
	for (size_t i = 0; i < merge->count && status == 0; i++) {
		struct tw_moments own = {0};
		status = find(merged, &merge->inputs[i], &own);
		first = i == 0 ? own : first;
		if (status == 0)
			status = tw_merge_meet(merged, merge->inputs[i].trace, &own, &first);
	}
	return status;
}
