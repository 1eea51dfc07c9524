/* window_list.c - windows of a program as a list tells them, or SimPoint's files. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/record/window_list.h"

#include "base/text/line.h"
#include "base/text/scan.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INTERVAL = 1000000 /* of phases */ };

/* Returns false. */
static bool __attribute__((format(printf, 2, 3))) refuse(char *fault, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(fault, TW_WINDOW_FAULT_ROOM, format, arguments);
	va_end(arguments);
	return false;
}

bool tw_window_add(struct collect_windows *windows, const struct collect_window *window, char *fault)
{
	if (window->length == 0 || window->from > UINT64_MAX / 2 || window->length > UINT64_MAX / 2)
		return refuse(fault, "a window wants a length, of at most 2^63 instructions");
	if (windows->count == COLLECT_WINDOWS)
		return refuse(fault, "more than %d windows", COLLECT_WINDOWS);
	windows->items[windows->count++] = *window;
	return true;
}

/* ---- Lines of numbers. ---- */

struct window_file {
	const char *path;
	FILE *file;
	char line[4096];
	unsigned number;
	char *fault;
};

/* The next line that is neither empty nor a comment. Returns 1, 0 where there is none, or -1 where it is too long. */
static int next_line(struct window_file *lines, const char **text)
{
	int status;
	while ((status = tw_read_line(lines->file, lines->line, sizeof lines->line)) > 0) {
		*text = lines->line + strspn(lines->line, " \t\r\n");
		lines->number++;
		if (**text && **text != '#')
			break;
	}
	lines->number += status < 0;
	return status;
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

static bool refuse_line(const struct window_file *lines, const char *wanted)
{
	return refuse(lines->fault, "%s:%u: not %s", lines->path, lines->number, wanted);
}

/* Calls `take` for each line, until it returns false. */
static bool read_lines(const char *path, bool (*take)(void *context, const struct window_file *lines, const char *text),
                       void *context, char *fault)
{
	struct window_file lines = {.path = path, .file = fopen(path, "re"), .fault = fault};
	const char *text;
	bool fine = true;
	int status = 0;
	if (!lines.file)
		return refuse(fault, "%s: %s", path, strerror(errno));
	while (fine && (status = next_line(&lines, &text)) > 0)
		fine = take(context, &lines, text);
	if (fine && status < 0)
		fine = refuse(fault, "%s:%u: no line of text", path, lines.number);
	if (fine && ferror(lines.file))
		fine = refuse(fault, "%s: cannot be read", path);
	fclose(lines.file);
	return fine;
}

/* "FROM LENGTH [PHASE WEIGHT [THREAD]]" */
static bool take_window(void *context, const struct window_file *lines, const char *text)
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
	return tw_window_add(context, &window, lines->fault);
}

/* ---- SimPoint's. ---- */

struct simpoints {
	struct collect_windows *windows;
	uint64_t interval;
};

/* "INTERVAL PHASE", of the first thread */
static bool take_simpoint(void *context, const struct window_file *lines, const char *text)
{
	const struct simpoints *simpoints = context;
	uint64_t interval, phase;
	if (!take_number(&text, &interval) || !take_number(&text, &phase) || !is_end(text) || phase >= UINT32_MAX ||
	    interval > UINT64_MAX / 2 / simpoints->interval)
		return refuse_line(lines, "INTERVAL PHASE");
	const struct collect_window window = {.from = interval * simpoints->interval,
	                                      .length = simpoints->interval,
	                                      .phase = (uint32_t)phase};
	return tw_window_add(simpoints->windows, &window, lines->fault);
}

/* "WEIGHT PHASE" */
static bool take_phase_weight(void *context, const struct window_file *lines, const char *text)
{
	struct collect_windows *windows = context;
	uint64_t phase;
	double weight;
	if (!take_weight(&text, &weight) || !take_number(&text, &phase) || !is_end(text))
		return refuse_line(lines, "WEIGHT PHASE, of at most 1");
	for (uint32_t i = 0; i < windows->count; i++)
		if (windows->items[i].phase == phase)
			windows->items[i].weight = weight;
	return true;
}

static const char simpoints_suffix[] = ".simpoints";

bool tw_window_list_is_simpoints(const char *path)
{
	size_t length = strlen(path), suffix = strlen(simpoints_suffix);
	return length > suffix && strcmp(path + length - suffix, simpoints_suffix) == 0;
}

static bool read_simpoints(struct collect_windows *windows, const char *path, uint64_t interval, char *fault)
{
	char weights[PATH_MAX];
	struct simpoints simpoints = {windows, interval ? interval : INTERVAL};
	int size =
	    snprintf(weights, sizeof weights, "%.*s.weights", (int)(strlen(path) - strlen(simpoints_suffix)), path);
	if (size >= (int)sizeof weights)
		return refuse(fault, "%s: the name is too long", path);
	return read_lines(path, take_simpoint, &simpoints, fault) &&
	       read_lines(weights, take_phase_weight, windows, fault);
}

bool tw_window_list_read(struct collect_windows *windows, const char *path, uint64_t interval, char *fault)
{
	bool fine = tw_window_list_is_simpoints(path) ? read_simpoints(windows, path, interval, fault)
	                                              : read_lines(path, take_window, windows, fault);
	return fine && !windows->count ? refuse(fault, "%s: no window", path) : fine;
}
