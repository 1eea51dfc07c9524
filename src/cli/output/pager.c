/* pager.c - long text on a terminal, page by page. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The first that is set; set but empty means none, as for git. */
static const char *pager_command(void)
{
	const char *command = getenv("TRACKWAY_PAGER");
	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = "less";
	command += strspn(command, " \t");
	return *command && strcmp(command, "cat") != 0 ? command : NULL;
}

static void become_pager(const char *command, const int ends[2])
{
	dup2(ends[0], STDIN_FILENO);
	setenv("LESS", "FRSX", 0); /* leave at once when it fits, colours, no wrapping, leave the text on the screen */
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

static bool is_program(const char *path)
{
	struct stat file;
	return stat(path, &file) == 0 && S_ISREG(file.st_mode) && access(path, X_OK) == 0;
}

/* Whether a program of this name is in one of the folders of $PATH. */
static bool is_found(const char *name, size_t length)
{
	char program[PATH_MAX];
	const char *path = getenv("PATH");
	for (const char *p = path; p; p = strchr(p, ':') ? strchr(p, ':') + 1 : NULL) {
		size_t folder = strcspn(p, ":");
		if (folder + length + 2 > sizeof program)
			continue;
		memcpy(program, p, folder);
		program[folder] = '/';
		memcpy(program + folder + 1, name, length);
		program[folder + 1 + length] = '\0';
		if (is_program(program))
			return true;
	}
	return !path;
}

/* Whether the shell finds the pager's program, as far as its name is what stands there. What it is called with is the
 * user's. */
static bool can_run(const char *command)
{
	char program[PATH_MAX];
	size_t length = strcspn(command, " \t");
	if (!memchr(command, '/', length))
		return is_found(command, length);
	if (length >= sizeof program || strcspn(command, "~$`'\"\\") < length)
		return true;
	memcpy(program, command, length);
	program[length] = '\0';
	return is_program(program);
}

pid_t tw_pager_start(int *fd)
{
	int ends[2];
	const char *command = pager_command();
	const char *terminal = getenv("TERM");
	if (!command || !terminal || strcmp(terminal, "dumb") == 0 || !can_run(command) || pipe2(ends, O_CLOEXEC) < 0)
		return 0;
	pid_t pager = fork();
	if (pager == 0)
		become_pager(command, ends);
	signal(SIGPIPE, SIG_IGN); /* whoever leaves the pager has seen enough: tw_screen_close() makes it success */
	close(ends[0]);
	if (pager < 0) {
		close(ends[1]);
		return 0;
	}
	*fd = ends[1];
	return pager;
}

bool tw_pager_wait(pid_t pager)
{
	enum { CANNOT_RUN = 126, NOT_FOUND = 127 }; /* of the shell */
	int status;
	while (waitpid(pager, &status, 0) < 0)
		if (errno != EINTR)
			return true;
	return !WIFEXITED(status) || (WEXITSTATUS(status) != CANNOT_RUN && WEXITSTATUS(status) != NOT_FOUND);
}
