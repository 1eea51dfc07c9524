/* windows.c - which parts of a program are recorded (xtrace): by options, by a list, by SimPoint's files. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/record/windows.h"

#include "base/text/scan.h"
#include "cli/output/message.h"
#include "cli/output/show.h"
#include "collect/flush.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INTERVAL = 1000000 /* of phases */ };

/* ---- The list. ---- */

static int add(struct collect_windows *windows, const struct collect_window *window)
{
	if (window->length == 0 || window->from > UINT64_MAX / 2 || window->length > UINT64_MAX / 2)
		return tw_say_error("a window wants a length, of at most 2^63 instructions");
	if (windows->count == COLLECT_WINDOWS)
		return tw_say_error("more than %d windows", COLLECT_WINDOWS);
	windows->items[windows->count++] = *window;
	return 0;
}

static int compare(const void *one, const void *other)
{
	const struct collect_window *a = one, *b = other;
	return a->from < b->from ? -1 : a->from > b->from;
}

/* ---- Lines of numbers. ---- */

struct lines {
	const char *path;
	FILE *file;
	char *line;
	size_t room;
	unsigned number;
};

/* The next line that is neither empty nor a comment; NULL: there is none. */
static const char *next_line(struct lines *lines)
{
	while (getline(&lines->line, &lines->room, lines->file) > 0) {
		const char *text = lines->line + strspn(lines->line, " \t\r\n");
		lines->number++;
		if (*text && *text != '#')
			return text;
	}
	return NULL;
}

static bool take_number(const char **text, uint64_t *value)
{
	*text += strspn(*text, " \t");
	return tw_scan_number(text, 10, value);
}

static bool take_weight(const char **text, double *weight)
{
	char *end;
	*weight = strtod(*text, &end);
	bool fine = end != *text && *weight >= 0 && *weight <= 1;
	*text = end;
	return fine;
}

static bool is_end(const char *text)
{
	return text[strspn(text, " \t\r\n")] == '\0';
}

static int refuse_line(const struct lines *lines, const char *wanted)
{
	return tw_say_error("%s:%u: not %s", lines->path, lines->number, wanted);
}

/* Calls `take` for each line, until it returns something else than 0. Returns that, or TW_EXIT_FAILED. */
static int read_lines(const char *path, int (*take)(void *context, const struct lines *lines, const char *text),
                      void *context)
{
	struct lines lines = {.path = path, .file = fopen(path, "re")};
	int status = 0;
	if (!lines.file)
		return tw_say_error("%s: %s", path, strerror(errno));
	for (const char *text; status == 0 && (text = next_line(&lines));)
		status = take(context, &lines, text);
	if (status == 0 && ferror(lines.file))
		status = tw_say_error("%s: cannot be read", path);
	free(lines.line);
	fclose(lines.file);
	return status;
}

/* "FROM LENGTH [PHASE WEIGHT [THREAD]]" */
static int take_window(void *context, const struct lines *lines, const char *text)
{
	struct collect_window window = {.thread = UINT32_MAX, .phase = UINT32_MAX};
	uint64_t phase, thread;
	bool fine = take_number(&text, &window.from) && take_number(&text, &window.length);
	if (fine && !is_end(text)) {
		fine = take_number(&text, &phase) && phase < UINT32_MAX && take_weight(&text, &window.weight);
		window.phase = (uint32_t)phase;
	}
	if (fine && !is_end(text)) {
		fine = take_number(&text, &thread) && thread < UINT32_MAX;
		window.thread = (uint32_t)thread;
	}
	if (!fine || !is_end(text))
		return refuse_line(lines, "FROM LENGTH [PHASE WEIGHT [THREAD]]");
	return add(context, &window);
}

/* ---- SimPoint's. ---- */

struct simpoints {
	struct collect_windows *windows;
	uint64_t interval;
};

/* "INTERVAL PHASE", of the first thread */
static int take_simpoint(void *context, const struct lines *lines, const char *text)
{
	const struct simpoints *simpoints = context;
	uint64_t interval, phase;
	if (!take_number(&text, &interval) || !take_number(&text, &phase) || !is_end(text) || phase >= UINT32_MAX ||
	    interval > UINT64_MAX / 2 / simpoints->interval)
		return refuse_line(lines, "INTERVAL PHASE");
	const struct collect_window window = {.from = interval * simpoints->interval,
	                                      .length = simpoints->interval,
	                                      .phase = (uint32_t)phase};
	return add(simpoints->windows, &window);
}

