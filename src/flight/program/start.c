/* start.c - a recording begins, and again in each forked child, and ends. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "flight/program/start.h"

#include "flight/functions/choose.h"
#include "flight/functions/objects.h"
#include "flight/functions/types.h"
#include "flight/log/log.h"
#include "flight/program/signals.h"
#include "flight/program/snapshot.h"
#include "flight/sites/sleds.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct flight_options options;
static bool signals;

static uint64_t size_of(const char *text)
{
	char *end;
	uint64_t size = strtoull(text, &end, 10);
	static const char units[] = "KMGT";
	const char *unit = *end ? strchr(units, *end) : NULL;
	return unit ? size << (10 * (unit - units + 1)) : size;
}

/* The value of an option in a list, as far as the next comma; NULL: it is not there. */
static const char *value_of(const char *list, const char *name)
{
	const size_t length = strlen(name);
	for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		if (strncmp(at, name, length) == 0 && at[length] == '=')
			return at + length + 1;
	return NULL;
}

static bool is_one(const char *list, const char *name)
{
	const char *value = value_of(list, name);
	return value && *value == '1';
}

/* ---- What an option may be: true, and *end is behind it. ---- */

static bool is_number(const char *value, const char **end)
{
	*end = value + strspn(value, "0123456789");
	return *end > value;
}

static bool is_size(const char *value, const char **end)
{
	const bool is = is_number(value, end);
	*end += **end && strchr("KMGT", **end);
	return is;
}

static bool is_switch(const char *value, const char **end)
{
	*end = value + 1;
	return *value == '0' || *value == '1';
}

static bool is_clock(const char *value, const char **end)
{
	*end = value + strcspn(value, ",");
	const size_t length = (size_t)(*end - value);
	return (length == 4 && memcmp(value, "auto", 4) == 0) || (length == 9 && memcmp(value, "monotonic", 9) == 0) ||
	       (length == 3 && memcmp(value, "tsc", 3) == 0);
}

static bool is_off(const char *value, const char **end)
{
	*end = value + 3;
	return strncmp(value, "off", 3) == 0;
}

static const struct {
	const char *name;
	bool (*is)(const char *value, const char **end);
} known[] = {{"max-size", is_size}, {"ring", is_size},           {"min-duration", is_number}, {"max-depth", is_number},
             {"clock", is_clock},   {"count", is_switch},        {"delayed", is_switch},      {"signals", is_switch},
             {"quiet", is_switch},  {"snapshot-age", is_number}, {"control", is_off}};

static bool is_option(const char *word)
{
	const size_t length = strcspn(word, ",="); /* of the name */
	const char *end;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strlen(known[i].name) == length && memcmp(known[i].name, word, length) == 0)
			return word[length] == '=' && known[i].is(word + length + 1, &end) &&
			       (*end == ',' || *end == '\0');
	return length == 0 && *word != '='; /* nothing between two commas */
}

const char *flight_wrong_option(const char *list)
{
	for (const char *word = list; word; word = strchr(word, ',') ? strchr(word, ',') + 1 : NULL)
		if (!is_option(word))
			return word;
	return NULL;
}

static void take_options(const char *list)
{
	const char *max_size = value_of(list, "max-size"), *ring = value_of(list, "ring"),
		   *clock = value_of(list, "clock"), *shortest = value_of(list, "min-duration"),
		   *deepest = value_of(list, "max-depth");
	const uint64_t space = UINT64_C(1) << 36;
	options.max_size = max_size ? size_of(max_size) : space;
	options.ring = ring ? size_of(ring) : 0;
	options.shortest = shortest ? strtoull(shortest, NULL, 10) : 0;
	options.deepest = deepest ? (uint32_t)strtoul(deepest, NULL, 10) : 0;
	options.count = is_one(list, "count");
	options.delayed = is_one(list, "delayed");
	signals = is_one(list, "signals");
	options.clock = clock && strncmp(clock, "monotonic", 9) == 0 ? FLIGHT_MONOTONIC
	                : clock && strncmp(clock, "tsc", 3) == 0     ? FLIGHT_TICKS
	                                                             : FLIGHT_SOUND;
}

/* ---- Begin and end. ---- */

static bool goes_on;

static void begin_in_child(void)
{
	flight_log_leave();
	if (!goes_on)
		return;
	const int error = flight_log_open(&options);
	if (error) {
		flight_lose_child(error);
		return;
	}
	flight_note_ranges();
	flight_note_types();
}

/* Functions are chosen once: the sleds of others stay as they are. */
static bool choose(const char *functions)
{
	static char *chosen;
	if (chosen)
		return strcmp(chosen, functions) == 0;
	chosen = strdup(functions);
	flight_take_patterns(functions);
	return chosen != NULL;
}

static void prepare_first(void)
{
	static bool done;
	if (!done)
		pthread_atfork(NULL, NULL, begin_in_child);
	done = true;
}

int flight_start(const char *path, const char *list, const char *snapshots, const char *functions)
{
	if (flight_has_log())
		return EALREADY;
	if (!*path || strlen(path) >= sizeof options.path || flight_wrong_option(list))
		return EINVAL;
	if (!choose(functions))
		return EBUSY;
	strcpy(options.path, path);
	take_options(list);
	flight_log_pause(options.delayed);
	const int status = flight_log_open(&options);
	if (status)
		return status;
	const char *age = value_of(list, "snapshot-age");
	flight_name_snapshots(snapshots, path, age ? strtoull(age, NULL, 10) : 0);
	if (signals)
		flight_take_signals();
	goes_on = true;
	flight_note_ranges();
	flight_note_types();
	flight_patch_all();
	flight_watch_objects();
	if (*functions)
		flight_look_ahead();
	prepare_first();
	return 0;
}

int flight_stop(void)
{
	goes_on = false;
	return flight_log_close();
}
