/* instead.c - what else is in a trace in which a command finds nothing, and which command shows that. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/files/instead.h"

#include "base/memory/memory.h"
#include "cli/files/walk.h"
#include "cli/output/message.h"

#include <string.h>
#include <sys/stat.h>

enum {
	LOOK = 1 << 22,                     /* events of a file that are looked at */
	COMPILATIONS = 1 << TW_EVENT_KINDS, /* slices of a runtime that are no calls: beside the kinds of event */
	SLICES = 1 << TW_SLICE_BEGIN | 1 << TW_SLICE_COMPLETE
};

static const struct {
	uint32_t kinds; /* bits 1 << enum tw_event_kind */
	const char *words;
} others[] = {
    {SLICES, "calls (trackway stat --weight calls)"},
    {COMPILATIONS, "compilations (trackway jit)"},
    {1u << TW_ASYNC_BEGIN, "asynchronous operations (trackway stat --by async)"},
    {1u << TW_STACK_SAMPLE | 1u << TW_CPU_SAMPLE, "samples (trackway stat --weight samples)"},
    {1u << TW_ALLOCATION_SAMPLE, "allocations (trackway alloc)"},
    {1u << TW_SWITCH, "switches between threads (trackway sched)"},
    {TW_INSTEAD_TASKS, "tasks of cores (trackway insns --tasks)"},
    {1u << TW_COUNTER, "counters (trackway counters)"},
    {1u << TW_LOG, "log records (trackway log)"},
    {1u << TW_BLOB, "blobs (trackway blobs)"},
    {1u << TW_INSTRUCTIONS, "instructions (trackway insns)"},
    {1u << TW_INSTANT, "instants (trackway sql, table instant)"},
};

static uint32_t kind_of(const struct tw_reader *reader, const struct tw_event *event)
{
	const bool slice = 1u << event->kind & SLICES && strcmp(tw_reader_format(reader), "tracelog") == 0;
	const struct tw_track *track = tw_dictionary_track(tw_reader_dictionary(reader), event->track);
	if (track->kind == TW_TRACK_CPU && strcmp(tw_reader_format(reader), "xtrace") == 0)
		return 1u << event->kind | TW_INSTEAD_TASKS;
	const char *category = tw_dictionary_name(tw_reader_dictionary(reader), event->category)->text;
	return slice && strncmp(category, "jit", 3) == 0 ? COMPILATIONS : 1u << event->kind;
}

/* Folded stacks may have counts of 0. */
static bool counts(const struct tw_event *event)
{
	return event->kind != TW_STACK_SAMPLE || event->value;
}

/* Which kinds of event a file has; 0 where it cannot be read a second time. */
static uint32_t kinds_in(const struct tw_common *common, const char *path)
{
	struct tw_read_options options = {.order = TW_ORDER_FILE};
	struct stat about;
	struct tw_reader *reader;
	struct tw_batch batch;
	uint32_t kinds = 0;
	if (stat(path, &about) != 0 || !(S_ISREG(about.st_mode) || S_ISDIR(about.st_mode)))
		return 0;
	tw_take_options(common, false, &options);
	int status = tw_open(&reader, path, &options);
	for (size_t seen = 0; status >= 0 && seen < LOOK && (status = tw_read(reader, &batch)) > 0; seen += batch.count)
		for (size_t i = 0; i < batch.count; i++)
			kinds |= counts(&batch.events[i]) ? kind_of(reader, &batch.events[i]) : 0;
	tw_close(reader);
	return kinds;
}

void tw_say_instead(const struct tw_common *common, const char *what, uint32_t wanted, char **paths, size_t count)
{
	struct tw_text list = {0};
	uint32_t kinds = 0;
	for (size_t i = 0; i < count && !tw_has_filters(common); i++)
		kinds |= kinds_in(common, paths[i]);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		if (!(kinds & wanted & others[i].kinds))
			continue;
		tw_text_add(&list, ", ", list.length ? 2 : 0);
		tw_text_add(&list, others[i].words, strlen(others[i].words));
	}
	if (list.bytes && what)
		tw_say("there is no %s in the trace, but it has %s", what, list.bytes);
	else if (list.bytes)
		tw_say("the trace has %s", list.bytes);
	else if (what && !tw_has_filters(common))
		tw_say("there is no %s in the trace", what);
	tw_text_free(&list);
}
