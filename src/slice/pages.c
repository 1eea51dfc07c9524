/* pages.c - the memory of a slice, and how much there may be of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "slice/slice.h"

#include <stdlib.h>

size_t slice_writes_most(const struct slice *slice)
{
	return slice->pages.most * SLICE_PAGE;
}

size_t slice_places_most(const struct slice *slice)
{
	return slice->pages.most * (SLICE_PAGE / sizeof(uint32_t));
}

int slice_no_room(const struct slice *slice)
{
	if (slice->pages.count < slice->pages.most && slice->writes.count < slice_writes_most(slice) &&
	    slice->places.count < slice_places_most(slice))
		return tw_fail_memory(slice->reader);
	return tw_fail(slice->reader, TW_ERR_ROOM, "the slice needs more memory than the limit allows (--memory)");
}

struct slice_page *slice_page_at(struct slice *slice, uint64_t address, bool make)
{
	uint64_t start = address & ~(uint64_t)(SLICE_PAGE - 1);
	uint32_t index;
	if (tw_map_find(&slice->pages.map, start, &index))
		return slice->pages.items[index];
	if (!make || slice->pages.count >= slice->pages.most)
		return NULL;
	struct slice_page *page = calloc(1, sizeof *page);
	if (!page ||
	    !tw_grow(&slice->pages.items, &slice->pages.room, slice->pages.count + 1, sizeof *slice->pages.items) ||
	    !tw_map_add(&slice->pages.map, start, (uint32_t)slice->pages.count)) {
		free(page);
		return NULL;
	}
	page->address = start;
	return slice->pages.items[slice->pages.count++] = page;
}

void slice_free(struct slice *slice)
{
	for (size_t i = 0; i < slice->pages.count; i++)
		free(slice->pages.items[i]);
	free(slice->pages.items);
	free(slice->places.items);
	free(slice->events.items);
	free(slice->writes.items);
	free(slice->stubs.items);
	tw_map_free(&slice->pages.map);
	tw_map_free(&slice->places.map);
}
