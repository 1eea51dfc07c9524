/* naming.c - what metadata tell of tracks: their names, and where they stand. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "chrome/chrome.h"
#include "core/dictionary.h"

static const struct chrome_value *member(const struct chrome_fill *fill, enum chrome_member which)
{
	return &fill->item->values[which];
}

static int name_track(struct chrome_fill *fill, uint32_t track, const struct chrome_value *value)
{
	uint32_t name = chrome_name_of(fill, value);
	if (fill->failed)
		return TW_ERR_MEMORY;
	if (track && name)
		tw_dictionary_name_track(fill->reader->dictionary, track, name);
	return 1;
}

/* It stays an event, too. */
static int sort_track(struct chrome_fill *fill, uint32_t track, const struct chrome_value *value)
{
	uint64_t number;
	if (!track || !chrome_integer(value, &number))
		return 0;
	const int64_t index = (int64_t)number;
	const int32_t kept = index > INT32_MAX ? INT32_MAX : index < INT32_MIN ? INT32_MIN : (int32_t)index;
	return tw_dictionary_set_sort_index(fill->reader->dictionary, track, kept) ? 0 : TW_ERR_MEMORY;
}

/* Source: the "Trace Event Format" document, "Metadata Events". */
static const struct property {
	const char *name, *argument;
	bool thread;
	int (*take)(struct chrome_fill *fill, uint32_t track, const struct chrome_value *value);
} properties[] = {
    {"process_name", "name", false, name_track},
    {"thread_name", "name", true, name_track},
    {"process_sort_index", "sort_index", false, sort_track},
    {"thread_sort_index", "sort_index", true, sort_track},
};

static int take(struct chrome_fill *fill, const struct property *property, const struct chrome_value *value)
{
	const struct chrome_value *pid = member(fill, CHROME_PID);
	uint32_t track = property->thread ? chrome_track(fill->reader, pid, member(fill, CHROME_TID))
	                                  : chrome_process_track(fill->reader, pid);
	return track == UINT32_MAX ? TW_ERR_MEMORY : property->take(fill, track, value);
}

int chrome_take_naming(struct chrome_fill *fill, const struct chrome_phase *phase)
{
	const struct chrome_value *what = member(fill, CHROME_NAME), *args = member(fill, CHROME_ARGS);
	if (phase->need & CHROME_NAMES)
		return take(fill, &properties[chrome_phase_of(fill->item) == 't'], what);
	size_t i = 0;
	while (i < sizeof properties / sizeof *properties && !chrome_is(what, properties[i].name))
		i++;
	if (args->type != CHROME_OBJECT || i == sizeof properties / sizeof *properties)
		return 0;
	struct chrome_scan scan = {.at = args->bytes + 1, .end = args->bytes + args->size};
	struct chrome_value key, value;
	do
		if (!chrome_next_member(&scan, &key, &value))
			return 0;
	while (!chrome_is(&key, properties[i].argument));
	return take(fill, &properties[i], &value);
}
