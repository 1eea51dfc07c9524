/* interrupt.c - a program that is ended by a signal removes the file it was writing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/interrupt.h"

#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_FD = STDERR_FILENO + 1, LAST_FD = 99 };

/* The file's last name, and how long it is. */
static char wanted[NAME_MAX + 1];
static size_t wanted_length;

/* Whether a path is the wanted file's, with a dot and six hexadecimal digits behind it. */
static bool is_begun(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	return strncmp(name, wanted, wanted_length) == 0 && name[wanted_length] == '.' &&
	       strspn(name + wanted_length + 1, "0123456789abcdef") == TW_OUTFILE_DIGITS &&
	       !name[wanted_length + 1 + TW_OUTFILE_DIGITS];
}

/* Removes what is open for writing under such a name: only what we have begun is. Calls nothing that a signal handler
 * may not call. */
static void remove_begun(void)
{
	char link[] = "/proc/self/fd/00", path[PATH_MAX];
	for (int fd = FIRST_FD; fd <= LAST_FD; fd++) {
		int flags = fcntl(fd, F_GETFL);
		if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
			continue;
		char *digits = link + sizeof link - 3;
		if (fd > 9)
			*digits++ = (char)('0' + fd / 10);
		*digits++ = (char)('0' + fd % 10);
		*digits = '\0';
		ssize_t length = readlink(link, path, sizeof path - 1);
		path[length < 0 ? 0 : length] = '\0';
		if (is_begun(path))
			unlink(path);
	}
}

/* The signal comes again when this returns, and then ends the program: SA_RESETHAND. */
static void end(int number)
{
	int before = errno;
	remove_begun();
	raise(number);
	errno = before;
}

void tw_clean_when_interrupted(const char *path)
{
	static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGXCPU};
	char *place = tw_outfile_place(path);
	const char *slash = place ? strrchr(place, '/') : NULL, *name = slash ? slash + 1 : place;
	wanted_length = name && strlen(name) < sizeof wanted ? strlen(name) : 0;
	memcpy(wanted, wanted_length ? name : "", wanted_length + 1);
	free(place);
	for (size_t i = 0; wanted_length && i < sizeof signals / sizeof *signals; i++) {
		struct sigaction action = {.sa_handler = end, .sa_flags = (int)SA_RESETHAND}, old;
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
}
