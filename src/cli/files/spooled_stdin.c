/* spooled_stdin.c - standard input that is read more than once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/files/spooled_stdin.h"

#include "base/bytes/output.h"
#include "base/bytes/temporary.h"
#include "cli/command.h"
#include "cli/output/message.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool tw_reads_stdin(char **paths, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(paths[i], "-") == 0)
			return true;
	return false;
}

/* As read(), of an input that whoever opened it may have told not to wait, too. */
static ssize_t read_input(char *bytes, size_t size)
{
	for (;;) {
		ssize_t n = read(STDIN_FILENO, bytes, size);
		if (n >= 0 || (errno != EAGAIN && errno != EINTR))
			return n;
		if (errno == EAGAIN)
			poll(&(struct pollfd){.fd = STDIN_FILENO, .events = POLLIN}, 1, -1);
	}
}

/* Returns 0 or an errno. */
static int copy(int fd)
{
	struct tw_output out;
	ssize_t n;
	int error = tw_output_fd(&out, fd);
	if (error)
		return error;
	while ((n = read_input(tw_output_room(&out, TW_OUTPUT_BUFFER), TW_OUTPUT_BUFFER)) > 0)
		tw_output_took(&out, (size_t)n);
	error = n < 0 ? errno : 0;
	tw_output_flush(&out);
	error = error ? error : out.error;
	free(out.buffer);
	return error;
}

static int keep(void)
{
	const char *folder = tw_temporary_place(tw_temporary_folder());
	int fd = tw_temporary_open(folder);
	if (fd < 0)
		return tw_say_error("<stdin>: no temporary file can be made in %s: %s", folder, strerror(errno));
	int error = copy(fd);
	if (!error && (dup2(fd, STDIN_FILENO) < 0 || lseek(STDIN_FILENO, 0, SEEK_SET) < 0))
		error = errno;
	close(fd);
	if (!error)
		return 0;
	return tw_say_error("<stdin>: cannot be copied to a temporary file in %s: %s", folder, strerror(error));
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

int tw_spool_stdin(char **paths, size_t count)
{
	const char *pipe = find_pipe(paths, count);
	if (pipe)
		return tw_say_error("%s: a pipe that must be read more than once: give it as standard input, -", pipe);
	if (!tw_reads_stdin(paths, count) || lseek(STDIN_FILENO, 0, SEEK_CUR) >= 0)
		return 0;
	return keep();
}

void tw_rewind_stdin(const char *path)
{
	if (strcmp(path, "-") == 0)
		lseek(STDIN_FILENO, 0, SEEK_SET);
}

void tw_rewind_input(char **paths, size_t count)
{
	for (size_t i = 0; i < count; i++)
		tw_rewind_stdin(paths[i]);
}
