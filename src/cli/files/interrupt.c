/* interrupt.c - a program that is ended by a signal removes the files it was writing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/files/interrupt.h"

#include "base/bytes/begun.h"
#include "base/bytes/outdir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FIRST_FD = STDERR_FILENO + 1, LAST_FD = 99 };

/* The file's last name, or that of the directory, and how long it is. */
static char wanted[NAME_MAX + 1];
static size_t wanted_length;

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

/* Whether a path is that of what was begun for the wanted file or directory, or for a file in that directory. */
static bool is_begun(const char *path)
{
	const size_t length = strlen(path), name = last_name(path, length);
	const size_t folder = name ? last_name(path, name - 1) : 0;
	if (tw_begun_for(path + name, length - name, wanted, wanted_length))
		return true;
	return name && tw_begun_place(path + name, length - name) && is_wanted(path + folder, name - 1 - folder);
}

/* What the system gives for a directory. */
struct directory_entry {
	uint64_t number;
	int64_t next;
	uint16_t size;
	uint8_t kind;
	char name[];
};

/* Removes the files in a directory that is open. */
static void remove_files(int directory)
{
	_Alignas(struct directory_entry) char bytes[1024];
	ssize_t size;
	(void)lseek(directory, 0, SEEK_SET);
	while ((size = syscall(SYS_getdents64, directory, bytes, sizeof bytes)) > 0)
		for (ssize_t at = 0; at < size;) {
			const struct directory_entry *entry = (const void *)(bytes + at);
			unlinkat(directory, entry->name, 0);
			at += entry->size;
		}
}

/* Removes what is open under such a name, for writing or as a directory: only what we have begun is. Calls nothing
 * that a signal handler may not call. */
static void remove_begun(void)
{
	char link[] = "/proc/self/fd/00", path[PATH_MAX];
	for (int fd = FIRST_FD; fd <= LAST_FD; fd++) {
		int flags = fcntl(fd, F_GETFL);
		if (flags < 0 || ((flags & O_ACCMODE) == O_RDONLY && !(flags & O_DIRECTORY)))
			continue;
		char *digits = link + sizeof link - 3;
		if (fd > 9)
			*digits++ = (char)('0' + fd / 10);
		*digits++ = (char)('0' + fd % 10);
		*digits = '\0';
		ssize_t length = readlink(link, path, sizeof path - 1);
		path[length < 0 ? 0 : length] = '\0';
		if (!is_begun(path))
			continue;
		if (flags & O_DIRECTORY)
			remove_files(fd);
		unlinkat(AT_FDCWD, path, flags & O_DIRECTORY ? AT_REMOVEDIR : 0);
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

static void note_place(const char *place)
{
	const char *name = place + last_name(place, strlen(place));
	wanted_length = strlen(name) < sizeof wanted ? strlen(name) : 0;
	memcpy(wanted, wanted_length ? name : "", wanted_length + 1);
}

void tw_clean_when_interrupted(const char *path)
{
	static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGXCPU};
	char *place = tw_outdir_place(path);
	if (place)
		note_place(place);
	free(place);
	for (size_t i = 0; wanted_length && i < sizeof signals / sizeof *signals; i++) {
		struct sigaction action = {.sa_handler = end, .sa_flags = (int)SA_RESETHAND}, old;
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
}
