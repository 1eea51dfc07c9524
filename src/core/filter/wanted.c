/* wanted.c - which records the filters let through: those of the events that they let through. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/filter/wanted.h"

#include "base/memory/memory.h"
#include "core/filter/filter.h"
#include "core/format.h"

#include <stdlib.h>

/* A page tells of so many bytes of the trace with a bit for each unit. */
enum { PAGE_BITS = 1 << 15, PAGE_BYTES = PAGE_BITS / 8 };

struct tw_wanted {
	uint8_t **pages; /* NULL: none of them */
	size_t count, room;
	size_t memory, limit;
};

static bool add_pages(struct tw_wanted *wanted, size_t count)
{
	if (!tw_grow(&wanted->pages, &wanted->room, count, sizeof *wanted->pages))
		return false;
	while (wanted->count < count)
		wanted->pages[wanted->count++] = NULL;
	return true;
}

static bool mark(struct tw_wanted *wanted, uint64_t offset)
{
	uint64_t bit = offset / TW_WANTED_UNIT;
	size_t number = (size_t)(bit / PAGE_BITS);
	if (number >= wanted->count && !add_pages(wanted, number + 1))
		return false;
	uint8_t **page = &wanted->pages[number];
	if (!*page && wanted->memory + PAGE_BYTES <= wanted->limit) {
		*page = calloc(1, PAGE_BYTES);
		wanted->memory += PAGE_BYTES;
	}
	if (*page)
		(*page)[bit % PAGE_BITS / 8] |= (uint8_t)(1u << bit % 8);
	return *page != NULL;
}

static int mark_all(struct tw_wanted *wanted, struct tw_reader *events, bool clipped)
{
	const struct tw_format *format = events->format;
	struct tw_batch batch;
	int count;
	while ((count = tw_pull(events, &batch)) > 0)
		for (size_t i = 0; i < batch.count; i++) {
			const struct tw_event *event = &batch.events[i];
			bool made = event->kind == TW_LOST || (tw_is_made(event) && !clipped);
			if (!made &&
			    !mark(wanted, format->files.place ? format->files.place(events, event) : event->offset))
				return TW_ERR_MEMORY;
		}
	return count;
}

int tw_wanted_new(struct tw_wanted **made, struct tw_reader *reader, bool clipped)
{
	struct tw_wanted *wanted = calloc(1, sizeof *wanted);
	struct tw_reader *events = NULL;
	*made = wanted;
	if (!wanted)
		return TW_ERR_MEMORY;
	wanted->limit = tw_memory_limit(reader) / 2;
	int status = tw_input_spool(reader->input, reader->options.temporary_directory);
	if (status == 0)
		status = tw_open_again(&events, reader);
	if (status == 0)
		status = tw_begin(events, TW_USE_EVENTS, &(struct tw_request){.marks_made = true});
	if (status == 0)
		status = mark_all(wanted, events, clipped);
	tw_close(events);
	return status;
}

bool tw_wanted_any(const struct tw_wanted *wanted)
{
	return wanted->memory > 0;
}

bool tw_is_wanted(const struct tw_wanted *wanted, uint64_t offset)
{
	uint64_t bit = offset / TW_WANTED_UNIT;
	const uint8_t *page = bit / PAGE_BITS < wanted->count ? wanted->pages[bit / PAGE_BITS] : NULL;
	return page && page[bit % PAGE_BITS / 8] >> bit % 8 & 1;
}

void tw_wanted_free(struct tw_wanted *wanted)
{
	if (!wanted)
		return;
	for (size_t i = 0; i < wanted->count; i++)
		free(wanted->pages[i]);
	free(wanted->pages);
	free(wanted);
}
