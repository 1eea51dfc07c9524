/* again.c - standard input that is read more than once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/again.h"

#include "base/output.h"
#include "cli/command.h"
#include "cli/message.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool reads_input(char **paths, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(paths[i], "-") == 0)
			return true;
	return false;
}

/* A file that is gone when it is closed. Returns its descriptor, or -1. */
static int open_nameless(void)
{
	char path[4096];
	const char *folder = getenv("TMPDIR");
	int length = snprintf(path, sizeof path, "%s/trackway.XXXXXX", folder && *folder ? folder : "/tmp");
	if (length < 0 || (size_t)length >= sizeof path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	int fd = mkstemp(path);
	if (fd >= 0)
		unlink(path);
	return fd;
}

/* Returns 0 or an errno. */
static int copy(int fd)
{
	struct tw_output out;
	ssize_t n;
	int error = tw_output_fd(&out, fd);
	if (error)
		return error;
	do {
		char *room = tw_output_room(&out, TW_OUTPUT_BUFFER);
		n = read(STDIN_FILENO, room, TW_OUTPUT_BUFFER);
		if (n > 0)
			tw_output_took(&out, (size_t)n);
	} while (n > 0 || (n < 0 && errno == EINTR));
	error = n < 0 ? errno : 0;
	tw_output_flush(&out);
	error = error ? error : out.error;
	free(out.buffer);
	return error;
}

static int keep(void)
{
	int fd = open_nameless();
	if (fd < 0)
		return errno;
	int error = copy(fd);
	if (!error && (dup2(fd, STDIN_FILENO) < 0 || lseek(STDIN_FILENO, 0, SEEK_SET) < 0))
		error = errno;
	close(fd);
	return error;
}

/* Returns the path of a named pipe, which would be empty when it is read the second time; NULL where there is none. */
static const char *find_pipe(char **paths, size_t count)
{
	struct stat status;
	for (size_t i = 0; i < count; i++)
		if (strcmp(paths[i], "-") != 0 && stat(paths[i], &status) == 0 && S_ISFIFO(status.st_mode))
			return paths[i];
	return NULL;
}

int tw_keep_input(char **paths, size_t count)
{
	const char *pipe = find_pipe(paths, count);
	if (pipe)
		return tw_say_error("%s: a pipe that must be read more than once: give it as standard input, -", pipe);
	if (!reads_input(paths, count) || lseek(STDIN_FILENO, 0, SEEK_CUR) >= 0)
		return 0;
	int error = keep();
	return error ? tw_say_error("-: cannot keep standard input: %s", strerror(error)) : 0;
}

void tw_rewind_path(const char *path)
{
	if (strcmp(path, "-") == 0)
		lseek(STDIN_FILENO, 0, SEEK_SET);
}

void tw_rewind_input(char **paths, size_t count)
{
	for (size_t i = 0; i < count; i++)
		tw_rewind_path(paths[i]);
}
