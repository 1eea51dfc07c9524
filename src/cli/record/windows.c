/* windows.c - which parts of a program are recorded (xtrace): by options, by a list, by SimPoint's files. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/record/windows.h"

#include "base/text/scan.h"
#include "cli/output/message.h"
#include "cli/output/show.h"
#include "cli/record/machine.h"
#include "cli/record/window_list.h"
#include "collect/flush.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int add(struct collect_windows *windows, const struct collect_window *window)
{
	char fault[TW_WINDOW_FAULT_ROOM];
	return tw_window_add(windows, window, fault) ? 0 : tw_say_error("%s", fault);
}

static int add_list(struct collect_windows *windows, const struct tw_record_windows *wanted)
{
	char fault[TW_WINDOW_FAULT_ROOM];
	return tw_window_list_read(windows, wanted->file, wanted->length, fault) ? 0 : tw_say_error("%s", fault);
}

static int compare(const void *one, const void *other)
{
	const struct collect_window *a = one, *b = other;
	return a->from < b->from ? -1 : a->from > b->from;
}

/* ---- What is asked for. ---- */

/* "FROM:LENGTH" */
static int add_word(struct collect_windows *windows, const char *word)
{
	struct collect_window window = {.thread = UINT32_MAX, .phase = UINT32_MAX};
	const char *text = word;
	if (!tw_scan_number(&text, 10, &window.from) || *text++ != ':' || !tw_scan_number(&text, 10, &window.length) ||
	    *text)
		return tw_say_error("--window %s: not FROM:LENGTH", word);
	return add(windows, &window);
}

static int add_words(struct collect_windows *windows, const struct tw_list *words)
{
	int status = 0;
	for (size_t i = 0; status == 0 && i < words->count; i++)
		status = add_word(windows, words->items[i]);
	return status;
}

static int add_all(struct collect_windows *windows, const struct tw_record_windows *wanted)
{
	const struct collect_window one = {.from = wanted->skip,
	                                   .length = wanted->length,
	                                   .thread = UINT32_MAX,
	                                   .phase = UINT32_MAX};
	if (wanted->file)
		return add_list(windows, wanted);
	if (wanted->list.count)
		return add_words(windows, &wanted->list);
	windows->every = wanted->every;
	return add(windows, &one);
}

bool tw_windows_wanted(const struct tw_record_options *options)
{
	const struct tw_record_windows *wanted = &options->xtrace.windows;
	return wanted->file || wanted->list.count || wanted->skip || wanted->length || wanted->every;
}

/* Options that say nothing together, or leave something open. NULL: there are none. */
static const char *find_fault(const struct tw_record_options *options)
{
	const struct tw_record_windows *wanted = &options->xtrace.windows;
	if (!tw_windows_wanted(options))
		return wanted->warm_up ? "--warm-up is of a window: --windows, --window, --length" : NULL;
	if (options->xtrace.from_hint && !tw_machine_asked(options))
		return "either windows or --from-hint";
	if ((wanted->file != NULL) + (wanted->list.count != 0) + (wanted->skip || wanted->every) > 1)
		return "only one of --windows, --window, --skip with --length";
	if (wanted->list.count && wanted->length)
		return "--window has its own length";
	if (wanted->file && wanted->length && !tw_window_list_is_simpoints(wanted->file))
		return "--length is for a file of SimPoint's, named .simpoints: others have their own";
	if (!wanted->file && !wanted->list.count && !wanted->length)
		return "how many instructions? --length N";
	if (wanted->every && wanted->every < wanted->length)
		return "windows of --every would overlap: --length is more";
	return NULL;
}

int tw_windows_fill(struct collect_windows *windows, const struct tw_record_options *options)
{
	const struct tw_record_windows *wanted = &options->xtrace.windows;
	const char *fault = find_fault(options);
	if (fault)
		return tw_say_error("%s", fault);
	if (!tw_windows_wanted(options))
		return 0;
	windows->warm_up = wanted->warm_up;
	int status = add_all(windows, wanted);
	qsort(windows->items, windows->count, sizeof *windows->items, compare);
	return status;
}

void tw_windows_say_missing(const struct collect_windows *windows, const char *of)
{
	unsigned missing = 0;
	for (uint32_t i = 0; i < windows->count; i++)
		missing += !atomic_load(&windows->items[i].begun);
	if (missing)
		tw_say("%s not recorded: the %s ended before", tw_show_plural(missing, "window").text, of);
}
