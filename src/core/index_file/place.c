/* place.c - whether what lies under the name of an index may be read, and may be replaced. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/index_file/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Somebody else's index may tell of a trace what that does not say. */
static bool is_trusted(const struct stat *file, const char *trace)
{
	struct stat status;
	return file->st_uid == geteuid() || file->st_uid == 0 ||
	       (stat(trace, &status) == 0 && file->st_uid == status.st_uid);
}

static const char *look_at(int fd, const char *trace)
{
	struct stat status;
	if (fd < 0)
		return errno == ENOENT ? NULL : errno == ELOOP ? "it is a symbolic link" : "it cannot be read";
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		return "it is no regular file";
	return is_trusted(&status, trace) ? NULL : "it is another user's";
}

/* Does not wait for who writes to a pipe. */
int tw_index_open(const char *path, const char *trace, const char **why)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	*why = look_at(fd, trace);
	if (*why && fd >= 0)
		close(fd);
	return *why ? -1 : fd;
}

/* The directory that a path is in. NULL when there is no memory. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder;
	return asprintf(&folder, "%.*s.", slash ? (int)(slash + 1 - path) : 0, path) < 0 ? NULL : folder;
}

/* In a directory with the sticky bit others can neither remove nor rename what is the user's. */
static bool others_may_change(mode_t mode)
{
	return mode & S_IWOTH && !(mode & S_ISVTX);
}

static const char *refuse_folder(const char *path)
{
	char *folder = folder_of(path);
	struct stat status;
	const char *why = !folder || stat(folder, &status) < 0 ? strerror(errno)
	                  : status.st_uid != geteuid()         ? "its directory is another user's"
	                  : others_may_change(status.st_mode)  ? "other users may change its directory"
	                                                       : NULL;
	free(folder);
	return why;
}

const char *tw_index_refusal(const struct tw_index_kind *kind, const char *path, const char *trace)
{
	char begin[TW_INDEX_MAGIC];
	const char *why = refuse_folder(path);
	int fd = why ? -1 : tw_index_open(path, trace, &why);
	if (fd < 0)
		return why;
	if (read(fd, begin, sizeof begin) != (ssize_t)sizeof begin || memcmp(begin, kind->magic, sizeof begin) != 0)
		why = "what has that name is no index, and stays";
	close(fd);
	return why;
}
