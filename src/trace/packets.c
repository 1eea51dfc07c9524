/* packets.c - packets between a program and its manager. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/control.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Whether sockets may be in a directory that the user has named: one that is not there is none, and neither is one
 * whose sockets' names would be too long. */
static int is_usable(const char *directory)
{
	static const char longest[] = "/trackway/manager-4294967295";
	struct stat status;
	return directory && *directory == '/' &&
	       strlen(directory) + sizeof longest <= sizeof(((struct sockaddr_un *)NULL)->sun_path) &&
	       stat(directory, &status) == 0 && S_ISDIR(status.st_mode);
}

int control_directory(char *path, size_t room, uid_t user)
{
	struct stat status;
	const char *runtime = user == geteuid() ? secure_getenv("XDG_RUNTIME_DIR") : NULL;
	const char *temporary = secure_getenv("TMPDIR");
	int length = -1;
	if (is_usable(runtime)) {
		length = snprintf(path, room, "%s/trackway", runtime);
	} else if (user != geteuid()) { /* where it would be for that user */
		length = snprintf(path, room, "/run/user/%u/trackway", user);
		if (stat(path, &status) < 0)
			length = snprintf(path, room, "/tmp/trackway-%u", user);
	} else {
		length = snprintf(path, room, "%s/trackway-%u", is_usable(temporary) ? temporary : "/tmp", user);
	}
	return length > 0 && (size_t)length < room ? 0 : -1;
}

int control_private(const char *directory)
{
	struct stat status;
	return lstat(directory, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
	       (status.st_mode & 077) == 0;
}

int control_send(int socket, const char *text, int fd)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} beside;
	struct iovec part = {.iov_base = (void *)(size_t)text, .iov_len = strlen(text)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	if (fd >= 0) {
		memset(&beside, 0, sizeof beside);
		message.msg_control = &beside;
		message.msg_controllen = sizeof beside;
		beside.head.cmsg_len = CMSG_LEN(sizeof fd);
		beside.head.cmsg_level = SOL_SOCKET;
		beside.head.cmsg_type = SCM_RIGHTS;
		memcpy(CMSG_DATA(&beside.head), &fd, sizeof fd);
	}
	return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -1 : 0;
}

/* Keeps one descriptor, and closes all others. */
static int take_descriptors(struct msghdr *message)
{
	int kept = -1, fd;
	for (struct cmsghdr *head = CMSG_FIRSTHDR(message); head; head = CMSG_NXTHDR(message, head)) {
		if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
			continue;
		size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof fd;
		for (size_t i = 0; i < count; i++) {
			memcpy(&fd, CMSG_DATA(head) + i * sizeof fd, sizeof fd);
			if (kept >= 0)
				close(fd);
			else
				kept = fd;
		}
	}
	return kept;
}

ssize_t control_receive(int socket, char text[static CONTROL_TEXT], int *fd)
{
	enum { MOST = 8 };
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(MOST * sizeof(int))];
	} beside;
	struct iovec part = {.iov_base = text, .iov_len = CONTROL_TEXT - 1};
	struct msghdr message = {.msg_iov = &part,
	                         .msg_iovlen = 1,
	                         .msg_control = &beside,
	                         .msg_controllen = sizeof beside};
	ssize_t size;
	*fd = -1;
	do
		size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (size < 0 && errno == EINTR);
	if (size < 0)
		return size;
	text[size] = 0;
	*fd = take_descriptors(&message);
	return size;
}

int control_trusted(int socket)
{
	struct ucred peer;
	socklen_t size = sizeof peer;
	if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return 0;
	return peer.uid == geteuid() || peer.uid == 0 || geteuid() == 0;
}

int control_connect(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const struct timeval patience = {.tv_sec = 1};
	if (strlen(path) >= sizeof address.sun_path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(address.sun_path, path);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
	if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0 && control_trusted(fd))
		return fd;
	int error = errno;
	close(fd);
	errno = error;
	return -1;
}

const char *control_after(const char *text, const char *word)
{
	size_t length = strlen(word);
	if (strncmp(text, word, length) != 0 || (text[length] && text[length] != ' '))
		return NULL;
	return text[length] ? text + length + 1 : text + length;
}
