/* file.c - the disk of a log's file: had before somebody writes there, whatever the program does with descriptors. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "flight/log/file.h"

#include "flight/system.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <unistd.h>

static bool is_ours(const struct flight_file *file, int fd)
{
	struct stat status = {0};
	return fd >= 0 && flight_call(SYS_fstat, fd, (long)&status, 0, 0) == 0 && status.st_dev == file->device &&
	       status.st_ino == file->inode;
}

void flight_file_close(struct flight_file *file)
{
	if (is_ours(file, file->fd))
		close(file->fd);
	file->fd = -1;
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

/* ---- Memory. ---- */

/* Without a file, why there is none. */
static bool send_to(int talk, int fd, int error)
{
	char byte = (char)error;
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof fd)];
	} control = {.header = {CMSG_LEN(sizeof fd), SOL_SOCKET, SCM_RIGHTS}};
	const struct msghdr message = {.msg_iov = &(struct iovec){&byte, 1},
	                               .msg_iovlen = 1,
	                               .msg_control = fd < 0 ? NULL : &control,
	                               .msg_controllen = fd < 0 ? 0 : sizeof control.bytes};
	memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
	return sendmsg(talk, &message, MSG_NOSIGNAL) == 1;
}

/* It waits there until it is taken, also when this process is no more. */
static bool give(const char *name, int fd, int error)
{
	struct sockaddr_un place = {.sun_family = AF_UNIX};
	const size_t length = strlen(name);
	if (length >= sizeof place.sun_path)
		return false;
	memcpy(place.sun_path + 1, name, length);
	const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
	const int talk = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const bool given =
	    talk >= 0 && connect(talk, (const struct sockaddr *)&place, size) == 0 && send_to(talk, fd, error);
	const int failed = errno;
	if (talk >= 0)
		close(talk);
	errno = failed;
	return given;
}

static bool make_in_memory(struct flight_file *file, const char *name)
{
	file->in_memory = true;
	file->fd = memfd_create("trackway-flight", MFD_CLOEXEC);
	const int error = file->fd < 0 ? errno : 0;
	const bool given = give(name, file->fd, error);
	errno = error ? error : errno;
	return given && !error;
}

static bool make(struct flight_file *file, const char *pattern, uint32_t pid)
{
	if (*pattern == '@')
		return make_in_memory(file, pattern + 1);
	file->fd = flight_make_file(pattern, pid, file->path);
	return file->fd >= 0;
}

int flight_file_make(struct flight_file *file, const char *pattern, uint32_t pid)
{
	struct stat status;
	struct statfs system;
	if (!make(file, pattern, pid) || fstat(file->fd, &status) < 0 || fstatfs(file->fd, &system) < 0)
		return errno;
	file->pages_alone = system.f_type == TMPFS_MAGIC;
	file->device = status.st_dev;
	file->inode = status.st_ino;
	if (!file->in_memory)
		make_absolute(file);
	return 0;
}

static bool may_grow(uint64_t end)
{
	struct rlimit limit = {0}; /* beyond it is SIGXFSZ */
	return flight_call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit) < 0 || end <= limit.rlim_cur;
}

void flight_file_refuse(const struct flight_file *file, int error)
{
	const struct {
		char text[sizeof FLIGHT_REFUSED - 1];
		uint32_t error;
	} word = {FLIGHT_REFUSED, (uint32_t)error};
	if (file->fd >= 0 && may_grow(sizeof word)) /* it was made just now */
		flight_call(SYS_pwrite64, file->fd, (long)&word, sizeof word, 0);
}

int flight_file_room(struct flight_file *file, uint64_t size)
{
	if (!file->in_memory)
		return 0;
	const int error = ftruncate(file->fd, (off_t)size) < 0 ? errno : 0;
	flight_file_close(file);
	return error;
}

static int write_zeros(int fd, uint64_t offset, uint64_t size)
{
	enum { MOST = 1 << 18 };
	static uint8_t zeros[MOST]; /* in no file */
	for (uint64_t done = 0; done < size;) {
		const uint64_t left = size - done, part = left < MOST ? left : MOST;
		const long written = flight_call(SYS_pwrite64, fd, (long)zeros, (long)part, (long)(offset + done));
		if (written <= 0)
			return written ? (int)-written : ENOSPC;
		done += (uint64_t)written;
	}
	return 0;
}

/* Disk, and pages in the kernel's cache: those of a long write are large ones where the system has such, and cost a
 * third of what a fault for each does (bench/flight, "in a new file"). */
static int allocate(const struct flight_file *file, int fd, uint64_t offset, uint64_t size)
{
	const long status = flight_call(SYS_fallocate, fd, 0, (long)offset, (long)size);
	if (status == 0 && file->pages_alone)
		return 0;
	if (status != 0 && status != -EOPNOTSUPP)
		return (int)-status;
	const int error = write_zeros(fd, offset, size);
	return status ? error : 0;
}

/* For the time of one growth alone: whoever closes all descriptors counts on the lowest numbers. */
static int allocate_by_path(const struct flight_file *file, uint64_t offset, uint64_t size)
{
	enum { HOW = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY };
	const int fd = (int)flight_call(SYS_openat, AT_FDCWD, (long)file->path, HOW, 0);
	if (fd < 0)
		return -fd;
	const int error = is_ours(file, fd) ? allocate(file, fd, offset, size) : ESTALE;
	flight_call(SYS_close, fd, 0, 0, 0);
	return error;
}

int flight_file_grow(const struct flight_file *file, uint64_t offset, uint64_t size)
{
	if (file->in_memory)
		return 0;
	if (!may_grow(offset + size))
		return EFBIG;
	return is_ours(file, file->fd) ? allocate(file, file->fd, offset, size) : allocate_by_path(file, offset, size);
}
