/* windows.c - the list of windows beside a trace. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "slice/windows.h"

#include "base/memory/memory.h"
#include "base/text/line.h"
#include "base/text/scan.h"
#include "xtrace/xtrace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MOST = 4096, SHARE = 8 /* of the memory limit */ };

/* "....maps" of a set, as "....windows"; NULL where its files have no names, or without memory. */
static char *place_of(const struct xtrace_set *set)
{
	const struct xtrace_track *track = set->tracks;
	const char *file = !set->count ? NULL : track->data ? track->data : track->snapshots;
	const char *slash = file ? strrchr(file, '/') : NULL;
	char *place = NULL;
	if (!file || !*track->name.timestamp)
		return NULL;
	int length = slash ? (int)(slash + 1 - file) : 0;
	return asprintf(&place, "%.*sxtrace.%s.windows", length, file, track->name.timestamp) < 0 ? NULL : place;
}

static bool take_tab(const char **text)
{
	bool is = **text == '\t';
	*text += is;
	return is;
}

static bool take_phase(const char **text, struct slice_window *window)
{
	char *end;
	if (strncmp(*text, "-\t-\t", 4) == 0) {
		*text += 4;
		return true;
	}
	window->has_phase = true;
	if (!tw_scan_number(text, 10, &window->phase) || !take_tab(text))
		return false;
	window->weight = strtod(*text, &end);
	bool fine = end != *text && window->weight >= 0 && window->weight <= 1;
	*text = end;
	return fine && take_tab(text);
}

/* As xtrace.md, "Windows of long programs", has the columns. */
static bool scan(const char *text, struct slice_window *window)
{
	uint64_t *const before[] = {&window->number, &window->thread, &window->from, &window->length};
	uint64_t *const behind[] = {&window->snapshot, &window->warm_up, &window->warm_up_snapshot};
	bool fine = true;
	*window = (struct slice_window){0};
	for (size_t i = 0; fine && i < sizeof before / sizeof *before; i++)
		fine = tw_scan_number(&text, 10, before[i]) && take_tab(&text);
	fine = fine && take_phase(&text, window);
	for (size_t i = 0; fine && i < sizeof behind / sizeof *behind; i++)
		fine = (i == 0 || take_tab(&text)) && tw_scan_number(&text, 10, behind[i]);
	return fine && (*text == '\n' || *text == '\0') && window->length &&
	       window->warm_up_snapshot <= window->snapshot;
}

static int take_line(struct slice_windows *windows, struct tw_reader *reader, const char *place, const char *line,
                     unsigned number)
{
	if (*line == '#')
		return 0;
	if (windows->count >= tw_memory_limit(reader) / SHARE / sizeof *windows->items)
		return tw_fail(reader, TW_ERR_LIMIT, "%s:%u: more windows than the memory limit allows", place, number);
	if (!tw_grow(&windows->items, &windows->room, windows->count + 1, sizeof *windows->items))
		return tw_fail_memory(reader);
	if (!scan(line, &windows->items[windows->count]))
		return tw_fail(reader, TW_ERR_VALUE, "%s:%u: is no line of a window", place, number);
	windows->count++;
	return 0;
}

static int read_lines(struct slice_windows *windows, struct tw_reader *reader, const char *place, FILE *file)
{
	char line[LINE_MOST];
	int status = 0, got;
	unsigned number = 1;
	for (; status == 0 && (got = tw_read_line(file, line, sizeof line)); number++)
		status = got > 0 ? take_line(windows, reader, place, line, number)
		                 : tw_fail(reader, TW_ERR_VALUE, "%s:%u: is no line of a window", place, number);
	if (status == 0 && ferror(file))
		return tw_fail(reader, TW_ERR_SYSTEM, "%s: cannot be read", place);
	return status;
}

int slice_windows_read(struct slice_windows *windows, struct tw_reader *reader)
{
	*windows = (struct slice_windows){0};
	if (reader->format != &tw_format_xtrace)
		return tw_fail(reader, TW_ERR_UNSUPPORTED, "%s has no instructions: an xtrace has",
		               tw_source_name(reader));
	char *place = place_of(&xtrace_of(reader)->set);
	FILE *file = place ? fopen(place, "re") : NULL;
	int status = file    ? read_lines(windows, reader, place, file)
	             : place ? tw_fail(reader, TW_ERR_SYSTEM, "%s: %s", place, strerror(errno))
	                     : tw_fail(reader, TW_ERR_VALUE, "%s has no name, so that no list of windows is beside it",
	                               tw_source_name(reader));
	if (file)
		fclose(file);
	free(place);
	if (status == 0 && !windows->count)
		return tw_fail(reader, TW_ERR_VALUE, "the list of windows is empty");
	return status;
}

void slice_windows_free(struct slice_windows *windows)
{
	free(windows->items);
}
