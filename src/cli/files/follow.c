/* follow.c - a trace that is still written to, read again as it grows.
 *
 * Each pass reads all that there is: so what it shows is the same as of a file that ends there, in every format, and
 * however late records come. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/files/follow.h"

#include "base/bytes/temporary.h"
#include "base/bytes/whole.h"
#include "cli/command.h"
#include "cli/files/spooled_stdin.h"
#include "cli/output/message.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { STEP_MS = 50, LOOK_MS = 500, ROOM = 1 << 16 };

struct followed_file {
	char *path;    /* for the passes */
	int pipe;      /* -1: the file grows by itself */
	int copy;      /* what has come of the pipe */
	uint64_t size; /* bytes that are there */
	bool ended;    /* no more is to come */
};

static int64_t now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Returns 0 or an errno. */
static int keep(struct followed_file *follow, const char *bytes, size_t size)
{
	const int error = tw_write_whole_at(follow->copy, bytes, size, follow->size);
	follow->size += error ? 0 : size;
	return error;
}

/* Whether nobody reads standard output any more. */
static bool is_unread(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO};
	return poll(&out, 1, 0) > 0 && out.revents & POLLERR;
}

/* Takes what comes of the pipe until a time, and waits for more while there is nothing. Returns 0 or an errno. */
static int take_pipe(struct followed_file *follow, int64_t until)
{
	char bytes[ROOM];
	const uint64_t before = follow->size;
	int error = 0;
	while (!error && !follow->ended && !is_unread()) {
		int64_t left = until - now_ms();
		bool any = follow->size > before;
		if (any && left <= 0)
			break;
		if (poll(&(struct pollfd){.fd = follow->pipe, .events = POLLIN}, 1, any ? (int)left : LOOK_MS) == 0)
			continue;
		ssize_t n = read(follow->pipe, bytes, sizeof bytes);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			error = errno;
		follow->ended = n == 0;
		error = n > 0 ? keep(follow, bytes, (size_t)n) : error;
	}
	return error;
}

/* Waits until a time, and until the file has grown. Returns 0 or an errno. */
static int await_growth(struct followed_file *follow, int64_t until)
{
	struct stat about;
	while (!is_unread()) {
		bool standard = strcmp(follow->path, "-") == 0;
		if ((standard ? fstat(STDIN_FILENO, &about) : stat(follow->path, &about)) < 0)
			return errno;
		if ((uint64_t)about.st_size != follow->size && now_ms() >= until) {
			follow->size = (uint64_t)about.st_size;
			break;
		}
		nanosleep(&(struct timespec){.tv_nsec = STEP_MS * 1000000L}, NULL);
	}
	return 0;
}

/* Makes what comes of a pipe standard input. */
static int begin_copy(struct followed_file *follow, int pipe)
{
	static char standard[] = "-";
	const char *folder = tw_temporary_place(tw_temporary_folder());
	follow->pipe = pipe;
	follow->path = standard;
	follow->copy = pipe < 0 ? -1 : tw_temporary_open(folder);
	if (follow->copy >= 0 && dup2(follow->copy, STDIN_FILENO) >= 0)
		return 0;
	return tw_say_error("what comes cannot be kept in %s: %s", folder, strerror(errno));
}

static int begin(struct followed_file *follow)
{
	struct stat about;
	bool standard = strcmp(follow->path, "-") == 0;
	if ((standard ? fstat(STDIN_FILENO, &about) : stat(follow->path, &about)) < 0)
		return tw_say_error("%s: %s", follow->path, strerror(errno));
	if (S_ISREG(about.st_mode))
		return 0;
	if (S_ISDIR(about.st_mode))
		return tw_say_error("%s: a directory cannot be followed", follow->path);
	int pipe = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(follow->path, O_RDONLY | O_CLOEXEC);
	if (pipe < 0)
		return tw_say_error("%s: %s", follow->path, strerror(errno));
	return begin_copy(follow, pipe);
}

int tw_follow(char *path, tw_follow_fn pass, void *context)
{
	struct followed_file follow = {.path = path, .pipe = -1, .copy = -1};
	int status = begin(&follow), error = 0;
	setenv("TRACKWAY_PAGER", "", 1); /* it would wait for its user */
	for (int64_t pause = 0; !status && !error && !follow.ended && !is_unread();) {
		int64_t until = now_ms() + (pause > STEP_MS ? pause : STEP_MS);
		error = follow.pipe < 0 ? await_growth(&follow, until) : take_pipe(&follow, until);
		if (error || (!follow.size && !follow.ended))
			continue;
		int64_t begun = now_ms();
		char *paths[] = {follow.path};
		tw_rewind_stdin(follow.path);
		tw_be_silent(!follow.ended);
		int passed = pass(context, paths, follow.ended);
		tw_be_silent(false);
		status = follow.ended ? passed : 0;
		pause = now_ms() - begun;
	}
	if (follow.copy >= 0)
		close(follow.copy);
	if (follow.pipe >= 0)
		close(follow.pipe);
	return error ? tw_say_error("%s: %s", path, strerror(error)) : status;
}
