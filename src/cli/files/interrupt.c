/* interrupt.c - a program that is ended by a signal removes the file it was writing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/files/interrupt.h"

#include "base/bytes/outfile.h"

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

/* The file's last name, or that of the directory, and how long it is. */
static char wanted[NAME_MAX + 1];
static size_t wanted_length;

/* What the output is, where nothing had that name before: if it is a directory then we have made it. */
static char made[PATH_MAX];

/* Where the last name in the first bytes of a path begins. */
static size_t last_name(const char *path, size_t length)
{
	while (length && path[length - 1] != '/')
		length--;
	return length;
}

static bool is_wanted(const char *name, size_t length)
{
	return length == wanted_length && memcmp(name, wanted, length) == 0;
}

/* Whether a path is the wanted file's, or that of a file in the wanted directory, with a dot and six hexadecimal digits
 * behind it. */
static bool is_begun(const char *path)
{
	const size_t length = strlen(path), ending = 1 + TW_OUTFILE_DIGITS;
	const char *dot = length > ending ? path + length - ending : "";
	if (*dot != '.' || strspn(dot + 1, "0123456789abcdef") != TW_OUTFILE_DIGITS)
		return false;
	const size_t name = last_name(path, length - ending), folder = name ? last_name(path, name - 1) : 0;
	return is_wanted(path + name, length - ending - name) || (name && is_wanted(path + folder, name - 1 - folder));
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
	if (*made)
		rmdir(made);
	raise(number);
	errno = before;
}

/* The place of an output, without the slash that may stand behind a directory. NULL when there is no memory. */
static char *place_of(const char *path)
{
	char *plain = strdup(path), *place;
	for (size_t length = plain ? strlen(plain) : 0; length > 1 && plain[length - 1] == '/'; length--)
		plain[length - 1] = '\0';
	place = plain ? tw_outfile_place(plain) : NULL;
	free(plain);
	return place;
}

static void note_place(const char *place)
{
	const char *name = place + last_name(place, strlen(place));
	wanted_length = strlen(name) < sizeof wanted ? strlen(name) : 0;
	memcpy(wanted, wanted_length ? name : "", wanted_length + 1);
	if (strlen(place) < sizeof made && access(place, F_OK) < 0 && errno == ENOENT)
		memcpy(made, place, strlen(place) + 1);
}

void tw_clean_when_interrupted(const char *path)
{
	static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGXCPU};
	char *place = place_of(path);
	if (place)
		note_place(place);
	free(place);
	for (size_t i = 0; wanted_length && i < sizeof signals / sizeof *signals; i++) {
		struct sigaction action = {.sa_handler = end, .sa_flags = (int)SA_RESETHAND}, old;
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
}
