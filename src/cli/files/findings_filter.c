/* findings_filter.c - the findings that are about what passes the filters. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/files/findings_filter.h"

#include "base/memory/order.h"
#include "cli/files/spooled_stdin.h"
#include "cli/output/message.h"
#include "core/tool.h"

#include <stdlib.h>

static const uint64_t NONE = UINT64_MAX;

/* The offsets of the events that are nearest to a record: the last up to it, which may be its own, and the first behind
 * it; NONE where there is none. */
struct nearest_events {
	uint64_t before, behind;
};

/* A record that findings are about. */
struct finding_place {
	uint64_t record;
	struct nearest_events all, passed;
};

struct finding_places {
	struct finding_place *items; /* by record, each once */
	size_t count;
	uint64_t *kinds; /* of events that pass, how many */
};

/* ---- The places. ---- */

static void add_place(void *context, const struct tw_kept *kept)
{
	static const struct nearest_events none = {UINT64_MAX, UINT64_MAX};
	struct finding_places *places = context;
	places->items[places->count++] = (struct finding_place){.record = kept->record, .all = none, .passed = none};
}

static void count_place(void *context, const struct tw_kept *kept)
{
	(void)kept;
	++*(size_t *)context;
}

static int by_record(const void *a, const void *b)
{
	uint64_t first = ((const struct finding_place *)a)->record, second = ((const struct finding_place *)b)->record;
	return tw_compare(first, second);
}

static bool list_places(struct finding_places *places, const struct tw_findings *findings)
{
	size_t count = 0, kept = 0;
	tw_findings_visit(findings, count_place, &count);
	*places = (struct finding_places){.items = calloc(count ? count : 1, sizeof *places->items)};
	if (!places->items)
		return false;
	tw_findings_visit(findings, add_place, places);
	if (count)
		qsort(places->items, count, sizeof *places->items, by_record);
	for (size_t i = 0; i < count; i++)
		if (!kept || places->items[kept - 1].record != places->items[i].record)
			places->items[kept++] = places->items[i];
	places->count = kept;
	return true;
}

/* The first place at an offset or behind it. */
static size_t find(const struct finding_places *places, uint64_t offset)
{
	return tw_count_below(places->items, places->count, TW_KEY(struct finding_place, record), offset);
}

/* ---- Events. ---- */

static struct nearest_events *near_of(struct finding_place *place, bool passed)
{
	return passed ? &place->passed : &place->all;
}

/* Notes an event at the two places that it is between. Places further away have it from these: see spread(). */
static void note(struct finding_places *places, uint64_t offset, bool passed)
{
	size_t behind = find(places, offset);
	if (behind < places->count) {
		struct nearest_events *near = near_of(&places->items[behind], passed);
		near->before = near->before == NONE || offset > near->before ? offset : near->before;
	}
	if (behind) {
		struct nearest_events *near = near_of(&places->items[behind - 1], passed);
		near->behind = offset < near->behind ? offset : near->behind;
	}
}

/* Gives each place that has no event between itself and the next one the nearest event of its neighbours. */
static void spread(struct finding_places *places, bool passed)
{
	struct finding_place *items = places->items;
	for (size_t i = 1; i < places->count; i++) {
		const uint64_t before = near_of(&items[i - 1], passed)->before;
		struct nearest_events *near = near_of(&items[i], passed);
		near->before = near->before == NONE ? before : near->before;
	}
	for (size_t i = places->count; i-- > 1;) {
		const uint64_t behind = near_of(&items[i], passed)->behind;
		struct nearest_events *near = near_of(&items[i - 1], passed);
		near->behind = near->behind == NONE ? behind : near->behind;
	}
}

static void take(struct finding_places *places, const struct tw_event *event, bool passed)
{
	places->kinds[event->kind] += passed && event->kind != TW_LOST;
	if (!tw_was_made(event)) /* its record is outside of the window */
		note(places, event->offset, passed);
}

static int read_events(struct finding_places *places, const char *path, const struct tw_read_options *options,
                       bool passed)
{
	struct tw_reader *reader;
	struct tw_batch batch;
	tw_rewind_stdin(path);
	int status = tw_open(&reader, path, options);
	if (status >= 0)
		status = tw_begin(reader, TW_USE_EVENTS, &(struct tw_request){.marks_made = true});
	while (status >= 0 && (status = tw_read(reader, &batch)) > 0)
		for (size_t i = 0; i < batch.count; i++)
			take(places, &batch.events[i], passed);
	if (status < 0)
		status = tw_say_failure(reader, status);
	tw_close(reader);
	spread(places, passed);
	return status;
}

/* ---- Findings. ---- */

static bool is_near(const struct nearest_events *all, const struct nearest_events *passed, uint64_t record)
{
	bool before = passed->before != NONE && passed->before == all->before;
	bool behind = passed->behind != NONE && passed->behind == all->behind;
	return all->before == record ? before : before || behind;
}

/* Whether a finding is about the end of the trace: nobody knows what is missing behind it. */
static bool is_of_end(const struct nearest_events *all, const struct tw_kept *kept)
{
	return kept->severity == TW_ERROR && all->behind == NONE && all->before != kept->record;
}

static bool passes(void *context, const struct tw_kept *kept)
{
	const struct finding_places *places = context;
	const struct finding_place *place = &places->items[find(places, kept->record)];
	return is_of_end(&place->all, kept) || is_near(&place->all, &place->passed, kept->record);
}

/* The order of events does not matter here. */
static int read_all(struct finding_places *places, const char *path, const struct tw_read_options *options)
{
	const struct tw_read_options all = {
	    .format = options->format,
	    .xtrace = options->xtrace,
	    .order = TW_ORDER_TRACK,
	    .memory_limit = options->memory_limit,
	    .reorder_window = options->reorder_window,
	    .temporary_directory = options->temporary_directory,
	    .jobs = options->jobs,
	};
	return places->count ? read_events(places, path, &all, false) : 0;
}

static int read_passed(struct finding_places *places, const char *path, const struct tw_read_options *options)
{
	struct tw_read_options passed = *options;
	passed.order = TW_ORDER_TRACK;
	passed.checking = TW_CHECK_DAMAGE;
	passed.findings_only = false;
	passed.on_finding = NULL;
	return read_events(places, path, &passed, true);
}

int tw_findings_filter(struct tw_findings *findings, size_t most, const char *path,
                       const struct tw_read_options *options, uint64_t passed[static TW_EVENT_KINDS])
{
	struct finding_places places;
	if (!list_places(&places, findings))
		return tw_say_error("out of memory");
	places.kinds = passed;
	int status = read_all(&places, path, options);
	if (status == 0)
		status = read_passed(&places, path, options);
	if (status == 0)
		tw_findings_keep(findings, most, passes, &places);
	free(places.items);
	return status;
}
