/* outdir.c - a directory whose files appear when all of them are complete. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/outdir.h"

#include "base/bytes/begun.h"
#include "base/bytes/outfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIRECTORY_MODE = 0777 };

/* ---- Begun. ---- */

static int make(const void *context, const char *name)
{
	(void)context;
	if (mkdir(name, DIRECTORY_MODE) < 0)
		return -1;
	int fd = open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && tw_begun_lock(fd))
		return fd;
	int error = fd < 0 && errno != ENOENT ? errno : EEXIST; /* ENOENT: another has removed it */
	if (fd >= 0)
		close(fd);
	else
		rmdir(name);
	errno = error;
	return -1;
}

char *tw_outdir_place(const char *path)
{
	char *plain = strdup(path), *place;
	for (size_t length = plain ? strlen(plain) : 0; length > 1 && plain[length - 1] == '/'; length--)
		plain[length - 1] = '\0';
	place = plain ? tw_outfile_place(plain) : NULL;
	free(plain);
	return place;
}

int tw_outdir_open(struct tw_outdir *directory, const char *path)
{
	struct stat what;
	char *begun = NULL;
	*directory = (struct tw_outdir){.place = tw_outdir_place(path), .lock = -1};
	if (!directory->place)
		return errno;
	directory->inside = stat(directory->place, &what) == 0;
	int error = directory->inside && !S_ISDIR(what.st_mode) ? EEXIST : 0;
	if (!error && asprintf(&begun, "%s%s", directory->place, directory->inside ? "/part" : "") < 0)
		error = ENOMEM;
	if (!error)
		directory->lock = tw_begun_take(begun, &directory->temporary, make, NULL);
	error = !error && directory->lock < 0 ? errno : error;
	free(begun);
	if (error)
		tw_outdir_drop(directory);
	return error;
}

/* ---- Complete. ---- */

/* Gives a file its place. Returns 0 or an errno. */
static int move(const struct tw_outdir *directory, int to, const char *name)
{
	return renameat(directory->lock, name, to, name) < 0 ? errno : 0;
}

static bool is_moved(const char *name, const char *last)
{
	return strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && (!last || strcmp(name, last) != 0);
}

static int move_all(const struct tw_outdir *directory, int to, const char *last)
{
	int error = 0;
	DIR *files = opendir(directory->temporary);
	if (!files)
		return errno;
	if (last && unlinkat(to, last, 0) < 0 && errno != ENOENT)
		error = errno;
	for (const struct dirent *entry; !error && (entry = readdir(files));)
		if (is_moved(entry->d_name, last))
			error = move(directory, to, entry->d_name);
	if (!error && last)
		error = move(directory, to, last);
	closedir(files);
	return error;
}

static int move_inside(const struct tw_outdir *directory, const char *last)
{
	int to = open(directory->place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int error = to < 0 ? errno : move_all(directory, to, last);
	if (to >= 0)
		close(to);
	return error;
}

/* What has its place is not removed. */
static void forget(struct tw_outdir *directory)
{
	free(directory->temporary);
	directory->temporary = NULL;
}

/* A signal must not end the program between two files. */
int tw_outdir_keep(struct tw_outdir *directory, const char *last)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int error = 0;
	if (directory->inside)
		error = move_inside(directory, last);
	else if (rename(directory->temporary, directory->place) < 0)
		error = errno;
	else
		forget(directory);
	tw_outdir_drop(directory);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

void tw_outdir_drop(struct tw_outdir *directory)
{
	if (directory->temporary)
		tw_begun_remove(directory->temporary, directory->lock);
	else if (directory->lock >= 0)
		close(directory->lock);
	free(directory->temporary);
	free(directory->place);
	*directory = (struct tw_outdir){.lock = -1};
}
