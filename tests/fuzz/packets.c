/* packets.c - packets of a fuzzer's input, sent over a real socket. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "packets.h"

#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

int fuzz_packet(const uint8_t **bytes, size_t *size, struct fuzz_packet *packet)
{
	enum { HEAD = 2 };
	if (*size < HEAD)
		return 0;
	const uint8_t *at = *bytes;
	size_t length = at[1] < *size - HEAD ? at[1] : *size - HEAD;
	*packet = (struct fuzz_packet){at[0] & 15u, at[0] >> 4, at + HEAD, length};
	*bytes += HEAD + length;
	*size -= HEAD + length;
	return length != 0;
}

/* A file in memory: nobody can make it smaller where it is sealed so. */
static int make_memory(const uint8_t *content, size_t size, off_t length, int seals)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -1;
	if (pwrite(fd, content, size, 0) < 0 || (length && ftruncate(fd, length) < 0) ||
	    (seals && fcntl(fd, F_ADD_SEALS, seals) < 0)) {
		close(fd);
		return -1;
	}
	return fd;
}

int fuzz_descriptor(unsigned kind, const uint8_t *content, size_t size)
{
	static const off_t page = 4096, much = 1 << 20;
	switch (kind) {
	case 1:
		return open("/dev/null", O_RDWR | O_CLOEXEC);
	case 2:
		return eventfd(0, EFD_CLOEXEC);
	case 3:
		return make_memory(content, 0, 0, 0);
	case 4:
		return make_memory(content, 0, 0, F_SEAL_SHRINK);
	case 5:
		return make_memory(content, 0, much, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	case 6:
		return make_memory(content, size, 0, F_SEAL_SHRINK);
	case 7:
		return make_memory(content, 0, page, F_SEAL_SHRINK | F_SEAL_GROW);
	case 8:
		return make_memory(content, 0, 0, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
	case 9:
		return open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	default:
		return -1;
	}
}

void fuzz_send(int socket, const struct fuzz_packet *packet, int descriptor)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof descriptor)];
	} beside;
	struct iovec part = {.iov_base = (void *)(uintptr_t)packet->text, .iov_len = packet->size};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	if (descriptor >= 0) {
		memset(&beside, 0, sizeof beside);
		message.msg_control = &beside;
		message.msg_controllen = sizeof beside;
		beside.head.cmsg_len = CMSG_LEN(sizeof descriptor);
		beside.head.cmsg_level = SOL_SOCKET;
		beside.head.cmsg_type = SCM_RIGHTS;
		memcpy(CMSG_DATA(&beside.head), &descriptor, sizeof descriptor);
	}
	if (sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && descriptor < 0)
		return;
	if (descriptor >= 0)
		close(descriptor);
}
