/* alive.c - whether the tool that began the recording still runs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/alive.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_seen; /* by this process, when it began */

/* When a process began, in ticks since the system did (proc(5), field 22); 0: there is none, or it has ended. */
static uint64_t start_of(pid_t process)
{
	enum { STATE = 3, START = 22 };
	char path[64], text[1024];
	snprintf(path, sizeof path, "/proc/%ld/stat", (long)process);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	text[length < 0 ? 0 : length] = '\0';
	const char *at = strrchr(text, ')');
	if (!at || strncmp(at, ") Z", 3) == 0 || strncmp(at, ") X", 3) == 0)
		return 0;
	at++;
	for (int i = STATE; at && i <= START; i++)
		at = strchr(at + (i > STATE), ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

void alive_name(struct collect_board *board)
{
	board->tool = getpid();
	board->tool_start = start_of(board->tool);
}

static bool is_alive(const struct collect_board *board)
{
	return board->tool_start && start_of(board->tool) == board->tool_start;
}

void alive_begin(const struct collect_board *board)
{
	is_seen = is_alive(board);
}

void alive_check(const struct collect_board *board)
{
	if (is_seen && !is_alive(board))
		kill(getpid(), SIGKILL);
}
