/* markers.c - the clocks of traces that are merged, brought together by events that all of them have. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/merge.h"

enum { SPEED_MOST = 1000 }; /* by how much clocks may differ */

/* When the markers happen in a trace. */
struct moments {
	uint64_t at[TW_MERGE_MARKERS];
	bool found[TW_MERGE_MARKERS];
};

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

/* Reads until all markers have been met, or to the end. Returns 0 or a negative status. */
static int scan(struct tw_reader *reader, const struct tw_merge *merge, struct moments *moments)
{
	struct tw_batch batch;
	size_t count = markers_of(merge), missing = count;
	int got = 1;
	while (missing && (got = tw_read(reader, &batch)) > 0) {
		missing = count;
		for (size_t i = 0; i < count; i++) {
			look_for(reader->dictionary, &batch, merge->options.markers[i], &moments->at[i],
			         &moments->found[i]);
			missing -= moments->found[i];
		}
	}
	return got < 0 ? got : 0;
}

static int check_moments(struct tw_reader *merged, const struct moments *moments, const char *path)
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

static int find(struct tw_reader *merged, size_t i, const struct tw_merge_source *source, struct moments *moments)
{
	struct tw_merge *merge = merged->state;
	struct tw_reader *again = NULL;
	if (!tw_input_seekable(merge->inputs[i].reader->input))
		return tw_fail(merged, TW_ERR_UNSUPPORTED,
		               "%s: markers are looked for in files only, not in pipes or compressed ones",
		               source->path);
	int status = tw_open_again(&again, merge->inputs[i].reader);
	if (status >= 0)
		status = scan(again, merge, moments);
	if (status < 0)
		tw_fail(merged, status, "%s", again ? tw_reader_error(again) : "out of memory");
	tw_close(again);
	return status < 0 ? status : check_moments(merged, moments, source->path);
}

/* How much time passes between the markers, in a trace and in the first one. */
static int take_speed(struct tw_reader *merged, struct tw_merge_time *time, uint64_t from, uint64_t to,
                      const char *path)
{
	if (from / SPEED_MOST > to || to / SPEED_MOST > from)
		return tw_fail(merged, TW_ERR_VALUE,
		               "%s: its clock and that of the first trace differ by more than %d times", path,
		               SPEED_MOST);
	unsigned shift = (from | to) >> 62 ? 2 : 0; /* products have to stay within 128 bits */
	time->from = from >> shift;
	time->to = to >> shift;
	return 0;
}

int tw_merge_find_markers(struct tw_reader *merged, const struct tw_merge_source *sources)
{
	struct tw_merge *merge = merged->state;
	struct moments first = {0};
	int status = 0;
	for (size_t i = 0; i < merge->count && status == 0; i++) {
		struct moments own = {0};
		status = find(merged, i, &sources[i], &own);
		first = i == 0 ? own : first;
		merge->inputs[i].time.pivot = own.at[0];
		merge->inputs[i].time.shift = (tw_wide)first.at[0] - own.at[0];
		if (status == 0 && markers_of(merge) > 1)
			status = take_speed(merged, &merge->inputs[i].time, own.at[1] - own.at[0],
			                    first.at[1] - first.at[0], sources[i].path);
	}
	return status;
}
