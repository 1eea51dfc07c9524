/* messages.c - what the profiler tells of itself where somebody asks, by PROF_LOG_LEVEL, _FILENAME and _STREAM. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "coreprofiler/profiler.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

/* CoreProfiler's own words, in any case, or their numbers. Source: loggerconfigconversions.h of its sources (2017). */
static const char *const levels[] = {"None", "Fatal", "Error", "Warn", "Info", "Debug", "Trace", "All"};

/* Errors and warnings where only the place of messages is told. */
static enum profiler_level level_asked(const char *word, bool place)
{
	enum { COUNT = sizeof levels / sizeof *levels };
	char *end = NULL;
	for (unsigned i = 0; word && i < COUNT; i++)
		if (strcasecmp(word, levels[i]) == 0)
			return (enum profiler_level)i;
	const long number = word ? strtol(word, &end, 0) : -1;
	if (end && end != word && !*end && number >= 0 && number < COUNT)
		return (enum profiler_level)number;
	return word || place ? PROFILER_WARN : PROFILER_SILENT;
}

/* CoreProfiler's meaning: a name of a file is one, unless a stream is told. -1: it cannot be opened. */
static int open_messages(const char *stream, const char *file)
{
	if (stream && strcasecmp(stream, "Stdout") == 0)
		return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (file && !(stream && strcasecmp(stream, "Stderr") == 0))
		return open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	return fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
}

void profiler_say(enum profiler_level level, const char *format, ...)
{
	enum { ROOM = PIPE_BUF };
	const char *stream = secure_getenv("PROF_LOG_STREAM"), *file = secure_getenv("PROF_LOG_FILENAME");
	if (level > level_asked(secure_getenv("PROF_LOG_LEVEL"), stream || file))
		return;
	char text[ROOM];
	va_list arguments;
	const int head = snprintf(text, sizeof text, "trackway: %s: ", levels[level]);
	va_start(arguments, format);
	const int size = vsnprintf(text + head, sizeof text - (size_t)head - 1, format, arguments);
	va_end(arguments);
	const int fd = size < 0 ? -1 : open_messages(stream, file);
	if (fd < 0)
		return;
	const size_t most = sizeof text - 2, used = (size_t)head + (size_t)size < most ? (size_t)(head + size) : most;
	text[used] = '\n';
	const ssize_t written = write(fd, text, used + 1);
	(void)written; /* nobody is there to be told */
	close(fd);
}
