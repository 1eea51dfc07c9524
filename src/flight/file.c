/* file.c - the disk of a log's file: had before somebody writes there, whatever the program does with descriptors. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "flight/file.h"

#include "flight/system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_ours(const struct flight_file *file, int fd)
{
	struct stat status = {0};
	return fd >= 0 && flight_call(SYS_fstat, fd, (long)&status, 0, 0) == 0 && status.st_dev == file->device &&
	       status.st_ino == file->inode;
}

/* What the program calls after it has left its directory is still the file. */
static void make_absolute(struct flight_file *file)
{
	char link[32], path[FLIGHT_PATH];
	snprintf(link, sizeof link, "/proc/self/fd/%d", file->fd);
	const ssize_t length = readlink(link, path, sizeof path);
	if (length > 0 && (size_t)length < sizeof path) {
		memcpy(file->path, path, (size_t)length);
		file->path[length] = '\0';
	}
}

int flight_file_make(struct flight_file *file, const char *pattern, uint32_t pid)
{
	struct stat status;
	file->fd = flight_make_file(pattern, pid, file->path);
	if (file->fd < 0)
		return errno;
	if (fstat(file->fd, &status) < 0)
		return errno;
	file->device = status.st_dev;
	file->inode = status.st_ino;
	make_absolute(file);
	return 0;
}

void flight_file_close(struct flight_file *file)
{
	if (is_ours(file, file->fd))
		close(file->fd);
	file->fd = -1;
}

static bool may_grow(uint64_t end)
{
	struct rlimit limit = {0}; /* beyond it is SIGXFSZ */
	return flight_call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit) < 0 || end <= limit.rlim_cur;
}

enum { PAGE = 4096 };

static bool allocate(int fd, uint64_t offset, uint64_t size)
{
	const long status = flight_call(SYS_fallocate, fd, 0, (long)offset, (long)size);
	for (uint64_t at = offset; status == -EOPNOTSUPP && at < offset + size; at += PAGE)
		if (flight_call(SYS_pwrite64, fd, (long)"", 1, (long)(at + PAGE - 1)) != 1)
			return false;
	return status == 0 || status == -EOPNOTSUPP;
}

/* For the time of one growth alone: whoever closes all descriptors counts on the lowest numbers. */
static bool allocate_by_path(const struct flight_file *file, uint64_t offset, uint64_t size)
{
	enum { HOW = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY };
	const int fd = (int)flight_call(SYS_openat, AT_FDCWD, (long)file->path, HOW, 0);
	const bool done = is_ours(file, fd) && allocate(fd, offset, size);
	if (fd >= 0)
		flight_call(SYS_close, fd, 0, 0, 0);
	return done;
}

bool flight_file_grow(const struct flight_file *file, uint64_t offset, uint64_t size)
{
	if (!may_grow(offset + size))
		return false;
	return is_ours(file, file->fd) ? allocate(file->fd, offset, size) : allocate_by_path(file, offset, size);
}
