/* launch.c - runs a command and tells what it took. Small: what a child is born with counts in its most memory. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

extern char **environ;

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

/* launch FILE COMMAND...: writes seconds of processor time, KiB of memory and the status as wait() has it into FILE. */
int main(int count, char **words)
{
	struct rusage usage;
	pid_t child;
	int status;

	if (count < 3 || posix_spawnp(&child, words[2], NULL, NULL, words + 2, environ) ||
	    wait4(child, &status, 0, &usage) < 0)
		return 2;
	FILE *file = fopen(words[1], "w");
	if (!file)
		return 2;
	fprintf(file, "%.6f %ld %d\n", seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss, status);
	return fclose(file) ? 2 : 0;
}
