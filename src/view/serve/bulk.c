/* bulk.c - where most of a damaged trace is: a time that damage has made may be years away from all others. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/serve/starts.h"

#include "base/memory/memory.h"
#include "base/memory/order.h"
#include "view/index/bare.h"

#include <stdlib.h>

enum {
	FAR = 1000,  /* times as long as the rest: so much lies between it and what is away */
	MARGIN = 20, /* of the rest, at its end: its last slices are longer than nothing */
	LEAST = 8    /* times: of fewer nothing is most */
};

struct time_list {
	uint64_t *items;
	size_t count, room;
};

static bool add(struct time_list *times, uint64_t time)
{
	if (!tw_grow(&times->items, &times->room, times->count + 1, sizeof *times->items))
		return false;
	times->items[times->count++] = time;
	return true;
}

/* When the last item but one of a row begins, or one near it. There may be many rows: the trace is read for none. */
static uint64_t begin_before_last(const struct view_row *row, const struct view_store *store)
{
	const uint64_t item = row->count - 2;
	if (!row->bare || view_bare_knows(row, store, item))
		return view_row_begin(row, store, item);
	const uint64_t groups = view_bare_grouped(view_bare_of(row, store), 0)->count;
	return view_bare_group(row, store, 0, groups ? groups - 1 : 0).sum.begin;
}

/* The first two and the last two begins of a row: what damage has made is one of them, or some of many rows. */
static bool add_row(struct time_list *times, const struct view_row *row, const struct view_store *store)
{
	return row->count < 4 ||
	       (add(times, view_row_begin(row, store, 0)) && add(times, view_row_begin(row, store, 1)) &&
	        add(times, begin_before_last(row, store)) && add(times, view_row_begin(row, store, row->count - 1)));
}

/* Takes away what is far from most: true while there is some. *first and *last are the ends of what is left. */
static bool split(const struct time_list *times, size_t *first, size_t *last)
{
	size_t at = *first;
	for (size_t i = *first; i < *last; i++)
		if (times->items[i + 1] - times->items[i] > times->items[at + 1] - times->items[at])
			at = i;
	const bool early = at + 1 - *first > *last - at; /* most are before it */
	const size_t from = early ? *first : at + 1, to = early ? at : *last;
	const uint64_t gap = times->items[at + 1] - times->items[at], rest = times->items[to] - times->items[from];
	if (gap / FAR <= rest || (to + 1 - from) * 4 < (*last + 1 - *first) * 3)
		return false;
	*first = from;
	*last = to;
	return true;
}

static void find(struct view *view, struct view_bulk *bulk)
{
	struct time_list times = {0};
	bool fine = add(&times, view->reading.start) && add(&times, view->index.end);
	for (uint64_t i = 0; i < view->index.rows.count && fine; i++)
		fine = add_row(&times, view_index_row_at(&view->index, i), &view->index.store);
	size_t first = 0, last = times.count ? times.count - 1 : 0;
	if (fine && times.count >= LEAST) {
		qsort(times.items, times.count, sizeof *times.items, tw_compare_u64);
		while (last - first + 1 >= LEAST && split(&times, &first, &last))
			bulk->known = true;
	}
	if (bulk->known) {
		const uint64_t rest = times.items[last] - times.items[first];
		bulk->from = view_since_start(view, times.items[first], 0);
		bulk->to = view_since_start(view, times.items[last], 0) + rest / MARGIN + 1;
	}
	free(times.items);
}

const struct view_bulk *view_bulk(struct view *view)
{
	struct view_bulk *bulk = &view->bulk;
	const bool asked = view->options.count == 1 && view->findings.count && view->reading.state != VIEW_READING;
	if (!asked || bulk->of == view->reading.generation)
		return asked && bulk->known ? bulk : NULL;
	*bulk = (struct view_bulk){.of = view->reading.generation};
	find(view, bulk);
	return bulk->known ? bulk : NULL;
}