/* "WEIGHT PHASE" */
static int take_phase_weight(void *context, const struct lines *lines, const char *text)
{
	struct collect_windows *windows = context;
	uint64_t phase;
	double weight;
	if (!take_weight(&text, &weight) || !take_number(&text, &phase) || !is_end(text))
		return refuse_line(lines, "WEIGHT PHASE, of at most 1");
	for (uint32_t i = 0; i < windows->count; i++)
		if (windows->items[i].phase == phase)
			windows->items[i].weight = weight;
	return 0;
}

static const char simpoints_suffix[] = ".simpoints";

static bool is_simpoints(const char *path)
{
	size_t length = strlen(path), suffix = strlen(simpoints_suffix);
	return length > suffix && strcmp(path + length - suffix, simpoints_suffix) == 0;
}

static int read_simpoints(struct collect_windows *windows, const char *path, uint64_t interval)
{
	char weights[PATH_MAX];
	struct simpoints simpoints = {windows, interval ? interval : INTERVAL};
	int status = read_lines(path, take_simpoint, &simpoints);
	int size =
	    snprintf(weights, sizeof weights, "%.*s.weights", (int)(strlen(path) - strlen(simpoints_suffix)), path);
	if (status || size >= (int)sizeof weights)
		return status ? status : tw_say_error("%s: the name is too long", path);
	return read_lines(weights, take_phase_weight, windows);
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
		return is_simpoints(wanted->file) ? read_simpoints(windows, wanted->file, wanted->length)
		                                  : read_lines(wanted->file, take_window, windows);
	if (wanted->list.count)
		return add_words(windows, &wanted->list);
	windows->every = wanted->every;
	return add(windows, &one);
}

bool tw_windows_wanted(const struct tw_record_options *options)
{
	const struct tw_record_windows *wanted = &options->windows;
	return wanted->file || wanted->list.count || wanted->skip || wanted->length || wanted->every;
}

/* Options that say nothing together, or leave something open. NULL: there are none. */
static const char *find_fault(const struct tw_record_options *options)
{
	const struct tw_record_windows *wanted = &options->windows;
	if (!tw_windows_wanted(options))
		return wanted->warm_up ? "--warm-up is of a window: --windows, --window, --length" : NULL;
	if (options->from_hint)
		return "either windows or --from-hint";
	if ((wanted->file != NULL) + (wanted->list.count != 0) + (wanted->skip || wanted->every) > 1)
		return "only one of --windows, --window, --skip with --length";
	if (wanted->list.count && wanted->length)
		return "--window has its own length";
	if (wanted->file && wanted->length && !is_simpoints(wanted->file))
		return "--length is for a file of SimPoint's, named .simpoints: others have their own";
	if (!wanted->file && !wanted->list.count && !wanted->length)
		return "how many instructions? --length N";
	if (wanted->every && wanted->every < wanted->length)
		return "windows of --every would overlap: --length is more";
	return NULL;
}

int tw_windows_fill(struct collect_windows *windows, const struct tw_record_options *options)
{
	const struct tw_record_windows *wanted = &options->windows;
	const char *fault = find_fault(options);
	if (fault)
		return tw_say_error("%s", fault);
	if (!tw_windows_wanted(options))
		return 0;
	windows->warm_up = wanted->warm_up;
	int status = add_all(windows, wanted);
	if (status == 0 && windows->count == 0)
		status = tw_say_error("%s: no window", wanted->file);
	qsort(windows->items, windows->count, sizeof *windows->items, compare);
	return status;
}

void tw_windows_say_missing(const struct collect_windows *windows)
{
	unsigned missing = 0;
	for (uint32_t i = 0; i < windows->count; i++)
		missing += !atomic_load(&windows->items[i].begun);
	if (missing)
		tw_say("%s not recorded: the program ended before", tw_show_plural(missing, "window").text);
}
