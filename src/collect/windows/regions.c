/* regions.c - which windows there are in a trace: a list beside it, a line for each that has begun. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/windows/regions.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char heading[] = "#window\tthread\tfrom\tlength\tphase\tweight\tsnapshot\twarm_up\twarm_up_snapshot\n";

/* A line is one write, whoever else writes. */
static int append(const struct collect_board *board, const char *line)
{
	char path[PATH_MAX + TW_XTRACE_NAME_SIZE];
	snprintf(path, sizeof path, "%s/xtrace.%s.windows", board->directory, board->timestamp);
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0)
		return errno;
	size_t size = strlen(line);
	ssize_t written = write(fd, line, size);
	int error = written < 0 ? errno : (size_t)written < size ? ENOSPC : 0;
	close(fd);
	return error;
}

int regions_begin(const struct collect_board *board)
{
	return append(board, heading);
}

int regions_add(const struct collect_board *board, const struct region *region)
{
	const struct collect_window *window = region->window;
	char line[256], phase[64] = "-\t-";
	if (window->phase != UINT32_MAX)
		snprintf(phase, sizeof phase, "%" PRIu32 "\t%.6f", window->phase, window->weight);
	snprintf(line, sizeof line,
	         "%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n",
	         region->number, region->thread, region->from, window->length, phase, region->snapshot, region->warm_up,
	         region->warm_snapshot);
	return append(board, line);
}
