/* begun.c - names of files and directories until they are complete, and what a killed program left under such. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/begun.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 100, MARK = sizeof TW_BEGUN_MARK - 1, ENDING = MARK + TW_BEGUN_DIGITS, PLACE_MOST = NAME_MAX - ENDING };

/* ---- Names. ---- */

size_t tw_begun_place(const char *name, size_t length)
{
	const char *ending = length > ENDING ? name + length - ENDING : NULL;
	bool begun = ending && memcmp(ending, TW_BEGUN_MARK, MARK) == 0;
	for (size_t i = MARK; begun && i < ENDING; i++)
		begun = (ending[i] >= '0' && ending[i] <= '9') || (ending[i] >= 'a' && ending[i] <= 'f');
	return begun ? length - ENDING : 0;
}

static size_t most(size_t length)
{
	return length < PLACE_MOST ? length : PLACE_MOST;
}

bool tw_begun_for(const char *name, size_t length, const char *place, size_t place_length)
{
	size_t size = tw_begun_place(name, length);
	return size && size == most(place_length) && memcmp(name, place, size) == 0;
}

/* Where the last name of a path begins. */
static size_t last_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? (size_t)(slash + 1 - path) : 0;
}

/* ---- What others left. ---- */

/* Removes the files in a directory; others in it stay, and then the directory. Closes the descriptor: another one may
 * not be there to be had. */
static void empty(int fd)
{
	DIR *directory = fdopendir(fd);
	if (!directory) {
		close(fd);
		return;
	}
	for (const struct dirent *entry; (entry = readdir(directory));)
		unlinkat(fd, entry->d_name, 0);
	closedir(directory);
}

/* Removes what nobody writes any more, if it is this user's. */
static void remove_left(int folder, const char *name)
{
	struct stat what;
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool ours = fd >= 0 && fstat(fd, &what) == 0 && what.st_uid == geteuid() &&
	            (S_ISREG(what.st_mode) || S_ISDIR(what.st_mode)) && flock(fd, LOCK_EX | LOCK_NB) == 0;
	bool directory = ours && S_ISDIR(what.st_mode);
	if (directory)
		empty(fd);
	if (ours)
		unlinkat(folder, name, directory ? AT_REMOVEDIR : 0);
	if (fd >= 0 && !directory)
		close(fd);
}

static void sweep(const char *place)
{
	const char *name = place + last_name(place);
	char *folder = name == place ? strdup(".") : strndup(place, last_name(place));
	DIR *directory = folder ? opendir(folder) : NULL;
	free(folder);
	for (const struct dirent *entry; directory && (entry = readdir(directory));)
		if (tw_begun_for(entry->d_name, strlen(entry->d_name), name, strlen(name)))
			remove_left(dirfd(directory), entry->d_name);
	if (directory)
		closedir(directory);
}

/* ---- What is begun. ---- */

static char *next_name(const char *place, uint32_t i)
{
	char *name;
	uint32_t number;
	size_t folder = last_name(place);
	if (getrandom(&number, sizeof number, GRND_NONBLOCK) < 0)
		number = (uint32_t)getpid() + i;
	return asprintf(&name, "%.*s%s%0*x", (int)(folder + most(strlen(place + folder))), place, TW_BEGUN_MARK,
	                TW_BEGUN_DIGITS, number & 0xffffff) < 0
	           ? NULL
	           : name;
}

int tw_begun_take(const char *place, char **name, int (*take)(const void *context, const char *name),
                  const void *context)
{
	int result = -1;
	*name = NULL;
	sweep(place);
	for (uint32_t i = 0; i < TRIES && result < 0 && (i == 0 || errno == EEXIST); i++) {
		free(*name);
		*name = next_name(place, i);
		if (!*name) {
			errno = ENOMEM;
			return -1;
		}
		result = take(context, *name);
	}
	if (result < 0) {
		int error = errno;
		free(*name);
		*name = NULL;
		errno = error;
	}
	return result;
}

/* Where a file system has no locks nobody takes it for left either. */
bool tw_begun_lock(int fd)
{
	struct stat what;
	bool locked = flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
	bool there = locked && fstat(fd, &what) == 0 && what.st_nlink > 0;
	if (!there)
		errno = EEXIST;
	return there;
}

void tw_begun_remove(const char *directory, int fd)
{
	empty(fd);
	rmdir(directory);
}
