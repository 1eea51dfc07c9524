/* outfile.c - a file that appears under its name only when it is complete. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/outfile.h"

#include "base/bytes/begun.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MAX = 40, PERMISSIONS = 0777 };

/* ---- Places. ---- */

/* A name as seen from the folder that a path is in. NULL when there is no memory. */
static char *beside(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');
	int folder = slash && *name != '/' ? (int)(slash + 1 - path) : 0;
	char *whole;
	return asprintf(&whole, "%.*s%s", folder, path, name) < 0 ? NULL : whole;
}

char *tw_outfile_place(const char *path)
{
	char target[PATH_MAX];
	ssize_t length;
	char *place = strdup(path);
	for (int links = 0; place && (length = readlink(place, target, sizeof target - 1)) >= 0; links++) {
		target[length] = '\0';
		char *next = links < LINKS_MAX ? beside(place, target) : NULL;
		errno = links < LINKS_MAX ? errno : ELOOP;
		free(place);
		place = next;
	}
	return place;
}

/* ---- Files without a name. ---- */

/* A descriptor as a file. */
struct fd_path {
	char text[32];
};

static struct fd_path path_of(int fd)
{
	struct fd_path path;
	snprintf(path.text, sizeof path.text, "/proc/self/fd/%d", fd);
	return path;
}

/* Only /proc can give it a name afterwards. */
static int open_nameless(const char *place, mode_t mode)
{
	char *folder = beside(place, ".");
	if (!folder)
		return -1;
	int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
	free(folder);
	if (fd >= 0 && access(path_of(fd).text, F_OK) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static int link_to(const struct tw_outfile *file, const char *path)
{
	return linkat(AT_FDCWD, path_of(file->fd).text, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

/* It was locked while it had no name. */
static int link_beside(const void *context, const char *name)
{
	return link_to(context, name);
}

/* ---- Files with a name. ---- */

static int create_beside(const void *context, const char *name)
{
	const mode_t *mode = context;
	int fd = open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, *mode);
	if (fd < 0 || tw_begun_lock(fd))
		return fd;
	close(fd);
	return -1;
}

/* ---- All. ---- */

static int keep_mode(int fd, mode_t mode)
{
	struct stat status;
	if (fstat(fd, &status) < 0)
		return errno;
	return (status.st_mode ^ mode) & PERMISSIONS && fchmod(fd, mode) < 0 ? errno : 0;
}

static int open_new(struct tw_outfile *file, const struct stat *old, bool named)
{
	mode_t mode = old ? old->st_mode & PERMISSIONS : 0666;
	file->fd = named ? -1 : open_nameless(file->place, mode);
	if (file->fd < 0)
		file->fd = tw_begun_take(file->place, &file->temporary, create_beside, &mode);
	if (file->fd < 0)
		return errno;
	return old ? keep_mode(file->fd, mode) : 0;
}

/* Takes over `place`, which path leads to. old: what is there and is to be replaced; NULL: nothing. */
static int open_place(struct tw_outfile *file, const char *path, char *place, const struct stat *old, bool named)
{
	file->place = place;
	/* Replacing a file needs no leave to write to it, but someone took that away to protect it. */
	bool kept = old && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) < 0;
	int error = kept || !place ? errno : open_new(file, old, named);
	if (error)
		tw_outfile_drop(file);
	return error;
}

int tw_outfile_open(struct tw_outfile *file, const char *path)
{
	struct stat status;
	*file = (struct tw_outfile){.fd = -1};
	bool there = stat(path, &status) == 0;
	if (!there || S_ISREG(status.st_mode))
		return open_place(file, path, tw_outfile_place(path), there ? &status : NULL, false);
	file->fd = open(path, O_WRONLY | O_CLOEXEC);
	return file->fd < 0 ? errno : 0;
}

int tw_outfile_open_named(struct tw_outfile *file, const char *path)
{
	struct stat status;
	*file = (struct tw_outfile){.fd = -1};
	bool there = stat(path, &status) == 0;
	if (there && !S_ISREG(status.st_mode))
		return S_ISDIR(status.st_mode) ? EISDIR : EOPNOTSUPP;
	return open_place(file, path, tw_outfile_place(path), there ? &status : NULL, true);
}

int tw_outfile_open_here(struct tw_outfile *file, const char *path)
{
	struct stat status;
	*file = (struct tw_outfile){.fd = -1};
	bool there = lstat(path, &status) == 0;
	if (there && !S_ISREG(status.st_mode))
		return S_ISLNK(status.st_mode) ? ELOOP : EEXIST;
	return open_place(file, path, strdup(path), there ? &status : NULL, false);
}

/* A name may be given at once only where there is no file. */
static int give_name(struct tw_outfile *file)
{
	if (!file->temporary && link_to(file, file->place) == 0)
		return 0;
	if (!file->temporary && errno != EEXIST)
		return errno;
	if (!file->temporary)
		(void)flock(file->fd, LOCK_EX | LOCK_NB); /* nobody else has it */
	if (!file->temporary && tw_begun_take(file->place, &file->temporary, link_beside, file) < 0)
		return errno;
	if (rename(file->temporary, file->place) < 0)
		return errno;
	free(file->temporary);
	file->temporary = NULL;
	return 0;
}

/* Network file systems tell late that there was no room: when a descriptor is closed. */
static int flush(int fd)
{
	int twin = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return twin < 0 || close(twin) < 0 ? errno : 0;
}

/* A signal must not end the program between the two steps of a replacement. */
int tw_outfile_keep(struct tw_outfile *file)
{
	sigset_t all, before;
	int error = flush(file->fd);
	if (file->place && !error) {
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		error = give_name(file);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	tw_outfile_drop(file);
	return error;
}

void tw_outfile_drop(struct tw_outfile *file)
{
	if (file->temporary)
		unlink(file->temporary);
	if (file->fd >= 0)
		close(file->fd);
	free(file->temporary);
	free(file->place);
	*file = (struct tw_outfile){.fd = -1};
}
