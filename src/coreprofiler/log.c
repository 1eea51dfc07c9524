/* log.c - where the lines go: an image that `record` reads, or a log that the profiler writes itself. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "coreprofiler/profiler.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

/* ---- Time. ---- */

static struct timespec start;

uint64_t profiler_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	const int64_t ns = (int64_t)(now.tv_sec - start.tv_sec) * 1000000000 + (now.tv_nsec - start.tv_nsec);
	return (uint64_t)ns / 1000000;
}

/* ---- The log. ---- */

static struct lines_file log_file = {.fd = -1}; /* where the profiler writes the log itself */
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;

void profiler_write_out(void)
{
	pthread_mutex_lock(&writing);
	int error = 0;
	if (log_file.fd >= 0 && !profiler_is_off())
		error = lines_file_is_open(&log_file) ? lines_drain(&profiler.lines, log_file.fd) : EBADF;
	if (error) {
		profiler_say(PROFILER_ERROR, "%s: %s: nothing more is written", profiler.options.log, strerror(error));
		lines_file_close(&log_file); /* a full disk, a reader that has gone, a program that closes all */
		profiler.off = true;
	}
	pthread_mutex_unlock(&writing);
}

/* "%p" of the name becomes the process. */
static bool name_file(const char *pattern, char path[PATH_MAX])
{
	struct text text;
	text_begin(&text, "");
	for (const char *at = pattern; *at; at++) {
		if (at[0] != '%' || at[1] != 'p')
			text_char(&text, *at);
		else {
			text_decimal(&text, (uint64_t)getpid());
			at++;
		}
	}
	const bool fits = !text.failed && text.length > 0 && text.length < PATH_MAX;
	if (fits) {
		memcpy(path, text.bytes, text.length);
		path[text.length] = '\0';
	}
	text_end(&text);
	return fits;
}

/* Room for what is written until the next tick, and for lines that take long to be written. */
enum { MEMORY = 1 << 28 };
#define FILE_ROOM (UINT64_C(1) << 36)

/* A process may be another program by then: a file that is there is not its own. */
static bool open_image(const char *pattern, uint64_t room)
{
	char path[PATH_MAX];
	const size_t length = name_file(pattern, path) ? strlen(path) : 0;
	static const char ending[] = ".part";
	const size_t stem = length > sizeof ending ? length - (sizeof ending - 1) : 0;
	int error = stem ? lines_open(&profiler.lines, path, room) : EINVAL;
	for (unsigned i = 1; error == EEXIST && i < 1000 && length + 8 < PATH_MAX; i++) {
		snprintf(path + stem, PATH_MAX - stem, "-%u%s", i, ending);
		error = lines_open(&profiler.lines, path, room);
	}
	errno = error;
	return error == 0;
}

/* "Stdout" and "Stderr" are the program's own, as CoreProfiler has it. -1: not to be opened. */
static int open_output(const struct profiler_options *options)
{
	char path[PATH_MAX];
	const int how = O_WRONLY | O_CLOEXEC | O_CREAT | (options->stream ? O_APPEND : O_TRUNC);
	if (options->stream && strcasecmp(options->log, "Stdout") == 0)
		return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (options->stream && strcasecmp(options->log, "Stderr") == 0)
		return fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	return name_file(options->log, path) ? open(path, how, 0600) : -1;
}

static bool open_log(const struct profiler_options *options)
{
	errno = EINVAL;
	log_file = lines_file_of(options->log ? open_output(options) : -1);
	return log_file.fd >= 0 && lines_open(&profiler.lines, NULL, MEMORY) == 0;
}

bool profiler_log_open(const struct profiler_options *options)
{
	clock_gettime(CLOCK_MONOTONIC, &start);
	const bool opened =
	    options->image ? open_image(options->image, options->room ? options->room : FILE_ROOM) : open_log(options);
	const char *name = options->image ? options->image : options->log ? options->log : "PROF_TRACE_FILENAME";
	if (opened)
		profiler_say(PROFILER_INFO, "%s: recording begins", name);
	else
		profiler_say(PROFILER_ERROR, "%s: %s: nothing is recorded", name, strerror(errno));
	return opened;
}
