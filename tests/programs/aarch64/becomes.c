/* becomes.c - a program that becomes another one: becomes WAY PROGRAM [ARGUMENT...]. Its environment is VALUE=a,b alone.
 *
 * Where a child becomes it, the status is the child's. */
/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <libgen.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char *environment[] = {"VALUE=a,b", NULL};

static int wait_for(pid_t child)
{
	int status = -1;
	return waitpid(child, &status, 0) == child ? WEXITSTATUS(status) : 127;
}

static int vforked(const char *path, char **words)
{
	pid_t child = vfork();
	if (child == 0) {
		execve(path, words, environment);
		_exit(126);
	}
	return wait_for(child);
}

static int spawned(const char *path, char **words)
{
	pid_t child;
	return posix_spawn(&child, path, NULL, NULL, words, environment) ? 126 : wait_for(child);
}

/* By a folder that is open, or a file that is, which close then. */
static long opened(char *path, char **words, int is_folder)
{
	int fd = open(is_folder ? dirname(strdup(path)) : path, O_PATH | O_CLOEXEC);
	return syscall(SYS_execveat, fd, is_folder ? basename(path) : "", words, environment,
	               is_folder ? 0 : AT_EMPTY_PATH);
}

int main(int count, char **words)
{
	if (count < 3)
		return 2;
	char *way = words[1], *path = words[2];
	if (strcmp(way, "vfork") == 0)
		return vforked(path, words + 2);
	if (strcmp(way, "spawn") == 0)
		return spawned(path, words + 2);
	if (strcmp(way, "folder") == 0)
		opened(path, words + 2, 1);
	else if (strcmp(way, "file") == 0)
		opened(path, words + 2, 0);
	else
		execve(path, words + 2, environment);
	perror(path);
	return 126;
}
