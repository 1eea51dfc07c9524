/* memory_logs.c - the logs of programs that have them in memory, taken from a socket. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "cli/output/message.h"
#include "cli/output/show.h"
#include "cli/record/record.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

int tw_memory_logs_begin(struct tw_memory_logs *memory)
{
	enum { WAITING = 4096 };
	uint64_t number = 0;
	struct sockaddr_un place = {.sun_family = AF_UNIX};
	if (getrandom(&number, sizeof number, 0) < 0)
		number = (uint64_t)getpid();
	const int length =
	    snprintf(memory->name, sizeof memory->name, "trackway-flight-%llx", (unsigned long long)number);
	memcpy(place.sun_path + 1, memory->name, (size_t)length);
	const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
	memory->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (memory->listener < 0 || bind(memory->listener, (const struct sockaddr *)&place, size) < 0 ||
	    listen(memory->listener, WAITING) < 0)
		return tw_say_error("cannot listen for logs: %s", strerror(errno));
	return 0;
}

/* ---- Taking. ---- */

/* A process has connected and sends at once, unless it ends or is stopped between. -1: there is none. */
static int receive(int talk, int *error)
{
	const struct timeval patience = {.tv_sec = 60};
	char byte;
	int fd = -1;
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof fd)];
	} control;
	struct msghdr message = {.msg_iov = &(struct iovec){&byte, 1},
	                         .msg_iovlen = 1,
	                         .msg_control = &control,
	                         .msg_controllen = sizeof control.bytes};
	setsockopt(talk, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	if (recvmsg(talk, &message, MSG_CMSG_CLOEXEC) != 1)
		return -1;
	*error = (unsigned char)byte;
	const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
	    header->cmsg_len == CMSG_LEN(sizeof fd))
		memcpy(&fd, CMSG_DATA(header), sizeof fd);
	return fd;
}

/* From processes of this user alone. */
static int take_log(int talk, pid_t *pid, int *error)
{
	struct ucred who;
	struct stat status;
	socklen_t size = sizeof who;
	if (getsockopt(talk, SOL_SOCKET, SO_PEERCRED, &who, &size) < 0 || who.uid != geteuid())
		return -1;
	*pid = who.pid;
	const int fd = receive(talk, error);
	if (fd < 0 || (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)))
		return fd;
	close(fd);
	return -1;
}

bool tw_memory_logs_take(void *context)
{
	struct tw_memory_logs *memory = context;
	for (int talk; (talk = accept4(memory->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0;) {
		struct tw_memory_log log = {.fd = -1};
		int error = 0;
		log.fd = take_log(talk, &log.pid, &error);
		close(talk);
		if (log.fd >= 0 && tw_grow(&memory->logs, &memory->room, memory->count + 1, sizeof *memory->logs))
			memory->logs[memory->count++] = log;
		else
			memory->refused++;
		memory->error = error ? error : memory->error;
	}
	return errno != EMFILE && errno != ENFILE;
}

/* ---- The end. ---- */

/* Nobody writes any more: the room behind what was written, but for that of a chunk, goes. */
static void cut(int fd)
{
	enum { CHUNK_MOST = 1 << 22 };
	struct stat status;
	off_t end = 0;
	for (off_t data; (data = lseek(fd, end, SEEK_DATA)) >= 0;)
		end = lseek(fd, data, SEEK_HOLE);
	if (fstat(fd, &status) == 0 && end + CHUNK_MOST < status.st_size && ftruncate(fd, end + CHUNK_MOST) < 0)
		errno = 0; /* it is read to its end, then, which takes longer */
}

int tw_memory_logs_finish(struct tw_memory_logs *memory, pid_t program,
                          int (*finish)(void *context, const char *part, unsigned long pid), void *context)
{
	char part[64];
	int status = 0;
	memory->refused += !tw_memory_logs_take(memory);
	for (int own = 1; own >= 0; own--)
		for (size_t i = 0; i < memory->count; i++) {
			struct tw_memory_log *log = &memory->logs[i];
			if ((log->pid == program) != own)
				continue;
			cut(log->fd);
			snprintf(part, sizeof part, "/proc/self/fd/%d", log->fd);
			status = tw_worse(status, finish(context, part, (unsigned long)log->pid));
		}
	if (memory->refused && memory->error)
		status = tw_say_error("%s could not be made: %s", tw_show_plural(memory->refused, "log").text,
		                      strerror(memory->error));
	else if (memory->refused)
		status = tw_say_error("%s could not be taken", tw_show_plural(memory->refused, "log").text);
	return status;
}

void tw_memory_logs_end(struct tw_memory_logs *memory)
{
	for (size_t i = 0; i < memory->count; i++)
		close(memory->logs[i].fd);
	if (memory->listener >= 0)
		close(memory->listener);
	free(memory->logs);
	*memory = (struct tw_memory_logs){.listener = -1};
}
