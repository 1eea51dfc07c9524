/* pager.c - long text on a terminal, page by page. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
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
	return *command && strcmp(command, "cat") != 0 ? command : NULL;
}

static void become_pager(const char *command, const int ends[2])
{
	dup2(ends[0], STDIN_FILENO);
	setenv("LESS", "FRX", 0); /* leave at once when it fits, keep colours, leave the text on the screen */
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

/* Whether the shell finds the pager's program. What it is called with is the user's. */
static int can_run(const char *command)
{
	char program[256];
	size_t length = strcspn(command, " \t");
	const char *path = getenv("PATH");
	if (memchr(command, '/', length) || !path)
		return 1;
	for (const char *p = path; p; p = strchr(p, ':') ? strchr(p, ':') + 1 : NULL) {
		size_t folder = strcspn(p, ":");
		if (folder + length + 2 > sizeof program)
			continue;
		memcpy(program, p, folder);
		program[folder] = '/';
		memcpy(program + folder + 1, command, length);
		program[folder + 1 + length] = '\0';
		if (access(program, X_OK) == 0)
			return 1;
	}
	return 0;
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
	close(ends[0]);
	if (pager < 0) {
		close(ends[1]);
		return 0;
	}
	*fd = ends[1];
	return pager;
}

void tw_pager_wait(pid_t pager)
{
	int status;
	while (waitpid(pager, &status, 0) < 0 && errno == EINTR)
		;
}
